"""Lagrangian multipliers as a relaxation: the dual of what the decisions of a node leave, for `zerogap.relax.descent.close_gap`."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from zerogap.grid import Scores
from zerogap.proof.certificate import Certificate, Multipliers
from zerogap.relax.candidate import Candidate
from zerogap.relax.descent import Bounded, Fixed, Screen
from zerogap.relax.lagrangian import Relaxed, State

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
class LagrangianRelaxation:
    """`relax` minimises the dual of a node; `split` chooses the part to decide next, None if a node cannot be split.

    `settle` may find evidence that nothing feasible is left in a node. A node that can neither be split nor settled has one structure
    left, which multipliers 0 score exactly. With `patience=None` the descent at the root goes on to `max_iterations`.
    """

    relax: Relax
    split: Split
    settle: Settle | None = None
    max_iterations: int = 200
    patience: int | None = PATIENCE

    def solve(self, fixed: Fixed, warm: Any, incumbent: Candidate | None, deadline: float) -> Bounded:
        iterations, patience = (NODE_ITERATIONS, NODE_PATIENCE) if fixed else (self.max_iterations, self.patience)
        left = None if deadline == math.inf else max(deadline - time.perf_counter(), 0.0)
        node = self.relax(fixed, incumbent=incumbent, multipliers=warm, max_iterations=iterations, patience=patience, time_limit=left)
        return self.bounded(node, fixed)

    def screen(self, top: Bounded, threshold: float) -> Screen | None:
        """Multipliers leave no part out."""
        return None

    def bounded(self, node: Relaxed, fixed: Fixed) -> Bounded:
        evidence: Certificate = Multipliers(tuple(node.multipliers.tolist()))
        if node.reason == "infeasible":
            return Bounded(-math.inf, evidence, node.best, None, node.multipliers, node.trace)
        if node.last is None or (node.best is not None and node.bound <= node.best.score):
            return Bounded(node.bound, evidence, node.best, None, node.multipliers, node.trace)
        settled = None if self.settle is None else self.settle(fixed, node.last)
        if settled is not None:
            return Bounded(-math.inf, settled, node.best, None, node.multipliers, node.trace)
        part = self.split(fixed, node.last)
        if part is None:
            zero = Multipliers((0.0,) * len(node.multipliers))
            plain = self.relax(
                fixed, incumbent=node.best, multipliers=0.0 * node.multipliers, max_iterations=1, patience=None, time_limit=None
            )
            if plain.bound < node.bound:
                return Bounded(plain.bound, zero, plain.best, None, node.multipliers, node.trace)
        return Bounded(node.bound, evidence, node.best, part, node.multipliers, node.trace)
