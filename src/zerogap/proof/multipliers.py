"""Checks that multipliers are of the right number, sign and size: any such multipliers prove a bound."""

from __future__ import annotations

import math

import numpy as np

from zerogap.errors import VerificationError
from zerogap.grid import MANTISSA_BITS, Scores
from zerogap.structures.linear import LinearConstraints


def checked_multipliers(values: tuple[float, ...], rows: LinearConstraints, resolution: float, terms: int, scores: Scores) -> Scores:
    """The multipliers as an array; VerificationError if sums with them would not be exact or their sign is wrong."""
    multipliers = np.array(values, dtype=np.float64)
    if multipliers.shape != (len(rows),):
        raise VerificationError(f"there are {len(values)} multipliers for {len(rows)} constraints.")
    if not np.isfinite(multipliers).all():
        raise VerificationError(f"multiplier {int(np.flatnonzero(~np.isfinite(multipliers))[0])} is not finite.")
    if (np.rint(multipliers / resolution) * resolution != multipliers).any():
        raise VerificationError(f"a multiplier is not a multiple of the problem's resolution {resolution!r}.")
    wrong = np.flatnonzero(~rows.is_equation & (multipliers < 0.0))
    if wrong.size:
        raise VerificationError(f"multiplier {int(wrong[0])} is negative: {rows.names[int(wrong[0])]!r} is an upper limit.")
    finite = np.abs(scores[np.isfinite(scores)])
    prices = np.bincount(rows.columns, weights=np.abs(rows.coefficients * np.repeat(multipliers, np.diff(rows.row_start))), minlength=1)
    largest = terms * (float(finite.max(initial=0.0)) + float(prices.max(initial=0.0))) + float(np.abs(multipliers * rows.limits).sum())
    if largest > math.ldexp(resolution, MANTISSA_BITS):
        raise VerificationError("the multipliers are so large that sums with them are not exact.")
    return multipliers
