"""The best hyperpath under linear side constraints (Rush 2014, section 7.1).

    argmax_y  scores . y   over the hyperpaths y of a hypergraph   with   A y = b  or  A y <= b

Without constraints one dynamic program solves it; with them it is NP-hard.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from zerogap.errors import ConstraintError, InputError, InvalidStructure, OverlappingTails
from zerogap.grid import Scores, as_scores, choose_resolution, largest_magnitude, restored, round_to_grid, unit_of
from zerogap.structures.hypergraph import Hypergraph
from zerogap.structures.linear import LinearConstraints, nothing


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """A hypergraph, a score for every hyperedge, and constraints whose parts are the hyperedges.

    A structure is the tuple of the hyperedges of a hyperpath, each before those below it.
    """

    hypergraph: Hypergraph
    scores: Scores
    constraints: LinearConstraints
    resolution: float
    unit: float
    terms: int  # no hyperpath has more hyperedges

    __setstate__ = restored

    def __init__(
        self,
        hypergraph: Hypergraph,
        scores: object,
        constraints: LinearConstraints | None = None,
        *,
        resolution: float | None = None,
    ) -> None:
        if not isinstance(hypergraph, Hypergraph) or not isinstance(constraints, LinearConstraints | None):
            kinds = f"{type(hypergraph).__name__} and {type(constraints).__name__}"
            raise InputError(f"hypergraph and constraints are {kinds}: expected a Hypergraph, and LinearConstraints or None.")
        given = as_scores(scores, "scores", shape=(hypergraph.n_edges,))
        rows = nothing(hypergraph.n_edges) if constraints is None else constraints
        if rows.n_parts != hypergraph.n_edges:
            raise ConstraintError(f"constraints are over {rows.n_parts} parts: expected {hypergraph.n_edges}, one per hyperedge.")
        terms = longest_path(hypergraph)
        grid = choose_resolution(largest_magnitude(given), terms, resolution)
        rounded = round_to_grid(given, grid)
        for name, value in (
            ("hypergraph", hypergraph), ("scores", rounded), ("constraints", rows),
            ("resolution", grid), ("unit", unit_of(grid, rounded)), ("terms", terms),
        ):  # fmt: skip
            object.__setattr__(self, name, value)

    def score(self, edges: Sequence[int]) -> float:
        chosen = np.asarray(edges)
        if chosen.size and (chosen.dtype.kind not in "iu" or chosen.min() < 0 or chosen.max() >= len(self.scores)):
            raise InvalidStructure(f"the structure is {edges!r}: expected hyperedges from 0 to {len(self.scores) - 1}.")
        return float(self.scores[chosen.astype(np.int64)].sum())

    def check(self, edges: Sequence[int]) -> None:
        """Raises InvalidStructure unless the hyperedges are an allowed hyperpath that satisfies every constraint."""
        self.hypergraph.check_path(edges)
        chosen = np.asarray(edges, dtype=np.int64)
        forbidden = chosen[self.scores[chosen] == -np.inf]
        if forbidden.size:
            raise InvalidStructure(f"hyperedge {forbidden[0]} is forbidden: its score is -inf.")
        excess = self.constraints.excess(chosen)
        broken = np.flatnonzero(self.constraints.violated(excess))
        if broken.size:
            r = int(broken[0])
            limit, sense = self.constraints.limits[r], "=" if self.constraints.is_equation[r] else "<="
            name, value = self.constraints.names[r], excess[r] + limit
            raise InvalidStructure(f"constraint {name!r} does not hold: its sum is {value:g}, expected {sense} {limit:g}.")


def longest_path(graph: Hypergraph) -> int:
    """The largest number of hyperedges in a hyperpath."""
    depth = np.zeros(graph.n_vertices, dtype=np.int64)
    starts, tail_starts = graph.edge_start, graph.tail_start
    for v in np.flatnonzero(~graph.is_terminal):
        first, last = starts[v], starts[v + 1]
        at = tail_starts[first : last + 1]
        below = np.add.reduceat(depth[graph.tails[at[0] : at[-1]]], at[:-1] - at[0])
        depth[v] = 1 + min(int(below.max()), graph.n_vertices)
    if depth[graph.root] > graph.n_vertices:
        raise OverlappingTails("a hyperpath uses a vertex more than once: the tails of the hypergraph overlap.")
    return int(depth[graph.root])
