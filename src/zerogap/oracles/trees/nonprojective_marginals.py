"""Sums and maxima over all non-projective trees, for every arc, in O(n^3) and without a subtraction.

The sum over all trees of the product of their arcs' weights w[h, m] is a determinant (Tutte's matrix-tree theorem; Koo et al. 2007,
McDonald & Satta 2007, Smith & Smith 2007). Departures: no determinant is expanded. A word v is taken out of the graph, and what led through
it is added to what leads around it, as Grassmann, Taksar & Heyman (1985) eliminate the states of a Markov chain:

    in[v] = ⊕_h w[h, v]        w[h, m] ⊕= w[h, v] ⊗ w[v, m] ⊘ in[v]        total = in[v] ⊗ total of the smaller graph

and a last word m leaves total = w[0, m]. That is Gaussian elimination on the Laplacian, but nothing cancels: every number is
right to a few units in the last place, however unlikely the trees are, and in logarithms at any magnitude. It is right in the semifield of
maxima as well (zerogap.oracles.trees.semifield), where it gives exactly the best tree with every arc.

With a single root, in[v] leaves out the root: the total is then of trees of words under whichever word, times its root arc. Where no
other word can be the head of v, v must be the one under the root: other root arcs are dropped, and v takes the place of the root.

Arcs: with m last, to[v] is what v's way to the root is worth when it does not lead through m,

    to[v] = ⊕_h w[h, v] ⊗ to[h] ⊘ in[v]     to[root] = one, to[m] = zero        marginal[h, m] = w[h, m] ⊗ to[h] ⊘ their sum over h

To leave every word last once, half of the words is eliminated, then half of the other half, ...: all of it costs 8/3 of one elimination.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from zerogap.grid import Scores
from zerogap.kernels import float64, inlined, inner, int64, kernel, readonly, writable
from zerogap.oracles.push import push_max
from zerogap.oracles.trees.arc_marginals import for_all_arcs
from zerogap.oracles.trees.arc_scores import is_accepted
from zerogap.oracles.trees.semifield import add, add_logs, divide, larger, multiply, push_logs, push_sum, subtract

SMALLEST_IN, SMALLEST_TOTAL = 1e-200, 1e-180  # in numbers: what is lost below does not show above
AGREEMENT = 1e-9  # of the totals, one for every last word


@inlined
def eliminate(weights, single_root, push, plus, times, over, zero, one, smallest, agreement, marginals):  # out: marginals (n + 1, n + 1)
    """For every arc the total of the trees with it, divided (⊘) by the total of all; returns that total.

    What flows into a word is taken for zero if it is not more than `smallest`. The total is zero if it differs by more than `agreement`,
    unless that is 0, with one last word or another.
    """
    n = weights.shape[0] - 1
    depth = 2
    while 1 << (depth - 2) < n:
        depth += 1
    graphs = np.empty((depth, n + 1, n + 1))  # of the root, the words that are left, and those eliminated on this level
    place = np.empty((5, depth), dtype=np.int64)
    first, size = place[0], place[1]  # words first[level] + 1, ..., first[level] + size[level] are left
    turn = place[2]  # how many halves were left over so far
    is_rooted = place[3]  # whether the root is a head like others: with any number of roots, or after its only modifier was eliminated
    rooted = place[4]  # the position of that modifier if it was on this level
    product = np.empty(depth)  # of what flowed into the words that were eliminated
    to = np.empty((n + 1, n + 1))  # [v, m]: the worth of v's way to the root when m is last
    for h in range(n + 1):
        for m in range(n + 1):
            graphs[0, h, m] = weights[h, m]
    first[0], size[0], turn[0], is_rooted[0], product[0] = 0, n, 0, 0 if single_root else 1, one
    total, level = zero, 0
    while level >= 0:
        graph, words = graphs[level], size[level]
        if words == 1:
            m = first[level] + 1
            to[m, m] = zero
            to[0, m] = one
            last_total = times(product[level], graph[0, 1])
            if not zero < last_total < np.inf or (total > zero and 0.0 < agreement * total < abs(last_total - total)):
                return zero
            total = last_total
            level -= 1
            continue

        # ways of the words that were eliminated last time to those that were left, in reverse order
        below = graphs[level + 1]
        if turn[level] > 0:
            left, start = size[level + 1], first[level + 1] + 1
            for v in range(left + 1, words + 1):
                row = to[word_at(v, first[level], words, left, turn[level])]
                for m in range(start, start + left):
                    row[m] = zero
                for h in range(v):
                    if below[h, v] > zero:
                        push(start, start + left, row, to[word_at(h, first[level], words, left, turn[level])], below[h, v])
                if v == rooted[level + 1]:  # what was eliminated before it has no other way to the root
                    for m in range(start, start + left):
                        to[0, m] = zero
        if turn[level] == 2:
            level -= 1
            continue

        # leave the first half, then the second: the other is eliminated
        turn[level] += 1
        left = words // 2 if turn[level] == 1 else words - words // 2
        for h in range(words + 1):
            source = word_at(h, 0, words, left, turn[level])
            for m in range(1, words + 1):
                below[h, m] = graph[source, word_at(m, 0, words, left, turn[level])]
        level += 1
        first[level], size[level], turn[level] = first[level - 1] + (0 if turn[level - 1] == 1 else words - left), left, 0
        is_rooted[level], rooted[level], product[level] = is_rooted[level - 1], 0, product[level - 1]
        for v in range(words, left, -1):
            flow = zero
            for h in range(0 if is_rooted[level] else 1, v):
                flow = plus(flow, below[h, v])
            if not flow > smallest and not is_rooted[level]:  # only the root can be its head, and it becomes the root of the others
                is_rooted[level], rooted[level], flow = 1, v, below[0, v]
                for m in range(1, v):
                    below[0, m] = below[m, v] = zero
            if not flow > smallest:
                return zero
            product[level] = times(product[level], flow)
            for h in range(v):
                if below[h, v] > zero:
                    below[h, v] = over(below[h, v], flow)
                    push(1, v, below[h], below[v], below[h, v])

    sums = graphs[0, 0]
    for m in range(n + 1):
        sums[m] = marginals[m, 0] = zero
    for h in range(n + 1):
        for m in range(1, n + 1):
            marginals[h, m] = times(weights[h, m], to[h, m]) if h != m else zero
            sums[m] = plus(sums[m], marginals[h, m])
    for h in range(n + 1):
        for m in range(1, n + 1):
            marginals[h, m] = over(marginals[h, m], sums[m])
    return total


@inner
def word_at(position, first, words, left, turn):
    """What stands at a position of a graph: the root, then the words that are left, then those that are eliminated, from `first` + 1 on."""
    if position == 0:
        return 0
    if turn == 1:
        return first + position
    return first + position + (words - left if position <= left else -left)


@kernel(float64(readonly(float64, 2), int64, writable(float64, 2)))
def in_numbers(scores, single_root, marginals):  # out: marginals (n + 1, n + 1)
    """The log partition function and posteriors, -inf if they may be too small for numbers, nan if the scores are not accepted.

    The weights of the arcs into a word add up to 1, and the total is the probability that heads drawn for each word on its own form a tree.
    """
    n = scores.shape[0] - 1
    if not is_accepted(scores):
        return np.nan
    weights = np.empty((n + 1, n + 1))
    shift = 0.0
    for m in range(1, n + 1):
        most, total = -np.inf, 0.0
        for h in range(n + 1):
            if h != m:
                most = max(most, scores[h, m])
        for h in range(n + 1):
            weights[h, m] = np.exp(scores[h, m] - most) if h != m and scores[h, m] > -np.inf else 0.0
            total += weights[h, m]
        if total == 0.0:
            return -np.inf
        shift += most + np.log(total)
        for h in range(n + 1):
            weights[h, m] /= total
    total = eliminate(weights, single_root, push_sum, add, multiply, divide, 0.0, 1.0, SMALLEST_IN, AGREEMENT, marginals)
    return shift + np.log(total) if total > SMALLEST_TOTAL else -np.inf


@kernel(float64(readonly(float64, 2), int64, writable(float64, 2)))
def in_logarithms(scores, single_root, marginals):  # out: marginals (n + 1, n + 1), logarithms of posteriors
    return eliminate(scores, single_root, push_logs, add_logs, add, subtract, -np.inf, 0.0, -np.inf, 0.0, marginals)


@kernel(float64(readonly(float64, 2), int64, writable(float64, 2)))
def in_maxima(scores, single_root, marginals):  # out: marginals (n + 1, n + 1), less the score of a best tree
    if not is_accepted(scores):
        return np.nan
    return eliminate(scores, single_root, push_max, larger, add, subtract, -np.inf, 0.0, -np.inf, 0.0, marginals)


def nonprojective_marginals(scores: Scores, single_root: int, marginals: Scores) -> float:  # out: marginals (n + 1, n + 1)
    """The log of the sum of exp(score) over all trees, and the probability of every arc among them.

    Scores are as kernels take them. -inf if there is no tree, and then marginals are 0; nan if the scores are not accepted.
    """
    if len(scores) < 2:
        marginals[:] = 0.0
        return 0.0
    total = in_numbers(scores, single_root, marginals)
    if total == -np.inf:
        total = in_logarithms(scores, single_root, marginals)
        if total == -np.inf:
            marginals[:] = 0.0
        else:
            np.exp(marginals, out=marginals)
    return total


def nonprojective_max_marginals(scores: Scores, single_root: int, marginals: Scores) -> float:  # out: marginals (n + 1, n + 1)
    """The score of a best tree, and for every arc that of a best one that uses it: exactly, if the scores lie on a grid.

    Scores are as kernels take them. -inf if there is none; nan if the scores are not accepted.
    """
    if len(scores) < 2:
        marginals[:] = -np.inf
        return 0.0
    best = in_maxima(scores, single_root, marginals)
    if best == -np.inf:
        marginals[:] = -np.inf
    else:
        marginals += best
    return best


def tree_posteriors(scores: Any, *, single_root: bool = True) -> tuple[float, Scores]:
    """The log partition function of trees under scores[h, m] (n + 1, n + 1), and the probability of every arc.

    A tree has probability exp(score) / partition function. Column 0 and the diagonal are ignored, -inf forbids an arc. Raises
    Infeasible if no tree is left.

    >>> log_partition, posteriors = tree_posteriors([[0, 1, 1], [0, 0, 0], [0, 0, 0]])
    >>> posteriors.tolist()  # 0 -> 1 -> 2 and 0 -> 2 -> 1
    [[0.0, 0.5, 0.5], [0.0, 0.0, 0.5], [0.0, 0.5, 0.0]]
    """
    return for_all_arcs(nonprojective_marginals, scores, projective=False, single_root=single_root)


def best_tree_scores(scores: Any, *, single_root: bool = True) -> tuple[float, Scores]:
    """The score of a best tree, and for every arc the score of a best one that uses it (its max-marginal), -inf where none does.

    Scores and errors are as those of `tree_posteriors`. All is exact if the scores lie on a grid.

    >>> best_tree_scores([[0, 1, 9], [0, 0, 2], [0, 5, 0]])[1].tolist()
    [[-inf, 3.0, 14.0], [-inf, -inf, 3.0], [-inf, 14.0, -inf]]
    """
    return for_all_arcs(nonprojective_max_marginals, scores, projective=False, single_root=single_root)
