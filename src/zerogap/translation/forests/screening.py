"""Drops hyperedges of a forest that no derivation as good as a known one can have.

Prices on the ends of vertices bound every hyperedge (zerogap.translation.forests.end_prices). What remains is a forest of its own, on which
programs that list paths or trigrams of leaves have a chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zerogap.problems.translation.forest import Derivation, Forest
from zerogap.problems.translation.forest_problem import LOG_OF_10, SyntaxProblem
from zerogap.translation.forests.cube_pruning import compile_problem, cube_prune
from zerogap.translation.forests.end_prices import Relaxed, relax


class Screened(NamedTuple):
    """The smaller problem, its hyperedges by their old numbers, and the derivation that was known."""

    problem: SyntaxProblem
    edges: NDArray[np.int64]
    known: Derivation | None
    prices: Relaxed | None  # that dropped hyperedges

    def restored(self, derivation: Sequence[int]) -> Derivation:
        return tuple(int(self.edges[e]) for e in derivation)

    def known_there(self) -> Derivation | None:
        """The derivation that was known, by its numbers in the smaller problem."""
        return None if self.known is None else tuple(np.searchsorted(self.edges, self.known).tolist())


def screened(problem: SyntaxProblem, *, limit: int = 200) -> Screened:
    """Every derivation that scores at least as much as cube pruning's is left; all of them if prices cannot be had."""
    given = compile_problem(problem)
    known = cube_prune(problem, limit=limit, compiled=given)
    everything = Screened(problem, np.arange(problem.forest.n_edges), known, None)
    if known is None or (np.diff(problem.forest.symbol_start) == 0).any():
        return everything
    relaxed = relax(problem, given, threshold=problem.score(known) - problem.unit)
    edges = useful_edges(problem.forest, relaxed.alive & (problem.scores > -np.inf))
    return Screened(restricted_to(problem, edges), edges, known, relaxed)


def useful_edges(forest: Forest, alive: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Those hyperedges that are alive, below the root, and with something below each of their vertices."""
    derived = np.zeros(forest.n_vertices, dtype=np.bool_)
    kept = alive.copy()
    heads = forest.heads
    for e in range(forest.n_edges):
        kept[e] = kept[e] and derived[forest.tail(e)].all()
        derived[heads[e]] |= kept[e]
    reached = np.zeros(forest.n_vertices, dtype=np.bool_)
    reached[forest.root] = True
    for e in range(forest.n_edges - 1, -1, -1):
        kept[e] = kept[e] and reached[heads[e]]
        if kept[e]:
            reached[forest.tail(e)] = True
    return np.flatnonzero(kept)


def restricted_to(problem: SyntaxProblem, edges: NDArray[np.int64]) -> SyntaxProblem:
    """The problem with these hyperedges alone: useful ones, so that every vertex that they name is derived."""
    forest = problem.forest
    heads = forest.heads[edges]
    vertices = np.unique(heads)
    number = np.full(forest.n_vertices, -1)
    number[vertices] = np.arange(len(vertices))
    sizes = np.diff(forest.symbol_start)[edges]
    start = np.concatenate([[0], np.cumsum(sizes)])
    symbols = forest.symbols[np.repeat(forest.symbol_start[:-1][edges] - start[:-1], sizes) + np.arange(start[-1])].astype(np.int64)
    symbols[symbols < 0] = -1 - number[-1 - symbols[symbols < 0]]
    smaller = Forest(
        edge_start=np.concatenate([[0], np.cumsum(np.bincount(number[heads], minlength=len(vertices)))]).astype(np.int64),
        symbol_start=start.astype(np.int32),
        symbols=symbols.astype(np.int32),
        scores=np.ascontiguousarray(problem.scores[edges]),
        words=forest.words,
        vertex_names=None if forest.vertex_names is None else tuple(forest.vertex_names[v] for v in vertices.tolist()),
        rules=None if forest.rules is None else np.ascontiguousarray(forest.rules[edges]),
    )
    # scores are on the grid already; a weight that leaves those of the language model as they are
    return SyntaxProblem(smaller, problem.language_model, weight=1.0 / LOG_OF_10, resolution=problem.resolution)
