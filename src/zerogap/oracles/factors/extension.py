"""Shares of factors that were found for some arcs, the core, go on to all others: what the arcs of the core have stays as it is.

The tables of two words m and s, see `oracles.factors.shares`, have shares b(k) for the heads k of s in the core, and so a(h) for the heads
h of m in the core. A head of s outside gets the least share that raises no a(h) of the core, and then those of m get the rest:

    b(k) = max_h theta(h, k) - a(h)    h in the core          a(h) = max_k theta(h, k) - b(k)    for all k
"""

# mypy: disable-error-code="no-untyped-def"
# a kernel's types are its signature

from __future__ import annotations

import numpy as np

from zerogap.kernels import boolean, float64, inner, int64, kernel, readonly, types, writable
from zerogap.oracles.factors.layout import LAYOUT
from zerogap.oracles.factors.lists import FACTORS, INTEGERS, READ_INTEGERS, READ_SCORES, SCORES, never_both
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


@kernel(
    types.Tuple((*[INTEGERS] * 5, SCORES, writable(float64, 2), float64, float64))(
        FACTORS, readonly(boolean, 2), LAYOUT, READ_INTEGERS, READ_SCORES, int64, int64, float64
    )
)
def extend(factors, core, layout, active, core_shares, projective, single_root, limit):
    """The layout of all arcs that are not -inf, first, second, head_start, head and share_start; shares for it, those of all larger
    factors among them; the arcs with their shares, the constant, and a bound of what is added up for a tree beside scores.

    `core` are the arcs of the core, `layout` its layout with `active` larger factors. What it has no table for has no share there.
    """
    begin, heads, scores, start, arcs = factors.begin, factors.heads, factors.scores, factors.start, factors.arcs
    size = arcs.shape[0]
    head_start, head, count = np.empty(size + 1, dtype=np.int64), np.empty(size * size, dtype=np.int64), 0
    for m in range(size):
        head_start[m] = count
        for h in range(size):
            if arcs[h, m] > -np.inf:
                head[count] = h
                count += 1
    head_start[size] = count
    table_of = np.full(size * size, -1)
    for q in range(layout.first.size):
        table_of[layout.first[q] * size + layout.second[q]] = q
    first, second = np.empty(size * size, dtype=np.int64), np.empty(size * size, dtype=np.int64)
    share_start, tables = np.zeros(size * size + 1, dtype=np.int64), 0
    for pair in range(size * size):
        if begin[pair + 1] > begin[pair] or table_of[pair] >= 0:
            s = pair % size
            first[tables], second[tables] = pair // size, s
            share_start[tables + 1] = share_start[tables] + head_start[s + 1] - head_start[s]
            tables += 1
    offset = share_start[tables]
    shares, weights = np.zeros(offset + start[factors.phi.size]), arcs.copy()
    total = 0.0
    theta = np.zeros((size, size))  # [k, h]
    rest, given = np.empty(size), np.zeros(size)
    for q in range(tables):
        m, s = first[q], second[q]
        pair = m * size + s
        for i in range(begin[pair], begin[pair + 1]):
            theta[heads[i, 1], heads[i, 0]] += scores[i]
        for h in range(size):
            rest[h] = -np.inf
        at = layout.share_start[table_of[pair]] - layout.head_start[s] if table_of[pair] >= 0 else 0
        for j in range(layout.head_start[s], layout.head_start[s + 1]):
            k = layout.head[j]
            given[k] = core_shares[at + j] if table_of[pair] >= 0 else 0.0
            push_compatible(m, k, s, theta[k], -given[k], projective, single_root, rest)
        most = 0.0
        for i in range(head_start[s], head_start[s + 1]):
            k = head[i]
            if not core[k, s]:
                given[k] = -np.inf
                for j in range(layout.head_start[m], layout.head_start[m + 1]):
                    h = layout.head[j]
                    if rest[h] > -np.inf and not never_both(h, m, k, s, projective, single_root):
                        given[k] = max(given[k], theta[k, h] - rest[h])
                given[k] = min(max(given[k], -limit), limit) if given[k] > -np.inf else 0.0
            shares[share_start[q] + i - head_start[s]] = given[k]
            weights[k, s] += given[k]
            most = max(most, abs(given[k]))
        for i in range(head_start[s], head_start[s + 1]):
            if not core[head[i], s]:
                push_compatible(m, head[i], s, theta[head[i]], -given[head[i]], projective, single_root, rest)
        for i in range(head_start[m], head_start[m + 1]):
            weights[head[i], m] += rest[head[i]]
        largest = 0.0
        for i in range(begin[pair], begin[pair + 1]):
            largest = max(largest, abs(theta[heads[i, 1], heads[i, 0]]))
            theta[heads[i, 1], heads[i, 0]] = 0.0
        total += 2.0 * most + largest
    constant = add_larger(factors, core, layout, active, core_shares, offset, shares, weights)
    for c in range(factors.phi.size):
        most = 0.0
        for p in range(start[c], start[c + 1]):
            most = max(most, abs(shares[offset + p]))
        total += 2.0 * (start[c + 1] - start[c]) * most
    return first[:tables], second[:tables], head_start, head[:count], share_start[: tables + 1], shares, weights, constant, total


@inner
def add_larger(factors, core, layout, active, core_shares, offset, shares, weights):
    """Larger factors of the core keep their shares; of others, a positive one is all an arc's outside. Returns the constant.
    out: shares, from offset on, given as 0, and weights."""
    known, constant = np.full(factors.phi.size, -1), 0.0
    for i in range(active.size):
        if layout.number[active[i]] < factors.phi.size:
            known[layout.number[active[i]]] = active[i]
    flat, of_core = weights.reshape(-1), core.reshape(-1)
    for c in range(factors.phi.size):
        begin, end = factors.start[c], factors.start[c + 1]
        if known[c] >= 0:
            for p in range(begin, end if factors.phi[c] > 0.0 else begin + 1):
                shares[offset + p] = core_shares[layout.share_start[layout.first.size] + layout.start[known[c]] + p - begin]
        elif factors.phi[c] > 0.0:
            outside = begin
            while outside < end - 1 and of_core[factors.arc[outside]]:
                outside += 1
            shares[offset + outside] = factors.phi[c]
        for p in range(begin, end):
            flat[factors.arc[p]] += shares[offset + p] if factors.phi[c] > 0.0 else shares[offset + begin]
        if factors.phi[c] < 0.0:
            constant -= (end - begin - 1) * shares[offset + begin]
    return constant
