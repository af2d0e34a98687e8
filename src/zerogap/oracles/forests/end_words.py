"""Finds the words with which vertices of a forest begin and end, and the words that can be neighbours in the rest of it."""

from __future__ import annotations

import numpy as np

from zerogap.kernels import boolean, int32, int64, kernel, readonly, writable


@kernel(
    int64(
        readonly(int64, 1), readonly(int32, 1), readonly(int32, 1), readonly(int32, 1), readonly(int32, 1),
        writable(boolean, 2), writable(boolean, 2),
    )
)  # fmt: skip
def end_tokens(edge_start, symbol_start, symbols, first_token, last_token, firsts, lasts):  # out: firsts, lasts (vertices, tokens)
    n_vertices = edge_start.shape[0] - 1
    seen = np.full((2, n_vertices), -1, dtype=np.int64)
    for v in range(n_vertices):
        for e in range(edge_start[v], edge_start[v + 1]):
            a, z = symbols[symbol_start[e]], symbols[symbol_start[e + 1] - 1]
            if a >= 0:
                firsts[v, first_token[a]] = True
            elif seen[0, -1 - a] != v:
                seen[0, -1 - a] = v
                firsts[v] |= firsts[-1 - a]
            if z >= 0:
                lasts[v, last_token[z]] = True
            elif seen[1, -1 - z] != v:
                seen[1, -1 - z] = v
                lasts[v] |= lasts[-1 - z]
    return 0


@kernel(
    int64(
        readonly(int64, 1), readonly(int32, 1), readonly(int32, 1), readonly(boolean, 1), readonly(boolean, 2), readonly(boolean, 2),
        int64, int64, writable(boolean, 2), writable(boolean, 2),
    )
)  # fmt: skip
def neighbours(edge_start, symbol_start, symbols, alive, firsts, lasts, begin, end, follows, precedes):
    # out: follows (words + 1, words + 1), by the word before, and precedes, by the word after; a pair of neighbours is in one of them
    n_vertices = edge_start.shape[0] - 1
    seen_after = np.zeros(firsts.shape, dtype=np.bool_)
    seen_before = np.zeros(firsts.shape, dtype=np.bool_)
    seen_pair = np.zeros((n_vertices, n_vertices), dtype=np.bool_)
    follows[begin] |= firsts[n_vertices - 1]
    precedes[end] |= lasts[n_vertices - 1]
    for e in range(symbol_start.shape[0] - 1):
        if not alive[e]:
            continue
        for p in range(symbol_start[e] + 1, symbol_start[e + 1]):
            a, b = symbols[p - 1], symbols[p]
            if a >= 0 and b >= 0:
                follows[a, b] = True
            elif a >= 0 and not seen_after[-1 - b, a]:
                seen_after[-1 - b, a] = True
                follows[a] |= firsts[-1 - b]
            elif b >= 0 and a < 0 and not seen_before[-1 - a, b]:
                seen_before[-1 - a, b] = True
                precedes[b] |= lasts[-1 - a]
            elif a < 0 and b < 0 and not seen_pair[-1 - a, -1 - b]:
                seen_pair[-1 - a, -1 - b] = True
                for r in range(lasts.shape[1]):
                    if lasts[-1 - a, r]:
                        follows[r] |= firsts[-1 - b]
    return 0
