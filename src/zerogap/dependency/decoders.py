"""Exact decoding of dependency trees under arc scores: one oracle call, and its proof.

Non-projective trees come with the duals of Edmonds' cuts. Projective ones come from a dynamic program that relaxes
nothing; the checker runs one of its own.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np

from zerogap.dependency.problem import Problem
from zerogap.errors import InputError, UnknownMethod, check_problem
from zerogap.oracles.arborescence import arborescence_duals
from zerogap.oracles.arcs import infeasible
from zerogap.oracles.eisner import eisner_kernel
from zerogap.proof.certificate import Certificate, CutDuals, DynamicProgram
from zerogap.proof.solution import Solution, Trace
from zerogap.relax.closing import check_limits
from zerogap.relax.many import decode_each

Heads = tuple[int, ...]


def decode(problem: Problem, *, method: str = "auto", time_limit: float | None = None) -> Solution[Heads]:
    """A best tree as the heads of words 1 to n, and a certificate. Infeasible if the forbidden arcs leave no tree.

    Methods: `auto`, `arborescence` (non-projective, O(n^2)), `eisner` (projective, O(n^3)). They run to the end in polynomial
    time, whatever the limit.

    >>> decode(Problem([[0, 1, 9], [0, 0, 2], [0, 5, 0]])).structure
    (2, 0)
    """
    check_problem(problem, Problem)
    if not isinstance(method, str) or method not in METHODS:
        raise UnknownMethod("method", method, METHODS)
    check_limits(time_limit, None)
    begin = time.perf_counter()
    heads, bound, certificate = METHODS[method](problem)
    score = problem.score(heads)
    return Solution(heads, score, bound, certificate, Trace((bound,), (score,), (time.perf_counter() - begin,)))


def decode_many(
    problems: Sequence[Problem], *, threads: int | None = None, method: str = "auto", time_limit: float | None = None
) -> list[Solution[Heads]]:
    """Decodes problems on several threads, in order."""
    return decode_each(decode, problems, threads, method=method, time_limit=time_limit)


Decoded = tuple[Heads, float, Certificate]


def by_structure(problem: Problem) -> Decoded:
    return by_eisner(problem) if problem.projective else by_arborescence(problem)


def by_arborescence(problem: Problem) -> Decoded:
    if problem.projective:
        raise InputError("method 'arborescence' was given a projective problem: expected projective=False, or method 'eisner'.")
    heads, sets, values = arborescence_duals(problem.arcs, single_root=problem.single_root)
    return tuple(heads.tolist()), float(sum(values)), CutDuals(sets, values)


def by_eisner(problem: Problem) -> Decoded:
    if not problem.projective:
        raise InputError("method 'eisner' was given a non-projective problem: expected projective=True, or method 'arborescence'.")
    heads = np.empty(problem.n_words, dtype=np.int64)
    bound = eisner_kernel(problem.arcs, 1 if problem.single_root else 0, heads)
    if bound == -np.inf:
        raise infeasible(problem.arcs, single_root=problem.single_root, projective=True)
    return tuple(heads.tolist()), float(bound), DynamicProgram()


METHODS: dict[str, Callable[[Problem], Decoded]] = {"auto": by_structure, "arborescence": by_arborescence, "eisner": by_eisner}
