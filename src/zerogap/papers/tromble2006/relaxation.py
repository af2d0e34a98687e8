"""Finite-state constraint relaxation on explicit lattices (Tromble & Eisner 2006): figures 2 and 7, and section 3.

`relaxation` intersects only the constraints that the best path violates. Hard ones are intersected as in figure 2. Soft ones
branch as in figure 7: one branch satisfies the constraint, the other pays for it; the lattice of a branch loses the arcs whose
max-marginal cannot beat the best labelling found (footnote 4). Departures: branches are taken best first instead of in
order of arrival; hard constraints that turn up in a branch are intersected there before it is split further.

Which violated constraint comes next (section 7) is an `order`.
"""

from __future__ import annotations

import math
import random
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zerogap.errors import InputError, UnknownMethod
from zerogap.oracles.labels.bounds import completions, find_broken, follow_completions
from zerogap.papers.tromble2006.lattice import best_path, intersect, lattice_of_scores, pruned
from zerogap.problems.sequence.problem import Problem
from zerogap.proof.certificate import Intersection
from zerogap.proof.solution import Solution
from zerogap.relax.branching import branch_and_bound
from zerogap.relax.candidate import Candidate
from zerogap.relax.descent import Bounded, Fixed, limits_of
from zerogap.relax.watching import Step, watcher
from zerogap.sequence.decoding.answers import Labelling, infeasible, intersection_of, labels_of, nothing_found, solution_of
from zerogap.sequence.decoding.lattice import Packed, lattice_of, pack

Arcs = tuple[NDArray[Any], ...]  # a lattice of oracles.label_lattice
LARGEST_LATTICE = 50_000_000  # arcs


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """What an order chooses from: constraints that the best path of a lattice violates."""

    problem: Problem
    violated: Sequence[int]
    path: NDArray[np.int64]
    intersected: Callable[[int], Arcs]  # the lattice with one more constraint


Order = Callable[[Choice], int]


def at_random(choice: Choice) -> int:
    """As in the paper's experiments; the same choice for the same problem."""
    return random.Random(len(choice.problem.emissions) * 1009 + len(choice.violated)).choice(choice.violated)


def most_violated(choice: Choice) -> int:
    """The count that is furthest outside its limits; constraints without a count are violated once."""
    labels = (choice.path % len(choice.problem.labels)).tolist()

    def excess(c: int) -> float:
        count = choice.problem.machines[c].count
        if count is None:
            return 1.0
        total = float(count.step[[len(choice.problem.labels), *labels[:-1]], labels].sum())
        return max(total - count.high, count.low - total)

    return max(choice.violated, key=lambda c: (excess(c), -c))


def fewest_states(choice: Choice) -> int:
    """The smallest automaton, which bounds how much larger the lattice can become."""
    return min(choice.violated, key=lambda c: (choice.problem.machines[c].n_states, c))


def smallest_product(choice: Choice) -> int:
    """Tries every violated constraint, and takes the one that leaves the fewest arcs."""
    return min(choice.violated, key=lambda c: (len(choice.intersected(c)[2]), c)) if len(choice.violated) > 1 else choice.violated[0]


def learned_order(solutions: Iterable[Solution[Any]], problems: Iterable[Problem]) -> Order:
    """Prefers the constraints that solved problems needed most often, as their certificates say."""
    needed: Counter[str] = Counter()
    for problem, solution in zip(problems, solutions, strict=True):
        if isinstance(solution.certificate, Intersection):
            needed.update(problem.constraints[c].name for c in solution.certificate.constraints)
    return lambda choice: max(choice.violated, key=lambda c: (needed[choice.problem.constraints[c].name], -c))


ORDERS: dict[str, Order] = {
    "fewest-states": fewest_states, "smallest-product": smallest_product, "most-violated": most_violated, "random": at_random,
}  # fmt: skip


def order_of(order: str | Order) -> Order:
    if callable(order):
        return order
    if order not in ORDERS:
        raise UnknownMethod("order", order, ORDERS)
    return ORDERS[order]


def decode_relaxation(
    problem: Problem, *, time_limit: float | None = None, order: str | Order = "fewest-states", sizes: list[int] | None = None
) -> Solution[Labelling]:
    """Figure 2, or figure 7 if there are soft constraints. `sizes` receives the arcs of the lattice before and after every step."""
    choose = order_of(order)
    begin = time.perf_counter()
    lattice, packed = lattice_of(problem), pack(problem)
    n, size = lattice.nodes.shape
    path = np.empty(n, dtype=np.int64)
    score = viterbi(lattice.nodes, lattice.edges, lattice.first, path)
    if score == -np.inf:
        raise infeasible(problem)
    violated = violated_by(path, size, packed)
    if violated and not problem.is_hard.all():
        return decode_soft(problem, packed, lattice_of_scores(lattice.nodes, lattice.edges, lattice.first), choose, begin, time_limit)
    active: list[int] = []
    arcs: Arcs | None = None
    while violated:
        if arcs is None:
            arcs = lattice_of_scores(lattice.nodes, lattice.edges, lattice.first)
            record(sizes, arcs)
        chosen = next_constraint(choose, problem, packed, arcs, violated, path, size)
        tell_step(problem, path, score, violated, chosen, arcs)
        arcs = intersected(arcs, packed, chosen, size)
        record(sizes, arcs)
        active.append(chosen)
        score = best_path(*arcs, path)
        if score == -np.inf:
            raise infeasible(problem, active)
        if time_limit is not None and time.perf_counter() - begin >= time_limit:
            return nothing_found(score, intersection_of(active), begin)
        violated = violated_by(path, size, packed)
    return solution_of(problem, path, score, intersection_of(active), begin)


def tell_step(problem: Problem, path: NDArray[np.int64], score: float, violated: list[int], chosen: int, arcs: Arcs) -> None:
    tell = watcher()
    if tell is not None:
        names = [problem.constraints[c].name for c in violated]
        found = {"labels": problem.names(labels_of(problem, path)), "violated": names, "intersected": problem.constraints[chosen].name}
        tell(Step("intersection", score, -math.inf, {**found, "arcs": len(arcs[2])}))


def viterbi(nodes: NDArray[np.float64], edges: NDArray[np.float64], first: NDArray[np.float64], path: NDArray[np.int64]) -> float:
    n, size = nodes.shape
    edges_to = np.ascontiguousarray(edges.transpose(0, 2, 1))
    jump, jump_of, rest = np.zeros((1, 1, size), dtype=np.int32), np.zeros(n, dtype=np.int64), np.empty((n, 1, size))
    completions(nodes, edges_to, jump, jump_of, rest, np.empty(size))
    return follow_completions(nodes, edges_to, first, jump, jump_of, rest, path)


def violated_by(path: NDArray[np.int64], size: int, packed: Packed) -> list[int]:
    broken = np.empty(len(packed.n_states), dtype=np.bool_)
    find_broken(path, size, *packed.tables, broken)
    return broken.nonzero()[0].tolist()


def intersected(arcs: Arcs, packed: Packed, c: int, size: int, penalty: float = math.inf) -> Arcs:
    """The paths that keep a constraint, and the others at a finite penalty. Refused if the lattice may not fit into memory."""
    if len(arcs[2]) * int(packed.n_states[c]) > LARGEST_LATTICE:
        raise InputError(
            f"a lattice of {len(arcs[2]):,} arcs meets a constraint with {packed.n_states[c]} states, more than fit: use method 'auto'."
        )
    return intersect(*arcs, *packed.tables, c, size, penalty)


def next_constraint(
    choose: Order, problem: Problem, packed: Packed, arcs: Arcs, violated: list[int], path: NDArray[np.int64], size: int
) -> int:
    return choose(Choice(problem, violated, path, lambda c: intersected(arcs, packed, c, size)))


def record(sizes: list[int] | None, arcs: Arcs) -> None:
    if sizes is not None:
        sizes.append(len(arcs[2]))


@dataclass(frozen=True, slots=True, eq=False)
class Branch:
    """A lattice, what its paths have paid for, and the constraints that are intersected or paid."""

    arcs: Arcs
    paid: float
    settled: frozenset[int]


def decode_soft(problem: Problem, packed: Packed, arcs: Arcs, choose: Order, begin: float, time_limit: float | None) -> Solution[Labelling]:
    """Figure 7. One certificate serves all branches: the constraints that any of them spoke of, the soft ones at their penalty."""
    size = len(problem.labels) if problem.order == 1 else len(problem.labels) * (len(problem.labels) + 1)
    spoken: set[int] = set()

    def solve(fixed: Fixed, warm: Branch | None, best: Candidate | None, deadline: float) -> Bounded:
        branch = warm if warm is not None else Branch(arcs, 0.0, frozenset())
        lattice, paid, settled = branch.arcs, branch.paid, branch.settled
        if fixed:
            c, satisfied = fixed[-1]
            settled = settled | {c}
            if satisfied:
                lattice = intersected(lattice, packed, c, size)
            else:
                paid += float(problem.penalties[c])
        path = np.empty(problem.n_tokens, dtype=np.int64)
        while True:
            if best is not None:  # only what beats the best labelling matters
                lattice = pruned(*lattice, best.score + paid)
            score = best_path(*lattice, path)
            if score == -np.inf:
                return Bounded(-np.inf if best is None else best.score, Intersection(()), None, None)
            violated = [c for c in violated_by(path, size, packed) if c not in settled]
            spoken.update(violated)
            hard = [c for c in violated if problem.is_hard[c]]
            if not hard:
                break
            chosen = next_constraint(choose, problem, packed, lattice, hard, path, size)
            settled = settled | {chosen}
            lattice = intersected(lattice, packed, chosen, size)
        split = next_constraint(choose, problem, packed, lattice, violated, path, size) if violated else None
        candidate = Candidate(path, problem.score_of(labels_of(problem, path)))
        return Bounded(score - paid, Intersection(()), candidate, split, Branch(lattice, paid, settled))

    found = branch_and_bound(solve, limits_of(time_limit))
    if found.best is None and found.complete:
        raise infeasible(problem)
    proof = intersection_of(spoken)
    if found.best is None:
        return nothing_found(found.bound, proof, begin)
    return solution_of(problem, found.best.structure, found.bound, proof, begin)


def decode_intersection(problem: Problem, *, time_limit: float | None = None, sizes: list[int] | None = None) -> Solution[Labelling]:
    """Section 3: intersects the lattice with all constraints, then takes the best path. Soft ones take their penalty on the way.

    The time limit is not looked at: nothing is known before the last intersection.
    """
    begin = time.perf_counter()
    lattice, packed = lattice_of(problem), pack(problem)
    size = lattice.nodes.shape[1]
    arcs: Arcs = lattice_of_scores(lattice.nodes, lattice.edges, lattice.first)
    record(sizes, arcs)
    everything = range(len(packed.n_states))
    for c in everything:
        if len(arcs[2]) > 0:
            arcs = intersected(arcs, packed, c, size, math.inf if problem.is_hard[c] else float(problem.penalties[c]))
            record(sizes, arcs)
    path = np.empty(problem.n_tokens, dtype=np.int64)
    score = best_path(*arcs, path)
    if score == -np.inf:
        raise infeasible(problem)
    return solution_of(problem, path, score, intersection_of(everything), begin)
