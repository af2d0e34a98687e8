"""Translation forests: hypergraphs whose hyperedges are rules, with target sides that mix words and vertices (Rush 2014, section 5.1).

    hyperedges entering v:       edge_start[v] .. edge_start[v + 1], vertices bottom-up, the root last
    target side of hyperedge e:  symbols[symbol_start[e] : symbol_start[e + 1]], a word from 0 on, or the vertex v as -1 - v

A derivation is the tuple of its hyperedges from the top down, those below a target side from left to right; its yield is the sentence
that it derives. Departures: words are not vertices. In the thesis a leaf is a word with the span of its parent, which one target side
may have twice; here it is a place in a target side, and `<s>` and `</s>` belong to the language model.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zerogap.errors import CyclicHypergraph, DisconnectedHypergraph, HypergraphError, InvalidStructure
from zerogap.grid import Scores, as_scores, held, restored
from zerogap.structures.hypergraph import bottom_up_numbers

MOST_IN_DERIVATION = 2.0**53  # vertices that are used twice, and what is below them twice, make numbers of any size
Derivation = tuple[int, ...]
Symbol = str | int  # a word, or a vertex


@dataclass(frozen=True, slots=True, eq=False)
class Forest:
    """The derivations of one sentence. Build one with `translation_forest` or `from_rules`."""

    edge_start: NDArray[np.int64]  # (vertices + 1,)
    symbol_start: NDArray[np.int32]  # (edges + 1,)
    symbols: NDArray[np.int32]
    scores: Scores  # (edges,), all but the language model
    words: tuple[str, ...]
    vertex_names: tuple[Hashable, ...] | None = None
    rules: NDArray[np.int32] | None = None  # (edges,), of the grammar; -1 for a word that is passed through

    def __post_init__(self) -> None:
        check_arrays(self)
        for name in ("edge_start", "symbol_start", "symbols", "scores"):
            object.__setattr__(self, name, held(getattr(self, name)))

    __setstate__ = restored

    @property
    def n_vertices(self) -> int:
        return len(self.edge_start) - 1

    @property
    def n_edges(self) -> int:
        return len(self.symbol_start) - 1

    @property
    def root(self) -> int:
        return self.n_vertices - 1

    @property
    def heads(self) -> NDArray[np.int32]:
        """The head of every hyperedge."""
        return np.repeat(np.arange(self.n_vertices, dtype=np.int32), np.diff(self.edge_start))

    def target(self, edge: int) -> NDArray[np.int32]:
        return self.symbols[self.symbol_start[edge] : self.symbol_start[edge + 1]]

    def tail(self, edge: int) -> list[int]:
        """The vertices of a target side from left to right."""
        return [-1 - s for s in self.target(edge).tolist() if s < 0]

    def __repr__(self) -> str:
        return f"Forest({self.n_vertices:,} vertices, {self.n_edges:,} hyperedges, {len(self.words):,} words)"

    def check(self, derivation: Sequence[int]) -> None:
        """Raises InvalidStructure unless the hyperedges are a derivation of the root, from the top down and left to right."""
        if not isinstance(derivation, tuple | list):
            raise InvalidStructure(f"the derivation is {derivation!r}: expected a tuple of hyperedges.")
        heads = self.heads
        waiting = [self.root]
        for position, edge in enumerate(derivation):
            if isinstance(edge, bool) or not isinstance(edge, int | np.integer) or not 0 <= edge < self.n_edges:
                raise InvalidStructure(f"derivation[{position}] is {edge!r}: expected a hyperedge from 0 to {self.n_edges - 1}.")
            if not waiting:
                raise InvalidStructure(f"derivation[{position}] is hyperedge {edge}, but the derivation is complete before it.")
            vertex = waiting.pop()
            if heads[edge] != vertex:
                raise InvalidStructure(f"derivation[{position}] is hyperedge {edge} into vertex {heads[edge]}: expected one into {vertex}.")
            waiting.extend(reversed(self.tail(int(edge))))
        if waiting:
            raise InvalidStructure(f"the derivation ends before vertex {waiting[-1]} is derived.")

    def yield_of(self, derivation: Sequence[int]) -> list[int]:
        """The words, as numbers, that a valid derivation derives."""
        words: list[int] = []
        edges = iter(derivation)
        waiting: list[int] = [-1 - self.root]
        while waiting:
            symbol = waiting.pop()
            if symbol >= 0:
                words.append(symbol)
            else:
                waiting.extend(reversed(self.target(next(edges)).tolist()))
        return words

    def translation(self, derivation: Sequence[int]) -> str:
        return " ".join(self.words[w] for w in self.yield_of(derivation))


def check_arrays(forest: Forest) -> None:
    """Kernels index with these arrays and check nothing, so nothing may point outside or upwards."""
    for name, dtype in (("edge_start", np.int64), ("symbol_start", np.int32), ("symbols", np.int32), ("scores", np.float64)):
        array = getattr(forest, name)
        if not isinstance(array, np.ndarray) or array.dtype != dtype or array.ndim != 1 or not array.flags.c_contiguous:
            raise HypergraphError(f"{name} is not a contiguous array of {np.dtype(dtype).name} with one axis.")
    if forest.n_vertices < 1:
        raise HypergraphError("the forest has no vertices: expected at least the root.")
    for name, end, least in (("edge_start", forest.n_edges, 1), ("symbol_start", len(forest.symbols), 0)):
        starts = getattr(forest, name)
        if len(starts) == 0 or starts[0] != 0 or starts[-1] != end or (np.diff(starts) < least).any():
            raise HypergraphError(f"{name} does not rise from 0 to {end} in steps of at least {least}.")
    if len(forest.scores) != forest.n_edges:
        raise HypergraphError(f"there are {len(forest.scores)} scores for {forest.n_edges} hyperedges: expected as many.")
    if len(forest.symbols) and forest.symbols.max() >= len(forest.words):
        raise HypergraphError(f"symbols names word {forest.symbols.max()}: expected 0 to {len(forest.words) - 1}.")
    heads = np.repeat(forest.heads, np.diff(forest.symbol_start))
    if (-1 - forest.symbols >= heads).any():
        raise HypergraphError("some vertex does not come before the head above it: number vertices bottom-up, or use from_rules.")


def from_rules(
    rules: Sequence[tuple[int, Sequence[Symbol], float]], *, root: int, vertex_names: Sequence[Hashable] | None = None
) -> tuple[Forest, NDArray[np.int64]]:
    """A forest from (head, target side, score) in any order, and the place in `rules` of each of its hyperedges.

    Target sides have strings for words and integers for vertices. Vertices that the root does not reach are left out.

    >>> forest, _ = from_rules([(0, ["the", 1], 0.5), (1, ["dog"], 1.0), (1, ["cat"], 2.0)], root=0)
    >>> forest, forest.translation((2, 1))
    (Forest(2 vertices, 3 hyperedges, 3 words), 'the cat')
    """
    n_vertices = 1 + max([root, *(head for head, _, _ in rules), *(s for _, target, _ in rules for s in target if not isinstance(s, str))])
    for position, (head, target, _) in enumerate(rules):
        for v in (head, *(s for s in target if not isinstance(s, str))):
            if isinstance(v, bool) or not isinstance(v, int | np.integer) or v < 0:
                raise HypergraphError(f"rules[{position}] names vertex {v!r}: expected an integer from 0 on.")
    names = None if vertex_names is None else list(vertex_names)
    if names is not None and len(names) < n_vertices:
        raise HypergraphError(f"vertex_names has {len(names)} entries: expected {n_vertices}.")
    scores = as_scores([score for _, _, score in rules], "scores", shape=(len(rules),))
    given_heads = np.array([head for head, _, _ in rules], dtype=np.int64)
    tails = [[s for s in target if not isinstance(s, str)] for _, target, _ in rules]
    flat = np.array([v for tail in tails for v in tail], dtype=np.int64)
    flat_heads = np.repeat(given_heads, [len(tail) for tail in tails])
    numbers = bottom_up_numbers(given_heads, flat, flat_heads, n_vertices, names)
    derived = set(given_heads.tolist())
    below, waiting = {root}, [root]
    children: dict[int, list[int]] = {}
    for head, tail in zip(given_heads.tolist(), tails, strict=True):
        children.setdefault(head, []).extend(tail)
    while waiting:
        v = waiting.pop()
        if v not in derived:
            raise DisconnectedHypergraph(f"no hyperedge enters vertex {v if names is None else names[v]}, which the root needs.")
        for child in children[v]:
            if child not in below:
                below.add(child)
                waiting.append(child)
    kept = sorted(below, key=lambda v: numbers[v])
    if kept[-1] != root:
        raise CyclicHypergraph(f"vertex {root} is the root, but it is below vertex {kept[-1]}.")
    place = {v: i for i, v in enumerate(kept)}
    order = [e for e in np.argsort(numbers[given_heads], kind="stable").tolist() if given_heads[e] in place]
    words: dict[str, int] = {}
    symbols = [words.setdefault(s, len(words)) if isinstance(s, str) else -1 - place[s] for e in order for s in rules[e][1]]
    new_heads = np.array([place[int(given_heads[e])] for e in order], dtype=np.int64)
    forest = Forest(
        edge_start=np.concatenate([[0], np.cumsum(np.bincount(new_heads, minlength=len(kept)))]).astype(np.int64),
        symbol_start=np.concatenate([[0], np.cumsum([len(rules[e][1]) for e in order])]).astype(np.int32),
        symbols=np.array(symbols, dtype=np.int32),
        scores=np.ascontiguousarray(scores[order]),
        words=tuple(words),
        vertex_names=None if names is None else tuple(names[v] for v in kept),
    )
    return forest, np.array(order, dtype=np.int64)


def longest_derivation(forest: Forest) -> tuple[int, int]:
    """The most hyperedges, and the most words, that a derivation can have."""
    with np.errstate(over="ignore", invalid="ignore"):
        sizes = float(largest_sums(forest, np.ones(forest.n_edges))[forest.root]), float(yield_lengths(forest)[forest.root])
    if not max(sizes) <= MOST_IN_DERIVATION or np.isnan(sizes).any():
        raise HypergraphError(f"a derivation may have {sizes[0]:g} hyperedges and {sizes[1]:g} words: expected at most 2^53.")
    return int(sizes[0]), int(sizes[1])


def yield_lengths(forest: Forest) -> Scores:
    """The most words below every vertex."""
    is_word = np.concatenate([[0.0], np.cumsum(forest.symbols >= 0)])
    return largest_sums(forest, is_word[forest.symbol_start[1:]] - is_word[forest.symbol_start[:-1]])


def largest_sums(forest: Forest, own: Scores) -> Scores:
    """The largest sum of numbers of hyperedges below every vertex."""
    most = np.zeros(forest.n_vertices)
    is_tail = np.flatnonzero(forest.symbols < 0)
    tails = -1 - forest.symbols[is_tail].astype(np.int64)
    tail_start = np.searchsorted(is_tail, forest.symbol_start)
    for v in range(forest.n_vertices):
        first, last = int(forest.edge_start[v]), int(forest.edge_start[v + 1])
        at = tail_start[first : last + 1]
        below = np.concatenate([[0.0], np.cumsum(most[tails[at[0] : at[-1]]])])
        most[v] = (own[first:last] + below[at[1:] - at[0]] - below[at[:-1] - at[0]]).max()
    return most


def named(value: Any) -> Hashable:
    """A vertex name from JSON: lists become tuples."""
    return tuple(map(named, value)) if isinstance(value, list) else value
