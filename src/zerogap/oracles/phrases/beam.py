"""Beam search for phrase-based translation in the manner of Moses (Koehn, Och & Marcu 2003).

Hypotheses that translate c source words share stack c. Those with the same coverage, last end and language-model state are one
hypothesis: the best. Each is worth its score plus an estimate for what is left, the best cover of every gap by phrases that are scored
without context. A stack keeps its `size` best, and what is worse than the best by more than `threshold` is dropped.

Where phrases are required of the output, hypotheses that have met different numbers of them are in different stacks, so that those that
have do not have to compete with those that have not.

A stack has room for twice its size: when that is full, it is cut down, and from then on it takes only what beats its worst. Phrases of a
span are tried in the order of what they can be worth at most, until that is too little.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zerogap.grid import Scores
from zerogap.kernels import borrowing, float64, inner, int64, kernel, readonly, writable
from zerogap.oracles.phrases.coverage import REORDERING, WINDOW, Reordering, gap_of, has_word, joined, obeys, reaches_back
from zerogap.oracles.phrases.options import OPTIONS, ROWS, Options, Rows, fill_row


class Stacks(NamedTuple):
    """Hypotheses by stack: room for twice as many as stay."""

    covered: NDArray[np.uint64]  # (stacks, room)
    ends: NDArray[np.int32]
    states: NDArray[np.int32]
    score: Scores
    total: Scores  # with the estimate
    back: NDArray[np.int64]  # hypothesis * stacks + stack
    phrase: NDArray[np.int32]
    slots: NDArray[np.int32]  # (stacks, slots): the hash tables


@inner
def estimates(n, options, row_zero):
    """estimate[i, j]: the best cover of words i to j by phrases in any order, each scored from the empty context."""
    estimate = np.full((n + 1, n + 1), -np.inf)
    longest = options.span_first.shape[1] - 1
    for i in range(n + 1):
        estimate[i, i] = 0.0
    for i in range(n):
        for k in range(1, min(longest, n - i) + 1):
            for p in range(options.span_first[i, k - 1], options.span_first[i, k]):
                value = options.scores[p] + row_zero[options.words[options.word_start[p]]] + options.rest[options.word_start[p]]
                estimate[i, i + k] = max(estimate[i, i + k], value)
    for width in range(2, n + 1):
        for i in range(n - width + 1):
            for m in range(i + 1, i + width):
                estimate[i, i + width] = max(estimate[i, i + width], estimate[i, m] + estimate[m, i + width])
    return estimate


@borrowing
def place_of(stack, bits, end, state, stacks):
    """Where a hypothesis is in the hash table of its stack, or the free slot for it: slots have indices + 1."""
    mixed = (bits * np.uint64(0x9E3779B97F4A7C15)) ^ (np.uint64(end * 1000003 + state) * np.uint64(0xC2B2AE3D27D4EB4F))
    mask = stacks.slots.shape[1] - 1
    at = np.int64((mixed ^ (mixed >> np.uint64(31))) & np.uint64(mask))
    while stacks.slots[stack, at] != 0:
        k = stacks.slots[stack, at] - 1
        if stacks.covered[stack, k] == bits and stacks.states[stack, k] == state and stacks.ends[stack, k] == end:
            break
        at = (at + 1) & mask
    return at


@inner
def cut_down(c, size, threshold, count, stacks):  # out: all arrays of stack c
    """Keeps the best of stack c, in order of their totals. Returns (how many there are, what others must beat)."""
    order = np.argsort(-stacks.total[c, :count], kind="mergesort")  # stable: ties to the first
    kept = min(size, count)
    if count:
        least = stacks.total[c, order[0]] - threshold
        while kept > 0 and stacks.total[c, order[kept - 1]] < least:
            kept -= 1
    order = order[:kept]
    stacks.covered[c, :kept] = stacks.covered[c][order]
    stacks.ends[c, :kept] = stacks.ends[c][order]
    stacks.states[c, :kept] = stacks.states[c][order]
    stacks.score[c, :kept] = stacks.score[c][order]
    stacks.total[c, :kept] = stacks.total[c][order]
    stacks.back[c, :kept] = stacks.back[c][order]
    stacks.phrase[c, :kept] = stacks.phrase[c][order]
    stacks.slots[c, :] = 0
    for k in range(kept):
        stacks.slots[c, place_of(c, stacks.covered[c, k], stacks.ends[c, k], stacks.states[c, k], stacks)] = k + 1
    return kept, stacks.total[c, kept - 1] if kept == size else -np.inf


@kernel(int64(OPTIONS, ROWS, REORDERING, readonly(int64, 1), int64, float64, writable(int64, 1)))
def beam_search(options, rows, order, layer_of, size, threshold, path):  # out: path (n,), the numbers of the phrases
    """Returns the number of phrases of the best hypothesis, -1 if there is none. Stack c * layers + l has c words and layer l."""
    n, longest, reach = path.shape[0], options.span_first.shape[1] - 1, order.reach
    room, n_slots, layers = 2 * size, 4, layer_of.max() + 1
    while n_slots < 4 * size:
        n_slots *= 2
    n_stacks = (n + 1) * layers
    stacks = Stacks(
        np.empty((n_stacks, room), dtype=np.uint64), np.empty((n_stacks, room), dtype=np.int32), np.empty((n_stacks, room), dtype=np.int32),
        np.empty((n_stacks, room)), np.empty((n_stacks, room)), np.empty((n_stacks, room), dtype=np.int64),
        np.empty((n_stacks, room), dtype=np.int32), np.zeros((n_stacks, n_slots), dtype=np.int32),
    )  # fmt: skip
    count = np.zeros(n_stacks, dtype=np.int64)
    least = np.full(n_stacks, -np.inf)
    least_of_words = np.full(n + 1, -np.inf)  # of all stacks with as many words
    if n == 0:
        fill_row(rows.start, rows)
        return 0 if rows.scores[rows.start, rows.end_word] > -np.inf else -1
    fill_row(np.int64(0), rows)
    estimate = estimates(n, options, rows.scores[0])
    first_stack = layer_of[rows.start]
    stacks.covered[first_stack, 0], stacks.ends[first_stack, 0], stacks.states[first_stack, 0] = np.uint64(0), 0, rows.start
    stacks.score[first_stack, 0], stacks.total[first_stack, 0], count[first_stack] = 0.0, 0.0, 1
    stacks.back[first_stack, 0], stacks.phrase[first_stack, 0] = -1, -1
    for stack in range(n * layers):
        c = stack // layers
        count[stack], _ = cut_down(stack, size, threshold, count[stack], stacks)
        for h in range(count[stack]):
            bits, so_far = stacks.covered[stack, h], stacks.score[stack, h]
            end, q = np.int64(stacks.ends[stack, h]), np.int64(stacks.states[stack, h])
            fill_row(q, rows)
            left = 0.0  # the estimate of all gaps
            first = gap_of(bits, c)
            i = first
            while i < n:
                if has_word(bits, i - first):
                    i += 1
                    continue
                j = i + 1
                while j < n and not has_word(bits, j - first):
                    j += 1
                left += estimate[i, j]
                i = j
            i = first  # phrases in every gap that a jump may lead to
            while i < n and i <= end + reach:
                if has_word(bits, i - first):
                    i += 1
                    continue
                j = i + 1
                while j < n and not has_word(bits, j - first):
                    j += 1
                for s in range(max(i, end - reach), min(j, end + reach + 1)):  # the gap is i to j
                    if not order.jumps[end, s]:
                        continue
                    jump = so_far - order.distortion * abs(s - end)
                    outside = left - estimate[i, j] + estimate[i, s]
                    for k in range(1, min(longest, j - s) + 1):
                        if options.span_first[s, k] == options.span_first[s, k - 1]:
                            continue
                        later = outside + estimate[s + k, j]
                        into = c + k
                        if jump + later + options.most[options.span_first[s, k - 1]] <= least_of_words[into]:
                            continue
                        if s != first and s + k - first > WINDOW:
                            continue
                        now = joined(bits, s - first, k)
                        if s != first and s + k - first > reach:
                            if order.moses or not reaches_back(now, s + k - first, reach):
                                continue
                        if order.rules.shape[0] and not obeys(now, gap_of(now, into), s, s + k, order.rules):
                            continue
                        for p in range(options.span_first[s, k - 1], options.span_first[s, k]):
                            if jump + later + options.most[p] <= least_of_words[into]:
                                break
                            state = q
                            value = jump + options.scores[p]
                            w = options.word_start[p]
                            last = options.word_start[p + 1]
                            while w < last:
                                if not rows.is_filled[state]:
                                    fill_row(state, rows)
                                value += rows.scores[state, options.words[w]]
                                state = np.int64(rows.following[state, options.words[w]])
                                if state == options.alone[w]:
                                    value += options.rest[w]
                                    state = options.alone[last - 1]
                                    break
                                w += 1
                            if into == n:
                                if not rows.is_filled[state]:
                                    fill_row(state, rows)
                                value += rows.scores[state, rows.end_word]
                            worth = value + later
                            to = into * layers + layer_of[state]
                            if not worth > least[to]:
                                continue
                            at = place_of(to, now, s + k, state, stacks)
                            x = stacks.slots[to, at] - 1
                            if x < 0:
                                x = count[to]
                                count[to] += 1
                                stacks.slots[to, at] = x + 1
                                stacks.covered[to, x], stacks.ends[to, x], stacks.states[to, x] = now, s + k, state
                            elif not worth > stacks.total[to, x]:
                                continue
                            stacks.score[to, x], stacks.total[to, x] = value, worth
                            stacks.phrase[to, x], stacks.back[to, x] = p, h * n_stacks + stack
                            if count[to] == room:
                                count[to], least[to] = cut_down(to, size, threshold, room, stacks)
                                least_of_words[into] = least[into * layers : (into + 1) * layers].min()
                i = j
    stack, best = n * layers, -1
    for last_stack in range(n * layers, n_stacks):
        for h in range(count[last_stack]):
            if best < 0 or stacks.total[last_stack, h] > stacks.total[stack, best]:
                stack, best = last_stack, h
    if best < 0:
        return -1
    length = 0
    h = best
    while stacks.back[stack, h] >= 0:
        path[length] = options.number[stacks.phrase[stack, h]]
        length += 1
        before = stacks.back[stack, h]
        stack, h = before % n_stacks, before // n_stacks
    for k in range(length // 2):
        path[k], path[length - 1 - k] = path[length - 1 - k], path[k]
    return length


def best_in_beam(
    options: Options, rows: Rows, order: Reordering, layer_of: NDArray[np.int64], *, size: int, threshold: float
) -> NDArray[np.int64] | None:
    """The phrases, by number, of the best translation that is found; None if all hypotheses end before they translate all."""
    path = np.empty(len(options.span_first), dtype=np.int64)
    length = beam_search(options, rows, order, layer_of, size, threshold, path)
    return None if length < 0 else path[:length]
