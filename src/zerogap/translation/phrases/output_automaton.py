"""The language model of a sentence together with the automaton that reads its output: one model again, of pairs of states.

    score((q, a), word) = score(q, word), or -inf if the word completes a forbidden phrase, or is the end and a required phrase is missing

Backing off leaves the automaton's state as it is. Behind the last back-off of a pair, (empty, a), all words are listed; only the pair of
two first states is the empty state of the new model. So everything that searches with a language model obeys these constraints as well.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from zerogap.oracles.ngrams.sentence import SentenceNgrams
from zerogap.problems.translation.phrase_constraints import TargetAutomaton

Integers = NDArray[np.int64]


def with_automaton(ngrams: SentenceNgrams, automaton: TargetAutomaton, words: Integers, symbols: Integers, end_word: int) -> SentenceNgrams:
    """`words` and `symbols` say what the model and the automaton read for every word of the new model, sorted by the former; `end_word`
    is the new model's end of the sentence."""
    n_states, n_pairs = len(ngrams.back_offs), len(automaton.following)
    # every listed word once for each symbol that it has
    many = np.bincount(words, minlength=len(ngrams.words))
    repeats = many[ngrams.row_words]
    entry = np.repeat(np.arange(len(repeats)), repeats)
    first = np.concatenate([[0], np.cumsum(many)[:-1]])[ngrams.row_words]
    word = np.repeat(first - np.concatenate([[0], np.cumsum(repeats)[:-1]]), repeats) + np.arange(len(entry))
    row_start = np.concatenate([[0], np.cumsum(repeats)])[ngrams.row_start]
    score, after = ngrams.row_scores[entry], ngrams.row_next[entry]
    scores, nexts = [], []
    for a in range(n_pairs):
        bad = automaton.forbids[a, symbols[word]]
        if not automaton.accepts[a]:
            bad = bad | (word == end_word)
        scores.append(np.where(bad, -np.inf, score))
        nexts.append(automaton.following[a, symbols[word]] * n_states + after)
    shift = np.repeat(np.arange(n_pairs) * n_states, n_states)
    shorter, back_offs = np.tile(ngrams.shorter, n_pairs) + shift, np.tile(ngrams.back_offs, n_pairs)
    empty = np.arange(1, n_pairs) * n_states
    shorter[empty], back_offs[empty] = 0, -np.inf
    starts = [row_start[:-1] + a * len(word) for a in range(n_pairs)]
    return SentenceNgrams(
        np.arange(len(words)), np.concatenate([*starts, [n_pairs * len(word)]]), np.tile(word, n_pairs),
        np.concatenate(scores), np.concatenate(nexts), back_offs, shorter, ngrams.start,
    )  # fmt: skip
