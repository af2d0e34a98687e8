"""Which arcs are left after pruning, laid out as the grand-sibling kernel reads them."""

# mypy: disable-error-code="no-untyped-def"
# a kernel's types are its signature

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zerogap.oracles.compile import boolean, int64, kernel, readonly, writable

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """The modifiers that every token may have, outward on each side; see `oracles.grandsiblings` for the layout."""

    contexts: Integers  # (n + 1,)
    modifier_start: Integers  # (2 (n + 1) + 1,)
    modifiers: Integers  # (arcs,)
    context: Integers  # (arcs,)
    score_start: Integers  # (2 (n + 1) + 1,)
    stop_start: Integers  # (2 (n + 1) + 1,)
    grand: bool  # whether contexts are the candidate heads of a head, or one for all of them

    @property
    def n_words(self) -> int:
        return len(self.contexts) - 1


@kernel(
    int64(
        readonly(boolean, 2), int64,
        writable(int64, 1), writable(int64, 1), writable(int64, 1), writable(int64, 1), writable(int64, 1), writable(int64, 1),
    )
)  # fmt: skip
def lay_out(allowed, grand, contexts, modifier_start, modifiers, context, score_start, stop_start):  # out: all after grand
    n = allowed.shape[0] - 1
    contexts[0] = 1
    for m in range(1, n + 1):
        count = 1
        if grand:
            count = 0
            for h in range(n + 1):
                count += allowed[h, m]
        contexts[m] = count
    seen = np.zeros(n + 1, dtype=np.int64)  # candidate heads of each word so far: heads come in ascending order
    at, scores, stops = 0, 0, 0
    for h in range(n + 1):
        for side in range(2):
            place = 2 * h + side
            modifier_start[place], score_start[place], stop_start[place] = at, scores, stops
            first = at
            if side == 0:
                for m in range(h - 1, 0, -1):
                    if allowed[h, m]:
                        modifiers[at] = m
                        context[at] = seen[m] if grand else 0
                        seen[m] += 1
                        at += 1
            else:
                for m in range(h + 1, n + 1):
                    if allowed[h, m]:
                        modifiers[at] = m
                        context[at] = seen[m] if grand else 0
                        seen[m] += 1
                        at += 1
            size = at - first
            scores += contexts[h] * (size + 1) * size
            stops += contexts[h] * (size + 1)
    end = 2 * n + 2
    modifier_start[end], score_start[end], stop_start[end] = at, scores, stops
    return 0


def candidates_of(allowed: NDArray[np.bool_], *, grand: bool) -> Candidates:
    """The layout of the arcs that are True in (n + 1, n + 1); column 0 and the diagonal mean nothing and must be False."""
    n, arcs = len(allowed) - 1, int(np.count_nonzero(allowed))
    flat = np.empty(n + 1 + 3 * (2 * n + 3) + 2 * arcs, dtype=np.int64)
    arrays, begin = [], 0
    for size in (n + 1, 2 * n + 3, arcs, arcs, 2 * n + 3, 2 * n + 3):
        arrays.append(flat[begin : begin + size])
        begin += size
    lay_out(allowed, 1 if grand else 0, *arrays)
    contexts, modifier_start, modifiers, context, score_start, stop_start = arrays
    return Candidates(contexts, modifier_start, modifiers, context, score_start, stop_start, grand)
