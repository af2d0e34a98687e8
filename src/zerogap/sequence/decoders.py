"""Exact decoding under global constraints.

`auto` asks Viterbi first, which is enough for most sequences (Tromble & Eisner 2006, section 5.2.2), then a best-first search
over labels and the states of all automata, and between two attempts tunes prices on what the constraints count, until a search
ends. `relaxation` is the paper's figure 2: constraints are intersected one by one as they are found broken.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zerogap.errors import Infeasible, InputError, InvalidStructure, UnknownMethod, check_problem
from zerogap.grid import Scores, largest_magnitude
from zerogap.oracles.label_bounds import completions, dive, fill_jumps, find_broken, follow_completions, price, tune
from zerogap.oracles.label_search import EXHAUSTED, SOLVED, search, sweep
from zerogap.proof.certificate import Intersection
from zerogap.proof.solution import Solution, Trace
from zerogap.relax.many import decode_each
from zerogap.sequence.labels import Label
from zerogap.sequence.lattice import Counts, Lattice, Packed, counts_of, fits, lattice_of, pack
from zerogap.sequence.problem import Problem

Labelling = tuple[Label, ...]
FIRST_LIMIT = 300  # looks at prefixes in the first search
TUNING_STEPS = 12  # subgradient steps between two sweeps
FIRST_DEPTH, DEEPER = 0.03, 1.35  # how far below the bound the first sweep goes, as a share of the score, and each later one
SWEEP_LIMIT = 200_000  # prefixes that a sweep keeps before prices are tuned further
MOST_MODES = 32  # states of the machines that bounds know of
UNLIMITED = 2**62


def decode(problem: Problem, *, method: str = "auto", time_limit: float | None = None) -> Solution[Labelling]:
    """The best labelling that keeps every hard constraint, with a certificate.

    Methods: `auto`, `relaxation` (figure 2), `intersection` (section 3: all constraints at once), `ilp` (HiGHS). Infeasible names an
    irreducible set of hard constraints that cannot hold together.
    """
    check_problem(problem, Problem)
    if not isinstance(method, str) or method not in METHODS:
        raise UnknownMethod("method", method, METHODS)
    if problem.n_tokens == 0:
        return decode_nothing(problem)
    return METHODS[method](problem, time_limit)


def decode_many(
    problems: Sequence[Problem], *, threads: int | None = None, method: str = "auto", time_limit: float | None = None
) -> list[Solution[Labelling]]:
    """Decodes problems on several threads, in order."""
    return decode_each(decode, problems, threads, method=method, time_limit=time_limit)


def decode_nothing(problem: Problem) -> Solution[Labelling]:
    broken = [c for c in problem.broken([]) if problem.constraints[c].penalty is None]
    if broken:
        raise Infeasible("the sequence has no tokens, and " + problem.constraints[broken[0]].name + " does not accept that.")
    score = problem.score(())
    return Solution((), score, score, Intersection((), ()), Trace((score,), (score,), (0.0,)))


@dataclass(frozen=True, slots=True, eq=False)
class Selection:
    """The machines that bounds know of, and where labels take them."""

    machines: NDArray[np.int64]  # positions among the packed machines
    jump: NDArray[np.int32]  # (kinds of tokens, modes, S)
    jump_of: NDArray[np.int64]  # (n,)

    @property
    def tables(self) -> tuple[NDArray[Any], ...]:
        return self.jump, self.jump_of


def select(packed: Packed, size: int, machines: Sequence[int]) -> Selection:
    chosen = np.array(machines, dtype=np.int64)
    n = packed.table_of.shape[1]
    reading = np.concatenate([packed.table_of[chosen], [np.arange(n) == n - 1]])  # the last token is of its own kind
    _, tokens, jump_of = np.unique(reading, axis=1, return_index=True, return_inverse=True)
    jump = np.empty((len(tokens), math.prod(packed.n_states[chosen].tolist()), size), dtype=np.int32)
    fill_jumps(*packed.tables, chosen, jump, tokens)
    return Selection(chosen, jump, jump_of.reshape(-1))


@dataclass(frozen=True, slots=True, eq=False)
class Bound:
    """What may follow a prefix: priced scores and their completions, which the selected machines restrict."""

    rest: Scores  # (n, modes, S)
    edges: Scores
    edges_to: Scores  # transposed
    first: Scores
    refunds: float
    selection: Selection


def plain_bound(lattice: Lattice) -> Bound:
    """Nothing selected, no prices."""
    n, size = lattice.nodes.shape
    edges_to = np.ascontiguousarray(lattice.edges.transpose(0, 2, 1))
    nothing = Selection(np.zeros(0, dtype=np.int64), np.zeros((1, 1, size), dtype=np.int32), np.zeros(n, dtype=np.int64))
    return completed(lattice, lattice.edges, edges_to, lattice.first, 0.0, nothing)


def completed(lattice: Lattice, edges: Scores, edges_to: Scores, first: Scores, refunds: float, selection: Selection) -> Bound:
    n, size = lattice.nodes.shape
    rest = np.empty((n, selection.jump.shape[1], size))
    completions(lattice.nodes, edges_to, *selection.tables, rest, np.empty(size))
    return Bound(rest, edges, edges_to, first, refunds, selection)


def priced_bound(lattice: Lattice, counts: Counts, multipliers: Scores, selection: Selection) -> Bound:
    edges, edges_to, first = np.empty_like(lattice.edges), np.empty_like(lattice.edges), np.empty_like(lattice.first)
    price(lattice.edges, lattice.first, counts.steps, multipliers, edges, edges_to, first)
    return completed(lattice, edges, edges_to, first, refunds_of(counts, multipliers), selection)


def refunds_of(counts: Counts, multipliers: Scores) -> float:
    limits = np.where(multipliers > 0.0, counts.high, counts.low)
    return float((multipliers * np.where(multipliers != 0.0, limits, 0.0)).sum())


def best_path(lattice: Lattice, bound: Bound) -> tuple[NDArray[np.int64], float]:
    path = np.empty(len(lattice.nodes), dtype=np.int64)
    return path, follow_completions(lattice.nodes, bound.edges_to, bound.first, *bound.selection.tables, bound.rest, path)


def explore(
    kernel: Callable[..., tuple[int, float, int, NDArray[np.int64]]],
    lattice: Lattice, packed: Packed, bound: Bound, threshold: float, limit: int,
) -> tuple[int, float, int, NDArray[np.int64]]:  # fmt: skip
    """`search` or `sweep`: why it ended, the score, its effort, and the path."""
    return kernel(
        lattice.nodes, lattice.edges, lattice.first, bound.rest, bound.edges, bound.first, bound.refunds,
        *packed.tables, packed.shift, packed.penalties, packed.is_hard, bound.selection.machines, *bound.selection.tables, threshold, limit,
    )  # fmt: skip


def decode_auto(problem: Problem, time_limit: float | None) -> Solution[Labelling]:
    begin = time.perf_counter()
    lattice = lattice_of(problem)
    everything = tuple(range(len(problem.machines)))
    packed = pack(problem, everything)
    bound = plain_bound(lattice)
    path, score = best_path(lattice, bound)
    if score == -np.inf:
        raise Infeasible("every labelling uses a label or a transition that is forbidden (-inf).")
    broken = np.empty(len(everything), dtype=np.bool_)
    if find_broken(path, lattice.nodes.shape[1], *packed.tables, broken) == 0:
        return solution_of(problem, lattice, path, score, Intersection((), ()), begin)
    if not fits(problem.machines):
        return decode_relaxation(problem, time_limit)
    reason, found_score, _, found = explore(search, lattice, packed, bound, -np.inf, FIRST_LIMIT)
    if reason == SOLVED:
        return solution_of(problem, lattice, found, found_score, Intersection(everything, ()), begin)
    if reason == EXHAUSTED:
        raise infeasible(problem)
    return decode_by_sweeps(problem, lattice, packed, bound, score, broken, begin, time_limit)


def decode_by_sweeps(
    problem: Problem, lattice: Lattice, packed: Packed, bound: Bound, upper: float, broken: NDArray[np.bool_], begin: float,
    time_limit: float | None,
) -> Solution[Labelling]:  # fmt: skip
    """Tunes prices and sweeps above a threshold that falls, in turn, until something is found above it."""
    counts = counts_of(problem)
    multipliers = np.zeros(len(counts.machines))
    level = np.array([0.05 * abs(upper) + problem.resolution])
    incumbent = -np.inf
    candidate, dived = np.zeros(problem.n_tokens, dtype=np.int64), np.zeros(problem.n_tokens, dtype=np.int64)
    depth = FIRST_DEPTH * abs(upper) + problem.resolution
    limit = SWEEP_LIMIT
    while True:
        selection = select_more(packed, counts, bound.selection, broken)
        reached, incumbent, _ = tune(
            lattice.nodes, lattice.edges, lattice.first, counts.steps, counts.low, counts.high, problem.resolution, counts.largest,
            *packed.tables, packed.penalties, packed.is_hard, *selection.tables,
            incumbent, TUNING_STEPS, level, multipliers, candidate, broken,
        )  # fmt: skip
        proof = certificate((), counts, multipliers, selection)
        if incumbent >= reached:
            return solution_of(problem, lattice, candidate, incumbent, proof, begin)
        if time_limit is not None and time.perf_counter() - begin >= time_limit:
            if incumbent == -np.inf:
                return Solution(None, -math.inf, reached, proof, Trace((reached,), (-math.inf,), (time.perf_counter() - begin,)))
            return solution_of(problem, lattice, candidate, reached, proof, begin)
        bound = priced_bound(lattice, counts, multipliers, selection)
        dive_score = dive(
            lattice.nodes, lattice.edges, lattice.first, bound.rest, bound.edges, bound.first,
            *packed.tables, packed.penalties, packed.is_hard, *selection.tables, dived,
        )  # fmt: skip
        if dive_score > incumbent:
            incumbent, candidate = dive_score, dived.copy()
        threshold = max(incumbent, reached - depth)
        reason, score, _, found = explore(sweep, lattice, packed, bound, threshold, limit)
        if reason == SOLVED:
            return solution_of(problem, lattice, found, score, certificate(packed.chosen, counts, multipliers, selection), begin)
        if reason == EXHAUSTED and threshold == incumbent:
            return solution_of(problem, lattice, candidate, incumbent, certificate(packed.chosen, counts, multipliers, selection), begin)
        if reason == EXHAUSTED and reached - depth < lowest_score(lattice, packed):
            raise infeasible(problem)
        if reason == EXHAUSTED:
            depth *= DEEPER
        else:
            limit *= 4


def lowest_score(lattice: Lattice, packed: Packed) -> float:
    """Less than any labelling scores."""
    n = len(lattice.nodes)
    return -(n + 1) * 3.0 * (largest_magnitude(lattice.nodes, lattice.edges, lattice.first) + 1.0) - float(packed.penalties.sum())


def select_more(packed: Packed, counts: Counts, selection: Selection, broken: NDArray[np.bool_]) -> Selection:
    """The selected machines and the smallest broken ones that have no count to price, as long as the bound stays cheap."""
    priced, chosen = set(counts.machines), selection.machines.tolist()
    wanted = [c for c in np.flatnonzero(broken & packed.is_hard).tolist() if c not in priced and c not in chosen]
    for c in sorted(wanted, key=lambda c: (packed.n_states[c], c)):
        if math.prod(packed.n_states[[*chosen, c]].tolist()) <= MOST_MODES:
            chosen.append(c)
    return selection if len(chosen) == len(selection.machines) else select(packed, selection.jump.shape[2], chosen)


def certificate(machines: tuple[int, ...], counts: Counts | None, multipliers: Scores, selection: Selection) -> Intersection:
    prices = () if counts is None else tuple((c, float(u)) for c, u in zip(counts.machines, multipliers, strict=True) if u != 0.0)
    return Intersection(machines or tuple(selection.machines.tolist()), prices)


def solution_of(
    problem: Problem, lattice: Lattice, path: NDArray[np.int64], bound: float, found: Intersection, begin: float
) -> Solution[Labelling]:
    labels = lattice.label_of[path].tolist()
    score = problem.score_of(labels)
    return Solution(problem.names(labels), score, float(bound), found, Trace((float(bound),), (score,), (time.perf_counter() - begin,)))


def decode_relaxation(problem: Problem, time_limit: float | None) -> Solution[Labelling]:
    """Intersects only the hard constraints that the best labelling breaks, the smallest first (figure 2).

    Soft constraints are in from the beginning: a broken one only costs its penalty.
    """
    begin = time.perf_counter()
    lattice = lattice_of(problem)
    everything = pack(problem, range(len(problem.machines)))
    active = [c for c, constraint in enumerate(problem.constraints) if constraint.penalty is not None]
    while True:
        packed = pack(problem, active)
        if not fits([problem.machines[c] for c in active]):
            raise InputError(f"{len(active)} constraints have to hold at once, more than fit: combine some of them with &.")
        path, bound = best_under(lattice, packed, plain_bound(lattice))
        if path is None:
            raise infeasible(problem)
        broken = np.empty(len(problem.machines), dtype=np.bool_)
        find_broken(path, lattice.nodes.shape[1], *everything.tables, broken)
        candidates = [c for c in np.flatnonzero(broken).tolist() if c not in active]
        if not candidates:
            return solution_of(problem, lattice, path, bound, Intersection(tuple(active), ()), begin)
        active.append(min(candidates, key=lambda c: (problem.machines[c].n_states, c)))
        if time_limit is not None and time.perf_counter() - begin >= time_limit:
            seconds = time.perf_counter() - begin
            return Solution(None, -math.inf, bound, Intersection(packed.chosen, ()), Trace((bound,), (-math.inf,), (seconds,)))


def best_under(lattice: Lattice, packed: Packed, bound: Bound) -> tuple[NDArray[np.int64] | None, float]:
    """The best path that the packed machines accept; None if there is none."""
    reason, score, _, path = explore(search, lattice, packed, bound, -np.inf, UNLIMITED)
    return (path, float(score)) if reason == SOLVED else (None, -np.inf)


def decode_intersection(problem: Problem, time_limit: float | None) -> Solution[Labelling]:
    """All constraints at once, without bounds: every prefix is extended (section 3)."""
    begin = time.perf_counter()
    lattice = lattice_of(problem)
    everything = tuple(range(len(problem.machines)))
    if not fits(problem.machines):
        raise InputError(f"{len(everything)} constraints do not fit into one product: use method 'relaxation'.")
    packed = pack(problem, everything)
    n = problem.n_tokens
    per_token = 2.0 * largest_magnitude(lattice.nodes, lattice.edges) + 1.0  # no token adds as much: prefixes are extended by length
    blind = np.empty((n, 1, lattice.nodes.shape[1]))
    blind[:] = per_token * 2.0 * np.arange(n - 1, -1, -1)[:, None, None]
    path, score = best_under(lattice, packed, replace(plain_bound(lattice), rest=blind))
    if path is None:
        raise infeasible(problem)
    return solution_of(problem, lattice, path, score, Intersection(everything, ()), begin)


def decode_ilp(problem: Problem, time_limit: float | None) -> Solution[Labelling]:
    """HiGHS proposes a labelling. Its own bound has a tolerance, so ours is proved by the search."""
    from zerogap.baselines.sequence_ilp import solve_ilp

    begin = time.perf_counter()
    lattice = lattice_of(problem)
    path = solve_ilp(problem, lattice.nodes, lattice.edges, lattice.first, lattice.label_of, time_limit=time_limit)
    left = None if time_limit is None else max(time_limit - (time.perf_counter() - begin), 0.0)
    proved = decode_auto(problem, left)
    if path is None:
        return proved
    labelling = problem.names(lattice.label_of[path].tolist())
    try:
        problem.check(labelling)
    except InvalidStructure:  # HiGHS has tolerances
        return proved
    return replace(proved, structure=labelling, score=problem.score(labelling))


def infeasible(problem: Problem) -> Infeasible:
    """Names an irreducible set of hard constraints (a deletion filter)."""
    lattice = lattice_of(problem)
    if best_path(lattice, plain_bound(lattice))[1] == -np.inf:
        return Infeasible("every labelling uses a label or a transition that is forbidden (-inf).")
    kept = [c for c, constraint in enumerate(problem.constraints) if constraint.penalty is None]
    for c in list(kept):
        without = [other for other in kept if other != c]
        packed = pack(problem, without)
        if best_under(lattice, packed, plain_bound(lattice))[0] is None:
            kept = without
    names = tuple(problem.constraints[c].name for c in kept)
    return Infeasible(f"no labelling keeps these constraints together: {', '.join(names)}.", names)


METHODS: dict[str, Callable[[Problem, float | None], Solution[Any]]] = {
    "auto": decode_auto,
    "relaxation": decode_relaxation,
    "intersection": decode_intersection,
    "ilp": decode_ilp,
}
