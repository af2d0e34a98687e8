"""A linear relaxation of dependency parsing that knows few scores: parts that were not scored yet have a column together, at their bound.

The grandparent polytope of Riedel, Smith & McCallum 2012, section 3.2, with columns z[h, m] for arcs and t[g, p, c] for the grandparents
that are scored. Where the paper leaves the others out and looks for them by reduced costs, here all others of an arc share a column r[p,
c]:

    sum_g t[g, p, c] + r[p, c] = z[p, c]                     OneGP
    t[g, p, c] <= z[g, p]                                    GPArc
    r[p, c] + z[c, p] + sum_{g scored} z[g, p] <= 1          GPArc of the others, added up

r scores the highest bound of the others. So the program is an outer bound in every round, duals are never overcautious (what section
4.3.3 corrects), and a part is scored only if an optimum uses it: r[p, c] > 0 together with z[g, p] > 0. At the end no such part is left,
and the value is that of the full program. ArcGP and NoGP follow from these rows. An arc that no optimum has used has no rows and no r:
the bound is in its own score.

Siblings are paths outward from their heads: one step enters every modifier, and at most one leaves it. All steps into a modifier are
scored when an optimum uses its arc; before, the arc scores their bound. Stops are part of the steps: entering m and leaving s adds
stop(m) - stop(s).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zerogap.dependency.decoding.price_and_cut.cuts import crossings, unentered_sets
from zerogap.dependency.decoding.price_and_cut.known_scores import KnownScores, PartBounds, known_scores, maxima
from zerogap.grid import Scores
from zerogap.problems.dependency.parts import allowed_parts, meaning
from zerogap.problems.dependency.problem import Problem
from zerogap.relax.pricing import Entries, Ids, Master, Point

USED = 1e-6  # a column of a smaller value is not used
FORBIDDEN = 4.0  # what is forbidden costs so many times all that can be gained


def all_known(problem: Problem, arcs: Scores, bounds: Mapping[str, PartBounds], check_bounds: bool) -> dict[str, KnownScores]:
    """What is known of grandparents and siblings at first. Where no bounds are given they are the maxima of all scores."""
    known = {}
    for name in ("grandparents", "siblings"):
        parts = problem.parts.get(name)
        if parts is not None:
            given = bounds[name] if name in bounds else maxima(name, parts, problem.n_words, -problem.largest)
            possible = possible_parts(name, problem, arcs > -np.inf)
            known[name] = known_scores(name, parts, given, possible, problem.resolution, check_bounds=check_bounds)
    return known


def possible_parts(name: str, problem: Problem, allowed: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Parts that a tree of allowed arcs can have."""
    possible: NDArray[np.bool_] = meaning(name, problem.n_words) & allowed_parts(name, allowed)
    if name == "siblings" and problem.single_root:
        possible[0, 1:] = False
    return possible


@dataclass(frozen=True, slots=True, eq=False)
class Duals:
    """What arcs pay for their parts, (n + 1, n + 1): for a grandparent, and for the steps into and out of their modifiers."""

    grand: Scores
    steps: Scores


class RefinedPolytope:
    """The program of one sentence as it grows, once it has begun. `arcs` are the scores of arcs with their best labels."""

    master: Master

    def __init__(self, problem: Problem, arcs: Scores, known: dict[str, KnownScores]) -> None:
        self.problem, self.arcs = problem, arcs
        self.grand, self.steps = known.get("grandparents"), known.get("siblings")
        n = self.n = problem.n_words
        self.allowed = arcs > -np.inf
        self.heads, self.words = np.nonzero(self.allowed)
        self.number = np.full(arcs.shape, -1)
        self.number[self.heads, self.words] = np.arange(len(self.heads))
        # a power of two, so that it is on every grid
        self.penalty = 2.0 ** math.frexp(FORBIDDEN * max(problem.largest, problem.resolution) * max(problem.terms, 1))[1]
        self.stops = self.stop_scores()
        self.has_steps = self.steps is not None or problem.stops is not None
        self.table = self.step_table() if self.has_steps else np.zeros((0, 0, 0))
        shape = arcs.shape
        self.rest = np.full(shape, -1)  # columns r
        self.placed = np.zeros(shape if self.grand is None else self.grand.table.shape, dtype=np.bool_)  # parts with columns t
        self.one = np.full(shape, -1)  # rows OneGP
        self.others = np.full(shape, -1)  # rows of r
        self.enter = np.full(shape, -1)  # rows: what enters a modifier is its arc
        self.leave = np.full(shape, -1)  # rows: what leaves a modifier is at most its arc; what leaves a head to the right, at most 1
        self.leave_left = np.full(n + 1, -1)  # and to the left
        self.shift = np.zeros(shape)  # added to the scores of arcs, for a while
        self.added = {"grandparents": 0, "siblings": 0}
        self.cuts: set[tuple[int, ...]] = set()  # sets of words with a row
        self.crossed: set[tuple[int, int, int]] = set()
        self.over_grand = np.zeros(shape) if self.grand is None else self.finite(self.grand.table.max(axis=0))
        self.over_grand[0] = 0.0
        self.over_steps = self.step_bounds()

    def finite(self, scores: Scores) -> Scores:
        """Scores as HiGHS takes them: -inf becomes a penalty."""
        return np.maximum(scores, -self.penalty)

    def stop_scores(self) -> Scores:
        """(n + 1, n + 1): of the last modifier of a head, or of a side without one."""
        stops = np.zeros(self.arcs.shape)
        if self.problem.stops is not None:
            pairs = np.nonzero(self.allowed | np.eye(self.n + 1, dtype=np.bool_))
            stops[pairs] = self.problem.stops.at(*pairs)
        return stops

    def step_bounds(self) -> Scores:
        """The most that entering a modifier can add, stops included."""
        if not self.has_steps:
            return np.zeros(self.arcs.shape)
        return self.finite(self.step_scores(np.arange(self.n + 1)[:, None], np.arange(self.n + 1)[None]).max(axis=0))

    def step_table(self) -> Scores:
        """(n + 1, n + 1, n + 1): what steps score as far as it is known, without stops; -inf where no step is. It changes with time."""
        if self.steps is not None:
            return self.steps.table
        return np.where(possible_parts("siblings", self.problem, self.allowed), 0.0, -np.inf)

    def step_scores(self, h: Ids, m: Ids) -> Scores:
        """(n + 1, *shape of h and m): for every s, what the step from s to m scores as far as it is known, with stops."""
        stops = self.finite(self.stops)
        s = np.arange(self.n + 1).reshape(-1, *([1] * np.broadcast(h, m).ndim))
        return self.table[h, s, m] + (stops[h, m] - stops[h, s])

    @property
    def constant(self) -> float:
        """What the program leaves out: all sides without modifiers."""
        diagonal = self.finite(self.stops).diagonal()
        return float(2.0 * diagonal.sum() - diagonal[0]) if self.has_steps else 0.0

    def begin(self) -> None:
        """Every word has one head, and the root one modifier or more. Parts whose scores are known have columns."""
        n = self.n
        self.master = Master(scale=2.0 ** math.frexp(max(self.problem.largest, self.problem.resolution))[1])
        high = 1.0 if self.problem.single_root else np.inf
        rows = self.master.add_rows(np.ones(n + 1), np.append(np.ones(n), high))
        below_root = np.flatnonzero(self.heads == 0)
        a = np.arange(len(self.heads))
        entries = Entries.join((a, rows[self.words - 1], 1.0), (below_root, np.full(len(below_root), rows[n]), 1.0))
        self.master.add_columns(self.arc_scores(a), entries)
        if self.grand is not None:
            self.add_grandparents(*np.nonzero(self.grand.scored))

    def arc_scores(self, a: Ids) -> Scores:
        h, m = self.heads[a], self.words[a]
        grand = np.where(self.rest[h, m] < 0, self.over_grand[h, m], 0.0)
        steps = np.where(self.enter[h, m] < 0, self.over_steps[h, m], 0.0)
        return np.asarray(self.arcs[h, m] + self.shift[h, m] + grand + steps)

    def shift_arcs(self, shift: Scores) -> None:
        """Scores of arcs are moved by this much from now on."""
        changed = np.flatnonzero((shift != self.shift)[self.heads, self.words])
        self.shift = shift
        self.master.set_scores(changed, self.arc_scores(changed))

    def limit_arcs(self, is_open: NDArray[np.bool_]) -> None:
        """Only these arcs may be used from now on."""
        self.master.limit_columns(np.arange(len(self.heads)), np.where(is_open[self.heads, self.words], np.inf, 0.0))

    def values(self, point: Point) -> Scores:
        table = np.zeros(self.arcs.shape)
        table[self.heads, self.words] = point.columns[: len(self.heads)]
        return table

    def value(self, point: Point) -> float:
        return point.value + self.constant

    # pricing

    def price(self, point: Point) -> int:
        """Scores what the optimum uses of parts that were only bounded, and gives them columns."""
        values = self.values(point)
        added = 0
        if self.grand is not None:
            used = np.where(self.rest >= 0, point.columns[self.rest], values)
            used[0] = 0.0
            p, c = np.nonzero(used > USED)
            g, k = np.nonzero((values[:, p] > USED) & self.grand.possible[:, p, c] & ~self.placed[:, p, c])
            added += self.add_grandparents(*self.with_rivals(point, g, p[k], c[k]))
        if self.has_steps:
            h, m = np.nonzero((values > USED) & (self.enter < 0))
            added += self.add_steps(h, m)
        return added

    def with_rivals(self, point: Point, g: Ids, p: Ids, c: Ids) -> tuple[Ids, Ids, Ids]:
        """These parts, and those that the next optimum would use in their place if they score as their bounds say.

        Once the score of g -> p -> c is known, another g' is worth trying if what its part may gain is more than what its arc loses.
        """
        assert self.grand is not None
        if not len(g):
            return g, p, c
        losses = np.full(self.arcs.shape, -np.inf)
        losses[self.heads, self.words] = point.reduced[: len(self.heads)]
        self.grand.make_known(g, p, c)
        room = losses[:, p] - self.finite(self.grand.table[g, p, c])
        more, k = np.nonzero((self.grand.table[:, p, c] + room > 0.0) & self.grand.possible[:, p, c] & ~self.placed[:, p, c])
        size = self.n + 1
        keys = np.unique(np.concatenate([(g * size + p) * size + c, (more * size + p[k]) * size + c[k]]))
        return keys // size**2, keys // size % size, keys % size

    def add_steps_of(self, heads: Ids) -> None:
        """The steps of a tree, before any optimum asks for them."""
        words = np.arange(1, self.n + 1)
        if self.has_steps:
            self.add_steps(heads, words)

    def add_grandparents(self, g: Ids, p: Ids, c: Ids) -> int:
        """Columns t of these parts, none of them there yet, and their rows."""
        assert self.grand is not None
        if not len(g):
            return 0
        n_parts, size, number, master = len(g), self.n + 1, self.number, self.master
        self.grand.make_known(g, p, c)
        scores = self.grand.table[g, p, c]
        self.placed[g, p, c] = True
        arc_of = p * size + c
        is_old = self.one.reshape(-1)[arc_of] >= 0
        old, new = np.flatnonzero(is_old), np.flatnonzero(~is_old)
        first, of = np.unique(arc_of[new], return_inverse=True)  # arcs that had no rows
        fp, fc = np.divmod(first, size)
        n_first, each, a, upper = len(first), np.arange(len(first)), number[fp, fc], number[g, p]

        columns = master.add_columns(
            np.concatenate([self.finite(scores), np.zeros(n_first)]), Entries.join((old, self.one[p, c][old], 1.0))
        )
        t, rest = columns[:n_parts], columns[n_parts:]
        back = np.flatnonzero(number[fc, fp] >= 0)
        every = np.arange(n_parts) + 2 * n_first
        rows = master.add_rows(
            np.concatenate([np.zeros(n_first), np.full(n_first + n_parts, -np.inf)]),
            np.concatenate([np.zeros(n_first), np.ones(n_first), np.zeros(n_parts)]),
            Entries.join(
                (each, a, -1.0), (each, rest, 1.0), (of, t[new], 1.0),  # OneGP
                (each + n_first, rest, 1.0), (back + n_first, number[fc, fp][back], 1.0), (of + n_first, upper[new], 1.0),  # of r
                (every, t, 1.0), (every, upper, -1.0),  # GPArc
            ),
        )  # fmt: skip
        self.rest[fp, fc], self.one[fp, fc], self.others[fp, fc] = rest, rows[:n_first], rows[n_first : 2 * n_first]
        master.set_scores(a, self.arc_scores(a))
        master.set_coefficients(self.others[p, c][old], upper[old], 1.0)
        self.bound_rest(*np.divmod(np.unique(arc_of), size))
        self.added["grandparents"] += n_parts
        return n_parts

    def bound_rest(self, p: Ids, c: Ids) -> None:
        """r scores the highest bound of the parts without columns. If there are none, it costs a lot, and keeps the program feasible."""
        assert self.grand is not None
        highest = np.where(self.placed[:, p, c], -np.inf, self.grand.table[:, p, c]).max(axis=0)
        self.master.set_scores(self.rest[p, c], self.finite(highest))

    def add_steps(self, h: Ids, m: Ids) -> int:
        """All steps into these modifiers, which have none yet."""
        if not len(h):
            return 0
        n = self.n
        if self.steps is not None:
            s, k = np.nonzero(self.steps.possible[h, :, m].T & ~self.steps.scored[h, :, m].T)
            self.steps.score(h[k], s, m[k])
        scores = self.step_scores(h, m)
        s, k = np.nonzero(scores > -np.inf)
        from_head = s == h[k]
        # leaving: a row for every modifier, and for every side of a head; those of left sides are in the row and column of their own
        sources = np.unique(h[k] * (n + 1) + s + np.where(from_head & (m[k] < h[k]), (n + 1) ** 2, 0))
        self.add_leave(sources)
        side = np.where(from_head & (m[k] < h[k]), self.leave_left[h[k]], self.leave[h[k], s])
        each = np.arange(len(h))
        columns = self.master.add_columns(scores[s, k], Entries.join((np.arange(len(s)), side, 1.0)))
        a = self.number[h, m]
        # for arcs that no step may enter; a forbidden stop that is left without being entered would gain the penalty, so it costs more
        spare = self.master.add_columns(np.full(len(h), -FORBIDDEN * self.penalty))
        rows = self.master.add_rows(
            np.zeros(len(h)), np.zeros(len(h)), Entries.join((each, a, -1.0), (each, spare, 1.0), (k, columns, 1.0))
        )
        self.enter[h, m] = rows
        self.master.set_scores(a, self.arc_scores(a))
        self.added["siblings"] += len(columns)
        return len(columns) + len(spare)

    def add_leave(self, sources: Ids) -> None:
        """Rows for what leaves a modifier, or a head towards a side."""
        n = self.n
        left, (h, s) = sources >= (n + 1) ** 2, np.divmod(sources % (n + 1) ** 2, n + 1)
        missing = np.where(left, self.leave_left[h], self.leave[h, s]) < 0
        left, h, s = left[missing], h[missing], s[missing]
        modifier = np.flatnonzero(h != s)
        high = np.where(h == s, 1.0, 0.0)
        entries = Entries.join((modifier, self.number[h[modifier], s[modifier]], -1.0))
        rows = self.master.add_rows(np.full(len(h), -np.inf), high, entries)
        self.leave_left[h[left]] = rows[left]
        self.leave[h[~left], s[~left]] = rows[~left]

    # cutting

    def separate(self, point: Point) -> int:
        """Rows for what makes the arcs no mixture of trees."""
        values = self.values(point)
        added = 0
        for words in unentered_sets(values):
            if tuple(words) not in self.cuts:
                self.cuts.add(tuple(words))
                inside = np.zeros(self.n + 1, dtype=np.bool_)
                inside[words] = True
                a = np.flatnonzero(inside[self.words] & ~inside[self.heads])
                self.master.add_rows(np.ones(1), np.full(1, np.inf), Entries.join((np.zeros(len(a)), a, 1.0)))
                added += 1
        return added + (self.add_crossings(crossings(values)) if self.problem.projective else 0)

    def is_tree(self, values: Scores) -> bool:
        """Whether integral values of arcs violate nothing; after `separate` they should not, but tolerances are only that."""
        return not unentered_sets(values) and not (self.problem.projective and crossings(values))

    def add_crossings(self, found: list[tuple[int, int, int]]) -> int:
        """Rows for arcs that cross, where they are not there yet."""
        new = [triple for triple in found if triple not in self.crossed]
        blocks: list[tuple[Ids, Ids, float]] = []
        limits = np.zeros(len(new))
        for r, (i, j, k) in enumerate(new):
            self.crossed.add((i, j, k))
            is_below = i < k < j
            limits[r] = 0.0 if is_below else 1.0
            both = np.array([self.number[i, j], self.number[j, i]])
            others = self.number[i : j + 1, k] if is_below else self.number[i + 1 : j, k]
            for columns, sign in ((both, 1.0), (others, -1.0 if is_below else 1.0)):
                columns = columns[columns >= 0]
                blocks.append((np.full(len(columns), r), columns, sign))
        if new:
            self.master.add_rows(np.full(len(new), -np.inf), limits, Entries.join(*blocks))
        return len(new)

    def duals(self, point: Point) -> Duals:
        """What the program pays for parts; bounds where it had no rows."""

        def paid(rows: Ids, otherwise: Scores | float) -> Scores:
            there = (rows >= 0) & (rows < len(point.duals))
            return np.where(there, point.duals[np.where(there, rows, 0)], otherwise)

        leaving = np.where(self.number >= 0, paid(self.leave, 0.0), 0.0)
        return Duals(paid(self.one, self.over_grand), paid(self.enter, self.over_steps) + leaving)

    def first_duals(self) -> Duals:
        """Those of a program without any rows for parts."""
        return Duals(self.over_grand.copy(), self.over_steps.copy())
