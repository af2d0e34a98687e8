"""Maximum arborescence: the best non-projective tree under arc scores, in O(n^2) (Rush 2014, section 2.1.2).

Chu & Liu 1965, Edmonds 1967, in the dense form of Tarjan 1977. Every word takes its best head; where that closes a cycle,
the cycle C becomes one node S, and its arcs are scored by what they add to the cycle:

    row[S, h] = max_{c in C} (row[c, h] - best[c])        best[S] = max_{h outside S} row[S, h]

Rows are kept over the words, never over nodes, so a contraction is a few element-wise maxima over contiguous rows, and
`best` is at once the dual of Edmonds' cuts: a proof that the tree is a best one.

A single root is exact and costs no second run. Root arcs are charged a price, which starts at 0 and rises until one
root arc is left (the parametric view of Gabow & Tarjan 1984; Stanojević & Cohen 2021 re-root instead). Cycles hold no
root arc, so what was contracted stays contracted.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from zerogap.oracles.compile import float64, int64, kernel, readonly, writable

SOLVED, INFEASIBLE, BAD_SCORE = 0, -1, -2  # what kernels return; a number of nodes also means solved


@kernel(int64(readonly(float64, 2), writable(float64, 1), writable(int64, 1)))
def best_heads(scores, best, heads):  # out: best (n,), heads (n,)
    """The best head of every word, the lowest on ties; returns the number of root arcs, or why there is none."""
    n = heads.size
    bad = 0
    for m in range(n):
        best[m] = scores[0, m + 1]
        heads[m] = 0
        bad |= not scores[0, m + 1] < np.inf
    for h in range(1, n + 1):
        diagonal_best, diagonal_head = best[h - 1], heads[h - 1]  # put back after the row, which then needs no test
        for m in range(n):
            score = scores[h, m + 1]
            better = score > best[m]
            best[m] = score if better else best[m]
            heads[m] = h if better else heads[m]
            bad |= not score < np.inf  # true for nan and +inf
        best[h - 1], heads[h - 1] = diagonal_best, diagonal_head
    if bad:
        return BAD_SCORE
    roots = 0
    for m in range(n):
        if best[m] == -np.inf:
            return INFEASIBLE
        roots += heads[m] == 0
    return roots


@kernel(int64(readonly(int64, 1), writable(int64, 1)))
def has_cycle(heads, seen):  # out: seen (n,), the walk that met a word first
    n = heads.size
    for m in range(n):
        seen[m] = 0
    for start in range(1, n + 1):
        word = start
        while word > 0 and seen[word - 1] == 0:
            seen[word - 1] = start
            word = heads[word - 1]
        if word > 0 and seen[word - 1] == start:
            return 1
    return 0


@kernel(float64(readonly(float64, 2), readonly(float64, 2), int64, int64))
def arc_into(scores, rows, node, h):
    """row[node, h]: what the arc from token h adds when it enters the node."""
    n = scores.shape[0] - 1
    return scores[h, node] if node <= n else rows[node - n - 1, h]


@kernel(int64(readonly(float64, 2), readonly(float64, 1), readonly(int64, 1), int64, writable(int64, 1), writable(int64, 1), writable(float64, 2)))
def contract(scores, best, cycle, node, parent, top, rows):  # out: parent, top, rows[node - n - 1]
    """Makes the nodes of a cycle one node; returns its best head among the words, 0 if there is none."""
    n = scores.shape[0] - 1
    row = rows[node - n - 1]
    for h in range(n + 1):
        row[h] = -np.inf
    for position in range(cycle.size):
        child = cycle[position]
        parent[child] = node
        # row[S, h] = max_{c in C} (row[c, h] - best[c])
        if child <= n:
            for h in range(n + 1):
                added = scores[h, child] - best[child]
                row[h] = added if added > row[h] else row[h]
        else:
            below = rows[child - n - 1]
            for h in range(n + 1):
                added = below[h] - best[child]
                row[h] = added if added > row[h] else row[h]
    best_head, best_added = 0, -np.inf
    for h in range(1, n + 1):
        if parent[top[h]] == node:
            top[h] = node
            row[h] = -np.inf
        elif row[h] > best_added:
            best_head, best_added = h, row[h]
    return best_head


@kernel(int64(readonly(float64, 2), int64, int64, writable(float64, 1), writable(int64, 1), writable(int64, 1)))
def contract_cycles(scores, single_root, roots, best, head, parent):  # out: best, head, parent over nodes (2n,)
    """From the best heads of the words to a best tree; returns the number of nodes, or INFEASIBLE.

    Nodes 0 to n are tokens, later ones contracted cycles, children before parents; parent is 0 outside all cycles.
    best[node] is the dual of the cut around the node, best[0] the price of a root arc.
    """
    n = scores.shape[0] - 1
    rows = np.empty((n, n + 1))
    slack = np.empty(2 * n)  # the price of a root arc from which on a node under the root prefers its best word
    work = np.empty((5, 2 * n + 1), dtype=np.int64)
    top = work[0]  # the outermost node around a token
    depth = work[1]  # of a node on the path, from 1; -1 if its way to the root is known, 0 if not
    path = work[2]
    children = work[3]  # of the contracted nodes, one after the other
    best_word = work[4]  # the best head of a node other than the root
    for node in range(2 * n):
        depth[node] = 0
        parent[node] = 0
    for h in range(n + 1):
        top[h] = h
    child_end = np.empty(2 * n, dtype=np.int64)
    child_end[n] = 0
    nodes = n + 1
    price = 0.0
    next_word = 1
    while True:
        if next_word <= n:
            node = top[next_word]
            next_word += 1
            if depth[node] < 0:
                continue
        elif single_root and roots > 1:
            if next_word == n + 1:
                next_word += 1
                for word in range(1, n + 1):
                    if top[word] == word and head[word] == 0:
                        best_other = -np.inf
                        best_word[word] = 0
                        for h in range(1, n + 1):
                            if h != word and scores[h, word] > best_other:
                                best_word[word], best_other = h, scores[h, word]
                        slack[word] = scores[0, word] - best_other
            node, price = 0, np.inf
            for word in range(1, n + 1):
                depth[top[word]] = 0
                if head[top[word]] == 0 and slack[top[word]] < price:
                    node, price = top[word], slack[top[word]]
            if node == 0:
                return INFEASIBLE
            roots -= 1
            head[node] = best_word[node]
            best[node] = arc_into(scores, rows, node, head[node])
        else:
            break

        path[0] = node
        length = 1
        depth[node] = 1
        while head[path[length - 1]] > 0:
            above = top[head[path[length - 1]]]
            if depth[above] < 0:
                break
            if depth[above] == 0:
                path[length] = above
                length += 1
                depth[above] = length
                continue
            start = depth[above] - 1
            cycle = path[start:length]
            word = contract(scores, best, cycle, nodes, parent, top, rows)
            child_end[nodes] = child_end[nodes - 1] + cycle.size
            for position in range(cycle.size):
                children[child_end[nodes - 1] + position] = cycle[position]
            row = rows[nodes - n - 1]
            other = row[word] if word > 0 else -np.inf
            if row[0] == -np.inf and word == 0:
                return INFEASIBLE
            best_word[nodes], slack[nodes] = word, row[0] - other
            if slack[nodes] > price or (slack[nodes] == price and not single_root):
                head[nodes], best[nodes] = 0, row[0]
                roots += 1
            else:
                head[nodes], best[nodes] = word, other
            path[start] = nodes
            length = start + 1
            depth[nodes] = length
            nodes += 1
        for position in range(length):
            depth[path[position]] = -1

    for word in range(1, n + 1):
        if head[top[word]] == 0:
            best[top[word]] = arc_into(scores, rows, top[word], 0) - price
    best[0] = price
    for node in range(nodes - 1, n, -1):  # the arc into a cycle replaces the arc of the child that it enters
        entered, most = 0, -np.inf
        for position in range(child_end[node - 1], child_end[node]):
            child = children[position]
            added = arc_into(scores, rows, child, head[node]) - best[child]
            if added > most:
                entered, most = child, added
        head[entered] = head[node]
    return nodes


@kernel(int64(readonly(float64, 2), int64, writable(int64, 1)))
def tree_kernel(scores, single_root, heads):  # out: heads (n,)
    n = heads.size
    best = np.empty(n)
    roots = best_heads(scores, best, heads)
    if roots < 0:
        return roots
    seen = np.empty(n, dtype=np.int64)
    if not has_cycle(heads, seen) and not (single_root and roots > 1):
        return SOLVED
    node_best = np.empty(2 * n)
    work = np.empty((2, 2 * n), dtype=np.int64)
    for m in range(n):
        node_best[m + 1] = best[m]
        work[0, m + 1] = heads[m]
    nodes = contract_cycles(scores, single_root, roots, node_best, work[0], work[1])
    if nodes < 0:
        return INFEASIBLE
    for m in range(n):
        heads[m] = work[0, m + 1]
    return SOLVED


def maximum_arborescence(scores, *, single_root: bool = True) -> NDArray[np.int64]:
    heads = np.empty(len(scores) - 1, np.int64)
    s = tree_kernel(scores, 1 if single_root else 0, heads)
    assert s == 0, s
    return heads
