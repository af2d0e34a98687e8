"""The two halves of joint parsing and tagging as oracles, and the whole as one constrained hypergraph.

Rush 2014, section 4.2.1: a parser and a tagger, each solved exactly for any prices on (word, tag).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zerogap.constituency.problem import JointProblem, Tree
from zerogap.grid import Scores
from zerogap.hypergraph.problem import Problem as HypergraphProblem
from zerogap.oracles.cky import Chart, cky_hypergraph
from zerogap.oracles.hypergraph import inside_chart, path_of
from zerogap.oracles.viterbi import checked_transitions, ngram_viterbi
from zerogap.relax.lagrangian import Answer
from zerogap.structures.hypergraph import from_edges
from zerogap.structures.linear import constraint_rows


@dataclass(frozen=True, slots=True, eq=False)
class Halves:
    """The two halves of a problem, built once and solved for many multipliers."""

    problem: JointProblem
    chart: Chart
    part_of_edge: NDArray[np.int64]  # (E,): the part (word, tag) of a lexical hyperedge, else -1
    transitions: Scores

    @classmethod
    def of(cls, problem: JointProblem) -> Halves:
        chart = cky_hypergraph(problem.grammar, problem.lexical)
        tag_of_symbol = np.full(len(problem.grammar.symbols), -1, dtype=np.int64)
        tag_of_symbol[problem.tag_symbols] = np.arange(len(problem.tags))
        first_tail = chart.hypergraph.tails[chart.hypergraph.tail_start[:-1]]
        words = chart.items[first_tail]
        part = words[:, 0] * len(problem.tags) + tag_of_symbol[words[:, 2]]
        table = checked_transitions(problem.transitions, problem.n_words, len(problem.tags))
        return cls(problem, chart, np.where(first_tail < chart.n_terminals, part, -1), table)

    def parse(self, weights: Scores) -> Answer | None:
        """The best parse when (word, tag) scores `weights` instead of its lexical score."""
        graph, lexical = self.chart.hypergraph, self.part_of_edge >= 0
        scores = self.chart.scores.copy()
        scores[lexical] = weights[self.part_of_edge[lexical]]
        inside, back = inside_chart(graph, scores, np.zeros(graph.n_vertices))
        if inside[graph.root] == -np.inf:
            return None
        edges, _ = path_of(graph, back)
        parts = self.part_of_edge[edges]
        return Answer(self.tree(edges), parts[parts >= 0], float(scores[edges[parts < 0]].sum()))

    def tag(self, weights: Scores) -> Answer | None:
        """The best tags when (word, tag) scores `weights`."""
        n, n_tags = self.problem.n_words, len(self.problem.tags)
        nodes = np.ascontiguousarray(weights.reshape(n, n_tags))
        best = np.empty((n + 1, self.transitions.shape[1]))
        labels = np.empty(n, dtype=np.int64)
        total = ngram_viterbi(nodes, self.transitions, best, labels)
        if total == -np.inf:
            return None
        parts = np.arange(n) * n_tags + labels
        return Answer(tuple(self.problem.tags[t] for t in labels), parts, total - float(nodes[np.arange(n), labels].sum()))

    def tree(self, edges: NDArray[np.int64]) -> Tree:
        """The nested tuples of a hyperpath, whose hyperedges come top first and left to right."""
        graph, symbols = self.chart.hypergraph, self.problem.grammar.symbols
        heads = graph.heads
        built: dict[int, Tree] = {}
        for e in edges[::-1].tolist():  # bottom up
            head = int(heads[e])
            symbol = symbols[self.chart.items[head, 2]]
            if self.part_of_edge[e] >= 0:
                built[head] = (symbol, int(self.chart.items[head, 0]))
            else:
                built[head] = (symbol, *(built[u] for u in graph.tail(e).tolist()))
        return built[graph.root]


def joint_hypergraph(halves: Halves) -> HypergraphProblem | None:
    """The same problem as one constrained hypergraph: a new root over the forest and over the lattice of tag sequences.

    The forest's hyperedges keep their numbers; the rows are those of algorithm 6. None if the tagger forbids every sequence.
    """
    problem, forest = halves.problem, halves.chart.hypergraph
    n, n_tags = problem.n_words, len(problem.tags)
    contexts, table = halves.transitions.shape[1], halves.transitions[0]
    n_forest = forest.n_vertices
    alive = live_contexts(problem, table)
    if not alive[0]:
        return None
    # vertex n_forest + i * contexts + c: the first i tags are read and c is the context
    heads, tails, scores, parts = [], [], [], []
    for i in range(n):
        for context in sorted(alive[i]):
            for t in range(n_tags):
                following = (context * (n_tags + 1) + t) % contexts
                score = table[context, t] + problem.emissions[i, t]
                if score > -np.inf and following in alive[i + 1]:
                    heads.append(n_forest + (i + 1) * contexts + following)
                    tails.append([n_forest + i * contexts + context])
                    scores.append(score)
                    parts.append(i * n_tags + t)
    end = n_forest + (n + 1) * contexts
    for context in sorted(alive[n]):
        heads.append(end)
        tails.append([n_forest + n * contexts + context])
        scores.append(table[context, n_tags])
        parts.append(-1)
    heads.append(end + 1)
    tails.append([forest.root, end])
    scores.append(0.0)
    parts.append(-1)
    all_parts = np.concatenate([halves.part_of_edge, parts])
    signs = np.concatenate([np.ones(forest.n_edges), -np.ones(len(parts))])
    graph, _, order = from_edges(
        np.concatenate([forest.heads, heads]),
        [forest.tail(e).tolist() for e in range(forest.n_edges)] + tails,
        n_vertices=end + 2, root=end + 1, validate=False,
    )  # fmt: skip
    rows = [({int(e): float(signs[order[e]]) for e in np.flatnonzero(all_parts[order] == part)}, "=", 0.0) for part in range(n * n_tags)]
    return HypergraphProblem(graph, np.concatenate([halves.chart.scores, scores])[order], constraint_rows(graph.n_edges, rows))


def live_contexts(problem: JointProblem, table: Scores) -> list[set[int]]:
    """The contexts after every number of words from which some allowed tag sequence starts and ends."""
    n, n_tags, contexts = problem.n_words, len(problem.tags), len(table)

    def allowed(i: int, context: int) -> list[int]:
        scores = table[context, :n_tags] + problem.emissions[i]
        return [(context * (n_tags + 1) + int(t)) % contexts for t in np.flatnonzero(scores > -np.inf)]

    reached = [{contexts - 1}]
    for i in range(n):
        reached.append({following for context in reached[i] for following in allowed(i, context)})
    reached[n] = {context for context in reached[n] if table[context, n_tags] > -np.inf}
    for i in range(n - 1, -1, -1):
        reached[i] = {context for context in reached[i] if any(following in reached[i + 1] for following in allowed(i, context))}
    return reached
