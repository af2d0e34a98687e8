"""Sibling scores of candidate arcs as arrays of all siblings and stops, which the sibling dynamic program reads."""

# mypy: disable-error-code="no-untyped-def"
# a kernel's types are its signature

from __future__ import annotations

import numpy as np

from zerogap.dependency.scoring.sentence import Allowed, Block
from zerogap.grid import Scores
from zerogap.kernels import boolean, float64, int64, kernel, readonly, writable


@kernel(
    int64(
        readonly(boolean, 2), *[readonly(int64, 1)] * 4, readonly(float64, 1), readonly(float64, 1),
        writable(float64, 2), writable(float64, 3), writable(float64, 2),
    )
)  # fmt: skip
def spread_out(allowed, modifier_start, modifiers, score_start, stop_start, scores, ends, arcs, siblings, stops):
    """out: arcs, siblings and stops, the last two given as 0. The candidates have one context; what the arc scores is with the sibling."""
    size = allowed.shape[0]
    for h in range(size):
        for m in range(size):
            # a word without modifiers on a side: the arc to it scores that, and the first modifier there takes it away
            empty = ends[stop_start[2 * m]] + ends[stop_start[2 * m + 1]] if m > 0 else 0.0
            arcs[h, m] = empty if allowed[h, m] else -np.inf
        for side in range(2):
            place = 2 * h + side
            first, block, last = modifier_start[place], score_start[place], stop_start[place]
            count = modifier_start[place + 1] - first
            empty = ends[last] if h > 0 else 0.0
            for j in range(count):
                m = modifiers[first + j]
                siblings[h, h, m] = scores[block + j] - empty
                for p in range(1, j + 1):
                    siblings[h, modifiers[first + p - 1], m] = scores[block + p * count + j]
                stops[h, m] = ends[last + 1 + j]
    stops[0, 0] = ends[stop_start[1]]  # without words
    return 0


def dense_siblings(block: Block, allowed: Allowed) -> tuple[Scores, Scores, Scores]:
    """Arcs, siblings and stops; see `model.problem_of` for the scores of sides without modifiers."""
    c, size = block.candidates, len(allowed)
    arcs, siblings, stops = np.empty((size, size)), np.zeros((size, size, size)), np.zeros((size, size))
    spread_out(allowed, c.modifier_start, c.modifiers, c.score_start, c.stop_start, block.scores, block.stops, arcs, siblings, stops)
    return arcs, siblings, stops
