"""Exact decoding under global constraints: one function, and the methods it chooses from."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from zerogap._lazy import on_call
from zerogap.errors import Infeasible, InputError, InvalidStructure, UnknownMethod, check_problem
from zerogap.problems.sequence.problem import Problem
from zerogap.proof.certificate import Intersection
from zerogap.proof.solution import Solution, Trace
from zerogap.relax.descent import check_limits
from zerogap.relax.parallel import decode_each
from zerogap.sequence.decoding.agreement import decode_dual_decomposition
from zerogap.sequence.decoding.answers import Labelling
from zerogap.sequence.decoding.auto import best_k, decode_auto
from zerogap.sequence.decoding.column_generation import decode_column_generation
from zerogap.sequence.decoding.lattice import lattice_of, states_of_labels


def decode(problem: Problem, *, method: str = "auto", time_limit: float | None = None, k: int = 1, **options: Any) -> Solution[Labelling]:
    """The best labelling that keeps every hard constraint, with a certificate.

    Methods: `auto`; `relaxation` (figures 2 and 7; `order` chooses the next constraint); `intersection` (section 3: all constraints at
    once); `lagrangian` (multipliers on counts, which may leave a gap); `dual-decomposition` (prices on labels, and branch and bound);
    `column-generation` (first order without constraints: looks at few of the transitions of many labels); `ilp` (HiGHS). Infeasible
    names a smallest set of hard constraints that cannot hold together. With `k` above 1 the next best labellings are in
    `solution.alternatives`.
    """
    check_problem(problem, Problem)
    if not isinstance(method, str) or method not in METHODS:
        raise UnknownMethod("method", method, METHODS)
    check_limits(time_limit, None)
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise InputError(f"k is {k!r}: expected how many labellings, 1 or more.")
    if options and method != "relaxation":
        raise InputError(f"option {next(iter(options))!r} is for method 'relaxation', method is {method!r}.")
    if options.keys() - {"order", "sizes"}:
        raise InputError(f"option {min(options.keys() - {'order', 'sizes'})!r} is not known: expected 'order'.")
    begin = time.perf_counter()
    if problem.n_tokens == 0:
        return decode_nothing(problem)
    solution = METHODS[method](problem, time_limit=time_limit, **options)
    if k == 1 or solution.structure is None:
        return solution
    left = None if time_limit is None else max(time_limit - (time.perf_counter() - begin), 0.0)
    return with_alternatives(problem, solution, k, left)


def decode_many(
    problems: Sequence[Problem], *, threads: int | None = None, method: str = "auto", time_limit: float | None = None, k: int = 1
) -> list[Solution[Labelling]]:
    """Decodes problems on several threads, in order."""
    return decode_each(decode, problems, threads, method=method, time_limit=time_limit, k=k)


def decode_nothing(problem: Problem) -> Solution[Labelling]:
    broken = problem.broken([], soft=False)
    if broken:
        name = problem.constraints[broken[0]].name
        raise Infeasible(f"the sequence has no tokens, and {name} does not accept that.", (name,))
    score = problem.score(())
    return Solution((), score, score, Intersection((), ()), Trace((score,), (score,), (0.0,)))


def with_alternatives(problem: Problem, solution: Solution[Labelling], k: int, time_limit: float | None) -> Solution[Labelling]:
    """The certificate then speaks of all constraints, so that labellings can be told apart by it."""
    if solution.status != "optimal":
        return replace(solution, alternatives=None)
    others = best_k(problem, solution, k, time_limit)
    if others is None:
        return replace(solution, alternatives=None)
    prices = solution.certificate.prices if isinstance(solution.certificate, Intersection) else ()
    return replace(solution, alternatives=others, certificate=Intersection(tuple(range(len(problem.machines))), prices))


def decode_ilp(problem: Problem, *, time_limit: float | None = None) -> Solution[Labelling]:
    """HiGHS proposes a labelling. Its own bound has a tolerance, so ours is proved by the search."""
    from zerogap.baselines.sequence_ilp import solve_ilp

    begin = time.perf_counter()
    lattice = lattice_of(problem)
    label_of = states_of_labels(len(problem.labels), problem.order)
    path = solve_ilp(problem, lattice.nodes, lattice.edges, lattice.first, label_of, time_limit=time_limit)
    left = None if time_limit is None else max(time_limit - (time.perf_counter() - begin), 0.0)
    proved = decode_auto(problem, time_limit=left)
    if path is None:
        return proved
    labelling = problem.names(label_of[path].tolist())
    try:
        problem.check(labelling)
    except InvalidStructure:  # HiGHS has tolerances
        return proved
    return replace(proved, structure=labelling, score=problem.score(labelling))


METHODS: dict[str, Callable[..., Solution[Any]]] = {
    "auto": decode_auto,
    "relaxation": on_call("zerogap.papers.tromble2006.relaxation:decode_relaxation"),
    "intersection": on_call("zerogap.papers.tromble2006.relaxation:decode_intersection"),
    "lagrangian": on_call("zerogap.papers.rush2014.label_multipliers:decode_lagrangian"),
    "dual-decomposition": decode_dual_decomposition,
    "column-generation": decode_column_generation,
    "ilp": decode_ilp,
}
