"""Prices on the first and last words of the vertices of a forest, and what they say about everything in it.

The relaxation of zerogap.oracles.forests.end_prices for a problem: which tokens vertices have, what the language model says at best of two
neighbours, and rounds in which both are looked at again in what is left of the forest.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zerogap.grid import Scores
from zerogap.oracles.forests.end_prices import tighten
from zerogap.oracles.forests.end_words import end_tokens, neighbours
from zerogap.oracles.forests.gap_terms import Terms, cut
from zerogap.oracles.forests.search import Around
from zerogap.oracles.ngrams.context_bounds import Contexts, contexts_of, reader_of
from zerogap.problems.translation.forest_problem import SyntaxProblem
from zerogap.problems.translation.language_model import BEGIN
from zerogap.translation.forests.cube_pruning import Compiled

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

    def numbers(self, n_tokens: int) -> NDArray[np.int32]:
        """The numbers of tokens by vertex and token, -1 for what a vertex does not have."""
        found = np.full((len(self.start) - 1, n_tokens), -1, dtype=np.int32)
        left = np.flatnonzero(~self.dead)
        found[self.vertices[left], self.tokens[left]] = left
        return found

    def copy(self) -> Tokens:
        return Tokens(self.start, self.tokens, self.prices.copy(), self.dead.copy(), self.around.copy())


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
    terms: Scores  # by hyperedge and place: see zerogap.oracles.forests.gap_terms
    after: Scores  # (vertices, tokens): see zerogap.oracles.forests.end_prices

    def for_search(self) -> Around:
        contexts, n_tokens, firsts, lasts = self.contexts, len(self.contexts.highest), self.firsts, self.lasts
        return Around(
            self.alive, self.inside, self.outside, self.terms, self.after, contexts.highest, firsts.table(n_tokens), lasts.table(n_tokens),
            firsts.table_around(n_tokens), lasts.table_around(n_tokens), contexts.waiting, contexts.last_token,
        )  # fmt: skip


def tokens_of(held: NDArray[np.bool_]) -> Tokens:
    vertices, tokens = np.nonzero(held)
    start = np.concatenate([[0], np.cumsum(np.bincount(vertices, minlength=len(held)))]).astype(np.int64)
    return Tokens(start, tokens.astype(np.int32), np.zeros(len(tokens)), np.zeros(len(tokens), dtype=np.bool_), np.zeros(len(tokens)))


class Pricing:
    """Prices of a problem that get better step by step. No target side may be empty.

    `all_possible` is that of zerogap.oracles.ngrams.context_bounds, for what is not searched but split."""

    def __init__(self, problem: SyntaxProblem, given: Compiled, *, all_possible: bool = False) -> None:
        edge_start, symbol_start, symbols, scores = given.forest
        n_vertices, n = len(edge_start) - 1, problem.language_model.n_words
        self.problem, self.given, self.all_possible = problem, given, all_possible
        lm, model = given.boundaries, problem.language_model
        self.reader = reader_of(lm, *arrays_of(problem))
        first_token = np.append(np.where(lm.nodes > 0, np.arange(n), n), n).astype(np.int32)
        last_token = np.append(np.where(lm.word_states == 0, n, np.arange(n)), n).astype(np.int32)
        held = [np.zeros((n_vertices, n + 1), dtype=np.bool_) for _ in range(2)]
        end_tokens(edge_start, symbol_start, symbols, first_token, last_token, *held)
        self.firsts, self.lasts = map(tokens_of, held)
        # a first word scores about what it scores alone: let what has it know that from the start
        alone = np.append(model.scores[:n], 0.0)[self.firsts.tokens]
        self.firsts.prices[:] = np.where(alone > -np.inf, alone, 0.0)
        self.alive = scores > -np.inf

    def improve(self, *, threshold: float, iterations: int) -> Relaxed:
        """Some iterations in what is left of the forest above a threshold, which must not fall from one call to the next.

        N-grams whose words cannot be neighbours any more bound nothing."""
        arrays, scores = self.given.forest[:3], self.given.forest[3]
        possible = possible_neighbours(self.problem, self.given, arrays, self.alive, self.firsts, self.lasts)
        contexts = contexts_of(self.reader, possible, all_possible=self.all_possible)
        terms = terms_of(self.problem, self.given, arrays, self.alive, contexts, self.firsts, self.lasts)
        return priced(self.problem, self.given, terms, scores, self.alive, contexts, self.firsts, self.lasts, threshold, iterations)


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
    neighbours(*arrays, alive, *held, problem.language_model.ids[BEGIN], given.ends[1], possible, reverse)
    return possible | reverse.T


class Cut(NamedTuple):
    """A forest as its terms: see zerogap.oracles.forests.gap_terms."""

    edge_start: NDArray[np.int64]
    tail_start: NDArray[np.int64]
    tails: NDArray[np.int32]
    terms: Terms


def terms_of(
    problem: SyntaxProblem, given: Compiled, arrays: tuple[Any, ...], alive: NDArray[np.bool_], contexts: Contexts, firsts: Tokens,
    lasts: Tokens,
) -> Cut:  # fmt: skip
    edge_start, symbol_start, symbols = arrays
    n_tokens = problem.language_model.n_words + 1
    places = np.flatnonzero(symbols < 0)
    tail_start = np.searchsorted(places, symbol_start).astype(np.int64)
    terms = cut(
        arrays, alive, firsts.numbers(n_tokens), lasts.numbers(n_tokens), len(firsts.tokens), problem.language_model.ids[BEGIN],
        given.ends[1], given.boundaries, contexts,
    )  # fmt: skip
    return Cut(edge_start, tail_start, -1 - symbols[places], terms)


def priced(
    problem: SyntaxProblem, given: Compiled, forest: Cut, scores: Scores, alive: NDArray[np.bool_], contexts: Contexts, firsts: Tokens,
    lasts: Tokens, threshold: float, iterations: int,
) -> Relaxed:  # fmt: skip
    """Prices of the tokens, changed in place as is what is alive, and what they say in the end."""
    n_vertices, n_edges = len(forest.edge_start) - 1, len(scores)
    term_start = forest.tail_start + np.arange(n_edges + 1)
    base = scores + np.add.reduceat(forest.terms.own, term_start[:-1]) if n_edges else scores
    values, inside, outside = np.empty(n_edges), np.empty(n_vertices), np.empty(n_vertices)
    worth, after = np.empty(term_start[-1]), np.full((n_vertices, len(contexts.highest)), -np.inf)
    history = np.empty(iterations)
    tables = contexts.highest, np.ascontiguousarray(contexts.highest.T), contexts.plain, np.ascontiguousarray(contexts.back.T)
    bound = tighten(
        forest.edge_start, forest.tail_start, forest.tails, base, alive, tuple(forest.terms), tables, threshold,
        problem.resolution, iterations, tuple(firsts[:4]), tuple(lasts[:4]), values, inside, outside, worth, after,
        firsts.around, lasts.around, history,
    )  # fmt: skip
    return Relaxed(bound, history[~np.isnan(history)], firsts, lasts, contexts, alive, inside, outside, worth, after)


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
    begins = given.boundaries.first_words[left].astype(np.int64)
    ends = contexts.last_token[states[found]].astype(np.int64)
    tables = relaxed.firsts.table(n + 1), relaxed.lasts.table(n + 1)
    own = piece_scores[found] + contexts.waiting[left]
    around = np.minimum(relaxed.firsts.table_around(n + 1)[owners, begins], relaxed.lasts.table_around(n + 1)[owners, ends])
    useful = own + tables[0][owners, begins] + tables[1][owners, ends] + around > threshold
    found, owners, begins, ends, left = found[useful], owners[useful], begins[useful], ends[useful], left[useful]
    firsts, lasts = relaxed.firsts.copy(), relaxed.lasts.copy()
    solved = np.zeros(n_vertices, dtype=np.bool_)
    solved[order] = True
    for tokens, held in ((firsts, begins), (lasts, ends)):
        has = np.zeros((n_vertices, n + 1), dtype=np.bool_)
        has[owners, held] = True
        tokens.dead[:] |= solved[tokens.vertices] & ~has[tokens.vertices, tokens.tokens]
    held_states = np.zeros(problem.language_model.n_states, dtype=np.bool_)
    held_states[states[found]] = True
    # vertices that are not done keep those hyperedges that are alive
    heads = problem.forest.heads
    kept = np.flatnonzero(relaxed.alive & ~solved[heads])
    sizes = np.diff(symbol_start)[kept]
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    gather = np.repeat(symbol_start[:-1][kept] - starts[:-1], sizes) + np.arange(starts[-1])
    arrays = np.searchsorted(heads[kept], np.arange(n_vertices + 1)).astype(np.int64), starts, symbols[gather]
    alive = np.ones(len(kept), dtype=np.bool_)
    possible = possible_neighbours(problem, given, arrays, alive, firsts, lasts)
    nodes = np.unique(np.where(left > given.boundaries.n_nodes, left - given.boundaries.n_nodes, left))
    for k in range(given.boundaries.words.shape[1] - 1):  # words that wait at the left ends of pieces
        two = given.boundaries.words[nodes, k : k + 2]
        two = two[two[:, 1] >= 0]
        possible[two[:, 0], two[:, 1]] = True
    contexts = contexts_of(reader_of(given.boundaries, *arrays_of(problem)), possible, held_states)
    forest = with_pieces(
        terms_of(problem, given, arrays, alive, contexts, firsts, lasts), owners, heads[kept], firsts.numbers(n + 1)[owners, begins],
        len(firsts.tokens) + lasts.numbers(n + 1)[owners, ends],
    )  # fmt: skip
    values = np.concatenate([piece_scores[found] + contexts.waiting[left], scores[kept]])[forest.order]
    alive = np.ones(len(values), dtype=np.bool_)
    better = priced(problem, given, forest.cut, values, alive, contexts, firsts, lasts, threshold, MORE_ITERATIONS)
    # what a search needs is by the hyperedges of the forest
    left_over = np.zeros(len(scores), dtype=np.bool_)
    is_edge = forest.order >= len(found)
    own_edges = kept[forest.order[is_edge] - len(found)]
    left_over[own_edges] = alive[is_edge]
    tails = np.concatenate([[0], np.cumsum(symbols < 0)])[symbol_start]
    term_start, new_start = tails + np.arange(len(tails)), forest.cut.tail_start + np.arange(len(forest.cut.tail_start))
    worth = np.full(term_start[-1], -np.inf)
    counts = np.diff(new_start)[is_edge]
    worth[ranges(term_start[own_edges], counts)] = better.terms[ranges(new_start[:-1][is_edge], counts)]
    return better._replace(alive=left_over, terms=worth)


class WithPieces(NamedTuple):
    cut: Cut
    order: NDArray[np.int64]  # of the pieces and then the hyperedges, by head


def with_pieces(
    forest: Cut, owners: NDArray[np.int64], heads: NDArray[Any], begins: NDArray[np.int32], ends: NDArray[np.int32]
) -> WithPieces:
    """A forest with pieces as hyperedges of one term, the prices of their first and last tokens."""
    n_pieces = len(owners)
    all_heads = np.concatenate([owners, heads])
    order = np.argsort(all_heads, kind="stable")
    sizes = np.concatenate([np.zeros(n_pieces, dtype=np.int64), np.diff(forest.tail_start)])
    starts = np.concatenate([np.zeros(n_pieces, dtype=np.int64), forest.tail_start[:-1]])
    tails = forest.tails[ranges(starts[order], sizes[order])]
    places = np.concatenate([np.arange(n_pieces), n_pieces + forest.tail_start[:-1] + np.arange(len(heads))])
    chosen = ranges(places[order], sizes[order] + 1)
    prices = len(forest.terms.factors) + 1  # where they begin among what terms are made of
    left, right, own = (
        np.concatenate([prices + begins, forest.terms.left])[chosen], np.concatenate([prices + ends, forest.terms.right])[chosen],
        np.concatenate([np.zeros(n_pieces), forest.terms.own])[chosen],
    )  # fmt: skip
    edge_start = np.concatenate([[0], np.cumsum(np.bincount(all_heads, minlength=len(forest.edge_start) - 1))]).astype(np.int64)
    tail_start = np.concatenate([[0], np.cumsum(sizes[order])]).astype(np.int64)
    terms = forest.terms._replace(left=left.astype(np.int32), right=right.astype(np.int32), own=own)
    return WithPieces(Cut(edge_start, tail_start, tails, terms), order)


def ranges(starts: NDArray[np.int64], sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """The numbers from each start on, so many of each."""
    before = np.cumsum(sizes) - sizes
    return np.repeat(starts - before, sizes) + np.arange(int(sizes.sum()))


def arrays_of(problem: SyntaxProblem) -> tuple[NDArray[np.int64], Scores, NDArray[np.int32]]:
    model = problem.language_model
    return model.keys, model.scores, model.next_states
