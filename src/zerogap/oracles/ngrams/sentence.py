"""The part of a language model that can matter for some words: states and transitions of the words in question, numbered anew.

A sentence's phrases have a few hundred target words between them, whose n-grams fit into a processor's cache where the model does not.
States are found from the empty one and the start by listed transitions of these words, and by leaving out the first word.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zerogap.grid import Scores
from zerogap.kernels import float64, int32, int64, kernel, readonly, types, writable
from zerogap.oracles.growing_arrays import grown, grown_numbers


class SentenceNgrams(NamedTuple):
    """Transitions of state q are row_start[q] to row_start[q + 1], sorted by word; state 0 is the empty one and has one for every word."""

    words: NDArray[np.int64]  # ids in the model of the words here, ascending
    row_start: NDArray[np.int64]
    row_words: NDArray[np.int64]
    row_scores: Scores
    row_next: NDArray[np.int64]
    back_offs: Scores
    shorter: NDArray[np.int64]
    start: int


@kernel(int64(int64, writable(int32, 1), writable(int64, 1), int64))
def number_state(state, local, states, size):  # out: local, states
    """Numbers a state and those that its suffixes are. Returns how many states have a number."""
    if local[state] < 0:
        local[state] = size
        states[size] = state
        size += 1
    return size


@kernel(
    types.Tuple((int64, int64, writable(int64, 1), writable(int64, 1), writable(int64, 1), writable(float64, 1), writable(int64, 1)))(
        readonly(int64, 1),
        readonly(float64, 1),
        readonly(int32, 1),
        readonly(int32, 1),
        readonly(int64, 1),
        int64,
        readonly(int64, 1),
        int64,
    )
)
def restrict(keys, scores, next_states, shorter, state_start, n_words, words, start):
    """(states, transitions, global states, row_start, row_words, row_scores, row_next), the last three longer than needed."""
    n_states = shorter.shape[0]
    v = words.shape[0]
    local_word = np.full(n_words, -1, dtype=np.int32)
    for k in range(v):
        local_word[words[k]] = k
    local = np.full(n_states, -1, dtype=np.int32)
    states = np.empty(n_states, dtype=np.int64)
    row_start = np.empty(256, dtype=np.int64)
    row_words = np.empty(4096, dtype=np.int64)
    row_next = np.empty(4096, dtype=np.int64)
    row_scores = np.empty(4096, dtype=np.float64)
    size = number_state(np.int64(0), local, states, np.int64(0))
    size = number_state(start, local, states, size)
    at = 0  # of transitions
    q = 0
    while q < size:
        state = states[q]
        row_start = grown(row_start, q + 2)
        row_start[q] = at
        row_words = grown(row_words, at + v)
        row_next = grown(row_next, at + v)
        row_scores = grown_numbers(row_scores, at + v)
        first, last = state_start[state], state_start[state + 1]
        base = state * n_words
        if state != 0 and last - first <= 16 * v:  # read all that follows the state
            for i in range(first, last):
                k = local_word[keys[i] - base]
                if k >= 0:
                    row_words[at], row_next[at], row_scores[at] = k, next_states[i], scores[i]
                    at += 1
        else:  # look for every word
            low = first
            for k in range(v):
                key = base + words[k]
                high = last
                while low < high:
                    middle = (low + high) >> 1
                    if keys[middle] < key:
                        low = middle + 1
                    else:
                        high = middle
                if low < last and keys[low] == key:
                    row_words[at], row_next[at], row_scores[at] = k, next_states[low], scores[low]
                    at += 1
        size = number_state(np.int64(shorter[state]), local, states, size)
        for i in range(row_start[q], at):
            size = number_state(row_next[i], local, states, size)
            row_next[i] = local[row_next[i]]
        q += 1
    row_start[size] = at
    return size, at, states, row_start, row_words, row_scores, row_next


def sentence_ngrams(
    keys: NDArray[np.int64],
    scores: Scores,
    next_states: NDArray[np.int32],
    back_offs: Scores,
    shorter: NDArray[np.int32],
    state_start: NDArray[np.int64],
    n_words: int,
    words: NDArray[np.int64],
    start: int,
) -> SentenceNgrams:
    """What a language model says of `words`, ascending ids; `state_start[q]` is where the transitions of state q begin."""
    size, at, states, row_start, row_words, row_scores, row_next = restrict(
        keys, scores, next_states, shorter, state_start, n_words, words, start
    )
    found = states[:size]
    local = np.zeros(len(shorter), dtype=np.int64)
    local[found] = np.arange(size)
    return SentenceNgrams(
        words,
        row_start[: size + 1],
        row_words[:at],
        row_scores[:at],
        row_next[:at],
        back_offs[found],
        local[shorter[found]],
        int(local[start]),
    )
