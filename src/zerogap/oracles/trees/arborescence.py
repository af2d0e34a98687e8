"""Maximum arborescence: the best non-projective tree under arc scores, in O(n^2) (Rush 2014, section 2.1.2).

Chu & Liu 1965, Edmonds 1967, in the dense form of Tarjan 1977. Every word takes its best head; where that closes a cycle C,
the cycle becomes one node S, and an arc into it is scored by what it adds to the cycle:

    row[S, h] = max_{c in C} (row[c, h] - best[c])        best[S] = max_{h outside S} row[S, h]

Rows run over tokens, never over nodes, so a contraction is a few element-wise maxima over rows, and `best` is at
once the dual of Edmonds' cuts: a proof that the tree is a best one.

A single root is exact and needs no second run. Root arcs are charged a price, which rises from 0 until one root arc is
left: the parametric view of Gabow & Tarjan 1984 (Stanojević & Cohen 2021 instead solve again with the scores shifted).
No cycle holds a root arc, so what was contracted stays contracted.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from zerogap.kernels import float64, inner, int64, kernel, readonly, writable
from zerogap.oracles.trees.arc_scores import NOT_SUCH_AN_ARRAY, arc_scores, infeasible, is_accepted

INFEASIBLE, NOT_ACCEPTED = -1, -2  # what kernels return instead of a count
empty, INT64 = np.empty, np.dtype(np.int64)  # looked up once: a call on ten words takes little longer than this

Sets = tuple[tuple[int, ...], ...]


@inner
def best_heads(scores, best, heads):  # out: best (n,), heads (n,)
    """The best head of every word, the lowest on ties; returns the number of root arcs, or why there is no tree."""
    n = heads.size
    if not is_accepted(scores):
        return NOT_ACCEPTED
    for m in range(n):
        best[m] = scores[0, m + 1]
        heads[m] = 0
    for h in range(1, n + 1):
        own_best, own_head = best[h - 1], heads[h - 1]  # put back after the row, which then needs no test for h == m
        for m in range(n):
            score = scores[h, m + 1]
            better = score > best[m]
            best[m] = score if better else best[m]
            heads[m] = h if better else heads[m]
        best[h - 1], heads[h - 1] = own_best, own_head
    roots = 0
    for m in range(n):
        if best[m] == -np.inf:
            return INFEASIBLE
        roots += heads[m] == 0
    return roots


@inner
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
            return True
    return False


@inner
def arc_into(scores, rows, node, h):
    """row[node, h]: what the arc from token h adds when it enters the node."""
    n = scores.shape[0] - 1
    return scores[h, node] if node <= n else rows[node - n - 1, h]


@inner
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
    # best[S] = max_{h outside S} row[S, h], for now without the root
    best_word, most = 0, -np.inf
    for h in range(1, n + 1):
        if parent[top[h]] == node:
            top[h] = node
            row[h] = -np.inf
        elif row[h] > most:
            best_word, most = h, row[h]
    return best_word


@inner
def price_words(scores, top, head, best_word, slack):  # out: best_word, slack of the words that hang under the root
    """Their best head other than the root, and the price of a root arc from which on they prefer it."""
    n = scores.shape[0] - 1
    for word in range(1, n + 1):
        if top[word] == word and head[word] == 0:
            best_word[word], most = 0, -np.inf
            for h in range(1, n + 1):
                if h != word and scores[h, word] > most:
                    best_word[word], most = h, scores[h, word]
            slack[word] = scores[0, word] - most


@inner
def expand(scores, rows, nodes, children, child_end, best, head):  # out: head
    """Undoes the contractions from the outermost in: the arc into a cycle replaces the arc of the child that it enters."""
    n = scores.shape[0] - 1
    for node in range(nodes - 1, n, -1):
        entered, most = 0, -np.inf
        for position in range(child_end[node - 1], child_end[node]):
            child = children[position]
            added = arc_into(scores, rows, child, head[node]) - best[child]
            if added > most:
                entered, most = child, added
        head[entered] = head[node]


@inner
def contract_cycles(scores, single_root, roots, best, head, parent):  # out: best, head, parent of nodes (2n,)
    """From the best heads of the words to a best tree; returns the number of nodes, or INFEASIBLE.

    Nodes 0 to n are tokens, later ones contracted cycles, children before parents; parent is 0 outside all cycles.
    In the end head[1:n + 1] is the tree, best[node] the dual of the cut around a node, best[0] the price of a root arc.
    """
    n = scores.shape[0] - 1
    rows = np.empty((n, n + 1))
    slack = np.empty(2 * n)  # of nodes under the root: the price of a root arc from which on they prefer their best word
    work = np.empty((6, 2 * n), dtype=np.int64)
    top = work[0]  # the outermost node around a token
    depth = work[1]  # of a node on the path, from 1; -1 if its way to the root is known, 0 if not
    path = work[2]
    best_word = work[3]  # the best head of a node other than the root
    children = work[4]  # of the contracted nodes, one after the other
    child_end = work[5]  # where those of a node end, and those of the next begin
    for node in range(2 * n):
        depth[node] = parent[node] = 0
    for h in range(n + 1):
        top[h] = h
    child_end[n] = 0
    nodes = n + 1
    price = 0.0
    next_word = 1
    while True:
        # Whose way to the root is to be found next?
        if next_word <= n:
            node = top[next_word]
            next_word += 1
            if depth[node] < 0:
                continue
        elif single_root and roots > 1:  # the root arc that is cheapest to give up; the ways through its node change
            if next_word == n + 1:
                next_word += 1
                price_words(scores, top, head, best_word, slack)
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

        # Follow the heads, and contract the cycles that they close.
        path[0] = node
        depth[node] = length = 1
        while head[path[length - 1]] > 0:
            above = top[head[path[length - 1]]]
            if depth[above] < 0:
                break
            if depth[above] == 0:
                path[length] = above
                length += 1
                depth[above] = length
                continue
            cycle = path[depth[above] - 1 : length]
            node = nodes
            word = contract(scores, best, cycle, node, parent, top, rows)
            child_end[node] = child_end[node - 1] + cycle.size
            for position in range(cycle.size):
                children[child_end[node - 1] + position] = cycle[position]
            added = arc_into(scores, rows, node, word) if word > 0 else -np.inf
            root_added = arc_into(scores, rows, node, 0)
            if added == -np.inf and root_added == -np.inf:
                return INFEASIBLE
            best_word[node], slack[node] = word, root_added - added
            if slack[node] > price or (slack[node] == price and not single_root):
                head[node], best[node] = 0, root_added
                roots += 1
            else:
                head[node], best[node] = word, added
            length = depth[node] = depth[above]
            path[length - 1] = node
            nodes += 1
        for position in range(length):
            depth[path[position]] = -1

    for word in range(1, n + 1):
        if head[top[word]] == 0:
            best[top[word]] = arc_into(scores, rows, top[word], 0) - price
    best[0] = price
    expand(scores, rows, nodes, children, child_end, best, head)
    return nodes


@kernel(int64(readonly(float64, 2), int64, writable(int64, 1)))
def tree_kernel(scores, single_root, heads):  # out: heads (n,)
    """A best tree; returns a count, or INFEASIBLE or NOT_ACCEPTED. Most trained models' scores need no contraction."""
    n = heads.size
    word_best = np.empty(n)
    roots = best_heads(scores, word_best, heads)
    if roots < 0 or (not has_cycle(heads, np.empty(n, dtype=np.int64)) and not (single_root and roots > 1)):
        return roots
    best = np.empty(2 * n)
    work = np.empty((2, 2 * n), dtype=np.int64)
    head, parent = work[0], work[1]
    best[1 : n + 1] = word_best
    head[1 : n + 1] = heads
    nodes = contract_cycles(scores, single_root, roots, best, head, parent)
    heads[:] = head[1 : n + 1]
    return nodes


@kernel(int64(readonly(float64, 2), int64, writable(float64, 1), writable(int64, 1), writable(int64, 1)))
def duals_kernel(scores, single_root, best, head, parent):  # out: all (2n,), as in contract_cycles
    n = best.size // 2
    roots = best_heads(scores, best[1 : n + 1], head[1 : n + 1])
    return roots if roots < 0 else contract_cycles(scores, single_root, roots, best, head, parent)


def maximum_arborescence(scores: Any, *, single_root: bool = True) -> NDArray[np.int64]:
    """The heads of words 1 to n in a best tree under scores[h, m] (n + 1, n + 1); with one root unless told otherwise.

    Column 0 and the diagonal are ignored, -inf forbids an arc. Raises Infeasible if no tree is left.

    >>> maximum_arborescence([[0, 9, 8], [0, 0, 3], [0, 5, 0]]).tolist()
    [2, 0]
    >>> maximum_arborescence([[0, 9, 8], [0, 0, 3], [0, 5, 0]], single_root=False).tolist()
    [0, 0]
    """
    try:
        heads = empty(len(scores) - 1, INT64)
        count = tree_kernel(scores, 1 if single_root else 0, heads)
    except NOT_SUCH_AN_ARRAY:
        count = NOT_ACCEPTED
    if count >= 0:
        return heads
    if count == NOT_ACCEPTED:
        scores = arc_scores(scores)
        heads = empty(len(scores) - 1, INT64)
        count = tree_kernel(scores, 1 if single_root else 0, heads)
    if count == INFEASIBLE:
        raise infeasible(scores, single_root=single_root)
    return heads


def arborescence_duals(scores: Any, *, single_root: bool = True) -> tuple[NDArray[np.int64], Sets, tuple[float, ...]]:
    """A best tree and the proof: sets of words and their values, which add up to its score (Edmonds 1967).

    Every arc scores at most the sum of the values of the sets that it enters, with values as `proof.CutDuals` asks for.
    All is exact if the scores lie on a grid.
    """
    scores = arc_scores(scores)
    n = len(scores) - 1
    best = np.empty(2 * n)
    head, parent = np.empty(2 * n, np.int64), np.empty(2 * n, np.int64)
    nodes = duals_kernel(scores, 1 if single_root else 0, best, head, parent) if n > 0 else 0
    if nodes == INFEASIBLE:
        raise infeasible(scores, single_root=single_root)
    members: list[list[int]] = [[] for _ in range(max(nodes, 1))]
    for node in range(1, nodes):
        if node <= n:
            members[node] = [node]
        if parent[node] > 0:
            members[parent[node]] += members[node]
    values = {tuple(sorted(members[node])): float(best[node]) for node in range(1, nodes) if node <= n or best[node] != 0.0}
    if n > 0 and best[0] != 0.0:  # a single root: the price of its arc is the value of the set of all words
        everything = tuple(range(1, n + 1))
        values[everything] = values.get(everything, 0.0) + float(best[0])
    return head[1 : n + 1].copy(), tuple(values), tuple(values.values())
