"""Larger parts that are listed, put where the automata of their heads read them: in time that grows with the list (see `head_scores`)."""

# mypy: disable-error-code="no-untyped-def"
# a kernel's types are its signature

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from zerogap.dependency.candidate_arcs import Candidates
from zerogap.grid import Scores
from zerogap.kernels import float64, int64, kernel, readonly, writable
from zerogap.problems.dependency.parts import SparseParts

KINDS = ("siblings", "grandparents", "grandsiblings", "outermost")
SIBLINGS, GRANDPARENTS, GRANDSIBLINGS, OUTERMOST = range(4)


@kernel(
    int64(
        int64, readonly(int64, 1), readonly(float64, 1), readonly(int64, 1), readonly(int64, 1), readonly(int64, 1), readonly(int64, 1),
        readonly(int64, 1), readonly(int64, 1), readonly(float64, 1), writable(float64, 1),
    )
)  # fmt: skip
def add_listed_parts(kind, keys, scores, heads, modifiers, modifier_start, context, starts, grand_start, grand, table):  # out: table
    """Keys are indices as numbers in base n + 1. Parts of arcs that are no candidates, or that no tree can have together, are left out."""
    size = modifier_start.shape[0] // 2
    position = np.full((size, size), -1)
    for a in range(heads.shape[0]):
        position[heads[a], modifiers[a]] = a
    for i in range(keys.shape[0]):
        key = keys[i]
        m = key % size
        key //= size
        s = -1
        if kind in (SIBLINGS, GRANDSIBLINGS):
            s = key % size
            key //= size
        h = key % size
        arc = position[h, m]
        if arc < 0:
            continue
        place = 2 * h + (1 if m > h else 0)
        first = modifier_start[place]
        q, j = modifier_start[place + 1] - first, arc - first
        row = 0
        if s >= 0 and s != h:
            if position[h, s] < 0:
                continue
            row = position[h, s] - first + 1
        k = 0
        if kind != SIBLINGS:
            above = position[key // size, h]
            if above < 0 or grand[grand_start[place] + context[above] * q + j] == -np.inf:
                continue
            k = context[above]
        if kind == SIBLINGS:
            table[starts[place] + row * q + j] += scores[i]
        elif kind == GRANDPARENTS:
            table[starts[place] + k * q + j] += scores[i]
        elif kind == GRANDSIBLINGS:
            table[starts[place] + (k * (q + 1) + row) * q + j] += scores[i]
        else:
            table[starts[place] + k * (q + 1) + j + 1] += scores[i]
    return 0


def add_listed(name: str, parts: SparseParts, c: Candidates, starts: NDArray[np.int64], grand: Scores, table: Scores) -> None:
    """Adds the scores to `table`, laid out by `starts`; `grand` tells which heads of heads are possible."""
    add_listed_parts(
        KINDS.index(name), parts.keys, parts.scores, c.heads, c.modifiers, c.modifier_start, c.context, starts, c.grand_start, grand, table
    )
