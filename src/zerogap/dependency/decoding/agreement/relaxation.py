"""Prices on arcs that make a tree and the automata of all heads of one sentence agree (Rush 2014, sections 6.4 and 6.5).

The loop is a kernel (`oracles.heads.agreement`); here are where prices begin, which arcs it may use, what it found, and the reduced costs
of arcs at its prices.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import compress
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zerogap.dependency.decoding.agreement.head_scores import HeadScores, most_added
from zerogap.grid import Integers, Scores
from zerogap.oracles.descent import Steps
from zerogap.oracles.heads.agreement import (
    AGREED,
    BEATEN,
    BOUND,
    BY_HEAD,
    BY_MODIFIER,
    DECODED,
    IN_TREE,
    ITERATIONS,
    N_RESULTS,
    RATE,
    SCORE,
    TIRED,
    Outcome,
    agree,
)
from zerogap.oracles.heads.automata import CLOSED, OPEN, PROJECTIVE, REQUIRED, SINGLE_ROOT
from zerogap.oracles.heads.reduced_costs import automata_slacks
from zerogap.oracles.trees.nonprojective_marginals import nonprojective_max_marginals
from zerogap.oracles.trees.projective_marginals import projective_max_marginals
from zerogap.proof.certificate import HeadPrices
from zerogap.proof.solution import Trace
from zerogap.relax.descent import Fixed
from zerogap.relax.steps import HEADS_IN_TRAINING, ONCE
from zerogap.relax.watching import Step, watcher

CHUNK = 1000  # most iterations between two looks at the clock
CHUNK_SCORES = 10**8  # and most scores that they may have to read: a number of its own, so that answers do not depend on the clock
EXACT_BITS = 51  # prices beyond so many bits of the unit would leave no room for sums that are exact


@dataclass(slots=True, eq=False)
class Agreement:
    """The relaxation of one sentence: `run` lowers the bound from some prices, within some arcs. Prices are multiples of `unit`."""

    scores: HeadScores
    unit: float
    iterations: int = 0
    decoded: int = 0  # automata, all together
    numbers: list[int] = field(default_factory=list)  # of arcs in certificates
    score_more: Callable[[Run], bool] | None = None  # scores parts that had bounds, those of its tree first; whether there were any

    @property
    def heads(self) -> Integers:
        return self.scores.candidates.heads

    @property
    def modifiers(self) -> Integers:
        return self.scores.candidates.modifiers

    def first_prices(self, arcs: Scores) -> Scores:
        """The scores of arcs: the tree begins with them all, and heads with the larger parts."""
        prices = np.zeros((2, len(self.modifiers)))
        prices[0] = arcs[self.heads, self.modifiers]
        return prices

    def most_prices(self, arcs: Scores) -> Scores:
        """The tree begins with the most that an arc can bring: the gap is small at once, which suits Polyak's steps and no others."""
        prices = self.first_prices(arcs)
        most_added(self.scores.automata, prices[0])
        return prices

    def state(self, fixed: Fixed, before: Integers | None = None) -> Integers:
        """Which arcs are closed, open or required after these decisions; `before` is the state without them, all open unless given."""
        state = np.full(len(self.modifiers), OPEN) if before is None else before.copy()
        for part, inside in fixed:
            h, m = divmod(part, self.scores.n_words + 1)
            here = (self.heads == h) & (self.modifiers == m)
            if inside:
                state[(self.modifiers == m) & ~here] = CLOSED
                state[here] = np.where(state[here] == CLOSED, CLOSED, REQUIRED)
            else:
                state[here] = CLOSED
        return state

    def run(self, state: Integers, prices: Scores, floor: float, steps: Steps, deadline: float = math.inf) -> Run:
        """Steps from `prices`, which are changed, until agreement, a bound of at most `floor`, or a limit. What `score_more` scores may
        make the tree worse that was found; then prices are sought again."""
        run = self.descend(state, prices, floor, steps, deadline)
        while self.score_more is not None and run.heads is not None and self.score_more(run):
            again = self.descend(state, run.prices.copy(), floor, steps, deadline)
            bounds = [min(bound, run.bound) for bound in again.bounds]
            run = again._replace(bounds=run.bounds + bounds, scores=run.scores + again.scores, seconds=run.seconds + again.seconds)
        return run

    def descend(self, state: Integers, prices: Scores, floor: float, steps: Steps, deadline: float = math.inf) -> Run:
        """The same, for what is scored now."""
        n, n_arcs = self.scores.n_words, len(self.modifiers)
        chunk = min(steps.most, CHUNK, max(1, CHUNK_SCORES // max(self.scores.size, 1)))
        is_watched, watched = watcher() is not None, list[Integers]()
        out = Outcome(
            prices, best_prices=np.empty((2, n_arcs)), best_heads=np.empty(n, dtype=np.int64), disputed=np.zeros(n_arcs, dtype=np.int64),
            choices=np.empty((3 + chunk * is_watched, n_arcs), dtype=np.int64), result=np.zeros(N_RESULTS), trace=np.empty((2, chunk)),
        )  # fmt: skip
        automata, result = self.scores.automata, out.result
        bound, lowest, found, remaining = math.inf, out.best_prices, floor, steps.most
        bounds, scores, seconds = list[float](), list[float](), list[tuple[int, float]]()
        first = prices.copy()
        most = max(math.ldexp(self.unit, EXACT_BITS), 4.0 * float(np.abs(first).sum()))
        while True:
            status = agree(automata, state, found, self.unit, steps._replace(most=min(remaining, chunk)), out)
            done = int(result[ITERATIONS])
            if is_watched:
                watched.extend(out.choices[3 : 3 + done].copy())
            bounds += out.trace[0, :done].tolist() if bound == math.inf else np.minimum(out.trace[0, :done], bound).tolist()
            scores += out.trace[1, :done].tolist()
            seconds.append((done, time.perf_counter()))
            self.iterations += done
            self.decoded += int(result[DECODED])
            remaining -= done
            found = float(result[SCORE])
            if np.abs(out.best_prices).sum() > most:  # where there is no tree, prices grow for ever
                cut_off = self.descend(state, first if bound == math.inf else lowest, -math.inf, ONCE)  # where sums are still exact
                return cut_off._replace(bounds=[max(bound, cut_off.bound) for bound in bounds], scores=scores, seconds=seconds)
            if result[BOUND] < bound:
                bound, lowest = float(result[BOUND]), out.best_prices.copy()
            steps = steps._replace(rate=float(result[RATE]))
            if status != TIRED or remaining <= 0 or steps.rate < steps.least_rate or seconds[-1][1] >= deadline:
                break
        tree = out.best_heads if found > floor else None
        lowest = lowest if bound < math.inf else prices
        return Run(status, bound, lowest, tree, found, out.disputed, out.choices[:3], bounds, scores, seconds, watched)

    def tried(self, arcs: Scores) -> Run:
        """As many steps as training takes."""
        return self.run(self.state(()), self.first_prices(arcs), -math.inf, HEADS_IN_TRAINING)

    def choice(self, run: Run | None = None) -> tuple[NDArray[np.bool_], Integers]:
        """What heads chose in the end: modifiers (n + 1, n + 1), and their own heads, 0 if nobody asks. Without a run, at no prices."""
        n, n_arcs = self.scores.n_words, len(self.modifiers)
        if run is None:
            run = self.run(self.state(()), np.zeros((2, n_arcs)), -math.inf, ONCE)
        chosen, heads = np.zeros((n + 1, n + 1), dtype=np.bool_), np.zeros(n, dtype=np.int64)
        down, up = np.flatnonzero(run.choices[1]), np.flatnonzero(run.choices[2])
        chosen[self.heads[down], self.modifiers[down]] = True
        heads[self.modifiers[up] - 1] = self.heads[up]
        return chosen, heads

    def possible(self, state: Integers, prices: Scores, threshold: float) -> Integers | None:
        """The state without the open arcs that no tree above the threshold has, by reduced costs; None if there are none.

        A tree with an arc scores at most the bound, less what the tree, the arc's head and its modifier lose at these prices.
        """
        n = self.scores.n_words
        slacks = np.full((2, len(self.modifiers)), np.inf)
        if not automata_slacks(self.scores.automata, state, prices, slacks):
            return None
        grand = self.scores.candidates.grand
        weights = np.full((n + 1, n + 1), -np.inf)
        left = state != CLOSED
        weights[self.heads[left], self.modifiers[left]] = (prices[0] + prices[1] if grand else prices[0])[left]
        best_with = np.empty_like(weights)
        find = projective_max_marginals if self.scores.flags & PROJECTIVE else nonprojective_max_marginals
        best = find(weights, 1 if self.scores.flags & SINGLE_ROOT else 0, best_with)
        bound = self.bound(state, prices) - slacks.sum(axis=0) - (best - best_with[self.heads, self.modifiers])
        gone = (state == OPEN) & (bound <= threshold)
        return np.where(gone, CLOSED, state) if gone.any() else None

    def bound(self, state: Integers, prices: Scores) -> float:
        """The dual at these prices."""
        return self.run(state, prices.copy(), -math.inf, ONCE).bound

    def tell(self, run: Run, trace: Trace) -> None:
        """Tells whoever watches what tree and heads chose in every iteration."""
        tell = watcher()
        if tell is None:
            return
        arcs = np.stack([self.heads, self.modifiers], axis=1)
        for step, bound, score in zip(run.steps, trace.bounds, trace.scores, strict=False):
            of_tree, of_heads = step & IN_TREE > 0, step & BY_HEAD > 0
            tree = np.zeros(self.scores.n_words, dtype=np.int64)
            tree[self.modifiers[of_tree] - 1] = self.heads[of_tree]
            only_tree = of_tree & ~(of_heads & (step & BY_MODIFIER > 0)) if self.scores.candidates.grand else of_tree & ~of_heads
            only_heads = ~of_tree & (step & (BY_HEAD | BY_MODIFIER) > 0)
            found = {"tree": tree.tolist(), "only_tree": arcs[only_tree].tolist(), "only_heads": arcs[only_heads].tolist()}
            tell(Step("iteration", bound, score, found))

    def part(self, arc: int) -> int:
        """The number of an arc in a certificate."""
        return int(self.heads[arc] * (self.scores.n_words + 1) + self.modifiers[arc])

    def evidence(self, prices: Scores, state: Integers | None = None) -> HeadPrices:
        """Closed arcs need no prices: nobody may choose them. (Numbers of arcs are the same objects in all leaves of a search.)"""
        if not self.numbers:
            self.numbers = (self.heads * (self.scores.n_words + 1) + self.modifiers).tolist()
        down, up = prices.tolist()
        if state is None:
            return HeadPrices(tuple(self.numbers), tuple(down), tuple(up))
        needed = (state != CLOSED).tolist()
        return HeadPrices(tuple(compress(self.numbers, needed)), tuple(compress(down, needed)), tuple(compress(up, needed)))


class Run(NamedTuple):
    """What steps came to."""

    status: int
    bound: float
    prices: Scores  # of the bound
    heads: Integers | None  # a tree that beats the floor
    score: float  # of that tree, or the floor
    disputed: Integers
    choices: Integers
    bounds: list[float]  # the lowest one, and the highest score, after every iteration
    scores: list[float]
    seconds: list[tuple[int, float]]
    steps: Sequence[Integers] = ()  # if somebody watches: who wants which arcs, after every iteration
    is_over: bool = True  # False if there are more steps to take

    @property
    def is_agreed(self) -> bool:
        """Whether there is a proof."""
        return self.status in (AGREED, BEATEN)

    def trace(self, begin: float, bound: float = math.inf, floor: float = -math.inf) -> Trace:
        """Of every iteration, after a bound that is known; if it was among the trees above a floor, other trees are no better than that.

        Times between two looks at the clock are interpolated.
        """
        times: list[float] = []
        before = begin
        for done, now in self.seconds:
            each, elapsed = (now - before) / max(done, 1), before - begin
            times += [elapsed + each * i for i in range(1, done + 1)]
            before = now
        bounds = self.bounds if bound == math.inf else [max(min(bound, b), floor) for b in self.bounds]
        return Trace(tuple(bounds), tuple(self.scores), tuple(times))
