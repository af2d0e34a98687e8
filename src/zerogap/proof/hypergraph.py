"""Checks bounds of hypergraph problems with a dynamic program in integers, one vertex at a time."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace

import numpy as np

from zerogap.errors import OverlappingTails, VerificationError
from zerogap.grid import Integers
from zerogap.problems.hypergraph import Problem
from zerogap.proof.certificate import Certificate, DynamicProgram, Leaves, Multipliers, Signatures, Unsatisfiable
from zerogap.proof.integers import ABSENT, Units, number, plus, settled, units
from zerogap.proof.leaves import check_cover
from zerogap.proof.multipliers import checked_multipliers, largest_of, prices_of, refund
from zerogap.structures.hypergraph import Hypergraph, check_disjoint

MOST_HYPOTHESES = 2_000_000  # more than this and a search proves nothing in reasonable time


@dataclass(frozen=True, slots=True, eq=False)
class Paths:
    """A problem in units; `scores` may lack what the decisions of a leaf exclude."""

    problem: Problem
    scores: Integers
    grain: int  # divides the score of every hyperpath
    largest: int  # no hyperpath's score is larger in magnitude
    times: int = 1  # the dynamic program may use a hyperedge as often


def hypergraph_bound(problem: Problem, certificate: Certificate, claimed: Units) -> Units:
    """The bound that a certificate proves; searches prove the claimed one, or give what is above it."""
    scores = units(problem.scores, problem.resolution)
    bits = int(np.bitwise_or.reduce(scores[scores > ABSENT], initial=0))
    times = 1 if len(problem.constraints) == 0 or is_disjoint(problem.hypergraph) else problem.terms
    paths = Paths(problem, scores, bits & -bits or 1, largest_of(problem.terms, scores), times)
    if isinstance(certificate, Signatures):
        multipliers = checked_multipliers(certificate.values, problem.constraints, problem.resolution, paths.largest, times=times)
        return max(claimed, best_above(paths, multipliers, claimed))
    return bound_of(paths, certificate)


def is_disjoint(graph: Hypergraph) -> bool:
    """Whether no vertex is below two tails of a hyperedge: else dynamic programs may use what is below it more than once."""
    try:
        if not graph.is_lattice:
            check_disjoint(graph)
    except OverlappingTails:
        return False
    return True


def bound_of(paths: Paths, certificate: Certificate) -> Units:
    problem = paths.problem
    graph, rows = problem.hypergraph, problem.constraints
    match certificate:
        case DynamicProgram():
            return best_score(graph, paths.scores)  # without the constraints: valid, if weak
        case Multipliers(values):
            multipliers = checked_multipliers(values, rows, problem.resolution, paths.largest, times=paths.times)
            best = best_score(graph, plus(paths.scores, -prices_of(multipliers, rows)))
            return best if best == -math.inf else (int(best) + refund(multipliers, rows)) // paths.grain * paths.grain
        case Unsatisfiable(row):
            return -math.inf if cannot_hold(paths, row) else best_score(graph, paths.scores)
        case Leaves(leaves):
            check_cover(leaves, graph.n_edges)
            return max(bound_of(restricted(paths, leaf.fixed), leaf.certificate) for leaf in leaves)
        case _:
            raise VerificationError(f"a certificate of kind {certificate.kind!r} proves nothing about hypergraphs.")


def restricted(paths: Paths, fixed: tuple[tuple[int, bool], ...]) -> Paths:
    """What the decisions of a leaf leave: one hyperedge into a vertex kept alone, or one dropped."""
    left, heads = paths.scores.copy(), paths.problem.hypergraph.heads
    for edge, inside in fixed:
        kept = left[edge]
        left[heads == heads[edge] if inside else edge] = ABSENT
        if inside:
            left[edge] = kept
    return replace(paths, scores=left)


def cannot_hold(paths: Paths, row: int) -> bool:
    """Whether no hyperpath of what is left sums to what the row asks for."""
    graph, rows = paths.problem.hypergraph, paths.problem.constraints
    if not 0 <= row < len(rows):
        raise VerificationError(f"the certificate names constraint {row!r}: expected 0 to {len(rows) - 1}.")
    weights = prices_of(np.ones(1, dtype=np.int64), rows.select([row]))
    least = -best_score(graph, np.where(paths.scores > ABSENT, -weights, ABSENT))
    most = best_score(graph, np.where(paths.scores > ABSENT, weights, ABSENT))
    return bool(least > rows.limits[row] or (rows.is_equation[row] and most < rows.limits[row]))


def best_above(paths: Paths, multipliers: Integers, claimed: Units) -> Units:
    """The best score above the claimed bound of a hyperpath that satisfies every row; -inf if there is none."""
    graph, rows = paths.problem.hypergraph, paths.problem.constraints
    around = outside_scores(graph, plus(paths.scores, -prices_of(multipliers, rows)))
    given, prices = refund(multipliers, rows), multipliers.tolist()
    dense = np.zeros((graph.n_edges, len(rows)), dtype=np.int64)
    where = np.repeat(np.arange(len(rows)), np.diff(rows.row_start))
    np.add.at(dense, (rows.columns, where), rows.coefficients.astype(np.int64))
    found: list[dict[tuple[int, ...], int]] = []
    count = 0
    for v in range(graph.n_vertices):
        own: dict[tuple[int, ...], int] = {}
        if graph.edge_start[v] == graph.edge_start[v + 1]:
            own[(0,) * len(rows)] = 0
        outside = number(around[v])
        for e in range(int(graph.edge_start[v]), int(graph.edge_start[v + 1])):
            if paths.scores[e] == ABSENT or outside == -math.inf:
                continue
            use = dense[e].tolist()
            for below in itertools.product(*(found[t].items() for t in graph.tail(e).tolist())):
                used = tuple(map(sum, zip(use, *(signature for signature, _ in below), strict=True)))
                score = int(paths.scores[e]) + sum(part for _, part in below)
                paid = sum(u * times for u, times in zip(prices, used, strict=True))
                if score - paid + outside + given > claimed:
                    own[used] = max(own.get(used, score), score)
                    if count + len(own) > MOST_HYPOTHESES:
                        raise VerificationError(
                            f"more than {MOST_HYPOTHESES:,} hypotheses may be above the claimed bound: the multipliers prove too little."
                        )
        count += len(own)
        found.append(own)
    good = [score for used, score in found[graph.root].items() if not rows.violated(np.array(used) - rows.limits).any()]
    return max((score for score in good if score > claimed), default=-math.inf)


def outside_scores(graph: Hypergraph, scores: Integers) -> Integers:
    """The best score of what is around every vertex."""
    inside, outside = inside_scores(graph, scores), np.full(graph.n_vertices, ABSENT)
    outside[graph.root] = 0
    for v in reversed(range(graph.root + 1)):
        for e in range(int(graph.edge_start[v]), int(graph.edge_start[v + 1])):
            tail = graph.tail(e).tolist()
            for u in tail:
                total = plus(outside[v], scores[e])
                for t in tail:
                    if t != u:
                        total = plus(total, inside[t])
                outside[u] = max(outside[u], total)
    return outside


def best_score(graph: Hypergraph, scores: Integers) -> Units:
    """The score of a best hyperpath; -inf if there is none."""
    return number(inside_scores(graph, scores)[graph.root])


def inside_scores(graph: Hypergraph, scores: Integers) -> Integers:
    """The best score of what is below every vertex."""
    best = np.zeros(graph.n_vertices, dtype=np.int64)
    for v in np.flatnonzero(~graph.is_terminal):
        first, last = graph.edge_start[v], graph.edge_start[v + 1]
        at = graph.tail_start[first : last + 1]
        tails = best[graph.tails[at[0] : at[-1]]]
        # a sum of many tails: those that are absent are counted apart, as two of them would leave the range
        absent = np.add.reduceat((tails == ABSENT).astype(np.int64), at[:-1] - at[0]) > 0
        below = np.where(absent, ABSENT, np.add.reduceat(np.where(tails == ABSENT, 0, tails), at[:-1] - at[0]))
        best[v] = settled(scores[first:last] + below).max()
    return best
