"""Optimal beam search in a translation forest: prices and beams in turn (Rush 2014, section 7.6, with the signatures of section 7.7.1).

The signature of a piece is what the language model must know of it; rounds improve the prices of the first and last words of vertices.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from zerogap.problems.translation.forest_problem import SyntaxProblem
from zerogap.relax.beam import Beamed
from zerogap.relax.candidate import Candidate
from zerogap.translation.forests.cube_pruning import Compiled
from zerogap.translation.forests.end_prices import Pricing, Relaxed
from zerogap.translation.forests.search import beam_search

ITERATIONS = 20  # of the prices in a round: they take less time than a search


@dataclass(slots=True)
class ForestBeam:
    """A forest as zerogap.relax.beam wants it. No target side may be empty."""

    problem: SyntaxProblem
    given: Compiled
    limit: int  # of pieces
    pricing: Pricing = field(init=False)
    relaxed: Relaxed | None = None

    def __post_init__(self) -> None:
        self.pricing = Pricing(self.problem, self.given)

    def tighten(self, best: Candidate | None) -> tuple[float, Candidate | None]:
        self.relaxed = self.pricing.improve(threshold=-np.inf if best is None else best.score, iterations=ITERATIONS)
        return self.relaxed.bound, None

    def search(self, best: Candidate | None, width: int) -> Beamed:
        assert self.relaxed is not None
        threshold = -np.inf if best is None else best.score
        found = beam_search(self.problem, self.given, self.relaxed, threshold=threshold, width=width, limit=self.limit)
        if found.best is None or not self.problem.score(found.best) > threshold:
            return Beamed(None, found.complete)
        return Beamed(Candidate(found.best, self.problem.score(found.best)), found.complete)
