"""What no tree with an arc scores more than, if grand-siblings are scored around a core of likely arcs alone, and bounded elsewhere.

Arcs, stops, siblings and grandparents are all scored; of grand-siblings, the most numerous by far, those whose head has its head in the
core, and that have one more arc there. The others count as much as one with these tokens can at most, by head and modifier, and by
grandparent and head (see `bound_notes`):

    score[h, side, k, i, j] = arc[h, m_j] + sibling[h, m_i, m_j] + grandparent[k, h, m_j] + grandsibling[k, h, m_i, m_j]

The contexts k of a head are its heads in the core, and one for all others, with the best of their grandparents. So the max-marginals of
the third-order dynamic program take cubic time, and bound every tree with the arc from above. Trees of the core score what they score:
the slack of bounds is paid only where a tree leaves it.
"""

# mypy: disable-error-code="no-untyped-def"
# a kernel's types are its signature

from __future__ import annotations

import numpy as np

from zerogap.dependency.bound_notes import NO_GRAND_SIB, NO_SIB_MOD
from zerogap.dependency.scoring import (
    AT_ONCE,
    GRAND,
    GRANDPARENT,
    GRANDSIBLING,
    HEAD,
    LEFT,
    MOD,
    RIGHT,
    SENTENCE,
    SIB,
    SIBLING,
    STOP,
    TABLE,
    add_keys,
    crosses,
    own,
    sibling_relations,
    turn,
)
from zerogap.features.packed_table import bucket_of_key, is_marked, step_of
from zerogap.features.part_templates import DIRECTION
from zerogap.features.weight_table import CLEAR
from zerogap.features.weights import add_weights, table_shift, weights_of
from zerogap.oracles.compile import boolean, float64, inner, int64, rare_kernel, readonly, uint32, writable
from zerogap.oracles.grandsibling_marginals import grandsibling_max_marginals

OVER_CONTEXTS, OVER_PAIRS = range(2)  # grand-siblings by head and modifier, by grandparent and head


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
def bound_pairs(partial, kind_start, templates, codes, cells, jumps, floors, missing, arcs, unit, over):  # out: over (2, n + 1, n + 1)
    """What grand-siblings of two tokens score at most."""
    n = arcs.shape[0] - 1
    shift = table_shift(cells, jumps)
    begin, stop = kind_start[GRANDSIBLING], kind_start[GRANDSIBLING + 1]
    keys = np.empty(AT_ONCE + partial.shape[2], dtype=np.int64)
    owners, totals = np.empty(keys.size, dtype=np.int64), over.reshape(-1)
    least = 0
    for t in range(begin, stop):
        least += floors[templates[t] - 1]
    found = 0
    for kind in range(2):
        first, second, of_missing = (HEAD, MOD, missing[NO_GRAND_SIB]) if kind == OVER_CONTEXTS else (GRAND, HEAD, missing[NO_SIB_MOD])
        for h in range(n + 1):
            of_first = partial[first, h]
            for m in range(1, n + 1):
                owner = (kind * (n + 1) + h) * (n + 1) + m
                totals[owner] = least
                if arcs[h, m] == -np.inf or (h == 0 and kind == OVER_CONTEXTS):
                    continue
                of_second, code = partial[second, m], codes[DIRECTION, RIGHT if m > h else LEFT]
                for t in range(begin, stop):
                    keys[found + t - begin] = ((of_first[t] + of_second[t] + of_missing[t] + code) & CLEAR) | templates[t]
                found = own(found, found + stop - begin, owner, owners)
                if found >= AT_ONCE:
                    found = add_bounds(keys, owners, found, cells, jumps, shift, floors, totals)
    add_bounds(keys, owners, found, cells, jumps, shift, floors, totals)
    for i in range(totals.size):
        totals[i] *= unit
    return 0


@inner
def score_grandparents(
    partial, kind_start, templates, codes, cells, numbers, jumps, arcs, modifier_start, modifiers, scores
):  # out: scores (arcs, n + 1)
    """Of every arc with all grandparents; -inf where there is none, 0 below the root."""
    n = arcs.shape[0] - 1
    shift = table_shift(cells, jumps)
    begin, stop = kind_start[GRANDPARENT], kind_start[GRANDPARENT + 1]
    keys, both = np.empty(AT_ONCE + partial.shape[2], dtype=np.int64), np.empty(partial.shape[2], dtype=np.int64)
    owners, totals = np.empty(keys.size, dtype=np.int64), scores.reshape(-1)
    found = 0
    for h in range(n + 1):
        of_head = partial[HEAD, h]
        for p in range(modifier_start[2 * h], modifier_start[2 * h + 2]):
            m = modifiers[p]
            of_mod = partial[MOD, m]
            for t in range(begin, stop):
                both[t] = of_head[t] + of_mod[t]
            for g in range(n + 1):
                scores[p, g] = 0.0 if h == 0 else -np.inf
                if h == 0 or arcs[g, h] == -np.inf or crosses(g, h, m):
                    continue
                scores[p, g] = 0.0
                of_grand, code = partial[GRAND, g], codes[DIRECTION, turn(g, h, m)]
                for t in range(begin, stop):
                    keys[found + t - begin] = ((of_grand[t] + both[t] + code) & CLEAR) | templates[t]
                found = own(found, found + stop - begin, p * (n + 1) + g, owners)
                if found >= AT_ONCE:
                    found = add_weights(keys, owners, found, cells, numbers, jumps, shift, totals)
    add_weights(keys, owners, found, cells, numbers, jumps, shift, totals)
    return 0


@inner
def score_sides(
    partial, kind_start, relation, run_end, templates, codes, cells, numbers, jumps, modifier_start, modifiers, pair_start, pairs, ends
):  # fmt: skip
    """out: pairs, as `Candidates` has them: of siblings; ends (arcs and sides): of stops, none first."""
    n = partial.shape[1] - 2
    shift = table_shift(cells, jumps)
    relations = np.zeros(codes.shape[0], dtype=np.int64)
    begin, stop = kind_start[SIBLING], kind_start[SIBLING + 1]
    keys, both = np.empty(AT_ONCE + partial.shape[2], dtype=np.int64), np.empty(partial.shape[2], dtype=np.int64)
    owners = np.empty(keys.size, dtype=np.int64)
    found = 0
    for place in range(1, 2 * n + 2):
        h, side = place >> 1, place & 1
        first, size, at = modifier_start[place], modifier_start[place + 1] - modifier_start[place], pair_start[place]
        of_head = partial[HEAD, h]
        for p in range(size + 1):
            s = n + 1 if p == 0 else modifiers[first + p - 1]
            of_sib, last = partial[SIB, s], 0
            for t in range(kind_start[STOP], kind_start[STOP + 1]):
                keys[found + last] = ((of_head[t] + of_sib[t] + codes[DIRECTION, side]) & CLEAR) | templates[t]
                last += 1
            ends[first + place + p] = weights_of(keys[found:], last, cells, numbers, jumps, shift)
            for t in range(begin, stop):
                both[t] = of_head[t] + of_sib[t]
            for j in range(p, size):
                m = modifiers[first + j]
                pairs[at + p * size + j] = 0.0
                sibling_relations(h, h if p == 0 else s, m, codes, relations)
                last = add_keys(begin, stop, both, partial[MOD, m], relations, relation, run_end, templates, keys, found)
                found = own(found, last, at + p * size + j, owners)
                if found >= AT_ONCE:
                    found = add_weights(keys, owners, found, cells, numbers, jumps, shift, pairs)
    add_weights(keys, owners, found, cells, numbers, jumps, shift, pairs)
    return 0


@rare_kernel(
    float64(
        *SENTENCE, *TABLE, readonly(int64, 1), readonly(uint32, 1), readonly(int64, 1), readonly(int64, 2),
        readonly(float64, 2), readonly(boolean, 2), readonly(int64, 1), readonly(int64, 1), readonly(int64, 1), int64, writable(float64, 1),
    )
)  # fmt: skip
def bounds_of_arcs(
    partial, kind_start, relation, run_end, templates, codes, cells, numbers, jumps, bound_cells, bound_jumps, floors, missing,
    arcs, core, modifier_start, modifiers, pair_start, single_root, marginals,
):  # fmt: skip
    """What no tree scores more than, and for every arc above -inf, what none with it does. The layout is that of `Candidates` without
    contexts. out: marginals (arcs,).
    """
    n = arcs.shape[0] - 1
    shift = table_shift(cells, jumps)
    over, grandparents = np.empty((2, n + 1, n + 1)), np.empty((modifiers.size, n + 1))
    pairs, ends = np.empty(pair_start[2 * n + 2]), np.empty(modifiers.size + 2 * n + 2)
    bound_pairs(partial, kind_start, templates, codes, bound_cells, bound_jumps, floors, missing, arcs, numbers[0], over)
    score_grandparents(partial, kind_start, templates, codes, cells, numbers, jumps, arcs, modifier_start, modifiers, grandparents)
    score_sides(
        partial, kind_start, relation, run_end, templates, codes, cells, numbers, jumps, modifier_start, modifiers, pair_start, pairs, ends
    )
    # contexts: the heads of a word in the core, and one for all others
    contexts, n_core = np.ones(n + 1, dtype=np.int64), np.zeros(n + 1, dtype=np.int64)
    likely = np.zeros((n + 1, n + 1), dtype=np.int64)  # [h, k]
    n_core[0] = 1
    for h in range(1, n + 1):
        others = 0
        for g in range(n + 1):
            if core[g, h]:
                likely[h, n_core[h]] = g
                n_core[h] += 1
            elif arcs[g, h] > -np.inf:
                others = 1
        contexts[h] = n_core[h] + others
    context = np.empty(modifiers.size, dtype=np.int64)
    starts = np.empty((2, 2 * n + 3), dtype=np.int64)
    n_scores, n_stops = 0, 0
    for place in range(2 * n + 2):
        h = place >> 1
        size = modifier_start[place + 1] - modifier_start[place]
        for p in range(modifier_start[place], modifier_start[place + 1]):
            m = modifiers[p]
            context[p] = n_core[m]
            for k in range(n_core[m]):
                if likely[m, k] == h:
                    context[p] = k
        starts[0, place], starts[1, place] = n_scores, n_stops
        n_scores += contexts[h] * (size + 1) * size
        n_stops += contexts[h] * (size + 1)
    starts[0, 2 * n + 2], starts[1, 2 * n + 2] = n_scores, n_stops
    scores, stops = np.empty(n_scores), np.empty(n_stops)
    keys = np.empty(partial.shape[2], dtype=np.int64)
    begin, stop = kind_start[GRANDSIBLING], kind_start[GRANDSIBLING + 1]
    above, more = np.empty(n + 1), np.empty(n + 1)
    for place in range(1, 2 * n + 2):
        h = place >> 1
        first, size = modifier_start[place], modifier_start[place + 1] - modifier_start[place]
        of_head = partial[HEAD, h]
        for k in range(contexts[h]):
            g = likely[h, k]
            is_likely = k < n_core[h]
            for j in range(size):  # above: what is the same for all siblings, without grand-siblings; more: bounds of these
                m = modifiers[first + j]
                value = grandparents[first + j, g]
                if not is_likely:
                    value = -np.inf
                    for other in range(n + 1):
                        if not core[other, h]:
                            value = max(value, grandparents[first + j, other])
                above[j] = arcs[h, m] + value
                more[j] = over[OVER_CONTEXTS, h, m] if h > 0 else 0.0
                if h > 0 and is_likely:
                    more[j] = min(more[j], over[OVER_PAIRS, g, h])
            for p in range(size + 1):
                stops[starts[1, place] + k * (size + 1) + p] = ends[first + place + p]
                row = starts[0, place] + (k * (size + 1) + p) * size
                for j in range(p, size):
                    scores[row + j] = above[j] + pairs[pair_start[place] + p * size + j] + more[j]
                if h > 0 and is_likely:
                    of_sib, of_grand = partial[SIB, n + 1 if p == 0 else modifiers[first + p - 1]], partial[GRAND, g]
                    is_near = p == 0 or core[h, modifiers[first + p - 1]]
                    for j in range(p, size):
                        m = modifiers[first + j]
                        if (is_near or core[h, m]) and above[j] > -np.inf:
                            code = codes[DIRECTION, turn(g, h, m)]
                            for t in range(begin, stop):
                                key = of_grand[t] + of_head[t] + of_sib[t] + partial[MOD, m, t] + code
                                keys[t - begin] = (key & CLEAR) | templates[t]
                            both = weights_of(keys, stop - begin, cells, numbers, jumps, shift)
                            scores[row + j] = above[j] + pairs[pair_start[place] + p * size + j] + both
    stops[starts[1, 0]] = 0.0  # nothing is to the left of the root
    return grandsibling_max_marginals(
        contexts, modifier_start, modifiers, context, starts[0], scores, starts[1], stops, single_root, marginals
    )
