"""Steps of the shares of factors: subgradients, and projections onto what is allowed. The layout: see `oracles.factors.shares`."""

# mypy: disable-error-code="no-untyped-def"
# a kernel's types are its signature

from __future__ import annotations

import numpy as np

from zerogap.kernels import inner
from zerogap.oracles.factors.gaps import arcs_inside

NEGLIGIBLE = 0.02  # of a whole subgradient


@inner
def settle(q, first, second, head_start, table_start, share_start, rest_start, table, open_start, open_, shares, rest, choice):
    """What the shares of table q leave to the open heads of its first word. out: rest, choice of q."""
    m, s = first[q], second[q]
    size = head_start[s + 1] - head_start[s]
    for i in range(open_start[m], open_start[m + 1]):
        row = table_start[q] + open_[i] * size
        most, best = -np.inf, -1
        for j in range(open_start[s], open_start[s + 1]):
            k = open_[j]
            left = table[row + k] - shares[share_start[q] + k]
            if left > most:
                most, best = left, k
        rest[rest_start[q] + open_[i]] = most
        choice[rest_start[q] + open_[i]] = best


@inner
def simplex_level(values, total):
    """The level above which the values sum to the total (Duchi et al. 2008). Values are few; they are sorted, the largest first."""
    for i in range(1, values.size):
        value, j = values[i], i
        while j > 0 and values[j - 1] < value:
            values[j] = values[j - 1]
            j -= 1
        values[j] = value
    level, above = 0.0, 0.0
    for i in range(values.size):
        above += values[i]
        if (above - total) / (i + 1) >= values[i]:
            break
        level = (above - total) / (i + 1)
    return level


@inner
def slopes(heads, place, first, second, share_start, rest_start, table_start, head_start, table, start, arc, phi, active, fresh, shares,
           rest, choice, slope):  # fmt: skip
    """The average of subgradients with that of another tree, whose weight is `fresh`; returns the square of its norm. out: slope."""
    offset = share_start[first.size]
    for p in range(offset):
        slope[p] *= 1.0 - fresh
        if abs(slope[p]) < NEGLIGIBLE:
            slope[p] = 0.0
    for q in range(first.size):
        h, k = place[first[q] - 1], place[second[q] - 1]
        other = choice[rest_start[q] + h]
        theta = table[table_start[q] + h * (head_start[second[q] + 1] - head_start[second[q]]) + k]
        if other != k and rest[rest_start[q] + h] + shares[share_start[q] + k] > theta:
            slope[share_start[q] + k] += fresh
            slope[share_start[q] + other] -= fresh
    norm = 0.0
    for p in range(offset):
        norm += slope[p] * slope[p]
    for i in range(active.size):
        c = active[i]
        begin, end = offset + start[c], offset + start[c + 1]
        if phi[c] < 0.0:
            inside = arcs_inside(heads, c, start, arc)
            slope[begin] = (1.0 - fresh) * slope[begin] + fresh * (inside - (end - begin - 1))
            if (slope[begin] > 0.0 and shares[begin] > phi[c]) or (slope[begin] < 0.0 and shares[begin] < 0.0):
                norm += slope[begin] * slope[begin]
            continue
        for p in range(begin, end):
            m = arc[p - offset] % (heads.size + 1)
            is_in = heads[m - 1] * (heads.size + 1) + m == arc[p - offset]
            slope[p] = (1.0 - fresh) * slope[p] + (fresh if is_in else 0.0)
        count, level = end - begin + 1, 2.0  # arcs without a share stay so if they were in more trees than the others on average
        while True:
            kept, above = 0, 0.0
            for p in range(begin, end):
                if shares[p] > 0.0 or slope[p] < level:
                    kept += 1
                    above += slope[p]
            if kept >= count:  # as the mean is rounded, it could go up again
                break
            count, level = kept, above / kept
        for p in range(begin, end):
            if shares[p] > 0.0 or slope[p] < level:
                norm += (slope[p] - level) ** 2
    return norm


@inner
def move(
    step, first, second, head_start, head, table_start, share_start, rest_start, table, start, arc, phi, open_start, open_, active, limit,
    unit, slope, before, shares, rest, choice, weights,
):  # fmt: skip
    """A step and its projection; returns the change of the constant. out: shares, rest, choice, weights; before is room."""
    flat = weights.reshape(-1)
    for q in range(first.size):
        m, s = first[q], second[q]
        moved = False
        for j in range(open_start[s], open_start[s + 1]):
            p = share_start[q] + open_[j]
            if slope[p] != 0.0:
                share = min(max(np.rint((shares[p] - step * slope[p]) / unit) * unit, -limit), limit) + 0.0
                if share != shares[p]:
                    weights[head[head_start[s] + open_[j]], s] += share - shares[p]
                    shares[p] = share
                    moved = True
        if moved:
            for i in range(open_start[m], open_start[m + 1]):
                before[i - open_start[m]] = rest[rest_start[q] + open_[i]]
            settle(q, first, second, head_start, table_start, share_start, rest_start, table, open_start, open_, shares, rest, choice)
            for i in range(open_start[m], open_start[m + 1]):
                if rest[rest_start[q] + open_[i]] > -np.inf:  # it is -inf for good, or never
                    weights[head[head_start[m] + open_[i]], m] += rest[rest_start[q] + open_[i]] - before[i - open_start[m]]
    constant, offset = 0.0, share_start[first.size]
    for i in range(active.size):
        c = active[i]
        begin, end = offset + start[c], offset + start[c + 1]
        r = end - begin
        if phi[c] < 0.0:
            w = shares[begin] - step * slope[begin]
            w = min(max(np.rint(w / unit) * unit, max(phi[c], -limit)), 0.0) + 0.0
            if w != shares[begin]:
                for p in range(begin, end):
                    flat[arc[p - offset]] += w - shares[begin]
                constant -= (r - 1) * (w - shares[begin])
                shares[begin] = w
            continue
        for p in range(begin, end):
            before[p - begin] = shares[p] - step * slope[p]
        level = simplex_level(before[:r], phi[c])
        left, most = phi[c], begin
        for p in range(begin, end):
            share = max(np.floor((shares[p] - step * slope[p] - level) / unit) * unit, 0.0)
            before[p - begin] = share
            left -= share
            if share > before[most - begin]:
                most = p
        before[most - begin] += left  # what rounding left over
        for p in range(begin, end):
            share = before[p - begin]
            if share != shares[p]:
                flat[arc[p - offset]] += share - shares[p]
                shares[p] = share
    return constant
