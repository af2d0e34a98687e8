"""Graphs of paths of phrases: what is left of the relaxed lattice where only paths above a threshold count.

Nodes are states of the lattice with the number of translated words, in an order in which arcs lead forwards; node 0 is the start and the
last node the end of the sentence. An arc is a phrase, or a step that translates nothing, with all that it scores there. An arc is kept if
the best path through it, by what is known at some multipliers, scores more than the threshold (the bounding of algorithm 10). Multipliers
can be improved on a graph alone, and whatever they prove superfluous is dropped from it in turn. `phrase_unfolding` makes the graphs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zerogap.grid import Scores
from zerogap.kernels import float64, int64, kernel, readonly, record, writable


class Graph(NamedTuple):
    """Arcs of node x are arc_start[x] to arc_start[x + 1]. An arc without a phrase has the number of options, one to the last node -1."""

    arc_start: NDArray[np.int64]
    arc_to: NDArray[np.int64]
    arc_option: NDArray[np.int64]
    arc_score: Scores
    state: NDArray[np.int64]  # which state of the lattice a node is, and one bit for every word that nodes know, the latest lowest


GRAPH = record(Graph, readonly(int64, 1), readonly(int64, 1), readonly(int64, 1), readonly(float64, 1), readonly(int64, 1))


@kernel(float64(readonly(float64, 1), writable(float64, 1), GRAPH))
def graph_outside(price, outside, graph):  # out: outside (nodes,)
    """`price` has one more entry than there are options, 0, for the other arcs. Returns the score of a best path."""
    last = graph.arc_start.shape[0] - 2
    outside[last] = 0.0
    for x in range(last - 1, -1, -1):
        best = -np.inf
        for a in range(graph.arc_start[x], graph.arc_start[x + 1]):
            best = max(best, graph.arc_score[a] + price[graph.arc_option[a]] + outside[graph.arc_to[a]])
        outside[x] = best
    return outside[0]


@kernel(int64(readonly(float64, 1), readonly(float64, 1), writable(int64, 1), GRAPH))
def graph_path(price, outside, path, graph):  # out: path
    """The options of a best path. Returns how many there are."""
    length, x, last, n_options = 0, 0, graph.arc_start.shape[0] - 2, price.shape[0] - 1
    while x != last:
        for a in range(graph.arc_start[x], graph.arc_start[x + 1]):
            if graph.arc_score[a] + price[graph.arc_option[a]] + outside[graph.arc_to[a]] == outside[x]:
                if 0 <= graph.arc_option[a] < n_options:
                    path[length] = graph.arc_option[a]
                    length += 1
                x = graph.arc_to[a]
                break
    return length


@kernel(GRAPH(GRAPH, readonly(float64, 1), readonly(float64, 1), float64))
def pruned(graph, outside, price, least):
    """The graph of what lies on paths above `least`; the start and the end stay."""
    nodes = graph.arc_start.shape[0] - 1
    inside = np.full(nodes, -np.inf)
    number = np.full(nodes, -1, dtype=np.int64)
    inside[0] = 0.0
    kept_arcs, kept_nodes = 0, 0
    keep = np.zeros(graph.arc_to.shape[0], dtype=np.bool_)
    for x in range(nodes):
        if inside[x] == -np.inf and x != nodes - 1:
            continue
        number[x] = kept_nodes
        kept_nodes += 1
        for a in range(graph.arc_start[x], graph.arc_start[x + 1]):
            value = inside[x] + (graph.arc_score[a] + price[graph.arc_option[a]])
            if value + outside[graph.arc_to[a]] > least:
                keep[a] = True
                kept_arcs += 1
                inside[graph.arc_to[a]] = max(inside[graph.arc_to[a]], value)
    starts = np.zeros(kept_nodes + 1, dtype=np.int64)
    to, option, of = np.empty(kept_arcs, dtype=np.int64), np.empty(kept_arcs, dtype=np.int64), np.empty(kept_nodes, dtype=np.int64)
    score = np.empty(kept_arcs)
    b = 0
    for x in range(nodes):
        if number[x] < 0:
            continue
        of[number[x]] = graph.state[x]
        starts[number[x]] = b
        for a in range(graph.arc_start[x], graph.arc_start[x + 1]):
            if keep[a]:
                to[b], option[b], score[b] = number[graph.arc_to[a]], graph.arc_option[a], graph.arc_score[a]
                b += 1
    starts[kept_nodes] = b
    return Graph(starts, to, option, score, of)


@kernel(GRAPH(GRAPH, int64, readonly(int64, 1), readonly(int64, 1)))
def tightened(graph, word, starts, lengths):
    """The graph whose nodes also know whether a source word is translated: paths translate it exactly once, by twice as many nodes at most
    (Chang & Collins 2011, section 5). Arcs without a phrase are at the end of `starts` and `lengths`, where they begin after all words."""
    nodes = graph.arc_start.shape[0] - 1
    number = np.full(2 * nodes, -1, dtype=np.int64)
    number[0] = 0
    arcs = 0
    for x in range(nodes):
        for bit in range(2):
            if number[2 * x + bit] < 0:
                continue
            for a in range(graph.arc_start[x], graph.arc_start[x + 1]):
                p = graph.arc_option[a]
                now = bit
                if p >= 0 and starts[p] <= word < starts[p] + lengths[p]:
                    now += 1
                if now == 2 or (p < 0 and now == 0):
                    continue
                number[2 * graph.arc_to[a] + now] = 0
                arcs += 1
    number[2 * nodes - 1] = 0  # the end stays
    size = 0
    for k in range(2 * nodes):
        if number[k] == 0:
            number[k] = size
            size += 1
    new_start, new_state = np.empty(size + 1, dtype=np.int64), np.empty(size, dtype=np.int64)
    to, option, score = np.empty(arcs, dtype=np.int64), np.empty(arcs, dtype=np.int64), np.empty(arcs)
    b = 0
    for x in range(nodes):
        for bit in range(2):
            k = number[2 * x + bit]
            if k < 0:
                continue
            new_start[k], new_state[k] = b, 2 * graph.state[x] + bit
            for a in range(graph.arc_start[x], graph.arc_start[x + 1]):
                p = graph.arc_option[a]
                now = bit
                if p >= 0 and starts[p] <= word < starts[p] + lengths[p]:
                    now += 1
                if now == 2 or (p < 0 and now == 0):
                    continue
                to[b], option[b], score[b] = number[2 * graph.arc_to[a] + now], p, graph.arc_score[a]
                b += 1
    new_start[size] = b
    return Graph(new_start, to, option, score, new_state)
