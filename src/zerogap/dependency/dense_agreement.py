"""Dual decomposition of problems whose parts are arrays, from the arrays to agreement in one call (see `dual_decomposition`).

A sentence of ten words takes the kernel 40 microseconds, and laying out its scores from Python would take as long again. Where tree and
heads do not agree at once, nothing is known here, and the long way begins anew.
"""

# mypy: disable-error-code="no-untyped-def"
# a kernel's types are its signature

from __future__ import annotations

import time

import numpy as np

from zerogap.dependency.candidates import Integers, lay_out
from zerogap.dependency.head_scores import NO_CUBE, NO_SQUARE, array_of, fill_from_arrays, flags_of
from zerogap.dependency.problem import Problem
from zerogap.grid import Scores
from zerogap.oracles.compile import float64, int64, kernel, readonly, writable
from zerogap.oracles.head_automata import AGREED, BEATEN, BOUND, CHAIN, GRAND, ITERATIONS, JOINT, N_RESULTS, OPEN, OUTER, PROJECTIVE, agree
from zerogap.proof.certificate import HeadPrices
from zerogap.proof.solution import Trace

MOST_STEPS = 60
MOST_WORDS = 25  # for longer sentences it makes no difference


@kernel(
    int64(
        int64, readonly(float64, 2), readonly(float64, 3), readonly(float64, 2), readonly(float64, 3), float64, float64,
        writable(int64, 1), writable(int64, 1), writable(float64, 2), writable(float64, 1), writable(float64, 2),
    )
)  # fmt: skip
def agree_on_arrays(flags, arcs, siblings, stops2, grandparents, rate, unit, best_heads, numbers, best_prices, result, trace):
    """Returns how many arcs there are, and -1 if tree and heads do not agree.

    out: best_heads (n,); numbers (n * n,) of the arcs, h * (n + 1) + m, and best_prices (2, n * n) of them; result and trace as of `agree`.
    """
    n = arcs.shape[0] - 1
    allowed = arcs > -np.inf
    n_arcs = 0
    for h in range(n + 1):
        for m in range(1, n + 1):
            n_arcs += allowed[h, m]
    grand = flags & GRAND
    contexts, modifier_start = np.empty(n + 1, dtype=np.int64), np.empty(2 * n + 3, dtype=np.int64)
    by_arc = np.empty((3, n_arcs), dtype=np.int64)
    starts = np.empty((4, 2 * n + 3), dtype=np.int64)
    heads, modifiers, context = by_arc[0], by_arc[1], by_arc[2]
    lay_out(allowed, grand, contexts, modifier_start, heads, modifiers, context, starts)
    pair_start = starts[2] if flags & CHAIN else modifier_start
    pairs = np.empty(pair_start[2 * n + 2])
    stops = np.empty(n_arcs + 2 * n + 2 if flags & CHAIN else 0)
    grands = np.empty(starts[3, 2 * n + 2] if grand else 0)
    fill_from_arrays(
        arcs, siblings, stops2, grandparents, modifier_start, modifiers, flags & CHAIN, flags & PROJECTIVE, pairs, pair_start, stops,
        grands, starts[3],
    )  # fmt: skip
    prices, state = np.zeros((2, n_arcs)), np.full(n_arcs, OPEN)
    for a in range(n_arcs):
        prices[0, a] = arcs[heads[a], modifiers[a]]
        numbers[a] = heads[a] * (n + 1) + modifiers[a]
    none, nothing = np.empty(0, dtype=np.int64), np.empty(0)
    choices, disputed, lowest = np.empty((3, n_arcs), dtype=np.int64), np.zeros(n_arcs, dtype=np.int64), np.empty((2, n_arcs))
    status = agree(
        flags, contexts, modifier_start, modifiers, context, pairs, pair_start, stops, grands, starts[3], nothing, starts[0], nothing,
        starts[1], none, none, nothing, none, none, nothing, state, -np.inf, rate, 0.0, 0, trace.shape[1], unit, prices, lowest, best_heads,
        disputed, choices, result, trace,
    )  # fmt: skip
    if status != AGREED and status != BEATEN:
        return -1
    for a in range(n_arcs):
        best_prices[0, a], best_prices[1, a] = lowest[0, a], lowest[1, a]
    return n_arcs


def agreed_at_once(problem: Problem, arcs: Scores, begin: float, rate: float) -> tuple[Integers, float, HeadPrices, Trace] | None:
    """Heads, bound, evidence and trace if it is a short sentence with arrays whose tree and heads agree; None if not.

    `arcs` (n + 1, n + 1) may hold the best labels; `begin` is when it all began.
    """
    siblings, grandparents, n = array_of(problem.siblings), array_of(problem.grandparents), problem.n_words
    flags = flags_of(problem)
    parts = (problem.siblings, siblings), (problem.grandparents, grandparents)
    if n > MOST_WORDS or flags & (JOINT | OUTER) or problem.trisiblings is not None or problem.automata:
        return None
    if any(given is not None and array is None for given, array in parts):
        return None
    heads, numbers = np.empty(n, dtype=np.int64), np.empty(n * n, dtype=np.int64)
    prices, result, trace = np.empty((2, n * n)), np.zeros(N_RESULTS), np.empty((2, MOST_STEPS))
    n_arcs = agree_on_arrays(
        flags, arcs, NO_CUBE if siblings is None else siblings, NO_SQUARE if problem.stops is None else problem.stops.dense(n),
        NO_CUBE if grandparents is None else grandparents, rate, problem.resolution, heads, numbers, prices, result, trace,
    )  # fmt: skip
    if n_arcs < 0:
        return None
    steps = int(result[ITERATIONS])
    each = (time.perf_counter() - begin) / steps
    times = tuple([each * i for i in range(1, steps + 1)])
    bounds, scores = trace[:, :steps].tolist()
    down, up = prices[:, :n_arcs].tolist()
    evidence = HeadPrices(tuple(numbers[:n_arcs].tolist()), tuple(down), tuple(up))
    return heads, float(result[BOUND]), evidence, Trace(tuple(bounds), tuple(scores), times)
