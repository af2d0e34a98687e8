"""Numbers of a certificate as integers, in units of the problem's resolution: what checkers add is never rounded.

A sum in units is a Python integer, or the float -inf where nothing is possible; Python adds and compares the two exactly.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from zerogap.errors import VerificationError
from zerogap.grid import MANTISSA_BITS
from zerogap.problems.dependency.problem import Problem

Units = int | float  # an integer, or -inf


def check_exact(values: Iterable[float], problem: Problem) -> None:
    """Raises VerificationError unless float64 sums of the values and of the scores of up to `problem.terms` parts are exact.

    The values must be finite multiples of the resolution; with the scores they must stay below 2^53 units.
    """
    limit = 2**MANTISSA_BITS
    total = math.ceil(problem.terms * (problem.largest / problem.resolution))
    for k, value in enumerate(values):
        total += abs(units_of(value, problem.resolution, f"values[{k}]"))
    if total >= limit:
        raise VerificationError("the values are so large that their sums are not exact.")


def units_of(value: float, resolution: float, name: str) -> int:
    """A finite multiple of the resolution as an integer; VerificationError if it is something else."""
    if type(value) is not float and type(value) is not int:
        raise VerificationError(f"{name} is {value!r}: expected a number.")
    if not abs(value) < math.inf:  # nan fails, too
        raise VerificationError(f"{name} is {value!r}: expected a finite number.")
    if abs(value) >= math.ldexp(resolution, MANTISSA_BITS):
        raise VerificationError(f"{name} is {value!r}: so large that sums with it are not exact at the resolution {resolution!r}.")
    if math.fmod(value, resolution) != 0:
        raise VerificationError(f"{name} is {value!r}: expected a multiple of the problem's resolution {resolution!r}.")
    return int(value / resolution)


def in_units(value: float, resolution: float) -> Units:
    """A sum that float64 holds exactly, in units; -inf stays."""
    return int(value / resolution) if value > -math.inf else -math.inf


def from_units(total: Units, resolution: float) -> float:
    """A sum as a float; VerificationError if float64 does not hold it exactly."""
    if total == -math.inf:
        return -math.inf
    if abs(total) >= 2**MANTISSA_BITS:
        raise VerificationError("the bound is so large that float64 does not hold it exactly.")
    return float(total) * resolution
