"""Upper bounds for a symbol over a span in any parse with heads, when every rule scores as for its best head (Rush 2014, section 2.2.2).

    inside[i, j, X]  = max over X -> Y Z of inside[i, k, Y] + inside[k, j, Z] + score        and over X -> Y, all at most 0
    outside[i, k, Y] = max over X -> Y Z of outside[i, j, X] + inside[k, j, Z] + score       and so on

The score of a rule is that of the best head in the span of its child with the head (`lexical_rule_bounds`), less what the sister over its
own span loses of the best that its words can be (`sister_boxes`).

Rules are found by their child with the head, of which there are few in a span. What no parse of at least `threshold` has is left out of
the outside pass, so that it ends with the items that count.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zerogap.grid import Scores
from zerogap.kernels import float64, inner, int64, kernel, readonly, record, writable

LOWEST = -np.inf
PLACES, SPANS, TABLE = readonly(int64, 1), readonly(int64, 2), readonly(float64, 2)


class HeadRules(NamedTuple):
    """Rules by the child that has the head: begin and end for every symbol, sister, parent, place of the rule."""

    start: NDArray[np.int64]
    sister: NDArray[np.int64]
    parent: NDArray[np.int64]
    rule: NDArray[np.int64]

    @classmethod
    def of(cls, heads: NDArray[np.int64], sisters: NDArray[np.int64], parents: NDArray[np.int64], n_symbols: int) -> HeadRules:
        order = np.argsort(heads, kind="stable")
        start = np.searchsorted(heads[order], np.arange(n_symbols + 1)).astype(np.int64)
        return cls(start, np.ascontiguousarray(sisters[order]), np.ascontiguousarray(parents[order]), order.astype(np.int64))


RULES = record(HeadRules, PLACES, PLACES, PLACES, PLACES)


class HeadIndex(NamedTuple):
    """The rules of a grammar with heads, by child and by parent."""

    n_symbols: int
    root: int
    left: HeadRules  # the left child has the head
    right: HeadRules
    up: HeadRules  # unary rules by their child; there is no sister
    up_order: NDArray[np.int64]  # the children of unary rules, each before its parents unless there is a circle
    down: HeadRules  # by their parent, which stands in the place of the head
    left_down: HeadRules  # binary rules in the same way: the left child has the head
    right_down: HeadRules

    @classmethod
    def of(cls, n_symbols: int, root: int, binary: NDArray[np.int64], head_side: NDArray[np.int64], unary: NDArray[np.int64]) -> HeadIndex:
        def of_side(side: int, down: bool) -> HeadRules:
            keep = np.flatnonzero(head_side == side)
            heads, sisters, parents = binary[keep, 1 + side], binary[keep, 2 - side], binary[keep, 0]
            index = HeadRules.of(parents, sisters, heads, n_symbols) if down else HeadRules.of(heads, sisters, parents, n_symbols)
            return HeadRules(index.start, index.sister, index.parent, keep[index.rule])

        none = np.full(len(unary), -1, dtype=np.int64)
        up, down = HeadRules.of(unary[:, 1], none, unary[:, 0], n_symbols), HeadRules.of(unary[:, 0], none, unary[:, 1], n_symbols)
        return cls(n_symbols, root, of_side(0, False), of_side(1, False), up, bottom_up(up), down, of_side(0, True), of_side(1, True))


INDEX = record(HeadIndex, int64, int64, RULES, RULES, RULES, PLACES, RULES, RULES, RULES)


def bottom_up(up: HeadRules) -> NDArray[np.int64]:
    """The children of unary rules, each before its parents unless there is a circle: the reverse of the order in which a walk is done."""
    n_symbols = len(up.start) - 1
    done: list[int] = []
    seen = np.zeros(n_symbols, dtype=np.bool_)
    for first in range(n_symbols):
        walk = [] if seen[first] else [(first, int(up.start[first]))]
        seen[first] = True
        while walk:
            x, p = walk.pop()
            if p == up.start[x + 1]:
                done.append(x)
                continue
            walk.append((x, p + 1))
            parent = int(up.parent[p])
            if not seen[parent]:
                seen[parent] = True
                walk.append((parent, int(up.start[parent])))
    return np.array([x for x in reversed(done) if up.start[x] < up.start[x + 1]], dtype=np.int64)


class SpanScores(NamedTuple):
    """What rules can score, by spans."""

    rows: NDArray[np.int64]  # (n, n + 1): the row of a span in the tables of rules
    left: Scores  # (spans, rules): the child with the head is on the left and has this span
    right: Scores
    unary: Scores
    boxes: NDArray[np.int64]  # (n, n + 1): where the splits of a span begin in the tables of sisters
    slots: NDArray[np.int64]  # (symbols,): the column of a sister there
    left_boxes: Scores
    right_boxes: Scores


class SpanBounds(NamedTuple):
    """The inside half, which serves several thresholds."""

    rules: HeadIndex
    scores: SpanScores
    inside: Scores  # (n, n + 1, symbols)
    live: NDArray[np.int64]  # (n, n + 1, symbols): those whose `inside` is above -inf
    sizes: NDArray[np.int64]  # (n, n + 1): how many

    @property
    def best(self) -> float:
        """No parse scores more."""
        return float(self.inside[0, -1, self.rules.root])


class Side(NamedTuple):
    """Binary rules whose head child is on one side of a split."""

    rules: HeadRules
    scores: Scores  # (rules,): over the span of the head child
    box: Scores  # (slots,): what a sister over the other span loses
    slots: NDArray[np.int64]


SPAN_SCORES = record(SpanScores, SPANS, TABLE, TABLE, TABLE, SPANS, PLACES, TABLE, TABLE)
BOUNDS = record(SpanBounds, INDEX, SPAN_SCORES, writable(float64, 3), writable(int64, 3), writable(int64, 2))


@inner
def close_row(row, rules, scores, waiting, is_waiting):
    """Goes on along unary rules from what is in a row until nothing gets better: scores are at most 0."""
    start, other, rule = rules.start, rules.parent, rules.rule
    height = 0
    for x in range(row.shape[0]):
        if row[x] > LOWEST:
            waiting[height] = x
            is_waiting[x] = True
            height += 1
    while height > 0:
        height -= 1
        x = waiting[height]
        is_waiting[x] = False
        for p in range(start[x], start[x + 1]):
            total = row[x] + scores[rule[p]]
            if total > row[other[p]]:
                row[other[p]] = total
                if not is_waiting[other[p]]:
                    waiting[height] = other[p]
                    is_waiting[other[p]] = True
                    height += 1


@inner
def left_side(bounds, i, k, j):
    """The left child, over words i to k, has the head."""
    scores = bounds.scores
    return Side(bounds.rules.left, scores.left[scores.rows[i, k]], scores.left_boxes[scores.boxes[i, j] + k - i - 1], scores.slots)


@inner
def right_side(bounds, i, k, j):
    scores = bounds.scores
    return Side(bounds.rules.right, scores.right[scores.rows[k, j]], scores.right_boxes[scores.boxes[i, j] + k - i - 1], scores.slots)


@inner
def raise_parents(side, live, heads, sisters, cell):  # out: cell
    """By all rules whose head child is among the live symbols of one side."""
    rules, scores, box, slots = side
    start, sister, parent = rules.start, rules.sister, rules.parent
    for at in range(live.shape[0]):
        y = live[at]
        for p in range(start[y], start[y + 1]):
            total = heads[y] + sisters[sister[p]] + scores[p] + box[slots[sister[p]]]
            if total > cell[parent[p]]:
                cell[parent[p]] = total


@inner
def lower_children(side, live, heads, sisters, above, threshold, outer_heads, outer_sisters):  # out: outer_heads, outer_sisters
    """What the parents can add to both children, by the same rules, where a parse reaches the threshold."""
    rules, scores, box, slots = side
    start, sister, parent = rules.start, rules.sister, rules.parent
    for at in range(live.shape[0]):
        y = live[at]
        for p in range(start[y], start[y + 1]):
            z = sister[p]
            score = above[parent[p]] + scores[p] + box[slots[z]]
            if score + heads[y] + sisters[z] >= threshold and score + sisters[z] > LOWEST:
                outer_heads[y] = max(outer_heads[y], score + sisters[z])
                outer_sisters[z] = max(outer_sisters[z], score + heads[y])


@kernel(int64(TABLE, BOUNDS))
def fill_bounds(lexical, bounds):  # out: bounds
    inside, live, sizes, up = bounds.inside, bounds.live, bounds.sizes, bounds.rules.up
    n, n_symbols = lexical.shape
    waiting, is_waiting = np.empty(n_symbols, dtype=np.int64), np.zeros(n_symbols, dtype=np.bool_)
    for length in range(1, n + 1):
        for i in range(n - length + 1):
            j = i + length
            cell = inside[i, j]
            for x in range(n_symbols):
                cell[x] = lexical[i, x] if length == 1 else LOWEST
            for k in range(i + 1, j):
                first, second = inside[i, k], inside[k, j]
                raise_parents(left_side(bounds, i, k, j), live[i, k, : sizes[i, k]], first, second, cell)
                raise_parents(right_side(bounds, i, k, j), live[k, j, : sizes[k, j]], second, first, cell)
            close_row(cell, up, bounds.scores.unary[bounds.scores.rows[i, j]], waiting, is_waiting)
            count = 0
            for x in range(n_symbols):
                if cell[x] > LOWEST:
                    live[i, j, count] = x
                    count += 1
            sizes[i, j] = count
    return 0


@kernel(int64(BOUNDS, float64, writable(float64, 3)))
def fill_outside(bounds, threshold, outside):  # out: outside, given as -inf; exact for what is in a parse of at least the threshold
    inside, live, sizes = bounds.inside, bounds.live, bounds.sizes
    n, n_symbols = inside.shape[0], inside.shape[2]
    waiting, is_waiting = np.empty(n_symbols, dtype=np.int64), np.zeros(n_symbols, dtype=np.bool_)
    outside[0, n, bounds.rules.root] = 0.0
    kept = 0
    for length in range(n, 0, -1):
        for i in range(n - length + 1):
            j = i + length
            above, below = outside[i, j], inside[i, j]
            close_row(above, bounds.rules.down, bounds.scores.unary[bounds.scores.rows[i, j]], waiting, is_waiting)
            reached = False
            for x in range(n_symbols):
                if above[x] > LOWEST:
                    if above[x] + below[x] >= threshold and below[x] > LOWEST:
                        reached = True
                        kept += 1
                    else:
                        above[x] = LOWEST
            if not reached:
                continue
            for k in range(i + 1, j):
                first, second = inside[i, k], inside[k, j]
                outer_first, outer_second = outside[i, k], outside[k, j]
                left, right = left_side(bounds, i, k, j), right_side(bounds, i, k, j)
                lower_children(left, live[i, k, : sizes[i, k]], first, second, above, threshold, outer_first, outer_second)
                lower_children(right, live[k, j, : sizes[k, j]], second, first, above, threshold, outer_second, outer_first)
    return kept


def span_bounds(rules: HeadIndex, lexical: Scores, scores: SpanScores) -> SpanBounds:
    """The inside half; `lexical` (n, symbols) are the best scores of tags over words."""
    n = len(lexical)
    shape = n, n + 1, rules.n_symbols
    inside, live, sizes = np.full(shape, LOWEST), np.empty(shape, dtype=np.int64), np.zeros((n, n + 1), dtype=np.int64)
    bounds = SpanBounds(rules, scores, inside, live, sizes)  # spans that are none stay -inf
    fill_bounds(lexical, bounds)
    return bounds


def outside_bounds(bounds: SpanBounds, threshold: float) -> Scores:
    """What the rest of a parse can add to a symbol over a span, -inf where no parse reaches the threshold."""
    outside = np.full(bounds.inside.shape, LOWEST)
    fill_outside(bounds, threshold, outside)
    return outside
