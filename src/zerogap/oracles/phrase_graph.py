"""What is left of the relaxed lattice where only paths above a threshold count: an explicit graph, a few arcs of millions.

Nodes are ends with the number of translated words, in that order; node 0 is the start and the last node the end of the sentence. Arcs are
phrases with all that they score there. An arc is kept if the best path through it, by what is known at some multipliers, scores more than
the threshold (the bounding of algorithm 10); the language model is exact, as back-offs are taken only where nothing longer is listed.
Multipliers can then be improved on the graph alone, and whatever they prove superfluous is dropped from it in turn.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zerogap.grid import Scores
from zerogap.oracles.compile import float64, int32, int64, kernel, readonly, types, writable
from zerogap.oracles.phrase_lattice import LATTICE_TYPES, Lattice
from zerogap.oracles.phrase_outside import Outside
from zerogap.oracles.pools import grown, grown_numbers


class Graph(NamedTuple):
    """Arcs of node x are arc_start[x] to arc_start[x + 1]; those to the last node have the option -1."""

    arc_start: NDArray[np.int64]
    arc_to: NDArray[np.int64]
    arc_option: NDArray[np.int64]
    arc_score: Scores
    node_at: NDArray[np.int64]  # the source position where the last phrase ended


GRAPH_TYPES: tuple[Any, ...] = (readonly(int64, 1), readonly(int64, 1), readonly(int64, 1), readonly(float64, 1), readonly(int64, 1))

RESULT = types.Tuple(
    (int64, int64, writable(int64, 1), writable(int64, 1), writable(int64, 1), writable(float64, 1), writable(int64, 1))
)  # fmt: skip


@kernel(
    RESULT(
        int64, float64, int64, readonly(float64, 1),
        readonly(float64, 2), readonly(float64, 2), readonly(int32, 1), *LATTICE_TYPES,
    )
)  # fmt: skip
def unfold(
    n, least, most_arcs, price, ends, firsts, leave_step,
    end_range, end_state, shorter_end, shorter_score, final, enter_start, enter_first, enter_score,
    first_range, first_group, leave_start, leave_option, leave_end, leave_score,
):  # fmt: skip
    """(nodes, arcs, arc_start, arc_to, arc_option, arc_score, node_at) of all arcs on paths above `least`; -1 nodes if too many."""
    n_ends = end_state.shape[0]
    flat = ends.reshape(-1)
    node_of = np.full((n + 1) * n_ends, -1, dtype=np.int32)  # numbers in the order of discovery
    inside = np.empty(1024)
    where = np.empty(1024, dtype=np.int64)
    following = np.empty(1024, dtype=np.int64)  # chains of nodes with as many translated words
    head = np.full(n + 1, -1, dtype=np.int64)
    arc_from, arc_to = np.empty(4096, dtype=np.int64), np.empty(4096, dtype=np.int64)
    arc_option, arc_score = np.empty(4096, dtype=np.int64), np.empty(4096)
    order = np.empty(1024, dtype=np.int64)
    stamp = np.full(first_group.max() + 1 if first_group.shape[0] else 0, -1, dtype=np.int64)
    nodes, arcs, visited = 1, 0, 0
    node_of[0], inside[0], where[0], following[0], head[0] = 0, 0.0, 0, -1, 0
    for c in range(n):
        x = head[c]
        while x >= 0:
            order = grown(order, visited + 1)
            order[visited] = x
            visited += 1
            at = where[x] % n_ends
            extra = inside[x]
            while at >= 0:
                for i in range(enter_start[at], enter_start[at + 1]):
                    f = enter_first[i]
                    if stamp[first_group[f]] == x:
                        continue  # the word is listed after a longer state
                    stamp[first_group[f]] = x
                    so_far = extra + enter_score[i]
                    if not so_far + firsts[c, f] > least:
                        continue
                    for j in range(leave_start[f], leave_start[f + 1]):
                        value = so_far + (leave_score[j] + price[leave_option[j]])
                        spot = c * n_ends + leave_step[j]
                        if not value + flat[spot] > least:
                            continue
                        y = np.int64(node_of[spot])
                        if y < 0:
                            y = np.int64(nodes)
                            nodes += 1
                            inside, where, following = grown_numbers(inside, nodes), grown(where, nodes), grown(following, nodes)
                            into = spot // n_ends
                            node_of[spot], inside[y], where[y], following[y] = y, value, spot, head[into]
                            head[into] = y
                        else:
                            inside[y] = max(inside[y], value)
                        arc_from, arc_to = grown(arc_from, arcs + 1), grown(arc_to, arcs + 1)
                        arc_option, arc_score = grown(arc_option, arcs + 1), grown_numbers(arc_score, arcs + 1)
                        arc_from[arcs], arc_to[arcs], arc_option[arcs] = x, y, leave_option[j]
                        arc_score[arcs] = so_far - inside[x] + leave_score[j]
                        arcs += 1
                        if arcs >= most_arcs:
                            return -1, arcs, arc_from[:0], arc_to[:0], arc_option[:0], arc_score[:0], where[:0]
                extra += shorter_score[at]
                at = shorter_end[at]
            x = following[x]
    x = head[n]
    while x >= 0:
        order = grown(order, visited + 1)
        order[visited] = x
        visited += 1
        x = following[x]
    # nodes were visited in the order of their numbers of words, and arcs were made in the order of the visits
    rank = np.full(nodes, -1, dtype=np.int64)
    for k in range(visited):
        rank[order[k]] = k
    arc_start = np.zeros(visited + 2, dtype=np.int64)
    node_at = np.zeros(visited + 1, dtype=np.int64)
    a = 0
    for k in range(visited):
        x = order[k]
        arc_start[k] = a
        spot = where[x] % n_ends
        low, high = 0, n + 1  # the position whose range has the end
        while high - low > 1:
            middle = (low + high) >> 1
            if end_range[middle] <= spot:
                low = middle
            else:
                high = middle
        node_at[k] = low
        if where[x] // n_ends == n:
            arc_to, arc_option, arc_score = grown(arc_to, arcs + 1), grown(arc_option, arcs + 1), grown_numbers(arc_score, arcs + 1)
            arc_to[a], arc_option[a], arc_score[a] = visited, -1, final[spot]
            a += 1
            arcs += 1
        else:
            while a < arcs and arc_from[a] == x:
                arc_to[a] = rank[arc_to[a]]
                a += 1
    arc_start[visited] = a
    arc_start[visited + 1] = a
    return visited + 1, a, arc_start, arc_to[:a].copy(), arc_option[:a].copy(), arc_score[:a].copy(), node_at


@kernel(float64(readonly(float64, 1), writable(float64, 1), *GRAPH_TYPES))
def graph_outside(price, outside, arc_start, arc_to, arc_option, arc_score, node_at):  # out: outside (nodes,)
    """`price` has one more entry than there are options, 0, for the arcs to the end. Returns the score of a best path."""
    last = arc_start.shape[0] - 2
    outside[last] = 0.0
    for x in range(last - 1, -1, -1):
        best = -np.inf
        for a in range(arc_start[x], arc_start[x + 1]):
            best = max(best, arc_score[a] + price[arc_option[a]] + outside[arc_to[a]])
        outside[x] = best
    return outside[0]


@kernel(int64(readonly(float64, 1), readonly(float64, 1), writable(int64, 1), *GRAPH_TYPES))
def graph_path(price, outside, path, arc_start, arc_to, arc_option, arc_score, node_at):  # out: path
    """The options of a best path. Returns how many there are."""
    length, x, last = 0, 0, arc_start.shape[0] - 2
    while x != last:
        for a in range(arc_start[x], arc_start[x + 1]):
            if arc_score[a] + price[arc_option[a]] + outside[arc_to[a]] == outside[x]:
                if arc_option[a] >= 0:
                    path[length] = arc_option[a]
                    length += 1
                x = arc_to[a]
                break
    return length


@kernel(
    types.Tuple((writable(int64, 1), writable(int64, 1), writable(int64, 1), writable(float64, 1), writable(int64, 1)))(
        float64, readonly(float64, 1), readonly(float64, 1), *GRAPH_TYPES
    )
)
def prune_graph(least, price, outside, arc_start, arc_to, arc_option, arc_score, node_at):
    """The graph of what lies on paths above `least`; the start and the end stay."""
    nodes = arc_start.shape[0] - 1
    inside = np.full(nodes, -np.inf)
    number = np.full(nodes, -1, dtype=np.int64)
    inside[0] = 0.0
    kept_arcs, kept_nodes = 0, 0
    keep = np.zeros(arc_to.shape[0], dtype=np.bool_)
    for x in range(nodes):
        if inside[x] == -np.inf and x != nodes - 1:
            continue
        number[x] = kept_nodes
        kept_nodes += 1
        for a in range(arc_start[x], arc_start[x + 1]):
            value = inside[x] + (arc_score[a] + price[arc_option[a]])
            if value + outside[arc_to[a]] > least:
                keep[a] = True
                kept_arcs += 1
                inside[arc_to[a]] = max(inside[arc_to[a]], value)
    starts = np.zeros(kept_nodes + 1, dtype=np.int64)
    to, option, at = np.empty(kept_arcs, dtype=np.int64), np.empty(kept_arcs, dtype=np.int64), np.empty(kept_nodes, dtype=np.int64)
    score = np.empty(kept_arcs)
    b = 0
    for x in range(nodes):
        if number[x] < 0:
            continue
        at[number[x]] = node_at[x]
        starts[number[x]] = b
        for a in range(arc_start[x], arc_start[x + 1]):
            if keep[a]:
                to[b], option[b], score[b] = number[arc_to[a]], arc_option[a], arc_score[a]
                b += 1
    starts[kept_nodes] = b
    return starts, to, option, score, at


@kernel(
    types.Tuple((writable(int64, 1), writable(int64, 1), writable(int64, 1), writable(float64, 1), writable(int64, 1)))(
        int64, readonly(int64, 1), readonly(int64, 1), *GRAPH_TYPES
    )
)
def split_nodes(word, starts, lengths, arc_start, arc_to, arc_option, arc_score, node_at):
    """The graph whose nodes also know whether a source word is translated: paths translate it exactly once."""
    nodes = arc_start.shape[0] - 1
    number = np.full(2 * nodes, -1, dtype=np.int64)
    number[0] = 0
    arcs = 0
    for x in range(nodes):
        for bit in range(2):
            if number[2 * x + bit] < 0:
                continue
            for a in range(arc_start[x], arc_start[x + 1]):
                p = arc_option[a]
                now = bit
                if p >= 0 and starts[p] <= word < starts[p] + lengths[p]:
                    now += 1
                if now == 2 or (p < 0 and now == 0):
                    continue
                number[2 * arc_to[a] + now] = 0
                arcs += 1
    number[2 * nodes - 1] = 0  # the end stays
    size = 0
    for k in range(2 * nodes):
        if number[k] == 0:
            number[k] = size
            size += 1
    new_start, new_at = np.empty(size + 1, dtype=np.int64), np.empty(size, dtype=np.int64)
    to, option, score = np.empty(arcs, dtype=np.int64), np.empty(arcs, dtype=np.int64), np.empty(arcs)
    b = 0
    for x in range(nodes):
        for bit in range(2):
            k = number[2 * x + bit]
            if k < 0:
                continue
            new_start[k], new_at[k] = b, node_at[x]
            for a in range(arc_start[x], arc_start[x + 1]):
                p = arc_option[a]
                now = bit
                if p >= 0 and starts[p] <= word < starts[p] + lengths[p]:
                    now += 1
                if now == 2 or (p < 0 and now == 0):
                    continue
                to[b], option[b], score[b] = number[2 * arc_to[a] + now], p, arc_score[a]
                b += 1
    new_start[size] = b
    return new_start, to, option, score, new_at


def graph_above(lattice: Lattice, outside: Outside, price: Scores, *, least: float, most_arcs: int) -> Graph | None:
    """All of the lattice that lies on paths of more than `least`, given its outside scores; None if there are more arcs than allowed."""
    n = len(lattice.first_range) - 1
    nodes, _, *arrays = unfold(n, least, most_arcs, price, outside.ends, outside.firsts, outside.leave_step, *lattice)
    return None if nodes < 0 else Graph(*arrays)


def pruned(graph: Graph, outside: Scores, price: Scores, *, least: float) -> Graph:
    return Graph(*prune_graph(least, price, outside, *graph))


def tightened(graph: Graph, word: int, starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> Graph:
    """Paths that translate a word exactly once, by twice as many nodes at most (the tightening of Chang & Collins 2011, section 5)."""
    return Graph(*split_nodes(word, starts, lengths, *graph))
