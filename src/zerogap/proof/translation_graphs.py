"""Paths of phrases above a threshold as a graph in NumPy, layer by layer of translated words, and the search through it.

All that is asked here is whether some translation scores more than a claimed bound. Arcs that cannot be part of one, by the outside scores
at any multipliers, are left out; what remains is searched through, every set of translated words on its own. Where those are too many,
nodes are made to know whether some word is translated, and multipliers are improved: both only leave out more.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zerogap.errors import VerificationError
from zerogap.grid import Scores
from zerogap.translation.phrase_problem import PhraseProblem

FEW, MANY = 200_000, 4_000_000  # hypotheses that are tried before the graph is tightened, and in the end
STEPS = 25  # of multipliers on a tightened graph
WORDS_AT_ONCE = 2

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class PathGraph:
    """Arcs are sorted by their source; nodes by the number of translated words, the first is the start. Phrase -1 ends the sentence."""

    layer_start: Integers  # (n + 2,): nodes with c translated words are layer_start[c] to layer_start[c + 1]
    arc_start: Integers
    source: Integers
    target: Integers  # -1 for the end
    phrase: Integers
    score: Scores  # without multipliers


def priced(graph: PathGraph, problem: PhraseProblem, multipliers: Scores) -> Scores:
    """Scores of the arcs less the multipliers of the words that they translate."""
    sums = np.concatenate([[0.0], np.cumsum(multipliers)])
    cost = np.append(sums[problem.ends] - sums[problem.starts], 0.0)
    return graph.score - cost[graph.phrase]


def outside_scores(graph: PathGraph, weights: Scores) -> Scores:
    """The best completion of every node, and 0 for the end as the last entry."""
    outside = np.full(graph.layer_start[-1] + 1, -np.inf)
    outside[-1] = 0.0
    for first, last in zip(graph.layer_start[-2::-1], graph.layer_start[:0:-1], strict=True):
        a, b = graph.arc_start[first], graph.arc_start[last]
        if a < b:
            sources = np.flatnonzero(np.diff(graph.arc_start[first : last + 1])) + first
            values = weights[a:b] + outside[graph.target[a:b]]
            outside[sources] = np.maximum.reduceat(values, graph.arc_start[sources] - a)
    return outside


def inside_scores(graph: PathGraph, weights: Scores) -> Scores:
    """The best beginning of every node; the last entry is that of a best path."""
    inside = np.full(graph.layer_start[-1] + 1, -np.inf)
    inside[0] = 0.0
    for first, last in zip(graph.layer_start[:-1], graph.layer_start[1:], strict=True):
        a, b = graph.arc_start[first], graph.arc_start[last]
        np.maximum.at(inside, graph.target[a:b], inside[graph.source[a:b]] + weights[a:b])
    return inside


def selected(graph: PathGraph, keep: NDArray[np.bool_]) -> PathGraph:
    """The graph with some of its arcs and the nodes that they need."""
    source, target = graph.source[keep], graph.target[keep]
    is_used = np.zeros(graph.layer_start[-1] + 1, dtype=bool)
    is_used[0] = True
    is_used[source] = is_used[target] = True
    is_used = is_used[:-1]  # the end is no node
    number = np.append(np.cumsum(is_used) - 1, -1)
    layers = np.concatenate([[0], np.cumsum(is_used)])[graph.layer_start]
    source = number[source]
    starts = np.searchsorted(source, np.arange(layers[-1] + 1))
    return PathGraph(layers, starts, source, number[target], graph.phrase[keep], graph.score[keep])


def above(graph: PathGraph, weights: Scores, outside: Scores, least: float) -> PathGraph:
    """What lies on paths that score more than `least`."""
    inside = inside_scores(graph, weights)
    return selected(graph, inside[graph.source] + weights + outside[graph.target] > least)


def knowing(graph: PathGraph, problem: PhraseProblem, word: int) -> PathGraph:
    """Paths that translate a word exactly once: every node is doubled, before the word and after it."""
    crosses = np.append((problem.starts <= word) & (word < problem.ends), False)[graph.phrase]
    ends = graph.phrase < 0
    stay0, stay1, cross = np.flatnonzero(~crosses & ~ends), np.flatnonzero(~crosses), np.flatnonzero(crosses)
    arcs = np.concatenate([stay0, stay1, cross])
    from_bit = np.concatenate([np.zeros(len(stay0), np.int64), np.ones(len(stay1), np.int64), np.zeros(len(cross), np.int64)])
    to_bit = np.concatenate([np.zeros(len(stay0), np.int64), np.ones(len(stay1), np.int64), np.ones(len(cross), np.int64)])
    source = 2 * graph.source[arcs] + from_bit
    target = np.where(graph.target[arcs] < 0, -1, 2 * graph.target[arcs] + to_bit)
    order = np.argsort(source, kind="stable")
    layers = 2 * graph.layer_start
    starts = np.searchsorted(source[order], np.arange(layers[-1] + 1))
    return PathGraph(layers, starts, source[order], target[order], graph.phrase[arcs][order], graph.score[arcs][order])


def excess(graph: PathGraph, problem: PhraseProblem, weights: Scores, outside: Scores) -> Scores:
    """How often a best path translates each word, less 1."""
    counts, x = np.full(len(problem), -1.0), 0
    while x >= 0:
        a, b = graph.arc_start[x], graph.arc_start[x + 1]
        arc = a + int(np.argmax(weights[a:b] + outside[graph.target[a:b]]))
        p = graph.phrase[arc]
        if p >= 0:
            counts[problem.starts[p] : problem.ends[p]] += 1.0
        x = int(graph.target[arc])
    return counts


def best_translation(graph: PathGraph, problem: PhraseProblem, weights: Scores, outside: Scores, least: float, most: int) -> float | None:
    """The score of a best translation above `least`, -inf if there is none; None if there are more than `most` hypotheses."""
    n, best, seen = len(problem), -np.inf, 0
    waiting: list[list[tuple[NDArray[np.uint64], Integers, Scores]]] = [[] for _ in range(n + 1)]
    waiting[0].append((np.zeros(1, dtype=np.uint64), np.zeros(1, dtype=np.int64), np.zeros(1)))
    ones = np.uint64(1)
    spans = ((ones << (problem.ends - problem.starts).astype(np.uint64)) - ones) << problem.starts.astype(np.uint64)
    for c in range(n + 1):
        if not waiting[c]:
            continue
        covered, nodes, scores = (np.concatenate(column) for column in zip(*waiting[c], strict=True))
        waiting[c] = []
        order = np.lexsort((-scores, nodes, covered))
        covered, nodes, scores = covered[order], nodes[order], scores[order]
        kept = np.concatenate([[True], (covered[1:] != covered[:-1]) | (nodes[1:] != nodes[:-1])])
        covered, nodes, scores = covered[kept], nodes[kept], scores[kept]
        seen += len(nodes)
        if seen > most:
            return None
        sizes = np.diff(graph.arc_start)[nodes]
        parent = np.repeat(np.arange(len(nodes)), sizes)
        arcs = np.repeat(graph.arc_start[nodes] - np.cumsum(sizes) + sizes, sizes) + np.arange(len(parent))
        value = scores[parent] + weights[arcs]
        alive = value + outside[graph.target[arcs]] > least
        parent, arcs, value = parent[alive], arcs[alive], value[alive]
        if c == n:
            return max(best, float(value.max(initial=-np.inf)))
        phrase, bits = graph.phrase[arcs], covered[parent]
        alive = (bits & spans[phrase] == 0) & may_leave(problem, bits, phrase)
        joined, target, phrase, value = bits[alive] | spans[phrase[alive]], graph.target[arcs[alive]], phrase[alive], value[alive]
        counts = c + (problem.ends - problem.starts)[phrase]
        for count in np.unique(counts).tolist():
            rows = counts == count
            waiting[count].append((joined[rows], target[rows], value[rows]))
    return best


def may_leave(problem: PhraseProblem, bits: NDArray[np.uint64], phrase: Integers) -> NDArray[np.bool_]:
    """Whether the first untranslated word stays within reach, as Moses asks; or, where only jumps are limited, within reach of jumps back
    over words that are not translated yet."""
    start, end = problem.starts[phrase], problem.ends[phrase]
    low = ~bits & (bits + np.uint64(1))  # the lowest bit that is not set
    first = np.where(low == 0, 64, np.log2(np.maximum(low, np.uint64(1)).astype(np.float64))).astype(np.int64)
    near = (start == first) | (end - first <= problem.reach)
    if problem.reordering == "moses":
        return near
    position, going = end.copy(), ~near
    spans = ((np.uint64(1) << (end - start).astype(np.uint64)) - np.uint64(1)) << start.astype(np.uint64)
    free = ~(bits | spans)
    while going.any():
        step = position[going] - problem.reach
        window = free[going] >> step.astype(np.uint64)
        lowest = window & (~window + np.uint64(1))
        back = (
            step + np.where(lowest == 0, problem.reach, np.log2(np.maximum(lowest, np.uint64(1)).astype(np.float64))).astype(np.int64) + 1
        )
        stuck = back >= position[going]
        position[going] = np.minimum(back, position[going])
        arrived = position[going] - first[going] <= problem.reach
        going[going] = ~(stuck | arrived)
    return near | (position - first <= problem.reach)


def largest_above(graph: PathGraph, problem: PhraseProblem, multipliers: Scores, claimed: float) -> float:
    """The score of a best translation if it is above the claim, else the claim; VerificationError if there are too many to tell."""
    unknown = np.ones(len(problem), dtype=bool)
    scale = 1.0
    while True:
        least = claimed - float(multipliers.sum())
        weights = priced(graph, problem, multipliers)
        outside = outside_scores(graph, weights)
        if not outside[0] > least:
            return claimed
        graph = above(graph, weights, outside, least)
        weights = priced(graph, problem, multipliers)
        outside = outside_scores(graph, weights)
        found = best_translation(graph, problem, weights, outside, least, FEW if unknown.any() else MANY)
        if found is not None:
            return max(claimed, found + float(multipliers.sum()))
        if not unknown.any():
            raise VerificationError(f"more than {MANY:,} partial translations would have to be compared: the multipliers are too weak.")
        blame = np.zeros(len(problem))
        lowest, best = np.inf, multipliers
        for _ in range(STEPS):  # Polyak's steps towards the claim
            weights = priced(graph, problem, multipliers)
            outside = outside_scores(graph, weights)
            bound = float(outside[0] + multipliers.sum())
            if bound < lowest:
                lowest, best = bound, multipliers
            else:
                scale *= 0.8
            if bound <= claimed:
                break
            direction = excess(graph, problem, weights, outside)
            blame += np.abs(direction)
            norm = float(direction @ direction)
            if norm == 0.0:
                break
            step = max(np.rint(scale * (bound - claimed) / norm / problem.resolution), 1.0) * problem.resolution
            multipliers = multipliers + step * direction
        multipliers, scale = best, max(scale, 0.3)
        for word in np.argsort(-np.where(unknown, blame, -1.0), kind="stable")[:WORDS_AT_ONCE].tolist():
            unknown[word] = False
            graph = knowing(graph, problem, word)
