"""Bounds of trees with factors: their scores are shared out among their arcs, and an oracle finds the best tree (Qian & Liu 2013, 3.2).

A factor scores phi if all its r arcs are in the tree. With z_e = 1 for the arcs of the tree,

    phi > 0:  phi min_e z_e       <= sum_e u_e z_e              for all shares u >= 0 that sum to phi
    phi < 0:  phi [all z_e = 1]   <= w (sum_e z_e - (r - 1))    for all w from phi to 0, any w <= 0 if phi is -inf

so the best tree under the arcs with their shares, and a constant, bounds the best tree with its factors. Departures: factors of two arcs
are shared out together, all that concern the heads of two words m and s: since both have exactly one head, any shares b of the heads of
s will do if the heads of m get the rest,

    theta(h, k) <= a(h) + b(k)       a(h) = max_k theta(h, k) - b(k)

with theta(h, k) the score of h -> m and k -> s together, -inf if no tree has both. That is a much lower bound. Shares move by
subgradient steps (the paper prints their sign wrong) and are projected onto what is allowed, simplices by Duchi et al. (2008). Steps aim
at the score of the best tree so far (Polyak 1969), and follow a moving average of the subgradients, which takes fewer calls of the
oracle. All shares are multiples of one power of two, so that all sums are exact.

Tables: the heads that word m may have are head[head_start[m] : head_start[m + 1]]. Table q is of words first[q] and second[q], its theta
stands from table_start[q] on, one row for every head of the first; its shares from share_start[q] on, one for every head of the second,
and `rest` and `choice` (a and its k) from rest_start[q] on. Larger factors stand one after the other: arc[start[c] : start[c + 1]] are the
numbers h * (n + 1) + m of the arcs of factor c, and the shares of its arcs stand at the same places after those of all tables; a negative
factor has its w in the first one. A node is the list of heads that are open: the numbers, within those of their word, of the heads of m
are open_[open_start[m] : open_start[m + 1]]; and `active`, the factors that may still hold.
"""

# mypy: disable-error-code="no-untyped-def"
# a kernel's types are its signature

from __future__ import annotations

import numpy as np

from zerogap.kernels import float64, inner, int64, kernel, readonly, writable
from zerogap.oracles.factors.gaps import exact_for, gaps, places_of, score_of
from zerogap.oracles.factors.steps import move, settle, slopes
from zerogap.oracles.trees.arborescence import tree_kernel
from zerogap.oracles.trees.eisner import eisner_kernel
from zerogap.oracles.trees.siblings import best_tree_of, transpose_left

ARBORESCENCE, EISNER, SIBLING, OTHER = range(4)  # backbones; the caller asks the last
GOES_ON, TIRED, TIGHT, EMPTY = range(4)  # no more progress or iterations; the bound is at most the incumbent; there is no tree
BOUND, SCORE, CALLS, RATE, SINCE, CONSTANT, VALUE = range(7)  # of results
N_RESULTS = 7
PATIENCE = 4  # iterations without progress before steps are halved
PROGRESS = 0.02  # of the gap: less than this is none

TABLES = (*[readonly(int64, 1)] * 7, readonly(float64, 1), *[readonly(int64, 1)] * 2, readonly(float64, 1))
NODE = (readonly(float64, 2), *[readonly(int64, 1)] * 3)
STEPS = (*[float64] * 6,)  # limit, largest, unit, grain, memory, least_rate
STATE = (*[writable(float64, 1)] * 5, writable(int64, 1), writable(int64, 1), writable(float64, 1))


@inner
def best_tree(backbone, single_root, weights, siblings, left_siblings, stops, heads):  # out: heads
    """The value of a best tree under the weights of arcs."""
    if backbone == EISNER:
        return eisner_kernel(weights, single_root, heads)
    if backbone == SIBLING:
        return best_tree_of(weights, siblings, left_siblings, stops, single_root, heads)
    if tree_kernel(weights, single_root, heads) < 0:
        return -np.inf
    value = 0.0
    for m in range(1, heads.size + 1):
        value += weights[heads[m - 1], m]
    return value


@inner
def adapt(offset, start, arc, phi, n, open_start, active, unit, shares):  # out: shares
    """Arcs that are sure need no share: a factor is about the others, and with one other its share is exact."""
    for i in range(active.size):
        c = active[i]
        unsure, sure = 0, 0.0
        for p in range(start[c], start[c + 1]):
            m = arc[p] % (n + 1)
            if open_start[m + 1] - open_start[m] > 1:
                unsure += 1
            else:
                sure += shares[offset + p]
        if phi[c] < 0.0:
            if unsure <= 1:
                shares[offset + start[c]] = phi[c]
        elif unsure > 0 and sure > 0.0:
            each = np.floor(sure / unsure / unit) * unit
            sure -= each * unsure
            for p in range(start[c], start[c + 1]):
                m = arc[p] % (n + 1)
                if open_start[m + 1] - open_start[m] > 1:
                    shares[offset + p] += each + sure
                    sure = 0.0
                else:
                    shares[offset + p] = 0.0


@inner
def add_shares(
    first, second, head_start, head, table_start, share_start, rest_start, table, start, arc, phi, arcs, open_start, open_, active, shares,
    rest, choice, weights,
):  # fmt: skip
    """The arcs with their shares; returns the constant. out: rest, choice, weights (n + 1, n + 1)."""
    flat, given = weights.reshape(-1), arcs.reshape(-1)
    for e in range(flat.size):
        flat[e] = given[e]
    for q in range(first.size):
        settle(q, first, second, head_start, table_start, share_start, rest_start, table, open_start, open_, shares, rest, choice)
        m, s = first[q], second[q]
        for i in range(open_start[m], open_start[m + 1]):
            weights[head[head_start[m] + open_[i]], m] += rest[rest_start[q] + open_[i]]
        for j in range(open_start[s], open_start[s + 1]):
            weights[head[head_start[s] + open_[j]], s] += shares[share_start[q] + open_[j]]
    constant, offset = 0.0, share_start[first.size]
    for i in range(active.size):
        c = active[i]
        if phi[c] >= 0.0:
            for p in range(start[c], start[c + 1]):
                flat[arc[p]] += shares[offset + p]
        else:
            w = shares[offset + start[c]]
            for p in range(start[c], start[c + 1]):
                flat[arc[p]] += w
            constant -= (start[c + 1] - start[c] - 1) * w
    return constant


@inner
def widest(n, open_start, start):
    """The most open heads of a word, or arcs of a factor."""
    most = 1
    for m in range(1, n + 1):
        most = max(most, open_start[m + 1] - open_start[m])
    for c in range(start.size - 1):
        most = max(most, start[c + 1] - start[c])
    return most


@inner
def respond(
    value, heads, first, second, head_start, head, table_start, share_start, rest_start, table, start, arc, phi, open_start, open_, active,
    limit, largest, unit, grain, memory, least_rate, shares, best_shares, slope, doubt, result, best_heads, choice, rest, before,
    weights,
):  # fmt: skip
    """All that follows when the oracle has found the best tree under the weights, and its value.

    out: shares, rest, choice, slope and weights after a step; best_shares, of the lowest bound; best_heads, of the best tree; doubt;
    result.
    """
    n = heads.size
    place = np.zeros(n, dtype=np.int64)
    places_of(heads, head_start, head, open_start, open_, place)
    result[CALLS] += 1
    total = value + result[CONSTANT]
    bound = np.floor(total / grain) * grain
    gap, forbidden = gaps(
        heads, place, first, second, head_start, head, table_start, share_start, rest_start, table, start, arc, phi, active, largest,
        shares, rest, choice, doubt,
    )  # fmt: skip
    if forbidden == 0 and total - gap > result[SCORE]:
        result[SCORE] = total - gap
        for m in range(n):
            best_heads[m] = heads[m]
    result[SINCE] += 1
    if bound < result[BOUND]:
        if not result[BOUND] - bound <= PROGRESS * (bound - result[SCORE]):
            result[SINCE] = 0
        result[BOUND] = bound
        for p in range(shares.size):
            best_shares[p] = shares[p]
    if result[BOUND] <= result[SCORE]:
        return TIGHT
    if result[SINCE] >= PATIENCE:
        result[SINCE] = 0
        result[RATE] *= 0.5
        if result[RATE] < least_rate:
            return TIRED
    norm = slopes(
        heads, place, first, second, share_start, rest_start, table_start, head_start, table, start, arc, phi, active,
        1.0 - memory if result[CALLS] > 1 else 1.0, shares, rest, choice, slope,
    )  # fmt: skip
    if norm > 0.0:
        step = result[RATE] * (total - result[SCORE] if result[SCORE] > -np.inf else gap) / norm
        result[CONSTANT] += move(
            step, first, second, head_start, head, table_start, share_start, rest_start, table, start, arc, phi, open_start, open_, active,
            limit, unit, slope, before, shares, rest, choice, weights,
        )  # fmt: skip
    return GOES_ON


@kernel(float64(*TABLES, *NODE, readonly(float64, 1), writable(float64, 2)))
def weigh(
    first, second, head_start, head, table_start, share_start, rest_start, table, start, arc, phi, arcs, open_start, open_, active, shares,
    weights,
):  # fmt: skip
    """The arcs of a node with their shares; returns the constant. out: weights (n + 1, n + 1)."""
    rest, choice = np.empty(rest_start[first.size]), np.empty(rest_start[first.size], dtype=np.int64)
    return add_shares(
        first, second, head_start, head, table_start, share_start, rest_start, table, start, arc, phi, arcs, open_start, open_, active,
        shares, rest, choice, weights,
    )  # fmt: skip


@kernel(
    int64(
        int64, int64, readonly(float64, 3), readonly(float64, 2), *TABLES, *NODE, *STEPS, int64, int64, readonly(int64, 1), *STATE,
        writable(float64, 2),
    )
)  # fmt: skip
def share_out(
    backbone, single_root, siblings, stops, first, second, head_start, head, table_start, share_start, rest_start, table, start, arc, phi,
    arcs, open_start, open_, active, limit, largest, unit, grain, memory, least_rate, rounds, most_calls, tree,
    shares, best_shares, slope, doubt, result, best_heads, choice, rest, trace,
):  # fmt: skip
    """Steps from the shares that are given, each after a call of the backbone, until the bound is tight or nothing helps.

    `arcs` are -inf where they are closed. Shares stay within `limit`, `largest` stands for the gap of what is forbidden, `grain` divides
    the score of every tree, `memory` is how much of the average of subgradients is kept at every step, `rounds` how often a better tree
    may be sought from the first one (section 3.4). `result` goes in with the incumbent, the lowest bound so far and the rate. With the
    backbone OTHER, the caller has found the best tree under these shares, and result[VALUE], and one step follows; with no calls,
    shares are only made fit for the node.
    out: shares; best_shares, of the lowest bound; slope, which goes in as it came out; doubt (arcs,), to which gaps are added; result,
    with the number of calls so far; best_heads (n,), if a tree beats the incumbent; choice, rest; trace (2, most_calls): the lowest
    bound and the highest score after every call. Returns why it ended.
    """
    n = best_heads.size
    weights, heads = np.empty((n + 1, n + 1)), np.empty(n, dtype=np.int64)
    before, place = np.empty(widest(n, open_start, start)), np.zeros(n, dtype=np.int64)
    if backbone != OTHER or most_calls == 0:
        adapt(share_start[first.size], start, arc, phi, n, open_start, active, unit, shares)
    result[CONSTANT] = add_shares(
        first, second, head_start, head, table_start, share_start, rest_start, table, start, arc, phi, arcs, open_start, open_, active,
        shares, rest, choice, weights,
    )  # fmt: skip
    other = np.empty((n + 1, n + 1)) if rounds > 0 else weights
    left_siblings = transpose_left(siblings, 1 if single_root else 0) if backbone == SIBLING and most_calls > 0 else siblings
    seeking, failed, turn = False, 0, 0  # a better tree is sought, and how often in vain
    for calls in range(most_calls):
        if seeking:
            places_of(best_heads, head_start, head, open_start, open_, place)
            exact_for(
                turn, best_heads, place, first, second, head_start, head, table_start, table, start, arc, phi, arcs, open_start, open_,
                active, limit, other,
            )  # fmt: skip
        if backbone == OTHER:
            value = result[VALUE]
            for m in range(n):
                heads[m] = tree[m]
        else:
            value = best_tree(backbone, single_root, other if seeking else weights, siblings, left_siblings, stops, heads)
        status = GOES_ON
        if seeking:
            result[CALLS] += 1
            if value > -np.inf:
                places_of(heads, head_start, head, open_start, open_, place)
                value = score_of(value, heads, place, first, second, head_start, table_start, table, start, arc, phi, arcs, active, other)
            failed, turn, rounds = failed + 1, 1 - turn, rounds - 1
            if value > result[SCORE]:
                failed = 0
                result[SCORE] = value
                for m in range(n):
                    best_heads[m] = heads[m]
                if result[BOUND] <= value:
                    status = TIGHT
            if failed == 2:
                rounds = 0
        elif value == -np.inf:
            result[BOUND] = -np.inf
            result[CALLS] += 1
            status = EMPTY
        else:
            status = respond(
                value, heads, first, second, head_start, head, table_start, share_start, rest_start, table, start, arc, phi, open_start,
                open_, active, limit, largest, unit, grain, memory, least_rate, shares, best_shares, slope, doubt, result, best_heads,
                choice, rest, before, weights,
            )  # fmt: skip
        trace[0, calls], trace[1, calls] = result[BOUND], result[SCORE]
        if status != GOES_ON:
            return status
        seeking = rounds > 0 and result[SCORE] > -np.inf
    return TIRED
