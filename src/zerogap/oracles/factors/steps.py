"""Steps of the shares of factors: subgradients, and projections onto what is allowed. The layout: see `oracles.factors.shares`."""

# mypy: disable-error-code="no-untyped-def"
# a kernel's types are its signature

from __future__ import annotations

import numpy as np

from zerogap.kernels import borrowing
from zerogap.oracles.factors.gaps import arcs_inside

NEGLIGIBLE = 0.02  # of a whole subgradient


@borrowing
def settle(q, layout, tables, node, now):
    """What the shares of table q leave to the open heads of its first word. out: rest, choice of q."""
    m, s = layout.first[q], layout.second[q]
    size = layout.head_start[s + 1] - layout.head_start[s]
    for i in range(node.open_start[m], node.open_start[m + 1]):
        row = tables.table_start[q] + node.open_[i] * size
        most, best = -np.inf, -1
        for j in range(node.open_start[s], node.open_start[s + 1]):
            k = node.open_[j]
            left = tables.table[row + k] - now.shares[layout.share_start[q] + k]
            if left > most:
                most, best = left, k
        now.rest[tables.rest_start[q] + node.open_[i]] = most
        now.choice[tables.rest_start[q] + node.open_[i]] = best


@borrowing
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


@borrowing
def slopes(heads, place, layout, tables, node, now, fresh, slope):
    """The average of subgradients with that of another tree, whose weight is `fresh`; returns the square of its norm. out: slope."""
    offset = layout.share_start[layout.first.size]
    for p in range(offset):
        slope[p] *= 1.0 - fresh
        if abs(slope[p]) < NEGLIGIBLE:
            slope[p] = 0.0
    for q in range(layout.first.size):
        s = layout.second[q]
        h, k = place[layout.first[q] - 1], place[s - 1]
        other = now.choice[tables.rest_start[q] + h]
        theta = tables.table[tables.table_start[q] + h * (layout.head_start[s + 1] - layout.head_start[s]) + k]
        if other != k and now.rest[tables.rest_start[q] + h] + now.shares[layout.share_start[q] + k] > theta:
            slope[layout.share_start[q] + k] += fresh
            slope[layout.share_start[q] + other] -= fresh
    norm = 0.0
    for p in range(offset):
        norm += slope[p] * slope[p]
    for i in range(node.active.size):
        c = node.active[i]
        begin, end = offset + layout.start[c], offset + layout.start[c + 1]
        if layout.phi[c] < 0.0:
            inside = arcs_inside(heads, c, layout, tables)
            slope[begin] = (1.0 - fresh) * slope[begin] + fresh * (inside - (end - begin - 1))
            if (slope[begin] > 0.0 and now.shares[begin] > layout.phi[c]) or (slope[begin] < 0.0 and now.shares[begin] < 0.0):
                norm += slope[begin] * slope[begin]
            continue
        for p in range(begin, end):
            m = tables.arc[p - offset] % (heads.size + 1)
            is_in = heads[m - 1] * (heads.size + 1) + m == tables.arc[p - offset]
            slope[p] = (1.0 - fresh) * slope[p] + (fresh if is_in else 0.0)
        count, level = end - begin + 1, 2.0  # node.arcs without a share stay so if they were in more trees than the others on average
        while True:
            kept, above = 0, 0.0
            for p in range(begin, end):
                if now.shares[p] > 0.0 or slope[p] < level:
                    kept += 1
                    above += slope[p]
            if kept >= count:  # as the mean is rounded, it could go up again
                break
            count, level = kept, above / kept
        for p in range(begin, end):
            if now.shares[p] > 0.0 or slope[p] < level:
                norm += (slope[p] - level) ** 2
    return norm


@borrowing
def move(step, layout, tables, node, grid, now, slope, room):
    """A step and its projection; returns the change of the constant. out: shares, rest, choice, weights of room."""
    weights, flat, before = room.weights, room.flat, room.before
    for q in range(layout.first.size):
        m, s = layout.first[q], layout.second[q]
        moved = False
        for j in range(node.open_start[s], node.open_start[s + 1]):
            p = layout.share_start[q] + node.open_[j]
            if slope[p] != 0.0:
                share = min(max(np.rint((now.shares[p] - step * slope[p]) / grid.unit) * grid.unit, -grid.limit), grid.limit) + 0.0
                if share != now.shares[p]:
                    weights[layout.head[layout.head_start[s] + node.open_[j]], s] += share - now.shares[p]
                    now.shares[p] = share
                    moved = True
        if moved:
            begin, end = node.open_start[m], node.open_start[m + 1]
            for i in range(begin, end):
                before[i - begin] = now.rest[tables.rest_start[q] + node.open_[i]]
            settle(q, layout, tables, node, now)
            for i in range(begin, end):
                rest = now.rest[tables.rest_start[q] + node.open_[i]]
                if rest > -np.inf:  # it is -inf for good, or never
                    weights[layout.head[layout.head_start[m] + node.open_[i]], m] += rest - before[i - begin]
    constant, offset = 0.0, layout.share_start[layout.first.size]
    for i in range(node.active.size):
        c = node.active[i]
        begin, end = offset + layout.start[c], offset + layout.start[c + 1]
        r = end - begin
        if layout.phi[c] < 0.0:
            w = now.shares[begin] - step * slope[begin]
            w = min(max(np.rint(w / grid.unit) * grid.unit, max(layout.phi[c], -grid.limit)), 0.0) + 0.0
            if w != now.shares[begin]:
                for p in range(begin, end):
                    flat[tables.arc[p - offset]] += w - now.shares[begin]
                constant -= (r - 1) * (w - now.shares[begin])
                now.shares[begin] = w
            continue
        for p in range(begin, end):
            before[p - begin] = now.shares[p] - step * slope[p]
        level = simplex_level(before[:r], layout.phi[c])
        left, most = layout.phi[c], begin
        for p in range(begin, end):
            share = max(np.floor((now.shares[p] - step * slope[p] - level) / grid.unit) * grid.unit, 0.0)
            before[p - begin] = share
            left -= share
            if share > before[most - begin]:
                most = p
        before[most - begin] += left  # what rounding left over
        for p in range(begin, end):
            share = before[p - begin]
            if share != now.shares[p]:
                flat[tables.arc[p - offset]] += share - now.shares[p]
                now.shares[p] = share
    return constant
