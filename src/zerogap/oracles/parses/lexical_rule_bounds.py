"""The most that a rule with heads can score over a span, whatever word of it the head is: no prices, so it is made once per sentence.

    left[i, k, rule]  = max over heads c in [i, k) of binary[rule, c, verb between c and k]        the head child ends at the split
    right[k, j, rule] = max over heads c in [k, j) of binary[rule, c, verb between c and k]        the head child begins at the split
    unary[i, j, rule] = max over heads c in [i, j) of unary[rule, c, verb between c and the edge]

A span has one head more than the span that is shorter by a word at the other end, so that every row is a maximum of two rows. A head whose
tag cannot be that of the head child is left out.

How much less than its best a sister's word must score, by where the sister and its head child are, depends on prices, and is made anew:

    pair[m, h, Z]    = max over heads at m that Z can have, and at h, of words[class of Z, m, h] - rest[m]        at most 0
    left[i, k, j, Z] = max over h in [i, k), m in [k, j) of pair[m, h, Z]        the head child is on the left; `right` is the mirror image

Bounds give every word its best (`HeadScores.rest`) at the bottom of the chart; this takes back what a sister over its span cannot have.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zerogap.grid import Scores
from zerogap.kernels import float64, int64, kernel, readonly, writable
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


@kernel(int64(readonly(float64, 3), readonly(int64, 2), writable(float64, 2), writable(float64, 2)))
def fill_boxes(pair, starts, left, right):  # out: left, right (boxes, sisters): box starts[i, j] + k - i - 1 is the split k of [i, j)
    n, n_sisters = pair.shape[0], pair.shape[2]
    column = np.empty((n, n_sisters))
    for k in range(1, n):
        column[:k] = LOWEST  # for every head on the left: the best sister in [k, j)
        for j in range(k + 1, n + 1):
            for i in range(k - 1, -1, -1):
                box = left[starts[i, j] + k - i - 1]
                for z in range(n_sisters):
                    column[i, z] = max(column[i, z], pair[j - 1, i, z])
                    box[z] = column[i, z]
                if i + 1 < k:
                    inner = left[starts[i + 1, j] + k - i - 2]
                    for z in range(n_sisters):
                        box[z] = max(box[z], inner[z])
        column[k:] = LOWEST  # for every head on the right: the best sister in [i, k)
        for i in range(k - 1, -1, -1):
            for j in range(k + 1, n + 1):
                box = right[starts[i, j] + k - i - 1]
                for z in range(n_sisters):
                    column[j - 1, z] = max(column[j - 1, z], pair[i, j - 1, z])
                    box[z] = column[j - 1, z]
                if j - 1 > k:
                    inner = right[starts[i, j - 1] + k - i - 1]
                    for z in range(n_sisters):
                        box[z] = max(box[z], inner[z])
    return 0


def box_starts(n: int) -> NDArray[np.int64]:
    """(n, n + 1): where the splits of a span begin, from the shortest span on."""
    starts = np.zeros((n, n + 1), dtype=np.int64)
    spans, ends = np.triu_indices(n, 1, n + 1)
    inner = ends - spans - 1
    starts[spans, ends] = np.cumsum(inner) - inner
    return starts


def sister_boxes(given: HeadScores, sisters: NDArray[np.int64], headed: NDArray[np.bool_]) -> tuple[NDArray[np.int64], Scores, Scores]:
    """Starts of the boxes of spans, and the boxes for sisters on the right and on the left; `sisters` are symbols, one per column."""
    n = len(given.first) - 1
    words = given.words[given.classes[sisters]] - np.where(given.rest > LOWEST, given.rest, 0.0)[None, :, None]
    words[~headed[sisters]] = LOWEST
    pair = np.maximum.reduceat(np.maximum.reduceat(words, given.first[:-1], axis=1), given.first[:-1], axis=2)
    starts = box_starts(n)
    shape = ((n - 1) * n * (n + 1) // 6, len(sisters))
    left, right = np.empty(shape), np.empty(shape)
    fill_boxes(np.ascontiguousarray(pair.transpose(1, 2, 0)), starts, left, right)
    return starts, left, right
