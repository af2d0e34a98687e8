"""Arrays of scores in JSON: nested lists for people; or packed, as integers in the largest unit that divides them all, in few bytes.

    {"shape": [2, 3], "unit": 0.001953125, "base64": "AAAB..."}

The unit is a power of two (1 if there is nothing but 0), the bytes are little-endian integers of 1, 2, 4 or 8 bytes, row by row, and the
least integer of that size stands for -inf. An array has one spelling: whatever would not be written again as it was is refused.
"""

from __future__ import annotations

import base64
import binascii
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from zerogap.errors import FormatError, InputError
from zerogap.grid import MANTISSA_BITS, Integers, Scores
from zerogap.problems.forms import Below, Many, Record
from zerogap.problems.json_values import expect, field, number_from_json, number_to_json

KINDS = [np.dtype(name) for name in ("<i1", "<i2", "<i4", "<i8")]
LARGEST = 2**28  # entries of an array
MOST_AXES = 16
ABSENT = np.iinfo(np.int64).min


def pack(array: Scores) -> dict[str, Any]:
    """The spelling of an array; InputError if its numbers have no common unit of at most 2^53 steps."""
    absent = array == -np.inf
    values = np.where(absent, 0.0, array)
    if not np.isfinite(values).all():
        raise InputError("an array holds nan or inf: expected the scores of a problem.")
    mantissas, exponents = np.frexp(values)
    bits = np.ldexp(mantissas, MANTISSA_BITS).astype(np.int64)
    present = bits != 0
    steps = exponents[present] - MANTISSA_BITS + np.frexp((bits & -bits)[present].astype(np.float64))[1] - 1
    exponent = int(steps.min()) if steps.size else 0
    whole = np.ldexp(values, -exponent)
    if not (np.abs(whole) <= 2.0**MANTISSA_BITS).all():
        raise InputError("an array holds numbers that are not on one grid: expected the scores of a problem.")
    integers = np.where(absent, ABSENT, whole.astype(np.int64))
    return {"shape": list(array.shape), "unit": math.ldexp(1.0, exponent), "base64": spelled(integers)}


def integers_to_json(array: Integers) -> dict[str, Any]:
    return pack(array.astype(np.float64))


def spelled(integers: Integers) -> str:
    largest = int(np.abs(integers[integers != ABSENT]).max(initial=0))
    kind = next(kind for kind in KINDS if largest <= np.iinfo(kind).max)
    small = np.where(integers == ABSENT, np.iinfo(kind).min, integers).astype(kind)
    return base64.b64encode(small.tobytes()).decode("ascii")


def check_shape(shape: Sequence[int], where: str) -> None:
    """FormatError for arrays that are too large to make."""
    if len(shape) > MOST_AXES or min(shape, default=0) < 0 or math.prod(size or 1 for size in shape) > LARGEST:
        raise FormatError(f"{where}.shape is {shape[:MOST_AXES]}: expected at most {MOST_AXES} axes, and {LARGEST:,} entries together.")


def unpack(value: Any, where: str) -> Scores:
    """The array of a spelling; FormatError unless it is the one that `pack` writes."""
    given = expect(field(expect(value, dict, where), "shape", where), list, f"{where}.shape")
    shape = [expect(size, int, f"{where}.shape") for size in given]
    unit = number_from_json(field(value, "unit", where), f"{where}.unit")
    text = expect(field(value, "base64", where), str, f"{where}.base64")
    check_shape(shape, where)
    try:
        content = base64.b64decode(text, validate=True)
    except (ValueError, binascii.Error):
        raise FormatError(f"{where}.base64 is no base64: expected what zerogap writes.") from None
    size = math.prod(shape)
    kind = next((kind for kind in KINDS if kind.itemsize * size == len(content)), None)
    if kind is None:
        raise FormatError(f"{where}.base64 has {len(content):,} bytes: expected 1, 2, 4 or 8 for each of {size:,} entries.")
    small = np.frombuffer(content, dtype=kind).reshape(shape)
    with np.errstate(over="ignore", invalid="ignore"):
        array = np.where(small == np.iinfo(kind).min, -np.inf, small * unit)
    try:
        again = pack(array)
    except InputError:
        again = {}
    if again != value:
        raise FormatError(f"{where} is not spelled as zerogap writes it: expected the largest unit and the fewest bytes.")
    return array


class Array:
    """Scores of any shape: nested lists, or packed. Shapes are checked by the problem."""

    name = "an array"

    def read(self, value: Any, where: str) -> Any:
        if isinstance(value, dict):
            return unpack(value, where)

        def numbers(part: Any, spot: str) -> Any:
            if isinstance(part, list):
                return [numbers(entry, f"{spot}[{i}]") for i, entry in enumerate(part)]
            return number_from_json(part, spot)

        nested = numbers(expect(value, list, where), where)
        try:
            return np.array(nested, dtype=np.float64)
        except ValueError:
            raise FormatError(f"{where} is ragged: expected rows of the same length.") from None

    def written(self, value: Any, packed: bool) -> Any:
        return pack(value) if packed else as_lists(value)


def as_lists(array: Any) -> Any:
    return [as_lists(row) for row in array] if np.ndim(array) else number_to_json(float(array))


class Packed(Array):
    """Scores that are never written as lists: they would be too many to read. Older files list all values, and one for each place."""

    def read(self, value: Any, where: str) -> Any:
        if not (isinstance(value, dict) and "places" in value):
            return super().read(value, where)
        found = TABLE.read(value, where)
        check_shape(found["shape"], where)
        values, places = np.array(found["values"]), np.array(found["places"], dtype=np.int64)
        if math.prod(found["shape"]) != len(places) or not ((places >= 0) & (places < len(values))).all():
            raise FormatError(f"{where}.places has {len(places)} entries: expected the places of values, as many as the shape has.")
        return values[places].reshape(found["shape"]) if places.size else np.zeros(found["shape"])

    def written(self, value: Any, packed: bool) -> Any:
        return pack(value)


@dataclass(frozen=True, slots=True)
class Listed:
    """Indices (p, order) of integers and their scores: rows [index, ..., score], or two packed arrays, the indices by column."""

    order: int

    def read(self, value: Any, where: str) -> tuple[Any, Any]:
        expect(value, dict, where)
        if "parts" in value:
            rows = Record({"parts": Many((*[Below()] * self.order, float))}).read(value, where)["parts"]
            index = np.array([row[:-1] for row in rows], dtype=np.int64).reshape(-1, self.order)
            return index, np.array([row[-1] for row in rows], dtype=np.float64)
        found = Record({"index": ARRAY, "scores": ARRAY}).read(value, where)
        index, scores = found["index"], found["scores"]
        if scores.ndim != 1 or index.shape != (self.order, len(scores)) or not (np.abs(index) < LARGEST).all():
            raise FormatError(f"{where}.index has shape {index.shape}: expected {self.order} tokens for each of {scores.shape} scores.")
        if (index != np.rint(index)).any():
            raise FormatError(f"{where}.index holds fractions: expected tokens.")
        return index.T.astype(np.int64), scores

    def written(self, value: tuple[Any, Any], packed: bool) -> dict[str, Any]:
        index, scores = np.asarray(value[0], dtype=np.int64), np.asarray(value[1], dtype=np.float64)
        if packed:
            return {"index": integers_to_json(index.T), "scores": pack(scores)}
        rows = zip(index.tolist(), scores.tolist(), strict=True)
        return {"parts": [[*row, number_to_json(score)] for row, score in rows]}


TABLE = Record({"shape": Many(Below()), "values": Many(float), "places": Many(Below())})
ARRAY, PACKED = Array(), Packed()
