"""Functions that decoders share: a path of lattice states as a solution, and the constraints that make a problem infeasible."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from zerogap.errors import Infeasible
from zerogap.grid import Scores
from zerogap.oracles.labels.bounds import completions
from zerogap.oracles.labels.search import EXHAUSTED, search
from zerogap.problems.sequence.labels import Label
from zerogap.problems.sequence.problem import Problem
from zerogap.proof.certificate import Certificate, Intersection
from zerogap.proof.solution import Solution, Trace
from zerogap.sequence.decoding.lattice import Lattice, Packed, lattice_of, pack

Labelling = tuple[Label, ...]
LOOKS = 1_000_000  # at prefixes, before a set of constraints counts as satisfiable
SUBSETS = 2_000  # sets that are tried on the way to a smallest one
EVERY_LABELLING_FORBIDDEN = "every labelling uses a label or a transition that is forbidden (-inf)."


def solution_of(problem: Problem, path: NDArray[np.int64], bound: float, certificate: Intersection, begin: float) -> Solution[Labelling]:
    labels = labels_of(problem, path)
    score = problem.score_of(labels)
    return Solution(
        problem.names(labels), score, float(bound), certificate, Trace((float(bound),), (score,), (time.perf_counter() - begin,))
    )


def labels_of(problem: Problem, path: NDArray[np.int64]) -> list[int]:
    """The label of a lattice state: a pair of labels ends in its second."""
    return (path % len(problem.labels)).tolist()


def nothing_found(bound: float, certificate: Certificate, begin: float) -> Solution[Labelling]:
    return Solution(None, -math.inf, bound, certificate, Trace((bound,), (-math.inf,), (time.perf_counter() - begin,)))


def intersection_of(machines: Iterable[int] | NDArray[np.int64], prices: Iterable[tuple[int, float]] = ()) -> Intersection:
    return Intersection(tuple(sorted({int(c) for c in machines})), tuple((c, float(u)) for c, u in prices if u != 0.0))


def infeasible(problem: Problem, suspects: Sequence[int] | None = None) -> Infeasible:
    """Names a smallest set of hard constraints that cannot hold together, as far as `SUBSETS` tries find one, else an irreducible one.

    `suspects` are known not to hold together.
    """
    lattice, packed = flat_lattice(problem), pack(problem)
    hard = np.flatnonzero(problem.is_hard).tolist()
    if impossible(lattice, packed, ()):
        return Infeasible(EVERY_LABELLING_FORBIDDEN)
    kept = [c for c in (hard if suspects is None else suspects) if problem.is_hard[c]]
    if not impossible(lattice, packed, kept):
        kept = hard
    for c in list(kept):  # a deletion filter
        without = [other for other in kept if other != c]
        if impossible(lattice, packed, without):
            kept = without
    smaller = itertools.chain.from_iterable(itertools.combinations(hard, size) for size in range(1, len(kept)))
    for subset in itertools.islice(smaller, SUBSETS):
        if impossible(lattice, packed, subset):
            kept = list(subset)
            break
    names = tuple(problem.constraints[c].name for c in kept)
    return Infeasible(f"no labelling keeps these constraints together: {', '.join(names)}.", names)


def completions_of(nodes: Scores, edges: Scores) -> Scores:
    """What may follow every state, whatever the machines say: backward Viterbi (n, 1, S)."""
    n, size = nodes.shape
    rest = np.empty((n, 1, size))
    jump, jump_of = np.zeros((1, 1, size), dtype=np.int32), np.zeros(n, dtype=np.int64)
    completions(nodes, np.ascontiguousarray(edges.transpose(0, 2, 1)), jump, jump_of, rest, np.empty(size))
    return rest


def flat_lattice(problem: Problem) -> Lattice:
    """Every allowed labelling scores 0."""
    lattice = lattice_of(problem)
    return Lattice(*(np.where(scores > -np.inf, 0.0, -np.inf) for scores in (lattice.nodes, lattice.edges, lattice.first)))


def any_labelling(lattice: Lattice, packed: Packed, machines: Sequence[int], looks: int) -> tuple[int, NDArray[np.int64]]:
    """A labelling that the machines accept. In a flat lattice the search goes straight down."""
    n, size = lattice.nodes.shape
    jump, jump_of = np.zeros((1, 1, size), dtype=np.int32), np.zeros(n, dtype=np.int64)
    path = np.empty(n, dtype=np.int64)
    rest = completions_of(lattice.nodes, lattice.edges)
    reason, _, _ = search(
        lattice.nodes, lattice.edges, lattice.first, rest, lattice.edges, lattice.first, 0.0,
        *packed.tables, packed.penalties, packed.is_hard, np.array(machines, dtype=np.int64), jump, jump_of, -np.inf, looks, path,
    )  # fmt: skip
    return reason, path


def impossible(lattice: Lattice, packed: Packed, machines: Sequence[int]) -> bool:
    return any_labelling(lattice, packed, machines, LOOKS)[0] == EXHAUSTED
