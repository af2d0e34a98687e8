"""Approximate posteriors of trees whose parts are larger than arcs: loopy belief propagation with one factor for the tree.

Smith & Eisner 2008. The variables are the heads of words. One factor says that they are a tree; its messages come from
the matrix-tree theorem, or from inside and outside of projective trees. The factor of a head h scores its modifiers and its own head:
siblings, stops, grandparents and grand-siblings, summed forwards and backwards along each side (Martins et al. 2011).

    scores of the tree[h, m] = arcs[h, m] + outward[h, m] + inward[h, m]        posterior = its posteriors
    outward[h, m]: what the factor of h says of its modifier m      log ( sum with m / sum without it ), nothing else said of the head of m
    inward[g, h]:  what the factor of h says of its head g          log ( sum with g ), up to a constant

A factor takes what is said of a variable without its own message: the posterior divided by it. Departures: Smith & Eisner have a variable
for each arc and a factor for each pair of arcs that is scored together; here all parts of a head are one factor, which scores chains of
siblings too. What it would know of cycles (g -> h -> g) is left to the tree, since what is said twice counts twice: without scores of
larger parts, all messages are 0, and the posteriors are exact.

No sum has a subtraction. At a fixed point the gradient of the Bethe log partition function is exactly the beliefs (Yedidia et al. 2005):

    log partition = that of the tree factor + sum_h log sum_h          if all messages to a variable multiply to a distribution
"""

# mypy: disable-error-code="no-untyped-def"
# a kernel's types are its signature

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from zerogap.grid import Integers, Scores
from zerogap.kernels import float64, inner, int64, kernel, readonly, writable
from zerogap.oracles.trees.arc_scores import infeasible
from zerogap.oracles.trees.nonprojective_marginals import nonprojective_marginals
from zerogap.oracles.trees.projective_marginals import projective_marginals
from zerogap.oracles.trees.semifield import add_logs

SMALLEST = -700.0  # the logarithm of a probability that stands for less likely ones, and for 0


class Places(NamedTuple):
    """Where the parts of each head and side (place = 2 h + side) are; see `dependency.candidate_arcs`."""

    contexts: Integers  # (n + 1,): how many candidate heads a head has, if grandparents are scored, else 1
    modifier_start: Integers  # (2 (n + 1) + 1,)
    modifiers: Integers  # outward on each side
    pair_start: Integers  # [modifier before, none first; modifier]
    grand_start: Integers  # [candidate head, ascending; modifier]
    joint_start: Integers  # [candidate head; modifier before; modifier]


class Parts(NamedTuple):
    """Scores of parts, or beliefs in those that are scored. Empty arrays: there are none; pairs are scored only if stops are."""

    pairs: Scores
    stops: Scores  # at modifier_start + place: [last modifier, none first]
    grand: Scores  # -inf where no tree has the part, since the candidate head is the modifier: then it scores nothing, nor do joint ones
    joint: Scores


@dataclass(frozen=True, slots=True, eq=False)
class Beliefs:
    """`arcs` (n + 1, n + 1) are posteriors of arcs, `parts` those of parts; `change` is the last one of a posterior of an arc."""

    arcs: Scores
    parts: Parts
    log_partition: float  # of Bethe
    iterations: int
    change: float


@inner
def log_of_sum(values, size):
    top = values[0]
    for i in range(1, size):
        top = max(top, values[i])
    total = 0.0
    for i in range(size):
        total += np.exp(values[i] - top)
    return top + np.log(total)


@inner
def log_with_one(value):
    """log(1 + e^value)"""
    return max(value, 0.0) + np.log1p(np.exp(-abs(value)))


@inner
def logarithms(
    posteriors, log_on, log_off
):  # out: log_on, log_off (n + 1, n + 1): of the posterior of an arc, and of the others of its word
    n = posteriors.shape[0] - 1
    for m in range(1, n + 1):
        before = after = 0.0
        for h in range(n + 1):
            log_off[h, m] = before
            before += posteriors[h, m]
        for h in range(n, -1, -1):
            log_off[h, m] = max(np.log(max(log_off[h, m] + after, 1e-320)), SMALLEST)
            log_on[h, m] = max(np.log(max(posteriors[h, m], 1e-320)), SMALLEST)
            after += posteriors[h, m]


@inner
def fill_table(place, k, q, pairs, pair_start, grand, grand_start, joint, joint_start, table):  # out: table (q + 1, q), as far as p <= j
    """What the context k scores of each modifier after each other one; nothing above a modifier that is the head's head."""
    for j in range(q):
        for p in range(j + 1):
            table[p, j] = pairs[pair_start[place] + p * q + j]
    if grand.shape[0] > 0 and place >= 2:
        at = grand_start[place] + k * q
        for j in range(q):
            if grand[at + j] == -np.inf:
                continue
            for p in range(j + 1):
                table[p, j] += grand[at + j]
                if joint.shape[0] > 0 and (p == 0 or grand[at + p - 1] > -np.inf):
                    table[p, j] += joint[joint_start[place] + (k * (q + 1) + p) * q + j]


@inner
def sum_chain(table, stops, odds, q, on, off, forward, after, scratch):
    """The log of the sum over all choices of modifiers. out: on, off (q): of those with a modifier, less its odds, and without it;
    forward (q + 1): of choices up to a last modifier; after, scratch."""
    forward[0] = 0.0
    for j in range(q):
        for p in range(j + 1):
            scratch[p] = forward[p] + table[p, j]
        on[j] = log_of_sum(scratch, j + 1)
        forward[j + 1] = odds[j] + on[j]
    for p in range(q + 1):
        after[p] = stops[p]
    for j in range(q - 1, -1, -1):  # after[p]: of what may follow p from j + 1 on
        on[j] += after[j + 1]
        for p in range(j + 1):
            scratch[p] = forward[p] + after[p]
        off[j] = log_of_sum(scratch, j + 1)
        for p in range(j + 1):
            after[p] = add_logs(after[p], table[p, j] + odds[j] + after[j + 1])
    return after[0]


@inner
def sum_free(scores, odds, q, on, off):  # out: on, off (q), as for chains
    """The same if modifiers are chosen independently of each other."""
    total = 0.0
    for j in range(q):
        off[j] = log_with_one(odds[j] + scores[j])
        total += off[j]
    for j in range(q):
        off[j] = total - off[j]
        on[j] = off[j] + scores[j]
    return total


LAYOUT = [readonly(int64, 1)] * 6
PARTS = [readonly(float64, 1)] * 4


@kernel(
    float64(
        readonly(float64, 2), readonly(float64, 2), *LAYOUT, *PARTS, float64, int64, writable(float64, 2), writable(float64, 2),
        writable(float64, 1), writable(float64, 1), writable(float64, 1), writable(float64, 1),
    )
)  # fmt: skip
def factors_of_heads(
    arcs, posteriors, contexts, modifier_start, modifiers, pair_start, grand_start, joint_start, pairs, stops, grand, joint, damping,
    with_beliefs, outward, inward, pair_beliefs, stop_beliefs, grand_beliefs, joint_beliefs,
):  # fmt: skip
    """The sum over heads of the log of their factors' sums, given the posteriors of arcs (only where arcs are above -inf).

    out: outward, inward: messages, which were part of the posteriors; the new ones are mixed with `damping` times the old. With beliefs,
    messages stay, and beliefs (given as 0) are filled.
    """
    n = arcs.shape[0] - 1
    log_on, log_off = np.empty((n + 1, n + 1)), np.empty((n + 1, n + 1))
    logarithms(posteriors, log_on, log_off)
    chain, with_grand, with_joint = stops.shape[0] > 0, grand.shape[0] > 0, joint.shape[0] > 0
    heads = np.zeros(n + 1, dtype=np.int64)
    on, off, sides, weight = np.empty((n + 1, n)), np.empty((n + 1, n)), np.empty((n + 1, 2)), np.empty(n + 1)
    odds, forward, after, scratch = np.empty(n), np.empty(n + 1), np.empty(n + 1), np.empty(n + 1)
    table = np.zeros((n + 1, n))
    all_heads = 0.0
    for h in range(n + 1):
        first, q_both = modifier_start[2 * h], modifier_start[2 * h + 2] - modifier_start[2 * h]
        q_left = modifier_start[2 * h + 1] - first
        if q_both == 0 and (not chain or h == 0):
            continue
        is_grand = with_grand and h > 0
        n_heads = 1
        weight[0] = 0.0
        if is_grand:
            n_heads = 0
            for g in range(n + 1):
                if arcs[g, h] > -np.inf:
                    heads[n_heads] = g
                    weight[n_heads] = log_on[g, h] - inward[g, h]
                    n_heads += 1
        for j in range(q_both):
            m = modifiers[first + j]
            odds[j] = log_on[h, m] - outward[h, m] - log_off[h, m]
            all_heads += log_off[h, m]
        for k in range(n_heads):
            sides[k, 0] = 0.0
            for side in range(0 if h > 0 else 1, 2):  # the root has a right side only
                place, j0 = 2 * h + side, q_left if side == 1 else 0
                q = q_both - q_left if side == 1 else q_left
                if chain:
                    fill_table(place, k, q, pairs, pair_start, grand, grand_start, joint, joint_start, table)
                    sides[k, side] = sum_chain(
                        table, stops[first + j0 + place :], odds[j0:], q, on[k, j0:], off[k, j0:], forward, after, scratch
                    )
                else:
                    for j in range(q):
                        score = grand[grand_start[place] + k * q + j] if is_grand else 0.0
                        scratch[j] = score if score > -np.inf else 0.0
                    sides[k, side] = sum_free(scratch, odds[j0:], q, on[k, j0:], off[k, j0:])
            weight[k] += sides[k, 0] + sides[k, 1]
        total = log_of_sum(weight, n_heads)
        all_heads += total

        if not with_beliefs:
            for j in range(q_both):
                m = modifiers[first + j]
                side = 1 if j >= q_left else 0
                for k in range(n_heads):
                    scratch[k] = weight[k] - sides[k, side] + on[k, j]
                    after[k] = weight[k] - sides[k, side] + off[k, j]
                message = log_of_sum(scratch, n_heads) - log_of_sum(after, n_heads)
                outward[h, m] = message + damping * (outward[h, m] - message)
            if is_grand:
                for k in range(n_heads):
                    g = heads[k]
                    message = sides[k, 0] + sides[k, 1] - total
                    inward[g, h] = message + damping * (inward[g, h] - message)
            continue

        for k in range(n_heads):
            for side in range(0 if h > 0 else 1, 2):
                place, j0 = 2 * h + side, q_left if side == 1 else 0
                q = q_both - q_left if side == 1 else q_left
                if not chain:
                    for j in range(q):
                        at = grand_start[place] + k * q + j
                        if is_grand and grand[at] > -np.inf:
                            grand_beliefs[at] = np.exp(weight[k] - sides[k, side] + on[k, j0 + j] + odds[j0 + j] - total)
                    continue
                ends = stops[first + j0 + place :]
                fill_table(place, k, q, pairs, pair_start, grand, grand_start, joint, joint_start, table)
                rest = weight[k] - sum_chain(table, ends, odds[j0:], q, on[k, j0:], off[k, j0:], forward, after, scratch) - total
                for p in range(q + 1):
                    stop_beliefs[first + j0 + place + p] += np.exp(rest + forward[p] + ends[p])
                for j in range(q):
                    # on = forward of what comes before + the rest, so its rest is what follows
                    follows = rest + odds[j0 + j] + on[k, j0 + j] - (forward[j + 1] - odds[j0 + j])
                    for p in range(j + 1):
                        belief = np.exp(follows + forward[p] + table[p, j])
                        pair_beliefs[pair_start[place] + p * q + j] += belief
                        if is_grand and grand[grand_start[place] + k * q + j] > -np.inf:
                            grand_beliefs[grand_start[place] + k * q + j] += belief
                            if with_joint and (p == 0 or grand[grand_start[place] + k * q + p - 1] > -np.inf):
                                joint_beliefs[joint_start[place] + (k * (q + 1) + p) * q + j] = belief
    return all_heads


def propagate(
    arcs: Scores,
    places: Places,
    scores: Parts,
    *,
    projective: bool,
    single_root: bool = True,
    max_iterations: int = 50,
    tolerance: float = 1e-6,
    damping: float = 0.0,
) -> Beliefs:
    """Beliefs in arcs (n + 1, n + 1), -inf where there is none, and in the parts that are scored above them.

    Stops when no posterior of an arc changes by more than `tolerance`, or after `max_iterations`. Raises Infeasible if there is no tree.
    """
    outward, inward = np.zeros(arcs.shape), np.zeros(arcs.shape)
    posteriors, previous = np.zeros(arcs.shape), np.zeros(arcs.shape)
    beliefs = Parts(*[np.zeros(values.shape) for values in scores])
    marginals = projective_marginals if projective else nonprojective_marginals
    has_parts = any(len(values) for values in scores)
    for iteration in range(1, max(max_iterations, 1) + 1):
        posteriors, previous = previous, posteriors
        log_partition = marginals(arcs + outward + inward, 1 if single_root else 0, posteriors)
        if log_partition == -np.inf:
            raise infeasible(arcs, single_root=single_root, projective=projective)
        change = float(np.abs(posteriors - previous).max())
        is_last = change <= tolerance or iteration >= max_iterations or not has_parts
        if has_parts:
            given = (arcs, posteriors, *places, *scores, damping)
            of_heads = factors_of_heads(*given, 1 if is_last else 0, outward, inward, *beliefs)
        else:
            of_heads = 0.0
        if is_last:
            break
    return Beliefs(posteriors, beliefs, float(log_partition + of_heads), iteration, change)
