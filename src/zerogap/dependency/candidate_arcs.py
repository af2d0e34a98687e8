"""The arcs that are left after pruning, and their scores, laid out as the grand-sibling kernel reads them.

For every head, side and context (the head's head), there is a table [previous modifier (none first), modifier] of all that is scored when
a modifier is added, and a row [last modifier (none first)] of what is scored when a side ends.
"""

# mypy: disable-error-code="no-untyped-def"
# a kernel's types are its signature

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zerogap.grid import Integers, Scores
from zerogap.kernels import boolean, inner, int64, kernel, readonly, record, writable
from zerogap.problems.dependency.problem import Problem

LARGEST_BLOCK = 2**18  # entries that are filled at once


class Candidates(NamedTuple):
    """The modifiers that every token may have, outward on each side; see `oracles.trees.grandsiblings` for the layout."""

    contexts: Integers  # (n + 1,)
    modifier_start: Integers  # (2 (n + 1) + 1,)
    heads: Integers  # (arcs,)
    modifiers: Integers  # (arcs,)
    context: Integers  # (arcs,)
    score_start: Integers  # (2 (n + 1) + 1,): of scores by context, the modifier before (none is the first) and modifier
    stop_start: Integers  # by context and last modifier
    pair_start: Integers  # by the modifier before and modifier
    grand_start: Integers  # by context and modifier
    grand: int  # whether contexts are the candidate heads of a head, or one for all of them

    @property
    def n_words(self) -> int:
        return len(self.contexts) - 1


CANDIDATES = record(Candidates, *[readonly(int64, 1)] * 9, int64)


@kernel(
    int64(
        readonly(boolean, 2), int64,
        writable(int64, 1), writable(int64, 1), writable(int64, 1), writable(int64, 1), writable(int64, 1), writable(int64, 2),
    )
)  # fmt: skip
def lay_out(allowed, grand, contexts, modifier_start, heads, modifiers, context, starts):
    """out: all after grand; starts (4, 2 (n + 1) + 1): of scores, stops, pairs and grand."""
    n = allowed.shape[0] - 1
    contexts[0] = 1
    for m in range(1, n + 1):
        count = 1
        if grand:
            count = 0
            for h in range(n + 1):
                count += allowed[h, m]
        contexts[m] = count
    seen = np.zeros(n + 1, dtype=np.int64)  # candidate heads of each word so far: heads come in ascending order
    at, scores, stops, pairs, grands = 0, 0, 0, 0, 0
    for h in range(n + 1):
        for side in range(2):
            place = 2 * h + side
            modifier_start[place] = at
            starts[0, place], starts[1, place], starts[2, place], starts[3, place] = scores, stops, pairs, grands
            first = at
            if side == 0:
                for m in range(h - 1, 0, -1):
                    if allowed[h, m]:
                        heads[at], modifiers[at] = h, m
                        context[at] = seen[m] if grand else 0
                        seen[m] += 1
                        at += 1
            else:
                for m in range(h + 1, n + 1):
                    if allowed[h, m]:
                        heads[at], modifiers[at] = h, m
                        context[at] = seen[m] if grand else 0
                        seen[m] += 1
                        at += 1
            size = at - first
            scores += contexts[h] * (size + 1) * size
            stops += contexts[h] * (size + 1)
            pairs += (size + 1) * size
            grands += contexts[h] * size
    end = 2 * n + 2
    modifier_start[end] = at
    starts[0, end], starts[1, end], starts[2, end], starts[3, end] = scores, stops, pairs, grands
    return 0


@inner
def laid_out(allowed, grand):
    """`candidates_of` for kernels."""
    n, size = allowed.shape[0] - 1, 0
    for h in range(n + 1):
        for m in range(1, n + 1):
            size += allowed[h, m]
    contexts, modifier_start = np.empty(n + 1, dtype=np.int64), np.empty(2 * n + 3, dtype=np.int64)
    heads, modifiers, context = np.empty(size, dtype=np.int64), np.empty(size, dtype=np.int64), np.empty(size, dtype=np.int64)
    starts = np.empty((4, 2 * n + 3), dtype=np.int64)
    lay_out(allowed, grand, contexts, modifier_start, heads, modifiers, context, starts)
    return Candidates(contexts, modifier_start, heads, modifiers, context, starts[0], starts[1], starts[2], starts[3], grand)


def candidates_of(allowed: NDArray[np.bool_], *, grand: bool) -> Candidates:
    """The layout of the arcs that are True in (n + 1, n + 1); column 0 and the diagonal mean nothing and must be False."""
    n, arcs = len(allowed) - 1, int(np.count_nonzero(allowed))
    contexts, modifier_start = np.empty(n + 1, dtype=np.int64), np.empty(2 * n + 3, dtype=np.int64)
    heads, modifiers, context = np.empty((3, arcs), dtype=np.int64)
    starts = np.empty((4, 2 * n + 3), dtype=np.int64)
    lay_out(allowed, 1 if grand else 0, contexts, modifier_start, heads, modifiers, context, starts)
    scores, stops, pairs, grands = starts
    return Candidates(contexts, modifier_start, heads, modifiers, context, scores, stops, pairs, grands, int(grand))


def scores_of_candidates(problem: Problem, arcs: Scores, candidates: Candidates) -> tuple[Scores, Scores]:
    """The scores and stops of a problem, for arcs (n + 1, n + 1) that may hold the best labels.

    Only what a projective tree can use is asked for.
    """
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


def candidate_heads(arcs: Scores) -> tuple[Integers, Integers]:
    """The candidate heads of every word in ascending order, one word after the other, and where those of each begin."""
    modifiers, heads = np.nonzero((arcs > -np.inf).T)
    start = np.searchsorted(modifiers, np.arange(len(arcs) + 1))
    return start, np.ascontiguousarray(heads) if len(heads) else np.zeros(1, dtype=np.int64)


def blocks(starts: Integers) -> Iterator[tuple[int, int]]:
    """Ranges of places with at most LARGEST_BLOCK entries each, if more than one place."""
    first, last = 0, len(starts) - 1
    while first < last:
        end = max(int(np.searchsorted(starts, starts[first] + LARGEST_BLOCK, side="right")) - 1, first + 1)
        end = min(end, last)
        if starts[end] > starts[first]:
            yield first, end
        first = end


def entries(starts: Integers, first: int, last: int) -> tuple[Integers, Integers]:
    """The place of every entry, and its number there."""
    place = np.repeat(np.arange(first, last), np.diff(starts[first : last + 1]))
    return place, np.arange(starts[first], starts[last]) - starts[place]


def is_outside(g: Integers, h: Integers, m: Integers) -> NDArray[np.bool_]:
    """Whether g can be the head of h if m is a modifier of h in a projective tree."""
    return np.asarray((g < np.minimum(h, m)) | (g > np.maximum(h, m)))


def added_scores(problem: Problem, arcs: Scores, g: Integers, h: Integers, s: Integers, m: Integers) -> Scores:
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


def ended_scores(problem: Problem, g: Integers, h: Integers, m: Integers) -> Scores:
    total = np.zeros(len(h)) if problem.stops is None else problem.stops.at(h, m)
    if problem.outermost is not None:
        used = np.flatnonzero((h > 0) & (m != h) & is_outside(g, h, m))
        total[used] += problem.outermost.at(g[used], h[used], m[used])
    return total
