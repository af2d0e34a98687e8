"""A structure that a solver found, and what hooks and searches know of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Candidate:
    """A structure that satisfies everything, with its score by the problem's own definition."""

    structure: Any
    score: float


def better(a: Candidate | None, b: Candidate | None) -> Candidate | None:
    """The one with the higher score, ties to the first."""
    return a if b is None or (a is not None and a.score >= b.score) else b
