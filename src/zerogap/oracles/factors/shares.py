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
oracle. All shares are multiples of one power of two, so that all sums are exact. The arrays: see `oracles.factors.layout`.
"""

# mypy: disable-error-code="no-untyped-def"
# a kernel's types are its signature

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from zerogap.grid import Integers, Scores
from zerogap.kernels import borrowing, float64, inner, int64, kernel, readonly, record, writable
from zerogap.oracles.descent import STEPS
from zerogap.oracles.factors.gaps import exact_for, gaps, places_of, score_of
from zerogap.oracles.factors.layout import GRID, LAYOUT, NODE, SHARES, TABLES, Shares
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
MEMORY = 0.3  # how much of the average of subgradients is kept at every step


class TreeOracle(NamedTuple):
    """What finds the best tree without factors: see `kind`."""

    kind: int
    single_root: int
    siblings: Scores  # (n + 1, n + 1, n + 1) and (n + 1, n + 1): what SIBLING reads
    stops: Scores
    tree: Integers  # (n,): what the caller of OTHER found under these shares; its value is in result[VALUE]


class Outcome(NamedTuple):
    """What is known of a node: it goes in as it came out, at first with the incumbent, an infinite bound and the rate of steps."""

    best_shares: Scores  # of the lowest bound
    slope: Scores  # the average of subgradients, as shares
    doubt: Scores  # (arcs,): gaps are added to it
    result: Scores  # (N_RESULTS,)
    best_heads: Integers  # (n,): a best tree, if one beats the incumbent
    trace: Scores  # (2, calls): the lowest bound and the highest score after every call


class Room(NamedTuple):
    """Arrays for one descent."""

    weights: Scores  # (n + 1, n + 1): the arcs with their shares
    flat: Scores  # the same
    heads: Integers  # (n,): the best tree under them
    place: Integers  # (n,): the numbers of its heads among those that a word may have
    before: Scores


ORACLE = record(TreeOracle, int64, int64, readonly(float64, 3), readonly(float64, 2), readonly(int64, 1))
OUTCOME = record(Outcome, *[writable(float64, 1)] * 4, writable(int64, 1), writable(float64, 2))


@inner
def best_tree(oracle, weights, left_siblings, heads):  # out: heads
    """The value of a best tree under the weights of arcs."""
    if oracle.kind == EISNER:
        return eisner_kernel(weights, oracle.single_root, heads)
    if oracle.kind == SIBLING:
        return best_tree_of(weights, oracle.siblings, left_siblings, oracle.stops, oracle.single_root, heads)
    if tree_kernel(weights, oracle.single_root, heads) < 0:
        return -np.inf
    value = 0.0
    for m in range(1, heads.size + 1):
        value += weights[heads[m - 1], m]
    return value


@inner
def adapt(layout, tables, node, unit, shares):  # out: shares
    """Arcs that are sure need no share: a factor is about the others, and with one other its share is exact."""
    offset, size = layout.share_start[layout.first.size], node.arcs.shape[0]
    for i in range(node.active.size):
        c = node.active[i]
        unsure, sure = 0, 0.0
        for p in range(layout.start[c], layout.start[c + 1]):
            m = tables.arc[p] % size
            if node.open_start[m + 1] - node.open_start[m] > 1:
                unsure += 1
            else:
                sure += shares[offset + p]
        if layout.phi[c] < 0.0:
            if unsure <= 1:
                shares[offset + layout.start[c]] = layout.phi[c]
        elif unsure > 0 and sure > 0.0:
            each = np.floor(sure / unsure / unit) * unit
            sure -= each * unsure
            for p in range(layout.start[c], layout.start[c + 1]):
                m = tables.arc[p] % size
                if node.open_start[m + 1] - node.open_start[m] > 1:
                    shares[offset + p] += each + sure
                    sure = 0.0
                else:
                    shares[offset + p] = 0.0


@inner
def add_shares(layout, tables, node, now, weights):
    """The arcs with their shares; returns the constant. out: rest, choice, weights (n + 1, n + 1)."""
    flat, given = weights.reshape(-1), node.arcs.reshape(-1)
    for e in range(flat.size):
        flat[e] = given[e]
    for q in range(layout.first.size):
        settle(q, layout, tables, node, now)
        m, s = layout.first[q], layout.second[q]
        for i in range(node.open_start[m], node.open_start[m + 1]):
            weights[layout.head[layout.head_start[m] + node.open_[i]], m] += now.rest[tables.rest_start[q] + node.open_[i]]
        for j in range(node.open_start[s], node.open_start[s + 1]):
            weights[layout.head[layout.head_start[s] + node.open_[j]], s] += now.shares[layout.share_start[q] + node.open_[j]]
    constant, offset = 0.0, layout.share_start[layout.first.size]
    for i in range(node.active.size):
        c = node.active[i]
        if layout.phi[c] >= 0.0:
            for p in range(layout.start[c], layout.start[c + 1]):
                flat[tables.arc[p]] += now.shares[offset + p]
        else:
            w = now.shares[offset + layout.start[c]]
            for p in range(layout.start[c], layout.start[c + 1]):
                flat[tables.arc[p]] += w
            constant -= (layout.start[c + 1] - layout.start[c] - 1) * w
    return constant


@inner
def widest(layout, node):
    """The most open heads of a word, or arcs of a factor."""
    most = 1
    for m in range(1, node.arcs.shape[0]):
        most = max(most, node.open_start[m + 1] - node.open_start[m])
    for c in range(layout.start.size - 1):
        most = max(most, layout.start[c + 1] - layout.start[c])
    return most


@borrowing
def respond(value, room, layout, tables, node, grid, steps, now, out):
    """All that follows when the oracle has found the best tree under the weights, and its value.

    out: shares, rest, choice, slope and weights after a step; best_shares, of the lowest bound; best_heads, of the best tree; doubt;
    result.
    """
    heads, place = room.heads, room.place
    places_of(heads, layout, node, place)
    out.result[CALLS] += 1
    total = value + out.result[CONSTANT]
    bound = np.floor(total / grid.grain) * grid.grain
    gap, forbidden = gaps(heads, place, layout, tables, node, grid, now, out.doubt)
    if forbidden == 0 and total - gap > out.result[SCORE]:
        out.result[SCORE] = total - gap
        for m in range(heads.size):
            out.best_heads[m] = heads[m]
    out.result[SINCE] += 1
    if bound < out.result[BOUND]:
        if not out.result[BOUND] - bound <= PROGRESS * (bound - out.result[SCORE]):
            out.result[SINCE] = 0
        out.result[BOUND] = bound
        for p in range(now.shares.size):
            out.best_shares[p] = now.shares[p]
    if out.result[BOUND] <= out.result[SCORE]:
        return TIGHT
    if out.result[SINCE] >= PATIENCE:
        out.result[SINCE] = 0
        out.result[RATE] *= 0.5
        if out.result[RATE] < steps.least_rate:
            return TIRED
    norm = slopes(heads, place, layout, tables, node, now, 1.0 - MEMORY if out.result[CALLS] > 1 else 1.0, out.slope)
    if norm > 0.0:
        step = out.result[RATE] * (total - out.result[SCORE] if out.result[SCORE] > -np.inf else gap) / norm
        out.result[CONSTANT] += move(step, layout, tables, node, grid, now, out.slope, room)
    return GOES_ON


@kernel(float64(LAYOUT, TABLES, NODE, readonly(float64, 1), writable(float64, 2)))
def weigh(layout, tables, node, shares, weights):
    """The arcs of a node with their shares; returns the constant. out: weights (n + 1, n + 1)."""
    entries = tables.rest_start[layout.first.size]
    return add_shares(layout, tables, node, Shares(shares, np.empty(entries), np.empty(entries, dtype=np.int64)), weights)


@kernel(int64(ORACLE, LAYOUT, TABLES, NODE, GRID, STEPS, int64, SHARES, OUTCOME))
def share_out(oracle, layout, tables, node, grid, steps, rounds, now, out):
    """Steps from the shares that are given, each after a call of the backbone, until the bound is tight or nothing helps.

    At most steps.most calls follow. `rounds` is how often a better tree may be sought from the first one (section 3.4). With the backbone
    OTHER, the caller has found the best tree under these shares, and one step follows; with no calls, shares are only made fit for the
    node. Returns why it ended. out: now, out.
    """
    n = out.best_heads.size
    weights, heads = np.empty((n + 1, n + 1)), np.empty(n, dtype=np.int64)
    before, place = np.empty(widest(layout, node)), np.zeros(n, dtype=np.int64)
    room = Room(weights, weights.reshape(-1), heads, place, before)
    if oracle.kind != OTHER or steps.most == 0:
        adapt(layout, tables, node, grid.unit, now.shares)
    out.result[CONSTANT] = add_shares(layout, tables, node, now, weights)
    other = np.empty((n + 1, n + 1)) if rounds > 0 else weights
    left_siblings = transpose_left(oracle.siblings, oracle.single_root) if oracle.kind == SIBLING and steps.most > 0 else oracle.siblings
    seeking, failed, turn = False, 0, 0  # a better tree is sought, and how often in vain
    for calls in range(steps.most):
        if seeking:
            places_of(out.best_heads, layout, node, place)
            exact_for(turn, out.best_heads, place, layout, tables, node, grid.limit, other)
        if oracle.kind == OTHER:
            value = out.result[VALUE]
            for m in range(n):
                heads[m] = oracle.tree[m]
        else:
            value = best_tree(oracle, other if seeking else weights, left_siblings, heads)
        status = GOES_ON
        if seeking:
            out.result[CALLS] += 1
            if value > -np.inf:
                places_of(heads, layout, node, place)
                value = score_of(value, heads, place, layout, tables, node, other)
            failed, turn, rounds = failed + 1, 1 - turn, rounds - 1
            if value > out.result[SCORE]:
                failed = 0
                out.result[SCORE] = value
                for m in range(n):
                    out.best_heads[m] = heads[m]
                if out.result[BOUND] <= value:
                    status = TIGHT
            if failed == 2:
                rounds = 0
        elif value == -np.inf:
            out.result[BOUND] = -np.inf
            out.result[CALLS] += 1
            status = EMPTY
        else:
            status = respond(value, room, layout, tables, node, grid, steps, now, out)
        out.trace[0, calls], out.trace[1, calls] = out.result[BOUND], out.result[SCORE]
        if status != GOES_ON:
            return status
        seeking = rounds > 0 and out.result[SCORE] > -np.inf
    return TIRED
