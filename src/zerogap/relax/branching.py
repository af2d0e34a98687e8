"""Branch and bound over any relaxation that can be solved with some parts fixed, best-first or breadth-first.

A node is a list of decisions (part, in or out). `solve(fixed, warm, incumbent, deadline)` bounds what is left and may offer a
candidate and a part to split on (zerogap.relax.descent). The two children of a node must cover it together; they may overlap. The
leaves of the tree, each with the evidence for its bound, are the certificate (Qian & Liu 2013, algorithm 1, with a variable per node).

With k above 1 the search goes on until the k best structures are known (section 5.2): nothing is left out before its bound is at most
the k-th best score, and a node whose bound is reached is split on, for as long as `solve` names a part.
"""

from __future__ import annotations

import heapq
import itertools
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from zerogap.errors import UnknownMethod
from zerogap.proof.certificate import Leaf, Leaves
from zerogap.proof.solution import Trace
from zerogap.relax.candidate import Candidate
from zerogap.relax.descent import NO_LIMITS, Bounded, Fixed, Limits
from zerogap.relax.history import History, note
from zerogap.relax.watching import Step, Watcher, watcher, watching

ORDERS = ("best-first", "breadth-first")
Solve = Callable[[Fixed, Any, Candidate | None, float], Bounded]


@dataclass(frozen=True, slots=True, eq=False)
class Searched:
    """The outcome: `bound` is the largest of the leaves, and at least the score."""

    best: Candidate | None
    bound: float
    certificate: Leaves
    n_nodes: int
    complete: bool  # False if a limit was reached
    trace: Trace
    ranked: tuple[Candidate, ...] = ()  # the k best structures, the best first; fewer if there are no more


def branch_and_bound(
    solve: Solve, limits: Limits = NO_LIMITS, *, root: Bounded | None = None, incumbent: Candidate | None = None
) -> Searched:
    """Searches until no open node can beat the incumbent, the k-th best candidate. Best-first splits the node of the highest bound next,
    breadth-first all nodes of a level before those of the next.
    """
    k, order, max_nodes = limits.k, limits.order, limits.max_nodes
    if order not in ORDERS:
        raise UnknownMethod("order", order, ORDERS)
    begin = time.perf_counter()
    history = History()
    serial = itertools.count()  # ties to the older node
    top = root if root is not None else solve((), None, incumbent, limits.deadline)
    pool = kept(kept((), incumbent, k), top.candidate, k)
    deep = order == "breadth-first"
    waiting: list[tuple[float, int, Fixed, Bounded]] = [(0 if deep else -top.bound, next(serial), (), top)]
    tell = watcher()
    tell_node(tell, 0, None, (), top, top.bound, pool)
    closed: list[tuple[Fixed, Bounded]] = []
    n_nodes = 1
    complete = True
    stuck = -math.inf  # the largest bound among nodes that are not split any more
    level = -1
    bound = top.bound
    while waiting:
        if not deep or len(waiting[0][2]) > level:  # a level begins: its bounds are all known
            level = len(waiting[0][2])
            bound = max(stuck, max(entry[3].bound for entry in waiting)) if deep else waiting[0][3].bound
        seconds = time.perf_counter() - begin
        best, worst = (pool[0], pool[-1] if len(pool) == k else None) if pool else (None, None)
        note(history, max(bound, stuck), best, seconds)
        if (worst is not None and bound <= worst.score) or (limits.first and best is not None):
            break
        if limits.is_over or (max_nodes is not None and n_nodes >= max_nodes):
            complete = False
            break
        _, number, fixed, node = heapq.heappop(waiting)
        if node.split is None or (worst is not None and node.bound <= worst.score):
            closed.append((fixed, node))
            stuck = max(stuck, node.bound)
            if tell is not None:
                tell(Step("cut", bound, best.score if best is not None else -math.inf, {"node": number}))
            continue
        for inside in (True, False):
            decisions = (*fixed, (node.split, inside))
            with watching(None):  # steps within a node are about what is left in it
                child = solve(decisions, node.warm, pool[-1] if len(pool) == k else None, limits.deadline)
            if child.bound > node.bound:  # what proves the parent's bound proves it for the child
                child = replace(child, bound=node.bound, evidence=node.evidence)
            n_nodes += 1
            pool = kept(pool, child.candidate, k)
            own = next(serial)
            tell_node(tell, own, number, decisions, child, bound, pool)
            heapq.heappush(waiting, (len(decisions) if deep else -child.bound, own, decisions, child))
    nodes = closed + [(fixed, node) for _, _, fixed, node in sorted(waiting, key=lambda entry: entry[1])]
    bound = max(stuck, *(entry[3].bound for entry in waiting), -math.inf if not pool else pool[0].score)
    leaves = Leaves(tuple(Leaf(fixed, node.certificate) for fixed, node in nodes))
    return Searched(pool[0] if pool else None, bound, leaves, n_nodes, complete, history.trace(), pool)


def tell_node(
    tell: Watcher | None, number: int, parent: int | None, decisions: Fixed, node: Bounded, bound: float, pool: tuple[Candidate, ...]
) -> None:
    if tell is not None:
        score = pool[0].score if pool else -math.inf
        detail = {"node": number, "parent": parent, "decisions": decisions, "bound": node.bound, "split": node.split}
        tell(Step("node", max(bound, score), score, detail))


def kept(pool: tuple[Candidate, ...], found: Candidate | None, k: int) -> tuple[Candidate, ...]:
    """The k best different structures, the best first, ties to the older."""
    if found is None or (len(pool) == k and found.score <= pool[-1].score):
        return pool
    if k == 1:
        return (found,)
    if any(found.structure == other.structure for other in pool):
        return pool
    at = next((i for i, other in enumerate(pool) if found.score > other.score), len(pool))
    return (*pool[:at], found, *pool[at:])[:k]
