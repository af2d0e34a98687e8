"""Weights of many features at once, as scoring reads them: from a table that is being learned, or from one that is only read.

A table is three arrays, cells, numbers and jumps. Without jumps, it is one of `weight_table`; with them, it is one of `packed_table`,
and its only number is the unit of its weights.
"""

# mypy: disable-error-code="no-untyped-def"
# a kernel's types are its signature

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from zerogap.features.parts.packed_table import Jumps, bucket_of_key, is_marked, step_of, steps_of
from zerogap.features.parts.weight_table import EMPTY, Keys, cell_of, shift_of
from zerogap.grid import Scores
from zerogap.kernels import borrowing, float64, int64, readonly, record, uint32


class Table(NamedTuple):
    """A table of weights as kernels read it."""

    cells: Keys
    numbers: Scores
    jumps: Jumps


TABLE = record(Table, readonly(int64, 1), readonly(float64, 1), readonly(uint32, 1))


@borrowing
def table_shift(table):
    """How far a key is shifted to find its place."""
    return shift_of(table.cells.shape[0] if table.jumps.shape[0] else table.cells.shape[0] >> 1)


@borrowing
def weights_of(keys, size, table, shift):  # out: keys (scratch)
    """The sum of the weights of the first keys."""
    cells, numbers, jumps = table
    if jumps.shape[0]:
        return steps_of(keys, size, cells, jumps, shift) * numbers[0]
    mask = cells.shape[0] - 1
    total = 0.0
    for i in range(size):
        key = keys[i]
        cell = ((key >> shift) << 1) & mask
        found = cells[cell]
        total += numbers[cell + 1] if found == key else 0.0
        if found != key and found != EMPTY:  # almost always the first cell decides
            cell = cell_of(key, cells, shift)
            total += numbers[cell + 1] if cells[cell] != EMPTY else 0.0
    return total


@borrowing
def add_weights(keys, owners, size, table, shift, totals):  # out: totals; keys and owners (scratch)
    """Adds the weight of each of the first keys to the total of its owner: what many parts wait for is then on its way at once."""
    cells, numbers, jumps = table
    if jumps.shape[0]:
        unit, marked = numbers[0], 0
        for i in range(size):
            key = keys[i]
            keys[marked], owners[marked] = key, owners[i]
            marked += is_marked(np.uint64(key), bucket_of_key(np.uint64(key), jumps))
        for i in range(marked):
            totals[owners[i]] += step_of(keys[i], cells, jumps, shift) * unit
        return 0
    for i in range(size):
        cell = cell_of(keys[i], cells, shift)
        totals[owners[i]] += numbers[cell + 1] if cells[cell] != EMPTY else 0.0
    return 0
