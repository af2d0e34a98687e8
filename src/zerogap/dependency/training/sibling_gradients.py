"""Scores of given siblings, and the keys of their features: for learners that see them as hyperedges.

They are in a module of their own, since whoever only parses does not want to wait for their compilation.
"""

# mypy: disable-error-code="no-untyped-def"
# a kernel's types are its signature

from __future__ import annotations

import numpy as np

from zerogap.dependency.scoring.parts import HEAD, MOD, SENTENCE, SIB, SIBLING, TABLE, sibling_relations
from zerogap.features.parts.weight_table import CLEAR
from zerogap.features.parts.weights import table_shift, weights_of
from zerogap.kernels import float64, inner, int64, kernel, readonly, writable


@inner
def add_sibling_keys(h, s, m, partial, kind_start, relation, templates, codes, relations, keys, size):  # out: relations, keys from size on
    """s == h: m is the first modifier."""
    sibling_relations(h, s, m, codes, relations)
    sib = partial.shape[1] - 1 if s == h else s
    for t in range(kind_start[SIBLING], kind_start[SIBLING + 1]):
        key = partial[HEAD, h, t] + partial[SIB, sib, t] + partial[MOD, m, t] + relations[relation[t]]
        keys[size] = (key & CLEAR) | templates[t]
        size += 1
    return size


@kernel(int64(*SENTENCE, *TABLE, readonly(int64, 2), writable(float64, 1)))
def score_siblings(partial, kind_start, relation, run_end, templates, codes, cells, numbers, jumps, parts, scores):
    """out: scores (parts,) of (h, s, m), without those of arcs."""
    shift = table_shift(cells, jumps)
    relations = np.zeros(codes.shape[0], dtype=np.int64)
    keys = np.empty(partial.shape[2], dtype=np.int64)
    for p in range(parts.shape[0]):
        h, s, m = parts[p, 0], parts[p, 1], parts[p, 2]
        size = add_sibling_keys(h, s, m, partial, kind_start, relation, templates, codes, relations, keys, 0)
        scores[p] = weights_of(keys, size, cells, numbers, jumps, shift)
    return 0


@kernel(int64(*SENTENCE, readonly(int64, 2), readonly(float64, 1), writable(int64, 1), writable(float64, 1)))
def sibling_keys(partial, kind_start, relation, run_end, templates, codes, parts, amounts, keys, signs):
    """The keys of siblings with their amounts; returns how many there are. out: keys, signs (parts * templates of siblings)."""
    relations = np.zeros(codes.shape[0], dtype=np.int64)
    size = 0
    for p in range(parts.shape[0]):
        first = size
        h, s, m = parts[p, 0], parts[p, 1], parts[p, 2]
        size = add_sibling_keys(h, s, m, partial, kind_start, relation, templates, codes, relations, keys, size)
        for i in range(first, size):
            signs[i] = amounts[p]
    return size
