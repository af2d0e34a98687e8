"""Multipliers first, then branch and bound with the same relaxation as the bound: ends with a proof within its limits.

No relaxation closes every gap by itself; this is how `method="auto"` of every task goes on where multipliers stop.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from zerogap.errors import InputError
from zerogap.grid import Scores
from zerogap.proof.certificate import Certificate, Multipliers
from zerogap.proof.solution import Solution, Trace
from zerogap.relax.branching import Bounded, Fixed, branch_and_bound
from zerogap.relax.lagrangian import Candidate, Relaxed, State

PATIENCE = 50  # iterations without a better bound before branching goes on
NODE_ITERATIONS, NODE_PATIENCE = 40, 12  # per node of the search tree: warm starts make a few steps enough


class Relax(Protocol):
    """Minimises the dual of what the decisions `fixed` leave of a problem."""

    def __call__(
        self,
        fixed: Fixed,
        *,
        incumbent: Candidate | None,
        multipliers: Scores | None,
        max_iterations: int,
        patience: int | None,
        time_limit: float | None,
    ) -> Relaxed: ...


Split = Callable[[Fixed, State], int | None]
Settle = Callable[[Fixed, State], Certificate | None]


@dataclass(frozen=True, slots=True, eq=False)
class Closed:
    """`best` is None if no structure was found; then `bound` is -inf if it is proven that there is none."""

    best: Candidate | None
    bound: float
    certificate: Certificate
    trace: Trace
    n_nodes: int

    @property
    def is_infeasible(self) -> bool:
        return self.best is None and self.bound == -math.inf

    def solution(self) -> Solution[Any]:
        best = self.best or Candidate(None, -math.inf)
        return Solution(best.structure, best.score, self.bound, self.certificate, self.trace)


def close_gap(
    relax: Relax,
    split: Split,
    *,
    settle: Settle | None = None,
    incumbent: Candidate | None = None,
    max_iterations: int = 200,
    max_nodes: int | None = None,
    time_limit: float | None = None,
    first: bool = False,
) -> Closed:
    """Solves the problem. `split` chooses the part to decide next; None if a node cannot be split.

    `settle` may find evidence that nothing feasible is left in a node. A node that can neither be split nor settled has
    one structure left, which multipliers 0 score exactly.
    `max_nodes=1` stops after the multipliers; `first` stops at the first structure found.
    """
    check_limits(time_limit, max_nodes)
    begin = time.perf_counter()
    patience = None if max_nodes == 1 else PATIENCE
    root = relax((), incumbent=incumbent, multipliers=None, max_iterations=max_iterations, patience=patience, time_limit=time_limit)
    top = bounded(root, (), split, settle, relax)
    if top.split is None or max_nodes == 1 or (first and root.best is not None):
        return Closed(root.best, top.bound, top.certificate, root.trace, 1)

    def solve(fixed: Fixed, warm: Scores | None, best: Candidate | None, left: float | None) -> Bounded:
        limits = {"max_iterations": NODE_ITERATIONS, "patience": NODE_PATIENCE}
        return bounded(relax(fixed, incumbent=best, multipliers=warm, **limits, time_limit=left), fixed, split, settle, relax)

    left = None if time_limit is None else max(time_limit - (time.perf_counter() - begin), 0.0)
    found = branch_and_bound(solve, root=top, incumbent=root.best, max_nodes=max_nodes, time_limit=left, first=first)
    return Closed(found.best, found.bound, found.certificate, root.trace.then(found.trace), found.n_nodes)


def check_limits(time_limit: float | None, max_nodes: int | None) -> None:
    if time_limit is not None and not (isinstance(time_limit, int | float) and time_limit >= 0.0):
        raise InputError(f"time_limit is {time_limit!r}: expected seconds, 0 or more, or None.")
    if max_nodes is not None and not (isinstance(max_nodes, int) and max_nodes >= 1):
        raise InputError(f"max_nodes is {max_nodes!r}: expected at least 1, or None.")


def bounded(node: Relaxed, fixed: Fixed, split: Split, settle: Settle | None, relax: Relax) -> Bounded:
    evidence: Certificate = Multipliers(tuple(node.multipliers.tolist()))
    if node.reason == "infeasible":
        return Bounded(-math.inf, evidence, node.best, None, node.multipliers)
    if node.last is None or (node.best is not None and node.bound <= node.best.score):
        return Bounded(node.bound, evidence, node.best, None, node.multipliers)
    settled = None if settle is None else settle(fixed, node.last)
    if settled is not None:
        return Bounded(-math.inf, settled, node.best, None, node.multipliers)
    part = split(fixed, node.last)
    if part is None:
        zero = Multipliers((0.0,) * len(node.multipliers))
        plain = relax(fixed, incumbent=node.best, multipliers=0.0 * node.multipliers, max_iterations=1, patience=None, time_limit=None)
        if plain.bound < node.bound:
            return Bounded(plain.bound, zero, plain.best, None, node.multipliers)
    return Bounded(node.bound, evidence, node.best, part, node.multipliers)
