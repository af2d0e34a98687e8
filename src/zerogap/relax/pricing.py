"""Delayed column and row generation over a linear program that stays in memory (Riedel, Smith & McCallum 2012, section 4.1, algorithm 1).

    maximise  score . x   subject to   low <= A x <= high,  x >= 0

`Master` holds the columns and rows that are there so far, in HiGHS; simplex goes on from its last basis after something was added.
`generate` solves, prices and cuts until neither a column nor a row is missing. What columns and rows mean, and which are missing, is the
task's business: it hands in two functions that look at a `Point` and add to the master what they find.

An optimum that is not integral is closed by `relax.branching`: a node fixes columns by their limits (`Master.limit_columns`), calls
`generate` again, and `most_fractional` says where to branch next. Nothing here is a proof: values and duals are floating-point numbers.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zerogap.errors import InputError, ZerogapError
from zerogap.grid import Scores
from zerogap.relax.watching import Step, watcher

Ids = NDArray[np.int64]
NO_IDS: Ids = np.zeros(0, dtype=np.int64)
TOLERANCE = 1e-9  # of HiGHS, for rows and reduced costs
INTEGRAL = 1e-6  # how far from an integer a value may be


class NotSolved(ZerogapError):
    """HiGHS stopped without an optimum; `infeasible` if it says that there is none."""

    def __init__(self, message: str, *, infeasible: bool) -> None:
        self.infeasible = infeasible
        super().__init__(message)


@dataclass(frozen=True, slots=True, eq=False)
class Point:
    """An optimum of the master: values of the columns and duals of the rows that it had then."""

    value: float
    columns: Scores
    duals: Scores  # what one more unit of a row's limit is worth: 0 or more for an upper limit, 0 or less for a lower one
    reduced: Scores  # scores of the columns less what they use of the rows: 0 or less where the value is 0


@dataclass(frozen=True, slots=True, eq=False)
class Entries:
    """Coefficients of new rows (or columns): number `of` the new one, from 0, and column (or row) `at`."""

    of: Ids
    at: Ids
    coefficients: Scores

    @staticmethod
    def empty() -> Entries:
        return Entries(NO_IDS, NO_IDS, np.zeros(0))

    @staticmethod
    def join(*blocks: tuple[Any, Any, float]) -> Entries:
        """From blocks (of, at, one coefficient for all of them)."""
        of, at = (np.concatenate([np.atleast_1d(np.asarray(block[k], dtype=np.int64)) for block in blocks]) for k in (0, 1))
        return Entries(of, at, np.concatenate([np.full(np.size(block[0]), block[2]) for block in blocks]))

    def packed(self, count: int) -> tuple[NDArray[np.int32], NDArray[np.int32], Scores]:
        order = np.argsort(self.of, kind="stable")
        start = np.zeros(count + 1, dtype=np.int32)
        np.cumsum(np.bincount(self.of, minlength=count), out=start[1:])
        return start[:count], self.at[order].astype(np.int32), self.coefficients[order]


class Master:
    """A linear program in HiGHS that grows. `scale` divides all scores on the way in: tolerances are absolute, so scores should be near 1.

    `presolve` helps a program that is there all at once; one that grows would lose its basis by it.
    """

    def __init__(self, *, scale: float = 1.0, tolerance: float = TOLERANCE, presolve: bool = False) -> None:
        import highspy  # only who solves linear programs pays for this

        if not (isinstance(scale, int | float) and 0.0 < scale < math.inf):
            raise InputError(f"scale is {scale!r}: expected a number above 0.")
        self.highs = highspy.Highs()  # type: ignore[no-untyped-call]
        self.highs.silent()
        for name, option in (
            ("presolve", "on" if presolve else "off"), ("solver", "simplex"),
            ("primal_feasibility_tolerance", tolerance), ("dual_feasibility_tolerance", tolerance),
        ):  # fmt: skip
            self.highs.setOptionValue(name, option)
        self.highs.changeObjectiveSense(highspy.ObjSense.kMaximize)
        self.failed = highspy.HighsStatus.kError
        self.optimal, self.timed_out = highspy.HighsModelStatus.kOptimal, highspy.HighsModelStatus.kTimeLimit
        self.empty = (highspy.HighsModelStatus.kInfeasible, highspy.HighsModelStatus.kUnboundedOrInfeasible)
        self.scale = float(scale)
        self.n_columns = self.n_rows = 0
        self.iterations = 0  # of simplex, so far

    def add_columns(self, scores: Scores, entries: Entries | None = None, *, upper: float = math.inf) -> Ids:
        """New variables in [0, upper], with coefficients in rows that are there; their numbers."""
        count = len(scores)
        if count:
            start, at, coefficients = (entries or Entries.empty()).packed(count)
            limits = np.zeros(count), np.full(count, upper)
            self.check(self.highs.addCols(count, scores / self.scale, *limits, len(at), start, at, coefficients), "add columns")
        self.n_columns += count
        return np.arange(self.n_columns - count, self.n_columns)

    def add_rows(self, low: Scores, high: Scores, entries: Entries | None = None) -> Ids:
        """New rows over columns that are there; their numbers."""
        count = len(low)
        if count:
            start, at, coefficients = (entries or Entries.empty()).packed(count)
            self.check(self.highs.addRows(count, low, high, len(at), start, at, coefficients), "add rows")
        self.n_rows += count
        return np.arange(self.n_rows - count, self.n_rows)

    def set_scores(self, columns: Ids, scores: Scores) -> None:
        if len(columns):
            done = self.highs.changeColsCost(len(columns), columns.astype(np.int32), np.asarray(scores, dtype=np.float64) / self.scale)
            self.check(done, "change scores")

    def limit_columns(self, columns: Ids, upper: Scores) -> None:
        """New upper limits: 0 takes a column out, inf puts it back."""
        if len(columns):
            done = self.highs.changeColsBounds(len(columns), columns.astype(np.int32), np.zeros(len(columns)), upper)
            self.check(done, "change limits")

    def set_coefficients(self, rows: Ids, columns: Ids, coefficient: float) -> None:
        for row, column in zip(rows.tolist(), columns.tolist(), strict=True):
            self.check(self.highs.changeCoeff(row, column, coefficient), "change a coefficient")

    def solve(self, *, time_limit: float | None = None, write_to: str | Path | None = None) -> Point | None:
        """An optimum; None if the time limit came first. NotSolved for whatever else HiGHS says; `write_to` keeps the program in a file."""
        limit = math.inf if time_limit is None else self.highs.getRunTime() + time_limit  # HiGHS counts all runs together
        self.highs.setOptionValue("time_limit", limit)
        status = self.run()
        if status not in (self.optimal, self.timed_out):
            self.highs.clearSolver()  # a basis after many changes can be a bad beginning
            status = self.run()
        if status == self.timed_out:
            return None
        if status != self.optimal:
            kept = ""
            if write_to is not None:
                self.highs.writeModel(str(write_to))
                kept = f" It is written to {write_to}."
            said = self.highs.modelStatusToString(status)
            shape = f"a linear program of {self.n_columns:,} columns and {self.n_rows:,} rows"
            raise NotSolved(f"HiGHS stopped with {said!r} on {shape}: expected an optimum.{kept}", infeasible=status in self.empty)
        found = self.highs.getSolution()
        value = float(self.highs.getInfo().objective_function_value) * self.scale
        columns, duals, reduced = (np.array(values) for values in (found.col_value, found.row_dual, found.col_dual))
        return Point(value, columns, duals * self.scale, reduced * self.scale)

    def run(self) -> Any:
        self.highs.run()
        self.iterations += max(self.highs.getInfo().simplex_iteration_count, 0)
        return self.highs.getModelStatus()

    def check(self, status: Any, what: str) -> None:
        if status == self.failed:
            raise ZerogapError(f"HiGHS could not {what}: expected finite coefficients in columns and rows that exist.")


@dataclass(frozen=True, slots=True, eq=False)
class Generated:
    """The last optimum of the master, None if there was no time for one; `complete` if no column or row was missing."""

    point: Point | None
    bound: float  # the lowest that `bound` gave; without it, the value if complete
    rounds: int
    complete: bool
    seconds: float


def generate(
    master: Master,
    *,
    price: Callable[[Point], int],
    separate: Callable[[Point], int] | None = None,
    tighten: Callable[[Point], Scores] | None = None,
    bound: Callable[[Point], float] | None = None,
    stop: Callable[[Point], bool] | None = None,
    describe: Callable[[Point], dict[str, Any]] | None = None,
    max_rounds: int | None = None,
    time_limit: float | None = None,
    write_to: str | Path | None = None,
) -> Generated:
    """Algorithm 1: solves the master until `price` and `separate` have added nothing to it; both say how many things they added.

    `tighten` may replace the duals that `price` sees, by others that are optimal too (section 4.3.3). `bound` gives what some duals prove
    about all columns, also those that are not there. `stop` ends it before the time: nobody needs more. `describe` says what a round did to
    whoever watches. After a limit, the last optimum and the lowest bound so far are the answer.
    """
    if max_rounds is not None and (isinstance(max_rounds, bool) or not isinstance(max_rounds, int) or max_rounds < 1):
        raise InputError(f"max_rounds is {max_rounds!r}: expected at least 1, or None.")
    begin = time.perf_counter()
    point: Point | None = None
    lowest, rounds = math.inf, 0
    tell = watcher()
    while True:
        left = None if time_limit is None else time_limit - (time.perf_counter() - begin)
        if (left is not None and left <= 0.0) or (max_rounds is not None and rounds >= max_rounds):
            return Generated(point, lowest, rounds, False, time.perf_counter() - begin)
        found = master.solve(time_limit=left, write_to=write_to)
        if found is None:
            continue  # the time is over
        point = found
        rounds += 1
        if tighten is not None:
            point = replace(point, duals=tighten(point))
        if bound is not None:
            lowest = min(lowest, bound(point))
        if stop is not None and stop(point):
            return Generated(point, lowest, rounds, False, time.perf_counter() - begin)
        priced = price(point)
        cut = separate(point) if separate is not None else 0
        if tell is not None:
            done = {"value": point.value, "columns": priced, "rows": cut, **({} if describe is None else describe(point))}
            tell(Step("round", math.inf, -math.inf, done))
        if priced + cut == 0:
            return Generated(point, point.value if bound is None else lowest, rounds, True, time.perf_counter() - begin)


def most_fractional(values: Scores) -> int | None:
    """The value that is furthest from an integer, the first one on ties; None if all are integers."""
    distance = np.abs(values - np.rint(values))
    if not (distance > INTEGRAL).any():
        return None
    return int(distance.argmax())
