"""What one tree says of factors: their gaps, its score, and how to find a better one from it. The layout: see `oracles.factors.shares`."""

# mypy: disable-error-code="no-untyped-def"
# a kernel's types are its signature

from __future__ import annotations

import numpy as np

from zerogap.kernels import inner


@inner
def arcs_inside(heads, c, start, arc):
    """How many arcs of a factor a tree has."""
    inside = 0
    for p in range(start[c], start[c + 1]):
        m = arc[p] % (heads.size + 1)
        inside += heads[m - 1] * (heads.size + 1) + m == arc[p]
    return inside


@inner
def places_of(heads, head_start, head, open_start, open_, place):  # out: place (n,)
    """The number of the head of every word among those that it may have."""
    for m in range(1, heads.size + 1):
        for i in range(open_start[m], open_start[m + 1]):
            if head[head_start[m] + open_[i]] == heads[m - 1]:
                place[m - 1] = open_[i]


@inner
def gaps(
    heads, place, first, second, head_start, head, table_start, share_start, rest_start, table, start, arc, phi, active, largest, shares,
    rest, choice, doubt,
):  # fmt: skip
    """By how much the bound of a tree exceeds its score, and how many factors of score -inf it has. out: doubt, which grows by the gaps."""
    n = heads.size
    total, forbidden = 0.0, 0
    for q in range(first.size):
        m, s = first[q], second[q]
        h, k = place[m - 1], place[s - 1]
        theta = table[table_start[q] + h * (head_start[s + 1] - head_start[s]) + k]
        gap = rest[rest_start[q] + h] + shares[share_start[q] + k] - theta
        if gap > 0.0:
            if theta == -np.inf:
                forbidden += 1
                gap = largest
            total += gap
            doubt[heads[m - 1] * (n + 1) + m] += gap
            doubt[heads[s - 1] * (n + 1) + s] += gap
            doubt[head[head_start[s] + choice[rest_start[q] + h]] * (n + 1) + s] += gap
    offset = share_start[first.size]
    for i in range(active.size):
        c = active[i]
        inside, r = arcs_inside(heads, c, start, arc), start[c + 1] - start[c]
        if phi[c] >= 0.0:
            gap = 0.0
            if inside < r:
                for p in range(start[c], start[c + 1]):
                    m = arc[p] % (n + 1)
                    if heads[m - 1] * (n + 1) + m == arc[p]:
                        gap += shares[offset + p]
        else:
            gap = shares[offset + start[c]] * (inside - (r - 1))
            if inside == r:
                if phi[c] == -np.inf:
                    forbidden += 1
                    gap = largest
                else:
                    gap -= phi[c]
        if gap > 0.0:
            total += gap
            for p in range(start[c], start[c + 1]):
                doubt[arc[p]] += gap
    return total, forbidden


@inner
def exact_for(
    turn, heads, place, first, second, head_start, head, table_start, table, start, arc, phi, arcs, open_start, open_, active, limit,
    weights,
):  # fmt: skip
    """Shares that are below the score of every tree and exact for this one, the other way round (section 3.4). out: weights.

    Of a table they are exact for all trees that have the same head of the first word, or of the second, by turns.
    """
    n = heads.size
    flat, given = weights.reshape(-1), arcs.reshape(-1)
    for e in range(flat.size):
        flat[e] = given[e]
    for q in range(first.size):
        m, s = (first[q], second[q]) if turn == 0 else (second[q], first[q])
        size = head_start[second[q] + 1] - head_start[second[q]]
        down, right = (size, 1) if turn == 0 else (1, size)
        mine = table_start[q] + place[m - 1] * down
        for j in range(open_start[s], open_start[s + 1]):
            weights[head[head_start[s] + open_[j]], s] += table[mine + open_[j] * right]
        for i in range(open_start[m], open_start[m + 1]):
            least = 0.0 if open_[i] == place[m - 1] else np.inf
            for j in range(open_start[s], open_start[s + 1]):
                theta, known = table[table_start[q] + open_[i] * down + open_[j] * right], table[mine + open_[j] * right]
                if theta > -np.inf and known > -np.inf:
                    least = min(least, theta - known)
            if least < np.inf:
                weights[head[head_start[m] + open_[i]], m] += least
    for i in range(active.size):
        c = active[i]
        inside, r = arcs_inside(heads, c, start, arc), start[c + 1] - start[c]
        if phi[c] >= 0.0:
            if inside >= r - 1:
                for p in range(start[c], start[c + 1]):
                    flat[arc[p]] += phi[c]
            continue
        for p in range(start[c], start[c + 1]):
            m = arc[p] % (n + 1)
            if inside == r or heads[m - 1] * (n + 1) + m != arc[p]:
                flat[arc[p]] += max(phi[c], -limit)
                break


@inner
def score_of(value, heads, place, first, second, head_start, table_start, table, start, arc, phi, arcs, active, weights):
    """The score of a tree by definition, from its value under the weights."""
    for m in range(1, heads.size + 1):
        value -= weights[heads[m - 1], m] - arcs[heads[m - 1], m]
    for q in range(first.size):
        m, s = first[q], second[q]
        value += table[table_start[q] + place[m - 1] * (head_start[s + 1] - head_start[s]) + place[s - 1]]
    for i in range(active.size):
        c = active[i]
        if arcs_inside(heads, c, start, arc) == start[c + 1] - start[c]:
            value += phi[c]
    return value
