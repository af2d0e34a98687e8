"""The largest weight that a feature of a part can have, if some of the part's tokens are not known: a table that is made offline.

A key is a sum over the roles of a part (see `part_keys`). What is left of it without some roles is a partial key, and its bound is the
largest weight of all keys that have it, or 0, which unseen keys weigh (Riedel et al. 2012, section 4.3.2). Weights are known by their keys
alone, so partial keys are noted while features of training sentences are read. A weight that was never met could have any partial key
of its template: no bound of the template is below the largest of those, its floor.

Bounds are 16-bit multiples of the unit of the model, so sums of them are exact, and never below the sums that they bound. This holds as
far as keys tell features apart, which is as far as the model does (see `weight_table`).
"""

# mypy: disable-error-code="no-untyped-def"
# a kernel's types are its signature

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zerogap.errors import FormatError, InputError
from zerogap.features.parts.keys import PLAN, PartFeatures, hash_of
from zerogap.features.parts.model import MOST_STEPS, PartModel, from_arrays, to_arrays
from zerogap.features.parts.packed_table import (
    BUCKET_SHIFT,
    MARKS,
    MIDDLE_SHIFT,
    WEIGHT_PART,
    Jumps,
    bucket_of_key,
    cell_at,
    jumps_alone,
    step_of,
)
from zerogap.features.parts.templates import KINDS, ROLES
from zerogap.features.parts.weight_table import CLEAR, EMPTY, Keys, shift_of
from zerogap.kernels import inner, int64, kernel, readonly, record, uint32, writable

Integers = NDArray[np.int64]
AT_ONCE = 1 << 11  # parts


class PartTable(NamedTuple):
    """What kernels read: weights, or bounds on them."""

    cells: Keys
    jumps: Jumps
    floors: Integers  # (templates,), in the order of kernels, in units: nothing counts as less


PART_TABLE = record(PartTable, readonly(int64, 1), readonly(uint32, 1), readonly(int64, 1))


@dataclass(frozen=True, slots=True, eq=False)
class WeightBounds:
    """Bounds on the weights of some kinds of parts of a model; of other kinds, nothing is known and nothing may be asked."""

    model: PartModel
    table: PartModel  # partial keys in place of keys, bounds in place of weights: all above 0
    floors: NDArray[np.int16]  # (templates,), in units: the largest weight of each template that was never met, 0 if all were
    n_weights: int  # weights above 0 of parts of these kinds
    n_met: int  # how many of them have their partial keys in the table
    largest: dict[str, float] = field(init=False, repr=False)  # by kind of part: no score is larger in magnitude

    def __post_init__(self) -> None:
        if self.table.unit != self.model.unit:
            raise InputError(f"bounds are multiples of {self.table.unit!r}, weights of {self.model.unit!r}: expected the same.")
        if len(self.floors) != len(self.model.features.templates):
            raise InputError(
                f"there are {len(self.floors)} floors: expected one for each of {len(self.model.features.templates)} templates."
            )
        if self.table.steps.min(initial=1) < 1 or self.floors.min(initial=0) < 0:
            raise InputError("a bound is below 0: expected none, as unseen features weigh 0.")
        sizes = np.zeros(len(self.floors), dtype=np.int64)
        np.maximum.at(sizes, (self.model.keys & 255) - 1, np.abs(self.model.steps.astype(np.int64)))
        totals = dict.fromkeys(KINDS, 0.0)
        for template, size in zip(self.model.features.templates, sizes.tolist(), strict=True):
            totals[template.kind] += size * self.model.unit
        object.__setattr__(self, "largest", totals)

    @property
    def coverage(self) -> float:
        """The share of weights above 0 that were met; below 1, bounds are loose."""
        return self.n_met / self.n_weights if self.n_weights else 1.0

    def part_table(self) -> PartTable:
        cells, _, jumps = self.table.table
        return PartTable(cells, jumps, self.floors.astype(np.int64)[self.model.features.plan.low_bytes - 1])


@dataclass(frozen=True, slots=True, eq=False)
class StoredBounds:
    """Bounds of a model that are not read from the arrays of a file before they are asked for."""

    model: PartModel
    arrays: dict[str, Any] = field(repr=False)
    name: str = "bounds"
    where: str = "the model"
    found: list[WeightBounds] = field(default_factory=list, repr=False)

    def read(self) -> WeightBounds:
        """FormatError if they are damaged."""
        if not self.found:
            self.found.append(bounds_from_arrays(self.arrays, self.name, self.model, self.where))
        return self.found[0]


def without(features: PartFeatures, *roles: str) -> Keys:
    """(templates,), in the order of kernels: what partial keys have in place of these roles.

    It differs by template, since a template may read nothing else: keys must differ in more than their low bytes.
    """
    code = np.int64(hash_of(f"without {' '.join(role for role in ROLES if role in roles)}"))
    with np.errstate(over="ignore"):
        return code * (2 * features.plan.low_bytes + 1)


@inner
def cell_of_key(key, cells, jumps, shift):
    """The cell that has the key, or -1; all that is in the table is above 0."""
    bits, high = np.uint64(key), np.uint64(shift)
    jump = np.uint64(bucket_of_key(bits, jumps)) >> np.uint64(MARKS)
    cell = cell_at(bits, jump, high, np.uint64(cells.shape[0] - 1))
    differs = np.uint64(cells[cell]) ^ ((bits << (np.uint64(64) - high)) & ~np.uint64(WEIGHT_PART))
    return np.int64(cell) if np.uint64(0) < differs <= np.uint64(WEIGHT_PART) else np.int64(-1)  # 0: an empty cell


@kernel(
    int64(
        readonly(int64, 3), PLAN, readonly(int64, 1), readonly(int64, 1), readonly(int64, 2), readonly(int64, 2), readonly(int64, 1),
        PART_TABLE, writable(int64, 1),
    )
)  # fmt: skip
def sum_looks(partial, plan, chosen, roles, tokens, values, missing, table, totals):
    """out: totals (parts,): the sums over chosen templates of what the table has for the parts, none less than its floor, in units.

    tokens (roles, parts); values (1 or 2, parts) are those of the direction, and of the distance, unless it is not known.
    """
    relation, low_bytes, codes = plan.relation, plan.low_bytes, plan.codes
    cells, jumps, floors = table
    n_parts, n_tokens = tokens.shape[1], partial.shape[1]
    shift = shift_of(cells.shape[0])
    column = np.empty(n_tokens, dtype=np.int64)
    keys = np.empty(min(AT_ONCE, n_parts), dtype=np.int64)
    for begin in range(0, n_parts, AT_ONCE):
        size = min(AT_ONCE, n_parts - begin)
        for i in range(begin, begin + size):
            totals[i] = 0
        for t in chosen:
            known = relation[t] if values.shape[0] > 1 else 0
            for i in range(size):
                keys[i] = codes[known, values[known, begin + i]] + missing[t]
            for r in range(roles.shape[0]):
                is_read = False
                for token in range(n_tokens):
                    column[token] = partial[roles[r], token, t]
                    is_read |= column[token] != 0
                if is_read:
                    for i in range(size):
                        keys[i] += column[tokens[r, begin + i]]
            low, floor = low_bytes[t], floors[t]
            for i in range(size):
                totals[begin + i] += max(step_of((keys[i] & CLEAR) | low, cells, jumps, shift), floor)
    return 0


def weights_table(model: PartModel) -> PartTable:
    """The weights of a model as they are."""
    cells, _, jumps = model.table
    return PartTable(cells, jumps, np.full(len(model.features.templates), -MOST_STEPS - 1, dtype=np.int64))


def templates_of(features: PartFeatures, kind: str) -> Integers:
    """Those of a kind of part, by their places in the order of kernels."""
    place = list(KINDS).index(kind)
    return np.arange(features.plan.kind_start[place], features.plan.kind_start[place + 1])


def part_sums(
    features: PartFeatures,
    partial: Keys,
    table: PartTable,
    templates: Integers,
    tokens: Mapping[str, Integers],
    values: Sequence[Integers],
    *,
    missing: Keys | None = None,
) -> Integers:
    """Sums over templates, for parts that are given by the tokens of their roles (n + 1 is none).

    `partial` is what `PartFeatures.encode` gives, `values` are those of the direction and, if keys have it, of the distance; `missing` is
    what partial keys have in place of what is not known (see `without`).
    """
    roles = [ROLES.index(role) for role in tokens if ROLES.index(role) < features.reading.n_roles]
    places = np.array([tokens[ROLES[role]] for role in roles], dtype=np.int64).reshape(len(roles), -1)
    totals = np.empty(len(values[0]), dtype=np.int64)
    sum_looks(
        partial, features.plan, templates, np.array(roles, dtype=np.int64), places, np.array(values, dtype=np.int64),
        np.zeros(len(features.templates), dtype=np.int64) if missing is None else missing, table, totals,
    )  # fmt: skip
    return totals


def cells_of(keys: Keys, cells: Keys, jumps: Jumps) -> Integers:
    """The cells of keys that all are in the table."""
    bits = keys.astype(np.uint64)
    jump = jumps_alone(jumps)[(bits >> np.uint64(BUCKET_SHIFT)) & np.uint64(len(jumps) - 1)].astype(np.uint64)
    middle = (bits >> np.uint64(MIDDLE_SHIFT)) | np.uint64(1)
    shift = np.uint64(64 - (len(cells) - 1).bit_length())
    return (((bits >> shift) + jump * middle) & np.uint64(len(cells) - 1)).astype(np.int64)


def weights_to_meet(model: PartModel, kinds: Iterable[str]) -> Integers:
    """Places of weights above 0 of parts of some kinds: the others bound nothing from above."""
    known = set(kinds)
    wanted = np.array([template.kind in known for template in model.features.templates], dtype=np.bool_)
    return np.flatnonzero(wanted[(model.keys & 255) - 1] & (model.steps > 0))


def bounds_from_notes(model: PartModel, places: Integers, notes: Keys) -> WeightBounds:
    """`notes` (weights, any) are the partial keys of the weights at `places`, EMPTY where there is none; all EMPTY: never met."""
    noted = notes != EMPTY
    met = noted.any(axis=1)
    steps = np.broadcast_to(model.steps[places][:, None], notes.shape)[noted]
    keys = notes[noted]
    order = np.lexsort((steps, keys))
    keys, steps = keys[order], steps[order]
    largest = np.ones(len(keys), dtype=np.bool_)  # the last of each key
    largest[:-1] = keys[1:] != keys[:-1]
    floors = np.zeros(len(model.features.templates), dtype=np.int16)
    unmet = places[~met]
    np.maximum.at(floors, (model.keys[unmet] & 255) - 1, model.steps[unmet])
    table = PartModel(model.features, keys[largest], steps[largest], model.unit)
    return WeightBounds(model, table, floors, len(places), int(np.count_nonzero(met)))


def checksum(model: PartModel) -> int:
    """Of all weights: bounds of other ones would be wrong without notice."""
    return zlib.crc32(model.steps.tobytes(), zlib.crc32(model.keys.tobytes()))


def bounds_to_arrays(bounds: WeightBounds, name: str) -> dict[str, Any]:
    """The arrays of a file."""
    return {
        **to_arrays(bounds.table, name),
        f"{name}_floors": bounds.floors,
        f"{name}_counts": np.array([bounds.n_weights, bounds.n_met, checksum(bounds.model)], dtype=np.int64),
    }


def bounds_from_arrays(arrays: dict[str, Any], name: str, model: PartModel, where: str) -> WeightBounds:
    """Believes nothing: kernels read what is made of these arrays, and proofs rest on them."""
    floors, counts = arrays.get(f"{name}_floors"), arrays.get(f"{name}_counts")
    if floors is None or floors.dtype != np.int16 or floors.ndim != 1:
        found = "missing" if floors is None else f"{floors.dtype} with {floors.ndim} axes"
        raise FormatError(f"{where}: {name}_floors are {found}: expected int16 with 1.")
    if counts is None or counts.dtype != np.int64 or counts.shape != (3,) or not 0 <= counts[1] <= counts[0]:
        raise FormatError(f"{where}: {name}_counts are {counts}: expected how many weights there are, how many were met, and a checksum.")
    table = from_arrays(arrays, name, model.features, where)
    if int(counts[2]) != checksum(model):
        raise FormatError(f"{where}: the bounds are those of other weights: expected bounds of the model; compute them again.")
    try:
        return WeightBounds(model, table, floors, int(counts[0]), int(counts[1]))
    except InputError as error:
        raise FormatError(f"{where}: {error}") from None
