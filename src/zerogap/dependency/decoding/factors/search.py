"""The bound of trees with factors at one node (Qian & Liu 2013): scores of factors are shared out among arcs, and a backbone bounds.

Shares are moved until the bound is tight or no longer falls (`oracles.factors.shares`); at the root, arcs that no better tree has are left
out by their max-marginals under the shares, where the backbone has such, and shares are sought again among the others.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from zerogap.dependency.decoding.factors.backbone import Backbone, backbone_of
from zerogap.dependency.decoding.factors.core import LEAST, Extension, core_of, extended
from zerogap.dependency.decoding.factors.sets import Allowed, Factors, Integers
from zerogap.dependency.decoding.factors.tables import FactorTables, Node, factor_tables
from zerogap.grid import Scores
from zerogap.oracles.factors.shares import BOUND, CALLS, N_RESULTS, OTHER, RATE, SCORE, TIRED, VALUE, share_out
from zerogap.problems.dependency.problem import Problem
from zerogap.proof.certificate import Certificate, DynamicProgram, FactorShares
from zerogap.proof.solution import Trace
from zerogap.relax.candidate import Candidate

MEMORY = 0.3  # how much of the average of subgradients is kept at every step
RATE_AT_ROOT, LEAST_AT_ROOT, CALLS_AT_ROOT = 1.0, 0.06, 150
ROUNDS = 12  # of alternating maximisation
FEWER = 0.9  # arcs are left out for as long as less than this share of them is left every time


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
    backbone: Backbone = field(default=None)  # type: ignore[assignment]  # until it is chosen

    def open(self, allowed: Allowed) -> Node | None:
        """Goes on with these arcs; None if there is no tree of them."""
        self.tables = factor_tables(self.problem, self.factors, allowed)
        node = self.tables.node(allowed)
        if node is not None:
            self.choose(node.allowed, self.tables.unit)
        return node

    def choose(self, allowed: Allowed, unit: float) -> None:
        """The backbone for these arcs: one that the kernel calls is the same for all."""
        if self.backbone is None or self.backbone.kind == OTHER:
            self.backbone = backbone_of(self.problem, allowed, unit)

    def at_root(self, *, narrow: bool) -> Root | None:
        """Shares at the root. With `narrow`, arcs that no better tree has are closed, and shares are sought again among the others: first
        with a core of likely arcs, if there are many. None if there is no tree."""
        left = self.factors.arcs > -np.inf
        best: Candidate | None = None
        closed = list[Closed]()
        extension = self.from_core(left) if narrow else None
        moved: Callable[[], tuple[Scores, bool]] | None = None
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
            shares, same = (self.tables.first_shares(), True) if moved is None else moved()
            bound = bound if same else math.inf  # it was that of other shares
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
        self.choose(allowed, self.problem.resolution)
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
        of_core = self.calls.pop()  # a bound on trees of the core bounds no others: the trace has none yet
        self.calls.append(replace(of_core, bounds=[math.inf] * of_core.count))
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
        if self.backbone.kind == OTHER:
            return None
        best_with = self.backbone.best_with(weights, single_root=self.problem.single_root)
        self.calls.append(Calls(1, time.perf_counter() - self.begin, [], []))
        return best_with

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
        # trees that were screened out score no more than the best one so far
        return Trace(tuple(np.maximum(lowest, highest).tolist()), tuple(highest.tolist()), tuple(seconds))
