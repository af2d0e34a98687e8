"""Hypothesis strategies: scores with many ties and holes, small random hypergraphs and dependency problems."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from zerogap.grid import Scores
from zerogap.problems.dependency.head_automaton import HeadAutomaton
from zerogap.problems.dependency.parts import ORDERS, Lazy, Sparse, meaning
from zerogap.problems.dependency.problem import Problem as DependencyProblem
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


def random_scores(shape: tuple[int, ...], seed: int, *, holes: bool = True) -> Scores:
    """Small integers, one in ten of them a hole: for tables too large to be drawn number by number."""
    rng = np.random.default_rng(seed)
    table = rng.integers(-3, 4, shape).astype(np.float64)
    return np.where(rng.random(shape) < 0.1, -np.inf, table) if holes else table


@st.composite
def part_scores(draw: st.DrawFn, name: str, n: int, *, holes: bool = True) -> Any:
    """Scores of one kind of larger parts of n words: an array, or a list of some, or a function."""
    seed = draw(st.integers(0, 2**32 - 1))
    table = random_scores((n + 1,) * ORDERS[name], seed, holes=holes)
    given = draw(st.sampled_from(("array", "list", "function")))
    if given == "array":
        return table
    if given == "function":
        return Lazy(lambda *index: table[index], 3.0)
    index = np.argwhere(meaning(name, n))
    some = np.random.default_rng(seed).permutation(len(index))[: draw(st.integers(0, len(index)))]
    return Sparse(index[some], table[tuple(index[some].T)])


@st.composite
def head_automata(draw: st.DrawFn, head: int, side: str, n: int, *, holes: bool = True) -> HeadAutomaton:
    """Of up to three states, with some of all transitions."""
    states = draw(st.integers(1, 3))
    weights = small_integers(holes=holes)
    transitions = []
    for state in range(states):
        for m in range(head + 1, n + 1) if side == "right" else range(1, head):
            if draw(st.booleans()):
                transitions.append((state, m, draw(st.integers(0, states - 1)), draw(weights)))
    return HeadAutomaton(head, side, tuple(transitions), tuple(draw(weights) for _ in range(states)))


@st.composite
def dependency_problems(
    draw: st.DrawFn,
    *,
    max_words: int = 4,
    kinds: Sequence[str] = (),
    projective: bool | None = None,
    single_root: bool | None = None,
    max_labels: int = 0,
    max_factors: int = 0,
    holes: bool = True,
) -> DependencyProblem:
    """Arcs, some of the larger parts that are named, and perhaps labels and factors."""
    n = draw(st.integers(0, max_words))
    wanted = [name for name in kinds if draw(st.booleans())]
    parts = {name: draw(part_scores(name, n, holes=holes and draw(st.booleans()))) for name in wanted if name != "automata"}
    size = draw(st.integers(0, max_labels))
    options: dict[str, Any] = {}
    if size:
        options["labels"] = draw(score_arrays((n + 1, n + 1, size), holes=holes))
        options["label_names"] = draw(st.sampled_from((None, tuple("abcdefgh"[:size]))))
    if n > 0 and max_factors:
        heads = st.integers(0, n)
        arcs = st.dictionaries(st.integers(1, n), heads, min_size=1, max_size=3)
        pairs = arcs.map(lambda some: [(h if h != m else 0, m) for m, h in some.items()])
        options["factors"] = draw(st.lists(st.tuples(pairs, small_integers(holes=holes)), max_size=max_factors))
    if "automata" in wanted:
        places = st.sampled_from([(0, "right"), *((h, side) for h in range(1, n + 1) for side in ("left", "right"))])
        options["automata"] = [draw(head_automata(h, side, n, holes=holes)) for h, side in draw(st.sets(places, max_size=3))]
    return DependencyProblem(
        draw(score_arrays((n + 1, n + 1), holes=holes and draw(st.booleans()))),
        **parts,
        **options,
        projective=draw(st.booleans()) if projective is None else projective,
        single_root=draw(st.booleans()) if single_root is None else single_root,
    )
