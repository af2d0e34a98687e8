"""The keys of features that a step of training changes, with amounts: those of arcs, of labels, and of siblings, which are scored too."""

# mypy: disable-error-code="no-untyped-def"
# a kernel's types are its signature

from __future__ import annotations

import numpy as np

from zerogap.dependency.parser.labeller import N_ROLES, find_roles, label_base
from zerogap.dependency.scoring.parts import (
    ACROSS,
    ARC,
    BETWEEN,
    HEAD,
    LABEL,
    MOD,
    RIGHT,
    SIB,
    SIBLING,
    arc_relations,
    sibling_relations,
)
from zerogap.dependency.scoring.tree_features import add_inside
from zerogap.features.parts.keys import ENCODED, PLAN
from zerogap.features.parts.weight_table import CLEAR
from zerogap.features.parts.weights import TABLE, table_shift, weights_of
from zerogap.kernels import borrowing, float64, int64, kernel, readonly, writable


@kernel(
    int64(
        ENCODED, PLAN,
        readonly(float64, 2), float64, writable(int64, 1), writable(float64, 1),
    )
)  # fmt: skip
def arc_keys(encoded, plan, amounts, least, keys, signs):
    """The keys of the features of every arc whose |amount| is at least `least`, with that amount; returns how many there are.

    out: keys, signs, as far as they reach: if they are too short, call again with longer ones.
    """
    partial, totals = encoded
    kind_start, relation, _, templates, codes = plan
    n = amounts.shape[0] - 1
    relations = np.zeros(codes.shape[0], dtype=np.int64)
    inside = np.empty(n + 1, dtype=np.int64)
    size, room = 0, keys.shape[0]
    across = kind_start[ACROSS]
    for h in range(n + 1):
        for side in range(2):
            n_inside = 0
            step = 1 if side == RIGHT else -1
            m = h + step
            while 1 <= m <= n:
                new = m - step
                if kind_start[ACROSS] < kind_start[ACROSS + 1] and new != h:
                    n_inside = add_inside(partial, across, new, inside, n_inside)
                if abs(amounts[h, m]) >= least:
                    arc_relations(h, m, totals, codes, relations)
                    for t in range(kind_start[ARC], kind_start[ACROSS + 1]):
                        base = partial[HEAD, h, t] + partial[MOD, m, t] + relations[relation[t]]
                        for i in range(1 if t < across else n_inside):
                            if size < room:
                                key = base if t < across else base + partial[BETWEEN, inside[i], t]
                                keys[size] = (key & CLEAR) | templates[t]
                                signs[size] = amounts[h, m]
                            size += 1
                m += step
    return size


@kernel(
    int64(
        ENCODED, PLAN,
        readonly(int64, 1), readonly(int64, 1), readonly(int64, 1), readonly(int64, 1), writable(int64, 1),
    )
)  # fmt: skip
def label_keys(encoded, plan, heads, words, labels, label_codes, keys):
    """The keys of labels[i] on the arc to words[i]. out: keys (words * templates of labels)."""
    partial, totals = encoded
    kind_start, relation, _, templates, codes = plan
    n = heads.shape[0]
    relations = np.zeros(codes.shape[0], dtype=np.int64)
    roles = np.empty((N_ROLES, n + 1), dtype=np.int64)
    find_roles(heads, roles)
    size = 0
    for i in range(words.shape[0]):
        m = words[i]
        arc_relations(heads[m - 1], m, totals, codes, relations)
        for t in range(kind_start[LABEL], kind_start[LABEL + 1]):
            base = label_base(partial, t, m, roles) + relations[relation[t]] + label_codes[labels[i]]
            keys[size] = (base & CLEAR) | templates[t]
            size += 1
    return size


@borrowing
def add_sibling_keys(h, s, m, partial, kind_start, relation, templates, codes, relations, keys, size):  # out: relations, keys from size on
    """s == h: m is the first modifier."""
    sibling_relations(h, s, m, codes, relations)
    sib = partial.shape[1] - 1 if s == h else s
    for t in range(kind_start[SIBLING], kind_start[SIBLING + 1]):
        key = partial[HEAD, h, t] + partial[SIB, sib, t] + partial[MOD, m, t] + relations[relation[t]]
        keys[size] = (key & CLEAR) | templates[t]
        size += 1
    return size


@kernel(int64(ENCODED, PLAN, TABLE, readonly(int64, 2), writable(float64, 1)))
def score_siblings(encoded, plan, table, parts, scores):
    """out: scores (parts,) of (h, s, m), without those of arcs."""
    partial = encoded.partial
    kind_start, relation, _, templates, codes = plan
    shift = table_shift(table)
    relations = np.zeros(codes.shape[0], dtype=np.int64)
    keys = np.empty(partial.shape[2], dtype=np.int64)
    for p in range(parts.shape[0]):
        h, s, m = parts[p, 0], parts[p, 1], parts[p, 2]
        size = add_sibling_keys(h, s, m, partial, kind_start, relation, templates, codes, relations, keys, 0)
        scores[p] = weights_of(keys, size, table, shift)
    return 0


@kernel(int64(ENCODED, PLAN, readonly(int64, 2), readonly(float64, 1), writable(int64, 1), writable(float64, 1)))
def sibling_keys(encoded, plan, parts, amounts, keys, signs):
    """The keys of siblings with their amounts; returns how many there are. out: keys, signs (parts * templates of siblings)."""
    partial = encoded.partial
    kind_start, relation, _, templates, codes = plan
    relations = np.zeros(codes.shape[0], dtype=np.int64)
    size = 0
    for p in range(parts.shape[0]):
        first = size
        h, s, m = parts[p, 0], parts[p, 1], parts[p, 2]
        size = add_sibling_keys(h, s, m, partial, kind_start, relation, templates, codes, relations, keys, size)
        for i in range(first, size):
            signs[i] = amounts[p]
    return size
