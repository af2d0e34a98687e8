"""`auto`: exact on everything, fast on what taggers give (see oracles/labels/solver.py for the method), and the k best.

The certificate names the constraints that had to be intersected and the prices of counts that others imply.
"""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

from zerogap.grid import Scores
from zerogap.oracles.labels.bounds import price
from zerogap.oracles.labels.search import EXHAUSTED, LIMITED, SOLVED, WORD_BITS, sweep
from zerogap.oracles.labels.solver import BOUND as UPPER
from zerogap.oracles.labels.solver import IMPOSSIBLE, INCUMBENT, OPEN, PRICED, SELECTED, WIDER, WIDTH, close, first_look
from zerogap.problems.sequence.problem import Problem
from zerogap.proof.certificate import Intersection
from zerogap.proof.solution import Solution
from zerogap.relax.candidate import Candidate
from zerogap.sequence.decoding.agreement import decode_dual_decomposition
from zerogap.sequence.decoding.answers import (
    Labelling,
    any_labelling,
    completions_of,
    flat_lattice,
    infeasible,
    intersection_of,
    labels_of,
    nothing_found,
    solution_of,
)
from zerogap.sequence.decoding.column_generation import decode_column_generation
from zerogap.sequence.decoding.lattice import Counts, Lattice, Packed, counts_of, lattice_of, pack

FIRST_LIMIT = 300  # looks at prefixes in the first searches
FIRST_DEPTH = 0.03  # how far below the bound the first sweep goes, as a share of the score
FIRST_WIDTH, FIRST_PREFIXES = 4096, 200_000  # prefixes of one length, and in all, that the first sweep keeps
MOST_PREFIXES = 2**23  # that a sweep keeps in all: about half a gigabyte
ROUNDS = 4  # between two looks at the clock
LAST_ROUNDS = 10  # once a sweep may not be wider
FEASIBILITY_LOOKS = 20_000
MOST_POSITIONAL = 8  # constraints that speak of positions: above this, they agree before anything is swept
FIRST_NODES, MORE_NODES = 20, 500  # of branch and bound with constraints that agree, before sweeps go on
UNLIMITED = 2**62
MANY_LABELS, MANY_TOKENS = 300, 10  # without constraints, from here on columns are generated


def decode_auto(problem: Problem, *, time_limit: float | None = None) -> Solution[Labelling]:
    if is_long_and_many(problem):
        return decode_column_generation(problem)
    begin = time.perf_counter()
    lattice, packed = lattice_of(problem), pack(problem)
    m = len(packed.n_states)
    folded, active = np.empty(m, dtype=np.bool_), np.empty(m, dtype=np.bool_)
    path = np.empty(problem.n_tokens, dtype=np.int64)
    reason, score = first_look(
        lattice.nodes, lattice.edges, lattice.first, *packed.tables, packed.penalties, packed.is_hard, FIRST_LIMIT, folded, active, path
    )
    if reason == SOLVED:
        return solution_of(problem, path, score, Intersection(tuple((active | folded).nonzero()[0].tolist())), begin)
    if reason == EXHAUSTED:
        raise infeasible(problem, (active | folded).nonzero()[0].tolist())
    return close_by_sweeps(problem, lattice, packed, score, folded, path, begin, time_limit)


def is_long_and_many(problem: Problem) -> bool:
    """Whether a look at few transitions may be enough; where it is not, it costs a tenth more."""
    plain = problem.order == 1 and not problem.machines and len(problem.transitions) == 1
    return plain and len(problem.labels) >= MANY_LABELS and problem.n_tokens >= MANY_TOKENS


def close_by_sweeps(
    problem: Problem, lattice: Lattice, packed: Packed, upper: float, folded: NDArray[np.bool_],
    path: NDArray[np.int64], begin: float, time_limit: float | None,
) -> Solution[Labelling]:  # fmt: skip
    """Rounds of tuning prices and sweeping until something is proved, or a limit is reached."""
    counts, grouped = counts_of(problem), pack(problem, grouped=True)
    m, everything = len(problem.machines), len(grouped.n_states)
    in_play = np.zeros(everything, dtype=np.bool_)
    in_play[grouped.group_of[~folded]] = bits_of(grouped) <= WORD_BITS  # else only what turns out to be broken
    multipliers = np.zeros(len(counts.machines))
    numbers = np.array([-np.inf, upper, 0.05 * abs(upper) + problem.resolution, FIRST_DEPTH * abs(upper) + problem.resolution])
    widest = max(MOST_PREFIXES // problem.n_tokens, FIRST_WIDTH)
    sizes = np.array([max(min(FIRST_WIDTH, FIRST_PREFIXES // problem.n_tokens), 1), 0])
    selected, broken = np.empty(m, dtype=np.int64), np.zeros(m, dtype=np.bool_)
    alone = bool((grouped.group_of[~folded] < m).any())  # machines that no product holds
    many = sum(machine.table_of is not None for machine in problem.machines) > MOST_POSITIONAL
    narrow, at_limit, max_nodes = sizes[WIDTH], 0, MORE_NODES if many else FIRST_NODES
    while True:
        if alone and (many or sizes[WIDTH] > narrow):  # no product may be small enough: let the constraints agree instead
            known = None if numbers[INCUMBENT] == -np.inf else Candidate(path.copy(), float(numbers[INCUMBENT]))
            left = None if time_limit is None else max(time_limit - (time.perf_counter() - begin), 0.0)
            solution = decode_dual_decomposition(problem, time_limit=left, incumbent=known, max_nodes=max_nodes)
            if solution.status == "optimal" or (time_limit is not None and time.perf_counter() - begin >= time_limit):
                return solution
            max_nodes *= 2
        reason = close(
            lattice.nodes, lattice.edges, lattice.first, counts.steps, counts.low, counts.high, counts.machines,
            counts.is_counted, problem.resolution, counts.largest, *grouped.tables, grouped.penalties, grouped.is_hard, folded,
            grouped.group_of, ROUNDS, widest, numbers, sizes, selected, broken, in_play, multipliers, path,
        )  # fmt: skip
        if reason == IMPOSSIBLE:
            raise infeasible(problem)
        used = folded if reason == PRICED else folded | in_play[grouped.group_of]
        chosen = [*selected[: sizes[SELECTED]].tolist(), *used.nonzero()[0].tolist()]
        proof = intersection_of(chosen, zip(counts.machines.tolist(), multipliers.tolist(), strict=True))
        at_limit += bool(sizes[WIDTH] == widest)
        late = time_limit is not None and time.perf_counter() - begin >= time_limit
        if reason != OPEN or late or at_limit > LAST_ROUNDS:
            if numbers[INCUMBENT] == -np.inf:
                return nothing_found(float(numbers[UPPER]), proof, begin)
            return solution_of(problem, path, max(float(numbers[UPPER]), float(numbers[INCUMBENT])), proof, begin)
        if numbers[INCUMBENT] == -np.inf:
            find_any(problem, packed, numbers, path)


def bits_of(packed: Packed) -> int:
    """How many bits the states of all machines take in sweeps."""
    return sum(int(packed.n_states[c]).bit_length() for c in set(packed.group_of.tolist()))


def find_any(problem: Problem, packed: Packed, numbers: Scores, path: NDArray[np.int64]) -> None:  # out: numbers, path
    """Any labelling at all, if one turns up soon; Infeasible if there is none."""
    reason, found = any_labelling(flat_lattice(problem), packed, range(len(packed.n_states)), FEASIBILITY_LOOKS)
    if reason == EXHAUSTED:
        raise infeasible(problem)
    if reason == SOLVED:
        numbers[INCUMBENT] = problem.score_of(labels_of(problem, found))
        path[:] = found


def best_k(problem: Problem, best: Solution[Labelling], k: int, time_limit: float | None) -> tuple[tuple[Labelling, float], ...] | None:
    """The labellings after the best one, exactly: sweeps that keep k ways to every search state, wider and wider.

    Fewer if there are not so many; None if a limit is reached first.
    """
    begin = time.perf_counter()
    lattice, packed, counts = lattice_of(problem), pack(problem), counts_of(problem)
    prices = dict(best.certificate.prices) if isinstance(best.certificate, Intersection) else {}
    rest, edges, first, refunds = priced(lattice, counts, np.array([prices.get(c, 0.0) for c in counts.machines.tolist()]))
    n, size = lattice.nodes.shape
    jump, jump_of = np.zeros((1, 1, size), dtype=np.int32), np.zeros(n, dtype=np.int64)
    threshold, width, widest = -np.inf, 64 * k, max(MOST_PREFIXES // n, 64 * k)
    scores, paths = np.empty(k), np.empty((k, n), dtype=np.int64)
    while True:
        reason, found, _ = sweep(
            lattice.nodes, lattice.edges, lattice.first, rest, edges, first, refunds, *packed.tables, packed.penalties, packed.is_hard,
            np.arange(len(packed.n_states)), jump, jump_of, threshold, width, scores, paths,
        )  # fmt: skip
        if reason != LIMITED:
            labellings = [problem.names(labels_of(problem, path)) for path in paths[:found]]
            others = [(labelling, float(score)) for labelling, score in zip(labellings, scores[:found], strict=True)]
            return tuple(other for other in others if other[0] != best.structure)[: k - 1]
        if width == widest or (time_limit is not None and time.perf_counter() - begin >= time_limit):
            return None
        width = min(WIDER * width, widest)
        if found == k:
            threshold = float(scores[k - 1]) - problem.resolution  # the k-th itself must be found again


def priced(lattice: Lattice, counts: Counts, multipliers: Scores) -> tuple[Scores, Scores, Scores, float]:
    """Completions, edges and first scores under prices, and the most that the prices give back."""
    edges, edges_to, first = np.empty_like(lattice.edges), np.empty_like(lattice.edges), np.empty_like(lattice.first)
    price(lattice.edges, lattice.first, counts.steps, multipliers, edges, edges_to, first)
    limits = np.where(multipliers > 0.0, counts.high, counts.low)
    return completions_of(lattice.nodes, edges), edges, first, float((multipliers * np.where(multipliers != 0.0, limits, 0.0)).sum())
