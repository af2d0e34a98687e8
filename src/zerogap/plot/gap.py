"""Draws how the gap closed: the best bound from above and the best score from below, by iteration (Rush 2014, figure A-2)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from zerogap.plot.svg import BOUND_COLOUR, FAINT, SCORE_COLOUR, Markup, Picture, element, picture

if TYPE_CHECKING:
    from zerogap.proof.solution import Solution

WIDTH, HEIGHT = 640, 320
LEFT, RIGHT, TOP, BOTTOM = 76, 24, 40, 44
MOST_DOTS = 60


def plot_gap(solution: Solution[Any]) -> Picture:
    """The trace of a solution."""
    bounds, scores = solution.trace.bounds, solution.trace.scores
    finite = [value for value in (*bounds, *scores) if math.isfinite(value)] or [0.0]
    low, high = min(finite), max(finite)
    margin = 0.05 * (high - low) or 1.0
    low, high = low - margin, high + margin
    last = max(len(bounds) - 1, 1)

    def x(i: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * i / last

    def y(value: float) -> float:
        return TOP + (HEIGHT - TOP - BOTTOM) * (high - value) / (high - low)

    def steps(values: Sequence[float], colour: str) -> list[Markup]:
        points = [(x(i), y(value)) for i, value in enumerate(values) if math.isfinite(value)]
        corners: list[tuple[float, float]] = []
        for px, py in points:
            if corners:
                corners.append((px, corners[-1][1]))
            corners.append((px, py))
        line = element("polyline", points=" ".join(f"{px:.1f},{py:.1f}" for px, py in corners), fill="none", stroke=colour, stroke_width=2)
        return [line, *(element("circle", cx=px, cy=py, r=2.5, fill=colour) for px, py in points if len(points) <= MOST_DOTS)]

    body: list[Markup] = []
    for tick in ticks(low, high):
        body.append(element("line", x1=LEFT, x2=WIDTH - RIGHT, y1=y(tick), y2=y(tick), stroke=FAINT))
        body.append(element("text", f"{tick:g}", x=LEFT - 8, y=y(tick) + 4, text_anchor="end"))
    for i in sorted({round(value) for value in ticks(1, len(bounds) or 1)} & set(range(1, len(bounds) + 1)) or {1}):
        body.append(element("text", str(i), x=x(i - 1), y=HEIGHT - BOTTOM + 18, text_anchor="middle"))
    body.append(element("text", "iteration", x=(LEFT + WIDTH - RIGHT) / 2, y=HEIGHT - 8, text_anchor="middle"))
    body += steps(bounds, BOUND_COLOUR) + steps(scores, SCORE_COLOUR)
    state = "optimal: the gap is zero" if solution.status == "optimal" else f"a gap of {solution.gap:.4g} is left"
    body.append(element("text", "best bound", x=LEFT, y=22, fill=BOUND_COLOUR))
    body.append(element("text", "best score", x=LEFT + 84, y=22, fill=SCORE_COLOUR))
    body.append(element("text", state, x=WIDTH - RIGHT, y=22, text_anchor="end"))
    return picture(WIDTH, HEIGHT, f"Best bound and best score over {len(bounds)} iterations; {state}", *body)


def ticks(low: float, high: float) -> list[float]:
    """About five round numbers between two others."""
    if high <= low:
        return [low]
    rough = (high - low) / 5
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough)
    first = math.ceil(low / step)
    return [round(step * k, 12) for k in range(first, math.floor(high / step) + 1)]
