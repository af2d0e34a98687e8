"""Steps of a solver for a client to watch: every step, or as many as are worth showing."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

from zerogap.proof.solution import Solution
from zerogap.relax.watching import Step, watching

MOST_STEPS = 2000  # that are told: a page cannot show more


def watched(solve: Callable[[], Solution[Any]], tell: Callable[[dict[str, Any]], None]) -> Solution[Any]:
    """Solves, and tells every step as an object; from solvers that say nothing by themselves, what the trace says in the end."""
    begin, told = time.perf_counter(), 0
    bound, score = math.inf, -math.inf

    def told_step(step: Step) -> None:
        nonlocal told, bound, score
        told += 1
        if told <= MOST_STEPS:
            bound, score = min(bound, step.bound), max(score, step.score)
            tell(event(step.kind, bound, score, time.perf_counter() - begin, dict(step.detail)))

    with watching(told_step):
        solution = solve()
    if told == 0:
        rows = zip(solution.trace.bounds, solution.trace.scores, solution.trace.seconds, strict=True)
        for bound, score, seconds in thinned(list(rows)):
            tell(event("iteration", bound, score, seconds, {}))
    elif (bound, score) != (solution.bound, solution.score):
        tell(event("end", solution.bound, solution.score, time.perf_counter() - begin, {}))
    return solution


def event(kind: str, bound: float, score: float, seconds: float, detail: dict[str, Any]) -> dict[str, Any]:
    return {"event": "step", "kind": kind, "bound": finite(bound), "score": finite(score), "seconds": seconds, **shown(detail)}


def shown(detail: dict[str, Any]) -> dict[str, Any]:
    """As JSON has it; the bound of a node is not that of the whole search."""
    found = {"node_bound" if name == "bound" else name: value for name, value in detail.items()}
    return {name: finite(value) if isinstance(value, float) else value for name, value in found.items()}


def thinned(rows: list[Any]) -> list[Any]:
    """No more than can be shown, the first and the last among them."""
    if len(rows) <= MOST_STEPS:
        return rows
    return [rows[round(i * (len(rows) - 1) / (MOST_STEPS - 1))] for i in range(MOST_STEPS)]


def finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
