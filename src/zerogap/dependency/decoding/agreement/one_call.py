"""Dual decomposition from the parts of a problem to agreement in one call (see `dual_decomposition`).

A sentence of ten words takes the kernel 30 microseconds, and laying out its scores from Python would take three times as long. Where tree
and heads do not agree, what is known by then is where the long way begins.
"""

# mypy: disable-error-code="no-untyped-def"
# a kernel's types are its signature

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from zerogap.dependency.candidate_arcs import Integers, lay_out
from zerogap.dependency.decoding.agreement.head_scores import NO_CUBE, NO_SQUARE, NONE, NOTHING, fill_from_arrays, flags_of, most_added
from zerogap.dependency.decoding.agreement.sparse_parts import GRANDPARENTS, GRANDSIBLINGS, SIBLINGS, add_listed_parts
from zerogap.grid import Scores
from zerogap.kernels import float64, int64, kernel, readonly, writable
from zerogap.oracles.heads.agreement import N_RESULTS, agree
from zerogap.oracles.heads.automata import CHAIN, GRAND, JOINT, OPEN, OUTER, PROJECTIVE
from zerogap.problems.dependency.parts import DenseParts, SparseParts
from zerogap.problems.dependency.problem import Problem

MOST_STEPS = 1000
MOST_SCORES = 10**9  # that all steps may have to read, and read a part of: nobody looks at the clock
MOST_WORDS = 100  # for longer sentences it makes no difference

N_ARCS = N_RESULTS  # place in `result`, after those of `agree`


@kernel(
    int64(
        int64, readonly(float64, 2), readonly(float64, 3), readonly(int64, 1), readonly(float64, 1), readonly(float64, 2),
        readonly(int64, 1), readonly(float64, 1), readonly(float64, 3), readonly(int64, 1), readonly(float64, 1), readonly(int64, 1),
        readonly(float64, 1), float64, float64, float64,
        writable(int64, 1), writable(int64, 2), writable(float64, 2), writable(float64, 1), writable(float64, 2),
    )
)  # fmt: skip
def agree_on_parts(
    flags, arcs, siblings, sibling_keys, sibling_scores, stops2, stop_keys, stop_scores, grandparents, grandparent_keys,
    grandparent_scores, joint_keys, joint_scores, rate, least_rate, unit, best_heads, integers, best_prices, result, trace,
):  # fmt: skip
    """Arrays of no size are of parts that are listed, or not scored. Returns why it ended, as `agree` does.

    out: best_heads (n,); integers (2, n * n): the numbers of the arcs, h * (n + 1) + m, and how often tree and heads disagreed about them;
    best_prices (2, n * n) of them; result and trace as of `agree`, and the number of arcs.
    """
    n = arcs.shape[0] - 1
    allowed = arcs > -np.inf
    n_arcs = 0
    for h in range(n + 1):
        for m in range(1, n + 1):
            n_arcs += allowed[h, m]
    grand, chain = flags & GRAND, flags & CHAIN
    contexts, modifier_start = np.empty(n + 1, dtype=np.int64), np.empty(2 * n + 3, dtype=np.int64)
    by_arc = np.empty((3, n_arcs), dtype=np.int64)
    starts = np.empty((4, 2 * n + 3), dtype=np.int64)
    heads, modifiers, context = by_arc[0], by_arc[1], by_arc[2]
    lay_out(allowed, grand, contexts, modifier_start, heads, modifiers, context, starts)
    pair_start, grand_start, joint_start = starts[2] if chain else modifier_start, starts[3], starts[0]
    pairs = np.empty(pair_start[2 * n + 2])
    stops = np.empty(n_arcs + 2 * n + 2 if chain else 0)
    grands = np.empty(grand_start[2 * n + 2] if grand else 0)
    ends = np.zeros((n + 1 if chain else 0, n + 1))  # stops, whichever way they are given
    for h in range(stops2.shape[0]):
        for m in range(n + 1):
            ends[h, m] = stops2[h, m]
    for i in range(stop_keys.shape[0]):
        ends[stop_keys[i] // (n + 1), stop_keys[i] % (n + 1)] = stop_scores[i]
    fill_from_arrays(
        arcs, siblings, ends, grandparents, modifier_start, modifiers, chain, flags & PROJECTIVE, pairs, pair_start, stops, grands,
        grand_start,
    )  # fmt: skip
    joints = np.zeros(joint_start[2 * n + 2] if flags & JOINT else 0)
    if sibling_keys.shape[0] > 0:
        add_listed_parts(
            SIBLINGS, sibling_keys, sibling_scores, heads, modifiers, modifier_start, context, pair_start, grand_start, grands, pairs
        )
    if grandparent_keys.shape[0] > 0:
        add_listed_parts(
            GRANDPARENTS, grandparent_keys, grandparent_scores, heads, modifiers, modifier_start, context, grand_start, grand_start, grands,
            grands,
        )  # fmt: skip
    if joint_keys.shape[0] > 0:
        add_listed_parts(
            GRANDSIBLINGS, joint_keys, joint_scores, heads, modifiers, modifier_start, context, joint_start, grand_start, grands, joints
        )
    prices, state, numbers = np.zeros((2, n_arcs)), np.full(n_arcs, OPEN), integers[0]
    for a in range(n_arcs):
        prices[0, a] = arcs[heads[a], modifiers[a]]
        numbers[a] = heads[a] * (n + 1) + modifiers[a]
    most_added(flags, contexts, modifier_start, pairs, pair_start, stops, grands, grand_start, prices[0])
    none, nothing = np.empty(0, dtype=np.int64), np.empty(0)
    choices, lowest = np.empty((3, n_arcs), dtype=np.int64), np.empty((2, n_arcs))
    disputed = integers[1]
    for a in range(n_arcs):
        disputed[a] = 0
    size = joint_start[2 * n + 2] if chain else grand_start[2 * n + 2]
    steps = min(trace.shape[1], max(MOST_SCORES // max(size, 1), 1))
    status = agree(
        flags, contexts, modifier_start, modifiers, context, pairs, pair_start, stops, grands, grand_start, joints, joint_start, nothing,
        starts[1], none, none, nothing, none, none, nothing, state, -np.inf, rate, least_rate, 0, steps, unit, prices, lowest, best_heads,
        disputed, choices, result, trace,
    )  # fmt: skip
    for a in range(n_arcs):
        best_prices[0, a], best_prices[1, a] = lowest[0, a], lowest[1, a]
    result[N_ARCS] = n_arcs
    return status


class AtOnce(NamedTuple):
    """What is known in the end: see `agree` for all of them. Arcs have the order of `candidates_of`."""

    status: int
    result: Scores
    heads: Integers
    numbers: Integers  # of the arcs in certificates
    disputed: Integers
    prices: Scores
    trace: Scores


def agree_at_once(problem: Problem, arcs: Scores, rate: float, least_rate: float) -> AtOnce | None:
    """The steps of `dual_decomposition` by its first rule; None if parts are not of the kinds that it takes, or the sentence is long.

    `arcs` (n + 1, n + 1) may hold the best labels.
    """
    n, flags = len(arcs) - 1, flags_of(problem)
    if n > MOST_WORDS or flags & OUTER or problem.trisiblings is not None or problem.automata:
        return None
    given: list[Scores | Integers] = []
    for parts, nothing in ((problem.siblings, NO_CUBE), (problem.stops, NO_SQUARE), (problem.grandparents, NO_CUBE)):
        if parts is None:
            given += (nothing, NONE, NOTHING)
        elif isinstance(parts, DenseParts):
            given += (parts.table, NONE, NOTHING)
        elif isinstance(parts, SparseParts):
            given += (nothing, parts.keys, parts.scores)
        else:
            return None
    joints = problem.grandsiblings
    if joints is not None and not isinstance(joints, SparseParts):
        return None
    given += (NONE, NOTHING) if joints is None else (joints.keys, joints.scores)
    heads, integers, prices = np.empty(n, np.int64), np.empty((2, n * n), np.int64), np.empty((2, n * n))
    result, trace = np.zeros(N_RESULTS + 1), np.empty((2, MOST_STEPS))
    status = agree_on_parts(flags, arcs, *given, rate, least_rate, problem.resolution, heads, integers, prices, result, trace)
    n_arcs = int(result[N_ARCS])
    return AtOnce(status, result, heads, integers[0, :n_arcs], integers[1, :n_arcs], prices[:, :n_arcs], trace)
