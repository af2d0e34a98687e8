"""Factors of a problem: sets of arcs whose score counts if all of them are in the tree, one by one or as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from zerogap.errors import InputError
from zerogap.grid import Scores, as_scores, restored

Indices = NDArray[np.int64]


class Factor(NamedTuple):
    """A score that counts if all of these arcs (head, modifier) are in the tree."""

    arcs: tuple[tuple[int, int], ...]
    score: float


@dataclass(frozen=True, slots=True, eq=False)
class FactorArrays(Sequence[Factor]):
    """Many factors as arrays: factor i has the arcs arcs[start[i] : start[i + 1]], as numbers h * (n + 1) + m, and scores[i].

    Read one by one they are `Factor`s, which are made when they are asked for.
    """

    n_words: int
    start: Indices
    arcs: Indices
    scores: Scores

    __setstate__ = restored

    def __len__(self) -> int:
        return len(self.scores)

    @overload
    def __getitem__(self, i: int) -> Factor: ...
    @overload
    def __getitem__(self, i: slice) -> tuple[Factor, ...]: ...
    def __getitem__(self, i: int | slice) -> Factor | tuple[Factor, ...]:
        if isinstance(i, slice):
            return tuple(self[j] for j in range(*i.indices(len(self))))
        i = range(len(self))[i]
        some = self.arcs[self.start[i] : self.start[i + 1]].tolist()
        return Factor(tuple(divmod(arc, self.n_words + 1) for arc in some), float(self.scores[i]))

    def score_of(self, heads: Indices) -> float:
        """The sum of those that have all their arcs in a tree."""
        inside = np.zeros((self.n_words + 1) ** 2, dtype=np.bool_)
        inside[heads * (self.n_words + 1) + np.arange(1, self.n_words + 1)] = True
        return float(self.scores[np.logical_and.reduceat(inside[self.arcs], self.start[:-1])].sum()) if len(self) else 0.0

    def check(self, n: int) -> None:
        """Raises InputError unless every factor is a set of arcs of n words, no two into the same one."""
        known = type(self.n_words) is int and self.n_words == n
        if not known or len(self.start) != len(self.scores) + 1 or self.start[0] != 0 or self.start[-1] != len(self.arcs):
            raise InputError(f"factors are arrays of {self.n_words} words with {len(self.start)} starts and {len(self.scores)} scores:"
                             f" expected {n} words, and starts from 0 to {len(self.arcs)}, one more than scores.")  # fmt: skip
        size, sizes = n + 1, np.diff(self.start)
        if len(sizes) and sizes.min() < 1:
            raise InputError(f"factors[{int(sizes.argmin())}] has no arcs: expected at least one.")
        words = np.tile(np.arange(size), size)
        words[:: size + 1] = 0  # of arcs that there are not
        outside = len(self.arcs) and (self.arcs.min() < 0 or self.arcs.max() >= size * size)
        into = np.where((self.arcs >= 0) & (self.arcs < size * size), words[self.arcs % (size * size)], 0) if outside else words[self.arcs]
        if len(into) and not into.all():
            p = int(into.argmin())
            i, arc = int(np.searchsorted(self.start, p, side="right")) - 1, divmod(int(self.arcs[p]), size)
            raise InputError(f"factors[{i}] has the arc {arc!r}: expected a head from 0 to {n} and another word from 1 to {n}.")
        for width in np.flatnonzero(np.bincount(sizes)).tolist():
            some = np.flatnonzero(sizes == width)
            rows = np.sort(into[self.start[some][:, None] + np.arange(width)], axis=1)
            twice = np.flatnonzero((rows[:, 1:] == rows[:, :-1]).any(axis=1))
            if len(twice):
                i = int(some[twice[0]])
                raise InputError(f"factors[{i}] has the arcs {list(self[i].arcs)!r}: expected at least one, and no two into the same word.")


def copied(given: FactorArrays) -> FactorArrays:
    """Factors that nobody else can write to, of this very class: a subclass may answer as it likes."""
    for name in ("start", "arcs"):
        array = getattr(given, name)
        if not isinstance(array, np.ndarray) or array.dtype.kind not in "iu" or array.ndim != 1:
            raise InputError(f"factors.{name} is {array!r}: expected a NumPy array of integers, one after the other.")
    start, arcs = np.array(given.start, dtype=np.int64), np.array(given.arcs, dtype=np.int64)
    start.flags.writeable = arcs.flags.writeable = False
    return FactorArrays(given.n_words, start, arcs, as_scores(given.scores, "factors", shape=(None,), check=False))


def read_factors(value: Any, n: int) -> tuple[list[tuple[tuple[int, int], ...]], Scores]:
    """The arcs of every factor, and their scores as given."""
    arcs: list[tuple[tuple[int, int], ...]] = []
    scores: list[Any] = []
    for i, factor in enumerate(value):
        try:
            given, score = factor
            pairs = [tuple(pair) for pair in given]
        except (TypeError, ValueError):
            raise InputError(f"factors[{i}] is {factor!r}: expected (arcs, score), arcs being pairs (head, modifier).") from None
        for pair in pairs:
            if not is_arc(pair, n):
                raise InputError(f"factors[{i}] has the arc {pair!r}: expected a head from 0 to {n} and another word from 1 to {n}.")
        if len({m for _, m in pairs}) < len(pairs) or not pairs:
            raise InputError(f"factors[{i}] has the arcs {pairs!r}: expected at least one, and no two into the same word.")
        arcs.append(tuple((int(h), int(m)) for h, m in pairs))
        scores.append(score)
    return arcs, as_scores(scores, "factors", shape=(len(arcs),), check=False)


def is_arc(pair: tuple[Any, ...], n: int) -> bool:
    if len(pair) != 2 or any(isinstance(token, bool) or not isinstance(token, int | np.integer) for token in pair):
        return False
    h, m = pair
    return 0 <= h <= n and 1 <= m <= n and h != m
