"""Scores of parts larger than arcs, and the ways to give them: all of them, a list of some, or a function.

Modifiers of a head on one side are counted outward from it: m_1 is the nearest. Indices of the parts of a tree, g the head of h:

    siblings[h, s, m]          m_i and the one before it, s = m_(i-1); s = h for the first
    stops[h, s]                s is the last on a side of h; s = h if there is none (the root has a right side only)
    grandparents[g, h, m]      g -> h -> m
    outermost[g, h, m]         g -> h, and m is the last on its side of h (Carreras 2007)
    grandsiblings[g, h, s, m]  g -> h, and siblings[h, s, m] (model 1 of Koo & Collins 2010)
    trisiblings[h, r, s, m]    three in a row, r nearest; r = h if s is the first (model 2 of Koo & Collins 2010)
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import compress
from operator import eq
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zerogap.errors import InputError, ScoreError, ScoreShapeError, ScoreTypeError
from zerogap.grid import Scores, as_scores, check_scores, restored, round_to_grid

Indices = NDArray[np.int64]
MOST_REMEMBERED = 50_000  # entries of an array
LARGEST_BATCH = 2**20  # parts that a function is asked for at once


def is_between(a: Any, s: Any, b: Any) -> Any:
    """Strictly, in either direction."""
    return (s - a) * (b - s) > 0


def are_siblings(h: Any, s: Any, m: Any) -> Any:
    return (m > 0) & (m != h) & ((s == h) | is_between(h, s, m))


def are_grandparents(g: Any, h: Any, m: Any) -> Any:
    return (h > 0) & (m > 0) & (g != h) & (h != m) & (g != m)


# whether an index is one of the parts above, for arrays of any shape
MEANING: dict[str, Callable[..., Any]] = {
    "siblings": are_siblings,
    "stops": lambda h, s: (s > 0) | (s == h),
    "grandparents": are_grandparents,
    "outermost": are_grandparents,
    "grandsiblings": lambda g, h, s, m: are_siblings(h, s, m) & are_grandparents(g, h, m) & (g != s),
    "trisiblings": lambda h, r, s, m: (m > 0) & is_between(h, s, m) & ((r == h) | is_between(h, r, s)),
}
WITHOUT_HEADS = ("siblings", "stops", "trisiblings")  # parts that do not ask for the head of the head
ORDERS = {"siblings": 3, "stops": 2, "grandparents": 3, "outermost": 3, "grandsiblings": 4, "trisiblings": 4}
NAMES = {
    "siblings": "(h, s, m)", "stops": "(h, s)", "grandparents": "(g, h, m)", "outermost": "(g, h, m)",
    "grandsiblings": "(g, h, s, m)", "trisiblings": "(h, r, s, m)",
}  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Sparse:
    """Scores (p,) of the parts whose indices are the rows of `index` (p, order); all others score 0."""

    index: ArrayLike
    scores: ArrayLike


@dataclass(frozen=True, slots=True, eq=False)
class Lazy:
    """Scores that are computed when they are needed: `function(*indices)` takes int64 arrays of one length, and gives as many scores.

    No score is larger than `largest` in magnitude, but for -inf. The function must give the same score whenever it is asked.
    """

    function: Callable[..., ArrayLike]
    largest: float


class Parts(Protocol):
    """The scores of one kind of parts, on the problem's grid."""

    @property
    def scored(self) -> int:
        """How many parts were scored so far."""

    def at(self, *indices: Indices) -> Scores:
        """The scores of the parts with these indices: arrays that broadcast together."""

    def dense(self, n: int) -> Scores:
        """All of them for n words, (n + 1, n + 1, ...), with 0 where an index means nothing."""


@dataclass(frozen=True, slots=True, eq=False)
class DenseParts:
    table: Scores
    scored: int

    __setstate__ = restored

    def at(self, *indices: Indices) -> Scores:
        return self.table[indices]

    def dense(self, n: int) -> Scores:
        return self.table


@dataclass(frozen=True, slots=True, eq=False)
class SparseParts:
    order: int
    size: int  # n + 1: keys are indices as numbers in this base
    keys: Indices  # rising
    scores: Scores

    __setstate__ = restored

    @property
    def scored(self) -> int:
        return len(self.keys)

    def at(self, *indices: Indices) -> Scores:
        wanted = key_of(indices, self.size)
        if len(self.keys) == 0:
            return np.zeros(np.shape(wanted))
        place = np.minimum(np.searchsorted(self.keys, wanted), len(self.keys) - 1)
        return np.where(self.keys[place] == wanted, self.scores[place], 0.0)

    def total(self, found: Sequence[tuple[int, ...]]) -> float:
        """The sum of the scores of a few parts: much less to do than by `at`."""
        size = self.size
        match self.order:
            case 2:
                wanted = [h * size + s for h, s in found]
            case 3:
                wanted = [(g * size + h) * size + m for g, h, m in found]
            case _:
                wanted = [((g * size + h) * size + s) * size + m for g, h, s, m in found]
        if not wanted or len(self.keys) == 0:
            return 0.0
        place = self.keys.searchsorted(wanted)
        keys, scores = self.keys.take(place, mode="clip").tolist(), self.scores.take(place, mode="clip").tolist()
        return float(sum(compress(scores, map(eq, keys, wanted))))

    def dense(self, n: int) -> Scores:
        table = np.zeros((n + 1,) * self.order)
        table.reshape(-1)[self.keys] = self.scores
        return table


@dataclass(frozen=True, slots=True, eq=False)
class LazyParts:
    name: str
    function: Callable[..., ArrayLike]
    largest: float
    resolution: float
    count: list[int] = field(default_factory=lambda: [0])

    @property
    def scored(self) -> int:
        return self.count[0]

    def at(self, *indices: Indices) -> Scores:
        arrays = np.broadcast_arrays(*(np.asarray(index, dtype=np.int64) for index in indices))
        flat = [np.ascontiguousarray(array).reshape(-1) for array in arrays]
        scores = np.empty(flat[0].size)
        for begin in range(0, scores.size, LARGEST_BATCH):
            scores[begin : begin + LARGEST_BATCH] = self.batch([array[begin : begin + LARGEST_BATCH] for array in flat])
        return scores.reshape(arrays[0].shape)

    def batch(self, indices: list[Indices]) -> Scores:
        size = indices[0].size
        given = as_scores(self.function(*indices), self.name, check=False)
        if given.shape != (size,):
            raise ScoreShapeError(f"the function of {self.name} gave shape {given.shape} for {size} parts: expected ({size},).")
        wrong = ~((np.abs(given) <= self.largest) | (given == -np.inf))  # nan as well
        if wrong.any():
            first = int(np.flatnonzero(wrong)[0])
            spot = ", ".join(str(int(index[first])) for index in indices)
            raise ScoreError(
                f"{self.name}[{spot}] is {given[first]}: expected -inf, or at most {self.largest!r} in magnitude as `largest` says."
            )
        self.count[0] += size
        return round_to_grid(given, self.resolution)

    def dense(self, n: int) -> Scores:
        table = np.zeros((n + 1,) * ORDERS[self.name])
        index = np.nonzero(meaning(self.name, n))
        table[index] = self.at(*index)
        return table


def key_of(indices: Sequence[Indices], size: int) -> Indices:
    key = indices[0]
    for index in indices[1:]:
        key = key * size + index
    return np.asarray(key)


def meaning(name: str, n: int) -> NDArray[np.bool_]:
    """Which indices are parts, (n + 1, n + 1, ...); not to be changed."""
    return (remembered_meaning if (n + 1) ** ORDERS[name] <= MOST_REMEMBERED else new_meaning)(name, n)


def new_meaning(name: str, n: int) -> NDArray[np.bool_]:
    shape = (n + 1,) * ORDERS[name]
    return np.broadcast_to(MEANING[name](*np.ogrid[tuple(slice(size) for size in shape)]), shape)


remembered_meaning = functools.lru_cache(maxsize=256)(new_meaning)  # many sentences have the same length


@functools.lru_cache(maxsize=1024)
def n_parts(name: str, n: int) -> int:
    """How many parts of a kind n words may have."""
    return int(np.count_nonzero(meaning(name, n)))


def read_parts(name: str, value: Any, n: int) -> tuple[str, Scores, Callable[[Scores, float], Parts]]:
    """What a problem was given for one kind of parts, checked but for the scores themselves.

    Returns the scores that are to be put on the grid, what to call them in messages, and what makes Parts of them afterwards.
    """
    if isinstance(value, Sparse):
        return read_sparse(name, value, n)
    if isinstance(value, Lazy):
        return read_lazy(name, value)
    given = as_scores(value, name, shape=(n + 1,) * ORDERS[name], check=False)
    means = meaning(name, n)
    np.copyto(given, 0.0, where=~means)
    return name, given, lambda rounded, _: DenseParts(rounded, n_parts(name, n))


def read_sparse(name: str, value: Sparse, n: int) -> tuple[str, Scores, Callable[[Scores, float], Parts]]:
    order, size = ORDERS[name], n + 1
    index = np.asarray(value.index)
    if index.size == 0:
        index = np.zeros((0, order), dtype=np.int64)
    if index.dtype.kind not in "iu":
        raise ScoreTypeError(f"{name}.index has dtype {index.dtype}: expected integers.")
    if index.ndim != 2 or index.shape[1] != order:
        raise ScoreShapeError(f"{name}.index has shape {index.shape}: expected (p, {order}), a row {NAMES[name]} for every part.")
    scores = as_scores(value.scores, f"{name}.scores", shape=(len(index),), check=False)
    columns = np.ascontiguousarray(index.T, dtype=np.int64)
    if len(index):
        if not columns.view(np.uint64).max() <= n:  # below 0 is large
            row = int(np.flatnonzero(((columns < 0) | (columns > n)).any(axis=0))[0])
            raise InputError(f"{name}.index[{row}] is {tuple(index[row].tolist())}: expected tokens from 0 to {n}.")
        means = MEANING[name](*columns)
        if not means.all():
            row = int(np.flatnonzero(~means)[0])
            raise InputError(f"{name}.index[{row}] is {tuple(index[row].tolist())}: no tree has such a part {NAMES[name]}.")
    keys = key_of(list(columns), size)
    if not (keys[1:] > keys[:-1]).all():
        check_scores(scores, f"{name}.scores")  # before they change places
        by_key = np.argsort(keys, kind="stable")
        keys, scores = keys[by_key], scores[by_key]
        same = np.flatnonzero(keys[1:] == keys[:-1])
        if same.size:
            first, second = (int(by_key[same[0] + k]) for k in (0, 1))
            raise InputError(f"{name}.index[{first}] and [{second}] are both {tuple(index[first].tolist())}: expected every part once.")
    return f"{name}.scores", scores, lambda rounded, _: SparseParts(order, size, keys, rounded)


def read_lazy(name: str, value: Lazy) -> tuple[str, Scores, Callable[[Scores, float], Parts]]:
    if not callable(value.function):
        raise InputError(f"{name}.function is {value.function!r}: expected a function of {ORDERS[name]} index arrays {NAMES[name]}.")
    largest = value.largest
    if isinstance(largest, bool) or not isinstance(largest, int | float | np.number) or not 0.0 <= largest < math.inf:
        raise InputError(f"{name}.largest is {largest!r}: expected a finite number, 0 or more, that no score exceeds in magnitude.")
    bound = np.array([float(largest)])
    return f"{name}.largest", bound, lambda _, resolution: LazyParts(name, value.function, float(largest), resolution)


def parts_as_given(name: str, parts: Parts, arcs: Scores) -> Sparse | Scores:
    """Scores that make the same Parts again. Of a function, those that trees of allowed arcs have."""
    if isinstance(parts, DenseParts):
        return parts.table
    if isinstance(parts, SparseParts):
        index = np.stack(np.unravel_index(parts.keys, (parts.size,) * parts.order), axis=1)
        return Sparse(index, parts.scores)
    index = np.stack(np.nonzero(meaning(name, len(arcs) - 1) & allowed_parts(name, arcs > -np.inf)), axis=1)
    scores = parts.at(*index.T)
    return Sparse(index[scores != 0.0], scores[scores != 0.0])


def allowed_parts(name: str, allowed: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which indices, if they mean something, have only arcs that are allowed; a token that stands for none is as its head."""
    itself = allowed | np.eye(len(allowed), dtype=np.bool_)
    match name:
        case "siblings":
            return itself[:, :, None] & allowed[:, None, :]
        case "stops":
            return itself
        case "grandsiblings":
            return allowed[:, :, None, None] & itself[None, :, :, None] & allowed[None, :, None, :]
        case "trisiblings":
            return itself[:, :, None, None] & allowed[:, None, :, None] & allowed[:, None, None, :]
        case _:
            return allowed[:, :, None] & allowed[None]


def parts_of_tree(heads: Sequence[int], names: Iterable[str]) -> Iterator[tuple[str, list[tuple[int, ...]]]]:
    """The indices of the parts of a tree, for every kind that is named. Where heads form a cycle, those that mean something."""
    head_of = [-1, *heads]
    sides: Sides | None = None
    for name in names:
        if name == "grandparents":
            found = [(g, h, m) for m, h in enumerate(heads, 1) if (g := head_of[h]) not in (-1, h, m) and h != m]
            yield name, found  # type: ignore[misc]  # tuples of three are tuples
        else:
            sides = sides or sides_of(heads)
            yield name, list(OF_TREE[name](head_of, sides))


class Sides(NamedTuple):
    """The modifiers of all heads: `pairs` of each and the one before it, (h, s, m), and the last ones, the head itself if there is none."""

    pairs: list[tuple[int, int, int]]
    before: list[int]  # the modifier before a word, its head if it is the first
    left: list[int]
    right: list[int]


def sides_of(heads: Sequence[int]) -> Sides:
    before = [0, *heads]
    left, right = list(range(len(before))), list(range(len(before)))  # the last modifiers so far
    pairs: list[tuple[int, int, int]] = []
    to_the_left: list[int] = []  # of their heads: they are counted from the right
    for m, h in enumerate(heads, 1):
        if h < m:
            s = right[h]
            pairs.append((h, s, m))
            before[m] = s
            right[h] = m
        elif h > m:
            to_the_left.append(m)
    for m in reversed(to_the_left):
        h = before[m]
        s = left[h]
        pairs.append((h, s, m))
        before[m] = s
        left[h] = m
    return Sides(pairs, before, left, right)


def ends_of(sides: Sides) -> list[tuple[int, ...]]:
    """A head and the last modifier of a side: of the root's right one, and of both of every word, left first."""
    ends: list[tuple[int, ...]] = [()] * (2 * len(sides.right) - 1)
    ends[::2] = enumerate(sides.right)
    ends[1::2] = enumerate(sides.left[1:], 1)
    return ends


OF_TREE: dict[str, Callable[[list[int], Sides], Iterable[tuple[int, ...]]]] = {
    "siblings": lambda head_of, sides: sides.pairs,
    "stops": lambda head_of, sides: ends_of(sides),
    "outermost": lambda head_of, sides: [
        (g, h, m) for h, g in enumerate(head_of) for m in {sides.left[h], sides.right[h]} - {h} if g not in (-1, h, m)
    ],
    "grandsiblings": lambda head_of, sides: [
        (g, h, s, m) for h, s, m in sides.pairs if (g := head_of[h]) not in (-1, h, s, m)
    ],
    "trisiblings": lambda head_of, sides: [(h, sides.before[s], s, m) for h, s, m in sides.pairs if s != h],
}  # fmt: skip
