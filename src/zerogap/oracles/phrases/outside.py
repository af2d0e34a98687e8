"""The best completion of every partial path of the relaxed lattice, by a dynamic program from its end (Rush 2014, section 7.4.1).

    outside[c, (s, w, q)] = max over phrases p from there   score(p) - multipliers of the words of p + outside[c + |p|, end of p]
    outside[c, (e, q)]    = max( max over first words       score(jump, word) + outside[c, first],   back-off + outside[c, (e, shorter q)] )
    outside[n, (e, q)]    = score of the end of the sentence after q

c is the number of source words translated. outside[0, start] plus the sum of all multipliers is the dual (section 7.5.1), an upper bound
on every translation; a best path is read off the same table.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zerogap.grid import Scores
from zerogap.kernels import float64, int32, int64, kernel, readonly, record, writable
from zerogap.oracles.phrases.lattice import LATTICE, Lattice


class Outside(NamedTuple):
    """Scores of ends (n + 1 + longest, ends) and firsts (n, firsts) by number of translated words; what lies beyond n is forbidden."""

    ends: Scores
    firsts: Scores
    leave_step: NDArray[np.int32]  # per arc from a first: how far ahead in `ends`, read as one row, it leads


OUTSIDE = record(Outside, writable(float64, 2), writable(float64, 2), readonly(int32, 1))


@kernel(float64(LATTICE, OUTSIDE, readonly(float64, 1)))
def fill_outside(lattice, outside, price):  # out: outside
    """`price` is what a phrase receives besides its score. Returns the score of a best path."""
    n, n_ends, n_firsts = lattice.first_range.shape[0] - 1, lattice.end_state.shape[0], lattice.leave_start.shape[0] - 1
    priced = np.empty(lattice.leave_score.shape[0])
    for i in range(lattice.leave_score.shape[0]):
        priced[i] = lattice.leave_score[i] + price[lattice.leave_option[i]]
    flat = outside.ends.reshape(-1)
    for x in range(n_ends):
        outside.ends[n, x] = lattice.final[x]
    for c in range(n - 1, -1, -1):
        here = c * n_ends
        after = outside.firsts[c]
        for f in range(n_firsts):
            best = -np.inf
            for i in range(lattice.leave_start[f], lattice.leave_start[f + 1]):
                best = max(best, priced[i] + flat[here + outside.leave_step[i]])
            after[f] = best
        first, last = (1, lattice.end_range[1]) if c == 0 else (lattice.end_range[1], n_ends)
        for x in range(first, last):
            best = -np.inf
            for i in range(lattice.enter_start[x], lattice.enter_start[x + 1]):
                best = max(best, lattice.enter_score[i] + after[lattice.enter_first[i]])
            if lattice.shorter_end[x] >= 0:
                best = max(best, lattice.shorter_score[x] + outside.ends[c, lattice.shorter_end[x]])
            outside.ends[c, x] = best
    if n > 0:
        best = -np.inf
        for i in range(lattice.enter_start[0], lattice.enter_start[1]):
            best = max(best, lattice.enter_score[i] + outside.firsts[0, lattice.enter_first[i]])
        if lattice.shorter_end[0] >= 0:
            best = max(best, lattice.shorter_score[0] + outside.ends[0, lattice.shorter_end[0]])
        outside.ends[0, 0] = best
    return outside.ends[0, 0]


@kernel(int64(LATTICE, OUTSIDE, readonly(float64, 1), writable(int64, 1)))
def read_path(lattice, outside, price, path):  # out: path (n,)
    """The phrases of a best path, by number in the options. Returns how many there are."""
    flat = outside.ends.reshape(-1)
    n, n_ends = lattice.first_range.shape[0] - 1, lattice.end_state.shape[0]
    length, c, x = 0, 0, np.int64(0)
    while c < n:
        target, found = outside.ends[c, x], -1
        for i in range(lattice.enter_start[x], lattice.enter_start[x + 1]):
            if lattice.enter_score[i] + outside.firsts[c, lattice.enter_first[i]] == target:
                found = lattice.enter_first[i]
                break
        if found < 0:
            x = lattice.shorter_end[x]
            continue
        for i in range(lattice.leave_start[found], lattice.leave_start[found + 1]):
            spot = c * n_ends + outside.leave_step[i]
            if lattice.leave_score[i] + price[lattice.leave_option[i]] + flat[spot] == outside.firsts[c, found]:
                path[length] = lattice.leave_option[i]
                length += 1
                c, x = spot // n_ends, np.int64(lattice.leave_end[i])
                break
    return length


def outside_table(lattice: Lattice, lengths: NDArray[np.int64]) -> Outside:
    """A table to be filled again and again; `lengths` are the numbers of source words of the options."""
    n, n_ends = len(lattice.first_range) - 1, len(lattice.end_state)
    longest = int(lengths.max(initial=0))
    step = (lengths[lattice.leave_option] * n_ends + lattice.leave_end).astype(np.int32)
    return Outside(np.full((n + 1 + longest, n_ends), -np.inf), np.empty((n, len(lattice.leave_start) - 1)), step)


def best_path(lattice: Lattice, outside: Outside, price: Scores) -> tuple[float, NDArray[np.int64]]:
    """Fills the table; the score of a best path and its phrases, none if there is no path."""
    value = fill_outside(lattice, outside, price)
    path = np.empty(len(lattice.first_range) - 1, dtype=np.int64)
    return value, path[:0] if value == -np.inf else path[: read_path(lattice, outside, price, path)]
