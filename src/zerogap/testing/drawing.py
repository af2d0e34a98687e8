"""Drawing shared by all tasks: scores that tie and scores that break solvers, and a method as it is tried."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from zerogap.grid import Scores

Random = np.random.Generator
MOST_PARSES = 1000  # that are enumerated


@dataclass(frozen=True, slots=True)
class Method:
    """A way to decode: `exact` ones prove their answer, but for a share of it; `rare` ones are slow and are tried now and then."""

    decode: Callable[[Any], Any]
    exact: bool = True
    rare: bool = False
    within: float = 0.0  # of the answer, or of 1: integer programs are solved in floating point, and the bound says so


OF_HIGHS = 1e-6  # its tolerance


def palette(rng: Random) -> Callable[..., Scores]:
    """A way to draw arrays of scores, the same for all of a problem."""
    which = rng.random()
    holes = (0.0, 0.0, 0.1, 0.3, 0.8)[rng.integers(5)]

    def scores(*shape: int) -> Scores:
        table = rng.integers(-3, 4, shape).astype(np.float64)
        if which > 0.6:
            table = hard_numbers(rng, table, which)
        return np.where(rng.random(shape) < holes, -np.inf, table) if holes else table

    return scores


def hard_numbers(rng: Random, table: Scores, which: float) -> Scores:
    if which < 0.68:
        return np.zeros(table.shape)  # ties everywhere
    if which < 0.75:
        return table + rng.integers(-2, 3, table.shape) * 1e-12  # near-ties
    if which < 0.82:
        return rng.standard_normal(table.shape)
    if which < 0.86:
        return table * 1e300
    if which < 0.90:
        return table * 5e-324  # denormals
    if which < 0.95:
        return table * 10.0 ** rng.integers(-12, 13, table.shape)  # of all magnitudes
    return np.where(rng.random(table.shape) < 0.2, table * 1e15, table * 0.1)
