"""A core of likely arcs, and what its shares of factors prove of all others.

With all arcs of a sentence there are a hundred times as many factors of two arcs as with the likeliest heads of every word, and few of
them matter. So shares are sought for a core first: the heads of every word that are best without factors, by max-marginals of
the backbone. They go on to the arcs outside, so that no arc of the core weighs more (`oracles.factors.extension`); a positive factor with
an
arc outside is all that arc's, a negative one is nobody's. Then the max-marginals of all arcs under these shares say which of them a better
tree than the best of the core may have: few, or none.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from zerogap.dependency.decoding.factors.sets import Allowed, Factors
from zerogap.dependency.decoding.factors.tables import FactorTables, Layout, Node
from zerogap.grid import MANTISSA_BITS, Scores
from zerogap.oracles.factors.extension import extend
from zerogap.oracles.trees.best_heads import keep_best
from zerogap.problems.dependency.problem import Problem
from zerogap.proof.certificate import DynamicProgram, FactorShares

CORE = 4  # heads of every word
LEAST = 8  # heads of a word, on average, for a core to be worth it


@dataclass(frozen=True, slots=True, eq=False)
class Extension:
    """Shares for all arcs: the arcs with them, the constant, and what proves it."""

    weights: Scores
    constant: float
    layout: Layout
    shares: Scores
    allowed: Allowed
    unit: float

    def moved_to(self, tables: FactorTables) -> tuple[Scores, bool]:
        """The same shares for tables of fewer arcs."""
        return self.layout.moved_to(tables, self.shares)

    def evidence(self) -> FactorShares:
        return self.layout.evidence(self.allowed, self.layout.number, self.shares, self.unit, DynamicProgram())


def core_of(best_with: Scores, allowed: Allowed) -> Allowed:
    """The heads of every word that are in the best trees, by max-marginals without factors; they hold those of a best tree."""
    core = np.empty_like(allowed)
    keep_best(best_with, allowed, CORE, core)
    return core


def extended(problem: Problem, factors: Factors, tables: FactorTables, node: Node, shares: Scores) -> Extension | None:
    """The shares of a core for all arcs; None if sums with them would not be exact."""
    core = tables.layout
    first, second, head_start, head, share_start, of_all, weights, constant, total = extend(
        factors.begin, factors.heads, factors.scores, factors.start, factors.arc, factors.phi, factors.arcs, node.allowed, core.first,
        core.second, core.head_start, core.head, core.share_start, core.start, core.number, node.active, shares,
        1 if problem.projective else 0, 1 if problem.single_root else 0, tables.limit,
    )  # fmt: skip
    if not problem.terms * problem.largest + total < math.ldexp(tables.unit, MANTISSA_BITS):
        return None
    layout = Layout(first, second, head_start, head, share_start, factors.start, factors.phi, np.arange(len(factors.phi)))
    return Extension(weights, constant, layout, of_all, factors.arcs > -np.inf, tables.unit)
