"""`auto`: exact on everything, fast on what taggers give (see oracles/label_solver.py for the method), and the k best.

The certificate names the constraints that had to be intersected and the prices of counts that others imply.
"""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

from zerogap.grid import Scores, largest_magnitude
from zerogap.oracles.label_bounds import price
from zerogap.oracles.label_search import EXHAUSTED, LIMITED, SOLVED, sweep
from zerogap.oracles.label_solver import IMPOSSIBLE, INCUMBENT, LIMIT, OPEN, PRICED, SELECTED, close, first_look
from zerogap.oracles.label_solver import BOUND as UPPER
from zerogap.proof.solution import Solution
from zerogap.sequence.answers import Labelling, any_labelling, completions_of, flat_lattice, infeasible, intersection_of, nothing_found, solution_of
from zerogap.sequence.lattice import Counts, Lattice, Packed, counts_of, lattice_of, pack
from zerogap.sequence.problem import Problem

FIRST_LIMIT = 300  # looks at prefixes in the first searches
FIRST_DEPTH = 0.03  # how far below the bound the first sweep goes, as a share of the score
FIRST_SWEEP, LARGEST_SWEEP = 200_000, 2**23  # prefixes that a sweep keeps before prices are tuned further, and at most: half a gigabyte
ROUNDS = 4  # between two looks at the clock
LAST_ROUNDS = 10  # once a sweep may not keep more
FEASIBILITY_LOOKS = 20_000
UNLIMITED = 2**62


def decode_auto(problem: Problem, *, time_limit: float | None = None) -> Solution[Labelling]:
    begin = time.perf_counter()
    lattice, packed = lattice_of(problem), pack(problem)
    m = len(packed.n_states)
    folded, active = np.empty(m, dtype=np.bool_), np.empty(m, dtype=np.bool_)
    path = np.empty(problem.n_tokens, dtype=np.int64)
    reason, score = first_look(
        lattice.nodes, lattice.edges, lattice.first, *packed.tables, packed.penalties, packed.is_hard, FIRST_LIMIT, folded, active, path
    )
    if reason == SOLVED:
        return solution_of(problem, path, score, intersection_of((active | folded).nonzero()[0]), begin)
    if reason == EXHAUSTED:
        raise infeasible(problem, (active | folded).nonzero()[0].tolist())
    return close_gap(problem, lattice, packed, score, folded, active, path, begin, time_limit)


def close_gap(
    problem: Problem, lattice: Lattice, packed: Packed, upper: float, folded: NDArray[np.bool_], active: NDArray[np.bool_],
    path: NDArray[np.int64], begin: float, time_limit: float | None,
) -> Solution[Labelling]:  # fmt: skip
    """Rounds of tuning prices and sweeping until something is proved, or a limit is reached."""
    counts = counts_of(problem)
    multipliers = np.zeros(len(counts.machines))
    numbers = np.array([-np.inf, upper, 0.05 * abs(upper) + problem.resolution, FIRST_DEPTH * abs(upper) + problem.resolution])
    sizes = np.array([FIRST_SWEEP, 0])
    selected, broken = np.empty(len(active), dtype=np.int64), active.copy()
    rounds, at_limit = ROUNDS, 0
    while True:
        reason = close(
            lattice.nodes, lattice.edges, lattice.first, counts.steps, counts.low, counts.high, counts.is_counted, problem.resolution,
            counts.largest, lowest_score(lattice, packed), *packed.tables, packed.penalties, packed.is_hard, folded,
            rounds, LARGEST_SWEEP, numbers, sizes, selected, broken, active, multipliers, path,
        )  # fmt: skip
        chosen = selected[: sizes[SELECTED]].tolist()
        used = folded if reason == PRICED else folded | active
        proof = intersection_of([*chosen, *used.nonzero()[0].tolist()], zip(counts.machines, multipliers.tolist(), strict=True))
        at_limit += bool(sizes[LIMIT] == LARGEST_SWEEP)
        late = time_limit is not None and time.perf_counter() - begin >= time_limit
        if reason == IMPOSSIBLE:
            raise infeasible(problem)
        if reason != OPEN or ((late or at_limit > LAST_ROUNDS) and numbers[INCUMBENT] > -np.inf):
            return solution_of(problem, path, float(numbers[UPPER]), proof, begin)
        if late or at_limit > LAST_ROUNDS:
            return nothing_found(float(numbers[UPPER]), proof, begin)
        if numbers[INCUMBENT] == -np.inf:
            found, some = any_labelling(flat_lattice(problem), packed, range(len(active)), FEASIBILITY_LOOKS)
            if found == EXHAUSTED:
                raise infeasible(problem)
            if found == SOLVED:
                numbers[INCUMBENT] = problem.score_of((some % len(problem.labels)).tolist())
                path[:] = some


def lowest_score(lattice: Lattice, packed: Packed) -> float:
    """Less than any labelling scores."""
    n = len(lattice.nodes)
    return -(n + 1) * 3.0 * (largest_magnitude(lattice.nodes, lattice.edges, lattice.first) + 1.0) - float(packed.penalties.sum())


def best_k(problem: Problem, best: Solution[Labelling], k: int, time_limit: float | None) -> tuple[tuple[Labelling, float], ...] | None:
    """The labellings after the best one, exactly: sweeps that keep k ways to every search state, above a threshold that falls.

    Fewer if there are not so many; None if a limit is reached first.
    """
    begin = time.perf_counter()
    lattice, packed, counts = lattice_of(problem), pack(problem), counts_of(problem)
    prices = dict(best.certificate.prices)  # type: ignore[attr-defined]  # an Intersection
    rest, edges, first, refunds = priced(lattice, counts, np.array([prices.get(c, 0.0) for c in counts.machines]))
    n, size = lattice.nodes.shape
    jump, jump_of = np.zeros((1, 1, size), dtype=np.int32), np.zeros(n, dtype=np.int64)
    depth, limit, lowest = FIRST_DEPTH * abs(best.score) + problem.resolution, FIRST_SWEEP, lowest_score(lattice, packed)
    scores, paths = np.empty(k), np.empty((k, n), dtype=np.int64)
    while True:
        reason, found, _ = sweep(
            lattice.nodes, lattice.edges, lattice.first, rest, edges, first, refunds, *packed.tables, packed.penalties, packed.is_hard,
            np.arange(len(packed.n_states)), jump, jump_of, best.score - depth, limit, scores, paths,
        )  # fmt: skip
        if reason != LIMITED and (found == k or best.score - depth < lowest):
            labellings = [problem.names((path % len(problem.labels)).tolist()) for path in paths[:found]]
            others = [(labelling, float(score)) for labelling, score in zip(labellings, scores[:found], strict=True)]
            return tuple(other for other in others if other[0] != best.structure)[: k - 1]
        if limit == LARGEST_SWEEP or (time_limit is not None and time.perf_counter() - begin >= time_limit):
            return None
        if reason == LIMITED:
            limit = min(4 * limit, LARGEST_SWEEP)
        else:
            depth *= 2.0


def priced(lattice: Lattice, counts: Counts, multipliers: Scores) -> tuple[Scores, Scores, Scores, float]:
    """Completions, edges and first scores under prices, and the most that the prices give back."""
    edges, edges_to, first = np.empty_like(lattice.edges), np.empty_like(lattice.edges), np.empty_like(lattice.first)
    price(lattice.edges, lattice.first, counts.steps, multipliers, edges, edges_to, first)
    limits = np.where(multipliers > 0.0, counts.high, counts.low)
    return completions_of(lattice.nodes, edges), edges, first, float((multipliers * np.where(multipliers != 0.0, limits, 0.0)).sum())
