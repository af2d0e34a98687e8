"""Weights that are only read, in a table without collisions: a look costs at most two reads of memory.

Keys are thrown into buckets by some of their bits, and every bucket has a jump such that

    cell(key) = high bits of the key + jump[bucket of the key] * middle bits of the key, made odd

differs for all keys (hash and displace; Belazzougui, Botelho & Dietzfelbinger 2009): the largest buckets choose first, each the
smallest jump that lands on free cells. A cell has the bits of its key that are not its high ones, and 16 bits of weight in units: the
cell, the jump and these bits give the whole key back, so unseen keys weigh exactly 0. A processor has many such looks under way at
once, as none of them waits for what another one finds; in an open-addressing table it would guess, and be wrong, at every taken cell.

Beside its jump, a bucket has 16 marks, one for each value of four other bits of a key: without the mark, no key like this is in the bucket.
Nine of ten features that are asked for have no weight, and nearly all of these read no cell, of which there are more than fit a cache.
"""

# mypy: disable-error-code="no-untyped-def"
# a kernel's types are its signature

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from zerogap.errors import InputError
from zerogap.kernels import inlined, inner, int16, int64, kernel, readonly, uint32, writable

Keys = NDArray[np.int64]
Jumps = NDArray[np.uint32]  # of every bucket: its jump, and below its marks

WEIGHT_BITS = 16
WEIGHT_PART = (1 << WEIGHT_BITS) - 1  # of a cell
SIGN = 1 << (WEIGHT_BITS - 1)  # of a weight
FEWEST_BITS = WEIGHT_BITS  # of a cell's number: what is left of a key must fit beside the weight
FULLEST = 0.8  # share of cells that are taken
KEYS_PER_BUCKET = 2  # at least, in powers of two
BUCKET_SHIFT = 8  # below are the bits of the template
MIDDLE_SHIFT = 20
MOST_JUMP = 2**16 - 1
MARKS = 16  # of a bucket
MARK_SHIFT = 36  # bits of a key that neither the bucket nor the low byte has
LARGEST_BUCKET = 64  # of random keys, none has as many
MOST_CELLS_PER_KEY = 16


@inlined
def cell_at(key, jump, shift, last_cell):
    """All are unsigned."""
    return ((key >> shift) + jump * ((key >> np.uint64(MIDDLE_SHIFT)) | np.uint64(1))) & last_cell


@inlined
def bucket_of_key(key, jumps):
    """Unsigned, as all here."""
    return jumps[(key >> np.uint64(BUCKET_SHIFT)) & np.uint64(jumps.shape[0] - 1)]


@inlined
def is_marked(key, bucket):
    """1 if there may be such a key in the bucket, else 0."""
    return np.int64((np.uint64(bucket) >> ((key >> np.uint64(MARK_SHIFT)) & np.uint64(MARKS - 1))) & np.uint64(1))


@inlined
def step_of(key, cells, jumps, shift):
    """The weight of a key, in units."""
    high = np.uint64(shift)
    low = np.uint64(64) - high
    key = np.uint64(key)
    jump = np.uint64(bucket_of_key(key, jumps)) >> np.uint64(MARKS)
    differs = np.int64(np.uint64(cells[cell_at(key, jump, high, np.uint64(cells.shape[0] - 1))]) ^ ((key << low) & ~np.uint64(WEIGHT_PART)))
    return ((differs ^ SIGN) - SIGN) if 0 <= differs <= WEIGHT_PART else np.int64(0)


@inlined
def place_of(key, cells, jumps, shift):
    """The cell of a key, -1 if it is not there."""
    high = np.uint64(shift)
    low = np.uint64(64) - high
    key = np.uint64(key)
    bucket = bucket_of_key(key, jumps)
    cell = cell_at(key, np.uint64(bucket) >> np.uint64(MARKS), high, np.uint64(cells.shape[0] - 1))
    differs = np.int64(np.uint64(cells[cell]) ^ ((key << low) & ~np.uint64(WEIGHT_PART)))
    return np.int64(cell) if is_marked(key, bucket) and 0 <= differs <= WEIGHT_PART else np.int64(-1)


@inner
def steps_of(keys, size, cells, jumps, shift):  # out: keys (scratch)
    """The sum of the weights of the first keys, in units."""
    marked = 0
    for i in range(size):  # those that may have a weight come first; there is nothing to guess
        key = keys[i]
        keys[marked] = key
        marked += is_marked(np.uint64(key), bucket_of_key(np.uint64(key), jumps))
    total = np.int64(0)
    for i in range(marked):
        total += step_of(keys[i], cells, jumps, shift)
    return total


@inlined
def mark_of(key):
    """What a bucket with the key has among its marks."""
    return np.uint32(1) << np.uint32((np.uint64(key) >> np.uint64(MARK_SHIFT)) & np.uint64(MARKS - 1))


@kernel(int64(readonly(int64, 1), readonly(int16, 1), int64, writable(int64, 1), writable(uint32, 1)))
def place_all(keys, steps, shift, cells, jumps):  # out: cells and jumps (powers of two of them, given as 0)
    """Finds the jumps and fills the cells; returns whether it succeeded."""
    n, n_buckets = keys.shape[0], jumps.shape[0]
    high, last_cell = np.uint64(shift), np.uint64(cells.shape[0] - 1)
    start = np.zeros(n_buckets + 1, dtype=np.int64)
    for i in range(n):
        start[((keys[i] >> BUCKET_SHIFT) & (n_buckets - 1)) + 1] += 1
    largest = 0
    for b in range(n_buckets):
        largest = max(largest, start[b + 1])
        start[b + 1] += start[b]
    if largest > LARGEST_BUCKET:
        return 0
    order = np.empty(n, dtype=np.int64)
    at = start.copy()
    for i in range(n):
        b = (keys[i] >> BUCKET_SHIFT) & (n_buckets - 1)
        order[at[b]] = i
        at[b] += 1
    taken = np.zeros(cells.shape[0], dtype=np.bool_)
    chosen = np.empty(largest, dtype=np.uint64)
    for size in range(largest, 0, -1):
        for b in range(n_buckets):
            first = start[b]
            if start[b + 1] - first != size:
                continue
            jump, placed = -1, 0
            while placed < size:
                for p in range(placed):
                    taken[chosen[p]] = False
                jump += 1
                if jump > MOST_JUMP:
                    return 0
                placed = 0
                while placed < size:
                    cell = cell_at(np.uint64(keys[order[first + placed]]), np.uint64(jump), high, last_cell)
                    if taken[cell]:
                        break
                    taken[cell] = True
                    chosen[placed] = cell
                    placed += 1
            jumps[b] = jump << MARKS
            for p in range(size):
                i = order[first + p]
                jumps[b] |= mark_of(keys[i])
                cells[chosen[p]] = ((keys[i] << (64 - shift)) & ~WEIGHT_PART) | (np.int64(steps[i]) & WEIGHT_PART)
    return 1


@kernel(int64(readonly(int64, 1), readonly(int16, 1), int64, writable(int64, 1), writable(uint32, 1)))
def place_again(keys, steps, shift, cells, jumps):  # out: cells (given as 0), and the marks beside the jumps
    """Fills the cells by jumps that were found before; returns whether no two keys share one."""
    high, last_cell, last_bucket = np.uint64(shift), np.uint64(cells.shape[0] - 1), np.uint64(jumps.shape[0] - 1)
    taken = np.zeros(cells.shape[0], dtype=np.bool_)
    for i in range(keys.shape[0]):
        key = np.uint64(keys[i])
        b = (key >> np.uint64(BUCKET_SHIFT)) & last_bucket
        cell = cell_at(key, np.uint64(jumps[b]) >> np.uint64(MARKS), high, last_cell)
        if taken[cell]:
            return 0
        taken[cell] = True
        jumps[b] |= mark_of(keys[i])
        cells[cell] = ((keys[i] << (64 - shift)) & ~WEIGHT_PART) | (np.int64(steps[i]) & WEIGHT_PART)
    return 1


def packed(keys: Keys, steps: NDArray[np.int16], jumps: NDArray[np.uint16] | None = None) -> tuple[Keys, Jumps]:
    """Cells, and jumps with marks; keys are all different. Jumps that were found before save most of the time, and are not believed."""
    bits = FEWEST_BITS
    while len(keys) > FULLEST * (1 << bits):
        bits += 1
    most = max(bits + 1, (MOST_CELLS_PER_KEY * len(keys)).bit_length())
    if jumps is not None:
        bits = (len(jumps) - 1).bit_length() + KEYS_PER_BUCKET.bit_length()
        cells, found = np.zeros(1 << min(bits, most), dtype=np.int64), jumps.astype(np.uint32) << np.uint32(MARKS)
        if not (FEWEST_BITS <= bits <= most and buckets(bits) == len(jumps) and place_again(keys, steps, 64 - bits, cells, found)):
            raise InputError(f"{len(jumps):,} jumps do not part {len(keys):,} keys of features.")
        return cells, found
    while bits <= most:
        cells, found = np.zeros(1 << bits, dtype=np.int64), np.zeros(buckets(bits), dtype=np.uint32)
        if place_all(keys, steps, 64 - bits, cells, found):
            return cells, found
        bits += 1
    raise InputError(f"{len(keys):,} keys of features cannot be told apart: expected random bits.")


def jumps_alone(jumps: Jumps) -> NDArray[np.uint16]:
    """What a file keeps: marks are made again."""
    return (jumps >> np.uint32(MARKS)).astype(np.uint16)


def buckets(bits: int) -> int:
    return 1 << (bits - KEYS_PER_BUCKET.bit_length())
