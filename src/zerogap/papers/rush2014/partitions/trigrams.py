"""Lagrangian relaxation of syntax-based translation with trigrams (Rush 2014, section 5.3), tightened by partitions (section 5.4).

Every leaf of a derivation chooses the two leaves before it and the paths to them on its own. Multipliers make the choices agree with the
derivation, in what leaves are the middle (D3) and the oldest (D4) of trigrams, and in what steps their two paths take (D5, D6). Where
the bound stalls, leaves that were confused with one another are put into different parts, and choices must agree with the
derivation about the parts of the two leaves before: the derivation then remembers the parts of its last two leaves.

Departures: the subgradient method is that of zerogap.relax.lagrangian, on the grid and with Polyak's steps; the derivation of every
iteration is scored as it is, which gives candidates. Parts are colours of a greedy colouring.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from zerogap.errors import InputError
from zerogap.grid import Scores
from zerogap.oracles.hypergraphs.best_path import best_path
from zerogap.oracles.hypergraphs.product import SILENT, intersect
from zerogap.oracles.ngrams.lookup import Tables, ngram_tables
from zerogap.papers.rush2014.partitions.leaf_paths import best_trigrams, longest_paths, trace_path
from zerogap.problems.translation.forest import Derivation
from zerogap.problems.translation.forest_problem import SyntaxProblem
from zerogap.problems.translation.language_model import BEGIN
from zerogap.proof.certificate import DynamicProgram
from zerogap.proof.solution import Solution, Trace
from zerogap.relax.candidate import Candidate
from zerogap.relax.lagrangian import Answer, Oracle, Relaxed, State, minimise_dual
from zerogap.structures.automaton import Automaton
from zerogap.structures.linear import LinearConstraints, agreement
from zerogap.translation.forests.leaf_graph import FIRST_END, FIRST_START, SECOND_END, SECOND_START, LeafGraph, leaf_graph

OVERSHOOT = 1.7  # of Polyak's steps: as long as they aim at the optimum itself, they come close to it and never reach it
PATIENCE = 20  # iterations without a better bound before parts are split
MOST_LEAVES = 2000  # that have tables of all pairs
KINDS = 3  # of parts for every leaf (itself, as a middle one, as the oldest one) and every step (itself, in first and in second paths)


@dataclass(slots=True)
class TrigramRelaxation:
    """The oracle of the relaxation. Its parts are leaves, then steps, three kinds of each; `partition` is the function of section 5.4."""

    problem: SyntaxProblem
    graph: LeafGraph
    tables: Tables
    partition: NDArray[np.int64]
    confused: set[tuple[int, int]] = field(default_factory=set)

    @property
    def n_parts(self) -> int:
        return KINDS * (self.graph.n_leaves + self.graph.n_steps)

    def rows(self) -> LinearConstraints:
        """D3 to D6: agreement of leaves and steps with what trigrams of paths have."""
        leaves, steps = self.graph.n_leaves, self.graph.n_steps
        pairs = [(v, leaves + v) for v in range(leaves) if v not in (FIRST_START, SECOND_END)]
        pairs += [(v, 2 * leaves + v) for v in range(leaves) if v not in (FIRST_END, SECOND_END)]
        base = KINDS * leaves
        first_gap, last_gap = self.graph.step_number(FIRST_START, SECOND_START), self.graph.step_number(FIRST_END, SECOND_END)
        pairs += [(base + s, base + steps + s) for s in range(steps) if s != last_gap]
        pairs += [(base + s, base + 2 * steps + s) for s in range(steps) if s != first_gap]
        return agreement(self.n_parts, np.array(pairs))

    def best(self, scores: Scores) -> Answer:
        """The best derivation in which every leaf chooses for itself, but for the parts of the partition."""
        graph, model = self.graph, self.problem.language_model
        leaves, steps = graph.n_leaves, graph.n_steps
        of_leaf, of_middle, of_old = (scores[k * leaves : (k + 1) * leaves] for k in range(KINDS))
        of_step, in_first, in_second = (scores[KINDS * leaves + k * steps : KINDS * leaves + (k + 1) * steps] for k in range(KINDS))
        paths = []
        for values in (in_first, in_second):
            table = np.empty((leaves, leaves))
            longest_paths(*self.steps(values), graph.hypergraph.n_vertices, table)
            paths.append(table)
        q = int(self.partition.max()) + 1
        alpha, chosen = np.empty((q * q, leaves)), np.empty((q * q, leaves, 2), dtype=np.int32)
        best_trigrams(
            *paths, np.ascontiguousarray(of_old), np.ascontiguousarray(of_middle), graph.words, self.partition, q, model.ids[BEGIN],
            model.start, *self.tables, alpha, chosen,
        )  # fmt: skip
        edge_scores = graph.scores + np.array([of_step[list(own)].sum() for own in graph.edge_steps])
        edges, used = self.best_derivation(edge_scores, of_leaf, alpha, q)
        parts, rest = [], float(graph.scores[edges].sum())
        for e in edges.tolist():
            parts += [KINDS * leaves + s for s in graph.edge_steps[e]]
        for place, (v, state) in enumerate(used):
            parts.append(v)
            if place < 2:
                continue
            oldest, middle = chosen[state, v].tolist()
            parts += [leaves + middle, 2 * leaves + oldest]
            for k, (a, b, values) in enumerate(((oldest, middle, in_first), (middle, v, in_second)), start=1):
                found = np.empty(graph.hypergraph.n_vertices * 2 + 2, dtype=np.int64)
                length = trace_path(*self.steps(values), graph.hypergraph.n_vertices, a, b, found)
                parts += (KINDS * leaves + k * steps + found[:length]).tolist()
            rest += float(alpha[state, v] - of_old[oldest] - of_middle[middle] - paths[0][oldest, middle] - paths[1][middle, v])
            self.confused |= {pair for pair in ((middle, used[place - 1][0]), (oldest, used[place - 2][0])) if pair[0] != pair[1]}
        derivation = tuple(e for e in edges.tolist() if e != len(graph.scores) - 1)
        return Answer(derivation, np.array(parts, dtype=np.int64), rest)

    def steps(self, values: Scores) -> tuple[NDArray[np.int32] | Scores, ...]:
        graph, begin = self.graph, 0
        arrays: list[NDArray[np.int32] | Scores] = []
        for pairs in (graph.ups, graph.turns, graph.downs):
            arrays += [
                np.ascontiguousarray(pairs[:, 0]),
                np.ascontiguousarray(pairs[:, 1]),
                np.ascontiguousarray(values[begin : begin + len(pairs)]),
            ]
            begin += len(pairs)
        return tuple(arrays)

    def best_derivation(
        self, edge_scores: Scores, of_leaf: Scores, alpha: Scores, q: int
    ) -> tuple[NDArray[np.int64], list[tuple[int, int]]]:
        """Its hyperedges from the top down, and its leaves with the parts of the two before each: the product with an automaton."""
        graph, leaves = self.graph, self.graph.n_leaves
        after = np.arange(q * q)[:, None] % q * q + self.partition  # parts (b, a), then leaf v: (a, part of v)
        following = np.where(alpha > -np.inf, after, -1).astype(np.int32)
        machine = Automaton(
            tuple(range(leaves)), following, np.where(alpha > -np.inf, alpha + of_leaf, 0.0), np.zeros(q * q),
            start=int(self.partition[FIRST_START] * q + self.partition[SECOND_START]),
        )  # fmt: skip
        labels = np.full(graph.hypergraph.n_vertices, SILENT)
        labels[SECOND_START + 1 : leaves] = np.arange(SECOND_START + 1, leaves)
        product = intersect(graph.hypergraph, edge_scores, labels, machine)
        path = best_path(product.hypergraph, product.scores)
        edges = product.edge_origin[path.edges]
        used = []
        for e in path.edges.tolist():
            for v in product.hypergraph.tail(e).tolist():
                origin, state, _ = product.vertex_origin[v].tolist()
                if 0 <= origin < leaves:
                    used.append((origin, state))
        order = left_to_right(graph, edges[edges >= 0].astype(np.int64))
        states = dict(used)
        return edges[edges >= 0].astype(np.int64), [(v, states[v]) for v in order]

    def split(self) -> None:
        """A partition that keeps all leaves apart that were confused so far: greedy colouring, the most confused first."""
        rivals: dict[int, set[int]] = {}
        for a, b in sorted(self.confused):
            rivals.setdefault(a, set()).add(b)
            rivals.setdefault(b, set()).add(a)
        colours = np.zeros(self.graph.n_leaves, dtype=np.int64)
        done: set[int] = set()
        for v in sorted(rivals, key=lambda v: (-len(rivals[v]), v)):
            taken = {int(colours[u]) for u in rivals[v] & done}
            colours[v] = next(c for c in range(len(rivals[v]) + 1) if c not in taken)
            done.add(v)
        self.partition = colours


def left_to_right(graph: LeafGraph, edges: NDArray[np.int64]) -> list[int]:
    """The leaves of a derivation whose hyperedges are listed from the top down."""
    found, following = [], iter(edges.tolist())
    waiting = [graph.hypergraph.root]
    while waiting:
        v = waiting.pop()
        if v < graph.n_leaves:
            found.append(v)
        else:
            waiting.extend(graph.hypergraph.tail(next(following)).tolist()[::-1])
    return found


def trigram_relaxation(problem: SyntaxProblem, *, max_leaves: int = MOST_LEAVES) -> TrigramRelaxation:
    model = problem.language_model
    graph = leaf_graph(problem, max_leaves=max_leaves)
    tables = ngram_tables(model.keys, model.scores, model.next_states, model.back_offs, model.shorter, model.n_words)
    return TrigramRelaxation(problem, graph, tables, np.zeros(graph.n_leaves, dtype=np.int64))


def relax_trigrams(
    problem: SyntaxProblem, *, incumbent: Candidate | None = None, max_iterations: int = 500, time_limit: float | None = None,
    tighten: bool = False, max_parts: int = 12, max_leaves: int = MOST_LEAVES,
) -> Relaxed:  # fmt: skip
    """The algorithm of figure 5-7 and, with `tighten`, of section 5.4. For small forests: InputError if there are too many leaves.

    Steps aim at the score of the best derivation so far, from the incumbent's on."""
    if isinstance(max_iterations, bool) or not isinstance(max_iterations, int) or max_iterations < 1:
        raise InputError(f"max_iterations is {max_iterations!r}: expected at least 1.")
    begin = time.perf_counter()
    relaxation = trigram_relaxation(problem, max_leaves=max_leaves)
    rows = relaxation.rows()
    height = 2 * relaxation.graph.hypergraph.n_vertices
    oracle = Oracle(np.zeros(relaxation.n_parts), relaxation.best)

    def repair(state: State) -> Candidate:
        derivation = state.structures[0]
        return Candidate(derivation, problem.score(derivation))

    best, multipliers, bound, trace, left = incumbent, None, np.inf, Trace(), max_iterations
    while True:
        patience = PATIENCE if tighten and relaxation.partition.max() + 1 < max_parts else None
        seconds = None if time_limit is None else max(time_limit - (time.perf_counter() - begin), 0.0)
        found = minimise_dual(
            [oracle], rows, resolution=problem.resolution, terms=problem.terms * (4 + 2 * height), repair=repair, incumbent=best,
            multipliers=multipliers, max_iterations=left, patience=patience, time_limit=seconds, scale=OVERSHOOT,
        )  # fmt: skip
        best, multipliers, left = found.best, found.multipliers, left - found.iterations
        bound = min(bound, found.bound)
        trace = trace.then(found.trace)
        if found.reason != "stalled" or left <= 0:
            return replace(found, bound=bound, trace=trace)
        relaxation.split()


def decode_trigrams(
    problem: SyntaxProblem, *, known: Derivation | None = None, max_iterations: int = 500, time_limit: float | None = None,
    tighten: bool = True, max_parts: int = 12,
) -> Solution[Derivation]:  # fmt: skip
    """The same with the derivation that it found."""
    incumbent = None if known is None else Candidate(known, problem.score(known))
    found = relax_trigrams(
        problem, incumbent=incumbent, max_iterations=max_iterations, time_limit=time_limit, tighten=tighten, max_parts=max_parts
    )
    assert found.best is not None
    return Solution(found.best.structure, found.best.score, max(found.bound, found.best.score), DynamicProgram(), found.trace)
