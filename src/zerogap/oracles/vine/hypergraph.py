"""All vines of a sentence as the hyperpaths of one hypergraph, for learning: the items of zerogap.oracles.vine.oracle (Rush 2014, section
8.3.3).

    join[d, i]     <- right[r, i] + left[d - 1 - r, i + r + 1]              words i to i + d, nothing between is without a head
    open ->[d, i]  <- join[d, i]                                            makes near[0, i, d]
    open <-[d, i]  <- join[d, i]                                            makes near[1, i + d, d]
    right[d, i]    <- open ->[m, i] + right[d - m, i + m]                   d less than the width of the band
    left[d, i]     <- left[m, i] + open <-[d - m, i + m]
    vine_left[e]   <- vine_right[e - 1],  vine_left[e - d] + open <-[d, e - d]
    vine_right[e]  <- vine_left[e],       vine_right[e - d] + open ->[d, e - d]      the first makes far[., e]

The last two are kept apart for rows with and without a word under the root. The hypergraph depends on lengths alone.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zerogap.errors import InputError
from zerogap.structures.hypergraph import Hypergraph

NOTHING = -1

Edge = tuple[tuple[int, ...], int]  # its tail, and what it makes


@dataclass(frozen=True, slots=True, eq=False)
class VineHypergraph:
    """`makes` says of every hyperedge which arc it makes, as a place in near (2, n + 1, b + 1) and far (3, n + 1) put in one row, or -1."""

    hypergraph: Hypergraph
    makes: NDArray[np.int64]  # (E,)
    n_words: int
    band: int

    @property
    def n_near(self) -> int:
        """Places of `near`; those of `far` follow."""
        return 2 * (self.n_words + 1) * (self.band + 1)


class Edges:
    """Hyperedges as they are made, those of one head after the other."""

    def __init__(self) -> None:
        self.starts: list[int] = []
        self.tails: list[tuple[int, ...]] = []
        self.makes: list[int] = []

    def vertex(self, *edges: Edge) -> int:
        self.starts.append(len(self.tails))
        for tail, made in edges:
            self.tails.append(tail)
            self.makes.append(made)
        return len(self.starts) - 1


@functools.lru_cache(maxsize=256)
def vine_hypergraph(n: int, band: int, *, single_root: bool = True) -> VineHypergraph:
    """The vines of n words, 1 or more, in a band of width `band`, 0 or more."""
    if n < 1 or band < 0:
        raise InputError(f"a vine of {n} words in a band of width {band}: expected 1 word or more, and a width of 0 or more.")
    edges = Edges()
    width, row = min(band, n - 1), band + 1
    n_near = 2 * (n + 1) * row
    right: dict[tuple[int, int], int] = {}
    left, open_right, open_left = right.copy(), right.copy(), right.copy()
    for i in range(1, n + 1):
        right[0, i], left[0, i] = edges.vertex(), edges.vertex()
    for d in range(1, width + 1):
        for i in range(1, n - d + 1):
            join = edges.vertex(*[((right[r, i], left[d - 1 - r, i + r + 1]), NOTHING) for r in range(d)])
            open_right[d, i] = edges.vertex(((join,), i * row + d))
            open_left[d, i] = edges.vertex(((join,), (n + 1 + i + d) * row + d))
        if d < width:
            for i in range(1, n - d + 1):
                right[d, i] = edges.vertex(*[((open_right[m, i], right[d - m, i + m]), NOTHING) for m in range(1, d + 1)])
                left[d, i] = edges.vertex(*[((left[m, i], open_left[d - m, i + m]), NOTHING) for m in range(d)])
    begin = edges.vertex()
    vine_left: list[dict[int, int]] = [{}, {}]
    vine_right: list[dict[int, int]] = [{0: begin}, {}]
    for e in range(1, n + 1):
        sides = [n_near + side * (n + 1) + e for side, exists in ((1, e - band > 1), (2, e + band < n)) if exists]
        for k in range(2):
            found: list[Edge] = [((vine_right[k][e - 1],), NOTHING)] if e - 1 in vine_right[k] else []
            found += [
                ((vine_left[k][e - d], open_left[d, e - d]), NOTHING) for d in range(1, min(width, e - 1) + 1) if e - d in vine_left[k]
            ]
            if found:
                vine_left[k][e] = edges.vertex(*found)
        for k in range(2):
            found = [
                ((vine_right[k][e - d], open_right[d, e - d]), NOTHING) for d in range(1, min(width, e - 1) + 1) if e - d in vine_right[k]
            ]
            if e in vine_left[k]:
                found += [((vine_left[k][e],), made) for made in sides]
            if k == 1:
                before = [0] if single_root else [0, 1]
                found += [((vine_left[b][e],), n_near + e) for b in before if e in vine_left[b]]
            if found:
                vine_right[k][e] = edges.vertex(*found)
    lengths = [len(tail) for tail in edges.tails]
    graph = Hypergraph(
        edge_start=np.array([*edges.starts, len(edges.tails)], dtype=np.int64),
        tail_start=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32),
        tails=np.array([v for tail in edges.tails for v in tail], dtype=np.int32),
        root=vine_right[1][n],
    )
    return VineHypergraph(graph, np.array(edges.makes, dtype=np.int64), n, band)
