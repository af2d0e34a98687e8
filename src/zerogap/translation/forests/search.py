"""Exact search in a translation forest: prices bound what is outside of a piece, and only pieces that may beat the incumbent are kept.

Without prices and incumbent this is the exhaustive intersection of a forest with a language model (Bar-Hillel et al. 1961); with them it
is the optimal beam search of Rush 2014, section 7.6, with bounds from section 5.3's dual in place of a beam. Where the search grows large,
it pauses, and the relaxation is tightened with the pieces found so far in the place of the hyperedges that made them.
"""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np

from zerogap.grid import Integers
from zerogap.oracles.forests.cube_pruning import Pieces, derivation_of
from zerogap.oracles.forests.search import PAUSED, TOO_MANY, Around, Limits, Store, Ways, search_pieces
from zerogap.problems.translation.forest import Derivation, yield_lengths
from zerogap.problems.translation.forest_problem import SyntaxProblem
from zerogap.translation.forests.cube_pruning import Compiled
from zerogap.translation.forests.end_prices import Relaxed, tightened

FIRST_BUDGET, GROWTH = 120_000, 2.0  # how often the model is asked before the first pause, and how much more often before the next
FIRST_PIECES = 1 << 16  # that there is room for at first
NO_PAUSE = 1 << 60


class Searched(NamedTuple):
    best: Derivation | None  # None if nothing beats the threshold
    complete: bool  # False if a limit came first, or a beam left something out
    n_pieces: int
    n_tried: int


def search(
    problem: SyntaxProblem, given: Compiled, relaxed: Relaxed, *, threshold: float, limit: int, seconds: float | None = None
) -> Searched:
    """The best derivation above the threshold, if there is one, among at most `limit` pieces. The time is looked at when it pauses."""
    begin = time.perf_counter()
    order = shortest_first(problem)
    store = Store.empty(problem.forest.n_vertices, given.arity, min(limit, FIRST_PIECES))
    counts = np.zeros(5, dtype=np.int64)
    no_ways = Ways.empty(given.arity, 0)
    budget, done, n_pieces, tried = FIRST_BUDGET, 0, 0, 0
    while True:
        best = run(given, relaxed.for_search(), order, Limits(threshold, budget, limit), store, no_ways, counts)
        tried += int(counts[0])
        done, n_pieces = int(counts[1]), int(counts[2])
        if best == TOO_MANY:
            if len(store.lefts) >= limit:
                return Searched(None, False, n_pieces, tried)
            store = store.grown(min(8 * len(store.lefts), limit))
        elif best == PAUSED:
            budget = int(budget * GROWTH) + 1
            if seconds is not None and time.perf_counter() - begin > seconds:
                return Searched(None, False, n_pieces, tried)
            relaxed = tightened(problem, given, relaxed, threshold=threshold, order=order[:done], store=store[:5])
            if relaxed.bound <= threshold:
                return Searched(None, True, n_pieces, tried)
        else:
            break
    found = None if best < 0 else derivation_of(Pieces(np.zeros(0, dtype=np.int64), *store[2:]), int(best))
    return Searched(found, True, n_pieces, tried)


def beam_search(problem: SyntaxProblem, given: Compiled, relaxed: Relaxed, *, threshold: float, width: int, limit: int) -> Searched:
    """The same with at most `width` pieces of every vertex (Rush 2014, algorithm 10)."""
    size, order, limits = min(limit, FIRST_PIECES), shortest_first(problem), Limits(threshold, NO_PAUSE, width)
    while True:
        store, counts = Store.empty(problem.forest.n_vertices, given.arity, size), np.zeros(5, dtype=np.int64)
        best = run(given, relaxed.for_search(), order, limits, store, Ways.empty(given.arity, 0), counts)
        if best != TOO_MANY or size >= limit:
            break
        size = min(8 * size, limit)
    found = None if best < 0 else derivation_of(Pieces(np.zeros(0, dtype=np.int64), *store[2:]), int(best))
    return Searched(found, best != TOO_MANY and not counts[3], int(counts[2]), int(counts[0]))


def shortest_first(problem: SyntaxProblem) -> Integers:
    """The vertices, those of shorter yields first."""
    return np.argsort(yield_lengths(problem.forest), kind="stable").astype(np.int64)


def run(given: Compiled, known: Around, order: Integers, limits: Limits, store: Store, ways: Ways, counts: Integers) -> int:
    """A search over pieces; fills the store, the ways and the counts, which say what is done already."""
    return search_pieces(given.forest, known, tuple(given.boundaries), given.ends, order, limits, store, ways, counts)


def all_ways(
    problem: SyntaxProblem, given: Compiled, relaxed: Relaxed | None, *, threshold: float, limit: int, seconds: float | None = None
) -> tuple[Store, Ways] | None:
    """All pieces that may be part of something above the threshold and all ways to make them.

    None if there are more than `limit`, or the time is up. Without a relaxation, all that there are."""
    begin = time.perf_counter()
    order = shortest_first(problem)
    bounds = unbounded(problem, given) if relaxed is None else relaxed.for_search()
    size, budget = min(limit, FIRST_PIECES), FIRST_BUDGET if seconds is not None else NO_PAUSE
    while True:
        store, ways = Store.empty(problem.forest.n_vertices, given.arity, size), Ways.empty(given.arity, size)
        counts = np.zeros(5, dtype=np.int64)
        while (best := run(given, bounds, order, Limits(threshold, budget, limit), store, ways, counts)) == PAUSED:
            budget = int(budget * GROWTH) + 1
            if seconds is not None and time.perf_counter() - begin > seconds:
                return None
        if best != TOO_MANY:
            n = int(counts[4])
            return store, Ways(ways.pieces[:n], ways.edges[:n], ways.scores[:n], ways.below[:n])
        if size >= limit:
            return None
        size = min(8 * size, limit)


def unbounded(problem: SyntaxProblem, given: Compiled) -> Around:
    """Bounds that leave nothing out, for a threshold of -inf."""
    n_vertices, n_words = problem.forest.n_vertices, problem.language_model.n_words
    zeros, table = np.zeros(n_vertices), np.zeros((n_vertices, n_words + 1))
    n_terms = problem.forest.n_edges + int((problem.forest.symbols < 0).sum())
    return Around(
        np.ones(problem.forest.n_edges, dtype=np.bool_), zeros, zeros, np.zeros(n_terms), table, np.zeros((n_words + 1, n_words + 1)),
        table, table, table, table, np.zeros(given.boundaries.n_lefts + 1), np.zeros(problem.language_model.n_states, dtype=np.int32),
    )  # fmt: skip


def exhaustive(problem: SyntaxProblem, given: Compiled, *, limit: int) -> Searched:
    """The best derivation of all, if there are at most `limit` pieces."""
    store, counts = Store.empty(problem.forest.n_vertices, given.arity, limit), np.zeros(5, dtype=np.int64)
    limits = Limits(-np.inf, NO_PAUSE, limit)
    best = run(given, unbounded(problem, given), shortest_first(problem), limits, store, Ways.empty(given.arity, 0), counts)
    if best == TOO_MANY:
        return Searched(None, False, limit, int(counts[0]))
    found = None if best < 0 else derivation_of(Pieces(np.zeros(0, dtype=np.int64), *store[2:]), int(best))
    return Searched(found, True, int(counts[2]), int(counts[0]))
