"""Precision, recall and F1: what there is in a gold standard, what was found, and how much of that is right."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Counts:
    """Of segments, relations, tokens, ...

    >>> Counts(gold=4, found=2, correct=1).precision
    0.5
    """

    gold: int = 0
    found: int = 0
    correct: int = 0

    @property
    def precision(self) -> float:
        return self.correct / self.found if self.found else 0.0

    @property
    def recall(self) -> float:
        return self.correct / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        return 2 * self.correct / (self.gold + self.found) if self.correct else 0.0
