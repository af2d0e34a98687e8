"""Counts of hyperedges on the best hyperpaths through given ones: features of all max-marginal structures (Rush 2014, section 8.4.2).

The best hyperpath through a hyperedge is that hyperedge, the best way to derive each vertex of its tail, and the best way around its head,
which is a hyperedge above it, the best ways to derive the rest of that one's tail, and so on up to the root. Ways are shared: each is
noted once with how often it is wanted, those around vertices from the bottom up, then those below vertices from the top down. This
takes as long as finding the scores, however many hyperedges are asked for.
"""

from __future__ import annotations

import numpy as np

from zerogap.errors import ScoreShapeError
from zerogap.grid import Scores
from zerogap.kernels import float64, int64, kernel, readonly, writable
from zerogap.oracles.hypergraphs.best_path import STARTS, TAIL_STARTS, TAILS, VALUES, checked_scores, inside_chart, require_feasible
from zerogap.structures.hypergraph import Hypergraph


@kernel(int64(STARTS, TAIL_STARTS, TAILS, VALUES, VALUES, int64, writable(float64, 1), writable(int64, 1)))
def outside_back(edge_start, tail_start, tails, scores, inside, root, outside, back):  # out: outside (V,), back (V,)
    """As zerogap.oracles.hypergraphs.best_path.outside_max, with the hyperedge by which a vertex is used best, the highest one; -1 for
    the root."""
    for v in range(outside.size):
        outside[v] = -np.inf
        back[v] = -1
    outside[root] = 0.0
    for v in range(root, -1, -1):
        if outside[v] == -np.inf:
            continue
        for e in range(edge_start[v], edge_start[v + 1]):
            first, last = tail_start[e], tail_start[e + 1]
            for p in range(first, last):
                score = outside[v] + scores[e]
                for q in range(first, last):
                    if q != p:
                        score += inside[tails[q]]
                if score > outside[tails[p]]:
                    outside[tails[p]] = score
                    back[tails[p]] = e
    return 0


@kernel(int64(STARTS, TAIL_STARTS, TAILS, readonly(int64, 1), readonly(int64, 1), readonly(int64, 1), VALUES, writable(float64, 1)))
def spread_counts(edge_start, tail_start, tails, heads, inside_edge, outside_edge, wanted, counts):  # out: counts (E,)
    size = edge_start.size - 1
    below, around = np.zeros(size), np.zeros(size)
    for e in range(wanted.size):
        counts[e] = wanted[e]
        if wanted[e] != 0.0:
            around[heads[e]] += wanted[e]
            for p in range(tail_start[e], tail_start[e + 1]):
                below[tails[p]] += wanted[e]
    for v in range(size):  # tails come before heads
        e = outside_edge[v]
        if around[v] == 0.0 or e < 0:
            continue
        counts[e] += around[v]
        around[heads[e]] += around[v]
        for p in range(tail_start[e], tail_start[e + 1]):
            if tails[p] != v:
                below[tails[p]] += around[v]
    for v in range(size - 1, -1, -1):
        if below[v] != 0.0 and edge_start[v] < edge_start[v + 1]:
            e = inside_edge[v]
            counts[e] += below[v]
            for p in range(tail_start[e], tail_start[e + 1]):
                below[tails[p]] += below[v]
    return 0


class BestPaths:
    """The best hyperpaths of a hypergraph through each of its hyperedges; none, where that is forbidden."""

    __slots__ = ("best", "heads", "hypergraph", "inside", "inside_edge", "marginals", "outside_edge")

    def __init__(self, hypergraph: Hypergraph, scores: Scores) -> None:
        checked, zeros = checked_scores(hypergraph, scores, None)
        self.hypergraph = hypergraph
        self.inside, self.inside_edge = inside_chart(hypergraph, checked, zeros)
        self.best = float(self.inside[hypergraph.root])
        require_feasible(self.best)
        outside, self.outside_edge = np.empty(hypergraph.n_vertices), np.empty(hypergraph.n_vertices, dtype=np.int64)
        arrays = hypergraph.edge_start, hypergraph.tail_start, hypergraph.tails
        outside_back(*arrays, checked, self.inside, hypergraph.root, outside, self.outside_edge)
        self.heads = hypergraph.heads.astype(np.int64)
        self.marginals = outside[self.heads] + checked + np.add.reduceat(self.inside[hypergraph.tails], hypergraph.tail_start[:-1])

    def counts(self, wanted: Scores) -> Scores:
        """How often every hyperedge is used by best hyperpaths, if wanted[e] of them go through e, whose marginal is above -inf."""
        graph = self.hypergraph
        if wanted.shape != (graph.n_edges,):
            raise ScoreShapeError(f"wanted has shape {wanted.shape}: expected ({graph.n_edges},).")
        counts = np.empty(graph.n_edges)
        arrays = graph.edge_start, graph.tail_start, graph.tails
        spread_counts(*arrays, self.heads, self.inside_edge, self.outside_edge, wanted, counts)
        return counts
