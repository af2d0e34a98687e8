"""Chooses the words of a forest to keep apart (Rush 2014, section 5.4: pairs that violate constraints, and a colouring of them).

In the relaxation of zerogap.translation.forests.end_prices words are confused with each other,

- which are both among the best choices of whoever reads a vertex for its last word,
- which both come before a vertex, if it is not clear how the vertex begins: its readers want different first words,
- which both come before a word, if the model knows the two as different contexts of it,

the more so the closer their best derivations come to the bound; most of all a context in which the best derivation of the relaxation
takes a word to stand, with the one in which it does. (Long sentences owe most of their gap to that.) The words most confused are coloured
with two colours, each with the one that separates it from more of those before it. All this only proposes: any classes make a valid
split.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zerogap.grid import Scores
from zerogap.papers.rush2014.partitions.entry_pairs import add_entry_pairs
from zerogap.problems.translation.forest_problem import SyntaxProblem
from zerogap.problems.translation.language_model import BEGIN
from zerogap.translation.forests.cube_pruning import Compiled
from zerogap.translation.forests.end_prices import Relaxed, Tokens, ranges

FAINT = 0.02  # confusion that does not count
CONTEXTS = 0.5  # what confusion about contexts counts
LOSSES = 100.0  # what the share of the gap counts that the best derivation owes to a context that it does not have
LOWEST = -1e6  # in the place of -inf in sums that only propose

Entries = tuple[NDArray[np.int64], NDArray[np.int64], Scores]  # where rows begin, columns, weights


class Confusion(NamedTuple):
    """How much words are confused with each other, (words, words), and with any other word at all, (words,)."""

    together: Scores
    alone: Scores


def confusion(problem: SyntaxProblem, given: Compiled, relaxed: Relaxed, threshold: float, sharpness: float) -> Confusion:
    """Closeness to the bound to the power of `sharpness`."""
    contexts, lasts, n = relaxed.contexts, relaxed.lasts, len(relaxed.contexts.highest) - 1
    of_first, of_last = (closeness(relaxed, tokens, threshold) ** sharpness for tokens in (relaxed.firsts, lasts))
    n_vertices = problem.forest.n_vertices
    together = np.zeros((n, n))
    held = entries(lasts.vertices, lasts.tokens, of_last, n_vertices)
    add_entry_pairs(*held, np.ones(n_vertices), together)
    # words before a vertex of which it is not clear how it begins
    values = edge_values(problem, given, relaxed)
    before = words_before(problem, given, relaxed, values, threshold, sharpness, held)
    add_entry_pairs(*before, second_largest(relaxed.firsts.start, of_first), together)
    # words before a word: the model knows them as contexts, each a different one, or not at all
    strongest = np.zeros(n + 1)
    np.maximum.at(strongest, relaxed.firsts.tokens, of_first)
    np.maximum.at(strongest, lasts.tokens, of_last)
    owners = np.repeat(np.arange(n + 1), np.diff(contexts.pair_start))
    weights = CONTEXTS * strongest[owners]
    kept = np.flatnonzero(weights > FAINT)
    known = entries(owners[kept], contexts.pair_first[kept], np.sqrt(weights[kept]), n + 1)
    add_entry_pairs(*known, np.ones(n + 1), together)
    np.fill_diagonal(together, 0.0)
    alone: Scores = np.zeros(n)
    np.add.at(alone, contexts.pair_first[kept], weights[kept])
    add_context_losses(problem, relaxed, best_words(problem, given, relaxed, values), threshold, together, alone)
    return Confusion(together, alone)


def best_words(problem: SyntaxProblem, given: Compiled, relaxed: Relaxed, values: Scores) -> list[int]:
    """The words of the best derivation of the relaxation."""
    edge_start, symbol_start, symbols, _ = given.forest
    words: list[int] = []
    waiting = [-1 - problem.forest.root]
    while waiting:
        symbol = waiting.pop()
        if symbol >= 0:
            words.append(symbol)
            continue
        first = int(edge_start[-1 - symbol])
        edge = first + int(np.argmax(values[first : int(edge_start[-symbol])]))
        waiting.extend(symbols[symbol_start[edge] : symbol_start[edge + 1]][::-1].tolist())
    return words


def add_context_losses(
    problem: SyntaxProblem, relaxed: Relaxed, words: list[int], threshold: float, together: Scores, alone: Scores
) -> None:
    """Where a word of the best derivation scores less than it could after the word before: which contexts it is taken to have."""
    model, contexts = problem.language_model, relaxed.contexts
    scale = LOSSES / (relaxed.bound - threshold)
    state = model.start
    for before, word, following in zip([model.ids[BEGIN], *words], words, [*words[1:], model.end_id], strict=False):
        _, state = model.step(state, word)
        score, _ = model.step(state, following)
        loss = float(contexts.highest[contexts.last_of_word[word], following]) - score
        if not 0.0 < loss < np.inf:
            continue
        pairs = slice(int(contexts.pair_start[word]), int(contexts.pair_start[word + 1]))
        others = contexts.pair_first[pairs]
        gains = model.steps(contexts.pair_states[pairs], np.full(len(others), following))[0] - score
        weights = scale * np.where(others == before, 0.0, np.maximum(gains, 0.0))
        np.add.at(together[before], others, weights)
        np.add.at(together[:, before], others, weights)
        alone[before] += scale * max(float(contexts.plain[word, following]) - score, 0.0)


def edge_values(problem: SyntaxProblem, given: Compiled, relaxed: Relaxed) -> Scores:
    """The best that every hyperedge has below it, with prices; -inf for those that are not alive."""
    n_edges = problem.forest.n_edges
    _, symbol_start, symbols, scores = given.forest
    owners = np.repeat(np.arange(n_edges), np.diff(symbol_start))
    places = np.flatnonzero(symbols < 0)
    term_owners = np.repeat(np.arange(n_edges), np.bincount(owners[places], minlength=n_edges) + 1)
    values = scores + np.bincount(term_owners, np.maximum(relaxed.terms, LOWEST), minlength=n_edges)
    values += np.bincount(owners[places], np.maximum(relaxed.inside[-1 - symbols[places]], LOWEST), minlength=n_edges)
    return np.where(relaxed.alive, values, -np.inf)


def words_before(
    problem: SyntaxProblem, given: Compiled, relaxed: Relaxed, values: Scores, threshold: float, sharpness: float, held: Entries
) -> Entries:
    """By vertex and word: how close to the bound derivations come that have the word before the vertex, in one target side."""
    forest = problem.forest
    _, symbol_start, symbols, _ = given.forest
    owners = np.repeat(np.arange(forest.n_edges), np.diff(symbol_start))
    places = np.flatnonzero(symbols < 0)
    total = values + np.maximum(relaxed.outside[forest.heads], LOWEST)
    close = np.clip((total - threshold) / (relaxed.bound - threshold), 0.0, 1.0) ** sharpness
    inner = places[(places > symbol_start[owners[places]]) & (close[owners[places]] > FAINT)]
    after, symbol, weight = -1 - symbols[inner], symbols[inner - 1], close[owners[inner]]
    is_word = symbol >= 0
    # a vertex before has all its last words there
    start, tokens, weights = held
    other = -1 - symbol[~is_word]
    sizes = (start[1:] - start[:-1])[other]
    at = ranges(start[:-1][other], sizes)
    rows = np.concatenate([after[is_word], np.repeat(after[~is_word], sizes)])
    columns = np.concatenate([symbol[is_word], tokens[at]])
    return entries(rows, columns, np.concatenate([weight[is_word], np.repeat(weight[~is_word], sizes) * weights[at]]), forest.n_vertices)


def entries(rows: NDArray[Any], columns: NDArray[Any], weights: Scores, n_rows: int) -> Entries:
    """A sparse table: those of the same place are added up, to 1 at most; faint ones are left out."""
    width = int(columns.max(initial=0)) + 1
    places, number = np.unique(rows.astype(np.int64) * width + columns, return_inverse=True)
    sums = np.zeros(len(places))
    np.add.at(sums, number, weights)
    places, sums = places[sums > FAINT], np.minimum(sums[sums > FAINT], 1.0)
    start = np.searchsorted(places, np.arange(n_rows + 1) * width).astype(np.int64)
    return start, places % width, sums


def second_largest(start: NDArray[np.int64], values: Scores) -> Scores:
    """The second largest value of every range, 0 if there is none."""
    found = np.zeros(len(start) - 1)
    owners = np.repeat(np.arange(len(found)), np.diff(start))
    order = np.lexsort((values, owners))
    many = np.flatnonzero(np.diff(start) > 1)
    found[many] = values[order][start[1:][many] - 2]
    return found


def closeness(relaxed: Relaxed, tokens: Tokens, threshold: float) -> Scores:
    """Of the best derivation whose reader takes a vertex to have a token: 1 at the bound, 0 at the threshold; 0 for unknown words."""
    best = tokens.around + relaxed.inside[tokens.vertices]
    close = np.clip((best - threshold) / (relaxed.bound - threshold), 0.0, 1.0)
    return np.where(tokens.dead | (tokens.tokens == len(relaxed.contexts.highest) - 1), 0.0, close)


def two_classes(confused: Confusion, most: int) -> NDArray[np.int64]:
    """A class, 0 or 1, for every word; at most so many words are looked at, all others are in class 0."""
    total = confused.together.sum(axis=1) + confused.alone
    classes, pull = np.zeros(len(total), dtype=np.int64), np.stack([confused.alone, np.zeros(len(total))])
    for word in np.argsort(-total, kind="stable")[:most].tolist():
        if total[word] > 0.0:
            classes[word] = int(pull[1, word] < pull[0, word])
            pull[classes[word]] += confused.together[word]
    return classes
