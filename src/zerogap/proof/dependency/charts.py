"""The k best scores of projective trees, by dynamic programs over spans, all of one width at a time, in integers.

A span of width w from i is [i, i + w]; `right` has its head at i, `left` at i + w, and every word in it has its whole side in it. Every
tree has one derivation, so lists of scores count trees. Numbers are those of `zerogap.proof.integers`.
"""

from __future__ import annotations

import numpy as np

from zerogap.grid import Integers
from zerogap.proof.integers import ABSENT, added, best_of, joined, plus, sums


def arc_chart(arcs: Integers, single_root: bool, k: int) -> Integers:
    """The k best scores (k,) under lists of scores (n + 1, n + 1, any) of each arc (Rush 2014, section 2.2.4)."""
    n = len(arcs) - 1
    right, left, arc_right, arc_left = (np.full((n + 1, n + 1, k), ABSENT) for _ in range(4))
    right[:, 0, 0] = left[:, 0, 0] = 0
    for width in range(1, n + 1):
        i = np.arange(n + 1 - width)[:, None]
        split = np.arange(width)[None, :]
        rest = width - 1 - split
        between = joined(right[i, split], left[i + split + 1, rest], k)
        start, end = i[:, 0], i[:, 0] + width
        arc_right[start, width] = added(between, arcs[start, end], k)
        arc_left[start, width] = added(between, arcs[end, start], k)
        right[start, width] = joined(arc_right[i, split + 1], right[i + split + 1, rest], k)
        left[start, width] = joined(left[i, split], arc_left[i + split, width - split], k)
    if not single_root or n == 0:
        return right[0, n]
    root = np.arange(1, n + 1)
    return joined(added(arcs[0, root], left[1, root - 1], k), right[root, n - root], k)


def sibling_chart(arcs: Integers, siblings: Integers, stops: Integers, single_root: bool, k: int) -> Integers:
    """The k best scores with siblings (n + 1, n + 1, n + 1) and stops (n + 1, n + 1) as well (McDonald & Pereira 2006).

    An arc's span is entered by the first modifier of its head, or from the span of the modifier before it:

        arc_right[h, m] = arcs[h, m] + max(left[h + 1, m] + siblings[h, h, m], max_s arc_right[h, s] + between[s, m] + siblings[h, s, m])
        right[h, e] = max_m arc_right[h, m] + stops[h, m] + right[m, e]         between[s, m] = max_r right[s, r] + left[r + 1, m]
    """
    n = len(arcs) - 1
    right, left, arc_right, arc_left, between = (np.full((n + 1, n + 1, k), ABSENT) for _ in range(5))
    right[:, 0, 0] = left[:, 0, 0] = np.diag(stops)
    for width in range(1, n + 1):
        i = np.arange(n + 1 - width)[:, None]
        split = np.arange(width)[None, :]
        rest = width - 1 - split
        start, end = i[:, 0], i[:, 0] + width
        between[start, width] = joined(right[i, split], left[i + split + 1, rest], k)
        inner = np.arange(1, width)[None, :]
        s, j = i + inner, i + width
        first = plus(left[start + 1, width - 1], siblings[start, start, end, None])
        later = plus(sums(arc_right[i, inner], between[s, width - inner], k), siblings[i, s, j, None])
        if single_root:
            later[0] = ABSENT
        arc_right[start, width] = added(either(first, later, k), arcs[start, end], k)
        first = plus(right[start, width - 1], siblings[end, end, start, None])
        later = plus(sums(between[i, inner], arc_left[s, width - inner], k), siblings[j, s, i, None])
        arc_left[start, width] = added(either(first, later, k), arcs[end, start], k)
        m = i + split + 1
        right[start, width] = joined(plus(arc_right[i, split + 1], stops[i, m, None]), right[m, rest], k)
        m = i + split
        left[start, width] = joined(left[i, split], plus(arc_left[m, width - split], stops[j, m, None]), k)
    return right[0, n]


def either(first: Integers, later: Integers, k: int) -> Integers:
    """The k best of lists (positions, any), and of all lists (positions, any, any)."""
    return best_of(np.concatenate([first, later.reshape(len(first), later.shape[1] * later.shape[2])], axis=1), k)
