"""The relaxed lattice whose ends also know whether a source word is translated (Chang & Collins 2011, section 5).

Every end and first is doubled: before the word and after it. A phrase with the word leads from the one to the other, all others stay where
they are, and the sentence ends after it: paths translate the word exactly once. A lattice is far smaller than the graph of its paths, as
arcs into firsts and arcs out of them are not multiplied, so that this is the cheaper place to do it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from zerogap.oracles.phrases.lattice import Lattice


def knowing(lattice: Lattice, word: int, starts: NDArray[np.int64], ends: NDArray[np.int64]) -> Lattice:
    """End x becomes 2 x before the word and 2 x + 1 after it, and so do firsts; `starts` and `ends` are those of the options."""
    both = np.arange(2)
    below = lattice.shorter_end[:, None]
    final = np.stack([np.full(len(lattice.final), -np.inf), lattice.final], axis=1)
    enter_sizes = np.diff(lattice.enter_start)
    enter_start, enter_at, enter_bit = doubled(lattice.enter_start, np.repeat(enter_sizes, 2))
    # phrases with the word leave only what is before it
    crosses = (starts[lattice.leave_option] <= word) & (word < ends[lattice.leave_option])
    n_firsts = len(lattice.leave_start) - 1
    owner = np.repeat(np.arange(n_firsts), np.diff(lattice.leave_start))
    stays = np.flatnonzero(~crosses)
    source = np.concatenate([2 * owner, 2 * owner[stays] + 1])
    arcs = np.concatenate([np.arange(len(owner)), stays])
    bit = np.concatenate([crosses.astype(np.int64), np.ones(len(stays), dtype=np.int64)])
    order = np.argsort(source, kind="stable")
    arcs, bit = arcs[order], bit[order]
    return Lattice(
        2 * lattice.end_range, np.repeat(lattice.end_state, 2), np.where(below < 0, -1, 2 * below + both).ravel(),
        np.repeat(lattice.shorter_score, 2), final.ravel(),
        enter_start, (2 * lattice.enter_first[enter_at] + enter_bit).astype(np.int32), lattice.enter_score[enter_at],
        2 * lattice.first_range, (2 * lattice.first_group[:, None] + both).ravel(),
        np.searchsorted(source[order], np.arange(2 * n_firsts + 1)), lattice.leave_option[arcs],
        (2 * lattice.leave_end[arcs] + bit).astype(np.int32), lattice.leave_score[arcs],
    )  # fmt: skip


def doubled(start: NDArray[np.int64], sizes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Every row twice: where the rows start, which entries they have, and whether it is the second of the two."""
    begin = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    at = np.repeat(np.repeat(start[:-1], 2) - begin[:-1], sizes) + np.arange(begin[-1])
    return begin, at, np.repeat(np.arange(len(sizes)) % 2, sizes)
