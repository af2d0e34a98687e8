"""Sums over all sequences of a trigram model, which training wants; see `trigram_tags` for the model."""

from __future__ import annotations

import math

from zerogap.kernels import float64, int64, kernel, readonly, types, writable

LOWEST = -math.inf
SMALLEST = -40.0  # exp of less does not count


@kernel(
    float64(
        readonly(int64, 1), readonly(int64, 1), readonly(int64, 1), readonly(float64, 1), readonly(types.float32, 3),
        writable(float64, 1), writable(float64, 1),
    )
)  # fmt: skip
def sum_sequences(first, pair, kinds, pairs, trigram, inside, outside):  # out: inside, outside (like pairs)
    """The logarithm of the sum over all sequences of exp(score), of scores that are finite.

    exp(inside + outside - total) is the probability of a state; exp(inside[t-1, h, i] + trigram[h, i, j] + pairs[t, i, j] +
    outside[t, i, j] - total) that of three candidates in a row.
    """
    n, edge = first.shape[0] - 1, trigram.shape[0] - 1
    if n == 0:
        return 0.0
    for j in range(first[1] - first[0]):
        inside[pair[0] + j] = pairs[pair[0] + j] + trigram[edge, edge, kinds[first[0] + j]]
    for t in range(1, n):
        width, before = first[t + 1] - first[t], first[t] - first[t - 1]
        further = first[t - 1] - first[t - 2] if t > 1 else 1
        for i in range(before):
            previous = kinds[first[t - 1] + i]
            for j in range(width):
                kind = kinds[first[t] + j]
                highest = LOWEST
                for h in range(further):
                    value = inside[pair[t - 1] + h * before + i] + trigram[kinds[first[t - 2] + h] if t > 1 else edge, previous, kind]
                    highest = max(highest, value)
                total = 0.0
                for h in range(further):
                    value = inside[pair[t - 1] + h * before + i] + trigram[kinds[first[t - 2] + h] if t > 1 else edge, previous, kind]
                    if value - highest > SMALLEST:
                        total += math.exp(value - highest)
                inside[pair[t] + i * width + j] = highest + math.log(total) + pairs[pair[t] + i * width + j]
    width = first[n] - first[n - 1]
    before = first[n - 1] - first[n - 2] if n > 1 else 1
    highest = LOWEST
    for i in range(before):
        for j in range(width):
            at = pair[n - 1] + i * width + j
            outside[at] = trigram[kinds[first[n - 2] + i] if n > 1 else edge, kinds[first[n - 1] + j], edge]
            highest = max(highest, inside[at] + outside[at])
    total = 0.0
    for at in range(pair[n - 1], pair[n - 1] + before * width):
        if inside[at] + outside[at] - highest > SMALLEST:
            total += math.exp(inside[at] + outside[at] - highest)
    everything = highest + math.log(total)
    for t in range(n - 1, 0, -1):
        width, before = first[t + 1] - first[t], first[t] - first[t - 1]
        further = first[t - 1] - first[t - 2] if t > 1 else 1
        for h in range(further):
            for i in range(before):
                row = trigram[kinds[first[t - 2] + h] if t > 1 else edge, kinds[first[t - 1] + i]]
                highest = LOWEST
                for j in range(width):
                    at = pair[t] + i * width + j
                    highest = max(highest, outside[at] + pairs[at] + row[kinds[first[t] + j]])
                total = 0.0
                for j in range(width):
                    at = pair[t] + i * width + j
                    value = outside[at] + pairs[at] + row[kinds[first[t] + j]] - highest
                    if value > SMALLEST:
                        total += math.exp(value)
                outside[pair[t - 1] + h * before + i] = highest + math.log(total)
    return everything
