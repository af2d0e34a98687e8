"""The next best trees, exactly: one after the other, from the best down, for as long as somebody asks.

Non-projective trees by splitting what is left (Lawler 1972): the trees other than y are, for each word m, those that give the words
before m the heads that they have in y, and m another one. Camerini et al. (1980) find the best tree of a part while they
contract; here a part waits until the slack of Edmonds' duals says that it may hold the next tree, and few are ever solved.

Projective trees are the hyperpaths of a hypergraph, which `oracles.hypergraphs.kbest` ranks.

With labels, the choices of one tree are merged with those of the others: the j-th labelled tree is among the labellings of the j best
trees.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zerogap.grid import Scores
from zerogap.oracles.hypergraphs.kbest import k_best_paths
from zerogap.oracles.trees.arborescence import Sets, tree_kernel
from zerogap.oracles.trees.hypergraphs import ProjectiveHypergraph, projective_hypergraph
from zerogap.problems.dependency.problem import Problem, Tree

Heads = NDArray[np.int64]


class Part(NamedTuple):
    """Trees in which the first words have the given heads, and the next word none of those that are excluded."""

    fixed: Heads
    excluded: tuple[int, ...]


def nonprojective_trees(
    arcs: Scores, best: Heads, sets: Sets, values: tuple[float, ...], *, single_root: bool
) -> Iterator[tuple[Heads, float]]:
    """All trees and their scores, the highest first, given a best one and the duals that prove it."""
    n = len(arcs) - 1
    words = np.arange(1, n + 1)
    slack = slack_of(arcs, sets, values)
    two_best = np.sort(slack[:, 1:], axis=0)[:2] if n > 0 else np.zeros((2, 0))
    serial = itertools.count()
    score = float(arcs[best, words].sum())
    waiting: list[tuple[float, int, Part, Heads | None]] = [(-score, next(serial), Part(best[:0], ()), best)]
    while waiting:
        bound, _, part, heads = heapq.heappop(waiting)
        if heads is None:
            left = what_is_left(arcs, part)
            heads = np.empty(n, dtype=np.int64)
            if tree_kernel(left, 1 if single_root else 0, heads) >= 0:
                heapq.heappush(waiting, (-float(arcs[heads, words].sum()), next(serial), part, heads))
            continue
        yield heads, -bound
        # no tree scores more than the sum of all values less the slack of its arcs
        paid = slack[heads, words]
        other = np.where(two_best[0] < paid, two_best[0], two_best[1])
        first = len(part.fixed)
        if part.excluded and first < n:
            rest = slack[:, first + 1].copy()
            rest[[*part.excluded, heads[first]]] = np.inf
            other[first] = rest.min()
        total = float(np.sum(values))
        bounds = np.minimum(total - (np.cumsum(paid) - paid) - other, -bound)
        for m in np.flatnonzero(bounds[first:] > -np.inf) + first:
            excluded = (*part.excluded, int(heads[m])) if m == first else (int(heads[m]),)
            heapq.heappush(waiting, (-float(bounds[m]), next(serial), Part(heads[:m], excluded), None))


def projective_trees(problem: Problem, arcs: Scores, k: int) -> Iterator[tuple[Heads, float]]:
    """The k best trees of a projective problem under arcs that hold the best labels."""
    trees = hypergraph_of(problem, arcs)
    most = min(k, (problem.n_words + 1) ** (problem.n_words - 1))  # there are no more trees than this
    return ((trees.heads(path.edges), path.score) for path in k_best_paths(trees.hypergraph, trees.scores, most))


def hypergraph_of(problem: Problem, arcs: Scores) -> ProjectiveHypergraph:
    """All trees of a projective problem with words, under arcs that stand for their labels."""
    scores: dict[str, Any] = {name: parts.at for name, parts in problem.parts.items()}
    return projective_hypergraph(arcs, single_root=problem.single_root, **scores)


def slack_of(arcs: Scores, sets: Sets, values: tuple[float, ...]) -> Scores:
    """How much every arc scores below the sum of the values of the sets that it enters."""
    inside = np.zeros((len(sets), len(arcs)))
    for row, words in zip(inside, sets, strict=True):
        row[list(words)] = 1.0
    return np.asarray((1.0 - inside).T @ (np.array(values)[:, None] * inside) - arcs)


def what_is_left(arcs: Scores, part: Part) -> Scores:
    left = arcs.copy()
    first = len(part.fixed)
    words = np.arange(1, first + 1)
    left[:, 1 : first + 1] = -np.inf
    left[part.fixed, words] = arcs[part.fixed, words]
    left[list(part.excluded), first + 1] = -np.inf
    return left


def labelled_trees(problem: Problem, trees: Iterator[tuple[Heads, float]]) -> Iterator[tuple[Tree, float]]:
    """Structures of a problem in the order of their scores, given its trees in the order of their scores with the best labels."""
    if problem.labels is None:
        yield from ((problem.tree(heads), score) for heads, score in trees)
        return
    words = np.arange(1, problem.n_words + 1)
    serial = itertools.count()
    # a labelling of a tree: the rank of every word's label, and the last word whose rank was raised
    waiting: list[tuple[float, int, Heads, NDArray[np.int64], Scores, tuple[int, ...], int]] = []
    following = next(trees, None)
    while following is not None or waiting:
        if following is not None and (not waiting or following[1] >= -waiting[0][0]):
            heads, score = following
            scores = problem.labels[heads, words]
            order = np.argsort(-scores, axis=1, kind="stable")
            ranked = np.take_along_axis(scores, order, axis=1)
            heapq.heappush(waiting, (-score, next(serial), heads, order, ranked, (0,) * problem.n_words, 0))
            following = next(trees, None)
            continue
        negative, _, heads, order, ranked, ranks, raised = heapq.heappop(waiting)
        yield problem.tree(heads, order[np.arange(problem.n_words), ranks]), -negative
        for word in range(raised, problem.n_words):  # every choice of ranks is the successor of one other
            rank = ranks[word] + 1
            if rank < ranked.shape[1] and ranked[word, rank] > -np.inf:
                lost = float(ranked[word, rank - 1] - ranked[word, rank])
                more = (*ranks[:word], rank, *ranks[word + 1 :])
                heapq.heappush(waiting, (negative + lost, next(serial), heads, order, ranked, more, word))
