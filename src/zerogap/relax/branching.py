"""Best-first branch and bound over any relaxation that can be solved with some parts fixed.

A node is a list of decisions (part, in or out). `solve(fixed, warm, incumbent)` bounds what is left and may offer a
candidate and a part to split on. The two children of a node must cover it together; they may overlap. The leaves of the
tree, each with the evidence for its bound, are the certificate (Qian & Liu 2013, algorithm 1, with a variable per node).
"""

from __future__ import annotations

import heapq
import itertools
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from zerogap.proof.certificate import Certificate, Leaf, Leaves
from zerogap.proof.solution import Trace
from zerogap.relax.lagrangian import Candidate, History, note

Fixed = tuple[tuple[int, bool], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Bounded:
    """What a relaxation says about one node."""

    bound: float  # -inf if nothing is left in it
    evidence: Certificate
    candidate: Candidate | None
    split: int | None  # the part to branch on; None if the bound is reached or nothing can be split
    warm: Any = None  # handed to the children


Solve = Callable[[Fixed, Any, Candidate | None, float | None], Bounded]


@dataclass(frozen=True, slots=True, eq=False)
class Searched:
    """The outcome: `bound` is the largest of the leaves, and at least the score."""

    best: Candidate | None
    bound: float
    certificate: Leaves
    n_nodes: int
    complete: bool  # False if a limit was reached
    trace: Trace


def branch_and_bound(
    solve: Solve,
    *,
    root: Bounded | None = None,
    incumbent: Candidate | None = None,
    max_nodes: int | None = None,
    time_limit: float | None = None,
    first: bool = False,
) -> Searched:
    """Searches until no open node can beat the incumbent. `first` stops at the first candidate: a test of feasibility."""
    begin = time.perf_counter()
    history = History()
    order = itertools.count()  # ties to the older node
    top = root if root is not None else solve((), None, incumbent, time_limit)
    best = better(incumbent, top.candidate)
    waiting: list[tuple[float, int, Fixed, Bounded]] = [(-top.bound, next(order), (), top)]
    closed: list[Leaf] = []
    n_nodes = 1
    complete = True
    stuck = -math.inf  # the largest bound among nodes that cannot be split
    while waiting:
        bound = -waiting[0][0]
        seconds = time.perf_counter() - begin
        note(history, bound if best is None else max(bound, best.score), best, seconds)
        if best is not None and (bound <= best.score or first):
            break
        if (time_limit is not None and seconds >= time_limit) or (max_nodes is not None and n_nodes >= max_nodes):
            complete = False
            break
        _, _, fixed, node = heapq.heappop(waiting)
        if node.split is None:
            closed.append(Leaf(fixed, node.evidence))
            stuck = max(stuck, node.bound)
            continue
        for inside in (True, False):
            decisions = (*fixed, (node.split, inside))
            left = None if time_limit is None else max(time_limit - (time.perf_counter() - begin), 0.0)
            child = solve(decisions, node.warm, best, left)
            if child.bound > node.bound:  # what proves the parent's bound proves it for the child
                child = Bounded(node.bound, node.evidence, child.candidate, child.split, child.warm)
            n_nodes += 1
            best = better(best, child.candidate)
            heapq.heappush(waiting, (-child.bound, next(order), decisions, child))
    leaves = closed + [Leaf(fixed, node.evidence) for _, _, fixed, node in sorted(waiting, key=lambda entry: entry[1])]
    bound = max(stuck, *(-entry[0] for entry in waiting), -math.inf if best is None else best.score)
    return Searched(best, bound, Leaves(tuple(leaves)), n_nodes, complete, history.trace())


def better(a: Candidate | None, b: Candidate | None) -> Candidate | None:
    return a if b is None or (a is not None and a.score >= b.score) else b
