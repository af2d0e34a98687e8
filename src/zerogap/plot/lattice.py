"""A sequence problem as a lattice: a column for every token, a row for every label, and the best labelling as a path through it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from zerogap.errors import InputError
from zerogap.plot.svg import DONE_COLOUR, INK, PAPER, SCORE_COLOUR, Markup, Picture, element, picture, text_width
from zerogap.problems.sequence.problem import Problem
from zerogap.proof.solution import Solution

MARGIN, ROW, RADIUS, SMALL = 20, 34, 5, 11
LEAST_COLUMN = 64.0
MOST_LABELS, MOST_TOKENS = 40, 100


def plot_lattice(problem: Problem, solution: Solution[Any] | None = None, *, tokens: Sequence[str] | None = None) -> Picture:
    """The labels that every token may have, with their scores, and those of the solution as a path.

    Lines are transitions that are allowed. Constraints, which a lattice cannot show, are named below it.
    """
    n, labels = problem.n_tokens, [str(label) for label in problem.labels]
    if n > MOST_TOKENS or len(labels) > MOST_LABELS:
        raise InputError(f"{n} tokens and {len(labels)} labels were given: expected at most {MOST_TOKENS} and {MOST_LABELS} in a picture.")
    names = [str(t) for t in range(n)] if tokens is None else [str(token) for token in tokens]
    if len(names) != n:
        raise InputError(f"tokens has {len(names)} entries for {n}: expected one for each.")
    left = MARGIN + max((text_width(label) for label in labels), default=0.0) + 24
    step = max([LEAST_COLUMN, *(text_width(name) + 16 for name in names)])
    path = [] if solution is None or solution.structure is None else [problem.labels.index(label) for label in solution.structure]

    def at(t: int, label: int) -> tuple[float, float]:
        return left + step * (t + 0.5), MARGIN + ROW * (label + 1.5)

    body: list[Markup] = []
    for t in range(1, n):
        for i, j in np.argwhere(allowed(problem, t)).tolist():
            on_path = bool(path) and path[t - 1] == i and path[t] == j
            if on_path or math.isfinite(problem.emissions[t - 1, i] + problem.emissions[t, j]):
                body.append(line(at(t - 1, i), at(t, j), on_path))
    for t, name in enumerate(names):
        body.append(element("text", name, x=at(t, 0)[0], y=MARGIN + 8, text_anchor="middle", font_weight="bold"))
        for label, score in enumerate(problem.emissions[t].tolist()):
            x, y = at(t, label)
            chosen = bool(path) and path[t] == label
            if score == -math.inf:
                body.append(element("text", "×", x=x, y=y + 4, text_anchor="middle", fill="#9ca3af"))
                continue
            body.append(
                element("circle", cx=x, cy=y, r=RADIUS, fill=DONE_COLOUR if chosen else PAPER, stroke=DONE_COLOUR if chosen else INK)
            )
            body.append(element("text", f"{score:.3g}", x=x, y=y - RADIUS - 3, text_anchor="middle", font_size=SMALL))
    for label, name in enumerate(labels):
        body.append(element("text", name, x=left - 12, y=at(0, label)[1] + 4, text_anchor="end"))
    bottom = MARGIN + ROW * (len(labels) + 1.5)
    for i, constraint in enumerate(problem.constraints):
        body.append(element("text", constraint.name, x=MARGIN, y=bottom + 18 * (i + 1), fill=SCORE_COLOUR))
    width = max([left + step * n, *(MARGIN + text_width(constraint.name) for constraint in problem.constraints)]) + MARGIN
    said = "" if solution is None or solution.structure is None else ": " + " ".join(map(str, solution.structure))
    return picture(width, bottom + 18 * len(problem.constraints) + MARGIN, f"Lattice of {n} tokens and {len(labels)} labels{said}", *body)


def allowed(problem: Problem, t: int) -> Any:
    """(L, L): which labels may follow each other up to token t; for the second order, after some label before them."""
    table = problem.transitions[min(t - 1, len(problem.transitions) - 1)]
    return table > -np.inf if table.ndim == 2 else (table > -np.inf).any(axis=0)


def line(start: tuple[float, float], end: tuple[float, float], on_path: bool) -> Markup:
    look: dict[str, Any] = {"stroke": DONE_COLOUR, "stroke_width": 3} if on_path else {"stroke": "#d1d5db"}
    return element("line", x1=start[0], y1=start[1], x2=end[0], y2=end[1], **look)
