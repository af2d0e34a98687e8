"""Scores of the parts of a sentence under a table of weights.

`partial` has, for each role, token and template, the sum that the token adds to the key (see `features.parts.keys`); a key is the sum over
the roles of a part and a number for how its tokens lie. Everything here takes time in proportion to parts times templates.
"""

# mypy: disable-error-code="no-untyped-def"
# a kernel's types are its signature

from __future__ import annotations

import numpy as np

from zerogap.dependency.candidate_arcs import CANDIDATES
from zerogap.features.parts.keys import BUCKETS, COUNTS, ENCODED, PLAN
from zerogap.features.parts.templates import DIRECTION, DISTANCE, FIRST_COUNT, KINDS
from zerogap.features.parts.weight_table import CLEAR
from zerogap.features.parts.weights import TABLE, add_weights, table_shift, weights_of
from zerogap.kernels import boolean, borrowing, float64, inner, int64, kernel, readonly, writable

HEAD, MOD, SIB, GRAND, BETWEEN = range(5)  # places in features.part_templates.ROLES
ARC, ACROSS, SIBLING, STOP, GRANDPARENT, GRANDSIBLING, LABEL, OUTER = range(8)  # places in features.part_templates.KINDS
ALONE_HEAD, ALONE_MOD = len(KINDS) + 1, len(KINDS) + 2  # places in kind_start: arc templates that read one token
LEFT, RIGHT = 0, 1
AT_ONCE = 1024  # keys whose weights are looked up together


@inner
def bucket_of(distance):
    """1, 2, 3, 4, 5, 6 to 10, 11 to 20, more."""
    if distance <= 5:
        return distance - 1
    return 5 if distance <= 10 else (6 if distance <= 20 else BUCKETS - 1)


@inner
def arc_relations(h, m, totals, codes, relations):  # out: relations, by number
    side = 1 if m > h else 0
    low, high = min(h, m), max(h, m)
    relations[DIRECTION] = codes[DIRECTION, side]
    relations[DISTANCE] = codes[DISTANCE, 2 * bucket_of(high - low) + side]
    for c in range(totals.shape[0]):
        count = totals[c, high] - totals[c, low + 1] if high > low + 1 else 0
        relations[FIRST_COUNT + c] = codes[FIRST_COUNT + c, 2 * min(count, COUNTS - 1) + side]


@inner
def sibling_relations(h, s, m, codes, relations):  # out: relations; s == h: m is the first
    side = 1 if m > h else 0
    relations[DIRECTION] = codes[DIRECTION, side]
    relations[DISTANCE] = codes[DISTANCE, 2 * bucket_of(abs(m - s)) + side]


@inner
def turn(g, h, m):
    """Number of the directions of two arcs."""
    return 2 + 2 * (1 if h > g else 0) + (1 if m > h else 0)


@borrowing
def add_keys(begin, stop, of_head, of_mod, relations, plan, keys, size):  # out: keys, from size on
    """The keys of templates that read a head and a modifier: all of one relation at a time."""
    _, relation, run_end, templates, _ = plan
    first = begin
    while first < stop:
        code, last = relations[relation[first]], min(run_end[first], stop)
        for t in range(first, last):
            keys[size + t - begin] = ((of_head[t] + of_mod[t] + code) & CLEAR) | templates[t]
        first = last
    return size + max(stop - begin, 0)


@borrowing
def score_alone(begin, stop, of_token, relations, plan, keys, table, shift):  # out: keys (scratch)
    """What templates score that read one token of an arc."""
    for t in range(begin, stop):
        keys[t - begin] = ((of_token[t] + relations[plan.relation[t]]) & CLEAR) | plan.low_bytes[t]
    return weights_of(keys, stop - begin, table, shift)


@kernel(int64(ENCODED, PLAN, TABLE, readonly(boolean, 2), writable(float64, 2)))
def score_arcs(encoded, plan, table, allowed, scores):
    """out: scores (n + 1, n + 1), -inf where an arc is not allowed. `templates` are the low bytes of keys.

    What reads one token of an arc is the same for all arcs of the token on one side and in one bucket of distances.
    """
    partial, totals = encoded
    kind_start, relation, _, templates, codes = plan
    n = scores.shape[0] - 1
    shift = table_shift(table)
    relations = np.zeros(codes.shape[0], dtype=np.int64)
    begin, stop = kind_start[ARC], kind_start[ARC + 1]
    alone_head, alone_mod = kind_start[ALONE_HEAD], kind_start[ALONE_MOD]
    alone = np.empty((2, n + 1, 2 * BUCKETS))
    for token in range(n + 1):
        for value in range(2 * BUCKETS):
            alone[0, token, value] = alone[1, token, value] = np.nan  # not known yet
    begin_across, stop_across = kind_start[ACROSS], kind_start[ACROSS + 1]
    n_across = stop_across - begin_across
    inside = np.empty((n_across, n + 1), dtype=np.int64)  # of tokens between, one for each value of the first template that reads them
    keys = np.empty(partial.shape[2] + n_across * (n + 1), dtype=np.int64)
    for h in range(n + 1):
        scores[h, h] = scores[h, 0] = -np.inf
        of_head = partial[HEAD, h]
        for side in range(2):
            if h == 0 and side == LEFT:
                continue
            n_inside = 0
            step = 1 if side == RIGHT else -1
            beyond = n + 1 if side == RIGHT else 0  # what lies beyond the farthest arc need not be read
            while beyond != h + step and not allowed[h, beyond - step]:
                beyond -= step
                scores[h, beyond] = -np.inf
            m = h + step
            while m != beyond:
                new = m - step
                if n_across > 0 and new != h:
                    value = partial[BETWEEN, new, begin_across]
                    known = False
                    for i in range(n_inside):
                        known |= inside[0, i] == value
                    if not known:
                        for t in range(n_across):
                            inside[t, n_inside] = partial[BETWEEN, new, begin_across + t]
                        n_inside += 1
                if allowed[h, m]:
                    arc_relations(h, m, totals, codes, relations)
                    of_mod = partial[MOD, m]
                    size = add_keys(begin, alone_head, of_head, of_mod, relations, plan, keys, 0)
                    for t in range(n_across):
                        a = begin_across + t
                        base, template = of_head[a] + of_mod[a] + relations[relation[a]], templates[a]
                        for i in range(n_inside):
                            keys[size + i] = ((base + inside[t, i]) & CLEAR) | template
                        size += n_inside
                    score = weights_of(keys, size, table, shift)
                    value = 2 * bucket_of(abs(h - m)) + side
                    if np.isnan(alone[0, h, value]):
                        alone[0, h, value] = score_alone(alone_head, alone_mod, of_head, relations, plan, keys, table, shift)
                    if np.isnan(alone[1, m, value]):
                        alone[1, m, value] = score_alone(alone_mod, stop, of_mod, relations, plan, keys, table, shift)
                    scores[h, m] = score + alone[0, h, value] + alone[1, m, value]
                else:
                    scores[h, m] = -np.inf
                m += step
    return 0


@inner
def own(first, last, owner, owners):  # out: owners
    """Says whose the keys from first to last are; returns last."""
    for i in range(first, last):
        owners[i] = owner
    return last


@inner
def heads_of(h, arcs, grand, heads):  # out: heads
    """The tokens that h may have for its head, if they matter; returns how many contexts h has."""
    if not grand or h == 0:
        return 1
    size = 0
    for g in range(arcs.shape[0]):
        if arcs[g, h] > -np.inf:
            heads[size] = g
            size += 1
    return size


@inner
def only_heads(arcs):
    """(n + 1,): whether a word has one head left."""
    n = arcs.shape[0] - 1
    only = np.zeros(n + 1, dtype=np.bool_)
    for m in range(1, n + 1):
        count = 0
        for h in range(n + 1):
            count += arcs[h, m] > -np.inf
        only[m] = count == 1
    return only


@inner
def farthest(only, modifiers, first, size):
    """How many candidates of a side there are up to the last that has no other head; 0 if all have."""
    for p in range(size, 0, -1):
        if only[modifiers[first + p - 1]]:
            return p
    return 0


@inner
def crosses(g, h, m):
    """Whether an arc from h to m has g below it: no projective tree has an arc from inside the span of another."""
    return (h < g and g <= m) or (m <= g and g < h)


@kernel(int64(ENCODED, PLAN, TABLE, readonly(float64, 2), CANDIDATES, int64, writable(float64, 1), writable(float64, 1)))
def score_candidates(encoded, plan, table, arcs, candidates, relative, scores, stops):
    """out: scores, stops, as the grand-sibling kernel reads them: arcs, siblings, grandparents and grand-siblings summed up.

    A word with one head left is under it in all trees: what passes over it is in none, and is not scored. With `relative`, what all
    trees have scores 0 as well, as only differences between trees matter then.
    """
    partial = encoded.partial
    kind_start, _, _, templates, codes = plan
    contexts, modifier_start, _, modifiers, _, score_start, stop_start, _, _, grand = candidates
    n = contexts.shape[0] - 1
    only = only_heads(arcs)
    shift = table_shift(table)
    relations = np.zeros(codes.shape[0], dtype=np.int64)
    heads = np.empty(n + 1, dtype=np.int64)
    total = scores.size  # sums of grand-siblings come first, then, for each side, those of siblings, of grandparents and of stops
    for place in range(2 * n + 2):
        size = modifier_start[place + 1] - modifier_start[place]
        total += (size + 1) * (size + 1) + contexts[place >> 1] * size
    sums = np.zeros(total)
    keys = np.empty(AT_ONCE + partial.shape[2], dtype=np.int64)
    owners = np.empty(keys.size, dtype=np.int64)
    with_sib, with_mod = np.empty(partial.shape[2], dtype=np.int64), np.empty(partial.shape[2], dtype=np.int64)
    begin_sibling, stop_sibling = kind_start[SIBLING], kind_start[SIBLING + 1]
    begin_grand, stop_grand = kind_start[GRANDPARENT], kind_start[GRANDPARENT + 1]
    begin_both, stop_both = kind_start[GRANDSIBLING], kind_start[GRANDSIBLING + 1]
    found, at = 0, scores.size
    for h in range(n + 1):
        of_head = partial[HEAD, h]
        n_heads = heads_of(h, arcs, grand, heads)
        for side in range(2):
            place = 2 * h + side
            first = modifier_start[place]
            size = modifier_start[place + 1] - first
            block, grands, ends = score_start[place], at + (size + 1) * size, at + (size + 1) * size + n_heads * size
            sure = farthest(only, modifiers, first, size)
            for p in range(size + 1):  # p = 0: no modifier
                s = n + 1 if p == 0 else modifiers[first + p - 1]
                if found >= AT_ONCE:
                    found = add_weights(keys, owners, found, table, shift, sums)
                of_sib, begin = partial[SIB, s], found
                if not relative or (p >= sure and sure < size):
                    for t in range(kind_start[STOP], kind_start[STOP + 1]):
                        keys[found] = ((of_head[t] + of_sib[t] + codes[DIRECTION, side]) & CLEAR) | templates[t]
                        found += 1
                    own(begin, found, ends + p, owners)
                if p == size:
                    break
                follows = relative and only[modifiers[first + p]] and (p == 0 or only[s])  # the next modifier, in all trees
                if follows and n_heads == 1:
                    continue
                for t in range(begin_sibling, stop_sibling):
                    with_sib[t] = of_head[t] + of_sib[t]
                for t in range(begin_both, stop_both):
                    with_sib[t] = of_head[t] + of_sib[t]
                for j in range(p, size):
                    m = modifiers[first + j]
                    if j > p and only[modifiers[first + j - 1]]:
                        break
                    of_mod = partial[MOD, m]
                    if found >= AT_ONCE:
                        found = add_weights(keys, owners, found, table, shift, sums)
                    if not follows:
                        sibling_relations(h, h if p == 0 else s, m, codes, relations)
                        begin = found
                        found = add_keys(begin_sibling, stop_sibling, with_sib, of_mod, relations, plan, keys, found)
                        own(begin, found, at + p * size + j, owners)
                    if grand and h > 0:
                        for t in range(begin_both, stop_both):
                            with_mod[t] = with_sib[t] + of_mod[t]
                        for k in range(n_heads):
                            g = heads[k]
                            if crosses(g, h, m):
                                continue
                            if found >= AT_ONCE:
                                found = add_weights(keys, owners, found, table, shift, sums)
                            of_grand, code, begin = partial[GRAND, g], codes[DIRECTION, turn(g, h, m)], found
                            for t in range(begin_both, stop_both):
                                keys[found + t - begin_both] = ((of_grand[t] + with_mod[t] + code) & CLEAR) | templates[t]
                            found = own(begin, begin + stop_both - begin_both, block + (k * (size + 1) + p) * size + j, owners)
            for k in range(n_heads if grand and h > 0 else 0):
                g = heads[k]
                of_grand = partial[GRAND, g]
                for t in range(begin_grand, stop_grand):
                    with_sib[t] = of_grand[t] + of_head[t]
                for j in range(size):
                    m = modifiers[first + j]
                    if crosses(g, h, m) or (relative and n_heads == 1 and only[m]):
                        continue
                    if found >= AT_ONCE:
                        found = add_weights(keys, owners, found, table, shift, sums)
                    of_mod, code, begin = partial[MOD, m], codes[DIRECTION, turn(g, h, m)], found
                    for t in range(begin_grand, stop_grand):
                        keys[found + t - begin_grand] = ((with_sib[t] + of_mod[t] + code) & CLEAR) | templates[t]
                    found = own(begin, begin + stop_grand - begin_grand, grands + k * size + j, owners)
            at = ends + size + 1
    add_weights(keys, owners, found, table, shift, sums)
    at = scores.size
    for h in range(n + 1):
        n_heads = heads_of(h, arcs, grand, heads)
        for side in range(2):
            place = 2 * h + side
            first = modifier_start[place]
            size = modifier_start[place + 1] - first
            grands, ends = at + (size + 1) * size, at + (size + 1) * size + n_heads * size
            for k in range(n_heads):
                for p in range(size + 1):
                    stops[stop_start[place] + k * (size + 1) + p] = sums[ends + p]
                    block, is_over = score_start[place] + (k * (size + 1) + p) * size, False
                    for j in range(p, size):
                        m = modifiers[first + j]
                        is_over |= j > p and only[modifiers[first + j - 1]]
                        score = arcs[h, m] + sums[at + p * size + j] + sums[grands + k * size + j] + sums[block + j]
                        scores[block + j] = -np.inf if is_over or (grand and h > 0 and crosses(heads[k], h, m)) else score
            at = ends + size + 1
    return 0


@kernel(float64(writable(int64, 1), TABLE))
def sum_weights(keys, table):  # out: keys (scratch)
    return weights_of(keys, keys.shape[0], table, table_shift(table))
