"""Shares of factors that were found for some arcs, the core, go on to all others: what the arcs of the core have stays as it is.

The tables of two words m and s, see `oracles.factor_shares`, have shares b(k) for the heads k of s in the core, and so a(h) for the heads
h of m in the core. A head of s outside gets the least share that raises no a(h) of the core, and then those of m get the rest:

    b(k) = max_h theta(h, k) - a(h)    h in the core          a(h) = max_k theta(h, k) - b(k)    for all k
"""

# mypy: disable-error-code="no-untyped-def"
# a kernel's types are its signature

from __future__ import annotations

import numpy as np

from zerogap.oracles.compile import boolean, float64, inner, int64, rare_kernel, readonly, writable
from zerogap.oracles.factor_lists import never_both
from zerogap.oracles.push import push_max


@inner
def push_compatible(m, k, s, theta_k, added, projective, single_root, rest):
    """rest[h] = max(rest[h], theta_k[h] + added) for all heads h of m that a tree may have with k -> s. out: rest (n + 1,)."""
    size = rest.size
    first = 1 if single_root and k == 0 else 0
    low, high = min(k, s), max(k, s)
    if k == m:
        push_max(first, s, rest, theta_k, added)
        push_max(s + 1, size, rest, theta_k, added)
    elif not projective:
        push_max(first, size, rest, theta_k, added)
    elif low < m and m < high:
        push_max(max(low, first), high + 1, rest, theta_k, added)
    else:
        push_max(first, low + 1, rest, theta_k, added)
        push_max(high, size, rest, theta_k, added)


@rare_kernel(
    int64(
        readonly(int64, 1), readonly(int64, 2), readonly(float64, 1), readonly(int64, 1), readonly(boolean, 2),
        readonly(boolean, 2), readonly(int64, 1), readonly(int64, 1), readonly(float64, 1), int64, int64, float64, readonly(int64, 1),
        writable(float64, 1), writable(float64, 2), writable(float64, 1),
    )
)  # fmt: skip
def extend_tables(
    begin, heads, scores, pairs, allowed, core, core_table, core_start, core_shares, projective, single_root, limit, share_start, shares,
    weights, sizes,
):  # fmt: skip
    """Factors are as `factor_lists.group_pairs` has them; table q is of the words m < s with pairs[q] = m * (n + 1) + s.

    core_table[q] is its number among the tables of the core, whose shares stand from core_start[that] on, one for every head in the core;
    -1 if it is none of them, and then these have no share. out: shares, for every allowed head of the second word from share_start[q] on;
    weights (n + 1, n + 1), to which shares and rests are added; sizes (tables,), a bound of what is added up for a tree.
    """
    size = allowed.shape[0]
    theta = np.zeros((size, size))  # [k, h]
    rest, given = np.empty(size), np.zeros(size)
    for q in range(pairs.size):
        m, s = pairs[q] // size, pairs[q] % size
        for i in range(begin[pairs[q]], begin[pairs[q] + 1]):
            theta[heads[i, 1], heads[i, 0]] += scores[i]
        for h in range(size):
            rest[h] = -np.inf
        at = core_start[core_table[q]] if core_table[q] >= 0 else 0
        for k in range(size):
            if core[k, s]:
                given[k] = core_shares[at] if core_table[q] >= 0 else 0.0
                at += 1
                push_compatible(m, k, s, theta[k], -given[k], projective, single_root, rest)
        at = share_start[q]
        most = 0.0
        for k in range(size):
            if allowed[k, s]:
                if not core[k, s]:
                    given[k] = -np.inf
                    for h in range(size):
                        if core[h, m] and rest[h] > -np.inf and not never_both(h, m, k, s, projective, single_root):
                            given[k] = max(given[k], theta[k, h] - rest[h])
                    given[k] = min(max(given[k], -limit), limit) if given[k] > -np.inf else 0.0
                shares[at] = given[k]
                weights[k, s] += given[k]
                most = max(most, abs(given[k]))
                at += 1
        for k in range(size):
            if allowed[k, s] and not core[k, s]:
                push_compatible(m, k, s, theta[k], -given[k], projective, single_root, rest)
        for h in range(size):
            if allowed[h, m]:
                weights[h, m] += rest[h]
        largest = 0.0
        for i in range(begin[pairs[q]], begin[pairs[q] + 1]):
            largest = max(largest, abs(theta[heads[i, 1], heads[i, 0]]))
            theta[heads[i, 1], heads[i, 0]] = 0.0
        sizes[q] = 2.0 * most + largest
    return 0
