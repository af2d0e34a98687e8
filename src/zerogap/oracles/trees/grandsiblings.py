"""The best projective tree when a modifier is scored with its head, the head's head, and the modifier before it (Koo & Collins 2010).

Model 1 of the paper, with candidate heads: it takes time in proportion to the arcs that are left, O(n^2 K^2) with K heads per word,
and is the paper's O(n^4) with all of them. Model 0 (grandparents) is the case without sibling scores; with one context per head that all
arcs share it is the second-order sibling model of McDonald & Pereira (2006).

    complete[h, side, k, e] = max_j ended[h -> m_j, k] + complete[m_j, side, of h, e]                              m_j within h .. e
    ended[h -> m_j, k]      = last[h -> m_j, k] + stop[h, side, k, j]
    last[h -> m_j, k]       = max( complete[m_j, towards h, of h, next to h] + score[h, side, k, none, j],
                                   max_i last[h -> m_i, k] + between[m_i, m_j] + score[h, side, k, i, j] )      m_i nearer than m_j
    between[m_i, m_j]       = max_r complete[m_i, away from h, of h, r] + complete[m_j, towards h, of h, r + 1]

`k` numbers the candidate heads of h (contexts). Items with their ends at i and j are filled for i from n down to 0 and j upwards. By then
all right halves after i are known, and those of i are pushed along a row as soon as an arc from i is; left halves are found one by one.
What is between modifiers is kept; if no token has more than one context and there are many arcs, it is the same for all heads.
Back-pointers are found again on the way back, ties going to the nearest and first.
"""

from __future__ import annotations

import numpy as np

from zerogap.kernels import float64, inner, int64, kernel, readonly, writable
from zerogap.oracles.push import push_max

LEFT, RIGHT = 0, 1


@inner
def size_up(contexts, modifier_start, modifiers, context, half, pair_start, row, span):  # out: half, pair_start, row, span
    """How many contexts a token has at most, how many numbers `between` has, and whether it is [low, high] for all heads.

    [h, side, k] is row half[h] + side * contexts[h] + k of `complete`. A right half that ends at e stands in column e, a left one in
    e - 1: halves that meet are in one column. row[p] has the halves of a modifier below this head, `span` how far a half can go: not
    beyond its head's head.
    """
    n = contexts.size - 1
    most, rows, squares = 1, 0, 0
    for h in range(n + 1):
        most = max(most, contexts[h])
        half[h] = rows
        rows += 2 * contexts[h]
        for place in range(2 * h, 2 * h + 2):
            pair_start[place] = squares
            squares += (modifier_start[place + 1] - modifier_start[place]) ** 2
    shared = most == 1 and squares > n * n
    for r in range(rows):
        span[r] = 0
    span[1] = n
    for h in range(n + 1):
        for p in range(modifier_start[2 * h], modifier_start[2 * h + 2]):
            m = modifiers[p]
            left, right = half[m] + context[p], half[m] + contexts[m] + context[p]
            row[p, LEFT], row[p, RIGHT] = left, right
            span[left] = max(span[left], m - h - 1 if h < m else m - 1)
            span[right] = max(span[right], h - m - 1 if h > m else n - m)
    return most, (n + 1) * (n + 1) if shared else squares, shared


@inner
def begin_halves(contexts, half, span, modifier_start, stop_start, stop, complete):  # out: complete (rows, n + 1)
    """Halves without modifiers; -inf for all others."""
    for place in range(1, 2 * contexts.size):
        h, side = place >> 1, place & 1
        size = modifier_start[place + 1] - modifier_start[place]
        for k in range(contexts[h]):
            r = half[h] + side * contexts[h] + k
            start = h if side == RIGHT else h - 1 - span[r]
            for e in range(start, start + span[r] + 1):
                complete[r, e] = -np.inf
            complete[r, h - 1 + side] = stop[stop_start[place] + k * (size + 1)]
    return 0


@inner
def rows_of(contexts):
    """How many rows `complete` has; 0 if some word has no head at all."""
    rows = 0
    for h in range(contexts.size):
        if contexts[h] == 0:
            return 0
        rows += 2 * contexts[h]
    return rows


@inner
def best_sum(row, other, start, stop):
    """max_r row[r] + other[r], start <= r < stop."""
    best = -np.inf
    for r in range(start, stop):
        value = row[r] + other[r]
        best = value if value > best else best
    return best


@inner
def go_up(
    contexts, half, span, modifier_start, modifiers, row, score_start, scores, stop_start, stop, single_root,
    shared, pair_start, between, near, seen, complete, last, ended,
):  # fmt: skip
    """Insides. out: all from between on."""
    n = complete.shape[1] - 1
    for i in range(n, -1, -1):
        for j in range(i + 1, n + 1):
            for side in range(2):
                h, m = (i, j) if side == RIGHT else (j, i)
                place, base = 2 * h + side, half[h] + side * contexts[h]
                first, size = modifier_start[place], modifier_start[place + 1] - modifier_start[place]
                here = first + seen[place]
                if seen[place] == size or modifiers[here] != m:
                    continue
                seen[place] += 1  # an arc h -> m: the next modifier outward
                towards = row[here, 1 - side]
                begin = here if h == 0 and single_root else first  # of the modifiers that may come before it
                for p in range(begin, here):
                    low, high = min(modifiers[p], m), max(modifiers[p], m)
                    pair = low * (n + 1) + high if shared else pair_start[place] + (here - first) * size + p - first
                    if np.isnan(between[pair]):
                        between[pair] = best_sum(complete[row[p, side]], complete[towards], low, high)
                    near[p] = between[pair]
                for k in range(contexts[h]):
                    if span[base + k] < j - i:
                        continue
                    block = score_start[place] + k * (size + 1) * size + here - first
                    best = complete[towards, h - 1 + side] + scores[block]
                    for p in range(begin, here):
                        block += size
                        value = last[k, p] + near[p] + scores[block]
                        best = value if value > best else best
                    last[k, here] = best
                    ended[k, here] = best + stop[stop_start[place] + k * (size + 1) + here - first + 1]
                    if side == RIGHT:
                        push_max(j, h + span[base + k] + 1, complete[base + k], complete[row[here, RIGHT]], ended[k, here])
            first, here, base = modifier_start[2 * j], modifier_start[2 * j] + seen[2 * j], half[j]
            if i > 0 and here > first:  # the left side of j, up to i
                for p in range(first, here):
                    near[p] = complete[row[p, LEFT], i - 1]
                for k in range(contexts[j]):
                    if span[base + k] >= j - i:
                        complete[base + k, i - 1] = best_sum(ended[k], near, first, here)
    return 0


@inner
def read_tree(
    contexts, half, modifier_start, modifiers, context, row, score_start, scores, single_root, shared, pair_start, between,
    complete, last, ended, heads,
):  # fmt: skip
    """Follows the best choices down from the root's right half. out: heads (n,)."""
    n = heads.size
    stack = np.empty((2 * n + 2, 4), dtype=np.int64)  # complete halves to expand: head, side, context, end
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = 0, RIGHT, 0, n
    waiting = 1
    while waiting > 0:
        waiting -= 1
        h, side, k, e = stack[waiting, 0], stack[waiting, 1], stack[waiting, 2], stack[waiting, 3]
        if h == e:
            continue
        place = 2 * h + side
        first, size = modifier_start[place], modifier_start[place + 1] - modifier_start[place]
        best, here = -np.inf, first
        for p in range(first, first + size):
            m = modifiers[p]
            if (side == RIGHT and m > e) or (side == LEFT and m < e):
                break
            value = ended[k, p] + complete[row[p, side], e - 1 + side]
            if value > best:
                best, here = value, p
        stack[waiting, 0], stack[waiting, 1], stack[waiting, 2], stack[waiting, 3] = modifiers[here], side, context[here], e
        waiting += 1
        block = score_start[place] + k * (size + 1) * size
        while here >= 0:
            m, towards = modifiers[here], row[here, 1 - side]
            heads[m - 1] = h
            best, before, end = complete[towards, h - 1 + side] + scores[block + here - first], -1, h - 1 + 2 * side
            for p in range(here if h == 0 and single_root else first, here):
                low, high = min(modifiers[p], m), max(modifiers[p], m)
                pair = low * (n + 1) + high if shared else pair_start[place] + (here - first) * size + p - first
                value = last[k, p] + between[pair] + scores[block + (p - first + 1) * size + here - first]
                if value > best:
                    best, before = value, p
            if before >= 0:
                away = row[before, side]
                low, high = min(modifiers[before], m), max(modifiers[before], m)
                best, split = -np.inf, low
                for r in range(low, high):
                    value = complete[away, r] + complete[towards, r]
                    if value > best:
                        best, split = value, r
                end = split + side
                stack[waiting, 0], stack[waiting, 1], stack[waiting, 2] = modifiers[before], side, context[before]
                stack[waiting, 3] = split + 1 - side
                waiting += 1
            stack[waiting, 0], stack[waiting, 1], stack[waiting, 2], stack[waiting, 3] = m, 1 - side, context[here], end
            waiting += 1
            here = before
    return 0


@kernel(
    float64(
        readonly(int64, 1), readonly(int64, 1), readonly(int64, 1), readonly(int64, 1), readonly(int64, 1),
        readonly(float64, 1), readonly(int64, 1), readonly(float64, 1), int64, writable(int64, 1),
    )
)  # fmt: skip
def grandsibling_kernel(contexts, modifier_start, modifiers, context, score_start, scores, stop_start, stop, single_root, heads):
    """The score of a best tree, -inf if there is none. out: heads (n,).

    contexts (n + 1,): how many contexts each token has as a head; 1 for the root. The modifiers of h on its left are
    modifier_start[2 h] to modifier_start[2 h + 1], on its right from there to modifier_start[2 h + 2], counted outward from h;
    context[p] is which context the arc to modifiers[p] gives it. With q modifiers on a side, its scores stand from
    score_start[2 h + side] on as [context, previous (none first), modifier], (contexts, q + 1, q), and its stops from
    stop_start[2 h + side] on as [context, last (none first)].
    """
    n = heads.size
    if n == 0:
        return stop[stop_start[1]]
    rows, arcs = rows_of(contexts), modifiers.size
    if rows == 0:
        return -np.inf
    places = np.empty((3, 2 * n + 2), dtype=np.int64)
    half, pair_start, seen = places[0], places[1], places[2]  # seen: how many modifiers of a side lie within the span so far
    row, span = np.empty((arcs, 2), dtype=np.int64), np.empty(rows, dtype=np.int64)
    most, squares, shared = size_up(contexts, modifier_start, modifiers, context, half, pair_start, row, span)
    for place in range(2 * n + 2):
        seen[place] = 0
    complete, chart = np.empty((rows, n + 1)), np.empty((2, most, arcs))
    begin_halves(contexts, half, span, modifier_start, stop_start, stop, complete)
    last, ended = chart[0], chart[1]  # ended: with the stop after it
    for k in range(most):
        for p in range(arcs):
            last[k, p] = ended[k, p] = -np.inf
    between, near = np.empty(squares), np.empty(arcs)
    for p in range(squares):
        between[p] = np.nan  # not known yet
    go_up(
        contexts, half, span, modifier_start, modifiers, row, score_start, scores, stop_start, stop, single_root,
        shared, pair_start, between, near, seen, complete, last, ended,
    )  # fmt: skip
    best = complete[1, n]
    if best > -np.inf:
        read_tree(
            contexts, half, modifier_start, modifiers, context, row, score_start, scores, single_root, shared, pair_start, between,
            complete, last, ended, heads,
        )  # fmt: skip
    return best
