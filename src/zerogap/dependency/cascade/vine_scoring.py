"""Scores of near, root and outer arcs of a vine under a table of weights, and the keys of their features (Rush 2014, section 8.5.2).

Near arcs and those of the root have the features of arcs, but none that read what lies between; outer arcs, of templates of the kind
`outer`, read the modifier, its neighbours, and on which side its head is.
"""

# mypy: disable-error-code="no-untyped-def"
# a kernel's types are its signature

from __future__ import annotations

import numpy as np

from zerogap.dependency.scoring.parts import ARC, HEAD, LEFT, MOD, OUTER, RIGHT, add_keys, arc_relations
from zerogap.features.parts.keys import ENCODED, PLAN
from zerogap.features.parts.templates import DIRECTION
from zerogap.features.parts.weight_table import CLEAR
from zerogap.features.parts.weights import TABLE, table_shift, weights_of
from zerogap.kernels import borrowing, float64, int64, kernel, readonly, writable


@borrowing
def add_outer_keys(m, side, partial, kind_start, templates, codes, keys, size):  # out: keys, from size on
    for t in range(kind_start[OUTER], kind_start[OUTER + 1]):
        keys[size] = ((partial[MOD, m, t] + codes[DIRECTION, side]) & CLEAR) | templates[t]
        size += 1
    return size


@kernel(int64(ENCODED, PLAN, TABLE, writable(float64, 3), writable(float64, 2)))
def score_vine(encoded, plan, table, near, far):
    """out: near (2, n + 1, b + 1) and far (3, n + 1), as `oracles.vine.oracle` reads them: -inf where there is no such head."""
    partial, totals = encoded
    kind_start, _, _, templates, codes = plan
    n, band = near.shape[1] - 1, near.shape[2] - 1
    shift = table_shift(table)
    relations = np.zeros(codes.shape[0], dtype=np.int64)
    keys = np.empty(partial.shape[2], dtype=np.int64)
    begin, stop = kind_start[ARC], kind_start[ARC + 1]
    for side in range(2):
        for d in range(band + 1):
            near[side, 0, d] = -np.inf
    far[0, 0] = far[1, 0] = far[2, 0] = -np.inf
    for h in range(1, n + 1):
        near[0, h, 0] = near[1, h, 0] = -np.inf
        for side in range(2):
            for d in range(1, band + 1):
                m = h + d if side == RIGHT else h - d
                place = 0 if side == RIGHT else 1
                near[place, h, d] = -np.inf
                if 1 <= m <= n:
                    arc_relations(h, m, totals, codes, relations)
                    size = add_keys(begin, stop, partial[HEAD, h], partial[MOD, m], relations, plan, keys, 0)
                    near[place, h, d] = weights_of(keys, size, table, shift)
    for m in range(1, n + 1):
        arc_relations(0, m, totals, codes, relations)
        size = add_keys(begin, stop, partial[HEAD, 0], partial[MOD, m], relations, plan, keys, 0)
        far[0, m] = weights_of(keys, size, table, shift)
        far[1, m] = far[2, m] = -np.inf
        if m - band > 1:  # the head is to the left: the arc goes to the right
            size = add_outer_keys(m, RIGHT, partial, kind_start, templates, codes, keys, 0)
            far[1, m] = weights_of(keys, size, table, shift)
        if m + band < n:
            size = add_outer_keys(m, LEFT, partial, kind_start, templates, codes, keys, 0)
            far[2, m] = weights_of(keys, size, table, shift)
    return 0


@kernel(int64(ENCODED, PLAN, readonly(float64, 3), readonly(float64, 2), float64, writable(int64, 1), writable(float64, 1)))
def vine_keys(encoded, plan, near, far, least, keys, signs):
    """The keys of the features of every arc whose |amount| is at least `least`, with that amount; returns how many there are.

    out: keys, signs, long enough for all arcs.
    """
    partial, totals = encoded
    kind_start, _, _, templates, codes = plan
    n, band = near.shape[1] - 1, near.shape[2] - 1
    relations = np.zeros(codes.shape[0], dtype=np.int64)
    begin, stop = kind_start[ARC], kind_start[ARC + 1]
    size = 0
    for h in range(n + 1):
        for m in range(1, n + 1):
            if h == m or (h > 0 and abs(h - m) > band):
                continue
            amount = far[0, m] if h == 0 else (near[0, h, m - h] if m > h else near[1, h, h - m])
            if abs(amount) >= least:
                arc_relations(h, m, totals, codes, relations)
                first = size
                size = add_keys(begin, stop, partial[HEAD, h], partial[MOD, m], relations, plan, keys, size)
                for i in range(first, size):
                    signs[i] = amount
    for m in range(1, n + 1):
        for side in range(2):
            amount = far[1, m] if side == RIGHT else far[2, m]
            if abs(amount) >= least:
                first = size
                size = add_outer_keys(m, side, partial, kind_start, templates, codes, keys, size)
                for i in range(first, size):
                    signs[i] = amount
    return size
