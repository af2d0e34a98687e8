"""Counts how often entries of a sparse table are in one row: the sum over rows of the products of all pairs of their entries.

sums[a, b] += sum_r factors[r] table[r, a] table[r, b]
"""

from __future__ import annotations

from zerogap.kernels import float64, int64, kernel, readonly, writable


@kernel(int64(readonly(int64, 1), readonly(int64, 1), readonly(float64, 1), readonly(float64, 1), writable(float64, 2)))
def add_entry_pairs(start, columns, weights, factors, sums):
    # start (rows + 1,): where the entries of a row begin; columns, weights (entries,); factors (rows,); out: sums (columns, columns)
    for r in range(start.shape[0] - 1):
        if factors[r] == 0.0:
            continue
        for i in range(start[r], start[r + 1]):
            for j in range(start[r], start[r + 1]):
                sums[columns[i], columns[j]] += factors[r] * weights[i] * weights[j]
    return 0
