"""Paths of phrases above a threshold as a graph in NumPy, layer by layer of translated words, and the search through it.

All that is asked here is whether some translation scores more than a claimed bound. Arcs that cannot be part of one, by the outside scores
at any multipliers, are left out; what remains is searched through, every set of translated words on its own. Where those are too many,
nodes are made to know whether some word is translated, and multipliers are improved: both only leave out more. Twice as many nodes never
have all their arcs: scores are found for both kinds of nodes along the arcs that there were, and only what lies above the claim is made.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zerogap.errors import VerificationError
from zerogap.grid import Scores
from zerogap.problems.translation.phrase_constraints import WALL, ZONE, Rules
from zerogap.problems.translation.phrases import PhraseProblem

FEW, MANY = 200_000, 4_000_000  # hypotheses that are tried before the graph is tightened, and in the end
FEW_ARCS = 1_000_000  # with more arcs, there is no use in trying
STEPS = 12  # of multipliers on a tightened graph
WORDS_AT_ONCE = 2

WINDOW = 64  # words after the first gap that a set of translated words may have

Integers = NDArray[np.int64]
Numbers = NDArray[np.int32]
Bits = NDArray[np.uint64]


@dataclass(frozen=True, slots=True, eq=False)
class PathGraph:
    """Arcs are sorted by their source; nodes by the number of translated words, the first is the start. Phrase -1 ends the sentence."""

    layer_start: Integers  # (n + 2,): nodes with c translated words are layer_start[c] to layer_start[c + 1]
    arc_start: Integers
    source: Numbers
    target: Numbers  # -1 for the end
    phrase: Numbers
    score: Scores  # without multipliers


def path_graph(layer_start: Integers, source: NDArray[Any], target: NDArray[Any], phrase: NDArray[Any], score: Scores) -> PathGraph:
    """The graph of some arcs, sorted by source, and of the nodes that they need; nodes are numbered anew."""
    is_used = np.zeros(layer_start[-1] + 1, dtype=bool)
    is_used[0] = True
    is_used[source] = is_used[target] = True
    is_used = is_used[:-1]  # the end is no node
    number = np.append(np.cumsum(is_used, dtype=np.int32) - 1, np.int32(-1)).astype(np.int32)
    layers = np.concatenate([[0], np.cumsum(is_used)])[layer_start]
    source = number[source]
    starts = np.searchsorted(source, np.arange(layers[-1] + 1))
    return PathGraph(layers, starts, source, number[target], phrase.astype(np.int32, copy=False), score)


def priced(graph: PathGraph, problem: PhraseProblem, multipliers: Scores) -> Scores:
    """Scores of the arcs less the multipliers of the words that they translate."""
    sums = np.concatenate([[0.0], np.cumsum(multipliers)])
    cost = np.append(sums[problem.ends] - sums[problem.starts], 0.0)
    weights = cost[graph.phrase]
    np.subtract(graph.score, weights, out=weights)  # in place: graphs have millions of arcs
    return weights


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


def above(graph: PathGraph, weights: Scores, outside: Scores, least: float) -> PathGraph:
    """What lies on paths that score more than `least`."""
    inside = inside_scores(graph, weights)
    keep = inside[graph.source] + weights + outside[graph.target] > least
    return path_graph(graph.layer_start, graph.source[keep], graph.target[keep], graph.phrase[keep], graph.score[keep])


def knowing(graph: PathGraph, problem: PhraseProblem, word: int, multipliers: Scores, least: float) -> PathGraph:
    """Paths above `least` that translate a word exactly once: nodes are before the word, 2 x, or after it, 2 x + 1."""
    weights = priced(graph, problem, multipliers)
    crosses = np.append((problem.starts <= word) & (word < problem.ends), False)[graph.phrase]
    size = graph.layer_start[-1]
    before, after = np.full(size + 1, -np.inf), np.full(size + 1, -np.inf)  # outside scores; the sentence ends after the word
    after[-1] = 0.0
    for first, last in zip(graph.layer_start[-2::-1], graph.layer_start[:0:-1], strict=True):
        a, b = graph.arc_start[first], graph.arc_start[last]
        if a < b:
            sources = np.flatnonzero(np.diff(graph.arc_start[first : last + 1])) + first
            opens, target, cross = graph.arc_start[sources] - a, graph.target[a:b], crosses[a:b]
            later = weights[a:b] + after[target]
            before[sources] = np.maximum.reduceat(np.where(cross, later, weights[a:b] + before[target]), opens)
            after[sources] = np.maximum.reduceat(np.where(cross, -np.inf, later), opens)
    inside = np.full(2 * size + 2, -np.inf)
    inside[0] = 0.0
    kept: list[tuple[Numbers, Numbers, Numbers]] = []  # arcs, sources and targets in the new graph
    for first, last in zip(graph.layer_start[:-1], graph.layer_start[1:], strict=True):
        a, b = graph.arc_start[first], graph.arc_start[last]
        source, target, cross, weight = graph.source[a:b].astype(np.int64), graph.target[a:b], crosses[a:b], weights[a:b]
        from_before, from_after = inside[2 * source] + weight, inside[2 * source + 1] + weight
        alive0 = np.flatnonzero(from_before + np.where(cross, after[target], before[target]) > least)
        alive1 = np.flatnonzero(~cross & (from_after + after[target] > least))
        into0 = 2 * target[alive0].astype(np.int64) + cross[alive0]
        into1 = 2 * target[alive1].astype(np.int64) + 1
        np.maximum.at(inside, into0, from_before[alive0])  # the end is at -2 or -1, and of no interest
        np.maximum.at(inside, into1, from_after[alive1])
        origin = np.concatenate([2 * source[alive0], 2 * source[alive1] + 1])
        order = np.argsort(origin, kind="stable")
        arcs, into = np.concatenate([alive0, alive1])[order] + a, np.concatenate([into0, into1])[order]
        kept.append((arcs.astype(np.int32), origin[order].astype(np.int32), into.astype(np.int32)))
    del weights, crosses, before, after, inside
    chosen, sources, targets = (np.concatenate(column) for column in zip(*kept, strict=True))
    del kept
    return path_graph(2 * graph.layer_start, sources, targets, graph.phrase[chosen], graph.score[chosen])


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


def best_translations(
    graph: PathGraph, problem: PhraseProblem, weights: Scores, outside: Scores, least: float, most: int, k: int = 1
) -> Scores | None:
    """The scores of the k best translations above `least`, best first; None if there are more than `most` hypotheses.

    Sets of words are windows from the first gap on (`joined`); what reaches beyond counts with its bound, as if it were a translation.
    """
    n, seen = len(problem), 0
    best = np.empty(0)
    waiting: list[list[tuple[Bits, Integers, Scores]]] = [[] for _ in range(n + 1)]
    waiting[0].append((np.zeros(1, dtype=np.uint64), np.zeros(1, dtype=np.int64), np.zeros(1)))
    for c in range(n + 1):
        if not waiting[c]:
            continue
        covered, nodes, scores = (np.concatenate(column) for column in zip(*waiting[c], strict=True))
        waiting[c] = []
        order = np.lexsort((-scores, nodes, covered))
        covered, nodes, scores = covered[order], nodes[order], scores[order]
        opens = np.concatenate([[True], (covered[1:] != covered[:-1]) | (nodes[1:] != nodes[:-1])])
        group = np.flatnonzero(opens)
        kept = np.arange(len(nodes)) - group[np.cumsum(opens) - 1] < k
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
            best = np.concatenate([best, value])
            break
        phrase, bits = graph.phrase[arcs], covered[parent]
        start, end = problem.starts[phrase], problem.ends[phrase]
        gap = c - count_bits(bits)
        free = is_free(bits, start - gap, end - start)
        beyond = free & (start > gap) & (end - gap > WINDOW)
        best = np.concatenate([best, value[beyond] + outside[graph.target[arcs[beyond]]]])
        alive = free & ~beyond
        bits, gap, start, end, arcs, value = bits[alive], gap[alive], start[alive], end[alive], arcs[alive], value[alive]
        alive = may_leave(problem, bits, gap, start, end)
        now = joined(bits, start - gap, end - start)
        alive &= obeys(problem.rules, now, c + (end - start) - count_bits(now), start, end)
        now, target, value, counts = now[alive], graph.target[arcs[alive]], value[alive], c + (end - start)[alive]
        for count in np.unique(counts).tolist():
            rows = counts == count
            waiting[count].append((now[rows], target[rows], value[rows]))
    return np.sort(best)[::-1][:k]


def ones(count: Integers) -> Bits:
    """So many bits from bit 0 on."""
    return np.where(count >= WINDOW, ~np.uint64(0), (np.uint64(1) << np.minimum(count, 63).astype(np.uint64)) - np.uint64(1))


def count_bits(bits: Bits) -> Integers:
    masks = 0x5555555555555555, 0x3333333333333333, 0x0F0F0F0F0F0F0F0F, 0x0101010101010101
    odd, pairs, nibbles, bytewise = map(np.uint64, masks)
    x = bits - ((bits >> np.uint64(1)) & odd)
    x = (x & pairs) + ((x >> np.uint64(2)) & pairs)
    return (((x + (x >> np.uint64(4))) & nibbles) * bytewise >> np.uint64(56)).astype(np.int64)


def lowest(bits: Bits) -> Integers:
    """The place of the lowest bit that is set; 64 where none is."""
    alone = bits & (~bits + np.uint64(1))
    return np.where(alone == 0, WINDOW, np.log2(np.maximum(alone, np.uint64(1)).astype(np.float64))).astype(np.int64)


def shifted(bits: Bits, count: Integers) -> Bits:
    """Without so many bits from bit 0 on."""
    return np.where(count >= WINDOW, np.uint64(0), bits >> np.minimum(count, 63).astype(np.uint64))


def is_free(bits: Bits, offset: Integers, count: Integers) -> NDArray[np.bool_]:
    """Whether none of `count` words from the gap + offset on is translated."""
    return (offset >= 0) & (shifted(bits, np.maximum(offset, 0)) & ones(count) == 0)


def joined(bits: Bits, offset: Integers, count: Integers) -> Bits:
    """Windows with `count` more words from the gap + offset on; bit 0, the gap, stays free."""
    later = bits | (ones(count) << np.maximum(offset, 0).astype(np.uint64))
    moved = shifted(bits, count)
    return np.where(offset > 0, later, shifted(moved, lowest(~moved)))


def obeys(rules: Rules, bits: Bits, gap: Integers, start: Integers, end: Integers) -> NDArray[np.bool_]:
    """Whether phrases that leave these words translated break no wall and no zone."""
    good = np.ones(len(bits), dtype=bool)
    for kind, first, middle, last in rules.tolist():
        touches = (start < last) & (end > middle) if kind == WALL else (start < first) | (end > last)
        last = middle if kind == WALL else last
        low = np.maximum(first - gap, 0)
        size = np.maximum(last - gap - low, 0)  # of the words, those from the gap on
        part = shifted(bits, low) & ones(size)
        complete = (size == 0) | ((first > gap) & (last - gap <= WINDOW) & (part == ones(size)))
        empty = (first >= gap) & (part == 0)
        good &= ~touches | complete | (empty if kind == ZONE else False)
    return good


def may_leave(problem: PhraseProblem, bits: Bits, gap: Integers, start: Integers, end: Integers) -> NDArray[np.bool_]:
    """Whether the first untranslated word stays within reach, as Moses asks; or, where only jumps are limited, within reach of jumps back
    over words that are not translated yet."""
    near = (start == gap) | (end - gap <= problem.reach)
    if problem.reordering == "moses":
        return near
    position, going = end - gap, ~near
    free = ~joined(bits, start - gap, end - start)
    while going.any():
        step = position[going] - problem.reach
        back = step + np.minimum(lowest(shifted(free[going], step)), problem.reach) + 1
        stuck = back >= position[going]
        position[going] = np.minimum(back, position[going])
        arrived = position[going] <= problem.reach
        going[going] = ~(stuck | arrived)
    return near | (position <= problem.reach)


def largest_above(graph: PathGraph, problem: PhraseProblem, multipliers: Scores, claimed: float, k: int = 1) -> Scores:
    """The scores of the k best translations above the claim, as far as there are any; VerificationError if there are too many to tell."""
    unknown = np.ones(len(problem), dtype=bool)
    scale = 1.0
    while True:
        weights = priced(graph, problem, multipliers)
        outside = outside_scores(graph, weights)
        if not outside[0] > claimed - float(multipliers.sum()):
            return np.empty(0)
        if not unknown.any() or len(graph.phrase) <= FEW_ARCS:
            least = claimed - float(multipliers.sum())
            found = best_translations(graph, problem, weights, outside, least, FEW if unknown.any() else MANY, k)
            if found is not None:
                return found + float(multipliers.sum())
        if not unknown.any():
            raise VerificationError(f"more than {MANY:,} partial translations would have to be compared: the multipliers are too weak.")
        multipliers, blame, scale = improved(graph, problem, multipliers, claimed, scale)
        least = claimed - float(multipliers.sum())
        for word in np.argsort(-np.where(unknown, blame, -1.0), kind="stable")[:WORDS_AT_ONCE].tolist():
            unknown[word] = False
            graph = knowing(graph, problem, word, multipliers, least)


def improved(graph: PathGraph, problem: PhraseProblem, multipliers: Scores, claimed: float, scale: float) -> tuple[Scores, Scores, float]:
    """(better multipliers, how often a best path did not translate each word once, how long steps are), by Polyak's steps to the claim."""
    blame = np.zeros(len(problem))
    lowest, best = np.inf, multipliers
    for _ in range(STEPS):
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
    return best, blame, max(scale, 0.3)
