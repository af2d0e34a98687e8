"""The factors of a problem as `oracles.factors.shares` reads them: tables of two words, and larger factors one after the other."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from zerogap.grid import MANTISSA_BITS, Flags, Integers, Scores, unit_of
from zerogap.oracles.factors.layout import (
    Layout,
    Node,
    ShareGrid,
    Tables,
    fill_tables,
    halves,
    left_by,
    move_over,
    open_up,
    told,
)
from zerogap.oracles.factors.lists import Factors, sort_out
from zerogap.oracles.factors.shares import weigh
from zerogap.problems.dependency.factor import FactorArrays
from zerogap.problems.dependency.problem import Problem
from zerogap.proof.certificate import Certificate, FactorShares

FINER_BITS = 8  # shares are finer than scores, as far as sums stay exact
MOST_ENTRIES = 2**22  # of all tables: factors of two arcs that find no room are treated as larger ones


def moved_to(layout: Layout, shares: Scores, tables: FactorTables) -> tuple[Scores, bool]:
    """Shares for tables of fewer arcs of the same problem, and whether they are the same: the unit may be coarser there."""
    moved = tables.first_shares()
    move_over(layout, shares, tables.layout, moved)
    if np.array_equal(np.floor(moved / tables.grid.unit) * tables.grid.unit, moved):
        return moved, True
    return rounded(tables.layout, moved, tables.grid.unit), False


def rounded(layout: Layout, shares: Scores, unit: float) -> Scores:
    """Multiples of a unit, rounded down; what a positive factor loses by that goes to its first arc."""
    down: Scores = np.floor(shares / unit) * unit
    of_larger = down[layout.share_start[-1] :]
    if len(layout.phi):
        lost = layout.phi - np.add.reduceat(of_larger, layout.start[:-1])
        of_larger[layout.start[:-1]] += np.where(layout.phi > 0.0, lost, 0.0)
    return down


def evidence_of(layout: Layout, allowed: Flags, active: Integers, shares: Scores, unit: float, rest: Certificate) -> FactorShares:
    """Of allowed arcs, and of the larger factors that may hold."""
    units = told(layout, active, shares, allowed, unit)
    words = layout.first * len(allowed) + layout.second
    return FactorShares(unit, tuple(words.tolist()), tuple(units.tolist()), rest)


class OpenArcs(NamedTuple):
    """The arcs that a node allows, and what is left of a problem."""

    allowed: Flags
    node: Node


@dataclass(frozen=True, slots=True, eq=False)
class FactorTables:
    """All of it, for the arcs that were allowed when it was made. `arcs` have the factors of one arc."""

    arcs: Scores
    layout: Layout
    tables: Tables
    hard_start: Integers  # the arcs of factors of score -inf, one after the other
    hard_arc: Integers
    grid: ShareGrid

    def node(self, allowed: Flags) -> OpenArcs | None:
        """What is left of allowed arcs, without those that would complete a factor of score -inf; None if nothing is left."""
        left = self.forced(allowed) if len(self.hard_arc) else allowed
        if left is None:
            return None
        node = Node(*open_up(self.arcs, left, self.layout.head_start, self.layout.head, self.layout.start, self.tables.arc))
        return OpenArcs(left, node) if (node.open_start[2:] > node.open_start[1:-1]).all() else None

    def forced(self, allowed: Flags) -> Flags | None:
        left, size = allowed, len(allowed)
        while True:
            counts = left.sum(axis=0)
            if (counts[1:] == 0).any():
                return None
            may_hold = np.logical_and.reduceat(left.reshape(-1)[self.hard_arc], self.hard_start[:-1])
            unsure = np.add.reduceat(counts[self.hard_arc % size] > 1, self.hard_start[:-1])
            if (may_hold & (unsure == 0)).any():
                return None
            last = np.repeat(may_hold & (unsure == 1), np.diff(self.hard_start)) & (counts[self.hard_arc % size] > 1)
            if not last.any():
                return left
            left = left.copy()
            left.reshape(-1)[self.hard_arc[last]] = False

    def first_shares(self) -> Scores:
        """Halves of what is most for every head, equal shares of larger factors (section 4.4)."""
        shares: Scores = halves(self.layout, self.tables, self.grid)
        return shares

    def weights(self, left: OpenArcs, shares: Scores) -> tuple[Scores, float]:
        """The arcs with their shares, and the constant."""
        weights = np.empty_like(left.node.arcs)
        return weights, float(weigh(self.layout, self.tables, left.node, shares, weights))

    def evidence(self, left: OpenArcs | None, shares: Scores, rest: Certificate) -> FactorShares:
        if left is None:
            return FactorShares(self.grid.unit, (), (), rest)
        return evidence_of(self.layout, left.allowed, left.node.active, shares, self.grid.unit, rest)


def factor_tables(problem: Problem, factors: Factors, allowed: Flags) -> FactorTables:
    """Those that may hold with `allowed` arcs."""
    size = len(allowed)
    head_start, head, pairs, uses, entries, start, arc, phi, number = left_by(factors, allowed)
    if entries > MOST_ENTRIES:
        widths = np.diff(head_start)
        each = widths[pairs // size] * widths[pairs % size]
        by_use = np.argsort(-uses / np.maximum(each, 1), kind="stable")
        kept = np.sort(pairs[by_use[np.cumsum(each[by_use]) <= MOST_ENTRIES]])
        start, arc, phi, number = with_pairs(factors, allowed, np.setdiff1d(pairs, kept), start, arc, phi, number)
        pairs = kept
    first, second, table_start, share_start, rest_start, table, sizes = fill_tables(
        factors, pairs, head_start, head, start, phi, 1 if problem.projective else 0, 1 if problem.single_root else 0
    )
    hard = list[tuple[int, ...]]()
    if factors.some_forbidden:
        bounds = itertools.pairwise(start.tolist())
        hard = [tuple(arc[a:b].tolist()) for (a, b), score in zip(bounds, phi.tolist(), strict=True) if score == -math.inf]
        hard += sorted(forbidden_pairs(factors, allowed, pairs))
    largest, of_larger, of_forbidden = sizes.tolist()
    largest = max(largest, problem.resolution)
    unit, limit = unit_and_limit(problem, largest, len(pairs), of_larger, of_forbidden)
    return FactorTables(
        factors.arcs, Layout(first, second, head_start, head, share_start, start, phi, number),
        Tables(table_start, rest_start, table, arc), np.array([0, *itertools.accumulate(map(len, hard))], dtype=np.int64),
        np.array([*itertools.chain(*hard)], dtype=np.int64), ShareGrid(limit, largest, unit, factors.grain),
    )  # fmt: skip


def forbidden_pairs(factors: Factors, allowed: Flags, pairs: Integers) -> set[tuple[int, int]]:
    """The arcs of factors of score -inf in tables, as numbers."""
    size, left = len(allowed), allowed & (factors.arcs > -np.inf)
    never = np.flatnonzero(factors.scores == -np.inf)
    pair = np.searchsorted(factors.begin, never, side="right") - 1
    one, other = factors.heads[never, 0] * size + pair // size, factors.heads[never, 1] * size + pair % size
    used = left.reshape(-1)[one] & left.reshape(-1)[other] & np.isin(pair, pairs)
    return set(zip(one[used].tolist(), other[used].tolist(), strict=True))


def with_pairs(
    factors: Factors, allowed: Flags, pairs: Integers, start: Integers, arc: Integers, phi: Scores, number: Integers
) -> tuple[Integers, Integers, Scores, Integers]:
    """Larger factors and those of two words for which there is no room in tables, all in the order of their places in the problem. The
    numbers of the latter follow those of larger ones."""
    size, left = len(allowed), allowed & (factors.arcs > -np.inf)
    found = [(int(factors.place_of_larger[c]), tuple(arc[a:b].tolist()), float(score), c)
             for c, (a, b), score in zip(number.tolist(), itertools.pairwise(start.tolist()), phi.tolist(), strict=True)]  # fmt: skip
    for pair in pairs.tolist():
        m, s = divmod(pair, size)
        for i in range(int(factors.begin[pair]), int(factors.begin[pair + 1])):
            h, k = factors.heads[i].tolist()
            if left[h, m] and left[k, s]:
                key = (h * size + m, k * size + s)
                found.append((int(factors.place_of_two[i]), key, float(factors.scores[i]), len(factors.phi) + i))
    merged: dict[tuple[int, ...], tuple[float, int]] = {}
    for _, key, score, c in sorted(found):
        before, first = merged.get(key, (0.0, c))
        merged[key] = before + score, first
    merged = {key: value for key, value in merged.items() if value[0] != 0.0}
    return (
        np.array([0, *itertools.accumulate(map(len, merged))], dtype=np.int64),
        np.array(list(itertools.chain.from_iterable(merged)), dtype=np.int64),
        np.array([score for score, _ in merged.values()], dtype=np.float64), np.array([c for _, c in merged.values()], dtype=np.int64),
    )  # fmt: skip


def unit_and_limit(problem: Problem, largest: float, n_tables: int, of_larger: float, of_forbidden: float) -> tuple[float, float]:
    """The finest unit of shares, and the largest share, at which all sums of `proof.dependency.factor_shares` are exact."""
    fixed = problem.terms * problem.largest + n_tables * largest + 2.0 * of_larger
    flexible = 2.0 * (n_tables + of_forbidden)
    wanted = 4.0 * (problem.n_words * problem.largest + largest)
    for bits in range(FINER_BITS, -1, -1):
        unit = math.ldexp(problem.resolution, -bits)
        limit = math.floor((math.ldexp(unit, MANTISSA_BITS - 1) - fixed) / max(flexible, 1.0) / unit) * unit
        if limit >= wanted:
            return unit, wanted if wanted % unit == 0 else math.floor(wanted / unit) * unit
    return unit, max(limit, 0.0)


def listed_factors(problem: Problem) -> tuple[Scores, Integers, Integers]:
    """Their scores, where the arcs of each begin, and all arcs as numbers."""
    given, size = problem.factors, problem.n_words + 1
    if isinstance(given, FactorArrays):
        return given.scores, given.start, given.arcs
    count = len(given)
    sizes = np.fromiter((len(factor.arcs) for factor in given), dtype=np.int64, count=count)
    scores = np.fromiter((factor.score for factor in given), dtype=np.float64, count=count)
    each = itertools.chain.from_iterable(factor.arcs for factor in given)
    arcs = np.fromiter((h * size + m for h, m in each), dtype=np.int64, count=int(sizes.sum()))
    return scores, np.concatenate([[0], np.cumsum(sizes)]), arcs


def possible_factors(problem: Problem, arcs: Scores) -> Factors:
    """The factors of a problem under `arcs` that hold the best labels."""
    arcs = arcs.copy()
    scores, begin, numbers = listed_factors(problem)
    kinds = (1 if problem.projective else 0, 1 if problem.single_root else 0)
    of_pair, heads, of_two, place_of_two, start, arc, phi, place_of_larger = sort_out(begin, numbers, scores, *kinds, arcs)
    grain = problem.resolution
    if not problem.parts and not problem.automata:
        grain = unit_of(grain, problem.arcs, problem.labels, scores)
    forbidden = bool(scores.min(initial=0.0) == -np.inf)
    return Factors(arcs, of_pair, heads, of_two, place_of_two, start, arc, phi, place_of_larger, grain, forbidden)
