"""Checks bounds of parsing with heads by a chart of its own, in NumPy: every symbol over every span with every head, nothing left out.

    cell[X, h] = max over splits and rules X(h) -> Y(h) Z of left[Y, h] + binary[rule, h] + max over m of (right[Z, m] + words[Z, m, h])

and the mirror image, then unary rules until nothing gets better. Rules are gone through together, as rows of arrays.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from zerogap.errors import VerificationError
from zerogap.grid import Flags, Integers
from zerogap.proof.certificate import Certificate, DynamicProgram
from zerogap.proof.integers import ABSENT, Units, number, plus, units

if TYPE_CHECKING:
    from zerogap.problems.constituency.lexical import LexicalProblem


def lexical_bound(problem: LexicalProblem, certificate: Certificate, claimed: Units) -> Units:
    """The score of the best parse."""
    if not isinstance(certificate, DynamicProgram):
        raise VerificationError(f"a certificate of kind {certificate.kind!r} proves nothing here: expected a dynamic program.")
    return best_with_heads(problem)


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Some symbols with a row of scores each."""

    row: Integers  # (symbols,): -1 for those that are not there
    scores: Integers

    @classmethod
    def of(cls, table: Integers, symbols: Integers, size: int) -> Rows:
        row = np.full(size, -1, dtype=np.int64)
        row[symbols] = np.arange(len(symbols))
        return cls(row, table)


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """The binary rules with the head child on one side, sorted by parent."""

    parent: Integers  # (parents,): each once
    begin: Integers  # (parents,): where its rules begin
    head: Integers  # (rules,)
    sister: Integers
    scores: Integers  # (rules, candidates, 2)

    @classmethod
    def of(cls, problem: LexicalProblem, side: int) -> Side:
        grammar = problem.grammar
        some = np.flatnonzero(grammar.head_side == side)
        some = some[np.argsort(grammar.binary[some, 0], kind="stable")]
        parent, begin = np.unique(grammar.binary[some, 0], return_index=True)
        return cls(
            parent, begin, grammar.binary[some, 1 + side], grammar.binary[some, 2 - side], units(problem.binary[some], problem.resolution)
        )

    def join(self, best: Integers, heads: Rows, sisters: Rows, candidates: slice, verb: Flags, where: slice) -> None:
        """Raises `best` (rules, heads of the whole span) for heads `candidates` that are at `where` in the span."""
        rows, hooks = heads.row[self.head], sisters.row[self.sister]
        some = np.flatnonzero((rows >= 0) & (hooks >= 0))
        if some.size:
            rules = np.where(verb[candidates], self.scores[some, candidates, 1], self.scores[some, candidates, 0])
            total = plus(plus(heads.scores[rows[some]], sisters.scores[hooks[some], candidates]), rules)
            best[some, where] = np.maximum(best[some, where], total)

    def raise_parents(self, cell: Integers, best: Integers) -> None:
        if len(self.parent):
            cell[self.parent] = np.maximum(cell[self.parent], np.maximum.reduceat(best, self.begin, axis=0))


def best_with_heads(problem: LexicalProblem, *, prices: Integers | None = None, tag_prices: Integers | None = None) -> Units:
    """The score of the best parse, -inf if there is none.

    `prices` (n + 1, n + 1) are added for head h of word m, `tag_prices` for candidates.
    """
    at = problem.positions
    roots, words = units(problem.roots, problem.resolution), units(problem.words, problem.resolution)
    if prices is not None:
        roots, words = plus(roots, prices[0, at + 1]), plus(words, prices[at[None, :] + 1, at[:, None] + 1])
    if tag_prices is not None:
        roots, words = plus(roots, tag_prices), plus(words, tag_prices[:, None])
    n, grammar, size = problem.n_words, problem.grammar, len(problem.grammar.symbols)
    first = np.searchsorted(at, np.arange(n + 1)).tolist()
    verbs = verbs_between(problem)
    left, right, chains = Side.of(problem, 0), Side.of(problem, 1), Chains.of(problem)
    cells: dict[tuple[int, int], Rows] = {}
    hooks: dict[tuple[int, int], Rows] = {}
    for length in range(1, n + 1):
        for i in range(n - length + 1):
            j = i + length
            width = first[j] - first[i]
            cell = np.full((size, width), ABSENT)
            if length == 1:
                cell[problem.tags[first[i] : first[j]], np.arange(width)] = 0
            from_left, from_right = np.full((len(left.head), width), ABSENT), np.full((len(right.head), width), ABSENT)
            for k in range(i + 1, j):
                inner = first[k] - first[i]
                left.join(from_left, cells[i, k], hooks[k, j], slice(first[i], first[k]), verbs[:, k], slice(0, inner))
                right.join(from_right, cells[k, j], hooks[i, k], slice(first[k], first[j]), verbs[:, k], slice(inner, width))
            left.raise_parents(cell, from_left)
            right.raise_parents(cell, from_right)
            chains.close(cell, slice(first[i], first[j]), verbs[:, i], verbs[:, j])
            there = np.flatnonzero((cell > ABSENT).any(axis=1))
            cells[i, j] = Rows.of(cell[there], there, size)
            there = there[grammar.classes[there] >= 0]
            looking = np.full((len(there), len(at)), ABSENT)
            for m in range(width):  # every candidate of the span as the sister
                np.maximum(looking, plus(cell[there, m, None], words[grammar.classes[there], first[i] + m]), out=looking)
            hooks[i, j] = Rows.of(looking, there, size)
    top = cells[0, n]
    row = int(top.row[grammar.root])
    return -math.inf if row < 0 else number(plus(top.scores[row], roots).max())


def verbs_between(problem: LexicalProblem) -> Flags:
    """(candidates, n + 1): whether a verb is among the words between a head, left out itself, and a place."""
    before = np.concatenate([[0], np.cumsum(problem.verbs)])
    at, place = problem.positions[:, None], np.arange(problem.n_words + 1)[None, :]
    low, high = np.where(place > at, at + 1, place), np.where(place > at, place, at)
    return np.asarray(before[high] > before[low])


@dataclass(frozen=True, slots=True, eq=False)
class Chains:
    """Unary rules, sorted by parent."""

    parent: Integers
    child: Integers
    edge: Integers
    scores: Integers  # (rules, candidates, 2)

    @classmethod
    def of(cls, problem: LexicalProblem) -> Chains:
        grammar = problem.grammar
        order = np.argsort(grammar.unary[:, 0], kind="stable")
        return cls(
            grammar.unary[order, 0], grammar.unary[order, 1], grammar.unary_edge[order], units(problem.unary[order], problem.resolution)
        )

    def close(self, cell: Integers, heads: slice, at_start: Flags, at_end: Flags) -> None:
        """Goes along unary rules until nothing gets better, in place; none scores more than 0, so that this ends."""
        better: Flags = np.asarray((cell > ABSENT).any(axis=1))
        while True:
            some = np.flatnonzero(better[self.child])
            if not some.size:
                return
            edge = self.edge[some, None]
            verb = np.where(edge < 0, False, np.where(edge == 0, at_start[heads], at_end[heads]))
            total = plus(cell[self.child[some]], np.where(verb, self.scores[some, heads, 1], self.scores[some, heads, 0]))
            parents, begin = np.unique(self.parent[some], return_index=True)
            raised = np.maximum(cell[parents], np.maximum.reduceat(total, begin, axis=0))
            better[:] = False
            better[parents] = (raised > cell[parents]).any(axis=1)
            cell[parents] = raised
