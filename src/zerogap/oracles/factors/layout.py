"""The factors that some arcs leave, as `oracles.factors.shares` reads them, and shares that go from one such layout to another.

Factors are those of `oracles.factors.lists`. Tables come by their words, heads by their numbers, so that shares of two layouts can be
walked through side by side; larger factors are told apart by `number`, their place among all of them.
"""

# mypy: disable-error-code="no-untyped-def"
# a kernel's types are its signature

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from zerogap.grid import Integers, Scores
from zerogap.kernels import boolean, float64, int64, kernel, readonly, record, types, writable
from zerogap.oracles.factors.lists import FACTORS, INTEGERS, READ_INTEGERS, READ_SCORES, SCORES, never_both


class Layout(NamedTuple):
    """Which shares there are: of tables of two words, one for every head of the second, and of the arcs of larger factors after them; a
    negative one has its share w at the first of its arcs."""

    first: Integers  # (tables,): the words of a table
    second: Integers
    head_start: Integers  # (n + 2,): the heads that word m may have are head[head_start[m] : head_start[m + 1]]
    head: Integers
    share_start: Integers  # (tables + 1,)
    start: Integers  # (larger + 1,): where the arcs of larger factors begin
    phi: Scores  # (larger,)
    number: Integers  # (larger,): their places among all of them


class Tables(NamedTuple):
    """The scores of factors of two words, theta, and the arcs of larger ones."""

    table_start: Integers  # (tables + 1,): where the theta of a table begins, one row for every head of its first word
    rest_start: Integers  # (tables + 1,): where `rest` and `choice` of a table begin, one for every head of its first word
    table: Scores
    arc: Integers  # numbers h * (n + 1) + m; those of factor c are arc[start[c] : start[c + 1]]


class Node(NamedTuple):
    """What is left of a problem."""

    arcs: Scores  # (n + 1, n + 1): -inf where they are closed
    open_start: Integers  # (n + 2,): of word m, the heads of these numbers are open_[open_start[m] : open_start[m + 1]]
    open_: Integers
    active: Integers  # the larger factors that may hold


class ShareGrid(NamedTuple):
    """The numbers that keep sums exact."""

    limit: float  # of shares
    largest: float  # finite score of a factor; it stands for the gap of what is forbidden
    unit: float  # of shares
    grain: float  # divides the score of every tree


class Shares(NamedTuple):
    """Shares, and what those of tables leave to the heads of the first word: a(h), and the k that it is reached with."""

    shares: Scores
    rest: Scores
    choice: Integers


LAYOUT = record(Layout, *[READ_INTEGERS] * 6, READ_SCORES, READ_INTEGERS)
TABLES = record(Tables, READ_INTEGERS, READ_INTEGERS, READ_SCORES, READ_INTEGERS)
NODE = record(Node, readonly(float64, 2), *[READ_INTEGERS] * 3)
GRID = record(ShareGrid, *[float64] * 4)
SHARES = record(Shares, SCORES, SCORES, INTEGERS)


@kernel(types.Tuple((*[INTEGERS] * 4, int64, INTEGERS, INTEGERS, SCORES, INTEGERS))(FACTORS, readonly(boolean, 2)))
def left_by(factors, allowed):
    """What allowed arcs leave: head_start and head, the heads of every word; the pairs of words m * (n + 1) + s that factors of two
    arcs concern, how many of them each, and how many entries their tables have; larger factors and their numbers."""
    begin, heads, start, arc, phi = factors.begin, factors.heads, factors.start, factors.arc, factors.phi
    size = allowed.shape[0]
    head_start, head = np.empty(size + 1, dtype=np.int64), np.empty(size * size, dtype=np.int64)
    open_ = np.empty((size, size), dtype=np.bool_)
    count = 0
    for m in range(size):
        head_start[m] = count
        for h in range(size):
            open_[h, m] = allowed[h, m] and factors.arcs[h, m] > -np.inf
            if open_[h, m]:
                head[count] = h
                count += 1
    head_start[size] = count
    pairs, uses = np.empty(size * size, dtype=np.int64), np.empty(size * size, dtype=np.int64)
    found, entries = 0, 0
    for m in range(size):
        for s in range(m + 1, size):
            pair, used = m * size + s, 0
            for i in range(begin[pair], begin[pair + 1]):
                used += open_[heads[i, 0], m] and open_[heads[i, 1], s]
            if used:
                pairs[found], uses[found] = pair, used
                found += 1
                entries += (head_start[m + 1] - head_start[m]) * (head_start[s + 1] - head_start[s])
    first, kept = np.zeros(phi.size + 1, dtype=np.int64), np.empty(arc.size, dtype=np.int64)
    values, number = np.empty(phi.size), np.empty(phi.size, dtype=np.int64)
    larger = 0
    for c in range(phi.size):
        holds, at = True, first[larger]
        for p in range(start[c], start[c + 1]):
            holds &= open_[arc[p] // size, arc[p] % size]
            kept[at + p - start[c]] = arc[p]
        if holds:
            first[larger + 1], values[larger], number[larger] = at + start[c + 1] - start[c], phi[c], c
            larger += 1
    return (
        head_start, head[:count], pairs[:found], uses[:found], entries, first[: larger + 1], kept[: first[larger]], values[:larger],
        number[:larger],
    )  # fmt: skip


@kernel(types.Tuple((*[INTEGERS] * 5, SCORES, SCORES))(FACTORS, *[READ_INTEGERS] * 4, READ_SCORES, int64, int64))
def fill_tables(factors, pairs, head_start, head, start, phi, projective, single_root):
    """Tables of pairs of words: first, second, table_start, share_start, rest_start and table, -inf where no tree has both arcs. And what
    the sums of shares depend on: the largest finite score, that of larger factors times their arcs, and the arcs of forbidden ones."""
    begin, heads, scores = factors.begin, factors.heads, factors.scores
    size = head_start.size - 1
    place = np.full((size, size), -1)
    for m in range(size):
        for i in range(head_start[m], head_start[m + 1]):
            place[head[i], m] = i - head_start[m]
    count = pairs.size
    first, second = np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int64)
    table_start, share_start = np.zeros(count + 1, dtype=np.int64), np.zeros(count + 1, dtype=np.int64)
    rest_start = np.zeros(count + 1, dtype=np.int64)
    for q in range(count):
        m, s = pairs[q] // size, pairs[q] % size
        first[q], second[q] = m, s
        share_start[q + 1] = share_start[q] + head_start[s + 1] - head_start[s]
        rest_start[q + 1] = rest_start[q] + head_start[m + 1] - head_start[m]
        table_start[q + 1] = table_start[q] + (head_start[m + 1] - head_start[m]) * (head_start[s + 1] - head_start[s])
    table, sizes = np.empty(table_start[count]), np.zeros(3)
    for q in range(count):
        m, s = first[q], second[q]
        at, width = table_start[q], head_start[s + 1] - head_start[s]
        for i in range(head_start[m], head_start[m + 1]):
            for j in range(head_start[s], head_start[s + 1]):
                table[at] = -np.inf if never_both(head[i], m, head[j], s, projective, single_root) else 0.0
                at += 1
        for i in range(begin[pairs[q]], begin[pairs[q] + 1]):
            a, b = place[heads[i, 0], m], place[heads[i, 1], s]
            if a >= 0 and b >= 0:
                table[table_start[q] + a * width + b] += scores[i]
        for at in range(table_start[q], table_start[q + 1]):
            if table[at] > -np.inf:
                sizes[0] = max(sizes[0], abs(table[at]))
    for c in range(phi.size):
        if phi[c] == -np.inf:
            sizes[2] += start[c + 1] - start[c]
        else:
            sizes[0] = max(sizes[0], abs(phi[c]))
            sizes[1] += (start[c + 1] - start[c]) * abs(phi[c])
    return first, second, table_start, share_start, rest_start, table, sizes


@kernel(
    types.Tuple((writable(float64, 2), INTEGERS, INTEGERS, INTEGERS))(
        readonly(float64, 2), readonly(boolean, 2), READ_INTEGERS, READ_INTEGERS, READ_INTEGERS, READ_INTEGERS
    )
)
def open_up(arcs, allowed, head_start, head, start, arc):
    """A node: the arcs, -inf where they are closed; open_start and open_, the heads of every word that are open, by their numbers among
    those of the layout; and the larger factors that may hold."""
    size = allowed.shape[0]
    left = np.empty((size, size))
    for h in range(size):
        for m in range(size):
            left[h, m] = arcs[h, m] if allowed[h, m] else -np.inf
    open_start, open_ = np.empty(size + 1, dtype=np.int64), np.empty(head.size, dtype=np.int64)
    count = 0
    for m in range(size):
        open_start[m] = count
        for i in range(head_start[m], head_start[m + 1]):
            if allowed[head[i], m]:
                open_[count] = i - head_start[m]
                count += 1
    open_start[size] = count
    active, found = np.empty(start.size - 1, dtype=np.int64), 0
    for c in range(start.size - 1):
        holds = True
        for p in range(start[c], start[c + 1]):
            holds &= allowed[arc[p] // size, arc[p] % size]
        if holds:
            active[found] = c
            found += 1
    return left, open_start, open_[:count], active[:found]


@kernel(SCORES(LAYOUT, TABLES, GRID))
def halves(layout, tables, grid):
    """The first shares: of a table half of what is most for every head, of larger factors equal ones (section 4.4)."""
    offset = layout.share_start[layout.first.size]
    shares = np.zeros(offset + layout.start[layout.start.size - 1])
    for q in range(layout.first.size):
        width = layout.head_start[layout.second[q] + 1] - layout.head_start[layout.second[q]]
        for j in range(width):
            most = -np.inf
            for at in range(tables.table_start[q] + j, tables.table_start[q + 1], width):
                most = max(most, tables.table[at])
            if most > -np.inf:
                shares[layout.share_start[q] + j] = np.floor(min(max(most / 2.0, -grid.limit), grid.limit) / grid.unit) * grid.unit
    for c in range(layout.phi.size):
        if layout.phi[c] > 0.0:
            r = layout.start[c + 1] - layout.start[c]
            each = np.floor(layout.phi[c] / r / grid.unit) * grid.unit
            for p in range(layout.start[c], layout.start[c + 1]):
                shares[offset + p] = each
            shares[offset + layout.start[c]] += layout.phi[c] - each * r
    return shares


@kernel(int64(LAYOUT, READ_SCORES, LAYOUT, SCORES))
def move_over(layout, shares, to, moved):
    """Shares of one layout for another of the same problem. out: moved, where both have the same head of the same pair of words, or the
    same larger factor."""
    q = 0
    for t in range(to.first.size):
        m, s = to.first[t], to.second[t]
        while q < layout.first.size and (layout.first[q] < m or (layout.first[q] == m and layout.second[q] < s)):
            q += 1
        if q == layout.first.size:
            break
        if layout.first[q] != m or layout.second[q] != s:
            continue
        i, end = layout.head_start[s], layout.head_start[s + 1]
        for j in range(to.head_start[s], to.head_start[s + 1]):
            while i < end and layout.head[i] < to.head[j]:
                i += 1
            if i < end and layout.head[i] == to.head[j]:
                moved[to.share_start[t] + j - to.head_start[s]] = shares[layout.share_start[q] + i - layout.head_start[s]]
    most = -1
    for c in range(layout.number.size):
        most = max(most, layout.number[c])
    at = np.full(most + 1, -1)
    for c in range(layout.number.size):
        at[layout.number[c]] = c
    offset, to_offset = layout.share_start[layout.first.size], to.share_start[to.first.size]
    for t in range(to.number.size):
        c = at[to.number[t]] if to.number[t] <= most else -1
        if c >= 0:
            for p in range(layout.start[c + 1] - layout.start[c]):
                moved[to_offset + to.start[t] + p] = shares[offset + layout.start[c] + p]
    return 0


@kernel(INTEGERS(LAYOUT, READ_INTEGERS, READ_SCORES, readonly(boolean, 2), float64))
def told(layout, active, shares, allowed, unit):
    """What a certificate tells of shares, in units: of the open heads in tables, and of the larger factors that may hold; of a negative
    one the first alone."""
    offset = layout.share_start[layout.first.size]
    units, count = np.empty(shares.size, dtype=np.int64), 0
    for q in range(layout.first.size):
        s = layout.second[q]
        for i in range(layout.head_start[s], layout.head_start[s + 1]):
            if allowed[layout.head[i], s]:
                units[count] = np.int64(shares[layout.share_start[q] + i - layout.head_start[s]] / unit)
                count += 1
    for a in range(active.size):
        c = active[a]
        for p in range(layout.start[c], layout.start[c + 1] if layout.phi[c] > 0.0 else layout.start[c] + 1):
            units[count] = np.int64(shares[offset + p] / unit)
            count += 1
    return units[:count]
