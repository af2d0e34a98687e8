"""The linear programs of Riedel, Smith & McCallum 2012 as they are printed: section 3, in full or by algorithm 1.

Trees are a flow of one commodity (3.1): Source follows from OneHead and Consume. Grandparents t[g, p, c] are tied to arcs by four
families of rows (3.2), of which some suffice:

    ArcGP  z[g, p] + z[p, c] - t[g, p, c] <= 1        OneGP  sum_g t[g, p, c] = z[p, c], for p > 0
    GPArc  t[g, p, c] <= z[g, p], t[g, p, c] <= z[p, c]  NoGP   sum_c t[g, p, c] <= n z[g, p]

Algorithm 1 begins with all arcs and the parts <0, p, c>, finds others by bounds on their reduced costs (8 to 11, with (10) as it must
be), with duals that are tightened (4.3.3), and adds what violates ArcGP (4.4). So that it is feasible where arcs are missing, it has the
parts of one tree as well, and columns of high cost in place of those that are forbidden.

`price_and_cut` solves the same relaxation, with trees in place of the flow, by another choice of columns. This module is for comparison.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zerogap.dependency.decoding.price_and_cut.known_scores import GrandparentBounds, known_scores, maxima
from zerogap.dependency.decoding.price_and_cut.polytope import FORBIDDEN, possible_parts
from zerogap.errors import Infeasible, InputError, UnknownMethod
from zerogap.grid import Scores
from zerogap.oracles.trees.arborescence import maximum_arborescence
from zerogap.problems.dependency.problem import Problem
from zerogap.relax.pricing import Entries, Generated, Ids, Master, NotSolved, Point, generate, most_fractional

CONSTRAINTS = {
    "ArcGP+GPArc": frozenset({"ArcGP", "GPArc"}),
    "OneGP+NoGP": frozenset({"OneGP", "NoGP"}),
    "OneGP+GPArc": frozenset({"OneGP", "GPArc"}),
    "all": frozenset({"ArcGP", "GPArc", "OneGP"}),  # and NoGP, which GPArc implies: the paper leaves it out
}
POSITIVE = 1e-7  # a reduced cost, in units of the largest score, from which a column is added
VIOLATED = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class Relaxed:
    """An optimum of the relaxation, by HiGHS's account, and what it took."""

    value: float  # inf if a limit came first
    arcs: Scores  # (n + 1, n + 1), their values
    integral: bool
    heads: tuple[int, ...]  # the tree with most value in it
    complete: bool
    rounds: int
    iterations: int  # of simplex
    possible: int  # grandparents of allowed arcs
    scored: int
    added: int
    seconds: float


def solve_grandparents(
    problem: Problem,
    *,
    constraints: str = "all",
    price: bool = True,
    tighten: bool = True,
    bounds: GrandparentBounds | None = None,
    check_bounds: bool = False,
    max_rounds: int | None = None,
    time_limit: float | None = None,
) -> Relaxed:
    """The relaxation of a non-projective problem with grandparents; with `price` by algorithm 1, else all columns and rows at once."""
    if constraints not in CONSTRAINTS:
        raise UnknownMethod("constraints", constraints, CONSTRAINTS)
    if problem.projective or problem.larger != ["grandparents"] or problem.n_words == 0:
        raise InputError(
            f"the problem scores {', '.join(['arcs', *problem.larger])}: expected words, arcs that may cross, and grandparents."
        )
    begin = time.perf_counter()
    program = Program(problem, CONSTRAINTS[constraints], price, tighten, bounds, check_bounds)
    left = None if time_limit is None else max(time_limit - (time.perf_counter() - begin), 0.0)
    try:
        made = program.solve(max_rounds, left)
    except NotSolved as error:
        if error.infeasible:
            raise Infeasible(f"no tree avoids the grandparents of score -inf: {error}") from None
        raise
    values = np.zeros(problem.arcs.shape)
    if made.point is not None:
        values[program.heads, program.words] = made.point.columns[: len(program.heads)]
    heads = maximum_arborescence(np.where(program.allowed, values, -np.inf), single_root=problem.single_root)
    return Relaxed(
        made.point.value if made.point is not None and made.complete else math.inf, values, most_fractional(values) is None,
        tuple(heads.tolist()), made.complete, made.rounds, program.master.iterations, program.known.n_possible, program.known.n_scored,
        int(np.count_nonzero(program.column >= 0)), time.perf_counter() - begin,
    )  # fmt: skip


class Program:
    def __init__(
        self, problem: Problem, families: frozenset[str], price: bool, tighten: bool, bounds: GrandparentBounds | None, check_bounds: bool
    ) -> None:
        parts = problem.grandparents
        assert parts is not None
        n = self.n = problem.n_words
        self.families, self.prices, self.tightens = families, price, tighten and "OneGP" in families
        self.arcs = problem.arcs if problem.labels is None else problem.arcs + problem.labels.max(axis=2)
        self.allowed = self.arcs > -np.inf
        best = maximum_arborescence(self.arcs, single_root=problem.single_root)  # Infeasible if there is no tree
        self.heads, self.words = np.nonzero(self.allowed)
        self.number = np.full(self.arcs.shape, -1)
        self.number[self.heads, self.words] = np.arange(len(self.heads))
        possible = possible_parts("grandparents", problem, self.allowed)
        given = maxima("grandparents", parts, n, -problem.largest) if bounds is None else bounds
        self.known = known_scores("grandparents", parts, given, possible, problem.resolution, check_bounds=check_bounds)
        self.over = self.known.table.max(axis=0)  # of arcs
        self.column = np.full((n + 1, n + 1, n + 1), -1)
        self.cuts: set[tuple[int, int, int]] = set()
        self.unit = max(problem.largest, problem.resolution)
        self.penalty = FORBIDDEN * self.unit * problem.terms
        self.master = Master(scale=2.0 ** math.frexp(self.unit)[1], presolve=not price)
        self.add_trees(single_root=problem.single_root)
        if price:
            self.add_first(best)
        else:
            self.add_parts(*np.nonzero(possible))

    def add_trees(self, *, single_root: bool) -> None:
        """OneHead, one root arc or more, Consume and NoFlow; and the rows of arcs that have some from the beginning."""
        n, master, h, m = self.n, self.master, self.heads, self.words
        a = np.arange(len(h))
        one_head = master.add_rows(np.ones(n), np.ones(n))
        root = master.add_rows(np.ones(1), np.array([1.0 if single_root else np.inf]))
        consume = master.add_rows(np.ones(n), np.ones(n))
        no_flow = master.add_rows(np.full(len(a), -np.inf), np.zeros(len(a)))
        below, inner = np.flatnonzero(h == 0), np.flatnonzero(h > 0)
        blocks = [(a, one_head[m - 1], 1.0), (below, np.repeat(root, len(below)), 1.0), (a, no_flow, -float(n))]
        self.one, self.none = np.full(self.arcs.shape, -1), np.full(self.arcs.shape, -1)
        if "OneGP" in self.families:
            rows = master.add_rows(np.zeros(len(inner)), np.zeros(len(inner)))
            self.one[h[inner], m[inner]] = rows
            blocks.append((inner, rows, -1.0))
        if "NoGP" in self.families:
            rows = master.add_rows(np.full(len(a), -np.inf), np.zeros(len(a)))
            self.none[h, m] = rows
            blocks.append((a, rows, -float(n)))
        master.add_columns(self.arcs[h, m], Entries.join(*blocks))
        flow = [(a, consume[m - 1], 1.0), (inner, consume[h[inner] - 1], -1.0), (a, no_flow, 1.0)]
        master.add_columns(np.zeros(len(a)), Entries.join(*flow))

    def add_first(self, heads: Ids) -> None:
        """The parts <0, p, c>, and those of a tree."""
        chosen = np.zeros(self.column.shape, dtype=np.bool_)
        chosen[0] = True
        c = np.arange(1, self.n + 1)[heads > 0]
        p = heads[c - 1]
        chosen[heads[p - 1], p, c] = True
        self.add_parts(*np.nonzero(chosen & self.known.possible))
        rows = self.one[p, c][self.column[heads[p - 1], p, c] < 0]
        rows = rows[rows >= 0]
        self.master.add_columns(np.full(len(rows), -self.penalty), Entries.join((np.arange(len(rows)), rows, 1.0)))

    def add_parts(self, g: Ids, p: Ids, c: Ids) -> int:
        """Columns of these parts, which have none, and their rows. One that is forbidden gets no column, but its ArcGP."""
        scores = self.known.table[g, p, c]
        new = ~self.known.scored[g, p, c]
        scores[new] = self.known.score(g[new], p[new], c[new])
        kept = scores > -np.inf
        added = 0
        if "ArcGP" in self.families and "OneGP" not in self.families:  # which implies it
            added += self.forbid(g[~kept], p[~kept], c[~kept])
        g, p, c = g[kept], p[kept], c[kept]
        each, upper, lower = np.arange(len(g)), self.number[g, p], self.number[p, c]
        blocks = [(each, rows[i, j], 1.0) for rows, i, j in ((self.one, p, c), (self.none, g, p)) if rows.max() >= 0]
        t = self.master.add_columns(scores[kept], Entries.join(*blocks) if blocks else None)
        self.column[g, p, c] = t
        low, zero = np.full(len(t), -np.inf), np.zeros(len(t))
        if "GPArc" in self.families:
            self.master.add_rows(low, zero, Entries.join((each, t, 1.0), (each, upper, -1.0)))
            self.master.add_rows(low, zero, Entries.join((each, t, 1.0), (each, lower, -1.0)))
        if "ArcGP" in self.families:
            self.master.add_rows(low, zero + 1.0, Entries.join((each, upper, 1.0), (each, lower, 1.0), (each, t, -1.0)))
        return added + len(t)

    def forbid(self, g: Ids, p: Ids, c: Ids) -> int:
        """Two arcs that may not be together."""
        new = [k for k, part in enumerate(zip(g.tolist(), p.tolist(), c.tolist(), strict=True)) if part not in self.cuts]
        g, p, c = g[new], p[new], c[new]
        self.cuts.update(zip(g.tolist(), p.tolist(), c.tolist(), strict=True))
        each = np.arange(len(g))
        entries = Entries.join((each, self.number[g, p], 1.0), (each, self.number[p, c], 1.0))
        self.master.add_rows(np.full(len(g), -np.inf), np.ones(len(g)), entries)
        return len(g)

    def solve(self, max_rounds: int | None, time_limit: float | None) -> Generated:
        if not self.prices:
            return generate(self.master, price=lambda _: 0, time_limit=time_limit)
        tighten = self.tightened if self.tightens else None
        separate = self.separate if "ArcGP" in self.families else None
        return generate(
            self.master, price=self.price, separate=separate, tighten=tighten, max_rounds=max_rounds, time_limit=time_limit
        )  # fmt: skip

    def tightened(self, point: Point) -> Scores:
        """Section 4.3.3: the dual of OneGP is raised for arcs of value 0, as far as their reduced cost allows."""
        duals = point.duals.copy()
        a = np.flatnonzero((self.heads > 0) & (point.columns[: len(self.heads)] <= 0.0))
        duals[self.one[self.heads[a], self.words[a]]] += np.maximum(-point.reduced[a], 0.0)
        return duals

    def price(self, point: Point) -> int:
        """Equations 8 to 11: arcs first, then their grandparents by bounds, and only then scores."""
        one, none = (np.where(rows >= 0, point.duals[rows], 0.0) for rows in (self.one, self.none))
        least = POSITIVE * self.unit
        p, c = np.nonzero(self.over - one > least)  # since duals of NoGP are 0 or more
        missing = (self.column[:, p, c] < 0) & self.known.possible[:, p, c]
        g, k = np.nonzero(missing & (self.known.table[:, p, c] - one[p, c] - none[:, p] > least))
        p, c = p[k], c[k]
        new = ~self.known.scored[g, p, c]
        self.known.score(g[new], p[new], c[new])
        positive = self.known.table[g, p, c] - one[p, c] - none[g, p] > least
        return self.add_parts(g[positive], p[positive], c[positive])

    def separate(self, point: Point) -> int:
        """Section 4.4: two arcs that are used together more than their part, which has no column, allows."""
        values = np.zeros(self.arcs.shape)
        values[self.heads, self.words] = point.columns[: len(self.heads)]
        p, c = np.nonzero(values > VIOLATED)
        over: NDArray[np.bool_] = values[:, p] + values[p, c] > 1.0 + VIOLATED
        g, k = np.nonzero(over & self.known.possible[:, p, c] & (self.column[:, p, c] < 0))
        return self.add_parts(g, p[k], c[k])
