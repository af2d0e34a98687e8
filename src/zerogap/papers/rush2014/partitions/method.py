"""The method `lagrangian` of translation forests: prices, and partitions of the words until they close (Rush 2014, sections 5.3 and
5.4)."""

from __future__ import annotations

import time

import numpy as np

from zerogap.papers.rush2014.partitions.decoder import close_by_partitions
from zerogap.problems.translation.forest import Derivation
from zerogap.problems.translation.forest_problem import SyntaxProblem
from zerogap.proof.solution import Solution
from zerogap.translation.forests.cube_pruning import compile_problem, cube_prune
from zerogap.translation.forests.decoding import LARGE_LIMIT, certificate, intersected


def decode_lagrangian(problem: SyntaxProblem, *, time_limit: float | None, limit: int, max_pieces: int) -> Solution[Derivation]:
    """Sections 5.3 and 5.4: prices, and partitions of the words until they close."""
    begin = time.perf_counter()
    given = compile_problem(problem)
    best = cube_prune(problem, limit=max(limit, LARGE_LIMIT), compiled=given)
    if best is None or (np.diff(problem.forest.symbol_start) == 0).any():
        return intersected(problem, given, begin, max_pieces)
    found = close_by_partitions(problem, given, best, time_limit=time_limit, max_pieces=max_pieces)
    return Solution(found.best, found.score, found.bound, certificate(found.prices), found.trace)
