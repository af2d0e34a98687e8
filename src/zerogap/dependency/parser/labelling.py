"""The relation of every arc of a tree: a linear model over the arc and what surrounds it in the tree.

Each arc is labelled on its own, so the best labels are exact. What a label may be depends on the tags of head and modifier and on
the direction, as they were seen in training; for tags that were not seen together, on the tag of the modifier, or else it is free.
"""

# mypy: disable-error-code="no-untyped-def"
# a kernel's types are its signature

from __future__ import annotations

import numpy as np

from zerogap.dependency.scoring.parts import LABEL, SENTENCE, TABLE, arc_relations
from zerogap.features.parts.weight_table import CLEAR
from zerogap.features.parts.weights import table_shift, weights_of
from zerogap.kernels import float64, inner, int64, kernel, readonly, writable

HEAD, MOD, GRAND, LEFTMOST, RIGHTMOST, BEFORE, AFTER = 0, 1, 3, 5, 6, 7, 8  # places in features.part_templates.ROLES
N_ROLES = 9


@inner
def find_roles(heads, roles):  # out: roles (N_ROLES, n + 1), tokens in each role for the arc to each word; n + 1 for none
    n = heads.shape[0]
    none = n + 1
    latest = np.full(n + 1, none)  # the last modifier of every token so far
    for role in range(N_ROLES):
        for m in range(n + 1):
            roles[role, m] = none
    for m in range(1, n + 1):
        h = heads[m - 1]
        roles[HEAD, m], roles[MOD, m] = h, m
        if h > 0:
            roles[GRAND, m] = heads[h - 1]
        if roles[LEFTMOST, h] == none:
            roles[LEFTMOST, h] = m
        roles[RIGHTMOST, h] = m
        roles[BEFORE, m] = latest[h]
        if latest[h] != none:
            roles[AFTER, latest[h]] = m
        latest[h] = m


@inner
def label_base(partial, t, m, roles):
    return (
        partial[HEAD, roles[HEAD, m], t] + partial[MOD, m, t] + partial[GRAND, roles[GRAND, m], t]
        + partial[LEFTMOST, roles[LEFTMOST, m], t] + partial[RIGHTMOST, roles[RIGHTMOST, m], t]
        + partial[BEFORE, roles[BEFORE, m], t] + partial[AFTER, roles[AFTER, m], t]
    )  # fmt: skip


@kernel(
    float64(
        *SENTENCE, readonly(int64, 2),
        readonly(int64, 1), readonly(int64, 1), readonly(int64, 1), readonly(int64, 1), readonly(int64, 1),
        *TABLE, writable(int64, 1),
    )
)  # fmt: skip
def best_labels(
    partial, kind_start, relation, run_end, templates, codes, totals, heads, start, labels, label_codes, gold, cells, numbers, jumps, best
):
    """The best of the labels start[m - 1] to start[m] for the arc to each word m, and the sum of their scores. out: best (n,).

    Where gold[m - 1] is a label, all others get 1 more: what training wants (a margin of the Hamming loss).
    """
    n = heads.shape[0]
    shift = table_shift(cells, jumps)
    relations = np.zeros(codes.shape[0], dtype=np.int64)
    roles = np.empty((N_ROLES, n + 1), dtype=np.int64)
    find_roles(heads, roles)
    scores = np.empty(label_codes.shape[0])
    bases, keys = np.empty(partial.shape[2], dtype=np.int64), np.empty(partial.shape[2], dtype=np.int64)
    total = 0.0
    for m in range(1, n + 1):
        arc_relations(heads[m - 1], m, totals, codes, relations)
        first, size = start[m - 1], start[m] - start[m - 1]
        for p in range(size):
            scores[p] = 1.0 if gold[m - 1] >= 0 and labels[first + p] != gold[m - 1] else 0.0
        found = 0
        for t in range(kind_start[LABEL], kind_start[LABEL + 1]):
            bases[found] = label_base(partial, t, m, roles) + relations[relation[t]]
            found += 1
        for p in range(size):
            code = label_codes[labels[first + p]]
            for i in range(found):
                keys[i] = ((bases[i] + code) & CLEAR) | templates[kind_start[LABEL] + i]
            scores[p] += weights_of(keys, found, cells, numbers, jumps, shift)
        chosen = 0
        for p in range(1, size):
            if scores[p] > scores[chosen]:
                chosen = p
        best[m - 1] = labels[first + chosen]
        total += scores[chosen]
    return total
