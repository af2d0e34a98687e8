"""Weights of many features at once, as scoring reads them: from a table that is being learned, or from one that is only read.

A table is three arrays, cells, numbers and jumps. Without jumps, it is one of `weight_table`; with them, it is one of `packed_table`,
and its only number is the unit of its weights.
"""

# mypy: disable-error-code="no-untyped-def"
# a kernel's types are its signature

from __future__ import annotations

from zerogap.features.packed_table import Jumps, steps_of
from zerogap.features.weight_table import EMPTY, Keys, cell_of, shift_of
from zerogap.grid import Scores
from zerogap.oracles.compile import inner

Table = tuple[Keys, Scores, Jumps]


@inner
def table_shift(cells, jumps):
    """How far a key is shifted to find its place."""
    return shift_of(cells.shape[0] if jumps.shape[0] else cells.shape[0] >> 1)


@inner
def weights_of(keys, size, cells, numbers, jumps, shift):  # out: keys (scratch)
    """The sum of the weights of the first keys."""
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
