"""The factors of a problem as `oracles.factor_shares` reads them: tables of two words, and larger factors one after the other.

Factors of one arc are added to the arc. Those that no tree can have are left out: two arcs from a single root, a cycle, arcs that cross
where that is not wanted. Equal ones are one.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zerogap.dependency.problem import Problem
from zerogap.grid import MANTISSA_BITS, Scores, unit_of
from zerogap.proof.certificate import Certificate, FactorShares

Integers = NDArray[np.int64]
Allowed = NDArray[np.bool_]

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
        for c in node.active.tolist():
            arcs, some = self.arc[self.start[c] : self.start[c + 1]], shares[n_shares + self.start[c] : n_shares + self.start[c + 1]]
            flat[arcs] += some if self.phi[c] > 0.0 else some[0]
            constant -= 0.0 if self.phi[c] > 0.0 else (len(arcs) - 1) * float(some[0])
        weights[~node.allowed] = -np.inf
        return weights, constant

    def moved_to(self, other: FactorTables, shares: Scores) -> Scores:
        """The same shares for tables of fewer arcs of the same problem."""
        size = len(self.arcs)
        moved = other.first_shares()
        mine, theirs = self.names(size), other.names(size)
        where = np.searchsorted(mine[0], theirs[0])
        found = where < len(mine[0])
        found[found] = mine[0][where[found]] == theirs[0][found]
        moved[theirs[1][found]] = shares[mine[1][where[found]]]
        by_arcs = {tuple(self.arc[a:b].tolist()): a for a, b in itertools.pairwise(self.start.tolist())}
        mine_offset, offset = int(self.share_start[-1]), int(other.share_start[-1])
        for a, b in itertools.pairwise(other.start.tolist()):
            before = by_arcs.get(tuple(other.arc[a:b].tolist()))
            if before is not None:
                moved[offset + a : offset + b] = shares[mine_offset + before : mine_offset + before + b - a]
        return moved

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
        chosen = [np.flatnonzero(is_open)]
        for c in node.active.tolist():
            end = self.start[c + 1] if self.phi[c] > 0.0 else self.start[c] + 1
            chosen.append(np.arange(n_shares + self.start[c], n_shares + end))
        given = (shares[np.concatenate(chosen)] / self.unit).astype(np.int64)
        return FactorShares(self.unit, tuple((self.first * size + self.second).tolist()), tuple(given.tolist()), rest)


class Listed(NamedTuple):
    """The factors of a problem as arrays: the ends (head, modifier) of the arcs of factor i are ends[begin[i] : begin[i + 1]]."""

    scores: Scores
    begin: Integers
    ends: Integers


def listed_factors(problem: Problem) -> Listed:
    count = len(problem.factors)
    sizes = np.fromiter((len(factor.arcs) for factor in problem.factors), dtype=np.int64, count=count)
    scores = np.fromiter((factor.score for factor in problem.factors), dtype=np.float64, count=count)
    each = itertools.chain.from_iterable(itertools.chain.from_iterable(factor.arcs for factor in problem.factors))
    ends = np.fromiter(each, dtype=np.int64, count=2 * int(sizes.sum())).reshape(-1, 2)
    return Listed(scores, np.concatenate([[0], np.cumsum(sizes)]), ends)


def factor_tables(problem: Problem, listed: Listed, arcs: Scores, allowed: Allowed | None = None) -> FactorTables:
    """The factors of a problem under `arcs` that hold the best labels, as far as they may hold with `allowed` arcs."""
    size = len(arcs)
    arcs = arcs.copy()
    scores, begin, ends = listed
    counts = np.diff(begin)
    single = begin[:-1][counts == 1]
    np.add.at(arcs, (ends[single, 0], ends[single, 1]), scores[counts == 1])
    left = arcs > -np.inf if allowed is None else allowed & (arcs > -np.inf)

    # two arcs: the word that comes first is the first
    two = begin[:-1][counts == 2]
    one, other = ends[two], ends[two + 1]
    swap = one[:, 1] > other[:, 1]
    one, other = np.where(swap[:, None], other, one), np.where(swap[:, None], one, other)
    of_two = scores[counts == 2]
    used = (of_two != 0.0) & left[one[:, 0], one[:, 1]] & left[other[:, 0], other[:, 1]]
    used &= can_be_together(one[:, 0], one[:, 1], other[:, 0], other[:, 1], problem)
    one, other, of_two = one[used], other[used], of_two[used]

    # heads of words, and tables of pairs of words
    word, head = (np.ascontiguousarray(index) for index in np.nonzero(left.T))
    head_start = np.searchsorted(word, np.arange(size + 1))
    widths = np.diff(head_start)
    pairs, pair_of, factors_of = np.unique(one[:, 1] * size + other[:, 1], return_inverse=True, return_counts=True)
    entries = widths[pairs // size] * widths[pairs % size]
    kept = np.zeros(len(pairs), dtype=np.bool_)
    by_use = np.argsort(-factors_of / np.maximum(entries, 1), kind="stable")
    kept[by_use[np.cumsum(entries[by_use]) <= MOST_ENTRIES]] = True
    in_table = kept[pair_of] if len(pairs) else np.zeros(0, dtype=np.bool_)
    pairs = pairs[kept]
    first, second = pairs // size, pairs % size
    table_start = np.concatenate([[0], np.cumsum(widths[first] * widths[second])])
    share_start = np.concatenate([[0], np.cumsum(widths[second])])
    rest_start = np.concatenate([[0], np.cumsum(widths[first])])
    q = np.repeat(np.arange(len(pairs)), np.diff(table_start))
    row, column = np.divmod(np.arange(int(table_start[-1])) - table_start[q], np.maximum(widths[second[q]], 1))
    table = np.zeros(int(table_start[-1]))
    place = np.zeros((size, size), dtype=np.int64)
    place[head, word] = np.arange(len(head)) - head_start[word]
    a, b = one[in_table], other[in_table]
    at = np.searchsorted(pairs, a[:, 1] * size + b[:, 1])
    spot = table_start[at] + place[a[:, 0], a[:, 1]] * widths[b[:, 1]] + place[b[:, 0], b[:, 1]]
    np.add.at(table, spot, of_two[in_table])
    heads_first, heads_second = head[head_start[first[q]] + row], head[head_start[second[q]] + column]
    table[~can_be_together(heads_first, first[q], heads_second, second[q], problem)] = -np.inf

    # larger factors, and pairs that found no room: equal ones are one, in the order of the problem
    merged: dict[tuple[int, ...], float] = {}
    others = np.flatnonzero(counts > 2)
    if not in_table.all():
        words = np.sort(np.stack([ends[two, 1], ends[two + 1, 1]]), axis=0)
        others = np.sort(np.concatenate([others, np.flatnonzero(counts == 2)[~np.isin(words[0] * size + words[1], pairs)]]))
    for i in others.tolist():
        some = sorted(problem.factors[i].arcs, key=lambda arc: arc[1])
        key = tuple(h * size + m for h, m in some)
        merged[key] = merged.get(key, 0.0) + problem.factors[i].score
    merged = {
        key: score for key, score in merged.items() if score != 0.0 and all(left.reshape(-1)[list(key)]) and can_hold(key, size, problem)
    }
    start = np.concatenate([[0], np.cumsum([len(key) for key in merged])]).astype(np.int64)
    arc = np.array(list(itertools.chain.from_iterable(merged)), dtype=np.int64)
    phi = np.array(list(merged.values()), dtype=np.float64)

    hard = [key for key, score in merged.items() if score == -math.inf]
    together = np.flatnonzero((table[spot] == -np.inf) & (of_two[in_table] == -np.inf))
    hard += list(
        {(int(h * size + m), int(k * size + s)) for (h, m), (k, s) in zip(a[together].tolist(), b[together].tolist(), strict=True)}
    )
    hard_start = np.concatenate([[0], np.cumsum([len(key) for key in hard])]).astype(np.int64)
    hard_arc = np.array(list(itertools.chain.from_iterable(hard)), dtype=np.int64)

    grain = problem.resolution
    if not problem.parts and not problem.automata:
        grain = unit_of(grain, problem.arcs, problem.labels, scores)
    finite = np.abs(np.concatenate([table[table > -np.inf], phi[phi > -np.inf]]))
    largest = float(finite.max(initial=problem.resolution))
    unit, limit = unit_and_limit(problem, largest, len(pairs), start, phi)
    return FactorTables(
        arcs, first, second, head_start, head, table_start, share_start, rest_start, table, start, arc, phi, word, share_start[q] + column,
        hard_start, hard_arc, unit, grain, limit, largest,
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


def can_be_together(h: Integers, m: Integers, k: Integers, s: Integers, problem: Problem) -> Allowed:
    """Whether a tree may have both arcs h -> m and k -> s."""
    never = (h == s) & (k == m)
    if problem.single_root:
        never |= (h == 0) & (k == 0)
    if problem.projective:
        low, high, below, above = np.minimum(h, m), np.maximum(h, m), np.minimum(k, s), np.maximum(k, s)
        never |= ((low < below) & (below < high) & (high < above)) | ((below < low) & (low < above) & (above < high))
    return ~never


def can_hold(key: tuple[int, ...], size: int, problem: Problem) -> bool:
    """Whether a tree may have all these arcs."""
    h, m = np.divmod(np.array(key), size)
    one, other = np.triu_indices(len(key), 1)
    if not can_be_together(h[one], m[one], h[other], m[other], problem).all():
        return False
    head_of = dict(zip(m.tolist(), h.tolist(), strict=True))
    for word in head_of:
        steps = 0
        while word in head_of and steps <= len(key):
            word, steps = head_of[word], steps + 1
        if steps > len(key):
            return False
    return True
