"""The simple Lagrangian relaxation of syntax-based translation with bigrams (Rush 2014, section 5.2; its run in section 5.8 is a test).

Every leaf of a derivation chooses the leaf before it on its own (C1); multipliers have every leaf chosen as often as it is used (C2). The
bound holds for any forest; that agreement makes a derivation needs leaves that come in one order only (assumption 5.2.1), so a
derivation counts as optimal when its own score reaches the bound. Departures: the subgradient method is that of
zerogap.relax.lagrangian, whose multipliers are those of section 5.2.2 negated.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zerogap.errors import InputError
from zerogap.grid import Scores
from zerogap.oracles.hypergraphs.best_path import inside_chart, path_of
from zerogap.papers.rush2014.partitions.leaf_paths import longest_paths
from zerogap.problems.translation.forest import Derivation
from zerogap.problems.translation.forest_problem import SyntaxProblem
from zerogap.problems.translation.language_model import EMPTY_STATE
from zerogap.proof.certificate import DynamicProgram
from zerogap.proof.solution import Solution
from zerogap.relax.candidate import Candidate
from zerogap.relax.lagrangian import Answer, Oracle, Relaxed, State, minimise_dual
from zerogap.structures.linear import LinearConstraints, constraint_rows
from zerogap.translation.forests.leaf_graph import FIRST_START, SECOND_END, SECOND_START, UNSCORED, LeafGraph, leaf_graph


@dataclass(frozen=True, slots=True, eq=False)
class BigramRelaxation:
    """Parts are the leaves, then the pairs of leaves that may follow each other, sorted by the second one."""

    graph: LeafGraph
    pairs: NDArray[np.int64]  # (pairs, 2)
    pair_start: NDArray[np.int64]  # (leaves + 1,), by the second leaf
    scores: Scores  # of parts: those of bigrams

    def rows(self) -> LinearConstraints:
        """C2: every leaf but the last is before another as often as it is used."""
        leaves = self.graph.n_leaves
        followers: dict[int, dict[int, float]] = {v: {v: 1.0} for v in range(leaves) if v != SECOND_END}
        for k, (v, _) in enumerate(self.pairs.tolist()):
            followers[v][leaves + k] = -1.0
        return constraint_rows(leaves + len(self.pairs), [(row, "=", 0.0) for row in followers.values()])

    def best(self, scores: Scores) -> Answer | None:
        """The best derivation in which every leaf has the best bigram into it."""
        graph, leaves = self.graph, self.graph.n_leaves
        of_leaf = scores[:leaves].copy()
        chosen = np.full(leaves, -1)
        for v in range(leaves):
            into = scores[leaves + self.pair_start[v] : leaves + self.pair_start[v + 1]]
            if into.size:
                chosen[v] = self.pair_start[v] + int(np.argmax(into))
                of_leaf[v] += into.max()
            elif v != FIRST_START:
                of_leaf[v] = -np.inf
        vertex_scores = np.concatenate([of_leaf, np.zeros(graph.hypergraph.n_vertices - leaves)])
        inside, back = inside_chart(graph.hypergraph, graph.scores, vertex_scores)
        if inside[graph.hypergraph.root] == -np.inf:
            return None
        edges, used = path_of(graph.hypergraph, back)
        bigrams = chosen[used[used != FIRST_START]]
        derivation = tuple(e for e in edges.tolist() if e != len(graph.scores) - 1)
        return Answer(derivation, np.concatenate([used, leaves + bigrams]), float(graph.scores[edges].sum()))


def bigram_relaxation(problem: SyntaxProblem) -> BigramRelaxation:
    """InputError unless the language model is one of bigrams."""
    model = problem.language_model
    if model.order > 2:
        raise InputError(f"the language model has order {model.order}: expected at most 2 for the relaxation with bigrams.")
    graph = leaf_graph(problem)
    steps = []
    for pairs in (graph.ups, graph.turns, graph.downs):
        steps += [np.ascontiguousarray(pairs[:, 0]), np.ascontiguousarray(pairs[:, 1]), np.zeros(len(pairs))]
    reach = np.empty((graph.n_leaves, graph.n_leaves))
    longest_paths(*steps, graph.hypergraph.n_vertices, reach)
    second, first = np.nonzero(np.isfinite(reach.T))
    scores = []
    for v, w in zip(first.tolist(), second.tolist(), strict=True):
        if graph.words[w] == UNSCORED or w <= SECOND_START:
            scores.append(0.0)
        else:
            state = model.start if v <= SECOND_START else int(model.next_states[graph.words[v]]) if graph.words[v] >= 0 else EMPTY_STATE
            scores.append(model.step(state, int(graph.words[w]))[0])
    start = np.concatenate([[0], np.cumsum(np.bincount(second, minlength=graph.n_leaves))]).astype(np.int64)
    return BigramRelaxation(graph, np.stack([first, second], axis=1), start, np.array([0.0] * graph.n_leaves + scores))


def relax_bigrams(
    problem: SyntaxProblem, *, step: str = "polyak", scale: float | None = None, max_iterations: int = 200, time_limit: float | None = None
) -> Relaxed:
    """The algorithm of figure 5-4, with its multipliers."""
    relaxation = bigram_relaxation(problem)

    def repair(state: State) -> Candidate:
        return Candidate(state.structures[0], problem.score(state.structures[0]))

    return minimise_dual(
        [Oracle(relaxation.scores, relaxation.best)], relaxation.rows(), resolution=problem.resolution, terms=4 * problem.terms + 8,
        repair=repair, step=step, scale=scale, max_iterations=max_iterations, time_limit=time_limit,
    )  # fmt: skip


def decode_bigrams(problem: SyntaxProblem, *, max_iterations: int = 200, time_limit: float | None = None) -> Solution[Derivation]:
    """The best derivation that the relaxation meets, and its bound. For small forests."""
    found = relax_bigrams(problem, max_iterations=max_iterations, time_limit=time_limit)
    best = found.best or Candidate(None, -np.inf)
    return Solution(best.structure, best.score, max(found.bound, best.score), DynamicProgram(), found.trace)
