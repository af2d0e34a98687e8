"""Paths of phrases above a threshold as a graph in NumPy, layer by layer of translated words, and the search through it.

All that is asked here is whether some translation scores more than a claimed bound. Arcs that cannot be part of one, by the outside scores
at any multipliers, are left out:

    inside[source] + weight + outside[target] <= claimed - sum of the multipliers

What remains is searched through, every set of translated words on its own. Where those are too many, nodes are made to know whether some
word is translated, and multipliers are improved: both only leave out more. Twice as many nodes never have all their arcs: scores are
found for both kinds of nodes along the arcs that there were, and only what lies above the claim is made.

An arc is a phrase, with its jump, or backs off to a shorter state of the language model, so paths may read a phrase after a shorter state
than they should. Before the search every node gets the phrases that backing off leads to, but for those that are listed after its state.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zerogap.errors import VerificationError
from zerogap.grid import Flags, Integers
from zerogap.problems.translation.phrase_constraints import WALL, ZONE, Rules
from zerogap.problems.translation.phrases import PhraseProblem
from zerogap.proof.integers import LEAST, RANGE

FEW, MANY = 200_000, 4_000_000  # hypotheses that are tried before the graph is tightened, and in the end
FEW_ARCS = 200_000  # with more arcs, there is no use in trying
STEPS = 12  # of multipliers on a tightened graph
RENEWED, STALLED, SHORTER = 0.7, 4, 0.7  # steps at first, of Polyak's; after so many without progress, they are so much shorter
FORGET = 0.95  # of blame, per step
WORDS_AT_ONCE = 2
WINDOW = 64  # words after the first gap that a set of translated words may have
NOWHERE = LEAST  # of nodes without a path: two of them and a path do not leave int64, and are below every claim

Numbers = NDArray[np.int32]
Bits = NDArray[np.uint64]


@dataclass(frozen=True, slots=True, eq=False)
class Phrases:
    """A problem in units; multipliers up to the largest keep all sums in the range."""

    problem: PhraseProblem
    starts: Integers
    ends: Integers
    scores: Integers
    distortion: int
    largest_multiplier: int

    def prices(self, multipliers: Integers) -> Integers:
        """The multipliers of the words of every phrase, and 0 at the end, for what is none."""
        sums = np.concatenate([[0], np.cumsum(multipliers)])
        return np.append(sums[self.ends] - sums[self.starts], 0)


@dataclass(frozen=True, slots=True, eq=False)
class PathGraph:
    """Arcs are sorted by their source; nodes by layer, the first is the start. Phrase -1 backs off, or ends the sentence."""

    layer_start: Integers  # nodes of layer i are layer_start[i] to layer_start[i + 1]; all arcs lead to later layers
    arc_start: Integers
    source: Numbers
    target: Numbers  # -1 for the end
    phrase: Numbers
    score: Integers  # without multipliers
    state: Numbers  # of the nodes


def path_graph(
    layer_start: Integers, source: NDArray[Any], target: NDArray[Any], phrase: NDArray[Any], score: Integers, state: Numbers
) -> PathGraph:
    """The graph of some arcs, sorted by source, and of the nodes that they need; nodes are numbered anew."""
    is_used = np.zeros(layer_start[-1] + 1, dtype=bool)
    is_used[0] = True
    is_used[source] = is_used[target] = True
    is_used = is_used[:-1]  # the end is no node
    number = np.append(np.cumsum(is_used, dtype=np.int32) - 1, np.int32(-1)).astype(np.int32)
    layers = np.concatenate([[0], np.cumsum(is_used)])[layer_start]
    source = number[source]
    starts = np.searchsorted(source, np.arange(layers[-1] + 1))
    return PathGraph(layers, starts, source, number[target], phrase.astype(np.int32, copy=False), score, state[is_used])


def layers_of(graph: PathGraph) -> list[tuple[int, int, int, int]]:
    """Nodes and arcs of the layers that have arcs: first and last of both."""
    nodes = graph.layer_start.tolist()
    arcs = graph.arc_start[graph.layer_start].tolist()
    return [part for part in zip(nodes[:-1], nodes[1:], arcs[:-1], arcs[1:], strict=True) if part[2] < part[3]]


def outside_scores(graph: PathGraph, weights: Integers) -> Integers:
    """The best completion of every node, and 0 for the end as the last entry."""
    outside = np.full(graph.layer_start[-1] + 1, NOWHERE)
    outside[-1] = 0
    for first, last, a, b in reversed(layers_of(graph)):
        sources = np.flatnonzero(np.diff(graph.arc_start[first : last + 1])) + first
        values = weights[a:b] + outside[graph.target[a:b]]
        outside[sources] = np.maximum.reduceat(values, graph.arc_start[sources] - a)
    return outside


def inside_scores(graph: PathGraph, weights: Integers) -> Integers:
    """The best beginning of every node; the last entry is that of a best path."""
    inside = np.full(graph.layer_start[-1] + 1, NOWHERE)
    inside[0] = 0
    for _, _, a, b in layers_of(graph):
        np.maximum.at(inside, graph.target[a:b], inside[graph.source[a:b]] + weights[a:b])
    return inside


def above(graph: PathGraph, weights: Integers, outside: Integers, least: int) -> PathGraph:
    """What lies on paths that score more than `least`."""
    inside = inside_scores(graph, weights)
    keep = inside[graph.source] + weights + outside[graph.target] > least
    return path_graph(graph.layer_start, graph.source[keep], graph.target[keep], graph.phrase[keep], graph.score[keep], graph.state)


def knowing(graph: PathGraph, phrases: Phrases, word: int, weights: Integers, least: int) -> PathGraph:
    """Paths above `least` that translate a word exactly once: nodes are before the word, 2 x, or after it, 2 x + 1."""
    crosses = np.append((phrases.starts <= word) & (word < phrases.ends), False)[graph.phrase]
    size, layers = graph.layer_start[-1], layers_of(graph)
    before, after = np.full(size + 1, NOWHERE), np.full(size + 1, NOWHERE)  # outside scores; the sentence ends after the word
    after[-1] = 0
    for first, last, a, b in reversed(layers):
        sources = np.flatnonzero(np.diff(graph.arc_start[first : last + 1])) + first
        opens, target, cross = graph.arc_start[sources] - a, graph.target[a:b], crosses[a:b]
        later = weights[a:b] + after[target]
        before[sources] = np.maximum.reduceat(np.where(cross, later, weights[a:b] + before[target]), opens)
        after[sources] = np.maximum.reduceat(np.where(cross, NOWHERE, later), opens)
    inside = np.full(2 * size + 2, NOWHERE)
    inside[0] = 0
    kept: list[tuple[Numbers, Numbers, Numbers]] = []  # arcs, sources and targets in the new graph
    for _, _, a, b in layers:
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
    return path_graph(2 * graph.layer_start, sources, targets, graph.phrase[chosen], graph.score[chosen], np.repeat(graph.state, 2))


def spelled_out(graph: PathGraph, listed: Flags) -> PathGraph:
    """The same without arcs that back off: a node has the phrases of the node that it backs off to, unless they are listed after its state.

    A node backs off to another of a shorter state, so the shortest are done first, and then those that back off to what is done.
    """
    while True:
        backs = np.flatnonzero((graph.phrase < 0) & (graph.target >= 0))
        if not len(backs):
            return graph
        backing = np.zeros(graph.layer_start[-1], dtype=bool)
        backing[graph.source[backs]] = True
        ready = backs[~backing[graph.target[backs]]]
        down = graph.target[ready]
        sizes = graph.arc_start[down + 1] - graph.arc_start[down]
        at = np.repeat(np.arange(len(ready)), sizes)
        arc = np.arange(len(at)) + np.repeat(graph.arc_start[down] - np.cumsum(sizes) + sizes, sizes)
        source, phrase = graph.source[ready[at]], graph.phrase[arc]
        good = ~listed[phrase, graph.state[source]]
        kept = np.ones(len(graph.phrase), dtype=bool)
        kept[ready] = False
        score = np.concatenate([graph.score[kept], graph.score[arc[good]] + graph.score[ready[at[good]]]])
        source, target = np.concatenate([graph.source[kept], source[good]]), np.concatenate([graph.target[kept], graph.target[arc[good]]])
        phrase = np.concatenate([graph.phrase[kept], phrase[good]])
        order = np.argsort(source, kind="stable")
        graph = path_graph(graph.layer_start, source[order], target[order], phrase[order], score[order], graph.state)


def excess(graph: PathGraph, phrases: Phrases, weights: Integers, outside: Integers) -> Integers:
    """How often a best path translates each word, less 1."""
    counts, x = np.full(len(phrases.problem), -1), 0
    while x >= 0:
        a, b = graph.arc_start[x], graph.arc_start[x + 1]
        arc = a + int(np.argmax(weights[a:b] + outside[graph.target[a:b]]))
        p = graph.phrase[arc]
        if p >= 0:
            counts[phrases.starts[p] : phrases.ends[p]] += 1
        x = int(graph.target[arc])
    return counts


def best_translations(
    graph: PathGraph, problem: PhraseProblem, weights: Integers, outside: Integers, least: int, most: int, k: int
) -> Integers | None:
    """The scores of the k best translations above `least`, best first; None if there are more than `most` hypotheses.

    Sets of words are windows from the first gap on (`joined`); what reaches beyond counts with its bound, as if it were a translation.
    """
    n, seen = len(problem), 0
    best = np.empty(0, dtype=np.int64)
    waiting: list[list[tuple[Bits, Integers, Integers]]] = [[] for _ in range(n + 1)]
    waiting[0].append((np.zeros(1, dtype=np.uint64), np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)))
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


@dataclass(slots=True, eq=False)
class Descent:
    """The multipliers so far, and how often best paths did not translate each word once, later paths before earlier ones."""

    multipliers: Integers
    blame: NDArray[np.float64]


def largest_above(graph: PathGraph, phrases: Phrases, listed: Flags, multipliers: Integers, claimed: int, k: int) -> list[int]:
    """The scores of the k best translations above the claim, as far as there are any; VerificationError if there are too many to tell."""
    unknown = np.ones(len(multipliers), dtype=bool)
    descent = Descent(multipliers, np.zeros(len(multipliers)))
    while len(graph.phrase):
        total = int(descent.multipliers.sum())
        if not unknown.any() or len(graph.phrase) <= FEW_ARCS:
            exact = spelled_out(graph, listed)
            weights = exact.score - phrases.prices(descent.multipliers)[exact.phrase]
            most = FEW if unknown.any() else MANY
            found = best_translations(exact, phrases.problem, weights, outside_scores(exact, weights), claimed - total, most, k)
            if found is not None:
                return [score + total for score in found.tolist()]
        if not unknown.any():
            raise VerificationError(f"more than {MANY:,} partial translations would have to be compared: the multipliers are too weak.")
        if not improve(descent, graph, phrases, claimed):
            return []
        least = claimed - int(descent.multipliers.sum())
        for word in np.argsort(-np.where(unknown, descent.blame, -1.0), kind="stable")[:WORDS_AT_ONCE].tolist():
            unknown[word] = False
            if len(graph.phrase):
                weights = graph.score - phrases.prices(descent.multipliers)[graph.phrase]
                graph = knowing(graph, phrases, word, weights, least)
    return []


def improve(descent: Descent, graph: PathGraph, phrases: Phrases, claimed: int) -> bool:
    """Better multipliers, by Polyak's steps to the claim; False if no path is above it.

    Any multipliers prove a bound, so steps may be rounded as they like; they stay among those that keep sums in the range.
    """
    most, multipliers = phrases.largest_multiplier, descent.multipliers
    lowest, scale, stalled = RANGE, RENEWED, 0
    for _ in range(STEPS):
        weights = graph.score - phrases.prices(multipliers)[graph.phrase]
        outside = outside_scores(graph, weights)
        bound = int(outside[0]) + int(multipliers.sum())
        stalled += 1
        if bound < lowest:
            lowest, descent.multipliers, stalled = bound, multipliers, 0
        if bound <= claimed:
            return False
        direction = excess(graph, phrases, weights, outside)
        descent.blame = FORGET * descent.blame + np.abs(direction)
        norm = int(direction @ direction)
        if norm == 0:
            break
        if stalled >= STALLED:
            scale, stalled = SHORTER * scale, 0
        step = min(max(int(scale * ((bound - claimed) // norm)), 1), most)
        multipliers = np.clip(multipliers + step * direction, -most, most)
    return True
