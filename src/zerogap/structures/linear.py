"""Linear constraints over parts: sparse rows with integer coefficients, each an equation or an upper limit.

    sum_p coefficients[p] y(p)  =  limit      or      <=  limit

Coefficients and limits are integers of moderate size, so that multipliers on the grid of exact numbers stay exact when
they are multiplied with them. Where there are several oracles, their parts are numbered one after the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zerogap.errors import ConstraintError
from zerogap.grid import Scores, held, restored

LARGEST_COEFFICIENT = 2.0**20
SENSES = ("=", "<=", ">=")


@dataclass(frozen=True, slots=True, eq=False)
class LinearConstraints:
    """Rows in compressed form. Make one with `constraint_rows`, `constraint_matrix` or `agreement`."""

    n_parts: int
    row_start: NDArray[np.int64]  # (rows + 1,)
    columns: NDArray[np.int64]
    coefficients: Scores
    limits: Scores  # (rows,)
    is_equation: NDArray[np.bool_]  # (rows,)
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        check_rows(self)
        for name in ("row_start", "columns", "coefficients", "limits", "is_equation"):
            object.__setattr__(self, name, held(getattr(self, name)))

    __setstate__ = restored

    def __len__(self) -> int:
        return len(self.limits)

    def __repr__(self) -> str:
        return f"LinearConstraints({len(self)} rows over {self.n_parts} parts)"

    def excess(self, parts: ArrayLike) -> Scores:
        """How much every row exceeds its limit (Ay - b) when these parts are used; a part may occur several times."""
        counts = np.bincount(np.asarray(parts, dtype=np.int64), minlength=self.n_parts).astype(np.float64)
        return self.times(counts) - self.limits

    def times(self, vector: Scores) -> Scores:
        """A y."""
        sums = np.concatenate([[0.0], np.cumsum(self.coefficients * vector[self.columns])])
        return sums[self.row_start[1:]] - sums[self.row_start[:-1]]

    def transposed_times(self, multipliers: Scores) -> Scores:
        """A' u."""
        weights = self.coefficients * np.repeat(multipliers, np.diff(self.row_start))
        return np.bincount(self.columns, weights=weights, minlength=self.n_parts).astype(np.float64)

    def violated(self, excess: Scores) -> NDArray[np.bool_]:
        """Which rows do not hold."""
        return np.where(self.is_equation, excess != 0.0, excess > 0.0)

    def select(self, rows: ArrayLike) -> LinearConstraints:
        """Some of the rows, in the given order."""
        chosen = np.asarray(rows, dtype=np.int64)
        sizes = np.diff(self.row_start)[chosen]
        start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        gather = np.repeat(self.row_start[chosen] - start[:-1], sizes) + np.arange(start[-1])
        return LinearConstraints(
            self.n_parts, start, self.columns[gather], self.coefficients[gather], self.limits[chosen],
            self.is_equation[chosen], tuple(self.names[r] for r in chosen),
        )  # fmt: skip


def constraint_rows(
    n_parts: int, rows: Iterable[tuple[Mapping[int, float] | Iterable[int], str, float]], *, names: Sequence[str] | None = None
) -> LinearConstraints:
    """Constraints from rows (parts, sense, limit); parts is a mapping to coefficients, or part numbers with coefficient 1.

    >>> constraint_rows(4, [([0, 1], "<=", 1), ({2: 1, 3: -1}, "=", 0)])
    LinearConstraints(2 rows over 4 parts)
    """
    columns, coefficients, starts, limits, equations = [], [], [0], [], []
    for r, row in enumerate(rows):
        try:
            parts, sense, limit = row
            pairs = list(parts.items()) if isinstance(parts, Mapping) else [(part, 1.0) for part in parts]
        except (TypeError, ValueError):
            raise ConstraintError(f"row {r} is {row!r}: expected (parts, sense, limit).") from None
        if not isinstance(sense, str) or sense not in SENSES:
            raise ConstraintError(f"row {r} has the sense {sense!r}: expected one of {', '.join(SENSES)}.")
        sign = -1.0 if sense == ">=" else 1.0
        if not isinstance(parts, Mapping) and len({part for part, _ in pairs}) < len(pairs):
            raise ConstraintError(f"row {r} names a part twice: expected distinct parts, or a mapping to coefficients.")
        for part, coefficient in pairs:
            columns.append(part)
            coefficients.append(coefficient if sign > 0 or not isinstance(coefficient, int | float) else -coefficient)
        starts.append(len(columns))
        limits.append(limit if sign > 0 or not isinstance(limit, int | float) else -limit)
        equations.append(sense == "=")
    return checked(n_parts, starts, columns, coefficients, limits, equations, names)


def constraint_matrix(
    matrix: Any, sense: str | Sequence[str], limits: ArrayLike, *, names: Sequence[str] | None = None
) -> LinearConstraints:
    """Constraints from a matrix (rows, parts): a SciPy sparse matrix or anything NumPy takes; one sense or one per row."""
    if hasattr(matrix, "tocsr"):
        sparse = matrix.tocsr()
        sparse.sum_duplicates()
        shape, indptr, indices, data = sparse.shape, sparse.indptr, sparse.indices, sparse.data
    else:
        dense = np.asarray(matrix, dtype=np.float64)
        if dense.ndim != 2:
            raise ConstraintError(f"matrix has shape {dense.shape}: expected (rows, parts).")
        where = np.nonzero(dense)
        shape, indices, data = dense.shape, where[1], dense[where]
        indptr = np.concatenate([[0], np.cumsum(np.count_nonzero(dense, axis=1))])
    senses = [sense] * shape[0] if isinstance(sense, str) else list(sense)
    bounds = np.broadcast_to(np.asarray(limits, dtype=np.float64), (shape[0],)) if np.ndim(limits) == 0 else np.asarray(limits)
    if len(senses) != shape[0] or bounds.shape != (shape[0],):
        raise ConstraintError(f"matrix has {shape[0]} rows, but there are {len(senses)} senses and {bounds.size} limits.")
    rows = []
    for r in range(shape[0]):
        entries = slice(int(indptr[r]), int(indptr[r + 1]))
        rows.append((dict(zip(indices[entries].tolist(), data[entries].tolist(), strict=True)), senses[r], float(bounds[r])))
    return constraint_rows(shape[1], rows, names=names)


def agreement(n_parts: int, pairs: ArrayLike, *, names: Sequence[str] | None = None) -> LinearConstraints:
    """Equations that make pairs of parts agree: y(p) = y(q) for every (p, q)."""
    table = np.asarray(pairs)
    if table.size % 2 or (table.size and table.dtype.kind not in "iu"):
        raise ConstraintError(f"pairs has shape {table.shape} and dtype {table.dtype}: expected rows of two part numbers.")
    table = table.astype(np.int64).reshape(-1, 2)
    n = len(table)
    signs = np.tile([1.0, -1.0], n)
    return checked(n_parts, 2 * np.arange(n + 1), table.reshape(-1), signs, np.zeros(n), np.ones(n, dtype=np.bool_), names)


def checked(
    n_parts: int, row_start: Any, columns: Any, coefficients: Any, limits: Any, is_equation: Any, names: Sequence[str] | None
) -> LinearConstraints:
    try:
        numbers = np.array(columns).reshape(-1)
        values, bounds = np.array(coefficients, dtype=np.float64), np.array(limits, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ConstraintError("rows hold something else than part numbers, coefficients and limits that are numbers.") from None
    if numbers.size and numbers.dtype.kind not in "iu":
        raise ConstraintError(f"parts have the type {numbers.dtype}: expected integers.")
    given = tuple(f"row {r}" for r in range(len(bounds))) if names is None else tuple(names)
    starts = np.array(row_start, dtype=np.int64)
    return LinearConstraints(n_parts, starts, numbers.astype(np.int64), values, bounds, np.array(is_equation, dtype=np.bool_), given)


def check_rows(rows: LinearConstraints) -> None:
    """Part numbers that exist, and integers that keep sums exact."""
    if isinstance(rows.n_parts, bool) or not isinstance(rows.n_parts, int | np.integer) or rows.n_parts < 0:
        raise ConstraintError(f"n_parts is {rows.n_parts!r}: expected an integer, 0 or more.")
    columns, row_start = rows.columns, rows.row_start
    if len(row_start) != len(rows.limits) + 1 or row_start[0] != 0 or row_start[-1] != len(columns) or (np.diff(row_start) < 0).any():
        raise ConstraintError("row_start does not cut the columns into as many rows as there are limits.")
    if len(rows.coefficients) != len(columns) or len(rows.is_equation) != len(rows.limits):
        raise ConstraintError("there are not as many coefficients as columns, or not as many senses as limits.")
    bad = np.flatnonzero((columns < 0) | (columns >= rows.n_parts))
    if bad.size:
        row = int(np.searchsorted(row_start, bad[0], side="right")) - 1
        raise ConstraintError(f"row {row} names part {columns[bad[0]]}: expected 0 to {rows.n_parts - 1}.")
    for what, values in (("coefficient", rows.coefficients), ("limit", rows.limits)):
        odd = np.flatnonzero(~(np.isfinite(values) & (np.rint(values) == values) & (np.abs(values) <= LARGEST_COEFFICIENT)))
        if odd.size:
            row = int(odd[0]) if what == "limit" else int(np.searchsorted(row_start, odd[0], side="right")) - 1
            raise ConstraintError(
                f"row {row} has the {what} {float(values[odd[0]])!r}:"
                " expected integers up to 2^20 (multiply the row by a common denominator)."
            )
    if len(rows.names) != len(rows.limits):
        raise ConstraintError(f"there are {len(rows.limits)} rows and {len(rows.names)} names: expected as many.")


def nothing(n_parts: int) -> LinearConstraints:
    """No constraint at all."""
    return constraint_rows(n_parts, [])
