"""Step rules of the subgradient method (Rush 2014, appendix A.2).

A rule turns what has happened so far into the next step size. Sizes are proposals: the caller rounds them to the grid
of exact numbers, on which every multiplier of the right sign gives a valid bound. Kernels have rules of their own (oracles.descent); the
constants of all of them are here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from zerogap.errors import InputError, UnknownMethod
from zerogap.oracles.descent import SCALED, Steps


@dataclass(frozen=True, slots=True)
class Progress:
    """What a step rule may look at."""

    iteration: int  # 1 at the first step
    increases: int  # how often the dual went up
    failures: int  # how often it did not go down
    stalled: int  # iterations since the best bound improved
    bound: float  # the dual at the current multipliers
    target: float  # the best score known, or what the dual should fall below
    squared_norm: float  # of the subgradient


def constant(scale: float, progress: Progress) -> float:
    return scale


def harmonic(scale: float, progress: Progress) -> float:
    """c / k."""
    return scale / progress.iteration


def increases(scale: float, progress: Progress) -> float:
    """c / (t + 1), where t counts how often the dual did not fall: it shrinks only when the dual moved the wrong way.

    The thesis counts increases alone. Then steps between two points of the same value never shrink, and the method does
    not converge.
    """
    return scale / (progress.failures + 1)


def halving(scale: float, progress: Progress) -> float:
    """Half as long after every increase of the dual."""
    return scale * 0.5 ** min(progress.increases, 1000)


def polyak(scale: float, progress: Progress) -> float:
    """(L(u) - best score) / |subgradient|^2, shorter the longer the best bound has stalled; c scales it."""
    return scale * (progress.bound - progress.target) / progress.squared_norm * 0.5 ** (progress.stalled // 8)


StepRule = Callable[[float, Progress], float]

STEP_RULES: dict[str, StepRule] = {
    "constant": constant,
    "harmonic": harmonic,
    "increases": increases,
    "halving": halving,
    "polyak": polyak,
}


def step_rule(name: str) -> StepRule:
    if not isinstance(name, str) or name not in STEP_RULES:
        raise UnknownMethod("step rule", name, STEP_RULES)
    return STEP_RULES[name]


def check_steps(step: str, scale: float | None) -> None:
    """A rule that exists, and a scale that can scale."""
    step_rule(step)
    if scale is not None and not (isinstance(scale, int | float) and 0.0 < scale < float("inf")):
        raise InputError(f"scale is {scale!r}: expected a positive number.")


# How far descents go, by relaxation. At the nodes of a search, prices begin where those of the parent ended.
ONCE = Steps(1.0, 0.0, 1)  # the dual at the prices that are given
HEADS_AT_ROOT, HEADS_AT_NODE = Steps(1.5, 0.05, 5000), Steps(1.5, 0.1, 60)  # the first as in the thesis, section 6.7
HEADS_ALONE = Steps(1.5, 0.0, 5000, SCALED)  # without branching
HEADS_IN_TRAINING = Steps(1.0, 0.1, 200)  # a good tree is enough
FACTORS_AT_ROOT, FACTORS_AT_NODE = Steps(1.0, 0.06, 150), Steps(1.0, 0.25, 40)
