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

from zerogap.grid import MANTISSA_BITS, Scores
from zerogap.oracles.automata.algebra import minimise
from zerogap.oracles.labels.product import multiply
from zerogap.problems.sequence.machine import Machine
from zerogap.problems.sequence.problem import Problem
from zerogap.structures.automaton import Automaton

LARGEST_GROUP = 8192  # states of a product of machines before it is minimised


@dataclass(frozen=True, slots=True, eq=False)
class Lattice:
    """`first[s]` is all that the first token adds; `edges[., i, j] + nodes[t, j]` is what token t adds after state i."""

    nodes: Scores  # (n, S)
    edges: Scores  # (1 or n - 1, S, S)
    first: Scores  # (S,)


@dataclass(frozen=True, slots=True, eq=False)
class Packed:
    """The machines of a problem in flat arrays, as kernels take them, and then the groups that stand for several of them."""

    follow: NDArray[np.int32]
    base: NDArray[np.int64]
    n_states: NDArray[np.int64]
    table_of: NDArray[np.int32]  # (machines, n)
    final: NDArray[np.bool_]
    final_base: NDArray[np.int64]
    penalties: Scores
    is_hard: NDArray[np.bool_]
    group_of: NDArray[np.int64]  # (machines,): the group of each, or itself

    @property
    def tables(
        self,
    ) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64], NDArray[np.int32], NDArray[np.bool_], NDArray[np.int64]]:
        return self.follow, self.base, self.n_states, self.table_of, self.final, self.final_base


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """The counts of the hard machines that have one: low <= sum of steps <= high."""

    machines: NDArray[np.int64]  # which constraint each belongs to
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
    wide_size, by_position = size + size * size, len(problem.transitions) > 1
    edges = np.full((max(n - 1, 1) if by_position else 1, wide_size, wide_size), -np.inf)
    for i in range(size):
        row = slice(size + i * size, size + (i + 1) * size)
        edges[:, i, row] = 0.0  # into the second token: no three labels yet
        if by_position:
            edges[1:, size + i :: size, row] = problem.transitions[:, :, i]
        else:  # one table for all: after the first token no state is a single label
            edges[0, size + i :: size, row] = problem.transitions[0, :, i]
    pairs = np.full((n, size * size), -np.inf)
    pairs[1:] = np.tile(nodes[1:], (1, size))
    singles = np.full((n, size), -np.inf)
    singles[0] = nodes[0]
    wide = np.concatenate([singles, pairs], axis=1)
    first = wide[0].copy()
    first[:size] += problem.start
    return Lattice(wide, edges, first)


def pack(problem: Problem, *, grouped: bool = False) -> Packed:
    """The machines of a problem. Their tables are kept for the next problem with the same ones."""
    machines, n, order = problem.machines, problem.n_tokens, problem.order
    group_of, penalties, is_hard = np.arange(len(machines)), problem.penalties, problem.is_hard
    if grouped:
        joined, group_of = groups_of(machines, is_hard.tobytes())
        machines += joined
        penalties = np.concatenate([penalties, np.zeros(len(joined))])
        is_hard = np.concatenate([is_hard, np.ones(len(joined), dtype=np.bool_)])
    table_of = np.zeros((len(machines), n), dtype=np.int32)
    for c, machine in enumerate(machines):
        if machine.table_of is not None:
            table_of[c] = machine.table_of
    tables = kept_tables(tuple([machine.anywhere or machine for machine in machines]), len(problem.labels), order)
    follow, base, n_states, final, final_base = tables
    return Packed(follow, base, n_states, table_of, final, final_base, penalties, is_hard, group_of)


@lru_cache(maxsize=1024)
def groups_of(machines: tuple[Machine, ...], is_hard: bytes) -> tuple[tuple[Machine, ...], NDArray[np.int64]]:
    """Products of the hard machines that read every position alike, and the group of every machine (itself if it has none)."""
    group_of = np.arange(len(machines))
    members = [c for c, m in enumerate(machines) if is_hard[c] and m.table_of is None and m.n_states > 1]
    groups: list[Machine] = []
    for machine, positions in joined_machines(tuple(machines[c] for c in members)):
        group_of[[members[i] for i in positions]] = len(machines) + len(groups)
        groups.append(machine)
    return tuple(groups), group_of


@lru_cache(maxsize=256)
def joined_machines(machines: tuple[Machine, ...]) -> tuple[tuple[Machine, tuple[int, ...]], ...]:
    """The minimal product of all machines if it is not too large, else those of the two halves."""
    if len(machines) < 2:
        return ()
    joined = join(machines)
    if joined is not None:
        return ((joined, tuple(range(len(machines)))),)
    half = len(machines) // 2
    left, right = joined_machines(machines[:half]), joined_machines(machines[half:])
    return left + tuple((machine, tuple(half + i for i in positions)) for machine, positions in right)


def join(machines: tuple[Machine, ...]) -> Machine | None:
    """Their product, minimised; None if it has more than LARGEST_GROUP states before it is."""
    follow, base, n_states, final, _ = pack_tables(machines, machines[0].following.shape[2], 1)
    size = machines[0].following.shape[2]
    following, accepts = np.empty((LARGEST_GROUP, size), dtype=np.int32), np.empty(LARGEST_GROUP, dtype=np.bool_)
    n_found = multiply(follow, base, n_states, final, following, accepts)
    if n_found < 0:
        return None
    product = Automaton(
        tuple(range(size)), following[:n_found].copy(), np.zeros((n_found, size)), np.where(accepts[:n_found], 0.0, -np.inf)
    )
    least = minimise(product)
    return Machine(np.ascontiguousarray(least.following[None]), least.final > -np.inf)


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
    which, is_counted, steps, low, high, limits = count_tables(
        problem.machines, problem.is_hard.tobytes(), len(problem.labels), problem.order
    )
    room = math.ldexp(problem.resolution, MANTISSA_BITS - 1) - problem.terms * problem.largest
    per_token = 2.0 * max(len(which), 1) * (problem.n_tokens + limits + 1.0)
    largest = max(math.floor(room / per_token / problem.resolution), 1) * problem.resolution
    return Counts(which, is_counted, steps, low, high, largest)


@lru_cache(maxsize=1024)
def count_tables(machines: tuple[Machine, ...], is_hard: bytes, n_labels: int, order: int) -> tuple[Any, ...]:
    """Which constraints count, steps over lattice states, their limits, and the sum of these."""
    which = np.array([c for c, m in enumerate(machines) if m.count is not None and is_hard[c]], dtype=np.int64)
    is_counted = np.zeros(len(machines), dtype=np.bool_)
    is_counted[which] = True
    columns = states_of_labels(n_labels, order)
    rows = np.append(columns, n_labels)
    counts = [count for c in which if (count := machines[c].count) is not None]
    steps = np.empty((len(counts), len(columns) + 1, len(columns)))
    for k, count in enumerate(counts):
        steps[k] = count.step[np.ix_(rows, columns)]
    low, high = np.array([count.low for count in counts]), np.array([count.high for count in counts])
    return which, is_counted, steps, low, high, float(high[np.isfinite(high)].sum() + low.sum())
