"""A search notes its bounds, scores and times here, for the trace."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from zerogap.proof.solution import Trace
from zerogap.relax.candidate import Candidate


@dataclass(slots=True)
class History:
    bounds: list[float] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    def trace(self) -> Trace:
        return Trace(tuple(self.bounds), tuple(self.scores), tuple(self.seconds))


def note(history: History, bound: float, best: Candidate | None, seconds: float) -> None:
    """A bound may be about what beats the best structure only: with that structure's score, it is one for all."""
    score = best.score if best is not None else -math.inf
    history.bounds.append(max(bound, score))
    history.scores.append(score)
    history.seconds.append(seconds)
