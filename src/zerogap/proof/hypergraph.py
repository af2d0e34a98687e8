"""Checks bounds of hypergraph problems with a dynamic program of its own, in NumPy, one vertex at a time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from zerogap.errors import VerificationError
from zerogap.grid import Scores, floor_to_unit
from zerogap.hypergraph.problem import Problem
from zerogap.proof.certificate import Certificate, DynamicProgram, Leaves, Multipliers, Unsatisfiable
from zerogap.proof.leaves import check_cover
from zerogap.proof.multipliers import checked_multipliers
from zerogap.structures.hypergraph import Hypergraph


def hypergraph_bound(problem: Problem, certificate: Certificate) -> float:
    """The bound that a certificate proves."""
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


def best_score(graph: Hypergraph, scores: Scores) -> float:
    """The score of a best hyperpath; -inf if there is none."""
    best = np.zeros(graph.n_vertices)
    for v in np.flatnonzero(~graph.is_terminal):
        first, last = graph.edge_start[v], graph.edge_start[v + 1]
        at = graph.tail_start[first : last + 1]
        below = np.add.reduceat(best[graph.tails[at[0] : at[-1]]], at[:-1] - at[0])
        best[v] = (scores[first:last] + below).max()
    return float(best[graph.root])
