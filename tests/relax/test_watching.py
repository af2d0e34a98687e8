"""Whoever watches sees every step, and changes nothing."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zerogap import dependency, hypergraph, sequence
from zerogap.relax.watching import watcher, watching
from zerogap.structures.hypergraph import from_edges
from zerogap.structures.linear import constraint_rows


def random_problem(seed, n, *, projective=False, spread=4):
    random = np.random.default_rng(seed)
    draw = lambda *shape: random.integers(-spread, spread + 1, shape).astype(float)  # noqa: E731
    return dependency.Problem(
        draw(n + 1, n + 1), siblings=draw(n + 1, n + 1, n + 1), grandparents=draw(n + 1, n + 1, n + 1), projective=projective
    )


def watched(decode, problem, **options):
    steps = []
    with watching(steps.append):
        solution = decode(problem, **options)
    assert watcher() is None
    return solution, steps


@given(st.integers(0, 10**6), st.integers(1, 6), st.booleans(), st.sampled_from(["head-automata", "dual-decomposition", "price-and-cut"]))
@settings(max_examples=40)
def test_answers_do_not_depend_on_who_watches(seed, n, projective, method):
    problem = random_problem(seed, n, projective=projective)
    alone = dependency.decode(problem, method=method)
    solution, steps = watched(dependency.decode, problem, method=method)
    assert (solution.structure, solution.score, solution.bound) == (alone.structure, alone.score, alone.bound)
    bounds = [step.bound for step in steps if step.kind in ("iteration", "screening", "node", "cut")]
    assert all(earlier >= later for earlier, later in itertools.pairwise(bounds))
    assert all(step.bound >= alone.score >= step.score for step in steps)


def test_trees_and_heads_agree_in_the_end():
    problem = random_problem(5, 8)
    solution, steps = watched(dependency.decode, problem, method="dual-decomposition")
    iterations = [step for step in steps if step.kind == "iteration"]
    assert [step.bound for step in iterations] == list(solution.trace.bounds)
    for step in iterations:
        problem.check(step.detail["tree"])
        tree = {(h, m) for m, h in enumerate(step.detail["tree"], start=1)}
        assert {tuple(arc) for arc in step.detail["only_tree"]} <= tree
        assert not {tuple(arc) for arc in step.detail["only_heads"]} & tree
    assert iterations[0].detail["only_tree"]
    if solution.status == "optimal" and iterations[-1].bound == iterations[-1].score:
        assert problem.score(iterations[-1].detail["tree"]) <= solution.score


def test_columns_and_rows_are_named():
    rounds = []
    for seed in range(20):
        problem = random_problem(seed, 6)
        _, steps = watched(dependency.decode, problem, method="price-and-cut")
        rounds += [step.detail for step in steps if step.kind == "round"]
    assert any(found["priced"] for found in rounds)
    assert any(found["unentered"] for found in rounds)
    for found in rounds:
        entering = np.zeros(7)
        for _, m, value in found["arcs"]:
            entering[m] += value
        assert np.allclose(entering[1:], 1.0)
        assert len(found["priced"]) <= 20


def test_nodes_form_a_tree():
    for seed in range(30):
        _, steps = watched(dependency.decode, random_problem(seed, 9), method="head-automata")
        nodes = [step.detail for step in steps if step.kind == "node"]
        if len(nodes) > 2:
            break
    else:
        pytest.fail("nothing was branched on")
    known = {}
    for node in nodes:
        if node["parent"] is None:
            assert node["decisions"] == ()
        else:
            above = known[node["parent"]]
            assert node["decisions"][:-1] == above["decisions"]
            assert node["decisions"][-1][0] == above["split"]
            assert node["bound"] <= above["bound"]
        known[node["node"]] = node
    assert {step.detail["node"] for step in steps if step.kind == "cut"} <= known.keys()


def test_constraints_that_are_intersected():
    problem = sequence.Problem(
        [[5.0, 0.0], [5.0, 0.0], [5.0, 0.0]], labels=("A", "B"), constraints=[sequence.at_least("B", 1), sequence.at(0, "B")]
    )
    solution, steps = watched(sequence.decode, problem, method="relaxation")
    assert [step.kind for step in steps] == ["intersection"] * len(steps)
    assert steps[0].detail["labels"] == ("A", "A", "A")
    assert set(steps[0].detail["violated"]) == {constraint.name for constraint in problem.constraints}
    assert {step.detail["intersected"] for step in steps} <= set(steps[0].detail["violated"])
    assert solution.status == "optimal"


def test_rows_that_are_violated():
    problem = hypergraph.Problem(*two_by_two())
    _, steps = watched(hypergraph.decode, problem, method="lagrangian")
    assert steps[0].kind == "iteration"
    assert steps[0].detail["violated"]


def two_by_two():
    """Two leaves, each of two kinds; the constraint excludes the best pair."""
    heads, tails = [6, 4, 4, 5, 5], [[4, 5], [0], [1], [2], [3]]
    graph, _, order = from_edges(heads, tails, n_vertices=7, root=6)
    place = {given: new for new, given in enumerate(order.tolist())}
    scores = np.array([0.0, 2.0, 1.0, 0.0, 1.0])[order]
    return graph, scores, constraint_rows(5, [({place[1]: 1.0, place[4]: 1.0}, "<=", 1.0)], names=["not both"])
