"""Scores as integers: checkers convert what they are given once, to units of the problem's resolution, and never add floats again.

A number is a Python integer, or an int64 below RANGE in magnitude; ABSENT stands for what is forbidden. Sums of two such numbers fit in
int64, and a sum with something absent is below LEAST: `settled` makes it absent again. So every addition of two arrays is followed by
`settled` before the next one, and nothing is ever rounded.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from zerogap.errors import VerificationError
from zerogap.grid import MANTISSA_BITS, Integers, Scores

RANGE = 1 << 57  # no sum of scores and prices that a checker forms is as large
LEAST = -(1 << 60)
ABSENT = -(1 << 62)
Units = int | float  # a Python integer, or the float -inf: Python adds and compares the two exactly


def units(scores: Scores, resolution: float) -> Integers:
    """An array of scores in units; -inf is absent. The scores of a problem are multiples of its resolution below 2^53 of it."""
    finite = scores > -np.inf
    quotient = np.where(finite, scores, 0.0) / resolution  # by a power of two: exact
    whole = quotient.astype(np.int64)
    if not ((whole == quotient).all() and (np.abs(quotient) < 2.0**MANTISSA_BITS).all()):
        raise VerificationError(f"a score is no multiple of the resolution {resolution!r}, or too large for it.")
    return np.where(finite, whole, ABSENT)


def units_of(value: Any, resolution: float, name: str) -> int:
    """A number of a certificate in units; VerificationError unless it is a finite multiple of the resolution, below 2^53 of it."""
    if type(value) is not float and type(value) is not int:
        raise VerificationError(f"{name} is {value!r}: expected a number.")
    if not abs(value) < math.ldexp(resolution, MANTISSA_BITS):  # infinities and nan fail, too
        raise VerificationError(f"{name} is {value!r}: so large that sums with it are not exact at the resolution {resolution!r}.")
    if math.fmod(value, resolution) != 0:
        raise VerificationError(f"{name} is {value!r}: expected a multiple of the problem's resolution {resolution!r}.")
    return int(value / resolution)


def bound_units(bound: float, resolution: float) -> Units:
    """A claimed bound in units; infinities stay. Between two multiples it is as strong as the lower one, as no structure scores between."""
    quotient = bound / resolution  # by a power of two: exact, unless it leaves the range of float64
    if quotient * resolution != bound:
        raise VerificationError(f"the bound is {bound!r}: expected one of the size of the resolution {resolution!r}.")
    return quotient if math.isinf(quotient) else math.floor(quotient)


def units_of_all(values: Iterable[Any], resolution: float, name: str, *, beside: int) -> list[int]:
    """Numbers of a certificate in units. VerificationError if the sum of their magnitudes, and `beside`, may leave the range."""
    found = [units_of(value, resolution, f"{name}[{i}]") for i, value in enumerate(values)]
    if sum(map(abs, found)) + beside >= RANGE:
        raise VerificationError(f"{name} are so large that sums with them are not exact.")
    return found


def settled(sums: Any) -> Any:
    """A sum of two numbers, absent if one of them is."""
    return np.where(sums < LEAST, ABSENT, sums)


def plus(left: Any, right: Any) -> Any:
    return settled(left + right)


def number(value: Any) -> Units:
    """A number of an array as a Python integer, or -inf if it is absent."""
    return int(value) if value >= LEAST else -math.inf


def as_float(total: Units, resolution: float) -> float:
    """A number of units as a score; VerificationError if float64 does not hold it exactly."""
    if math.isinf(total):
        return total
    if abs(total) > 2**MANTISSA_BITS:
        raise VerificationError("the bound is so large that float64 does not hold it exactly.")
    return float(total) * resolution


def best_of(lists: Integers, k: int) -> Integers:
    """The k highest along the last axis, the highest first; absent where there are no more."""
    if k == 1:
        return lists.max(axis=-1, keepdims=True, initial=ABSENT)
    if lists.shape[-1] > k:
        lists = np.partition(lists, -k, axis=-1)[..., -k:]
    missing = np.full((*lists.shape[:-1], k - lists.shape[-1]), ABSENT)
    return np.concatenate([np.sort(lists, axis=-1)[..., ::-1], missing], axis=-1)


def sums(left: Integers, right: Integers, k: int) -> Integers:
    """Sums of a number from each of two lists, in any order, the k highest among them: the a-th and the b-th, a b <= k."""
    if left.shape[-1] == right.shape[-1] == 1:
        return settled(left + right)
    a, b = np.indices((left.shape[-1], right.shape[-1]))
    near = (a + 1) * (b + 1) <= k
    return settled(left[..., a[near]] + right[..., b[near]])


def added(left: Integers, right: Integers, k: int) -> Integers:
    """The k highest sums of a number from each of two lists."""
    return best_of(sums(left, right, k), k)


def joined(left: Integers, right: Integers, k: int) -> Integers:
    """The k highest sums over all positions of the last axis but one."""
    both = sums(left, right, k)
    return best_of(both.reshape(*both.shape[:-2], both.shape[-2] * both.shape[-1]), k)


def best_of_groups(lists: Integers, start: Integers, k: int) -> Integers:
    """Of rows of lists in groups, the first of each at `start`: the k highest of every group (groups, k)."""
    if k == 1:
        return np.maximum.reduceat(lists.max(axis=1), start)[:, None]
    of = np.repeat(np.arange(len(start)), np.diff(np.append(start, len(lists))) * lists.shape[1])
    order = np.lexsort((-lists.reshape(-1), of))
    rank = np.arange(len(order)) - np.searchsorted(of, of)  # `of` is sorted, and so is of[order]
    found = np.full((len(start), k), ABSENT)
    kept = rank < k
    found[of[kept], rank[kept]] = lists.reshape(-1)[order][kept]
    return found
