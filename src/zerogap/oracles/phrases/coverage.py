"""The source words that a hypothesis has translated: all before the first gap, and a window of 64 words from there on.

Bit k of a coverage stands for word `gap + k`; bit 0, the gap itself, is never set. With the number of translated words, a coverage says
where its gap is, so that sentences may be of any length. What would be translated beyond the window is refused: within a limit of jumps
that hardly ever happens, and a search that refuses says so.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zerogap.kernels import boolean, float64, inlined, int64, kernel, readonly, record, types

uint64 = types.uint64
WINDOW = 64  # words


class Reordering(NamedTuple):
    """In which order phrases may be translated, and what that costs."""

    reach: int  # words: how far a jump may lead
    moses: bool  # a phrase that does not begin at the gap ends within reach of it
    distortion: float  # the price of a jump over one word
    jumps: NDArray[np.bool_]  # (n + 1, n): whether a phrase may begin there after one that ends here
    rules: NDArray[np.int64]  # (rules, 4): walls and zones, see `obeys`


class Spans(NamedTuple):
    """The source words of options."""

    starts: NDArray[np.int64]
    lengths: NDArray[np.int64]


SPANS = record(Spans, readonly(int64, 1), readonly(int64, 1))
REORDERING = record(Reordering, int64, boolean, float64, readonly(boolean, 2), readonly(int64, 2))


@inlined
def gap_of(bits, translated):
    """The first untranslated word."""
    x = bits - ((bits >> np.uint64(1)) & np.uint64(0x5555555555555555))
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return translated - np.int64((x * np.uint64(0x0101010101010101)) >> np.uint64(56))


@inlined
def has_word(bits, k):
    """Whether word gap + k is translated."""
    return k < WINDOW and (bits >> np.uint64(min(k, WINDOW - 1))) & np.uint64(1) != 0


@inlined
def ones(k):
    """k bits from bit 0 on."""
    return ~np.uint64(0) if k >= WINDOW else (np.uint64(1) << np.uint64(k)) - np.uint64(1)


@inlined
def overlaps(bits, offset, k):
    """Whether some of k words from gap + offset on is translated; offset may be negative."""
    return offset < 0 or (offset < WINDOW and (bits >> np.uint64(min(max(offset, 0), WINDOW - 1))) & ones(k) != 0)


@kernel(uint64(uint64, int64, int64))
def joined(bits, offset, k):
    """The coverage with k more words from gap + offset on, which are free and within the window."""
    if offset > 0:
        return bits | (ones(k) << np.uint64(offset))
    moved = np.uint64(0) if k >= WINDOW else bits >> np.uint64(k)
    while moved & np.uint64(1):
        moved >>= np.uint64(1)
    return moved


@kernel(boolean(uint64, int64, int64))
def reaches_back(bits, at, reach):
    """Whether jumps of at most `reach` words can lead from an end at gap + at to the gap, over untranslated words."""
    position = at
    while position > reach:
        u = position - reach
        while u < position and has_word(bits, u):
            u += 1
        if u + 1 >= position:  # no step to the left
            break
        position = u + 1
    return position <= reach


@kernel(boolean(uint64, int64, int64, int64, readonly(int64, 2)))
def obeys(bits, gap, start, end, rules):
    """Whether a phrase that leaves this coverage obeys all rules (kind, first, middle, last): walls are 0, zones 1."""
    for r in range(rules.shape[0]):
        kind, first, middle, last = rules[r, 0], rules[r, 1], rules[r, 2], rules[r, 3]
        if kind == 0:
            if start >= last or end <= middle:
                continue
            last = middle
        elif start >= first and end <= last:
            continue
        # words first to last: all, or none in a zone
        if last <= gap or first == last:
            continue
        if kind == 1 and first >= gap and not overlaps(bits, first - gap, last - first):
            continue
        low = first - gap
        if low <= 0 or last - gap > WINDOW:
            return False
        want = ones(last - first) << np.uint64(low)
        if bits & want != want:
            return False
    return True


@inlined
def extended(bits, gap, translated, start, k, order):
    """(1 and the coverage with a phrase of k words from `start` on; 0 if it may not follow; -1 if it reaches beyond the window)."""
    status, now = np.int64(0), bits
    if not overlaps(bits, start - gap, k):
        if start != gap and start + k - gap > WINDOW:
            status = np.int64(-1)
        else:
            now = joined(bits, start - gap, k)
            far = start != gap and start + k - gap > order.reach
            if not far or (not order.moses and reaches_back(now, start + k - gap, order.reach)):
                if order.rules.shape[0] == 0 or obeys(now, gap_of(now, translated + k), start, start + k, order.rules):
                    status = np.int64(1)
    return status, now
