"""The best hyperpath through a hyperedge, against its max-marginal and all hyperpaths; vines as hypergraphs, against the vine parser."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zerogap.errors import Infeasible, InputError, ScoreShapeError
from zerogap.oracles.hypergraphs.best_path import max_marginals
from zerogap.oracles.vine.hypergraph import vine_hypergraph
from zerogap.oracles.vine.max_marginal_counts import BestPaths
from zerogap.oracles.vine.oracle import vine_max_marginals
from zerogap.testing.strategies import random_scores, scored_hypergraphs


@given(scored_hypergraphs())
def test_counts_are_those_of_best_hyperpaths(drawn):
    graph, scores, _ = drawn
    try:
        paths = BestPaths(graph, scores)
    except Infeasible:
        return
    of_edges, of_vertices = max_marginals(graph, scores)
    assert paths.marginals.tolist() == of_edges.tolist()
    assert paths.best == of_vertices[graph.root]
    for e in np.flatnonzero(of_edges > -np.inf).tolist():
        counts = paths.counts(np.eye(graph.n_edges)[e])
        assert set(counts.tolist()) <= {0.0, 1.0}
        assert counts[e] == 1.0
        graph.check_path(np.flatnonzero(counts))
        assert scores[counts > 0.0].sum() == of_edges[e]
    counts = paths.counts(np.eye(graph.n_edges)[paths.inside_edge[graph.root]])
    assert scores[counts > 0.0].sum() == paths.best


@given(scored_hypergraphs(holes=False), st.integers(0, 1000))
def test_counts_add_up(drawn, seed):
    graph, scores, _ = drawn
    paths, wanted = BestPaths(graph, scores), np.random.default_rng(seed).integers(0, 3, graph.n_edges).astype(np.float64)
    each = [amount * paths.counts(np.eye(graph.n_edges)[e]) for e, amount in enumerate(wanted)]
    assert paths.counts(wanted).tolist() == np.sum(each, axis=0).tolist()
    with pytest.raises(ScoreShapeError, match="wanted has shape"):
        paths.counts(wanted[1:])


@given(st.integers(1, 7), st.integers(0, 8), st.integers(0, 10_000), st.booleans())
def test_hyperpaths_are_vines(n, band, seed, single_root):
    near, far = random_scores((2, n + 1, band + 1), seed), random_scores((3, n + 1), seed + 1)
    vines = vine_hypergraph(n, band, single_root=single_root)
    flat = np.concatenate([near.ravel(), far.ravel()])
    makes = vines.makes >= 0
    scores = np.where(makes, flat[vines.makes], 0.0)
    worth = np.empty_like(near), np.empty_like(far)
    best = vine_max_marginals(near, far, int(single_root), *worth)
    if best == -np.inf:
        with pytest.raises(Infeasible):
            BestPaths(vines.hypergraph, scores)
        return
    paths = BestPaths(vines.hypergraph, scores)
    found = np.full(len(flat), -np.inf)
    np.maximum.at(found, vines.makes[makes], paths.marginals[makes])
    assert paths.best == best
    assert found.tolist() == np.concatenate([values.ravel() for values in worth]).tolist()
    best = paths.counts(np.eye(vines.hypergraph.n_edges)[paths.inside_edge[vines.hypergraph.root]])
    assert best[makes].sum() == n  # every word has one head


def test_what_is_not_a_vine():
    with pytest.raises(InputError, match="a vine of 0 words"):
        vine_hypergraph(0, 3)
    with pytest.raises(InputError, match="width -1"):
        vine_hypergraph(3, -1)
