"""Tables for searches for translations: phrases by span, their words, and the scores of words after states of the language model.

A phrase's words are scored one by one from the state before it. As soon as the state is the one that the empty context would have led
to, the rest of the phrase scores what it always does: `rest` has that, so that phrases of any length cost one or two steps.
Scores of words after a state are rows of a table that is filled when the state is first met: a row is that of the next shorter state
plus the back-off, but for the transitions that are listed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zerogap.grid import Scores
from zerogap.kernels import boolean, float64, inner, int32, int64, kernel, readonly, record, writable
from zerogap.oracles.ngrams.sentence import SentenceNgrams


class Options(NamedTuple):
    """Phrases sorted by span and, within it, by what they can be worth at most."""

    span_first: NDArray[np.int64]  # (n, longest + 1): phrases from `start` of length k are span_first[start, k - 1] to span_first[start, k]
    number: NDArray[np.int64]  # in the problem
    scores: Scores
    most: Scores  # no context makes a phrase worth more, if no back-off is above 0
    word_start: NDArray[np.int64]
    words: NDArray[np.int64]  # numbers in the sentence's part of the language model
    alone: NDArray[np.int64]  # per word: the state after it from the empty context before the phrase
    rest: Scores  # per word: the scores of the phrase's later words from there


OPTIONS = record(
    Options, readonly(int64, 2), readonly(int64, 1), readonly(float64, 1), readonly(float64, 1), readonly(int64, 1), readonly(int64, 1),
    readonly(int64, 1), readonly(float64, 1),
)  # fmt: skip


class Rows(NamedTuple):
    """The part of a language model that a sentence needs: a table of which rows are filled when first asked for, and what fills them."""

    start: int  # the state before the first word
    end_word: int  # the end of the sentence
    scores: Scores  # (states, words): a row has the scores of all words after a state
    following: NDArray[np.int32]  # (states, words): the states after them
    is_filled: NDArray[np.bool_]
    row_start: NDArray[np.int64]  # words that are listed after state q are row_start[q] to row_start[q + 1]
    row_words: NDArray[np.int64]
    row_scores: Scores
    row_next: NDArray[np.int64]
    back_offs: Scores
    shorter: NDArray[np.int64]  # the state that a state backs off to


ROWS = record(
    Rows, int64, int64, writable(float64, 2), writable(int32, 2), writable(boolean, 1), readonly(int64, 1), readonly(int64, 1),
    readonly(float64, 1), readonly(int64, 1), readonly(float64, 1), readonly(int64, 1),
)  # fmt: skip


@kernel(int64(int64, ROWS))
def fill_row(q, rows):  # out: table, following, is_filled
    """Makes sure that the row of state q, and those of its suffixes, are filled."""
    while not rows.is_filled[q]:
        x = q  # the shortest suffix that is not filled
        while x != 0 and not rows.is_filled[rows.shorter[x]]:
            x = rows.shorter[x]
        if x != 0:
            below, price = rows.shorter[x], rows.back_offs[x]
            for w in range(rows.scores.shape[1]):
                rows.scores[x, w] = rows.scores[below, w] + price
            for w in range(rows.scores.shape[1]):
                rows.following[x, w] = rows.following[below, w]
        for i in range(rows.row_start[x], rows.row_start[x + 1]):
            rows.scores[x, rows.row_words[i]] = rows.row_scores[i]
            rows.following[x, rows.row_words[i]] = rows.row_next[i]
        rows.is_filled[x] = True
    return 0


def rows_of(ngrams: SentenceNgrams, end_word: int) -> Rows:
    """A table without any row yet."""
    shape = len(ngrams.back_offs), len(ngrams.words)
    return Rows(
        ngrams.start, end_word, np.empty(shape), np.empty(shape, dtype=np.int32), np.zeros(shape[0], dtype=bool),
        ngrams.row_start, ngrams.row_words, ngrams.row_scores, ngrams.row_next, ngrams.back_offs, ngrams.shorter,
    )  # fmt: skip


@inner
def best_of_words(row_words, row_scores, v):
    """The best score of every word after any state that lists it."""
    best = np.full(v, -np.inf)
    for i in range(row_words.shape[0]):
        best[row_words[i]] = max(best[row_words[i]], row_scores[i])
    return best


@kernel(
    int64(
        int64,
        readonly(float64, 1),
        readonly(int64, 1),
        readonly(int64, 1),
        writable(int64, 1),
        writable(float64, 1),
        writable(float64, 1),
        ROWS,
    )
)
def walk_alone(order, scores, word_start, words, alone, rest, most, rows):  # out: alone, rest, most
    best = best_of_words(rows.row_words, rows.row_scores, rows.scores.shape[1])
    for p in range(scores.shape[0]):
        first, last = word_start[p], word_start[p + 1]
        state = np.int64(0)
        most[p] = scores[p]
        for i in range(first, last):
            fill_row(state, rows)
            rest[i] = rows.scores[state, words[i]]
            most[p] += best[words[i]] if i - first < order - 1 else rest[i]
            state = np.int64(rows.following[state, words[i]])
            alone[i] = state
        below = 0.0
        for i in range(last - 1, first - 1, -1):
            score = rest[i]
            rest[i] = below
            below += score
    return 0


def options_of(
    n: int,
    order: int,
    starts: NDArray[np.int64],
    ends: NDArray[np.int64],
    scores: Scores,
    word_start: NDArray[np.int64],
    words: NDArray[np.int64],
    rows: Rows,
) -> Options:
    """Sorts the phrases, leaves out those that are forbidden, and reads each from the empty context. `words` are numbers of `rows`."""
    lengths = np.diff(word_start)
    alone, rest, most = np.empty(len(words), dtype=np.int64), np.empty(len(words)), np.empty(len(scores))
    walk_alone(order, scores, word_start, words, alone, rest, most, rows)
    number = np.lexsort((-most, ends, starts))
    number = number[most[number] > -np.inf]
    spots = np.repeat(word_start[number] - np.concatenate([[0], np.cumsum(lengths[number])[:-1]]), lengths[number])
    spots += np.arange(len(spots))
    longest = int((ends - starts).max(initial=1))
    span = starts[number] * (longest + 1) + (ends - starts)[number]
    wanted = np.arange(n)[:, None] * (longest + 1) + np.arange(longest + 1)[None, :]
    return Options(
        np.searchsorted(span, wanted, side="right"), number, scores[number], most[number],
        np.concatenate([[0], np.cumsum(lengths[number])]).astype(np.int64), words[spots], alone[spots], rest[spots],
    )  # fmt: skip


def best_options(options: Options, most: int) -> Options:
    """At most so many phrases per span, those that can be worth the most."""
    span_first = options.span_first
    sizes = np.diff(span_first, axis=1)
    rank = np.arange(len(options.number)) - np.repeat(span_first[:, :-1].ravel(), sizes.ravel())
    kept = np.flatnonzero(rank < most)
    lengths = np.diff(options.word_start)[kept]
    begin = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    spots = np.repeat(options.word_start[kept] - begin[:-1], lengths) + np.arange(begin[-1])
    return Options(
        np.searchsorted(kept, span_first), options.number[kept], options.scores[kept], options.most[kept],
        begin, options.words[spots], options.alone[spots], options.rest[spots],
    )  # fmt: skip
