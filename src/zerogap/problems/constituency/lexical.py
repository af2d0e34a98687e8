"""Parsing with heads as a problem: a grammar whose rules also score head words (Rush 2014, section 4.2.2).

    argmax_y  sum over X(h) -> Y(h) Z(m) of binary[rule, h, verb between] + words[class of Z, m, h]
              + sum over X(h) -> Y(h) of unary[rule, h, verb before the edge] + roots[head of y]          over the parses y

A head is a candidate: a position with one of its tags. Every rule says which of its children has the head. No unary rule scores more
than 0, so that going round in a circle never pays; a structure has no symbol twice in a row of unary rules. A structure is a nested
tuple: (tag, position) over a word counted from 0, else (symbol, child) or (symbol, left, right).
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zerogap.errors import InputError, InvalidStructure, ScoreError, ScoreShapeError
from zerogap.grid import Scores, as_scores, held, restored, rounded_together, unit_of

Structure = tuple[Any, ...]

NO_EDGE, LEFT_EDGE, RIGHT_EDGE = -1, 0, 1


class Derived(NamedTuple):
    """What follows from a structure."""

    score: float
    heads: tuple[int, ...]  # of words 1 to n, 0 for the head of the sentence
    candidates: tuple[int, ...]  # of the words: each with its tag


@dataclass(frozen=True, slots=True, eq=False)
class LexicalGrammar:
    """The rules without scores: made once, used for many sentences."""

    symbols: tuple[str, ...]
    root: int
    binary: NDArray[np.int64]  # (rules, 3): parent, left, right
    head_side: NDArray[np.int64]  # (rules,): 0 if the left child has the head, 1 if the right one has
    unary: NDArray[np.int64]  # (rules, 2): parent, child
    unary_edge: NDArray[np.int64]  # (rules,): which edge of the span counts: NO_EDGE, LEFT_EDGE, RIGHT_EDGE
    classes: NDArray[np.int64]  # (symbols,): the row of `words` for a sister of this symbol, -1 if it never is one

    __setstate__ = restored

    def __post_init__(self) -> None:
        size = len(self.symbols)
        if len(set(self.symbols)) < size or not 0 <= self.root < size:
            raise InputError(f"root is {self.root} of {size} symbols: expected one of them, and no name twice.")
        for name, shape, lowest, highest in (
            ("binary", (len(self.binary), 3), 0, size), ("head_side", (len(self.binary),), 0, 2), ("unary", (len(self.unary), 2), 0, size),
            ("unary_edge", (len(self.unary),), NO_EDGE, 2), ("classes", (size,), -1, size + 1),
        ):  # fmt: skip
            table = getattr(self, name)
            if table.shape != shape or table.dtype != np.int64:
                raise InputError(f"{name} is {table.dtype} of shape {table.shape}: expected int64 of shape {shape}.")
            if table.size and not lowest <= table.min() <= table.max() < highest:
                raise InputError(f"{name} has entries from {table.min()} to {table.max()}: expected {lowest} to {highest - 1}.")
            object.__setattr__(self, name, held(table))
        for name in ("binary", "unary"):
            if len(np.unique(getattr(self, name), axis=0)) < len(getattr(self, name)):
                raise InputError(f"{name} has a rule twice: expected every rule once.")
        sisters = self.binary[np.arange(len(self.binary)), 2 - self.head_side]
        if sisters.size and self.classes[sisters].min() < 0:
            raise InputError(
                f"classes has -1 for {self.symbols[int(sisters[self.classes[sisters] < 0][0])]!r}, which is a sister in a rule."
            )


@functools.lru_cache(maxsize=8)
def numbered(grammar: LexicalGrammar) -> tuple[dict[str, int], dict[tuple[int, ...], int], dict[tuple[int, ...], int]]:
    """The places of symbols, of binary and of unary rules."""
    return (
        {symbol: i for i, symbol in enumerate(grammar.symbols)},
        {tuple(row): r for r, row in enumerate(grammar.binary.tolist())},
        {tuple(row): r for r, row in enumerate(grammar.unary.tolist())},
    )


@dataclass(frozen=True, slots=True, eq=False)
class LexicalProblem:
    """A sentence under a lexicalised grammar. `verbs[i]` says whether word i is one; all scores lie on one grid."""

    grammar: LexicalGrammar
    positions: NDArray[np.int64]  # (candidates,): sorted
    tags: NDArray[np.int64]  # (candidates,): symbols
    verbs: NDArray[np.bool_]  # (n,)
    binary: Scores  # (rules, candidates, 2): for the head, without and with a verb between it and the sister
    unary: Scores  # (rules, candidates, 2): at most 0
    words: Scores  # (classes, candidates, candidates): sister, then head
    roots: Scores  # (candidates,)
    resolution: float
    unit: float
    terms: int

    __setstate__ = restored

    def __init__(
        self,
        grammar: LexicalGrammar,
        *,
        positions: Sequence[int] | NDArray[np.int64],
        tags: Sequence[int] | NDArray[np.int64],
        verbs: Sequence[bool] | NDArray[np.bool_],
        binary: object,
        unary: object,
        words: object,
        roots: object,
        resolution: float | None = None,
    ) -> None:
        at, tag, verb = np.array(positions, dtype=np.int64), np.array(tags, dtype=np.int64), np.array(verbs, dtype=np.bool_)
        n, size = len(verb), len(at)
        if n == 0:
            raise InputError("the sentence has no words: expected at least one.")
        if at.shape != (size,) or tag.shape != (size,) or verb.shape != (n,):
            raise ScoreShapeError(
                f"positions {at.shape}, tags {tag.shape} and verbs {verb.shape}: expected one row each, the first two equal."
            )
        if sorted({*at.tolist()}) != list(range(n)) or (np.diff(at) < 0).any():
            raise InputError(f"positions are {at.tolist()}: expected all of 0 to {n - 1}, sorted.")
        if not 0 <= tag.min() <= tag.max() < len(grammar.symbols) or len({*zip(at.tolist(), tag.tolist(), strict=True)}) < size:
            raise InputError(f"tags are {tag.tolist()}: expected symbols 0 to {len(grammar.symbols) - 1}, none twice at a position.")
        n_classes = int(grammar.classes.max(initial=-1)) + 1
        arrays = {
            "binary": as_scores(binary, "binary", shape=(len(grammar.binary), size, 2), check=False),
            "unary": as_scores(unary, "unary", shape=(len(grammar.unary), size, 2), check=False),
            "words": as_scores(words, "words", shape=(n_classes, size, size), check=False),
            "roots": as_scores(roots, "roots", shape=(size,), check=False),
        }
        if arrays["unary"].size and not arrays["unary"].max() <= 0.0:
            where = tuple(int(i) for i in np.argwhere(~(arrays["unary"] <= 0.0))[0])
            raise ScoreError(f"unary[{', '.join(map(str, where))}] is {arrays['unary'][where]}: expected at most 0, or -inf to forbid.")
        terms = 2 * n * (len(grammar.symbols) + 2)
        rounded, grid, _ = rounded_together(arrays, terms, resolution)
        for array in (at, tag, verb):
            array.flags.writeable = False
        values = (grammar, at, tag, verb, *rounded, grid, unit_of(grid, *rounded), terms)
        for name, value in zip(self.__slots__, values, strict=True):
            object.__setattr__(self, name, value)

    @property
    def n_words(self) -> int:
        return len(self.verbs)

    def score(self, structure: Structure) -> float:
        return self.derive(structure).score

    def check(self, structure: Structure) -> None:
        """Raises InvalidStructure unless it is a parse of the sentence by allowed rules."""
        if self.derive(structure).score == -np.inf:
            raise InvalidStructure("the parse has a rule, a pair of words or a head that is forbidden (-inf).")

    def heads(self, structure: Structure) -> tuple[int, ...]:
        """The heads of words 1 to n, 0 for the head of the sentence."""
        return self.derive(structure).heads

    def derive(self, structure: Structure) -> Derived:
        """The score, the heads and the tags; InvalidStructure if it is no tree over the words by the rules of the grammar."""
        grammar = self.grammar
        number, rules, chains = numbered(grammar)
        candidate = {key: c for c, key in enumerate(zip(self.positions.tolist(), self.tags.tolist(), strict=True))}
        before = np.concatenate([[0], np.cumsum(self.verbs)]).tolist()
        total, heads, chosen = 0.0, [0] * self.n_words, [0] * self.n_words
        done: list[tuple[int, int, int, int]] = []  # symbol, start, end, candidate of finished nodes, the last one on the right
        for node in reversed(preorder(structure)):
            symbol = number.get(node[0])
            if symbol is None:
                raise InvalidStructure(f"{node[0]!r} is not a symbol of the grammar.")
            if is_leaf(node):
                c = candidate.get((int(node[1]), symbol))
                if c is None:
                    raise InvalidStructure(f"word {node[1]} cannot have the tag {node[0]!r}.")
                chosen[int(node[1])] = c
                done.append((symbol, int(node[1]), int(node[1]) + 1, c))
            elif len(node) == 2:
                child, start, end, c = done.pop()
                r = chains.get((symbol, child))
                if r is None:
                    raise InvalidStructure(f"the grammar has no rule {node[0]} -> {node[1][0]}.")
                edge = (start, end)[grammar.unary_edge[r]] if grammar.unary_edge[r] != NO_EDGE else int(self.positions[c])
                total += float(self.unary[r, c, verb_between(before, int(self.positions[c]), edge)])
                done.append((symbol, start, end, c))
            else:
                left, right = done.pop(), done.pop()
                r = rules.get((symbol, left[0], right[0]))
                if r is None:
                    raise InvalidStructure(f"the grammar has no rule {node[0]} -> {node[1][0]} {node[2][0]}.")
                if left[2] != right[1]:
                    raise InvalidStructure(f"words {left[1]} to {left[2] - 1} are followed by word {right[1]}: expected them in order.")
                head, sister = (right, left) if grammar.head_side[r] else (left, right)
                h, m = head[3], sister[3]
                total += float(self.binary[r, h, verb_between(before, int(self.positions[h]), left[2])])
                total += float(self.words[grammar.classes[sister[0]], m, h])
                heads[self.positions[m]] = int(self.positions[h]) + 1
                done.append((symbol, left[1], right[2], h))
        symbol, start, end, c = done.pop()
        if (start, end) != (0, self.n_words):
            raise InvalidStructure(f"the tree covers words {start} to {end - 1}: expected 0 to {self.n_words - 1}.")
        if symbol != grammar.root:
            raise InvalidStructure(f"the root is {structure[0]!r}: expected {grammar.symbols[grammar.root]!r}.")
        return Derived(total + float(self.roots[c]), tuple(heads), tuple(chosen))


def verb_between(before: Sequence[int], head: int, edge: int) -> int:
    """1 if a verb stands between the head and an edge of the span, the head itself left out; `before` counts verbs before every place."""
    return int(before[head] > before[edge] if edge <= head else before[edge] > before[head + 1])


def is_leaf(node: Any) -> bool:
    return isinstance(node, tuple) and len(node) == 2 and isinstance(node[1], int | np.integer) and not isinstance(node[1], bool)


def preorder(structure: Structure) -> list[Structure]:
    """All nodes, each before those below it, left to right; InvalidStructure for what is no node, or a circle of unary rules."""
    found: list[Structure] = []
    waiting: list[tuple[Any, frozenset[Any]]] = [(structure, frozenset())]
    while waiting:
        node, above = waiting.pop()
        inner = isinstance(node, tuple) and len(node) in (2, 3) and all(isinstance(child, tuple) for child in node[1:])
        if not (is_leaf(node) or inner) or not isinstance(node[0], str):
            raise InvalidStructure(f"{node!r} is not a tree: expected (symbol, position), (symbol, child) or (symbol, left, right).")
        if node[0] in above:
            raise InvalidStructure(f"{node[0]!r} stands over itself in a row of unary rules: expected no circle.")
        found.append(node)
        if not is_leaf(node):
            seen = above | {node[0]} if len(node) == 2 else frozenset()
            waiting.extend((child, seen) for child in reversed(node[1:]))
    return found
