"""Exact parsing with factors by shares, screening and branch and bound (Qian & Liu 2013): see `FactorRelaxation`.

The certificate has the arcs that were closed at the root, and the leaves below.
"""

from __future__ import annotations

import itertools
import math
import time

import numpy as np

from zerogap.dependency.decoding.factors.search import FactorRelaxation, FactorSearch
from zerogap.dependency.decoding.factors.tables import possible_factors
from zerogap.dependency.decoding.kbest import labelled_trees
from zerogap.errors import Infeasible
from zerogap.grid import Integers, Scores
from zerogap.problems.dependency.problem import Problem, Tree
from zerogap.proof.certificate import Certificate
from zerogap.proof.solution import Solution, Trace
from zerogap.relax.descent import Closed, close_gap, limits_of


def decode_with_factors(
    problem: Problem,
    arcs: Scores,
    labels: Integers | None,
    *,
    k: int = 1,
    order: str = "best-first",
    max_nodes: int | None = None,
    time_limit: float | None = None,
) -> Solution[Tree]:
    """The best tree, and with k above 1 the next best ones (section 5.2). `arcs` and `labels` (n + 1, n + 1) are the scores of arcs with
    their best labels, and those. The trace has an entry for every call of the oracle. Raises Infeasible if there is no tree.
    """
    begin = time.perf_counter()
    limits = limits_of(time_limit, max_nodes, begin=begin, k=k, order=order)
    search = FactorSearch(problem, possible_factors(problem, arcs), begin, limits.deadline)
    relaxation = FactorRelaxation(search, search.factors.arcs > -np.inf, k)
    known = relaxation.from_core() if k == 1 else None
    if known is None:
        closed = close_gap(relaxation, limits)
        certificate = closed.certificate
    else:
        best, screen = known
        closed = close_gap(screen.rest, limits, incumbent=best)
        certificate = screen.wrap(closed.certificate)
    if closed.is_infeasible:
        raise no_tree(problem, arcs)
    return solution_of(problem, labels, closed, certificate, search.trace(closed.trace), k)


def solution_of(
    problem: Problem, labels: Integers | None, closed: Closed, certificate: Certificate, trace: Trace, k: int
) -> Solution[Tree]:
    if not closed.ranked:
        return Solution(None, -math.inf, closed.bound, certificate, trace, None if k > 1 else ())
    heads = np.array(closed.ranked[0].structure, dtype=np.int64)
    words = np.arange(1, problem.n_words + 1)
    structure = problem.tree(heads, None if labels is None else labels[heads, words])
    score = problem.score(structure)
    solution: Solution[Tree] = Solution(structure, score, closed.bound, certificate, trace)
    if k == 1:
        return solution
    if not closed.complete:
        return Solution(structure, score, closed.bound, certificate, trace, None)
    trees = iter([(np.array(candidate.structure, dtype=np.int64), candidate.score) for candidate in closed.ranked])
    others = [other for other, _ in itertools.islice(labelled_trees(problem, trees), k) if other != structure]
    return Solution(structure, score, closed.bound, certificate, trace, tuple((other, problem.score(other)) for other in others[: k - 1]))


def no_tree(problem: Problem, arcs: Scores) -> Infeasible:
    from zerogap.dependency.decoding.agreement.decoder import no_tree as why  # only where it is needed

    return why(problem, arcs)
