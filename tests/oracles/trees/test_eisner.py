"""Against all head vectors of small sentences, and the direct kernel against the hypergraph of section 2.2.4."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zerogap.baselines.brute import best_tree_score, is_tree
from zerogap.errors import HypergraphError, Infeasible
from zerogap.oracles.hypergraphs.semiring import MAX, fold
from zerogap.oracles.push import push_max_in_python
from zerogap.oracles.trees.arborescence import maximum_arborescence
from zerogap.oracles.trees.eisner import eisner, eisner_hypergraph, eisner_kernel
from zerogap.structures.hypergraph import check_connected, check_disjoint
from zerogap.testing.strategies import score_arrays


def score_of(scores, heads):
    return float(sum(scores[h, m] for m, h in enumerate(heads, start=1)))


def best_hyperpath(graph, edge_scores):
    """The score of the best derivation of the root, by definition."""
    return fold(graph, edge_scores.tolist(), MAX)[graph.root]


@st.composite
def scored(draw, max_words=4):
    n = draw(st.integers(0, max_words))
    return draw(score_arrays((n + 1, n + 1), holes=draw(st.booleans())))


@given(scored(), st.booleans())
@settings(max_examples=300)
def test_it_is_a_best_projective_tree(scores, single_root):
    best = best_tree_score(scores, projective=True, single_root=single_root)
    if best == -np.inf:
        with pytest.raises(Infeasible):
            eisner(scores, single_root=single_root)
        return
    heads = eisner(scores, single_root=single_root)
    assert heads.dtype == np.int64
    assert heads.shape == (len(scores) - 1,)
    assert is_tree(heads, projective=True, single_root=single_root)
    assert score_of(scores, heads) == best
    assert eisner_kernel(scores, int(single_root), heads) == best


@pytest.mark.parametrize("n", [1, 2, 3, 5, 6, 7, 8, 11, 16])
@pytest.mark.parametrize("single_root", [True, False])
def test_the_hypergraph_gives_the_same_score(n, single_root):
    graph, arcs = eisner_hypergraph(n, single_root=single_root)
    rng = np.random.default_rng(n)
    for _ in range(10):
        scores = rng.integers(-4, 5, (n + 1, n + 1)).astype(np.float64)
        scores[rng.random((n + 1, n + 1)) < 0.1] = -np.inf
        edge_scores = np.where(arcs[:, 0] >= 0, scores[arcs[:, 0], arcs[:, 1]], 0.0)
        heads = np.empty(n, np.int64)
        best = eisner_kernel(scores, int(single_root), heads)
        assert best == best_hyperpath(graph, edge_scores)
        if best > -np.inf:
            assert is_tree(heads, projective=True, single_root=single_root)
            assert score_of(scores, heads) == best


@pytest.mark.parametrize("n", [1, 2, 3, 6])
@pytest.mark.parametrize("single_root", [True, False])
def test_the_hypergraph_is_one(n, single_root):
    graph, arcs = eisner_hypergraph(n, single_root=single_root, names=True)
    check_connected(graph)
    check_disjoint(graph)
    assert graph.vertex_names[graph.root] == ("C", "->", 0, n)
    terminals = {graph.vertex_names[v] for v in np.flatnonzero(graph.is_terminal)}
    assert terminals == {("C", "->", 0, 0)} | {("C", d, i, i) for i in range(1, n + 1) for d in ("->", "<-")}
    for e, v in enumerate(graph.heads):
        kind, direction, i, j = graph.vertex_names[v]
        expected = (-1, -1) if kind == "C" else (i, j) if direction == "->" else (j, i)
        assert tuple(arcs[e]) == expected
    assert eisner_hypergraph(n, single_root=single_root)[0].vertex_names is None


def test_figure_2_7():
    # "fans went wild": the highlighted hyperpath has the arcs 0 -> 3, 3 -> 2, 3 -> 1 and passes 13 vertices.
    graph, arcs = eisner_hypergraph(3, single_root=False, names=True)
    passed = {
        ("C", "->", 0, 0), ("C", "<-", 1, 1), ("C", "->", 1, 1), ("C", "<-", 2, 2), ("C", "->", 2, 2), ("C", "<-", 3, 3), ("C", "->", 3, 3),
        ("I", "<-", 2, 3), ("C", "<-", 2, 3), ("I", "<-", 1, 3), ("C", "<-", 1, 3), ("I", "->", 0, 3), ("C", "->", 0, 3),
    }  # fmt: skip
    numbers = {v for v, name in enumerate(graph.vertex_names) if name in passed}
    edges = [e for e, v in enumerate(graph.heads) if {int(v), *graph.tail(e).tolist()} <= numbers]
    graph.check_path(edges)
    assert {tuple(arcs[e].tolist()) for e in edges} == {(0, 3), (3, 2), (3, 1), (-1, -1)}


def test_no_hypergraph_without_words():
    with pytest.raises(HypergraphError, match="n is 0"):
        eisner_hypergraph(0)


def test_projective_is_at_most_non_projective():
    rng = np.random.default_rng(0)
    for n in (5, 20, 60):
        scores = rng.integers(-50, 51, (n + 1, n + 1)).astype(np.float64)
        for single_root in (True, False):
            projective, free = eisner(scores, single_root=single_root), maximum_arborescence(scores, single_root=single_root)
            assert is_tree(projective, projective=True, single_root=single_root)
            assert score_of(scores, projective) <= score_of(scores, free)


@pytest.mark.parametrize("single_root", [True, False])
def test_300_words_with_a_planted_tree(single_root):
    rng = np.random.default_rng(300)
    n = 300
    gold = np.arange(n)  # a chain, and some words moved under the head of their head
    for m in range(3, n + 1):
        if rng.random() < 0.4:
            gold[m - 1] = gold[gold[m - 1] - 1] or gold[m - 1]
    scores = rng.integers(-20, 1, (n + 1, n + 1)).astype(np.float64)
    scores[gold, np.arange(1, n + 1)] = 1.0
    assert is_tree(gold, projective=True, single_root=single_root)
    assert eisner(scores, single_root=single_root).tolist() == gold.tolist()


def test_no_words():
    assert eisner(np.zeros((1, 1))).tolist() == []


def test_infeasible_says_why():
    scores = np.zeros((4, 4))
    scores[:, 2] = -np.inf
    with pytest.raises(Infeasible, match="word 2 cannot be reached"):
        eisner(scores)
    crossing = np.full((5, 5), -np.inf)  # 0 -> 2 -> 4 -> ... with 1 -> 3 or 3 -> 1 crossing
    crossing[0, 2] = crossing[2, 4] = crossing[4, 1] = crossing[1, 3] = 0.0
    assert maximum_arborescence(crossing).tolist() == [4, 0, 1, 2]
    with pytest.raises(Infeasible, match="no projective tree"):
        eisner(crossing)


def test_float_scores():
    rng = np.random.default_rng(3)
    for _ in range(50):
        scores = rng.standard_normal((5, 5))
        for single_root in (True, False):
            heads = eisner(scores, single_root=single_root)
            assert is_tree(heads, projective=True, single_root=single_root)
            assert score_of(scores, heads) == pytest.approx(best_tree_score(scores, projective=True, single_root=single_root), abs=1e-12)


def test_push_max_by_name():
    out, other = np.array([0.0, -np.inf, 5.0, 1.0]), np.zeros(4)
    push_max_in_python(1, 4, out, np.array([9.0, 1.0, 1.0, 9.0]), 1.0, np.array([9.0, 4.0, 9.0, 9.0]), -1.0, other, out.copy(), 0.0)
    assert out.tolist() == [0.0, 3.0, 8.0, 10.0]
    assert other.tolist() == [0.0, 0.0, 5.0, 1.0]
