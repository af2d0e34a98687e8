"""Branch and bound over a bound that knows nothing: the search alone must be exact, its leaves must cover."""

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zerogap.errors import InputError, UnknownMethod
from zerogap.proof.certificate import DynamicProgram
from zerogap.proof.leaves import check_cover
from zerogap.relax.branching import branch_and_bound
from zerogap.relax.candidate import Candidate
from zerogap.relax.descent import Bounded, Limits
from zerogap.relax.parallel import decode_each


def subset_problem(gains, weights, room):
    """Choose a subset of items of total weight at most `room`; the bound takes every gain that is not excluded."""

    def solve(fixed, warm, incumbent, left):
        decided = dict(fixed)
        taken = [i for i, inside in decided.items() if inside]
        if sum(weights[i] for i in taken) > room:
            return Bounded(-math.inf, DynamicProgram(), None, None)
        free = [i for i in range(len(gains)) if i not in decided]
        bound = sum(gains[i] for i in taken) + sum(max(gains[i], 0) for i in free)
        candidate = Candidate(tuple(taken), float(sum(gains[i] for i in taken)))
        return Bounded(float(bound), DynamicProgram(), candidate, free[0] if free else None)

    return solve


@given(st.lists(st.tuples(st.integers(-3, 9), st.integers(0, 5)), max_size=7), st.integers(0, 12))
def test_exact_and_covering(items, room):
    gains, weights = [g for g, _ in items], [w for _, w in items]
    best = max(
        sum(g for i, g in enumerate(gains) if mask >> i & 1)
        for mask in range(1 << len(items))
        if sum(w for i, w in enumerate(weights) if mask >> i & 1) <= room
    )
    found = branch_and_bound(subset_problem(gains, weights, room))
    assert found.best.score == found.bound == best
    assert found.complete
    check_cover(found.certificate.leaves, max(len(items), 1))
    limited = branch_and_bound(subset_problem(gains, weights, room), Limits(max_nodes=3))
    assert limited.best.score <= best <= limited.bound
    check_cover(limited.certificate.leaves, max(len(items), 1))
    bounds = found.trace.bounds
    assert all(later <= earlier for earlier, later in itertools.pairwise(bounds))


def test_nothing_feasible():
    found = branch_and_bound(lambda *_: Bounded(-math.inf, DynamicProgram(), None, None))
    assert found.best is None
    assert found.bound == -math.inf


def test_a_node_that_cannot_be_split_keeps_its_bound():
    found = branch_and_bound(lambda *_: Bounded(7.0, DynamicProgram(), Candidate("x", 3.0), None))
    assert found.bound == 7.0


def test_threads_are_checked():
    assert decode_each(lambda problem: problem, [1, 2, 3], 2) == [1, 2, 3]
    for threads in (0, -1, True, "2"):
        with pytest.raises(InputError, match="threads"):
            decode_each(lambda problem: problem, [], threads)


@given(st.lists(st.tuples(st.integers(-3, 9), st.integers(0, 5)), max_size=6), st.integers(0, 12), st.integers(1, 5))
def test_the_k_best_in_either_order(items, room, k):
    gains, weights = [g for g, _ in items], [w for _, w in items]
    subsets = itertools.chain.from_iterable(itertools.combinations(range(len(items)), size) for size in range(len(items) + 1))
    scores = sorted((sum(gains[i] for i in some) for some in subsets if sum(weights[i] for i in some) <= room), reverse=True)
    for order in ("best-first", "breadth-first"):
        found = branch_and_bound(subset_problem(gains, weights, room), Limits(k=k, order=order))
        assert [candidate.score for candidate in found.ranked] == scores[:k]
        assert found.bound == found.best.score == scores[0]
        check_cover(found.certificate.leaves, max(len(items), 1))
        limited = branch_and_bound(subset_problem(gains, weights, room), Limits(k=k, order=order, max_nodes=4))
        assert limited.best.score <= scores[0] <= limited.bound
        assert all(later <= earlier for earlier, later in itertools.pairwise(found.trace.bounds))
    with pytest.raises(UnknownMethod, match="order"):
        branch_and_bound(subset_problem(gains, weights, room), Limits(order="depth-first"))


def test_evidence_is_made_for_leaves_only():
    made = []

    def solve(fixed, warm, incumbent, left):
        def evidence():
            made.append(fixed)
            return DynamicProgram()

        return Bounded(3.0 - len(fixed), evidence, Candidate(fixed, 1.0), None if len(fixed) == 2 else len(fixed))

    found = branch_and_bound(solve)
    assert sorted(made) == sorted(leaf.fixed for leaf in found.certificate.leaves)
