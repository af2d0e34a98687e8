"""One bottom-up fold of a hypergraph in any semiring: slow (Python), general, and obviously right.

Counting and enumerating hyperpaths are folds; so are the best score and the log partition function, which have kernels
of their own. The tests hold the kernels against these folds.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from zerogap.errors import ScoreShapeError
from zerogap.kernels import float64, int64, kernel, readonly, writable
from zerogap.oracles.hypergraphs.best_path import STARTS, TAIL_STARTS, TAILS
from zerogap.structures.hypergraph import Hypergraph

Value = TypeVar("Value")
LARGEST_EXACT = 2.0**53


@dataclass(frozen=True, slots=True)
class Semiring(Generic[Value]):
    """`plus` chooses between hyperedges, `times` joins a tail, left to right."""

    plus: Callable[[Value, Value], Value]
    times: Callable[[Value, Value], Value]
    zero: Value
    one: Value


MAX = Semiring(max, lambda a, b: a + b, -np.inf, 0.0)
LOG = Semiring(lambda a, b: float(np.logaddexp(a, b)), lambda a, b: a + b, -np.inf, 0.0)
COUNT: Semiring[int] = Semiring(lambda a, b: a + b, lambda a, b: a * b, 0, 1)
PATHS: Semiring[tuple[tuple[int, ...], ...]] = Semiring(
    lambda a, b: a + b, lambda a, b: tuple(x + y for x, y in itertools.product(a, b)), (), ((),)
)  # the tuples of hyperedges of all hyperpaths: exponential


def fold(hypergraph: Hypergraph, values: Sequence[Value], semiring: Semiring[Value]) -> list[Value]:
    """The value of every vertex, given one for every hyperedge; terminals are worth one."""
    if len(values) != hypergraph.n_edges:
        raise ScoreShapeError(f"values has {len(values)} entries: expected {hypergraph.n_edges}, one per hyperedge.")
    chart = [semiring.one] * hypergraph.n_vertices
    starts, tail_starts, tails = hypergraph.edge_start.tolist(), hypergraph.tail_start.tolist(), hypergraph.tails.tolist()
    for v in range(hypergraph.n_vertices):
        if starts[v] == starts[v + 1]:
            continue
        total = semiring.zero
        for e in range(starts[v], starts[v + 1]):
            product = values[e]
            for u in tails[tail_starts[e] : tail_starts[e + 1]]:
                product = semiring.times(product, chart[u])
            total = semiring.plus(total, product)
        chart[v] = total
    return chart


def enumerate_paths(hypergraph: Hypergraph) -> list[tuple[int, ...]]:
    """All hyperpaths, each as its hyperedges. For tests and small hypergraphs: there are exponentially many."""
    return list(fold(hypergraph, [((e,),) for e in range(hypergraph.n_edges)], PATHS)[hypergraph.root])


@kernel(int64(STARTS, TAIL_STARTS, TAILS, readonly(float64, 1), writable(float64, 1)))
def count_inside(edge_start, tail_start, tails, allowed, count):  # out: count (V,)
    for v in range(edge_start.shape[0] - 1):
        count[v] = 1.0 if edge_start[v] == edge_start[v + 1] else 0.0
        for e in range(edge_start[v], edge_start[v + 1]):
            ways = allowed[e]
            for p in range(tail_start[e], tail_start[e + 1]):
                ways *= count[tails[p]]
            count[v] += ways
    return 0


def count_paths(hypergraph: Hypergraph, *, keep: ArrayLike | None = None) -> int:
    """The exact number of hyperpaths, of those that use only hyperedges with `keep` if given."""
    allowed = np.ones(hypergraph.n_edges) if keep is None else np.asarray(keep, dtype=np.float64)
    if allowed.shape != (hypergraph.n_edges,):
        raise ScoreShapeError(f"keep has shape {allowed.shape}: expected {hypergraph.n_edges} booleans.")
    count = np.empty(hypergraph.n_vertices)
    count_inside(hypergraph.edge_start, hypergraph.tail_start, hypergraph.tails, allowed, count)
    if np.nanmax(count) < LARGEST_EXACT and not np.isnan(count).any():
        return int(count[hypergraph.root])
    return fold(hypergraph, [int(a) for a in allowed], COUNT)[hypergraph.root]  # too large for float64: Python's integers
