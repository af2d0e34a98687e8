"""Against all projective trees of small sentences, scored part by part, and against first order and a planted tree for longer ones."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zerogap.baselines.brute import is_tree
from zerogap.errors import Infeasible, ScoreError, ScoreShapeError
from zerogap.oracles.trees.eisner import eisner_kernel
from zerogap.oracles.trees.semifield import push_max_of_sums_in_python
from zerogap.oracles.trees.siblings import best_siblings, sibling_kernel
from zerogap.testing.strategies import score_arrays


def sides(heads):
    """(head, its modifiers on one side, nearest first), a side without modifiers included; the root has a right side only."""
    n = len(heads)
    for h in range(n + 1):
        yield h, [m for m in range(h + 1, n + 1) if heads[m - 1] == h]
        if h > 0:
            yield h, [m for m in range(h - 1, 0, -1) if heads[m - 1] == h]


def score_of(heads, arcs, siblings, stops):
    total = 0.0
    for h, modifiers in sides(heads):
        for s, m in itertools.pairwise([h, *modifiers]):
            total += arcs[h, m] + siblings[h, s, m]
        total += stops[h, modifiers[-1] if modifiers else h]
    return total


@st.composite
def scored(draw, max_words=4):
    n = draw(st.integers(0, max_words))
    holes = draw(st.booleans())
    arcs = draw(score_arrays((n + 1, n + 1), holes=holes))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    siblings = rng.integers(-3, 4, (n + 1,) * 3).astype(np.float64)
    stops = rng.integers(-2, 3, (n + 1,) * 2).astype(np.float64) * draw(st.integers(0, 1))
    if holes:
        siblings[rng.random(siblings.shape) < 0.1] = -np.inf
        stops[rng.random(stops.shape) < 0.05] = -np.inf
    return arcs, siblings, stops


@given(scored(), st.booleans())
@settings(max_examples=300)
def test_it_is_a_best_tree(scores, single_root):
    arcs, siblings, stops = scores
    n = len(arcs) - 1
    trees = [t for t in itertools.product(range(n + 1), repeat=n) if is_tree(t, projective=True, single_root=single_root)]
    best = max((score_of(t, *scores) for t in trees), default=-np.inf)
    heads = np.empty(n, np.int64)
    assert sibling_kernel(arcs, siblings, stops, int(single_root), heads) == best
    if best == -np.inf:
        with pytest.raises(Infeasible):
            best_siblings(arcs, siblings, stops, single_root=single_root)
        return
    assert is_tree(heads, projective=True, single_root=single_root)
    assert score_of(heads, *scores) == best
    assert best_siblings(arcs, siblings, stops, single_root=single_root).tolist() == heads.tolist()


@pytest.mark.parametrize("n", [5, 8, 9, 17, 40])
@pytest.mark.parametrize("single_root", [True, False])
def test_without_siblings_it_is_first_order(n, single_root):
    rng = np.random.default_rng(n)
    for _ in range(5):
        arcs = rng.integers(-20, 21, (n + 1, n + 1)).astype(np.float64)
        heads, first_order = np.empty(n, np.int64), np.empty(n, np.int64)
        best = eisner_kernel(arcs, int(single_root), first_order)
        stops = np.zeros((n + 1, n + 1))
        assert sibling_kernel(arcs, np.zeros((n + 1,) * 3), stops, int(single_root), heads) == best
        # what is the same for every modifier, as the arcs, or for every side changes nothing else
        siblings = np.broadcast_to(arcs[:, None, :], (n + 1,) * 3).copy()
        assert sibling_kernel(np.where(arcs > -np.inf, 0.0, arcs), siblings, stops + 1.0, int(single_root), heads) == best + 2 * n + 1
        assert score_of(heads, arcs, np.zeros((n + 1,) * 3), stops) == best


@pytest.mark.parametrize("n", [6, 12, 25, 50])
@pytest.mark.parametrize("single_root", [True, False])
def test_longer_sentences(n, single_root):
    """The score is that of the tree found, and no better one is planted or close by."""
    rng = np.random.default_rng(n)
    arcs = rng.integers(-9, 10, (n + 1, n + 1)).astype(np.float64)
    siblings = rng.integers(-9, 10, (n + 1,) * 3).astype(np.float64)
    stops = rng.integers(-9, 10, (n + 1, n + 1)).astype(np.float64)
    heads = np.empty(n, np.int64)
    best = sibling_kernel(arcs, siblings, stops, int(single_root), heads)
    assert is_tree(heads, projective=True, single_root=single_root)
    assert score_of(heads, arcs, siblings, stops) == best
    for m, h in itertools.product(range(1, n + 1), range(n + 1)):
        other = heads.copy()
        other[m - 1] = h
        if h != m and is_tree(other, projective=True, single_root=single_root):
            assert score_of(other, arcs, siblings, stops) <= best


def test_a_planted_tree_of_150_words():
    rng = np.random.default_rng(150)
    n = 150
    gold = np.arange(n)
    for m in range(3, n + 1):
        if rng.random() < 0.5:
            gold[m - 1] = gold[gold[m - 1] - 1] or gold[m - 1]
    siblings = rng.integers(-20, 1, (n + 1,) * 3).astype(np.float64)
    stops = rng.integers(-20, 1, (n + 1,) * 2).astype(np.float64)
    for h, modifiers in sides(gold):
        for s, m in itertools.pairwise([h, *modifiers]):
            siblings[h, s, m] = 1.0
        stops[h, modifiers[-1] if modifiers else h] = 1.0
    assert best_siblings(np.zeros((n + 1, n + 1)), siblings, stops).tolist() == gold.tolist()


def test_no_words():
    assert best_siblings(np.zeros((1, 1)), np.zeros((1, 1, 1))).tolist() == []
    assert sibling_kernel(np.zeros((1, 1)), np.zeros((1, 1, 1)), np.full((1, 1), 3.0), 1, np.empty(0, np.int64)) == 3.0


def test_what_is_not_accepted():
    with pytest.raises(ScoreShapeError, match=r"siblings has shape \(3, 3\)"):
        best_siblings(np.zeros((3, 3)), np.zeros((3, 3)))
    with pytest.raises(ScoreError, match=r"stops\[0, 1\] is nan"):
        best_siblings(np.zeros((2, 2)), np.zeros((2, 2, 2)), [[0, np.nan], [0, 0]])
    assert np.isnan(sibling_kernel(np.full((2, 2), np.nan), np.zeros((2, 2, 2)), np.zeros((2, 2)), 1, np.empty(1, np.int64)))


def test_push_by_name():
    out, other = np.array([0.0, -np.inf, 5.0, 1.0]), np.zeros(4)
    row = np.array([9.0, 1.0, 1.0, 9.0])
    push_max_of_sums_in_python(1, 4, out, row, row, 1.0, other, row, -1.0, other, out.copy(), row, -2.0)
    assert out.tolist() == [0.0, 3.0, 5.0, 19.0]
    assert other.tolist() == [0.0, 0.0, 4.0, 8.0]
