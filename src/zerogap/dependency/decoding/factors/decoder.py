"""Exact parsing with factors by branch and bound (Qian & Liu 2013): the search of `factor_search` at the root, then arcs are branched on.

The arc is the one with the largest gaps of the factors around it (section 3.3); children begin with the shares of their parent (4.4). The
certificate has the arcs that were closed at the root, and the leaves below.
"""

from __future__ import annotations

import itertools
import math
import time
from typing import Any

import numpy as np

from zerogap.dependency.decoding.factors.search import FactorSearch
from zerogap.dependency.decoding.factors.sets import Allowed, Integers, possible_factors
from zerogap.dependency.decoding.kbest import labelled_trees
from zerogap.errors import Infeasible
from zerogap.grid import Scores
from zerogap.problems.dependency.problem import Problem, Tree
from zerogap.proof.certificate import Certificate, DynamicProgram, Narrowed
from zerogap.proof.solution import Solution, Trace
from zerogap.relax.branching import branch_and_bound
from zerogap.relax.candidate import Candidate
from zerogap.relax.descent import Bounded, Fixed, Limits

RATE_AT_NODE, LEAST_AT_NODE, CALLS_AT_NODE = 1.0, 0.25, 40


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
    deadline = math.inf if time_limit is None else begin + time_limit
    search = FactorSearch(problem, possible_factors(problem, arcs), begin, deadline)
    found = search.at_root(narrow=k == 1)
    if found is None:
        raise no_tree(problem, arcs)
    tables, node, run, best, outer = found

    def solve(fixed: Fixed, warm: Any, incumbent: Candidate | None, deadline: float) -> Bounded:
        parent, parent_shares, parent_rest = warm
        inside = tables.node(decided(node.allowed, fixed)) if node is not None else None
        if inside is None:
            return Bounded(-math.inf, tables.evidence(None, parent_shares, DynamicProgram()), None, None)
        floor = -math.inf if incumbent is None else incumbent.score
        at = search.run(inside, parent_shares, floor, rate=RATE_AT_NODE, least_rate=LEAST_AT_NODE, most_calls=CALLS_AT_NODE)
        bound, shares, rest = (at.bound, at.shares, at.rest) if at.bound <= parent else (parent, parent_shares, parent_rest)
        found = None if at.heads is None else Candidate(tuple(at.heads.tolist()), at.score)
        part = search.split(inside, at, around=k > 1 and at.score >= bound) if bound > floor else None
        return Bounded(bound, lambda: tables.evidence(inside, shares, rest), found, part, (bound, shares, rest))

    split = None if node is None else search.split(node, run, around=k > 1 and run.score >= run.bound)
    top = Bounded(run.bound, lambda: tables.evidence(node, run.shares, run.rest), best, split, (run.bound, run.shares, run.rest))
    since = time.perf_counter() - begin
    searched = branch_and_bound(solve, Limits(deadline, max_nodes, k, order), root=top, incumbent=best)
    if searched.best is None and searched.bound == -math.inf:
        raise no_tree(problem, arcs)
    certificate: Certificate = searched.certificate if searched.n_nodes > 1 else searched.certificate.leaves[0].certificate
    for closed in reversed(outer):
        certificate = closed.shares if closed.all_of_them else Narrowed(closed.shares, closed.threshold, closed.arcs, certificate)
    trace = search.trace(searched.trace, since)
    return solution_of(problem, labels, searched.ranked, searched.bound, certificate, trace, k=k, complete=searched.complete)


def decided(allowed: Allowed, fixed: Fixed) -> Allowed:
    left = allowed.copy()
    for part, inside in fixed:
        h, m = divmod(part, len(left))
        if inside:
            left[:, m] &= np.arange(len(left)) == h
        else:
            left[h, m] = False
    return left


def solution_of(
    problem: Problem, labels: Integers | None, ranked: tuple[Candidate, ...], bound: float, certificate: Certificate, trace: Trace, *,
    k: int, complete: bool,
) -> Solution[Tree]:  # fmt: skip
    if not ranked:
        return Solution(None, -math.inf, bound, certificate, trace, None if k > 1 else ())
    heads = np.array(ranked[0].structure, dtype=np.int64)
    words = np.arange(1, problem.n_words + 1)
    structure = problem.tree(heads, None if labels is None else labels[heads, words])
    score = problem.score(structure)
    solution: Solution[Tree] = Solution(structure, score, bound, certificate, trace)
    if k == 1:
        return solution
    if not complete:
        return Solution(structure, score, bound, certificate, trace, None)
    trees = iter([(np.array(candidate.structure, dtype=np.int64), candidate.score) for candidate in ranked])
    others = [other for other, _ in itertools.islice(labelled_trees(problem, trees), k) if other != structure]
    return Solution(structure, score, bound, certificate, trace, tuple((other, problem.score(other)) for other in others[: k - 1]))


def no_tree(problem: Problem, arcs: Scores) -> Infeasible:
    from zerogap.dependency.decoding.agreement.decoder import no_tree as why  # only where it is needed

    return why(problem, arcs)
