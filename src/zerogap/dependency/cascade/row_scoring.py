"""Scores of all arcs of a sentence under rows of weights (`dependency.cascade.rows`): a few additions for each."""

# mypy: disable-error-code="no-untyped-def"
# a kernel's types are its signature

from __future__ import annotations

import numpy as np

from zerogap.dependency.cascade.rows import VALUES, class_of, sum_rows
from zerogap.dependency.scoring.parts import ALONE_HEAD, ALONE_MOD, ARC, HEAD, MOD, RIGHT, bucket_of
from zerogap.features.parts.keys import COUNTS
from zerogap.features.parts.weight_table import shift_of
from zerogap.kernels import float64, int16, int64, kernel, readonly, uint32, writable

# Types of what is read: partial sums of keys, two arrays of the plan, what was counted; tables of a `RowModel` and its unit.
SENTENCE = (readonly(int64, 3), readonly(int64, 1), readonly(int64, 1), readonly(int64, 2))
TABLES = (readonly(int64, 1), readonly(uint32, 1), readonly(int16, 2), readonly(int64, 1), readonly(int64, 1), readonly(int16, 4))


@kernel(int64(*SENTENCE, *TABLES, float64, writable(float64, 2)))
def score_rows(partial, kind_start, templates, totals, cells, jumps, rows, heads, modifiers, pairs, unit, scores):
    """out: scores (n + 1, n + 1), -inf where there is no arc."""
    n = scores.shape[0] - 1
    shift = shift_of(cells.shape[0])
    of_heads, of_mods = np.empty((n + 1, VALUES), dtype=np.int64), np.empty((n + 1, VALUES), dtype=np.int64)
    head_class, mod_class = np.empty(n + 1, dtype=np.int64), np.empty(n + 1, dtype=np.int64)
    alone_head, alone_mod, stop = kind_start[ALONE_HEAD], kind_start[ALONE_MOD], kind_start[ARC + 1]
    for token in range(n + 1):
        sum_rows(partial[HEAD, token], alone_head, alone_mod, templates, cells, jumps, shift, rows, of_heads[token])
        sum_rows(partial[MOD, token], alone_mod, stop, templates, cells, jumps, shift, rows, of_mods[token])
        head_class[token] = class_of(partial[HEAD, token, 0], heads)
        mod_class[token] = class_of(partial[MOD, token, 0], modifiers)
    buckets = np.empty(n + 1, dtype=np.int64)
    for distance in range(1, n + 1):
        buckets[distance] = 2 * bucket_of(distance)
    for h in range(n + 1):
        scores[h, 0] = scores[h, h] = -np.inf
        of_head, of_pairs = of_heads[h], pairs[head_class[h]]
        for side in range(2):
            for m in range(h + 1, n + 1) if side == RIGHT else range(1, h):
                low, high = (h, m) if side == RIGHT else (m, h)
                value = buckets[high - low] + side
                of_pair = of_pairs[mod_class[m]]
                total = of_head[value] + of_mods[m, value] + of_pair[0, value]
                for c in range(totals.shape[0]):
                    count = totals[c, high] - totals[c, low + 1]
                    total += of_pair[1 + c, 2 * min(count, COUNTS - 1) + side]
                scores[h, m] = total * unit
    return 0
