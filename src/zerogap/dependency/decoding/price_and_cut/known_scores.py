"""Knowledge about the scores of parts without scoring them all: two upper bounds for each, and the scores that were asked for.

Riedel, Smith & McCallum 2012, section 4.3.1. A part of three tokens is bounded by what is known of its last two, and of its first two:

    grandparents[g, p, c] <= over_grandparents[p, c]  and  over_modifiers[g, p]
    siblings[h, s, m]     <= over_siblings[h, m]      and  over_modifiers[h, s]

From arrays and lists the bounds are maxima; a trained model has bounds of its own, from its templates.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from zerogap.errors import ScoreError, ScoreShapeError
from zerogap.grid import Scores
from zerogap.problems.dependency.parts import Indices, Parts, meaning

FIRST = {"grandparents": "over_grandparents", "siblings": "over_siblings"}  # indexed by (head, modifier)


class GrandparentBounds(Protocol):
    @property
    def over_grandparents(self) -> Scores:
        """(n + 1, n + 1): of every arc p -> c, at least the score of every grandparents[g, p, c]."""

    @property
    def over_modifiers(self) -> Scores:
        """(n + 1, n + 1): of every arc g -> p, at least the score of every grandparents[g, p, c]."""


class SiblingBounds(Protocol):
    @property
    def over_siblings(self) -> Scores:
        """(n + 1, n + 1): of every arc h -> m, at least the score of every siblings[h, s, m], s = h among them."""

    @property
    def over_modifiers(self) -> Scores:
        """(n + 1, n + 1): of h and s, at least the score of every siblings[h, s, m]."""


PartBounds = GrandparentBounds | SiblingBounds


@dataclass(frozen=True, slots=True, eq=False)
class GrandparentMaxima:
    over_grandparents: Scores
    over_modifiers: Scores


@dataclass(frozen=True, slots=True, eq=False)
class SiblingMaxima:
    over_siblings: Scores
    over_modifiers: Scores


def maxima(name: str, parts: Parts, n: int, least: float) -> PartBounds:
    """The bounds from all scores, no lower than `least`. A function is asked for every part."""
    table = np.where(meaning(name, n), parts.dense(n), -np.inf)
    by_first, by_last = (np.maximum(table.max(axis=axis), least) for axis in (0, 2))
    if name == "grandparents":
        return GrandparentMaxima(by_first, by_last)
    return SiblingMaxima(np.maximum(table.max(axis=1), least), by_last)


@dataclass(slots=True, eq=False)
class KnownScores:
    """Scores of one kind of parts: exact where they were asked for, bounds elsewhere, -inf where no part is; on the problem's grid."""

    name: str
    parts: Parts
    table: Scores  # (n + 1, n + 1, n + 1)
    possible: NDArray[np.bool_]  # parts of allowed arcs
    scored: NDArray[np.bool_] = field(init=False)

    def __post_init__(self) -> None:
        self.scored = np.zeros(self.table.shape, dtype=np.bool_)

    def score(self, *index: Indices) -> Scores:
        """The scores of these parts, which are known from now on. ScoreError if a bound was too low."""
        scores = self.parts.at(*index)
        self.check(scores, *index)
        self.table[index] = scores
        self.scored[index] = True
        return scores

    def make_known(self, *index: Indices) -> None:
        """Scores those of these parts that are not known yet."""
        new = np.flatnonzero(~self.scored[index])
        if len(new):
            self.score(*(i[new] for i in index))

    def check(self, scores: Scores, *index: Indices) -> None:
        over = np.flatnonzero(scores > self.table[index])
        if over.size:
            part = ", ".join(str(int(i[over[0]])) for i in index)
            score, bound = float(scores[over[0]]), float(self.table[tuple(i[over[0]] for i in index)])
            raise ScoreError(f"{self.name}[{part}] is {score!r}, more than its bound {bound!r}: expected a bound on every score.")

    @property
    def n_scored(self) -> int:
        return int(np.count_nonzero(self.scored))

    @property
    def n_possible(self) -> int:
        return int(np.count_nonzero(self.possible))


def known_scores(
    name: str, parts: Parts, bounds: PartBounds, possible: NDArray[np.bool_], resolution: float, *, check_bounds: bool
) -> KnownScores:
    """No score is known yet. Bounds are rounded up to the grid; ScoreError if one is not finite.

    With `check_bounds` every score is held against its bounds, for tests of bounds: all parts are scored for it.
    """
    n = len(possible) - 1
    tables = []
    for attribute in (FIRST[name], "over_modifiers"):
        given = np.asarray(getattr(bounds, attribute), dtype=np.float64)
        if given.shape != (n + 1, n + 1):
            raise ScoreShapeError(f"{attribute} of {name} has shape {given.shape}: expected ({n + 1}, {n + 1}).")
        tables.append(np.ceil(given / resolution) * resolution)
    by_arc, by_first = tables
    # [g, p, c] is bounded by [p, c] and [g, p]; [h, s, m] by [h, m] and [h, s]
    last = by_arc[None] if name == "grandparents" else by_arc[:, None, :]
    table = np.where(possible, np.minimum(last, by_first[:, :, None]), -np.inf)
    for attribute, used in ((FIRST[name], last), ("over_modifiers", by_first[:, :, None])):
        wrong = np.argwhere(possible & ~np.isfinite(np.broadcast_to(used, possible.shape)))
        if wrong.size:
            a, b, c = wrong[0].tolist()
            place = (b, c) if name == "grandparents" and attribute == FIRST[name] else (a, c) if attribute == FIRST[name] else (a, b)
            value = float(getattr(bounds, attribute)[place])
            raise ScoreError(f"{attribute}[{place[0]}, {place[1]}] of {name} is {value}: expected a finite bound.")
    known = KnownScores(name, parts, table, possible)
    if check_bounds:
        index = np.nonzero(possible)
        known.check(parts.at(*index), *index)
    return known
