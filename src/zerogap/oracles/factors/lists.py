"""Lists of factors: factor i has the arcs arcs[start[i] : start[i + 1]], as numbers h * (n + 1) + m, and scores[i].

They are sorted out: those of one arc are added to the arc, those of two stand together by their words, and of larger ones equal ones are
one. What no tree can have is left out.
"""

# mypy: disable-error-code="no-untyped-def"
# a kernel's types are its signature

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from zerogap.grid import Integers, Scores
from zerogap.kernels import boolean, float64, inner, int64, kernel, readonly, record, types, writable

INTEGERS, SCORES = writable(int64, 1), writable(float64, 1)
READ_INTEGERS, READ_SCORES = readonly(int64, 1), readonly(float64, 1)
SPREAD = 0x5851F42D4C957F2D  # odd


class Factors(NamedTuple):
    """The factors of a problem that trees may have; those of one arc are added to the arcs."""

    arcs: Scores  # (n + 1, n + 1)
    begin: Integers  # those of two arcs into words m < s are begin[m * (n + 1) + s] and following
    heads: Integers  # (two, 2): the heads of both words
    scores: Scores
    place_of_two: Integers  # where they stand in the problem
    start: Integers  # larger ones, equal ones as one, have the arcs arc[start[c] : start[c + 1]], by their words
    arc: Integers  # numbers h * (n + 1) + m
    phi: Scores
    place_of_larger: Integers
    grain: float  # divides the score of every tree
    some_forbidden: bool  # whether a factor scores -inf


FACTORS = record(
    Factors, readonly(float64, 2), READ_INTEGERS, readonly(int64, 2), READ_SCORES, READ_INTEGERS, READ_INTEGERS, READ_INTEGERS, READ_SCORES,
    READ_INTEGERS, float64, boolean,
)  # fmt: skip


@inner
def never_both(h, m, k, s, projective, single_root):
    """Whether no tree has h -> m and k -> s."""
    never = (h == s and k == m) or (single_root and h == 0 and k == 0)
    if projective:
        low, high, below, above = min(h, m), max(h, m), min(k, s), max(k, s)
        never |= (low < below and below < high and high < above) or (below < low and low < above and above < high)
    return never


@inner
def group_pairs(start, arcs, scores, weights, projective, single_root, begin, heads, values, place):
    """Factors of two arcs by their words, those that may hold; returns how many there are. out: begin, heads, values, place."""
    size = weights.shape[0]
    head_of, word_of = np.empty(size * size, dtype=np.int64), np.empty(size * size, dtype=np.int64)  # division is slow
    for h in range(size):
        for m in range(size):
            begin[h * size + m] = 0
            head_of[h * size + m], word_of[h * size + m] = h, m
    begin[size * size] = 0
    for turn in range(2):  # how many there are of each pair, and then where they go
        for i in range(start.size - 1):
            if start[i + 1] - start[i] != 2 or scores[i] == 0.0:
                continue
            one, other = arcs[start[i]], arcs[start[i] + 1]
            if word_of[one] > word_of[other]:
                one, other = other, one
            h, m, k, s = head_of[one], word_of[one], head_of[other], word_of[other]
            if weights[h, m] == -np.inf or weights[k, s] == -np.inf or never_both(h, m, k, s, projective, single_root):
                continue
            pair = m * size + s
            if turn == 0:
                begin[pair + 1] += 1
            else:
                at = begin[pair]
                begin[pair] += 1
                heads[at, 0], heads[at, 1], values[at], place[at] = h, k, scores[i], i
        if turn == 0:
            for pair in range(size * size):
                begin[pair + 1] += begin[pair]
    for pair in range(size * size, 0, -1):
        begin[pair] = begin[pair - 1]
    begin[0] = 0
    return begin[size * size]


@inner
def can_all_hold(arc, begin, end, weights, projective, single_root):
    """Whether a tree may have the arcs from begin to end: all are allowed, no two exclude each other, and there is no cycle."""
    size = weights.shape[0]
    for p in range(begin, end):
        h, m = arc[p] // size, arc[p] % size
        if weights[h, m] == -np.inf:
            return False
        for q in range(p + 1, end):
            if never_both(h, m, arc[q] // size, arc[q] % size, projective, single_root):
                return False
        above = h
        for _ in range(begin, end):
            if above == m:
                return False
            for q in range(begin, end):
                if arc[q] % size == above:
                    above = arc[q] // size
                    break
    return True


@inner
def group_larger(start, arcs, scores, weights, projective, single_root, first, arc, phi, place):
    """Factors of more than two arcs that may hold, their arcs by words, in the order of the first ones that are equal; returns how many.
    out: first, where each begins, arc, phi, place."""
    size, count, used = weights.shape[0], 0, 0
    capacity = 1
    while capacity < 2 * phi.size:
        capacity *= 2
    known = np.full(capacity, -1, dtype=np.int64)
    first[0] = 0
    for i in range(start.size - 1):
        r = start[i + 1] - start[i]
        if r <= 2:
            continue
        for p in range(r):
            one, q = arcs[start[i] + p], used + p
            while q > used and arc[q - 1] % size > one % size:
                arc[q] = arc[q - 1]
                q -= 1
            arc[q] = one
        if not can_all_hold(arc, used, used + r, weights, projective, single_root):
            continue
        code = np.int64(r)
        for p in range(used, used + r):
            code = (code + arc[p]) * SPREAD
        at = (code >> 20) & (capacity - 1)
        while known[at] >= 0:
            c = known[at]
            same = first[c + 1] - first[c] == r
            for p in range(r if same else 0):
                same &= arc[first[c] + p] == arc[used + p]
            if same:
                break
            at = (at + 1) & (capacity - 1)
        if known[at] >= 0:
            phi[known[at]] += scores[i]
            continue
        known[at] = count
        phi[count], place[count], first[count + 1] = scores[i], i, used + r
        count += 1
        used += r
    kept, used = 0, 0  # without those that sum to nothing
    for c in range(count):
        if phi[c] == 0.0:
            continue
        begin, end = first[c], first[c + 1]
        first[kept] = used
        for p in range(begin, end):
            arc[used] = arc[p]
            used += 1
        phi[kept], place[kept] = phi[c], place[c]
        kept += 1
    first[kept] = used
    return kept


@kernel(
    types.Tuple((INTEGERS, writable(int64, 2), SCORES, INTEGERS, INTEGERS, INTEGERS, SCORES, INTEGERS))(
        readonly(int64, 1), readonly(int64, 1), readonly(float64, 1), int64, int64, writable(float64, 2)
    )
)
def sort_out(start, arcs, scores, projective, single_root, weights):  # out: weights (n + 1, n + 1), -inf where an arc is not allowed
    """Factors of two arcs: those of words m < s stand from begin[m * (n + 1) + s] on; the heads of both words, their scores, and where
    they stand in the list. Larger ones: where each begins, arcs, scores, and where the first of equal ones stands in the list."""
    size, two, larger, total = weights.shape[0], 0, 0, 0
    for i in range(scores.size):
        r = start[i + 1] - start[i]
        if r == 1:
            weights[arcs[start[i]] // size, arcs[start[i]] % size] += scores[i]
        elif r == 2:
            two += 1
        else:
            larger += 1
            total += r
    begin, heads = np.empty(size * size + 1, dtype=np.int64), np.empty((two, 2), dtype=np.int64)
    values, place = np.empty(two), np.empty(two, dtype=np.int64)
    two = group_pairs(start, arcs, scores, weights, projective, single_root, begin, heads, values, place)
    first, arc = np.empty(larger + 1, dtype=np.int64), np.empty(total, dtype=np.int64)
    phi, place_of_larger = np.empty(larger), np.empty(larger, dtype=np.int64)
    larger = group_larger(start, arcs, scores, weights, projective, single_root, first, arc, phi, place_of_larger)
    return (
        begin, heads[:two], values[:two], place[:two], first[: larger + 1], arc[: first[larger]], phi[:larger], place_of_larger[:larger],
    )  # fmt: skip
