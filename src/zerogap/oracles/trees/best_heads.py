"""The heads of every word that are worth most: what pruning to k candidates keeps (Qian & Liu 2013, section 4.4)."""

# mypy: disable-error-code="no-untyped-def"
# a kernel's types are its signature

from __future__ import annotations

import numpy as np

from zerogap.kernels import boolean, float64, int64, kernel, readonly, writable


@kernel(int64(readonly(float64, 2), readonly(boolean, 2), int64, writable(boolean, 2)))
def keep_best(worth, allowed, most, kept):  # out: kept (n + 1, n + 1)
    """Of the allowed heads of every word the `most` that are worth most, ties to the first; returns how many arcs are kept."""
    size, total = allowed.shape[0], 0
    best, heads = np.empty(most), np.empty(most, dtype=np.int64)
    for m in range(size):
        count = 0
        for h in range(size):
            kept[h, m] = False
            if not allowed[h, m] or (count == most and not worth[h, m] > best[most - 1]):
                continue
            at = min(count, most - 1)
            while at > 0 and worth[h, m] > best[at - 1]:
                best[at], heads[at] = best[at - 1], heads[at - 1]
                at -= 1
            best[at], heads[at] = worth[h, m], h
            count = min(count + 1, most)
        for i in range(count):
            kept[heads[i], m] = True
        total += count
    return total
