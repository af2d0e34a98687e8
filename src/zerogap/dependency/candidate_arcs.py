"""Which arcs are left after pruning, laid out as the grand-sibling kernel reads them."""

# mypy: disable-error-code="no-untyped-def"
# a kernel's types are its signature

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zerogap.kernels import boolean, int64, kernel, readonly, writable

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """The modifiers that every token may have, outward on each side; see `oracles.trees.grandsiblings` for the layout."""

    contexts: Integers  # (n + 1,)
    modifier_start: Integers  # (2 (n + 1) + 1,)
    heads: Integers  # (arcs,)
    modifiers: Integers  # (arcs,)
    context: Integers  # (arcs,)
    score_start: Integers  # (2 (n + 1) + 1,): of scores by context, the modifier before (none is the first) and modifier
    stop_start: Integers  # by context and last modifier
    pair_start: Integers  # by the modifier before and modifier
    grand_start: Integers  # by context and modifier
    grand: bool  # whether contexts are the candidate heads of a head, or one for all of them

    @property
    def n_words(self) -> int:
        return len(self.contexts) - 1


@kernel(
    int64(
        readonly(boolean, 2), int64,
        writable(int64, 1), writable(int64, 1), writable(int64, 1), writable(int64, 1), writable(int64, 1), writable(int64, 2),
    )
)  # fmt: skip
def lay_out(allowed, grand, contexts, modifier_start, heads, modifiers, context, starts):
    """out: all after grand; starts (4, 2 (n + 1) + 1): of scores, stops, pairs and grand."""
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
    at, scores, stops, pairs, grands = 0, 0, 0, 0, 0
    for h in range(n + 1):
        for side in range(2):
            place = 2 * h + side
            modifier_start[place] = at
            starts[0, place], starts[1, place], starts[2, place], starts[3, place] = scores, stops, pairs, grands
            first = at
            if side == 0:
                for m in range(h - 1, 0, -1):
                    if allowed[h, m]:
                        heads[at], modifiers[at] = h, m
                        context[at] = seen[m] if grand else 0
                        seen[m] += 1
                        at += 1
            else:
                for m in range(h + 1, n + 1):
                    if allowed[h, m]:
                        heads[at], modifiers[at] = h, m
                        context[at] = seen[m] if grand else 0
                        seen[m] += 1
                        at += 1
            size = at - first
            scores += contexts[h] * (size + 1) * size
            stops += contexts[h] * (size + 1)
            pairs += (size + 1) * size
            grands += contexts[h] * size
    end = 2 * n + 2
    modifier_start[end] = at
    starts[0, end], starts[1, end], starts[2, end], starts[3, end] = scores, stops, pairs, grands
    return 0


def candidates_of(allowed: NDArray[np.bool_], *, grand: bool) -> Candidates:
    """The layout of the arcs that are True in (n + 1, n + 1); column 0 and the diagonal mean nothing and must be False."""
    n, arcs = len(allowed) - 1, int(np.count_nonzero(allowed))
    contexts, modifier_start = np.empty(n + 1, dtype=np.int64), np.empty(2 * n + 3, dtype=np.int64)
    heads, modifiers, context = np.empty((3, arcs), dtype=np.int64)
    starts = np.empty((4, 2 * n + 3), dtype=np.int64)
    lay_out(allowed, 1 if grand else 0, contexts, modifier_start, heads, modifiers, context, starts)
    scores, stops, pairs, grands = starts
    return Candidates(contexts, modifier_start, heads, modifiers, context, scores, stops, pairs, grands, grand)
