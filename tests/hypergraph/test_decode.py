"""Constrained hypergraphs: never wrong, never lazy, against enumeration; certificates hold, tampered ones do not."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zerogap import hypergraph
from zerogap.baselines import brute
from zerogap.errors import ConstraintError, Infeasible, InputError, InvalidStructure, UnknownMethod, VerificationError
from zerogap.hypergraph import Builder, Problem, constraint_rows, decode
from zerogap.oracles.hypergraphs.semiring import enumerate_paths
from zerogap.proof import DynamicProgram, Leaf, Leaves, Multipliers
from zerogap.proof.verify import verify
from zerogap.testing.strategies import scored_hypergraphs


@st.composite
def problems(draw, max_rows=4):
    graph, scores, _ = draw(scored_hypergraphs())
    rows = []
    for _ in range(draw(st.integers(0, max_rows))):
        parts = draw(st.dictionaries(st.integers(0, graph.n_edges - 1), st.sampled_from([-2, -1, 1, 1, 2]), min_size=1, max_size=5))
        rows.append((parts, draw(st.sampled_from(["=", "<=", ">="])), draw(st.integers(-1, 2))))
    return Problem(graph, scores, constraint_rows(graph.n_edges, rows))


def optimum(problem):
    return brute.optimum(problem, enumerate_paths(problem.hypergraph))


@given(problems())
def test_auto_is_exact_and_proves_it(problem):
    best = optimum(problem)
    if best == -np.inf:
        with pytest.raises(Infeasible):
            decode(problem)
        return
    solution = decode(problem)
    assert solution.score == solution.bound == best
    assert solution.status == "optimal"
    assert verify(problem, solution).bound == best


@given(problems(), st.sampled_from(["constant", "harmonic", "increases", "halving", "polyak"]))
def test_multipliers_alone_are_never_wrong(problem, step):
    best = optimum(problem)
    if best == -np.inf:
        return
    solution = decode(problem, method="lagrangian", step=step, max_iterations=30)
    assert solution.score <= best <= solution.bound
    verify(problem, solution)
    assert all(later <= earlier for earlier, later in zip(solution.trace.bounds, solution.trace.bounds[1:], strict=False))


@given(problems(max_rows=2))
@settings(max_examples=25)
def test_ilp_agrees(problem):
    if optimum(problem) == -np.inf:
        with pytest.raises(Infeasible):
            decode(problem, method="ilp")
        return
    solution = decode(problem, method="ilp")
    assert solution.score == decode(problem).score == solution.bound
    verify(problem, solution)


@given(problems())
def test_infeasible_sets_are_irreducible(problem):
    if optimum(problem) > -np.inf or optimum(Problem(problem.hypergraph, problem.scores)) == -np.inf:
        return
    with pytest.raises(Infeasible) as caught:
        decode(problem)
    named = [problem.constraints.names.index(name) for name in caught.value.conflict]
    assert named
    assert optimum(Problem(problem.hypergraph, problem.scores, problem.constraints.select(named))) == -np.inf
    for dropped in named:
        rest = problem.constraints.select([r for r in named if r != dropped])
        assert optimum(Problem(problem.hypergraph, problem.scores, rest)) > -np.inf


@given(problems(), st.data())
def test_tampered_certificates_fail(problem, data):
    if optimum(problem) == -np.inf:
        return
    solution = decode(problem)
    with pytest.raises(VerificationError):
        verify(problem, replace(solution, bound=solution.bound - problem.unit))
    with pytest.raises(VerificationError):
        verify(problem, replace(solution, score=solution.score + 1.0, bound=solution.bound + 1.0))
    edges = list(solution.structure)
    with pytest.raises(VerificationError):
        verify(problem, replace(solution, structure=tuple(edges[:-1])))
    match solution.certificate:
        case Multipliers(values):
            with pytest.raises(VerificationError):
                verify(problem, replace(solution, certificate=Multipliers((*values, 0.0))))
            with pytest.raises(VerificationError):
                verify(problem, replace(solution, certificate=Multipliers(tuple(np.full(len(values), np.nan)))))
            with pytest.raises(VerificationError):
                verify(problem, replace(solution, certificate=Multipliers(tuple(v + problem.resolution / 2 for v in values))))
        case Leaves(leaves):
            drop = data.draw(st.integers(0, len(leaves) - 1))
            with pytest.raises(VerificationError, match="cover"):
                verify(problem, replace(solution, certificate=Leaves(leaves[:drop] + leaves[drop + 1 :])))


def knapsack(n=30, seed=3):
    """A lattice of n choices of one in two, with limits on what is chosen: a multi-dimensional knapsack."""
    rng = np.random.default_rng(seed)
    builder = Builder()
    for i in range(n):
        builder.edge(i + 1, [i], score=0.0)
        builder.edge(i + 1, [i], score=float(rng.integers(10, 50)))
    graph, scores = builder.build(n)
    rows = [({2 * i + 1: int(rng.integers(5, 30)) for i in range(n)}, "<=", 5 * n) for _ in range(3)]
    return Problem(graph, scores, constraint_rows(graph.n_edges, rows))


def test_a_gap_that_multipliers_leave_is_closed_by_branching():
    problem = knapsack()
    relaxed = decode(problem, method="lagrangian")
    assert relaxed.gap > 0
    assert relaxed.status == "feasible"
    solution = decode(problem)
    assert solution.status == "optimal"
    assert isinstance(solution.certificate, Leaves)
    verify(problem, solution)
    assert solution.score == decode(problem, method="ilp").score
    leaf = solution.certificate.leaves[0]
    for fixed in (leaf.fixed[:-1], ((10**6, True),), (*leaf.fixed, (0, True))):
        broken = Leaves((Leaf(fixed, leaf.certificate), *solution.certificate.leaves[1:]))
        with pytest.raises(VerificationError):
            verify(problem, replace(solution, certificate=broken))
    negative = Multipliers(tuple(-1.0 for _ in leaf.certificate.values))
    broken = Leaves((Leaf(leaf.fixed, negative), *solution.certificate.leaves[1:]))
    with pytest.raises(VerificationError, match="upper limit"):
        verify(problem, replace(solution, certificate=broken))
    with pytest.raises(VerificationError):  # valid, but it proves too little
        verify(problem, replace(solution, certificate=DynamicProgram()))


def test_limits_return_a_candidate_and_a_true_bound():
    problem = knapsack()
    exact = decode(problem)
    for options in ({"max_nodes": 3}, {"time_limit": 0.0}, {"max_iterations": 1, "max_nodes": 2}):
        solution = decode(problem, **options)
        assert solution.score <= exact.score <= solution.bound
        verify(problem, solution)


def test_no_constraints_is_one_dynamic_program():
    builder = Builder()
    builder.edge("a", ["b"], score=1.25)
    graph, scores = builder.build("a")
    solution = decode(Problem(graph, scores))
    assert (solution.structure, solution.score, solution.certificate) == ((0,), 1.25, DynamicProgram())
    assert decode(Problem(graph, scores), method="best-path").score == 1.25
    with pytest.raises(Infeasible):
        decode(Problem(graph, [-np.inf]))


def test_bad_input():
    builder = Builder()
    builder.edge("a", ["b"], score=1.0)
    graph, scores = builder.build("a")
    constrained = Problem(graph, scores, constraint_rows(1, [([0], "=", 1)]))
    with pytest.raises(UnknownMethod, match="Did you mean 'lagrangian'"):
        decode(constrained, method="lagrangean")
    with pytest.raises(UnknownMethod, match="step rule"):
        decode(constrained, step="big")
    with pytest.raises(InputError, match="best-path"):
        decode(constrained, method="best-path")
    with pytest.raises(InputError, match="scale"):
        decode(constrained, scale=-1.0)
    with pytest.raises(InputError, match="max_iterations"):
        decode(constrained, max_iterations=0)
    with pytest.raises(InputError, match="max_nodes"):
        decode(constrained, max_nodes=0)
    for limit in (-1.0, float("nan")):
        with pytest.raises(InputError, match="time_limit"):
            decode(constrained, time_limit=limit)
    with pytest.raises(InputError, match="problem is a ndarray: expected a zerogap.hypergraph.Problem"):
        decode(np.zeros(3))
    with pytest.raises(ConstraintError, match="expected 1, one per hyperedge"):
        Problem(graph, scores, constraint_rows(2, []))
    with pytest.raises(InvalidStructure, match="does not hold"):
        Problem(graph, scores, constraint_rows(1, [([0], "=", 0)])).check((0,))


def test_decode_many_keeps_order():
    problems = [knapsack(8, seed) for seed in range(6)]
    together = hypergraph.decode_many(problems, threads=2)
    assert [s.score for s in together] == [decode(p).score for p in problems]
