"""A linear model over parts that is only read: templates, the keys that have a weight, and their weights on a grid.

Weights are 16-bit multiples of a power of two, so that sums of them are exact in any order. In a file, keys are sorted and stored as
the bytes of their differences, one plane of bytes after the other, which compresses well.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zerogap.errors import FormatError, InputError
from zerogap.features.parts.keys import PLAN, READING, PartFeatures, Plan, Reading
from zerogap.features.parts.packed_table import Jumps, jumps_alone, packed
from zerogap.features.parts.weight_table import Keys
from zerogap.features.parts.weights import TABLE, Table
from zerogap.grid import Scores
from zerogap.kernels import record

MOST_STEPS = 2**15 - 1  # of a weight
FINEST_UNIT, COARSEST_UNIT = 2.0**-60, 2.0**40


class ModelArrays(NamedTuple):
    """A model as kernels read it: from the hashes of tokens to weights."""

    reading: Reading
    plan: Plan
    table: Table


MODEL = record(ModelArrays, READING, PLAN, TABLE)


@dataclass(frozen=True, slots=True, eq=False)
class PartModel:
    """`table` is what kernels read of the weights: cells, the unit, and jumps (see `packed_table`)."""

    features: PartFeatures
    keys: Keys  # ascending
    steps: NDArray[np.int16]  # weights in units
    unit: float  # a power of two
    jumps: NDArray[np.uint16] | None = field(default=None, repr=False)  # of the table, if they are known
    table: Table = field(init=False, repr=False)

    def __post_init__(self) -> None:
        cells, jumps = packed(self.keys, self.steps, self.jumps)
        object.__setattr__(self, "table", Table(cells, np.array([self.unit]), jumps))

    @property
    def arrays(self) -> ModelArrays:
        return ModelArrays(self.features.reading, self.features.plan, self.table)

    @property
    def n_weights(self) -> int:
        return len(self.keys)

    def template_bounds(self) -> Scores:
        """(templates,): the largest weight of each template, at least 0: no feature of it weighs more, seen or not."""
        largest = np.zeros(len(self.features.templates))
        np.maximum.at(largest, (self.keys & 255) - 1, self.steps * self.unit)
        return largest


def part_model(features: PartFeatures, keys: Keys, weights: Scores, *, bits: int = 12, most: int | None = None) -> PartModel:
    """Weights rounded to a grid that has at most 2^(bits - 1) steps up to the largest; the `most` features of largest weight."""
    largest = float(np.abs(weights).max(initial=0.0))
    unit = max(2.0 ** (math.frexp(largest)[1] - (bits - 1)), FINEST_UNIT) if largest > 0.0 else 1.0
    steps = np.clip(np.rint(weights / unit), -MOST_STEPS, MOST_STEPS).astype(np.int16)
    kept = np.flatnonzero(steps)
    if most is not None and len(kept) > most:
        order = np.argsort(-np.abs(weights[kept]), kind="stable")
        kept = kept[order[:most]]
    kept = kept[np.argsort(keys[kept])]
    return PartModel(features, keys[kept], steps[kept], unit)


def cells_of_kinds(model: PartModel, kinds: Sequence[str]) -> tuple[Keys, Jumps]:
    """The cells and jumps of a table of the weights of some kinds of parts, which is smaller than that of all."""
    is_wanted = np.array([template.kind in kinds for template in model.features.templates], dtype=np.bool_)
    places = np.flatnonzero(is_wanted[(model.keys & 255) - 1])
    return packed(model.keys[places], model.steps[places])


def to_arrays(model: PartModel, name: str) -> dict[str, Any]:
    """The arrays of a file."""
    differences = np.diff(model.keys.astype(np.uint64), prepend=np.uint64(0))  # wraps around at the sign, as does the way back
    planes = differences.view(np.uint8).reshape(-1, 8).T
    return {
        f"{name}_keys": np.ascontiguousarray(planes),
        f"{name}_steps": np.ascontiguousarray(model.steps.view(np.uint8).reshape(-1, 2).T),
        f"{name}_jumps": jumps_alone(model.table.jumps),
        f"{name}_unit": np.array(model.unit),
    }


def from_arrays(arrays: dict[str, Any], name: str, features: PartFeatures, where: str) -> PartModel:
    """Believes nothing: kernels read what is made of these arrays."""
    planes, steps, unit = (arrays.get(f"{name}_{part}") for part in ("keys", "steps", "unit"))
    if planes is None or steps is None or unit is None:
        raise FormatError(f"{where} has no weights of the {name}: expected {name}_keys, {name}_steps and {name}_unit.")
    n = planes.shape[1] if planes.ndim == 2 else -1
    if planes.dtype != np.uint8 or steps.dtype != np.uint8 or planes.shape != (8, n) or steps.shape != (2, n):
        raise FormatError(
            f"{where}: {name}_keys and {name}_steps have shapes {planes.shape} and {steps.shape}: expected bytes, (8, n) and (2, n)."
        )
    size = float(unit) if unit.shape == () and unit.dtype == np.float64 else 0.0
    if not FINEST_UNIT <= size <= COARSEST_UNIT or math.frexp(size)[0] != 0.5:
        raise FormatError(f"{where}: {name}_unit is {unit}: expected a power of two.")
    jumps = arrays.get(f"{name}_jumps")  # older files have none
    if jumps is not None and (jumps.dtype != np.uint16 or jumps.ndim != 1):
        raise FormatError(f"{where}: {name}_jumps are {jumps.dtype} with {jumps.ndim} axes: expected uint16 with 1.")
    differences = np.ascontiguousarray(planes.T).view(np.uint64).reshape(-1)
    keys = np.cumsum(differences, dtype=np.uint64).astype(np.int64)
    low = keys & 255
    if len(keys) and not (bool((keys[1:] > keys[:-1]).all()) and int(low.min()) >= 1 and int(low.max()) <= len(features.templates)):
        raise FormatError(f"{where}: {name}_keys are damaged: expected ascending keys of {len(features.templates)} templates.")
    try:
        return PartModel(features, keys, np.ascontiguousarray(steps.T).view(np.int16).reshape(-1), size, jumps)
    except InputError as error:
        raise FormatError(f"{where}: {name}_keys are damaged: {error}") from None
