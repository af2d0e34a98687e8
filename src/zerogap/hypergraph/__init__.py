"""Hypergraphs as problems: the best hyperpath, with or without linear side constraints."""

from typing import TYPE_CHECKING

from zerogap._lazy import lazy
from zerogap.problems.hypergraph import Problem
from zerogap.structures.hypergraph import Builder, Hypergraph, from_edges
from zerogap.structures.linear import LinearConstraints, agreement, constraint_matrix, constraint_rows

if TYPE_CHECKING:
    from zerogap.hypergraph.decoding import decode, decode_many
    from zerogap.oracles.hypergraphs.best_path import best_path, filter_edges, fringe, max_marginals
    from zerogap.oracles.hypergraphs.kbest import k_best_paths
    from zerogap.oracles.hypergraphs.marginals import log_inside, posterior_marginals, sample
    from zerogap.oracles.hypergraphs.semiring import count_paths

__all__ = [
    "Builder", "Hypergraph", "LinearConstraints", "Problem", "agreement", "best_path", "constraint_matrix", "constraint_rows",
    "count_paths", "decode", "decode_many", "filter_edges", "fringe", "from_edges", "k_best_paths", "log_inside", "max_marginals",
    "posterior_marginals", "sample",
]  # fmt: skip

__getattr__, _ = lazy(
    __name__,
    dict.fromkeys(("decode", "decode_many"), "zerogap.hypergraph.decoding")
    | dict.fromkeys(("best_path", "filter_edges", "fringe", "max_marginals"), "zerogap.oracles.hypergraphs.best_path")
    | dict.fromkeys(("log_inside", "posterior_marginals", "sample"), "zerogap.oracles.hypergraphs.marginals")
    | {"k_best_paths": "zerogap.oracles.hypergraphs.kbest", "count_paths": "zerogap.oracles.hypergraphs.semiring"},
)
