"""Against all head vectors of small sentences; the duals against the conditions of Edmonds' cuts."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zerogap.baselines.brute import best_tree_score, is_tree
from zerogap.errors import Infeasible
from zerogap.oracles.trees.arborescence import arborescence_duals, maximum_arborescence
from zerogap.testing.strategies import score_arrays


def score_of(scores, heads):
    return float(sum(scores[h, m] for m, h in enumerate(heads, start=1)))


@st.composite
def scored(draw, max_words=4):
    n = draw(st.integers(0, max_words))
    return draw(score_arrays((n + 1, n + 1), holes=draw(st.booleans())))


@given(scored(), st.booleans())
@settings(max_examples=300)
def test_it_is_a_best_tree(scores, single_root):
    best = best_tree_score(scores, single_root=single_root)
    if best == -np.inf:
        with pytest.raises(Infeasible):
            maximum_arborescence(scores, single_root=single_root)
        return
    heads = maximum_arborescence(scores, single_root=single_root)
    assert heads.dtype == np.int64
    assert heads.shape == (len(scores) - 1,)
    assert is_tree(heads, single_root=single_root)
    assert score_of(scores, heads) == best


@given(scored(), st.booleans())
@settings(max_examples=300)
def test_duals_prove_it(scores, single_root):
    try:
        heads, sets, values = arborescence_duals(scores, single_root=single_root)
    except Infeasible:
        assert best_tree_score(scores, single_root=single_root) == -np.inf
        return
    n = len(scores) - 1
    assert is_tree(heads, single_root=single_root)
    assert sum(values) == score_of(scores, heads)
    for words, value in zip(sets, values, strict=True):
        assert len(words) == 1 or value <= 0 or (single_root and words == tuple(range(1, n + 1)))
    for h, m in itertools.product(range(n + 1), range(1, n + 1)):
        if h != m:
            assert scores[h, m] <= sum(value for words, value in zip(sets, values, strict=True) if m in words and h not in words)


@pytest.mark.parametrize("n", [5, 7, 12, 30])
@pytest.mark.parametrize("single_root", [True, False])
def test_duals_prove_larger_ones(n, single_root):
    rng = np.random.default_rng(n)
    for _ in range(20):
        scores = rng.integers(-8, 9, (n + 1, n + 1)).astype(np.float64)
        scores[0] += rng.integers(0, 12)  # many root arcs in the best tree of any number of roots
        heads, sets, values = arborescence_duals(scores, single_root=single_root)
        member = np.array([[word in words for word in range(n + 1)] for words in sets])
        room = np.einsum("k,kh,km->hm", values, ~member, member) - scores
        np.fill_diagonal(room, 0)
        assert (room[:, 1:] >= 0).all()
        assert is_tree(heads, single_root=single_root)
        assert sum(values) == score_of(scores, heads) == score_of(scores, maximum_arborescence(scores, single_root=single_root))


def test_300_words():
    rng = np.random.default_rng(300)
    scores = rng.integers(-1000, 1000, (301, 301)).astype(np.float64)
    for single_root in (True, False):
        heads, _, values = arborescence_duals(scores, single_root=single_root)
        assert is_tree(heads, single_root=single_root)
        assert sum(values) == score_of(scores, heads)
        assert score_of(scores, maximum_arborescence(scores, single_root=single_root)) == score_of(scores, heads)


def test_a_chain_of_nested_cycles():
    # Word k + 1 prefers word k, word 1 prefers the last: then all are one cycle, opened at the cheapest root arc.
    n = 6
    scores = np.full((n + 1, n + 1), -np.inf)
    for m in range(1, n + 1):
        scores[m - 1 if m > 1 else n, m] = 10.0
        scores[0, m] = float(m)
    assert maximum_arborescence(scores).tolist() == [6, 1, 2, 3, 4, 0]


def test_a_single_root_gives_up_the_cheapest_root_arcs():
    scores = np.array([[0, 10, 10, 10], [0, 0, 1, 1], [0, 4, 0, 2], [0, 1, 1, 0]], dtype=np.float64)
    assert maximum_arborescence(scores, single_root=False).tolist() == [0, 0, 0]
    assert maximum_arborescence(scores).tolist() == [2, 0, 2]


def test_no_words():
    assert maximum_arborescence(np.zeros((1, 1))).tolist() == []
    assert arborescence_duals(np.zeros((1, 1)))[1:] == ((), ())


def test_ties_go_to_the_lowest_head():
    assert maximum_arborescence(np.zeros((5, 5)), single_root=False).tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize("solve", [maximum_arborescence, arborescence_duals])
def test_infeasible_names_the_words_out_of_reach(solve):
    scores = np.zeros((5, 5))
    scores[:3, 3:] = -np.inf
    with pytest.raises(Infeasible, match="words 3, 4 cannot be reached") as caught:
        solve(scores)
    assert caught.value.conflict == (3, 4)


def test_infeasible_only_with_a_single_root():
    scores = np.full((3, 3), -np.inf)
    scores[0] = 1.0
    assert maximum_arborescence(scores, single_root=False).tolist() == [0, 0]
    with pytest.raises(Infeasible, match=r"single root.*word 2 cannot be reached"):
        maximum_arborescence(scores)


def test_float_scores():
    rng = np.random.default_rng(3)
    for _ in range(50):
        scores = rng.standard_normal((5, 5))
        for single_root in (True, False):
            heads = maximum_arborescence(scores, single_root=single_root)
            assert is_tree(heads, single_root=single_root)
            assert score_of(scores, heads) == pytest.approx(best_tree_score(scores, single_root=single_root), abs=1e-12)
