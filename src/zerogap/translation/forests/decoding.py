"""Decoding translation forests: the best derivation under rules and a language model, and a proof.

`auto` finds a good derivation by cube pruning, prices the ends of vertices until the bound comes close (Rush 2014, section 5.3, with words
in the place of paths), and searches all that is left above the derivation found (section 7.6). What remains is proven.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from zerogap._lazy import on_call
from zerogap.errors import Infeasible, InputError, UnknownMethod, check_problem
from zerogap.problems.translation.forest import Derivation
from zerogap.problems.translation.forest_problem import SyntaxProblem
from zerogap.proof.certificate import Certificate, DynamicProgram, Multipliers
from zerogap.proof.solution import Solution, Trace
from zerogap.relax.beam import optimal_beam
from zerogap.relax.candidate import Candidate
from zerogap.relax.descent import check_limits
from zerogap.translation.forests.cube_pruning import Compiled, compile_problem, cube_prune
from zerogap.translation.forests.end_prices import Relaxed, relax
from zerogap.translation.forests.kbest import k_best
from zerogap.translation.forests.optimal_beam import ForestBeam
from zerogap.translation.forests.screening import screened
from zerogap.translation.forests.search import exhaustive, search

FIRST_PIECES = 1 << 16  # that an exhaustive intersection has room for at first
MEMORY = 16_000_000  # pieces of an exhaustive intersection, about 50 bytes each
FIRST_LIMIT = 50  # candidates of cube pruning before an exact search
LARGE_LIMIT = 1000  # the same before partitions, whose cost grows with the gap
FIRST_ITERATIONS = 20  # of prices before a search, which goes on to improve them
BEAM_ROUNDS = 60


def decode_forest(
    problem: SyntaxProblem,
    *,
    method: str = "auto",
    time_limit: float | None = None,
    k: int = 1,
    limit: int = 200,
    max_pieces: int = MEMORY,
) -> Solution[Derivation]:
    """The best derivation, and a certificate.

    Methods: `auto` (proves every forest within its limits), `optimal-beam` (prices and beam searches in turn, section 7.6), `relaxation`
    (prices only; may leave a gap), `lagrangian` (prices and partitions of the words, sections 5.3 and 5.4), `intersection` (exhaustive),
    `cube-pruning` (a good derivation, bounded by nothing), `ilp` (HiGHS, where few hyperedges are in question). With `k` above 1, the
    alternatives are the next best derivations, exactly. `limit` is the number of candidates per vertex of cube pruning, `max_pieces`
    limits the memory of searches.
    """
    check_problem(problem, SyntaxProblem)
    if not isinstance(method, str) or method not in METHODS:
        raise UnknownMethod("method", method, METHODS)
    check_limits(time_limit, None)
    if isinstance(max_pieces, bool) or not isinstance(max_pieces, int) or max_pieces < 1:
        raise InputError(f"max_pieces is {max_pieces!r}: expected at least 1.")
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise InputError(f"k is {k!r}: expected at least 1 derivation.")
    begin = time.perf_counter()
    solution = METHODS[method](problem, time_limit=time_limit, limit=limit, max_pieces=max_pieces)
    if k == 1:
        return solution
    left = None if time_limit is None else max(time_limit - (time.perf_counter() - begin), 0.0)
    return with_alternatives(problem, solution, k, max_pieces, left)


def with_alternatives(
    problem: SyntaxProblem, solution: Solution[Derivation], k: int, max_pieces: int, time_limit: float | None
) -> Solution[Derivation]:
    """The same with the k - 1 next best derivations, None if a limit comes first. One that is not optimal has none."""
    if solution.status != "optimal":
        return replace(solution, alternatives=None)
    ranked, relaxed = k_best(problem, compile_problem(problem), solution.score, k, limit=max_pieces, time_limit=time_limit)
    if ranked is None:
        return replace(solution, alternatives=None)
    others = [(derivation, score) for score, derivation in ranked if derivation != solution.structure][: k - 1]
    evidence = DynamicProgram() if relaxed is None else certificate(relaxed)
    return replace(solution, certificate=evidence, alternatives=tuple(others))


def decode_auto(problem: SyntaxProblem, *, time_limit: float | None, limit: int, max_pieces: int) -> Solution[Derivation]:
    begin = time.perf_counter()
    given = compile_problem(problem)
    best = cube_prune(problem, limit=min(limit, FIRST_LIMIT), compiled=given)
    if best is None or (np.diff(problem.forest.symbol_start) == 0).any():  # no score to beat, or ends that have no words
        return intersected(problem, given, begin, max_pieces)
    score = problem.score(best)
    relaxed = relax(problem, given, threshold=score, rounds=1, iterations=FIRST_ITERATIONS)
    trace = traced(relaxed, score, begin)
    left = None if time_limit is None else time_limit - (time.perf_counter() - begin)
    if relaxed.bound > score and (left is None or left > 0.0):
        found = search(problem, given, relaxed, threshold=score, limit=max_pieces, seconds=left)
        if found.complete:
            if found.best is not None and problem.score(found.best) > score:
                best, score = found.best, problem.score(found.best)
            trace = trace.then(Trace((score,), (score,), (time.perf_counter() - begin - trace.seconds[-1],)))
            return Solution(best, score, score, certificate(relaxed), trace)
    return Solution(best, score, max(relaxed.bound, score), certificate(relaxed), trace)


def decode_relaxation(problem: SyntaxProblem, *, time_limit: float | None, limit: int, max_pieces: int) -> Solution[Derivation]:
    begin = time.perf_counter()
    given = compile_problem(problem)
    best = cube_prune(problem, limit=limit, compiled=given)
    if (np.diff(problem.forest.symbol_start) == 0).any():
        raise InputError("a target side of the forest is empty: expected at least one symbol in each for prices on its ends.")
    if best is None:
        return intersected(problem, given, begin, max_pieces)
    score = problem.score(best)
    relaxed = relax(problem, given, threshold=score)
    return Solution(best, score, max(relaxed.bound, score), certificate(relaxed), traced(relaxed, score, begin))


def decode_beam(problem: SyntaxProblem, *, time_limit: float | None, limit: int, max_pieces: int) -> Solution[Derivation]:
    """Optimal beam search, with cube pruning's derivation to beat."""
    given = compile_problem(problem)
    best = cube_prune(problem, limit=min(limit, FIRST_LIMIT), compiled=given)
    if best is None or (np.diff(problem.forest.symbol_start) == 0).any():
        return intersected(problem, given, time.perf_counter(), max_pieces)
    forest = ForestBeam(problem, given, max_pieces)
    found = optimal_beam(forest, incumbent=Candidate(best, problem.score(best)), time_limit=time_limit, max_rounds=BEAM_ROUNDS)
    assert found.best is not None
    assert forest.relaxed is not None
    return Solution(found.best.structure, found.best.score, found.bound, certificate(forest.relaxed), found.trace)


def decode_intersection(problem: SyntaxProblem, *, time_limit: float | None, limit: int, max_pieces: int) -> Solution[Derivation]:
    return intersected(problem, compile_problem(problem), time.perf_counter(), max_pieces)


def intersected(problem: SyntaxProblem, given: Compiled, begin: float, max_pieces: int) -> Solution[Derivation]:
    """The dynamic program over all pieces; a good derivation without a bound if they do not fit."""
    size = min(FIRST_PIECES, max_pieces)
    while True:
        found = exhaustive(problem, given, limit=size)
        if found.complete or size >= max_pieces:
            break
        size = min(8 * size, max_pieces)
    seconds = time.perf_counter() - begin
    if not found.complete:
        best = cube_prune(problem, compiled=given)
        score = -np.inf if best is None else problem.score(best)
        return Solution(best, score, np.inf, DynamicProgram(), Trace((np.inf,), (score,), (seconds,)))
    if found.best is None:
        raise Infeasible("every derivation of the forest is forbidden (-inf).")
    score = problem.score(found.best)
    return Solution(found.best, score, score, DynamicProgram(), Trace((score,), (score,), (seconds,)))


def decode_cube(problem: SyntaxProblem, *, time_limit: float | None, limit: int, max_pieces: int) -> Solution[Derivation]:
    begin = time.perf_counter()
    best = cube_prune(problem, limit=limit)
    score = -np.inf if best is None else problem.score(best)
    return Solution(best, score, np.inf, DynamicProgram(), Trace((np.inf,), (score,), (time.perf_counter() - begin,)))


def decode_ilp(problem: SyntaxProblem, *, time_limit: float | None, limit: int, max_pieces: int) -> Solution[Derivation]:
    """HiGHS proposes a derivation. Its own bound has a tolerance, so ours is proved by `auto`."""
    from zerogap.baselines.translation_ilp import solve_program_of_paths
    from zerogap.translation.forests.leaf_graph import leaf_graph

    left = screened(problem, limit=limit)
    proposed, _ = solve_program_of_paths(left.problem, leaf_graph(left.problem), time_limit=time_limit)
    if proposed is not None:
        proposed = left.restored(proposed)
    proven = decode_auto(problem, time_limit=time_limit, limit=limit, max_pieces=max_pieces)
    if proposed is None or problem.score(proposed) < proven.score:  # HiGHS has tolerances
        return proven
    return Solution(proposed, problem.score(proposed), proven.bound, proven.certificate, proven.trace)


def certificate(relaxed: Relaxed) -> Certificate:
    return Multipliers((*relaxed.firsts.prices.tolist(), *relaxed.lasts.prices.tolist()))


def traced(relaxed: Relaxed, score: float, begin: float) -> Trace:
    """The bounds of all rounds; the time of each is not measured, so it is shared out evenly."""
    n = len(relaxed.bounds)
    best = np.maximum(np.minimum.accumulate(relaxed.bounds), score)
    seconds = (time.perf_counter() - begin) * np.arange(1, n + 1) / n
    return Trace(tuple(best.tolist()), (score,) * n, tuple(seconds.tolist()))


METHODS: dict[str, Callable[..., Solution[Any]]] = {
    "auto": decode_auto,
    "optimal-beam": decode_beam,
    "relaxation": decode_relaxation,
    "lagrangian": on_call("zerogap.papers.rush2014.partitions.method:decode_lagrangian"),
    "intersection": decode_intersection,
    "cube-pruning": decode_cube,
    "ilp": decode_ilp,
}
