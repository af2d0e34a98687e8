"""Lists of factors: factor i has the arcs arcs[start[i] : start[i + 1]], as numbers h * (n + 1) + m, and scores[i]."""

# mypy: disable-error-code="no-untyped-def"
# a kernel's types are its signature

from __future__ import annotations

import numpy as np

from zerogap.oracles.compile import boolean, float64, inner, int64, rare_kernel, readonly, writable


@inner
def never_both(h, m, k, s, projective, single_root):
    """Whether no tree has h -> m and k -> s."""
    never = (h == s and k == m) or (single_root and h == 0 and k == 0)
    if projective:
        low, high, below, above = min(h, m), max(h, m), min(k, s), max(k, s)
        never |= (low < below and below < high and high < above) or (below < low and low < above and above < high)
    return never


@rare_kernel(
    int64(
        readonly(int64, 1), readonly(int64, 1), readonly(float64, 1), readonly(boolean, 2), int64, int64, writable(int64, 1),
        writable(int64, 2), writable(float64, 1), writable(int64, 1),
    )
)  # fmt: skip
def group_pairs(start, arcs, scores, allowed, projective, single_root, begin, heads, values, place):
    """Factors of two arcs by their words, those that may hold; returns how many there are.

    out: begin ((n + 1)^2 + 1,): those of words m < s stand from begin[m * (n + 1) + s] on; heads (factors, 2): of both words; values:
    their scores; place: where they stand in the list.
    """
    size = allowed.shape[0]
    for pair in range(size * size + 1):
        begin[pair] = 0
    for turn in range(2):  # how many there are of each pair, and then where they go
        for i in range(start.size - 1):
            if start[i + 1] - start[i] != 2 or scores[i] == 0.0:
                continue
            one, other = arcs[start[i]], arcs[start[i] + 1]
            if one % size > other % size:
                one, other = other, one
            h, m, k, s = one // size, one % size, other // size, other % size
            if not (allowed[h, m] and allowed[k, s]) or never_both(h, m, k, s, projective, single_root):
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


@rare_kernel(int64(readonly(int64, 1), readonly(int64, 2), readonly(boolean, 2), writable(int64, 1)))
def count_pairs(begin, heads, allowed, counts):
    """How many factors of two words may hold with allowed arcs. out: counts ((n + 1)^2,). Returns their sum."""
    size, total = allowed.shape[0], 0
    for m in range(size):
        for s in range(m + 1, size):
            pair = m * size + s
            counts[pair] = 0
            for i in range(begin[pair], begin[pair + 1]):
                counts[pair] += allowed[heads[i, 0], m] and allowed[heads[i, 1], s]
            total += counts[pair]
    return total


@rare_kernel(
    int64(
        readonly(int64, 1), readonly(int64, 2), readonly(float64, 1), *[readonly(int64, 1)] * 4, readonly(int64, 2),
        *[readonly(int64, 1)] * 2, int64, int64, writable(float64, 1), writable(int64, 1),
    )
)  # fmt: skip
def fill_tables(
    begin, heads, scores, first, second, head_start, head, place, table_start, share_start, projective, single_root, table, share_of_entry
):  # fmt: skip
    """Tables as `oracles.factor_shares` reads them, of factors as `group_pairs` has them; place (n + 1, n + 1): the number of h among the
    heads of m, -1 if it is none. out: table, -inf where no tree has both arcs; share_of_entry, which share every entry is with."""
    size = place.shape[0]
    for q in range(first.size):
        m, s = first[q], second[q]
        at, width = table_start[q], head_start[s + 1] - head_start[s]
        for i in range(head_start[m], head_start[m + 1]):
            for j in range(head_start[s], head_start[s + 1]):
                table[at] = -np.inf if never_both(head[i], m, head[j], s, projective, single_root) else 0.0
                share_of_entry[at] = share_start[q] + j - head_start[s]
                at += 1
        for i in range(begin[m * size + s], begin[m * size + s + 1]):
            a, b = place[heads[i, 0], m], place[heads[i, 1], s]
            if a >= 0 and b >= 0:
                table[table_start[q] + a * width + b] += scores[i]
    return 0
