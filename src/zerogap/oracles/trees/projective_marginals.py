"""Sums and maxima over all projective trees, for every arc: inside and outside over Eisner's items, in O(n^3).

    open_right[i, j] = join[i, j] ⊗ w[i, j]      join[i, j]  = ⊕_{i <= r < j} right[i, r] ⊗ left[r + 1, j]
    open_left[i, j]  = join[i, j] ⊗ w[j, i]      right[i, j] = ⊕_{i < m <= j} open_right[i, m] ⊗ right[m, j]
                                                 left[i, j]  = ⊕_{i <= m < j} left[i, m] ⊗ open_left[m, j]

Every tree has one derivation, so what is said of derivations is true of trees. The items are those of
zerogap.oracles.trees.eisner, also filled row by row; the outside of an item is what the rest of the trees that use it is worth
(Rush 2014, section 2.2.2, algorithm 4; Paskin 2001), and is pushed down from the root. Charts that are read by their second
index are kept transposed as well, so that all of it runs along contiguous rows.

In numbers, w[h, m] = exp(scores[h, m] - max_h scores[h, m]), and no tree is worth more than 1. What underflows then is lost: at
most 2^-1022 times what surrounds it, which is at most the number of trees, (27/4)^n. Only if that could show in a posterior
is everything done again in logarithms. So posteriors are right to about 1e-15, absolutely.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from zerogap.grid import Scores
from zerogap.kernels import float64, inlined, int64, kernel, readonly, writable
from zerogap.oracles.push import push_max
from zerogap.oracles.trees.arc_marginals import for_all_arcs
from zerogap.oracles.trees.arc_scores import is_accepted
from zerogap.oracles.trees.semifield import add, add_logs, divide, larger, multiply, push_logs, push_sum, subtract

GROWTH = np.log(27 / 4)  # there are at most e^(GROWTH n) projective trees of n words
LARGEST, SMALLEST = 600.0, -700.0  # logarithms of what double precision holds, with room
UNSEEN = -50.0  # e^-50 does not show beside 1


@inlined
def fill(array, value):  # out: array
    flat = array.reshape(-1)
    for k in range(flat.size):
        flat[k] = value


@inlined
def inside_outside(weights, single_root, push, plus, times, over, zero, one, marginals):  # out: marginals (n + 1, n + 1)
    """The total of all trees, and for every arc the total of those that use it, divided by it (⊘)."""
    n = weights.shape[0] - 1
    charts = np.empty((13, n + 2, n + 1))
    fill(charts, zero)
    right, left, open_right, open_left, join = charts[0], charts[1], charts[2], charts[3], charts[0, n + 1]
    right_by_end, left_by_end, open_left_by_end = charts[4], charts[5], charts[6]  # [j, i] is the item from i to j
    first = 1 if single_root else 0
    for i in range(n, first - 1, -1):
        right[i, i] = left[i, i] = right_by_end[i, i] = left_by_end[i, i] = one
        for j in range(i + 1, n + 1):
            join[j] = left[i + 1, j]
        for p in range(i + 1, n + 1):
            open_right_p = open_right[i, p] = times(join[p], weights[i, p])
            open_left_p = open_left[i, p] = open_left_by_end[p, i] = times(join[p], weights[p, i])
            right_p = right[i, p] = right_by_end[p, i] = plus(right[i, p], open_right_p)
            left_p = left[i, p] = left_by_end[p, i] = plus(left[i, p], open_left_p)
            push(p + 1, n + 1, join, left[p + 1], right_p, right[i], right[p], open_right_p, left[i], open_left[p], left_p)

    # Outsides. Those of right, left and open_left come in two parts: from items that begin where they do, and from
    # items that end where they do.
    right_outside, left_outside, open_right_outside = charts[7], charts[8], charts[9]
    right_outside_by_end, left_outside_by_end, open_left_outside_by_end = charts[10], charts[11], charts[12]
    fill(marginals, zero)
    total = right[0, n]
    if single_root:
        total = zero
        for m in range(1, n + 1):
            total = plus(total, times(times(left[1, m], weights[0, m]), right[m, n]))
    if total == zero:
        return total
    if single_root:
        for m in range(1, n + 1):
            root_arc = over(weights[0, m], total)
            left_outside[1, m] = times(root_arc, right[m, n])
            right_outside_by_end[n, m] = times(root_arc, left[1, m])
            marginals[0, m] = times(left_outside[1, m], left[1, m])
    else:
        right_outside[0, n] = over(one, total)
    for i in range(first, n + 1):
        for j in range(n, i, -1):
            outside = plus(right_outside[i, j], right_outside_by_end[j, i])
            push(i + 1, j + 1, open_right_outside[i], right_by_end[j], outside, right_outside_by_end[j], open_right[i], outside)
            outside = plus(left_outside[i, j], left_outside_by_end[j, i])
            push(i, j, left_outside[i], open_left_by_end[j], outside, open_left_outside_by_end[j], left[i], outside)
            marginals[i, j] = times(open_right_outside[i, j], open_right[i, j])
            marginals[j, i] = times(open_left_outside_by_end[j, i], open_left[i, j])
            outside = plus(times(open_right_outside[i, j], weights[i, j]), times(open_left_outside_by_end[j, i], weights[j, i]))
            push(i, j, right_outside[i], left_by_end[j, 1:], outside, left_outside_by_end[j, 1:], right[i], outside)
    return total


@kernel(float64(readonly(float64, 2), int64, writable(float64, 2)))
def in_numbers(scores, single_root, marginals):  # out: marginals (n + 1, n + 1)
    """The log partition function and posteriors, -inf if they may be too small for numbers, nan if the scores are not accepted."""
    n = scores.shape[0] - 1
    if not is_accepted(scores):
        return np.nan
    damping = max(0.0, GROWTH - LARGEST / n)  # of every arc, so that nothing overflows
    weights = np.empty((n + 1, n + 1))
    fill(weights, 0.0)
    shift = 0.0
    for m in range(1, n + 1):
        most = -np.inf
        for h in range(n + 1):
            if h != m:
                most = max(most, scores[h, m])
        shift += most + damping
        for h in range(n + 1):
            if h != m and scores[h, m] > -np.inf:
                weights[h, m] = np.exp(scores[h, m] - most - damping)
    total = inside_outside(weights, single_root, push_sum, add, multiply, divide, 0.0, 1.0, marginals)
    return shift + np.log(total) if total >= np.exp(SMALLEST - UNSEEN + (GROWTH - damping) * n) else -np.inf


@kernel(float64(readonly(float64, 2), int64, writable(float64, 2)))
def in_logarithms(scores, single_root, marginals):  # out: marginals (n + 1, n + 1), logarithms of posteriors
    return inside_outside(scores, single_root, push_logs, add_logs, add, subtract, -np.inf, 0.0, marginals)


@kernel(float64(readonly(float64, 2), int64, writable(float64, 2)))
def in_maxima(scores, single_root, marginals):  # out: marginals (n + 1, n + 1), less the score of a best tree
    if not is_accepted(scores):
        return np.nan
    return inside_outside(scores, single_root, push_max, larger, add, subtract, -np.inf, 0.0, marginals)


def projective_marginals(scores: Scores, single_root: int, marginals: Scores) -> float:  # out: marginals (n + 1, n + 1)
    """The log of the sum of exp(score) over all projective trees, and the probability of every arc among them.

    Scores are as kernels take them. -inf if there is no tree, and then marginals are 0; nan if the scores are not accepted.
    """
    if len(scores) < 2:
        marginals[:] = 0.0
        return 0.0
    total = in_numbers(scores, single_root, marginals)
    if total == -np.inf:
        total = in_logarithms(scores, single_root, marginals)
        np.exp(marginals, out=marginals)
    return total


def projective_max_marginals(scores: Scores, single_root: int, marginals: Scores) -> float:  # out: marginals (n + 1, n + 1)
    """The score of a best projective tree, and for every arc that of a best one that uses it: exactly, if the scores lie on a grid.

    Scores are as kernels take them. -inf if there is none; nan if the scores are not accepted.
    """
    if len(scores) < 2:
        marginals[:] = -np.inf
        return 0.0
    best = in_maxima(scores, single_root, marginals)
    if best > -np.inf:
        marginals += best
    return best


def projective_posteriors(scores: Any, *, single_root: bool = True) -> tuple[float, Scores]:
    """The log partition function of projective trees under scores[h, m] (n + 1, n + 1), and the probability of every arc.

    A tree has probability exp(score) / partition function. Column 0 and the diagonal are ignored, -inf forbids an arc. Raises
    Infeasible if no projective tree is left.

    >>> log_partition, posteriors = projective_posteriors([[0, 1, 1], [0, 0, 0], [0, 0, 0]])
    >>> posteriors.tolist()  # 0 -> 1 -> 2 and 0 -> 2 -> 1
    [[0.0, 0.5, 0.5], [0.0, 0.0, 0.5], [0.0, 0.5, 0.0]]
    """
    return for_all_arcs(projective_marginals, scores, projective=True, single_root=single_root)


def best_projective_scores(scores: Any, *, single_root: bool = True) -> tuple[float, Scores]:
    """The score of a best projective tree, and for every arc the score of a best one that uses it (its max-marginal), -inf where none does.

    Scores and errors are as those of `projective_posteriors`. All is exact if the scores lie on a grid.

    >>> best_projective_scores([[0, 1, 9], [0, 0, 2], [0, 5, 0]])[1].tolist()
    [[-inf, 3.0, 14.0], [-inf, -inf, 3.0], [-inf, 14.0, -inf]]
    """
    return for_all_arcs(projective_max_marginals, scores, projective=True, single_root=single_root)
