"""Exact numbers: scores on a dyadic grid, so that every sum a decoder forms is exact in float64.

A problem rounds its scores once to multiples of `resolution`, a power of two. As long as no sum of magnitudes exceeds
2^53 resolutions, addition is associative: results do not depend on order, threads or machine, and a proof needs no
tolerance.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zerogap.errors import ScoreError, ScoreShapeError, ScoreTypeError

Scores = NDArray[np.float64]
Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]

MANTISSA_BITS = 53
LARGEST_TOTAL = 2.0**1008  # beyond this, bounds and their limits would overflow
HEADROOM_BITS = 10  # multipliers may grow to 2^10 times what the scores themselves can sum to
FINEST_EXPONENT = -1000  # so that halves and squares of the finest resolution are normal numbers
FINEST = math.ldexp(1.0, FINEST_EXPONENT)
COARSEST = math.ldexp(LARGEST_TOTAL, 1 + HEADROOM_BITS - MANTISSA_BITS)  # that the largest scores need


def as_scores(
    value: Any, name: str, *, shape: tuple[int | None, ...] | None = None, lowest: float = -math.inf, check: bool = True
) -> Scores:
    """`value` as a float64 array that nobody else holds, checked at the border.

    Takes lists, NumPy arrays and torch tensors. `shape` gives the expected sizes, `None` for any. `-inf` is allowed
    unless `lowest` is finite; nan and +inf never are. `check=False` leaves that to `rounded_together`.
    """
    if hasattr(value, "detach"):  # a torch tensor, possibly on a device and in a graph
        value = value.detach().cpu().numpy()
    try:
        array = np.array(value)
    except ValueError as error:
        raise ScoreShapeError(f"{name} is ragged: {error}.") from None
    if array.size == 0:
        array = array.astype(np.float64)
    if array.dtype.kind not in "fiub":
        raise ScoreTypeError(f"{name} has dtype {array.dtype}: expected real numbers.")
    array = np.ascontiguousarray(array, dtype=np.float64).reshape(array.shape)
    if shape is not None and not fits(array.shape, shape):
        raise ScoreShapeError(f"{name} has shape {array.shape}: expected {describe_shape(shape)}.")
    if check:
        check_scores(array, name, lowest)
    return array


def held(array: Any) -> Any:
    """The array, read-only. What is a part of another one that can be written to is copied."""
    if isinstance(array.base, np.ndarray) and array.base.flags.writeable:
        array = array.copy()
    array.flags.writeable = False
    return array


def restored(record: Any, state: Any) -> None:
    """`__setstate__` of records with arrays, of which numbers are derived: NumPy's arrays come back from copies and pickles writeable."""
    for entry, value in zip(dataclasses.fields(record), state, strict=True):
        if isinstance(value, np.ndarray):
            value.flags.writeable = False
        object.__setattr__(record, entry.name, value)


def check_scores(array: Scores, name: str, lowest: float = -math.inf) -> None:
    if array.size and not (array.max() < np.inf and array.min() >= lowest):  # nan passes neither
        bad = np.isnan(array) | (array == np.inf) | (array < lowest)
        index = tuple(int(i) for i in np.argwhere(bad)[0])
        accepted = "finite scores, or -inf to forbid" if lowest == -math.inf else f"finite scores of at least {lowest}"
        raise ScoreError(f"{name}[{', '.join(map(str, index))}] is {array[index]}: expected {accepted}.")


def rounded_together(arrays: dict[str, Scores], terms: int, asked: float | None) -> tuple[list[Scores], float, float]:
    """All arrays on one grid, read-only, its resolution, and a number that no magnitude exceeds. One pass over all of them is much
    faster than several over each where they are small."""
    flat = np.concatenate([array.ravel() for array in arrays.values()])
    if flat.size and not flat.max() < np.inf:
        for name, array in arrays.items():
            check_scores(array, name)
    largest = largest_magnitude(flat)
    resolution = choose_resolution(largest, terms, asked)
    rounded = round_to_grid(flat, resolution)
    views, begin = [], 0
    for array in arrays.values():
        views.append(rounded[begin : begin + array.size].reshape(array.shape))
        begin += array.size
    return views, resolution, largest + resolution


def fits(given: tuple[int, ...], wanted: tuple[int | None, ...]) -> bool:
    return len(given) == len(wanted) and all(w is None or w == g for w, g in zip(wanted, given, strict=True))


def describe_shape(shape: tuple[int | None, ...]) -> str:
    inner = ", ".join("any" if size is None else str(size) for size in shape)
    return f"({inner},)" if len(shape) == 1 else f"({inner})"


def largest_magnitude(*arrays: Scores | None) -> float:
    """The largest finite |score|; 0 if there is none."""
    largest = 0.0
    for array in arrays:
        if array is not None and array.size:
            top, low = float(array.max()), float(array.min())
            if low == -np.inf:
                low = float(array.min(where=array > -np.inf, initial=0.0))
            largest = max(largest, top, -low)
    return largest


def choose_resolution(largest: float, terms: int, asked: float | None = None) -> float:
    """The finest power of two at which sums of `terms` scores of magnitude `largest` are exact, with headroom.

    A user may ask for a coarser one, never for a finer one.
    """
    with np.errstate(over="ignore"):
        total = largest * max(terms, 1)
    if not total <= LARGEST_TOTAL:
        raise ScoreError(f"scores of magnitude {largest:g} in sums of {terms} terms overflow float64: scale them down.")
    exponent = math.frexp(total)[1] if total > 0 else 0  # total < 2^exponent
    finest = math.ldexp(1.0, max(exponent + HEADROOM_BITS - MANTISSA_BITS, FINEST_EXPONENT))
    if asked is None:
        return finest
    if isinstance(asked, bool) or not isinstance(asked, int | float) or not (FINEST <= asked <= COARSEST and math.frexp(asked)[0] == 0.5):
        raise ScoreError(f"resolution is {asked!r}: expected a power of two, at least 2^{FINEST_EXPONENT}.")
    # scores that were rounded up to a power of two before may ask for one bit more; where all are 0, any resolution is exact
    if total > 0 and asked < finest / 2:
        raise ScoreError(f"resolution is {asked!r}: sums of {terms} scores up to {largest:g} are exact only from {finest!r} on.")
    return float(asked)


def round_to_grid(scores: Scores, resolution: float) -> Scores:
    """The nearest multiples of `resolution`, read-only. `-inf` stays."""
    rounded = scores / resolution
    np.rint(rounded, out=rounded)
    rounded *= resolution
    rounded += 0.0  # turns -0.0 into 0.0
    rounded.flags.writeable = False
    return rounded


def unit_of(resolution: float, *arrays: Scores | None) -> float:
    """The largest power of two that divides every score: no structure's score lies between its multiples.

    A bound may be rounded down to a multiple of it. Integer scores have unit 1 or more.
    """
    bits = 0
    for array in arrays:
        if array is not None and array.size:
            finite = array[np.isfinite(array)]
            bits |= int(np.bitwise_or.reduce(np.abs(finite / resolution).astype(np.int64), initial=0))
    return resolution * (bits & -bits) if bits else resolution


def floor_to_unit(bound: float, unit: float) -> float:
    """The largest multiple of `unit` that is at most `bound`."""
    return math.floor(bound / unit) * unit if math.isfinite(bound) else bound
