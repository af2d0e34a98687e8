"""How much less than its best a sister's word must score, by where the sister and its head child are: made anew for every price.

    pair[m, h, Z]    = max over heads at m that Z can have, and at h, of words[class of Z, m, h] - rest[m]        at most 0
    left[i, k, j, Z] = max over h in [i, k), m in [k, j) of pair[m, h, Z]        the head child is on the left; `right` is the mirror image

Bounds give every word its best (`HeadScores.rest`) at the bottom of the chart; this takes back what a sister over its span cannot have.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from zerogap.grid import Scores
from zerogap.kernels import float64, int64, kernel, readonly, writable
from zerogap.oracles.parses.lexical import HeadScores

LOWEST = -np.inf


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
