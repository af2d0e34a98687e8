"""One contract for relaxations, and how the gap is closed with any of them.

A relaxation bounds a problem from above. It has two methods:

    solve(fixed, warm, incumbent, deadline)   the bound of what the decisions `fixed` leave, with its evidence, and perhaps a candidate
    screen(top, threshold)                    the relaxation without parts that no structure above the threshold has

`close_gap` solves, screens while that helps, and then branches: it ends with a proof, or at a limit with the best structure and the best
bound that it knows. This is how `method="auto"` works for trees with larger parts, with factors, for joint and lexicalised parsing and for
hypergraphs; they differ in what they relax (Rush 2014, chapter 3; Qian & Liu 2013). Price and cut and label sequences branch by themselves
(Riedel, Smith & McCallum 2012; Tromble & Eisner 2006), translation has searches of its own.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from zerogap.errors import InputError
from zerogap.proof.certificate import Certificate
from zerogap.proof.solution import Solution, Trace
from zerogap.relax.candidate import Candidate, better
from zerogap.relax.watching import Step, watcher

Fixed = tuple[tuple[int, bool], ...]  # decisions of a node: a part, in or out
Evidence = Certificate | Callable[[], Certificate]  # a function is asked only if the evidence is part of the certificate in the end


@dataclass(frozen=True, slots=True)
class Limits:
    """When a search stops: `deadline` is a time of `time.perf_counter`, `max_nodes=1` means no branching, `first` stops at the first
    structure. With `k` above 1 the search goes on until the k best structures are known."""

    deadline: float = math.inf
    max_nodes: int | None = None
    k: int = 1
    order: str = "best-first"
    first: bool = False

    @property
    def seconds_left(self) -> float | None:
        return None if self.deadline == math.inf else max(self.deadline - time.perf_counter(), 0.0)

    @property
    def is_over(self) -> bool:
        return time.perf_counter() >= self.deadline


NO_LIMITS = Limits()


def limits_of(time_limit: float | None = None, max_nodes: int | None = None, *, begin: float | None = None, **others: Any) -> Limits:
    """Limits as users give them, from `begin` or now on."""
    check_limits(time_limit, max_nodes)
    begin = time.perf_counter() if begin is None else begin
    return Limits(math.inf if time_limit is None else begin + time_limit, max_nodes, **others)


def check_limits(time_limit: float | None, max_nodes: int | None = None) -> None:
    if time_limit is not None and not (isinstance(time_limit, int | float) and time_limit >= 0.0):
        raise InputError(f"time_limit is {time_limit!r}: expected seconds, 0 or more, or None.")
    if max_nodes is not None and not (isinstance(max_nodes, int) and max_nodes >= 1):
        raise InputError(f"max_nodes is {max_nodes!r}: expected at least 1, or None.")


@dataclass(frozen=True, slots=True, eq=False)
class Bounded:
    """The outcome of a relaxation for one node."""

    bound: float  # -inf if nothing is left in it
    evidence: Evidence
    candidate: Candidate | None
    split: int | None  # the part to branch on; None if the bound is reached or nothing can be split
    warm: Any = None  # where the next descent begins: handed to the children, and to `screen`
    trace: Trace = field(default_factory=Trace)

    @property
    def certificate(self) -> Certificate:
        return self.evidence() if callable(self.evidence) else self.evidence


@dataclass(frozen=True, slots=True, eq=False)
class Screen:
    """What is left of a problem after screening: a relaxation of it, and how its evidence becomes evidence for the whole problem."""

    rest: Relaxation
    wrap: Callable[[Certificate], Certificate]
    warm: Any
    left_out: int  # parts


class Relaxation(Protocol):
    """See the module. A relaxation that cannot screen returns None."""

    def solve(self, fixed: Fixed, warm: Any, incumbent: Candidate | None, deadline: float) -> Bounded: ...

    def screen(self, top: Bounded, threshold: float) -> Screen | None: ...


@dataclass(frozen=True, slots=True, eq=False)
class Closed:
    """`best` is None if no structure was found; then `bound` is -inf if it is proven that there is none."""

    best: Candidate | None
    bound: float
    certificate: Certificate
    trace: Trace
    n_nodes: int
    ranked: tuple[Candidate, ...] = ()  # the k best structures, the best first; fewer if there are no more
    complete: bool = True  # False if a limit was reached

    @property
    def is_infeasible(self) -> bool:
        return self.best is None and self.bound == -math.inf

    def solution(self) -> Solution[Any]:
        best = self.best or Candidate(None, -math.inf)
        return Solution(best.structure, best.score, self.bound, self.certificate, self.trace)


def close_gap(relaxation: Relaxation, limits: Limits, *, incumbent: Candidate | None = None, top: Bounded | None = None) -> Closed:
    """Solves, screens while that helps, branches. `top` is the outcome at the root, if it is known."""
    from zerogap.relax.branching import branch_and_bound

    if top is None:
        top = relaxation.solve((), None, incumbent, limits.deadline)
    best = better(incumbent, top.candidate)
    bound, trace = top.bound, top.trace
    wraps: list[Callable[[Certificate], Certificate]] = []
    while not is_closed(bound, best, limits) and limits.k == 1 and best is not None and not limits.is_over:
        found = relaxation.screen(top, best.score)
        if found is None:
            break
        relaxation = found.rest
        wraps.append(found.wrap)
        if (tell := watcher()) is not None:
            tell(Step("screening", bound, best.score, {"left_out": found.left_out}))
        top = relaxation.solve((), found.warm, best, limits.deadline)
        best = better(best, top.candidate)
        bound = max(top.bound, -math.inf if best is None else best.score)  # what was screened out scores no more than the best structure
        trace = trace.then(top.trace)
    is_done = is_closed(bound, best, limits) or (top.split is None and limits.k == 1)
    if is_done or limits.max_nodes == 1 or (limits.first and best is not None):
        score = -math.inf if best is None else best.score
        evidence = wrapped(wraps, top.certificate)
        return Closed(best, max(bound, score), evidence, trace, 1, () if best is None else (best,), is_closed(bound, best, limits))
    searched = branch_and_bound(relaxation.solve, limits, root=top, incumbent=best)
    certificate = wrapped(wraps, searched.certificate if searched.n_nodes > 1 else top.certificate)
    bound = min(bound, searched.bound)
    return Closed(searched.best, bound, certificate, trace.then(searched.trace), searched.n_nodes, searched.ranked, searched.complete)


def is_closed(bound: float, best: Candidate | None, limits: Limits) -> bool:
    return bound == -math.inf or (limits.k == 1 and best is not None and bound <= best.score)


def wrapped(wraps: list[Callable[[Certificate], Certificate]], certificate: Certificate) -> Certificate:
    for wrap in reversed(wraps):
        certificate = wrap(certificate)
    return certificate
