"""A forest whose vertices know the class of the word before them and of their last word (Rush 2014, section 5.4).

The product of a forest with the automaton of a partition of its words, as Bar-Hillel et al. make it: what is below a vertex is split by
the classes that it comes after and ends with, and a word by the class before it. Every derivation is one of the split forest, with the same
score; but neighbours now agree about classes, so the split forest's relaxation is tighter. It is a forest like any other: what
no derivation above a threshold has is left out of the next split, which puts the words of this one into classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zerogap.errors import Infeasible
from zerogap.oracles.hypergraphs.product import Product, intersect
from zerogap.papers.rush2014.partitions.class_models import class_model
from zerogap.problems.translation.forest import Derivation, Forest
from zerogap.problems.translation.forest_problem import LOG_OF_10, SyntaxProblem
from zerogap.problems.translation.language_model import BEGIN
from zerogap.structures.automaton import Automaton
from zerogap.structures.hypergraph import Hypergraph

Integers = NDArray[np.int64]


class Split(NamedTuple):
    """The split problem, and what its hyperedges, vertices and words (those of its language model; -1 for marks) were."""

    problem: SyntaxProblem
    edges: Integers
    vertices: Integers
    words: Integers

    def restored(self, derivation: Sequence[int]) -> Derivation:
        return tuple(int(self.edges[e]) for e in derivation)


def split(problem: SyntaxProblem, alive: NDArray[np.bool_], classes: Integers) -> Split | None:
    """What hyperedges that are alive derive, split by classes of the words of the language model; None if they derive nothing."""
    forest, model = problem.forest, problem.language_model
    n_words, n_vertices = model.n_words, forest.n_vertices
    symbols = forest.symbols.astype(np.int64)
    is_word = symbols >= 0
    tails = np.where(is_word, problem.word_ids[np.where(is_word, symbols, 0)], n_words - 1 - symbols)
    graph = Hypergraph(
        edge_start=np.concatenate([np.zeros(n_words, dtype=np.int64), forest.edge_start]),
        tail_start=forest.symbol_start, tails=tails.astype(np.int32), root=n_words + forest.root,
    )  # fmt: skip
    n_classes = int(classes.max()) + 1
    start = n_classes  # a class of its own for what is before the first word
    following = np.broadcast_to(classes, (n_classes + 1, n_words)).astype(np.int32)
    machine = Automaton(
        tuple(range(n_words)), np.ascontiguousarray(following), np.zeros((n_classes + 1, n_words)), np.zeros(n_classes + 1), start=start
    )
    labels = np.concatenate([np.arange(n_words), np.zeros(n_vertices, dtype=np.int64)])
    try:
        product = intersect(graph, np.where(alive, problem.scores, -np.inf), labels, machine)
    except Infeasible:
        return None
    return as_problem(problem, product, np.where(np.arange(n_words) == model.ids[BEGIN], start, classes))


def as_problem(problem: SyntaxProblem, product: Product, classes: Integers) -> Split:
    """A product as a problem: its terminals become words, and the copies of the root one vertex."""
    n_words = problem.language_model.n_words
    graph, origin = product.hypergraph, product.vertex_origin.astype(np.int64)
    n_terminals = int((origin[:-1, 0] < n_words).sum())
    first_root = int(np.flatnonzero(origin[:, 0] == n_words + problem.forest.root)[0])
    n_edges = int((product.edge_origin >= 0).sum())
    # terminals come in the order of word, class before, class: the last follows from the first
    known = class_model(problem.language_model, classes, origin[:n_terminals, :2])
    starts = graph.tail_start[: n_edges + 1]
    tails = graph.tails[: starts[-1]].astype(np.int64)
    forest = Forest(
        edge_start=np.append(graph.edge_start[n_terminals : first_root + 1], n_edges),
        symbol_start=np.ascontiguousarray(starts),
        symbols=np.where(tails < n_terminals, tails, n_terminals - 1 - tails).astype(np.int32),
        scores=np.ascontiguousarray(product.scores[:n_edges]),
        words=tuple(known.model.words[i] for i in known.ids.tolist()),
    )
    # scores are on the grid already; a weight that leaves those of the language model as they are
    smaller = SyntaxProblem(forest, known.model, weight=1.0 / LOG_OF_10, resolution=problem.resolution)
    words = np.full(smaller.language_model.n_words, -1)
    words[smaller.word_ids] = origin[:n_terminals, 0]
    return Split(smaller, product.edge_origin[:n_edges].astype(np.int64), origin[n_terminals : first_root + 1, 0] - n_words, words)
