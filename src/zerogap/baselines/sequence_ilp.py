"""Constrained labelling as an integer linear program in HiGHS, after Roth & Yih 2005.

Variables are the transitions of the lattice, which flow from the first token to the last. A constraint that counts is one row
over them. Any other one is a second flow, through the states of its automaton, whose labels must be those of the first. A
broken soft constraint switches on a variable that costs its penalty.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from zerogap.baselines.highs import Row, maximise
from zerogap.grid import Scores

if TYPE_CHECKING:
    from zerogap.problems.sequence.machine import Machine
    from zerogap.problems.sequence.problem import Problem


class Program:
    """Columns and rows as they are added."""

    def __init__(self) -> None:
        self.objective: list[float] = []
        self.rows: list[Row] = []

    def column(self, score: float) -> int:
        self.objective.append(score)
        return len(self.objective) - 1

    def row(self, entries: dict[int, float], low: float, high: float) -> None:
        self.rows.append((list(entries), list(entries.values()), low, high))


def solve_ilp(
    problem: Problem, nodes: Scores, edges: Scores, first: Scores, label_of: NDArray[np.int64], *, time_limit: float | None = None
) -> list[int] | None:
    """The lattice states of an optimal labelling by HiGHS's account; None if there is none (or none in time)."""
    n, size = nodes.shape
    program = Program()
    start = {j: program.column(float(first[j])) for j in range(size) if first[j] > -np.inf}
    steps: list[dict[tuple[int, int], int]] = []
    for t in range(1, n):
        added = edges[t - 1 if len(edges) > 1 else 0] + nodes[t]
        steps.append({(int(i), int(j)): program.column(float(added[i, j])) for i, j in np.argwhere(added > -np.inf)})
    program.row(dict.fromkeys(start.values(), 1.0), 1.0, 1.0)
    for t in range(n - 1):  # what enters a state leaves it
        for s in range(size):
            entering = [start[s]] if t == 0 and s in start else [] if t == 0 else [c for (_, j), c in steps[t - 1].items() if j == s]
            leaving = [c for (i, _), c in steps[t].items() if i == s]
            program.row(dict.fromkeys(entering, 1.0) | dict.fromkeys(leaving, -1.0), 0.0, 0.0)
    for c, machine in enumerate(problem.machines):
        penalty = None if problem.constraints[c].penalty is None else program.column(-float(problem.penalties[c]))
        if machine.count is not None:
            add_count(program, machine, start, steps, label_of, penalty, n)
        else:
            add_automaton(program, machine, start, steps, label_of, penalty, n)
    objective = np.array(program.objective)
    values = maximise(objective, np.ones(len(objective)), program.rows, integer=True, time_limit=time_limit)
    if values is None:
        return None
    path = [next(j for j, c in start.items() if values[c] > 0.5)]
    for step in steps:
        path.append(next(j for (i, j), c in step.items() if i == path[-1] and values[c] > 0.5))
    return path


def add_count(
    program: Program, machine: Machine, start: dict[int, int], steps: list[dict[tuple[int, int], int]], label_of: NDArray[np.int64],
    penalty: int | None, n: int,
) -> None:  # fmt: skip
    """low <= count <= high, which says all that the machine says."""
    count = machine.count
    assert count is not None
    entries: dict[int, float] = {}
    for j, c in start.items():
        entries[c] = float(count.step[-1, label_of[j]])
    for step in steps:
        for (i, j), c in step.items():
            entries[c] = float(count.step[label_of[i], label_of[j]])
    entries = {c: weight for c, weight in entries.items() if weight}
    if np.isfinite(count.high):
        program.row(entries | ({} if penalty is None else {penalty: -float(n)}), -np.inf, count.high)
    if count.low > 0:
        program.row(entries | ({} if penalty is None else {penalty: count.low}), count.low, np.inf)


def add_automaton(
    program: Program, machine: Machine, start: dict[int, int], steps: list[dict[tuple[int, int], int]], label_of: NDArray[np.int64],
    penalty: int | None, n: int,
) -> None:  # fmt: skip
    """A flow through the states of the machine, and a lost one where that is allowed; its labels are those of the lattice."""
    lost = machine.n_states
    n_labels = machine.following.shape[2]
    reached: dict[int, list[int]] = {0: []}  # state -> columns that enter it
    for t in range(n):
        table = machine.following[0 if machine.table_of is None else machine.table_of[t]]
        entering: dict[int, list[int]] = {}
        using: list[list[int]] = [[] for _ in range(n_labels)]
        for q, columns in reached.items():
            leaving = []
            for a in range(n_labels):
                target = lost if q == lost else int(table[q, a])
                if target == lost or target < 0 or (t == n - 1 and not machine.final[target]):
                    if penalty is None:
                        continue
                    target = lost
                column = program.column(0.0)
                leaving.append(column)
                using[a].append(column)
                entering.setdefault(target, []).append(column)
            if t == 0:
                program.row(dict.fromkeys(leaving, 1.0), 1.0, 1.0)
            else:
                program.row(dict.fromkeys(columns, 1.0) | dict.fromkeys(leaving, -1.0), 0.0, 0.0)
        into = list(start.items()) if t == 0 else [(j, c) for (_, j), c in steps[t - 1].items()]
        for a in range(n_labels):
            labelled = {c: -1.0 for j, c in into if label_of[j] == a}
            program.row(dict.fromkeys(using[a], 1.0) | labelled, 0.0, 0.0)
        reached = entering
    if penalty is not None and lost in reached:
        program.row(dict.fromkeys(reached[lost], 1.0) | {penalty: -1.0}, -np.inf, 0.0)
