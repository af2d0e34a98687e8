"""The factors of a problem as arrays: those of one arc are added to the arc, equal ones are one, and what no tree can have is left out.

No tree has two arcs from a single root, a cycle, or arcs that cross where that is not wanted.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zerogap.dependency.factor_arrays import FactorArrays
from zerogap.dependency.problem import Problem
from zerogap.grid import Scores, unit_of
from zerogap.oracles.factor_lists import group_pairs

Integers = NDArray[np.int64]
Allowed = NDArray[np.bool_]


class Factors(NamedTuple):
    """The factors of a problem that trees may have, as arrays; those of one arc are added to the arcs.

    Those of two arcs into words m < s are begin[m * (n + 1) + s] and following, heads[i] are the heads of both. Larger ones, equal ones as
    one, have the arcs arc[start[c] : start[c + 1]] as numbers h * (n + 1) + m, by their words. `place_of_two` and `place_of_larger` are
    where they stand in the problem.
    """

    arcs: Scores
    begin: Integers
    heads: Integers
    scores: Scores
    place_of_two: Integers
    start: Integers
    arc: Integers
    phi: Scores
    place_of_larger: Integers
    grain: float  # divides the score of every tree


def listed_factors(problem: Problem) -> tuple[Scores, Integers, Integers]:
    """Their scores, where the arcs of each begin, and all arcs as numbers."""
    given, size = problem.factors, problem.n_words + 1
    if isinstance(given, FactorArrays):
        return given.scores, given.start, given.arcs
    count = len(given)
    sizes = np.fromiter((len(factor.arcs) for factor in given), dtype=np.int64, count=count)
    scores = np.fromiter((factor.score for factor in given), dtype=np.float64, count=count)
    each = itertools.chain.from_iterable(factor.arcs for factor in given)
    arcs = np.fromiter((h * size + m for h, m in each), dtype=np.int64, count=int(sizes.sum()))
    return scores, np.concatenate([[0], np.cumsum(sizes)]), arcs


def possible_factors(problem: Problem, arcs: Scores) -> Factors:
    """The factors of a problem under `arcs` that hold the best labels."""
    size, arcs = len(arcs), arcs.copy()
    scores, begin, numbers = listed_factors(problem)
    counts = np.diff(begin)
    single = np.flatnonzero(counts == 1)
    np.add.at(arcs.reshape(-1), numbers[begin[single]], scores[single])
    left = arcs > -np.inf
    room = int(np.count_nonzero(counts == 2))
    begin_of_pair, heads = np.empty(size * size + 1, dtype=np.int64), np.empty((room, 2), dtype=np.int64)
    of_two, place = np.empty(room), np.empty(room, dtype=np.int64)
    kinds = (1 if problem.projective else 0, 1 if problem.single_root else 0)
    two = int(group_pairs(begin, numbers, scores, left, *kinds, begin_of_pair, heads, of_two, place))

    start, arc, phi, place_of_larger = larger_factors(problem, scores, begin, numbers, left)

    grain = problem.resolution
    if not problem.parts and not problem.automata:
        grain = unit_of(grain, problem.arcs, problem.labels, scores)
    return Factors(arcs, begin_of_pair, heads[:two], of_two[:two], place[:two], start, arc, phi, place_of_larger, grain)


def larger_factors(
    problem: Problem, scores: Scores, begin: Integers, numbers: Integers, left: Allowed
) -> tuple[Integers, Integers, Scores, Integers]:
    """Those of more than two arcs that trees of these arcs may have, equal ones as one: where they begin, arcs, scores, places."""
    size, counts = len(left), np.diff(begin)
    places, sums, sets = [np.zeros(0, dtype=np.int64)], [np.zeros(0)], list[Integers]()
    for width in np.unique(counts).tolist():
        if width <= 2:
            continue
        some = np.flatnonzero(counts == width)
        rows = numbers[begin[some][:, None] + np.arange(width)]  # (factors, arcs)
        rows = np.take_along_axis(rows, np.argsort(rows % size, axis=1, kind="stable"), axis=1)
        can = left.reshape(-1)[rows].all(axis=1) & can_all_hold(rows // size, rows % size, problem)
        rows, some = rows[can], some[can]
        order = np.lexsort(rows.T[::-1])
        fresh = np.ones(len(rows), dtype=np.bool_)
        fresh[1:] = (rows[order][1:] != rows[order][:-1]).any(axis=1)
        total = np.add.reduceat(scores[some[order]], np.flatnonzero(fresh)) if len(rows) else np.zeros(0)
        first = order[fresh][total != 0.0]  # sorting is stable
        places.append(some[first])
        sums.append(total[total != 0.0])
        sets.append(rows[first])
    place, phi = np.concatenate(places), np.concatenate(sums)
    sizes = np.repeat([rows.shape[1] for rows in sets], [len(rows) for rows in sets]).astype(np.int64)
    flat = np.concatenate([np.zeros(0, dtype=np.int64), *(rows.reshape(-1) for rows in sets)])
    order = np.argsort(place)
    start = np.concatenate([[0], np.cumsum(sizes[order])])
    at = np.repeat((np.cumsum(sizes) - sizes)[order] - start[:-1], sizes[order]) + np.arange(len(flat))
    return start, flat[at], phi[order], place[order]


def can_be_together(h: Integers, m: Integers, k: Integers, s: Integers, problem: Problem) -> Allowed:
    """Whether a tree may have both arcs h -> m and k -> s."""
    never = (h == s) & (k == m)
    if problem.single_root:
        never |= (h == 0) & (k == 0)
    if problem.projective:
        low, high, below, above = np.minimum(h, m), np.maximum(h, m), np.minimum(k, s), np.maximum(k, s)
        never |= ((low < below) & (below < high) & (high < above)) | ((below < low) & (low < above) & (above < high))
    return ~never


def can_all_hold(h: Integers, m: Integers, problem: Problem) -> Allowed:
    """Whether a tree may have all the arcs of a row, (factors, arcs)."""
    possible = np.ones(len(h), dtype=np.bool_)
    for a, b in itertools.combinations(range(h.shape[1]), 2):
        possible &= can_be_together(h[:, a], m[:, a], h[:, b], m[:, b], problem)
    above = m.copy()  # where one gets to from each word
    for _ in range(h.shape[1]):
        goes_on = above[:, :, None] == m[:, None, :]
        above = np.where(goes_on.any(axis=2), np.take_along_axis(h, goes_on.argmax(axis=2), axis=1), above)
        possible &= ~(above == m).any(axis=1)
    return possible
