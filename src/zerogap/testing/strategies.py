"""Hypothesis strategies: scores with many ties and holes, and small random hypergraphs."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from zerogap.grid import Scores
from zerogap.structures.hypergraph import Builder, Hypergraph


def small_integers(*, holes: bool = True) -> st.SearchStrategy[float]:
    """Scores that tie often; with `holes`, -inf now and then."""
    numbers = st.integers(-3, 3).map(float)
    return st.one_of(numbers, numbers, numbers, st.just(-np.inf)) if holes else numbers


@st.composite
def score_arrays(draw: st.DrawFn, shape: tuple[int, ...], *, holes: bool = True) -> Scores:
    size = int(np.prod(shape))
    return np.array(draw(st.lists(small_integers(holes=holes), min_size=size, max_size=size)), dtype=np.float64).reshape(shape)


Item = tuple[int, int, int]


@st.composite
def hypergraphs(draw: st.DrawFn, *, max_words: int = 4, max_symbols: int = 2, max_arity: int = 3) -> Hypergraph:
    """A hypergraph over the spans of a few words, with hyperedges of one to `max_arity` tails, connected and disjoint.

    Items (i, j, X) are entered by splits of their span, by a smaller symbol over the same span, or from terminals
    ("w", i, X) below items of one word.
    """
    words = draw(st.integers(1, max_words))
    symbols = draw(st.integers(1, max_symbols))
    root: Item = (0, words, symbols - 1)
    edges: dict[Item, list[tuple[object, ...]]] = {}

    def visit(item: Item) -> None:
        if item in edges:
            return
        i, j, symbol = item
        options: list[tuple[object, ...]] = []
        if j - i == 1:
            options += [(("w", i, s),) for s in range(symbols)]
        if symbol > 0:
            options.append(((i, j, symbol - 1),))
        for split in range(i + 1, j):
            options += [((i, split, a), (split, j, b)) for a in range(symbols) for b in range(symbols)]
            if max_arity >= 3:
                options += [((i, split, 0), (split, second, 0), (second, j, 0)) for second in range(split + 1, j)]
        chosen = draw(st.lists(st.sampled_from(options), min_size=1, max_size=4))  # the same tail may come twice
        edges[item] = chosen
        for tail in chosen:
            for below in tail:
                if isinstance(below, tuple) and below[0] != "w":
                    visit(below)

    visit(root)
    builder = Builder()
    for head, tails in edges.items():
        for tail in tails:
            builder.edge(head, list(tail))
    return builder.build(root)[0]


@st.composite
def scored_hypergraphs(draw: st.DrawFn, *, holes: bool = True, max_words: int = 4) -> tuple[Hypergraph, Scores, Scores]:
    """A hypergraph with scores of its hyperedges and vertices."""
    graph = draw(hypergraphs(max_words=max_words))
    return graph, draw(score_arrays((graph.n_edges,), holes=holes)), draw(score_arrays((graph.n_vertices,), holes=holes))
