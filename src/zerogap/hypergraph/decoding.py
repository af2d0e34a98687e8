"""Exact decoding of hypergraphs with side constraints: dynamic program, Lagrangian relaxation, branch and bound.

`auto` runs the relaxation of section 7.1 first and goes on with branch and bound, with the relaxation as the bound, where
that leaves a gap. A node keeps one hyperedge into a vertex, or drops it: a hyperpath has at most one hyperedge into any
vertex, so the two together lose nothing.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zerogap.errors import Infeasible, InputError, InvalidStructure, UnknownMethod, check_problem
from zerogap.grid import Scores
from zerogap.oracles.hypergraphs.best_path import inside_chart, path_of
from zerogap.oracles.hypergraphs.kbest import k_best_of_chart
from zerogap.problems.hypergraph import Problem
from zerogap.proof.certificate import DynamicProgram, Multipliers, Signatures, Unsatisfiable
from zerogap.proof.solution import Solution, Trace
from zerogap.relax.beam import SignatureSearch, optimal_beam
from zerogap.relax.candidate import Candidate
from zerogap.relax.descent import Fixed, check_limits, close_gap, limits_of
from zerogap.relax.lagrangian import Answer, Oracle, Parts, Relaxed, State, minimise_dual
from zerogap.relax.multipliers import PATIENCE, LagrangianRelaxation, Relax
from zerogap.relax.parallel import decode_each
from zerogap.relax.steps import check_steps

Edges = tuple[int, ...]
ROWS_TO_SETTLE = 4  # broken rows of a node that are tested for being beyond reach
FILTER_NODES = 2000  # nodes per constraint when a conflict is reduced
REPAIR_EVERY, REPAIR_WIDTH = 10, 20  # look for candidates among the 20 best paths in every tenth iteration


def decode(
    problem: Problem,
    *,
    method: str = "auto",
    time_limit: float | None = None,
    max_iterations: int = 200,
    max_nodes: int | None = None,
    step: str = "polyak",
    scale: float | None = None,
) -> Solution[Edges]:
    """The best hyperpath, and a certificate.

    Methods: `auto` (proves every problem within the limits), `best-path` (no constraints), `optimal-beam` (multipliers
    and beam searches in turn), `lagrangian` (multipliers only; may leave a gap), `ilp` (HiGHS, for comparison). Infeasible names
    an irreducible set of constraints that cannot hold together.
    """
    check_problem(problem, Problem)
    if not isinstance(method, str) or method not in METHODS:
        raise UnknownMethod("method", method, METHODS)
    check_limits(time_limit, max_nodes)
    check_steps(step, scale)
    if len(problem.constraints) == 0 and method != "ilp":
        return best_unconstrained(problem)
    return METHODS[method](problem, time_limit=time_limit, max_iterations=max_iterations, max_nodes=max_nodes, step=step, scale=scale)


def decode_many(
    problems: Sequence[Problem], *, threads: int | None = None, method: str = "auto", time_limit: float | None = None
) -> list[Solution[Edges]]:
    """Decodes problems on several threads, in order."""
    return decode_each(decode, problems, threads, method=method, time_limit=time_limit)


def best_unconstrained(problem: Problem, **_: object) -> Solution[Edges]:
    if len(problem.constraints):
        raise InputError(f"method 'best-path' was given {len(problem.constraints)} constraints: expected none, or another method.")
    begin = time.perf_counter()
    answer = oracle(problem).best(problem.scores)
    if answer is None:
        raise Infeasible("every hyperpath uses a hyperedge that is forbidden (-inf).")
    score = problem.score(answer.structure)
    return Solution(answer.structure, score, score, DynamicProgram(), Trace((score,), (score,), (time.perf_counter() - begin,)))


def oracle(problem: Problem, scores: Scores | None = None) -> Oracle:
    """The dynamic program as an oracle over the hyperedges."""
    graph = problem.hypergraph
    no_scores = np.zeros(graph.n_vertices)

    def best(weights: Scores) -> Answer | None:
        inside, back = inside_chart(graph, np.ascontiguousarray(weights), no_scores)
        if inside[graph.root] == -np.inf:
            return None
        edges, _ = path_of(graph, back)
        return Answer(tuple(edges.tolist()), edges)

    return Oracle(problem.scores if scores is None else scores, best)


def relaxation(problem: Problem, *, step: str = "polyak", scale: float | None = None) -> Relax:
    """The dual of the problem, with the hyperedges forbidden that the decisions of a node exclude."""
    graph, rows = problem.hypergraph, problem.constraints
    no_scores = np.zeros(graph.n_vertices)
    floor = lowest_score(problem)

    def candidate(edges: Parts) -> Candidate:
        return Candidate(tuple(edges.tolist()), problem.score(edges.tolist()))

    def relax(fixed: Fixed, **search: Any) -> Relaxed:
        scores = restrict(problem, fixed)

        def repair(state: State) -> Candidate | None:
            if not rows.violated(state.excess).any():
                return candidate(state.parts)
            if state.iteration % REPAIR_EVERY != 1:
                return None
            reduced = scores - rows.transposed_times(state.multipliers)
            inside, back = inside_chart(graph, reduced, no_scores)
            paths = [path.edges for path in k_best_of_chart(graph, reduced, no_scores, inside, back, REPAIR_WIDTH)]
            good = [candidate(path) for path in paths if not rows.violated(rows.excess(path)).any()]
            return max(good, key=lambda path: path.score, default=None)

        return minimise_dual(
            [oracle(problem, scores)], rows, resolution=problem.resolution, unit=problem.unit, terms=problem.terms, repair=repair,
            floor=floor, step=step, scale=scale, **search,
        )  # fmt: skip

    return relax


def lowest_score(problem: Problem) -> float:
    """The score of the worst allowed hyperpath: no bound of a feasible problem falls below it."""
    reversed_scores = np.where(problem.scores > -np.inf, -problem.scores, -np.inf)
    inside, _ = inside_chart(problem.hypergraph, reversed_scores, np.zeros(problem.hypergraph.n_vertices))
    return -float(inside[problem.hypergraph.root])


def restrict(problem: Problem, fixed: Fixed) -> Scores:
    """Scores with -inf on every hyperedge that the decisions of a node exclude."""
    scores = problem.scores.copy()
    for edge, inside in fixed:
        if inside:
            v = int(np.searchsorted(problem.hypergraph.edge_start, edge, side="right")) - 1
            rivals = np.arange(problem.hypergraph.edge_start[v], problem.hypergraph.edge_start[v + 1])
            scores[rivals[rivals != edge]] = -np.inf
        else:
            scores[edge] = -np.inf
    return scores


def decode_auto(
    problem: Problem, *, time_limit: float | None, max_iterations: int, max_nodes: int | None, step: str, scale: float | None,
    incumbent: Candidate | None = None,
) -> Solution[Edges]:  # fmt: skip
    multipliers = LagrangianRelaxation(
        relaxation(problem, step=step, scale=scale), partial(choose_split, problem), partial(find_unsatisfiable, problem),
        max_iterations, None if max_nodes == 1 else PATIENCE,
    )  # fmt: skip
    closed = close_gap(multipliers, limits_of(time_limit, max_nodes), incumbent=incumbent)
    if closed.is_infeasible:
        raise infeasible(problem, time_limit)
    return closed.solution()


def decode_lagrangian(problem: Problem, **options: Any) -> Solution[Edges]:
    return decode_auto(problem, **{**options, "max_nodes": 1})


def decode_beam(problem: Problem, *, time_limit: float | None, max_iterations: int, **_: object) -> Solution[Edges]:
    """Rush 2014, section 7.6; for hypergraphs with few rows, or rows that few hyperedges are in."""
    search = SignatureSearch(
        problem.hypergraph, problem.scores, problem.constraints, resolution=problem.resolution, unit=problem.unit, terms=problem.terms
    )
    found = optimal_beam(search, max_rounds=max_iterations, time_limit=time_limit)
    if found.best is None and found.bound == -np.inf:
        raise infeasible(problem, time_limit)
    best = found.best or Candidate(None, -np.inf)
    values = tuple(search.best_multipliers.tolist())
    return Solution(best.structure, best.score, found.bound, Signatures(values) if found.searched else Multipliers(values), found.trace)


def decode_ilp(problem: Problem, **options: Any) -> Solution[Edges]:
    """HiGHS proposes a path. Its own bound has a tolerance, so ours is proved by the search with that path to beat."""
    from zerogap.baselines.hypergraph_ilp import solve_ilp

    begin, limit = time.perf_counter(), options["time_limit"]
    edges = solve_ilp(problem, time_limit=limit)
    incumbent = None
    if edges is not None:
        with contextlib.suppress(InvalidStructure):  # HiGHS has tolerances; its proposal is checked as any other
            problem.check(edges)
            incumbent = Candidate(edges, problem.score(edges))
    if limit is not None:
        options["time_limit"] = max(limit - (time.perf_counter() - begin), 0.0)
    return decode_auto(problem, **options, incumbent=incumbent)


def choose_split(problem: Problem, fixed: Fixed, state: State) -> int | None:
    """A hyperedge of the last answer with rivals, in as many broken rows as possible; else the first one with rivals."""
    rows = problem.constraints
    broken = rows.violated(state.excess)
    blame = np.bincount(
        rows.columns, weights=np.abs(rows.coefficients) * np.repeat(broken, np.diff(rows.row_start)), minlength=rows.n_parts
    )
    used = state.parts[has_rivals(problem, restrict(problem, fixed), state.parts)]
    return int(used[np.argmax(blame[used])]) if used.size else None


def find_unsatisfiable(problem: Problem, fixed: Fixed, state: State) -> Unsatisfiable | None:
    """A broken row that nothing in the node can satisfy."""
    allowed = restrict(problem, fixed) > -np.inf
    for r in np.flatnonzero(problem.constraints.violated(state.excess))[:ROWS_TO_SETTLE].tolist():
        if is_beyond_reach(problem, allowed, r):
            return Unsatisfiable(r)
    return None


def is_beyond_reach(problem: Problem, allowed: NDArray[np.bool_], r: int) -> bool:
    """Whether no allowed hyperpath satisfies row r: dynamic programs over its coefficients find the least and the most it sums to."""
    graph, rows = problem.hypergraph, problem.constraints
    weights = rows.select([r]).transposed_times(np.ones(1))

    def most(values: Scores) -> float:
        return float(inside_chart(graph, np.where(allowed, values, -np.inf), np.zeros(graph.n_vertices))[0][graph.root])

    return -most(-weights) > rows.limits[r] or bool(rows.is_equation[r] and most(weights) < rows.limits[r])


def has_rivals(problem: Problem, scores: Scores, edges: Parts) -> NDArray[np.bool_]:
    """Which hyperedges share their head with another that is still allowed."""
    allowed = np.concatenate([[0], np.cumsum(scores > -np.inf)])
    heads = np.searchsorted(problem.hypergraph.edge_start, edges, side="right") - 1
    count = allowed[problem.hypergraph.edge_start[heads + 1]] - allowed[problem.hypergraph.edge_start[heads]]
    return np.asarray(count > 1)


def infeasible(problem: Problem, time_limit: float | None) -> Infeasible:
    """Names constraints that cannot hold together; none of them can be left out (a deletion filter).

    Where a test of that takes more than FILTER_NODES nodes or the time is over, the constraint in question stays in.
    """
    begin = time.perf_counter()
    graph, rows = problem.hypergraph, problem.constraints
    zeros = np.where(problem.scores > -np.inf, 0.0, -np.inf)
    if oracle(problem).best(zeros) is None:
        return Infeasible("every hyperpath uses a hyperedge that is forbidden (-inf).")
    for r in range(len(rows)):
        if is_beyond_reach(problem, problem.scores > -np.inf, r):  # one row alone is the smallest conflict
            return Infeasible(f"no hyperpath satisfies the constraint {rows.names[r]}.", (rows.names[r],))
    kept = list(range(len(rows)))
    for r in range(len(rows)):
        without = [other for other in kept if other != r]
        if time_limit is not None and time.perf_counter() - begin > time_limit:
            break
        trial = Problem(graph, zeros, rows.select(without))
        multipliers = LagrangianRelaxation(relaxation(trial), partial(choose_split, trial), partial(find_unsatisfiable, trial))
        if without and close_gap(multipliers, limits_of(time_limit, FILTER_NODES, first=True)).is_infeasible:
            kept = without
    names = tuple(rows.names[r] for r in kept)
    return Infeasible(f"no hyperpath satisfies these constraints together: {', '.join(names)}.", names)


METHODS: dict[str, Callable[..., Solution[Edges]]] = {
    "auto": decode_auto,
    "best-path": best_unconstrained,
    "optimal-beam": decode_beam,
    "lagrangian": decode_lagrangian,
    "ilp": decode_ilp,
}
