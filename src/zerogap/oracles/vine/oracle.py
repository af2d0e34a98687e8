"""Vine parsing: short arcs are scored one by one, long ones by their modifier and side, in O(n b^2) (Rush 2014, section 8.3.3).

In a band of width b, a *vine* (Eisner & Smith 2005) gives every word 1 to n one head: a word at most b away (a near arc), the root (ROOT),
some word more than b to its left (FAR_LEFT) or right (FAR_RIGHT), if there are words so far away. The last two are the thesis' outer arcs:
which word it is, they do not say. A word whose head is the root or far is a top. The near arcs must be such that

    if all tops hung from the root, it would be a projective tree: near arcs do not cross, cover no top and form no cycle;

and one word is under the root (at least one, without `single_root`; none, if there are no words). Nothing else is asked: that some word
could be the far head, without crossings and cycles, is what the relaxation drops.

Every projective tree with one root (with some) becomes such a vine when long arcs between words become far ones: a near arc over a top
would cross the arc to its head, which is the root or farther away than the near arc is long. So if a far score is at least that
of every long arc that it stands for, no tree scores more than a best vine, and no tree with some arc more than a best vine with what
becomes of the arc. If b >= n - 1, nothing is far and vines are projective trees.

A vine is a row of trees of near arcs, side by side. The items of figure 8-3 (those of zerogap.oracles.trees.eisner) make what lies under
an arc
and are at most b wide; those of figure 8-4 begin at the root and make the row. Its trees may be wider than the band: each is entered at
its leftmost word, climbed to its top, and left at its rightmost word.

    vine_left[e]  = max( vine_right[e - 1],        max_{e - b <= m < e} vine_left[m]  + open_left[m, e]  )     e has no head to its left
    vine_right[e] = max( vine_left[e] + far[., e], max_{e - b <= h < e} vine_right[h] + open_right[h, e] )     e has its head

These are kept apart for rows without a word under the root so far and for rows with one. Every vine has one derivation. All items of one
width are made at once, in rows that run over where they start, so that even narrow bands run along contiguous rows.

Departures: arcs from the root have scores of their own, however long (in the thesis, the root is one more word, and its long arcs are
outer); heads that may accept outer modifiers, (h, d) in the thesis, have no scores. Its outer arc (→, m) points right: FAR_LEFT here.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zerogap.errors import Infeasible, InputError
from zerogap.grid import Scores, as_scores
from zerogap.kernels import float64, inner, int64, kernel, readonly, writable
from zerogap.oracles.trees.arc_scores import arc_scores, name
from zerogap.oracles.trees.semifield import larger, push_max_of_sums

ROOT, FAR_LEFT, FAR_RIGHT = 0, -1, -2  # heads that are not near; their scores are far[-head]


@inner
def is_vine_input(near, far):
    """Whether the shapes fit each other, and no score is nan or +inf, even one that means nothing."""
    if near.shape[0] != 2 or far.shape[0] != 3 or near.shape[1] != far.shape[1] or near.shape[1] < 1 or near.shape[2] < 1:
        return False
    bad = 0
    for flat in (near.reshape(-1), far.reshape(-1)):
        for k in range(flat.size):
            bad |= not flat[k] < np.inf
    return bad == 0


@inner
def forbid_all(array):  # out: array
    flat = array.reshape(-1)
    for k in range(flat.size):
        flat[k] = -np.inf


@inner
def fill_items(near, items, join):  # out: items (4, w + 1, n + 1), join (n + 1,)
    """items[., d, i] is the item of words i to i + d: right, left, open_right, open_left."""
    right, left, open_right, open_left = items[0], items[1], items[2], items[3]
    width, n = items.shape[1] - 1, items.shape[2] - 1
    for i in range(1, n + 1):
        right[0, i] = left[0, i] = 0.0
    for d in range(1, width + 1):
        stop = n - d + 1
        for i in range(1, stop):
            join[i] = larger(left[d - 1, i + 1], right[d - 1, i])
        for r in range(1, d - 1):
            push_max_of_sums(1, stop, join, right[r], left[d - 1 - r, r + 1 :], 0.0)
        for i in range(1, stop):
            open_right[d, i] = join[i] + near[0, i, d]
            open_left[d, i] = join[i] + near[1, i + d, d]
        if d == width:
            break  # complete items lie under an arc
        for i in range(1, stop):
            right[d, i], left[d, i] = open_right[d, i], open_left[d, i]
        for m in range(1, d):
            push_max_of_sums(
                1, stop,
                right[d], open_right[m], right[d - m, m:], 0.0,
                left[d], left[m], open_left[d - m, m:], 0.0,
            )  # fmt: skip


@inner
def far_score(far, width, m):
    """The best of both sides, where there are words so far away."""
    return larger(far[1, m] if m - width > 1 else -np.inf, far[2, m] if m + width < far.shape[1] - 1 else -np.inf)


@inner
def fill_vine(far, single_root, band, items, vine):  # out: vine (4, n + 1)
    """vine_left and vine_right, [k] and [2 + k], k = 0 without a word under the root and 1 with one. Returns the score of a best vine."""
    open_right, open_left = items[2], items[3]
    width, n = items.shape[1] - 1, items.shape[2] - 1
    vine[2, 0], vine[3, 0] = 0.0, -np.inf
    for e in range(1, n + 1):
        outer = far_score(far, band, e)
        for k in range(2):
            left, right = vine[2 + k, e - 1], -np.inf
            for d in range(1, min(width, e - 1) + 1):
                left = larger(left, vine[k, e - d] + open_left[d, e - d])
                right = larger(right, vine[2 + k, e - d] + open_right[d, e - d])
            vine[k, e] = left
            vine[2 + k, e] = larger(right, left + outer)
        before = vine[0, e] if single_root else larger(vine[0, e], vine[1, e])
        vine[3, e] = larger(vine[3, e], before + far[0, e])
    return vine[3, n]


@inner
def fill_vine_outside(far, single_root, band, items, vine, outside, far_best):  # out: outside (4, n + 2), far_best (3, n + 1)
    """What the words after e are worth, and the top that e may become: for every item of the vine, from the last word to the first."""
    open_right, open_left = items[2], items[3]
    width, n = items.shape[1] - 1, items.shape[2] - 1
    outside[0, n + 1], outside[1, n + 1] = -np.inf, 0.0  # as if another word followed
    for e in range(n, 0, -1):
        outer = far_score(far, band, e)
        for k in range(2):
            left, right = -np.inf, outside[k, e + 1]
            for d in range(1, min(width, n - e) + 1):
                left = larger(left, outside[k, e + d] + open_left[d, e])
                right = larger(right, outside[2 + k, e + d] + open_right[d, e])
            outside[2 + k, e] = right
            outside[k, e] = larger(left, right + outer)
        under_root = outside[3, e] + far[0, e]
        far_best[0, e] = under_root + (vine[0, e] if single_root else larger(vine[0, e], vine[1, e]))
        outside[0, e] = larger(outside[0, e], under_root)
        if not single_root:
            outside[1, e] = larger(outside[1, e], under_root)
        around = larger(vine[0, e] + outside[2, e], vine[1, e] + outside[3, e])
        if e - band > 1:
            far_best[1, e] = around + far[1, e]
        if e + band < n:
            far_best[2, e] = around + far[2, e]


@inner
def read_arcs(items, stack, size, heads):  # out: stack, heads (n,)
    """Gives their heads to all words under the arcs (head, modifier) on the stack, and to the modifiers."""
    right, left, open_right, open_left = items[0], items[1], items[2], items[3]
    while size > 0:
        size -= 1
        head, modifier = stack[size, 0], stack[size, 1]
        heads[modifier - 1] = head
        low, high = min(head, modifier), max(head, modifier)
        split, most = low, -np.inf
        for r in range(low, high):
            score = right[r - low, low] + left[high - r - 1, r + 1]
            if score > most:
                split, most = r, score
        while low < split:  # right[low, split] = open_right[low, m] + right[m, split]
            m, most = split, -np.inf
            for k in range(low + 1, split + 1):
                score = open_right[k - low, low] + right[split - k, k]
                if score > most:
                    m, most = k, score
            stack[size, 0], stack[size, 1] = low, m
            low, size = m, size + 1
        split += 1
        while high > split:  # left[split, high] = left[split, m] + open_left[m, high]
            m, most = split, -np.inf
            for k in range(split, high):
                score = left[k - split, split] + open_left[high - k, k]
                if score > most:
                    m, most = k, score
            stack[size, 0], stack[size, 1] = high, m
            high, size = m, size + 1


@inner
def read_vine(far, single_root, band, items, vine, heads):  # out: heads (n,)
    """From the last word to the first: trees from their rightmost word up to the top, and down to the leftmost."""
    open_right, open_left = items[2], items[3]
    width, n = items.shape[1] - 1, items.shape[2] - 1
    stack = np.empty((n, 2), dtype=np.int64)
    e, rooted, size = n, 1, 0
    while e > 0:
        while True:  # vine_right[e]
            before = -1  # the head of e, unless e is a top
            most = vine[rooted, e] + far_score(far, band, e)
            before_root = 1 if not single_root and vine[1, e] > vine[0, e] else 0
            under_root = vine[before_root, e] + far[0, e] if rooted else -np.inf
            is_far = most > under_root
            most = larger(most, under_root)
            for d in range(1, min(width, e - 1) + 1):
                score = vine[2 + rooted, e - d] + open_right[d, e - d]
                if score > most:
                    before, most = e - d, score
            if before < 0:
                break
            stack[size, 0], stack[size, 1] = before, e
            e, size = before, size + 1
        if is_far:
            left = far[1, e] if e - band > 1 else -np.inf
            heads[e - 1] = FAR_LEFT if left == far_score(far, band, e) else FAR_RIGHT
        else:
            heads[e - 1] = ROOT
            rooted = before_root
        while True:  # vine_left[e]
            before, most = -1, vine[2 + rooted, e - 1]
            for d in range(1, min(width, e - 1) + 1):
                score = vine[rooted, e - d] + open_left[d, e - d]
                if score > most:
                    before, most = e - d, score
            if before < 0:
                break
            stack[size, 0], stack[size, 1] = e, before
            e, size = before, size + 1
        e -= 1
    read_arcs(items, stack, size, heads)


@kernel(float64(readonly(float64, 3), readonly(float64, 2), int64, writable(int64, 1)))
def vine_kernel(near, far, single_root, heads):  # out: heads (n,), words or ROOT, FAR_LEFT, FAR_RIGHT
    """The score of a best vine: -inf if there is none, nan if the scores are not accepted.

    near[0, h, d] is the score of h -> h + d and near[1, h, d] that of h -> h - d, (2, n + 1, b + 1), for 1 <= d <= b; far[0, m], far[1, m]
    and far[2, m] are those of the root, of a head far to the left and far to the right, (3, n + 1). Entries of word 0, of d = 0, and of
    heads that do not exist mean nothing.
    """
    n, band = heads.size, near.shape[2] - 1
    if not is_vine_input(near, far) or far.shape[1] != n + 1:
        return np.nan
    if n == 0:
        return 0.0
    items, rows = np.empty((4, min(band, n - 1) + 1, n + 1)), np.empty((5, n + 1))
    fill_items(near, items, rows[4])
    best = fill_vine(far, single_root, band, items, rows)
    if best > -np.inf:
        read_vine(far, single_root, band, items, rows, heads)
    return best


@kernel(float64(readonly(float64, 3), readonly(float64, 2), int64, writable(float64, 3), writable(float64, 2)))
def vine_max_marginals(near, far, single_root, near_best, far_best):  # out: near_best (2, n + 1, b + 1), far_best (3, n + 1)
    """The score of a best vine, and for every near and far arc that of a best one with it, -inf if there is none.

    Scores are as those of `vine_kernel`; nan if they are not accepted. Sums only: exact if the scores lie on a grid.
    """
    n, band = near.shape[1] - 1, near.shape[2] - 1
    if not is_vine_input(near, far) or near_best.shape != near.shape or far_best.shape != far.shape:
        return np.nan
    forbid_all(near_best)
    forbid_all(far_best)
    if n == 0:
        return 0.0
    width = min(band, n - 1)
    charts, rows = np.empty((8, width + 1, n + 1)), np.empty((9, n + 2))
    items, outsides, vine, vine_outside, join = charts[:4], charts[4:], rows[:4], rows[4:8], rows[8]
    fill_items(near, items, join)
    best = fill_vine(far, single_root, band, items, vine)
    if best == -np.inf:
        return best
    fill_vine_outside(far, single_root, band, items, vine, vine_outside, far_best)
    forbid_all(outsides)
    right, left, open_right, open_left = items[0], items[1], items[2], items[3]
    right_outside, left_outside, open_right_outside, open_left_outside = outsides[0], outsides[1], outsides[2], outsides[3]
    for d in range(width, 0, -1):  # what is around an item comes from the vine and from wider items
        stop = n - d + 1
        push_max_of_sums(
            1, stop,
            open_right_outside[d], vine[2], vine_outside[2, d:], 0.0, vine[3], vine_outside[3, d:], 0.0,
            open_left_outside[d], vine[0], vine_outside[0, d:], 0.0, vine[1], vine_outside[1, d:], 0.0,
        )  # fmt: skip
        if d < width:
            for i in range(1, stop):
                open_right_outside[d, i] = larger(open_right_outside[d, i], right_outside[d, i])
                open_left_outside[d, i] = larger(open_left_outside[d, i], left_outside[d, i])
            for m in range(1, d):
                push_max_of_sums(
                    1, stop,
                    open_right_outside[m], right_outside[d], right[d - m, m:], 0.0,
                    right_outside[d - m, m:], right_outside[d], open_right[m], 0.0,
                    left_outside[m], left_outside[d], open_left[d - m, m:], 0.0,
                    open_left_outside[d - m, m:], left_outside[d], left[m], 0.0,
                )  # fmt: skip
        for i in range(1, stop):
            near_best[0, i, d] = open_right_outside[d, i] + open_right[d, i]
            near_best[1, i + d, d] = open_left_outside[d, i] + open_left[d, i]
            join[i] = larger(open_right_outside[d, i] + near[0, i, d], open_left_outside[d, i] + near[1, i + d, d])
        for r in range(d):
            push_max_of_sums(
                1, stop,
                right_outside[r], join, left[d - 1 - r, r + 1 :], 0.0,
                left_outside[d - 1 - r, r + 1 :], join, right[r], 0.0,
            )  # fmt: skip
    return best


def vine_scores(arcs: Any, width: int, *, left: Any = None, right: Any = None) -> tuple[Scores, Scores]:
    """Scores (near, far) as `vine_kernel` takes them, of arcs[h, m] (n + 1, n + 1): far arcs are worth what the best long one is.

    `left` and `right` (n + 1,) are other scores for heads farther than `width` to the left and to the right of a word. Column 0 and the
    diagonal are ignored.

    >>> near, far = vine_scores([[0, 0, 0, 5], [0, 0, 2, 0], [0, 0, 0, 0], [0, 4, 1, 0]], 1)
    >>> far.tolist()  # from the root, from far to the left, from far to the right
    [[-inf, 0.0, 0.0, 5.0], [-inf, -inf, -inf, 0.0], [-inf, 4.0, -inf, -inf]]
    """
    scores, width = arc_scores(arcs), checked_width(width)
    n = len(scores) - 1
    near, far = np.full((2, n + 1, width + 1), -np.inf), np.full((3, n + 1), -np.inf)
    for d in range(1, min(width, n - 1) + 1):
        near[0, 1 : n + 1 - d, d] = scores.diagonal(d)[1:]
        near[1, 1 + d :, d] = scores.diagonal(-d)[1:]
    far[0] = scores[0]
    if n > 0:
        h, m = np.arange(1, n + 1)[:, None], np.arange(n + 1)
        far[1] = scores[1:].max(axis=0, where=m - h > width, initial=-np.inf)
        far[2] = scores[1:].max(axis=0, where=h - m > width, initial=-np.inf)
        far[2, 0] = -np.inf
    if left is not None:
        far[1] = as_scores(left, "left", shape=(n + 1,))
    if right is not None:
        far[2] = as_scores(right, "right", shape=(n + 1,))
    return near, far


def checked_width(width: Any) -> int:
    try:
        number = operator.index(width)
    except TypeError:
        number = -1
    if number < 0:
        raise InputError(f"width is {width!r}: expected how long an arc may be that is scored on its own, an integer of at least 0.")
    return number


def best_vine(scores: Any, width: int, *, left: Any = None, right: Any = None, single_root: bool = True) -> tuple[float, NDArray[np.int64]]:
    """The score of a best vine under scores[h, m] (n + 1, n + 1), and the heads of words 1 to n: a word, ROOT, FAR_LEFT or FAR_RIGHT.

    Arcs longer than `width` count as `left` and `right` (n + 1,) say for their modifiers, or else as the best of them: then no projective
    tree scores higher. Column 0 and the diagonal are ignored, -inf forbids an arc. Raises Infeasible if no vine is left.

    >>> score, heads = best_vine([[0, 0, 0, 5], [0, 0, 2, 0], [0, 0, 0, 0], [0, 4, 1, 0]], 1)
    >>> score, heads.tolist()  # 0 -> 3, 1 -> 2, and 1 has a head more than one word to the right
    (11.0, [-2, 1, 0])
    """
    arcs = arc_scores(scores)
    needed = min(checked_width(width), max(len(arcs) - 2, 0))  # wider bands take room, and change nothing
    near, far = vine_scores(arcs, needed, left=left, right=right)
    heads = np.empty(far.shape[1] - 1, dtype=np.int64)
    best = vine_kernel(near, far, 1 if single_root else 0, heads)
    if best == -np.inf:
        raise no_vine(near, far)
    return float(best), heads


def best_vine_scores(
    scores: Any, width: int, *, left: Any = None, right: Any = None, single_root: bool = True
) -> tuple[float, Scores, Scores]:
    """The score of a best vine, and for all near and far arcs that of a best one with it (its max-marginal), -inf where there is none.

    Scores and errors are as those of `best_vine`; the arrays are as `vine_kernel` takes them.

    >>> best, near, far = best_vine_scores([[0, 0, 0, 5], [0, 0, 2, 0], [0, 0, 0, 0], [0, 4, 1, 0]], 1)
    >>> far[2].tolist()  # of 1 -> 2 and 0 -> 3, words 2 and 3 being too close to the end
    [-inf, 11.0, -inf, -inf]
    """
    near, far = vine_scores(scores, width, left=left, right=right)
    near_best, far_best = np.empty(near.shape), np.empty(far.shape)
    best = vine_max_marginals(near, far, 1 if single_root else 0, near_best, far_best)
    if best == -np.inf:
        raise no_vine(near, far)
    return float(best), near_best, far_best


def no_vine(near: Scores, far: Scores) -> Infeasible:
    """Why there is none, naming the words that have no head where there are some."""
    n, width = near.shape[1] - 1, near.shape[2] - 1
    if (far[0, 1:] == -np.inf).all():
        return Infeasible("no vine: every arc from the root is -inf.")
    m = np.arange(n + 1)
    best = np.maximum(far[0], np.maximum(np.where(m - width > 1, far[1], -np.inf), np.where(m + width < n, far[2], -np.inf)))
    for d in range(1, min(width, n - 1) + 1):
        best[1 + d :] = np.maximum(best[1 + d :], near[0, 1 : n + 1 - d, d])
        best[1 : n + 1 - d] = np.maximum(best[1 : n + 1 - d], near[1, 1 + d :, d])
    lost = [int(word) for word in np.flatnonzero(best == -np.inf) if word > 0]
    if lost:
        return Infeasible(f"no vine: all arcs into {name(lost)} are -inf.", tuple(lost))
    return Infeasible("no vine avoids the arcs of score -inf.")
