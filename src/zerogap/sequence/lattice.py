"""A problem as the kernels take it: a first-order lattice, its machines in flat arrays, and the counts that can be priced.

A second-order model becomes a first-order one whose states are pairs of labels, after a first token that has none before it.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zerogap.grid import MANTISSA_BITS, Scores, largest_magnitude
from zerogap.sequence.machine import Machine
from zerogap.sequence.problem import Problem

@dataclass(frozen=True, slots=True, eq=False)
class Lattice:
    """`first[s]` is all that the first token adds; `edges[., i, j] + nodes[t, j]` is what token t adds after state i."""

    nodes: Scores  # (n, S)
    edges: Scores  # (1 or n - 1, S, S)
    first: Scores  # (S,)


@dataclass(frozen=True, slots=True, eq=False)
class Packed:
    """The machines of a problem in flat arrays, as kernels take them."""

    follow: NDArray[np.int32]
    base: NDArray[np.int64]
    n_states: NDArray[np.int64]
    table_of: NDArray[np.int32]  # (machines, n)
    final: NDArray[np.bool_]
    final_base: NDArray[np.int64]
    penalties: Scores
    is_hard: NDArray[np.bool_]

    @property
    def tables(
        self,
    ) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64], NDArray[np.int32], NDArray[np.bool_], NDArray[np.int64]]:
        return self.follow, self.base, self.n_states, self.table_of, self.final, self.final_base


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """The counts of the hard machines that have one: low <= sum of steps <= high."""

    machines: tuple[int, ...]  # which constraint each belongs to
    is_counted: NDArray[np.bool_]  # (machines,)
    steps: Scores  # (counts, S + 1, S), row S for the first token
    low: Scores
    high: Scores
    largest: float  # multipliers up to this size keep every sum exact


def lattice_of(problem: Problem) -> Lattice:
    n, size = problem.emissions.shape
    nodes = problem.emissions.copy()
    nodes[-1] += problem.end
    if problem.order == 1:
        return Lattice(nodes, problem.transitions, nodes[0] + problem.start)
    # states: label j first, then the pairs (i, j) as size + i * size + j
    edges = np.full((max(n - 1, 1), size + size * size, size + size * size), -np.inf)
    for i in range(size):
        edges[:, i, size + i * size : size + (i + 1) * size] = 0.0  # the second token: no three labels yet
    for t in range(1, n - 1):
        table = problem.transitions[t - 1 if len(problem.transitions) > 1 else 0]
        for h in range(size):
            for i in range(size):
                edges[t, size + h * size + i, size + i * size : size + (i + 1) * size] = table[h, i]
    pairs = np.full((n, size * size), -np.inf)
    pairs[1:] = np.tile(nodes[1:], (1, size))
    singles = np.full((n, size), -np.inf)
    singles[0] = nodes[0]
    wide = np.concatenate([singles, pairs], axis=1)
    first = wide[0].copy()
    first[:size] += problem.start
    return Lattice(wide, edges, first)


def pack(problem: Problem) -> Packed:
    """The machines of a problem. Those that are the same for every position are kept for the next problem."""
    machines, n, order = problem.machines, problem.n_tokens, problem.order
    if any(machine.table_of is not None for machine in machines):
        tables = pack_tables(machines, len(problem.labels), order)
    else:
        tables = kept_tables(machines, len(problem.labels), order)
    table_of = np.zeros((len(machines), n), dtype=np.int32)
    for c, machine in enumerate(machines):
        if machine.table_of is not None:
            table_of[c] = machine.table_of
    follow, base, n_states, final, final_base = tables
    return Packed(follow, base, n_states, table_of, final, final_base, problem.penalties, problem.is_hard)


def pack_tables(machines: tuple[Machine, ...], n_labels: int, order: int) -> tuple[NDArray[Any], ...]:
    """follow, base, n_states, final, final_base."""
    if not machines:
        nothing = np.zeros(0, dtype=np.int64)
        return np.zeros(0, dtype=np.int32), nothing, nothing, np.zeros(0, dtype=np.bool_), nothing
    follow = [machine.following for machine in machines]
    if order == 2:
        columns = states_of_labels(n_labels, order)
        follow = [table[:, :, columns] for table in follow]
    states = [machine.n_states for machine in machines]
    return (
        np.concatenate([table.ravel() for table in follow]),
        np.array([0, *itertools.accumulate(table.size for table in follow)]),
        np.array(states),
        np.concatenate([machine.final for machine in machines]),
        np.array([0, *itertools.accumulate(states)]),
    )


kept_tables = lru_cache(maxsize=1024)(pack_tables)


def states_of_labels(n_labels: int, order: int) -> NDArray[np.int64]:
    """The label of every lattice state: the labels themselves, then for second order all pairs."""
    single = np.arange(n_labels)
    return single if order == 1 else np.concatenate([single, np.tile(single, n_labels)])


def counts_of(problem: Problem) -> Counts:
    which = tuple(c for c, m in enumerate(problem.machines) if m.count is not None and problem.is_hard[c])
    is_counted = np.zeros(len(problem.machines), dtype=np.bool_)
    is_counted[list(which)] = True
    steps, low, high = count_tables(tuple(problem.machines[c] for c in which), len(problem.labels), problem.order)
    largest_score = largest_magnitude(problem.emissions, problem.transitions, problem.start, problem.end, problem.penalties)
    room = math.ldexp(problem.resolution, MANTISSA_BITS - 1) - problem.terms * largest_score
    per_token = 2.0 * max(len(which), 1) * (problem.n_tokens + float(high[np.isfinite(high)].sum() + low.sum()) + 1.0)
    largest = max(math.floor(room / per_token / problem.resolution), 1) * problem.resolution
    return Counts(which, is_counted, steps, low, high, largest)


@lru_cache(maxsize=1024)
def count_tables(machines: tuple[Machine, ...], n_labels: int, order: int) -> tuple[Scores, Scores, Scores]:
    """Steps over lattice states, and their limits."""
    columns = states_of_labels(n_labels, order)
    rows = np.append(columns, n_labels)
    counts = [machine.count for machine in machines if machine.count is not None]
    steps = np.empty((len(counts), len(columns) + 1, len(columns)))
    for k, count in enumerate(counts):
        steps[k] = count.step[np.ix_(rows, columns)]
    return steps, np.array([count.low for count in counts]), np.array([count.high for count in counts])
