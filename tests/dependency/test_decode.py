import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zerogap.baselines.brute import dependency_structures, optimum
from zerogap.dependency import LabelledTree, Lazy, Problem, decode, decode_many
from zerogap.dependency.decoding.methods import METHODS, best_by_candidates, best_by_outermost, best_by_siblings, chosen
from zerogap.errors import Infeasible, InputError, UnknownMethod, VerificationError
from zerogap.problems.dependency.parts import ORDERS
from zerogap.proof.certificate import CutDuals, DynamicProgram
from zerogap.proof.dependency.claims import dependency_bound as bound_in_units
from zerogap.proof.files import solution_from_json, solution_to_json
from zerogap.proof.integers import as_float
from zerogap.proof.verify import verify
from zerogap.testing.strategies import dependency_problems


def dependency_bound(problem, certificate):
    """The bound as a score."""
    return as_float(bound_in_units(problem, certificate, np.inf), problem.resolution)


EXACT = [
    pytest.param(name, marks=pytest.mark.compiled) if name == "head-automata" else name
    for name in ("auto", *(name for name, m in METHODS.items() if m.exact))
]


@pytest.mark.parametrize("method", EXACT)
@given(data=st.data())
@settings(max_examples=200)
def test_never_wrong_and_never_lazy(method, data):
    projective = data.draw(st.sampled_from([True, False] if method == "auto" else sorted(METHODS[method].projective)))
    kinds = METHODS["grandsiblings" if method == "auto" else method].parts - {"factors"}
    labels = data.draw(st.sampled_from((0, 0, 2)))
    problem = data.draw(dependency_problems(max_words=4, kinds=sorted(kinds), projective=projective, max_labels=labels))
    best = optimum(problem, dependency_structures(problem))
    if best == -np.inf:
        with pytest.raises(Infeasible):
            decode(problem, method=method)
        return
    solution = decode(problem, method=method)
    problem.check(solution.structure)
    assert problem.score(solution.structure) == solution.score == best == solution.bound
    assert solution.status == "optimal"
    assert isinstance(solution.structure, tuple if problem.labels is None else LabelledTree)
    verify(problem, solution)
    verify(problem, solution_from_json(json.loads(json.dumps(solution_to_json(solution), allow_nan=False))))
    for tampered in (replace(solution, bound=solution.bound - 1.0), replace(solution, score=solution.score + 1.0)):
        with pytest.raises(VerificationError):
            verify(problem, tampered)


@pytest.mark.parametrize(
    "kinds", [("siblings",), ("siblings", "stops"), ("grandparents",), ("outermost", "siblings"), ("grandsiblings", "stops")]
)
@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("kept", [1.0, 0.3])
def test_methods_agree_on_longer_sentences(kinds, single_root, kept):
    """The checker has a dynamic program of its own; every method that can score the parts must find its score."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        n = 3 + 4 * seed
        arcs = np.where(rng.random((n + 1, n + 1)) < kept, rng.standard_normal((n + 1, n + 1)), -np.inf)
        arcs[np.arange(n), np.arange(1, n + 1)] = -1.0  # some tree is left
        parts = {name: rng.standard_normal((n + 1,) * ORDERS[name]) for name in kinds}
        problem = Problem(arcs, **parts, projective=True, single_root=single_root)
        scores = set()
        for method in METHODS:
            if METHODS[method].exact and METHODS[method].projective == {True} and not METHODS[method].cannot_score(problem):
                solution = decode(problem, method=method)
                verify(problem, solution)
                scores.add(solution.score)
        assert len(scores) == 1
        assert decode(problem).score in scores


@pytest.mark.parametrize("method", [name for name, m in METHODS.items() if not m.exact])
@given(data=st.data())
def test_what_may_leave_a_gap_is_never_wrong(method, data):
    kinds = METHODS[method].parts - {"automata", "trisiblings"}
    problem = data.draw(
        dependency_problems(max_words=4, kinds=sorted(kinds), projective=True, max_labels=data.draw(st.sampled_from((0, 2))))
    )
    best = optimum(problem, dependency_structures(problem))
    if best == -np.inf:
        with pytest.raises(Infeasible):
            decode(problem, method=method)
        return
    solution = decode(problem, method=method)
    if solution.structure is not None:
        assert problem.score(solution.structure) == solution.score <= best <= solution.bound
    assert solution.status == ("optimal" if solution.score == solution.bound else "feasible")
    verify(problem, solution)
    with pytest.raises(VerificationError):
        verify(problem, replace(solution, bound=best - 1.0))


@pytest.mark.parametrize("projective", [True, False])
@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("n", [1, 2, 10, 40, 120])
def test_float_scores_leave_no_gap(n, single_root, projective):
    rng = np.random.default_rng(n)
    for _ in range(5):
        problem = Problem(rng.standard_normal((n + 1, n + 1)) * 7, projective=projective, single_root=single_root)
        solution = decode(problem)
        problem.check(solution.structure)
        assert solution.gap == 0
        assert problem.score(solution.structure) == solution.score == dependency_bound(problem, solution.certificate)


def test_structures_are_plain():
    for projective, kind in ((True, DynamicProgram), (False, CutDuals)):
        solution = decode(Problem([[0, 1, 9], [0, 0, 2], [0, 5, 0]], projective=projective))
        assert solution.structure == (2, 0)
        assert all(type(h) is int for h in solution.structure)
        assert type(solution.score) is type(solution.bound) is float
        assert isinstance(solution.certificate, kind)
        assert len(solution.trace) == 1


def test_no_words():
    for projective in (True, False):
        solution = decode(Problem([[0.0]], projective=projective))
        assert (solution.structure, solution.score, solution.bound) == ((), 0.0, 0.0)


def test_methods():
    free, projective = Problem(np.zeros((3, 3))), Problem(np.zeros((3, 3)), projective=True)
    assert decode(free, method="arborescence").structure == decode(free).structure
    assert decode(projective, method="eisner", time_limit=1.0).structure == decode(projective).structure
    with pytest.raises(UnknownMethod, match=r"Did you mean 'eisner'\? Known: auto, arborescence, eisner"):
        decode(free, method="eisnr")
    with pytest.raises(InputError, match="given a non-projective problem: expected projective=True, or another method .*arborescence"):
        decode(free, method="eisner")
    with pytest.raises(InputError, match="given a projective problem: expected projective=False, or another method .*eisner, siblings"):
        decode(projective, method="arborescence")


def test_parts_that_a_method_cannot_score():
    arcs = np.zeros((3, 3))
    with pytest.raises(
        InputError,
        match=r"method 'eisner' cannot score siblings, stops: .*\(methods that can: siblings, .*head-automata, dual-decomposition, ",
    ):
        decode(Problem(arcs, siblings=np.zeros((3,) * 3), stops=arcs, projective=True), method="eisner")
    with pytest.raises(InputError, match="method 'siblings' cannot score grandparents: expected arcs, siblings, stops, or another method"):
        decode(Problem(arcs, grandparents=np.zeros((3,) * 3), projective=True), method="siblings")


def test_auto_takes_the_cheapest():
    arcs, three, four = np.zeros((3, 3)), np.zeros((3,) * 3), np.zeros((3,) * 4)
    for parts, expected in (
        ({}, "eisner"),
        ({"labels": np.zeros((3, 3, 2))}, "eisner"),
        ({"siblings": three}, "siblings"),
        ({"stops": arcs}, "siblings"),
        ({"grandsiblings": four, "stops": arcs}, "grandsiblings"),
    ):
        assert chosen(Problem(arcs, **parts, projective=True), "auto") == expected
    assert chosen(Problem(arcs), "auto") == "arborescence"
    assert chosen(Problem(arcs, siblings=three), "auto") == "head-automata"


@given(dependency_problems(max_words=5, kinds=("siblings", "stops", "outermost"), projective=True))
def test_candidates_and_arrays_agree(problem):
    """Two kernels for the same parts: which one is taken depends on how much is pruned."""
    for best, grand in ((best_by_siblings, False), (best_by_outermost, True)):
        if problem.n_words == 0 or (not grand and problem.outermost is not None):
            continue
        try:
            _, expected, _ = best(problem, problem.arcs)
        except Infeasible as error:
            with pytest.raises(Infeasible, match=str(error)):
                best_by_candidates(problem, problem.arcs, grand=grand)
            continue
        heads, found, _ = best_by_candidates(problem, problem.arcs, grand=grand)
        assert found == expected == problem.score(heads.tolist())


def test_long_pruned_sentences():
    """They take the kernel for candidates, which the checker agrees with."""
    n, rng = 60, np.random.default_rng(3)
    arcs = np.full((n + 1, n + 1), -np.inf)
    arcs[np.arange(n), np.arange(1, n + 1)] = 0.0
    for m in range(1, n + 1):
        arcs[rng.choice(np.delete(np.arange(n + 1), m), 4, replace=False), m] = rng.standard_normal(4)
    for name in ("siblings", "outermost", "grandparents"):
        problem = Problem(arcs, **{name: rng.standard_normal((n + 1,) * 3)}, projective=True)
        verify(problem, decode(problem))


def test_functions_are_asked_only_for_candidates():
    n, rng = 30, np.random.default_rng(1)
    arcs = np.full((n + 1, n + 1), -np.inf)
    arcs[np.arange(n), np.arange(1, n + 1)] = 0.0
    for m in range(1, n + 1):
        arcs[rng.choice(np.delete(np.arange(n + 1), m), 3, replace=False), m] = rng.standard_normal(3)
    problem = Problem(arcs, grandsiblings=Lazy(lambda g, h, s, m: np.sin(g + 2.0 * h + 3.0 * s + 5.0 * m), 1.0), projective=True)
    solution = decode(problem)
    assert problem.parts_scored < 4000  # of 300,000
    verify(problem, solution)


def test_the_arcs_or_the_parts_are_to_blame():
    stops = np.full((3, 3), -np.inf)
    with pytest.raises(Infeasible, match="no projective tree avoids the parts of score -inf: stops"):
        decode(Problem(np.zeros((3, 3)), stops=stops, projective=True))
    arcs = np.zeros((3, 3))
    arcs[:, 1] = -np.inf
    with pytest.raises(Infeasible, match="word 1 cannot be reached"):
        decode(Problem(arcs, stops=stops, projective=True))
    labels = np.full((3, 3, 2), -np.inf)
    with pytest.raises(Infeasible, match="words 1, 2 cannot be reached"):
        decode(Problem(np.zeros((3, 3)), labels=labels))


def test_infeasible_names_words():
    arcs = np.zeros((4, 4))
    arcs[:, 2] = -np.inf
    for projective in (True, False):
        with pytest.raises(Infeasible, match="word 2 cannot be reached"):
            decode(Problem(arcs, projective=projective))


def test_many_problems_keep_their_order():
    rng = np.random.default_rng(5)
    many = [Problem(rng.integers(-9, 9, (n + 1, n + 1)), projective=bool(n % 2)) for n in range(40)]
    expected = [decode(problem).structure for problem in many]
    for threads in (None, 1, 3):
        assert [solution.structure for solution in decode_many(many, threads=threads)] == expected
    assert decode_many([]) == []
