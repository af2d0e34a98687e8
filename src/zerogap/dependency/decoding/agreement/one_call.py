"""Dual decomposition from the parts of a problem to agreement in one call (see `dual_decomposition`).

A sentence of ten words takes the kernel 30 microseconds, and laying out its scores from Python would take three times as long. Where tree
and heads do not agree, what is known by then is where the long way begins.
"""

# mypy: disable-error-code="no-untyped-def"
# a kernel's types are its signature

from __future__ import annotations

import math
import time
from typing import Any, NamedTuple

import numpy as np

from zerogap.dependency.candidate_arcs import lay_out
from zerogap.dependency.decoding.agreement.head_scores import NO_CUBE, NO_SQUARE, NONE, NOTHING, fill_from_arrays, flags_of, most_added
from zerogap.dependency.decoding.agreement.relaxation import Run
from zerogap.dependency.decoding.agreement.sparse_parts import GRANDPARENTS, GRANDSIBLINGS, SIBLINGS, add_listed_parts
from zerogap.grid import Integers, Scores
from zerogap.kernels import float64, int64, kernel, readonly, record, writable
from zerogap.oracles.descent import STEPS, Steps
from zerogap.oracles.heads.agreement import BOUND, ITERATIONS, N_RESULTS, RATE, SCORE, TIRED, Outcome, agree
from zerogap.oracles.heads.automata import CHAIN, GRAND, JOINT, OPEN, OUTER, READ_INTEGERS, READ_SCORES, Automata, Lattices
from zerogap.problems.dependency.parts import DenseParts, SparseParts
from zerogap.problems.dependency.problem import Problem

MOST_STEPS = 1000
MOST_SCORES = 10**9  # that all steps may have to read, and read a part of: nobody looks at the clock
MOST_WORDS = 100  # for longer sentences it makes no difference

N_ARCS = N_RESULTS  # place in `result`, after those of `agree`


class GivenParts(NamedTuple):
    """The larger parts of a problem: of each kind an array, of no size if they are listed or not scored, or keys and scores in a list."""

    siblings: Scores
    sibling_keys: Integers
    sibling_scores: Scores
    stops: Scores
    stop_keys: Integers
    stop_scores: Scores
    grandparents: Scores
    grandparent_keys: Integers
    grandparent_scores: Scores
    joint_keys: Integers
    joint_scores: Scores


LISTED = (READ_INTEGERS, READ_SCORES)
GIVEN = record(GivenParts, readonly(float64, 3), *LISTED, readonly(float64, 2), *LISTED, readonly(float64, 3), *LISTED, *LISTED)


@kernel(
    int64(
        int64, readonly(float64, 2), GIVEN, STEPS, float64,
        writable(int64, 1), writable(int64, 2), writable(float64, 2), writable(float64, 1), writable(float64, 2),
    )
)  # fmt: skip
def agree_on_parts(flags, arcs, given, steps, unit, best_heads, integers, best_prices, result, trace):
    """The agreement of tree and heads about these parts. Returns why it ended, as `agree` does.

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
    none, nothing = np.empty(0, dtype=np.int64), np.empty(0)
    automata = Automata(
        flags, contexts, modifier_start, modifiers, context, np.empty(pair_start[2 * n + 2]), pair_start,
        np.empty(n_arcs + 2 * n + 2 if chain else 0), np.empty(grand_start[2 * n + 2] if grand else 0), grand_start,
        np.zeros(joint_start[2 * n + 2] if flags & JOINT else 0), joint_start, nothing, starts[1],
        Lattices(none, none, nothing, none, none, nothing),
    )  # fmt: skip
    ends = np.zeros((n + 1 if chain else 0, n + 1))  # stops, whichever way they are given
    for h in range(given.stops.shape[0]):
        for m in range(n + 1):
            ends[h, m] = given.stops[h, m]
    for i in range(given.stop_keys.shape[0]):
        ends[given.stop_keys[i] // (n + 1), given.stop_keys[i] % (n + 1)] = given.stop_scores[i]
    fill_from_arrays(arcs, given.siblings, ends, given.grandparents, automata)
    if given.sibling_keys.shape[0] > 0:
        add_listed_parts(SIBLINGS, given.sibling_keys, given.sibling_scores, automata)
    if given.grandparent_keys.shape[0] > 0:
        add_listed_parts(GRANDPARENTS, given.grandparent_keys, given.grandparent_scores, automata)
    if given.joint_keys.shape[0] > 0:
        add_listed_parts(GRANDSIBLINGS, given.joint_keys, given.joint_scores, automata)
    prices, state, numbers = np.zeros((2, n_arcs)), np.full(n_arcs, OPEN), integers[0]
    for a in range(n_arcs):
        prices[0, a] = arcs[heads[a], modifiers[a]]
        numbers[a] = heads[a] * (n + 1) + modifiers[a]
    most_added(automata, prices[0])
    choices, lowest = np.empty((3, n_arcs), dtype=np.int64), np.empty((2, n_arcs))
    disputed = integers[1]
    for a in range(n_arcs):
        disputed[a] = 0
    size = joint_start[2 * n + 2] if chain else grand_start[2 * n + 2]
    most = min(trace.shape[1], max(MOST_SCORES // max(size, 1), 1))
    few = Steps(steps.rate, steps.least_rate, most, steps.rule)
    out = Outcome(prices, lowest, best_heads, disputed, choices, result, trace)
    status = agree(automata, state, -np.inf, unit, few, out)
    for a in range(n_arcs):
        best_prices[0, a], best_prices[1, a] = lowest[0, a], lowest[1, a]
    result[N_ARCS] = n_arcs
    return status


def agree_at_once(problem: Problem, arcs: Scores, steps: Steps) -> tuple[Run, list[int]] | None:
    """The steps of `dual_decomposition` with the numbers of the arcs; None if parts are not of the kinds that it takes, or the sentence is
    long.

    `arcs` (n + 1, n + 1) may hold the best labels.
    """
    n, flags = len(arcs) - 1, flags_of(problem)
    if n > MOST_WORDS or flags & OUTER or problem.trisiblings is not None or problem.automata:
        return None
    given: list[Any] = []
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
    status = agree_on_parts(flags, arcs, GivenParts(*given), steps, problem.resolution, heads, integers, prices, result, trace)
    found = result.tolist()
    n_arcs, done, score = int(found[N_ARCS]), int(found[ITERATIONS]), found[SCORE]
    bounds, scores = trace[:, :done].tolist()
    run = Run(
        status, found[BOUND], prices[:, :n_arcs], heads if score > -math.inf else None, score, integers[1, :n_arcs], integers[:0, :n_arcs],
        bounds, scores, [(done, time.perf_counter())], is_over=status != TIRED or found[RATE] < steps.least_rate,
    )  # fmt: skip
    return run, integers[0, :n_arcs].tolist()
