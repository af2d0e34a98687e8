"""The keys of features that a step of training changes: those of arcs by how much, and those of labels.

They are in a module of their own, since whoever only parses does not want to wait for their compilation.
"""

# mypy: disable-error-code="no-untyped-def"
# a kernel's types are its signature

from __future__ import annotations

import numpy as np

from zerogap.dependency.parser.labelling import N_ROLES, find_roles, label_base
from zerogap.dependency.scoring.parts import ACROSS, ARC, BETWEEN, HEAD, LABEL, MOD, RIGHT, SENTENCE, arc_relations
from zerogap.dependency.scoring.tree_features import add_inside
from zerogap.features.parts.weight_table import CLEAR
from zerogap.kernels import float64, int64, kernel, readonly, writable


@kernel(
    int64(
        *SENTENCE, readonly(int64, 2),
        readonly(float64, 2), float64, writable(int64, 1), writable(float64, 1),
    )
)  # fmt: skip
def arc_keys(partial, kind_start, relation, run_end, templates, codes, totals, amounts, least, keys, signs):
    """The keys of the features of every arc whose |amount| is at least `least`, with that amount; returns how many there are.

    out: keys, signs, as far as they reach: if they are too short, call again with longer ones.
    """
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
        *SENTENCE, readonly(int64, 2),
        readonly(int64, 1), readonly(int64, 1), readonly(int64, 1), readonly(int64, 1), writable(int64, 1),
    )
)  # fmt: skip
def label_keys(partial, kind_start, relation, run_end, templates, codes, totals, heads, words, labels, label_codes, keys):
    """The keys of labels[i] on the arc to words[i]. out: keys (words * templates of labels)."""
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
