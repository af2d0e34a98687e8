"""Parse, price and cut: trees with grandparents and siblings from a linear program that grows as needed, and to the end.

Riedel, Smith & McCallum 2012, algorithm 1, on the program of `refined_polytope`, begun with the parts of `first_duals`. Solve; score the
parts that the optimum uses and that were only bounded so far; cut off what is no tree; again, until nothing is missing. What HiGHS finds
only proposes: its duals are prices of arcs, and rounded to the grid they prove a bound by themselves,

    bound = max_tree sum of (arc + its prices + what its modifier's grandparents gain)  +  what the best steps of all heads gain,

with scores where they are known and bounds where they are not. It is the dual of `proof.dependency`, which checks it over all parts. An
optimum with fractional arcs is branched on, and the program goes on from where it was.

Duals of a degenerate program are exact only up to tolerances, and the bound would miss the score by as much. So when the optimum is a
tree, the arcs of that tree are made a little worse and the program is solved again: if the tree is still optimal, all others are worse by
a margin under the true scores, and rounding changes nothing.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zerogap.dependency.decoding.price_and_cut.initial_prices import lowered_prices
from zerogap.dependency.decoding.price_and_cut.known_scores import PartBounds
from zerogap.dependency.decoding.price_and_cut.polytope import Duals, RefinedPolytope, all_known
from zerogap.errors import Infeasible, InputError, ZerogapError
from zerogap.grid import MANTISSA_BITS, Integers, Scores
from zerogap.oracles.trees.arborescence import maximum_arborescence
from zerogap.oracles.trees.eisner import eisner
from zerogap.problems.dependency.parts import parts_of_tree
from zerogap.problems.dependency.problem import Problem, Tree
from zerogap.proof.certificate import Certificate, HeadPrices
from zerogap.proof.solution import Solution, Trace
from zerogap.relax.branching import branch_and_bound
from zerogap.relax.candidate import Candidate
from zerogap.relax.descent import Bounded, Closed, Fixed, Limits
from zerogap.relax.lagrangian import MOST_TOLD
from zerogap.relax.pricing import INTEGRAL, Generated, NotSolved, Point, generate, most_fractional

Open = NDArray[np.bool_]
MARGINS = (2.0**-16, 2.0**-22)  # how much worse the arcs of a tree are made, in units of the largest score


@dataclass(frozen=True, slots=True, eq=False)
class Priced:
    """The outcome, and what it took. `value` is that of the linear program before branching, `integral` whether it was a tree."""

    closed: Closed
    value: float
    integral: bool
    arcs: Scores  # (n + 1, n + 1), their values in it
    rounds: int
    iterations: int  # of simplex
    possible: dict[str, int]  # parts of allowed arcs
    scored: dict[str, int]
    added: dict[str, int]  # parts with a column


@dataclass(frozen=True, slots=True, eq=False)
class Evaluated:
    """What prices prove, and a tree that gets most by them; None if there is none."""

    bound: float
    evidence: HeadPrices
    heads: Integers | None


def decode_by_pricing(
    problem: Problem,
    arcs: Scores,
    labels: NDArray[np.int64] | None,
    *,
    bounds: Mapping[str, PartBounds] | None = None,
    check_bounds: bool = False,
    time_limit: float | None = None,
) -> Solution[Tree]:
    """The best tree. `arcs` and `labels` (n + 1, n + 1) are the scores of arcs with their best labels, and those.

    `bounds` are upper bounds on the scores of "grandparents" and "siblings"; without them all are scored. A score above its bound is an
    error, if it is met; with `check_bounds` all are scored to see. Raises Infeasible if there is no tree.
    """
    return priced(problem, arcs, labels, bounds=bounds, check_bounds=check_bounds, time_limit=time_limit).closed.solution()


def priced(
    problem: Problem,
    arcs: Scores,
    labels: NDArray[np.int64] | None = None,
    *,
    bounds: Mapping[str, PartBounds] | None = None,
    check_bounds: bool = False,
    branch: bool = True,
    max_rounds: int | None = None,
    time_limit: float | None = None,
) -> Priced:
    """As `decode_by_pricing`, with an account; `max_rounds` are those of a node."""
    begin = time.perf_counter()
    if problem.n_words == 0:
        raise InputError("the sentence has no words: expected at least one.")
    best_tree(problem, arcs)  # Infeasible, if it is the arcs
    polytope = RefinedPolytope(problem, arcs, all_known(problem, arcs, bounds or {}, check_bounds))
    search = Search(problem, arcs, labels, polytope, begin, math.inf if time_limit is None else begin + time_limit, max_rounds)
    closed = search.run(branch=branch)
    if closed.best is None and closed.bound < search.floor:
        raise Infeasible(f"no tree avoids what is forbidden by scores of -inf: {', '.join(problem.larger)}.")
    known = {"grandparents": polytope.grand, "siblings": polytope.steps}
    return Priced(
        closed, search.value, search.integral, search.arc_values, search.rounds, polytope.master.iterations if search.rounds else 0,
        {name: scores.n_possible for name, scores in known.items() if scores is not None},
        {name: scores.n_scored for name, scores in known.items() if scores is not None},
        {name: polytope.added[name] for name, scores in known.items() if scores is not None},
    )  # fmt: skip


def best_tree(problem: Problem, weights: Scores) -> Integers:
    return (eisner if problem.projective else maximum_arborescence)(weights, single_root=problem.single_root)


class Search:
    """From the first optimum to the last leaf. All nodes share one linear program: what it learns in one is true in all."""

    def __init__(
        self, problem: Problem, arcs: Scores, labels: NDArray[np.int64] | None, polytope: RefinedPolytope, begin: float, deadline: float,
        max_rounds: int | None,
    ) -> None:  # fmt: skip
        self.problem, self.arcs, self.labels, self.polytope = problem, arcs, labels, polytope
        self.begin, self.deadline, self.max_rounds = begin, deadline, max_rounds
        self.allowed = arcs > -np.inf
        self.words = np.arange(1, problem.n_words + 1)
        self.best: Candidate | None = None
        self.floor = -problem.largest * problem.terms  # no tree scores less, unless something in it is forbidden
        self.rounds = 0
        self.value, self.integral, self.arc_values = math.inf, False, np.zeros(arcs.shape)
        self.placed: NDArray[np.bool_] | None = None  # what was told of the program
        self.cuts: set[tuple[int, ...]] = set()
        self.bounds: list[float] = []
        self.scores: list[float] = []
        self.seconds: list[float] = []

    def run(self, *, branch: bool) -> Closed:
        first = self.evaluate(self.polytope.first_duals(), None, self.allowed)
        if first.heads is None:  # some head has nothing to choose
            return self.closed(first.bound, first.evidence)
        self.offer(first.heads)
        if not self.is_beaten(first.bound) and self.polytope.grand is not None and not self.problem.projective:
            first = self.lowered(first)
        self.note(first.bound)
        if self.is_beaten(first.bound):
            self.value, self.integral = first.bound, True
            assert self.best is not None or first.bound < self.floor
            if self.best is not None:
                self.arc_values[np.array(self.best.structure), self.words] = 1.0
            return self.closed(first.bound, first.evidence)
        assert first.heads is not None
        self.polytope.begin()
        self.polytope.add_steps_of(first.heads)
        root = self.node((), first, is_root=True)
        if not branch or self.is_beaten(root.bound) or time.perf_counter() >= self.deadline:
            assert isinstance(root.evidence, HeadPrices)
            return self.closed(root.bound, root.evidence)

        def solve(fixed: Fixed, warm: Any, incumbent: Candidate | None, deadline: float) -> Bounded:
            return self.node(fixed, self.evaluate(warm, None, self.open_arcs(fixed)))

        found = branch_and_bound(solve, Limits(self.deadline), root=root, incumbent=self.best)
        trace = Trace(tuple(self.bounds), tuple(self.scores), tuple(self.seconds)).then(found.trace)
        return Closed(self.final(found.best), found.bound, found.certificate, trace, found.n_nodes)

    def lowered(self, first: Evaluated) -> Evaluated:
        """A better bound than the first one, without a program."""
        polytope, problem = self.polytope, self.problem
        assert polytope.grand is not None
        prices = lowered_prices(
            self.arcs + polytope.over_steps, polytope.grand, polytope.over_grand, single_root=problem.single_root,
            resolution=problem.resolution, least=-polytope.penalty,
        )  # fmt: skip
        found = self.evaluate(Duals(prices, polytope.over_steps), None, self.allowed)
        if found.heads is None or found.bound >= first.bound:
            return first
        self.offer(found.heads)
        return found

    def node(self, fixed: Fixed, before: Evaluated, *, is_root: bool = False) -> Bounded:
        """Solves what is left after some decisions. `before` is what the duals of the parent say of it."""
        polytope, is_open = self.polytope, self.open_arcs(fixed)
        duals = polytope.first_duals()
        if before.heads is None or self.is_beaten(before.bound):
            return Bounded(before.bound, before.evidence, self.best, None, duals)
        polytope.limit_arcs(is_open)
        made = self.generate(to_the_end=is_root)
        if made.point is None:
            return Bounded(before.bound, before.evidence, self.best, self.undecided(None, before.heads, is_open), duals)
        point, values = made.point, polytope.values(made.point)
        split = most_fractional(values)
        tree: Integers | None = None
        if split is None and made.complete and polytope.is_tree(values):
            tree = values[:, 1:].argmax(axis=0)
            self.offer(tree)
        if is_root:
            self.value, self.integral, self.arc_values = polytope.value(point), split is None, values
        duals = polytope.duals(point)
        found = self.evaluate(duals, tree, is_open)
        if found.heads is not None:
            self.offer(found.heads)
        if tree is not None and not self.is_beaten(found.bound):
            duals, found = self.sharpened(tree, is_open, duals, found)
        if before.bound < found.bound:
            found = before
        if is_root:  # the bound of a node is no bound for the others: branch and bound notes the largest
            self.note(found.bound)
        if self.is_beaten(found.bound) or found.heads is None:
            return Bounded(found.bound, found.evidence, self.best, None, duals)
        if split is None:
            split = self.undecided(tree, found.heads, is_open)
        return Bounded(found.bound, found.evidence, self.best, split, duals)

    def generate(self, *, to_the_end: bool) -> Generated:
        """Algorithm 1; unless it goes to the end, only until the value is below the best score.

        There is a tree, so there is an optimum. If HiGHS does not find it, which numbers of very different size may cause, the search
        goes on without: it is only slower for it.
        """
        left = None if self.deadline == math.inf else max(self.deadline - time.perf_counter(), 0.0)

        def stop(point: Point) -> bool:
            if to_the_end:
                self.note(math.inf)
            return not to_the_end and self.best is not None and self.polytope.value(point) < self.best.score

        try:
            made = generate(
                self.polytope.master, price=self.polytope.price, separate=self.polytope.separate, stop=stop, describe=self.told,
                max_rounds=self.max_rounds, time_limit=left,
            )  # fmt: skip
        except NotSolved:
            return Generated(None, math.inf, 0, False, 0.0)
        self.rounds += made.rounds
        return made

    def told(self, point: Point) -> dict[str, Any]:
        """Of a round: arcs [h, m, value] of the optimum, grandparents [g, h, m] that got columns, sets of words that nothing entered."""
        polytope, values = self.polytope, self.polytope.values(point)
        new = polytope.placed & ~self.placed if self.placed is not None else polytope.placed
        sets = polytope.cuts - self.cuts
        self.placed, self.cuts = polytope.placed.copy(), set(polytope.cuts)
        arcs = [[h, m, float(values[h, m])] for h, m in np.argwhere(values > INTEGRAL).tolist()]
        return {"arcs": arcs, "priced": np.argwhere(new)[:MOST_TOLD].tolist(), "unentered": [list(words) for words in sorted(sets)]}

    def sharpened(self, tree: Integers, is_open: Open, duals: Duals, found: Evaluated) -> tuple[Duals, Evaluated]:
        """Duals at which the tree is better than others by a margin."""
        zero = np.zeros(self.arcs.shape)
        for margin in MARGINS:
            size = margin * max(self.problem.largest, self.problem.resolution)
            worse = zero.copy()
            worse[tree, self.words] = -size
            self.polytope.shift_arcs(worse)
            made = self.generate(to_the_end=True)
            if made.point is None:
                break
            again = self.polytope.values(made.point)
            if most_fractional(again) is None and (again[:, 1:].argmax(axis=0) == tree).all():
                # heads get a share of the margin: they pay less for the tree's arcs, and more for others
                raw = self.polytope.duals(made.point)
                share = np.full(self.arcs.shape, size / 4)
                share[tree, self.words] = -size / 4
                moved = Duals(raw.grand, raw.steps + share if self.polytope.has_steps else raw.steps)
                other = self.evaluate(moved, tree, is_open)
                if other.heads is not None:
                    self.offer(other.heads)
                if other.bound < found.bound:
                    duals, found = moved, other
                if self.is_beaten(found.bound):
                    break
        self.polytope.shift_arcs(zero)
        return duals, found

    def open_arcs(self, fixed: Fixed) -> Open:
        is_open = self.allowed.copy()
        for part, inside in fixed:
            h, m = divmod(part, self.problem.n_words + 1)
            if inside:
                is_open[:, m] &= np.arange(len(is_open)) == h
            else:
                is_open[h, m] = False
        return is_open

    def undecided(self, tree: Integers | None, other: Integers, is_open: Open) -> int | None:
        """An arc to branch on where the program has no doubt: one on which two trees differ, or any that is not decided."""
        choices = is_open[:, 1:].sum(axis=0) > 1
        tree = other if tree is None else tree
        for wanted in (choices & (tree != other), choices):
            if wanted.any():
                m = int(wanted.argmax()) + 1
                return int(tree[m - 1]) * (self.problem.n_words + 1) + m
        return None

    # candidates

    def offer(self, heads: Integers) -> None:
        """Keeps the tree if it is better. Its parts are scored once."""
        polytope = self.polytope
        score = float(self.arcs[heads, self.words].sum())
        for name, found in parts_of_tree(heads.tolist(), self.problem.parts):
            index = tuple(np.array(indices, dtype=np.int64) for indices in zip(*found, strict=True))
            known = {"grandparents": polytope.grand, "siblings": polytope.steps}.get(name)
            if not found:
                continue
            if known is None:
                score += float(self.problem.parts[name].at(*index).sum())
                continue
            new = ~known.scored[index]
            if new.any():
                known.score(*(i[new] for i in index))
            score += float(known.table[index].sum())
        if score > -math.inf and (self.best is None or score > self.best.score):
            self.best = Candidate(tuple(heads.tolist()), score)

    def final(self, best: Candidate | None) -> Candidate | None:
        """With labels, and scored by the problem's definition."""
        if best is None:
            return None
        heads = np.array(best.structure, dtype=np.int64)
        structure = self.problem.tree(heads, None if self.labels is None else self.labels[heads, self.words])
        return Candidate(structure, self.problem.score(structure))

    def is_beaten(self, bound: float) -> bool:
        """Whether nothing better is below the bound; nothing at all, if no tree can score so little."""
        return bound < self.floor or (self.best is not None and bound <= self.best.score)

    def note(self, bound: float) -> None:
        score = -math.inf if self.best is None else self.best.score
        self.bounds.append(max(min([bound, *self.bounds[-1:]]), score))
        self.scores.append(score)
        self.seconds.append(time.perf_counter() - self.begin)

    def closed(self, bound: float, evidence: Certificate) -> Closed:
        best = self.final(self.best)
        trace = Trace(tuple(self.bounds), tuple(self.scores), tuple(self.seconds))
        return Closed(best, bound if best is None else max(bound, best.score), evidence, trace, 1)

    # bounds

    def evaluate(self, duals: Duals, tree: Integers | None, is_open: Open) -> Evaluated:
        """The bound that duals prove, exactly, among open arcs. Where a tree is given they are moved to what its parts ask for."""
        polytope, grid = self.polytope, self.problem.resolution
        grand, steps = (np.rint(table / grid) * grid for table in (duals.grand, duals.steps))
        gains = np.zeros(self.arcs.shape)
        if polytope.grand is not None:
            scores = polytope.grand.table
            if tree is not None:
                # the tree's own grandparents gain what they score, others of its heads gain nothing
                own = scores[tree[:, None], self.words[:, None], np.arange(len(grand))]  # (words, modifiers): under the heads of the tree
                inside = np.zeros(self.arcs.shape, dtype=np.bool_)
                inside[tree, self.words] = True
                settled = np.where(inside[1:], np.minimum(grand[1:], own), np.maximum(grand[1:], own))
                grand[1:] = np.where(np.isfinite(settled), settled, grand[1:])
            p, c = np.nonzero((grand < polytope.over_grand) & is_open)  # at their bounds, others gain nothing
            if len(p):
                each = np.maximum(scores[:, p, c] - grand[p, c], 0.0)
                first = np.flatnonzero(np.diff(p, prepend=-1))
                gains[:, p[first]] = np.add.reduceat(each, first, axis=1)
        paths = self.best_steps(steps, is_open) if polytope.has_steps else 0.0
        down = np.where(is_open, self.arcs, 0.0) + grand + steps
        weights = np.where(is_open, down + gains, -np.inf)
        h, m = np.nonzero(is_open)
        evidence = HeadPrices(tuple((h * (self.problem.n_words + 1) + m).tolist()), tuple(down[h, m].tolist()), tuple(gains[h, m].tolist()))
        if np.abs(down[h, m]).sum() + gains[h, m].sum() >= math.ldexp(grid, MANTISSA_BITS):
            raise ZerogapError("the prices are so large that sums with them are not exact: expected fewer words, or scores of one size.")
        try:
            heads = best_tree(self.problem, weights)
        except Infeasible:
            return Evaluated(-math.inf, evidence, None)
        bound = float(weights[heads, self.words].sum()) + paths
        return Evaluated(bound, evidence, None if bound == -math.inf else heads)

    def best_steps(self, prices: Scores, is_open: Open) -> float:
        """What all heads gain by their best modifiers at these prices: a path outward on every side, at least one step for the root."""
        n, table, stops = self.problem.n_words, self.polytope.table, self.polytope.stops
        worth = np.where(is_open, -prices, -np.inf)
        right, left = (np.where(np.eye(n + 1, dtype=np.bool_), 0.0, -np.inf) for _ in range(2))
        for m in range(1, n + 1):
            # right[h, m] = worth[h, m] + max_s right[h, s] + siblings[h, s, m]
            right[:m, m] = worth[:m, m] + (right[:m, :m] + table[:m, :m, m]).max(axis=1)
        for m in range(n - 1, 0, -1):
            left[m + 1 :, m] = worth[m + 1 :, m] + (left[m + 1 :, m + 1 :] + table[m + 1 :, m + 1 :, m]).max(axis=1)
        ends = right + stops
        ends[0, 0] = -np.inf
        return float(ends.max(axis=1).sum() + (left[1:] + stops[1:]).max(axis=1).sum())
