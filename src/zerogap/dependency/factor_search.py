"""Exact parsing with factors by branch and bound (Qian & Liu 2013): the scores of factors are shared out among arcs, and an oracle bounds.

The oracle, or backbone, is the fastest one that scores all parts of the problem but its factors (section 3.5): a maximum arborescence, a
dynamic program over projective trees, or else dual decomposition, whose proof is then part of this one. Shares are moved until the bound
is tight or no longer falls (`oracles.factor_shares`); arcs that no better tree has are left out by their max-marginals under the shares,
where the backbone scores arcs alone; and then an arc is branched on, the one with the largest gaps of the factors around it (section
3.3). Children begin with the shares of their parent (4.4).
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np

from zerogap.dependency.candidate_scores import entries, scores_of_candidates
from zerogap.dependency.candidates import candidates_of
from zerogap.dependency.decoders import GRANDSIBLINGS as OF_GRANDSIBLINGS
from zerogap.dependency.decoders import OUTERMOST as OF_OUTERMOST
from zerogap.dependency.decoders import SIBLINGS as OF_SIBLINGS
from zerogap.dependency.decoders import candidates_are_faster
from zerogap.dependency.factor_core import LEAST, Extension, core_of, extended
from zerogap.dependency.factor_sets import Allowed, Factors, Integers, possible_factors
from zerogap.dependency.factor_tables import FactorTables, Node, factor_tables
from zerogap.dependency.kbest import labelled_trees
from zerogap.dependency.problem import Problem, Tree
from zerogap.errors import Infeasible
from zerogap.grid import Scores
from zerogap.oracles.factor_shares import (
    ARBORESCENCE,
    BOUND,
    CALLS,
    EISNER,
    N_RESULTS,
    OTHER,
    RATE,
    SCORE,
    SIBLING,
    TIRED,
    VALUE,
    share_out,
)
from zerogap.oracles.grandsiblings import grandsibling_kernel
from zerogap.oracles.matrix_tree import nonprojective_max_marginals
from zerogap.oracles.outermost import outermost_kernel
from zerogap.oracles.sibling_marginals import sibling_max_marginals
from zerogap.oracles.siblings import sibling_kernel
from zerogap.oracles.tree_marginals import projective_max_marginals
from zerogap.proof.certificate import Certificate, DynamicProgram, FactorShares, HeadPrices, Narrowed
from zerogap.proof.solution import Solution, Trace
from zerogap.relax.branching import Bounded, Fixed, branch_and_bound
from zerogap.relax.lagrangian import Candidate

MEMORY = 0.3  # how much of the average of subgradients is kept at every step
RATE_AT_ROOT, LEAST_AT_ROOT, CALLS_AT_ROOT = 1.0, 0.06, 150
RATE_AT_NODE, LEAST_AT_NODE, CALLS_AT_NODE = 1.0, 0.25, 40
CHUNK_WORK = 10**8
MOST_DENSE = 150  # words up to which arrays of all siblings are made, even if few arcs are left
ROUNDS = 12  # of alternating maximisation
FEWER = 0.9  # arcs are left out for as long as less than this share of them is left every time


class Oracle(Protocol):
    """A best tree under these weights of arcs and all else that is scored but factors, its value or a bound of it, and the evidence; None
    if there is no tree, or none was found in time."""

    def __call__(self, weights: Scores, time_limit: float | None) -> tuple[Integers | None, float, Certificate]: ...


@dataclass(frozen=True, slots=True, eq=False)
class Backbone:
    """What finds the best tree without factors: the number of one that the kernel calls itself, or OTHER and a function."""

    kind: int
    chunk: int  # calls between two looks at the clock
    best: Oracle | None = None
    siblings: Scores = field(default_factory=lambda: np.zeros((0, 0, 0)))  # what SIBLING reads, and stops
    stops: Scores = field(default_factory=lambda: np.zeros((0, 0)))


def backbone_of(problem: Problem, allowed: Allowed, unit: float) -> Backbone:
    parts = set(problem.larger) - {"factors"}
    if not parts:  # by its work, so that answers do not depend on the clock
        return Backbone(EISNER if problem.projective else ARBORESCENCE, max(1, CHUNK_WORK // problem.n_words**3))
    n = problem.n_words
    if problem.projective and parts <= OF_SIBLINGS and n <= MOST_DENSE:
        siblings = np.zeros((n + 1,) * 3) if problem.siblings is None else problem.siblings.dense(n)
        stops = np.zeros((n + 1,) * 2) if problem.stops is None else problem.stops.dense(n)
        return Backbone(SIBLING, max(1, CHUNK_WORK // n**3), None, siblings, stops)
    if problem.projective and parts <= OF_GRANDSIBLINGS:
        return Backbone(OTHER, 1, dynamic_program(problem, allowed, parts))
    return Backbone(OTHER, 1, agreement_of(problem, unit))


def dynamic_program(problem: Problem, allowed: Allowed, parts: set[str]) -> Oracle:
    """Projective trees with larger parts."""
    n, single_root = problem.n_words, 1 if problem.single_root else 0
    heads = np.empty(n, dtype=np.int64)
    find: Callable[[Scores], float]
    if parts <= OF_OUTERMOST and not candidates_are_faster(problem, np.where(allowed, 0.0, -np.inf)):
        cube, table = np.zeros((n + 1,) * 3), np.zeros((n + 1,) * 2)
        siblings, outermost = (cube if given is None else given.dense(n) for given in (problem.siblings, problem.outermost))
        stops = table if problem.stops is None else problem.stops.dense(n)
        if problem.outermost is None:
            find = lambda weights: sibling_kernel(weights, siblings, stops, single_root, heads)  # noqa: E731
        else:
            find = lambda weights: outermost_kernel(weights, siblings, stops, outermost, single_root, heads)  # noqa: E731
    else:
        c = candidates_of(allowed, grand=bool(parts & {"grandparents", "outermost", "grandsiblings"}))
        scores, stops = scores_of_candidates(problem, np.where(allowed, 0.0, -np.inf), c)
        place, entry = entries(c.score_start, 0, 2 * n + 2)
        arc = c.modifier_start[place] + entry % np.diff(c.modifier_start)[place]
        of_heads, of_modifiers = c.heads[arc], c.modifiers[arc]

        def find(weights: Scores) -> float:
            with_arcs = scores + weights[of_heads, of_modifiers]
            value = grandsibling_kernel(
                c.contexts, c.modifier_start, c.modifiers, c.context, c.score_start, with_arcs, c.stop_start, stops, single_root, heads
            )
            return float(value)

    def best(weights: Scores, time_limit: float | None) -> tuple[Integers | None, float, Certificate]:
        value = float(find(weights))
        return None if value == -np.inf else heads, value, DynamicProgram()

    return best


def agreement_of(problem: Problem, unit: float) -> Oracle:
    """Dual decomposition as a backbone: the problem without factors and labels, with other arcs."""
    from zerogap.dependency.dual_decomposition import Agreement, agreed  # most do without
    from zerogap.dependency.head_scores import head_scores

    plain: Problem = object.__new__(Problem)
    for name in Problem.__slots__:
        object.__setattr__(plain, name, getattr(problem, name))
    for name, value in (("labels", None), ("label_names", None), ("factors", ())):
        object.__setattr__(plain, name, value)
    words = np.arange(1, problem.n_words + 1)

    def best(weights: Scores, time_limit: float | None) -> tuple[Integers | None, float, Certificate]:
        agreement = Agreement(head_scores(plain, weights), unit)

        def candidate(heads: Integers) -> Candidate:
            change = weights[heads, words].sum() - plain.arcs[heads, words].sum()
            return Candidate(heads.copy(), plain.score(plain.tree(heads)) + float(change))

        begin = time.perf_counter()
        closed = agreed(agreement, agreement.first_prices(weights), candidate, begin=begin, time_limit=time_limit)
        if closed.best is None:
            plainly = isinstance(closed.certificate, HeadPrices)  # there is no tree at any prices
            return None, closed.bound, agreement.evidence(agreement.first_prices(weights)) if plainly else closed.certificate
        return closed.best.structure, closed.bound, closed.certificate

    return best


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """One descent: the lowest bound, the shares that prove it, and the best tree above the floor."""

    bound: float
    shares: Scores
    rest: Certificate
    heads: Integers | None
    score: float  # of the tree, or the floor
    doubt: Scores  # (arcs,): the gaps of the factors around every arc


@dataclass(frozen=True, slots=True)
class Calls:
    """Calls of the oracle in a row: when they ended, and if it was at the root, the bounds and scores after each of them."""

    count: int
    seconds: float
    bounds: list[float]
    scores: list[float]


@dataclass(frozen=True, slots=True, eq=False)
class Closed:
    """Arcs that no tree above a threshold has, and the shares that prove it."""

    shares: FactorShares
    threshold: float
    arcs: tuple[int, ...]
    all_of_them: bool  # so no tree is above it


class Root(NamedTuple):
    """What the root comes to: shares among the arcs that are left, the best tree so far, and the arcs that were closed."""

    tables: FactorTables
    node: Node | None  # None if nothing better is left
    run: Run
    best: Candidate | None
    closed: list[Closed]


@dataclass(slots=True, eq=False)
class FactorSearch:
    """The relaxation of one sentence, and the calls of its oracle."""

    problem: Problem
    factors: Factors
    begin: float
    deadline: float
    calls: list[Calls] = field(default_factory=list)
    tables: FactorTables = field(init=False)
    backbone: Backbone = field(init=False)

    def open(self, allowed: Allowed) -> Node | None:
        """Goes on with these arcs; None if there is no tree of them."""
        self.tables = factor_tables(self.problem, self.factors, allowed)
        node = self.tables.node(allowed)
        if node is not None:
            self.backbone = backbone_of(self.problem, node.allowed, self.tables.unit)
        return node

    def at_root(self, *, narrow: bool) -> Root | None:
        """Shares at the root. With `narrow`, arcs that no better tree has are closed, and shares are sought again among the others: first
        with a core of likely arcs, if there are many. None if there is no tree."""
        left = self.factors.arcs > -np.inf
        best: Candidate | None = None
        closed = list[Closed]()
        extension = self.from_core(left) if narrow else None
        moved: Callable[[], Scores] | None = None
        if extension is not None:
            best, found = extension
            gone = self.narrowed(left, found.weights, found.constant, best.score)
            if gone is not None:
                closed.append(Closed(found.evidence(), best.score, tuple(gone.tolist()), len(gone) == np.count_nonzero(left)))
                left.reshape(-1)[gone] = False
                moved = lambda: found.moved_to(self.tables)  # noqa: E731
        bound = math.inf
        while True:
            node = self.open(left)
            if node is None:
                if best is None:
                    return None
                return Root(self.tables, None, Run(-math.inf, np.zeros(0), DynamicProgram(), None, best.score, np.zeros(0)), best, closed)
            shares = self.tables.first_shares() if moved is None else moved()
            run = self.run(
                node, shares, -math.inf if best is None else best.score, rate=RATE_AT_ROOT, least_rate=LEAST_AT_ROOT,
                most_calls=CALLS_AT_ROOT, rounds=ROUNDS if best is None else 0,
            )  # fmt: skip
            if run.heads is not None:
                best = Candidate(tuple(run.heads.tolist()), run.score)
            run = run if run.bound <= bound else Run(bound, shares, run.rest, run.heads, run.score, run.doubt)
            bound = run.bound
            if not narrow or best is None or not -math.inf < best.score < bound or time.perf_counter() >= self.deadline:
                return Root(self.tables, node, run, best, closed)
            gone = self.narrowed(node.allowed, *self.tables.weights(node, run.shares), best.score)
            if gone is None or not len(gone) or len(gone) < (1.0 - FEWER) * len(node.open_):
                return Root(self.tables, node, run, best, closed)
            evidence = self.tables.evidence(node, run.shares, DynamicProgram())
            closed.append(Closed(evidence, best.score, tuple(gone.tolist()), len(gone) == len(node.open_)))
            left = node.allowed.copy()
            left.reshape(-1)[gone] = False
            before, its_shares = self.tables.layout, run.shares
            moved = lambda: before.moved_to(self.tables, its_shares)  # noqa: B023, E731

    def from_core(self, allowed: Allowed) -> tuple[Candidate, Extension] | None:
        """The best tree of a core of likely arcs, and what its shares come to for all; None if all is core, or it says nothing."""
        if np.count_nonzero(allowed) < LEAST * (len(allowed) - 1):
            return None
        if self.factors.some_forbidden:
            return None  # the core might have no tree
        self.backbone = backbone_of(self.problem, allowed, self.problem.resolution)
        best_with = self.best_with(self.factors.arcs)
        if best_with is None:
            return None
        core = core_of(best_with, allowed)
        node = self.open(core)
        if node is None:
            return None
        run = self.run(
            node,
            self.tables.first_shares(),
            -math.inf,
            rate=RATE_AT_ROOT,
            least_rate=LEAST_AT_ROOT,
            most_calls=CALLS_AT_ROOT,
            rounds=ROUNDS,
        )
        if run.heads is None:
            return None
        found = extended(self.problem, self.factors, self.tables, node, run.shares)
        return None if found is None else (Candidate(tuple(run.heads.tolist()), run.score), found)

    def run(self, node: Node, shares: Scores, floor: float, *, rate: float, least_rate: float, most_calls: int, rounds: int = 0) -> Run:
        """Moves the shares from these until the bound is tight, at most `floor`, or no longer falls."""
        t, n, single_root = self.tables, self.problem.n_words, 1 if self.problem.single_root else 0
        result = np.zeros(N_RESULTS)
        result[BOUND], result[SCORE], result[RATE] = np.inf, floor, rate
        shares = shares.copy()
        best_shares, slope, doubt = shares.copy(), np.zeros(t.layout.n_shares), np.zeros((n + 1) ** 2)
        heads, tree = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
        choice, left = np.zeros(int(t.rest_start[-1]), dtype=np.int64), np.zeros(int(t.rest_start[-1]))
        chunk = min(most_calls, self.backbone.chunk)
        trace = np.empty((2, chunk))
        bounds, scores = list[float](), list[float]()
        best_rest: Certificate = DynamicProgram()

        def step(calls: int) -> int:
            before = int(result[CALLS])
            status = share_out(
                self.backbone.kind, single_root, self.backbone.siblings, self.backbone.stops, *t.arrays, node.arcs, node.open_start,
                node.open_, node.active, t.limit, t.largest, t.unit, t.grain, MEMORY, least_rate, 0 if before else rounds, calls, tree,
                shares, best_shares, slope, doubt, result, heads, choice, left, trace,
            )  # fmt: skip
            bounds.extend(trace[0, : int(result[CALLS]) - before].tolist())
            scores.extend(trace[1, : int(result[CALLS]) - before].tolist())
            return int(status)

        best = self.backbone.best
        if best is not None:
            step(0)
        while True:
            known = float(result[BOUND])
            if best is None:
                status = step(min(chunk, most_calls - int(result[CALLS])))
            else:
                limit = None if self.deadline == math.inf else max(self.deadline - time.perf_counter(), 0.0)
                found, value, evidence = best(t.weights(node, shares)[0], limit)
                if found is None:  # there is no tree, or none was found in time
                    result[BOUND] = value if value == -math.inf else known
                    best_rest, best_shares = (evidence, shares) if value == -math.inf else (best_rest, best_shares)
                    break
                tree[:], result[VALUE] = found, value
                status = step(1)
                if result[BOUND] < known:
                    best_rest = evidence
            if status != TIRED or result[RATE] < least_rate or result[CALLS] >= most_calls or time.perf_counter() >= self.deadline:
                break
        self.calls.append(Calls(max(int(result[CALLS]), 1), time.perf_counter() - self.begin, bounds, scores))
        score = float(result[SCORE])
        return Run(float(result[BOUND]), best_shares, best_rest, heads if score > floor else None, score, doubt)

    def split(self, node: Node, run: Run, *, around: bool) -> int | None:
        """The arc to branch on: the one with the largest gaps; `around` a tree that reaches the bound, one of its arcs (Lawler 1972)."""
        size = len(node.allowed)
        unsure = node.allowed & (node.allowed.sum(axis=0) > 1)
        doubt = np.where(unsure.reshape(-1), run.doubt, 0.0)
        if around or doubt.max(initial=0.0) == 0.0:
            words = np.flatnonzero(unsure.any(axis=0))
            if not len(words):
                return None
            m = int(words[0])
            return (int(run.heads[m - 1]) if run.heads is not None else int(np.flatnonzero(unsure[:, m])[0])) * size + m
        return int(doubt.argmax())

    def best_with(self, weights: Scores) -> Scores | None:
        """For every arc the value of a best tree that has it, under the weights of arcs and what the backbone scores besides; None if it
        has no max-marginals, or there is no tree."""
        best_with, single_root, kind = np.empty_like(weights), 1 if self.problem.single_root else 0, self.backbone.kind
        if kind == SIBLING:
            best = sibling_max_marginals(weights, self.backbone.siblings, self.backbone.stops, single_root, best_with)
        elif kind == OTHER:
            return None
        else:
            best = (projective_max_marginals if kind == EISNER else nonprojective_max_marginals)(weights, single_root, best_with)
        self.calls.append(Calls(1, time.perf_counter() - self.begin, [], []))
        return None if best == -np.inf else best_with

    def narrowed(self, allowed: Allowed, weights: Scores, constant: float, threshold: float) -> Integers | None:
        """The arcs that no tree above the threshold has under weights with shares; None if the backbone cannot tell."""
        best_with, grain = self.best_with(weights), self.tables.grain
        return None if best_with is None else np.flatnonzero(allowed & (np.floor((best_with + constant) / grain) * grain <= threshold))

    def trace(self, searched: Trace, since: float) -> Trace:
        """An entry for every call of the oracle: bounds and scores of the search are those of the node before."""
        bounds, scores, seconds = list[float](), list[float](), list[float]()
        for calls in self.calls:
            at = calls.seconds - since
            begun = seconds[-1] if seconds else 0.0
            if at <= 0.0 or not len(searched):
                bounds += calls.bounds or [math.inf] * calls.count
                scores += calls.scores or [-math.inf] * calls.count
            else:
                i = max(int(np.searchsorted(searched.seconds, at)) - 1, 0)
                bounds += [searched.bounds[i]] * calls.count
                scores += [searched.scores[i]] * calls.count
            count = len(bounds) - len(seconds)
            seconds += [begun + (calls.seconds - begun) * (j + 1) / count for j in range(count)]
        lowest, highest = np.minimum.accumulate(bounds), np.maximum.accumulate(scores)
        return Trace(tuple(lowest.tolist()), tuple(highest.tolist()), tuple(seconds))


def decode_with_factors(
    problem: Problem,
    arcs: Scores,
    labels: Integers | None,
    *,
    k: int = 1,
    order: str = "best-first",
    max_nodes: int | None = None,
    time_limit: float | None = None,
) -> Solution[Tree]:
    """The best tree, and with k above 1 the next best ones (section 5.2). `arcs` and `labels` (n + 1, n + 1) are the scores of arcs with
    their best labels, and those. The trace has an entry for every call of the oracle. Raises Infeasible if there is no tree.
    """
    begin = time.perf_counter()
    deadline = math.inf if time_limit is None else begin + time_limit
    search = FactorSearch(problem, possible_factors(problem, arcs), begin, deadline)
    found = search.at_root(narrow=k == 1)
    if found is None:
        raise no_tree(problem, arcs)
    tables, node, run, best, outer = found

    def solve(fixed: Fixed, warm: Any, incumbent: Candidate | None, left: float | None) -> Bounded:
        parent, parent_shares, parent_rest = warm
        inside = tables.node(decided(node.allowed, fixed)) if node is not None else None
        if inside is None:
            return Bounded(-math.inf, tables.evidence(None, parent_shares, DynamicProgram()), None, None)
        floor = -math.inf if incumbent is None else incumbent.score
        at = search.run(inside, parent_shares, floor, rate=RATE_AT_NODE, least_rate=LEAST_AT_NODE, most_calls=CALLS_AT_NODE)
        bound, shares, rest = (at.bound, at.shares, at.rest) if at.bound <= parent else (parent, parent_shares, parent_rest)
        found = None if at.heads is None else Candidate(tuple(at.heads.tolist()), at.score)
        part = search.split(inside, at, around=k > 1 and at.score >= bound) if bound > floor else None
        return Bounded(bound, lambda: tables.evidence(inside, shares, rest), found, part, (bound, shares, rest))

    split = None if node is None else search.split(node, run, around=k > 1 and run.score >= run.bound)
    top = Bounded(run.bound, lambda: tables.evidence(node, run.shares, run.rest), best, split, (run.bound, run.shares, run.rest))
    since = time.perf_counter() - begin
    limit = None if time_limit is None else max(deadline - time.perf_counter(), 0.0)
    searched = branch_and_bound(solve, root=top, incumbent=best, max_nodes=max_nodes, time_limit=limit, k=k, order=order)
    if searched.best is None and searched.bound == -math.inf:
        raise no_tree(problem, arcs)
    certificate: Certificate = searched.certificate if searched.n_nodes > 1 else searched.certificate.leaves[0].certificate
    for closed in reversed(outer):
        certificate = closed.shares if closed.all_of_them else Narrowed(closed.shares, closed.threshold, closed.arcs, certificate)
    trace = search.trace(searched.trace, since)
    return solution_of(problem, labels, searched.ranked, searched.bound, certificate, trace, k=k, complete=searched.complete)


def decided(allowed: Allowed, fixed: Fixed) -> Allowed:
    left = allowed.copy()
    for part, inside in fixed:
        h, m = divmod(part, len(left))
        if inside:
            left[:, m] &= np.arange(len(left)) == h
        else:
            left[h, m] = False
    return left


def solution_of(
    problem: Problem, labels: Integers | None, ranked: tuple[Candidate, ...], bound: float, certificate: Certificate, trace: Trace, *,
    k: int, complete: bool,
) -> Solution[Tree]:  # fmt: skip
    if not ranked:
        return Solution(None, -math.inf, bound, certificate, trace, None if k > 1 else ())
    heads = np.array(ranked[0].structure, dtype=np.int64)
    words = np.arange(1, problem.n_words + 1)
    structure = problem.tree(heads, None if labels is None else labels[heads, words])
    score = problem.score(structure)
    solution: Solution[Tree] = Solution(structure, score, bound, certificate, trace)
    if k == 1:
        return solution
    if not complete:
        return Solution(structure, score, bound, certificate, trace, None)
    trees = iter([(np.array(candidate.structure, dtype=np.int64), candidate.score) for candidate in ranked])
    others = [other for other, _ in itertools.islice(labelled_trees(problem, trees), k) if other != structure]
    return Solution(structure, score, bound, certificate, trace, tuple((other, problem.score(other)) for other in others[: k - 1]))


def no_tree(problem: Problem, arcs: Scores) -> Infeasible:
    from zerogap.dependency.dual_decomposition import no_tree as why  # only where it is needed

    return why(problem, arcs)
