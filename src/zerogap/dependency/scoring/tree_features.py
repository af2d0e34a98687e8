"""The keys of the features of a tree, part after part: the definition of what it scores (see `scoring`)."""

# mypy: disable-error-code="no-untyped-def"
# a kernel's types are its signature

from __future__ import annotations

import numpy as np

from zerogap.dependency.scoring.parts import (
    ACROSS,
    ARC,
    BETWEEN,
    GRAND,
    GRANDPARENT,
    GRANDSIBLING,
    HEAD,
    LEFT,
    MOD,
    RIGHT,
    SIB,
    SIBLING,
    STOP,
    arc_relations,
    sibling_relations,
    turn,
)
from zerogap.features.parts.keys import ENCODED, PLAN
from zerogap.features.parts.templates import DIRECTION
from zerogap.features.parts.weight_table import CLEAR
from zerogap.kernels import boolean, inner, int64, kernel, readonly, writable


@inner
def add_inside(partial, across, token, inside, n_inside):  # out: inside
    """Adds a token that lies between head and modifier, unless one like it is there (by the first template that reads it)."""
    for i in range(n_inside):
        if partial[BETWEEN, inside[i], across] == partial[BETWEEN, token, across]:
            return n_inside
    inside[n_inside] = token
    return n_inside + 1


@kernel(
    int64(
        ENCODED, PLAN,
        readonly(boolean, 2), readonly(int64, 1), writable(int64, 1),
    )
)  # fmt: skip
def choice_keys(encoded, plan, chosen, heads, keys):
    """The keys of all features of the arcs that are chosen, if words take themselves to have these heads; returns how many.

    That is a tree if chosen[heads[m - 1], m] and nothing else is. out: keys, long enough.
    """
    partial, totals = encoded
    kind_start, relation, _, templates, codes = plan
    n = heads.shape[0]
    relations = np.zeros(codes.shape[0], dtype=np.int64)
    inside = np.empty(n + 1, dtype=np.int64)
    none = n + 1
    size = 0
    across = kind_start[ACROSS]
    for h in range(n + 1):
        for side in range(2):
            if h == 0 and side == LEFT:
                continue
            step = 1 if side == RIGHT else -1
            s = none
            m = h + step
            while 1 <= m <= n:
                if not chosen[h, m]:
                    m += step
                    continue
                arc_relations(h, m, totals, codes, relations)
                for t in range(kind_start[ARC], kind_start[ARC + 1]):
                    keys[size] = ((partial[HEAD, h, t] + partial[MOD, m, t] + relations[relation[t]]) & CLEAR) | templates[t]
                    size += 1
                if kind_start[ACROSS] < kind_start[ACROSS + 1]:
                    n_inside = 0
                    b = h + step
                    while b != m:
                        n_inside = add_inside(partial, across, b, inside, n_inside)
                        b += step
                    for t in range(kind_start[ACROSS], kind_start[ACROSS + 1]):
                        base = partial[HEAD, h, t] + partial[MOD, m, t] + relations[relation[t]]
                        for i in range(n_inside):
                            keys[size] = ((base + partial[BETWEEN, inside[i], t]) & CLEAR) | templates[t]
                            size += 1
                sibling_relations(h, h if s == none else s, m, codes, relations)
                for t in range(kind_start[SIBLING], kind_start[SIBLING + 1]):
                    key = partial[HEAD, h, t] + partial[SIB, s, t] + partial[MOD, m, t] + relations[relation[t]]
                    keys[size] = (key & CLEAR) | templates[t]
                    size += 1
                if h > 0:
                    g = heads[h - 1]
                    code = codes[DIRECTION, turn(g, h, m)]
                    for t in range(kind_start[GRANDPARENT], kind_start[GRANDPARENT + 1]):
                        key = partial[GRAND, g, t] + partial[HEAD, h, t] + partial[MOD, m, t] + code
                        keys[size] = (key & CLEAR) | templates[t]
                        size += 1
                    for t in range(kind_start[GRANDSIBLING], kind_start[GRANDSIBLING + 1]):
                        key = partial[GRAND, g, t] + partial[HEAD, h, t] + partial[SIB, s, t] + partial[MOD, m, t] + code
                        keys[size] = (key & CLEAR) | templates[t]
                        size += 1
                s = m
                m += step
            for t in range(kind_start[STOP], kind_start[STOP + 1]):
                keys[size] = ((partial[HEAD, h, t] + partial[SIB, s, t] + codes[DIRECTION, side]) & CLEAR) | templates[t]
                size += 1
    return size
