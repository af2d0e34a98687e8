"""Against all projective trees of small sentences, scored part by part, and against the sibling model for longer ones."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zerogap.baselines.brute import is_tree
from zerogap.errors import Infeasible, ScoreShapeError
from zerogap.oracles.trees.outermost import best_outermost, outermost_kernel
from zerogap.oracles.trees.siblings import sibling_kernel
from zerogap.testing.strategies import score_arrays


def score_of(heads, arcs, siblings, stops, outermost):
    n = len(heads)
    total = 0.0
    for h in range(n + 1):
        for side in (range(h + 1, n + 1), range(h - 1, 0, -1)) if h > 0 else (range(1, n + 1),):
            modifiers = [m for m in side if heads[m - 1] == h]
            total += sum(arcs[h, m] + siblings[h, s, m] for s, m in itertools.pairwise([h, *modifiers]))
            total += stops[h, modifiers[-1] if modifiers else h]
            if h > 0 and modifiers:
                total += outermost[heads[h - 1], h, modifiers[-1]]
    return total


def drawn(n, rng, holes):
    siblings = rng.integers(-3, 4, (n + 1,) * 3).astype(np.float64)
    stops = rng.integers(-2, 3, (n + 1,) * 2).astype(np.float64)
    outermost = rng.integers(-4, 5, (n + 1,) * 3).astype(np.float64)
    if holes:
        for table in (siblings, stops, outermost):
            table[rng.random(table.shape) < 0.05] = -np.inf
    return siblings, stops, outermost


@st.composite
def scored(draw, max_words=4):
    n = draw(st.integers(0, max_words))
    holes = draw(st.booleans())
    arcs = draw(score_arrays((n + 1, n + 1), holes=holes))
    return arcs, *drawn(n, np.random.default_rng(draw(st.integers(0, 2**32 - 1))), holes)


@given(scored(), st.booleans())
@settings(max_examples=300)
def test_it_is_a_best_tree(scores, single_root):
    n = len(scores[0]) - 1
    trees = [t for t in itertools.product(range(n + 1), repeat=n) if is_tree(t, projective=True, single_root=single_root)]
    best = max((score_of(t, *scores) for t in trees), default=-np.inf)
    heads = np.empty(n, np.int64)
    assert outermost_kernel(*scores, int(single_root), heads) == best
    arcs, siblings, stops, outermost = scores
    if best == -np.inf:
        with pytest.raises(Infeasible):
            best_outermost(arcs, outermost, siblings, stops, single_root=single_root)
        return
    assert is_tree(heads, projective=True, single_root=single_root)
    assert score_of(heads, *scores) == best
    assert best_outermost(arcs, outermost, siblings, stops, single_root=single_root).tolist() == heads.tolist()


@pytest.mark.parametrize("n", [5, 6, 9, 17, 30])
@pytest.mark.parametrize("single_root", [True, False])
def test_longer_sentences(n, single_root):
    rng = np.random.default_rng(n)
    arcs = rng.integers(-9, 10, (n + 1, n + 1)).astype(np.float64)
    siblings, stops, outermost = drawn(n, rng, False)
    heads = np.empty(n, np.int64)
    best = outermost_kernel(arcs, siblings, stops, outermost, int(single_root), heads)
    assert is_tree(heads, projective=True, single_root=single_root)
    assert score_of(heads, arcs, siblings, stops, outermost) == best
    for m, h in itertools.product(range(1, n + 1), range(n + 1)):
        other = heads.copy()
        other[m - 1] = h
        if h != m and is_tree(other, projective=True, single_root=single_root):
            assert score_of(other, arcs, siblings, stops, outermost) <= best
    # what depends on h and m only is a stop: then it is the sibling model
    twice = np.broadcast_to(stops, outermost.shape).copy()
    twice[:, np.arange(n + 1), np.arange(n + 1)] = 0.0
    only_words = stops.copy()
    only_words[0] = 0.0
    of_leaves = np.diag(np.diag(only_words))
    expected = sibling_kernel(arcs, siblings, only_words, int(single_root), heads)
    assert outermost_kernel(arcs, siblings, of_leaves, twice, int(single_root), heads) == expected


def test_no_words():
    assert best_outermost(np.zeros((1, 1)), np.zeros((1, 1, 1))).tolist() == []


def test_what_is_not_accepted():
    with pytest.raises(ScoreShapeError, match=r"outermost has shape \(3, 3\)"):
        best_outermost(np.zeros((3, 3)), np.zeros((3, 3)))
    cube = np.zeros((2, 2, 2))
    assert np.isnan(outermost_kernel(np.full((2, 2), np.nan), cube, np.zeros((2, 2)), cube, 1, np.empty(1, np.int64)))
