"""Scores of the few arcs that passes leave, from a list of them: no work is done for arcs that are not there.

The same scores as `scoring.score_arcs` gives, which is made for all arcs of a sentence. Weights of many arcs are looked up together; what
reads one token of an arc is looked up once for all arcs of the token on one side and in one bucket of distances.
"""

# mypy: disable-error-code="no-untyped-def"
# a kernel's types are its signature

from __future__ import annotations

import numpy as np

from zerogap.dependency.scoring.parts import (
    ACROSS,
    ALONE_HEAD,
    ALONE_MOD,
    ARC,
    AT_ONCE,
    BETWEEN,
    HEAD,
    MOD,
    add_keys,
    arc_relations,
    bucket_of,
    own,
)
from zerogap.features.parts.keys import BUCKETS, ENCODED, PLAN
from zerogap.features.parts.weight_table import CLEAR
from zerogap.features.parts.weights import TABLE, add_weights, table_shift
from zerogap.kernels import boolean, float64, inner, int64, kernel, readonly, writable

VALUES = 2 * BUCKETS  # sides and buckets of distances


@inner
def neighbours_of(values, nearest):  # out: nearest (2, values, n + 1)
    """For every token and every value of tokens, the nearest token before and after it that has the value; 0 and n + 1 if there is none.

    `values` has a token of each value that words have. Returns how many values there are.
    """
    n, size = values.shape[0] - 1, 0
    kinds = np.empty(n + 1, dtype=np.int64)
    for token in range(1, n + 1):
        kind = 0
        while kind < size and values[nearest[0, kind, 0]] != values[token]:
            kind += 1
        kinds[token] = kind
        if kind == size:
            nearest[0, kind, 0] = token  # for now
            size += 1
    for kind in range(size):
        nearest[0, kind, 0] = 0
        nearest[1, kind, n] = n + 1
    for token in range(1, n + 1):
        for kind in range(size):
            nearest[0, kind, token] = nearest[0, kind, token - 1]
        if token > 1:
            nearest[0, kinds[token - 1], token] = token - 1
    for token in range(n - 1, -1, -1):
        for kind in range(size):
            nearest[1, kind, token] = nearest[1, kind, token + 1]
        nearest[1, kinds[token + 1], token] = token + 1
    return size


@kernel(int64(ENCODED, PLAN, TABLE, readonly(int64, 1), readonly(int64, 1), readonly(boolean, 1), writable(float64, 1)))
def score_listed(encoded, plan, table, heads, modifiers, is_asked, scores):
    """out: scores (arcs,), of the arcs from heads to modifiers; 0 where the modifier, (n + 1,), is not asked for."""
    partial, totals = encoded
    kind_start, relation, _, templates, codes = plan
    n, size = is_asked.shape[0] - 1, modifiers.size
    shift = table_shift(table)
    relations = np.zeros(codes.shape[0], dtype=np.int64)
    begin, alone_head, alone_mod, stop = kind_start[ARC], kind_start[ALONE_HEAD], kind_start[ALONE_MOD], kind_start[ARC + 1]
    begin_across, stop_across = kind_start[ACROSS], kind_start[ACROSS + 1]
    keys = np.empty(AT_ONCE + partial.shape[2] + (stop_across - begin_across) * n, dtype=np.int64)
    owners = np.empty(keys.size, dtype=np.int64)
    kinds, nearest = 0, np.empty((2, n if begin_across < stop_across else 0, n + 1), dtype=np.int64)
    if begin_across < stop_across:
        kinds = neighbours_of(partial[BETWEEN, : n + 1, begin_across], nearest)
    has_alone = alone_head < stop
    sums = np.zeros(size + (2 * (n + 1) * VALUES if has_alone else 0))  # of arcs, then of their heads and modifiers alone
    is_known = np.zeros(sums.size - size, dtype=np.bool_)
    found = 0
    for p in range(size):
        h, m = heads[p], modifiers[p]
        if not is_asked[m]:
            continue
        if found >= AT_ONCE:
            found = add_weights(keys, owners, found, table, shift, sums)
        arc_relations(h, m, totals, codes, relations)
        of_head, of_mod, first = partial[HEAD, h], partial[MOD, m], found
        found = add_keys(begin, alone_head, of_head, of_mod, relations, plan, keys, found)
        for t in range(begin_across, stop_across):
            base = of_head[t] + of_mod[t] + relations[relation[t]]
            for kind in range(kinds):
                token = nearest[1, kind, h] if m > h else nearest[0, kind, h]
                if (token < m) if m > h else (token > m):
                    keys[found] = ((base + partial[BETWEEN, token, t]) & CLEAR) | templates[t]
                    found += 1
        first = own(first, found, p, owners)
        if has_alone:
            value = 2 * bucket_of(abs(h - m)) + (1 if m > h else 0)
            for role in range(2):
                place = (role * (n + 1) + (h if role == HEAD else m)) * VALUES + value
                if not is_known[place]:
                    is_known[place] = True
                    low, high = (alone_head, alone_mod) if role == HEAD else (alone_mod, stop)
                    found = add_keys(low, high, of_head, of_mod, relations, plan, keys, found)
                    first = own(first, found, size + place, owners)
    add_weights(keys, owners, found, table, shift, sums)
    for p in range(size):
        h, m = heads[p], modifiers[p]
        scores[p] = sums[p]
        if has_alone and is_asked[m]:
            value = 2 * bucket_of(abs(h - m)) + (1 if m > h else 0)
            scores[p] += sums[size + h * VALUES + value] + sums[size + (n + 1 + m) * VALUES + value]
    return 0
