"""Beam search over translations, pruned by bounds: exact unless the beam overflows (Rush 2014, algorithms 10 and 11).

A hypothesis is a node of the graph of relaxed paths together with the set of source words translated, its signature. It is left out if
its score and the node's outside score are not above the threshold: no completion of it is. Among as many translated words, at most `width`
hypotheses are kept, those with the best bounds; if that ever drops one, the beam has overflowed, and the largest bound of what was
dropped limits what was missed. So does the bound of what reaches beyond the window of coverages.

If the search is asked to, it records all steps between hypotheses, from which `translations_above` reads the best translations in order.
"""

from __future__ import annotations

import heapq
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zerogap.grid import Scores
from zerogap.kernels import boolean, float64, inner, int64, kernel, readonly, record, types, writable
from zerogap.oracles.growing_arrays import grown, grown_numbers
from zerogap.oracles.phrases.coverage import REORDERING, SPANS, Reordering, Spans, extended, gap_of
from zerogap.oracles.phrases.graph import GRAPH, Graph


@inner
def slot_of(slots, covered, node, all_covered, all_nodes):
    """Where a hypothesis is in the hash table, or the free slot for it: slots have numbers + 1."""
    mixed = (np.uint64(covered) * np.uint64(0x9E3779B97F4A7C15)) ^ (np.uint64(node + 1) * np.uint64(0xC2B2AE3D27D4EB4F))
    mask = slots.shape[0] - 1
    at = np.int64((mixed ^ (mixed >> np.uint64(31))) & np.uint64(mask))
    while slots[at] != 0:
        h = slots[at] - 1
        if all_covered[h] == covered and all_nodes[h] == node:
            break
        at = (at + 1) & mask
    return at


@inner
def threshold_of(bounds, count, width):
    """A value that at most `width` of the bounds exceed, and as many as possible."""
    return np.sort(bounds[:count])[count - width - 1]


class Limits(NamedTuple):
    """What a search looks for, and how far."""

    least: float  # translations that score more
    width: int  # hypotheses for each number of translated words
    most: int  # hypotheses in all


class Steps(NamedTuple):
    """Steps between hypotheses, by number, in an order in which all steps to one come before all steps from it."""

    origin: NDArray[np.int64]
    target: NDArray[np.int64]  # -1: the end of the sentence
    arc: NDArray[np.int64]


LIMITS = record(Limits, float64, int64, int64)
STEPS = record(Steps, writable(int64, 1), writable(int64, 1), writable(int64, 1))


@inner
def with_step(steps, size, origin, target, arc):
    """One step more: steps with room for it."""
    steps = Steps(grown(steps.origin, size + 1), grown(steps.target, size + 1), grown(steps.arc, size + 1))
    steps.origin[size], steps.target[size], steps.arc[size] = origin, target, arc
    return steps


@kernel(
    types.Tuple((int64, float64, int64, STEPS))(
        GRAPH, readonly(float64, 1), readonly(float64, 1), SPANS, REORDERING, LIMITS, boolean, writable(int64, 1)
    )
)
def search(graph, outside, price, spans, order, limits, records, path):  # out: path (n,)
    """(phrases of the best translation above `least` or -1, the largest bound of what was dropped or -inf, hypotheses; steps).

    Steps are there if `records` asks for them.
    """
    n, least = path.shape[0], limits.least
    steps, n_steps = Steps(np.empty(64, dtype=np.int64), np.empty(64, dtype=np.int64), np.empty(64, dtype=np.int64)), 0
    covered, nodes = np.empty(4096, dtype=np.int64), np.empty(4096, dtype=np.int64)
    back, arcs, following = np.empty(4096, dtype=np.int64), np.empty(4096, dtype=np.int64), np.empty(4096, dtype=np.int64)
    scores = np.empty(4096)
    slots = np.zeros(16384, dtype=np.int64)
    head, count = np.full(n + 1, -1, dtype=np.int64), np.zeros(n + 1, dtype=np.int64)
    covered[0], nodes[0], back[0], arcs[0], following[0], scores[0], head[0], count[0] = 0, 0, -1, -1, -1, 0.0, 0, 1
    size = 1
    dropped = -np.inf
    final, final_from = least, -1
    for c in range(n + 1):
        limit = least
        if count[c] > limits.width:
            bounds = np.empty(count[c])
            h, k = head[c], 0
            while h >= 0:
                bounds[k] = scores[h] + outside[nodes[h]]
                k += 1
                h = following[h]
            limit = max(limit, threshold_of(bounds, k, limits.width))
            if limit > least:
                for i in range(k):
                    if bounds[i] <= limit:
                        dropped = max(dropped, bounds[i])
        h = head[c]
        while h >= 0:
            x, so_far = nodes[h], scores[h]
            if not so_far + outside[x] > limit:
                h = following[h]
                continue
            bits = np.uint64(covered[h])
            first = gap_of(bits, c)
            for a in range(graph.arc_start[x], graph.arc_start[x + 1]):
                p = graph.arc_option[a]
                y = graph.arc_to[a]
                value = so_far + (graph.arc_score[a] + price[p])
                if not value + outside[y] > least:
                    continue
                if p < 0:  # the end of the sentence
                    if value > final:
                        final, final_from = value, h
                    if records:
                        steps = with_step(steps, n_steps, h, -1, a)
                        n_steps += 1
                    continue
                s, k = spans.starts[p], spans.lengths[p]
                may, now = extended(bits, first, c, s, k, order)
                if may < 0:
                    dropped = max(dropped, value + outside[y])
                if may <= 0:
                    continue
                at = slot_of(slots, np.int64(now), y, covered, nodes)
                if records:
                    steps = with_step(steps, n_steps, h, slots[at] - 1 if slots[at] != 0 else size, a)
                    n_steps += 1
                if slots[at] != 0:
                    g = slots[at] - 1
                    if value > scores[g]:
                        scores[g], back[g], arcs[g] = value, h, a
                    continue
                if size >= limits.most:
                    return -1, np.inf, size, steps
                if 2 * size >= slots.shape[0]:
                    slots = np.zeros(2 * slots.shape[0], dtype=np.int64)
                    for g in range(size):
                        slots[slot_of(slots, covered[g], nodes[g], covered, nodes)] = g + 1
                    at = slot_of(slots, np.int64(now), y, covered, nodes)
                covered, nodes, following = grown(covered, size + 1), grown(nodes, size + 1), grown(following, size + 1)
                back, arcs, scores = grown(back, size + 1), grown(arcs, size + 1), grown_numbers(scores, size + 1)
                covered[size], nodes[size], scores[size], back[size], arcs[size] = np.int64(now), y, value, h, a
                following[size] = head[c + k]
                head[c + k] = size
                count[c + k] += 1
                slots[at] = size + 1
                size += 1
            h = following[h]
    length = -1
    if final_from >= 0:
        length, h = 0, final_from
        while back[h] >= 0:
            path[length] = graph.arc_option[arcs[h]]
            length += 1
            h = back[h]
        for k in range(length // 2):
            path[k], path[length - 1 - k] = path[length - 1 - k], path[k]
    return length, dropped, size, Steps(steps.origin[:n_steps], steps.target[:n_steps], steps.arc[:n_steps])


def best_above(
    graph: Graph, outside: Scores, price: Scores, spans: Spans, order: Reordering, limits: Limits
) -> tuple[NDArray[np.int64] | None, float, int]:
    """(options of the best translation found that scores more than `least` in the graph's terms, or None; the largest bound of what was
    dropped, -inf if the search was exhaustive and inf if it ended early with more than `most` hypotheses; how many there were)."""
    path = np.empty(order.jumps.shape[1], dtype=np.int64)
    length, dropped, size, _ = search(graph, outside, price, spans, order, limits, False, path)
    return (None if length < 0 else path[:length]), dropped, size


def translations_above(
    graph: Graph, outside: Scores, price: Scores, spans: Spans, order: Reordering, limits: Limits, k: int
) -> list[tuple[list[int], float]] | None:
    """The options and scores of the k best translations that score more than `least`, best first; None if there are too many hypotheses,
    or if some reach beyond the window."""
    _, dropped, size, (origin, target, arc) = search(
        graph, outside, price, spans, order, limits, True, np.empty(order.jumps.shape[1], dtype=np.int64)
    )
    if dropped > -np.inf:
        return None
    value = graph.arc_score[arc] + price[graph.arc_option[arc]]
    rest = completions(size, origin, target, value)
    # best first: what is complete already, plus the best completion, is the score of a translation
    by_origin = np.argsort(origin, kind="stable")
    first = np.searchsorted(origin[by_origin], np.arange(size + 1))
    waiting: list[tuple[float, int, float, int, tuple[int, ...]]] = [(-rest[0], 0, 0.0, 0, ())]
    found: list[tuple[list[int], float]] = []
    pushed = 0
    while waiting and len(found) < k:
        _, _, so_far, h, options = heapq.heappop(waiting)
        if h < 0:
            found.append((list(options[:-1]), so_far))  # the last step has no phrase
            continue
        for i in by_origin[first[h] : first[h + 1]].tolist():
            score, g = so_far + float(value[i]), int(target[i])
            total = score + float(rest[g])
            if total > limits.least:
                pushed += 1
                heapq.heappush(waiting, (-total, pushed, score, g, (*options, int(graph.arc_option[arc[i]]))))
    return found


def completions(size: int, origin: NDArray[np.int64], target: NDArray[np.int64], value: Scores) -> Scores:
    """The best way from every hypothesis to the end of the sentence, which is the last entry."""
    rest = np.full(size + 1, -np.inf)
    rest[-1] = 0.0
    complete(origin, target, value, rest)
    return rest


@kernel(int64(readonly(int64, 1), readonly(int64, 1), readonly(float64, 1), writable(float64, 1)))
def complete(origin, target, value, rest):  # out: rest
    for i in range(origin.shape[0] - 1, -1, -1):
        rest[origin[i]] = max(rest[origin[i]], value[i] + rest[target[i]])
    return 0
