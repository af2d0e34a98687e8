"""Checks bounds of hypergraph problems with a dynamic program of its own, in NumPy, one vertex at a time."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from zerogap.errors import VerificationError
from zerogap.grid import Scores, floor_to_unit
from zerogap.problems.hypergraph import Problem
from zerogap.proof.certificate import Certificate, DynamicProgram, Leaves, Multipliers, Signatures, Unsatisfiable
from zerogap.proof.leaves import check_cover
from zerogap.proof.multipliers import checked_multipliers
from zerogap.structures.hypergraph import Hypergraph

MOST_HYPOTHESES = 2_000_000  # more than this and a search proves nothing in reasonable time


def hypergraph_bound(problem: Problem, certificate: Certificate, claimed: float = np.inf) -> float:
    """The bound that a certificate proves; searches prove the claimed one, or give what is above it."""
    if isinstance(certificate, Signatures):
        multipliers = checked_multipliers(certificate.values, problem.constraints, problem.resolution, problem.terms, problem.scores)
        return max(claimed, best_above(problem, multipliers, claimed))
    return bound_of(problem, problem.scores, certificate)


def bound_of(problem: Problem, scores: Scores, certificate: Certificate) -> float:
    match certificate:
        case DynamicProgram():
            return best_score(problem.hypergraph, scores)  # without the constraints: valid, if weak
        case Multipliers(values):
            multipliers = checked_multipliers(values, problem.constraints, problem.resolution, problem.terms, scores)
            reduced = scores - problem.constraints.transposed_times(multipliers)
            dual = best_score(problem.hypergraph, reduced) + float(multipliers @ problem.constraints.limits)
            return floor_to_unit(dual, problem.unit)
        case Unsatisfiable(row):
            return -np.inf if cannot_hold(problem, scores, row) else best_score(problem.hypergraph, scores)
        case Leaves(leaves):
            check_cover(leaves, problem.hypergraph.n_edges)
            heads = problem.hypergraph.heads
            return max(bound_of(problem, restricted(scores, leaf.fixed, heads), leaf.certificate) for leaf in leaves)
        case _:
            raise VerificationError(f"a certificate of kind {certificate.kind!r} proves nothing about hypergraphs.")


def restricted(scores: Scores, fixed: tuple[tuple[int, bool], ...], heads: NDArray[np.int32]) -> Scores:
    """Scores of what the decisions of a leaf leave: one hyperedge into a vertex kept alone, or one dropped."""
    left = scores.copy()
    for edge, inside in fixed:
        kept = left[edge]
        left[heads == heads[edge] if inside else edge] = -np.inf
        if inside:
            left[edge] = kept
    return left


def cannot_hold(problem: Problem, scores: Scores, row: int) -> bool:
    """Whether no hyperpath of what is left sums to what the row asks for: integers, so exact."""
    rows = problem.constraints
    if type(row) is not int or not 0 <= row < len(rows):
        raise VerificationError(f"the certificate names constraint {row!r}: expected 0 to {len(rows) - 1}.")
    weights = rows.select([row]).transposed_times(np.ones(1))
    least = -best_score(problem.hypergraph, np.where(scores > -np.inf, -weights, -np.inf))
    most = best_score(problem.hypergraph, np.where(scores > -np.inf, weights, -np.inf))
    return bool(least > rows.limits[row] or (rows.is_equation[row] and most < rows.limits[row]))


def best_above(problem: Problem, multipliers: Scores, claimed: float) -> float:
    """The best score above the claimed bound of a hyperpath that satisfies every row; -inf if there is none."""
    graph, rows = problem.hypergraph, problem.constraints
    reduced = problem.scores - rows.transposed_times(multipliers)
    around = outside_scores(graph, reduced) + float(multipliers @ rows.limits)
    dense = np.zeros((graph.n_edges, len(rows)))
    np.add.at(dense, (rows.columns, np.repeat(np.arange(len(rows)), np.diff(rows.row_start))), rows.coefficients)
    found: list[dict[tuple[float, ...], float]] = []
    count = 0
    for v in range(graph.n_vertices):
        own: dict[tuple[float, ...], float] = {}
        if graph.edge_start[v] == graph.edge_start[v + 1]:
            own[(0.0,) * len(rows)] = 0.0
        for e in range(int(graph.edge_start[v]), int(graph.edge_start[v + 1])):
            if problem.scores[e] == -np.inf or around[v] == -np.inf:
                continue
            for below in itertools.product(*(found[t].items() for t in graph.tail(e).tolist())):
                used = dense[e] + np.sum([signature for signature, _ in below], axis=0)
                score = float(problem.scores[e]) + sum(part for _, part in below)
                if score - float(multipliers @ used) + around[v] > claimed:
                    key = tuple(used.tolist())
                    own[key] = max(own.get(key, -np.inf), score)
        count += len(own)
        if count > MOST_HYPOTHESES:
            raise VerificationError(
                f"more than {MOST_HYPOTHESES:,} hypotheses may be above the claimed bound: the multipliers prove too little."
            )
        found.append(own)
    final = [score for key, score in found[graph.root].items() if not rows.violated(np.array(key) - rows.limits).any()]
    return max((score for score in final if score > claimed), default=-np.inf)


def outside_scores(graph: Hypergraph, scores: Scores) -> Scores:
    """The best score of what is around every vertex."""
    inside, outside = inside_scores(graph, scores), np.full(graph.n_vertices, -np.inf)
    outside[graph.root] = 0.0
    for v in range(graph.root, -1, -1):
        for e in range(int(graph.edge_start[v]), int(graph.edge_start[v + 1])):
            tail = graph.tail(e).tolist()
            for u in tail:
                others = sum(inside[t] for t in tail if t != u)
                outside[u] = max(outside[u], outside[v] + scores[e] + others)
    return outside


def best_score(graph: Hypergraph, scores: Scores) -> float:
    """The score of a best hyperpath; -inf if there is none."""
    return float(inside_scores(graph, scores)[graph.root])


def inside_scores(graph: Hypergraph, scores: Scores) -> Scores:
    """The best score of what is below every vertex."""
    best = np.zeros(graph.n_vertices)
    for v in np.flatnonzero(~graph.is_terminal):
        first, last = graph.edge_start[v], graph.edge_start[v + 1]
        at = graph.tail_start[first : last + 1]
        below = np.add.reduceat(best[graph.tails[at[0] : at[-1]]], at[:-1] - at[0])
        best[v] = (scores[first:last] + below).max()
    return best
