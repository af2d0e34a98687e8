"""All matches of the source sides of a synchronous grammar in a sentence: a chart over a trie (Rush 2014, example 5.1.2; Chiang 2007).

A match is a row of steps through the trie of source sides, each over a word or over a vertex (symbol, start, end) that is itself
matched. Starts run from right to left and ends from left to right, so all that a step may go over is there before it is needed; symbols
that rewrite to one symbol alone are numbered after it. A vertex gets its number after those below it.

    step (i, j):   from a step (i, k), k < j, over the word j - 1 = k or over a vertex (A, k, j); the first may be over (A, i, j) itself

Source sides are not merged by what they derive: a match is one choice of spans, so its rules are hyperedges, one for each target side.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zerogap.kernels import inner, int32, int64, kernel, readonly, writable

Ids = NDArray[np.int32]
PASSED = -1  # the node of a word that is passed through, and the rule of its hyperedge


class Matches(NamedTuple):
    """Hyperedges below the root, by head and bottom-up: the rule and the tail vertices, in source order, of each."""

    edge_start: NDArray[np.int64]  # (vertices + 1,)
    rules: Ids
    tail_start: Ids  # (edges + 1,)
    tails: Ids
    vertices: Ids  # (vertices, 3): symbol, start, end


@inner
def child_of(child_start, child_symbols, child_nodes, node, symbol):
    """The child of a node by a symbol, or -1: binary search."""
    low, high = child_start[node], child_start[node + 1]
    while low < high:
        middle = (low + high) >> 1
        if child_symbols[middle] < symbol:
            low = middle + 1
        else:
            high = middle
    if low < child_start[node + 1] and child_symbols[low] == symbol:
        return child_nodes[low]
    return -1


I1, I2, I3 = readonly(int32, 1), readonly(int32, 2), readonly(int32, 3)


@kernel(
    int64(
        readonly(int32, 1), readonly(int32, 1), I1, I1, I1, I1, I1, readonly(int32, 1), writable(int32, 3), writable(int32, 2),
        writable(int32, 2), writable(int32, 1),
    )
)  # fmt: skip
def match_source(sentence, passed, child_start, child_symbols, child_nodes, rule_start, heads, limits, table, vertices, steps, counts):
    # out: table (symbols, n, n + 1), filled with -1; vertices (any, 3): symbol, start, end;
    # steps (any, 5): node, step before, vertex or -1, start, end; counts (2,): of vertices and steps. Returns 0, or 1 if steps are too few.
    n, n_symbols = sentence.shape[0], limits.shape[0]
    widest = 0  # no source side is of use beyond the widest symbol
    for a in range(n_symbols):
        widest = max(widest, limits[a])
    segment = np.zeros(n + 2, dtype=np.int64)  # steps from the current start, by end
    present = np.zeros(n_symbols, dtype=np.bool_)
    n_steps, n_vertices = 0, 0
    for i in range(n - 1, -1, -1):
        segment[i + 1] = n_steps
        for j in range(i + 1, min(n, i + widest) + 1):
            first = n_steps
            present[:] = False
            if n_steps + 2 > steps.shape[0]:
                return 1
            if j == i + 1:
                if passed[i] >= 0:
                    steps[n_steps, 0], steps[n_steps, 1], steps[n_steps, 2] = PASSED, -1, -1
                    n_steps += 1
                    present[passed[i]] = True
                node = child_of(child_start, child_symbols, child_nodes, 0, sentence[i]) if sentence[i] >= 0 else -1
                if node >= 0:
                    steps[n_steps, 0], steps[n_steps, 1], steps[n_steps, 2] = node, -1, -1
                    n_steps += 1
            elif sentence[j - 1] >= 0:
                for s in range(segment[j - 1], segment[j]):
                    if steps[s, 0] < 0:
                        continue
                    node = child_of(child_start, child_symbols, child_nodes, steps[s, 0], sentence[j - 1])
                    if node >= 0:
                        if n_steps == steps.shape[0]:
                            return 1
                        steps[n_steps, 0], steps[n_steps, 1], steps[n_steps, 2] = node, s, -1
                        n_steps += 1
            for k in range(i + 1, j):
                for a in range(n_symbols):
                    if table[a, k, j] < 0:
                        continue
                    for s in range(segment[k], segment[k + 1]):
                        at = steps[s, 0]
                        if at < 0 or child_start[at] == child_start[at + 1] or child_symbols[child_start[at]] >= 0:
                            continue  # symbols below 0, if any, come first
                        node = child_of(child_start, child_symbols, child_nodes, at, -1 - a)
                        if node >= 0:
                            if n_steps == steps.shape[0]:
                                return 1
                            steps[n_steps, 0], steps[n_steps, 1], steps[n_steps, 2] = node, s, table[a, k, j]
                            n_steps += 1
            for s in range(first, n_steps):
                if steps[s, 0] >= 0:
                    for r in range(rule_start[steps[s, 0]], rule_start[steps[s, 0] + 1]):
                        present[heads[r]] = True
            for a in range(n_symbols):
                if not present[a] or j - i > limits[a]:
                    continue
                table[a, i, j] = n_vertices
                vertices[n_vertices, 0], vertices[n_vertices, 1], vertices[n_vertices, 2] = a, i, j
                n_vertices += 1
                node = child_of(child_start, child_symbols, child_nodes, 0, -1 - a)
                if node >= 0:
                    if n_steps == steps.shape[0]:
                        return 1
                    steps[n_steps, 0], steps[n_steps, 1], steps[n_steps, 2] = node, -1, table[a, i, j]
                    n_steps += 1
                    for r in range(rule_start[node], rule_start[node + 1]):
                        present[heads[r]] = True  # numbered after a: still to come in this loop
            for s in range(first, n_steps):
                steps[s, 3], steps[s, 4] = i, j
            segment[j + 1] = n_steps
    counts[0], counts[1] = n_vertices, n_steps
    return 0


@kernel(int64(I2, int64, I3, I1, I1, I1, writable(int64, 1)))
def count_edges(steps, n_steps, table, passed, rule_start, heads, sizes):  # out: sizes (vertices + 1,), of the vertex before; returns tails
    n_tails = 0
    for s in range(n_steps):
        i, j = steps[s, 3], steps[s, 4]
        if steps[s, 0] == PASSED:
            sizes[table[passed[i], i, j] + 1] += 1
            continue
        first, last = rule_start[steps[s, 0]], rule_start[steps[s, 0] + 1]
        if first == last:
            continue
        arity, t = 0, s
        while t >= 0:
            arity += steps[t, 2] >= 0
            t = steps[t, 1]
        for r in range(first, last):
            v = table[heads[r], i, j]
            if v >= 0:
                sizes[v + 1] += 1
                n_tails += arity
    return n_tails


@kernel(int64(I2, int64, I3, I1, I1, I1, readonly(int64, 1), writable(int32, 1), writable(int32, 1)))
def place_edges(steps, n_steps, table, passed, rule_start, heads, edge_start, rules, matches):  # out: rules, matches (edges,)
    at = edge_start[:-1].copy()
    for s in range(n_steps):
        i, j = steps[s, 3], steps[s, 4]
        if steps[s, 0] == PASSED:
            v = table[passed[i], i, j]
            rules[at[v]], matches[at[v]] = PASSED, s
            at[v] += 1
            continue
        for r in range(rule_start[steps[s, 0]], rule_start[steps[s, 0] + 1]):
            v = table[heads[r], i, j]
            if v >= 0:
                rules[at[v]], matches[at[v]] = r, s
                at[v] += 1
    return 0


@kernel(
    int64(
        I2,
        readonly(int64, 1),
        I1,
        I1,
        int64,
        writable(int32, 1),
        writable(int64, 1),
        writable(int32, 1),
        writable(int32, 1),
        writable(int32, 1),
    )
)
def keep_below(steps, edge_start, rules, matches, root, number, new_start, new_rules, tail_start, tails):
    # out: number (vertices,), -1 for what is not below the root; new_start, new_rules, tail_start, tails. Returns how many vertices are.
    number[:] = -1
    number[root] = 0
    for v in range(root, -1, -1):
        if number[v] < 0:
            continue
        for e in range(edge_start[v], edge_start[v + 1]):
            t = matches[e]
            while t >= 0:
                if steps[t, 2] >= 0:
                    number[steps[t, 2]] = 0
                t = steps[t, 1]
    n_vertices, n_edges, n_tails = 0, 0, 0
    new_start[0] = 0
    tail_start[0] = 0
    for v in range(root + 1):
        if number[v] < 0:
            continue
        number[v] = n_vertices
        n_vertices += 1
        for e in range(edge_start[v], edge_start[v + 1]):
            begin, t = n_tails, matches[e]
            while t >= 0:
                if steps[t, 2] >= 0:
                    tails[n_tails] = number[steps[t, 2]]
                    n_tails += 1
                t = steps[t, 1]
            low, high = begin, n_tails - 1
            while low < high:  # steps go back: left to right again
                tails[low], tails[high] = tails[high], tails[low]
                low, high = low + 1, high - 1
            new_rules[n_edges] = rules[e]
            n_edges += 1
            tail_start[n_edges] = n_tails
        new_start[n_vertices] = n_edges
    return n_vertices


def match_sentence(
    sentence: Ids, passed: Ids, trie: tuple[Ids, Ids, Ids], rule_start: Ids, heads: Ids, limits: Ids, goal: int
) -> Matches | None:
    """All derivations of the whole sentence from the goal, or None if there are none.

    `sentence` has word ids, -1 for words that no rule has; `passed` a symbol for every word that is passed through as one, else -1;
    `limits` the most words below every symbol.
    """
    n = len(sentence)
    table = np.empty((len(limits), n, n + 1), dtype=np.int32)
    vertices = np.empty((len(limits) * n * (n + 1) // 2, 3), dtype=np.int32)
    counts = np.zeros(2, dtype=np.int32)
    size = 1 << 14
    while True:
        table[:] = -1
        steps = np.empty((size, 5), dtype=np.int32)
        if not match_source(sentence, passed, *trie, rule_start, heads, limits, table, vertices, steps, counts):
            break
        size *= 4
    root = int(table[goal, 0, n])
    if root < 0:
        return None
    n_vertices, n_steps = counts.tolist()
    edge_start = np.zeros(n_vertices + 1, dtype=np.int64)
    n_tails = count_edges(steps, n_steps, table, passed, rule_start, heads, edge_start)
    np.cumsum(edge_start, out=edge_start)
    rules, matches, new_rules = (np.empty(int(edge_start[-1]), dtype=np.int32) for _ in range(3))
    place_edges(steps, n_steps, table, passed, rule_start, heads, edge_start, rules, matches)
    number = np.empty(n_vertices, dtype=np.int32)
    new_start = np.empty(n_vertices + 1, dtype=np.int64)
    tail_start = np.empty(len(rules) + 1, dtype=np.int32)
    tails = np.empty(n_tails, dtype=np.int32)
    kept = keep_below(steps, edge_start, rules, matches, root, number, new_start, new_rules, tail_start, tails)
    n_edges = int(new_start[kept])
    found = tail_start[: n_edges + 1].copy()
    return Matches(
        new_start[: kept + 1].copy(), new_rules[:n_edges].copy(), found, tails[: found[-1]].copy(), vertices[:n_vertices][number >= 0]
    )
