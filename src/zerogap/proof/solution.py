"""The result of every decoder: a structure, a bound that nothing can beat, and the evidence."""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar

from zerogap.proof.certificate import Certificate

Structure = TypeVar("Structure")
Status = Literal["optimal", "feasible"]


@dataclass(frozen=True, slots=True)
class Trace:
    """How the gap closed: after each iteration the best bound, the best score (-inf before the first) and the time."""

    bounds: tuple[float, ...] = ()
    scores: tuple[float, ...] = ()
    seconds: tuple[float, ...] = ()

    def __len__(self) -> int:
        return len(self.bounds)

    def then(self, later: Trace) -> Trace:
        """This trace and one that began where it ended."""
        begun = self.seconds[-1] if self.seconds else 0.0
        seconds = self.seconds + tuple(begun + s for s in later.seconds)
        return Trace(self.bounds + later.bounds, self.scores + later.scores, seconds)


@dataclass(frozen=True, slots=True)
class Solution(Generic[Structure]):
    """`score` is `problem.score(structure)`; no structure scores higher than `bound`; the gap is their difference.

    If a limit was reached before any structure was found, `structure` is None and `score` is -inf. Where more than one structure was
    asked for, `alternatives` are the next best ones with their scores, best first: nothing else scores more than the last of
    them. It is None if a limit was reached before they were all found. `digest` names the problem, if the solution is from a file.
    """

    structure: Structure | None
    score: float
    bound: float
    certificate: Certificate
    trace: Trace = Trace()
    alternatives: tuple[tuple[Structure, float], ...] | None = ()
    digest: str | None = field(default=None, compare=False, repr=False)

    @property
    def gap(self) -> float:
        return self.bound - self.score

    @property
    def status(self) -> Status:
        """`optimal` if bound and score are the same number, `feasible` if a limit left a gap."""
        return "optimal" if self.bound == self.score else "feasible"

    def plot(self) -> Any:
        """The trace as a picture: an object that notebooks show, with `.save(path)`."""
        return importlib.import_module("zerogap.plot.gap").plot_gap(self)  # by its name: a proof imports nothing above it

    def _repr_svg_(self) -> str:
        return str(self.plot().svg)
