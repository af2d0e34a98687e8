"""HiGHS behind one function: maximise a linear objective over binary or continuous variables in [0, upper].

`maximise` takes rows as lists; `Blocks` collects columns and rows as arrays, for programs of many thousands of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zerogap.errors import ZerogapError
from zerogap.grid import Scores

LARGEST_COST = 1e12
Row = tuple[Sequence[int], Sequence[float], float, float]  # columns, coefficients, lower and upper limit
Ids = NDArray[np.int64]


class Rows(NamedTuple):
    """low <= matrix @ variables <= high, the matrix row by row: those of row r are start[r] to start[r + 1]."""

    start: NDArray[np.int32]
    columns: NDArray[np.int32]
    coefficients: Scores
    low: Scores
    high: Scores


class Outcome(NamedTuple):
    values: Scores | None  # of the variables; None if infeasible, or if nothing was found in time
    finished: bool  # optimal or infeasible by HiGHS's account; else the time limit came first


class Blocks:
    """Columns and rows as they are added, many at once."""

    def __init__(self) -> None:
        self.n_columns = self.n_rows = 0
        self.scores: list[Scores] = []
        self.upper: list[Scores] = []
        self.limits: list[tuple[Scores, Scores]] = []
        self.filled: list[tuple[Ids, Ids, Scores]] = []

    def add_columns(self, scores: Scores, *, upper: float = 1.0) -> Ids:
        """New variables in [0, upper] with these scores; their numbers."""
        self.scores.append(scores)
        self.upper.append(np.full(len(scores), upper))
        self.n_columns += len(scores)
        return np.arange(self.n_columns - len(scores), self.n_columns)

    def add_rows(self, count: int, low: float, high: float) -> Ids:
        """New rows, empty so far; their numbers."""
        self.limits.append((np.full(count, low), np.full(count, high)))
        self.n_rows += count
        return np.arange(self.n_rows - count, self.n_rows)

    def fill(self, rows: Ids, columns: Ids, coefficient: float = 1.0) -> None:
        """Puts the coefficient at every (row, column); no place may be filled twice."""
        self.filled.append((rows, columns, np.full(len(columns), coefficient)))

    def matrix(self) -> Rows:
        at, columns, coefficients = (np.concatenate(arrays) for arrays in zip(*self.filled, strict=True))
        by_row = np.argsort(at, kind="stable")
        start = np.zeros(self.n_rows + 1, dtype=np.int32)
        np.cumsum(np.bincount(at, minlength=self.n_rows), out=start[1:])
        low, high = (np.concatenate(limits) for limits in zip(*self.limits, strict=True))
        return Rows(start, columns[by_row].astype(np.int32), coefficients[by_row], low, high)


def maximise(objective: Scores, upper: Scores, rows: Sequence[Row], *, integer: bool, time_limit: float | None = None) -> Scores | None:
    """The values of the variables at an optimum by HiGHS's account; None if infeasible or nothing was found in time."""
    arrays = Rows(
        np.concatenate([[0], np.cumsum([len(row[0]) for row in rows])]).astype(np.int32),
        np.array([c for row in rows for c in row[0]], dtype=np.int32),
        np.array([v for row in rows for v in row[1]], dtype=np.float64),
        np.array([row[2] for row in rows], dtype=np.float64),
        np.array([row[3] for row in rows], dtype=np.float64),
    )
    return solve_program(objective, upper, arrays, integer=np.full(len(objective), integer), time_limit=time_limit).values


def solve_program(
    objective: Scores, upper: Scores, rows: Rows, *, integer: NDArray[np.bool_], time_limit: float | None = None
) -> Outcome:  # fmt: skip
    """As `maximise`, with the rows as arrays and a flag for every variable that must be an integer."""
    if len(objective) == 0:  # HiGHS calls such a program empty, feasible or not
        return Outcome(np.zeros(0) if bool(((rows.low <= 0.0) & (rows.high >= 0.0)).all()) else None, True)
    import highspy

    solver = highspy.Highs()  # type: ignore[no-untyped-call]
    solver.silent()
    solver.setOptionValue("mip_rel_gap", 0.0)  # the default calls 1e-4 optimal
    solver.setOptionValue("mip_abs_gap", 0.0)
    if time_limit is not None:
        solver.setOptionValue("time_limit", float(time_limit))
    scale = float(np.abs(objective).max(initial=0.0))
    if scale > LARGEST_COST:  # HiGHS takes 1e20 for infinity
        objective = objective / scale
    solver.passModel(
        len(objective), len(rows.low), len(rows.columns), int(highspy.MatrixFormat.kRowwise), int(highspy.ObjSense.kMaximize), 0.0,
        objective, np.zeros(len(objective)), upper, rows.low, rows.high, rows.start, rows.columns, rows.coefficients,
        integer.astype(np.int32),  # HighsVarType: 0 continuous, 1 integer
    )  # fmt: skip
    solver.run()
    status = solver.getModelStatus()
    if status in (highspy.HighsModelStatus.kInfeasible, highspy.HighsModelStatus.kUnboundedOrInfeasible):
        return Outcome(None, True)
    if status not in (highspy.HighsModelStatus.kOptimal, highspy.HighsModelStatus.kTimeLimit):
        raise ZerogapError(f"HiGHS stopped with {solver.modelStatusToString(status)}: expected an optimal solution.")
    finished = status == highspy.HighsModelStatus.kOptimal
    if solver.getInfo().primal_solution_status != int(highspy.SolutionStatus.kSolutionStatusFeasible):
        return Outcome(None, finished)
    return Outcome(np.array(solver.getSolution().col_value), finished)
