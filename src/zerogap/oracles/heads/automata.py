"""Scores of the automaton of one head: paths through candidate modifiers on each of its sides (Rush 2014, section 6.3).

A side is a path through its candidate modifiers, outward from the head, in a context k, which is the head of the head:

    v[j] = max( pairs[none, j], max_{i < j} v[i] + pairs[i, j] ) + grand[k, j] - down[h -> m_j]
    best = max( stop[none], max_j v[j] + stop[j] )

A side may have an automaton of any other form instead: a lattice of its states, each with the modifier that led to it. Every arc is
closed, open or required: required modifiers cannot be left out.
"""

# mypy: disable-error-code="no-untyped-def"
# a kernel's types are its signature

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from zerogap.grid import Integers, Scores
from zerogap.kernels import borrowing, float64, inner, int64, readonly, record, writable

LEFT, RIGHT = 0, 1
CLOSED, OPEN, REQUIRED = 0, 1, 2  # states of an arc
PROJECTIVE, SINGLE_ROOT, CHAIN, GRAND, JOINT, OUTER = 1, 2, 4, 8, 16, 32  # flags


class Lattices(NamedTuple):
    """Of sides with automata of another form: nodes are states with the modifier that led to them, the first of a side is the start."""

    node_start: Integers  # (2 (n + 1) + 1,), or empty if there are none at all
    node_modifier: Integers  # its number on its side, -1 for the start
    node_stop: Scores
    edge_start: Integers
    edge_from: Integers
    edge_weight: Scores  # with arcs, siblings and trisiblings


class Automata(NamedTuple):
    """What the automata of all heads score. A place is a side of a head, 2 h + side; its q modifiers come outward from the head.

    Contexts k are the heads that a head may have, or one for all of them. Of a place, p is the number of the modifier before, from 1, or 0
    for none, and j that of a modifier, from 0. Tables that are not scored (see `flags`) may be empty.
    """

    flags: int  # which trees are wanted, and what is scored
    contexts: Integers  # (n + 1,): how many a head has
    modifier_start: Integers  # (2 (n + 1) + 1,): where the arcs of a place begin; so for all `..._start`
    modifiers: Integers  # (arcs,)
    context: Integers  # (arcs,): which context of its modifier an arc is
    pairs: Scores  # [p * q + j], or [j] without CHAIN; with the arc
    pair_start: Integers
    stops: Scores  # [p], from modifier_start[place] + place on
    grand: Scores  # [k * q + j]
    grand_start: Integers
    joint: Scores  # [(k * (q + 1) + p) * q + j]
    joint_start: Integers
    outer: Scores  # [k * (q + 1) + p]
    outer_start: Integers
    lattices: Lattices


READ_INTEGERS, READ_SCORES = readonly(int64, 1), readonly(float64, 1)
LATTICES = record(Lattices, READ_INTEGERS, READ_INTEGERS, READ_SCORES, READ_INTEGERS, READ_INTEGERS, READ_SCORES)


def automata_type(scores: Any) -> Any:
    """The type of `Automata` whose tables are arrays of this type."""
    return record(Automata, int64, *[READ_INTEGERS] * 4, *[scores, READ_INTEGERS], scores, *[scores, READ_INTEGERS] * 3, LATTICES)


AUTOMATA, TABLES_TO_FILL = automata_type(READ_SCORES), automata_type(writable(float64, 1))


@borrowing
def flags_at(h, automata):
    """What is scored of this head: the root has no head of its own."""
    return automata.flags if h > 0 else automata.flags & ~(GRAND | JOINT | OUTER)


@borrowing
def has_lattice(place, automata):
    start = automata.lattices.node_start
    return start.shape[0] > 0 and start[place] < start[place + 1]


@inner
def longest_side(automata):
    """The most modifiers of a side, or nodes of its lattice."""
    longest, start, node_start = 0, automata.modifier_start, automata.lattices.node_start
    for place in range(start.shape[0] - 1):
        longest = max(longest, start[place + 1] - start[place])
    for place in range(node_start.shape[0] - 1):
        longest = max(longest, node_start[place + 1] - node_start[place])
    return longest


@borrowing
def side_value(place, k, automata, state, down, v, back):  # out: v, back (scratch)
    """The best path of a side for context k, and its last modifier's number, -1 for none."""
    h, side = place >> 1, place & 1
    flags = flags_at(h, automata)
    first = automata.modifier_start[place]
    q = automata.modifier_start[place + 1] - first
    stop = first + place
    single = h == 0 and flags & SINGLE_ROOT
    low = -1  # the last required modifier so far: nothing before it may be the previous one
    for j in range(q):
        a = first + j
        if state[a] == CLOSED:
            v[j] = -np.inf
            continue
        best, chosen = -np.inf, -1
        row = automata.pair_start[place] + j
        if low < 0:
            best = automata.pairs[row] + (automata.joint[automata.joint_start[place] + k * (q + 1) * q + j] if flags & JOINT else 0.0)
        if not single:
            if flags & JOINT:
                block = automata.joint_start[place] + k * (q + 1) * q + j
                for i in range(max(low, 0), j):
                    score = v[i] + automata.pairs[row + (i + 1) * q] + automata.joint[block + (i + 1) * q]
                    if score > best:
                        best, chosen = score, i
            else:
                for i in range(max(low, 0), j):
                    score = v[i] + automata.pairs[row + (i + 1) * q]
                    if score > best:
                        best, chosen = score, i
        if flags & GRAND:
            best += automata.grand[automata.grand_start[place] + k * q + j]
        v[j], back[j] = best - down[a], chosen
        if state[a] == REQUIRED:
            low = j
    best, last = -np.inf, -1
    ends = automata.outer_start[place] + k * (q + 1)
    if low < 0 and (h > 0 or side == LEFT):
        best = automata.stops[stop] + (automata.outer[ends] if flags & OUTER else 0.0)
    for j in range(max(low, 0), q):
        score = v[j] + automata.stops[stop + j + 1] + (automata.outer[ends + j + 1] if flags & OUTER else 0.0)
        if score > best:
            best, last = score, j
    return best, last


@inner
def lattice_value(place, k, automata, state, down, v, back):  # out: v, back (scratch)
    """The best path through the states of an automaton of another form, and its last node, -1 for none.

    A node is a state and the modifier that led to it; nodes come in the order of their modifiers, after one that stands for the start.
    """
    h, side = place >> 1, place & 1
    flags = flags_at(h, automata)
    node_start, node_modifier, node_stop, edge_start, edge_from, edge_weight = automata.lattices
    first = automata.modifier_start[place]
    q = automata.modifier_start[place + 1] - first
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
                    score += automata.joint[automata.joint_start[place] + (k * (q + 1) + i + 1) * q + j]
                if score > best:
                    best, chosen = score, edge_from[e]
            if flags & GRAND:
                best += automata.grand[automata.grand_start[place] + k * q + j]
            best -= down[first + j]
        v[node - start], back[node - start] = best, chosen
    for j in range(behind, q):
        low = j if state[first + j] == REQUIRED else low
    best, last = -np.inf, -1
    ends = automata.outer_start[place] + k * (q + 1)
    if low < 0 and (h > 0 or side == LEFT):
        best, last = node_stop[start] + (automata.outer[ends] if flags & OUTER else 0.0), start
    for node in range(start + 1, node_start[place + 1]):
        j = node_modifier[node]
        if j >= low:
            score = v[node - start] + node_stop[node] + (automata.outer[ends + j + 1] if flags & OUTER else 0.0)
            if score > best:
                best, last = score, node
    return best, last


@borrowing
def free_value(place, k, automata, state, down, taken):  # out: taken (arcs,)
    """The same if modifiers do not care about each other: each is taken if it is worth it. The root takes one at least, or exactly one."""
    h = place >> 1
    flags = flags_at(h, automata)
    first = automata.modifier_start[place]
    total, best, best_arc, required = 0.0, -np.inf, -1, False
    for a in range(first, automata.modifier_start[place + 1]):
        taken[a] = 0
        if state[a] == CLOSED:
            continue
        worth = automata.pairs[automata.pair_start[place] + a - first] - down[a]
        if flags & GRAND:
            worth += automata.grand[automata.grand_start[place] + k * (automata.modifier_start[place + 1] - first) + a - first]
        if worth > 0.0 or state[a] == REQUIRED:
            total += worth
            taken[a] = 1
        if state[a] == REQUIRED or (worth > best and not required):
            best, best_arc = worth, a
            required = state[a] == REQUIRED
    if h == 0:
        if flags & SINGLE_ROOT:
            for a in range(first, automata.modifier_start[place + 1]):
                taken[a] = 0
            total = 0.0
        if best_arc < 0:
            return -np.inf
        if not taken[best_arc]:
            taken[best_arc] = 1
            total += best
    return total


@inner
def bound_contexts(automata, state, down, first_context, values):
    """out: values: the most that a head can score under each of its own heads, as if every modifier chose the one before it on its own.

    It is what a head does score if modifiers do not care about each other.
    """
    flags = automata.flags
    longest = longest_side(automata)
    most, at_least = np.empty(longest), np.empty(longest)
    for h in range(1, automata.contexts.shape[0]):
        begin, end = first_context[h], first_context[h + 1]
        for c in range(begin, end):
            values[c] = 0.0
        for place in range(2 * h, 2 * h + 2):
            first = automata.modifier_start[place]
            q = automata.modifier_start[place + 1] - first
            for j in range(q):
                most[j] = automata.pairs[automata.pair_start[place] + j]
            last = 0.0
            if flags & CHAIN:
                for p in range(1, q):
                    row = automata.pair_start[place] + p * q
                    for j in range(p, q):
                        most[j] = max(most[j], automata.pairs[row + j])
                last = automata.stops[first + place]
                for j in range(q):
                    last = max(last, automata.stops[first + place + j + 1])
            for j in range(q):
                most[j] = most[j] - down[first + j] if state[first + j] != CLOSED else -np.inf
                at_least[j] = -np.inf if state[first + j] == REQUIRED else 0.0
            for c in range(begin, end):
                row = automata.grand_start[place] + (c - begin) * q
                total = last
                for j in range(q):
                    total += max(most[j] + automata.grand[row + j], at_least[j])
                values[c] += total


@inner
def tree_score(heads, position, automata, last, v, back):  # out: last (2 (n + 1),), v, back (scratch)
    """The score of a tree by the automata; -inf if it is forbidden."""
    n = heads.shape[0]
    flags = automata.flags
    for place in range(2 * n + 2):
        last[place] = 0
    total = 0.0
    for step in range(2 * n):
        m, side = (step + 1, RIGHT) if step < n else (2 * n - step, LEFT)
        h = heads[m - 1]
        if (m > h) != (side == RIGHT):
            continue
        place = 2 * h + side
        if has_lattice(place, automata):
            continue
        a = position[h, m]
        first = automata.modifier_start[place]
        q = automata.modifier_start[place + 1] - first
        j = a - first
        total += automata.pairs[automata.pair_start[place] + (last[place] * q if flags & CHAIN else 0) + j]
        if h > 0 and flags & (GRAND | JOINT):
            k = automata.context[position[heads[h - 1], h]]
            if flags & GRAND:
                total += automata.grand[automata.grand_start[place] + k * q + j]
            if flags & JOINT:
                total += automata.joint[automata.joint_start[place] + (k * (q + 1) + last[place]) * q + j]
        last[place] = j + 1
    if flags & CHAIN:
        for place in range(1, 2 * n + 2):
            h = place >> 1
            if has_lattice(place, automata):
                continue
            total += automata.stops[automata.modifier_start[place] + place + last[place]]
            if flags & OUTER and h > 0:
                q = automata.modifier_start[place + 1] - automata.modifier_start[place]
                total += automata.outer[automata.outer_start[place] + automata.context[position[heads[h - 1], h]] * (q + 1) + last[place]]
    if automata.lattices.node_start.shape[0] > 0:  # the best path through all modifiers of the tree, and no others
        size = automata.modifier_start[2 * n + 2]
        state, free = np.zeros(size, dtype=np.int64), np.zeros(size)
        for m in range(1, n + 1):
            state[position[heads[m - 1], m]] = REQUIRED
        for place in range(1, 2 * n + 2):
            if has_lattice(place, automata):
                h = place >> 1
                k = automata.context[position[heads[h - 1], h]] if h > 0 else 0
                found, _ = lattice_value(place, k, automata, state, free, v, back)
                total += found
    return total
