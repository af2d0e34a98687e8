"""Parsing with heads together with models that must agree with it: a dependency parser on heads (Rush 2014, section 4.2.2, equation 4.3),
a tagger on tags (section 4.2.1), or both at once.

    argmax_y  lexical.score(y) + arcs, siblings and stops of the dependency tree that y implies + tagging of the tags of y
              over the parses y with heads

The dependency part has the tables of a second-order parser: `siblings[h, s, m]` for adjacent modifiers on one side, s == h for the first,
`stops[h, s]` for the end of a side. The tagging part is an n-gram tagger over the same candidates. A structure is that of the lexical part.
Many models at once are what the thesis hopes for in its last chapter.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zerogap.errors import InputError, InvalidStructure, ScoreShapeError
from zerogap.grid import Scores, as_scores, choose_resolution, describe_shape, held, largest_magnitude, restored, round_to_grid
from zerogap.problems.constituency.lexical import LexicalProblem, Structure


@dataclass(frozen=True, slots=True, eq=False)
class TagScores:
    """An n-gram tagger over the candidates of a lexical problem.

    `tag_of` numbers the tags of candidates as the tagger does; `transitions` has two or three axes of tags + 1, oldest tag first, the last
    index the boundary before and after the sentence; `emissions` has a score for every candidate.
    """

    tag_of: NDArray[np.int64]  # (candidates,)
    emissions: Scores  # (candidates,)
    transitions: Scores

    __setstate__ = restored

    def __post_init__(self) -> None:
        object.__setattr__(self, "tag_of", held(np.array(self.tag_of, dtype=np.int64)))
        object.__setattr__(self, "transitions", held(as_scores(self.transitions, "transitions")))
        object.__setattr__(self, "emissions", held(as_scores(self.emissions, "emissions", shape=self.tag_of.shape)))
        grams, tags = self.transitions, self.transitions.shape[-1] - 1
        if grams.ndim not in (2, 3) or set(grams.shape) != {tags + 1}:
            wanted = describe_shape((tags + 1,) * min(max(grams.ndim, 2), 3))
            raise ScoreShapeError(f"transitions has shape {grams.shape}: expected {wanted}, tags with the boundary on every axis.")
        if self.tag_of.size and not 0 <= self.tag_of.min() <= self.tag_of.max() < tags:
            raise InputError(f"tag_of has entries from {self.tag_of.min()} to {self.tag_of.max()}: expected 0 to {tags - 1}.")

    def score(self, candidates: Sequence[int]) -> float:
        """The score of one candidate per word."""
        order, edge = self.transitions.ndim, self.transitions.shape[-1] - 1
        padded = [edge] * (order - 1) + [int(self.tag_of[c]) for c in candidates] + [edge]
        grams = sum(float(self.transitions[tuple(padded[i : i + order])]) for i in range(len(candidates) + 1))
        return grams + sum(float(self.emissions[c]) for c in candidates)


@dataclass(frozen=True, slots=True, eq=False)
class LexicalAgreement:
    """The parts on one grid; token 0 of the tables is the root. `weight` multiplies the tables, `tag_weight` the tagger's scores."""

    lexical: LexicalProblem
    arcs: Scores  # (n + 1, n + 1)
    siblings: Scores  # (n + 1, n + 1, n + 1)
    stops: Scores  # (n + 1, n + 1)
    tagging: TagScores | None
    resolution: float
    terms: int

    __setstate__ = restored

    def __init__(
        self, lexical: LexicalProblem, arcs: object = None, *, siblings: object = None, stops: object = None,
        tagging: TagScores | None = None, weight: float = 1.0, tag_weight: float = 1.0,
    ) -> None:  # fmt: skip
        size = lexical.n_words + 1
        tables = [
            np.zeros(shape) if table is None else weighted(as_scores(table, name, shape=shape), weight)
            for name, table, shape in (("arcs", arcs, (size,) * 2), ("siblings", siblings, (size,) * 3), ("stops", stops, (size,) * 2))
        ]
        tables[0][:, 0] = tables[0][np.arange(size), np.arange(size)] = -np.inf
        of_tags = []
        if tagging is not None:
            wanted = len(lexical.positions)
            if len(tagging.tag_of) != wanted:
                raise ScoreShapeError(f"tagging has {len(tagging.tag_of)} candidates: expected {wanted}, those of the parser.")
            of_tags = [weighted(tagging.emissions, tag_weight), weighted(tagging.transitions, tag_weight)]
        terms = lexical.terms + 4 * size + 2 * size
        largest = largest_magnitude(lexical.binary, lexical.unary, lexical.words, lexical.roots, *tables, *of_tags)
        grid = max(choose_resolution(largest, terms), lexical.resolution)
        same = LexicalProblem(
            lexical.grammar, positions=lexical.positions, tags=lexical.tags, verbs=lexical.verbs, binary=lexical.binary,
            unary=lexical.unary, words=lexical.words, roots=lexical.roots, resolution=grid,
        )  # fmt: skip
        rounded = None if tagging is None else TagScores(tagging.tag_of, *(round_to_grid(table, grid) for table in of_tags))
        values = (same, *(round_to_grid(table, grid) for table in tables), rounded, grid, terms)
        for name, value in zip(self.__slots__, values, strict=True):
            object.__setattr__(self, name, value)

    @property
    def n_words(self) -> int:
        return self.lexical.n_words

    @property
    def n_parts(self) -> int:
        """What models must agree on: arcs [head, word] of the tables, then the candidates if there is a tagger."""
        return (self.n_words + 1) ** 2 + (0 if self.tagging is None else len(self.lexical.positions))

    def score(self, structure: Structure) -> float:
        found = self.lexical.derive(structure)
        return found.score + self.tree_score(found.heads) + self.tag_score(found.candidates)

    def check(self, structure: Structure) -> None:
        """Raises InvalidStructure unless it is a parse that all parts allow."""
        self.lexical.check(structure)
        found = self.lexical.derive(structure)
        if self.tree_score(found.heads) == -np.inf:
            raise InvalidStructure("the dependency parser forbids the heads of the parse (-inf).")
        if self.tag_score(found.candidates) == -np.inf:
            raise InvalidStructure("the tagger forbids the tags of the parse (-inf).")

    def tag_score(self, candidates: Sequence[int]) -> float:
        return 0.0 if self.tagging is None else self.tagging.score(candidates)

    def tree_score(self, heads: Sequence[int]) -> float:
        """The score of the heads of words 1 to n by the tables of the dependency part."""
        total = sum(float(self.arcs[h, m]) for m, h in enumerate(heads, start=1))
        for h in range(self.n_words + 1):
            modifiers = [m for m, head in enumerate(heads, start=1) if head == h]
            for side in ([m for m in modifiers if m > h], [m for m in reversed(modifiers) if m < h])[: 2 if h else 1]:
                last = h
                for m in side:
                    total += float(self.siblings[h, last, m])
                    last = m
                total += float(self.stops[h, last])
        return total


def weighted(scores: Scores, weight: float) -> Scores:
    """What is forbidden stays so at weight 0 too."""
    if not math.isfinite(weight):
        raise InputError(f"a weight is {weight!r}: expected a finite number.")
    return np.where(scores > -np.inf, np.where(scores > -np.inf, scores, 0.0) * weight, -np.inf)
