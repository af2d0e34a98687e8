"""Trigram models over words that have few candidate tags each: the best sequence.

Word t has the candidates first[t] to first[t + 1], each of a kind, and every pair of a candidate of word t - 1 and one of word t has a
score; the pairs of word t begin at pair[t], those of the earlier candidate are contiguous. Before the first word and after the last one
stands a boundary, which is one candidate; its kind is the last index of `trigram`. A sequence scores

    sum_t  pairs[y_t-1, y_t] + trigram[kind of y_t-2, kind of y_t-1, kind of y_t]  +  trigram[y_n-1, y_n, boundary]

The best one, over states (previous candidate, candidate), with ties to the lowest index from the end of the sequence on:

    best[t, i, j] = pairs[t, i, j] + max_h (best[t-1, h, i] + trigram[h, i, j])

Without bounds on the candidates this is O(n L^3) (Brants 2000; Collins 2002); with k of them it is O(n k^3).
"""

from __future__ import annotations

import math

import numpy as np

from zerogap.kernels import float64, int64, kernel, readonly, types, writable

LOWEST = -math.inf


@kernel(
    float64(
        readonly(int64, 1), readonly(int64, 1), readonly(int64, 1), readonly(float64, 1), readonly(types.float32, 3),
        writable(float64, 1), writable(types.int32, 1), writable(int64, 1),
    )
)  # fmt: skip
def best_sequence(first, pair, kinds, pairs, trigram, best, back, path):  # out: best, back (scratch, like pairs), path (n,)
    """The score of the best sequence of candidates, -inf if all are forbidden; path has its candidates."""
    n, edge = first.shape[0] - 1, trigram.shape[0] - 1
    if n == 0:
        return 0.0
    for j in range(first[1] - first[0]):
        best[pair[0] + j] = pairs[pair[0] + j] + trigram[edge, edge, kinds[first[0] + j]]
    for t in range(1, n):
        width, before = first[t + 1] - first[t], first[t] - first[t - 1]
        further = first[t - 1] - first[t - 2] if t > 1 else 1
        for i in range(before):
            previous = kinds[first[t - 1] + i]
            at = pair[t] + i * width
            for j in range(width):
                best[at + j] = LOWEST
                back[at + j] = 0
            for h in range(further):  # the innermost loop over contiguous states
                row = trigram[kinds[first[t - 2] + h] if t > 1 else edge, previous]
                score = best[pair[t - 1] + h * before + i]
                for j in range(width):
                    value = score + row[kinds[first[t] + j]]
                    if value > best[at + j]:
                        best[at + j] = value
                        back[at + j] = h
            for j in range(width):
                best[at + j] += pairs[at + j]
    width = first[n] - first[n - 1]
    before = first[n - 1] - first[n - 2] if n > 1 else 1
    total, i, j = LOWEST, 0, 0
    for p in range(before):
        for c in range(width):
            value = best[pair[n - 1] + p * width + c] + trigram[kinds[first[n - 2] + p] if n > 1 else edge, kinds[first[n - 1] + c], edge]
            if value > total:
                total, i, j = value, p, c
    for t in range(n - 1, -1, -1):
        path[t] = first[t] + j
        i, j = back[pair[t] + i * (first[t + 1] - first[t]) + j] if t > 0 else 0, i
    return total


def pair_starts(first: np.ndarray) -> np.ndarray:
    """Where the pairs of every word begin, and behind the last their number."""
    widths = np.diff(first)
    return np.concatenate([[0], np.cumsum(widths * np.concatenate([[1], widths[:-1]])[: len(widths)])]).astype(np.int64)
