"""CKY with heads in O(n^4): the best parse under a grammar whose rules score pairs of words (Eisner & Satta 1999; Rush 2014, 4.2.2).

    hook[k, j, Z, h] = max over m in the span of item[k, j, Z, m] + words[class of Z, m, h]            Z looks for a head outside of it
    item[i, j, X, h] = max over X(h) -> Y(h) Z of item[i, k, Y, h] + hook[k, j, Z, h] + binary[rule, h, verb between]

and the mirror image, and unary rules, which score at most 0. Only the given items (symbols over spans) are filled, and of these only the
heads whose score, with the most that the rest of a parse can add, reaches a threshold: if some parse reaches it, the best one is found.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zerogap.grid import Scores
from zerogap.kernels import boolean, float64, inner, int32, int64, kernel, readonly, record, writable
from zerogap.oracles.parses.lexical_bounds import INDEX, LOWEST, PLACES, HeadIndex

WORD = -1
Shape = tuple[int, ...]


class HeadScores(NamedTuple):
    """The scores of a sentence. Candidates for heads are sorted by position; those of position i begin at first[i]."""

    first: NDArray[np.int64]  # (n + 1,)
    tags: NDArray[np.int64]  # (candidates,): symbols
    between: NDArray[np.bool_]  # (candidates, n + 1): whether a verb stands between the head and a place
    classes: NDArray[np.int64]  # (symbols,): the row of `words`, -1 for what is never a sister
    binary: Scores  # (rules, candidates, 2)
    unary: Scores  # (rules, candidates, 2)
    edges: NDArray[np.int64]  # (unary rules,): -1 none, 0 the left edge, 1 the right edge
    words: Scores  # (classes, sister, head)
    roots: Scores  # (candidates,)
    rest: Scores  # (candidates,): the most that the candidate's own word can bring above its item


class HeadItems(NamedTuple):
    """Symbols over spans, sorted by span, each with the most that the rest of a parse can add."""

    starts: NDArray[np.int64]  # (items,)
    ends: NDArray[np.int64]
    symbols: NDArray[np.int64]
    outside: Scores
    bounds: NDArray[np.int64]  # (n, n + 1, 2): the items of a span, from and to
    place: NDArray[np.int32]  # (n, n + 1, symbols): the item, -1 for none

    @classmethod
    def of(cls, starts: NDArray[np.int64], ends: NDArray[np.int64], symbols: NDArray[np.int64], outside: Scores, shape: Shape) -> HeadItems:
        n = shape[0]
        edges = np.searchsorted(starts * (n + 1) + ends, np.arange(n * (n + 1) + 1)).astype(np.int64)
        bounds = np.ascontiguousarray(np.stack([edges[:-1], edges[1:]], axis=1).reshape(n, n + 1, 2))
        place = np.full(shape, -1, dtype=np.int32)
        place[starts, ends, symbols] = np.arange(len(symbols))
        return cls(starts, ends, symbols, outside, bounds, place)

    @classmethod
    def above(cls, outside: Scores) -> HeadItems:
        """Those whose `outside` (n, n + 1, symbols) is above -inf."""
        starts, ends, symbols = (np.ascontiguousarray(axis) for axis in np.nonzero(outside > LOWEST))
        return cls.of(starts, ends, symbols, outside[starts, ends, symbols], outside.shape)

    def some(self, keep: NDArray[np.bool_], outside: Scores) -> HeadItems:
        return HeadItems.of(self.starts[keep], self.ends[keep], self.symbols[keep], outside[keep], self.place.shape)


class HeadChart(NamedTuple):
    """The items with their heads."""

    items: HeadItems
    offsets: NDArray[np.int64]  # (items + 1,): where the scores of the heads in the span begin
    scores: Scores
    hook_offsets: NDArray[np.int64]  # (items,): where the hooks of all heads begin, -1 for none
    hooks: Scores
    back: NDArray[np.int32]  # (scores, 2): rule, or rules + unary rule, or WORD; split
    tried: int  # sums that were formed for binary rules


class Live(NamedTuple):
    """Where the live heads of items are, how much they score, and what must be reached."""

    lows: NDArray[np.int64]  # (items,)
    highs: NDArray[np.int64]
    tops: Scores  # the most over heads, with `rest`
    hook_tops: Scores
    rule_tops: Scores  # (rules,): over heads
    threshold: float


SCORES = record(
    HeadScores, PLACES, PLACES, readonly(boolean, 2), PLACES, readonly(float64, 3), readonly(float64, 3), PLACES, readonly(float64, 3),
    readonly(float64, 1), readonly(float64, 1),
)  # fmt: skip
ITEMS = record(HeadItems, PLACES, PLACES, PLACES, readonly(float64, 1), readonly(int64, 3), readonly(int32, 3))
CHART = record(HeadChart, ITEMS, PLACES, writable(float64, 1), writable(int64, 1), writable(float64, 1), writable(int32, 2), int64)
LEFT, RIGHT = 0, 1


@inner
def join_items(side, i, k, j, rules, given, chart, live):  # out: chart
    """Raises the items from i to j by those on one side of the split k that have the head, and sisters on the other side."""
    start, end = (i, k) if side == LEFT else (k, j)
    items, offsets, scores, hooks, back = chart.items, chart.offsets, chart.scores, chart.hooks, chart.back
    sister_at = items.place[k, j] if side == LEFT else items.place[i, k]
    parent_at, base, own_base = items.place[i, j], given.first[i], given.first[start]
    between, binary, symbols, outside = given.between, given.binary, items.symbols, items.outside
    sisters, parents = rules.sister, rules.parent
    lows, highs, tops, hook_tops, rule_tops, threshold = live
    tried = 0
    for item in range(items.bounds[start, end, 0], items.bounds[start, end, 1]):
        low, high = lows[item], highs[item]
        if low >= high:
            continue
        y = symbols[item]
        for p in range(rules.start[y], rules.start[y + 1]):
            sister, target = sister_at[sisters[p]], parent_at[parents[p]]
            if sister < 0 or target < 0 or lows[sister] >= highs[sister]:
                continue
            rule, hook = rules.rule[p], chart.hook_offsets[sister]
            if tops[item] + hook_tops[sister] + rule_tops[rule] + outside[target] < threshold:  # whatever the head is
                continue
            from_, to = offsets[item] - own_base, offsets[target] - base
            tried += high - low
            for c in range(low, high):
                total = scores[from_ + c] + hooks[hook + c] + binary[rule, c, 1 if between[c, k] else 0]
                if total > scores[to + c]:
                    scores[to + c] = total
                    back[to + c, 0], back[to + c, 1] = rule, k
    return tried


@kernel(int64(INDEX, SCORES, CHART, readonly(float64, 1), float64))
def fill_heads(index, given, chart, rule_tops, threshold):  # out: chart
    """How many sums were formed for binary rules."""
    first, tags, between, classes, binary, unary, edges, words, _, rest = given
    items, offsets, scores, hook_offsets, hooks, back, _ = chart
    _, _, symbols, outside, bounds, place = items
    n, size, n_rules = bounds.shape[0], tags.shape[0], binary.shape[0]
    lows, highs = np.zeros(symbols.shape[0], dtype=np.int64), np.zeros(symbols.shape[0], dtype=np.int64)
    tops, hook_tops = np.full(symbols.shape[0], LOWEST), np.full(symbols.shape[0], LOWEST)
    live = Live(lows, highs, tops, hook_tops, rule_tops, threshold)
    dirty = np.zeros(symbols.shape[0], dtype=np.bool_)
    tried, hooks_end = 0, 0
    for length in range(1, n + 1):
        for i in range(n - length + 1):
            j = i + length
            begin, end, base = bounds[i, j, 0], bounds[i, j, 1], first[i]
            if begin == end:
                continue
            if length == 1:
                for c in range(first[i], first[j]):
                    item = place[i, j, tags[c]]
                    if item >= 0:
                        scores[offsets[item] + c - base] = 0.0
                        back[offsets[item] + c - base, 0] = WORD
            for k in range(i + 1, j):
                tried += join_items(LEFT, i, k, j, index.left, given, chart, live)
                tried += join_items(RIGHT, i, k, j, index.right, given, chart, live)
            # heads that cannot be in a parse of the threshold are no more
            for item in range(begin, end):
                lows[item], highs[item] = first[j], base
                for c in range(base, first[j]):
                    at = offsets[item] + c - base
                    if scores[at] + rest[c] + outside[item] < threshold:
                        scores[at] = LOWEST
                    elif scores[at] > LOWEST:
                        lows[item], highs[item], dirty[item] = min(lows[item], c), c + 1, True
            again = True
            while again:  # unary rules until nothing gets better
                again = False
                for q in range(index.up_order.shape[0]):
                    item = place[i, j, index.up_order[q]]
                    if item < 0 or not dirty[item]:
                        continue
                    dirty[item] = False
                    for p in range(index.up.start[index.up_order[q]], index.up.start[index.up_order[q] + 1]):
                        target = place[i, j, index.up.parent[p]]
                        if target < 0:
                            continue
                        rule = index.up.rule[p]
                        edge = edges[rule]
                        for c in range(lows[item], highs[item]):
                            score = scores[offsets[item] + c - base]
                            if score > LOWEST:
                                verb = edge >= 0 and between[c, i if edge == 0 else j]
                                score += unary[rule, c, 1 if verb else 0]
                                to = offsets[target] + c - base
                                if score > scores[to] and score + rest[c] + outside[target] >= threshold:
                                    scores[to] = score
                                    back[to, 0], back[to, 1] = n_rules + rule, -1
                                    lows[target], highs[target] = min(lows[target], c), max(highs[target], c + 1)
                                    again = again or not dirty[target]
                                    dirty[target] = True
            for item in range(begin, end):
                low, high = lows[item], highs[item]
                for c in range(low, high):
                    score = scores[offsets[item] + c - base]
                    if score > LOWEST:
                        tops[item] = max(tops[item], score + rest[c])
                kind = classes[symbols[item]]  # the hooks of what can be a sister
                if kind < 0 or low >= high:
                    continue
                hook = hook_offsets[item] = hooks_end
                hooks_end += size
                hooks[hook:hooks_end] = LOWEST
                for m in range(low, high):
                    score = scores[offsets[item] + m - base]
                    if score > LOWEST:
                        for h in range(first[i]):
                            hooks[hook + h] = max(hooks[hook + h], score + words[kind, m, h])
                        for h in range(first[j], size):
                            hooks[hook + h] = max(hooks[hook + h], score + words[kind, m, h])
                for h in range(size):
                    hook_tops[item] = max(hook_tops[item], hooks[hook + h])
    return tried


@dataclass(frozen=True, slots=True, eq=False)
class HeadParse:
    """A parse, each node before those below it, left to right."""

    score: float
    symbols: list[int]
    sizes: list[int]  # the number of children, 0 over a word


def head_chart(index: HeadIndex, given: HeadScores, items: HeadItems, threshold: float) -> HeadChart:
    """Fills the items, and of them the heads that can be in a parse of the threshold."""
    offsets = np.concatenate([[0], np.cumsum(given.first[items.ends] - given.first[items.starts])]).astype(np.int64)
    hook_offsets = np.full(len(items.symbols), -1, dtype=np.int64)
    scores, hooks = np.full(offsets[-1], LOWEST), np.empty(int((given.classes[items.symbols] >= 0).sum()) * len(given.tags))
    back = np.empty((len(scores), 2), dtype=np.int32)
    rule_tops = given.binary.max(axis=(1, 2), initial=LOWEST)
    chart = HeadChart(items, offsets, scores, hook_offsets, hooks, back, 0)
    return chart._replace(tried=int(fill_heads(index, given, chart, rule_tops, threshold)))


def best_head_parse(
    index: HeadIndex, given: HeadScores, chart: HeadChart, binary: NDArray[np.int64], head_side: NDArray[np.int64], unary: NDArray[np.int64]
) -> HeadParse | None:
    """A best parse of the chart, read off its back-pointers; None if there is none."""
    place = chart.items.place
    n = len(place)
    top = place[0, n, index.root]
    if top < 0:
        return None
    totals = chart.scores[chart.offsets[top] : chart.offsets[top + 1]] + given.roots
    if totals.max() == LOWEST:
        return None
    symbols, sizes = [], []
    waiting = [(0, n, index.root, int(totals.argmax()))]
    while waiting:
        i, j, x, c = waiting.pop()
        at = int(chart.offsets[place[i, j, x]]) + c - int(given.first[i])
        rule, split = chart.back[at].tolist()
        symbols.append(x)
        if rule == WORD:
            sizes.append(0)
        elif rule >= len(binary):
            sizes.append(1)
            waiting.append((i, j, int(unary[rule - len(binary), 1]), c))
        else:
            sizes.append(2)
            side = int(head_side[rule])
            below, (start, end) = binary[rule, 1:].tolist(), ((split, j), (i, split))[side]
            item, low = int(place[start, end, below[1 - side]]), int(given.first[start])
            found = chart.scores[chart.offsets[item] : chart.offsets[item + 1]]
            m = low + int((found + given.words[given.classes[below[1 - side]], low : low + len(found), c]).argmax())
            heads = (c, m) if side == 0 else (m, c)
            waiting += [(split, j, below[1], heads[1]), (i, split, below[0], heads[0])]
    return HeadParse(float(totals.max()), symbols, sizes)
