"""Weights of features in an open-addressing table: a 64-bit key finds its weight in one step or two, an unseen key weighs exactly 0.

A key is the sum of random-looking 64-bit numbers; its low byte is the number of its template, so that weights can be told apart by
template while they are learned. Its high bits say where in the table the search for it begins. 56 random bits: among ten million features,
two share a key with a probability of about one in a thousand.

Key and weight stand next to each other, in one line of the processor's cache: `cells` is an array of 64-bit integers, and `numbers` is the
same memory read as float64. Place p has its key in cells[2 p] and its weight in numbers[2 p + 1].
"""

# mypy: disable-error-code="no-untyped-def"
# a kernel's types are its signature

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from zerogap.grid import Scores
from zerogap.oracles.compile import float64, inner, int64, kernel, readonly, writable

EMPTY = 0  # no key: one of 0 would be as good as unseen
CLEAR = -256  # what is left of a key without its template

Keys = NDArray[np.int64]


@inner
def shift_of(cells):
    """How far a key is shifted to the right so that as many of its high bits are left as there are places for."""
    shift, size = 64, cells.shape[0] >> 1
    while size > 1:
        size >>= 1
        shift -= 1
    return shift


@inner
def cell_of(key, cells, shift):
    """The cell of the key, or the empty one where it would be put."""
    mask = cells.shape[0] - 1
    cell = ((key >> shift) << 1) & mask
    while cells[cell] != key and cells[cell] != EMPTY:
        cell = (cell + 2) & mask
    return cell


@kernel(int64(readonly(int64, 1), readonly(float64, 1), writable(int64, 1), writable(float64, 1)))
def put_all(keys, weights, cells, numbers):  # out: cells, numbers (a power of two of them, given as EMPTY)
    """Fills a table; returns how many keys were there already."""
    shift = shift_of(cells)
    again = 0
    for i in range(keys.shape[0]):
        cell = cell_of(keys[i], cells, shift)
        again += cells[cell] == keys[i]
        cells[cell] = keys[i]
        numbers[cell + 1] = weights[i]
    return again


def table_of(keys: Keys, weights: Scores) -> tuple[Keys, Scores]:
    """Cells and numbers of a table that is only read."""
    places = 1 << max(int(2 * len(keys)).bit_length(), 4)
    cells = np.zeros(2 * places, dtype=np.int64)
    put_all(keys, weights, cells, cells.view(np.float64))
    return cells, cells.view(np.float64)
