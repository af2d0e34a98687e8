"""What an n-gram model must know of a piece of a sentence: its first words, whose scores wait for what comes before, and its last state.

Words at the left end wait only for as long as a longer n-gram could still reach over them (Li & Khudanpur 2008). With W words in the model,
the left end of a piece is one number:

    EMPTY_PIECE   no words at all
    0             nothing waits; what comes before pays its back-offs down to the empty context
    1 + w         w waits; then the back-offs from the state after w down to that of w alone
    1 + W + w     w waits and is the whole piece, so the state after it is not known yet either
    1 + 2W + p    the two words of pair p wait

`pair` p are words (a, b) such that the model lists an n-gram (u, a, b). Models of order 3 at most.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zerogap.errors import InputError
from zerogap.grid import Scores
from zerogap.oracles.compile import boolean, inner, int32, int64, readonly
from zerogap.oracles.ngrams import TABLE_TYPES, ngram_step, ngram_tables

EMPTY_PIECE = -1
HIGHEST_ORDER = 3


class Boundaries(NamedTuple):
    """The arrays that kernels take as one tuple: those of the n-gram tables, and which words and pairs of words wait."""

    slots: NDArray[np.int64]
    slot_numbers: Scores
    word_scores: Scores
    word_states: NDArray[np.int32]
    back_offs: Scores
    shorter: NDArray[np.int32]
    waits: NDArray[np.bool_]  # (W,)
    pair_start: NDArray[np.int64]  # (W + 1,), pairs by their first word
    pair_first: NDArray[np.int32]
    pair_second: NDArray[np.int32]  # sorted within a first word

    @property
    def n_lefts(self) -> int:
        return 1 + 2 * len(self.word_scores) + len(self.pair_first)


BOUNDARY_TYPES: tuple[Any, ...] = (
    *TABLE_TYPES,
    readonly(boolean, 1),
    readonly(int64, 1),
    readonly(int32, 1),
    readonly(int32, 1),
)  # for the signatures of kernels


@inner
def find_pair(first, second, lm):
    """The number of a pair of words that waits, or -1."""
    pair_start, pair_second = lm[7], lm[9]
    low, high = pair_start[first], pair_start[first + 1]
    end = high
    while low < high:
        middle = (low + high) >> 1
        if pair_second[middle] < second:
            low = middle + 1
        else:
            high = middle
    return low if low < end and pair_second[low] == second else np.int64(-1)


@inner
def step(state, word, lm):
    return ngram_step(state, word, lm[0], lm[1], lm[2], lm[3], lm[4], lm[5])


@inner
def descend(state, lower, lm):
    """The back-offs from a state down to one of its suffixes."""
    back_offs, shorter = lm[4], lm[5]
    total = 0.0
    while state != lower and state != 0:
        total += back_offs[state]
        state = np.int64(shorter[state])
    return total


@inner
def read_word(left, state, word, lm):
    """(left, state, score) of a piece with one word more: the score is what no longer waits."""
    n_words, word_states, waits = lm[2].shape[0], lm[3], lm[6]
    if left == EMPTY_PIECE:
        if waits[word]:
            return 1 + n_words + word, np.int64(word_states[word]), 0.0
        return np.int64(0), np.int64(word_states[word]), lm[2][word]
    score, following = step(state, word, lm)
    if left > n_words and left <= 2 * n_words:  # one word so far
        pair = find_pair(left - 1 - n_words, word, lm)
        if pair >= 0:
            return 1 + 2 * n_words + pair, following, 0.0
        return left - n_words, following, score
    return left, following, score


@inner
def read_piece(left, state, piece_left, piece_state, lm):
    """The same with a piece more, given by its left end and the state after it, without what was scored in it."""
    n_words, word_states = lm[2].shape[0], lm[3]
    if piece_left == EMPTY_PIECE:
        return left, state, 0.0
    if left == EMPTY_PIECE:
        return piece_left, piece_state, 0.0
    if piece_left == 0:
        score = descend(state, 0, lm)
        if left > n_words and left <= 2 * n_words:
            left -= n_words
        return left, piece_state, score
    if piece_left > 2 * n_words:
        pair = piece_left - 1 - 2 * n_words
        left, state, score = read_word(left, state, np.int64(lm[8][pair]), lm)
        left, state, more = read_word(left, state, np.int64(lm[9][pair]), lm)
        return left, piece_state, score + more
    if piece_left > n_words:
        return read_word(left, state, piece_left - 1 - n_words, lm)
    word = piece_left - 1
    left, state, score = read_word(left, state, word, lm)
    return left, piece_state, score + descend(state, np.int64(word_states[word]), lm)


@inner
def finish(left, state, start, end, lm):
    """What waits at the left end of a whole sentence, after <s>, and </s> after it."""
    # a piece whose left end waits for nothing: <s> is known in full
    _, following, score = read_piece(np.int64(0), start, left, state, lm) if left != EMPTY_PIECE else (np.int64(0), start, 0.0)
    more, _ = step(following, end, lm)
    return score + more


def boundaries_of(
    keys: NDArray[np.int64],
    scores: Scores,
    next_states: NDArray[np.int32],
    back_offs: Scores,
    shorter: NDArray[np.int32],
    *,
    n_words: int,
    order: int,
) -> Boundaries:
    """The tables of a language model: see zerogap.translation.language_model for what the arrays are."""
    if order > HIGHEST_ORDER:
        raise InputError(f"the language model has order {order}: expected at most {HIGHEST_ORDER} for translation forests.")
    tables = ngram_tables(keys, scores, next_states, back_offs, shorter, n_words)
    states = keys[n_words:] // n_words
    words = keys[n_words:] - states * n_words
    waits = np.zeros(n_words, dtype=np.bool_)
    waits[words] = True
    last_word = np.zeros(len(back_offs), dtype=np.int64)
    last_word[next_states[n_words:]] = words
    last_word[next_states[:n_words]] = np.arange(n_words)
    is_long = np.ones(len(back_offs), dtype=np.bool_)
    is_long[next_states[:n_words]] = False
    is_long[0] = False
    longer = is_long[states]
    pairs = np.unique(last_word[states[longer]] * n_words + words[longer])
    first = pairs // n_words
    start = np.concatenate([[0], np.cumsum(np.bincount(first, minlength=n_words))]).astype(np.int64)
    return Boundaries(*tables, waits, start, first.astype(np.int32), (pairs - first * n_words).astype(np.int32))
