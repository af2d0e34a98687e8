"""The ends of a piece of a sentence for an n-gram model: its first words, whose scores wait for what comes before, and its last state.

Words at the left end wait only for as long as a longer n-gram could still reach over them (Li & Khudanpur 2008): words l1 .. lk wait if the
model lists an n-gram (.., u, l1, .., lk). Such sequences are the N nodes of a trie, numbered from 1 such that parents come first. The left
end of a piece is one number:

    EMPTY_PIECE   no words at all
    0             nothing waits; what comes before pays its back-offs down to the empty context
    i             the words of node i wait; then the back-offs from the state after them down to that of these words alone
    N + i         the words of node i wait and are the whole piece, so the state after it is not known yet either

A node of order - 1 words leaves nothing unknown: a piece that is no longer is numbered as one that is.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zerogap.grid import Scores
from zerogap.kernels import float64, inner, int32, int64, readonly
from zerogap.oracles.ngrams.lookup import TABLE_TYPES, ngram_step, ngram_tables

EMPTY_PIECE = -1


class Boundaries(NamedTuple):
    """The arrays that kernels take as one tuple: those of the n-gram tables, and the trie of words that wait."""

    slots: NDArray[np.int64]
    slot_numbers: Scores
    word_scores: Scores
    word_states: NDArray[np.int32]
    back_offs: Scores
    shorter: NDArray[np.int32]
    nodes: NDArray[np.int32]  # (W,): the node of a word alone, 0 if it does not wait
    child_start: NDArray[np.int64]  # (N + 2,), children of a node; they are nodes child_start[i] + 1 .. child_start[i + 1]
    first_words: NDArray[np.int32]  # (2N + 1,), by left end; W where nothing waits
    last_words: NDArray[np.int32]  # (N + 1,), by node, as the next ones; sorted within a parent
    node_states: NDArray[np.int32]  # after the words of a node alone
    words: NDArray[np.int32]  # (N + 1, order - 1), -1 where there are fewer
    alone: Scores  # (2N + 1,), by left end: what the words that wait score with nothing before them

    @property
    def n_nodes(self) -> int:
        return len(self.last_words) - 1

    @property
    def n_lefts(self) -> int:
        return 1 + 2 * self.n_nodes


BOUNDARY_TYPES: tuple[Any, ...] = (
    *TABLE_TYPES,
    readonly(int32, 1),
    readonly(int64, 1),
    readonly(int32, 1),
    readonly(int32, 1),
    readonly(int32, 1),
    readonly(int32, 2),
    readonly(float64, 1),
)  # for the signatures of kernels


@inner
def find_child(node, word, lm):
    """The node of one word more, or 0 if it does not wait."""
    child_start, last_words = lm[7], lm[9]
    low, end = child_start[node] + 1, child_start[node + 1] + 1
    high = end
    while low < high:
        middle = (low + high) >> 1
        if last_words[middle] < word:
            low = middle + 1
        else:
            high = middle
    return low if low < end and last_words[low] == word else np.int64(0)


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
def whole(node, lm):
    """The left end of a piece that is the words of a node."""
    words = lm[11]
    return node if words[node, words.shape[1] - 1] >= 0 else lm[9].shape[0] - 1 + node


@inner
def read_word(left, state, word, lm):
    """(left, state, score) of a piece with one word more: the score is what no longer waits."""
    if left == EMPTY_PIECE:
        node = np.int64(lm[6][word])
        if node > 0:
            return whole(node, lm), np.int64(lm[3][word]), 0.0
        return np.int64(0), np.int64(lm[3][word]), lm[2][word]
    score, following = step(state, word, lm)
    n_nodes = lm[9].shape[0] - 1
    if left > n_nodes:  # all words so far wait
        child = find_child(left - n_nodes, word, lm)
        if child > 0:
            return whole(child, lm), following, 0.0
        return left - n_nodes, following, score
    return left, following, score


@inner
def read_piece(left, state, piece_left, piece_state, lm):
    """The same with a piece more, given by its left end and the state after it, without what was scored in it."""
    if piece_left == EMPTY_PIECE:
        return left, state, 0.0
    if left == EMPTY_PIECE:
        return piece_left, piece_state, 0.0
    n_nodes, words = lm[9].shape[0] - 1, lm[11]
    node = piece_left if piece_left <= n_nodes else piece_left - n_nodes
    total = 0.0
    if node > 0:
        for k in range(words.shape[1]):
            if words[node, k] < 0:
                break
            left, state, score = read_word(left, state, np.int64(words[node, k]), lm)
            total += score
    if piece_left > n_nodes:
        return left, state, total
    if left > n_nodes:  # what comes after the words that wait does not
        left -= n_nodes
    return left, piece_state, total + descend(state, np.int64(lm[10][node]), lm)


@inner
def finish(left, state, start, end, lm):
    """What waits at the left end of a whole sentence, after <s>, and </s> after it."""
    # a piece whose left end waits for nothing: <s> is known in full
    _, following, score = read_piece(np.int64(0), start, left, state, lm) if left != EMPTY_PIECE else (np.int64(0), start, 0.0)
    more, _ = step(following, end, lm)
    return score + more


class StateWords(NamedTuple):
    """Of every state: how many words it has, its last word, and the state without it. The empty state's are 0, W and 0."""

    lengths: NDArray[np.int64]
    last: NDArray[np.int64]
    prefix: NDArray[np.int64]


def state_words(keys: NDArray[np.int64], next_states: NDArray[np.int32], n_words: int, n_states: int) -> StateWords:
    """The first transition into a state, by the length of the context that it comes from, is that by its last word."""
    lengths, last, prefix = np.full(n_states, -1), np.full(n_states, n_words), np.zeros(n_states, dtype=np.int64)
    lengths[0] = 0
    sources = keys // n_words
    words = keys - sources * n_words
    for length in range(1, n_states):
        arcs = np.flatnonzero((lengths[sources] == length - 1) & (lengths[next_states] < 0))
        if not arcs.size:
            break
        into = next_states[arcs]
        last[into], prefix[into], lengths[into] = words[arcs], sources[arcs], length
    return StateWords(lengths, last, prefix)


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
    """The tables of a language model: see zerogap.problems.translation.language_model for what the arrays are."""
    tables = ngram_tables(keys, scores, next_states, back_offs, shorter, n_words)
    known = state_words(keys, next_states, n_words, len(back_offs))
    sources = keys[n_words:] // n_words
    final = keys[n_words:] - sources * n_words
    context = max(order - 1, 1)
    # suffix[s]: the node of the last words of a state, one less than the length looked at; a state's whole length has none
    suffix = np.zeros(len(back_offs), dtype=np.int64)
    trie, words, counted = [np.zeros(1, dtype=np.int64)], [np.full((1, context), -1)], 0
    for length in range(1, context + 1):
        reached = known.lengths[sources] >= length
        found = np.unique(suffix[sources[reached]] * n_words + final[reached])
        longer = words[-1][found // n_words - counted]
        longer[:, length - 1] = found % n_words
        states = np.flatnonzero(known.lengths > length)
        first = counted + len(words[-1])
        suffix[states] = first + np.searchsorted(found, suffix[known.prefix[states]] * n_words + known.last[states])
        trie.append(found)
        words.append(longer)
        counted = first
    all_words, node_keys = np.concatenate(words), np.concatenate(trie)
    last_words = node_keys % n_words
    last_words[0] = n_words
    parents = node_keys[1:] // n_words
    child_start = np.concatenate([[0], np.cumsum(np.bincount(parents, minlength=len(node_keys)))]).astype(np.int64)
    nodes: NDArray[np.int32] = np.zeros(n_words, dtype=np.int32)
    nodes[last_words[1 : 1 + child_start[1]]] = np.arange(1, 1 + child_start[1])
    begins = np.where(all_words[:, 0] < 0, n_words, all_words[:, 0])
    after, alone = read_rows(all_words, keys, scores, next_states, back_offs, shorter, n_words)
    return Boundaries(
        *tables, nodes, child_start, np.concatenate([begins, begins[1:]]).astype(np.int32), last_words.astype(np.int32), after,
        np.ascontiguousarray(all_words.astype(np.int32)), np.concatenate([alone, alone[1:]]),
    )  # fmt: skip


def read_rows(
    words: NDArray[np.int64], keys: NDArray[np.int64], scores: Scores, next_states: NDArray[np.int32], back_offs: Scores,
    shorter: NDArray[np.int32], n_words: int,
) -> tuple[NDArray[np.int32], Scores]:  # fmt: skip
    """The state after the words of every row, as many as there are, and their scores."""
    state, total = np.zeros(len(words), dtype=np.int64), np.zeros(len(words))
    for column in words.T:
        pending = np.flatnonzero(column >= 0)
        while pending.size:
            key = state[pending] * n_words + column[pending]
            at = np.minimum(keys.searchsorted(key), len(keys) - 1)
            found = keys[at] == key
            total[pending[found]] += scores[at[found]]
            state[pending[found]] = next_states[at[found]]
            pending = pending[~found]
            total[pending] += back_offs[state[pending]]
            state[pending] = shorter[state[pending]]
    return state.astype(np.int32), total
