"""Dynamic programs on a hypergraph with the max semiring: linear in the number of hyperedges, ties to the lowest one.

Rush 2014, section 2.2.2, algorithms 3 and 4. With vertex scores a(v) and hyperedge scores w(e):

    inside[v]  = a(v) + max_{e into v} (w(e) + sum_{u in tail(e)} inside[u])
    outside[u] = max_{e with u in its tail} (outside[h(e)] + a(h(e)) + w(e) + sum_{other u' in tail(e)} inside[u'])

A vertex is on a best hyperpath of score inside[v] + outside[v]. Departures: back-pointers are kept, and the outside pass
never subtracts, so that -inf needs no care.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zerogap.errors import Infeasible, OverlappingTails, ScoreShapeError
from zerogap.grid import Scores, as_scores
from zerogap.kernels import boolean, float64, int32, int64, kernel, readonly, writable
from zerogap.structures.hypergraph import Hypergraph

STARTS, TAIL_STARTS, TAILS, VALUES = readonly(int64, 1), readonly(int32, 1), readonly(int32, 1), readonly(float64, 1)


@dataclass(frozen=True, slots=True, eq=False)
class Hyperpath:
    """The hyperedges of one hyperpath, each before those below it and those of a tail left to right, and its score."""

    edges: NDArray[np.int64]
    score: float


@dataclass(frozen=True, slots=True, eq=False)
class Filtered:
    """What is left of a hypergraph, and the old numbers of its hyperedges and vertices."""

    hypergraph: Hypergraph
    edges: NDArray[np.int64]
    vertices: NDArray[np.int64]


@kernel(int64(STARTS, TAIL_STARTS, TAILS, VALUES, writable(float64, 1), writable(int64, 1)))
def inside_max(edge_start, tail_start, tails, scores, inside, back):  # out: inside (V,), given as vertex scores; back (V,)
    for v in range(edge_start.shape[0] - 1):
        first, last = edge_start[v], edge_start[v + 1]
        if first == last:
            continue
        best, argmax = -np.inf, first
        for e in range(first, last):
            position, end = tail_start[e], tail_start[e + 1]
            score = scores[e] + inside[tails[position]]
            for p in range(position + 1, end):
                score += inside[tails[p]]
            if score > best:  # strict: the first maximiser wins
                best, argmax = score, e
        inside[v] += best
        back[v] = argmax
    return 0


@kernel(int64(STARTS, TAIL_STARTS, TAILS, VALUES, VALUES, VALUES, int64, writable(float64, 1)))
def outside_max(edge_start, tail_start, tails, scores, vertex_scores, inside, root, outside):  # out: outside (V,)
    outside[:] = -np.inf
    outside[root] = 0.0
    for v in range(root, -1, -1):
        if outside[v] == -np.inf:
            continue
        above = outside[v] + vertex_scores[v]
        for e in range(edge_start[v], edge_start[v + 1]):
            first, last = tail_start[e], tail_start[e + 1]
            for p in range(first, last):
                score = above + scores[e]
                for q in range(first, last):
                    if q != p:
                        score += inside[tails[q]]
                if score > outside[tails[p]]:
                    outside[tails[p]] = score
    return 0


@kernel(int64(STARTS, TAIL_STARTS, TAILS, readonly(int64, 1), int64, writable(int64, 1), writable(int64, 1)))
def follow(edge_start, tail_start, tails, back, root, edges, fringe):  # out: edges, fringe (V,); returns packed counts
    stack = np.empty(edge_start.shape[0], dtype=np.int64)
    stack[0] = root
    height, n_edges, n_leaves = 1, 0, 0
    while height > 0:
        height -= 1
        v = stack[height]
        if edge_start[v] == edge_start[v + 1]:
            if n_leaves == fringe.shape[0]:
                return -1
            fringe[n_leaves] = v
            n_leaves += 1
            continue
        e = back[v]
        if n_edges == edges.shape[0] or height + tail_start[e + 1] - tail_start[e] > stack.shape[0] or n_leaves == fringe.shape[0]:
            return -1  # more than a tree has: a vertex is used twice
        edges[n_edges] = e
        n_edges += 1
        for p in range(tail_start[e + 1] - 1, tail_start[e] - 1, -1):  # right to left, so that the left one is next
            stack[height] = tails[p]
            height += 1
    return n_edges * edge_start.shape[0] + n_leaves


@kernel(int64(STARTS, TAIL_STARTS, TAILS, readonly(boolean, 1), int64, writable(boolean, 1), writable(boolean, 1)))
def mark_useful(edge_start, tail_start, tails, keep, root, useful, useful_edge):  # out: useful (V,), useful_edge (E,)
    productive = np.zeros(edge_start.shape[0], dtype=np.bool_)
    for v in range(edge_start.shape[0] - 1):
        productive[v] = edge_start[v] == edge_start[v + 1]
        for e in range(edge_start[v], edge_start[v + 1]):
            derives = keep[e]
            for p in range(tail_start[e], tail_start[e + 1]):
                derives = derives and productive[tails[p]]
            useful_edge[e] = derives
            productive[v] = productive[v] or derives
    useful[:] = False
    useful[root] = productive[root]
    for v in range(root, -1, -1):
        for e in range(edge_start[v], edge_start[v + 1]):
            useful_edge[e] = useful_edge[e] and useful[v]
            if useful_edge[e]:
                for p in range(tail_start[e], tail_start[e + 1]):
                    useful[tails[p]] = True
    return 0


def best_path(hypergraph: Hypergraph, scores: ArrayLike, *, vertex_scores: ArrayLike | None = None) -> Hyperpath:
    """The highest-scoring hyperpath (algorithm 3); Infeasible if every one is forbidden."""
    weights, above = checked_scores(hypergraph, scores, vertex_scores)
    inside, back = inside_chart(hypergraph, weights, above)
    require_feasible(inside[hypergraph.root])
    edges, _ = path_of(hypergraph, back)
    return Hyperpath(edges, float(inside[hypergraph.root]))


def inside_chart(hypergraph: Hypergraph, scores: Scores, vertex_scores: Scores) -> tuple[Scores, NDArray[np.int64]]:
    """The best score below every vertex, and the hyperedge that it enters by. Scores as from `checked_scores`."""
    inside = vertex_scores.copy()
    back = np.empty(hypergraph.n_vertices, dtype=np.int64)
    inside_max(hypergraph.edge_start, hypergraph.tail_start, hypergraph.tails, scores, inside, back)
    return inside, back


def max_marginals(hypergraph: Hypergraph, scores: ArrayLike, *, vertex_scores: ArrayLike | None = None) -> tuple[Scores, Scores]:
    """For every hyperedge and every vertex the score of the best hyperpath that uses it (algorithm 4)."""
    weights, above = checked_scores(hypergraph, scores, vertex_scores)
    inside, _ = inside_chart(hypergraph, weights, above)
    require_feasible(inside[hypergraph.root])
    outside = outside_chart(hypergraph, weights, above, inside)
    below = np.add.reduceat(inside[hypergraph.tails], hypergraph.tail_start[:-1])
    return (outside + above)[hypergraph.heads] + weights + below, inside + outside


def outside_chart(hypergraph: Hypergraph, scores: Scores, vertex_scores: Scores, inside: Scores) -> Scores:
    """The best score of what surrounds every vertex (algorithm 4, OUTSIDE)."""
    outside = np.empty(hypergraph.n_vertices)
    arrays = hypergraph.edge_start, hypergraph.tail_start, hypergraph.tails
    outside_max(*arrays, scores, vertex_scores, inside, hypergraph.root, outside)
    return outside


def path_of(hypergraph: Hypergraph, back: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The hyperedges and the fringe of the hyperpath that back-pointers describe."""
    edges = np.empty(hypergraph.n_vertices, dtype=np.int64)
    leaves = np.empty(hypergraph.n_vertices, dtype=np.int64)
    arrays = hypergraph.edge_start, hypergraph.tail_start, hypergraph.tails
    packed = follow(*arrays, back, hypergraph.root, edges, leaves)
    if packed < 0:
        raise OverlappingTails("a hyperpath uses a vertex more than once: the tails of the hypergraph overlap.")
    counts = divmod(packed, len(hypergraph.edge_start))
    return edges[: counts[0]].copy(), leaves[: counts[1]].copy()


def fringe(hypergraph: Hypergraph, edges: ArrayLike) -> NDArray[np.int64]:
    """The terminal vertices of a hyperpath from left to right. InvalidStructure if `edges` are not one."""
    hypergraph.check_path(np.asarray(edges).tolist())
    chosen = np.asarray(edges, dtype=np.int64)
    back = np.zeros(hypergraph.n_vertices, dtype=np.int64)
    back[hypergraph.heads[chosen]] = chosen
    return path_of(hypergraph, back)[1]


def filter_edges(hypergraph: Hypergraph, keep: ArrayLike) -> Filtered:
    """The hypergraph of those hyperpaths that use only hyperedges with `keep`; Infeasible if there are none."""
    mask = np.ascontiguousarray(keep)
    if mask.dtype != np.bool_ or mask.shape != (hypergraph.n_edges,):
        raise ScoreShapeError(f"keep has shape {mask.shape} and dtype {mask.dtype}: expected {hypergraph.n_edges} booleans.")
    useful = np.empty(hypergraph.n_vertices, dtype=np.bool_)
    useful_edge = np.empty(hypergraph.n_edges, dtype=np.bool_)
    arrays = hypergraph.edge_start, hypergraph.tail_start, hypergraph.tails
    mark_useful(*arrays, mask, hypergraph.root, useful, useful_edge)
    require_feasible(0.0 if useful[hypergraph.root] else -np.inf)
    edges, vertices = np.flatnonzero(useful_edge), np.flatnonzero(useful)
    number = np.cumsum(useful) - 1
    sizes = np.diff(hypergraph.tail_start)
    names: dict[str, Any] = {}
    if hypergraph.vertex_names is not None:
        names["vertex_names"] = tuple(hypergraph.vertex_names[v] for v in vertices)
    if hypergraph.edge_names is not None:
        names["edge_names"] = tuple(hypergraph.edge_names[e] for e in edges)
    kept = Hypergraph(
        edge_start=np.concatenate([[0], np.cumsum(np.bincount(number[hypergraph.heads[edges]], minlength=len(vertices)))]).astype(np.int64),
        tail_start=np.concatenate([[0], np.cumsum(sizes[edges])]).astype(np.int32),
        tails=number[hypergraph.tails[np.repeat(useful_edge, sizes)]].astype(np.int32),
        root=int(number[hypergraph.root]),
        **names,
    )
    return Filtered(kept, edges, vertices)


def checked_scores(hypergraph: Hypergraph, scores: ArrayLike, vertex_scores: ArrayLike | None) -> tuple[Scores, Scores]:
    """Scores of hyperedges and vertices (0 unless given) as arrays that fit the hypergraph."""
    weights = as_scores(scores, "scores", shape=(hypergraph.n_edges,))
    if vertex_scores is None:
        return weights, np.zeros(hypergraph.n_vertices)
    return weights, as_scores(vertex_scores, "vertex_scores", shape=(hypergraph.n_vertices,))


def require_feasible(score: float) -> None:
    if score == -np.inf:
        raise Infeasible("every hyperpath uses a hyperedge or a vertex that is forbidden (-inf).")
