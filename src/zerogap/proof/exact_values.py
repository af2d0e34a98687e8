"""Whether sums of the numbers of a certificate are exact."""

from __future__ import annotations

import math

from zerogap.dependency.problem import Problem
from zerogap.errors import VerificationError
from zerogap.grid import MANTISSA_BITS


def check_exact(values: tuple[float, ...], problem: Problem) -> None:
    """Sums of the values are exact: multiples of the problem's resolution, together below 2^53 of it."""
    for k, value in enumerate(values):
        if not math.isfinite(value):
            raise VerificationError(f"values[{k}] is {value!r}: expected a finite number.")
        if math.fmod(value, problem.resolution) != 0:
            raise VerificationError(f"values[{k}] is {value!r}: expected a multiple of the problem's resolution {problem.resolution!r}.")
    if math.fsum(map(abs, values)) >= math.ldexp(problem.resolution, MANTISSA_BITS):
        raise VerificationError("the values are so large that their sums are not exact.")
