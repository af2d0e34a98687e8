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
from zerogap.kernels import float64, int32, int64, kernel, readonly, writable
from zerogap.oracles.phrases.lattice import LATTICE_TYPES, Lattice


class Outside(NamedTuple):
    """Scores of ends (n + 1 + longest, ends) and firsts (n, firsts) by number of translated words; what lies beyond n is forbidden."""

    ends: Scores
    firsts: Scores
    leave_step: NDArray[np.int32]  # per arc from a first: how far ahead in `ends`, read as one row, it leads


@kernel(float64(int64, readonly(float64, 1), writable(float64, 2), writable(float64, 2), readonly(int32, 1), *LATTICE_TYPES))
def fill_outside(
    n, price, ends, firsts, leave_step,
    end_range, end_state, shorter_end, shorter_score, final, enter_start, enter_first, enter_score,
    first_range, first_group, leave_start, leave_option, leave_end, leave_score,
):  # fmt: skip  # out: ends, firsts
    """`price` is what a phrase receives besides its score. Returns the score of a best path."""
    n_ends, n_firsts = end_state.shape[0], leave_start.shape[0] - 1
    priced = np.empty(leave_score.shape[0])
    for i in range(leave_score.shape[0]):
        priced[i] = leave_score[i] + price[leave_option[i]]
    flat = ends.reshape(-1)
    for x in range(n_ends):
        ends[n, x] = final[x]
    for c in range(n - 1, -1, -1):
        here = c * n_ends
        after = firsts[c]
        for f in range(n_firsts):
            best = -np.inf
            for i in range(leave_start[f], leave_start[f + 1]):
                best = max(best, priced[i] + flat[here + leave_step[i]])
            after[f] = best
        first, last = (1, end_range[1]) if c == 0 else (end_range[1], n_ends)
        for x in range(first, last):
            best = -np.inf
            for i in range(enter_start[x], enter_start[x + 1]):
                best = max(best, enter_score[i] + after[enter_first[i]])
            if shorter_end[x] >= 0:
                best = max(best, shorter_score[x] + ends[c, shorter_end[x]])
            ends[c, x] = best
    if n > 0:
        best = -np.inf
        for i in range(enter_start[0], enter_start[1]):
            best = max(best, enter_score[i] + firsts[0, enter_first[i]])
        if shorter_end[0] >= 0:
            best = max(best, shorter_score[0] + ends[0, shorter_end[0]])
        ends[0, 0] = best
    return ends[0, 0]


@kernel(
    int64(int64, readonly(float64, 1), readonly(float64, 2), readonly(float64, 2), readonly(int32, 1), writable(int64, 1), *LATTICE_TYPES)
)
def read_path(
    n, price, ends, firsts, leave_step, path,
    end_range, end_state, shorter_end, shorter_score, final, enter_start, enter_first, enter_score,
    first_range, first_group, leave_start, leave_option, leave_end, leave_score,
):  # fmt: skip  # out: path (n,)
    """The phrases of a best path, by number in the options. Returns how many there are."""
    flat = ends.reshape(-1)
    n_ends = end_state.shape[0]
    length, c, x = 0, 0, np.int64(0)
    while c < n:
        target, found = ends[c, x], -1
        for i in range(enter_start[x], enter_start[x + 1]):
            if enter_score[i] + firsts[c, enter_first[i]] == target:
                found = enter_first[i]
                break
        if found < 0:
            x = shorter_end[x]
            continue
        for i in range(leave_start[found], leave_start[found + 1]):
            spot = c * n_ends + leave_step[i]
            if leave_score[i] + price[leave_option[i]] + flat[spot] == firsts[c, found]:
                path[length] = leave_option[i]
                length += 1
                c, x = spot // n_ends, np.int64(leave_end[i])
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
    n = len(lattice.first_range) - 1
    value = fill_outside(n, price, outside.ends, outside.firsts, outside.leave_step, *lattice)
    path = np.empty(n, dtype=np.int64)
    if value == -np.inf:
        return value, path[:0]
    return value, path[: read_path(n, price, outside.ends, outside.firsts, outside.leave_step, path, *lattice)]
