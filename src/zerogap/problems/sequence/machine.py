"""A constraint compiled for one label set: a deterministic automaton that may know its position.

Most constraints are the same everywhere and have one table. Some speak of positions (`at`, `span`, `same_label`); they have
several tables, and `table_of[t]` says which one reads token t. State 0 is the start. Missing transitions are DEAD.

A machine may also offer a *count*: a weight for every pair of neighbouring labels whose sum over any accepted labelling lies
between two numbers. That is a linear consequence of the constraint, which multipliers can price.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from zerogap.errors import AutomatonError
from zerogap.grid import restored
from zerogap.structures.automaton import DEAD

MAX_STATES = 100_000  # of one machine
Table = NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Count:
    """low <= sum_t step[y_t-1, y_t] <= high for every accepted labelling; row L of `step` is for the first token."""

    step: NDArray[np.float64]  # (L + 1, L)
    low: float
    high: float


@dataclass(frozen=True, slots=True, eq=False)
class Machine:
    following: Table  # (tables, states, labels), DEAD where a labelling is lost
    final: NDArray[np.bool_]  # (states,)
    table_of: NDArray[np.int32] | None = None  # (n,); None if one table reads every token
    count: Count | None = None
    anywhere: Machine | None = None  # the machine that has the same tables for other positions
    n_states: int = field(init=False)
    rows: list[list[list[int]]] = field(init=False, repr=False)  # `following` as lists, which Python reads ten times as fast

    __setstate__ = restored

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_states", len(self.final))
        object.__setattr__(self, "rows", self.following.tolist() if self.anywhere is None else self.anywhere.rows)

    def placed(self, table_of: NDArray[np.int32]) -> Machine:
        """The same tables, read at the positions of one sequence."""
        return Machine(self.following, self.final, table_of, self.count, self)

    def accepts(self, labels: Sequence[int]) -> bool:
        state = 0
        table = self.rows[0]
        for t, label in enumerate(labels):
            if self.table_of is not None:
                table = self.rows[self.table_of[t]]
            state = table[state][label]
            if state == DEAD:
                return False
        return bool(self.final[state])


def check_states(n_states: int) -> None:
    if n_states > MAX_STATES:
        raise AutomatonError(f"the automaton of a constraint has {n_states:,} states or more: expected at most {MAX_STATES:,}.")


def combine(left: Machine, right: Machine, accept: Callable[[bool, bool], bool]) -> Machine:
    """Both in step; a labelling is accepted as `accept` says. Only pairs of states that can be reached are made."""
    kinds = {(0, 0)}
    table_of = None
    if left.table_of is not None or right.table_of is not None:
        n = len(left.table_of if left.table_of is not None else right.table_of)  # type: ignore[arg-type]  # one of them is there
        pairs = list(
            zip(
                (left.table_of if left.table_of is not None else np.zeros(n, dtype=np.int32)).tolist(),
                (right.table_of if right.table_of is not None else np.zeros(n, dtype=np.int32)).tolist(),
                strict=True,
            )
        )
        kinds = set(pairs)
    order = sorted(kinds)
    if left.table_of is not None or right.table_of is not None:
        number_of_kind = {kind: i for i, kind in enumerate(order)}
        table_of = np.array([number_of_kind[pair] for pair in pairs], dtype=np.int32)
    n_labels = left.following.shape[2]
    number = {(0, 0): 0}
    found = [(0, 0)]
    rows: list[list[list[int]]] = []
    for p, q in found:  # grows while it is read
        row = []
        for a, b in order:
            targets = []
            for label in range(n_labels):
                pair = (step(left, a, p, label), step(right, b, q, label))
                if pair not in number:
                    number[pair] = len(found)
                    found.append(pair)
                    check_states(len(found))
                targets.append(number[pair])
            row.append(targets)
        rows.append(row)
    final = np.array([accept(is_final(left, p), is_final(right, q)) for p, q in found])
    following = np.array(rows, dtype=np.int32).transpose(1, 0, 2)
    return without_lost_states(Machine(np.ascontiguousarray(following), final, table_of))


def step(machine: Machine, table: int, state: int, label: int) -> int:
    return DEAD if state == DEAD else int(machine.following[table, state, label])


def is_final(machine: Machine, state: int) -> bool:
    return state != DEAD and bool(machine.final[state])


def without_lost_states(machine: Machine) -> Machine:
    """States from which nothing is accepted at any position become DEAD; the start stays."""
    useful = machine.final.copy()
    while True:
        leads = (useful[machine.following] & (machine.following != DEAD)).any(axis=(0, 2))
        if (useful | leads).sum() == useful.sum():
            break
        useful |= leads
    useful[0] = True
    number = np.append(np.where(useful, np.cumsum(useful) - 1, DEAD), DEAD)
    following = number[machine.following[:, useful]].astype(np.int32)
    return Machine(np.ascontiguousarray(following), machine.final[useful], machine.table_of, machine.count)
