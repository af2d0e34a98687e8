"""A translation forest with its words as leaves, between two start and two end leaves, and the steps of paths between them.

Rush 2014, section 5.3.1 and figure 5-5. A leaf is a word below a vertex; one that a target side has twice is two leaves. Departures: there
are two end leaves as there are two start leaves, so that every word is the first, the middle and the last of a trigram (with the single one
of the thesis, constraint D4 does not hold for the last word); target sides must not be empty.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from zerogap.errors import InputError
from zerogap.grid import Scores
from zerogap.problems.translation.forest_problem import SyntaxProblem
from zerogap.problems.translation.language_model import BEGIN
from zerogap.structures.hypergraph import Hypergraph, check_disjoint

FIRST_START, SECOND_START, FIRST_END, SECOND_END = range(4)  # leaves
UNSCORED = -1  # the word of the second end leaf

Pairs = NDArray[np.int32]  # (steps, 2): from, to


@dataclass(frozen=True, slots=True, eq=False)
class LeafGraph:
    """Vertices are the leaves, those of the forest, and a root above the start leaves, the forest's root and the end leaves."""

    hypergraph: Hypergraph
    scores: Scores  # of hyperedges; 0 for the one into the root, which is the last
    words: NDArray[np.int64]  # of leaves, in the language model
    ups: Pairs  # sorted by where they begin
    turns: Pairs
    downs: Pairs  # those from the highest vertices first
    edge_steps: tuple[tuple[int, ...], ...]  # of every hyperedge: numbers of ups, turns and downs, counted through

    @property
    def n_leaves(self) -> int:
        return len(self.words)

    @property
    def n_steps(self) -> int:
        return len(self.ups) + len(self.turns) + len(self.downs)

    def step_number(self, left: int, right: int) -> int:
        """The number of the turn from one vertex to another."""
        return len(self.ups) + int(np.flatnonzero((self.turns == (left, right)).all(axis=1))[0])


def leaf_graph(problem: SyntaxProblem, *, max_leaves: int = 2000) -> LeafGraph:
    """InputError if a target side is empty, or there are too many leaves for tables of pairs of them; OverlappingTails if a derivation may
    use a vertex twice."""
    forest, model = problem.forest, problem.language_model
    if (np.diff(forest.symbol_start) == 0).any():
        raise InputError("a target side of the forest is empty: expected at least one symbol in each for paths between leaves.")
    if model.order > 3:
        raise InputError(f"the language model has order {model.order}: expected at most 3 for trigrams of leaves.")
    leaves: dict[tuple[int, int, int], int] = {}  # vertex, word, how many of it stand before in the target side
    words = [model.ids[BEGIN], model.ids[BEGIN], model.end_id, UNSCORED]
    targets: list[list[int]] = []
    heads = forest.heads.tolist()
    for e in range(forest.n_edges):
        target: list[int] = []
        seen: dict[int, int] = {}
        for s in forest.target(e).tolist():
            if s < 0:
                target.append(s)
                continue
            key = heads[e], s, seen.get(s, 0)
            seen[s] = seen.get(s, 0) + 1
            if key not in leaves:
                leaves[key] = len(words)
                words.append(int(problem.word_ids[s]))
            target.append(leaves[key])
        targets.append(target)
    n = len(words)
    if n > max_leaves:
        raise InputError(f"the forest has {n:,} leaves: expected at most {max_leaves:,} for tables of all pairs.")
    tails = [[s if s >= 0 else n - 1 - s for s in target] for target in targets]
    root = n + forest.n_vertices
    tails.append([FIRST_START, SECOND_START, n + forest.root, FIRST_END, SECOND_END])
    graph = Hypergraph(
        edge_start=np.concatenate([np.zeros(n, dtype=np.int64), forest.edge_start, [forest.n_edges + 1]]).astype(np.int64),
        tail_start=np.concatenate([[0], np.cumsum([len(tail) for tail in tails])]).astype(np.int32),
        tails=np.array([v for tail in tails for v in tail], dtype=np.int32),
        root=root,
    )
    check_disjoint(graph)
    edge_heads = [*(n + h for h in heads), root]
    ups = sorted({(tail[-1], h) for tail, h in zip(tails[:-1], edge_heads, strict=False)})
    turns = sorted({pair for tail in tails for pair in pairwise(tail)})
    downs = sorted({(h, tail[0]) for tail, h in zip(tails[:-1], edge_heads, strict=False)}, reverse=True)
    up_number = {pair: i for i, pair in enumerate(ups)}
    turn_number = {pair: len(ups) + i for i, pair in enumerate(turns)}
    down_number = {pair: len(ups) + len(turns) + i for i, pair in enumerate(downs)}
    steps = []
    for tail, h in zip(tails, edge_heads, strict=True):
        own = [turn_number[pair] for pair in pairwise(tail)]
        if h != root:
            own += [up_number[tail[-1], h], down_number[h, tail[0]]]
        steps.append(tuple(own))
    return LeafGraph(
        graph,
        np.append(problem.scores, 0.0),
        np.array(words, dtype=np.int64),
        as_pairs(ups),
        as_pairs(turns),
        as_pairs(downs),
        tuple(steps),
    )


def as_pairs(pairs: list[tuple[int, int]]) -> Pairs:
    return np.array(pairs, dtype=np.int32).reshape(-1, 2)
