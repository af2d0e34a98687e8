"""Solvers tell what they do, step by step, to whoever watches. Answers do not depend on it, and where nobody watches it costs nothing.

    steps = []
    with watching(steps.append):
        decode(problem, method="head-automata")

What is in `detail` depends on the kind of step:

    iteration      of multipliers: `violated` rows and by how much; of trees and heads: `tree` (heads of the words) and the arcs [h, m] that
                   only the tree (`only_tree`) or only some head (`only_heads`) wants
    screening      `left_out`: how many arcs no better tree can have
    round          of a linear program: its `value`, how many `columns` were priced in and `rows` were violated; of trees: `arcs`
                   [h, m, value] of the optimum, grandparents [g, h, m] that were `priced` in, and sets of words that no arc
                   entered (`unentered`)
    intersection   the best `labels` so far, the constraints that they violate (`violated`), the one that is `intersected`, and how many
                   `arcs` the lattice has
    node           of branch and bound: its number, `parent`, `decisions` [part, inside], `bound` of the node, and the part that it is
                   `split` on, None if it is not
    cut            `node`: nothing in it can be better than what is known
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Step:
    """`bound` and `score` are the best so far; inf and -inf before there are any."""

    kind: str
    bound: float
    score: float
    detail: Mapping[str, Any] = field(default_factory=dict)


Watcher = Callable[[Step], object]
_watcher: ContextVar[Watcher | None] = ContextVar("watcher", default=None)


def watcher() -> Watcher | None:
    """Who watches now."""
    return _watcher.get()


@contextmanager
def watching(tell: Watcher | None) -> Iterator[None]:
    """Within the context, solvers of this thread call `tell` with every step; None: nobody watches."""
    before = _watcher.set(tell)
    try:
        yield
    finally:
        _watcher.reset(before)
