"""Scores of n-grams in constant time: a language model's transitions in a hash table, one cache line per look.

A model is an automaton with back-off (see zerogap.problems.translation.language_model): transitions are keys state * n_words + word,
sorted, with
those of the empty state first, one per word. A state is the longest context that can still matter, so two contexts with the same state
are scored alike from there on. Where a transition is missing, the state's back-off is added and the next shorter context is asked:

    step(state, word) = score, next                                  if state -> word is listed
                      = back_off(state) + step(shorter(state), word) else

`ngram_step` is copied into the kernels that call it; they take the six arrays of `Tables` after each other.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zerogap.errors import InputError
from zerogap.grid import Scores
from zerogap.kernels import float64, inlined, int32, int64, kernel, readonly, types, writable

FREE = -1
MOST_FULL = 0.7  # share of slots that are taken, at most


class Tables(NamedTuple):
    """The arrays that kernels take, in this order. A slot is (key, score, next state, nothing), 32 bytes."""

    slots: NDArray[np.int64]  # (a power of two, 4)
    slot_numbers: Scores  # the same memory read as float64: column 1 has the score
    word_scores: Scores  # of the words after the empty state
    word_states: NDArray[np.int32]
    back_offs: Scores
    shorter: NDArray[np.int32]


TABLE_TYPES: tuple[Any, ...] = (
    readonly(int64, 2),
    readonly(float64, 2),
    readonly(float64, 1),
    readonly(int32, 1),
    readonly(float64, 1),
    readonly(int32, 1),
)  # for the signatures of kernels: they end with *TABLE_TYPES


@inlined
def first_slot(key, n_slots):
    """Where the search for a key begins: Fibonacci hashing, folded so that all bits of the key count."""
    mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    return np.int64((mixed ^ (mixed >> np.uint64(29))) >> np.uint64(20)) & (n_slots - 1)


@inlined
def ngram_step(state, word, slots, slot_numbers, word_scores, word_states, back_offs, shorter):
    """(score of the word after the state, next state)."""
    score = 0.0
    following = np.int64(-1)
    while following < 0:
        if state == 0:
            score += word_scores[word]
            following = np.int64(word_states[word])
        else:
            key = state * np.int64(word_scores.shape[0]) + word
            at = first_slot(key, slots.shape[0])
            while slots[at, 0] != key and slots[at, 0] != FREE:
                at = (at + 1) & (slots.shape[0] - 1)
            if slots[at, 0] == key:
                score += slot_numbers[at, 1]
                following = slots[at, 2]
            else:
                score += back_offs[state]
                state = np.int64(shorter[state])
    return score, following


@inlined
def ngram_score(context, word, slots, slot_numbers, word_scores, word_states, back_offs, shorter):
    """The score of a word after the words of a context, first word first. Only the last ones matter: pass at most order - 1."""
    state = np.int64(0)
    for i in range(context.shape[0]):
        _, state = ngram_step(state, np.int64(context[i]), slots, slot_numbers, word_scores, word_states, back_offs, shorter)
    score, _ = ngram_step(state, np.int64(word), slots, slot_numbers, word_scores, word_states, back_offs, shorter)
    return score


@kernel(int64(readonly(int64, 1), readonly(float64, 1), readonly(int32, 1), int64, writable(int64, 2), writable(float64, 2)))
def fill_slots(keys, scores, next_states, n_words, slots, slot_numbers):  # out: slots, slot_numbers (the same memory), all keys FREE
    """Returns the longest run of slots that a search looks at."""
    longest = 0
    for i in range(n_words, keys.shape[0]):
        at = first_slot(keys[i], slots.shape[0])
        run = 1
        while slots[at, 0] != FREE:
            at = (at + 1) & (slots.shape[0] - 1)
            run += 1
        slots[at, 0] = keys[i]
        slot_numbers[at, 1] = scores[i]
        slots[at, 2] = next_states[i]
        longest = max(longest, run)
    return longest


@kernel(types.Tuple((float64, int64))(int64, readonly(int64, 1), *TABLE_TYPES))
def read_words(state, words, slots, slot_numbers, word_scores, word_states, back_offs, shorter):
    total = 0.0
    for i in range(words.shape[0]):
        score, state = ngram_step(state, words[i], slots, slot_numbers, word_scores, word_states, back_offs, shorter)
        total += score
    return total, state


def ngram_tables(
    keys: NDArray[np.int64],
    scores: Scores,
    next_states: NDArray[np.int32],
    back_offs: Scores,
    shorter: NDArray[np.int32],
    n_words: int,
) -> Tables:
    """The tables of a language model: `ngram_tables(m.keys, m.scores, m.next_states, m.back_offs, m.shorter, m.n_words)`."""
    if not (len(keys) == len(scores) == len(next_states) >= n_words > 0 and len(back_offs) == len(shorter) > 0):
        sizes = f"{len(keys)} keys, {len(scores)} scores, {len(next_states)} next states, {len(back_offs)} and {len(shorter)} of states"
        raise InputError(f"{sizes} for {n_words} words: expected as many of each, and a transition per word first.")
    n_slots = 2
    while len(keys) - n_words > MOST_FULL * n_slots:
        n_slots *= 2
    slots = np.full((n_slots, 4), FREE, dtype=np.int64)
    fill_slots(keys, scores, next_states, n_words, slots, slots.view(np.float64))
    slots.flags.writeable = False
    return Tables(slots, slots.view(np.float64), scores[:n_words], next_states[:n_words], back_offs, shorter)


def words_score(tables: Tables, state: int, words: NDArray[np.int64]) -> tuple[float, int]:
    """The sum of the scores of words after a state, and the state after them."""
    if words.size and not (words.min() >= 0 and words.max() < len(tables.word_scores)):
        raise InputError(f"words has ids from {words.min()} to {words.max()}: expected 0 to {len(tables.word_scores) - 1}.")
    if not 0 <= state < len(tables.back_offs):
        raise InputError(f"state is {state}: expected 0 to {len(tables.back_offs) - 1}.")
    return read_words(state, np.ascontiguousarray(words, dtype=np.int64), *tables)
