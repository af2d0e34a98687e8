"""The most that a rule with heads can score over a span, whatever word of it the head is: no prices, so it is made once per sentence.

    left[i, k, rule]  = max over heads c in [i, k) of binary[rule, c, verb between c and k]        the head child ends at the split
    right[k, j, rule] = max over heads c in [k, j) of binary[rule, c, verb between c and k]        the head child begins at the split
    unary[i, j, rule] = max over heads c in [i, j) of unary[rule, c, verb between c and the edge]

A span has one head more than the span that is shorter by a word at the other end, so that every row is a maximum of two rows. A head whose
tag cannot be that of the head child is left out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zerogap.grid import Scores
from zerogap.oracles.parses.lexical import HeadScores
from zerogap.oracles.parses.lexical_bounds import LOWEST, HeadIndex


@dataclass(frozen=True, slots=True, eq=False)
class RuleBounds:
    """Rows of spans (see `span_rows`), columns of rules in the order of the index, unary ones in their own."""

    left: Scores
    right: Scores
    unary: Scores

    @classmethod
    def of(
        cls, index: HeadIndex, given: HeadScores, heads: NDArray[np.int64], children: NDArray[np.int64], headed: NDArray[np.bool_]
    ) -> RuleBounds:
        """`heads` are the head children of binary rules, `children` those of unary ones, `headed` (symbols, candidates) who heads what."""
        n = len(given.first) - 1
        rows = span_rows(n)
        tables: list[Scores] = []
        for rules, end in ((index.left.rule, True), (index.right.rule, False)):
            values = by_candidate(given.binary[rules], headed[heads[rules]])
            tables.append(spread_maxima(given, rows, values, at_end=end, grows_left=end))
        values = by_candidate(given.unary, headed[children])
        unary = np.full((n * (n + 1) // 2, len(children)), LOWEST)
        for edge in (-1, 0, 1):
            some = np.flatnonzero(given.edges == edge)
            if edge < 0:
                free = np.ascontiguousarray(np.repeat(values[:, :1, some], 2, axis=1))
                unary[:, some] = spread_maxima(given, rows, free, at_end=True, grows_left=True)
            else:
                part = np.ascontiguousarray(values[:, :, some])
                unary[:, some] = spread_maxima(given, rows, part, at_end=edge == 1, grows_left=edge == 1)
        return cls(tables[0], tables[1], unary)


def span_rows(n: int) -> NDArray[np.int64]:
    """(n, n + 1): the row of the span from i to j, -1 where there is none."""
    rows = np.full((n, n + 1), -1, dtype=np.int64)
    starts, ends = np.triu_indices(n, 1, n + 1)
    rows[starts, ends] = np.arange(len(starts))
    return rows


def by_candidate(scores: Scores, allowed: NDArray[np.bool_]) -> Scores:
    """(rules, candidates, 2) as (candidates, 2, rules), -inf for heads that are not allowed."""
    return np.ascontiguousarray(np.where(allowed[:, :, None], scores, LOWEST).transpose(1, 2, 0))


def spread_maxima(given: HeadScores, rows: NDArray[np.int64], values: Scores, *, at_end: bool, grows_left: bool) -> Scores:
    """Maxima over the heads of every span; whether a verb is between is asked of the span's end or its start."""
    n = len(rows)
    found = np.full((n * (n + 1) // 2, values.shape[2]), LOWEST)
    for length in range(1, n + 1):
        for i in range(n - length + 1):
            j = i + length
            row = found[rows[i, j]]
            if length > 1:
                row[:] = found[rows[i + 1, j] if grows_left else rows[i, j - 1]]
            word = i if grows_left else j - 1
            for c in range(int(given.first[word]), int(given.first[word + 1])):
                np.maximum(row, values[c, int(given.between[c, j if at_end else i])], out=row)
    return found
