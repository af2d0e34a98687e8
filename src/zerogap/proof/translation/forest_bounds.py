"""Bounds by prices on the first and last words of vertices of a translation forest, in plain Python and NumPy: for the checker.

    highest[r, l]    the most that word l scores after any words that end in r
    first, last      prices: what is inside of a vertex gets them, what is around it pays them, for the words that it takes it to have

A target side is cut at its vertices. What is between two of them, or between one and the end, is worth the most over the words that the
vertices may end and begin with, less their prices; with trigrams, words that reach over a gap are scored by the very word that is there.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from zerogap.grid import Scores
from zerogap.problems.translation.forest_problem import SyntaxProblem
from zerogap.problems.translation.language_model import BEGIN, EMPTY_STATE
from zerogap.proof.translation.forest_reading import Reading

TRIGRAMS = 3
NOWHERE = -1  # no vertex: the end of a target side
Held = tuple[NDArray[np.int64], Scores]  # tokens of a vertex, and their prices
Term = tuple[int, int, int, tuple[int, ...]]  # of a target side: its head if it has an end, the vertices around, the words between them


@dataclass(slots=True)
class Around:
    """What can come around pieces at best: the most inside and outside of vertices, and prices by vertex and token."""

    problem: SyntaxProblem
    reading: Reading
    cut: list[list[Term]]  # the terms of every hyperedge
    as_first: NDArray[np.int64]
    as_last: NDArray[np.int64]
    first: Scores  # prices, (vertices, tokens); -inf for tokens that a vertex does not have
    last: Scores
    alive: NDArray[np.bool_]
    values: Scores  # of hyperedges, as the next two of vertices
    inside: Scores
    outside: Scores
    highest: Scores  # (tokens, tokens)
    before: Scores  # (vertices, tokens): the most that a word scores after a vertex, less the vertex' last price
    after: Scores  # (vertices, tokens): the most that a vertex' first word scores after a token, less its price
    around_first: Scores  # (vertices, tokens): see zerogap.proof.translation.forest_tokens
    around_last: Scores
    firsts: list[Held] = field(default_factory=list)  # by vertex, the same as `first` and `last`
    lasts: list[Held] = field(default_factory=list)
    terms: dict[Term, float] = field(default_factory=dict)
    pair_states: dict[int, NDArray[np.int64]] = field(default_factory=dict)  # of words: the state after it, by the token before
    seconds: dict[tuple[int, int], Scores] = field(default_factory=dict)  # of two words: what the second scores, by the token before
    bridges: dict[tuple[int, int], Scores] = field(default_factory=dict)  # of a vertex and a word: the most that tokens score after them

    def most(self, gains: Scores, held: Held) -> float:
        """The largest gain less the price."""
        tokens, prices = held
        return float((gains[tokens] - prices).max(initial=-np.inf))

    def states_after(self, word: int) -> NDArray[np.int64]:
        """The states after a word, by the token before it."""
        if word not in self.pair_states:
            model = self.problem.language_model
            n = model.n_words
            self.pair_states[word] = model.steps(np.append(model.next_states[:n], EMPTY_STATE), np.full(n + 1, word))[1]
        return self.pair_states[word]

    def run_row(self, first: int, second: int) -> Scores:
        """What two words score, by the token before them."""
        if (first, second) not in self.seconds:
            self.seconds[first, second] = self.reading.read(self.states_after(first), np.array(second))[0]
        return self.highest[:, first] + self.seconds[first, second]

    def bridge_row(self, u: int, word: int) -> Scores:
        """The most of a word after vertex u and of a token after both, by that token."""
        if (u, word) not in self.bridges:
            held, prices = self.lasts[u]
            gains, states = self.highest[held, word] - prices, self.states_after(word)[held]
            best = np.full(self.first.shape[1], -np.inf)
            for state in np.unique(states).tolist():
                best = np.maximum(best, gains[states == state].max() + self.reading.row(state))
            self.bridges[u, word] = best
        return self.bridges[u, word]

    def is_bridge(self, u: int, t: int, run: tuple[int, ...]) -> bool:
        """One word between two vertices, of which trigrams see both ends."""
        return self.problem.language_model.order == TRIGRAMS and len(run) == 1 and NOWHERE not in (u, t)

    def terms_of(self, e: int) -> list[float]:
        """What is before, between and after the vertices of a target side, at most."""
        for term in self.cut[e]:
            if term not in self.terms:
                self.terms[term] = self.most_of(*term)
        return [self.terms[term] for term in self.cut[e]]

    def most_of(self, v: int, u: int, t: int, run: tuple[int, ...]) -> float:
        """The words between vertices u and t of a target side of v, with the prices of all of them."""
        model, n = self.problem.language_model, self.problem.language_model.n_words
        context = model.order - 1
        if not run:
            if u == NOWHERE:
                return self.most(self.first[v], self.firsts[t])
            return self.most(self.last[v], self.lasts[u]) if t == NOWHERE else self.most(self.before[u], self.firsts[t])
        score, known = 0.0, 1
        if u == NOWHERE:
            token = int(self.as_first[run[0]])
            score += float(self.first[v, token]) + (float(model.scores[run[0]]) if token == n else 0.0)
        elif self.is_bridge(u, t, run):
            return self.most(self.bridge_row(u, run[0]), self.firsts[t])
        elif model.order == TRIGRAMS and len(run) > 1:
            score += self.most(self.run_row(run[0], run[1]), self.lasts[u])
            known = 2
        else:
            score += float(self.before[u, run[0]])
        for i in range(known, len(run)):
            if i >= context:
                score += model.step(model.state_after(run[i - context : i]), run[i])[0]
            else:
                score += float(self.highest[run[i - 1], run[i]])
        if t == NOWHERE:
            return score + float(self.last[v, self.as_last[run[-1]]])
        if len(run) >= context:
            return score + self.most(self.reading.row(model.state_after(run[len(run) - context :])), self.firsts[t])
        return score + float(self.after[t, run[-1]])


def token_lists(problem: SyntaxProblem) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.int64], NDArray[np.int64]]:
    """Which first and last tokens the vertices have, (vertices, words + 1), and the tokens of words as first and as last ones.

    The token of a word is its number, or the number of words if the language model need not know it: as a first word if no context makes a
    difference for it, as a last one if it is no context. Prices are those of the first tokens in the order of vertices and tokens, then
    those of the last tokens.
    """
    forest, model = problem.forest, problem.language_model
    n = model.n_words
    as_first, as_last = np.full(n, n), np.full(n, n)
    listed = model.keys[n:] % n
    as_first[listed] = listed
    is_context = np.flatnonzero(model.next_states[:n] != EMPTY_STATE)
    as_last[is_context] = is_context
    firsts, lasts = np.zeros((forest.n_vertices, n + 1), dtype=np.bool_), np.zeros((forest.n_vertices, n + 1), dtype=np.bool_)
    for v in range(forest.n_vertices):
        for e in range(int(forest.edge_start[v]), int(forest.edge_start[v + 1])):
            target = forest.target(e)
            for symbol, held, token in ((int(target[0]), firsts, as_first), (int(target[-1]), lasts, as_last)):
                if symbol < 0:
                    held[v] |= held[-1 - symbol]
                else:
                    held[v, token[problem.word_ids[symbol]]] = True
    return firsts, lasts, as_first, as_last


def local_target(problem: SyntaxProblem, edge: int) -> list[int]:
    """A target side with words as the language model numbers them."""
    return [int(problem.word_ids[s]) if s >= 0 else s for s in problem.forest.target(edge).tolist()]


def cut_target(v: int, target: list[int]) -> list[Term]:
    """A target side of v as terms, from one vertex to the next."""
    found, begin, u = [], 0, NOWHERE
    for p in range(len(target) + 1):
        if p < len(target) and target[p] >= 0:
            continue
        t = -1 - target[p] if p < len(target) else NOWHERE
        found.append((v if u == NOWHERE or t == NOWHERE else NOWHERE, u, t, tuple(target[begin:p])))
        u, begin = t, p + 1
    return found


def possible_neighbours(around: Around, targets: list[list[int]]) -> NDArray[np.bool_]:
    """Whether two words can stand next to each other in what is left of the forest."""
    forest, model = around.problem.forest, around.problem.language_model
    possible = np.zeros((model.n_words + 1, model.n_words + 1), dtype=np.bool_)
    gaps = {(model.ids[BEGIN], -1 - forest.root), (-1 - forest.root, model.end_id)}
    for e in np.flatnonzero(around.alive).tolist():
        gaps.update(pairwise(targets[e]))
    for a, b in gaps:
        before = np.array([a]) if a >= 0 else np.flatnonzero(around.last[-1 - a] > -np.inf)
        after = np.array([b]) if b >= 0 else np.flatnonzero(around.first[-1 - b] > -np.inf)
        possible[np.ix_(before, after)] = True
    return possible


def highest_scores(around: Around, possible: NDArray[np.bool_]) -> Scores:
    """(words + 1, words + 1): the most that a word scores after a last token, or, in the last column, that backing off from it adds."""
    model, as_last = around.problem.language_model, around.as_last
    n = model.n_words
    highest = np.full((n + 1, n + 1), -np.inf)
    highest[n] = around.reading.row(EMPTY_STATE)
    reached = {(int(model.next_states[w]), w) for w in range(n)}  # states with the word that was read last
    waiting = sorted(reached)
    while waiting:
        state, u = waiting.pop()
        np.maximum(highest[as_last[u]], around.reading.row(state), out=highest[as_last[u]])
        low, high = np.searchsorted(model.keys, [state * n, (state + 1) * n]) if state != EMPTY_STATE else (0, 0)
        for w, after in zip((model.keys[low:high] - state * n).tolist(), model.next_states[low:high].tolist(), strict=True):
            if (possible[u, w] or possible[as_last[u], w]) and (after, w) not in reached:
                reached.add((after, w))
                waiting.append((after, w))
    for w in range(n):  # words that are no context go by the last row
        if as_last[w] == n:
            highest[w] = highest[n]
    return highest


def held_by_vertex(table: Scores) -> list[Held]:
    return [(tokens, row[tokens]) for row in table for tokens in [np.flatnonzero(row > -np.inf)]]


def inside_outside(around: Around, targets: list[list[int]]) -> float:
    """Fills in values of hyperedges and what is inside and outside of vertices; returns the bound."""
    problem = around.problem
    forest, model = problem.forest, problem.language_model
    highest, inside, outside, values = around.highest, around.inside, around.outside, around.values
    around.terms.clear()
    around.bridges.clear()
    around.firsts, around.lasts = held_by_vertex(around.first), held_by_vertex(around.last)
    for v in range(forest.n_vertices):
        tokens, prices = around.lasts[v]
        around.before[v] = (highest[tokens] - prices[:, None]).max(axis=0, initial=-np.inf)
        tokens, prices = around.firsts[v]
        around.after[v] = (highest[:, tokens] - prices).max(axis=1, initial=-np.inf)
    values[:] = -np.inf
    for v in range(forest.n_vertices):
        for e in range(int(forest.edge_start[v]), int(forest.edge_start[v + 1])):
            if around.alive[e]:
                values[e] = problem.scores[e] + sum(around.terms_of(e)) + sum(inside[-1 - s] for s in targets[e] if s < 0)
        inside[v] = values[forest.edge_start[v] : forest.edge_start[v + 1]].max()
    outside[:] = -np.inf
    outside[forest.root] = around.after[forest.root, model.ids[BEGIN]] + around.before[forest.root, model.end_id]
    for v in range(forest.root, -1, -1):
        for e in range(int(forest.edge_start[v]), int(forest.edge_start[v + 1])):
            if values[e] + outside[v] > -np.inf:
                for u in forest.tail(e):
                    outside[u] = max(outside[u], outside[v] + values[e] - inside[u])
    return float(inside[forest.root] + outside[forest.root])
