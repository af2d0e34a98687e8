"""How the gap closed: the best bound from above and the best score from below, by iteration (Rush 2014, figure A-2)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zerogap.errors import FormatError

if TYPE_CHECKING:
    from zerogap.proof.solution import Solution

WIDTH, HEIGHT = 640, 320
LEFT, RIGHT, TOP, BOTTOM = 76, 24, 40, 44
BOUND_COLOUR, SCORE_COLOUR = "#c2410c", "#1d4ed8"


@dataclass(frozen=True, slots=True)
class Picture:
    """An SVG image: notebooks show it, `save` writes it."""

    svg: str

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: str | Path) -> None:
        try:
            Path(path).write_text(self.svg, encoding="utf-8")
        except OSError as error:
            raise FormatError(f"{path} cannot be written: {error.strerror}.") from None


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

    def steps(values: Sequence[float], colour: str) -> str:
        points = [(x(i), y(value)) for i, value in enumerate(values) if math.isfinite(value)]
        corners: list[tuple[float, float]] = []
        for px, py in points:
            if corners:
                corners.append((px, corners[-1][1]))
            corners.append((px, py))
        line = " ".join(f"{px:.1f},{py:.1f}" for px, py in corners)
        dots = "".join(f'<circle cx="{px:.1f}" cy="{py:.1f}" r="2.5" fill="{colour}"/>' for px, py in points) if len(points) <= 60 else ""
        return f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>{dots}'

    body = [f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>']
    for tick in ticks(low, high):
        body.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(tick):.1f}" y2="{y(tick):.1f}" stroke="#e5e7eb"/>')
        body.append(f'<text x="{LEFT - 8}" y="{y(tick) + 4:.1f}" text-anchor="end">{tick:g}</text>')
    for i in sorted({round(value) for value in ticks(1, len(bounds) or 1)} & set(range(1, len(bounds) + 1)) or {1}):
        body.append(f'<text x="{x(i - 1):.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{i}</text>')
    body.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 8}" text-anchor="middle">iteration</text>')
    body.append(steps(bounds, BOUND_COLOUR) + steps(scores, SCORE_COLOUR))
    state = "optimal: the gap is zero" if solution.status == "optimal" else f"a gap of {solution.gap:.4g} is left"
    body.append(f'<text x="{LEFT}" y="22" fill="{BOUND_COLOUR}">best bound</text>')
    body.append(f'<text x="{LEFT + 84}" y="22" fill="{SCORE_COLOUR}">best score</text>')
    body.append(f'<text x="{WIDTH - RIGHT}" y="22" text-anchor="end">{state}</text>')
    title = f"Best bound and best score over {len(bounds)} iterations; {state}"
    return Picture(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" role="img"'
        f' font-family="system-ui, sans-serif" font-size="13" fill="#374151"><title>{title}</title>{"".join(body)}</svg>'
    )


def ticks(low: float, high: float) -> list[float]:
    """About five round numbers between two others."""
    if high <= low:
        return [low]
    rough = (high - low) / 5
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough)
    first = math.ceil(low / step)
    return [round(step * k, 12) for k in range(first, math.floor(high / step) + 1)]
