"""Stochastic gradient descent on a sum over examples with an L2 penalty (Bottou 2010; Shalev-Shwartz et al. 2007, section 2.2).

    minimise  sum_i loss_i(x) + l2/2 |x|^2,      rate of step k: 1 / (decay * (k0 + k)) with decay = l2 / examples

The penalty shrinks all of x at every step, the loss touches few places. So x is kept as scale * values: shrinking is one multiplication,
and a step adds -rate/scale * gradient to the values where the gradient is not 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]

SMALLEST_SCALE = 1e-9
CALIBRATION_EXAMPLES = 300
FIRST_RATE = 0.1


@dataclass(slots=True, eq=False)
class Scaled:
    """The point scale * values."""

    values: Vector
    scale: float = 1.0

    def point(self) -> Vector:
        return self.scale * self.values

    def shrink(self, factor: float) -> None:
        self.scale *= factor
        if self.scale < SMALLEST_SCALE:
            self.values *= self.scale
            self.scale = 1.0


Step = Callable[[Scaled, int, float], float]  # (point, example, rate): moves the point by -rate * gradient, returns the loss before


def descend(
    step: Step,
    size: int,
    n_examples: int,
    *,
    l2: float,
    epochs: int,
    seed: int = 0,
    report: Callable[[int, float, Scaled], None] | None = None,
) -> Vector:
    """Runs over all examples in a new order in every epoch. Reports (epoch, sum of losses as they were met + penalty, point)."""
    random = np.random.default_rng(seed)
    decay = max(l2, 1e-8) / max(n_examples, 1)
    rate = calibrate(step, size, n_examples, decay, random)
    taken, scaled = 1.0 / (rate * decay), Scaled(np.zeros(size))
    for epoch in range(1, epochs + 1):
        loss = 0.0
        for i in random.permutation(n_examples).tolist():
            rate = 1.0 / (decay * taken)
            scaled.shrink(1.0 - rate * decay)
            loss += step(scaled, i, rate)
            taken += 1.0
        if report is not None:
            report(epoch, loss + 0.5 * l2 * float(np.sum(scaled.point() ** 2)), scaled)
    return scaled.point()


def calibrate(step: Step, size: int, n_examples: int, decay: float, random: np.random.Generator) -> float:
    """The first rate of the powers of two around 0.1 with the least loss on a run over some examples."""
    chosen = random.permutation(n_examples)[:CALIBRATION_EXAMPLES].tolist()

    def loss_with(rate: float) -> float:
        scaled = Scaled(np.zeros(size))
        for i in chosen:
            scaled.shrink(1.0 - min(rate * decay, 0.5))
            step(scaled, i, rate)
        loss = sum(step(scaled, i, 0.0) for i in chosen) + 0.5 * decay * len(chosen) * float(np.sum(scaled.point() ** 2))
        return loss if np.isfinite(loss) else np.inf

    best, least = FIRST_RATE, loss_with(FIRST_RATE)
    for factor in (2.0, 0.5):
        rate, falling = FIRST_RATE, True
        while falling and 1e-6 < rate < 1e3:
            rate *= factor
            loss = loss_with(rate)
            falling = loss < least
            if falling:
                best, least = rate, loss
        if best != FIRST_RATE:
            break
    return min(best, 0.5 / decay)
