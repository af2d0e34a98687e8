"""Column and row generation on problems that have nothing to do with parsing: cutting stock, and independent sets of a graph."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zerogap.errors import InputError
from zerogap.proof.certificate import DynamicProgram
from zerogap.relax.branching import branch_and_bound
from zerogap.relax.candidate import Candidate
from zerogap.relax.descent import Bounded
from zerogap.relax.pricing import Entries, Master, NotSolved, generate, most_fractional


class CuttingStock:
    """Rolls of one width are cut into pieces: a column is a way to cut a roll (Gilmore & Gomory 1961)."""

    def __init__(self, width, pieces, demand):
        self.width, self.pieces, self.demand = width, pieces, np.array(demand, dtype=np.float64)
        self.master = Master()
        self.rows = self.master.add_rows(self.demand, np.full(len(pieces), np.inf))
        self.patterns = []
        for i, piece in enumerate(pieces):
            self.add([width // piece if i == j else 0 for j in range(len(pieces))])

    def add(self, pattern):
        self.patterns.append(pattern)
        used = np.flatnonzero(pattern)
        entries = Entries(np.zeros(len(used), dtype=np.int64), self.rows[used], np.array(pattern, dtype=np.float64)[used])
        self.master.add_columns(np.array([-1.0]), entries)

    def best_pattern(self, worth):
        """A knapsack: the most valuable way to cut a roll."""
        best = [(0.0, [0] * len(self.pieces))]
        for room in range(1, self.width + 1):
            choice = best[room - 1]
            for i, piece in enumerate(self.pieces):
                if piece <= room and best[room - piece][0] + worth[i] > choice[0] + 1e-12:
                    pattern = list(best[room - piece][1])
                    pattern[i] += 1
                    choice = (best[room - piece][0] + worth[i], pattern)
            best.append(choice)
        return best[-1]

    def price(self, point):
        value, pattern = self.best_pattern(-point.duals)
        if value <= 1.0 + 1e-9:
            return 0
        self.add(pattern)
        return 1

    def bound(self, point):
        """Farley 1990: duals divided by the most that a pattern violates are feasible."""
        worth = -point.duals
        return -float(worth @ self.demand) / max(self.best_pattern(worth)[0], 1.0)


def test_cutting_stock():
    """Chvatal 1983, chapter 13: 452.25 rolls, so 453."""
    stock = CuttingStock(100, (45, 36, 31, 14), (97, 610, 395, 211))
    made = generate(stock.master, price=stock.price, bound=stock.bound)
    assert made.complete
    assert made.point.value == pytest.approx(-452.25)
    assert made.bound == pytest.approx(-452.25)
    assert made.rounds == len(stock.patterns) - 4 + 1
    assert (made.point.reduced <= 1e-7).all()
    assert (made.point.columns @ np.array(stock.patterns) >= stock.demand - 1e-6).all()


def test_limits_leave_a_bound():
    stock = CuttingStock(100, (45, 36, 31, 14), (97, 610, 395, 211))
    made = generate(stock.master, price=stock.price, bound=stock.bound, max_rounds=2)
    assert not made.complete
    assert made.rounds == 2
    assert made.point.value <= -452.25 <= made.bound < -300.0
    none = generate(stock.master, price=stock.price, time_limit=0.0)
    assert none.point is None
    assert none.bound == math.inf
    assert not none.complete
    with pytest.raises(InputError, match="max_rounds is 0: expected at least 1"):
        generate(stock.master, price=stock.price, max_rounds=0)


def test_duals_may_be_replaced_before_pricing():
    stock = CuttingStock(10, (3, 4), (5, 5))
    seen = []

    def price(point):
        seen.append(point.duals)
        return 0

    generate(stock.master, price=price, tighten=lambda point: point.duals - 1.0)
    plain = generate(stock.master, price=lambda point: 0)
    assert seen[0] == pytest.approx(plain.point.duals - 1.0)


class IndependentSets:
    """The heaviest set of vertices without an edge between them. Vertices get columns when they pay, edges rows when violated."""

    def __init__(self, weights, edges):
        self.weights, self.edges = np.array(weights, dtype=np.float64), edges
        self.master = Master(scale=8.0)
        self.column, self.with_rows = {}, {}
        self.master.add_rows(np.zeros(1), np.full(1, float(len(weights))))
        self.add(0)

    def add(self, v):
        rows = [0, *(row for edge, row in self.with_rows.items() if v in edge)]
        of = np.zeros(len(rows), dtype=np.int64)
        (self.column[v],) = self.master.add_columns(self.weights[[v]], Entries(of, np.array(rows), np.ones(len(rows))), upper=1.0)

    def price(self, point):
        paid = {v: point.duals[0] + sum(point.duals[r] for e, r in self.with_rows.items() if v in e) for v in range(len(self.weights))}
        missing = [v for v in paid if v not in self.column and self.weights[v] > paid[v] + 1e-9]
        for v in missing:
            self.add(v)
        return len(missing)

    def separate(self, point):
        values = {v: point.columns[c] for v, c in self.column.items() if c < len(point.columns)}  # others were just added
        violated = [e for e in self.edges if e not in self.with_rows and values.get(e[0], 0.0) + values.get(e[1], 0.0) > 1.0 + 1e-7]
        for edge in violated:
            there = [self.column[v] for v in edge if v in self.column]
            entries = Entries.join((np.zeros(len(there)), there, 1.0))
            (self.with_rows[edge],) = self.master.add_rows(np.array([-np.inf]), np.ones(1), entries)
        return len(violated)

    def solve(self, fixed, warm, incumbent, left):
        for v, _ in fixed:
            if v not in self.column:
                self.add(v)
        out = {v for v, inside in fixed if not inside} | {
            u for v, inside in fixed if inside for e in self.edges if v in e for u in e if u != v
        }
        if any(inside and v in out for v, inside in fixed):
            return Bounded(-math.inf, DynamicProgram(), None, None)
        everything = np.array(list(self.column.values()))
        self.master.limit_columns(everything, np.array([0.0 if v in out else 1.0 for v in self.column]))
        made = generate(self.master, price=self.price, separate=self.separate)
        values = np.array([made.point.columns[self.column[v]] if v in self.column else 0.0 for v in range(len(self.weights))])
        split = most_fractional(values)
        chosen = tuple(np.flatnonzero(values > 0.5).tolist())
        candidate = Candidate(chosen, float(self.weights[list(chosen)].sum())) if split is None else None
        bound = math.floor(made.point.value + 1e-6)  # weights are integers
        return Bounded(float(bound), DynamicProgram(), candidate, split)


@given(
    weights=st.lists(st.integers(1, 5), min_size=1, max_size=7),
    picked=st.sets(st.sampled_from(list(itertools.combinations(range(7), 2))), max_size=14),
)
@settings(max_examples=60)
def test_branch_price_and_cut(weights, picked):
    n = len(weights)
    edges = [edge for edge in sorted(picked) if edge[1] < n]
    best = max(
        sum(weights[v] for v in some)
        for size in range(n + 1)
        for some in itertools.combinations(range(n), size)
        if not any(a in some and b in some for a, b in edges)
    )
    found = branch_and_bound(IndependentSets(weights, edges).solve)
    assert found.best.score == found.bound == best
    assert not any(a in found.best.structure and b in found.best.structure for a, b in edges)


def test_what_is_not_optimal_is_an_error(tmp_path):
    master = Master()
    master.add_columns(np.array([1.0]))
    with pytest.raises(NotSolved, match="HiGHS stopped with 'Unbounded' on a linear program of 1 columns and 0 rows") as caught:
        master.solve()
    assert not caught.value.infeasible
    master.add_rows(np.array([3.0]), np.array([2.0]), Entries.join(([0], [0], 1.0)))
    with pytest.raises(NotSolved, match="HiGHS stopped with 'Infeasible' .* It is written to .*program.lp") as caught:
        master.solve(write_to=tmp_path / "program.lp")
    assert caught.value.infeasible
    assert (tmp_path / "program.lp").exists()
    with pytest.raises(InputError, match="scale is 0.0: expected a number above 0"):
        Master(scale=0.0)


def test_signs_of_duals():
    master = Master(scale=4.0)
    columns = master.add_columns(np.array([3.0, 2.0, 0.5]))
    rows = [([0, 1], [0, 1], -np.inf, 4.0), ([0], [0], -np.inf, 3.0), ([0, 1, 2], [0, 1, 2], 5.0, np.inf)]
    for _, at, low, high in rows:
        master.add_rows(np.array([low]), np.array([high]), Entries.join((np.zeros(len(at)), columns[at], 1.0)))
    master.limit_columns(columns[2:], np.array([2.0]))
    point = master.solve()
    assert point.value == pytest.approx(3 * 3 + 2 + 2 * 0.5)
    assert point.duals == pytest.approx([2.0, 1.0, 0.0])
    assert point.reduced == pytest.approx([0.0, 0.0, 0.5])
    master.set_scores(columns[2:], np.array([-1.0]))
    point = master.solve()
    assert point.value == pytest.approx(9 + 2 - 1)
    assert point.duals[2] <= 0.0
    master.set_coefficients(np.array([1]), columns[2:], 1.0)
    assert master.solve().value == pytest.approx(3 * 2 + 2 * 2 - 1)


@pytest.mark.parametrize(("values", "expected"), [([0.0, 1.0], None), ([0.0, 0.4, 0.5], 2), ([1.0 - 1e-8], None), ([], None)])
def test_most_fractional(values, expected):
    assert most_fractional(np.array(values)) == expected
