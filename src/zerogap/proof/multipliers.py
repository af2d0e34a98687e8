"""Multipliers of linear constraints in units: any of the right number and sign prove a bound, if sums with them are exact."""

from __future__ import annotations

import numpy as np

from zerogap.errors import VerificationError
from zerogap.grid import Integers
from zerogap.proof.integers import ABSENT, RANGE, units_of
from zerogap.structures.linear import LinearConstraints


def checked_multipliers(values: tuple[float, ...], rows: LinearConstraints, resolution: float, largest: int, *, times: int = 1) -> Integers:
    """The multipliers in units; VerificationError if their sign is wrong, or if they are so large that sums might leave the range.

    `largest` bounds the scores of a structure. What a structure pays is at most the sum of the magnitudes of all entries times their
    multipliers, as often as the relaxation may use one part: `times`.
    """
    if len(values) != len(rows):
        raise VerificationError(f"there are {len(values)} multipliers for {len(rows)} constraints.")
    found = [units_of(value, resolution, f"multiplier {r}") for r, value in enumerate(values)]
    for r, (multiplier, is_equation) in enumerate(zip(found, rows.is_equation.tolist(), strict=True)):
        if multiplier < 0 and not is_equation:
            raise VerificationError(f"multiplier {r} is negative: {rows.names[r]!r} is an upper limit.")
    sizes = np.zeros(len(rows))  # sums of integers, far below 2^53
    np.add.at(sizes, np.repeat(np.arange(len(rows)), np.diff(rows.row_start)), np.abs(rows.coefficients))
    used = (times * int(size) + abs(int(limit)) for size, limit in zip(sizes, rows.limits, strict=True))
    if sum(abs(multiplier) * size for multiplier, size in zip(found, used, strict=True)) + largest >= RANGE:
        raise VerificationError("the multipliers are so large that sums with them are not exact.")
    return np.array(found, dtype=np.int64)


def prices_of(multipliers: Integers, rows: LinearConstraints) -> Integers:
    """(parts,): what every part pays."""
    prices = np.zeros(rows.n_parts, dtype=np.int64)
    np.add.at(prices, rows.columns, rows.coefficients.astype(np.int64) * np.repeat(multipliers, np.diff(rows.row_start)))
    return prices


def refund(multipliers: Integers, rows: LinearConstraints) -> int:
    """u . b: what all structures get back."""
    return sum(multiplier * int(limit) for multiplier, limit in zip(multipliers.tolist(), rows.limits, strict=True))


def largest_of(terms: int, *tables: Integers) -> int:
    """A bound on the magnitude of sums of so many scores."""
    return terms * max((int(np.abs(table[table > ABSENT]).max(initial=0)) for table in tables), default=0)
