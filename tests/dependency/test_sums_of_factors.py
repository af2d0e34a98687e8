"""Exact parsing with factors: never wrong, always proven, whatever else is scored; and what factors of other forms expand to."""

import itertools
import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zerogap.baselines.brute import all_trees, best_scores, dependency_structures, optimum
from zerogap.baselines.dependency_ilp import solve_dependency
from zerogap.dependency import Problem, decode
from zerogap.dependency.decoding.factors import search as factor_search
from zerogap.dependency.decoding.factors import tables as layout
from zerogap.dependency.decoding.factors.decoder import decode_with_factors
from zerogap.dependency.decoding.methods import with_best_labels
from zerogap.dependency.sums_of_factors import any_of, valency, valid_factors
from zerogap.errors import Infeasible, InputError, ScoreError, UnknownMethod, VerificationError
from zerogap.problems.dependency.factor import FactorArrays
from zerogap.proof.certificate import FactorShares, Leaf, Leaves, Narrowed
from zerogap.proof.files import solution_from_json, solution_to_json
from zerogap.proof.verify import verify
from zerogap.testing.strategies import dependency_problems

# what is scored beside factors, and so which backbone is used
BACKBONES = {
    "arcs": (),
    "siblings": ("siblings", "stops"),
    "outermost": ("siblings", "stops", "outermost"),
    "grandsiblings": ("siblings", "stops", "grandparents", "outermost", "grandsiblings"),
    "dual decomposition": ("trisiblings", "automata", "grandparents"),
}


def check(problem, **options):
    """Decodes by branch and bound, and holds everything against enumeration."""
    best = optimum(problem, dependency_structures(problem))
    if best == -np.inf:
        with pytest.raises(Infeasible):
            decode(problem, method="branch-and-bound")
        return None
    arcs, labels = with_best_labels(problem)
    solution = decode_with_factors(problem, arcs, labels, **options) if options else decode(problem, method="branch-and-bound")
    problem.check(solution.structure)
    assert problem.score(solution.structure) == solution.score <= best <= solution.bound
    verify(problem, solution)
    verify(problem, solution_from_json(json.loads(json.dumps(solution_to_json(solution), allow_nan=False))))
    if "max_nodes" not in options:
        assert solution.score == best == solution.bound
    return solution


@pytest.mark.parametrize("kinds", BACKBONES.values(), ids=BACKBONES)
@given(data=st.data(), projective=st.booleans())
@settings(max_examples=60)
def test_never_wrong_and_always_proven(kinds, data, projective):
    labels = data.draw(st.sampled_from((0, 0, 2)))
    check(data.draw(dependency_problems(max_words=4, kinds=kinds, projective=projective, max_labels=labels, max_factors=8)))


@given(problem=dependency_problems(max_words=4, max_factors=12, holes=True))
@settings(max_examples=150)
def test_many_factors(problem):
    check(problem)


@given(data=st.data(), projective=st.booleans(), heads=st.integers(1, 3), kinds=st.sampled_from(((), ("siblings", "stops"))))
@settings(max_examples=150)
def test_from_a_core_of_likely_arcs(data, projective, heads, kinds):
    """Its shares go on to all other arcs: what is closed then is proven to be no better."""
    problem = data.draw(
        dependency_problems(max_words=5, max_factors=12, kinds=kinds, projective=projective, holes=data.draw(st.booleans()))
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(factor_search, "CORE", heads)
        patch.setattr(factor_search, "LEAST", 0)
        check(problem)


@given(problem=dependency_problems(max_words=4, max_factors=12), order=st.sampled_from(("best-first", "breadth-first")))
@settings(max_examples=60)
def test_without_tables(problem, order):
    """Factors of two arcs that find no room in tables are shared out one by one, as in the paper."""
    if problem.n_words == 0:
        return
    before, layout.MOST_ENTRIES = layout.MOST_ENTRIES, 12
    try:
        check(problem, order=order)
    finally:
        layout.MOST_ENTRIES = before


def dense(n, seed, *, projective, sizes=(2,), arcs=None):
    """Every set of so many arcs of different words scores +1 or -1."""
    rng = np.random.default_rng(seed)
    every = [(h, m) for m in range(1, n + 1) for h in range(n + 1) if h != m]
    sets = [some for size in sizes for some in itertools.combinations(every, size) if len({m for _, m in some}) == size]
    factors = [(some, float(rng.choice((-1, 1)))) for some in sets]
    return Problem(rng.integers(-1, 2, (n + 1, n + 1)) * 1.0 if arcs is None else arcs, factors=factors, projective=projective)


@pytest.mark.parametrize("projective", [False, True])
@pytest.mark.parametrize(("n", "sizes", "seed"), [(5, (2,), 0), (5, (2,), 1), (4, (3,), 2), (4, (2, 3, 4), 3)])
def test_dense_factors(n, sizes, seed, projective):
    solution = check(dense(n, seed, projective=projective, sizes=sizes))
    assert solution.status == "optimal"


@pytest.mark.parametrize("projective", [False, True])
@pytest.mark.parametrize("order", ["best-first", "breadth-first"])
def test_limits_leave_a_true_bound(order, projective):
    problem = dense(4, 7, projective=projective, sizes=(2, 3))
    arcs, labels = with_best_labels(problem)
    previous = math.inf
    for max_nodes in (1, 3, 9, 27, None):
        limit = {} if max_nodes is None else {"max_nodes": max_nodes}
        solution = check(problem, order=order, **limit)
        previous = min(previous, solution.bound)
    assert previous == solution.score
    stopped = decode(problem, time_limit=0.0)
    verify(problem, stopped)
    assert stopped.score <= solution.score <= stopped.bound
    with pytest.raises(UnknownMethod, match="order"):
        decode_with_factors(problem, arcs, labels, order="depth-first")


@pytest.mark.slow
@pytest.mark.parametrize(("n", "scale", "finishes"), [(6, 3.0, True), (8, 15.0, True), (12, 6.0, False)])
def test_dense_factors_against_an_integer_program(n, scale, finishes):
    rng = np.random.default_rng(n)
    problem = dense(n, n, projective=False, arcs=scale * rng.standard_normal((n + 1, n + 1)))
    exact = solve_dependency(problem, integer=True, time_limit=60)
    solution = decode(problem, time_limit=60)
    assert solution.status == "optimal"
    assert solution.score >= exact.value
    assert not finishes or (exact.finished and solution.score == exact.value)
    verify(problem, solution)


@given(problem=dependency_problems(max_words=4, projective=False, max_factors=6, kinds=("siblings", "grandparents")))
@settings(max_examples=30)
def test_integer_program_with_factors(problem):
    best = optimum(problem, dependency_structures(problem))
    if best > -np.inf:
        assert solve_dependency(problem, integer=True).value == best


@given(data=st.data(), k=st.integers(2, 6))
@settings(max_examples=120)
def test_k_best(data, k):
    kinds = data.draw(st.sampled_from(((), ("siblings",), ("trisiblings",))))
    labels = data.draw(st.sampled_from((0, 0, 2)))
    problem = data.draw(dependency_problems(max_words=3 if labels else 4, kinds=kinds, max_factors=6, max_labels=labels))
    expected = best_scores(problem, dependency_structures(problem), k)
    if not expected:
        with pytest.raises(Infeasible):
            decode(problem, k=k, method="branch-and-bound")
        return
    solution = decode(problem, k=k, method="branch-and-bound")
    assert [solution.score, *(score for _, score in solution.alternatives)] == expected
    assert solution.status == "optimal"
    if problem.n_words > 0:
        verify(problem, solution)
        verify(problem, solution_from_json(json.loads(json.dumps(solution_to_json(solution), allow_nan=False))))
        if len(expected) > 2 and expected[-1] < expected[1]:  # a better one than the last is missing
            with pytest.raises(VerificationError):
                verify(problem, replace(solution, alternatives=solution.alternatives[1:]))


def test_k_best_under_a_limit():
    problem = dense(5, 3, projective=True)
    arcs, labels = with_best_labels(problem)
    solution = decode_with_factors(problem, arcs, labels, k=5, max_nodes=3)
    assert solution.alternatives is None
    verify(problem, solution)


def hard_problem():
    """One that is narrowed, and branched on."""
    rng = np.random.default_rng(4)
    n = 9
    every = [(h, m) for m in range(1, n + 1) for h in range(n + 1) if h != m]
    factors = [(pair, 0.5 * rng.standard_normal()) for pair in itertools.combinations(every, 2) if pair[0][1] != pair[1][1]]
    return Problem(3.0 * rng.standard_normal((n + 1, n + 1)), factors=factors)


def test_tampered_certificates_fail():
    problem = hard_problem()
    solution = decode(problem)
    assert solution.status == "optimal"
    verify(problem, solution)
    evidence = solution.certificate
    thinner = []
    while isinstance(evidence, Narrowed):
        thinner.append(evidence)
        evidence = evidence.rest
    leaf = evidence.leaves[0].certificate if isinstance(evidence, Leaves) else evidence
    assert isinstance(leaf, FactorShares)
    problems = [
        replace(leaf, unit=3.0 * leaf.unit),
        replace(leaf, unit=4.0 * problem.resolution),
        replace(leaf, shares=leaf.shares[:-1]),
        replace(leaf, shares=(*leaf.shares, 0)),
        replace(leaf, shares=(2**60, *leaf.shares[1:])),
        replace(leaf, shares=(0.5, *leaf.shares[1:])),
        replace(leaf, words=leaf.words[:-1]),
        replace(leaf, words=(*leaf.words[:-1], leaf.words[0])),
        replace(leaf, words=(0, *leaf.words[1:])),
        replace(leaf, rest=leaf),
        Leaves((Leaf(((1, True),), leaf),)),
    ]
    for tampered in problems:
        with pytest.raises(VerificationError):
            verify(problem, replace(solution, certificate=tampered))
    with pytest.raises(VerificationError):
        verify(problem, replace(solution, bound=solution.bound - problem.resolution))
    worse = Problem(problem.arcs, factors=[(f.arcs, f.score + (f.score > 0.0)) for f in problem.factors])
    with pytest.raises(VerificationError):
        verify(worse, solution)
    for narrowed in thinner:
        every = tuple(range(problem.n_words + 1, (problem.n_words + 1) ** 2))
        for tampered in (replace(narrowed, arcs=every), replace(narrowed, arcs=(-1,)), replace(narrowed, threshold=math.nan)):
            with pytest.raises(VerificationError):
                verify(problem, replace(solution, certificate=tampered))


def test_shares_of_larger_factors_are_checked():
    problem = dense(4, 1, projective=True, sizes=(3,))
    solution = decode(problem)
    verify(problem, solution)
    evidence = solution.certificate
    leaf = evidence.leaves[0].certificate if isinstance(evidence, Leaves) else evidence
    for i in range(len(leaf.shares)):
        changed = list(leaf.shares)
        changed[i] -= 1 << 40
        tampered = replace(leaf, shares=tuple(changed))
        with pytest.raises(VerificationError):
            verify(problem, replace(solution, certificate=tampered))


def test_the_trace_has_an_entry_for_every_call_of_the_oracle():
    solution = decode(hard_problem())
    trace = solution.trace
    assert len(trace) > 1
    assert list(trace.bounds) == sorted(trace.bounds, reverse=True)
    assert list(trace.scores) == sorted(trace.scores)
    assert list(trace.seconds) == sorted(trace.seconds)


def test_integer_scores_are_rounded_to_integers():
    """All scores are integers, so a bound below the next one is enough (section 4.4)."""
    problem = Problem(np.zeros((4, 4)), factors=[([(0, 1), (1, 2)], 1.0), ([(1, 2), (2, 3)], 1.0), ([(0, 1), (2, 3)], -1.0)])
    assert decode(problem).status == "optimal"


def test_factors_that_no_tree_can_have():
    zeros = np.zeros((4, 4))
    never = [([(1, 2), (2, 1)], 9.0), ([(1, 2), (2, 3), (3, 1)], 9.0)]
    assert decode(Problem(zeros, factors=never)).score == 0.0
    crossing = Problem(zeros, factors=[([(1, 3), (0, 2)], 9.0)], projective=True)
    assert decode(crossing).score == 0.0
    assert decode(Problem(zeros, factors=[([(1, 3), (0, 2)], 9.0)])).score == 9.0
    two_roots = [([(0, 1), (0, 2)], 9.0)]
    assert decode(Problem(zeros, factors=two_roots)).score == 0.0
    assert decode(Problem(zeros, factors=two_roots, single_root=False)).score == 9.0


def test_forbidden_together():
    arcs = np.array([[0, 5, 1], [0, 0, 8], [0, 9, 0.0]])
    problem = Problem(arcs, factors=[([(0, 1), (1, 2)], -np.inf)])
    solution = decode(problem)
    assert solution.structure == (2, 0)
    verify(problem, solution)
    with pytest.raises(Infeasible, match="factors"):
        decode(Problem(arcs, factors=[([(0, 1), (1, 2)], -np.inf), ([(0, 2), (2, 1)], -np.inf)]))
    with pytest.raises(Infeasible):
        decode(Problem(arcs, factors=[([(0, 1)], -np.inf), ([(0, 2)], -np.inf)]))


def count(heads, head, candidates):
    return sum(heads[m - 1] == head for m in candidates)


@given(data=st.data(), n=st.integers(1, 4))
def test_any_of_and_valency_by_definition(data, n):
    every = [(h, m) for m in range(1, n + 1) for h in range(n + 1) if h != m]
    arcs = data.draw(st.lists(st.sampled_from(every), min_size=1, max_size=6, unique=True))
    head = data.draw(st.integers(0, n))
    words = [m for m in range(1, n + 1) if m != head]
    candidates = data.draw(st.sets(st.sampled_from(words), min_size=1)) if words else set()
    wanted = data.draw(st.integers(0, 3))
    terms = any_of(arcs, 3.0) + (valency(head, wanted, 5.0, candidates, n=n) if candidates else [])
    problem = Problem(np.zeros((n + 1, n + 1)), factors=terms, single_root=False)
    for heads in all_trees(n, single_root=False):
        expected = 3.0 * any(heads[m - 1] == h for h, m in arcs)
        expected += 5.0 * (count(heads, head, candidates) == wanted) if candidates else 0.0
        assert problem.score(heads) == expected
    check(problem)


def test_what_explodes_is_refused():
    with pytest.raises(InputError, match="any_of 13 arcs is 8191 factors: expected at most 4096"):
        any_of([(0, m) for m in range(1, 14)], 1.0)
    assert len(any_of([(h, 20) for h in range(15)], 1.0)) == 15  # one head each: no products
    with pytest.raises(InputError, match="the valency of 14 candidates is"):
        valency(0, 1, 1.0, range(1, 15))
    assert len(valency(0, 14, 1.0, range(1, 15))) == 1
    for wrong, message in (
        (lambda: any_of([], 1.0), "at least one"),
        (lambda: any_of([(1, 1)], 1.0), "another word"),
        (lambda: any_of([(0, 1)], -np.inf), "finite"),
        (lambda: any_of([5], 1.0), "pairs"),
        (lambda: valency(0, -1, 1.0, [1]), "count is -1"),
        (lambda: valency(0, 0, 1.0, [1]), "n is None"),
        (lambda: valency(0, 0, 1.0, [], n=3), "different ones, at least one"),
    ):
        with pytest.raises(InputError, match=message):
            wrong()
    assert valency(0, 3, 1.0, [1, 2]) == []


def test_invalid_factors_are_dropped_or_named():
    good, outside, two_heads = ([(0, 1), (1, 2)], 1.0), ([(0, 9)], 1.0), ([(0, 1), (2, 1)], 1.0)
    assert valid_factors([good, outside, two_heads, ([(0, 1)], np.nan)], 3, on_invalid="drop") == ([good], 3)
    assert valid_factors([good], 3) == ([good], 0)
    with pytest.raises(InputError, match=r"factors\[1\] has the arc \(0, 9\)"):
        valid_factors([good, outside], 3)
    with pytest.raises(InputError, match=r"factors\[2\] has the arcs"):
        valid_factors([good, good, two_heads], 3)
    with pytest.raises(ScoreError, match=r"factors\[1\] is nan"):
        valid_factors([good, ([(0, 1)], np.nan)], 3)
    with pytest.raises(InputError, match="on_invalid is 'ignore'"):
        valid_factors([good], 3, on_invalid="ignore")


def arrays_of(factors, n):
    """The same factors as arrays."""
    arcs = [h * (n + 1) + m for some, _ in factors for h, m in some]
    start = np.cumsum([0, *(len(some) for some, _ in factors)])
    return FactorArrays(n, start, np.array(arcs, dtype=np.int64), np.array([score for _, score in factors], dtype=np.float64))


@given(problem=dependency_problems(max_words=4, max_factors=10))
@settings(max_examples=60)
def test_factors_as_arrays(problem):
    """The same as a list of them: read one by one, scored, decoded and proven."""
    listed = [(factor.arcs, factor.score) for factor in problem.factors]
    arrays = arrays_of(listed, problem.n_words)
    other = Problem(problem.arcs, factors=arrays, projective=problem.projective, single_root=problem.single_root)
    same = Problem(problem.arcs, factors=listed, projective=problem.projective, single_root=problem.single_root)
    assert list(other.factors) == list(same.factors) == list(other.factors[:])
    for heads in all_trees(problem.n_words, projective=problem.projective, single_root=problem.single_root):
        assert other.score(heads) == same.score(heads)
    check(other)


@pytest.mark.parametrize(
    ("arcs", "message"),
    [([5, 1], "factors[0] has the arc (1, 1)"), ([1, -1], "expected a head from 0 to 3"), ([1, 16], "factors[0] has the arc (4, 0)"),
     ([6, 2], "factors[0] has the arcs [(1, 2), (0, 2)]")],
)  # fmt: skip
def test_arrays_that_are_no_factors(arcs, message):
    start, scores = np.array([0, 2]), np.ones(1)
    with pytest.raises(InputError) as error:
        Problem(np.zeros((4, 4)), factors=FactorArrays(3, start, np.array(arcs), scores))
    assert message in str(error.value)
    for wrong in (FactorArrays(2, start, np.array([1, 2]), scores), FactorArrays(3, start[:1], np.array([1, 2]), scores)):
        with pytest.raises(InputError, match="expected 3 words"):
            Problem(np.zeros((4, 4)), factors=wrong)
    for odd in (np.array([1.0, 2.0]), [1, 6], np.array([[1, 6]])):
        with pytest.raises(InputError, match="factors.arcs is"):
            Problem(np.zeros((4, 4)), factors=FactorArrays(3, start, odd, scores))
    narrow = Problem(np.zeros((4, 4)), factors=FactorArrays(3, start.astype(np.int32), np.array([1, 6], dtype=np.uint8), scores))
    assert decode(narrow).score == 1.0
    with pytest.raises(InputError, match="has no arcs"):
        Problem(np.zeros((4, 4)), factors=FactorArrays(3, np.array([0, 2, 2]), np.array([1, 2]), np.ones(2)))
