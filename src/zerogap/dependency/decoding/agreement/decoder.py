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
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from zerogap.dependency.decoding.agreement.head_scores import head_scores
from zerogap.dependency.decoding.agreement.one_call import agree_at_once
from zerogap.dependency.decoding.agreement.relaxation import Agreement, Run
from zerogap.errors import Infeasible
from zerogap.grid import Integers, Scores
from zerogap.oracles.descent import POLYAK, Steps
from zerogap.oracles.heads.automata import CLOSED, OPEN
from zerogap.oracles.trees.arborescence import maximum_arborescence
from zerogap.oracles.trees.eisner import eisner
from zerogap.problems.dependency.problem import Problem, Tree
from zerogap.proof.certificate import HeadPrices, Screened
from zerogap.proof.solution import Solution, Trace
from zerogap.relax.candidate import Candidate
from zerogap.relax.descent import Bounded, Fixed, Screen, close_gap, limits_of
from zerogap.relax.steps import HEADS_ALONE, HEADS_AT_NODE, HEADS_AT_ROOT
from zerogap.relax.watching import watcher


def dual_decomposition(
    problem: Problem,
    arcs: Scores,
    labels: Integers | None,
    *,
    branch: bool = True,
    tighten: bool = True,
    steps: Steps | None = None,
    time_limit: float | None = None,
) -> Solution[Tree]:
    """The best tree by algorithms 8 and 9, and where they stop, with `tighten` and `branch`, by more.

    `arcs` and `labels` (n + 1, n + 1) are the scores of arcs with their best labels, and those; `steps` are those at the root, by default
    from the gap and soon at an end, and without branching slower and to a lower bound. Raises Infeasible if there is no tree.
    """
    begin = time.perf_counter()
    at_root = steps or (HEADS_AT_ROOT if branch else HEADS_ALONE)

    def candidate(heads: Integers) -> Candidate:
        structure = problem.tree(heads, None if labels is None else labels[heads, np.arange(1, len(heads) + 1)])
        return Candidate(structure, problem.score(structure))

    run, prices = None, None
    if at_root is HEADS_AT_ROOT and watcher() is None:
        at_once = agree_at_once(problem, arcs, at_root)
        if at_once is not None:
            run, numbers = at_once
            if run.heads is not None and -math.inf < run.bound <= run.score and (best := candidate(run.heads)).score >= run.bound:
                down, up = run.prices.tolist()
                evidence = HeadPrices(tuple(numbers), tuple(down), tuple(up))
                return Solution(best.structure, best.score, best.score, evidence, run.trace(begin))
            prices = np.ascontiguousarray(run.prices)  # if that was not all, the long way begins there
    if arcs.max(axis=0)[1:].min() == -np.inf:
        raise no_tree(problem, arcs)
    agreement = Agreement(head_scores(problem, arcs), problem.resolution)
    if prices is None:
        prices = agreement.most_prices(arcs) if branch and at_root.rule == POLYAK else agreement.first_prices(arcs)
    heads = HeadRelaxation(agreement, candidate, prices, begin, at_root, tighten)
    top = heads.bounded(run._replace(prices=prices), agreement.state(()), run.trace(begin)) if run is not None and run.is_over else None
    limits = limits_of(time_limit, None if branch else 1, begin=begin)
    closed = close_gap(heads, limits, top=top)
    if closed.is_infeasible:
        raise no_tree(problem, arcs)
    return closed.solution()


@dataclass(frozen=True, slots=True, eq=False)
class HeadRelaxation:
    """Tree and heads that agree by prices, as a relaxation: see `relax.descent`. `candidate` makes a structure of heads and scores it by
    its definition.

    Where tree and heads do not agree, arcs are left out whose reduced cost says that no better tree has them (`tightens`), and prices are
    sought again among the others, as long as that helps; then the arc is branched on about which they disagreed most often.
    """

    agreement: Agreement
    candidate: Callable[[Integers], Candidate]
    prices: Scores  # where steps begin
    begin: float  # when it all began
    steps: Steps = HEADS_AT_ROOT
    tightens: bool = True
    within: Integers | None = None  # the state of arcs after screening
    above: Bounded | None = None  # the outcome before screening

    def solve(self, fixed: Fixed, warm: Any, incumbent: Candidate | None, deadline: float) -> Bounded:
        is_first = self.above is None and not fixed  # whatever is known by then, tree and heads may agree about another tree
        floor = -math.inf if incumbent is None or is_first else incumbent.score
        prices, steps = (warm.copy(), HEADS_AT_NODE) if fixed else (self.prices, self.steps)
        state = self.agreement.state(fixed, self.within)
        run = self.agreement.run(state, prices, floor, steps, deadline)
        trace = Trace()
        if not fixed:
            trace = run.trace(self.begin) if self.above is None else run.trace(self.begin, self.above.bound, floor)
            self.agreement.tell(run, trace)
            if self.above is not None and run.bound >= self.above.bound:
                run = run._replace(bound=self.above.bound, prices=self.above.warm)
        return self.bounded(run, state, trace)

    def bounded(self, run: Run, state: Integers, trace: Trace) -> Bounded:
        """The outcome of a run at a node with this state of arcs."""
        doubt = np.where(state == OPEN, run.disputed, 0)
        arc = int(doubt.argmax())
        split = self.agreement.part(arc) if doubt[arc] > 0 else None
        found = None if run.heads is None else self.candidate(run.heads)
        return Bounded(run.bound, lambda: self.agreement.evidence(run.prices, state), found, split, run.prices, trace)

    def screen(self, top: Bounded, threshold: float) -> Screen | None:
        now = time.perf_counter()
        state = self.agreement.possible(self.agreement.state((), self.within), top.warm, threshold) if self.tightens else None
        if state is None:
            return None
        steps = HEADS_AT_ROOT._replace(rate=self.steps.rate, most=self.steps.most)
        rest = replace(self, prices=top.warm.copy(), begin=now, steps=steps, within=state, above=top)
        prices = self.agreement.evidence(top.warm)
        return Screen(rest, lambda certificate: Screened(prices, threshold, certificate), None, int((state == CLOSED).sum()))


def no_tree(problem: Problem, arcs: Scores) -> Infeasible:
    best = eisner if problem.projective else maximum_arborescence
    try:
        best(arcs, single_root=problem.single_root)
    except Infeasible as error:
        return error
    return Infeasible(f"no tree avoids what is forbidden by scores of -inf: {', '.join(problem.larger)}.")
