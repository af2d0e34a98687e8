"""Minimises a smooth function with limited memory: two-loop recursion and a line search for the strong Wolfe conditions.

Nocedal & Wright 2006, algorithms 7.4, 7.5, 3.5 and 3.6. Inner products are sums in NumPy's fixed order, not calls to a BLAS whose
order depends on its threads: the same function gives the same minimum, to the last bit.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Function = Callable[[Vector], tuple[float, Vector]]

SUFFICIENT_DECREASE, CURVATURE = 1e-4, 0.9
MOST_EVALUATIONS = 30  # of one line search
ROUNDING = 1e-16  # what a line search may still gain, as a share of the value, before it gives up
PATIENCE = 10  # iterations over which the value must fall


@dataclass(frozen=True, slots=True, eq=False)
class Minimum:
    """`converged` is false if the iterations ran out; a line search that finds no lower value ends at what numbers allow."""

    x: Vector
    value: float
    gradient: Vector
    iterations: int
    evaluations: int
    converged: bool


@dataclass(frozen=True, slots=True, eq=False)
class Point:
    step: float
    x: Vector
    value: float
    gradient: Vector
    slope: float


def dot(a: Vector, b: Vector) -> float:
    return float(np.sum(a * b))


def minimise(
    function: Function,
    start: Vector,
    *,
    memory: int = 6,
    max_iterations: int = 100,
    gradient_tolerance: float = 1e-5,
    value_tolerance: float = 1e-5,
    report: Callable[[int, float, Vector], None] | None = None,
) -> Minimum:
    """The minimum of `function`, which returns its value and gradient.

    Stops when |gradient| <= gradient_tolerance * max(1, |x|), or when the value fell by at most value_tolerance * |value| in 10 iterations.
    """
    x = np.array(start, dtype=np.float64)
    value, gradient = function(x)
    evaluations = 1
    differences: list[tuple[Vector, Vector, float]] = []  # of points and gradients, and 1 / their product
    values = [value]
    for iteration in range(1, max_iterations + 1):
        norm = math.sqrt(dot(gradient, gradient))
        if norm <= gradient_tolerance * max(1.0, math.sqrt(dot(x, x))):
            return Minimum(x, value, gradient, iteration - 1, evaluations, True)
        direction = two_loops(gradient, differences)
        if dot(direction, gradient) >= 0.0:  # rounding spoiled the curvature: begin again
            differences, direction = [], -gradient
        first = 1.0 if differences else min(1.0, 1.0 / norm)
        found, used = line_search(function, Point(0.0, x, value, gradient, dot(direction, gradient)), direction, first)
        evaluations += used
        if found is None:
            if not differences:
                return Minimum(x, value, gradient, iteration - 1, evaluations, True)
            differences = []  # along the steepest descent there may still be something
            continue
        moved, turned = found.x - x, found.gradient - gradient
        product = dot(moved, turned)
        if product > 1e-12 * dot(turned, turned):
            differences = [*differences, (moved, turned, 1.0 / product)][-memory:]
        x, value, gradient = found.x, found.value, found.gradient
        values.append(value)
        if report is not None:
            report(iteration, value, x)
        if len(values) > PATIENCE and values[-PATIENCE - 1] - value <= value_tolerance * abs(value):
            return Minimum(x, value, gradient, iteration, evaluations, True)
    return Minimum(x, value, gradient, max_iterations, evaluations, False)


def two_loops(gradient: Vector, differences: list[tuple[Vector, Vector, float]]) -> Vector:
    """Minus the approximate inverse Hessian times the gradient (algorithm 7.4)."""
    direction = -gradient
    shares = []
    for moved, turned, inverse in reversed(differences):
        share = inverse * dot(moved, direction)
        direction -= share * turned
        shares.append(share)
    if differences:
        _, turned, inverse = differences[-1]
        direction *= 1.0 / (inverse * dot(turned, turned))
    for (moved, turned, inverse), share in zip(differences, reversed(shares), strict=True):
        direction += (share - inverse * dot(turned, direction)) * moved
    return direction


def line_search(function: Function, origin: Point, direction: Vector, first: float) -> tuple[Point | None, int]:
    """A point that satisfies the strong Wolfe conditions, or the lowest one that was found; None if nothing is lower (algorithm 3.5)."""
    evaluations = 0

    def evaluate(step: float) -> Point:
        nonlocal evaluations
        evaluations += 1
        x = origin.x + step * direction
        value, gradient = function(x)
        return Point(step, x, value if math.isfinite(value) else math.inf, gradient, dot(gradient, direction))

    def enough(point: Point) -> bool:
        return point.value <= origin.value + SUFFICIENT_DECREASE * point.step * origin.slope

    low, point = origin, evaluate(first)
    while evaluations < MOST_EVALUATIONS:
        if not enough(point) or (low.step > 0.0 and point.value >= low.value):
            high = point
            break
        if abs(point.slope) <= -CURVATURE * origin.slope:
            return point, evaluations
        if point.slope >= 0.0:
            low, high = point, low
            break
        low, point = point, evaluate(2.0 * point.step)
    else:
        return (low if low.value < origin.value else None), evaluations
    while evaluations < MOST_EVALUATIONS:  # the minimum lies between low and high (algorithm 3.6)
        step = between(low, high)
        if abs(low.slope * (high.step - low.step)) <= ROUNDING * abs(low.value):
            break
        point = evaluate(step)
        if not enough(point) or point.value >= low.value:
            high = point
            continue
        if abs(point.slope) <= -CURVATURE * origin.slope:
            return point, evaluations
        if point.slope * (high.step - low.step) >= 0.0:
            high = low
        low = point
    return (low if low.value < origin.value else None), evaluations


def between(low: Point, high: Point) -> float:
    """The minimum of the parabola through both values and the lower slope, kept away from the ends; the middle if there is none."""
    width = high.step - low.step
    curvature = high.value - low.value - low.slope * width
    if math.isfinite(curvature) and curvature > 0.0:
        share = -low.slope * width / (2.0 * curvature)
        return low.step + min(max(share, 0.1), 0.9) * width
    return low.step + 0.5 * width
