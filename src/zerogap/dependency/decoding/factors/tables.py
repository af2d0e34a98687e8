"""The factors of a problem as `oracles.factors.shares` reads them: tables of two words, and larger factors one after the other."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np

from zerogap.dependency.decoding.factors.sets import Allowed, Factors, Integers
from zerogap.grid import MANTISSA_BITS, Scores
from zerogap.oracles.factors.layout import fill_tables, halves, left_by, move_over, open_up, told
from zerogap.oracles.factors.shares import weigh
from zerogap.problems.dependency.problem import Problem
from zerogap.proof.certificate import Certificate, FactorShares

FINER_BITS = 8  # shares are finer than scores, as far as sums stay exact
MOST_ENTRIES = 2**22  # of all tables: factors of two arcs that find no room are treated as larger ones


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """What is left of a problem: the arcs that are allowed, and the factors that may hold."""

    allowed: Allowed
    arcs: Scores  # -inf where they are closed
    open_start: Integers
    open_: Integers
    active: Integers


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """Which shares there are: of tables of two words, one for every head of the second, and of the arcs of larger factors after them."""

    first: Integers
    second: Integers
    head_start: Integers
    head: Integers
    share_start: Integers
    start: Integers
    phi: Scores
    number: Integers  # of larger factors: their places among all of them

    @property
    def n_shares(self) -> int:
        return int(self.share_start[-1] + self.start[-1])

    def moved_to(self, tables: FactorTables, shares: Scores) -> tuple[Scores, bool]:
        """The same shares for tables of fewer arcs of the same problem, and whether they are: its unit may be coarser than theirs."""
        moved, mine, its = tables.first_shares(), self, tables.layout
        move_over(
            mine.first, mine.second, mine.head_start, mine.head, mine.share_start, mine.start, mine.number, shares,
            its.first, its.second, its.head_start, its.head, its.share_start, its.start, its.number, moved,
        )  # fmt: skip
        if np.array_equal(np.floor(moved / tables.unit) * tables.unit, moved):
            return moved, True
        return its.rounded(moved, tables.unit), False

    def rounded(self, shares: Scores, unit: float) -> Scores:
        """Multiples of a unit, rounded down; what a positive factor loses by that goes to its first arc."""
        down: Scores = np.floor(shares / unit) * unit
        of_larger = down[self.share_start[-1] :]
        if len(self.phi):
            left = self.phi - np.add.reduceat(of_larger, self.start[:-1])
            of_larger[self.start[:-1]] += np.where(self.phi > 0.0, left, 0.0)
        return down

    def evidence(self, allowed: Allowed, active: Integers, shares: Scores, unit: float, rest: Certificate) -> FactorShares:
        """Of allowed arcs, and of the larger factors that may hold."""
        units = told(
            self.first, self.second, self.head_start, self.head, self.share_start, self.start, self.phi, active, shares, allowed, unit
        )
        words = self.first * len(allowed) + self.second
        return FactorShares(unit, tuple(words.tolist()), tuple(units.tolist()), rest)


@dataclass(frozen=True, slots=True, eq=False)
class FactorTables:
    """All of it, for the arcs that were allowed when it was made. `arcs` have the factors of one arc."""

    arcs: Scores
    layout: Layout
    table_start: Integers
    rest_start: Integers
    table: Scores
    arc: Integers
    hard_start: Integers  # the arcs of factors of score -inf, one after the other
    hard_arc: Integers
    unit: float
    grain: float  # divides the score of every tree
    limit: float  # of shares
    largest: float  # finite score of a factor

    @property
    def arrays(self) -> tuple[object, ...]:
        """What the kernel takes."""
        its = self.layout
        return (
            its.first, its.second, its.head_start, its.head, self.table_start, its.share_start, self.rest_start, self.table,
            its.start, self.arc, its.phi,
        )  # fmt: skip

    def node(self, allowed: Allowed) -> Node | None:
        """What is left of allowed arcs, without those that would complete a factor of score -inf; None if nothing is left."""
        left = self.forced(allowed) if len(self.hard_arc) else allowed
        if left is None:
            return None
        node = Node(left, *open_up(self.arcs, left, self.layout.head_start, self.layout.head, self.layout.start, self.arc))
        return node if (node.open_start[2:] > node.open_start[1:-1]).all() else None

    def forced(self, allowed: Allowed) -> Allowed | None:
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
        its = self.layout
        shares: Scores = halves(
            its.first, its.second, its.head_start, self.table_start, its.share_start, self.table, its.start, its.phi, self.limit, self.unit
        )
        return shares

    def weights(self, node: Node, shares: Scores) -> tuple[Scores, float]:
        """The arcs with their shares, and the constant."""
        weights = np.empty_like(node.arcs)
        return weights, float(weigh(*self.arrays, node.arcs, node.open_start, node.open_, node.active, shares, weights))

    def evidence(self, node: Node | None, shares: Scores, rest: Certificate) -> FactorShares:
        if node is None:
            return FactorShares(self.unit, (), (), rest)
        return self.layout.evidence(node.allowed, node.active, shares, self.unit, rest)


def factor_tables(problem: Problem, factors: Factors, allowed: Allowed) -> FactorTables:
    """Those that may hold with `allowed` arcs."""
    size = len(allowed)
    head_start, head, pairs, uses, entries, start, arc, phi, number = left_by(
        factors.begin, factors.heads, factors.start, factors.arc, factors.phi, factors.arcs, allowed
    )
    if entries > MOST_ENTRIES:
        widths = np.diff(head_start)
        each = widths[pairs // size] * widths[pairs % size]
        by_use = np.argsort(-uses / np.maximum(each, 1), kind="stable")
        kept = np.sort(pairs[by_use[np.cumsum(each[by_use]) <= MOST_ENTRIES]])
        start, arc, phi, number = with_pairs(factors, allowed, np.setdiff1d(pairs, kept), start, arc, phi, number)
        pairs = kept
    first, second, table_start, share_start, rest_start, table, sizes = fill_tables(
        factors.begin, factors.heads, factors.scores, pairs, head_start, head, start, arc, phi, 1 if problem.projective else 0,
        1 if problem.single_root else 0,
    )  # fmt: skip
    hard = list[tuple[int, ...]]()
    if factors.some_forbidden:
        bounds = itertools.pairwise(start.tolist())
        hard = [tuple(arc[a:b].tolist()) for (a, b), score in zip(bounds, phi.tolist(), strict=True) if score == -math.inf]
        hard += sorted(forbidden_pairs(factors, allowed, pairs))
    largest, of_larger, of_forbidden = sizes.tolist()
    largest = max(largest, problem.resolution)
    unit, limit = unit_and_limit(problem, largest, len(pairs), of_larger, of_forbidden)
    return FactorTables(
        factors.arcs, Layout(first, second, head_start, head, share_start, start, phi, number), table_start, rest_start, table, arc,
        np.array([0, *itertools.accumulate(map(len, hard))], dtype=np.int64), np.array([*itertools.chain(*hard)], dtype=np.int64),
        unit, factors.grain, limit, largest,
    )  # fmt: skip


def forbidden_pairs(factors: Factors, allowed: Allowed, pairs: Integers) -> set[tuple[int, int]]:
    """The arcs of factors of score -inf in tables, as numbers."""
    size, left = len(allowed), allowed & (factors.arcs > -np.inf)
    never = np.flatnonzero(factors.scores == -np.inf)
    pair = np.searchsorted(factors.begin, never, side="right") - 1
    one, other = factors.heads[never, 0] * size + pair // size, factors.heads[never, 1] * size + pair % size
    used = left.reshape(-1)[one] & left.reshape(-1)[other] & np.isin(pair, pairs)
    return set(zip(one[used].tolist(), other[used].tolist(), strict=True))


def with_pairs(
    factors: Factors, allowed: Allowed, pairs: Integers, start: Integers, arc: Integers, phi: Scores, number: Integers
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
