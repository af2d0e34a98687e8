"""Max-marginals of parsing with heads: which items are in a parse that reaches a threshold (Rush 2014, section 2.2.2).

    outer[i, k, Y, h] = max over X(h) -> Y(h) Z of outer[i, j, X, h] + hook[k, j, Z, h] + binary[rule, h, verb between]
    outer[k, j, Z, m] = max over X(h) -> Y(h) Z of outer[i, j, X, h] + item[i, k, Y, h] + binary[rule, h, ...] + words[class of Z, m, h]

and the mirror images, and unary rules. It goes down from the root through what reaches the threshold only, which is little.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zerogap.grid import Scores
from zerogap.kernels import float64, inner, int64, kernel, writable
from zerogap.oracles.parses.lexical import CHART, SCORES, HeadChart, HeadItems, HeadScores
from zerogap.oracles.parses.lexical_bounds import INDEX, LOWEST, HeadIndex


class Outer(NamedTuple):
    """What the rest of a parse adds to heads and to hooks, and which items have any that reach the threshold."""

    heads: Scores  # as the scores of the chart, given as -inf
    hooks: Scores  # as the hooks of the chart
    is_head: NDArray[np.bool_]  # (items,)
    is_sister: NDArray[np.bool_]
    threshold: float


@inner
def lower_join(item, head, sister, rule, k, given, chart, outer):  # out: outer
    """What an item can add to its two children by one rule at one split, for all heads of the head child."""
    items, hook, scores, hooks = chart.items, chart.hook_offsets[sister], chart.scores, chart.hooks
    low, high = given.first[items.starts[head]], given.first[items.ends[head]]
    from_, to = chart.offsets[item] - given.first[items.starts[item]], chart.offsets[head] - low
    between, binary, outer_heads, outer_hooks = given.between, given.binary, outer.heads, outer.hooks
    for c in range(low, high):
        below, beside = scores[to + c], hooks[hook + c]
        above = outer_heads[from_ + c] + binary[rule, c, 1 if between[c, k] else 0]
        if above > LOWEST and below > LOWEST and beside > LOWEST and above + below + beside >= outer.threshold:
            if not outer.is_sister[sister]:
                outer_hooks[hook : hook + between.shape[0]] = LOWEST
            outer.is_head[head] = outer.is_sister[sister] = True
            outer_heads[to + c] = max(outer_heads[to + c], above + beside)
            outer_hooks[hook + c] = max(outer_hooks[hook + c], above + below)


@kernel(int64(INDEX, SCORES, CHART, float64, writable(float64, 1)))
def fill_outer(index, given, chart, threshold, most):  # out: most (items,): the largest outer of a head, -inf below the threshold
    """How many items reach the threshold."""
    items, offsets, scores, hook_offsets, hooks, _, _ = chart
    symbols, bounds, place, left, right, down = items.symbols, items.bounds, items.place, index.left_down, index.right_down, index.down
    first, between, classes, unary, edges, words = given.first, given.between, given.classes, given.unary, given.edges, given.words
    n, size, n_items = bounds.shape[0], between.shape[0], symbols.shape[0]
    is_head, is_sister = np.zeros(n_items, dtype=np.bool_), np.zeros(n_items, dtype=np.bool_)
    outer, hook_outer = np.full(scores.shape[0], LOWEST), np.empty(hooks.shape[0])
    outers = Outer(outer, hook_outer, is_head, is_sister, threshold)
    dirty, waiting = np.zeros(n_items, dtype=np.bool_), np.empty(n_items + 1, dtype=np.int64)
    top, kept = place[0, n, index.root], 0
    if top >= 0:
        is_head[top] = True
        for c in range(size):
            outer[offsets[top] + c] = given.roots[c]
    for length in range(n, 0, -1):
        for i in range(n - length + 1):
            j = i + length
            low, high, height = first[i], first[j], 0
            for item in range(bounds[i, j, 0], bounds[i, j, 1]):
                at, hook, kind = offsets[item] - low, hook_offsets[item], classes[symbols[item]]
                if is_sister[item]:
                    for h in range(size):
                        if hook_outer[hook + h] > LOWEST:
                            for m in range(low, high):
                                outer[at + m] = max(outer[at + m], hook_outer[hook + h] + words[kind, m, h])
                if is_head[item] or is_sister[item]:
                    for c in range(low, high):
                        if scores[at + c] > LOWEST and outer[at + c] > LOWEST and scores[at + c] + outer[at + c] >= threshold:
                            dirty[item] = True
                        else:
                            outer[at + c] = LOWEST
                    if dirty[item]:
                        waiting[height] = item
                        height += 1
            while height > 0:  # unary rules until nothing gets better
                height -= 1
                item = waiting[height]
                dirty[item] = False
                x = symbols[item]
                for p in range(down.start[x], down.start[x + 1]):
                    child, rule = place[i, j, down.parent[p]], down.rule[p]
                    if child < 0:
                        continue
                    edge = edges[rule]
                    for c in range(low, high):
                        verb = edge >= 0 and between[c, i if edge == 0 else j]
                        value = outer[offsets[item] + c - low] + unary[rule, c, 1 if verb else 0]
                        to = offsets[child] + c - low
                        if value > outer[to] and scores[to] > LOWEST and value + scores[to] >= threshold:
                            outer[to] = value
                            if not dirty[child]:
                                dirty[child] = True
                                waiting[height] = child
                                height += 1
            for item in range(bounds[i, j, 0], bounds[i, j, 1]):
                for c in range(offsets[item], offsets[item + 1]):
                    most[item] = max(most[item], outer[c])
                if most[item] == LOWEST:
                    continue
                kept += 1
                x = symbols[item]
                for k in range(i + 1, j):
                    for p in range(left.start[x], left.start[x + 1]):
                        head, sister = place[i, k, left.parent[p]], place[k, j, left.sister[p]]
                        if head >= 0 and sister >= 0 and hook_offsets[sister] >= 0:
                            lower_join(item, head, sister, left.rule[p], k, given, chart, outers)
                    for p in range(right.start[x], right.start[x + 1]):
                        head, sister = place[k, j, right.parent[p]], place[i, k, right.sister[p]]
                        if head >= 0 and sister >= 0 and hook_offsets[sister] >= 0:
                            lower_join(item, head, sister, right.rule[p], k, given, chart, outers)
    return kept


def items_reaching(index: HeadIndex, given: HeadScores, chart: HeadChart, threshold: float) -> HeadItems:
    """The items of a chart that are in a parse of at least the threshold, which is not below that of the chart, with what the rest of the
    best such parse adds."""
    most = np.full(len(chart.items.symbols), LOWEST)
    fill_outer(index, given, chart, threshold, most)
    return chart.items.some(most > LOWEST, most)
