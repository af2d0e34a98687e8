"""The gaps of factors at one tree, its score, and the search for a better tree from it. The layout: see `oracles.factors.shares`."""

# mypy: disable-error-code="no-untyped-def"
# a kernel's types are its signature

from __future__ import annotations

import numpy as np

from zerogap.kernels import borrowing, inner


@borrowing
def arcs_inside(heads, c, layout, tables):
    """How many arcs of a factor a tree has."""
    inside = 0
    for p in range(layout.start[c], layout.start[c + 1]):
        m = tables.arc[p] % (heads.size + 1)
        inside += heads[m - 1] * (heads.size + 1) + m == tables.arc[p]
    return inside


@borrowing
def places_of(heads, layout, node, place):  # out: place (n,)
    """The number of the head of every word among those that it may have."""
    for m in range(1, heads.size + 1):
        for i in range(node.open_start[m], node.open_start[m + 1]):
            if layout.head[layout.head_start[m] + node.open_[i]] == heads[m - 1]:
                place[m - 1] = node.open_[i]


@borrowing
def gaps(heads, place, layout, tables, node, grid, now, doubt):
    """By how much the bound of a tree exceeds its score, and how many factors of score -inf it has. out: doubt, which grows by the gaps."""
    n = heads.size
    total, forbidden = 0.0, 0
    for q in range(layout.first.size):
        m, s = layout.first[q], layout.second[q]
        h, k = place[m - 1], place[s - 1]
        theta = tables.table[tables.table_start[q] + h * (layout.head_start[s + 1] - layout.head_start[s]) + k]
        gap = now.rest[tables.rest_start[q] + h] + now.shares[layout.share_start[q] + k] - theta
        if gap > 0.0:
            if theta == -np.inf:
                forbidden += 1
                gap = grid.largest
            total += gap
            doubt[heads[m - 1] * (n + 1) + m] += gap
            doubt[heads[s - 1] * (n + 1) + s] += gap
            doubt[layout.head[layout.head_start[s] + now.choice[tables.rest_start[q] + h]] * (n + 1) + s] += gap
    offset = layout.share_start[layout.first.size]
    for i in range(node.active.size):
        c = node.active[i]
        inside, r = arcs_inside(heads, c, layout, tables), layout.start[c + 1] - layout.start[c]
        if layout.phi[c] >= 0.0:
            gap = 0.0
            if inside < r:
                for p in range(layout.start[c], layout.start[c + 1]):
                    m = tables.arc[p] % (n + 1)
                    if heads[m - 1] * (n + 1) + m == tables.arc[p]:
                        gap += now.shares[offset + p]
        else:
            gap = now.shares[offset + layout.start[c]] * (inside - (r - 1))
            if inside == r:
                if layout.phi[c] == -np.inf:
                    forbidden += 1
                    gap = grid.largest
                else:
                    gap -= layout.phi[c]
        if gap > 0.0:
            total += gap
            for p in range(layout.start[c], layout.start[c + 1]):
                doubt[tables.arc[p]] += gap
    return total, forbidden


@inner
def exact_for(turn, heads, place, layout, tables, node, limit, weights):
    """Shares that are below the score of every tree and exact for this one, the other way round (section 3.4). out: weights.

    Of a table they are exact for all trees that have the same head of the first word, or of the second, by turns.
    """
    n = heads.size
    flat, given = weights.reshape(-1), node.arcs.reshape(-1)
    for e in range(flat.size):
        flat[e] = given[e]
    for q in range(layout.first.size):
        m, s = (layout.first[q], layout.second[q]) if turn == 0 else (layout.second[q], layout.first[q])
        size = layout.head_start[layout.second[q] + 1] - layout.head_start[layout.second[q]]
        down, right = (size, 1) if turn == 0 else (1, size)
        mine = tables.table_start[q] + place[m - 1] * down
        for j in range(node.open_start[s], node.open_start[s + 1]):
            weights[layout.head[layout.head_start[s] + node.open_[j]], s] += tables.table[mine + node.open_[j] * right]
        for i in range(node.open_start[m], node.open_start[m + 1]):
            least = 0.0 if node.open_[i] == place[m - 1] else np.inf
            row = tables.table_start[q] + node.open_[i] * down
            for j in range(node.open_start[s], node.open_start[s + 1]):
                theta, known = tables.table[row + node.open_[j] * right], tables.table[mine + node.open_[j] * right]
                if theta > -np.inf and known > -np.inf:
                    least = min(least, theta - known)
            if least < np.inf:
                weights[layout.head[layout.head_start[m] + node.open_[i]], m] += least
    for i in range(node.active.size):
        c = node.active[i]
        inside, r = arcs_inside(heads, c, layout, tables), layout.start[c + 1] - layout.start[c]
        if layout.phi[c] >= 0.0:
            if inside >= r - 1:
                for p in range(layout.start[c], layout.start[c + 1]):
                    flat[tables.arc[p]] += layout.phi[c]
            continue
        for p in range(layout.start[c], layout.start[c + 1]):
            m = tables.arc[p] % (n + 1)
            if inside == r or heads[m - 1] * (n + 1) + m != tables.arc[p]:
                flat[tables.arc[p]] += max(layout.phi[c], -limit)
                break


@borrowing
def score_of(value, heads, place, layout, tables, node, weights):
    """The score of a tree by definition, from its value under the weights."""
    for m in range(1, heads.size + 1):
        value -= weights[heads[m - 1], m] - node.arcs[heads[m - 1], m]
    for q in range(layout.first.size):
        m, s = layout.first[q], layout.second[q]
        value += tables.table[tables.table_start[q] + place[m - 1] * (layout.head_start[s + 1] - layout.head_start[s]) + place[s - 1]]
    for i in range(node.active.size):
        c = node.active[i]
        if arcs_inside(heads, c, layout, tables) == layout.start[c + 1] - layout.start[c]:
            value += layout.phi[c]
    return value
