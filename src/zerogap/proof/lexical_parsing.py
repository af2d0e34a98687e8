"""Checks bounds of parsing with heads by a chart of its own, in NumPy: every symbol over every span with every head, nothing left out.

    cell[X, h] = max over splits and rules X(h) -> Y(h) Z of left[Y, h] + binary[rule, h] + max over m of (right[Z, m] + words[Z, m, h])

and the mirror image, then unary rules until nothing gets better. Rules are gone through together, as rows of arrays.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from zerogap.errors import VerificationError
from zerogap.grid import Scores
from zerogap.proof.certificate import Certificate, DynamicProgram

if TYPE_CHECKING:
    from zerogap.problems.constituency.lexical import LexicalProblem

Numbers = NDArray[np.int64]


def lexical_bound(problem: LexicalProblem, certificate: Certificate) -> float:
    """The score of the best parse."""
    if not isinstance(certificate, DynamicProgram):
        raise VerificationError(f"a certificate of kind {certificate.kind!r} proves nothing here: expected a dynamic program.")
    return best_with_heads(problem)


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Some symbols with a row of scores each."""

    row: Numbers  # (symbols,): -1 for those that are not there
    scores: Scores

    @classmethod
    def of(cls, table: Scores, symbols: Numbers, size: int) -> Rows:
        row = np.full(size, -1, dtype=np.int64)
        row[symbols] = np.arange(len(symbols))
        return cls(row, table)


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """The binary rules with the head child on one side, sorted by parent."""

    parent: Numbers  # (parents,): each once
    begin: Numbers  # (parents,): where its rules begin
    head: Numbers  # (rules,)
    sister: Numbers
    scores: Scores  # (rules, candidates, 2)

    @classmethod
    def of(cls, problem: LexicalProblem, side: int) -> Side:
        grammar = problem.grammar
        some = np.flatnonzero(grammar.head_side == side)
        some = some[np.argsort(grammar.binary[some, 0], kind="stable")]
        parent, begin = np.unique(grammar.binary[some, 0], return_index=True)
        return cls(parent, begin, grammar.binary[some, 1 + side], grammar.binary[some, 2 - side], problem.binary[some])

    def join(self, best: Scores, heads: Rows, sisters: Rows, candidates: slice, verb: NDArray[np.bool_], where: slice) -> None:
        """Raises `best` (rules, heads of the whole span) for heads `candidates` that are at `where` in the span."""
        rows, hooks = heads.row[self.head], sisters.row[self.sister]
        some = np.flatnonzero((rows >= 0) & (hooks >= 0))
        if some.size:
            rules = np.where(verb[candidates], self.scores[some, candidates, 1], self.scores[some, candidates, 0])
            total = heads.scores[rows[some]] + sisters.scores[hooks[some], candidates] + rules
            best[some, where] = np.maximum(best[some, where], total)

    def raise_parents(self, cell: Scores, best: Scores) -> None:
        if len(self.parent):
            cell[self.parent] = np.maximum(cell[self.parent], np.maximum.reduceat(best, self.begin, axis=0))


def best_with_heads(problem: LexicalProblem, *, prices: Scores | None = None, tag_prices: Scores | None = None) -> float:
    """The score of the best parse, -inf if there is none.

    `prices` (n + 1, n + 1) are added for head h of word m, `tag_prices` for candidates.
    """
    roots, words, at = problem.roots, problem.words, problem.positions
    if prices is not None:
        roots, words = roots + prices[0, at + 1], words + prices[at[None, :] + 1, at[:, None] + 1]
    if tag_prices is not None:
        roots, words = roots + tag_prices, words + tag_prices[:, None]
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
            cell = np.full((size, width), -np.inf)
            if length == 1:
                cell[problem.tags[first[i] : first[j]], np.arange(width)] = 0.0
            from_left, from_right = np.full((len(left.head), width), -np.inf), np.full((len(right.head), width), -np.inf)
            for k in range(i + 1, j):
                inner = first[k] - first[i]
                left.join(from_left, cells[i, k], hooks[k, j], slice(first[i], first[k]), verbs[:, k], slice(0, inner))
                right.join(from_right, cells[k, j], hooks[i, k], slice(first[k], first[j]), verbs[:, k], slice(inner, width))
            left.raise_parents(cell, from_left)
            right.raise_parents(cell, from_right)
            chains.close(cell, slice(first[i], first[j]), verbs[:, i], verbs[:, j])
            there = np.flatnonzero((cell > -np.inf).any(axis=1))
            cells[i, j] = Rows.of(cell[there], there, size)
            there = there[grammar.classes[there] >= 0]
            looking = np.full((len(there), len(at)), -np.inf)
            for m in range(width):  # every candidate of the span as the sister
                np.maximum(looking, cell[there, m, None] + words[grammar.classes[there], first[i] + m], out=looking)
            hooks[i, j] = Rows.of(looking, there, size)
    top = cells[0, n]
    row = int(top.row[grammar.root])
    return -np.inf if row < 0 else float((top.scores[row] + roots).max())


def verbs_between(problem: LexicalProblem) -> NDArray[np.bool_]:
    """(candidates, n + 1): whether a verb is among the words between a head, left out itself, and a place."""
    before = np.concatenate([[0], np.cumsum(problem.verbs)])
    at, place = problem.positions[:, None], np.arange(problem.n_words + 1)[None, :]
    low, high = np.where(place > at, at + 1, place), np.where(place > at, place, at)
    return np.asarray(before[high] > before[low])


@dataclass(frozen=True, slots=True, eq=False)
class Chains:
    """Unary rules, sorted by parent."""

    parent: Numbers
    child: Numbers
    edge: Numbers
    scores: Scores  # (rules, candidates, 2)

    @classmethod
    def of(cls, problem: LexicalProblem) -> Chains:
        grammar = problem.grammar
        order = np.argsort(grammar.unary[:, 0], kind="stable")
        return cls(grammar.unary[order, 0], grammar.unary[order, 1], grammar.unary_edge[order], problem.unary[order])

    def close(self, cell: Scores, heads: slice, at_start: NDArray[np.bool_], at_end: NDArray[np.bool_]) -> None:
        """Goes along unary rules until nothing gets better, in place; none scores more than 0, so that this ends."""
        better: NDArray[np.bool_] = np.asarray((cell > -np.inf).any(axis=1))
        while True:
            some = np.flatnonzero(better[self.child])
            if not some.size:
                return
            edge = self.edge[some, None]
            verb = np.where(edge < 0, False, np.where(edge == 0, at_start[heads], at_end[heads]))
            total = cell[self.child[some]] + np.where(verb, self.scores[some, heads, 1], self.scores[some, heads, 0])
            parents, begin = np.unique(self.parent[some], return_index=True)
            raised = np.maximum(cell[parents], np.maximum.reduceat(total, begin, axis=0))
            better[:] = False
            better[parents] = (raised > cell[parents]).any(axis=1)
            cell[parents] = raised
