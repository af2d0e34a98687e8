"""Multipliers for the source words of a sentence: which of them to pay for being translated, which to charge (Rush 2014, section 7.5).

    L(u) = sum_i u_i + max over paths of the relaxed lattice of (score - sum_i u_i * how often word i is translated)

Every L(u) is an upper bound. The first multipliers make each phrase of a known translation worth nothing; steps are Polyak's, towards the
score of the best known translation, shorter whenever the bound stalls. All multipliers lie on the problem's grid.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zerogap.grid import MANTISSA_BITS, Scores
from zerogap.problems.translation.phrases import Derivation, PhraseProblem

STALLED, SHORTER = 4, 0.7  # after so many steps without progress, steps are so much shorter
PROGRESS = 1e-3  # of the gap: what a lower bound must gain to count
SHORTEST = 0.05  # of Polyak's step: with shorter ones, nothing more is expected
RENEWED = 0.7  # where other paths are left
FORGET = 0.95  # of violations, per step

Integers = NDArray[np.int64]
Evaluate = Callable[[Scores], tuple[float, Integers]]  # prices of the options -> score of a best path, its options


@dataclass(slots=True, eq=False)
class Descent:
    """Where the steps have led: the multipliers that come next, the best ones with their bound, and how long steps are."""

    current: Scores
    best: Scores
    violations: Scores  # how often each word was not translated exactly once, recent steps first of all
    bound: float = math.inf
    scale: float = 1.0
    stalled: int = 0

    @property
    def is_over(self) -> bool:
        """Nothing more is to be expected from such short steps."""
        return self.scale < SHORTEST


def begin(multipliers: Scores) -> Descent:
    return Descent(multipliers, multipliers, np.zeros(len(multipliers)))


def again(descent: Descent) -> Descent:
    """From the best multipliers, for another set of paths."""
    return Descent(descent.best, descent.best, descent.violations, scale=RENEWED)


def first_multipliers(problem: PhraseProblem, derivation: Derivation) -> Scores:
    """What each phrase of a translation contributes, shared equally among its source words."""
    model, at, values = problem.language_model, 0, np.zeros(len(problem))
    state = model.start
    for start, end, target in derivation:
        p = problem.phrase(start, end, target)
        value = float(problem.scores[p]) - problem.distortion * abs(start - at)
        for word in problem.target_ids[problem.target_start[p] : problem.target_start[p + 1]].tolist():
            score, state = model.step(state, word)
            value += score
        values[start:end] = value / (end - start)
        at = end
    return on_grid(problem, values)


def on_grid(problem: PhraseProblem, values: Scores) -> Scores:
    """Rounded, and limited to where sums over a path stay exact."""
    room = math.ldexp(problem.resolution, MANTISSA_BITS - 3) / (len(problem) + 1) ** 2
    return np.rint(np.clip(values, -room, room) / problem.resolution) * problem.resolution + 0.0


def prices(multipliers: Scores, starts: Integers, ends: Integers) -> Scores:
    """What options receive for the words that they translate."""
    sums = np.concatenate([[0.0], np.cumsum(multipliers)])
    received: Scores = sums[starts] - sums[ends]
    return received


def excess(path: Integers, starts: Integers, ends: Integers, n: int) -> Scores:
    """How often each word is translated, less 1."""
    change = np.bincount(starts[path], minlength=n + 1) - np.bincount(ends[path], minlength=n + 1)
    return np.cumsum(change)[:n] - 1.0


def descend(
    descent: Descent,
    problem: PhraseProblem,
    evaluate: Evaluate,
    starts: Integers,
    ends: Integers,
    *,
    score: float,
    iterations: int,
    out_of_time: Callable[[], bool],
) -> Integers | None:
    """Subgradient steps until the bound is the score, or steps are too short, or limits are reached.

    Returns the options of a path that translates every word once, if one is met: it is the end.
    """
    n = len(problem)
    for _ in range(iterations):
        value, path = evaluate(prices(descent.current, starts, ends))
        here = value + float(descent.current.sum())
        descent.stalled += 1
        if here < descent.bound:
            if here < descent.bound - PROGRESS * (descent.bound - score):
                descent.stalled = 0
            descent.bound, descent.best = here, descent.current
        if here <= score:
            return None
        direction = excess(path, starts, ends, n)
        descent.violations *= FORGET
        descent.violations += np.abs(direction)
        norm = float(direction @ direction)
        if norm == 0.0:
            return path
        if descent.stalled >= STALLED:
            descent.stalled, descent.scale = 0, descent.scale * SHORTER
        if descent.is_over or score == -math.inf or out_of_time():
            return None
        size = max(descent.scale * (here - score) / norm, problem.resolution)
        descent.current = on_grid(problem, descent.current + size * direction)
    return None
