"""Beam search for phrase-based translation in the manner of Moses (Koehn, Och & Marcu 2003).

Hypotheses that translate c source words share stack c. Those with the same coverage, last end and language-model state are one
hypothesis: the best. Each is worth its score plus an estimate for what is left, the best cover of every gap by phrases that are scored
without context. A stack keeps its `size` best, and what is worse than the best by more than `threshold` is dropped.

A stack has room for twice its size: when that is full, it is cut down, and from then on it takes only what beats its worst. Phrases of a
span are tried in the order of what they can be worth at most, until that is too little.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from zerogap.oracles.compile import boolean, float64, inlined, inner, int64, kernel, writable
from zerogap.oracles.phrase_options import OPTION_TYPES, ROW_TYPES, Options, Rows, fill_row

MOST_WORDS = 64  # of a source sentence: coverages are bits


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
def reaches_back(covered, at, first, reach):
    """Whether jumps of at most `reach` words can lead from the end `at` to the untranslated word `first`, over untranslated words."""
    position = at
    while position - first > reach:
        low = position - reach
        u = low
        while u < position and (covered >> np.uint64(u)) & np.uint64(1):
            u += 1
        if u + 1 >= position:  # no step to the left
            break
        position = u + 1
    return position - first <= reach


@inner
def place_of(slots, covered, end, state, row_covered, row_end, row_state):
    """Where a hypothesis is in the hash table of its stack, or the free slot for it: slots have indices + 1."""
    mixed = (covered * np.uint64(0x9E3779B97F4A7C15)) ^ (np.uint64(end * 1000003 + state) * np.uint64(0xC2B2AE3D27D4EB4F))
    mask = slots.shape[0] - 1
    at = np.int64((mixed ^ (mixed >> np.uint64(31))) & np.uint64(mask))
    while slots[at] != 0:
        k = slots[at] - 1
        if row_covered[k] == covered and row_state[k] == state and row_end[k] == end:
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
        slots[c, place_of(slots[c], covered[c, k], ends[c, k], states[c, k], covered[c], ends[c], states[c])] = k + 1
    return kept, total[c, kept - 1] if kept == size else -np.inf


@kernel(int64(int64, int64, int64, int64, int64, float64, boolean, float64, int64, writable(int64, 1), *OPTION_TYPES, *ROW_TYPES))
def beam_search(
    n, start, end_word, reach, size, threshold, moses, distortion, n_slots, path,
    span_first, number, scores, most, word_start, words, alone, rest,
    table, following, is_filled, row_start, row_words, row_scores, row_next, back_offs, shorter,
):  # fmt: skip  # out: path (n,), the numbers of the phrases
    """Returns the number of phrases of the best hypothesis, -1 if there is none."""
    longest = span_first.shape[1] - 1
    room = 2 * size
    covered = np.empty((n + 1, room), dtype=np.uint64)
    ends = np.empty((n + 1, room), dtype=np.int32)
    states = np.empty((n + 1, room), dtype=np.int32)
    back = np.empty((n + 1, room), dtype=np.int64)
    phrase = np.empty((n + 1, room), dtype=np.int32)
    score = np.empty((n + 1, room))
    total = np.empty((n + 1, room))
    slots = np.zeros((n + 1, n_slots), dtype=np.int32)
    count = np.zeros(n + 1, dtype=np.int64)
    least = np.full(n + 1, -np.inf)
    fill_row(np.int64(0), table, following, is_filled, row_start, row_words, row_scores, row_next, back_offs, shorter)
    estimate = estimates(n, span_first, scores, word_start, rest, words, table[0])
    covered[0, 0], ends[0, 0], states[0, 0], score[0, 0], total[0, 0], count[0] = 0, 0, start, 0.0, 0.0, 1
    back[0, 0], phrase[0, 0] = -1, -1
    for c in range(n):
        count[c], _ = cut_down(c, size, threshold, count[c], covered, ends, states, score, total, back, phrase, slots)
        for h in range(count[c]):
            bits, end, q, so_far = covered[c, h], np.int64(ends[c, h]), np.int64(states[c, h]), score[c, h]
            fill_row(q, table, following, is_filled, row_start, row_words, row_scores, row_next, back_offs, shorter)
            left = 0.0  # estimate of all gaps
            first = -1
            i = 0
            while i < n:
                if (bits >> np.uint64(i)) & np.uint64(1):
                    i += 1
                    continue
                if first < 0:
                    first = i
                j = i + 1
                while j < n and not (bits >> np.uint64(j)) & np.uint64(1):
                    j += 1
                left += estimate[i, j]
                i = j
            i = first
            while i < n and i <= end + reach:
                if (bits >> np.uint64(i)) & np.uint64(1):
                    i += 1
                    continue
                j = i + 1
                while j < n and not (bits >> np.uint64(j)) & np.uint64(1):
                    j += 1
                for s in range(max(i, end - reach), min(j, end + reach + 1)):  # the gap is i to j
                    jump = so_far - distortion * abs(s - end)
                    outside = left - estimate[i, j] + estimate[i, s]
                    for k in range(1, min(longest, j - s) + 1):
                        if span_first[s, k] == span_first[s, k - 1]:
                            continue
                        later = outside + estimate[s + k, j]
                        into = c + k
                        if jump + later + most[span_first[s, k - 1]] <= least[into]:
                            continue
                        joined = bits | (((np.uint64(1) << np.uint64(k)) - np.uint64(1)) << np.uint64(s))
                        if s != first:
                            if moses and s + k - first > reach:
                                continue
                            if s + k - first > reach and not reaches_back(joined, s + k, first, reach):
                                continue
                        for p in range(span_first[s, k - 1], span_first[s, k]):
                            if jump + later + most[p] <= least[into]:
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
                                fill_row(state, table, following, is_filled, row_start, row_words, row_scores, row_next, back_offs, shorter)
                                value += table[state, end_word]
                            worth = value + later
                            if not worth > least[into]:
                                continue
                            at = place_of(slots[into], joined, s + k, state, covered[into], ends[into], states[into])
                            x = slots[into, at] - 1
                            if x < 0:
                                x = count[into]
                                count[into] += 1
                                slots[into, at] = x + 1
                                covered[into, x], ends[into, x], states[into, x] = joined, s + k, state
                            elif not worth > total[into, x]:
                                continue
                            score[into, x], total[into, x], phrase[into, x], back[into, x] = value, worth, p, h * (n + 1) + c
                            if count[into] == room:
                                count[into], least[into] = cut_down(
                                    into, size, threshold, room, covered, ends, states, score, total, back, phrase, slots
                                )
                i = j
    best = -1
    for h in range(count[n]):
        if best < 0 or total[n, h] > total[n, best]:
            best = h
    if best < 0:
        return -1
    length = 0
    c, h = n, best
    while c > 0:
        path[length] = number[phrase[c, h]]
        length += 1
        before = back[c, h]
        c, h = before % (n + 1), before // (n + 1)
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
) -> NDArray[np.int64] | None:
    """The phrases, by number, of the best translation that is found; None if all hypotheses end before they translate all."""
    n = len(options.span_first)
    path = np.empty(n, dtype=np.int64)
    n_slots = 4
    while n_slots < 4 * size:
        n_slots *= 2
    length = beam_search(n, start, end_word, reach, size, threshold, moses, distortion, n_slots, path, *options, *rows)
    return None if length < 0 else path[:length]
