"""Prices on the first and last words of the vertices of a forest, and what they say about everything in it.

The relaxation of zerogap.oracles.boundary_prices for a problem: which tokens vertices have, what the language model says at best of two
neighbours, and rounds in which both are looked at again in what is left of the forest.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zerogap.grid import Scores
from zerogap.oracles.boundary_prices import end_tokens, inner_scores, neighbours, tighten
from zerogap.translation.cube_pruning import Compiled
from zerogap.translation.language_model import BEGIN
from zerogap.translation.syntax_problem import SyntaxProblem

ROUNDS, ITERATIONS, MORE_ITERATIONS = 2, 40, 12


class Tokens(NamedTuple):
    """The first (or last) words of vertices, as far as the model must know them, a price for each, and the most that is around it."""

    start: NDArray[np.int64]  # (vertices + 1,)
    tokens: NDArray[np.int32]
    prices: Scores
    dead: NDArray[np.bool_]
    around: Scores

    @property
    def vertices(self) -> NDArray[np.int64]:
        return np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))

    def table(self, n_tokens: int) -> Scores:
        """Prices by vertex and token, -inf for what a vertex does not have."""
        return self.spread(self.prices, n_tokens)

    def table_around(self, n_tokens: int) -> Scores:
        return self.spread(self.around, n_tokens)

    def spread(self, values: Scores, n_tokens: int) -> Scores:
        dense = np.full((len(self.start) - 1, n_tokens), -np.inf)
        dense[self.vertices, self.tokens] = np.where(self.dead, -np.inf, values)
        return dense

    def copy(self) -> Tokens:
        return Tokens(self.start, self.tokens, self.prices.copy(), self.dead.copy(), self.around.copy())


class Contexts(NamedTuple):
    """What a language model says of two neighbouring words, at best."""

    highest: Scores  # (words + 1, words + 1), by the word before; the last row and column for words that need not be known
    first_token: NDArray[np.int32]  # (words + 1,)
    last_token: NDArray[np.int32]  # (states,)
    last_of_word: NDArray[np.int32]  # (words + 1,)
    waiting: Scores  # by left end: a bound on what waits there, but for its first word


class Relaxed(NamedTuple):
    """Prices, and what they say: a bound on all derivations, on hyperedges, and on what is inside and outside of vertices."""

    bound: float
    bounds: Scores
    firsts: Tokens
    lasts: Tokens
    contexts: Contexts
    alive: NDArray[np.bool_]
    inside: Scores
    outside: Scores
    before: Scores  # (vertices, tokens), (vertices, tokens) and (vertices, vertices): see zerogap.oracles.boundary_prices
    after: Scores
    joint: Scores

    def for_search(self) -> tuple[Any, ...]:
        """The arrays that zerogap.oracles.forest_search takes after the forest."""
        n_tokens = len(self.contexts.highest)
        bounds = self.alive, self.inside, self.outside, self.before, self.after, self.joint, self.contexts.highest
        prices = self.firsts.table(n_tokens), self.lasts.table(n_tokens)
        tables = (*prices, self.firsts.table_around(n_tokens), self.lasts.table_around(n_tokens))
        return (*bounds, *tables, self.contexts.waiting, self.contexts.last_token, self.contexts.last_of_word)


def contexts_of(problem: SyntaxProblem, given: Compiled, possible: NDArray[np.bool_], held: NDArray[np.bool_] | None = None) -> Contexts:
    """Bounds on words by the word before them, from all states that end in it and whose words may be neighbours.

    `possible` says of two tokens whether they may be neighbours, `held` of states that they are those of pieces.
    """
    model, lm = problem.language_model, given.boundaries
    n, n_states = model.n_words, model.n_states
    states = model.keys[n:] // n
    words = model.keys[n:] - states * n
    scores = model.scores[n:]
    last = np.full(n_states, n, dtype=np.int64)  # of the empty state: no word
    last[model.next_states[n:]] = words
    last[model.next_states[:n]] = np.arange(n)
    last[0] = n
    alone = model.next_states[:n].astype(np.int64)  # the state of a word with nothing before it
    last_of_word = np.append(np.where(alone == 0, n, np.arange(n)), n)
    token = last_of_word[last]
    is_alone = np.zeros(n_states, dtype=np.bool_)
    is_alone[alone] = True
    is_alone[0] = False
    longer = ~is_alone
    longer[0] = False
    gain = np.zeros(n + 1)  # the most that a longer context adds when it backs off
    np.maximum.at(gain, token[longer], model.back_offs[longer])
    highest = np.empty((n + 1, n + 1))
    back_off = np.append(np.where(alone == 0, 0.0, model.back_offs[alone]), 0.0)
    highest[:, :n] = back_off[:, None] + model.scores[:n]
    listed = is_alone[states]
    before_last = np.full(n_states, n, dtype=np.int64)
    before_last[model.next_states[n:][listed]] = last[states[listed]]
    reached = possible[before_last, last] | (before_last == n)
    usable = ~listed & (reached if held is None else reached | held)[states]
    highest[token[states[listed]], words[listed]] = scores[listed]
    highest[:, :n] += gain[:, None]
    np.maximum.at(highest, (token[states[usable]], words[usable]), scores[usable])
    highest[:, n] = back_off + gain
    waiting = np.zeros(lm.n_lefts + 1)
    waiting[1 : 1 + n] = gain[:n]  # a word that waits, and then a back-off
    waiting[1 + 2 * n : -1] = highest[last_of_word[lm.pair_first], lm.pair_second]
    first_token = np.append(np.where(lm.waits, np.arange(n), n), n)
    return Contexts(highest, first_token.astype(np.int32), token.astype(np.int32), last_of_word.astype(np.int32), waiting)


def tokens_of(held: NDArray[np.bool_]) -> Tokens:
    vertices, tokens = np.nonzero(held)
    start = np.concatenate([[0], np.cumsum(np.bincount(vertices, minlength=len(held)))]).astype(np.int64)
    return Tokens(start, tokens.astype(np.int32), np.zeros(len(tokens)), np.zeros(len(tokens), dtype=np.bool_), np.zeros(len(tokens)))


class Pricing:
    """Prices of a problem that get better step by step. No target side may be empty."""

    def __init__(self, problem: SyntaxProblem, given: Compiled) -> None:
        edge_start, symbol_start, symbols, scores = given.forest
        n_vertices, n_tokens = len(edge_start) - 1, problem.language_model.n_words + 1
        self.problem, self.given = problem, given
        contexts = contexts_of(problem, given, np.ones((n_tokens, n_tokens), dtype=np.bool_))
        held = [np.zeros((n_vertices, n_tokens), dtype=np.bool_) for _ in range(2)]
        end_tokens(edge_start, symbol_start, symbols, contexts.first_token, contexts.last_of_word, *held)
        self.firsts, self.lasts = map(tokens_of, held)
        # a first word scores about what it scores alone: let what has it know that from the start
        alone = np.append(problem.language_model.scores[: n_tokens - 1], 0.0)[self.firsts.tokens]
        self.firsts.prices[:] = np.where(alone > -np.inf, alone, 0.0)
        self.alive = scores > -np.inf

    def improve(self, *, threshold: float, iterations: int) -> Relaxed:
        """Some iterations in what is left of the forest above a threshold, which must not fall from one call to the next.

        N-grams whose words cannot be neighbours any more bound nothing."""
        problem, given = self.problem, self.given
        _, symbol_start, symbols, scores = given.forest
        possible = possible_neighbours(problem, given, given.forest[:3], self.alive, self.firsts, self.lasts)
        contexts = contexts_of(problem, given, possible)
        fixed = scores.copy()
        inner_scores(symbol_start, symbols, contexts.highest, tuple(given.boundaries), fixed)
        return priced(problem, given, given.forest[:3], fixed, self.alive, contexts, self.firsts, self.lasts, threshold, iterations)


def relax(problem: SyntaxProblem, given: Compiled, *, threshold: float, rounds: int = ROUNDS, iterations: int = ITERATIONS) -> Relaxed:
    """Prices that bring the bound down towards the threshold, in rounds that look at what is left of the forest."""
    pricing = Pricing(problem, given)
    history = []
    for _ in range(rounds):
        found = pricing.improve(threshold=threshold, iterations=iterations)
        history.append(found.bounds)
        if found.bound <= threshold:
            break
    return found._replace(bounds=np.concatenate(history))


def possible_neighbours(
    problem: SyntaxProblem, given: Compiled, arrays: tuple[Any, ...], alive: NDArray[np.bool_], firsts: Tokens, lasts: Tokens
) -> NDArray[np.bool_]:
    """Which tokens may stand next to each other."""
    n_tokens = problem.language_model.n_words + 1
    possible, reverse = np.zeros((n_tokens, n_tokens), dtype=np.bool_), np.zeros((n_tokens, n_tokens), dtype=np.bool_)
    held = firsts.table(n_tokens) > -np.inf, lasts.table(n_tokens) > -np.inf
    neighbours(*arrays, alive, *held, problem.language_model.ids[BEGIN], given.end, possible, reverse)
    return possible | reverse.T


def priced(
    problem: SyntaxProblem, given: Compiled, arrays: tuple[Any, ...], fixed: Scores, alive: NDArray[np.bool_], contexts: Contexts,
    firsts: Tokens, lasts: Tokens, threshold: float, iterations: int,
) -> Relaxed:  # fmt: skip
    """Better prices for a forest of these arrays, in place, and what they say. Hyperedges and tokens that are of no use die."""
    n_vertices, n_tokens = len(arrays[0]) - 1, len(contexts.highest)
    values, inside, outside, bounds = np.empty(len(fixed)), np.empty(n_vertices), np.empty(n_vertices), np.empty(iterations)
    before, after, joint = np.empty((n_vertices, n_tokens)), np.empty((n_vertices, n_tokens)), np.empty((n_vertices, n_vertices))
    reverse = np.ascontiguousarray(contexts.highest.T)
    bound = tighten(
        *arrays, fixed, alive, contexts.highest, reverse, contexts.first_token, contexts.last_of_word, problem.language_model.ids[BEGIN],
        given.end, threshold, problem.resolution, iterations, *firsts[:4], *lasts[:4], values, inside, outside, before, after, joint,
        firsts.around, lasts.around, bounds,
    )  # fmt: skip
    bounds = bounds[~np.isnan(bounds)]
    return Relaxed(bound, bounds, firsts, lasts, contexts, alive, inside, outside, before, after, joint)


def tightened(
    problem: SyntaxProblem, given: Compiled, relaxed: Relaxed, *, threshold: float, order: NDArray[np.int64], store: tuple[Any, ...]
) -> Relaxed:
    """The relaxation with the pieces of the vertices in `order` in the place of their hyperedges, and better prices for it."""
    edge_start, symbol_start, symbols, scores = given.forest
    first, last, lefts, states, piece_scores = store
    contexts, n = relaxed.contexts, problem.language_model.n_words
    n_vertices = len(edge_start) - 1
    found = np.concatenate([np.arange(first[v], last[v]) for v in order.tolist()]).astype(np.int64) if len(order) else np.zeros(0, np.int64)
    owners = np.repeat(order, (last - first)[order])
    left = lefts[found].astype(np.int64)
    begins = np.full(len(left), n)
    one, two = (left > 0) & (left <= 2 * n), left > 2 * n
    begins[one] = (left[one] - 1) % n
    begins[two] = given.boundaries.pair_first[left[two] - 1 - 2 * n]
    ends = contexts.last_token[states[found]].astype(np.int64)
    tables = relaxed.firsts.table(n + 1), relaxed.lasts.table(n + 1)
    own = piece_scores[found] + contexts.waiting[left]
    around = np.minimum(relaxed.firsts.table_around(n + 1)[owners, begins], relaxed.lasts.table_around(n + 1)[owners, ends])
    useful = own + tables[0][owners, begins] + tables[1][owners, ends] + around > threshold
    found, owners, begins, ends, own, left = found[useful], owners[useful], begins[useful], ends[useful], own[useful], left[useful]
    firsts, lasts = relaxed.firsts.copy(), relaxed.lasts.copy()
    solved = np.zeros(n_vertices, dtype=np.bool_)
    solved[order] = True
    for tokens, held in ((firsts, begins), (lasts, ends)):
        has = np.zeros((n_vertices, n + 1), dtype=np.bool_)
        has[owners, held] = True
        tokens.dead[:] |= solved[tokens.vertices] & ~has[tokens.vertices, tokens.tokens]
    held_states = np.zeros(problem.language_model.n_states, dtype=np.bool_)
    held_states[states[found]] = True
    # a piece is a hyperedge of two words, its first and its last token; vertices that are not done keep those hyperedges that are alive
    heads = problem.forest.heads
    kept = np.flatnonzero(relaxed.alive & ~solved[heads])
    sizes = np.concatenate([np.full(len(found), 2), np.diff(symbol_start)[kept]])
    all_heads = np.concatenate([owners, heads[kept]])
    by_head = np.argsort(all_heads, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.diff(symbol_start)[kept])])
    gather = np.repeat(symbol_start[:-1][kept] - starts[:-1], np.diff(symbol_start)[kept]) + np.arange(starts[-1])
    flat = np.concatenate([np.stack([begins, ends], axis=1).reshape(-1), symbols[gather]])
    flat_start = np.concatenate([[0], np.cumsum(sizes)])
    new_sizes = sizes[by_head]
    new_start = np.concatenate([[0], np.cumsum(new_sizes)])
    new_symbols = flat[np.repeat(flat_start[:-1][by_head] - new_start[:-1], new_sizes) + np.arange(new_start[-1])].astype(np.int32)
    new_edges = np.concatenate([[0], np.cumsum(np.bincount(all_heads, minlength=n_vertices))]).astype(np.int64)
    arrays = new_edges, new_start.astype(np.int32), new_symbols
    alive = np.ones(len(by_head), dtype=np.bool_)
    possible = possible_neighbours(problem, given, arrays, alive & (by_head >= len(found)), firsts, lasts)
    contexts = contexts_of(problem, given, possible, held_states)
    fixed = scores.copy()
    inner_scores(symbol_start, symbols, contexts.highest, tuple(given.boundaries), fixed)
    values = np.concatenate([piece_scores[found] + contexts.waiting[left], fixed[kept]])[by_head]
    better = priced(problem, given, arrays, values, alive, contexts, firsts, lasts, threshold, MORE_ITERATIONS)
    left_over = np.zeros(len(scores), dtype=np.bool_)
    was_edge = by_head >= len(found)
    left_over[kept[by_head[was_edge] - len(found)]] = alive[was_edge]
    return better._replace(alive=left_over)
