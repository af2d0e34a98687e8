"""Optimal beam search: rounds that bring the bound down, and beam searches pruned by it, in turn (Rush 2014, sections 7.4 to 7.6).

A beam search keeps so many hypotheses of every group, leaves out all that cannot beat the best structure known, by a bound on what is
around them, and tells whether the beam left out anything else. If it did not, what is known in the end is optimal (property 7.4.2).
`optimal_beam` is algorithm 13 for whatever has such rounds and searches; `SignatureSearch` has them for hypergraphs with linear
constraints: hypotheses are vertices with a signature (how much of every row they use), rounds are subgradient steps (algorithms 10
and 12).

Departures: lengths of steps and widths of beams go by the gap as in section 7.7.1, and the beam also grows when nothing gets better, so
that the search ends. CHECK is general: a signature is dropped if no way around its vertex brings every row within its limit.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from zerogap.errors import InputError, UnknownMethod
from zerogap.grid import Scores, floor_to_unit
from zerogap.oracles.hypergraphs.best_path import inside_chart, outside_chart, path_of
from zerogap.proof.solution import Trace
from zerogap.relax.candidate import Candidate
from zerogap.relax.history import History, note
from zerogap.relax.lagrangian import largest_multipliers, take_step
from zerogap.relax.steps import Progress, polyak
from zerogap.structures.hypergraph import Hypergraph
from zerogap.structures.linear import LinearConstraints

SCHEDULES = ("alternating", "staged")
LEAST_WIDTH, MOST_WIDTH = 10, 1_000_000
SLOW = 0.05  # of the gap: a round that takes less off the bound is slow, as is a search that finds nothing, and the beam grows
STAGE_PATIENCE = 10  # slow rounds that end the first stage

Signature = tuple[float, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Beamed:
    """What a beam search found above what was known, and whether nothing that could be better was left out."""

    candidate: Candidate | None
    complete: bool


class Searchable(Protocol):
    """A problem with a relaxation that gets better round by round, and a beam search that is pruned by it."""

    def tighten(self, best: Candidate | None) -> tuple[float, Candidate | None]:
        """One round: the bound, and a candidate if the relaxation has found one."""
        ...

    def search(self, best: Candidate | None, width: int) -> Beamed: ...


@dataclass(frozen=True, slots=True, eq=False)
class Optimal:
    """The best structure, a bound (-inf if there is no structure at all), and whether the last search proved it."""

    best: Candidate | None
    bound: float
    searched: bool  # the bound is that of a complete search, not of the relaxation
    rounds: int
    trace: Trace


Width = Callable[[float, float, int], int]


def width_by_gap(gap: float, first_gap: float, slow_rounds: int) -> int:
    """10^mu(gap), with mu from 1 at the first gap to 5 where it is closed (section 7.7.1), four times as much for every slow round.

    >>> [width_by_gap(gap, 8.0, 0) for gap in (8.0, 4.0, 1.0)], width_by_gap(8.0, 8.0, 3)
    ([10, 1000, 31622], 640)
    """
    share = gap / first_gap if math.isfinite(gap) and 0.0 < gap < first_gap else 1.0
    return int(min(LEAST_WIDTH * 10.0 ** (4.0 * (1.0 - share)) * 4.0 ** min(slow_rounds, 60), MOST_WIDTH))


def optimal_beam(
    problem: Searchable,
    *,
    schedule: str = "alternating",
    incumbent: Candidate | None = None,
    max_rounds: int = 200,
    time_limit: float | None = None,
    width: Width = width_by_gap,
) -> Optimal:
    """Algorithm 13. `alternating` searches after every round, `staged` only once rounds bring the bound down no more."""
    if schedule not in SCHEDULES:
        raise UnknownMethod("schedule", schedule, SCHEDULES)
    begin, history = time.perf_counter(), History()
    best, bound, first_gap, slow = incumbent, math.inf, math.inf, 0
    searching = schedule == "alternating"
    for k in range(1, max_rounds + 1):
        known = -math.inf if best is None else best.score
        if searching or slow < STAGE_PATIENCE:
            found, candidate = problem.tighten(best)
            best = better(best, candidate)
            slow += not found < bound - SLOW * max(bound - known, 0.0) if math.isfinite(bound) else 0
            bound = min(bound, found)
        note(history, bound, best, time.perf_counter() - begin)
        if best is not None and bound <= best.score:
            return Optimal(best, best.score, False, k, history.trace())
        gap = bound - (-math.inf if best is None else best.score)
        first_gap = min(first_gap, gap) if k == 1 or not math.isfinite(first_gap) else first_gap
        if not searching and slow >= STAGE_PATIENCE:
            searching = True
        if searching:
            beamed = problem.search(best, width(gap, first_gap, slow))
            best = better(best, beamed.candidate)
            if beamed.complete:
                bound = -math.inf if best is None else best.score
                note(history, bound, best, time.perf_counter() - begin)
                return Optimal(best, bound, True, k, history.trace())
            slow += beamed.candidate is None  # a beam that helps nothing is too narrow
        if time_limit is not None and time.perf_counter() - begin >= time_limit:
            break
    return Optimal(best, bound if best is None else max(bound, best.score), False, len(history.bounds), history.trace())


def better(a: Candidate | None, b: Candidate | None) -> Candidate | None:
    return a if b is None or (a is not None and a.score >= b.score) else b


@dataclass(slots=True)
class SignatureSearch:
    """A hypergraph with constraints as algorithm 13 wants it. Scores and multipliers lie on the grid of `resolution`.

    `groups` has a number for every vertex, larger than those of the vertices below it; the vertices of one number share the beam. By
    default every vertex is a group.
    """

    graph: Hypergraph
    scores: Scores
    rows: LinearConstraints
    resolution: float
    unit: float
    terms: int
    groups: NDArray[np.int64] | None = None
    multipliers: Scores = field(init=False)
    best_multipliers: Scores = field(init=False)  # of the lowest bound so far
    bound: float = math.inf
    stalled: int = 0
    iteration: int = 0
    columns: list[dict[int, float]] = field(init=False)  # of every hyperedge: rows and coefficients
    least: Scores = field(init=False)  # (rows, vertices): the least and the most that is around a vertex
    most: Scores = field(init=False)

    def __post_init__(self) -> None:
        self.multipliers = np.zeros(len(self.rows))
        self.best_multipliers = self.multipliers
        self.groups = check_groups(self.graph, self.groups)
        owner = np.repeat(np.arange(len(self.rows)), np.diff(self.rows.row_start))
        self.columns = [{} for _ in range(self.graph.n_edges)]
        for part, row, value in zip(self.rows.columns.tolist(), owner.tolist(), self.rows.coefficients.tolist(), strict=True):
            self.columns[part][row] = self.columns[part].get(row, 0.0) + value
        allowed, zeros = self.scores > -np.inf, np.zeros(self.graph.n_vertices)
        self.least, self.most = (np.empty((len(self.rows), self.graph.n_vertices)) for _ in range(2))
        for r in range(len(self.rows)):
            weights = self.rows.select([r]).transposed_times(np.ones(1))
            for sign, table in ((-1.0, self.least), (1.0, self.most)):
                values = np.where(allowed, sign * weights, -np.inf)
                inside, _ = inside_chart(self.graph, values, zeros)
                table[r] = sign * outside_chart(self.graph, values, zeros, inside)

    def tighten(self, best: Candidate | None) -> tuple[float, Candidate | None]:
        """A round of algorithm 12: the dual at the multipliers, and a step with Polyak's length."""
        self.iteration += 1
        reduced = self.scores - self.rows.transposed_times(self.multipliers)
        inside, back = inside_chart(self.graph, reduced, np.zeros(self.graph.n_vertices))
        if inside[self.graph.root] == -np.inf:
            self.bound = -math.inf
            return -math.inf, None
        dual = floor_to_unit(float(inside[self.graph.root] + self.multipliers @ self.rows.limits), self.unit)
        edges, _ = path_of(self.graph, back)
        excess = self.rows.excess(edges)
        candidate = None
        if not self.rows.violated(excess).any():
            candidate = Candidate(tuple(edges.tolist()), float(self.scores[edges].sum()))
        if dual < self.bound:
            self.bound, self.best_multipliers, self.stalled = dual, self.multipliers, 0
        else:
            self.stalled += 1
        best = better(best, candidate)
        direction = np.where(self.rows.is_equation | (excess > 0.0) | (self.multipliers > 0.0), excess, 0.0)
        norm = float(direction @ direction)
        if norm > 0.0:
            target = best.score if best is not None else dual - max(abs(dual), 1.0)
            size = polyak(1.0, Progress(self.iteration, 0, 0, self.stalled, dual, target, norm))
            limit = largest_multipliers(self.rows, self.scores, self.resolution, self.terms)
            self.multipliers = take_step(self.multipliers, direction, max(size, self.resolution), self.resolution, limit, self.rows)
        return dual, candidate

    def search(self, best: Candidate | None, width: int) -> Beamed:
        """Algorithm 10, with the bounds of the best multipliers so far."""
        return beam_search(self, self.best_multipliers, -math.inf if best is None else best.score, width)


def check_groups(graph: Hypergraph, groups: NDArray[np.int64] | None) -> NDArray[np.int64]:
    if groups is None:
        return np.arange(graph.n_vertices)
    numbers = np.asarray(groups)
    if numbers.shape != (graph.n_vertices,) or numbers.dtype.kind not in "iu":
        raise InputError(f"groups has shape {numbers.shape}: expected {graph.n_vertices} integers, one per vertex.")
    if (numbers[graph.tails] >= numbers[np.repeat(graph.heads, np.diff(graph.tail_start))]).any():
        raise InputError("groups has a vertex whose number is not larger than that of one below it: expected it to be.")
    return numbers


def beam_search(problem: SignatureSearch, multipliers: Scores, lower: float, width: int) -> Beamed:
    """The best structure above `lower` among those that the beam leaves."""
    graph, rows = problem.graph, problem.rows
    assert problem.groups is not None
    reduced, zeros = problem.scores - rows.transposed_times(multipliers), np.zeros(graph.n_vertices)
    inside, _ = inside_chart(graph, reduced, zeros)
    around = outside_chart(graph, reduced, zeros, inside) + float(multipliers @ rows.limits)
    chart: list[dict[Signature, tuple[float, int, tuple[Signature, ...]]]] = [{} for _ in range(graph.n_vertices)]
    nothing: Signature = (0.0,) * len(rows)
    complete = True
    group: list[int] = []
    prices = multipliers.tolist()
    order = np.argsort(problem.groups, kind="stable")
    ends = np.append(np.diff(problem.groups[order]) > 0, True)
    for v, is_last in zip(order.tolist(), ends.tolist(), strict=True):
        first, last = int(graph.edge_start[v]), int(graph.edge_start[v + 1])
        if first == last:
            chart[v][nothing] = 0.0, -1, ()
        for e in range(first, last) if around[v] > -np.inf else ():
            if problem.scores[e] == -np.inf:
                continue
            tails = graph.tail(e).tolist()
            for below in itertools.product(*(chart[t].items() for t in tails)):
                signature = combined(nothing, problem.columns[e], [s for s, _ in below])
                score = float(problem.scores[e]) + sum(entry[0] for _, entry in below)
                bound = score - sum(p * s for p, s in zip(prices, signature, strict=True)) + around[v]
                if floor_to_unit(float(bound), problem.unit) <= lower or not within(problem, v, signature):
                    continue
                if signature not in chart[v] or score > chart[v][signature][0]:
                    chart[v][signature] = score, e, tuple(s for s, _ in below)
        group.append(v)
        if is_last:
            complete &= prune(chart, group, around, prices, width)
            group = []
    final = [(score, signature) for signature, (score, _, _) in chart[graph.root].items() if holds(rows, signature)]
    if not final or max(final)[0] <= lower:
        return Beamed(None, complete)
    score, signature = max(final, key=lambda entry: entry[0])
    return Beamed(Candidate(traced(graph, chart, signature), score), complete)


def combined(nothing: Signature, column: dict[int, float], below: list[Signature]) -> Signature:
    total = below[0] if len(below) == 1 else tuple(map(sum, zip(*below, strict=True))) if below else nothing
    if not column:
        return total
    changed = list(total)
    for row, value in column.items():
        changed[row] += value
    return tuple(changed)


def within(problem: SignatureSearch, v: int, signature: Signature) -> bool:
    """CHECK: whether what is around the vertex can bring every row within its limit, each for itself."""
    sums = np.array(signature)
    fits = sums + problem.least[:, v] <= problem.rows.limits
    reaches = sums + problem.most[:, v] >= problem.rows.limits
    return bool((fits & (reaches | ~problem.rows.is_equation)).all())


def holds(rows: LinearConstraints, signature: Signature) -> bool:
    return not rows.violated(np.array(signature) - rows.limits).any()


def prune(chart: list[dict[Signature, Any]], group: list[int], around: Scores, prices: list[float], width: int) -> bool:
    """PRUNE: the best of a group stay, by their bounds; False if any are left out (algorithm 11, whose answer is printed the wrong way)."""
    if sum(len(chart[v]) for v in group) <= width:
        return True
    ranked = [
        (-(entry[0] - sum(p * s for p, s in zip(prices, signature, strict=True)) + around[v]), v, signature)
        for v in group
        for signature, entry in chart[v].items()
    ]
    for _, v, signature in sorted(ranked)[width:]:
        del chart[v][signature]
    return False


def traced(
    graph: Hypergraph, chart: list[dict[Signature, tuple[float, int, tuple[Signature, ...]]]], signature: Signature
) -> tuple[int, ...]:
    """The hyperedges of a hypothesis of the root, each before those below it."""
    edges, waiting = [], [(graph.root, signature)]
    while waiting:
        v, own = waiting.pop()
        _, edge, below = chart[v][own]
        if edge >= 0:
            edges.append(edge)
            waiting.extend(reversed(list(zip(graph.tail(edge).tolist(), below, strict=True))))
    return tuple(edges)
