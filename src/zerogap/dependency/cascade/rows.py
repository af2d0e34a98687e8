"""A linear model of arcs whose weights stand in rows: one look finds those of all distances at once.

It reads little, so that all arcs of a sentence can be scored for less than a look each:

    arc: mod.upos[-1]+mod.upos+distance         one token: its row has a weight for every side and bucket of distances
    arc: head.upos+mod.upos+distance            two tokens: tables by what they are as head and as modifier
    arc: head.upos+mod.upos+count(upos=VERB)    the same, by what lies between; all templates of two tokens read the same of them

Rows of one token are in a table without collisions (see `packed_table`), those of two tokens in an array: there are as many rows and
columns as the training data has tags, of which the most frequent count, and one more for all others.
"""

# mypy: disable-error-code="no-untyped-def"
# a kernel's types are its signature

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zerogap.dependency.scoring.parts import ALONE_HEAD, ALONE_MOD, ARC, HEAD, MOD, RIGHT, bucket_of
from zerogap.errors import FormatError, InputError
from zerogap.features.parts.keys import BUCKETS, COUNTS, ENCODED, PLAN, PartFeatures
from zerogap.features.parts.model import COARSEST_UNIT, FINEST_UNIT, MOST_STEPS
from zerogap.features.parts.packed_table import Jumps, packed, place_of
from zerogap.features.parts.templates import DISTANCE, FIRST_COUNT
from zerogap.features.parts.weight_table import CLEAR, Keys, shift_of
from zerogap.grid import Scores
from zerogap.kernels import borrowing, float64, inner, int16, int64, kernel, readonly, record, uint32, writable

VALUES = 2 * BUCKETS  # sides and buckets of distances
MOST_CLASSES = 200  # of tokens, by what templates of two tokens read: the others are as unknown

Rows = NDArray[np.int16]


class RowTables(NamedTuple):
    """What kernels read of a `RowModel`."""

    cells: Keys  # of the table that finds a row by its key
    jumps: Jumps
    rows: Rows  # by cell
    heads: Keys
    modifiers: Keys
    pairs: Rows
    unit: float


ROW_TABLES = record(
    RowTables, readonly(int64, 1), readonly(uint32, 1), readonly(int16, 2), *[readonly(int64, 1)] * 2, readonly(int16, 4), float64
)


@dataclass(frozen=True, slots=True, eq=False)
class RowModel:
    """Weights in rows, by what a template sums up of its tokens."""

    features: PartFeatures
    keys: Keys  # ascending: what a template sums up of one token
    rows: Rows  # (keys, VALUES): weights in units
    heads: Keys  # ascending: what the first template of two tokens sums up of a head
    modifiers: Keys  # the same of a modifier
    pairs: Rows  # (heads + 1, modifiers + 1, templates of two tokens, VALUES): weights in units; the last are of unknown tokens
    unit: float  # a power of two
    tables: RowTables = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_templates(self.features)
        n_pairs = n_pairs_of(self.features)
        expected = (len(self.heads) + 1, len(self.modifiers) + 1, n_pairs, VALUES)
        if self.rows.shape != (len(self.keys), VALUES) or self.pairs.shape != expected:
            raise InputError(f"rows and pairs have shapes {self.rows.shape} and {self.pairs.shape}: expected {expected} of pairs.")
        cells, jumps = packed(self.keys, np.zeros(len(self.keys), dtype=np.int16))
        by_cell = np.zeros((len(cells), VALUES), dtype=np.int16)
        place_rows(self.keys, self.rows, cells, jumps, by_cell)
        object.__setattr__(self, "tables", RowTables(cells, jumps, by_cell, self.heads, self.modifiers, self.pairs, self.unit))

    @property
    def n_weights(self) -> int:
        return int(np.count_nonzero(self.rows) + np.count_nonzero(self.pairs))


@kernel(int64(readonly(int64, 1), readonly(int16, 2), readonly(int64, 1), readonly(uint32, 1), writable(int16, 2)))
def place_rows(keys, rows, cells, jumps, by_cell):  # out: by_cell (cells, VALUES)
    shift = shift_of(cells.shape[0])
    for i in range(keys.shape[0]):
        by_cell[place_of(keys[i], cells, jumps, shift)] = rows[i]
    return 0


@inner
def class_of(value, values):
    """The place of a value among ascending ones, their number if it is not there."""
    low, high = 0, values.shape[0]
    while low < high:
        middle = (low + high) >> 1
        if values[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low if low < values.shape[0] and values[low] == value else values.shape[0]


@borrowing
def sum_rows(of_token, begin, stop, plan, tables, sums):  # out: sums (VALUES,)
    """What templates of one token score, by side and distance."""
    cells, jumps, rows = tables.cells, tables.jumps, tables.rows
    shift = shift_of(cells.shape[0])
    for v in range(VALUES):
        sums[v] = 0
    for t in range(begin, stop):
        place = place_of((of_token[t] & CLEAR) | plan.low_bytes[t], cells, jumps, shift)
        if place >= 0:
            for v in range(VALUES):
                sums[v] += rows[place, v]
    return 0


@kernel(int64(ENCODED, PLAN, ROW_TABLES, writable(float64, 2)))
def score_rows(encoded, plan, tables, scores):
    """The scores of all arcs: a few additions for each. out: scores (n + 1, n + 1), -inf where there is no arc."""
    partial, totals = encoded
    kind_start = plan.kind_start
    _, _, _, heads, modifiers, pairs, unit = tables
    n = scores.shape[0] - 1
    of_heads, of_mods = np.empty((n + 1, VALUES), dtype=np.int64), np.empty((n + 1, VALUES), dtype=np.int64)
    head_class, mod_class = np.empty(n + 1, dtype=np.int64), np.empty(n + 1, dtype=np.int64)
    alone_head, alone_mod, stop = kind_start[ALONE_HEAD], kind_start[ALONE_MOD], kind_start[ARC + 1]
    for token in range(n + 1):
        sum_rows(partial[HEAD, token], alone_head, alone_mod, plan, tables, of_heads[token])
        sum_rows(partial[MOD, token], alone_mod, stop, plan, tables, of_mods[token])
        head_class[token] = class_of(partial[HEAD, token, 0], heads)
        mod_class[token] = class_of(partial[MOD, token, 0], modifiers)
    buckets = np.empty(n + 1, dtype=np.int64)
    for distance in range(1, n + 1):
        buckets[distance] = 2 * bucket_of(distance)
    for h in range(n + 1):
        scores[h, 0] = scores[h, h] = -np.inf
        of_head, of_pairs = of_heads[h], pairs[head_class[h]]
        for side in range(2):
            for m in range(h + 1, n + 1) if side == RIGHT else range(1, h):
                low, high = (h, m) if side == RIGHT else (m, h)
                value = buckets[high - low] + side
                of_pair = of_pairs[mod_class[m]]
                total = of_head[value] + of_mods[m, value] + of_pair[0, value]
                for c in range(totals.shape[0]):
                    count = totals[c, high] - totals[c, low + 1]
                    total += of_pair[1 + c, 2 * min(count, COUNTS - 1) + side]
                scores[h, m] = total * unit
    return 0


def n_pairs_of(features: PartFeatures) -> int:
    """How many templates read two tokens: they come first."""
    return int(features.plan.kind_start[ALONE_HEAD])


def check_templates(features: PartFeatures) -> None:
    """Raises InputError unless templates are as the module says."""
    read = set()
    for template in features.templates:
        roles = {role for role, _, _ in template.terms}
        if template.kind != "arc" or template.relation is None or not roles or (len(roles) == 1 and template.relation != "distance"):
            raise InputError(
                f"a model of rows has the template '{template.kind}: {template.text}': expected arcs of one token with a distance, or of"
                " two with a distance or a count."
            )
        if len(roles) == 2:
            read.add(tuple((role, attribute, offset) for role, attribute, offset in template.terms))
    if len(read) != 1:
        raise InputError(f"templates of two tokens read {len(read)} different things of them: expected one.")
    if features.plan.relation[0] != DISTANCE or (features.plan.relation[1 : n_pairs_of(features)] < FIRST_COUNT).any():
        raise InputError("templates of two tokens: expected one with a distance, and others with counts.")


def row_model(features: PartFeatures, keys: Keys, rows: Scores, heads: Keys, modifiers: Keys, pairs: Scores, *, bits: int = 12) -> RowModel:
    """Weights rounded to a grid that has at most 2^(bits - 1) steps up to the largest; rows without any weight are left out."""
    largest = max(float(np.abs(rows).max(initial=0.0)), float(np.abs(pairs).max(initial=0.0)))
    unit = max(2.0 ** (math.frexp(largest)[1] - (bits - 1)), FINEST_UNIT) if largest > 0.0 else 1.0
    steps, pair_steps = (np.clip(np.rint(weights / unit), -MOST_STEPS, MOST_STEPS).astype(np.int16) for weights in (rows, pairs))
    kept = np.flatnonzero(steps.any(axis=1))
    return RowModel(features, keys[kept], steps[kept], heads, modifiers, pair_steps, unit)


def rows_to_arrays(model: RowModel, name: str) -> dict[str, Any]:
    """The arrays of a file."""
    return {
        f"{name}_keys": model.keys, f"{name}_rows": model.rows, f"{name}_heads": model.heads, f"{name}_modifiers": model.modifiers,
        f"{name}_pairs": model.pairs, f"{name}_unit": np.array(model.unit),
    }  # fmt: skip


def rows_from_arrays(arrays: dict[str, Any], name: str, features: PartFeatures, where: str) -> RowModel:
    """Believes nothing: kernels read what is made of these arrays."""
    kinds: dict[str, tuple[Any, int]] = {
        "keys": (np.int64, 1), "rows": (np.int16, 2), "heads": (np.int64, 1), "modifiers": (np.int64, 1), "pairs": (np.int16, 4),
        "unit": (np.float64, 0),
    }  # fmt: skip
    found: dict[str, Any] = {part: arrays.get(f"{name}_{part}") for part in kinds}
    for part, (dtype, axes) in kinds.items():
        array = found[part]
        if array is None or array.dtype != dtype or array.ndim != axes:
            raise FormatError(f"{where}: {name}_{part} is missing or damaged: expected {np.dtype(dtype).name} with {axes} axes.")
        found[part] = float(array) if part == "unit" else np.ascontiguousarray(array)
    if not FINEST_UNIT <= found["unit"] <= COARSEST_UNIT or math.frexp(found["unit"])[0] != 0.5:
        raise FormatError(f"{where}: {name}_unit is {found['unit']}: expected a power of two.")
    for part in ("keys", "heads", "modifiers"):
        if not (found[part][1:] > found[part][:-1]).all():
            raise FormatError(f"{where}: {name}_{part} are damaged: expected them to ascend.")
    try:
        return RowModel(features, **found)
    except InputError as error:
        raise FormatError(f"{where}: {name}_rows are damaged: {error}") from None
