"""Refines the partition of an automaton's states until equivalent states are all that is left together.

Valmari & Lehtinen 2008, after Hopcroft 1971: O(m log m) for m transitions, of which any may be missing. A partition is
one array of 32-bit integers, so that kernels can hand it on.
"""

from __future__ import annotations

import numpy as np
from numba import types
from numpy.typing import NDArray

from zerogap.kernels import int32, int64, kernel, readonly, writable

# Rows of a refinable partition. Its last column counts: blocks under MARKED, touched blocks under TOUCHED.
ELEMENT, PLACE, BLOCK, FIRST, PAST, MARKED, TOUCHED = range(7)


def initial_partition(classes: NDArray[np.int64]) -> NDArray[np.int32]:
    """A refinable partition for `refine`: `classes` are 0, 1, ...; only class 0 may be missing."""
    size, counts = len(classes), np.bincount(classes) if len(classes) else np.zeros(0, dtype=np.int64)
    partition = np.zeros((7, size + 1), dtype=np.int32)
    partition[ELEMENT, :size] = np.argsort(classes, kind="stable")
    partition[PLACE, partition[ELEMENT, :size]] = np.arange(size)
    partition[BLOCK, :size] = classes
    if counts.size and counts[0] == 0:  # every element is in class 1
        partition[BLOCK, :size], counts = 0, counts[1:]
    partition[PAST, : len(counts)] = np.cumsum(counts)
    partition[FIRST, : len(counts)] = partition[PAST, : len(counts)] - counts
    partition[MARKED, size] = len(counts)
    return partition


@kernel(types.void(writable(int32, 2), int64))
def mark(partition, element):  # out: partition
    """Moves an element to the front of its block, after those marked before."""
    last = partition.shape[1] - 1
    block = partition[BLOCK, element]
    place, front = partition[PLACE, element], partition[FIRST, block] + partition[MARKED, block]
    other = partition[ELEMENT, front]
    partition[ELEMENT, place], partition[PLACE, other] = other, place
    partition[ELEMENT, front], partition[PLACE, element] = element, front
    if partition[MARKED, block] == 0:
        partition[TOUCHED, partition[TOUCHED, last]] = block
        partition[TOUCHED, last] += 1
    partition[MARKED, block] += 1


@kernel(types.void(writable(int32, 2)))
def split(partition):  # out: partition
    """Parts marked from unmarked elements; the smaller half becomes the new block, which bounds the work by O(n log n)."""
    last = partition.shape[1] - 1
    while partition[TOUCHED, last] > 0:
        partition[TOUCHED, last] -= 1
        block = partition[TOUCHED, partition[TOUCHED, last]]
        middle = partition[FIRST, block] + partition[MARKED, block]
        if middle < partition[PAST, block]:
            new = partition[MARKED, last]
            partition[MARKED, last] += 1
            if partition[MARKED, block] <= partition[PAST, block] - middle:
                partition[FIRST, new], partition[PAST, new] = partition[FIRST, block], middle
                partition[FIRST, block] = middle
            else:
                partition[FIRST, new], partition[PAST, new] = middle, partition[PAST, block]
                partition[PAST, block] = middle
            for i in range(partition[FIRST, new], partition[PAST, new]):
                partition[BLOCK, partition[ELEMENT, i]] = new
            partition[MARKED, new] = 0
        partition[MARKED, block] = 0


@kernel(
    writable(int64, 1)(
        writable(int32, 2), writable(int32, 2), readonly(int32, 1), readonly(int32, 1), readonly(int64, 1), readonly(int64, 1)
    )
)
def refine(blocks, cords, sources, targets, entering_start, entering):  # out: blocks, cords
    """The coarsest refinement of `blocks` (of states) in which transitions of one cord lead from one block to one block.

    Cords partition the transitions, at first by label. Blocks are split by the sources of each cord, cords by the block
    that they enter, until nothing is new. The first block needs no pass: the others tell its transitions apart.
    """
    block, cord = 1, 0
    while cord < cords[MARKED, cords.shape[1] - 1]:
        for i in range(cords[FIRST, cord], cords[PAST, cord]):
            mark(blocks, sources[cords[ELEMENT, i]])
        split(blocks)
        cord += 1
        while block < blocks[MARKED, blocks.shape[1] - 1]:
            for i in range(blocks[FIRST, block], blocks[PAST, block]):
                state = blocks[ELEMENT, i]
                for j in range(entering_start[state], entering_start[state + 1]):
                    mark(cords, entering[j])
            split(cords)
            block += 1
    return blocks[BLOCK, : blocks.shape[1] - 1].astype(np.int64)
