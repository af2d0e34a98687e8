"""Joint parsing and tagging as a linear program over both marginal polytopes, in HiGHS (Rush 2014, section 4.4).

    maximise  scores . (mu, nu)    mu a mixture of parses, nu a mixture of tag sequences, mu(i, t) = nu(i, t) for every word and tag

A mixture of parses is a flow through the items of the chart: what enters an item leaves it through the rules below it (theorem 4.4.1).
The optimum is the least dual value of algorithm 6; with variables that are integers it is the best structure itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from zerogap.baselines.bar_hillel import live_contexts
from zerogap.baselines.highs import Blocks, solve_program
from zerogap.grid import Scores

if TYPE_CHECKING:
    from zerogap.oracles.parses.cky import Cells, IndexedGrammar
    from zerogap.problems.constituency.joint import JointProblem, Tree

Item = tuple[int, int, int, bool]  # start, end, symbol, and whether chains of unary rules are below it


@dataclass(frozen=True, slots=True, eq=False)
class Edge:
    """An item made of others, or of a word."""

    head: Item
    tails: tuple[Item, ...]
    score: float
    part: int = -1  # the word and tag of a leaf


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """The forest with its variables first, the tagger's after them."""

    blocks: Blocks
    edges: list[Edge]


def forest(problem: JointProblem, indexed: IndexedGrammar, cells: Cells) -> list[Edge]:
    """All ways to make the items that a parse of the sentence can have, top first; empty if there is no parse."""
    known: dict[tuple[int, int], set[int]] = {}  # the symbols over a span
    before: dict[tuple[int, int], set[int]] = {}  # those that need no chain
    for i in range(problem.n_words):
        for j in range(i + 1, problem.n_words + 1):
            items = slice(*cells.bounds[i, j].tolist())
            known[i, j] = set(cells.symbols[items].tolist())
            before[i, j] = set(cells.symbols[items][cells.before[items] > -np.inf].tolist())
    tag_of = dict(zip(problem.tag_symbols, problem.tag_of.tolist(), strict=True))
    rules, down = indexed.by_parent, indexed.down
    top: Item = (0, problem.n_words, problem.grammar.root, True)
    edges: list[Edge] = []
    seen, waiting = {top}, [top] if top[2] in known[top[:2]] else []
    while waiting:
        i, j, x, closed = item = waiting.pop()
        below = []
        if closed:
            if x in before[i, j]:
                below.append(Edge(item, ((i, j, x, False),), 0.0))
            for p in range(down.start[x], down.start[x + 1]):
                if (child := int(down.other[p])) in before[i, j]:
                    below.append(Edge(item, ((i, j, child, False),), float(down.scores[p])))
        elif j == i + 1:
            below.append(Edge(item, (), float(problem.lexical[i, x]), i * len(problem.tags) + tag_of[x]))
        else:
            for k in range(i + 1, j):
                for r in range(rules.start[x], rules.start[x + 1]):
                    left, right = int(rules.left[r]), int(rules.right[r])
                    if left in known[i, k] and right in known[k, j]:
                        below.append(Edge(item, ((i, k, left, True), (k, j, right, True)), float(rules.scores[r])))
        for edge in below:
            for tail in edge.tails:
                if tail not in seen:
                    seen.add(tail)
                    waiting.append(tail)
        edges += below
    return edges


def program(problem: JointProblem, indexed: IndexedGrammar, cells: Cells) -> Program | None:
    """None if one of the two halves has no structure at all."""
    edges, blocks = forest(problem, indexed, cells), Blocks()
    n, n_tags = problem.n_words, len(problem.tags)
    table = problem.transitions.reshape(-1, n_tags + 1)
    live = live_contexts(problem, table)
    if not edges or any(len(contexts) == 0 for contexts in live):
        return None
    columns = blocks.add_columns(np.array([edge.score for edge in edges]))
    place: dict[Item, int] = {}
    for edge in edges:
        place.setdefault(edge.head, len(place))
    rows = np.concatenate([blocks.add_rows(1, 1.0, 1.0), blocks.add_rows(len(place) - 1, 0.0, 0.0)])  # the first one is the root's
    blocks.fill(rows[[place[edge.head] for edge in edges]], columns)
    # an item that is both children of one rule cannot be: the two cover different words
    uses = [(place[tail], e) for e, edge in enumerate(edges) for tail in edge.tails]
    blocks.fill(rows[[row for row, _ in uses]], columns[[e for _, e in uses]], -1.0)
    agree = blocks.add_rows(n * n_tags, 0.0, 0.0)
    leaves = np.array([e for e, edge in enumerate(edges) if edge.part >= 0])
    blocks.fill(agree[[edges[e].part for e in leaves]], columns[leaves])
    into = blocks.add_rows(1, 1.0, 1.0)  # one row per context: what enters it
    for i in range(n + 1):
        starts, tags = np.nonzero(table[live[i]][:, [n_tags] if i == n else range(n_tags)] > -np.inf)
        tags = np.full_like(tags, n_tags) if i == n else tags
        allowed = np.ones(len(tags), dtype=np.bool_) if i == n else problem.emissions[i, tags] > -np.inf
        starts, tags = starts[allowed], tags[allowed]
        scores = table[live[i][starts], tags] + (0.0 if i == n else problem.emissions[i, tags])
        arcs = blocks.add_columns(scores)
        blocks.fill(into[starts], arcs, 1.0 if i == 0 else -1.0)
        if i < n:
            ends = np.searchsorted(live[i + 1], (live[i][starts] * (n_tags + 1) + tags) % len(table))
            into = blocks.add_rows(len(live[i + 1]), 0.0, 0.0)
            blocks.fill(into[ends], arcs)
            blocks.fill(agree[i * n_tags + tags], arcs, -1.0)
    return Program(blocks, edges)


def solved(built: Program, *, integer: bool, time_limit: float | None) -> tuple[Scores, Scores] | None:
    """The scores and the values of all variables."""
    objective, upper = np.concatenate(built.blocks.scores), np.concatenate(built.blocks.upper)
    flags: NDArray[np.bool_] = np.full(len(objective), integer)
    values = solve_program(objective, upper, built.blocks.matrix(), integer=flags, time_limit=time_limit).values
    return None if values is None else (objective, values)


def solve_lp(problem: JointProblem, indexed: IndexedGrammar, cells: Cells, *, time_limit: float | None = None) -> float | None:
    """The optimum of the relaxation by HiGHS's account; None if there is no solution, or none in time.

    It takes the tables of the problem's grammar and the chart of its lexical scores.
    """
    built = program(problem, indexed, cells)
    found = None if built is None else solved(built, integer=False, time_limit=time_limit)
    return None if found is None else float(found[0] @ found[1])


def solve_ilp(problem: JointProblem, indexed: IndexedGrammar, cells: Cells, *, time_limit: float | None = None) -> Tree | None:
    """A best structure by HiGHS's account; None if there is none, or none in time."""
    built = program(problem, indexed, cells)
    found = None if built is None else solved(built, integer=True, time_limit=time_limit)
    if built is None or found is None:
        return None
    chosen = {edge.head: edge for edge, value in zip(built.edges, found[1][: len(built.edges)], strict=True) if value > 0.5}
    return read_tree(problem, indexed, chosen, (0, problem.n_words, problem.grammar.root, True))


def read_tree(problem: JointProblem, indexed: IndexedGrammar, chosen: dict[Item, Edge], item: Item) -> Tree:
    """The tree of the edges that were chosen, from an item down."""
    edge, names = chosen[item], problem.grammar.symbols
    if not edge.tails:
        return names[item[2]], item[0]
    below = tuple(read_tree(problem, indexed, chosen, tail) for tail in edge.tails)
    if not item[3]:
        return names[item[2]], *below
    tree = below[0]
    for rule in reversed(indexed.closure.chain(item[2], edge.tails[0][2])):
        tree = (names[problem.grammar.unary[rule, 0]], tree)
    return tree
