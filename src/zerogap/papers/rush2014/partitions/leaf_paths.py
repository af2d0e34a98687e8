"""Longest paths between the leaves of a hypergraph, and the best trigram of paths into every leaf (Rush 2014, sections 5.3.1 and 5.3.2).

A path from one leaf to the next climbs from the last leaf of a vertex to its heads, turns to the next symbol of a target side, and descends
to the first leaf of that (figure 5-5):

    up (x, h)     x is the last symbol of a hyperedge into h          <x up, h up>
    turn (x, y)   y comes right after x in some target side           <x up, y down>
    down (h, y)   y is the first symbol of a hyperedge into h         <h down, y down>

Climbing goes to vertices of higher numbers and descending to lower ones, so one sweep over all steps gives the paths out of a leaf: what
the thesis does with all-pairs shortest paths takes leaves times steps. Leaves are numbered before all other vertices.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from zerogap.kernels import float64, inner, int32, int64, kernel, readonly, writable
from zerogap.oracles.ngrams.lookup import TABLE_TYPES, ngram_step

STEPS: tuple[Any, ...] = (readonly(int32, 1), readonly(int32, 1), readonly(float64, 1))  # from, to, score


@inner
def climb(source, up_from, up_to, up_scores, high, back):
    """The best climb from a leaf to every vertex. Steps are sorted by where they begin."""
    high[:] = -np.inf
    high[source] = 0.0
    for i in range(up_from.shape[0]):
        score = high[up_from[i]] + up_scores[i]
        if score > high[up_to[i]]:
            high[up_to[i]], back[up_to[i]] = score, i


@inner
def descend(turn_from, turn_to, turn_scores, down_from, down_to, down_scores, high, low, back):
    """The best way on to every vertex, over a turn or from above; a turn is kept as -1 - its number. Steps down begin with the highest."""
    low[:] = -np.inf
    for i in range(turn_from.shape[0]):
        score = high[turn_from[i]] + turn_scores[i]
        if score > low[turn_to[i]]:
            low[turn_to[i]], back[turn_to[i]] = score, -1 - i
    for i in range(down_from.shape[0]):
        score = low[down_from[i]] + down_scores[i]
        if score > low[down_to[i]]:
            low[down_to[i]], back[down_to[i]] = score, i


@kernel(int64(*STEPS, *STEPS, *STEPS, int64, writable(float64, 2)))
def longest_paths(
    up_from, up_to, up_scores, turn_from, turn_to, turn_scores, down_from, down_to, down_scores, n_vertices, table
):  # out: table (leaves, leaves)  # fmt: skip
    high, low = np.empty(n_vertices), np.empty(n_vertices)
    up_back, down_back = np.empty(n_vertices, dtype=np.int64), np.empty(n_vertices, dtype=np.int64)
    for a in range(table.shape[0]):
        climb(a, up_from, up_to, up_scores, high, up_back)
        descend(turn_from, turn_to, turn_scores, down_from, down_to, down_scores, high, low, down_back)
        for b in range(table.shape[1]):
            table[a, b] = low[b]
    return 0


@kernel(int64(*STEPS, *STEPS, *STEPS, int64, int64, int64, writable(int64, 1)))
def trace_path(
    up_from, up_to, up_scores, turn_from, turn_to, turn_scores, down_from, down_to, down_scores, n_vertices, source, target, steps
):  # fmt: skip
    # out: steps, numbers of ups, then turns, then downs counted through, the last one first. Returns how many.
    high, low = np.empty(n_vertices), np.empty(n_vertices)
    up_back, down_back = np.empty(n_vertices, dtype=np.int64), np.empty(n_vertices, dtype=np.int64)
    climb(source, up_from, up_to, up_scores, high, up_back)
    descend(turn_from, turn_to, turn_scores, down_from, down_to, down_scores, high, low, down_back)
    n_up, n_turn, n = up_from.shape[0], turn_from.shape[0], 0
    at = target
    while down_back[at] >= 0:
        i = down_back[at]
        steps[n] = n_up + n_turn + i
        n += 1
        at = np.int64(down_from[i])
    i = -1 - down_back[at]
    steps[n] = n_up + i
    n += 1
    at = np.int64(turn_from[i])
    while at != source:
        i = up_back[at]
        steps[n] = i
        n += 1
        at = np.int64(up_from[i])
    return n


@kernel(
    int64(
        readonly(float64, 2), readonly(float64, 2), readonly(float64, 1), readonly(float64, 1), readonly(int64, 1), readonly(int64, 1),
        int64, int64, int64, *TABLE_TYPES, writable(float64, 2), writable(int32, 3),
    )
)  # fmt: skip
def best_trigrams(
    first_paths, second_paths, old_scores, middle_scores, words, partition, n_parts, begin, start, slots, slot_numbers, word_scores,
    word_states, back_offs, shorter, scores, chosen,
):  # fmt: skip
    # words (leaves,), -1 for what is not scored. out: scores (n_parts * n_parts, leaves), by the parts of the leaves two and one before;
    # chosen (n_parts * n_parts, leaves, 2), those leaves
    n = words.shape[0]
    scores[:] = -np.inf
    chosen[:] = -1
    for v2 in range(n):
        for v1 in range(n):
            if first_paths[v1, v2] == -np.inf:
                continue
            if words[v2] == begin:
                state = start
            elif words[v1] == begin:
                _, state = ngram_step(start, words[v2], slots, slot_numbers, word_scores, word_states, back_offs, shorter)
            elif words[v2] < 0:
                state = np.int64(0)
            else:
                _, state = ngram_step(
                    np.int64(word_states[words[v1]]), words[v2], slots, slot_numbers, word_scores, word_states, back_offs, shorter
                )
            known = first_paths[v1, v2] + old_scores[v1] + middle_scores[v2]
            key = partition[v1] * n_parts + partition[v2]
            for v3 in range(n):
                if second_paths[v2, v3] == -np.inf:
                    continue
                score = 0.0
                if words[v3] >= 0:
                    score, _ = ngram_step(state, words[v3], slots, slot_numbers, word_scores, word_states, back_offs, shorter)
                score += known + second_paths[v2, v3]
                if score > scores[key, v3]:
                    scores[key, v3] = score
                    chosen[key, v3, 0], chosen[key, v3, 1] = v1, v2
    return 0
