"""The factors of a problem as `oracles.factor_shares` reads them: tables of two words, and larger factors one after the other."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np

from zerogap.dependency.factor_sets import Allowed, Factors, Integers
from zerogap.dependency.problem import Problem
from zerogap.grid import MANTISSA_BITS, Scores
from zerogap.oracles.factor_lists import count_pairs, fill_tables
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

    @property
    def is_single(self) -> bool:
        """Whether every word has one head left."""
        return len(self.open_) == len(self.allowed) - 1


@dataclass(frozen=True, slots=True, eq=False)
class FactorTables:
    """All of it, for the arcs that were allowed when it was made. `arcs` have the factors of one arc."""

    arcs: Scores
    first: Integers
    second: Integers
    head_start: Integers
    head: Integers
    table_start: Integers
    share_start: Integers
    rest_start: Integers
    table: Scores
    start: Integers
    arc: Integers
    phi: Scores
    word: Integers  # of every head
    share_of_entry: Integers  # which share every entry of a table is with
    hard_start: Integers  # the arcs of factors of score -inf, one after the other
    hard_arc: Integers
    unit: float
    grain: float  # divides the score of every tree
    limit: float  # of shares
    largest: float  # finite score of a factor

    @property
    def arrays(self) -> tuple[object, ...]:
        """What the kernel takes."""
        return (
            self.first, self.second, self.head_start, self.head, self.table_start, self.share_start, self.rest_start, self.table,
            self.start, self.arc, self.phi,
        )  # fmt: skip

    @property
    def n_shares(self) -> int:
        return int(self.share_start[-1] + self.start[-1])

    def node(self, allowed: Allowed) -> Node | None:
        """What is left of allowed arcs, without those that would complete a factor of score -inf; None if nothing is left."""
        left = self.forced(allowed)
        if left is None:
            return None
        is_open = left[self.head, self.word]
        open_ = (np.arange(len(self.head)) - self.head_start[self.word])[is_open]
        counts = np.bincount(self.word[is_open], minlength=len(left))
        open_start = np.concatenate([[0], np.cumsum(counts)])
        active = np.arange(len(self.phi))
        if len(active):
            active = np.flatnonzero(np.logical_and.reduceat(left.reshape(-1)[self.arc], self.start[:-1]))
        return Node(left, np.where(left, self.arcs, -np.inf), open_start, open_, active)

    def forced(self, allowed: Allowed) -> Allowed | None:
        left, size = allowed, len(allowed)
        while True:
            counts = left.sum(axis=0)
            if (counts[1:] == 0).any():
                return None
            if not len(self.hard_arc):
                return left
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
        shares = np.full(int(self.share_start[-1]), -np.inf)
        np.maximum.at(shares, self.share_of_entry, self.table)
        shares = np.where(shares > -np.inf, np.floor(np.clip(shares / 2, -self.limit, self.limit) / self.unit) * self.unit, 0.0)
        sizes = np.diff(self.start)
        equal = np.where(self.phi > 0.0, np.floor(np.maximum(self.phi, 0.0) / sizes / self.unit) * self.unit, 0.0)
        larger = np.repeat(equal, sizes)
        larger[self.start[:-1]] += np.where(self.phi > 0.0, self.phi - equal * sizes, 0.0)
        return np.concatenate([shares, larger])

    def weights(self, node: Node, shares: Scores) -> tuple[Scores, float]:
        """The arcs with their shares, and the constant."""
        weights, constant = node.arcs.copy(), 0.0
        n_shares = int(self.share_start[-1])
        flat = weights.reshape(-1)
        number = self.head * len(weights) + self.word
        is_open = node.allowed.reshape(-1)[number]
        widths = np.diff(self.head_start)
        if len(self.first):
            at = np.arange(n_shares) - np.repeat(self.share_start[:-1], widths[self.second])
            to = np.repeat(self.head_start[self.second], widths[self.second]) + at
            np.add.at(flat, number[to], shares[:n_shares])
            given = np.where(is_open[to], shares[:n_shares], np.inf)
            left = self.table - given[self.share_of_entry]
            rows = np.repeat(self.table_start[:-1], widths[self.first])
            at = np.arange(int(self.rest_start[-1])) - np.repeat(self.rest_start[:-1], widths[self.first])
            rest = np.maximum.reduceat(left, rows + at * np.repeat(widths[self.second], widths[self.first]))
            np.add.at(flat, number[np.repeat(self.head_start[self.first], widths[self.first]) + at], rest)
        if len(node.active):
            sizes, is_active = np.diff(self.start), np.zeros(len(self.phi), dtype=np.bool_)
            is_active[node.active] = True
            of_first = shares[n_shares + self.start[:-1]]
            added = np.where(np.repeat(self.phi > 0.0, sizes), shares[n_shares:], np.repeat(of_first, sizes))
            used = np.repeat(is_active, sizes)
            np.add.at(flat, self.arc[used], added[used])
            constant -= float(((sizes - 1) * of_first)[is_active & (self.phi < 0.0)].sum())
        weights[~node.allowed] = -np.inf
        return weights, constant

    def moved_to(self, other: FactorTables, shares: Scores) -> Scores:
        """The same shares for tables of fewer arcs of the same problem."""
        numbers, order = self.names(len(self.arcs))
        offset = int(self.share_start[-1])
        sets = [(tuple(self.arc[a:b].tolist()), shares[offset + a : offset + b]) for a, b in itertools.pairwise(self.start.tolist())]
        return moved_to(other, numbers, shares[order], dict(sets))

    def names(self, size: int) -> tuple[Integers, Integers]:
        """Numbers of all shares of tables, sorted, and where they stand."""
        widths = np.diff(self.head_start)[self.second]
        at = np.arange(int(self.share_start[-1])) - np.repeat(self.share_start[:-1], widths)
        heads = self.head[np.repeat(self.head_start[self.second], widths) + at]
        numbers = np.repeat(self.first * size + self.second, widths) * size + heads
        order = np.argsort(numbers)
        return numbers[order], order

    def evidence(self, node: Node | None, shares: Scores, rest: Certificate) -> FactorShares:
        if node is None:
            return FactorShares(self.unit, (), (), rest)
        size = len(self.arcs)
        n_shares = int(self.share_start[-1])
        widths = np.diff(self.head_start)[self.second]
        at = np.arange(n_shares) - np.repeat(self.share_start[:-1], widths)
        is_open = node.allowed[self.head, self.word][np.repeat(self.head_start[self.second], widths) + at]
        given = [shares[:n_shares][is_open]]
        if len(node.active):
            sizes, is_active = np.diff(self.start), np.zeros(len(self.phi), dtype=np.bool_)
            is_active[node.active] = True
            told = np.repeat(self.phi > 0.0, sizes)  # all shares of a positive factor, the first of a negative one
            told[self.start[:-1]] = True
            given.append(shares[n_shares:][told & np.repeat(is_active, sizes)])
        units = (np.concatenate(given) / self.unit).astype(np.int64)
        return FactorShares(self.unit, tuple((self.first * size + self.second).tolist()), tuple(units.tolist()), rest)


def moved_to(tables: FactorTables, names: Integers, shares: Scores, larger: dict[tuple[int, ...], Scores]) -> Scores:
    """Shares for these tables, from those that are known: of tables by their names, in order, of larger factors by their arcs."""
    moved = tables.first_shares()
    mine, order = tables.names(len(tables.arcs))
    where = np.searchsorted(names, mine)
    found = where < len(names)
    found[found] = names[where[found]] == mine[found]
    moved[order[found]] = shares[where[found]]
    offset = int(tables.share_start[-1])
    for a, b in itertools.pairwise(tables.start.tolist()):
        some = larger.get(tuple(tables.arc[a:b].tolist()))
        if some is not None:
            moved[offset + a : offset + a + len(some)] = some
    return moved


def factor_tables(problem: Problem, factors: Factors, allowed: Allowed) -> FactorTables:
    """Those that may hold with `allowed` arcs."""
    size = len(allowed)
    left = allowed & (factors.arcs > -np.inf)
    uses = np.zeros(size * size, dtype=np.int64)
    count_pairs(factors.begin, factors.heads, left, uses)
    start, arc, phi, of_larger = those_within(factors, left)

    # heads of words, and tables of pairs of words
    word, head = (np.ascontiguousarray(index) for index in np.nonzero(left.T))
    head_start = np.searchsorted(word, np.arange(size + 1))
    widths = np.diff(head_start)
    pairs = np.flatnonzero(uses)
    entries = widths[pairs // size] * widths[pairs % size]
    if entries.sum() > MOST_ENTRIES:
        by_use = np.argsort(-uses[pairs] / np.maximum(entries, 1), kind="stable")
        kept = np.sort(pairs[by_use[np.cumsum(entries[by_use]) <= MOST_ENTRIES]])
        start, arc, phi = with_pairs(factors, left, np.setdiff1d(pairs, kept), start, arc, phi, of_larger)
        pairs = kept
    first, second = pairs // size, pairs % size
    table_start = np.concatenate([[0], np.cumsum(widths[first] * widths[second])])
    share_start = np.concatenate([[0], np.cumsum(widths[second])])
    rest_start = np.concatenate([[0], np.cumsum(widths[first])])
    table, share_of_entry = np.empty(int(table_start[-1])), np.empty(int(table_start[-1]), dtype=np.int64)
    place = np.full((size, size), -1)
    place[head, word] = np.arange(len(head)) - head_start[word]
    kinds = (1 if problem.projective else 0, 1 if problem.single_root else 0)
    fill_tables(
        factors.begin, factors.heads, factors.scores, first, second, head_start, head, place, table_start, share_start, *kinds, table,
        share_of_entry,
    )  # fmt: skip

    hard = [tuple(arc[a:b].tolist()) for a, b, score in zip(start[:-1].tolist(), start[1:].tolist(), phi.tolist(), strict=True)
            if score == -math.inf]  # fmt: skip
    hard += sorted(forbidden_pairs(factors, left, pairs))
    hard_start = np.concatenate([[0], np.cumsum([len(key) for key in hard])]).astype(np.int64)
    hard_arc = np.array(list(itertools.chain.from_iterable(hard)), dtype=np.int64)

    finite = np.abs(np.concatenate([table[table > -np.inf], phi[phi > -np.inf]]))
    largest = float(finite.max(initial=problem.resolution))
    unit, limit = unit_and_limit(problem, largest, len(pairs), start, phi)
    return FactorTables(
        factors.arcs, first, second, head_start, head, table_start, share_start, rest_start, table, start, arc, phi, word, share_of_entry,
        hard_start, hard_arc, unit, factors.grain, limit, largest,
    )  # fmt: skip


def those_within(factors: Factors, left: Allowed) -> tuple[Integers, Integers, Scores, Integers]:
    """The larger factors whose arcs are all left: start, arc, phi and their numbers."""
    if not len(factors.phi):
        return factors.start, factors.arc, factors.phi, np.zeros(0, dtype=np.int64)
    holds = np.logical_and.reduceat(left.reshape(-1)[factors.arc], factors.start[:-1])
    sizes = np.diff(factors.start)
    start = np.concatenate([[0], np.cumsum(sizes[holds])])
    return start, factors.arc[np.repeat(holds, sizes)], factors.phi[holds], np.flatnonzero(holds)


def forbidden_pairs(factors: Factors, left: Allowed, pairs: Integers) -> set[tuple[int, int]]:
    """The arcs of factors of score -inf in tables, as numbers."""
    size = len(left)
    never = np.flatnonzero(factors.scores == -np.inf)
    if not len(never):
        return set()
    pair = np.searchsorted(factors.begin, never, side="right") - 1
    one, other = factors.heads[never, 0] * size + pair // size, factors.heads[never, 1] * size + pair % size
    used = left.reshape(-1)[one] & left.reshape(-1)[other] & np.isin(pair, pairs)
    return set(zip(one[used].tolist(), other[used].tolist(), strict=True))


def with_pairs(
    factors: Factors, left: Allowed, pairs: Integers, start: Integers, arc: Integers, phi: Scores, of_larger: Integers
) -> tuple[Integers, Integers, Scores]:
    """Larger factors and those of two words for which there is no room in tables, all in the order of their places in the problem."""
    size = len(left)
    found = [(int(factors.place_of_larger[c]), tuple(arc[a:b].tolist()), float(score))
             for c, a, b, score in zip(of_larger.tolist(), start[:-1].tolist(), start[1:].tolist(), phi.tolist(), strict=True)]  # fmt: skip
    for pair in pairs.tolist():
        m, s = divmod(pair, size)
        for i in range(int(factors.begin[pair]), int(factors.begin[pair + 1])):
            h, k = factors.heads[i].tolist()
            if left[h, m] and left[k, s]:
                found.append((int(factors.place_of_two[i]), (h * size + m, k * size + s), float(factors.scores[i])))
    merged: dict[tuple[int, ...], float] = {}
    for _, key, score in sorted(found):
        merged[key] = merged.get(key, 0.0) + score
    merged = {key: score for key, score in merged.items() if score != 0.0}
    return (
        np.concatenate([[0], np.cumsum([len(key) for key in merged])]).astype(np.int64),
        np.array(list(itertools.chain.from_iterable(merged)), dtype=np.int64), np.array(list(merged.values()), dtype=np.float64),
    )  # fmt: skip


def unit_and_limit(problem: Problem, largest: float, n_tables: int, start: Integers, phi: Scores) -> tuple[float, float]:
    """The finest unit of shares, and the largest share, at which all sums are exact: those that `proof.factor_shares` adds up."""
    sizes = np.diff(start)
    hard = phi == -np.inf
    fixed = problem.terms * problem.largest + n_tables * largest + 2.0 * float((sizes * np.abs(phi))[~hard].sum())
    flexible = 2.0 * (n_tables + float(sizes[hard].sum()))
    wanted = 4.0 * (problem.n_words * problem.largest + largest)
    for bits in range(FINER_BITS, -1, -1):
        unit = math.ldexp(problem.resolution, -bits)
        limit = math.floor((math.ldexp(unit, MANTISSA_BITS - 1) - fixed) / max(flexible, 1.0) / unit) * unit
        if limit >= wanted:
            return unit, wanted if wanted % unit == 0 else math.floor(wanted / unit) * unit
    return unit, max(limit, 0.0)
