"""For every candidate arc the score of a best projective tree that has it (its max-marginal), under grand-sibling scores.

The items are those of zerogap.oracles.trees.grandsiblings, with any candidates and contexts:

    complete[h, side, k, e] = max_j ended[h -> m_j, k] + complete[m_j, side, of h, e]                              m_j within h .. e
    ended[h -> m_j, k]      = last[h -> m_j, k] + stop[h, side, k, j]
    last[h -> m_j, k]       = max( complete[m_j, towards h, of h, next to h] + score[h, side, k, none, j],
                                   max_i last[h -> m_i, k] + between[m_i, m_j] + score[h, side, k, i, j] )      m_i nearer than m_j
    between[m_i, m_j]       = max_r complete[m_i, away from h, of h, r] + complete[m_j, towards h, of h, r + 1]

Every tree has one derivation. The outside of an item is the best that the rest of a tree with this item is worth (Rush 2014, section
2.2.2, algorithm 4; Paskin 2001): it is pushed down from the root, and an arc is worth the best of last + its outside over all contexts k.
Nothing is subtracted, so all is exact if the scores lie on a grid. Where only arcs of good trees are asked for, what cannot be part of one
is not gone down to: that saves most of the time.

Items with their ends at i and j are filled for i from n down to 0 and j upwards. By then all right halves after i are known, and those of
i are pushed along a row as soon as an arc from i is; left halves are found one by one. Outsides take the same way back. What is between
modifiers is kept on the way up; if no token has more than one context and there are many arcs, it is the same for all heads.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from zerogap.errors import ScoreShapeError
from zerogap.grid import Scores
from zerogap.kernels import float64, inner, int64, kernel, readonly, writable
from zerogap.oracles.push import push_max
from zerogap.oracles.trees.grandsiblings import begin_halves, best_sum, go_up, rows_of, size_up

LEFT, RIGHT = 0, 1


@inner
def go_down(
    contexts, half, span, modifier_start, modifiers, row, score_start, scores, stop_start, stop, single_root, shared, pair_start,
    between, between_outside, near, pushed, seen, complete, outside, last, last_outside, ended, ended_outside, least, marginals,
):  # fmt: skip
    """Outsides, by the same way, of what is part of a tree of `least` or more.

    out: between_outside, near, pushed, seen, outside, last_outside, ended_outside, marginals.
    """
    n = complete.shape[1] - 1
    for i in range(n + 1):
        for j in range(n, i, -1):
            if shared and between_outside[i * (n + 1) + j] > -np.inf:  # all heads of i and j have been here
                value = between_outside[i * (n + 1) + j]
                push_max(i, j, outside[half[i] + 1], complete[half[j]], value, outside[half[j]], complete[half[i] + 1], value)
            first, here, base = modifier_start[2 * j], modifier_start[2 * j] + seen[2 * j], half[j]
            if i > 0 and here > first:  # the left side of j, up to i
                for p in range(first, here):
                    near[p], pushed[p] = complete[row[p, LEFT], i - 1], -np.inf
                for k in range(contexts[j]):
                    if span[base + k] >= j - i and complete[base + k, i - 1] > -np.inf:
                        value = outside[base + k, i - 1]
                        if value > -np.inf and value + complete[base + k, i - 1] >= least:
                            push_max(first, here, ended_outside[k], near, value, pushed, ended[k], value)
                for p in range(first, here):
                    if pushed[p] > outside[row[p, LEFT], i - 1]:
                        outside[row[p, LEFT], i - 1] = pushed[p]
            for side in range(2):
                h, m = (i, j) if side == RIGHT else (j, i)
                place, base = 2 * h + side, half[h] + side * contexts[h]
                first, size = modifier_start[place], modifier_start[place + 1] - modifier_start[place]
                here = first + seen[place] - 1
                if here < first or modifiers[here] != m:
                    continue
                seen[place] -= 1  # the arc h -> m, farther than those that follow
                begin = here if h == 0 and single_root else first
                for p in range(begin, here):
                    low, high = min(modifiers[p], m), max(modifiers[p], m)
                    pair = low * (n + 1) + high if shared else pair_start[place] + (here - first) * size + p - first
                    near[p], pushed[p] = between[pair], -np.inf
                alone = marginal = -np.inf
                for k in range(contexts[h]):
                    if last[k, here] == -np.inf:
                        continue
                    best = ended_outside[k, here]
                    if side == RIGHT:
                        end, away = h + span[base + k] + 1, row[here, RIGHT]
                        best = best_sum(outside[base + k], complete[away], j, end)
                        if best > -np.inf and best + ended[k, here] >= least:
                            push_max(j, end, outside[away], outside[base + k], ended[k, here])
                    best += stop[stop_start[place] + k * (size + 1) + here - first + 1]
                    best = best if best > last_outside[k, here] else last_outside[k, here]
                    if best == -np.inf:
                        continue
                    block = score_start[place] + k * (size + 1) * size + here - first
                    value = best + last[k, here]
                    marginal = value if value > marginal else marginal
                    if value < least:
                        continue
                    value = best + scores[block]
                    alone = value if value > alone else alone
                    for p in range(begin, here):
                        block += size
                        rest = best + scores[block]
                        value = rest + near[p]
                        last_outside[k, p] = value if value > last_outside[k, p] else last_outside[k, p]
                        value = rest + last[k, p]
                        pushed[p] = value if value > pushed[p] else pushed[p]
                marginals[here] = marginal
                towards = row[here, 1 - side]
                if alone > outside[towards, h - 1 + side]:
                    outside[towards, h - 1 + side] = alone
                for p in range(begin, here):
                    if pushed[p] == -np.inf or near[p] == -np.inf or pushed[p] + near[p] < least:
                        continue
                    low, high = min(modifiers[p], m), max(modifiers[p], m)
                    if shared:
                        pair = low * (n + 1) + high
                        if pushed[p] > between_outside[pair]:
                            between_outside[pair] = pushed[p]
                    else:
                        away = row[p, side]
                        push_max(low, high, outside[away], complete[towards], pushed[p], outside[towards], complete[away], pushed[p])
    return 0


@kernel(
    float64(
        readonly(int64, 1), readonly(int64, 1), readonly(int64, 1), readonly(int64, 1), readonly(int64, 1),
        readonly(float64, 1), readonly(int64, 1), readonly(float64, 1), int64, float64, float64, writable(float64, 1),
    )
)  # fmt: skip
def grandsibling_max_marginals(
    contexts, modifier_start, modifiers, context, score_start, scores, stop_start, stop, single_root, least, margin, marginals
):  # fmt: skip
    """The score of a best tree, and for every candidate arc that of a best tree that has it; -inf if there is none.

    Arcs without a tree of `least` or more, or one at most `margin` below the best, may have something lower (-inf and inf: none).
    The layout is that of `grandsibling_kernel`. out: marginals (arcs,).
    """
    n, arcs = contexts.size - 1, modifiers.size
    for p in range(arcs):
        marginals[p] = -np.inf
    if n == 0:
        return stop[stop_start[1]]
    rows = rows_of(contexts)
    if rows == 0:
        return -np.inf
    places = np.empty((3, 2 * n + 2), dtype=np.int64)
    half, pair_start, seen = places[0], places[1], places[2]  # seen: how many modifiers of a side lie within the span so far
    row, span = np.empty((arcs, 2), dtype=np.int64), np.empty(rows, dtype=np.int64)
    most, squares, shared = size_up(contexts, modifier_start, modifiers, context, half, pair_start, row, span)
    complete, outside = np.empty((rows, n + 1)), np.empty((rows, n + 1))
    begin_halves(contexts, half, span, modifier_start, stop_start, stop, complete)
    for place in range(2 * n + 2):
        seen[place] = 0
    for r in range(rows):
        for e in range(n + 1):
            outside[r, e] = -np.inf
    chart = np.empty((4, most, arcs))
    last, last_outside, ended, ended_outside = chart[0], chart[1], chart[2], chart[3]  # ended: with the stop after it
    flat = chart.reshape(-1)
    for p in range(flat.size):
        flat[p] = -np.inf
    between, between_outside = np.empty(squares), np.empty(squares if shared else 0)
    for p in range(squares):
        between[p] = np.nan  # not known yet
    for p in range(between_outside.size):
        between_outside[p] = -np.inf
    near, pushed = np.empty(arcs), np.empty(arcs)
    go_up(
        contexts, half, span, modifier_start, modifiers, row, score_start, scores, stop_start, stop, single_root,
        shared, pair_start, between, near, seen, complete, last, ended,
    )  # fmt: skip
    best = complete[1, n]
    if best > -np.inf:
        outside[1, n] = 0.0
        go_down(
            contexts, half, span, modifier_start, modifiers, row, score_start, scores, stop_start, stop, single_root, shared, pair_start,
            between, between_outside, near, pushed, seen, complete, outside, last, last_outside, ended, ended_outside,
            max(least, best - margin), marginals,
        )  # fmt: skip
    return best


class Layout(Protocol):
    """Candidate arcs as `grandsibling_kernel` reads them: zerogap.dependency.candidate_arcs.Candidates is one."""

    @property
    def contexts(self) -> NDArray[np.int64]: ...
    @property
    def modifier_start(self) -> NDArray[np.int64]: ...
    @property
    def modifiers(self) -> NDArray[np.int64]: ...
    @property
    def context(self) -> NDArray[np.int64]: ...
    @property
    def score_start(self) -> NDArray[np.int64]: ...
    @property
    def stop_start(self) -> NDArray[np.int64]: ...


def max_marginals_of_candidates(
    candidates: Layout, scores: Scores, stops: Scores, *, single_root: bool, least: float = -np.inf, margin: float = np.inf
) -> tuple[float, Scores]:
    """The score of a best projective tree of candidate arcs, and (arcs,) of a best one that has each of them; -inf where there is none.

    Those that are below `least`, or more than `margin` below the best, may be still lower, and cost less.

    Scores and stops are laid out as `candidates` says, and are neither nan nor +inf. All is exact if they lie on a grid.
    """
    c = candidates
    for name, given, start in (("scores", scores, c.score_start), ("stops", stops, c.stop_start)):
        if given.shape != (start[-1],):
            raise ScoreShapeError(f"{name} has shape {given.shape}: expected ({start[-1]},), as the candidates are laid out.")
    marginals = np.empty(len(c.modifiers))
    best = grandsibling_max_marginals(
        c.contexts, c.modifier_start, c.modifiers, c.context, c.score_start, scores, c.stop_start, stops, 1 if single_root else 0,
        least, margin, marginals,
    )  # fmt: skip
    return float(best), marginals
