"""What no tree with an arc scores more than, if grand-siblings are scored around a core of likely arcs alone, and bounded elsewhere.

Arcs, stops, siblings and grandparents of a sentence are all scored. Of grand-siblings, the most numerous by far, those count as they are
whose arcs are all in the core, the others as much as one with these tokens can at most, by two of them (see `bound_notes`). The contexts k
of a head are its heads in the core, and one for all others on each side of it; a modifier there counts with the best of them:

    above[h, k, m] = arc[h, m] + max_g grandparent[g, h, m] + over[g, h, m]
    first[h, k, m] = above[h, k, m] + sibling[h, none, m]
    later[h, k, m] = above[h, k, m] + max_s sibling[h, s, m]
    pairs[h, k, s, m] = above[h, k, m] + sibling[h, s, m]                                                        s and m in the core

so `oracles.trees.core_bounds` bounds every tree from above, and trees of the core score what they score: the slack of bounds is paid
only where a tree leaves it.
"""

# mypy: disable-error-code="no-untyped-def"
# a kernel's types are its signature

from __future__ import annotations

import numpy as np

from zerogap.dependency.scoring.bounds_offline import NO_GRAND_SIB, NO_SIB_MOD
from zerogap.dependency.scoring.parts import AT_ONCE, GRAND, GRANDSIBLING, HEAD, LEFT, MOD, RIGHT, SIB, STOP, crosses, own, turn
from zerogap.features.parts.packed_table import bucket_of_key, is_marked, step_of
from zerogap.features.parts.templates import DIRECTION
from zerogap.features.parts.weight_table import CLEAR
from zerogap.features.parts.weights import add_weights, table_shift
from zerogap.kernels import inlined, inner
from zerogap.oracles.trees.core_bounds import best_sum

OVER_CONTEXTS, OVER_PAIRS = range(2)  # bounds of grand-siblings: by head and modifier, by grandparent and head
BOUNDS = 2


@inner
def add_bounds(keys, owners, size, cells, jumps, shift, floors, totals):  # out: totals, in units; keys and owners (scratch)
    """Adds to the total of each owner by how much the bounds of its keys are above the floors of their templates."""
    marked = 0
    for i in range(size):
        key = keys[i]
        keys[marked], owners[marked] = key, owners[i]
        marked += is_marked(np.uint64(key), bucket_of_key(np.uint64(key), jumps))
    for i in range(marked):
        totals[owners[i]] += max(step_of(keys[i], cells, jumps, shift) - floors[(keys[i] & 255) - 1], 0)
    return 0


@inner
def bound_pairs(unit, partial, kind_start, templates, codes, cells, jumps, floors, missing, arcs, over):  # out: over (BOUNDS, n + 1, n + 1)
    """What grand-siblings of two tokens score at most."""
    n = arcs.shape[0] - 1
    shift = table_shift(cells, jumps)
    keys = np.empty(AT_ONCE + partial.shape[2], dtype=np.int64)
    owners, totals = np.empty(keys.size, dtype=np.int64), over.reshape(-1)
    begin, stop, least, found = kind_start[GRANDSIBLING], kind_start[GRANDSIBLING + 1], 0, 0
    for t in range(begin, stop):
        least += floors[templates[t] - 1]
    for bound in range(BOUNDS):
        first, second, what = (HEAD, MOD, NO_GRAND_SIB) if bound == OVER_CONTEXTS else (GRAND, HEAD, NO_SIB_MOD)
        for h in range(n + 1):
            of_first = partial[first, h]
            for m in range(1, n + 1):
                owner = (bound * (n + 1) + h) * (n + 1) + m
                totals[owner] = least
                if arcs[h, m] == -np.inf or (h == 0 and bound == OVER_CONTEXTS):
                    continue
                of_second, code = partial[second, m], codes[DIRECTION, RIGHT if m > h else LEFT]
                for t in range(begin, stop):
                    keys[found + t - begin] = ((of_first[t] + of_second[t] + missing[what, t] + code) & CLEAR) | templates[t]
                found = own(found, found + stop - begin, owner, owners)
                if found >= AT_ONCE:
                    found = add_bounds(keys, owners, found, cells, jumps, shift, floors, totals)
    add_bounds(keys, owners, found, cells, jumps, shift, floors, totals)
    for i in range(totals.size):
        totals[i] *= unit
    return 0


@inner
def score_stops(partial, kind_start, templates, codes, cells, numbers, jumps, arcs, ends, none):
    """out: ends (n + 1, n + 1) of last modifiers, none (n + 1, 2) of sides without any."""
    n = arcs.shape[0] - 1
    shift = table_shift(cells, jumps)
    begin, stop = kind_start[STOP], kind_start[STOP + 1]
    keys = np.empty(AT_ONCE + partial.shape[2], dtype=np.int64)
    owners, totals = np.empty(keys.size, dtype=np.int64), np.zeros((n + 1) * (n + 3))
    found = 0
    for h in range(n + 1):
        for s in range(n + 3):  # the last two are none, on either side
            if s <= n and (s == 0 or arcs[h, s] == -np.inf):
                continue
            side = s - n - 1 if s > n else (1 if s > h else 0)
            of_sib = partial[SIB, min(s, n + 1)]
            for t in range(begin, stop):
                keys[found + t - begin] = ((partial[HEAD, h, t] + of_sib[t] + codes[DIRECTION, side]) & CLEAR) | templates[t]
            found = own(found, found + stop - begin, h * (n + 3) + s, owners)
            if found >= AT_ONCE:
                found = add_weights(keys, owners, found, cells, numbers, jumps, shift, totals)
    add_weights(keys, owners, found, cells, numbers, jumps, shift, totals)
    for h in range(n + 1):
        for s in range(n + 1):
            ends[h, s] = totals[h * (n + 3) + s]
        none[h, LEFT], none[h, RIGHT] = totals[h * (n + 3) + n + 1], totals[h * (n + 3) + n + 2]
    return 0


@inner
def lay_out_core(left, core):
    """What `core_max_marginals` reads: contexts, start, context, in_core, core_start, core_modifiers, pair_start, score_start; and n_core
    (n + 1,), likely (n + 1, n + 1): the heads of h in the core.

    After them come a context for all others on the left of h, and one for those on its right, if there are any.
    """
    n = left.shape[0] - 1
    contexts, start, n_core = np.empty(n + 1, dtype=np.int64), np.empty(n + 2, dtype=np.int64), np.empty(n + 1, dtype=np.int64)
    likely, context = np.empty((n + 1, n + 1), dtype=np.int64), np.empty((n + 1, n + 1), dtype=np.int64)
    in_core, core_modifiers = np.empty((n + 1, n + 1), dtype=np.int64), np.empty((n + 1) * (n + 1), dtype=np.int64)
    places = np.empty((3, 2 * n + 3), dtype=np.int64)
    core_start, pair_start, score_start = places[0], places[1], places[2]
    contexts[0], n_core[0], start[0], start[1] = 1, 0, 0, 1
    for g in range(n + 1):
        for h in range(n + 1):
            context[g, h] = in_core[g, h] = -1
    for h in range(1, n + 1):
        size, others = 0, np.zeros(2, dtype=np.int64)
        for g in range(n + 1):
            if core[g, h]:
                likely[h, size], context[g, h] = g, size
                size += 1
            elif left[g, h]:
                others[1 if g > h else 0] = 1
        n_core[h] = size
        for g in range(n + 1):
            if left[g, h] and not core[g, h]:
                context[g, h] = size + (others[0] if g > h else 0)
        contexts[h] = size + others[0] + others[1]
        start[h + 1] = start[h] + contexts[h]
    at, pairs, scores = 0, 0, 0
    for place in range(2 * n + 2):
        h, side = place >> 1, place & 1
        core_start[place], pair_start[place], score_start[place] = at, pairs, scores
        step = 1 if side == RIGHT else -1
        m, first = h + step, at
        while 1 <= m <= n:
            if core[h, m]:
                core_modifiers[at], in_core[h, m] = m, at - first
                at += 1
            m += step
        pairs += (at - first) ** 2
        scores += contexts[h] * (at - first) ** 2
    core_start[2 * n + 2], pair_start[2 * n + 2], score_start[2 * n + 2] = at, pairs, scores
    return contexts, start, context, in_core, core_start, core_modifiers, pair_start, score_start, n_core, likely


@inlined
def best_other(row, mask, over, most, start, stop):
    """max_g row[g] + mask[g] + min(over[g], most), start <= g < stop."""
    a = b = -np.inf
    g = start
    while g + 2 <= stop:
        one = row[g] + mask[g] + (over[g] if over[g] < most else most)
        two = row[g + 1] + mask[g + 1] + (over[g + 1] if over[g + 1] < most else most)
        a = one if one > a else a
        b = two if two > b else b
        g += 2
    if g < stop:
        one = row[g] + mask[g] + (over[g] if over[g] < most else most)
        a = one if one > a else a
    return b if b > a else a


@inner
def bound_modifiers(
    arcs, left, core, siblings, grandparents, over, contexts, start, n_core, likely, core_start, core_modifiers, score_start,
    first, later, pairs,
):  # fmt: skip
    """Without grand-siblings of the core. out: first, later (rows, n + 1), pairs."""
    n = arcs.shape[0] - 1
    mask, mask_far, others, of_pairs = np.empty(n + 1), np.empty(n + 1), np.empty((2, n + 1)), np.empty(n + 1)
    after, above = np.empty(n + 1), np.empty(n + 1)
    first[:, :], later[:, :] = -np.inf, -np.inf
    for h in range(n + 1):
        n_left = 0
        for z in range(n + 1):
            mask[z] = 0.0 if left[h, z] else -np.inf
            mask_far[z] = 0.0 if left[h, z] and not core[h, z] else -np.inf
            is_other = left[z, h] and not core[z, h]
            others[0, z] = 0.0 if is_other and z < h else -np.inf
            others[1, z] = 0.0 if is_other and z > h else -np.inf
            n_left += is_other and z < h
            of_pairs[z] = over[OVER_PAIRS, z, h]
        for m in range(1, n + 1):
            if left[h, m]:
                after[m] = best_sum(siblings[h, m], mask_far if core[h, m] else mask, min(h, m) + 1, max(h, m))
        for k in range(contexts[h]):
            r, is_likely = start[h] + k, k < n_core[h]
            g = likely[h, k] if is_likely else 0
            of_side = others[0 if k == n_core[h] and n_left > 0 else 1]
            for m in range(1, n + 1):
                above[m] = -np.inf
                if not left[h, m]:
                    continue
                low, high, value, more = min(h, m), max(h, m), 0.0, 0.0  # more: a bound on grand-siblings, if value has none
                if h > 0 and is_likely:
                    if crosses(g, h, m):
                        continue
                    value, more = grandparents[h, m, g], min(over[OVER_CONTEXTS, h, m], of_pairs[g])
                    if not core[h, m]:
                        value, more = value + more, 0.0
                elif h > 0:
                    most = over[OVER_CONTEXTS, h, m]
                    value = max(
                        best_other(grandparents[h, m], of_side, of_pairs, most, 0, low),
                        best_other(grandparents[h, m], of_side, of_pairs, most, high + 1, n + 1),
                    )
                above[m] = arcs[h, m] + value
                first[r, m] = above[m] + siblings[h, m, h]
                later[r, m] = above[m] + after[m] + more
            for side in range(2):
                place = 2 * h + side
                begin, size = core_start[place], core_start[place + 1] - core_start[place]
                for j in range(size):
                    m, at = core_modifiers[begin + j], score_start[place] + (k * size + j) * size
                    for i in range(j):
                        pairs[at + i] = above[m] + siblings[h, m, core_modifiers[begin + i]]
    return 0


@inner
def add_grandsiblings(
    partial, kind_start, templates, codes, cells, numbers, jumps, contexts, start, n_core, likely, core_start, core_modifiers, score_start,
    first, pairs,
):  # fmt: skip
    """Those whose arcs are all in the core. out: first, pairs."""
    n = contexts.size - 1
    shift = table_shift(cells, jumps)
    begin, stop = kind_start[GRANDSIBLING], kind_start[GRANDSIBLING + 1]
    keys = np.empty((2, AT_ONCE + partial.shape[2]), dtype=np.int64)
    owners, with_mod = np.empty(keys.shape, dtype=np.int64), np.empty(partial.shape[2], dtype=np.int64)
    all_first, found, found_first = first.reshape(-1), 0, 0
    for h in range(1, n + 1):
        for side in range(2):
            place = 2 * h + side
            at, size = core_start[place], core_start[place + 1] - core_start[place]
            for k in range(n_core[h]):
                g = likely[h, k]
                for j in range(size):
                    m = core_modifiers[at + j]
                    if crosses(g, h, m):
                        continue
                    code = codes[DIRECTION, turn(g, h, m)]
                    for t in range(begin, stop):
                        with_mod[t] = partial[GRAND, g, t] + partial[HEAD, h, t] + partial[MOD, m, t] + code
                        keys[0, found_first + t - begin] = ((with_mod[t] + partial[SIB, n + 1, t]) & CLEAR) | templates[t]
                    found_first = own(found_first, found_first + stop - begin, (start[h] + k) * (n + 1) + m, owners[0])
                    if found_first >= AT_ONCE:
                        found_first = add_weights(keys[0], owners[0], found_first, cells, numbers, jumps, shift, all_first)
                    for i in range(j):
                        s = core_modifiers[at + i]
                        for t in range(begin, stop):
                            keys[1, found + t - begin] = ((with_mod[t] + partial[SIB, s, t]) & CLEAR) | templates[t]
                        found = own(found, found + stop - begin, score_start[place] + (k * size + j) * size + i, owners[1])
                        if found >= AT_ONCE:
                            found = add_weights(keys[1], owners[1], found, cells, numbers, jumps, shift, pairs)
    add_weights(keys[0], owners[0], found_first, cells, numbers, jumps, shift, all_first)
    add_weights(keys[1], owners[1], found, cells, numbers, jumps, shift, pairs)
    return 0
