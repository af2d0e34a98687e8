"""Eisner's algorithm: the best projective tree under arc scores, in O(n^3) (Rush 2014, section 2.2.4).

    open_right[i, j] = join[i, j] + score[i, j]      join[i, j]  = max_{i <= r < j} right[i, r] + left[r + 1, j]
    open_left[i, j]  = join[i, j] + score[j, i]      right[i, j] = max_{i < m <= j} open_right[i, m] + right[m, j]
                                                     left[i, j]  = max_{i <= m < j} left[i, m] + open_left[m, j]

`right` and `left` are the paper's complete items, with the head at their left or right end; `open` are the incomplete
ones. Rows are filled from the last word to the first, and an item is pushed to the items to its right as soon as it is
known: then everything is read along contiguous rows, and no transposed chart is needed. Back-pointers are found again
on the way back, ties going to the lowest split. A single root never enters the recursion: words 1 to n are solved on
their own and the best word is put under the root.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from zerogap.errors import HypergraphError
from zerogap.kernels import float64, inner, int64, kernel, readonly, writable
from zerogap.oracles.push import push_max
from zerogap.oracles.trees.arc_scores import NOT_SUCH_AN_ARRAY, arc_scores, infeasible, is_accepted
from zerogap.structures.hypergraph import Hypergraph, from_edges

empty, INT64, LOWEST = np.empty, np.dtype(np.int64), -np.inf  # looked up once: a call on ten words takes little longer than this


@inner
def read_heads(scores, single_root, charts, heads):  # out: heads (n,)
    """Follows the best splits down from the whole sentence; returns its score."""
    n = heads.size
    right, left, open_right, open_left = charts[0], charts[1], charts[2], charts[3]
    stack = np.empty((2 * n + 2, 2), dtype=np.int64)  # complete items to expand: (head, other end)
    root, best = 0, -np.inf
    if single_root:
        for m in range(1, n + 1):
            score = left[1, m] + scores[0, m] + right[m, n]
            if score > best:
                root, best = m, score
    else:
        best = right[0, n]
    if best == -np.inf:
        return best
    stack[0, 0], stack[0, 1] = root, n
    size = 1
    if single_root:
        heads[root - 1] = 0
        stack[1, 0], stack[1, 1] = root, 1
        size = 2
    while size > 0:
        size -= 1
        head, end = stack[size, 0], stack[size, 1]
        while head != end:
            m, most = head, -np.inf
            if head < end:  # right[head, end] = open_right[head, m] + right[m, end]
                for k in range(head + 1, end + 1):
                    score = open_right[head, k] + right[k, end]
                    if score > most:
                        m, most = k, score
            else:  # left[end, head] = left[end, m] + open_left[m, head]
                for k in range(end, head):
                    score = left[end, k] + open_left[k, head]
                    if score > most:
                        m, most = k, score
            heads[m - 1] = head
            if m != end:
                stack[size, 0], stack[size, 1] = m, end
                size += 1
            low, high = min(head, m), max(head, m)
            r, most = low, -np.inf
            for k in range(low, high):  # join[low, high] = right[low, r] + left[r + 1, high]
                score = right[low, k] + left[k + 1, high]
                if score > most:
                    r, most = k, score
            if low != r:
                stack[size, 0], stack[size, 1] = low, r
                size += 1
            head, end = high, r + 1
    return best


@kernel(float64(readonly(float64, 2), int64, writable(int64, 1)))
def eisner_kernel(scores, single_root, heads):  # out: heads (n,)
    """The score of a best tree: -inf if there is none, nan if the scores are not accepted."""
    n = heads.size
    if not is_accepted(scores):
        return np.nan
    if n == 0:
        return 0.0
    charts = np.empty((4, n + 2, n + 1))
    right, left, open_right, open_left = charts[0], charts[1], charts[2], charts[3]
    join = charts[0, n + 1]
    for i in range(n, 0 if single_root else -1, -1):
        right[i, i] = left[i, i] = 0.0
        for j in range(i + 1, n + 1):
            join[j] = left[i + 1, j]  # + right[i, i]
            right[i, j] = left[i, j] = -np.inf
        for p in range(i + 1, n + 1, 2):  # two positions a turn: rows are read and written half as often
            open_right_p = open_right[i, p] = join[p] + scores[i, p]
            open_left_p = open_left[i, p] = join[p] + scores[p, i]
            right_p = right[i, p] = max(right[i, p], open_right_p)
            left_p = left[i, p] = max(left[i, p], open_left_p)
            if p == n:
                break
            q = p + 1
            join_q = max(join[q], right_p)  # + left[q, q]
            open_right_q = open_right[i, q] = join_q + scores[i, q]
            open_left_q = open_left[i, q] = join_q + scores[q, i]
            right_q = right[i, q] = max(max(right[i, q], open_right_p + right[p, q]), open_right_q)
            left_q = left[i, q] = max(max(left[i, q], left_p + open_left[p, q]), open_left_q)
            if q == n:
                break
            push_max(
                q + 1,
                n + 1,
                # join[i, j] = max(right[i, r] + left[r + 1, j])
                join, left[q], right_p, left[q + 1], right_q,
                # right[i, j] = max(open_right[i, m] + right[m, j])
                right[i], right[p], open_right_p, right[q], open_right_q,
                # left[i, j] = max(left[i, m] + open_left[m, j])
                left[i], open_left[p], left_p, open_left[q], left_q,
            )  # fmt: skip
    return read_heads(scores, single_root, charts, heads)


def eisner(scores: Any, *, single_root: bool = True) -> NDArray[np.int64]:
    """The heads of words 1 to n in a best projective tree under scores[h, m] (n + 1, n + 1).

    Column 0 and the diagonal are ignored, -inf forbids an arc. Raises Infeasible if no projective tree is left.

    >>> eisner([[0, 1, 9], [0, 0, 2], [0, 5, 0]]).tolist()
    [2, 0]
    """
    try:
        heads = empty(len(scores) - 1, INT64)
        best = eisner_kernel(scores, 1 if single_root else 0, heads)
    except NOT_SUCH_AN_ARRAY:
        best = np.nan
    if best > LOWEST:
        return heads
    if best != best:  # nan: not accepted as given
        scores = arc_scores(scores)
        heads = empty(len(scores) - 1, INT64)
        best = eisner_kernel(scores, 1 if single_root else 0, heads)
    if best == LOWEST:
        raise infeasible(scores, single_root=single_root, projective=True)
    return heads


def eisner_hypergraph(n: int, *, single_root: bool = True, names: bool = False) -> tuple[Hypergraph, NDArray[np.int64]]:
    """All projective trees of n words as hyperpaths, and the arc (h, m) of every hyperedge, (-1, -1) if it makes none.

    Vertices are the items (type, direction, i, j) of section 2.2.4, without those that no tree uses; `names` asks for them
    as `vertex_names`, such as ("C", "->", 0, n), the root. Every hyperedge has two tails.
    """
    if n < 1:
        raise HypergraphError(f"n is {n}: the hypergraph of projective trees needs at least one word.")
    number = np.full((2, 2, n + 1, n + 1), -1, dtype=np.int64)  # by type (C, I) and direction (->, <-)
    items: list[tuple[int, int, int, int]] = []
    for width in range(n + 1):
        for kind in (1, 0):  # open items first: the complete ones of the same span are made of them
            for start in range(n + 1 - width):
                for direction in (0, 1):
                    item = (kind, direction, start, start + width)
                    if is_used(*item, n, single_root):
                        number[item] = len(items)
                        items.append(item)

    before = ~np.tri(n + 1, dtype=np.bool_)  # before[i, j]: i < j
    i, r, j = np.nonzero(~before.T[:, :, None] & before)  # i <= r < j
    none = np.full_like(i, -1)
    complete, open_ = number
    blocks = [  # (head, first tail, second tail, arc)
        # (C, ->, i, r) + (C, <-, r + 1, j): an arc between i and j, either way (E_1)
        (open_[0, i, j], complete[0, i, r], complete[1, r + 1, j], i, j),
        (open_[1, i, j], complete[0, i, r], complete[1, r + 1, j], j, i),
        # (I, ->, i, m) + (C, ->, m, j) and (C, <-, i, m) + (I, <-, m, j): structural (E_2)
        (complete[0, i, j], open_[0, i, r + 1], complete[0, r + 1, j], none, none),
        (complete[1, i, j], complete[1, i, r], open_[1, r, j], none, none),
    ]
    edges = np.concatenate([np.stack(block, axis=1) for block in blocks])
    edges = edges[(edges[:, :3] >= 0).all(axis=1)]
    vertex_names = [("CI"[kind], ("->", "<-")[direction], *span) for kind, direction, *span in items] if names else None
    graph, _, order = from_edges(
        edges[:, 0], edges[:, 1:3], n_vertices=len(items), root=int(complete[0, 0, n]), vertex_names=vertex_names, validate=False
    )
    return graph, edges[order, 3:]


def is_used(kind: int, direction: int, i: int, j: int, n: int, single_root: bool) -> bool:
    """Whether some tree uses the item: open items have two words, nothing points left into the root, ..."""
    if (kind == 1 and i == j) or (direction == 1 and i == 0):
        return False
    return not (single_root and i == 0 and kind == 0 and 0 < j < n)  # ..., and a single root is complete only at the end
