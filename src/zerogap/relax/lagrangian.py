"""Lagrangian relaxation and dual decomposition by subgradient steps (Rush 2014, chapter 3 and appendix A).

    maximise  sum_k scores_k . y_k   with  y_k a structure of oracle k,  A y = b or A y <= b
    dual      L(u) = u . b + sum_k max_{y_k} (scores_k - A_k' u) . y_k,   u >= 0 where the row is an upper limit

L(u) is an upper bound for every u of the right sign (theorem 3.3.1), and a candidate that satisfies all rows and reaches
it is optimal (theorem 3.3.3). The sign of u is that of chapter 7. Departures: all multipliers lie on the grid of exact
numbers, so that "reaches" is equality; bounds are rounded down to the unit of the scores; only oracles whose scores
changed since they were last asked are asked again; candidates may come from anywhere through `repair`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zerogap.errors import ConstraintError, InputError, ScoreError
from zerogap.grid import MANTISSA_BITS, Scores, floor_to_unit, largest_magnitude
from zerogap.proof.solution import Trace
from zerogap.relax.candidate import Candidate
from zerogap.relax.history import History, note
from zerogap.relax.steps import Progress, check_steps, step_rule
from zerogap.relax.watching import Step, watcher
from zerogap.structures.linear import LinearConstraints

Parts = NDArray[np.int64]
MOST_TOLD = 20  # violated rows, to whoever watches


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """A structure of highest score: the parts that it uses, and the score of all in it that is not a part."""

    structure: Any
    parts: Parts
    rest: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Oracle:
    """An exact algorithm for one half of the problem. Only what constraints mention needs to be a part of its own.

    `best(scores)` solves it for other scores of the parts; None if every structure is forbidden.
    """

    scores: Scores
    best: Callable[[Scores], Answer | None]


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """What hooks see after every evaluation of the dual."""

    iteration: int
    structures: tuple[Any, ...]  # the oracles' answers
    parts: Parts  # the parts that they use, numbered over all oracles
    excess: Scores  # Ay - b
    multipliers: Scores
    bound: float  # L(u) at these multipliers
    best_bound: float
    best: Candidate | None
    seconds: float


@dataclass(frozen=True, slots=True, eq=False)
class Relaxed:
    """The outcome: the best bound with its multipliers, the best candidate, and how it went."""

    bound: float
    multipliers: Scores
    best: Candidate | None
    last: State | None
    reason: str  # "optimal", "infeasible", "iterations", "stalled", "stationary", "time", "hook"
    oracle_calls: int
    trace: Trace
    constraints: LinearConstraints  # with what tightening added

    @property
    def iterations(self) -> int:
        return len(self.trace)


Repair = Callable[[State], Candidate | None]
Tighten = Callable[[State], LinearConstraints | None]


def minimise_dual(
    oracles: Sequence[Oracle],
    constraints: LinearConstraints,
    *,
    resolution: float,
    unit: float | None = None,
    terms: int,
    repair: Repair | None = None,
    floor: float = -math.inf,
    incumbent: Candidate | None = None,
    multipliers: Scores | None = None,
    step: str = "polyak",
    scale: float | None = None,
    max_iterations: int = 200,
    patience: int | None = None,
    time_limit: float | None = None,
    tighten: Tighten | None = None,
    stop: Callable[[State], bool] | None = None,
) -> Relaxed:
    """Minimises the dual until bound and score meet or a limit is reached.

    `repair` is asked after every evaluation for a candidate. Without it, the oracles' own answers are one when they
    satisfy all rows; its structure is the tuple of theirs.
    `floor` is a score that every structure reaches: a bound below it proves that no structure satisfies the rows.
    `terms` limits how many scores one structure adds up, which limits how large multipliers may grow. `tighten` may
    return further rows; their multipliers start at 0. `patience` ends the search when the best bound has not improved for
    so many iterations, `stop` when it says so.
    """
    rule = step_rule(step)
    check_steps(step, scale)
    if not isinstance(max_iterations, int) or max_iterations < 1:
        raise InputError(f"max_iterations is {max_iterations}: expected at least 1.")
    offsets = np.concatenate([[0], np.cumsum([len(oracle.scores) for oracle in oracles])])
    if constraints.n_parts != offsets[-1]:
        raise ConstraintError(f"constraints are over {constraints.n_parts} parts, the oracles have {offsets[-1]}.")
    scores = np.concatenate([oracle.scores for oracle in oracles])
    owners = np.repeat(np.arange(len(oracles)), np.diff(offsets))
    unit = resolution if unit is None else unit
    current = start_multipliers(constraints, multipliers)
    check_exact(oracles, scores, current, resolution, unit, terms)
    limit = largest_multipliers(constraints, scores, resolution, terms)
    length = default_scale(scores, step) if scale is None else scale

    begin = time.perf_counter()
    history = History()
    best, best_bound, best_multipliers = incumbent, math.inf, current
    answers: list[Answer | None] = [None] * len(oracles)
    stale = set(range(len(oracles)))
    calls = increases = failures = stalled = 0
    previous = math.inf
    last_excess, reach = np.empty(0), default_scale(scores, "")  # without a candidate, Polyak's rule aims this far below
    state: State | None = None
    reason = "iterations"
    tell = watcher()
    for iteration in range(1, max_iterations + 1):
        reduced = scores - constraints.transposed_times(current)
        for k in sorted(stale):
            answers[k] = oracles[k].best(reduced[offsets[k] : offsets[k + 1]])
        calls += len(stale)
        solved = [answer for answer in answers if answer is not None]
        seconds = time.perf_counter() - begin
        if len(solved) < len(oracles):  # an oracle has no structure at all
            best_bound, best_multipliers = -math.inf, current
            reason = "infeasible"
            note(history, best_bound, best, seconds)
            break
        parts = np.concatenate([offsets[k] + solved[k].parts for k in range(len(oracles))]).astype(np.int64)
        rest = sum(rest_on_grid(answer, k, unit) for k, answer in enumerate(solved))
        bound = floor_to_unit(float(reduced[parts].sum() + current @ constraints.limits) + rest, unit)
        excess = constraints.excess(parts)
        if bound < best_bound:
            best_bound, best_multipliers, stalled = bound, current, 0
        else:
            stalled += 1
        structures = tuple(answer.structure for answer in solved)
        state = State(iteration, structures, parts, excess, current, bound, best_bound, best, seconds)
        if repair is not None:
            candidate = repair(state)
        else:
            candidate = Candidate(structures, float(scores[parts].sum() + rest)) if not constraints.violated(excess).any() else None
        if candidate is not None and (best is None or candidate.score > best.score):
            best = candidate
        note(history, best_bound, best, seconds)
        if tell is not None:
            score = -math.inf if best is None else best.score
            tell(Step("iteration", best_bound, score, {"dual": bound, "violated": violated_rows(constraints, excess)}))
        if best is not None and best_bound <= best.score:
            reason = "optimal"
            break
        if best_bound < floor:
            reason = "infeasible"
            break
        if stop is not None and stop(state):
            reason = "hook"
            break
        if patience is not None and stalled >= patience:
            reason = "stalled"
            break
        if time_limit is not None and seconds >= time_limit:
            reason = "time"
            break
        if tighten is not None:
            wider = tighten(state)
            if wider is not None:
                constraints, current = extend(constraints, current, wider)
                limit = largest_multipliers(constraints, scores, resolution, terms)
                excess = constraints.excess(parts)
        increases += bound > previous
        failures += bound >= previous
        previous = bound
        if state.iteration > 1 and np.array_equal(excess, last_excess):
            reach *= 2.0  # the oracles keep their answer: go further
        last_excess = excess
        target = best.score if best is not None else max(floor, bound - reach) - unit
        direction = np.where(constraints.is_equation | (excess > 0.0) | (current > 0.0), excess, 0.0)
        norm = float(direction @ direction)
        if norm == 0.0:  # every row holds with no slack to price: only `repair` could do better
            reason = "optimal" if best is not None and best_bound <= best.score else "stationary"
            break
        proposed = rule(length, Progress(iteration, increases, failures, stalled, bound, target, norm))
        moved = take_step(current, direction, max(proposed, resolution), resolution, limit, constraints)
        stale = set(owners[touched_parts(constraints, moved != current)].tolist())
        current = moved
    return Relaxed(best_bound, best_multipliers, best, state, reason, calls, history.trace(), constraints)


def check_exact(oracles: Sequence[Oracle], scores: Scores, multipliers: Scores, resolution: float, unit: float, terms: int) -> None:
    """Raises ScoreError unless all numbers lie on the grid and sums of them are exact. Else a bound might be rounded below the optimum."""
    for name, value in (("resolution", resolution), ("unit", unit)):
        if not (isinstance(value, int | float) and 0.0 < value < math.inf and math.frexp(value)[0] == 0.5):
            raise ScoreError(f"{name} is {value!r}: expected a power of two.")
    if unit < resolution:
        raise ScoreError(f"unit is {unit!r}: expected a multiple of the resolution {resolution!r}.")
    for k, oracle in enumerate(oracles):
        finite = oracle.scores > -np.inf
        wrong = np.flatnonzero(np.fmod(oracle.scores, unit, where=finite, out=np.zeros(len(oracle.scores))) != 0.0)
        if wrong.size:
            raise ScoreError(
                f"scores[{wrong[0]}] of oracle {k} is {float(oracle.scores[wrong[0]])!r}: expected a multiple of {unit!r};"
                " zerogap.grid.round_to_grid rounds."
            )
    wrong = np.flatnonzero(np.fmod(multipliers, resolution) != 0.0)
    if wrong.size:
        raise ScoreError(f"multipliers[{wrong[0]}] is {float(multipliers[wrong[0]])!r}: expected a multiple of {resolution!r}.")
    largest = largest_magnitude(scores)
    if terms * largest >= math.ldexp(resolution, MANTISSA_BITS - 1):
        raise ScoreError(f"sums of {terms} scores up to {largest:g} are not exact at the resolution {resolution!r}: take a coarser one.")


def rest_on_grid(answer: Answer, k: int, unit: float) -> float:
    if math.fmod(answer.rest, unit) != 0.0:
        raise ScoreError(f"the rest of an answer of oracle {k} is {answer.rest!r}: expected a multiple of {unit!r}.")
    return float(answer.rest)


def violated_rows(constraints: LinearConstraints, excess: Scores) -> list[tuple[str, float]]:
    """The names of the violated rows, and by how much, the worst first."""
    rows = np.flatnonzero(constraints.violated(excess))
    worst = rows[np.argsort(-np.abs(excess[rows]), kind="stable")][:MOST_TOLD]
    return [(constraints.names[r], float(excess[r])) for r in worst.tolist()]


def start_multipliers(constraints: LinearConstraints, given: Scores | None) -> Scores:
    if given is None:
        return np.zeros(len(constraints))
    if given.shape != (len(constraints),):
        raise ConstraintError(f"multipliers has shape {given.shape}: expected ({len(constraints)},), one per row.")
    return np.where(constraints.is_equation, given, np.maximum(given, 0.0))


def take_step(current: Scores, direction: Scores, size: float, resolution: float, limit: Scores, constraints: LinearConstraints) -> Scores:
    """u + size (Ay - b) on the grid, projected to the right sign and to magnitudes at which sums stay exact."""
    on_grid = np.ceil(min(size, 2 * float(limit.max(initial=0.0))) / resolution) * resolution
    moved = np.clip(current + on_grid * direction, -limit, limit)
    return np.where(constraints.is_equation, moved, np.maximum(moved, 0.0)) + 0.0


def touched_parts(constraints: LinearConstraints, rows: NDArray[np.bool_]) -> NDArray[np.int64]:
    return constraints.columns[np.repeat(rows, np.diff(constraints.row_start))]


def largest_multipliers(constraints: LinearConstraints, scores: Scores, resolution: float, terms: int) -> Scores:
    """Per row: no sum of `terms` reduced scores and of the priced limits may pass 2^53 resolutions.

    Every part shares its room equally among the rows that it is in, and the limits theirs among the rows that have one.
    """
    sizes = np.diff(constraints.row_start)
    shared = np.bincount(constraints.columns, minlength=constraints.n_parts)[constraints.columns] * np.abs(constraints.coefficients)
    heaviest = np.zeros(len(constraints))
    np.maximum.at(heaviest, np.repeat(np.arange(len(constraints)), sizes), shared)
    limits = np.abs(constraints.limits) * max(int(np.count_nonzero(constraints.limits)), 1)
    room = (math.ldexp(resolution, MANTISSA_BITS - 1) - terms * largest_magnitude(scores)) / 2.0
    return np.maximum(np.floor(room / (np.maximum(terms * heaviest, limits) + 1.0) / resolution), 1.0) * resolution


def default_scale(scores: Scores, step: str) -> float:
    """1 for Polyak's rule, which scales itself; else a typical difference between scores."""
    finite = scores[np.isfinite(scores)]
    largest = largest_magnitude(finite)
    if step == "polyak" or largest == 0.0:
        return 1.0
    return float((finite / largest).std() * largest) or 1.0  # divided first, so that squares do not overflow


def extend(constraints: LinearConstraints, multipliers: Scores, extra: LinearConstraints) -> tuple[LinearConstraints, Scores]:
    """Both sets of rows, and multipliers that start at 0 for the new ones."""
    if extra.n_parts != constraints.n_parts:
        raise ConstraintError(f"tightening gave rows over {extra.n_parts} parts: expected {constraints.n_parts}.")
    joined = LinearConstraints(
        n_parts=constraints.n_parts,
        row_start=np.concatenate([constraints.row_start, constraints.row_start[-1] + extra.row_start[1:]]),
        columns=np.concatenate([constraints.columns, extra.columns]),
        coefficients=np.concatenate([constraints.coefficients, extra.coefficients]),
        limits=np.concatenate([constraints.limits, extra.limits]),
        is_equation=np.concatenate([constraints.is_equation, extra.is_equation]),
        names=constraints.names + extra.names,
    )
    return joined, np.concatenate([multipliers, np.zeros(len(extra))])
