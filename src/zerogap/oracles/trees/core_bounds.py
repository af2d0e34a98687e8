"""Bounds on all projective trees around a core of likely arcs: third order within the core, first order without.

What a modifier scores may depend on the head of its head (the context k) and on the modifier before it, but the latter matters only if
both are in the core. All other modifiers score `first` if they are the first of their side, else `later`, whatever was before:

    last[h -> m, k]   = max( complete[m, towards h, of h, next to h] + first[h, k, m],
                             max_r either[h, side, k, r] + complete[m, towards h, of h, r + 1] + later[h, k, m],    m not in the core
                             max_r far[h, side, k, r] + complete[m, towards h, of h, r + 1] + later[h, k, m],       m in the core
                             max_s last[h -> s, k] + between[s, m] + pair[h, side, k, s, m] )                  s and m in the core
    either[h, side, k, e]   = max_m last[h -> m, k] + complete[m, side, of h, e]
    far[h, side, k, e]      = the same over m outside the core
    complete[h, side, k, e] = max_m last[h -> m, k] + stop[h, m] + complete[m, side, of h, e]
    between[s, m]           = max_r complete[s, away from h, of h, r] + complete[m, towards h, of h, r + 1]

With K contexts for a head that takes O(K n^3) steps along rows, like Eisner (1996), and not O(n^4) as the grand-sibling model. If `first`,
`later` and `pair` are no less than what such modifiers score, no tree with an arc scores more than the arc's max-marginal. Items are
filled, and outsides found on the way back, in the order of zerogap.oracles.trees.grandsibling_marginals.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from zerogap.grid import Integers, Scores
from zerogap.kernels import float64, inlined, inner, int64, kernel, readonly, record, writable
from zerogap.oracles.push import push_max

LEFT, RIGHT = 0, 1
COMPLETE, EITHER, FAR = 0, 1, 2  # halves
LAST, LAST_FAR, ENDED = 0, 1, 2  # arcs: with what lies below on the side of the head; if not in the core; with the stop after it


class Core(NamedTuple):
    """Where the arcs of the core, and those outside it, have their scores."""

    contexts: Integers  # (n + 1,): of each head
    start: Integers  # (n + 2,): the contexts of h are rows start[h] to start[h + 1] of `first` and `later`
    context: Integers  # (n + 1, n + 1): that of m below h, -1 if there is no such arc
    in_core: Integers  # (n + 1, n + 1): the place of m among the modifiers of h in the core on its side, -1 if it is none
    modifier_start: Integers  # (2 n + 3,): modifiers of h in the core begin at modifier_start[2 h + side]
    modifiers: Integers  # outward from h
    between_start: Integers  # (2 n + 3,): of pairs of modifiers, without contexts
    pair_start: Integers  # (2 n + 3,): of pairs of modifiers in every context


class CoreScores(NamedTuple):
    """Scores of modifiers with all that depends on the context, by rows of contexts."""

    first: Scores  # (rows, n + 1): of the first modifier of its side
    later: Scores  # (rows, n + 1): of one after another, if one of the two is not in the core
    pairs: Scores  # [pair_start[2 h + side] + (k size + j) size + i]: of the j-th modifier in the core after the i-th, in context k
    stop: Scores  # (n + 1, n + 1): of the last modifier of its side
    none: Scores  # (n + 1, 2): of a side without modifiers


CORE = record(Core, *[readonly(int64, 1)] * 2, *[readonly(int64, 2)] * 2, *[readonly(int64, 1)] * 4)
CORE_SCORES = record(CoreScores, *[readonly(float64, 2)] * 2, readonly(float64, 1), *[readonly(float64, 2)] * 2)


@inlined
def best_sum(row, other, start, stop):
    """max_r row[r] + other[r], start <= r < stop."""
    a = b = c = d = -np.inf
    r = start
    while r + 4 <= stop:
        one, two, three, four = row[r] + other[r], row[r + 1] + other[r + 1], row[r + 2] + other[r + 2], row[r + 3] + other[r + 3]
        a = one if one > a else a
        b = two if two > b else b
        c = three if three > c else c
        d = four if four > d else d
        r += 4
    while r < stop:
        one = row[r] + other[r]
        a = one if one > a else a
        r += 1
    a = b if b > a else a
    c = d if d > c else c
    return c if c > a else a


@inner
def go_up(core, scores, single_root, between, halves, arcs):  # out: between, halves, arcs
    """Insides; returns that of all trees."""
    contexts, start, context, in_core, modifier_start, modifiers, between_start, pair_start = core
    first, later, pairs, stop, _ = scores
    n = contexts.size - 1
    near = np.empty(n + 1)
    complete, either, far = halves[COMPLETE], halves[EITHER], halves[FAR]
    last, last_far, ended = arcs[LAST], arcs[LAST_FAR], arcs[ENDED]
    for i in range(n, -1, -1):
        for j in range(i + 1, n + 1):
            for side in range(2):
                h, m = (i, j) if side == RIGHT else (j, i)
                of_head = context[h, m]
                if of_head < 0:  # no such arc
                    continue
                towards = complete[2 * start[m] + (1 - side) * contexts[m] + of_head]
                away = complete[2 * start[m] + side * contexts[m] + of_head]
                low, high, next_to = i + side, j - 1 + side, h - 1 + side
                alone, here, place = h == 0 and single_root, in_core[h, m], 2 * h + side
                begin, size = modifier_start[place], modifier_start[place + 1] - modifier_start[place]
                row = between_start[place] + here * size
                for p in range(0 if alone else here):
                    s = modifiers[begin + p]
                    half = 2 * start[s] + side * contexts[s] + context[h, s]
                    between[row + p] = best_sum(complete[half], towards, min(s, m), max(s, m))
                for k in range(contexts[h]):
                    r, half = start[h] + k, 2 * start[h] + side * contexts[h] + k
                    best = towards[next_to] + first[r, m]
                    if not alone:
                        if later[r, m] > -np.inf:
                            value = best_sum(either[half] if here < 0 else far[half], towards, low, high) + later[r, m]
                            best = value if value > best else best
                        block = pair_start[place] + (k * size + here) * size
                        for p in range(here):
                            value = last[r, modifiers[begin + p]] + between[row + p] + pairs[block + p]
                            best = value if value > best else best
                    last[r, m], ended[r, m] = best, best + stop[h, m]
                    if here < 0:
                        last_far[r, m] = best
                    if side == RIGHT and best > -np.inf:
                        push_max(j, n + 1, complete[half], away, ended[r, m], either[half], away, best)
                        if here < 0:
                            push_max(j, n + 1, far[half], away, best)
            if i > 0:  # the left side of j, up to i
                for m in range(i, j):
                    near[m] = complete[2 * start[m] + context[j, m], i - 1] if context[j, m] >= 0 else -np.inf
                for k in range(contexts[j]):
                    r, half = start[j] + k, 2 * start[j] + k
                    complete[half, i - 1] = best_sum(ended[r], near, i, j)
                    either[half, i - 1] = best_sum(last[r], near, i, j)
                    far[half, i - 1] = best_sum(last_far[r], near, i, j)
    return complete[1, n]


@inner
def go_down(core, scores, single_root, between, halves, arcs, least, marginals):  # out: marginals
    """Outsides, of what is part of a tree of `least` or more."""
    contexts, start, context, in_core, modifier_start, modifiers, between_start, pair_start = core
    first, later, pairs, stop, _ = scores
    n = contexts.size - 1
    outside, last_outside = np.full(halves.shape, -np.inf), np.full(arcs[LAST].shape, -np.inf)
    outside[COMPLETE, 1, n] = 0.0
    near, pushed = np.empty(n + 1), np.empty(n + 1)
    complete, either, far = halves[COMPLETE], halves[EITHER], halves[FAR]
    last, ended = arcs[LAST], arcs[ENDED]
    for i in range(n + 1):
        for j in range(n, i, -1):
            if i > 0:  # the left side of j, up to i
                is_pushed = False
                for k in range(contexts[j]):
                    r, half = start[j] + k, 2 * start[j] + k
                    whole, some, none = outside[COMPLETE, half, i - 1], outside[EITHER, half, i - 1], outside[FAR, half, i - 1]
                    is_whole = whole + complete[half, i - 1] >= least
                    if not (is_whole or some + either[half, i - 1] >= least or none + far[half, i - 1] >= least):
                        continue
                    if not is_pushed:
                        for m in range(i, j):
                            near[m] = complete[2 * start[m] + context[j, m], i - 1] if context[j, m] >= 0 else -np.inf
                            pushed[m] = -np.inf
                        is_pushed = True
                    for m in range(i, j):
                        value = max(whole + stop[j, m], some)
                        if in_core[j, m] < 0:
                            value = max(value, none)
                        last_outside[r, m] = max(last_outside[r, m], value + near[m])
                        pushed[m] = max(pushed[m], value + last[r, m])
                for m in range(i if is_pushed else j, j):
                    if pushed[m] > -np.inf:
                        half = 2 * start[m] + context[j, m]
                        outside[COMPLETE, half, i - 1] = max(outside[COMPLETE, half, i - 1], pushed[m])
            for side in range(2):
                h, m = (i, j) if side == RIGHT else (j, i)
                of_head = context[h, m]
                if of_head < 0:
                    continue
                towards_half, away_half = 2 * start[m] + (1 - side) * contexts[m] + of_head, 2 * start[m] + side * contexts[m] + of_head
                towards, away = complete[towards_half], complete[away_half]
                low, high, next_to = i + side, j - 1 + side, h - 1 + side
                alone, here, place = h == 0 and single_root, in_core[h, m], 2 * h + side
                begin, size = modifier_start[place], modifier_start[place + 1] - modifier_start[place]
                row = between_start[place] + here * size
                for p in range(here):
                    pushed[p] = -np.inf
                for k in range(contexts[h]):
                    r, half = start[h] + k, 2 * start[h] + side * contexts[h] + k
                    if last[r, m] == -np.inf:
                        continue
                    best = last_outside[r, m]
                    if side == RIGHT:
                        best = max(best, best_sum(outside[COMPLETE, half], away, j, n + 1) + stop[h, m])
                        best = max(best, best_sum(outside[EITHER, half], away, j, n + 1))
                        if here < 0:
                            best = max(best, best_sum(outside[FAR, half], away, j, n + 1))
                    marginals[h, m] = max(marginals[h, m], best + last[r, m])
                    if best + last[r, m] < least:
                        continue
                    if side == RIGHT:
                        push_max(j, n + 1, outside[COMPLETE, away_half], outside[COMPLETE, half], ended[r, m])
                        push_max(j, n + 1, outside[COMPLETE, away_half], outside[EITHER, half], last[r, m])
                        if here < 0:
                            push_max(j, n + 1, outside[COMPLETE, away_half], outside[FAR, half], last[r, m])
                    outside[COMPLETE, towards_half, next_to] = max(outside[COMPLETE, towards_half, next_to], best + first[r, m])
                    if alone:
                        continue
                    if later[r, m] > -np.inf:
                        value, kind = best + later[r, m], EITHER if here < 0 else FAR
                        push_max(low, high, outside[kind, half], towards, value, outside[COMPLETE, towards_half], halves[kind, half], value)
                    block = pair_start[place] + (k * size + here) * size
                    for p in range(here):
                        s = modifiers[begin + p]
                        value = best + pairs[block + p]
                        last_outside[r, s] = max(last_outside[r, s], value + between[row + p])
                        pushed[p] = max(pushed[p], value + last[r, s])
                for p in range(0 if alone else here):
                    if pushed[p] + between[row + p] >= least and pushed[p] > -np.inf:
                        s = modifiers[begin + p]
                        half = 2 * start[s] + side * contexts[s] + context[h, s]
                        push_max(
                            min(s, m), max(s, m), outside[COMPLETE, half], towards, pushed[p],
                            outside[COMPLETE, towards_half], complete[half], pushed[p],
                        )  # fmt: skip
    return 0


@kernel(float64(CORE, CORE_SCORES, int64, float64, writable(float64, 2)))
def core_max_marginals(core, scores, single_root, least, marginals):  # out: marginals (n + 1, n + 1)
    """The score of a best tree, and for every arc that of a best tree with it, or less if that is below `least`; -inf if there is none."""
    contexts, start, none = core.contexts, core.start, scores.none
    n = contexts.size - 1
    for h in range(n + 1):
        for m in range(n + 1):
            marginals[h, m] = -np.inf
    if n == 0:
        return none[0, RIGHT]
    rows = start[n + 1]
    halves, arcs = np.full((3, 2 * rows, n + 1), -np.inf), np.full((3, rows, n + 1), -np.inf)
    for h in range(n + 1):
        for k in range(contexts[h]):
            if h > 0:
                halves[COMPLETE, 2 * start[h] + k, h - 1] = none[h, LEFT]
            halves[COMPLETE, 2 * start[h] + contexts[h] + k, h] = none[h, RIGHT]
    between = np.empty(core.between_start[2 * n + 2])
    best = go_up(core, scores, single_root, between, halves, arcs)
    if best > -np.inf:
        go_down(core, scores, single_root, between, halves, arcs, least, marginals)
    return best
