"""Trees with siblings, grandparents and both, projective or not, by dual decomposition, and to the end (Rush 2014, chapter 6).

A tree and the automata of all heads are made to agree by prices on arcs (`oracles.heads.agreement`). Where they do not agree, which is
on few sentences of a trained model, arcs are left out that no better tree can have, by their reduced costs; and then branch and bound
goes on: an arc is required or forbidden, and the prices of the parent are where the children begin. So every sentence ends with a proof,
unless a limit is reached before.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zerogap.dependency.decoding.agreement.head_scores import head_scores
from zerogap.dependency.decoding.agreement.one_call import AtOnce, agree_at_once
from zerogap.dependency.decoding.agreement.relaxation import FIRST_RATE, LEAST_RATE, Agreement, Run, run_of
from zerogap.errors import Infeasible, InputError
from zerogap.grid import Scores
from zerogap.oracles.heads.agreement import (
    EMPTY,
    ITERATIONS,
    RATE,
    TIRED,
)
from zerogap.oracles.heads.automata import CLOSED, OPEN
from zerogap.oracles.trees.arborescence import maximum_arborescence
from zerogap.oracles.trees.eisner import eisner
from zerogap.problems.dependency.problem import Problem, Tree
from zerogap.proof.certificate import Certificate, HeadPrices, Screened
from zerogap.proof.solution import Solution, Trace
from zerogap.relax.branching import branch_and_bound
from zerogap.relax.candidate import Candidate, better
from zerogap.relax.descent import Bounded, Closed, Fixed, Limits
from zerogap.relax.watching import Step, watcher

Integers = NDArray[np.int64]

MAX_ITERATIONS = 5000  # as in the thesis
STEPS = ("polyak", "decreasing", "scaled")  # numbers of rules of the kernel
NODE_ITERATIONS, NODE_RATE, NODE_LEAST_RATE, NODE_RULE = 60, 1.5, 0.1, 0


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

    def solve(fixed: Fixed, warm: Any, incumbent: Candidate | None, deadline: float) -> Bounded:
        within = agreement.state(fixed, state)
        floor = -math.inf if incumbent is None else incumbent.score
        run = agreement.run(
            within, warm.copy(), floor, rate=NODE_RATE, least_rate=NODE_LEAST_RATE, rule=NODE_RULE, max_iterations=NODE_ITERATIONS,
            deadline=deadline,
        )  # fmt: skip
        found = None if run.heads is None else candidate(run.heads)
        return Bounded(run.bound, lambda: agreement.evidence(run.prices, within), found, split_on(run, within), run.prices)

    def split_on(run: Run, within: Integers) -> int | None:
        doubt = np.where(within == OPEN, run.disputed, 0)
        arc = int(doubt.argmax())
        return agreement.part(arc) if doubt[arc] > 0 else None

    root = Bounded(top.bound, lambda: agreement.evidence(top.prices, state), best, split_on(top, state), top.prices)
    searched = branch_and_bound(solve, Limits(deadline), root=root, incumbent=best)
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
