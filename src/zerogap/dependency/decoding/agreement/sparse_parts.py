"""Larger parts that are listed, put where the automata of their heads read them: in time that grows with the list (see `head_scores`)."""

# mypy: disable-error-code="no-untyped-def"
# a kernel's types are its signature

from __future__ import annotations

import numpy as np

from zerogap.kernels import float64, int64, kernel, readonly
from zerogap.oracles.heads.automata import TABLES_TO_FILL

KINDS = ("siblings", "grandparents", "grandsiblings", "outermost")
SIBLINGS, GRANDPARENTS, GRANDSIBLINGS, OUTERMOST = range(4)


@kernel(int64(int64, readonly(int64, 1), readonly(float64, 1), TABLES_TO_FILL))
def add_listed_parts(kind, keys, scores, automata):  # out: the table of the kind
    """Keys are indices as numbers in base n + 1. Parts of arcs that are no candidates, or that no tree can have together, are left out."""
    modifier_start, modifiers, context = automata.modifier_start, automata.modifiers, automata.context
    size = automata.contexts.shape[0]
    table, starts = automata.pairs, automata.pair_start
    if kind == GRANDPARENTS:
        table, starts = automata.grand, automata.grand_start
    elif kind == GRANDSIBLINGS:
        table, starts = automata.joint, automata.joint_start
    elif kind == OUTERMOST:
        table, starts = automata.outer, automata.outer_start
    position = np.full((size, size), -1)
    for place in range(2 * size):
        for a in range(modifier_start[place], modifier_start[place + 1]):
            position[place >> 1, modifiers[a]] = a
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
            if above < 0 or automata.grand[automata.grand_start[place] + context[above] * q + j] == -np.inf:
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
