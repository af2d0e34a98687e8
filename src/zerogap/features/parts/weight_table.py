"""Weights of features while they are learned, in an open-addressing table: a key finds its weight in one step or two.

A key is the sum of random-looking 64-bit numbers; its low byte is the number of its template, so that weights can be told apart by
template while they are learned. Its high bits say where in the table the search for it begins. 56 random bits: among ten million features,
two share a key with a probability of about one in a thousand. An unseen key weighs exactly 0.

Key and weight stand next to each other, in one line of the processor's cache: `cells` is an array of 64-bit integers, and `numbers` is the
same memory read as float64. Place p has its key in cells[2 p] and its weight in numbers[2 p + 1].
"""

# mypy: disable-error-code="no-untyped-def"
# a kernel's types are its signature

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from zerogap.kernels import inner

EMPTY = 0  # no key: one of 0 would be as good as unseen
CLEAR = -256  # what is left of a key without its template

Keys = NDArray[np.int64]


@inner
def shift_of(places):
    """How far a key is shifted to the right so that as many of its high bits are left as there are places for."""
    shift = 64
    while places > 1:
        places >>= 1
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
