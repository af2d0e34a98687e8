"""Constraints on a translation by phrases: words of the output, fixed spans, zones and walls.

    required    a phrase of target words that the output has somewhere        forbidden   one that it has nowhere
    fixed       the only translations of a span, or further ones              zone        once entered, translated before it is left
    wall        all words before it are translated before any word after it

Zones and walls are those of Moses: whoever translates a word outside a zone leaves it whole, translated or not, and whoever translates a
word behind a wall leaves none before it. Both ask something of every phrase and of the words translated after it: `rules_of`.
Required and forbidden phrases are read by an automaton along the output (Aho & Corasick 1975), whose states go with those of the language
model: `automaton_of`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zerogap.errors import InputError

WALL, ZONE = 0, 1  # kinds of rules
MOST_STATES = 4096  # of the automaton: twice as many for every required phrase

Words = tuple[str, ...]
Rules = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Fixed:
    """Translations of words start to end, with what they score; with `exclusive`, no other phrase touches these words."""

    start: int
    end: int
    targets: tuple[Words, ...]
    scores: tuple[float, ...]
    exclusive: bool = True

    def __str__(self) -> str:
        return f"the fixed translation of words {self.start} to {self.end}"


@dataclass(frozen=True, slots=True)
class Zone:
    """Words start to end are translated one after the other, without others between them; from left to right if `monotone`."""

    start: int
    end: int
    monotone: bool = False

    def __str__(self) -> str:
        return f"the {'monotone ' if self.monotone else ''}zone of words {self.start} to {self.end}"


@dataclass(frozen=True, slots=True)
class Wall:
    """Words before `at` are translated before those from there on; only among words start to end, if these are given."""

    at: int
    start: int = 0
    end: int | None = None

    def __str__(self) -> str:
        return f"the wall before word {self.at}"


@dataclass(frozen=True, slots=True)
class Constraints:
    required: tuple[Words, ...] = ()
    forbidden: tuple[Words, ...] = ()
    fixed: tuple[Fixed, ...] = ()
    zones: tuple[Zone, ...] = ()
    walls: tuple[Wall, ...] = ()

    def __bool__(self) -> bool:
        return any(self.named())

    def named(self) -> Iterator[tuple[str, Any, str]]:
        """(field, constraint, what it is called) of every constraint."""
        for field in ("required", "forbidden"):
            for phrase in getattr(self, field):
                yield field, phrase, f"the {field} phrase {' '.join(phrase)!r}"
        for field in ("fixed", "zones", "walls"):
            for constraint in getattr(self, field):
                yield field, constraint, str(constraint)

    def without(self, field: str, constraint: Any) -> Constraints:
        return replace(self, **{field: tuple(part for part in getattr(self, field) if part is not constraint)})


NO_CONSTRAINTS = Constraints()


def check_constraints(constraints: Constraints, n: int) -> None:
    """Raises InputError for what cannot be a constraint on a sentence of n words."""
    for field in ("required", "forbidden"):
        for i, phrase in enumerate(getattr(constraints, field)):
            if isinstance(phrase, str) or not phrase or not all(isinstance(word, str) and word for word in phrase):
                raise InputError(f"{field}[{i}] is {phrase!r}: expected a tuple of target words, at least one.")
    for field in ("fixed", "zones"):
        for i, part in enumerate(getattr(constraints, field)):
            if not (type(part.start) is int and type(part.end) is int and 0 <= part.start < part.end <= n):
                raise InputError(f"{field}[{i}] spans {part.start} to {part.end}: expected words from 0 to {n}, at least one.")
    taken: dict[int, int] = {}
    for i, part in enumerate(constraints.fixed):
        if not part.targets or len(part.targets) != len(part.scores):
            raise InputError(f"fixed[{i}] has {len(part.targets)} targets and {len(part.scores)} scores: expected as many, at least one.")
        for word in range(part.start, part.end):
            if word in taken and (part.exclusive or constraints.fixed[taken[word]].exclusive):
                raise InputError(f"fixed[{i}] and fixed[{taken[word]}] both translate word {word}: expected one, unless none is exclusive.")
            taken[word] = i
    for i, wall in enumerate(constraints.walls):
        end = n if wall.end is None else wall.end
        if not ({type(wall.start), type(wall.at), type(end)} == {int} and 0 <= wall.start <= wall.at <= end <= n):
            raise InputError(f"walls[{i}] is before word {wall.at}, among words {wall.start} to {end}: expected positions from 0 to {n}.")


def rules_of(constraints: Constraints, n: int) -> Rules:
    """(kind, first, middle, last) of every rule. After a phrase that touches words `middle` to `last`, a wall wants words `first` to
    `middle` translated; after one that touches words outside `first` to `last`, a zone wants all of those words translated, or none."""
    rows = [(WALL, wall.start, wall.at, n if wall.end is None else wall.end) for wall in constraints.walls]
    for zone in constraints.zones:
        rows.append((ZONE, zone.start, zone.end, zone.end))
        rows += [(WALL, zone.start, at, zone.end) for at in range(zone.start + 1, zone.end) if zone.monotone]
    return np.array(rows, dtype=np.int64).reshape(len(rows), 4)


def broken_rule(rules: Rules, covered: NDArray[np.bool_], start: int, end: int) -> int | None:
    """The first rule that a phrase from start to end breaks, if it leaves these words translated."""
    for r, (kind, first, middle, last) in enumerate(rules.tolist()):
        part = covered[first:middle] if kind == WALL else covered[first:last]
        touches = start < last and end > middle if kind == WALL else start < first or end > last
        if touches and not part.all() and (kind == WALL or part.any()):
            return r
    return None


def allowed_jumps(rules: Rules, n: int, reach: int) -> NDArray[np.bool_]:
    """jumps[e, s]: whether a phrase from s may follow one that ended at e, by the limit and by walls; e = 0 is the start."""
    ends, starts = np.arange(n + 1)[:, None], np.arange(n)[None, :]
    jumps = np.abs(starts - ends) <= reach
    for kind, first, middle, last in rules.tolist():
        if kind == WALL and first < middle:
            jumps &= ~((middle < ends) & (ends <= last) & (first <= starts) & (starts < middle))  # what is before the wall is done
            jumps &= ~((ends == 0) & (middle <= starts) & (starts < last))
    return jumps


@dataclass(frozen=True, slots=True, eq=False)
class TargetAutomaton:
    """Reads symbols: one for every word of the constraints, 0 for all others. State 0 is the first."""

    symbols: dict[str, int]
    following: NDArray[np.int64]  # (states, symbols)
    forbids: NDArray[np.bool_]  # (states, symbols): the symbol would complete a forbidden phrase
    accepts: NDArray[np.bool_]  # (states,): no required phrase is missing
    met: NDArray[np.int64]  # (states,): how many required phrases have been met


def automaton_of(required: Sequence[Words], forbidden: Sequence[Words]) -> TargetAutomaton:
    """States are the longest suffix of the output that some phrase begins with, and the set of required phrases met so far."""
    symbols = {word: s for s, word in enumerate(dict.fromkeys(word for phrase in (*required, *forbidden) for word in phrase), start=1)}
    trie: list[dict[int, int]] = [{}]
    ends_of: dict[int, list[int]] = {}  # node -> phrases that end there
    through: list[set[int]] = [set()]  # node -> phrases that pass or end there
    for number, phrase in enumerate((*required, *forbidden)):
        x = 0
        for word in phrase:
            y = trie[x].setdefault(symbols[word], len(trie))
            if y == len(trie):
                trie.append({})
                through.append(set())
            x = y
            through[x].add(number)
        ends_of.setdefault(x, []).append(number)
    fail, step = [0] * len(trie), [[0] * (len(symbols) + 1) for _ in trie]
    found: list[set[int]] = [set(ends_of.get(x, ())) for x in range(len(trie))]  # phrases that end here, as a suffix too
    waiting = [0]
    for x in waiting:  # breadth first: the shorter suffix is complete
        found[x] |= found[fail[x]] if x else set()
        for s in range(1, len(symbols) + 1):
            if s in trie[x]:
                y = trie[x][s]
                fail[y] = step[fail[x]][s] if x else 0
                step[x][s] = y
                waiting.append(y)
            else:
                step[x][s] = step[fail[x]][s] if x else 0
    n_required = len(required)
    numbers: dict[tuple[int, frozenset[int]], int] = {(0, frozenset()): 0}
    states = list(numbers)
    following: list[list[int]] = []
    forbids: list[list[bool]] = []
    for x, met in states:
        row, bad = [], []
        for s in range(len(symbols) + 1):
            y = step[x][s]
            now = met | {p for p in found[y] if p < n_required}
            bad.append(any(p >= n_required for p in found[y]))
            while y and not through[y] - now:  # only phrases that were met go on from here
                y = fail[y]
            state = (y, frozenset(now))
            if state not in numbers:
                numbers[state] = len(states)
                states.append(state)
            row.append(numbers[state])
        following.append(row)
        forbids.append(bad)
        if len(states) > MOST_STATES:
            raise InputError(f"required has {n_required} phrases, more than can be kept track of together: expected about ten at most.")
    return TargetAutomaton(
        symbols, np.array(following, dtype=np.int64), np.array(forbids),
        np.array([len(met) == n_required for _, met in states]), np.array([len(met) for _, met in states], dtype=np.int64),
    )  # fmt: skip
