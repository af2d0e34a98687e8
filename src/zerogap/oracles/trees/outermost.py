"""The best projective tree under arcs, adjacent siblings and outermost grandchildren, in O(n^4) (Carreras 2007).

To siblings and stops (zerogap.oracles.trees.siblings) it adds outermost[g, h, m] where g is the head of h and m the outermost modifier of
h on its side. Then a complete item is worth something else under every g, and so is what is joined of such items:

    right[i, j | g] = max_{i < m <= j} open_right[i, m] + stops[i, m] + right[m, j | i] + outermost[g, i, m]
    left[i, j | g]  = max_{i <= m < j} left[i, m | j] + open_left[m, j] + stops[j, m] + outermost[g, j, m]
    join[i, j | g]  = max_{i <= r < j} right[i, r | g] + left[r + 1, j | g]                 right[i, i | g] = left[i, i | g] = stops[i, i]
    open_right[i, j] = arcs[i, j] + max( left[i + 1, j | i] + siblings[i, i, j],
                                         max_{i < s < j} open_right[i, s] + join[s, j | i] + siblings[i, s, j] )
    open_left[i, j]  = arcs[j, i] + max( right[i, j - 1 | j] + siblings[j, j, i],
                                         max_{i < s < j} join[i, s | j] + open_left[s, j] + siblings[j, s, i] )

Rows run over g, before i and after j: the three lines that cost O(n^4) are element-wise maxima over them, several at a time.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from zerogap.errors import Infeasible
from zerogap.grid import as_scores
from zerogap.kernels import float64, inlined, inner, int64, kernel, readonly, writable
from zerogap.oracles.push import push_max
from zerogap.oracles.trees.arc_scores import arc_scores, infeasible, is_accepted
from zerogap.oracles.trees.semifield import push_max_of_sums

BLOCK = 8  # doubles in a cache line
TABLE, CUBE = readonly(float64, 2), readonly(float64, 3)


@inlined
def join_all(join, right_rows, left_rows, i, j):  # out: join (n + 1,), the row of [i, j]
    """join[i, j | g] = max(right[i, r | g] + left[r + 1, j | g]), four r at a time; left_rows are those that end in j."""
    n = join.size - 1
    for g in range(n + 1):
        join[g] = -np.inf
    r = i
    while r + 4 <= j:
        for side in range(2):
            push_max_of_sums(
                0 if side == 0 else j + 1,
                i if side == 0 else n + 1,
                join, right_rows[r], left_rows[r + 1], 0.0, right_rows[r + 1], left_rows[r + 2], 0.0,
                right_rows[r + 2], left_rows[r + 3], 0.0, right_rows[r + 3], left_rows[r + 4], 0.0,
            )  # fmt: skip
        r += 4
    while r < j:
        for side in range(2):
            push_max_of_sums(0 if side == 0 else j + 1, i if side == 0 else n + 1, join, right_rows[r], left_rows[r + 1], 0.0)
        r += 1


@inlined
def complete_all(complete, added, rows, i, j, start, stop):  # out: complete (n + 1,), the row of [i, j]
    """right[i, j | g] or left[i, j | g] = max(added[m] + outermost[g, h, m]) for start <= m < stop, four m at a time."""
    n = complete.size - 1
    for g in range(n + 1):
        complete[g] = -np.inf
    m = start
    while m + 4 <= stop:
        for side in range(2):
            push_max(
                0 if side == 0 else j + 1,
                i if side == 0 else n + 1,
                complete, rows[m], added[m], rows[m + 1], added[m + 1], rows[m + 2], added[m + 2], rows[m + 3], added[m + 3],
            )  # fmt: skip
        m += 4
    while m < stop:
        for side in range(2):
            push_max(0 if side == 0 else j + 1, i if side == 0 else n + 1, complete, rows[m], added[m])
        m += 1


@inner
def last_modifier(stops, outermost, right, left, open_, head, end, above):
    """The outermost modifier in the best complete item from a head to an end under `above`, the lowest on ties."""
    modifier, most = head, -np.inf
    for m in range(min(head + 1, end), max(head, end + 1)):
        below = right[m, end, head] if head < end else left[m, end, head]
        score = open_[head, m] + stops[head, m] + below + (outermost[above, head, m] if head > 0 else 0.0)
        if score > most:
            modifier, most = m, score
    return modifier


@inlined
def previous_modifier(siblings, right, left, join, open_, head, m):
    """The modifier before m in the best open item, the head itself if m is the first or on ties; open_[head, m] without its arc."""
    previous = head
    below = left[m, head + 1, head] if head < m else right[m, head - 1, head]
    most = below + siblings[head, head, m]
    for s in range(min(head, m) + 1, max(head, m)):
        score = open_[head, s] + join[min(s, m), max(s, m), head] + siblings[head, s, m]
        if score > most:
            previous, most = s, score
    return previous, most


@inner
def read_heads(stops, siblings, outermost, right, left, join, open_, root, heads):  # out: heads (n,)
    """Follows the best splits down from the word under a single root, or from the root if that is 0."""
    n = heads.size
    stack = np.empty((2 * n + 2, 3), dtype=np.int64)  # complete items to expand: (head, other end, head of the head)
    stack[0, 0], stack[0, 1], stack[0, 2] = root, n, 0
    size = 1
    if root > 0:
        heads[root - 1] = 0
        stack[1, 0], stack[1, 1], stack[1, 2] = root, 1, 0
        size = 2
    while size > 0:
        size -= 1
        head, end, above = stack[size, 0], stack[size, 1], stack[size, 2]
        if head == end:
            continue
        m = last_modifier(stops, outermost, right, left, open_, head, end, above)
        stack[size, 0], stack[size, 1], stack[size, 2] = m, end, head
        size += 1
        while m != head:
            heads[m - 1] = head
            previous, _ = previous_modifier(siblings, right, left, join, open_, head, m)
            if previous == head:
                stack[size, 0], stack[size, 1], stack[size, 2] = m, head + 1 if head < m else head - 1, head
                size += 1
            else:
                low, high = min(previous, m), max(previous, m)
                r, most = low, -np.inf
                for k in range(low, high):  # join[low, high | head] = right[low, r | head] + left[r + 1, high | head]
                    score = right[low, k, head] + left[high, k + 1, head]
                    if score > most:
                        r, most = k, score
                stack[size, 0], stack[size, 1], stack[size, 2] = low, r, head
                stack[size + 1, 0], stack[size + 1, 1], stack[size + 1, 2] = high, r + 1, head
                size += 2
            m = previous


@kernel(float64(TABLE, CUBE, TABLE, CUBE, int64, writable(int64, 1)))
def outermost_kernel(arcs, siblings, stops, outermost, single_root, heads):  # out: heads (n,)
    """The score of a best tree: -inf if there is none, nan if the arcs are not accepted. No other score may be nan or +inf."""
    n = heads.size
    if not is_accepted(arcs):
        return np.nan
    if n == 0:
        return stops[0, 0]
    rows = np.empty((4, n + 1, n + 1, n + 1))
    right, left, join = rows[0], rows[1], rows[2]  # [head, end, g], and [i, j, g] of joins
    scored = rows[3]  # [h, m, g] = outermost[g, h, m]
    for low in range(0, n + 1, BLOCK):  # a cache line is read and written once
        for h in range(1, n + 1):
            for m in range(1, n + 1):
                row = scored[h, m]
                for g in range(low, min(low + BLOCK, n + 1)):
                    row[g] = outermost[g, h, m]
    open_ = np.empty((n + 1, n + 1))  # [head, modifier]
    added = np.empty(n + 1)
    first = 1 if single_root else 0
    for i in range(n, first - 1, -1):
        for g in range(n + 1):
            right[i, i, g] = left[i, i, g] = stops[i, i]
        for j in range(i + 1, n + 1):
            _, score = previous_modifier(siblings, right, left, join, open_, i, j)
            open_[i, j] = score + arcs[i, j]
            if i > 0:
                join_all(join[i, j], right[i], left[j], i, j)
                _, score = previous_modifier(siblings, right, left, join, open_, j, i)
                open_[j, i] = score + arcs[j, i]
                for m in range(i + 1, j + 1):
                    added[m] = open_[i, m] + stops[i, m] + right[m, j, i]
                complete_all(right[i, j], added, scored[i], i, j, i + 1, j + 1)
                for m in range(i, j):
                    added[m] = left[m, i, j] + open_[j, m] + stops[j, m]
                complete_all(left[j, i], added, scored[j], i, j, i, j)
    root, best = 0, -np.inf
    for m in range(1, n + 1):
        if single_root:
            score = left[m, 1, 0] + arcs[0, m] + siblings[0, 0, m] + stops[0, m] + right[m, n, 0]
        else:
            score = open_[0, m] + stops[0, m] + right[m, n, 0]
        if score > best:
            root, best = m, score
    if best > -np.inf:
        read_heads(stops, siblings, outermost, right, left, join, open_, root if single_root else 0, heads)
    return best


def best_outermost(arcs: Any, outermost: Any, siblings: Any = None, stops: Any = None, *, single_root: bool = True) -> NDArray[np.int64]:
    """The heads of words 1 to n in a best projective tree under arcs[h, m], outermost[g, h, m], siblings[h, s, m] and stops[h, s].

    m is the outermost modifier of h on its side, and g the head of h. Siblings and stops are as in `best_siblings`. -inf
    forbids. Raises Infeasible if no tree is left.

    >>> outermost = np.zeros((4, 4, 4))
    >>> outermost[0, 1, 3] = 2  # the root's modifier 1 has 3 as its last
    >>> outermost[1, 3, 2] = 1
    >>> best_outermost(np.zeros((4, 4)), outermost).tolist()
    [0, 3, 1]
    """
    checked = arc_scores(arcs)
    tokens = len(checked)
    cube, table = (tokens, tokens, tokens), (tokens, tokens)
    given = (
        np.zeros(cube) if siblings is None else as_scores(siblings, "siblings", shape=cube),
        np.zeros(table) if stops is None else as_scores(stops, "stops", shape=table),
        as_scores(outermost, "outermost", shape=cube),
    )
    heads = np.empty(tokens - 1, dtype=np.int64)
    if outermost_kernel(checked, *given, 1 if single_root else 0, heads) == -np.inf:
        if outermost_kernel(checked, *(np.zeros_like(scores) for scores in given), 1 if single_root else 0, heads) == -np.inf:
            raise infeasible(checked, single_root=single_root, projective=True)
        raise Infeasible("every projective tree has a sibling, stop or outermost grandchild of score -inf.")
    return heads
