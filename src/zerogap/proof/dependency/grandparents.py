"""The k best scores of projective trees when a modifier is scored with its head's head, in integers, all spans of one width at a time.

    between[h, s, m] = max_r full[h, s, r] + full[h, m, r + 1]                               the halves of s and m that face each other
    open[g, h, m] = arcs[h, m] + max(full[h, m, beside h] + part(g, h, h, m), max_s open[g, h, s] + between[h, s, m] + part(g, h, s, m))
    full[g, h, e] = max_m open[g, h, m] + end(g, h, m) + full[h, m, e]                       full[g, h, h] = end(g, h, h)

g is the head of h; open[g, h, m] is the best of the span from h to its modifier m, m being the last; full[g, h, e] of the half of h that
reaches to e, on whichever side that is; part(g, h, s, m) all that is scored of m after s, end(g, h, m) of m as the last. Every tree has one
derivation, so lists of scores count trees, and the best tree of the root's right half, full[., 0, n], is the bound.

Only arcs that are allowed take part, as rows of arrays: arcs b = (g, h) and a = (h, m) make a pair, two arcs of one head and one side are
siblings, siblings under an arc make a triple. Arc 0 is that of the root to itself. All sums of a table are listed before any is formed,
by the width of the span that they are for, so a width is one gathering, one addition and one maximum for each of the three lines.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from zerogap.grid import Flags, Integers
from zerogap.problems.dependency.problem import Problem
from zerogap.proof.integers import ABSENT, added, best_of, best_of_groups, plus, sums, units


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """The arcs that are allowed, and what they make up."""

    head: Integers  # (arcs,)
    modifier: Integers
    outer: Integers  # (pairs,): the arc b into the head of `arc`
    arc: Integers
    nearer: Integers  # (siblings,): the arc of the sibling that is nearer to the head
    further: Integers
    sibling: Integers  # (triples,): a row of siblings
    pair: Integers  # the pair of its further arc
    before: Integers  # the pair of its nearer arc

    @classmethod
    def of(cls, allowed: Flags, single_root: bool) -> Rows:
        h, m = np.nonzero(allowed)
        order = np.argsort(np.abs(h - m), kind="stable")
        head, modifier = np.append(0, h[order]), np.append(0, m[order])
        arcs = np.arange(1, len(head))
        # pairs: arc 0 for arcs of the root, else every arc into the head, its own head outside the span
        arc, outer = matches(head[arcs], modifier)
        arc = arcs[arc]
        low, high = np.minimum(head, modifier)[arc], np.maximum(head, modifier)[arc]
        good = (head[arc] == 0) | (head[outer] < low) | (head[outer] > high)
        arc, outer = arc[good], outer[good]
        # siblings: two arcs of one head to one side, one strictly within the span of the other
        further, nearer = matches(head[arcs], head[arcs])
        further, nearer = arcs[further], arcs[nearer]
        reach = modifier - head
        good = (reach[nearer] * reach[further] > 0) & (np.abs(reach)[nearer] < np.abs(reach)[further])
        good &= (head[further] > 0) | (not single_root)
        further, nearer = further[good], nearer[good]
        # triples: siblings under every pair of the further arc; the nearer arc makes a pair with the same outer arc
        pair, sibling = matches(arc, further)
        before = np.searchsorted(arc * len(head) + outer, nearer[sibling] * len(head) + outer[pair])
        return cls(head, modifier, outer, arc, nearer, further, sibling, pair, before)

    def splits(self, n: int) -> Joins:
        """The sums for `between`: siblings s and m, from low to high, are parted after r."""
        low, high = np.sort([self.modifier[self.nearer], self.modifier[self.further]], axis=0)
        to_right = self.head[self.nearer] < low
        left, right = np.where(to_right, [self.nearer, self.further], [self.further, self.nearer])  # the arcs into low and high
        row, r = ranges(low, high - 1)
        width = np.abs(self.modifier - self.head)[self.further]
        return Joins.of(n, width[row], row, left[row] * (n + 1) + r, right[row] * (n + 1) + r + 1)

    def halves(self, n: int) -> Joins:
        """The sums for `full`: the last modifier m of h, and m's half to e, which does not reach g."""
        g, h, m = self.head[self.outer], self.head[self.arc], self.modifier[self.arc]
        least, most = np.where((h > 0) & (g < h), g + 1, np.where(h > 0, 1, 0)), np.where(g > h, g - 1, n)
        row, e = ranges(np.where(m > h, m, least), np.where(m > h, most, m))
        return Joins.of(n, np.abs(e - h[row]), self.outer[row] * (n + 1) + e, row, self.arc[row] * (n + 1) + e)


@dataclass(frozen=True, slots=True, eq=False)
class Joins:
    """Sums of a list of `left` and one of `right`, each a row; rows are sorted by width, and then by the list that they are merged into."""

    order: Integers  # of the rows, as they were given
    left: Integers
    right: Integers
    into: Integers  # (groups,)
    start: Integers  # (groups,): the first row of each
    of_width: tuple[list[int], list[int]]  # the first row and the first group of every width

    @classmethod
    def of(cls, n: int, width: Integers, into: Integers, left: Integers, right: Integers) -> Joins:
        order = np.lexsort((into, width))
        width, into = width[order], into[order]
        start = np.flatnonzero(np.concatenate([[True], into[1:] != into[:-1]])) if len(into) else into
        first = np.searchsorted(width, np.arange(n + 2))
        return cls(order, left[order], right[order], into[start], start, (first.tolist(), np.searchsorted(start, first).tolist()))

    def at(self, width: int) -> tuple[slice, slice]:
        """The rows and the groups of a width: a list is merged into by rows of one width."""
        rows, groups = self.of_width
        return slice(rows[width], rows[width + 1]), slice(groups[width], groups[width + 1])


def ranges(first: Integers, last: Integers) -> tuple[Integers, Integers]:
    """All numbers from each first to each last one, with the places that they are from."""
    sizes = np.maximum(last - first + 1, 0)
    place = np.repeat(np.arange(len(first)), sizes)
    return place, np.arange(len(place)) + np.repeat(first - np.cumsum(sizes) + sizes, sizes)


def matches(left: Integers, right: Integers) -> tuple[Integers, Integers]:
    """All pairs of places (i, j) with left[i] == right[j], sorted by i and then by j."""
    order = np.argsort(right, kind="stable")
    low, high = np.searchsorted(right[order], left, "left"), np.searchsorted(right[order], left, "right")
    i, j = ranges(low, high - 1)
    return i, order[j]


def grandparent_chart(problem: Problem, arcs: Integers, unit: float, k: int) -> Integers:
    """The k best scores (k,) of the problem's trees, with lists of scores (n + 1, n + 1, any) of each arc."""
    n, rows = problem.n_words, Rows.of(arcs[..., 0] > ABSENT, problem.single_root)
    g, h, m = rows.head[rows.outer], rows.head[rows.arc], rows.modifier[rows.arc]
    of_arc = arcs[h, m]
    beside = rows.arc * (n + 1) + h + np.sign(m - h)
    first = part_scores(problem, unit, g, h, h, m)
    later = part_scores(problem, unit, g[rows.pair], h[rows.pair], rows.modifier[rows.nearer[rows.sibling]], m[rows.pair])
    end = end_scores(problem, unit, g, h, m)
    pairs = Joins.of(n, np.abs(m - h), np.arange(len(m)), rows.outer, rows.arc)
    splits, halves = rows.splits(n), rows.halves(n)
    triples = Joins.of(n, np.abs(m - h)[rows.pair], rows.pair, rows.before, rows.sibling)
    later = later[triples.order]
    full = np.full((len(rows.head) * (n + 1), k), ABSENT)
    full[np.arange(len(rows.head)) * (n + 1) + rows.modifier, 0] = end_scores(problem, unit, rows.head, rows.modifier, rows.modifier)
    open_, last = np.full((len(m), k), ABSENT), np.full((len(m), k), ABSENT)
    between = np.full((len(rows.nearer), k), ABSENT)
    for width in range(1, n + 1):
        some, groups = splits.at(width)
        if some.start < some.stop:
            found = sums(full[splits.left[some]], full[splits.right[some]], k)
            between[splits.into[groups]] = best_of_groups(found, splits.start[groups] - some.start, k)
        some, _ = pairs.at(width)
        if some.start < some.stop:
            pair = pairs.into[some]
            open_[pair] = plus(full[beside[pair]], first[pair, None])
        some, groups = triples.at(width)
        if some.start < some.stop:
            found = plus(sums(open_[triples.left[some]], between[triples.right[some]], k), later[some, None])
            into = triples.into[groups]
            both = np.concatenate([open_[into], best_of_groups(found, triples.start[groups] - some.start, k)], axis=1)
            open_[into] = best_of(both, k)
        some, _ = pairs.at(width)
        if some.start < some.stop:
            open_[pair] = added(open_[pair], of_arc[pair], k)
            last[pair] = plus(open_[pair], end[pair, None])
        some, groups = halves.at(width)
        if some.start < some.stop:
            found = sums(last[halves.left[some]], full[halves.right[some]], k)
            full[halves.into[groups]] = best_of_groups(found, halves.start[groups] - some.start, k)
    return full[n]


def part_scores(problem: Problem, unit: float, g: Integers, h: Integers, s: Integers, m: Integers) -> Integers:
    """All that is scored of m as the modifier of h after s, h being a modifier of g."""
    total = np.zeros(len(m), dtype=np.int64)
    if problem.siblings is not None:
        total = units(problem.siblings.at(h, s, m), unit)
    inner = np.flatnonzero(h > 0)
    for parts, index in ((problem.grandparents, (g, h, m)), (problem.grandsiblings, (g, h, s, m))):
        if parts is not None and len(inner):
            total[inner] = plus(total[inner], units(parts.at(*(i[inner] for i in index)), unit))
    return total


def end_scores(problem: Problem, unit: float, g: Integers, h: Integers, m: Integers) -> Integers:
    """What is scored of m as the last modifier of h on its side; m is h if there is none."""
    total = np.zeros(len(m), dtype=np.int64)
    if problem.stops is not None:
        total = units(problem.stops.at(h, m), unit)
    some = np.flatnonzero((h > 0) & (m != h))
    if problem.outermost is not None and len(some):
        total[some] = plus(total[some], units(problem.outermost.at(g[some], h[some], m[some]), unit))
    return total
