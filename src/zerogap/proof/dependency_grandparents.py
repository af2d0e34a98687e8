"""The k best scores of projective trees when a modifier is scored with its head's head, in integers, all spans of one width at a time.

    open[g, h, m] = arcs[h, m] + max(inner[h, m] + part(g, h, h, m), max_s open[g, h, s] + between[h, s, m] + part(g, h, s, m))
    last[g, h, m] = open[g, h, m] + stops[h, m] + outermost[g, h, m]
    full[g, h, e] = max_m last[g, h, m] + full[h, m, e]

g is the head of h, m the last modifier of h in the span from h to e, and part(g, h, s, m) all that is scored of them. `right` and
`left` are the halves of `full`. inner[h, m] is the half of m next to h; between[h, s, m] joins the halves of s and m that face each
other. Every tree has one derivation.

Only arcs that are allowed take part, as rows of arrays: arcs b = (g, h) and a = (h, m) make a pair, two arcs of one head and one side are
siblings, siblings under an arc make a triple. Arcs are numbered by width, so that rows of one width stand together. Arc 0 is that of the
root to itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from zerogap.grid import Flags, Integers
from zerogap.problems.dependency.problem import Problem
from zerogap.proof.integers import ABSENT, added, best_of, best_of_groups, joined, plus, sums, units


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """The arcs that are allowed, and what they make up."""

    head: Integers  # (arcs,)
    modifier: Integers
    width: Integers
    outer: Integers  # (pairs,): the arc b into the head of `arc`, sorted by `arc` and then by `outer`
    arc: Integers
    nearer: Integers  # (siblings,): the arc of the sibling that is nearer to the head, sorted by `further`
    further: Integers
    sibling: Integers  # (triples,): a row of siblings; sorted by `pair`, the pair of its further arc
    pair: Integers
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
        side = np.sign(modifier - head)
        good = (side[nearer] == side[further]) & (np.abs(head - modifier)[nearer] < np.abs(head - modifier)[further])
        good &= (head[further] > 0) | (not single_root)
        further, nearer = further[good], nearer[good]
        # triples: siblings under every pair of the further arc; the nearer arc makes a pair with the same outer arc
        pair, sibling = matches(arc, further)
        before = np.searchsorted(arc * len(head) + outer, nearer[sibling] * len(head) + outer[pair])
        return cls(head, modifier, np.abs(head - modifier), outer, arc, nearer, further, sibling, pair, before)


def matches(left: Integers, right: Integers) -> tuple[Integers, Integers]:
    """All pairs of places (i, j) with left[i] == right[j], sorted by i and then by j."""
    order = np.argsort(right, kind="stable")
    low, high = np.searchsorted(right[order], left, "left"), np.searchsorted(right[order], left, "right")
    i = np.repeat(np.arange(len(left)), high - low)
    j = order[np.arange(len(i)) - np.repeat(np.cumsum(high - low) - (high - low), high - low) + np.repeat(low, high - low)]
    return i, j


def grandparent_chart(problem: Problem, arcs: Integers, unit: float, k: int) -> Integers:
    """The k best scores (k,) of the problem's trees, with lists of scores (n + 1, n + 1, any) of each arc."""
    n, rows = problem.n_words, Rows.of(arcs[..., 0] > ABSENT, problem.single_root)
    of_arc = arcs[rows.head, rows.modifier]  # (arcs, any); that of arc 0 is not used
    g, h, m = rows.head[rows.outer], rows.head[rows.arc], rows.modifier[rows.arc]
    first = part_scores(problem, unit, g, h, h, m)
    later = part_scores(problem, unit, g[rows.pair], h[rows.pair], rows.modifier[rows.nearer[rows.sibling]], m[rows.pair])
    end = end_scores(problem, unit, g, h, m)
    right, left = (np.full((len(rows.head), n + 2, k), ABSENT) for _ in range(2))
    alone = end_scores(problem, unit, rows.head, rows.modifier, rows.modifier)
    right[np.arange(len(alone)), rows.modifier, 0] = left[np.arange(len(alone)), rows.modifier, 0] = alone
    open_, last = (np.full((len(rows.arc), k), ABSENT) for _ in range(2))
    between = np.full((len(rows.nearer), k), ABSENT)
    by_outer = np.argsort(rows.outer, kind="stable")
    to_right = by_outer[(h < m)[by_outer]]
    to_left = by_outer[(h > m)[by_outer]]
    of_width = rows.width[rows.arc]
    for width in range(1, n + 1):
        # rows of this width: all lists are sorted by the width of the arc that they end with
        some = slice(*np.searchsorted(rows.width[1:], [width, width + 1]) + 1)
        pairs = slice(*np.searchsorted(of_width, [width, width + 1]))
        near = slice(*np.searchsorted(rows.width[rows.further], [width, width + 1]))
        triples = slice(*np.searchsorted(of_width[rows.pair], [width, width + 1]))
        if some.start < some.stop:
            a, b = rows.nearer[near], rows.further[near]
            is_right = (rows.head[b] < rows.modifier[b])[:, None, None]
            between[near] = joined(right[np.where(is_right[:, 0, 0], a, b), :-1], left[np.where(is_right[:, 0, 0], b, a), 1:], k)
            arc = rows.arc[pairs]
            beside = np.where(h[pairs] < m[pairs], h[pairs] + 1, h[pairs] - 1)
            inner = np.where((h[pairs] < m[pairs])[:, None], left[arc, beside], right[arc, beside])
            found = plus(inner, first[pairs, None])
            joint = plus(sums(open_[rows.before[triples]], between[rows.sibling[triples]], k), later[triples, None])
            which, best = best_of_groups(joint, rows.pair[triples], k)
            if len(which):
                both = np.full((len(found), 2 * k), ABSENT)
                both[:, :k] = best_of(found, k)
                both[which - pairs.start, k:] = best
                found = both
            open_[pairs] = added(best_of(found, k), of_arc[arc], k)
            last[pairs] = plus(open_[pairs], end[pairs, None])
        for full, chosen, sign in ((right, to_right, 1), (left, to_left, -1)):
            e = h[chosen] + sign * width
            inside = (of_width[chosen] <= width) & (e >= 0) & (e <= n)
            low, high = np.minimum(h[chosen], e), np.maximum(h[chosen], e)
            inside &= (h[chosen] == 0) | (g[chosen] < low) | (g[chosen] > high)
            pair, e = chosen[inside], e[inside]
            which, best = best_of_groups(sums(last[pair], full[rows.arc[pair], e], k), rows.outer[pair], k)
            full[which, rows.modifier[which] + sign * width] = best
    return right[0, n]


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
