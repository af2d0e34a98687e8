"""Prices of a split forest that begin with those of the forest before (see zerogap.papers.rush2014.partitions.word_classes).

What a vertex was is known of every vertex, and what a word was of every word; so each token takes over the price of the token that it was,
and is dead if that is. Words that are in fewer n-grams than before may have become tokens that the model need not know: these take
over the price of that word which had the best derivation.
"""

from __future__ import annotations

import numpy as np

from zerogap.grid import Scores
from zerogap.papers.rush2014.partitions.word_classes import Split
from zerogap.problems.translation.forest_problem import SyntaxProblem
from zerogap.translation.forests.cube_pruning import Compiled
from zerogap.translation.forests.end_prices import Pricing, Tokens


def split_prices(before: Pricing, problem: SyntaxProblem, found: Split, given: Compiled) -> Pricing:
    """`problem` is what was split; the prices of `before` are those of the problem, changed no more."""
    after = Pricing(found.problem, given, all_possible=True)
    model, lm = problem.language_model, given.boundaries
    unknown_first, unknown_last = lm.nodes == 0, lm.word_states == 0
    alone = np.where(model.scores[: model.n_words] > -np.inf, model.scores[: model.n_words], 0.0)
    take_over(after.firsts, before.firsts, found, unknown_first, alone)
    take_over(after.lasts, before.lasts, found, unknown_last, np.zeros(model.n_words))
    return after


def take_over(new: Tokens, old: Tokens, found: Split, unknown: np.ndarray, alone: Scores) -> None:
    """Sets the prices of tokens. `unknown` says which words are the token n, `alone` what they score where they are read."""
    n_old, n_new = len(alone), len(found.words)
    was = np.append(found.words, n_old)
    number = old.numbers(n_old + 1)
    vertices = found.vertices[new.vertices]
    at = number[vertices, was[new.tokens]]
    known = at >= 0
    new.prices[known] = old.prices[at[known]]
    new.dead[:] = ~known
    is_unknown = np.flatnonzero(new.tokens == n_new)
    if is_unknown.size:
        words = np.unique(found.words[unknown & (found.words >= 0)])
        held = np.append(words, n_old)
        worth = old.table(n_old + 1)[:, held] - np.append(alone[words], 0.0)
        best = old.table_around(n_old + 1)[:, held].argmax(axis=1)
        price = worth[np.arange(len(worth)), best][vertices[is_unknown]]
        new.prices[is_unknown] = np.where(price > -np.inf, price, 0.0)
        new.dead[is_unknown] = False
