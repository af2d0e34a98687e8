"""The scores of a problem for the arcs that are left, as the grand-sibling kernel reads them.

For every head, side and context (the head's head), a table [previous modifier (none first), modifier] of all that is scored when a modifier
is added, and a row [last modifier (none first)] of what is scored when a side ends. Only what a projective tree can use is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from zerogap.dependency.candidate_arcs import Candidates
from zerogap.grid import Scores
from zerogap.problems.dependency.problem import Problem

LARGEST_BLOCK = 2**18  # entries that are filled at once


def scores_of_candidates(problem: Problem, arcs: Scores, candidates: Candidates) -> tuple[Scores, Scores]:
    """Scores and stops in the layout of `candidates`, for arcs (n + 1, n + 1) that may hold the best labels."""
    scores, stops = np.zeros(candidates.score_start[-1]), np.zeros(candidates.stop_start[-1])
    head_start, heads = candidate_heads(arcs)
    for first, last in blocks(candidates.score_start):
        place, entry = entries(candidates.score_start, first, last)
        q = np.diff(candidates.modifier_start)[place]
        rest, j = np.divmod(entry, q)
        context, previous = np.divmod(rest, q + 1)
        at = candidates.modifier_start[place]
        h, m = place >> 1, candidates.modifiers[at + j]
        is_used = previous <= j
        if candidates.grand:
            g = np.where(h > 0, heads[np.minimum(head_start[h] + context, len(heads) - 1)], -1)
            is_used &= (h == 0) | is_outside(g, h, m)
        else:
            g = np.full_like(h, -1)
        used = np.flatnonzero(is_used)
        g, h, m, previous = g[used], h[used], m[used], previous[used]
        s = np.where(previous == 0, h, candidates.modifiers[at[used] + np.maximum(previous - 1, 0)])
        scores[candidates.score_start[first] + used] = added_scores(problem, arcs, g, h, s, m)
    for first, last in blocks(candidates.stop_start):
        place, entry = entries(candidates.stop_start, first, last)
        context, ended = np.divmod(entry, np.diff(candidates.modifier_start)[place] + 1)
        h = place >> 1
        m = np.where(ended == 0, h, candidates.modifiers[np.maximum(candidates.modifier_start[place] + ended - 1, 0)])
        g = np.where(h > 0, heads[np.minimum(head_start[h] + context, len(heads) - 1)], -1) if candidates.grand else np.full_like(h, -1)
        stops[candidates.stop_start[first] : candidates.stop_start[last]] = ended_scores(problem, g, h, m)
    return scores, stops


def candidate_heads(arcs: Scores) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The candidate heads of every word in ascending order, one word after the other, and where those of each begin."""
    modifiers, heads = np.nonzero((arcs > -np.inf).T)
    start = np.searchsorted(modifiers, np.arange(len(arcs) + 1))
    return start, np.ascontiguousarray(heads) if len(heads) else np.zeros(1, dtype=np.int64)


def blocks(starts: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Ranges of places with at most LARGEST_BLOCK entries each, if more than one place."""
    first, last = 0, len(starts) - 1
    while first < last:
        end = max(int(np.searchsorted(starts, starts[first] + LARGEST_BLOCK, side="right")) - 1, first + 1)
        end = min(end, last)
        if starts[end] > starts[first]:
            yield first, end
        first = end


def entries(starts: NDArray[np.int64], first: int, last: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The place of every entry, and its number there."""
    place = np.repeat(np.arange(first, last), np.diff(starts[first : last + 1]))
    return place, np.arange(starts[first], starts[last]) - starts[place]


def is_outside(g: NDArray[np.int64], h: NDArray[np.int64], m: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether g can be the head of h if m is a modifier of h in a projective tree."""
    return np.asarray((g < np.minimum(h, m)) | (g > np.maximum(h, m)))


def added_scores(
    problem: Problem, arcs: Scores, g: NDArray[np.int64], h: NDArray[np.int64], s: NDArray[np.int64], m: NDArray[np.int64]
) -> Scores:
    total = arcs[h, m]
    if problem.siblings is not None:
        total += problem.siblings.at(h, s, m)
    if problem.grandparents is not None or problem.grandsiblings is not None:
        below = np.flatnonzero(h > 0)
        g, h, s, m = g[below], h[below], s[below], m[below]
        if problem.grandparents is not None:
            total[below] += problem.grandparents.at(g, h, m)
        if problem.grandsiblings is not None:
            total[below] += problem.grandsiblings.at(g, h, s, m)
    return total


def ended_scores(problem: Problem, g: NDArray[np.int64], h: NDArray[np.int64], m: NDArray[np.int64]) -> Scores:
    total = np.zeros(len(h)) if problem.stops is None else problem.stops.at(h, m)
    if problem.outermost is not None:
        used = np.flatnonzero((h > 0) & (m != h) & is_outside(g, h, m))
        total[used] += problem.outermost.at(g[used], h[used], m[used])
    return total
