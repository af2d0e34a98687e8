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

import numpy as np
from numpy.typing import NDArray

from zerogap.kernels import boolean, float64, inlined, inner, int64, kernel, readonly, writable
from zerogap.oracles.phrases.coverage import WINDOW, gap_of, has_word, joined, obeys, reaches_back
from zerogap.oracles.phrases.options import OPTION_TYPES, ROW_TYPES, Options, Rows, fill_row


@inner
def estimates(n, span_first, scores, word_start, rest, words, row_zero):
    """estimate[i, j]: the best cover of words i to j by phrases in any order, each scored from the empty context."""
    estimate = np.full((n + 1, n + 1), -np.inf)
    longest = span_first.shape[1] - 1
    for i in range(n + 1):
        estimate[i, i] = 0.0
    for i in range(n):
        for k in range(1, min(longest, n - i) + 1):
            for p in range(span_first[i, k - 1], span_first[i, k]):
                value = scores[p] + row_zero[words[word_start[p]]] + rest[word_start[p]]
                estimate[i, i + k] = max(estimate[i, i + k], value)
    for width in range(2, n + 1):
        for i in range(n - width + 1):
            for m in range(i + 1, i + width):
                estimate[i, i + width] = max(estimate[i, i + width], estimate[i, m] + estimate[m, i + width])
    return estimate


@inlined
def place_of(stack, bits, end, state, slots, covered, ends, states):
    """Where a hypothesis is in the hash table of its stack, or the free slot for it: slots have indices + 1."""
    mixed = (bits * np.uint64(0x9E3779B97F4A7C15)) ^ (np.uint64(end * 1000003 + state) * np.uint64(0xC2B2AE3D27D4EB4F))
    mask = slots.shape[1] - 1
    at = np.int64((mixed ^ (mixed >> np.uint64(31))) & np.uint64(mask))
    while slots[stack, at] != 0:
        k = slots[stack, at] - 1
        if covered[stack, k] == bits and states[stack, k] == state and ends[stack, k] == end:
            break
        at = (at + 1) & mask
    return at


@inner
def cut_down(c, size, threshold, count, covered, ends, states, score, total, back, phrase, slots):  # out: all arrays of stack c
    """Keeps the best of stack c, in order of their totals. Returns (how many there are, what others must beat)."""
    order = np.argsort(-total[c, :count], kind="mergesort")  # stable: ties to the first
    kept = min(size, count)
    if count:
        least = total[c, order[0]] - threshold
        while kept > 0 and total[c, order[kept - 1]] < least:
            kept -= 1
    order = order[:kept]
    covered[c, :kept] = covered[c][order]
    ends[c, :kept] = ends[c][order]
    states[c, :kept] = states[c][order]
    score[c, :kept] = score[c][order]
    total[c, :kept] = total[c][order]
    back[c, :kept] = back[c][order]
    phrase[c, :kept] = phrase[c][order]
    slots[c, :] = 0
    for k in range(kept):
        slots[c, place_of(c, covered[c, k], ends[c, k], states[c, k], slots, covered, ends, states)] = k + 1
    return kept, total[c, kept - 1] if kept == size else -np.inf


@kernel(
    int64(
        int64, int64, int64, int64, int64, float64, boolean, float64, int64, readonly(int64, 2), readonly(boolean, 2), readonly(int64, 1),
        writable(int64, 1), *OPTION_TYPES, *ROW_TYPES,
    )
)  # fmt: skip
def beam_search(
    n, start, end_word, reach, size, threshold, moses, distortion, n_slots, rules, jumps, layer_of, path,
    span_first, number, scores, most, word_start, words, alone, rest,
    table, following, is_filled, row_start, row_words, row_scores, row_next, back_offs, shorter,
):  # fmt: skip  # out: path (n,), the numbers of the phrases
    """Returns the number of phrases of the best hypothesis, -1 if there is none. Stack c * layers + l has c words and layer l."""
    longest = span_first.shape[1] - 1
    room = 2 * size
    layers = layer_of.max() + 1
    stacks = (n + 1) * layers
    covered = np.empty((stacks, room), dtype=np.uint64)
    ends = np.empty((stacks, room), dtype=np.int32)
    states = np.empty((stacks, room), dtype=np.int32)
    back = np.empty((stacks, room), dtype=np.int64)
    phrase = np.empty((stacks, room), dtype=np.int32)
    score = np.empty((stacks, room))
    total = np.empty((stacks, room))
    slots = np.zeros((stacks, n_slots), dtype=np.int32)
    count = np.zeros(stacks, dtype=np.int64)
    least = np.full(stacks, -np.inf)
    least_of_words = np.full(n + 1, -np.inf)  # of all stacks with as many words
    if n == 0:
        fill_row(start, table, following, is_filled, row_start, row_words, row_scores, row_next, back_offs, shorter)
        return 0 if table[start, end_word] > -np.inf else -1
    fill_row(np.int64(0), table, following, is_filled, row_start, row_words, row_scores, row_next, back_offs, shorter)
    estimate = estimates(n, span_first, scores, word_start, rest, words, table[0])
    first_stack = layer_of[start]
    covered[first_stack, 0], ends[first_stack, 0], states[first_stack, 0] = np.uint64(0), 0, start
    score[first_stack, 0], total[first_stack, 0], count[first_stack] = 0.0, 0.0, 1
    back[first_stack, 0], phrase[first_stack, 0] = -1, -1
    for stack in range(n * layers):
        c = stack // layers
        count[stack], _ = cut_down(stack, size, threshold, count[stack], covered, ends, states, score, total, back, phrase, slots)
        for h in range(count[stack]):
            bits, end, q, so_far = covered[stack, h], np.int64(ends[stack, h]), np.int64(states[stack, h]), score[stack, h]
            fill_row(q, table, following, is_filled, row_start, row_words, row_scores, row_next, back_offs, shorter)
            left = 0.0  # estimate of all gaps
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
            i = first
            while i < n and i <= end + reach:
                if has_word(bits, i - first):
                    i += 1
                    continue
                j = i + 1
                while j < n and not has_word(bits, j - first):
                    j += 1
                for s in range(max(i, end - reach), min(j, end + reach + 1)):  # the gap is i to j
                    if not jumps[end, s]:
                        continue
                    jump = so_far - distortion * abs(s - end)
                    outside = left - estimate[i, j] + estimate[i, s]
                    for k in range(1, min(longest, j - s) + 1):
                        if span_first[s, k] == span_first[s, k - 1]:
                            continue
                        later = outside + estimate[s + k, j]
                        into = c + k
                        if jump + later + most[span_first[s, k - 1]] <= least_of_words[into]:
                            continue
                        if s != first and s + k - first > WINDOW:
                            continue
                        now = joined(bits, s - first, k)
                        if s != first and s + k - first > reach:
                            if moses or not reaches_back(now, s + k - first, reach):
                                continue
                        if rules.shape[0] and not obeys(now, gap_of(now, into), s, s + k, rules):
                            continue
                        for p in range(span_first[s, k - 1], span_first[s, k]):
                            if jump + later + most[p] <= least_of_words[into]:
                                break
                            state = q
                            value = jump + scores[p]
                            w = word_start[p]
                            last = word_start[p + 1]
                            while w < last:
                                if not is_filled[state]:
                                    fill_row(
                                        state, table, following, is_filled,
                                        row_start, row_words, row_scores, row_next, back_offs, shorter,
                                    )  # fmt: skip
                                value += table[state, words[w]]
                                state = np.int64(following[state, words[w]])
                                if state == alone[w]:
                                    value += rest[w]
                                    state = alone[last - 1]
                                    break
                                w += 1
                            if into == n:
                                if not is_filled[state]:
                                    fill_row(
                                        state, table, following, is_filled,
                                        row_start, row_words, row_scores, row_next, back_offs, shorter,
                                    )  # fmt: skip
                                value += table[state, end_word]
                            worth = value + later
                            to = into * layers + layer_of[state]
                            if not worth > least[to]:
                                continue
                            at = place_of(to, now, s + k, state, slots, covered, ends, states)
                            x = slots[to, at] - 1
                            if x < 0:
                                x = count[to]
                                count[to] += 1
                                slots[to, at] = x + 1
                                covered[to, x], ends[to, x], states[to, x] = now, s + k, state
                            elif not worth > total[to, x]:
                                continue
                            score[to, x], total[to, x], phrase[to, x], back[to, x] = value, worth, p, h * stacks + stack
                            if count[to] == room:
                                count[to], least[to] = cut_down(
                                    to, size, threshold, room, covered, ends, states, score, total, back, phrase, slots
                                )
                                least_of_words[into] = least[into * layers : (into + 1) * layers].min()
                i = j
    stack, best = n * layers, -1
    for last_stack in range(n * layers, stacks):
        for h in range(count[last_stack]):
            if best < 0 or total[last_stack, h] > total[stack, best]:
                stack, best = last_stack, h
    if best < 0:
        return -1
    length = 0
    h = best
    while back[stack, h] >= 0:
        path[length] = number[phrase[stack, h]]
        length += 1
        before = back[stack, h]
        stack, h = before % stacks, before // stacks
    for k in range(length // 2):
        path[k], path[length - 1 - k] = path[length - 1 - k], path[k]
    return length


def best_in_beam(
    options: Options,
    rows: Rows,
    *,
    start: int,
    end_word: int,
    reach: int,
    size: int,
    threshold: float,
    moses: bool,
    distortion: float,
    rules: NDArray[np.int64],
    jumps: NDArray[np.bool_],
    layer_of: NDArray[np.int64],
) -> NDArray[np.int64] | None:
    """The phrases, by number, of the best translation that is found; None if all hypotheses end before they translate all."""
    n = len(options.span_first)
    path = np.empty(n, dtype=np.int64)
    n_slots = 4
    while n_slots < 4 * size:
        n_slots *= 2
    length = beam_search(
        n, start, end_word, reach, size, threshold, moses, distortion, n_slots, rules, jumps, layer_of, path, *options, *rows
    )
    return None if length < 0 else path[:length]
