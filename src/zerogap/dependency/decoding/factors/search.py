"""The bound of trees with factors at one node (Qian & Liu 2013): scores of factors are shared out among arcs, and a backbone bounds.

Shares are moved until the bound is tight or no longer falls (`oracles.factors.shares`); at the root, arcs that no better tree has are left
out by their max-marginals under the shares, where the backbone has such, and shares are sought again among the others.

With all arcs of a sentence there are a hundred times as many factors of two arcs as with the likeliest heads of every word, and few of
them matter. So shares are sought for a core first: the heads of every word that are best without factors, by max-marginals of the
backbone. They go on to the arcs outside, so that no arc of the core weighs more (`oracles.factors.extension`); a positive factor with an
arc outside is all that arc's, a negative one is nobody's. Then the max-marginals of all arcs under these shares say which of them a
better tree than the best of the core may have: few, or none.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from zerogap.dependency.decoding.factors.backbone import Backbone, backbone_of
from zerogap.dependency.decoding.factors.tables import FactorTables, OpenArcs, evidence_of, factor_tables, moved_to
from zerogap.grid import MANTISSA_BITS, Flags, Integers, Scores
from zerogap.oracles.descent import Steps
from zerogap.oracles.factors.extension import extend
from zerogap.oracles.factors.layout import Layout, Shares
from zerogap.oracles.factors.lists import Factors
from zerogap.oracles.factors.shares import (
    BOUND,
    CALLS,
    N_RESULTS,
    OTHER,
    RATE,
    SCORE,
    TIRED,
    VALUE,
    Outcome,
    TreeOracle,
    share_out,
)  # fmt: skip
from zerogap.oracles.trees.best_heads import keep_best
from zerogap.problems.dependency.problem import Problem
from zerogap.proof.certificate import Certificate, DynamicProgram, FactorShares, Narrowed
from zerogap.proof.solution import Trace
from zerogap.relax.candidate import Candidate
from zerogap.relax.descent import Bounded, Fixed, Screen
from zerogap.relax.steps import FACTORS_AT_NODE, FACTORS_AT_ROOT

CORE = 4  # heads of every word
LEAST = 8  # heads of a word, on average, for a core to be worth it
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
class Extension:
    """Shares for all arcs: the arcs with them, the constant, and what proves it."""

    weights: Scores
    constant: float
    layout: Layout
    shares: Scores
    allowed: Flags
    unit: float

    def moved_to(self, tables: FactorTables) -> tuple[Scores, bool]:
        """The same shares for tables of fewer arcs."""
        return moved_to(self.layout, self.shares, tables)

    def evidence(self) -> FactorShares:
        return evidence_of(self.layout, self.allowed, self.layout.number, self.shares, self.unit, DynamicProgram())


def core_of(best_with: Scores, allowed: Flags) -> Flags:
    """The heads of every word that are in the best trees, by max-marginals without factors; they hold those of a best tree."""
    core = np.empty_like(allowed)
    keep_best(best_with, allowed, CORE, core)
    return core


def extended(problem: Problem, factors: Factors, tables: FactorTables, left: OpenArcs, shares: Scores) -> Extension | None:
    """The shares of a core for all arcs; None if sums with them would not be exact."""
    first, second, head_start, head, share_start, of_all, weights, constant, total = extend(
        factors, left.allowed, tables.layout, left.node.active, shares, 1 if problem.projective else 0, 1 if problem.single_root else 0,
        tables.grid.limit,
    )  # fmt: skip
    if not problem.terms * problem.largest + total < math.ldexp(tables.grid.unit, MANTISSA_BITS):
        return None
    layout = Layout(first, second, head_start, head, share_start, factors.start, factors.phi, np.arange(len(factors.phi)))
    return Extension(weights, constant, layout, of_all, factors.arcs > -np.inf, tables.grid.unit)


@dataclass(slots=True, eq=False)
class FactorSearch:
    """The factors of one sentence, and the calls of its oracle."""

    problem: Problem
    factors: Factors
    begin: float
    deadline: float
    calls: list[Calls] = field(default_factory=list)
    tables: FactorTables = field(init=False)
    left: OpenArcs | None = None  # at the root
    searching_since: float = 0.0  # seconds after the beginning
    backbone: Backbone = field(default=None)  # type: ignore[assignment]  # until it is chosen

    def open(self, allowed: Flags) -> OpenArcs | None:
        """Goes on with these arcs; None if there is no tree of them."""
        self.tables = factor_tables(self.problem, self.factors, allowed)
        self.left = self.tables.node(allowed)
        if self.left is not None:
            self.choose(self.left.allowed, self.tables.grid.unit)
        return self.left

    def choose(self, allowed: Flags, unit: float) -> None:
        """The backbone for these arcs: one that the kernel calls is the same for all."""
        if self.backbone is None or self.backbone.kind == OTHER:
            self.backbone = backbone_of(self.problem, allowed, unit)

    def from_core(self, allowed: Flags) -> tuple[Candidate, Extension] | None:
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
        left = self.open(core)
        if left is None:
            return None
        run = self.run(left, self.tables.first_shares(), -math.inf, FACTORS_AT_ROOT, rounds=ROUNDS)
        of_core = self.calls.pop()  # a bound on trees of the core bounds no others: the trace has none yet
        self.calls.append(replace(of_core, bounds=[math.inf] * of_core.count))
        if run.heads is None:
            return None
        found = extended(self.problem, self.factors, self.tables, left, run.shares)
        return None if found is None else (Candidate(tuple(run.heads.tolist()), run.score), found)

    def run(self, left: OpenArcs, shares: Scores, floor: float, steps: Steps, *, rounds: int = 0) -> Run:
        """Moves the shares from these until the bound is tight, at most `floor`, or no longer falls."""
        t, n = self.tables, self.problem.n_words
        entries = int(t.tables.rest_start[-1])
        now = Shares(shares.copy(), np.zeros(entries), np.zeros(entries, dtype=np.int64))
        out = Outcome(
            best_shares=now.shares.copy(), slope=np.zeros(len(shares)), doubt=np.zeros((n + 1) ** 2), result=np.zeros(N_RESULTS),
            best_heads=np.zeros(n, dtype=np.int64), trace=np.empty((2, min(steps.most, self.backbone.chunk))),
        )  # fmt: skip
        result = out.result
        result[BOUND], result[SCORE], result[RATE] = np.inf, floor, steps.rate
        tree = np.zeros(n, dtype=np.int64)
        oracle = TreeOracle(self.backbone.kind, 1 if self.problem.single_root else 0, self.backbone.siblings, self.backbone.stops, tree)
        bounds, scores = list[float](), list[float]()
        best_shares = out.best_shares
        best_rest: Certificate = DynamicProgram()

        def step(calls: int) -> int:
            before = int(result[CALLS])
            status = share_out(oracle, t.layout, t.tables, left.node, t.grid, steps._replace(most=calls), 0 if before else rounds, now, out)
            bounds.extend(out.trace[0, : int(result[CALLS]) - before].tolist())
            scores.extend(out.trace[1, : int(result[CALLS]) - before].tolist())
            return int(status)

        best = self.backbone.best
        if best is not None:
            step(0)
        while True:
            known = float(result[BOUND])
            if best is None:
                status = step(min(out.trace.shape[1], steps.most - int(result[CALLS])))
            else:
                limit = None if self.deadline == math.inf else max(self.deadline - time.perf_counter(), 0.0)
                found, value, evidence = best(t.weights(left, now.shares)[0], limit)
                if found is None:  # there is no tree, or none was found in time
                    result[BOUND] = value if value == -math.inf else known
                    best_rest, best_shares = (evidence, now.shares) if value == -math.inf else (best_rest, best_shares)
                    break
                tree[:], result[VALUE] = found, value
                status = step(1)
                if result[BOUND] < known:
                    best_rest = evidence
            if status != TIRED or result[RATE] < steps.least_rate or result[CALLS] >= steps.most or time.perf_counter() >= self.deadline:
                break
        self.calls.append(Calls(max(int(result[CALLS]), 1), time.perf_counter() - self.begin, bounds, scores))
        score = float(result[SCORE])
        return Run(float(result[BOUND]), best_shares, best_rest, out.best_heads if score > floor else None, score, out.doubt)

    def split(self, allowed: Flags, run: Run, *, around: bool) -> int | None:
        """The arc to branch on: the one with the largest gaps; `around` a tree that reaches the bound, one of its arcs (Lawler 1972)."""
        size = len(allowed)
        unsure = allowed & (allowed.sum(axis=0) > 1)
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

    def narrowed(self, allowed: Flags, weights: Scores, constant: float, threshold: float) -> Integers | None:
        """The arcs that no tree above the threshold has under weights with shares; None if the backbone cannot tell."""
        best_with, grain = self.best_with(weights), self.tables.grid.grain
        return None if best_with is None else np.flatnonzero(allowed & (np.floor((best_with + constant) / grain) * grain <= threshold))

    def trace(self, searched: Trace) -> Trace:
        """An entry for every call of the oracle: bounds and scores of the search are those of the node before."""
        bounds, scores, seconds = list[float](), list[float](), list[float]()
        for calls in self.calls:
            at = calls.seconds - self.searching_since
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


@dataclass(frozen=True, slots=True, eq=False)
class FactorRelaxation:
    """Factors shared out among arcs, as a relaxation: see `relax.descent`. What descents are handed on is the bound, the shares that prove
    it, and the evidence of the backbone.

    At the root, arcs that no better tree has are closed, and shares are sought again among the others, as long as that helps; below, the
    arc is branched on with the largest gaps of the factors around it (section 3.3), and children begin with the shares of their parent
    (4.4).
    """

    search: FactorSearch
    allowed: Flags
    k: int
    shares: Callable[[FactorTables], tuple[Scores, bool]] | None = None  # those before screening, and whether all went over
    above: float = math.inf  # the bound that they proved

    def solve(self, fixed: Fixed, warm: Any, incumbent: Candidate | None, deadline: float) -> Bounded:
        search = self.search
        floor = -math.inf if incumbent is None else incumbent.score
        if fixed:
            assert search.left is not None
            left = search.tables.node(decided(search.left.allowed, fixed))
            if left is None:
                return Bounded(-math.inf, search.tables.evidence(None, warm[1], DynamicProgram()), None, None)
            run = search.run(left, warm[1], floor, FACTORS_AT_NODE)
            proven = (run.bound, run.shares, run.rest) if run.bound <= warm[0] else warm
        else:
            left = search.open(self.allowed)
            if left is None:
                return Bounded(-math.inf, search.tables.evidence(None, np.zeros(0), DynamicProgram()), None, None)
            shares, is_same = (search.tables.first_shares(), True) if self.shares is None else self.shares(search.tables)
            run = search.run(left, shares, floor, FACTORS_AT_ROOT, rounds=ROUNDS if incumbent is None else 0)
            is_better = run.bound <= self.above or not is_same  # else the bound was that of other shares
            proven = (run.bound, run.shares, run.rest) if is_better else (self.above, shares, run.rest)
            search.searching_since = time.perf_counter() - search.begin
        tables, bound = search.tables, proven[0]
        found = None if run.heads is None else Candidate(tuple(run.heads.tolist()), run.score)
        is_open = bound > floor or not fixed
        part = search.split(left.allowed, run, around=self.k > 1 and run.score >= bound) if is_open else None
        return Bounded(bound, lambda: tables.evidence(left, *proven[1:]), found, part, proven)

    def screen(self, top: Bounded, threshold: float) -> Screen | None:
        search, (bound, shares, _) = self.search, top.warm
        left, tables = search.left, search.tables
        assert left is not None
        gone = search.narrowed(left.allowed, *tables.weights(left, shares), threshold)
        search.searching_since = time.perf_counter() - search.begin
        if gone is None or not len(gone) or len(gone) < (1.0 - FEWER) * len(left.node.open_):
            return None
        evidence = tables.evidence(left, shares, DynamicProgram())
        return self.without(gone, left.allowed, evidence, threshold, lambda its: moved_to(tables.layout, shares, its), bound)

    def without(
        self, gone: Integers, allowed: Flags, evidence: FactorShares, threshold: float,
        shares: Callable[[FactorTables], tuple[Scores, bool]], above: float = math.inf,
    ) -> Screen:  # fmt: skip
        """The relaxation of the other arcs; where none is left, the shares prove all."""
        left, arcs = allowed.copy(), tuple(gone.tolist())
        left.reshape(-1)[gone] = False

        def wrap(certificate: Certificate) -> Certificate:
            return Narrowed(evidence, threshold, arcs, certificate) if len(arcs) < np.count_nonzero(allowed) else evidence

        return Screen(replace(self, allowed=left, shares=shares, above=above), wrap, None, len(arcs))

    def from_core(self) -> tuple[Candidate, Screen] | None:
        """The best tree of a core of likely arcs, and what is left of all arcs by its shares; None if they say nothing."""
        found = self.search.from_core(self.allowed)
        if found is None:
            return None
        best, of_all = found
        gone = self.search.narrowed(self.allowed, of_all.weights, of_all.constant, best.score)
        return None if gone is None else (best, self.without(gone, self.allowed, of_all.evidence(), best.score, of_all.moved_to))


def decided(allowed: Flags, fixed: Fixed) -> Flags:
    left = allowed.copy()
    for part, inside in fixed:
        h, m = divmod(part, len(left))
        if inside:
            left[:, m] &= np.arange(len(left)) == h
        else:
            left[h, m] = False
    return left
