"""Hypergraphs as problems: the best hyperpath, with or without linear side constraints."""

from typing import TYPE_CHECKING

from zerogap._lazy import lazy
from zerogap.hypergraph.problem import Problem
from zerogap.structures.hypergraph import Builder, Hypergraph, from_edges
from zerogap.structures.linear import LinearConstraints, agreement, constraint_matrix, constraint_rows

if TYPE_CHECKING:
    from zerogap.hypergraph.decoders import decode, decode_many
    from zerogap.oracles.hypergraph import best_path, filter_edges, fringe, max_marginals
    from zerogap.oracles.kbest import k_best_paths
    from zerogap.oracles.marginals import log_inside, posterior_marginals, sample
    from zerogap.oracles.semiring import count_paths

__all__ = [
    "Builder", "Hypergraph", "LinearConstraints", "Problem", "agreement", "best_path", "constraint_matrix", "constraint_rows",
    "count_paths", "decode", "decode_many", "filter_edges", "fringe", "from_edges", "k_best_paths", "log_inside", "max_marginals",
    "posterior_marginals", "sample",
]  # fmt: skip

__getattr__, _ = lazy(
    __name__,
    dict.fromkeys(("decode", "decode_many"), "zerogap.hypergraph.decoders")
    | dict.fromkeys(("best_path", "filter_edges", "fringe", "max_marginals"), "zerogap.oracles.hypergraph")
    | dict.fromkeys(("log_inside", "posterior_marginals", "sample"), "zerogap.oracles.marginals")
    | {"k_best_paths": "zerogap.oracles.kbest", "count_paths": "zerogap.oracles.semiring"},
)
