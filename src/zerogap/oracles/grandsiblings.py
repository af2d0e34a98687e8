"""The best projective tree when a modifier is scored with its head, the head's head, and the modifier before it (Koo & Collins 2010).

Model 1 of the paper, with candidate heads: it takes time in proportion to the arcs that are left, O(n^2 K^2) with K heads per word,
and is the paper's O(n^4) with all of them. Model 0 (grandparents) is the case without sibling scores; with one context per head that all
arcs share it is the second-order sibling model of McDonald & Pereira (2006).

    complete[h, side, k, e] = max_j last[h -> m_j, k] + complete[m_j, side, of h, e] + stop[h, side, k, j]    m_j within h .. e
    last[h -> m_j, k]       = max( complete[m_j, towards h, of h, next to h] + score[h, side, k, none, j],
                                   max_i last[h -> m_i, k] + between[m_i, m_j] + score[h, side, k, i, j] )      m_i nearer than m_j
    between[m_i, m_j]       = max_r complete[m_i, away from h, of h, r] + complete[m_j, towards h, of h, r + 1]

`k` numbers the candidate heads of h (contexts). Items with their ends at i and j are filled for i from n down to 0 and j upwards, as in
`eisner`. Back-pointers are found again on the way back, ties going to the nearest and first.
"""

from __future__ import annotations

import numpy as np

from zerogap.oracles.compile import float64, inner, int64, kernel, readonly, writable

LEFT, RIGHT = 0, 1


@inner
def best_split(complete, low, low_row, high, high_row):
    """between[low, high], and its r: low's right half up to r and high's left half from r + 1, from the rows of these halves."""
    best, split = -np.inf, low
    for r in range(low, high):
        score = complete[low_row, r] + complete[high_row, r + 1]
        if score > best:
            best, split = score, r
    return best, split


@inner
def best_last(h, side, k, e, modifiers, modifier_start, row, stop, stop_start, last, complete):
    """complete[h, side, k, e] and the number of its outermost modifier, -1 for none."""
    place = 2 * h + side
    first, size = modifier_start[place], modifier_start[place + 1] - modifier_start[place]
    best, chosen = -np.inf, -1
    for j in range(size):
        m = modifiers[first + j]
        if (side == RIGHT and m > e) or (side == LEFT and m < e):
            break
        score = last[first + j, k] + complete[row[first + j, side], e] + stop[stop_start[place] + k * (size + 1) + j + 1]
        if score > best:
            best, chosen = score, j
    return best, chosen


@inner
def best_previous(h, side, j, k, single, modifiers, modifier_start, row, scores, score_start, last, complete):
    """last[h -> m_j, k], the modifier before it (-1: none) and the split between the two."""
    place = 2 * h + side
    first, size = modifier_start[place], modifier_start[place + 1] - modifier_start[place]
    m = modifiers[first + j]
    block = score_start[place] + k * (size + 1) * size
    beside = h + 1 if side == RIGHT else h - 1
    best = complete[row[first + j, 1 - side], beside] + scores[block + j]
    chosen, split = -1, 0
    if not single:
        for i in range(j):
            s = modifiers[first + i]
            if side == RIGHT:
                joined, r = best_split(complete, s, row[first + i, RIGHT], m, row[first + j, LEFT])
            else:
                joined, r = best_split(complete, m, row[first + j, RIGHT], s, row[first + i, LEFT])
            score = last[first + i, k] + joined + scores[block + (i + 1) * size + j]
            if score > best:
                best, chosen, split = score, i, r
    return best, chosen, split


@inner
def read_tree(modifier_start, modifiers, context, row, score_start, scores, stop_start, stop, single_root, last, complete, heads):
    """Follows the best choices down from the root's right half. out: heads (n,)."""
    n = heads.size
    stack = np.empty((2 * n + 2, 4), dtype=np.int64)  # complete halves to expand: head, side, context, end
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = 0, RIGHT, 0, n
    size = 1
    while size > 0:
        size -= 1
        h, side, k, e = stack[size, 0], stack[size, 1], stack[size, 2], stack[size, 3]
        if h == e:
            continue
        _, j = best_last(h, side, k, e, modifiers, modifier_start, row, stop, stop_start, last, complete)
        first = modifier_start[2 * h + side]
        stack[size, 0], stack[size, 1], stack[size, 2], stack[size, 3] = modifiers[first + j], side, context[first + j], e
        size += 1
        while j >= 0:
            m = modifiers[first + j]
            heads[m - 1] = h
            single = h == 0 and single_root
            _, i, r = best_previous(h, side, j, k, single, modifiers, modifier_start, row, scores, score_start, last, complete)
            inner_end = (h + 1 if side == RIGHT else h - 1) if i < 0 else (r + 1 if side == RIGHT else r)
            stack[size, 0], stack[size, 1], stack[size, 2], stack[size, 3] = m, 1 - side, context[first + j], inner_end
            size += 1
            if i >= 0:
                s = modifiers[first + i]
                stack[size, 0], stack[size, 1], stack[size, 2] = s, side, context[first + i]
                stack[size, 3] = r if side == RIGHT else r + 1
                size += 1
            j = i
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
    most = 1
    for h in range(n + 1):
        most = max(most, contexts[h])
    half = np.empty(n + 1, dtype=np.int64)  # the row of complete[h, LEFT, 0]
    size = 0
    for h in range(n + 1):
        half[h] = size
        size += 2 * contexts[h]
    complete = np.empty((size, n + 1))  # [h, side, k] is row half[h] + side * contexts[h] + k
    row = np.empty((modifiers.size, 2), dtype=np.int64)  # of the halves of a modifier below this head
    for p in range(modifiers.size):
        m = modifiers[p]
        row[p, LEFT] = half[m] + context[p]
        row[p, RIGHT] = half[m] + contexts[m] + context[p]
    last = np.empty((modifiers.size, most))
    joined = np.empty(n + 1)  # between[m_i, m_j] for the modifiers m_i of a head
    seen = np.zeros((n + 1, 2), dtype=np.int64)  # how many modifiers of each side lie within the span so far
    for i in range(n, -1, -1):
        for side in range(2):
            for k in range(contexts[i]):
                complete[half[i] + side * contexts[i] + k, i] = stop[
                    stop_start[2 * i + side] + k * (modifier_start[2 * i + side + 1] - modifier_start[2 * i + side] + 1)
                ]
        for j in range(i + 1, n + 1):
            for side in range(2):
                h, m = (i, j) if side == RIGHT else (j, i)
                if h == 0 and side == LEFT:
                    continue
                place = 2 * h + side
                first, size = modifier_start[place], modifier_start[place + 1] - modifier_start[place]
                at = seen[h, side]
                if at < size and modifiers[first + at] == m:  # an arc h -> m: the next modifier outward
                    seen[h, side] += 1
                    beside = h + 1 if side == RIGHT else h - 1
                    alone = complete[row[first + at, 1 - side], beside]
                    single = h == 0 and single_root
                    if not single:
                        for p in range(at):
                            s = modifiers[first + p]
                            if side == RIGHT:
                                joined[p], _ = best_split(complete, s, row[first + p, RIGHT], m, row[first + at, LEFT])
                            else:
                                joined[p], _ = best_split(complete, m, row[first + at, RIGHT], s, row[first + p, LEFT])
                    for k in range(contexts[h]):
                        block = score_start[place] + k * (size + 1) * size + at
                        best = alone + scores[block]
                        if not single:
                            for p in range(at):
                                best = max(best, last[first + p, k] + joined[p] + scores[block + (p + 1) * size])
                        last[first + at, k] = best
            for side in range(2):
                h, e = (i, j) if side == RIGHT else (j, i)
                if h == 0 and side == LEFT:
                    continue
                for k in range(contexts[h]):
                    value, _ = best_last(h, side, k, e, modifiers, modifier_start, row, stop, stop_start, last, complete)
                    complete[half[h] + side * contexts[h] + k, e] = value
    best = complete[half[0] + contexts[0], n]
    if best > -np.inf:
        read_tree(modifier_start, modifiers, context, row, score_start, scores, stop_start, stop, single_root, last, complete, heads)
    return best
