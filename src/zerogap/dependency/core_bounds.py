"""What no tree with an arc scores more than, if larger parts are scored around a core of likely arcs alone, and bounded elsewhere.

Arcs, stops and grandparents are all scored, and siblings if one of the two modifiers is in the core; of grand-siblings, the most numerous
by far, those whose arcs are all in the core. The others count as much as one with these tokens can at most, by two of them
(see `bound_notes`):

    score[h, side, k, i, j] = arc[h, m_j] + sibling[h, m_i, m_j] + grandparent[k, h, m_j] + grandsibling[k, h, m_i, m_j]

The contexts k of a head are its heads in the core, and one for all others, with the best of their grandparents. So the max-marginals of
the third-order dynamic program take cubic time, and bound every tree with the arc from above. Trees of the core score what they score:
the slack of bounds is paid only where a tree leaves it. What was scored is kept for the next, larger core.
"""

# mypy: disable-error-code="no-untyped-def"
# a kernel's types are its signature

from __future__ import annotations

import numpy as np

from zerogap.dependency.bound_notes import NO_GRAND_SIB, NO_SIB, NO_SIB_MOD
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
from zerogap.features.weights import add_weights, table_shift
from zerogap.oracles.compile import boolean, float64, inner, int64, rare_kernel, readonly, uint32, writable
from zerogap.oracles.grandsibling_marginals import grandsibling_max_marginals

OVER_CONTEXTS, OVER_PAIRS, OVER_SIBLINGS = range(
    3
)  # grand-siblings by head and modifier, by grandparent and head; siblings by the first two
BOUNDS = 3


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
def kind_of_bound(bound):
    """The kind of parts that is bounded, which roles are known, and what is missing."""
    if bound == OVER_SIBLINGS:
        return SIBLING, HEAD, MOD, NO_SIB
    return (GRANDSIBLING, HEAD, MOD, NO_GRAND_SIB) if bound == OVER_CONTEXTS else (GRANDSIBLING, GRAND, HEAD, NO_SIB_MOD)


@inner
def bound_pairs(partial, kind_start, templates, codes, cells, jumps, floors, missing, arcs, unit, over):  # out: over (BOUNDS, n + 1, n + 1)
    """What parts of two tokens score at most."""
    n = arcs.shape[0] - 1
    shift = table_shift(cells, jumps)
    keys = np.empty(AT_ONCE + partial.shape[2], dtype=np.int64)
    owners, totals = np.empty(keys.size, dtype=np.int64), over.reshape(-1)
    found = 0
    for bound in range(BOUNDS):
        kind, first, second, what = kind_of_bound(bound)
        begin, stop, least = kind_start[kind], kind_start[kind + 1], 0
        for t in range(begin, stop):
            least += floors[templates[t] - 1]
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
def score_grandparents(partial, kind_start, templates, codes, cells, numbers, jumps, arcs, scores):
    """Of all arcs that can be together. out: scores [h, m, g], where they are nan."""
    n = arcs.shape[0] - 1
    shift = table_shift(cells, jumps)
    begin, stop = kind_start[GRANDPARENT], kind_start[GRANDPARENT + 1]
    keys, both = np.empty(AT_ONCE + partial.shape[2], dtype=np.int64), np.empty(partial.shape[2], dtype=np.int64)
    owners, totals = np.empty(keys.size, dtype=np.int64), scores.reshape(-1)
    found = 0
    for h in range(1, n + 1):
        of_head = partial[HEAD, h]
        for m in range(1, n + 1):
            if arcs[h, m] == -np.inf:
                continue
            of_mod = partial[MOD, m]
            for t in range(begin, stop):
                both[t] = of_head[t] + of_mod[t]
            for g in range(n + 1):
                if arcs[g, h] == -np.inf or crosses(g, h, m) or not np.isnan(scores[h, m, g]):
                    continue
                scores[h, m, g] = 0.0
                of_grand, code = partial[GRAND, g], codes[DIRECTION, turn(g, h, m)]
                for t in range(begin, stop):
                    keys[found + t - begin] = ((of_grand[t] + both[t] + code) & CLEAR) | templates[t]
                found = own(found, found + stop - begin, (h * (n + 1) + m) * (n + 1) + g, owners)
                if found >= AT_ONCE:
                    found = add_weights(keys, owners, found, cells, numbers, jumps, shift, totals)
    add_weights(keys, owners, found, cells, numbers, jumps, shift, totals)
    return 0


@inner
def score_stops(partial, kind_start, templates, codes, cells, numbers, jumps, modifier_start, modifiers, ends):
    """out: ends (arcs and sides), none first."""
    n = partial.shape[1] - 2
    shift = table_shift(cells, jumps)
    begin, stop = kind_start[STOP], kind_start[STOP + 1]
    keys = np.empty(AT_ONCE + partial.shape[2], dtype=np.int64)
    owners = np.empty(keys.size, dtype=np.int64)
    found = 0
    for place in range(1, 2 * n + 2):
        h, side, first = place >> 1, place & 1, modifier_start[place]
        for p in range(modifier_start[place + 1] - first + 1):
            of_sib = partial[SIB, n + 1 if p == 0 else modifiers[first + p - 1]]
            ends[first + place + p] = 0.0
            for t in range(begin, stop):
                keys[found + t - begin] = ((partial[HEAD, h, t] + of_sib[t] + codes[DIRECTION, side]) & CLEAR) | templates[t]
            found = own(found, found + stop - begin, first + place + p, owners)
            if found >= AT_ONCE:
                found = add_weights(keys, owners, found, cells, numbers, jumps, shift, ends)
    add_weights(keys, owners, found, cells, numbers, jumps, shift, ends)
    return 0


@inner
def score_siblings(
    partial, kind_start, relation, run_end, templates, codes, cells, numbers, jumps, core, modifier_start, modifiers, scores
):  # fmt: skip
    """Of those that the core has a modifier of, and of first ones. out: scores [h, s, m], where they are nan; s = h is none."""
    n = partial.shape[1] - 2
    shift = table_shift(cells, jumps)
    relations = np.zeros(codes.shape[0], dtype=np.int64)
    begin, stop = kind_start[SIBLING], kind_start[SIBLING + 1]
    keys, both = np.empty(AT_ONCE + partial.shape[2], dtype=np.int64), np.empty(partial.shape[2], dtype=np.int64)
    owners, totals = np.empty(keys.size, dtype=np.int64), scores.reshape(-1)
    found = 0
    for place in range(1, 2 * n + 2):
        h, first = place >> 1, modifier_start[place]
        size = modifier_start[place + 1] - first
        of_head = partial[HEAD, h]
        for p in range(size):
            s = h if p == 0 else modifiers[first + p - 1]
            of_sib = partial[SIB, n + 1 if p == 0 else s]
            for t in range(begin, stop):
                both[t] = of_head[t] + of_sib[t]
            for j in range(p, size):
                m = modifiers[first + j]
                if not np.isnan(scores[h, s, m]) or not (p == 0 or core[h, s] or core[h, m]):
                    continue
                scores[h, s, m] = 0.0
                sibling_relations(h, s, m, codes, relations)
                last = add_keys(begin, stop, both, partial[MOD, m], relations, relation, run_end, templates, keys, found)
                found = own(found, last, (h * (n + 1) + s) * (n + 1) + m, owners)
                if found >= AT_ONCE:
                    found = add_weights(keys, owners, found, cells, numbers, jumps, shift, totals)
    add_weights(keys, owners, found, cells, numbers, jumps, shift, totals)
    return 0


@inner
def contexts_of(arcs, core, modifier_start, modifiers, contexts, n_core, likely, context, starts):
    """Heads of a word in the core, and one context for all others. out: all from contexts on, as `grandsibling_kernel` reads them."""
    n = arcs.shape[0] - 1
    contexts[0] = n_core[0] = 1
    for h in range(1, n + 1):
        others, n_core[h] = 0, 0
        for g in range(n + 1):
            if core[g, h]:
                likely[h, n_core[h]] = g
                n_core[h] += 1
            elif arcs[g, h] > -np.inf:
                others = 1
        contexts[h] = n_core[h] + others
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
    return 0


@rare_kernel(
    float64(
        *SENTENCE, *TABLE, readonly(int64, 1), readonly(uint32, 1), readonly(int64, 1), readonly(int64, 2),
        readonly(float64, 2), readonly(boolean, 2), readonly(int64, 1), readonly(int64, 1), int64, float64,
        writable(float64, 3), writable(float64, 3), writable(float64, 3), writable(float64, 1),
    )
)  # fmt: skip
def bounds_of_arcs(
    partial, kind_start, relation, run_end, templates, codes, cells, numbers, jumps, bound_cells, bound_jumps, floors, missing,
    arcs, core, modifier_start, modifiers, single_root, least, over, siblings, grandparents, marginals,
):  # fmt: skip
    """What no tree scores more than, and for every arc above -inf, what none with it does, or less if that is below `least`.

    The layout is that of `Candidates` without contexts; no arc of -inf is in the core. What is known of the sentence from an earlier call,
    whose arcs were these and others, is not nan in `over` (BOUNDS, n + 1, n + 1), `siblings` [h, s, m] and `grandparents` [h, m, g].
    out: those three, marginals (arcs,).
    """
    n = arcs.shape[0] - 1
    shift = table_shift(cells, jumps)
    ends = np.empty(modifiers.size + 2 * n + 2)
    if np.isnan(over[0, 0, n]):
        bound_pairs(partial, kind_start, templates, codes, bound_cells, bound_jumps, floors, missing, arcs, numbers[0], over)
    score_grandparents(partial, kind_start, templates, codes, cells, numbers, jumps, arcs, grandparents)
    score_stops(partial, kind_start, templates, codes, cells, numbers, jumps, modifier_start, modifiers, ends)
    score_siblings(
        partial, kind_start, relation, run_end, templates, codes, cells, numbers, jumps, core, modifier_start, modifiers, siblings
    )
    contexts, n_core = np.empty(n + 1, dtype=np.int64), np.empty(n + 1, dtype=np.int64)
    likely, context = np.zeros((n + 1, n + 1), dtype=np.int64), np.empty(modifiers.size, dtype=np.int64)  # likely [h, k]
    starts = np.empty((2, 2 * n + 3), dtype=np.int64)
    contexts_of(arcs, core, modifier_start, modifiers, contexts, n_core, likely, context, starts)
    scores, stops = np.empty(starts[0, 2 * n + 2]), np.empty(starts[1, 2 * n + 2])
    keys = np.empty(AT_ONCE + partial.shape[2], dtype=np.int64)
    owners, found = np.empty(keys.size, dtype=np.int64), 0
    begin, stop = kind_start[GRANDSIBLING], kind_start[GRANDSIBLING + 1]
    above, more = np.empty(n + 1), np.empty(n + 1)
    both = np.empty(partial.shape[2], dtype=np.int64)
    for place in range(1, 2 * n + 2):
        h = place >> 1
        first, size = modifier_start[place], modifier_start[place + 1] - modifier_start[place]
        of_head = partial[HEAD, h]
        for k in range(contexts[h]):
            g = likely[h, k]
            is_likely = k < n_core[h]
            for j in range(size):  # above: what is the same for all siblings, without grand-siblings; more: bounds of these
                m = modifiers[first + j]
                value, more[j] = -np.inf, 0.0
                if h == 0:
                    value = 0.0
                elif is_likely:
                    value = -np.inf if crosses(g, h, m) else grandparents[h, m, g]
                    more[j] = min(over[OVER_CONTEXTS, h, m], over[OVER_PAIRS, g, h])
                else:
                    more[j] = over[OVER_CONTEXTS, h, m]
                    for other in range(n + 1):
                        if arcs[other, h] > -np.inf and not core[other, h] and not crosses(other, h, m):
                            value = max(value, grandparents[h, m, other])
                above[j] = arcs[h, m] + value
            for p in range(size + 1):
                stops[starts[1, place] + k * (size + 1) + p] = ends[first + place + p]
                row = starts[0, place] + (k * (size + 1) + p) * size
                s = h if p == 0 else modifiers[first + p - 1]
                is_near = p == 0 or core[h, s]
                for t in range(begin, stop):
                    both[t] = of_head[t] + partial[SIB, n + 1 if p == 0 else s, t] + partial[GRAND, g, t]
                for j in range(p, size):
                    m = modifiers[first + j]
                    pair = siblings[h, s, m] if is_near or core[h, m] else over[OVER_SIBLINGS, h, m]
                    if not (h > 0 and is_likely and is_near and core[h, m] and above[j] > -np.inf):
                        scores[row + j] = above[j] + pair + more[j]
                        continue
                    scores[row + j] = above[j] + pair
                    code = codes[DIRECTION, turn(g, h, m)]
                    for t in range(begin, stop):
                        keys[found + t - begin] = ((both[t] + partial[MOD, m, t] + code) & CLEAR) | templates[t]
                    found = own(found, found + stop - begin, row + j, owners)
                    if found >= AT_ONCE:
                        found = add_weights(keys, owners, found, cells, numbers, jumps, shift, scores)
    add_weights(keys, owners, found, cells, numbers, jumps, shift, scores)
    stops[starts[1, 0]] = 0.0  # nothing is to the left of the root
    return grandsibling_max_marginals(
        contexts, modifier_start, modifiers, context, starts[0], scores, starts[1], stops, single_root, least, np.inf, marginals
    )
