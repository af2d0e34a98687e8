"""Projective trees of few candidate arcs: the best one, and for every arc the best with it, in time that goes with what is left of arcs.

    opened[h -> m]  = scores[h -> m] + max_r right[i, r] + left[j, r + 1]                        i and j: h and m from left to right
    right[i, e]     = max_{i -> m, m <= e} opened[i -> m] + right[m, e]                          right[i, i] = left[i, i] = 0
    left[j, e]      = max_{j -> m, m >= e} opened[j -> m] + left[m, e]

The items are those of zerogap.oracles.trees.eisner (Rush 2014, section 8.3.1). Arcs are laid out as in
zerogap.oracles.trees.grandsiblings: modifiers
of h to its left, then to its right, both outward. Rows are filled from the last word to the first; an arc to the right is pushed along its
head's row as soon as it is known. Outsides take the same way back, and nothing is subtracted: all is exact if scores lie on a grid.
"""

from __future__ import annotations

import numpy as np

from zerogap.kernels import float64, inner, int64, kernel, readonly, writable
from zerogap.oracles.push import push_max

LEFT, RIGHT = 0, 1


@inner
def sparse_inside(modifier_start, modifiers, scores, single_root, right, left, opened, seen):  # out: right, left, opened, seen
    n = right.shape[0] - 1
    for i in range(n + 1):
        for e in range(n + 1):
            right[i, e] = left[i, e] = -np.inf
        right[i, i] = left[i, i] = 0.0
    for place in range(2 * n + 2):
        seen[place] = modifier_start[place]
    for i in range(n, -1, -1):
        for j in range(i + 1, n + 1):
            outward, inward = seen[2 * i + RIGHT], seen[2 * j + LEFT]
            has_right = outward < modifier_start[2 * i + 2] and modifiers[outward] == j
            has_left = inward < modifier_start[2 * j + 1] and modifiers[inward] == i
            if has_right or has_left:
                join = -np.inf
                for r in range(i, 1 if i == 0 and single_root else j):
                    value = right[i, r] + left[j, r + 1]
                    join = value if value > join else join
                if has_right:
                    opened[outward] = join + scores[outward]
                    seen[2 * i + RIGHT] = outward + 1
                    push_max(j, n + 1, right[i], right[j], opened[outward])
                if has_left:
                    opened[inward] = join + scores[inward]
                    seen[2 * j + LEFT] = inward + 1
            best = -np.inf
            for p in range(modifier_start[2 * j], seen[2 * j + LEFT]):
                value = opened[p] + left[modifiers[p], i]
                best = value if value > best else best
            left[j, i] = best
    return right[0, n]


@inner
def read_sparse(modifier_start, modifiers, single_root, right, left, opened, heads):  # out: heads (n,)
    """Follows the best choices down from the root, ties to the nearest."""
    n = heads.size
    stack = np.empty((2 * n + 2, 2), dtype=np.int64)  # halves to expand: head, end
    stack[0, 0], stack[0, 1] = 0, n
    size = 1
    while size > 0:
        size -= 1
        h, e = stack[size, 0], stack[size, 1]
        if h == e:
            continue
        place = 2 * h + (RIGHT if e > h else LEFT)
        chosen, best = -1, -np.inf
        for p in range(modifier_start[place], modifier_start[place + 1]):
            m = modifiers[p]
            if (e > h and m > e) or (e < h and m < e):
                break
            value = opened[p] + (right[m, e] if e > h else left[m, e])
            if value > best:
                chosen, best = p, value
        m = modifiers[chosen]
        heads[m - 1] = h
        stack[size, 0], stack[size, 1] = m, e
        size += 1
        i, j = min(h, m), max(h, m)
        split, best = i, -np.inf
        for r in range(i, 1 if i == 0 and single_root else j):
            value = right[i, r] + left[j, r + 1]
            if value > best:
                split, best = r, value
        stack[size, 0], stack[size, 1] = i, split
        stack[size + 1, 0], stack[size + 1, 1] = j, split + 1
        size += 2
    return 0


@kernel(float64(readonly(int64, 1), readonly(int64, 1), readonly(float64, 1), int64, writable(int64, 1)))
def sparse_eisner(modifier_start, modifiers, scores, single_root, heads):  # out: heads (n,)
    """The score of a best tree of candidate arcs, -inf if there is none."""
    n = heads.size
    if n == 0:
        return 0.0
    charts, opened = np.empty((2, n + 1, n + 1)), np.empty(modifiers.size)
    best = sparse_inside(modifier_start, modifiers, scores, single_root, charts[0], charts[1], opened, np.empty(2 * n + 2, dtype=np.int64))
    if best > -np.inf:
        read_sparse(modifier_start, modifiers, single_root, charts[0], charts[1], opened, heads)
    return best


@kernel(float64(readonly(int64, 1), readonly(int64, 1), readonly(float64, 1), int64, int64, writable(float64, 1)))
def sparse_max_marginals(modifier_start, modifiers, scores, n, single_root, marginals):  # out: marginals (arcs,)
    """The score of a best tree of n words, and for every candidate arc that of a best one that has it, -inf if there is none."""
    for p in range(marginals.size):
        marginals[p] = -np.inf
    if n == 0:
        return 0.0
    charts, opened, seen = np.empty((4, n + 1, n + 1)), np.empty(modifiers.size), np.empty(2 * n + 2, dtype=np.int64)
    right, left, right_outside, left_outside = charts[0], charts[1], charts[2], charts[3]
    best = sparse_inside(modifier_start, modifiers, scores, single_root, right, left, opened, seen)
    if best == -np.inf:
        return best
    for i in range(n + 1):
        for e in range(n + 1):
            right_outside[i, e] = left_outside[i, e] = -np.inf
    right_outside[0, n] = 0.0
    around = np.empty(modifiers.size)  # the outside of opened
    for p in range(modifiers.size):
        around[p] = -np.inf
    for i in range(n + 1):
        for j in range(n, i, -1):
            outside, inward = left_outside[j, i], seen[2 * j + LEFT]
            if outside > -np.inf and left[j, i] > -np.inf:
                for p in range(modifier_start[2 * j], inward):
                    m = modifiers[p]
                    value = outside + left[m, i]
                    around[p] = value if value > around[p] else around[p]
                    value = outside + opened[p]
                    left_outside[m, i] = value if value > left_outside[m, i] else left_outside[m, i]
            outward, inward = seen[2 * i + RIGHT] - 1, inward - 1
            has_right = outward >= modifier_start[2 * i + RIGHT] and modifiers[outward] == j
            has_left = inward >= modifier_start[2 * j] and modifiers[inward] == i
            join = -np.inf
            if has_right:
                seen[2 * i + RIGHT] = outward
                if opened[outward] > -np.inf:
                    outside = -np.inf
                    for e in range(j, n + 1):
                        value = right_outside[i, e] + right[j, e]
                        outside = value if value > outside else outside
                    push_max(j, n + 1, right_outside[j], right_outside[i], opened[outward])
                    marginals[outward] = outside + opened[outward]
                    join = outside + scores[outward]
            if has_left:
                seen[2 * j + LEFT] = inward
                if opened[inward] > -np.inf:
                    marginals[inward] = around[inward] + opened[inward]
                    join = max(join, around[inward] + scores[inward])
            if join > -np.inf:
                if i == 0 and single_root:
                    left_outside[j, 1] = max(left_outside[j, 1], join)
                else:
                    push_max(i, j, right_outside[i], left[j, 1:], join, left_outside[j, 1:], right[i], join)
    return best
