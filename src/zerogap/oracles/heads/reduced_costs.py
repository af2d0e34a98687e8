"""Reduced costs of arcs for the automata of heads: forwards and backwards over every side (see `head_automata`).

What a head gets at most if it must have a modifier is the best path through it; if it must have a head, the best with that one.
"""

# mypy: disable-error-code="no-untyped-def"
# a kernel's types are its signature

from __future__ import annotations

import numpy as np

from zerogap.kernels import float64, int64, kernel, readonly, writable
from zerogap.oracles.heads.agreement import index_contexts
from zerogap.oracles.heads.automata import (
    AUTOMATA,
    CHAIN,
    CLOSED,
    GRAND,
    JOINT,
    LEFT,
    OUTER,
    REQUIRED,
    SINGLE_ROOT,
    flags_at,
    free_value,
    has_lattice,
    lattice_value,
    longest_side,
    side_value,
)


@kernel(int64(AUTOMATA, readonly(int64, 1), readonly(float64, 2), writable(float64, 2)))
def automata_slacks(automata, state, prices, slacks):
    """How much less the heads get if an arc must be there: as one of its head's modifiers, and as that of its modifier's head.

    For sides with lattices nothing is known, and modifiers have a slack of 0. Returns 0 if nothing is left. out: slacks (2, arcs), down
    and up.
    """
    flags, contexts, modifier_start = automata.flags, automata.contexts, automata.modifier_start
    pairs, pair_start, stops = automata.pairs, automata.pair_start, automata.stops
    grand, grand_start, joint, joint_start = automata.grand, automata.grand_start, automata.joint, automata.joint_start
    outer, outer_start = automata.outer, automata.outer_start
    n = contexts.shape[0] - 1
    down, up = prices[0], prices[1]
    n_arcs = automata.modifiers.shape[0]
    grandparents = flags & (GRAND | JOINT | OUTER)
    longest, most = longest_side(automata), contexts.max()
    first_context, arc_of_context = index_contexts(automata)
    v, back, b = np.empty(longest + 1), np.empty(longest + 1, dtype=np.int64), np.empty(longest + 1)
    taken = np.zeros(n_arcs, dtype=np.int64)
    best_side = np.empty((2, most))
    through = np.empty((most, n_arcs))
    for h in range(n + 1):
        known = flags_at(h, automata)
        for side in range(2):
            place = 2 * h + side
            first = modifier_start[place]
            q = modifier_start[place + 1] - first
            for k in range(contexts[h]):
                if h == 0 and side == LEFT:
                    best_side[side, k] = 0.0
                    continue
                if has_lattice(place, automata):
                    best, _ = lattice_value(place, k, automata, state, down, v, back)
                    best_side[side, k] = best
                    for j in range(q):
                        through[k, first + j] = best
                    continue
                if not flags & CHAIN:
                    best = free_value(place, k, automata, state, down, taken)
                    best_side[side, k] = best
                    forced = -1  # the one modifier that a single root must have
                    total = 0.0
                    for a in range(first, first + q):
                        worth = pairs[pair_start[place] + a - first] - down[a]
                        if known & GRAND:
                            worth += grand[grand_start[place] + k * q + a - first]
                        through[k, a] = worth if state[a] != CLOSED else -np.inf
                        if state[a] == REQUIRED:
                            forced = a
                        if state[a] != CLOSED and (worth > 0.0 or state[a] == REQUIRED):
                            total += worth
                    for a in range(first, first + q):
                        if h == 0 and flags & SINGLE_ROOT:
                            if forced >= 0 and a != forced:
                                through[k, a] = -np.inf
                        elif state[a] != CLOSED:
                            through[k, a] = total + (through[k, a] if through[k, a] <= 0.0 and state[a] != REQUIRED else 0.0)
                    continue
                best, _ = side_value(place, k, automata, state, down, v, back)
                best_side[side, k] = best
                single = h == 0 and flags & SINGLE_ROOT
                high = q  # the first required modifier after this one
                for j in range(q - 1, -1, -1):
                    rest = -np.inf
                    if high == q:
                        rest = stops[first + place + j + 1] + (outer[outer_start[place] + k * (q + 1) + j + 1] if known & OUTER else 0.0)
                    if not single:
                        for after in range(j + 1, min(high + 1, q)):
                            if state[first + after] == CLOSED:
                                continue
                            score = pairs[pair_start[place] + (j + 1) * q + after] - down[first + after] + b[after]
                            if known & GRAND:
                                score += grand[grand_start[place] + k * q + after]
                            if known & JOINT:
                                score += joint[joint_start[place] + (k * (q + 1) + j + 1) * q + after]
                            rest = max(rest, score)
                    b[j] = rest
                    through[k, first + j] = v[j] + rest if state[first + j] != CLOSED else -np.inf
                    if state[first + j] == REQUIRED:
                        high = j
        value = -np.inf
        for k in range(contexts[h]):
            total = best_side[0, k] + best_side[1, k]
            if grandparents and h > 0:
                a = arc_of_context[first_context[h] + k]
                total = total - up[a] if state[a] != CLOSED else -np.inf
            value = max(value, total)
        if value == -np.inf:
            return 0
        for k in range(contexts[h]):
            if grandparents and h > 0:
                a = arc_of_context[first_context[h] + k]
                slacks[1, a] = value - (best_side[0, k] + best_side[1, k] - up[a]) if state[a] != CLOSED else np.inf
        for side in range(2):
            for a in range(modifier_start[2 * h + side], modifier_start[2 * h + side + 1]):
                best = -np.inf
                for k in range(contexts[h]):
                    total = best_side[1 - side, k] + through[k, a]
                    if grandparents and h > 0:
                        c = arc_of_context[first_context[h] + k]
                        total = total - up[c] if state[c] != CLOSED else -np.inf
                    best = max(best, total)
                slacks[0, a] = value - best
    if not grandparents:
        for a in range(n_arcs):
            slacks[1, a] = 0.0
    return 1


@kernel(int64(AUTOMATA, readonly(float64, 2), writable(float64, 1)))
def joint_slacks(automata, prices, slacks):
    """How much less a head gets if it must have a part of three: for every entry of `joint`, all arcs being open and no sides lattices.

    out: slacks, of entries that are parts; the others are left as they are.
    """
    flags, contexts, modifier_start = automata.flags, automata.contexts, automata.modifier_start
    pairs, pair_start, stops = automata.pairs, automata.pair_start, automata.stops
    grand, grand_start, joint, joint_start = automata.grand, automata.grand_start, automata.joint, automata.joint_start
    outer, outer_start = automata.outer, automata.outer_start
    n = contexts.shape[0] - 1
    down, up = prices[0], prices[1]
    first_context, arc_of_context = index_contexts(automata)
    longest, most = longest_side(automata), contexts.max()
    before, after = np.empty((2, most, longest + 1)), np.empty((2, most, longest + 1))  # best ways to a modifier, and on from it
    for h in range(1, n + 1):
        for side in range(2):
            place = 2 * h + side
            first = modifier_start[place]
            q = modifier_start[place + 1] - first
            for k in range(contexts[h]):
                here = joint_start[place] + k * (q + 1) * q
                v, b = before[side, k], after[side, k]
                v[0] = 0.0
                for j in range(q):
                    best = -np.inf
                    for p in range(j + 1):
                        best = max(best, v[p] + pairs[pair_start[place] + p * q + j] + joint[here + p * q + j])
                    v[j + 1] = best + grand[grand_start[place] + k * q + j] - down[first + j]
                for p in range(q, -1, -1):
                    best = stops[first + place + p] + (outer[outer_start[place] + k * (q + 1) + p] if flags & OUTER else 0.0)
                    for j in range(p, q):
                        rest = grand[grand_start[place] + k * q + j] - down[first + j] + b[j + 1]
                        best = max(best, pairs[pair_start[place] + p * q + j] + joint[here + p * q + j] + rest)
                    b[p] = best
        value = -np.inf
        for k in range(contexts[h]):
            value = max(value, after[0, k, 0] + after[1, k, 0] - up[arc_of_context[first_context[h] + k]])
        for side in range(2):
            place = 2 * h + side
            first = modifier_start[place]
            q = modifier_start[place + 1] - first
            for k in range(contexts[h]):
                here = joint_start[place] + k * (q + 1) * q
                lost = value - after[1 - side, k, 0] + up[arc_of_context[first_context[h] + k]]
                v, b = before[side, k], after[side, k]
                for p in range(q):
                    for j in range(p, q):
                        rest = grand[grand_start[place] + k * q + j] - down[first + j] + b[j + 1]
                        slacks[here + p * q + j] = lost - v[p] - pairs[pair_start[place] + p * q + j] - joint[here + p * q + j] - rest
    return 0
