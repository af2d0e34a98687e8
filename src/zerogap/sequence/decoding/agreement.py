"""`dual-decomposition`: the lattice and every constraint choose labels of their own, and prices make them agree.

Each constraint looks at few tokens or has few states, so this is the method for long sequences with many constraints, where no
product of automata fits: a document in which repeated phrases must get the same label. What prices leave open is closed by branch
and bound: a token has a label of one type (field) or not, and when types are settled, one label or not.
"""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

from zerogap.grid import MANTISSA_BITS, Scores
from zerogap.oracles.labels.agreement import agree
from zerogap.oracles.labels.search import EXHAUSTED, SOLVED
from zerogap.problems.sequence.machine import Machine
from zerogap.problems.sequence.problem import Problem
from zerogap.proof.certificate import Agreement
from zerogap.proof.solution import Solution
from zerogap.relax.branching import branch_and_bound
from zerogap.relax.candidate import Candidate
from zerogap.relax.descent import Bounded, Fixed, limits_of
from zerogap.sequence.decoding.answers import Labelling, any_labelling, flat_lattice, infeasible, labels_of, nothing_found
from zerogap.sequence.decoding.lattice import lattice_of, pack

ROOT_STEPS, NODE_STEPS = 400, 60
LOOKS = 20_000  # at prefixes, for a labelling to begin with


def looks_of(problem: Problem) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The tokens that every machine looks at, one machine after the other: where its state may change or be lost."""
    found = [tokens_of(machine, problem.n_tokens) for machine in problem.machines]
    return np.cumsum([0, *(len(tokens) for tokens in found)]), np.concatenate([np.zeros(0, dtype=np.int64), *found])


def tokens_of(machine: Machine, n: int) -> NDArray[np.int64]:
    states = np.arange(machine.n_states)[:, None]
    is_idle = (machine.following == states).all(axis=(1, 2))
    tables = np.zeros(n, dtype=np.int64) if machine.table_of is None else machine.table_of
    return np.flatnonzero(~is_idle[tables])


def decode_dual_decomposition(
    problem: Problem, *, time_limit: float | None = None, incumbent: Candidate | None = None, max_nodes: int | None = None
) -> Solution[Labelling]:
    """Exact if it ends within its limits."""
    begin = time.perf_counter()
    lattice, packed = lattice_of(problem), pack(problem)
    n, n_labels = problem.emissions.shape
    kinds = problem.kinds
    n_kinds = int(kinds.max()) + 1
    looks_from, looks_at = looks_of(problem)
    edges_to = np.ascontiguousarray(lattice.edges.transpose(0, 2, 1))
    room = np.ldexp(problem.resolution, MANTISSA_BITS - 1) - problem.terms * problem.largest
    largest = max(np.floor(room / (4.0 * len(looks_at) + 4.0) / problem.resolution), 1.0) * problem.resolution
    columns = np.arange(lattice.nodes.shape[1]) % n_labels

    def solve(fixed: Fixed, warm: tuple[Scores, float] | None, best: Candidate | None, deadline: float) -> Bounded:
        allowed = allowed_by(fixed, n, kinds, n_kinds)
        nodes = np.where(allowed[:, columns], lattice.nodes, -np.inf)
        first = np.where(allowed[0, columns], lattice.first, -np.inf)
        prices = np.zeros(len(looks_at) * n_labels) if warm is None else warm[0].copy()
        level = np.array([0.05 * abs(problem.largest) * n if warm is None else warm[1]])
        path, best_path = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
        reading = np.zeros(len(looks_at), dtype=np.int64)
        score = -np.inf if best is None else best.score
        bound, found, apart = agree(
            nodes, lattice.edges, edges_to, first, n_labels, *packed.tables, packed.penalties, packed.is_hard,
            looks_from, looks_at, allowed, problem.resolution, largest, score, ROOT_STEPS if warm is None else NODE_STEPS,
            level, prices, path, reading, best_path,
        )  # fmt: skip
        evidence = evidence_of(prices, looks_from, looks_at, n_labels)
        candidate = Candidate(best_path, problem.score_of(labels_of(problem, best_path))) if found > score else None
        if apart == 0 or found >= bound:
            return Bounded(bound, evidence, candidate, None)
        part = part_to_split(path % n_labels, reading, looks_at, allowed, kinds, n_kinds)
        return Bounded(bound, evidence, candidate, part, (prices, max(float(level[0]), problem.resolution)))

    if incumbent is None:
        reason, some = any_labelling(flat_lattice(problem), packed, range(len(packed.n_states)), LOOKS)
        if reason == EXHAUSTED:
            raise infeasible(problem)
        if reason == SOLVED:
            incumbent = Candidate(some, problem.score_of(labels_of(problem, some)))
    searched = branch_and_bound(solve, limits_of(time_limit, max_nodes), incumbent=incumbent)
    if searched.best is None and searched.bound == -np.inf and searched.complete:
        raise infeasible(problem)
    proof = searched.certificate if len(searched.certificate.leaves) > 1 else searched.certificate.leaves[0].certificate
    if searched.best is None:
        return nothing_found(searched.bound, proof, begin)
    labels = labels_of(problem, searched.best.structure)
    return Solution(problem.names(labels), problem.score_of(labels), searched.bound, proof, searched.trace)


def allowed_by(fixed: Fixed, n: int, kinds: NDArray[np.int64], n_kinds: int) -> NDArray[np.bool_]:
    """The labels that are left. Part t * kinds + k: token t has a label of kind k; from n * kinds on, t * labels + a: it has label a."""
    allowed = np.ones((n, len(kinds)), dtype=np.bool_)
    for part, inside in fixed:
        t, kind = divmod(part, n_kinds)
        chosen = kinds == kind
        if part >= n * n_kinds:
            t, label = divmod(part - n * n_kinds, len(kinds))
            chosen = np.arange(len(kinds)) == label
        allowed[t] &= chosen if inside else ~chosen
    return allowed


def part_to_split(
    path: NDArray[np.int64], reading: NDArray[np.int64], looks_at: NDArray[np.int64], allowed: NDArray[np.bool_],
    kinds: NDArray[np.int64], n_kinds: int,
) -> int:  # fmt: skip
    """The token on which most machines disagree with the lattice: is it of the kind that the lattice says?"""
    n, n_labels = allowed.shape
    apart = looks_at[path[looks_at] != reading]
    of_kind = np.zeros((n, n_kinds), dtype=np.bool_)
    for kind in range(n_kinds):
        of_kind[:, kind] = allowed[:, kinds == kind].any(axis=1)
    votes = np.bincount(apart, minlength=n)
    open_kinds = votes * (of_kind.sum(axis=1) > 1)
    if open_kinds.any():
        t = int(open_kinds.argmax())
        return t * n_kinds + int(kinds[path[t]])
    t = int((votes * (allowed.sum(axis=1) > 1)).argmax())
    return n * n_kinds + t * n_labels + int(path[t])


def evidence_of(prices: Scores, looks_from: NDArray[np.int64], looks_at: NDArray[np.int64], n_labels: int) -> Agreement:
    at = np.flatnonzero(prices)
    look = at // n_labels
    machine = np.searchsorted(looks_from, look, side="right") - 1
    return Agreement(tuple(zip(machine.tolist(), looks_at[look].tolist(), (at % n_labels).tolist(), prices[at].tolist(), strict=True)))
