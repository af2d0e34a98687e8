"""Column generation in Viterbi (Riedel, Smith & McCallum 2012, section 4.5): see oracles/labels/column_generation.py for the method.

For first-order chains with hundreds of labels and confident scores. The certificate is that of any chain without constraints: the checker
runs a dynamic program of its own. The answer is that of `auto`, also where labellings tie.
"""

from __future__ import annotations

import time

from zerogap.errors import Infeasible, InputError
from zerogap.oracles.labels.column_generation import best_chain
from zerogap.problems.sequence.problem import Problem
from zerogap.proof.certificate import Intersection
from zerogap.proof.solution import Solution
from zerogap.sequence.decoding.answers import EVERY_LABELLING_FORBIDDEN, Labelling, solution_of
from zerogap.sequence.decoding.lattice import lattice_of


def decode_column_generation(problem: Problem, *, time_limit: float | None = None) -> Solution[Labelling]:
    """At worst a try that is given up, and then Viterbi: `time_limit` is not looked at."""
    if problem.order != 1 or problem.machines:
        raise InputError(
            f"method 'column-generation' is for first order and no constraints; the problem is of order {problem.order} and has"
            f" {len(problem.machines)} constraints: expected method 'auto' for it."
        )
    begin = time.perf_counter()
    if not problem.labels:
        raise Infeasible(EVERY_LABELLING_FORBIDDEN)
    lattice = lattice_of(problem)
    lattice.nodes[0] = lattice.first
    chain = best_chain(lattice.nodes, lattice.edges)
    if chain.score == -float("inf"):
        raise Infeasible(EVERY_LABELLING_FORBIDDEN)
    return solution_of(problem, chain.path, chain.score, Intersection(()), begin)
