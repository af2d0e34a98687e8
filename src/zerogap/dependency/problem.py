"""The best dependency tree of a sentence under arc scores (Rush 2014, section 2.1.2).

argmax_y  sum_m arcs[y_m, m]   over the trees y rooted in token 0, y_m the head of word m
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zerogap.errors import InputError, InvalidStructure, ScoreShapeError
from zerogap.grid import Scores, as_scores, choose_resolution, largest_magnitude, round_to_grid


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """Arc scores of one sentence, and which trees are wanted.

    `arcs[h, m]` scores head h of word m, -inf forbids it; column 0 and the diagonal mean nothing and become -inf. A structure
    is the sequence of the heads of words 1 to n.

    >>> problem = Problem([[0, 1, 9], [0, 0, 2], [0, 5, 0]])
    >>> problem.score((2, 0))
    14.0
    """

    arcs: Scores  # (n + 1, n + 1), rounded to multiples of resolution, read-only
    projective: bool  # no two arcs cross
    single_root: bool  # exactly one word is headed by token 0
    resolution: float

    def __init__(self, arcs: object, *, projective: bool = False, single_root: bool = True, resolution: float | None = None) -> None:
        for name, flag in (("projective", projective), ("single_root", single_root)):
            if not isinstance(flag, bool | np.bool_):
                raise InputError(f"{name} is {flag!r}: expected True or False.")
        given = as_scores(arcs, "arcs", shape=(None, None))
        if given.shape[0] != given.shape[1] or given.size == 0:
            raise ScoreShapeError(f"arcs has shape {given.shape}: expected (n + 1, n + 1), a row and a column for the root first.")
        np.fill_diagonal(given, -np.inf)
        given[:, 0] = -np.inf
        grid = choose_resolution(largest_magnitude(given), len(given), resolution)
        rounded = round_to_grid(given, grid)
        for name, value in (("arcs", rounded), ("projective", bool(projective)), ("single_root", bool(single_root)), ("resolution", grid)):
            object.__setattr__(self, name, value)

    @property
    def n_words(self) -> int:
        return len(self.arcs) - 1

    def score(self, heads: Sequence[int]) -> float:
        """The sum of the scores of its arcs, tree or not; -inf if one is forbidden."""
        return float(self.arcs[as_heads(heads, self.n_words), np.arange(1, self.n_words + 1)].sum())

    def check(self, heads: Sequence[int]) -> None:
        """Raises InvalidStructure unless the heads form a tree that the problem allows."""
        array = as_heads(heads, self.n_words)
        check_acyclic(array)
        roots = np.flatnonzero(array == 0) + 1
        if self.single_root and len(roots) > 1:
            raise InvalidStructure(f"words {', '.join(map(str, roots))} are all under the root: expected a single root.")
        if self.projective:
            check_projective(array)
        forbidden = np.flatnonzero(self.arcs[array, np.arange(1, self.n_words + 1)] == -np.inf)
        if forbidden.size:
            m = int(forbidden[0]) + 1
            raise InvalidStructure(f"the arc {array[m - 1]} -> {m} is forbidden: its score is -inf.")


def as_heads(heads: Sequence[int], n_words: int) -> NDArray[np.int64]:
    """One head in 0 .. n_words for every word, or InvalidStructure."""
    if not isinstance(heads, tuple | list | np.ndarray):
        raise InvalidStructure(f"the structure is {heads!r}: expected a sequence of heads.")
    if len(heads) != n_words:
        raise InvalidStructure(f"{len(heads)} heads were given: expected {n_words}, one per word.")
    for m, h in enumerate(heads, start=1):
        if isinstance(h, bool | np.bool_) or not isinstance(h, int | np.integer) or not 0 <= h <= n_words:
            raise InvalidStructure(f"the head of word {m} is {h!r}: expected an integer from 0 to {n_words}.")
    return np.array(heads, dtype=np.int64)


def check_acyclic(heads: NDArray[np.int64]) -> None:
    leads_to_root = np.zeros(len(heads) + 1, dtype=np.bool_)
    leads_to_root[0] = True
    for word in range(1, len(heads) + 1):
        walk: list[int] = []
        while not leads_to_root[word]:
            if word in walk:
                cycle = walk[walk.index(word) :]
                raise InvalidStructure(f"words form a cycle, each headed by the next: {' <- '.join(map(str, [*cycle, word]))}.")
            walk.append(word)
            word = int(heads[word - 1])
        leads_to_root[walk] = True


def check_projective(heads: NDArray[np.int64]) -> None:
    """Two arcs cross if exactly one end of each lies strictly inside the other."""
    words = np.arange(1, len(heads) + 1)
    low, high = np.minimum(heads, words), np.maximum(heads, words)
    first, second = np.nonzero((low[:, None] < low) & (low < high[:, None]) & (high[:, None] < high))
    if first.size:
        a, b = int(first[0]), int(second[0])
        raise InvalidStructure(f"the arcs {heads[a]} -> {a + 1} and {heads[b]} -> {b + 1} cross: expected a projective tree.")
