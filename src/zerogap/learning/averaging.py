"""Averages of weights that change in few places at a time (Freund & Schapire 1998; Daumé 2006, section 2.1.1).

The average over all moments would cost a pass over all weights at each. Instead every change is also added to `drift`, times the moment
at which it happened; then

    average = weights - drift / moments
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


class Averaged:
    """Weights, which callers change with `add`, or in both arrays at once: `drift` gets `moment` times what `weights` gets."""

    __slots__ = ("drift", "moment", "weights")

    def __init__(self, weights: Vector) -> None:
        self.weights = np.array(weights, dtype=np.float64)
        self.drift = np.zeros_like(self.weights)
        self.moment = 0.0

    def add(self, places: NDArray[np.int64], amounts: Vector | float) -> None:
        """Changes some weights; places may repeat."""
        np.add.at(self.weights, places, amounts)
        np.add.at(self.drift, places, self.moment * np.asarray(amounts))

    def tick(self) -> None:
        """The weights as they are now count once."""
        self.moment += 1.0

    def average(self) -> Vector:
        """The mean of the weights at every tick; the weights themselves before the first."""
        return self.weights - self.drift / self.moment if self.moment else self.weights.copy()
