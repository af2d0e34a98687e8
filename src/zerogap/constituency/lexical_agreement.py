"""Parsing with heads and a dependency parser that must agree on heads, as a problem (Rush 2014, section 4.2.2, equation 4.3).

    argmax_y  lexical.score(y) + arcs, siblings and stops of the dependency tree that y implies        over the parses y with heads

The dependency half has the tables of a second-order parser: `siblings[h, s, m]` for adjacent modifiers on one side, s == h for the first,
`stops[h, s]` for the end of a side. A structure is that of the lexical half.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from zerogap.constituency.lexical_problem import LexicalProblem, Structure
from zerogap.errors import InvalidStructure
from zerogap.grid import Scores, as_scores, choose_resolution, largest_magnitude, round_to_grid


@dataclass(frozen=True, slots=True, eq=False)
class LexicalAgreement:
    """Two halves on one grid; token 0 of the tables is the root. `weight` multiplies the tables."""

    lexical: LexicalProblem
    arcs: Scores  # (n + 1, n + 1)
    siblings: Scores  # (n + 1, n + 1, n + 1)
    stops: Scores  # (n + 1, n + 1)
    resolution: float
    terms: int

    def __init__(
        self, lexical: LexicalProblem, arcs: object, *, siblings: object = None, stops: object = None, weight: float = 1.0
    ) -> None:
        size = lexical.n_words + 1
        tables = [
            np.zeros(shape) if table is None else as_scores(table, name, shape=shape) * weight
            for name, table, shape in (("arcs", arcs, (size,) * 2), ("siblings", siblings, (size,) * 3), ("stops", stops, (size,) * 2))
        ]
        tables[0][:, 0] = tables[0][np.arange(size), np.arange(size)] = -np.inf
        terms = lexical.terms + 4 * size
        largest = largest_magnitude(lexical.binary, lexical.unary, lexical.words, lexical.roots, *tables)
        grid = max(choose_resolution(largest, terms), lexical.resolution)
        same = LexicalProblem(
            lexical.grammar, positions=lexical.positions, tags=lexical.tags, verbs=lexical.verbs, binary=lexical.binary,
            unary=lexical.unary, words=lexical.words, roots=lexical.roots, resolution=grid,
        )  # fmt: skip
        values = (same, *(round_to_grid(table, grid) for table in tables), grid, terms)
        for name, value in zip(self.__slots__, values, strict=True):
            object.__setattr__(self, name, value)

    @property
    def n_words(self) -> int:
        return self.lexical.n_words

    def score(self, structure: Structure) -> float:
        score, heads = self.lexical.derive(structure)
        return score + self.tree_score(heads)

    def check(self, structure: Structure) -> None:
        """Raises InvalidStructure unless it is a parse that both halves allow."""
        self.lexical.check(structure)
        if self.tree_score(self.lexical.heads(structure)) == -np.inf:
            raise InvalidStructure("the dependency parser forbids the heads of the parse (-inf).")

    def tree_score(self, heads: Sequence[int]) -> float:
        """The score of the heads of words 1 to n by the tables of the dependency half."""
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
