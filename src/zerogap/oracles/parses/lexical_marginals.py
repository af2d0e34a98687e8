"""Max-marginals of parsing with heads: which items are in a parse that reaches a threshold (Rush 2014, section 2.2.2).

    outer[i, k, Y, h] = max over X(h) -> Y(h) Z of outer[i, j, X, h] + hook[k, j, Z, h] + binary[rule, h, verb between]
    outer[k, j, Z, m] = max over X(h) -> Y(h) Z of outer[i, j, X, h] + item[i, k, Y, h] + binary[rule, h, ...] + words[class of Z, m, h]

and the mirror images, and unary rules. It goes down from the root through what reaches the threshold only, which is little.
"""

from __future__ import annotations

import numpy as np

from zerogap.kernels import boolean, float64, inner, int32, int64, kernel, readonly, writable
from zerogap.oracles.parses.lexical import HeadChart, HeadItems, HeadScores
from zerogap.oracles.parses.lexical_bounds import LOWEST, NUMBERS, PLACES, HeadIndex


@inner
def lower_join(
    item, head, sister, rule, low, high, base, own_base, offsets, hook_offsets, between, k, binary, scores, hooks, threshold,
    outer, hook_outer, is_head, is_sister,
):  # out: outer, hook_outer, is_head, is_sister  # fmt: skip
    """What an item can add to its two children by one rule at one split, for heads from low to high, those of the head child."""
    hook, from_, to = hook_offsets[sister], offsets[item] - base, offsets[head] - own_base
    for c in range(low, high):
        below, beside = scores[to + c], hooks[hook + c]
        above = outer[from_ + c] + binary[rule, c, 1 if between[c, k] else 0]
        if above > LOWEST and below > LOWEST and beside > LOWEST and above + below + beside >= threshold:
            if not is_sister[sister]:
                hook_outer[hook : hook + between.shape[0]] = LOWEST
            is_head[head] = is_sister[sister] = True
            outer[to + c] = max(outer[to + c], above + beside)
            hook_outer[hook + c] = max(hook_outer[hook + c], above + below)


@kernel(
    int64(
        PLACES, readonly(boolean, 2), PLACES, readonly(float64, 3), readonly(float64, 3), PLACES, readonly(float64, 3), NUMBERS,
        PLACES, PLACES, PLACES, PLACES, PLACES, PLACES, PLACES, PLACES, PLACES, PLACES, PLACES,
        readonly(int64, 3), readonly(int32, 3), PLACES, PLACES, PLACES, NUMBERS, NUMBERS, int64, float64,
        writable(float64, 1), writable(float64, 1), writable(float64, 1),
    )
)  # fmt: skip
def fill_outer(
    first, between, classes, binary, unary, edges, words, roots,
    left_start, left_sister, left_head, left_rule, right_start, right_sister, right_head, right_rule, down_start, down_child, down_rule,
    bounds, place, symbols, offsets, hook_offsets, scores, hooks, root, threshold,
    outer, hook_outer, most,
):  # out: outer, given as -inf, hook_outer, most (items,): the largest outer of a head, -inf below the threshold  # fmt: skip
    """How many items reach the threshold."""
    n, size, n_items = bounds.shape[0], between.shape[0], symbols.shape[0]
    is_head, is_sister = np.zeros(n_items, dtype=np.bool_), np.zeros(n_items, dtype=np.bool_)  # of something that reaches the threshold
    dirty, waiting = np.zeros(n_items, dtype=np.bool_), np.empty(n_items + 1, dtype=np.int64)
    top, kept = place[0, n, root], 0
    if top >= 0:
        is_head[top] = True
        for c in range(size):
            outer[offsets[top] + c] = roots[c]
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
                for p in range(down_start[x], down_start[x + 1]):
                    child, rule = place[i, j, down_child[p]], down_rule[p]
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
                    for p in range(left_start[x], left_start[x + 1]):
                        head, sister = place[i, k, left_head[p]], place[k, j, left_sister[p]]
                        if head >= 0 and sister >= 0 and hook_offsets[sister] >= 0:
                            lower_join(
                                item, head, sister, left_rule[p], low, first[k], low, low, offsets, hook_offsets, between, k, binary,
                                scores, hooks, threshold, outer, hook_outer, is_head, is_sister,
                            )  # fmt: skip
                    for p in range(right_start[x], right_start[x + 1]):
                        head, sister = place[k, j, right_head[p]], place[i, k, right_sister[p]]
                        if head >= 0 and sister >= 0 and hook_offsets[sister] >= 0:
                            lower_join(
                                item, head, sister, right_rule[p], first[k], high, low, first[k], offsets, hook_offsets, between, k, binary,
                                scores, hooks, threshold, outer, hook_outer, is_head, is_sister,
                            )  # fmt: skip
    return kept


def items_reaching(index: HeadIndex, given: HeadScores, chart: HeadChart, threshold: float) -> HeadItems:
    """The items of a chart that are in a parse of at least the threshold, which is not below that of the chart, with what the rest of the
    best such parse adds."""
    items = chart.items
    left, right, down = index.left_down, index.right_down, index.down
    most = np.full(len(items.symbols), LOWEST)
    fill_outer(
        given.first, given.between, given.classes, given.binary, given.unary, given.edges, given.words, given.roots,
        left.start, left.sister, left.parent, left.rule, right.start, right.sister, right.parent, right.rule, down.start, down.parent,
        down.rule, items.bounds, items.place, items.symbols, chart.offsets, chart.hook_offsets, chart.scores, chart.hooks, index.root,
        threshold, np.full(len(chart.scores), LOWEST), np.empty(len(chart.hooks)), most,
    )  # fmt: skip
    return items.some(most > LOWEST, most)
