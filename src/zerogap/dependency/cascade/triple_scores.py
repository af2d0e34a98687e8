"""Upper bounds on the scores of all grandparents and all siblings of a sentence, that are nearly always the scores themselves.

A part of three tokens is a head, a modifier, and a third one, g or s. What a template scores depends on the classes of the three (see
`dependency.cascade.value_classes`) and on how they lie. So there is a row for each template, class of the head, class of the modifier and
side. It
runs over the classes of the third token, and over what changes with its place: the side of g, the distance of s. Each feature is looked
up once, and only if it can have a weight: most rows have none above 0, which one look at the bounds of the model tells (`bound_notes`).
They count as 0, so a weight below 0 is passed over where the row has none above it.

The score of a part is a sum over templates: rows of those that read the same of head and modifier are added up, token by token of the
third, and these sums then for all heads and modifiers.
"""

# mypy: disable-error-code="no-untyped-def"
# a kernel's types are its signature

from __future__ import annotations

import numpy as np

from zerogap.dependency.scoring.bounds_offline import NO_GRAND, NO_SIB
from zerogap.dependency.scoring.parts import AT_ONCE, GRAND, GRANDPARENT, HEAD, MOD, SIB, bucket_of
from zerogap.features.parts.keys import BUCKETS
from zerogap.features.parts.packed_table import bucket_of_key, is_marked, step_of
from zerogap.features.parts.templates import DIRECTION, DISTANCE
from zerogap.features.parts.weight_table import CLEAR
from zerogap.features.parts.weights import table_shift
from zerogap.kernels import inner
from zerogap.oracles.trees.semifield import push_sum

SIDES = 2
LANES = 8  # rows are that many numbers long, or a multiple
EMPTY_ROW = -1
ALL_EMPTY = -2  # so are those of other templates that read the same of head and modifier


@inner
def by_pairs(begin, stop, of_role, relation, order, last):  # out: order (templates,), last (templates,)
    """Templates that read the same of head and modifier next to each other, with a distance or without; `last` is the one after them."""
    size = of_role.max() + 1
    ranks = np.empty(stop - begin, dtype=np.int64)
    for t in range(begin, stop):
        rank = 2 * (of_role[HEAD, t] * size + of_role[MOD, t]) + (relation[t] == DISTANCE)
        p = t - begin
        while p > 0 and ranks[p - 1] > rank:
            order[p], ranks[p] = order[p - 1], ranks[p - 1]
            p -= 1
        order[p], ranks[p] = t, rank
    for i in range(order.size - 1, -1, -1):
        last[i] = last[i + 1] if i + 1 < order.size and ranks[i + 1] == ranks[i] else i + 1
    return 0


@inner
def ends_of_classes(classes, size, ends):  # out: ends (2, classes): the first and the last token of each
    n = classes.shape[0] - 2
    for c in range(size):
        ends[0, c], ends[1, c] = n + 1, -1
    for token in range(n + 1):
        c = classes[token]
        ends[0, c] = min(ends[0, c], token)
        ends[1, c] = max(ends[1, c], token)
    return 0


@inner
def set_steps(keys, owners, size, cells, jumps, shift, steps):  # out: steps
    for i in range(size):
        steps[owners[i]] = step_of(keys[i], cells, jumps, shift)
    return 0


@inner
def fill_triples(
    kind, unit, partial, kind_start, relation, templates, codes, cells, jumps, bound_cells, bound_jumps, floors, missing,
    of_role, classes, members, counts, scores,
):  # fmt: skip
    """out: scores (n + 1, n + 1, n + 1) [h, m, g] or [h, m, s], where there are such parts; s = h is none."""
    n = classes.shape[1] - 2
    shift, bound_shift = table_shift(cells, jumps), table_shift(bound_cells, bound_jumps)
    begin, n_templates = kind_start[kind], kind_start[kind + 1] - kind_start[kind]
    is_grand = kind == GRANDPARENT
    third, what = (GRAND, NO_GRAND) if is_grand else (SIB, NO_SIB)
    order, first_row = np.empty(n_templates, dtype=np.int64), np.empty(n_templates, dtype=np.int64)
    last = np.empty(n_templates, dtype=np.int64)
    by_pairs(begin, begin + n_templates, of_role, relation, order, last)
    width, values = np.empty(n_templates, dtype=np.int64), np.empty(n_templates, dtype=np.int64)
    length, n_rows, n_cells = np.empty(n_templates, dtype=np.int64), 0, 0
    for i in range(n_templates):
        t = order[i]
        width[i] = counts[of_role[third, t], 0 if is_grand else 1]
        values[i] = SIDES if is_grand else (BUCKETS if relation[t] == DISTANCE else 1)
        length[i] = (values[i] * width[i] + LANES - 1) // LANES * LANES
        first_row[i] = n_rows
        rows = counts[of_role[HEAD, t], 0] * counts[of_role[MOD, t], 0] * SIDES
        n_rows += rows
        n_cells += rows * length[i]
    place, table = np.empty(n_rows, dtype=np.int64), np.empty(n_cells, dtype=np.int32)  # of rows, and what is in them
    keys = np.empty(AT_ONCE + BUCKETS * (n + 2), dtype=np.int64)
    owners, of_third = np.empty(keys.size, dtype=np.int64), np.empty(n + 2, dtype=np.int64)
    head_ends, mod_ends = np.empty((2, n + 2), dtype=np.int64), np.empty((2, n + 2), dtype=np.int64)
    found, free = 0, 0
    for i in range(n_templates):
        t = order[i]
        heads, mods, thirds = of_role[HEAD, t], of_role[MOD, t], of_role[third, t]
        template, row = templates[t], first_row[i]
        ends_of_classes(classes[heads], counts[heads, 0], head_ends)
        ends_of_classes(classes[mods], counts[mods, 0], mod_ends)
        for c in range(width[i]):
            of_third[c] = partial[third, members[thirds, c], t]
        none = classes[thirds, n + 1]
        for a in range(counts[heads, 0]):
            of_head = partial[HEAD, members[heads, a], t]
            for b in range(counts[mods, 0]):
                both = of_head + partial[MOD, members[mods, b], t]
                for side in range(SIDES):
                    place[row] = EMPTY_ROW
                    row += 1
                    is_there = head_ends[0, a] < mod_ends[1, b] if side == 1 else mod_ends[0, b] < head_ends[1, a]
                    if not is_there or (is_grand and head_ends[1, a] == 0) or mod_ends[1, b] == 0:
                        continue
                    key = ((both + codes[DIRECTION, side] + missing[what, t]) & CLEAR) | template
                    is_bounded = floors[template - 1] <= 0
                    if is_bounded and is_marked(np.uint64(key), bucket_of_key(np.uint64(key), bound_jumps)):
                        is_bounded = step_of(key, bound_cells, bound_jumps, bound_shift) <= 0
                    if is_bounded and is_grand:
                        continue
                    first, size = (none, none + 1) if is_bounded else (0, width[i])  # that a modifier is the first is not bounded
                    before = found
                    for v in range(values[i]):
                        if is_grand:
                            code = codes[DIRECTION, 2 + 2 * v + side]
                        else:
                            code = codes[DISTANCE, 2 * v + side] if relation[t] == DISTANCE else codes[DIRECTION, side]
                        base, at = both + code, free + v * width[i]
                        for c in range(first, size):
                            key = ((base + of_third[c]) & CLEAR) | template
                            keys[found], owners[found] = key, at + c
                            found += is_marked(np.uint64(key), bucket_of_key(np.uint64(key), jumps))
                    if found > before:
                        for c in range(length[i]):
                            table[free + c] = 0
                        place[row - 1] = free
                        free += length[i]
                    if found >= AT_ONCE:
                        found = set_steps(keys, owners, found, cells, jumps, shift, table)
    set_steps(keys, owners, found, cells, jumps, shift, table)
    spread_out(is_grand, unit, of_role, third, order, last, classes, counts, first_row, width, values, length, place, table, scores)
    return 0


@inner
def spread_rows(unit, of_role, third, order, last, classes, counts, first_row, width, values, length, place, table):
    """(rows, n + 2): by tokens, one for each value, the sums of those of templates that read the same of head and modifier.

    out: place, of rows in what is returned, at the first of such templates; EMPTY_ROW for those that are all 0.
    """
    n_tokens, size, i = classes.shape[1] - (1 if third == GRAND else 0), 0, 0
    while i < order.size:
        rows = counts[of_role[HEAD, order[i]], 0] * counts[of_role[MOD, order[i]], 0] * SIDES
        for row in range(rows):
            any_step = np.int32(0)
            for j in range(i, last[i]):
                begin = place[first_row[j] + row]
                for c in range(begin, begin + length[j] if begin != EMPTY_ROW else begin):
                    any_step |= table[c]
            size += values[i] if any_step != 0 else 0
            if any_step == 0:
                place[first_row[i] + row] = ALL_EMPTY
        i = last[i]
    spread, at, i = np.zeros((size, classes.shape[1])), 0, 0
    while i < order.size:
        rows = counts[of_role[HEAD, order[i]], 0] * counts[of_role[MOD, order[i]], 0] * SIDES
        for row in range(rows):
            if place[first_row[i] + row] == ALL_EMPTY:
                place[first_row[i] + row] = EMPTY_ROW
                continue
            for j in range(i, last[i]):
                begin, of_third = place[first_row[j] + row], classes[of_role[third, order[j]]]
                for v in range(values[j] if begin != EMPTY_ROW else 0):
                    for z in range(n_tokens):
                        spread[at + v, z] += table[begin + v * width[j] + of_third[z]] * unit
            place[first_row[i] + row] = at
            at += values[i]
        i = last[i]
    return spread


@inner
def spread_out(is_grand, unit, of_role, third, order, last, classes, counts, first_row, width, values, length, place, table, scores):
    """Sums over templates, for all places of the third token. out: scores; place (scratch)."""
    n, n_groups, i = scores.shape[0] - 1, 0, 0
    spread = spread_rows(unit, of_role, third, order, last, classes, counts, first_row, width, values, length, place, table)
    firsts = np.empty(order.size, dtype=np.int64)  # of templates that read the same of head and modifier
    while i < order.size:
        firsts[n_groups] = i
        n_groups += 1
        i = last[i]
    of_head, of_mod = np.empty(n_groups, dtype=np.int64), np.empty((n + 1, n_groups), dtype=np.int64)
    buckets = np.zeros(n + 1, dtype=np.int64)
    for distance in range(1, n + 1):
        buckets[distance] = bucket_of(distance)
    for group in range(n_groups):
        for m in range(n + 1):
            of_mod[m, group] = classes[of_role[MOD, order[firsts[group]]], m] * SIDES
    for h in range(1 if is_grand else 0, n + 1):
        for group in range(n_groups):
            t = order[firsts[group]]
            of_head[group] = first_row[firsts[group]] + classes[of_role[HEAD, t], h] * counts[of_role[MOD, t], 0] * SIDES
        for m in range(1, n + 1):
            if m == h:
                continue
            side, low, high, total, none = 1 if m > h else 0, min(h, m), max(h, m), scores[h, m], 0.0
            for z in range(n + 1):
                total[z] = 0.0
            for group in range(n_groups):
                at = place[of_head[group] + of_mod[m, group] + side]
                if at == EMPTY_ROW:
                    continue
                if is_grand:  # those on the right of h come first, then those on its left
                    push_sum(0, low, total, spread[at + 1], 1.0)
                    push_sum(high + 1, n + 1, total, spread[at], 1.0)
                elif values[firsts[group]] == 1:
                    none += spread[at, n + 1]
                    push_sum(low + 1, high, total, spread[at], 1.0)
                else:
                    none += spread[at + buckets[high - low], n + 1]
                    for s in range(low + 1, high):
                        total[s] += spread[at + buckets[abs(m - s)], s]
            if not is_grand:
                total[h] = none
    return 0
