"""Arrays that grow: kernels keep what they find in pools, and ask for room before they write."""

from __future__ import annotations

import numpy as np

from zerogap.kernels import float64, int64, kernel, writable


@kernel(writable(int64, 1)(writable(int64, 1), int64))
def grown(pool, needed):
    """The pool, or a copy of at least twice its size if it has fewer than `needed` entries."""
    if needed <= len(pool):
        return pool
    larger = np.empty(max(needed, 2 * len(pool)), dtype=np.int64)
    larger[: len(pool)] = pool
    return larger


@kernel(writable(float64, 1)(writable(float64, 1), int64))
def grown_numbers(pool, needed):
    if needed <= len(pool):
        return pool
    larger = np.empty(max(needed, 2 * len(pool)), dtype=np.float64)
    larger[: len(pool)] = pool
    return larger
