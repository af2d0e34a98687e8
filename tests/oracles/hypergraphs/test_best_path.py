"""The kernels against enumeration: all hyperpaths of small hypergraphs, ties and holes included."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zerogap.errors import Infeasible, InputError, InvalidStructure, ScoreError, ScoreShapeError, ScoreTypeError
from zerogap.oracles.hypergraphs.best_path import best_path, filter_edges, fringe, max_marginals
from zerogap.oracles.hypergraphs.kbest import k_best_paths
from zerogap.oracles.hypergraphs.marginals import log_inside, path_score, posterior_marginals, sample
from zerogap.oracles.hypergraphs.semiring import COUNT, LOG, MAX, count_paths, enumerate_paths, fold
from zerogap.structures.hypergraph import Builder, from_edges
from zerogap.testing.strategies import hypergraphs, scored_hypergraphs


def all_scored(graph, scores, vertex_scores):
    paths = enumerate_paths(graph)
    return {path: path_score(graph, scores, vertex_scores, np.array(path)) for path in paths}


@given(scored_hypergraphs())
def test_best_path(instance):
    graph, scores, vertex_scores = instance
    values = all_scored(graph, scores, vertex_scores)
    best = max(values.values())
    if best == -np.inf:
        with pytest.raises(Infeasible):
            best_path(graph, scores, vertex_scores=vertex_scores)
        return
    path = best_path(graph, scores, vertex_scores=vertex_scores)
    assert path.score == best == values[tuple(path.edges.tolist())]


@given(scored_hypergraphs())
def test_max_marginals(instance):
    graph, scores, vertex_scores = instance
    values = all_scored(graph, scores, vertex_scores)
    if max(values.values()) == -np.inf:
        return
    of_edge, of_vertex = max_marginals(graph, scores, vertex_scores=vertex_scores)
    for e in range(graph.n_edges):
        assert of_edge[e] == max((s for path, s in values.items() if e in path), default=-np.inf)
    for v in range(graph.n_vertices):
        using = [s for path, s in values.items() if v == graph.root or any(v in graph.tail(e) for e in path)]
        assert of_vertex[v] == max(using, default=-np.inf)


@given(scored_hypergraphs())
def test_posteriors(instance):
    graph, scores, vertex_scores = instance
    values = all_scored(graph, scores, vertex_scores)
    total = sum(math.exp(s) for s in values.values())
    if total == 0.0:
        with pytest.raises(Infeasible):
            log_inside(graph, scores, vertex_scores=vertex_scores)
        return
    assert log_inside(graph, scores, vertex_scores=vertex_scores)[graph.root] == pytest.approx(math.log(total))
    of_edge, of_vertex = posterior_marginals(graph, scores, vertex_scores=vertex_scores)
    for e in range(graph.n_edges):
        assert of_edge[e] == pytest.approx(sum(math.exp(s) for path, s in values.items() if e in path) / total)
    assert of_vertex[graph.root] == 1.0


@given(scored_hypergraphs(), st.integers(1, 12))
def test_k_best(instance, k):
    graph, scores, vertex_scores = instance
    values = {path: s for path, s in all_scored(graph, scores, vertex_scores).items() if s > -np.inf}
    if not values:
        with pytest.raises(Infeasible):
            k_best_paths(graph, scores, k, vertex_scores=vertex_scores)
        return
    found = k_best_paths(graph, scores, k, vertex_scores=vertex_scores)
    assert [path.score for path in found] == sorted(values.values(), reverse=True)[:k]
    assert len({tuple(path.edges.tolist()) for path in found}) == len(found)
    assert all(values[tuple(path.edges.tolist())] == path.score for path in found)
    assert found[0].edges.tolist() == best_path(graph, scores, vertex_scores=vertex_scores).edges.tolist()


@given(hypergraphs(), st.randoms(use_true_random=False))
def test_filter_keeps_exactly_the_paths_of_kept_hyperedges(graph, random):
    keep = np.array([random.random() < 0.8 for _ in range(graph.n_edges)])
    expected = sorted(path for path in enumerate_paths(graph) if all(keep[list(path)]))
    assert count_paths(graph, keep=keep) == len(expected)
    if not expected:
        with pytest.raises(Infeasible):
            filter_edges(graph, keep)
        return
    kept = filter_edges(graph, keep)
    assert sorted(tuple(kept.edges[list(path)].tolist()) for path in enumerate_paths(kept.hypergraph)) == expected
    assert kept.hypergraph.vertex_names == tuple(graph.vertex_names[v] for v in kept.vertices)


@given(scored_hypergraphs(holes=False))
def test_folds_agree_with_kernels(instance):
    graph, scores, _ = instance
    assert fold(graph, scores.tolist(), MAX)[graph.root] == best_path(graph, scores).score
    assert fold(graph, scores.tolist(), LOG)[graph.root] == pytest.approx(log_inside(graph, scores)[graph.root])
    assert count_paths(graph) == fold(graph, [1] * graph.n_edges, COUNT)[graph.root] == len(enumerate_paths(graph))


@given(hypergraphs())
def test_fringe_is_left_to_right(graph):
    path = best_path(graph, np.zeros(graph.n_edges))
    names = [graph.vertex_names[v] for v in fringe(graph, path.edges)]
    assert [name[1] for name in names] == list(range(graph.vertex_names[graph.root][1]))
    with pytest.raises(InvalidStructure):
        fringe(graph, [*path.edges, path.edges[0]])


def test_ties_break_to_the_lowest_hyperedge():
    graph, *_ = from_edges([1, 1, 1], [[0], [0], [0]], n_vertices=2, root=1)
    assert best_path(graph, [1.0, 2.0, 2.0]).edges.tolist() == [1]
    assert [p.edges.tolist() for p in k_best_paths(graph, [2.0, 2.0, 2.0], 3)] == [[0], [1], [2]]


def test_samples_follow_the_distribution():
    builder = Builder()
    for tail, score in (("a", 0.0), ("b", math.log(3.0)), ("c", -np.inf)):
        builder.edge("S", [tail], score=score)
    graph, scores = builder.build("S")
    drawn = sample(graph, scores, rng=np.random.default_rng(7), n_samples=4000)
    counts = np.bincount([int(path.edges[0]) for path in drawn], minlength=3)
    assert counts[2] == 0
    assert counts[1] / 4000 == pytest.approx(0.75, abs=0.03)
    again = sample(graph, scores, rng=np.random.default_rng(7), n_samples=4000)
    assert [p.edges.tolist() for p in drawn] == [p.edges.tolist() for p in again]


@given(scored_hypergraphs(holes=False), st.integers(0, 10))
def test_samples_are_paths(instance, seed):
    graph, scores, vertex_scores = instance
    for path in sample(graph, scores, rng=np.random.default_rng(seed), n_samples=3, vertex_scores=vertex_scores):
        graph.check_path(path.edges.tolist())
        assert path.score == path_score(graph, scores, vertex_scores, path.edges)


def test_counts_beyond_float64_are_exact():
    n = 80
    edges = [(v + 1, [v]) for v in range(n) for _ in range(3)]
    graph, *_ = from_edges([h for h, _ in edges], [t for _, t in edges], n_vertices=n + 1, root=n)
    assert count_paths(graph) == 3**80


@pytest.mark.compiled
def test_a_long_lattice_needs_no_recursion():
    n = 200_000
    heads = np.repeat(np.arange(1, n + 1), 2)
    graph, *_ = from_edges(heads, (heads - 1)[:, None], n_vertices=n + 1, root=n, validate=False)
    assert graph.is_lattice
    scores = np.tile([1.0, 0.0], n)
    assert best_path(graph, scores).score == n
    assert [path.score for path in k_best_paths(graph, scores, 3)] == [n, n - 1, n - 1]


@pytest.mark.parametrize(
    ("scores", "error", "message"),
    [
        ([1.0, float("nan")], ScoreError, r"scores\[1\] is nan"),
        ([float("inf"), 1.0], ScoreError, r"scores\[0\] is inf"),
        ([1.0], ScoreShapeError, r"scores has shape \(1,\): expected \(2,\)"),
        ([[1.0, 2.0]], ScoreShapeError, r"scores has shape \(1, 2\)"),
        (["a", "b"], ScoreTypeError, "dtype"),
        ([1j, 2.0], ScoreTypeError, "complex"),
        ([[1.0], [1.0, 2.0]], ScoreShapeError, "ragged"),
    ],
)
def test_bad_scores(scores, error, message):
    graph, *_ = from_edges([1, 1], [[0], [0]], n_vertices=2, root=1)
    with pytest.raises(error, match=message):
        best_path(graph, scores)


def test_bad_k_and_masks():
    graph, *_ = from_edges([1, 1], [[0], [0]], n_vertices=2, root=1)
    for k in (0, -1, 1.5, True, None):
        with pytest.raises(InputError, match="k is"):
            k_best_paths(graph, [0.0, 0.0], k)
    with pytest.raises(ScoreShapeError, match="keep"):
        filter_edges(graph, [1, 0])
    with pytest.raises(ScoreShapeError, match="keep"):
        count_paths(graph, keep=[True])
