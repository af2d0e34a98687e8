"""Trees with siblings, grandparents and both, projective or not, by dual decomposition, and to the end (Rush 2014, chapter 6).

A tree and the automata of all heads are made to agree by prices on arcs (`oracles.head_automata`). Where they do not agree, which is
on few sentences of a trained model, arcs are left out that no better tree can have, by their reduced costs; and then branch and bound
goes on: an arc is required or forbidden, and the prices of the parent are where the children begin. So every sentence ends with a proof,
unless a limit is reached before.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zerogap.dependency.dense_agreement import AtOnce, agree_at_once
from zerogap.dependency.head_scores import HeadScores, head_scores, most_added
from zerogap.dependency.problem import Problem, Tree
from zerogap.errors import Infeasible, InputError
from zerogap.grid import Scores
from zerogap.oracles.arborescence import maximum_arborescence
from zerogap.oracles.eisner import eisner
from zerogap.oracles.head_automata import (
    AGREED,
    BEATEN,
    BOUND,
    BY_HEAD,
    BY_MODIFIER,
    CLOSED,
    DECODED,
    EMPTY,
    IN_TREE,
    ITERATIONS,
    N_RESULTS,
    OPEN,
    PROJECTIVE,
    RATE,
    REQUIRED,
    SCORE,
    SINGLE_ROOT,
    TIRED,
    agree,
)
from zerogap.oracles.head_slacks import automata_slacks
from zerogap.oracles.matrix_tree import nonprojective_max_marginals
from zerogap.oracles.tree_marginals import projective_max_marginals
from zerogap.proof.certificate import Certificate, HeadPrices, Screened
from zerogap.proof.solution import Solution, Trace
from zerogap.relax.branching import Bounded, Fixed, better, branch_and_bound
from zerogap.relax.closing import Closed
from zerogap.relax.lagrangian import Candidate
from zerogap.relax.watching import Step, watcher

Integers = NDArray[np.int64]

MAX_ITERATIONS = 5000  # as in the thesis
STEPS = ("polyak", "decreasing", "scaled")  # numbers of rules of the kernel
CHUNK = 1000  # most iterations between two looks at the clock
CHUNK_SCORES = 10**8  # and most scores that they may have to read: a number of its own, so that answers do not depend on the clock
FIRST_RATE, LEAST_RATE = 1.5, 0.05
TRIES = 200  # iterations in training
EXACT_BITS = 51  # prices beyond so many bits of the unit would leave no room for sums that are exact
NODE_ITERATIONS, NODE_RATE, NODE_LEAST_RATE, NODE_RULE = 60, 1.5, 0.1, 0


@dataclass(slots=True, eq=False)
class Agreement:
    """The relaxation of one sentence: `run` lowers the bound from some prices, within some arcs. Prices are multiples of `unit`."""

    scores: HeadScores
    unit: float
    iterations: int = 0
    decoded: int = 0  # automata, all together

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
        prices, scores = self.first_prices(arcs), self.scores
        c = scores.candidates
        most_added(
            scores.flags, c.contexts, c.modifier_start, scores.pairs, scores.pair_start, scores.stops, scores.grand, c.grand_start,
            prices[0],
        )  # fmt: skip
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

    def run(
        self,
        state: Integers,
        prices: Scores,
        floor: float,
        *,
        rate: float,
        least_rate: float,
        rule: int,
        max_iterations: int,
        deadline: float,
    ) -> Run:
        """Steps from `prices`, which are changed, until agreement, a bound of at most `floor`, or a limit."""
        n, n_arcs = self.scores.n_words, len(self.modifiers)
        disputed = np.zeros(n_arcs, dtype=np.int64)
        best_prices, heads, result = np.empty((2, n_arcs)), np.empty(n, dtype=np.int64), np.zeros(N_RESULTS)
        chunk = min(CHUNK, max(1, CHUNK_SCORES // max(self.scores.size, 1)))
        trace = np.empty((2, min(max_iterations, chunk)))
        is_watched, steps = watcher() is not None, list[Integers]()
        choices = np.empty((3 + trace.shape[1] * is_watched, n_arcs), dtype=np.int64)
        bound, lowest, found = math.inf, best_prices, floor
        bounds, scores, seconds = list[float](), list[float](), list[tuple[int, float]]()
        arrays, first = self.scores.arrays, prices.copy()
        most = max(math.ldexp(self.unit, EXACT_BITS), 4.0 * float(np.abs(first).sum()))
        while True:
            room = min(max_iterations, chunk)
            status = agree(
                *arrays, state, found, rate, least_rate, rule, room, self.unit, prices, best_prices, heads, disputed,
                choices, result, trace,
            )  # fmt: skip
            done = int(result[ITERATIONS])
            if is_watched:
                steps.extend(choices[3 : 3 + done].copy())
            bounds += trace[0, :done].tolist() if bound == math.inf else np.minimum(trace[0, :done], bound).tolist()
            scores += trace[1, :done].tolist()
            seconds.append((done, time.perf_counter()))
            self.iterations += done
            self.decoded += int(result[DECODED])
            max_iterations -= done
            found = float(result[SCORE])
            if np.abs(best_prices).sum() > most:  # where there is no tree, prices grow for ever
                return self.cut_off(state, first if bound == math.inf else lowest, bounds, scores, seconds)
            if result[BOUND] < bound:
                bound, lowest = float(result[BOUND]), best_prices.copy()
            rate = float(result[RATE])
            if status != TIRED or max_iterations <= 0 or rate < least_rate or seconds[-1][1] >= deadline:
                break
        tree = heads if found > floor else None
        lowest = lowest if bound < math.inf else prices
        return Run(status, bound, lowest, tree, found, disputed, choices[:3], bounds, scores, seconds, steps)

    def cut_off(self, state: Integers, prices: Scores, bounds: list[float], scores: list[float], seconds: list[tuple[int, float]]) -> Run:
        """What is known at prices whose sums are still exact; bounds that were found at larger ones do not count."""
        run = self.run(state, prices.copy(), -math.inf, rate=1.0, least_rate=0.0, rule=0, max_iterations=1, deadline=math.inf)
        return replace(run, bounds=[max(bound, run.bound) for bound in bounds], scores=scores, seconds=seconds)

    def tried(self, arcs: Scores) -> Run:
        """Some steps, as training takes them: a good tree is enough."""
        prices, tries = self.first_prices(arcs), TRIES
        return self.run(self.state(()), prices, -math.inf, rate=1.0, least_rate=0.1, rule=0, max_iterations=tries, deadline=math.inf)

    def choice(self, run: Run | None = None) -> tuple[NDArray[np.bool_], Integers]:
        """What heads chose in the end: modifiers (n + 1, n + 1), and their own heads, 0 if nobody asks. Without a run, at no prices."""
        n, n_arcs = self.scores.n_words, len(self.modifiers)
        if run is None:
            prices, nothing = np.zeros((2, n_arcs)), -math.inf
            run = self.run(self.state(()), prices, nothing, rate=1.0, least_rate=0.0, rule=0, max_iterations=1, deadline=math.inf)
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
        if not automata_slacks(*self.scores.arrays, state, prices, slacks):
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
        run = self.run(state, prices.copy(), -math.inf, rate=1.0, least_rate=0.0, rule=0, max_iterations=1, deadline=math.inf)
        return run.bound

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

    def evidence(self, prices: Scores) -> HeadPrices:
        numbers = self.heads * (self.scores.n_words + 1) + self.modifiers
        return HeadPrices(tuple(numbers.tolist()), tuple(prices[0].tolist()), tuple(prices[1].tolist()))


@dataclass(frozen=True, slots=True, eq=False)
class Run:
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


def dual_decomposition(
    problem: Problem,
    arcs: Scores,
    labels: NDArray[np.int64] | None,
    *,
    branch: bool = True,
    tighten: bool = True,
    step: str | None = None,
    first_step: float | None = None,
    max_iterations: int = MAX_ITERATIONS,
    time_limit: float | None = None,
) -> Solution[Tree]:
    """The best tree by algorithms 8 and 9, and where they stop, with `tighten` and `branch`, by more.

    `arcs` and `labels` (n + 1, n + 1) are the scores of arcs with their best labels, and those. For the other options see `agreed`. Raises
    Infeasible if there is no tree.
    """
    begin = time.perf_counter()

    def candidate(heads: Integers) -> Candidate:
        structure = problem.tree(heads, None if labels is None else labels[heads, np.arange(1, len(heads) + 1)])
        return Candidate(structure, problem.score(structure))

    top, prices = None, None
    if branch and step is None and first_step is None and max_iterations == MAX_ITERATIONS and watcher() is None:
        at_once = agree_at_once(problem, arcs, FIRST_RATE, LEAST_RATE)
        if at_once is not None:
            bound, score, _, _, rate = at_once.result[: RATE + 1].tolist()
            if -math.inf < bound <= score and (best := candidate(at_once.heads)).score >= bound:
                return Solution(best.structure, best.score, best.score, *proof_of(at_once, begin))
            prices = np.ascontiguousarray(at_once.prices)  # if that was not all, the long way begins there
            top = run_of(at_once) if at_once.status != TIRED or rate < LEAST_RATE else None
    if arcs.max(axis=0)[1:].min() == -np.inf:
        raise no_tree(problem, arcs)
    agreement = Agreement(head_scores(problem, arcs), problem.resolution)
    if prices is None:
        prices = agreement.most_prices(arcs) if branch and step in (None, "polyak") else agreement.first_prices(arcs)
    closed = agreed(
        agreement, prices, candidate, begin=begin, branch=branch, tighten=tighten, step=step, first_step=first_step,
        max_iterations=max_iterations, time_limit=time_limit, top=top,
    )  # fmt: skip
    if closed.is_infeasible:
        raise no_tree(problem, arcs)
    return closed.solution()


def proof_of(at_once: AtOnce, begin: float) -> tuple[HeadPrices, Trace]:
    """Evidence and trace of an agreement."""
    steps = int(at_once.result[ITERATIONS])
    each = (time.perf_counter() - begin) / steps
    bounds, scores = at_once.trace[:, :steps].tolist()
    down, up = at_once.prices.tolist()
    evidence = HeadPrices(tuple(at_once.numbers.tolist()), tuple(down), tuple(up))
    return evidence, Trace(tuple(bounds), tuple(scores), tuple([each * i for i in range(1, steps + 1)]))


def run_of(at_once: AtOnce) -> Run:
    """The same as `Agreement.run` returns."""
    bound, score, steps = at_once.result[: ITERATIONS + 1].tolist()
    bounds, scores = at_once.trace[:, : int(steps)].tolist()
    heads, prices = at_once.heads if score > -math.inf else None, np.ascontiguousarray(at_once.prices)
    choices = np.zeros((3, 0), dtype=np.int64)  # the last ones: only training asks for them
    seconds = [(int(steps), time.perf_counter())]
    return Run(at_once.status, bound, prices, heads, score, at_once.disputed, choices, bounds, scores, seconds)


def agreed(
    agreement: Agreement,
    prices: Scores,
    candidate: Callable[[Integers], Candidate],
    *,
    begin: float,
    branch: bool = True,
    tighten: bool = True,
    step: str | None = None,
    first_step: float | None = None,
    max_iterations: int = MAX_ITERATIONS,
    time_limit: float | None = None,
    incumbent: Candidate | None = None,
    top: Run | None = None,
) -> Closed:
    """From prices to a proof. `candidate` makes a structure of heads and scores it by its definition; `begin` is when it all began;
    `incumbent` is known before, and `top` if the first steps from the prices are done.

    Where tree and heads do not agree, first arcs are left out whose reduced cost says that no better tree has them (`tighten`), and prices
    are sought again among the others, as long as that helps; then arcs are branched on (`branch`).

    `step` is "polyak" (from the gap, and soon at an end), "decreasing" (`first_step` / (t + 1), t the number of times that the dual went
    up, as in appendix A.2) or "scaled" (the same, and the first one from the gap: slower, and to a lower bound). Without branching, it is
    the last.
    """
    step = ("polyak" if branch else "scaled") if step is None else step
    if step not in STEPS:
        raise InputError(f"step is {step!r}: expected one of {', '.join(STEPS)}.")
    deadline = math.inf if time_limit is None else begin + time_limit
    rule = STEPS.index(step)
    rate = first_step if first_step is not None else FIRST_RATE
    open_arcs = agreement.state(())
    if top is None:
        top = agreement.run(
            open_arcs, prices, -math.inf, rate=rate, least_rate=LEAST_RATE if branch else 0.0, rule=rule, max_iterations=max_iterations,
            deadline=deadline,
        )  # fmt: skip
    trace = top.trace(begin)
    agreement.tell(top, trace)
    best = better(incumbent, None if top.heads is None else candidate(top.heads))
    if top.status == EMPTY or (best is not None and best.score >= top.bound):
        return Closed(best, top.bound if best is None else max(top.bound, best.score), agreement.evidence(top.prices), trace, 1)

    # Tightening: arcs that no better tree has are closed, and prices are sought again among the others.
    state, screens = open_arcs, list[tuple[HeadPrices, float]]()
    while tighten and best is not None and (now := time.perf_counter()) < deadline:
        fewer = agreement.possible(state, top.prices, best.score)
        if fewer is None:
            break
        screens.append((agreement.evidence(top.prices), best.score))
        state = fewer
        again = agreement.run(
            state, top.prices.copy(), best.score, rate=rate, least_rate=LEAST_RATE, rule=0, max_iterations=max_iterations, deadline=deadline
        )
        here = again.trace(now, top.bound, best.score)
        if (tell := watcher()) is not None:
            tell(Step("screening", trace.bounds[-1], best.score, {"left_out": int((state == CLOSED).sum())}))
        agreement.tell(again, here)
        trace = trace.then(here)
        best = best if again.heads is None else better(best, candidate(again.heads)) or best
        top = again if again.bound < top.bound else replace(again, bound=top.bound, prices=top.prices)
        if again.status == EMPTY or best.score >= again.bound:
            certificate = screened(screens, agreement.evidence(again.prices))
            return Closed(best, best.score, certificate, trace, 1)
    if not branch:
        bound = top.bound if best is None else max(top.bound, best.score)
        return Closed(best, bound, screened(screens, agreement.evidence(top.prices)), trace, 1)

    def solve(fixed: Fixed, warm: Any, incumbent: Candidate | None, left: float | None) -> Bounded:
        within = agreement.state(fixed, state)
        floor = -math.inf if incumbent is None else incumbent.score
        run = agreement.run(
            within, warm.copy(), floor, rate=NODE_RATE, least_rate=NODE_LEAST_RATE, rule=NODE_RULE, max_iterations=NODE_ITERATIONS,
            deadline=deadline,
        )  # fmt: skip
        found = None if run.heads is None else candidate(run.heads)
        return Bounded(run.bound, agreement.evidence(run.prices), found, split_on(run, within), run.prices)

    def split_on(run: Run, within: Integers) -> int | None:
        doubt = np.where(within == OPEN, run.disputed, 0)
        arc = int(doubt.argmax())
        return agreement.part(arc) if doubt[arc] > 0 else None

    root = Bounded(top.bound, agreement.evidence(top.prices), best, split_on(top, state), top.prices)
    left = None if time_limit is None else max(deadline - time.perf_counter(), 0.0)
    searched = branch_and_bound(solve, root=root, incumbent=best, time_limit=left)
    certificate = screened(screens, searched.certificate)
    return Closed(searched.best, searched.bound, certificate, trace.then(searched.trace), searched.n_nodes)


def screened(screens: list[tuple[HeadPrices, float]], rest: Certificate) -> Certificate:
    for prices, threshold in reversed(screens):
        rest = Screened(prices, threshold, rest)
    return rest


def no_tree(problem: Problem, arcs: Scores) -> Infeasible:
    best = eisner if problem.projective else maximum_arborescence
    try:
        best(arcs, single_root=problem.single_root)
    except Infeasible as error:
        return error
    return Infeasible(f"no tree avoids what is forbidden by scores of -inf: {', '.join(problem.larger)}.")
