"""Sums over all hyperpaths: the log partition function, posterior marginals, and samples.

    inside[v]    = a(v) + log sum_{e into v} exp(w(e) + sum_{u in tail(e)} inside[u])
    posterior(e) = posterior(h(e)) * exp(a(h(e)) + w(e) + sum_{u in tail(e)} inside[u] - inside[h(e)])

Posteriors flow down from the root as probabilities, so no outside chart in log space is needed and nothing underflows
that matters.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zerogap.errors import OverlappingTails
from zerogap.grid import Scores
from zerogap.kernels import float64, int64, kernel, readonly, writable
from zerogap.oracles.hypergraphs.best_path import STARTS, TAIL_STARTS, TAILS, VALUES, Hyperpath, checked_scores, require_feasible
from zerogap.structures.hypergraph import Hypergraph


@kernel(int64(STARTS, TAIL_STARTS, TAILS, VALUES, writable(float64, 1)))
def inside_log(edge_start, tail_start, tails, scores, inside):  # out: inside (V,), given as vertex scores
    for v in range(edge_start.shape[0] - 1):
        if edge_start[v] == edge_start[v + 1]:
            continue
        largest, total = -np.inf, 0.0  # the sum so far is total * exp(largest)
        for e in range(edge_start[v], edge_start[v + 1]):
            score = scores[e]
            for p in range(tail_start[e], tail_start[e + 1]):
                score += inside[tails[p]]
            if score > largest:
                total = total * np.exp(largest - score) + 1.0
                largest = score
            elif score > -np.inf:
                total += np.exp(score - largest)
        inside[v] = inside[v] + largest + np.log(total) if largest > -np.inf else -np.inf
    return 0


@kernel(int64(STARTS, TAIL_STARTS, TAILS, VALUES, VALUES, VALUES, int64, writable(float64, 1), writable(float64, 1)))
def posterior(edge_start, tail_start, tails, scores, vertex_scores, inside, root, of_edge, of_vertex):  # out: of_edge, of_vertex
    of_edge[:] = 0.0
    of_vertex[:] = 0.0
    of_vertex[root] = 1.0
    for v in range(root, -1, -1):
        if of_vertex[v] == 0.0:
            continue
        for e in range(edge_start[v], edge_start[v + 1]):
            score = vertex_scores[v] + scores[e] - inside[v]
            for p in range(tail_start[e], tail_start[e + 1]):
                score += inside[tails[p]]
            of_edge[e] = of_vertex[v] * np.exp(score)
            for p in range(tail_start[e], tail_start[e + 1]):
                of_vertex[tails[p]] += of_edge[e]
    return 0


@kernel(int64(STARTS, TAIL_STARTS, TAILS, VALUES, VALUES, VALUES, readonly(float64, 1), int64, writable(int64, 1)))
def draw(edge_start, tail_start, tails, scores, vertex_scores, inside, uniform, root, edges):  # out: edges (V,)
    stack = np.empty(edge_start.shape[0], dtype=np.int64)
    stack[0] = root
    height, n_edges = 1, 0
    while height > 0:
        height -= 1
        v = stack[height]
        if edge_start[v] == edge_start[v + 1]:
            continue
        if n_edges == edges.shape[0]:
            return -1  # more than a tree has: a vertex is used twice
        left, chosen = uniform[n_edges], -1
        for e in range(edge_start[v], edge_start[v + 1]):
            score = vertex_scores[v] + scores[e] - inside[v]
            for p in range(tail_start[e], tail_start[e + 1]):
                score += inside[tails[p]]
            if score > -np.inf:
                chosen = e  # rounding may leave a little at the end: the last possible one takes it
                left -= np.exp(score)
                if left < 0.0:
                    break
        edges[n_edges] = chosen
        n_edges += 1
        if height + tail_start[chosen + 1] - tail_start[chosen] > stack.shape[0]:
            return -1
        for p in range(tail_start[chosen + 1] - 1, tail_start[chosen] - 1, -1):
            stack[height] = tails[p]
            height += 1
    return n_edges


def log_inside(hypergraph: Hypergraph, scores: ArrayLike, *, vertex_scores: ArrayLike | None = None) -> Scores:
    """log sum exp over what is below every vertex; the root's entry is the log partition function."""
    weights, above = checked_scores(hypergraph, scores, vertex_scores)
    return inside_log_chart(hypergraph, weights, above)


def inside_log_chart(hypergraph: Hypergraph, scores: Scores, vertex_scores: Scores) -> Scores:
    inside = vertex_scores.copy()
    inside_log(hypergraph.edge_start, hypergraph.tail_start, hypergraph.tails, scores, inside)
    require_feasible(inside[hypergraph.root])
    return inside


def posterior_marginals(hypergraph: Hypergraph, scores: ArrayLike, *, vertex_scores: ArrayLike | None = None) -> tuple[Scores, Scores]:
    """The probability of every hyperedge and of every vertex when hyperpaths have probability proportional to exp(score)."""
    weights, above = checked_scores(hypergraph, scores, vertex_scores)
    inside = inside_log_chart(hypergraph, weights, above)
    of_edge, of_vertex = np.empty(hypergraph.n_edges), np.empty(hypergraph.n_vertices)
    arrays = hypergraph.edge_start, hypergraph.tail_start, hypergraph.tails
    posterior(*arrays, weights, above, inside, hypergraph.root, of_edge, of_vertex)
    return of_edge, of_vertex


def sample(
    hypergraph: Hypergraph,
    scores: ArrayLike,
    *,
    rng: np.random.Generator,
    n_samples: int = 1,
    vertex_scores: ArrayLike | None = None,
) -> list[Hyperpath]:
    """Independent hyperpaths, each drawn with probability proportional to exp(score)."""
    weights, above = checked_scores(hypergraph, scores, vertex_scores)
    inside = inside_log_chart(hypergraph, weights, above)
    arrays = hypergraph.edge_start, hypergraph.tail_start, hypergraph.tails
    n_inner = int((~hypergraph.is_terminal).sum())  # no hyperpath has more hyperedges
    edges = np.empty(n_inner, dtype=np.int64)
    paths = []
    for _ in range(n_samples):
        count = draw(*arrays, weights, above, inside, rng.random(n_inner), hypergraph.root, edges)
        if count < 0:
            raise OverlappingTails("a hyperpath uses a vertex more than once: the tails of the hypergraph overlap.")
        chosen = edges[:count].copy()
        paths.append(Hyperpath(chosen, path_score(hypergraph, weights, above, chosen)))
    return paths


def path_score(hypergraph: Hypergraph, scores: Scores, vertex_scores: Scores, edges: NDArray[np.int64]) -> float:
    """The score of a hyperpath from its parts: hyperedges, and the root and tail vertices that they use."""
    used = np.concatenate([[hypergraph.root], *(hypergraph.tail(int(e)) for e in edges)]).astype(np.int64)
    return float(scores[edges].sum() + vertex_scores[used].sum())
