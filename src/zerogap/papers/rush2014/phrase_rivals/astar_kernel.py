"""Best-first search over translations with the lattice's outside scores as what is to come: A* (Rush 2014, section 7.7.2).

A hypothesis is an end of the lattice with the set of translated words. The one whose score and outside score are highest is extended next;
outside scores never say too little, so the first complete translation is a best one. Hypotheses that are no better than a known
translation are left out. The search stops after some steps, and can go on from there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zerogap.grid import Scores
from zerogap.kernels import float64, inner, int64, kernel, readonly, record, types, writable
from zerogap.oracles.growing_arrays import grown, grown_numbers
from zerogap.oracles.phrases.coverage import REORDERING, SPANS, Reordering, Spans, extended, gap_of
from zerogap.oracles.phrases.lattice import LATTICE, Lattice
from zerogap.oracles.phrases.outside import OUTSIDE, Outside
from zerogap.oracles.phrases.search import slot_of


class Queue(NamedTuple):
    """Hypotheses, their hash table, and a heap of (bound, hypothesis, score when it was put there)."""

    covered: NDArray[np.int64]
    nodes: NDArray[np.int64]  # translated words * ends + end
    scores: Scores
    back: NDArray[np.int64]
    options: NDArray[np.int64]
    slots: NDArray[np.int64]
    heap_bound: Scores
    heap_hypothesis: NDArray[np.int64]
    heap_score: Scores


QUEUE = record(
    Queue, writable(int64, 1), writable(int64, 1), writable(float64, 1), writable(int64, 1), writable(int64, 1), writable(int64, 1),
    writable(float64, 1), writable(int64, 1), writable(float64, 1),
)  # fmt: skip
LIMITS = types.Tuple((float64, int64, int64))  # translations that score more, steps, hypotheses in memory
COUNTS = types.Tuple((int64, int64, float64))  # hypotheses, those in the heap, the largest bound of what reaches beyond the window


@inner
def sift_up(i, bounds, hypotheses, scores):  # out: the heap
    while i > 0:
        parent = (i - 1) >> 1
        if not bounds[i] > bounds[parent]:
            break
        swap(i, parent, bounds, hypotheses, scores)
        i = parent
    return 0


@inner
def sift_down(size, bounds, hypotheses, scores):  # out: the heap
    i = 0
    while 2 * i + 1 < size:
        child = 2 * i + 1
        if child + 1 < size and bounds[child + 1] > bounds[child]:
            child += 1
        if not bounds[child] > bounds[i]:
            break
        swap(i, child, bounds, hypotheses, scores)
        i = child
    return 0


@inner
def swap(i, j, bounds, hypotheses, scores):
    bounds[i], bounds[j] = bounds[j], bounds[i]
    hypotheses[i], hypotheses[j] = hypotheses[j], hypotheses[i]
    scores[i], scores[j] = scores[j], scores[i]
    return 0


@kernel(types.Tuple((int64, COUNTS, QUEUE))(LATTICE, OUTSIDE, readonly(float64, 1), SPANS, REORDERING, LIMITS, COUNTS, QUEUE))
def best_first(lattice, outside, price, spans, order, limits, counts, queue):
    """(the hypothesis that is best, -1 if none is better than `least`, -2 if steps or memory are over; counts and queue now)."""
    least, pops, most = limits
    size, waiting, dropped = counts
    covered, nodes, scores, back, options, slots, heap_bound, heap_hypothesis, heap_score = queue
    n = order.jumps.shape[1]
    n_ends = lattice.end_state.shape[0]
    flat = outside.ends.reshape(-1)
    stamp = np.full(lattice.first_group.max() + 1 if lattice.first_group.shape[0] else 0, -1, dtype=np.int64)
    best = -1
    pop = 0
    while waiting > 0:
        h, bound = heap_hypothesis[0], heap_bound[0]
        if not bound > dropped:  # nothing that is left is better than what reaches beyond the window
            best = -2
            break
        if pop >= pops or size + 4096 > most:
            best = -2
            break
        so_far = heap_score[0]
        waiting -= 1
        swap(0, waiting, heap_bound, heap_hypothesis, heap_score)
        sift_down(waiting, heap_bound, heap_hypothesis, heap_score)
        if so_far < scores[h]:
            continue  # a better way there was found later
        c, x = nodes[h] // n_ends, nodes[h] % n_ends
        if c == n:
            best = h
            break
        pop += 1
        bits = np.uint64(covered[h])
        gap = gap_of(bits, c)
        extra, at = so_far, x
        while at >= 0:
            for i in range(lattice.enter_start[at], lattice.enter_start[at + 1]):
                f = lattice.enter_first[i]
                if stamp[lattice.first_group[f]] == pop:
                    continue  # the word is listed after a longer state
                stamp[lattice.first_group[f]] = pop
                entered = extra + lattice.enter_score[i]
                if not entered + outside.firsts[c, f] > least:
                    continue
                for j in range(lattice.leave_start[f], lattice.leave_start[f + 1]):
                    p = lattice.leave_option[j]
                    spot = c * n_ends + outside.leave_step[j]
                    value = entered + (lattice.leave_score[j] + price[p])
                    worth = value + flat[spot]
                    if not worth > least:
                        continue
                    s, k = spans.starts[p], spans.lengths[p]
                    may, now = extended(bits, gap, c, s, k, order)
                    if may < 0:
                        dropped = max(dropped, worth)
                    if may <= 0:
                        continue
                    place = slot_of(slots, np.int64(now), spot, covered, nodes)
                    g = slots[place] - 1
                    if g >= 0:
                        if not value > scores[g]:
                            continue
                    else:
                        g = size
                        if 2 * size >= slots.shape[0]:
                            slots = np.zeros(2 * slots.shape[0], dtype=np.int64)
                            for old in range(size):
                                slots[slot_of(slots, covered[old], nodes[old], covered, nodes)] = old + 1
                            place = slot_of(slots, np.int64(now), spot, covered, nodes)
                        covered, nodes, scores = grown(covered, g + 1), grown(nodes, g + 1), grown_numbers(scores, g + 1)
                        back, options = grown(back, g + 1), grown(options, g + 1)
                        covered[g], nodes[g] = np.int64(now), spot
                        slots[place] = g + 1
                        size += 1
                    scores[g], back[g], options[g] = value, h, p
                    heap_bound, heap_score = grown_numbers(heap_bound, waiting + 1), grown_numbers(heap_score, waiting + 1)
                    heap_hypothesis = grown(heap_hypothesis, waiting + 1)
                    heap_bound[waiting], heap_hypothesis[waiting], heap_score[waiting] = worth, g, value
                    waiting += 1
                    sift_up(waiting - 1, heap_bound, heap_hypothesis, heap_score)
            extra += lattice.shorter_score[at]
            at = lattice.shorter_end[at]
    queue = Queue(covered, nodes, scores, back, options, slots, heap_bound, heap_hypothesis, heap_score)
    return best, (size, waiting, dropped), queue


class BestFirst:
    """A search that can be continued: `run` makes some steps."""

    def __init__(self, lattice: Lattice, outside: Outside, price: Scores, spans: Spans, order: Reordering, least: float, most: int) -> None:
        """`outside` is filled for `price`; translations count that score more than `least`, and so many hypotheses fit in the memory."""
        self.given = lattice, outside, price, spans, order
        self.least, self.most = least, most
        empty = (np.empty(4096, dtype=np.int64) for _ in range(5))
        covered, nodes, back, options, hypothesis = empty
        self.queue = Queue(
            covered, nodes, np.empty(4096), back, options, np.zeros(16384, dtype=np.int64), np.empty(4096), hypothesis, np.empty(4096)
        )
        covered[0], nodes[0], back[0], options[0], hypothesis[0] = 0, 0, -1, -1, 0
        self.queue.scores[0] = self.queue.heap_score[0] = 0.0
        self.queue.heap_bound[0] = outside.ends[0, 0]
        self.counts: tuple[int, int, float] = 1, 1 if outside.ends[0, 0] > least else 0, -np.inf

    @property
    def bound(self) -> float:
        """Nothing that is left to find scores more."""
        _, waiting, dropped = self.counts
        return max(float(self.queue.heap_bound[0]) if waiting else -np.inf, dropped)

    def run(self, pops: int) -> tuple[bool, NDArray[np.int64] | None]:
        """(whether the search is over, the options of the best translation if it was found)."""
        before = self.counts
        best, self.counts, self.queue = best_first(*self.given, (self.least, pops, self.most), before, self.queue)
        if best >= 0:
            path = []
            while self.queue.back[best] >= 0:
                path.append(int(self.queue.options[best]))
                best = self.queue.back[best]
            return True, np.array(path[::-1], dtype=np.int64)
        return best == -1 or self.counts == before, None
