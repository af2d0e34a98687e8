"""Joint parsing and tagging by dual decomposition (Rush 2014, section 4.2.1, algorithm 6).

The parser and the tagger are oracles of their own; the equations y(i, t) = z(i, t) tie them. `auto` goes on with branch
and bound on tags of words where multipliers leave a gap; `intersection` builds the product of section 2.2.5 instead.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from zerogap.constituency.halves import Halves, joint_hypergraph
from zerogap.constituency.problem import JointProblem, Tree, tags_of
from zerogap.errors import Infeasible, UnknownMethod, check_problem
from zerogap.grid import Scores
from zerogap.oracles.hypergraph import best_path
from zerogap.oracles.product import intersect
from zerogap.proof.certificate import DynamicProgram
from zerogap.proof.solution import Solution, Trace
from zerogap.relax.branching import Fixed
from zerogap.relax.closing import Relax, close_gap
from zerogap.relax.lagrangian import Candidate, Oracle, Relaxed, State, minimise_dual
from zerogap.relax.many import decode_each
from zerogap.structures.automaton import ngram_automaton
from zerogap.structures.linear import agreement


def decode(
    problem: JointProblem,
    *,
    method: str = "auto",
    time_limit: float | None = None,
    max_iterations: int = 200,
    max_nodes: int | None = None,
    step: str = "polyak",
    scale: float | None = None,
) -> Solution[Tree]:
    """The best parse under both models, and a certificate.

    Methods: `auto`, `dual-decomposition` (algorithm 6; may leave a gap), `intersection` (exact and slow), `ilp`.
    """
    check_problem(problem, JointProblem)
    if not isinstance(method, str) or method not in METHODS:
        raise UnknownMethod("method", method, METHODS)
    return METHODS[method](problem, time_limit=time_limit, max_iterations=max_iterations, max_nodes=max_nodes, step=step, scale=scale)


def decode_many(
    problems: Sequence[JointProblem], *, threads: int | None = None, method: str = "auto", time_limit: float | None = None
) -> list[Solution[Tree]]:
    """Decodes problems on several threads, in order."""
    return decode_each(decode, problems, threads, method=method, time_limit=time_limit)


def relaxation(problem: JointProblem, *, step: str = "polyak", scale: float | None = None) -> Relax:
    """The dual of algorithm 6, with the tags forbidden that the decisions of a node exclude."""
    halves = Halves.of(problem)
    n_parts = problem.n_words * len(problem.tags)
    rows = agreement(2 * n_parts, np.stack([np.arange(n_parts), n_parts + np.arange(n_parts)], axis=1))
    floor = lowest_score(problem)

    def repair(state: State) -> Candidate | None:
        tree = state.structures[0]  # its own tags make it a structure of the joint problem (appendix A)
        score = problem.score(tree)
        return Candidate(tree, score) if score > -np.inf else None

    def relax(fixed: Fixed, **search: Any) -> Relaxed:
        lexical, emissions = tag_scores(problem, fixed)
        return minimise_dual(
            [Oracle(lexical.reshape(-1), halves.parse), Oracle(emissions.reshape(-1), halves.tag)], rows,
            resolution=problem.resolution, unit=problem.unit, terms=problem.terms, repair=repair, floor=floor,
            step=step, scale=scale, **search,
        )  # fmt: skip

    return relax


def lowest_score(problem: JointProblem) -> float:
    """A score that every parse reaches: the lowest of every kind of part, as often as there can be parts."""
    arrays = (problem.grammar.binary_scores, problem.grammar.unary_scores, problem.lexical, problem.emissions, problem.transitions)
    finite = [float(array[np.isfinite(array)].min(initial=0.0)) for array in arrays]
    return problem.terms * min(finite)


def tag_scores(problem: JointProblem, fixed: Fixed = ()) -> tuple[Scores, Scores]:
    """Lexical and emission scores (n, tags), -inf where the decisions of a node exclude a tag."""
    allowed = np.ones((problem.n_words, len(problem.tags)), dtype=np.bool_)
    for part, inside in fixed:
        i, t = divmod(part, len(problem.tags))
        allowed[i] &= (np.arange(len(problem.tags)) == t) == inside
    lexical = problem.lexical[:, problem.tag_symbols]
    return np.where(allowed, lexical, -np.inf), np.where(allowed, problem.emissions, -np.inf)


def decode_auto(
    problem: JointProblem, *, time_limit: float | None, max_iterations: int, max_nodes: int | None, step: str, scale: float | None,
    incumbent: Candidate | None = None,
) -> Solution[Tree]:  # fmt: skip
    closed = close_gap(
        relaxation(problem, step=step, scale=scale), partial(choose_split, problem),
        incumbent=incumbent, max_iterations=max_iterations, max_nodes=max_nodes, time_limit=time_limit,
    )  # fmt: skip
    if closed.is_infeasible:
        raise Infeasible("every parse of the sentence has tags that the tagger forbids (-inf).", ("grammar", "tagger"))
    return closed.solution()


def decode_dual(problem: JointProblem, **options: Any) -> Solution[Tree]:
    return decode_auto(problem, **{**options, "max_nodes": 1})


def decode_ilp(problem: JointProblem, **options: Any) -> Solution[Tree]:
    """HiGHS proposes a parse. Its own bound has a tolerance, so ours is proved by the search with that parse to beat."""
    from zerogap.baselines.hypergraph_ilp import solve_ilp

    halves = Halves.of(problem)
    joint = joint_hypergraph(halves)
    edges = None if joint is None else solve_ilp(joint, time_limit=options["time_limit"])
    if edges is None:
        return decode_auto(problem, **options)
    tree = halves.tree(np.array([e for e in edges if e < halves.chart.hypergraph.n_edges], dtype=np.int64))
    return decode_auto(problem, **options, incumbent=Candidate(tree, problem.score(tree)))


def decode_intersection(problem: JointProblem, **_: Any) -> Solution[Tree]:
    """The dynamic program over items that remember the tagger's states on both sides (theorem 2.2.1)."""
    begin = time.perf_counter()
    halves = Halves.of(problem)
    graph, n_tags = halves.chart.hypergraph, len(problem.tags)
    lexical = halves.part_of_edge >= 0
    scores = halves.chart.scores.copy()
    scores[lexical] += problem.emissions.reshape(-1)[halves.part_of_edge[lexical]]
    labels = np.full(graph.n_vertices, -1, dtype=np.int64)
    labels[graph.tails[graph.tail_start[:-1][lexical]]] = halves.part_of_edge[lexical] % n_tags
    product = intersect(graph, scores, labels, ngram_automaton(problem.tags, problem.transitions))
    path = best_path(product.hypergraph, product.scores)
    edges = product.edge_origin[path.edges]
    tree = halves.tree(edges[edges >= 0].astype(np.int64))
    score = problem.score(tree)
    return Solution(tree, score, score, DynamicProgram(), Trace((score,), (score,), (time.perf_counter() - begin,)))


def choose_split(problem: JointProblem, fixed: Fixed, state: State) -> int | None:
    """The first word that parser and tagger tag differently, with the parser's tag."""
    tree, tags = state.structures
    for i, (ours, theirs) in enumerate(zip(tags_of(tree), tags, strict=True)):
        if ours != theirs:
            return i * len(problem.tags) + problem.tags.index(ours)
    return None


METHODS: dict[str, Callable[..., Solution[Tree]]] = {
    "auto": decode_auto,
    "dual-decomposition": decode_dual,
    "intersection": decode_intersection,
    "ilp": decode_ilp,
}
