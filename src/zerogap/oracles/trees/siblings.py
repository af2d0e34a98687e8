"""The best projective tree under arcs and adjacent siblings, in O(n^3) (McDonald & Pereira 2006; Rush 2014, section 8.3.2).

A modifier is scored with its head and the modifier before it, counted outward from the head on one side; `stops` score the last one.

    open_right[i, j] = arcs[i, j] + max( left[i + 1, j] + siblings[i, i, j],
                                         max_{i < s < j} open_right[i, s] + join[s, j] + siblings[i, s, j] )
    open_left[i, j]  = arcs[j, i] + max( right[i, j - 1] + siblings[j, j, i],
                                         max_{i < s < j} join[i, s] + open_left[s, j] + siblings[j, s, i] )
    join[i, j]  = max_{i <= r < j} right[i, r] + left[r + 1, j]
    right[i, j] = max_{i < m <= j} open_right[i, m] + stops[i, m] + right[m, j]           right[i, i] = left[i, i] = stops[i, i]
    left[i, j]  = max_{i <= m < j} left[i, m] + open_left[m, j] + stops[j, m]

Items, order and single roots are as in zerogap.oracles.trees.eisner: rows from the last word to the first, and an item is pushed to those
on its right as soon as it is known. There all scores are read along rows too, except those of left siblings, where the head varies:
these are transposed beforehand, which takes a third of the time; who has many arcs for the same siblings transposes once.
Nothing is pushed from a forbidden arc, nor beyond the farthest head or modifier that a word may have.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from zerogap.errors import Infeasible
from zerogap.grid import as_scores
from zerogap.kernels import float64, inner, int64, kernel, readonly, writable
from zerogap.oracles.push import push_max
from zerogap.oracles.trees.arc_scores import arc_scores, infeasible, is_accepted
from zerogap.oracles.trees.semifield import push_max_of_sums

BLOCK = 8  # doubles in a cache line


@inner
def transpose_left(siblings, first):
    """[m, s, h] = siblings[h, s, m] for first <= m < s < h; the rest is not filled. A cache line is read and written once."""
    n = siblings.shape[0] - 1
    transposed = np.empty((n + 1, n + 1, n + 1))
    for low in range(first + 2, n + 1, BLOCK):
        high = min(low + BLOCK, n + 1)
        for s in range(first + 1, high - 1):
            start = max(low, s + 1)
            for m in range(first, s):
                row = transposed[m, s]
                for h in range(start, high):
                    row[h] = siblings[h, s, m]
    return transposed


@inner
def last_modifier(stops, charts, head, end):
    """The outermost modifier in the best complete item from a head to an end, the lowest on ties."""
    right, left, open_right, open_left = charts[0], charts[1], charts[2], charts[3]
    modifier, most = head, -np.inf
    for m in range(min(head + 1, end), max(head, end + 1)):
        if head < end:  # right[head, end] = open_right[head, m] + stops[head, m] + right[m, end]
            score = open_right[head, m] + stops[head, m] + right[m, end]
        else:  # left[end, head] = left[end, m] + open_left[m, head] + stops[head, m]
            score = left[end, m] + open_left[m, head] + stops[head, m]
        if score > most:
            modifier, most = m, score
    return modifier


@inner
def previous_modifier(siblings, charts, head, m):
    """The modifier before m in the best open item, the head itself if m is the first or on ties."""
    right, left, open_right, open_left, join = charts[0], charts[1], charts[2], charts[3], charts[4]
    previous = head
    if head < m:
        most = left[head + 1, m] + siblings[head, head, m]
        for s in range(head + 1, m):
            score = open_right[head, s] + join[s, m] + siblings[head, s, m]
            if score > most:
                previous, most = s, score
    else:
        most = right[m, head - 1] + siblings[head, head, m]
        for s in range(m + 1, head):
            score = join[m, s] + open_left[s, head] + siblings[head, s, m]
            if score > most:
                previous, most = s, score
    return previous


@inner
def read_heads(siblings, stops, charts, root, heads):  # out: heads (n,)
    """Follows the best splits down from the word under a single root, or from the root if that is 0."""
    n = heads.size
    right, left = charts[0], charts[1]
    stack = np.empty((2 * n + 2, 2), dtype=np.int64)  # complete items to expand: (head, other end)
    stack[0, 0], stack[0, 1] = root, n
    size = 1
    if root > 0:
        heads[root - 1] = 0
        stack[1, 0], stack[1, 1] = root, 1
        size = 2
    while size > 0:
        size -= 1
        head, end = stack[size, 0], stack[size, 1]
        if head == end:
            continue
        m = last_modifier(stops, charts, head, end)
        stack[size, 0], stack[size, 1] = m, end
        size += 1
        while m != head:
            heads[m - 1] = head
            previous = previous_modifier(siblings, charts, head, m)
            if previous == head:
                stack[size, 0], stack[size, 1] = m, head + 1 if head < m else head - 1
                size += 1
            else:
                low, high = min(previous, m), max(previous, m)
                r, most = low, -np.inf
                for k in range(low, high):  # join[low, high] = right[low, r] + left[r + 1, high]
                    score = right[low, k] + left[k + 1, high]
                    if score > most:
                        r, most = k, score
                stack[size, 0], stack[size, 1] = low, r
                stack[size + 1, 0], stack[size + 1, 1] = high, r + 1
                size += 2
            m = previous


@inner
def fill_charts(arcs, siblings, left_siblings, stops, first, charts):  # out: charts (6, n + 2, n + 1)
    """The value of every item of words from `first` on; left_siblings are the siblings transposed."""
    n = arcs.shape[0] - 1
    right, left, open_right, open_left, join = charts[0], charts[1], charts[2], charts[3], charts[4]
    closed_left = charts[5]  # open_left[m, h] + stops[h, m]
    beyond = np.empty((2, n + 2), dtype=np.int64)  # of every word: beyond all its heads, and beyond all its modifiers
    last_head, last_modifier = beyond[0], beyond[1]
    for i in range(n, first - 1, -1):
        last_head[i] = last_modifier[i] = i
        right[i, i] = left[i, i] = stops[i, i]
        for j in range(i + 1, n + 1):
            join[i, j] = right[i, i] + left[i + 1, j]
            open_right[i, j] = left[i + 1, j] + siblings[i, i, j]
            right[i, j] = left[i, j] = open_left[i, j] = -np.inf
            if arcs[i, j] > -np.inf:
                last_modifier[i] = j
            if arcs[j, i] > -np.inf:
                last_head[i] = j
        for p in range(i + 1, n + 1):
            open_right_p = open_right[i, p] = open_right[i, p] + arcs[i, p]
            open_left_p = open_left[i, p] = max(open_left[i, p], right[i, p - 1] + siblings[p, p, i]) + arcs[p, i]
            closed_right_p = open_right_p + stops[i, p]
            closed_left_p = closed_left[i, p] = open_left_p + stops[p, i]
            right_p = right[i, p] = max(right[i, p], closed_right_p + right[p, p])
            left_p = left[i, p] = max(left[i, p], left[i, i] + closed_left_p)
            # join[i, j] = max(right[i, r] + left[r + 1, j])
            push_max(p + 1, n + 1, join[i], left[p + 1], right_p)
            # left[i, j] = max(left[i, m] + open_left[m, j] + stops[j, m])
            push_max(p + 1, last_head[p] + 1, left[i], closed_left[p], left_p)
            # open_left[i, j] = max(join[i, s] + open_left[s, j] + siblings[j, s, i])
            push_max_of_sums(p + 1, min(last_head[i], last_head[p]) + 1, open_left[i], open_left[p], left_siblings[i, p], join[i, p])
            if open_right_p > -np.inf:
                # right[i, j] = max(open_right[i, m] + stops[i, m] + right[m, j])
                push_max(p + 1, n + 1, right[i], right[p], closed_right_p)
                # open_right[i, j] = max(open_right[i, s] + join[s, j] + siblings[i, s, j])
                push_max_of_sums(p + 1, last_modifier[i] + 1, open_right[i], join[p], siblings[i, p], open_right_p)


@inner
def score_of_root(m, arcs, siblings, stops, charts):
    """The best score of a tree whose single root is m."""
    right, left = charts[0], charts[1]
    return left[1, m] + arcs[0, m] + siblings[0, 0, m] + stops[0, m] + right[m, arcs.shape[0] - 1]


@inner
def best_tree_of(arcs, siblings, left_siblings, stops, single_root, heads):  # out: heads (n,), n > 0
    """The score of a best tree, -inf if there is none; left_siblings are the siblings transposed."""
    n = heads.size
    charts = np.empty((6, n + 2, n + 1))
    fill_charts(arcs, siblings, left_siblings, stops, 1 if single_root else 0, charts)
    root, best = 0, -np.inf
    if single_root:
        for m in range(1, n + 1):
            score = score_of_root(m, arcs, siblings, stops, charts)
            if score > best:
                root, best = m, score
    else:
        best = charts[0, 0, n]
    if best > -np.inf:
        read_heads(siblings, stops, charts, root, heads)
    return best


@kernel(float64(readonly(float64, 2), readonly(float64, 3), readonly(float64, 2), int64, writable(int64, 1)))
def sibling_kernel(arcs, siblings, stops, single_root, heads):  # out: heads (n,)
    """The score of a best tree: -inf if there is none, nan if the arcs are not accepted. No sibling or stop may be nan or +inf."""
    if not is_accepted(arcs):
        return np.nan
    if heads.size == 0:
        return stops[0, 0]
    return best_tree_of(arcs, siblings, transpose_left(siblings, 1 if single_root else 0), stops, single_root, heads)


def best_siblings(arcs: Any, siblings: Any, stops: Any = None, *, single_root: bool = True) -> NDArray[np.int64]:
    """The heads of words 1 to n in a best projective tree under arcs[h, m], siblings[h, s, m] and stops[h, s].

    s and m are adjacent modifiers of h on one side, s nearer to it, and s == h where m is the first. stops[h, s] ends a side after s;
    stops[h, h] is a side without modifiers (the root has a right side only). -inf forbids. Raises Infeasible if no tree is left.

    >>> siblings = np.zeros((4, 4, 4))
    >>> siblings[2, 2, 1] = siblings[2, 2, 3] = 5  # both alone on their side of word 2
    >>> best_siblings(np.zeros((4, 4)), siblings).tolist()
    [2, 0, 2]
    """
    checked = arc_scores(arcs)
    tokens = len(checked)
    of_siblings = as_scores(siblings, "siblings", shape=(tokens, tokens, tokens))
    of_stops = np.zeros((tokens, tokens)) if stops is None else as_scores(stops, "stops", shape=(tokens, tokens))
    heads = np.empty(tokens - 1, dtype=np.int64)
    if sibling_kernel(checked, of_siblings, of_stops, 1 if single_root else 0, heads) == -np.inf:
        if sibling_kernel(checked, np.zeros_like(of_siblings), np.zeros_like(of_stops), 1 if single_root else 0, heads) == -np.inf:
            raise infeasible(checked, single_root=single_root, projective=True)
        raise Infeasible("every projective tree has a sibling or a stop of score -inf.")
    return heads
