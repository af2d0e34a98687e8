"""`lagrangian`: multipliers on what constraints count (Rush 2014, chapter 3), and an exact search under the constraints that count nothing.

    L(u) = max_y (score(y) - u . counts(y)) + u . limits

The gap that is left is reported, not closed: `auto` does that.
"""

from __future__ import annotations

import time

import numpy as np

from zerogap.grid import Scores
from zerogap.oracles.labels.search import SOLVED, search
from zerogap.problems.sequence.problem import Problem
from zerogap.proof.solution import Solution
from zerogap.relax.candidate import Candidate
from zerogap.relax.lagrangian import Answer, Oracle, State, minimise_dual
from zerogap.sequence.decoding.answers import Labelling, completions_of, infeasible, intersection_of, labels_of, nothing_found, solution_of
from zerogap.sequence.decoding.auto import UNLIMITED
from zerogap.sequence.decoding.lattice import counts_of, lattice_of, pack
from zerogap.structures.linear import constraint_rows


def decode_lagrangian(problem: Problem, *, time_limit: float | None = None, max_iterations: int = 500) -> Solution[Labelling]:
    begin = time.perf_counter()
    lattice, packed, counts = lattice_of(problem), pack(problem), counts_of(problem)
    n, size = lattice.nodes.shape
    others = (~counts.is_counted).nonzero()[0]
    jump, jump_of = np.zeros((1, 1, size), dtype=np.int32), np.zeros(n, dtype=np.int64)

    def best(prices: Scores) -> Answer | None:
        """A part is a pair of neighbouring states, (S + 1) * S in all, the last row for the first token."""
        table = prices.reshape(size + 1, size)
        edges, first = lattice.edges + table[:-1], lattice.first + table[-1]
        path = np.empty(n, dtype=np.int64)
        reason, score, _ = search(
            lattice.nodes, edges, first, completions_of(lattice.nodes, edges), edges, first, 0.0,
            *packed.tables, packed.penalties, packed.is_hard, others, jump, jump_of, -np.inf, UNLIMITED, path,
        )  # fmt: skip
        if reason != SOLVED:
            return None
        parts = np.concatenate([[size], path[:-1]]) * size + path
        return Answer(path, parts, score - float(prices[parts].sum()))

    def repair(state: State) -> Candidate | None:
        path = state.structures[0]
        labels = labels_of(problem, path)
        return None if problem.broken(labels, soft=False) else Candidate(path, problem.score_of(labels))

    rows, owners = [], []
    for c, step, low, high in zip(counts.machines.tolist(), counts.steps, counts.low, counts.high, strict=True):
        entries = {int(p): float(step.reshape(-1)[p]) for p in np.flatnonzero(step)}
        for sign, limit, sense in ((1.0, high, "<="), (-1.0, low, ">=")):
            if np.isfinite(limit) and (limit > 0.0 or sense == "<="):
                rows.append((entries, sense, float(limit)))
                owners.append((c, sign))
    found = minimise_dual(
        [Oracle(np.zeros((size + 1) * size), best)],
        constraint_rows((size + 1) * size, rows),
        resolution=problem.resolution,
        terms=problem.terms,
        repair=repair,
        max_iterations=max_iterations,
        patience=100,
        time_limit=time_limit,
    )
    if found.reason == "infeasible":
        raise infeasible(problem)
    prices: dict[int, float] = {}
    for (c, sign), u in zip(owners, found.multipliers.tolist(), strict=True):
        prices[c] = prices.get(c, 0.0) + sign * u
    proof = intersection_of(others, sorted(prices.items()))
    if found.best is None:
        return nothing_found(found.bound, proof, begin)
    return solution_of(problem, found.best.structure, found.bound, proof, begin)
