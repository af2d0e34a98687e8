"""A core of likely arcs, and what its shares of factors prove of all others.

With all arcs of a sentence there are a hundred times as many factors of two arcs as with the likeliest heads of every word, and few of
them matter. So shares are sought for a core first: the heads of every word that are best without factors, by max-marginals of
the backbone. They go on to the arcs outside, so that no arc of the core weighs more (`oracles.factor_extension`); a positive factor with an
arc outside is all that arc's, a negative one is nobody's. Then the max-marginals of all arcs under these shares say which of them a better
tree than the best of the core may have: few, or none.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from zerogap.dependency.factor_sets import Allowed, Factors, Integers
from zerogap.dependency.factor_tables import FactorTables, Node, moved_to
from zerogap.dependency.problem import Problem
from zerogap.grid import MANTISSA_BITS, Scores
from zerogap.oracles.factor_extension import extend_tables
from zerogap.proof.certificate import DynamicProgram, FactorShares

CORE = 4  # heads of every word
LEAST = 8  # heads of a word, on average, for a core to be worth it


@dataclass(frozen=True, slots=True, eq=False)
class Extension:
    """Shares for all arcs: the arcs with them, the constant, and what proves it."""

    weights: Scores
    constant: float
    words: Integers
    names: Integers  # of the shares of tables, pairs of words and heads of the second, in order
    shares: Scores
    larger: dict[tuple[int, ...], Scores]  # the shares of larger factors, which come after those of tables
    unit: float

    def moved_to(self, tables: FactorTables) -> Scores:
        """The same shares for tables of fewer arcs."""
        return moved_to(tables, self.names, self.shares[: len(self.names)], self.larger)

    def evidence(self) -> FactorShares:
        units = (self.shares / self.unit).astype(np.int64)
        return FactorShares(self.unit, tuple(self.words.tolist()), tuple(units.tolist()), DynamicProgram())


def core_of(best_with: Scores, allowed: Allowed) -> Allowed:
    """The heads of every word that are in the best trees, by max-marginals without factors; they hold those of a best tree."""
    order = np.argsort(np.where(allowed, -best_with, np.inf), axis=0, kind="stable")[:CORE]
    core = np.zeros_like(allowed)
    core[order, np.arange(len(allowed))] = True
    return core & allowed


def extended(problem: Problem, factors: Factors, tables: FactorTables, node: Node, shares: Scores) -> Extension | None:
    """The shares of a core for all arcs; None if sums with them would not be exact."""
    allowed, core = factors.arcs > -np.inf, node.allowed
    size = len(allowed)
    uses = np.diff(factors.begin)
    uses[tables.first * size + tables.second] += 1
    pairs = np.flatnonzero(uses)
    second = pairs % size
    core_table = np.full(size * size, -1)
    core_table[tables.first * size + tables.second] = np.arange(len(tables.first))
    # of the heads in the core's tables some may be closed by now
    widths = np.diff(tables.head_start)[tables.second]
    at = np.arange(int(tables.share_start[-1])) - np.repeat(tables.share_start[:-1], widths)
    is_open = core[tables.head, tables.word][np.repeat(tables.head_start[tables.second], widths) + at]
    core_start = np.concatenate([[0], np.cumsum(is_open)])[tables.share_start]
    share_start = np.concatenate([[0], np.cumsum(allowed.sum(axis=0)[second])])
    of_tables, sizes = np.empty(int(share_start[-1])), np.empty(len(pairs))
    weights = np.where(allowed, factors.arcs, -np.inf)
    kinds = (1 if problem.projective else 0, 1 if problem.single_root else 0)
    extend_tables(
        factors.begin, factors.heads, factors.scores, pairs, allowed, core, core_table[pairs], core_start,
        shares[: int(tables.share_start[-1])][is_open], *kinds, tables.limit, share_start, of_tables, weights, sizes,
    )  # fmt: skip
    total = problem.terms * problem.largest + float(sizes.sum())
    constant, larger = 0.0, shares_of_larger(factors, tables, node, shares)
    flat = weights.reshape(-1)
    for (key, some), phi in zip(larger.items(), factors.phi.tolist(), strict=True):
        if some.any():
            arc = list(key)
            flat[arc] += some if phi > 0.0 else some[0]
            constant -= 0.0 if phi > 0.0 else (len(key) - 1) * float(some[0])
            total += 2.0 * len(key) * float(np.abs(some).max())
    if not total < math.ldexp(tables.unit, MANTISSA_BITS):
        return None
    heads = np.nonzero(allowed.T)[1]  # of every word, one word after the other
    head_start = np.concatenate([[0], np.cumsum(allowed.sum(axis=0))])
    widths = np.diff(share_start)
    at = np.arange(int(share_start[-1])) - np.repeat(share_start[:-1], widths)
    names = np.repeat(pairs, widths) * size + heads[np.repeat(head_start[second], widths) + at]
    return Extension(weights, constant, pairs, names, np.concatenate([of_tables, *larger.values()]), larger, tables.unit)


def shares_of_larger(factors: Factors, tables: FactorTables, node: Node, shares: Scores) -> dict[tuple[int, ...], Scores]:
    """Of all factors of more than two arcs, by their arcs: those in the core keep theirs."""
    known = {tuple(tables.arc[tables.start[c] : tables.start[c + 1]].tolist()): c for c in node.active.tolist()}
    offset, in_core = int(tables.share_start[-1]), node.allowed.reshape(-1)
    found: dict[tuple[int, ...], Scores] = {}
    for a, b, phi in zip(factors.start[:-1].tolist(), factors.start[1:].tolist(), factors.phi.tolist(), strict=True):
        key = tuple(factors.arc[a:b].tolist())
        c = known.get(key)
        some = np.zeros(b - a if phi > 0.0 else 1)
        if c is not None:
            at = offset + int(tables.start[c])
            some[:] = shares[at : at + len(some)]
        elif phi > 0.0:
            some[int(in_core[list(key)].argmin())] = phi
        found[key] = some
    return found
