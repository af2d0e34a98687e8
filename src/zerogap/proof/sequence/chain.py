"""The scores of a label chain in integers, for checkers: what a label adds to a prefix, and the most that can follow one."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from zerogap.errors import VerificationError
from zerogap.grid import Integers
from zerogap.problems.sequence.problem import Problem
from zerogap.proof.integers import ABSENT, RANGE, plus, settled, units


@dataclass(frozen=True, slots=True, eq=False)
class Chain:
    """The scores of a sequence problem in units; a labelling's are below `largest` in magnitude, penalties included."""

    problem: Problem
    emissions: Integers  # (n, L)
    transitions: Integers  # (1 or n - order, L, L[, L])
    start: Integers
    end: Integers
    penalties: list[int | None]  # per constraint; None if it is hard
    largest: int

    @classmethod
    def of(cls, problem: Problem) -> Chain:
        resolution = problem.resolution
        emissions, transitions = units(problem.emissions, resolution), units(problem.transitions, resolution)
        start, end = units(problem.start, resolution), units(problem.end, resolution)
        penalties = units(problem.penalties, resolution).tolist()
        if any(penalty < 0 for penalty in penalties):  # what drops a soft constraint relies on it
            raise VerificationError("a penalty of the problem is negative.")
        hard = problem.is_hard.tolist()
        found = [None if is_hard else penalty for penalty, is_hard in zip(penalties, hard, strict=True)]
        largest = math.ceil(problem.terms * (problem.largest / resolution))
        return cls(problem, emissions, transitions, start, end, found, largest)

    @property
    def n_tokens(self) -> int:
        return len(self.emissions)

    @property
    def n_labels(self) -> int:
        return self.emissions.shape[1]

    @property
    def order(self) -> int:
        return self.transitions.ndim - 2

    def check_prices(self, total: int) -> None:
        """Sums of scores with prices of this magnitude are exact."""
        if total + self.largest >= RANGE:
            raise VerificationError("the prices are so large that sums with them are not exact.")

    def edges(self, t: int, history: Integers) -> Integers:
        """What every label adds to every prefix (prefixes, order) besides its emission."""
        if t == 0:
            return np.tile(self.start, (len(history), 1))
        if t < self.order:
            return np.zeros((len(history), self.n_labels), dtype=np.int64)
        table = self.transitions[t - self.order if len(self.transitions) > 1 else 0]
        return table[tuple(history.T)]

    def completions(self, emissions: Integers, steps: Integers) -> list[Integers]:
        """The most that can follow the last `order` labels after every token, if neighbouring labels pay `steps` (L + 1, L).

        Before `order` tokens the oldest label is free.
        """
        size, order, n = self.n_labels, self.order, self.n_tokens
        rest = [np.zeros((size,) * order, dtype=np.int64)]
        for t in range(n - 1, 0, -1):
            nodes = plus(emissions[t], self.end) if t == n - 1 else emissions[t]
            after = plus(rest[0], nodes)  # (last labels up to the new one)
            if t >= order:
                edges = plus(self.transitions[t - order if len(self.transitions) > 1 else 0], -steps[:size])
            else:
                edges = np.zeros((size,) * (order + 1), dtype=np.int64) - steps[:size]
            rest.insert(0, settled(edges + (after if order == 1 else after[None])).max(axis=-1, initial=ABSENT))
        return rest


def rest_of(rest: Integers, history: Integers) -> Integers:
    """Looked up by history; where the sentence has not that many labels yet, the best over the missing one."""
    if rest.ndim == 1:
        return rest[history[:, 0]]
    known = rest[np.maximum(history[:, 0], 0), history[:, 1]]
    return np.where(history[:, 0] >= 0, known, rest.max(axis=0)[history[:, 1]])
