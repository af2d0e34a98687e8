"""For every arc, the best projective tree that has it, under arcs and adjacent siblings: inside and outside in O(n^3).

The items are those of `oracles.trees.siblings`. The outside of an item is the best that the rest of a tree can add to it (Rush 2014,
section
2.2.2, algorithm 4, for maxima); it is pushed down from the root, the longest items first. Nothing is subtracted, so that what is on a grid
stays there, and -inf means that there is no such tree.
"""

# mypy: disable-error-code="no-untyped-def"
# a kernel's types are its signature

from __future__ import annotations

import numpy as np

from zerogap.kernels import float64, inner, int64, kernel, readonly, writable
from zerogap.oracles.trees.arc_scores import is_accepted
from zerogap.oracles.trees.siblings import fill_charts, score_of_root, transpose_left

RIGHT, LEFT, OPEN_RIGHT, OPEN_LEFT, JOIN = range(5)


@inner
def push_open_right(i, j, outside, siblings, charts, out):
    """From the arc i -> j, whose outside includes its score, to what stands before it. out: out."""
    open_right, join = charts[OPEN_RIGHT], charts[JOIN]
    out[LEFT, i + 1, j] = max(out[LEFT, i + 1, j], outside + siblings[i, i, j])
    for s in range(i + 1, j):
        both = outside + siblings[i, s, j]
        out[OPEN_RIGHT, i, s] = max(out[OPEN_RIGHT, i, s], both + join[s, j])
        out[JOIN, s, j] = max(out[JOIN, s, j], both + open_right[i, s])


@inner
def push_open_left(i, j, outside, siblings, charts, out):
    """From the arc j -> i, as above."""
    open_left, join = charts[OPEN_LEFT], charts[JOIN]
    out[RIGHT, i, j - 1] = max(out[RIGHT, i, j - 1], outside + siblings[j, j, i])
    for s in range(i + 1, j):
        both = outside + siblings[j, s, i]
        out[JOIN, i, s] = max(out[JOIN, i, s], both + open_left[s, j])
        out[OPEN_LEFT, s, j] = max(out[OPEN_LEFT, s, j], both + join[i, s])


@kernel(float64(readonly(float64, 2), readonly(float64, 3), readonly(float64, 2), int64, writable(float64, 2)))
def sibling_max_marginals(arcs, siblings, stops, single_root, marginals):  # out: marginals (n + 1, n + 1)
    """The score of a best tree, and for every arc that of a best one that has it, -inf if none has. nan if the arcs are not accepted."""
    n = arcs.shape[0] - 1
    if not is_accepted(arcs):
        return np.nan
    flat = marginals.reshape(-1)
    for e in range(flat.size):
        flat[e] = -np.inf
    if n == 0:
        return stops[0, 0]
    first = 1 if single_root else 0
    charts, out = np.empty((6, n + 2, n + 1)), np.empty((5, n + 2, n + 1))
    fill_charts(arcs, siblings, transpose_left(siblings, first), stops, first, charts)
    right, left, open_right, open_left = charts[RIGHT], charts[LEFT], charts[OPEN_RIGHT], charts[OPEN_LEFT]
    flat = out.reshape(-1)
    for e in range(flat.size):
        flat[e] = -np.inf
    best = -np.inf
    if single_root:
        for m in range(1, n + 1):
            marginals[0, m] = score_of_root(m, arcs, siblings, stops, charts)
            best = max(best, marginals[0, m])
            alone = arcs[0, m] + siblings[0, 0, m] + stops[0, m]
            out[LEFT, 1, m] = alone + right[m, n]
            out[RIGHT, m, n] = alone + left[1, m]
    else:
        best = right[0, n]
        out[RIGHT, 0, n] = 0.0
    if best == -np.inf:
        return best
    for i in range(first, n + 1):
        for j in range(n, i, -1):
            outside = out[RIGHT, i, j]
            for m in range(i + 1, j + 1):  # right[i, j] = max(open_right[i, m] + stops[i, m] + right[m, j])
                both = outside + stops[i, m]
                out[OPEN_RIGHT, i, m] = max(out[OPEN_RIGHT, i, m], both + right[m, j])
                out[RIGHT, m, j] = max(out[RIGHT, m, j], both + open_right[i, m])
            outside = out[LEFT, i, j]
            for m in range(i, j):  # left[i, j] = max(left[i, m] + open_left[m, j] + stops[j, m])
                both = outside + stops[j, m]
                out[LEFT, i, m] = max(out[LEFT, i, m], both + open_left[m, j])
                out[OPEN_LEFT, m, j] = max(out[OPEN_LEFT, m, j], both + left[i, m])
            marginals[i, j] = out[OPEN_RIGHT, i, j] + open_right[i, j]
            if marginals[i, j] > -np.inf:
                push_open_right(i, j, out[OPEN_RIGHT, i, j] + arcs[i, j], siblings, charts, out)
            if i > 0:
                marginals[j, i] = out[OPEN_LEFT, i, j] + open_left[i, j]
                if marginals[j, i] > -np.inf:
                    push_open_left(i, j, out[OPEN_LEFT, i, j] + arcs[j, i], siblings, charts, out)
            outside = out[JOIN, i, j]
            for r in range(i, j):  # join[i, j] = max(right[i, r] + left[r + 1, j])
                out[RIGHT, i, r] = max(out[RIGHT, i, r], outside + left[r + 1, j])
                out[LEFT, r + 1, j] = max(out[LEFT, r + 1, j], outside + right[i, r])
    return best
