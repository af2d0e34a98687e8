"""Coarse-to-fine pruning: a chain of models, each of which leaves fewer parts to the next (Weiss & Taskar 2010; Rush 2014, section 8.4.1).

The max-marginal of a part is the score of a best structure that has it. A pass keeps the parts whose max-marginal is at least a threshold,
by one of two rules:

    mean    η * best score + (1 - η) * mean max-marginal        η <= 1, as in the thesis; below 0, it lies below the mean
    margin  best score + t                                      t <= 0, in the units of the model

All parts of any structure that scores as much are kept, and those of a best structure always are. The mean depends on how many bad parts
there are, so that long sentences are pruned less than short ones by one η; models that are learned by likelihood have comparable margins.
The pruning is approximate: it is right as often as coarse models are.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zerogap.errors import InputError, UnknownMethod
from zerogap.grid import Scores

MEAN, MARGIN = "mean", "margin"
ROUNDING = 1e-9  # by how much a value is lower than what a part reaches that is to be kept
LARGEST = {MEAN: 1.0, MARGIN: 0.0}  # by rule: what the parts of a best structure reach


class Rule(NamedTuple):
    """`name` is mean or margin, `value` its η or t; -inf prunes nothing that is possible."""

    name: str = MARGIN
    value: float = -np.inf

    def checked(self) -> Rule:
        if self.name not in LARGEST:
            raise UnknownMethod("rule", self.name, list(LARGEST))
        value = self.value
        if isinstance(value, bool) or not isinstance(value, int | float) or not value <= LARGEST[self.name]:
            most = LARGEST[self.name]
            raise InputError(f"value is {value!r}: expected a number up to {most}, which keeps what is best, for the rule {self.name!r}.")
        return self

    def reached(self, best: float, marginals: Scores) -> Scores:
        """For every part the largest value that keeps it, but for rounding; -inf for parts that no structure has."""
        if self.name == MARGIN:
            return marginals - best
        mean = mean_of(best, marginals)
        if best <= mean:
            return np.where(marginals > -np.inf, 1.0, -np.inf)
        return (marginals - mean) / (best - mean)

    def threshold(self, best: float, marginals: Scores) -> float:
        """What a part must be worth to be kept."""
        if self.name == MARGIN or self.value == -np.inf:  # 0 times infinity has no value
            return best + self.value
        return min(best, self.value * best + (1.0 - self.value) * mean_of(best, marginals))

    def kept(self, best: float, marginals: Scores) -> NDArray[np.bool_]:
        """Which parts a pass leaves to the next."""
        found: NDArray[np.bool_] = (marginals >= self.threshold(best, marginals)) & (marginals > -np.inf)
        return found


def mean_of(best: float, marginals: Scores) -> float:
    """The mean of all parts that some structure has."""
    possible = marginals[marginals > -np.inf]
    return float(possible.sum()) / len(possible) if len(possible) else best


ALL = Rule()  # prunes nothing that is possible


def chosen_rule(name: str, reached: Iterable[Scores], error: float) -> Rule:
    """The rule with the largest value under which at most `error` of the right parts are lost, from what they reach (section 8.5.1)."""
    if isinstance(error, bool) or not isinstance(error, int | float) or not 0.0 <= error <= 1.0:
        raise InputError(f"error is {error!r}: expected the share of right parts that may be lost, 0 to 1.")
    every = np.sort(np.concatenate([np.zeros(0), *reached]))
    if len(every) == 0:
        return Rule(name).checked()
    lost = min(int(error * len(every)), len(every) - 1)
    return Rule(name, min(float(every[lost]) - ROUNDING, LARGEST[name])).checked()
