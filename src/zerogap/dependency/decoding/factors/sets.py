"""The factors of a problem as arrays: those of one arc are added to the arc, equal ones are one, and what no tree can have is left out.

No tree has two arcs from a single root, a cycle, or arcs that cross where that is not wanted.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zerogap.grid import Scores, unit_of
from zerogap.oracles.factors.lists import sort_out
from zerogap.problems.dependency.factor import FactorArrays
from zerogap.problems.dependency.problem import Problem

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
    some_forbidden: bool  # whether a factor scores -inf


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
    arcs = arcs.copy()
    scores, begin, numbers = listed_factors(problem)
    kinds = (1 if problem.projective else 0, 1 if problem.single_root else 0)
    of_pair, heads, of_two, place_of_two, start, arc, phi, place_of_larger = sort_out(begin, numbers, scores, *kinds, arcs)
    grain = problem.resolution
    if not problem.parts and not problem.automata:
        grain = unit_of(grain, problem.arcs, problem.labels, scores)
    forbidden = bool(scores.min(initial=0.0) == -np.inf)
    return Factors(arcs, of_pair, heads, of_two, place_of_two, start, arc, phi, place_of_larger, grain, forbidden)
