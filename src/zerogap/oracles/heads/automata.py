"""What the automaton of one head scores: paths through candidate modifiers on each of its sides (Rush 2014, section 6.3).

A side is a path through its candidate modifiers, outward from the head, in a context k, which is the head of the head:

    v[j] = max( pairs[none, j], max_{i < j} v[i] + pairs[i, j] ) + grand[k, j] - down[h -> m_j]
    best = max( stop[none], max_j v[j] + stop[j] )

A side may have an automaton of any other form instead: a lattice of its states, each with the modifier that led to it. Every arc is
closed, open or required: required modifiers cannot be left out.
"""

# mypy: disable-error-code="no-untyped-def"
# a kernel's types are its signature

from __future__ import annotations

import numpy as np

from zerogap.kernels import inlined, inner

LEFT, RIGHT = 0, 1
CLOSED, OPEN, REQUIRED = 0, 1, 2  # states of an arc
PROJECTIVE, SINGLE_ROOT, CHAIN, GRAND, JOINT, OUTER = 1, 2, 4, 8, 16, 32  # flags


@inlined
def side_value(
    h, side, k, flags, modifier_start, state, down, pairs, pair_start, stops, grand, grand_start, joint, joint_start, outer, outer_start, v,
    back,
):  # out: v, back (scratch)  # fmt: skip
    """The best path of a side for context k, and its last modifier's number, -1 for none."""
    place = 2 * h + side
    first = modifier_start[place]
    q = modifier_start[place + 1] - first
    stop = first + place
    single = h == 0 and flags & SINGLE_ROOT
    low = -1  # the last required modifier so far: nothing before it may be the previous one
    for j in range(q):
        a = first + j
        if state[a] == CLOSED:
            v[j] = -np.inf
            continue
        best, chosen = -np.inf, -1
        row = pair_start[place] + j
        if low < 0:
            best = pairs[row] + (joint[joint_start[place] + k * (q + 1) * q + j] if flags & JOINT else 0.0)
        if not single:
            if flags & JOINT:
                block = joint_start[place] + k * (q + 1) * q + j
                for i in range(max(low, 0), j):
                    score = v[i] + pairs[row + (i + 1) * q] + joint[block + (i + 1) * q]
                    if score > best:
                        best, chosen = score, i
            else:
                for i in range(max(low, 0), j):
                    score = v[i] + pairs[row + (i + 1) * q]
                    if score > best:
                        best, chosen = score, i
        if flags & GRAND:
            best += grand[grand_start[place] + k * q + j]
        v[j], back[j] = best - down[a], chosen
        if state[a] == REQUIRED:
            low = j
    best, last = -np.inf, -1
    ends = outer_start[place] + k * (q + 1)
    if low < 0 and (h > 0 or side == LEFT):
        best = stops[stop] + (outer[ends] if flags & OUTER else 0.0)
    for j in range(max(low, 0), q):
        score = v[j] + stops[stop + j + 1] + (outer[ends + j + 1] if flags & OUTER else 0.0)
        if score > best:
            best, last = score, j
    return best, last


@inner
def lattice_value(
    h, side, k, flags, modifier_start, state, down, node_start, node_modifier, node_stop, edge_start, edge_from, edge_weight, grand,
    grand_start, joint, joint_start, outer, outer_start, v, back,
):  # out: v, back (scratch)  # fmt: skip
    """The best path through the states of an automaton of another form, and its last node, -1 for none.

    A node is a state and the modifier that led to it; nodes come in the order of their modifiers, after one that stands for the start.
    """
    place = 2 * h + side
    first = modifier_start[place]
    q = modifier_start[place + 1] - first
    start = node_start[place]
    single = h == 0 and flags & SINGLE_ROOT
    v[0] = 0.0
    low, behind = -1, 0  # the last required modifier before the one of this node, and how many are before it
    for node in range(start + 1, node_start[place + 1]):
        j = node_modifier[node]
        while behind < j:
            low = behind if state[first + behind] == REQUIRED else low
            behind += 1
        best, chosen = -np.inf, -1
        if state[first + j] != CLOSED:
            for e in range(edge_start[node], edge_start[node + 1]):
                i = node_modifier[edge_from[e]]  # -1 for the start
                if i < low or (single and i >= 0):
                    continue
                score = v[edge_from[e] - start] + edge_weight[e]
                if flags & JOINT:
                    score += joint[joint_start[place] + (k * (q + 1) + i + 1) * q + j]
                if score > best:
                    best, chosen = score, edge_from[e]
            if flags & GRAND:
                best += grand[grand_start[place] + k * q + j]
            best -= down[first + j]
        v[node - start], back[node - start] = best, chosen
    for j in range(behind, q):
        low = j if state[first + j] == REQUIRED else low
    best, last = -np.inf, -1
    ends = outer_start[place] + k * (q + 1)
    if low < 0 and (h > 0 or side == LEFT):
        best, last = node_stop[start] + (outer[ends] if flags & OUTER else 0.0), start
    for node in range(start + 1, node_start[place + 1]):
        j = node_modifier[node]
        if j >= low:
            score = v[node - start] + node_stop[node] + (outer[ends + j + 1] if flags & OUTER else 0.0)
            if score > best:
                best, last = score, node
    return best, last


@inlined
def free_value(h, side, k, flags, modifier_start, state, down, pairs, pair_start, grand, grand_start, taken):  # out: taken (arcs,)
    """The same if modifiers do not care about each other: each is taken if it is worth it. The root takes one at least, or exactly one."""
    place = 2 * h + side
    first = modifier_start[place]
    total, best, best_arc, required = 0.0, -np.inf, -1, False
    for a in range(first, modifier_start[place + 1]):
        taken[a] = 0
        if state[a] == CLOSED:
            continue
        worth = pairs[pair_start[place] + a - first] - down[a]
        if flags & GRAND:
            worth += grand[grand_start[place] + k * (modifier_start[place + 1] - first) + a - first]
        if worth > 0.0 or state[a] == REQUIRED:
            total += worth
            taken[a] = 1
        if state[a] == REQUIRED or (worth > best and not required):
            best, best_arc = worth, a
            required = state[a] == REQUIRED
    if h == 0:
        if flags & SINGLE_ROOT:
            for a in range(first, modifier_start[place + 1]):
                taken[a] = 0
            total = 0.0
        if best_arc < 0:
            return -np.inf
        if not taken[best_arc]:
            taken[best_arc] = 1
            total += best
    return total


@inner
def bound_contexts(flags, contexts, modifier_start, state, down, pairs, pair_start, stops, grand, grand_start, first_context, values):
    """out: values: the most that a head can score under each of its own heads, as if every modifier chose the one before it on its own.

    It is what a head does score if modifiers do not care about each other.
    """
    longest = 0
    for place in range(modifier_start.shape[0] - 1):
        longest = max(longest, modifier_start[place + 1] - modifier_start[place])
    most, at_least = np.empty(longest), np.empty(longest)
    for h in range(1, contexts.shape[0]):
        begin, end = first_context[h], first_context[h + 1]
        for c in range(begin, end):
            values[c] = 0.0
        for place in range(2 * h, 2 * h + 2):
            first = modifier_start[place]
            q = modifier_start[place + 1] - first
            for j in range(q):
                most[j] = pairs[pair_start[place] + j]
            last = 0.0
            if flags & CHAIN:
                for p in range(1, q):
                    row = pair_start[place] + p * q
                    for j in range(p, q):
                        most[j] = max(most[j], pairs[row + j])
                last = stops[first + place]
                for j in range(q):
                    last = max(last, stops[first + place + j + 1])
            for j in range(q):
                most[j] = most[j] - down[first + j] if state[first + j] != CLOSED else -np.inf
                at_least[j] = -np.inf if state[first + j] == REQUIRED else 0.0
            for c in range(begin, end):
                row = grand_start[place] + (c - begin) * q
                total = last
                for j in range(q):
                    total += max(most[j] + grand[row + j], at_least[j])
                values[c] += total


@inner
def tree_score(
    heads, flags, position, modifier_start, context, pairs, pair_start, stops, grand, grand_start, joint, joint_start, outer, outer_start,
    node_start, node_modifier, node_stop, edge_start, edge_from, edge_weight, last, v, back,
):  # out: last (2 (n + 1),), v, back (scratch)  # fmt: skip
    """What the automata score of a tree; -inf if it is forbidden."""
    n = heads.shape[0]
    lattices = node_start.shape[0] > 0
    for place in range(2 * n + 2):
        last[place] = 0
    total = 0.0
    for step in range(2 * n):
        m, side = (step + 1, RIGHT) if step < n else (2 * n - step, LEFT)
        h = heads[m - 1]
        if (m > h) != (side == RIGHT):
            continue
        place = 2 * h + side
        if lattices and node_start[place] < node_start[place + 1]:
            continue
        a = position[h, m]
        first = modifier_start[place]
        q = modifier_start[place + 1] - first
        j = a - first
        total += pairs[pair_start[place] + (last[place] * q if flags & CHAIN else 0) + j]
        if h > 0 and flags & (GRAND | JOINT):
            k = context[position[heads[h - 1], h]]
            if flags & GRAND:
                total += grand[grand_start[place] + k * q + j]
            if flags & JOINT:
                total += joint[joint_start[place] + (k * (q + 1) + last[place]) * q + j]
        last[place] = j + 1
    if flags & CHAIN:
        for place in range(1, 2 * n + 2):
            h = place >> 1
            if lattices and node_start[place] < node_start[place + 1]:
                continue
            total += stops[modifier_start[place] + place + last[place]]
            if flags & OUTER and h > 0:
                q = modifier_start[place + 1] - modifier_start[place]
                total += outer[outer_start[place] + context[position[heads[h - 1], h]] * (q + 1) + last[place]]
    if lattices:  # the best path through all modifiers of the tree, and no others
        size = modifier_start[2 * n + 2]
        state, free = np.zeros(size, dtype=np.int64), np.zeros(size)
        for m in range(1, n + 1):
            state[position[heads[m - 1], m]] = REQUIRED
        for place in range(1, 2 * n + 2):
            if node_start[place] < node_start[place + 1]:
                h = place >> 1
                known = flags if h > 0 else flags & ~(GRAND | JOINT | OUTER)
                k = context[position[heads[h - 1], h]] if h > 0 else 0
                found, _ = lattice_value(
                    h, place & 1, k, known, modifier_start, state, free, node_start, node_modifier, node_stop, edge_start, edge_from,
                    edge_weight, grand, grand_start, joint, joint_start, outer, outer_start, v, back,
                )  # fmt: skip
                total += found
    return total
