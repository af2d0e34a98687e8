"""The k best scores of projective trees when a modifier is scored with its head's head: a chart of (n + 1)^3 lists.

    open[g, h, m] = arcs[h, m] + max(inner[h, m] + part(g, h, h, m), max_s open[g, h, s] + between[h, s, m] + part(g, h, s, m))
    last[g, h, m] = open[g, h, m] + stops[h, m] + outermost[g, h, m]
    full[g, h, e] = max_m last[g, h, m] + full[h, m, e]

g is the head of h, m the last modifier of h in the span from h to e, and part(g, h, s, m) all that is scored of them. `right` and
`left` are the halves of `full`. inner[h, m] is the half of m next to h; between[h, s, m] joins the halves of s and m that face each
other. Only arcs that are allowed are looked at, so a pruned sentence takes little time. Every tree has one derivation.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from zerogap.grid import Scores
from zerogap.problems.dependency.problem import Problem
from zerogap.proof.dependency_lists import added, best_of, joined, sums


def grandparent_chart(problem: Problem, arcs: Scores, k: int) -> Scores:
    """The k best scores (k,) of the problem's trees, with lists of scores (n + 1, n + 1, any) of each arc."""
    n = problem.n_words
    allowed = arcs[..., 0] > -np.inf
    heads_of = [np.flatnonzero(allowed[:, m]) if m > 0 else np.zeros(1, dtype=np.int64) for m in range(n + 1)]  # the root is under itself
    modifiers_of = [np.flatnonzero(allowed[h]) for h in range(n + 1)]
    right, left, open_, last = (np.full((n + 1, n + 1, n + 1, k), -np.inf) for _ in range(4))
    for h in range(n + 1):
        right[heads_of[h], h, h, 0] = left[heads_of[h], h, h, 0] = last_scores(problem, heads_of[h], h, h)
    for i in range(n, -1, -1):
        for j in range(i + 1, n + 1):
            for h, m in ((i, j), (j, i)):
                outside = heads_of[h][(heads_of[h] < i) | (heads_of[h] > j) | (h == 0)]
                if allowed[h, m] and outside.size:
                    inside = modifiers_of[h][(modifiers_of[h] > i) & (modifiers_of[h] < j)]
                    s = inside if h > 0 or not problem.single_root else inside[:0]
                    if h < m:
                        inner = left[h, m, h + 1]
                        between = joined(right[h, s, h + 1 : m], left[h, m, h + 2 : m + 1][None], k)
                    else:
                        inner = right[h, m, h - 1]
                        between = joined(right[h, m, m : h - 1][None], left[h, s, m + 1 : h], k)
                    first = inner + part_scores(problem, outside, h, np.array([h]), m)
                    later = sums(open_[outside[:, None], h, s], between[None], k) + part_scores(problem, outside, h, s, m)[..., None]
                    both = np.concatenate([first, later.reshape(outside.size, later.shape[1] * later.shape[2])], axis=1)
                    open_[outside, h, m] = added(best_of(both, k), arcs[h, m], k)
                    last[outside, h, m] = open_[outside, h, m] + last_scores(problem, outside, h, m)[:, None]
            for h, e, full in ((i, j, right), (j, i, left)):
                outside = heads_of[h][(heads_of[h] < i) | (heads_of[h] > j) | (h == 0)]
                some = modifiers_of[h][(modifiers_of[h] >= i) & (modifiers_of[h] <= j)]
                if outside.size and some.size:
                    full[outside, h, e] = joined(last[outside[:, None], h, some], full[h, some, e][None], k)
    return right[0, 0, n]


def part_scores(problem: Problem, g: NDArray[np.int64], h: int, s: NDArray[np.int64], m: int) -> Scores:
    """(g, s): all that is scored of m as the modifier of h after s, h being a modifier of g."""
    total = np.zeros((len(g), len(s)))
    heads, modifiers = np.full_like(s, h), np.full_like(s, m)
    if problem.siblings is not None:
        total += problem.siblings.at(heads, s, modifiers)
    if h > 0:
        if problem.grandparents is not None:
            total += problem.grandparents.at(g, np.full_like(g, h), np.full_like(g, m))[:, None]
        if problem.grandsiblings is not None:
            total += problem.grandsiblings.at(g[:, None], heads[None], s[None], modifiers[None])
    return total


def last_scores(problem: Problem, g: NDArray[np.int64], h: int, m: int) -> Scores:
    """(g,): what is scored of m as the last modifier of h on its side; m is h if there is none."""
    heads, modifiers = np.full_like(g, h), np.full_like(g, m)
    total = np.zeros(len(g))
    if problem.stops is not None:
        total += problem.stops.at(heads, modifiers)
    if problem.outermost is not None and h > 0 and m != h:
        total += problem.outermost.at(g, heads, modifiers)
    return total
