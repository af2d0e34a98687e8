"""What a symbol over a span can be worth in any parse with heads, when every rule scores as for its best head (Rush 2014, section 2.2.2).

    inside[i, j, X]  = max over X -> Y Z of inside[i, k, Y] + inside[k, j, Z] + score        and over X -> Y, all at most 0
    outside[i, k, Y] = max over X -> Y Z of outside[i, j, X] + inside[k, j, Z] + score       and so on

The score of a rule is that of the best head in the span of its child with the head (`lexical_rule_bounds`), less what the sister over its
own span loses of the best that its words can be (`lexical_sister_bounds`).

Rules are found by their child with the head, of which there are few in a span. What no parse of at least `threshold` has is left out of
the outside pass, so that it ends with the items that count.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zerogap.grid import Scores
from zerogap.kernels import float64, inner, int64, kernel, readonly, writable

LOWEST = -np.inf
PLACES = readonly(int64, 1)
NUMBERS = readonly(float64, 1)
CHART = readonly(float64, 3)
TABLE = readonly(float64, 2)
SPANS = readonly(int64, 2)


@dataclass(frozen=True, slots=True, eq=False)
class HeadRules:
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


@dataclass(frozen=True, slots=True, eq=False)
class HeadIndex:
    """The rules of a grammar with heads as the kernels want them."""

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


@inner
def close_row(row, start, other, rule, scores, waiting, is_waiting):
    """Goes on along unary rules from what is in a row until nothing gets better: scores are at most 0."""
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
def raise_parents(size, live, heads, sisters, start, sister, parent, scores, box, slots, cell):  # out: cell
    """By all rules whose head child is among the live symbols of one side."""
    for at in range(size):
        y = live[at]
        for p in range(start[y], start[y + 1]):
            total = heads[y] + sisters[sister[p]] + scores[p] + box[slots[sister[p]]]
            if total > cell[parent[p]]:
                cell[parent[p]] = total


@inner
def lower_children(
    size, live, heads, sisters, start, sister, parent, scores, box, slots, above, threshold, outer_heads, outer_sisters
):  # out: outer_heads, outer_sisters
    """What the parents can add to both children, by the same rules, where a parse reaches the threshold."""
    for at in range(size):
        y = live[at]
        for p in range(start[y], start[y + 1]):
            z = sister[p]
            score = above[parent[p]] + scores[p] + box[slots[z]]
            if score + heads[y] + sisters[z] >= threshold and score + sisters[z] > LOWEST:
                outer_heads[y] = max(outer_heads[y], score + sisters[z])
                outer_sisters[z] = max(outer_sisters[z], score + heads[y])


@kernel(
    int64(
        TABLE, SPANS, SPANS, PLACES, PLACES, PLACES, PLACES, PLACES, PLACES, PLACES, PLACES, PLACES, PLACES,
        TABLE, TABLE, TABLE, TABLE, TABLE, writable(float64, 3), writable(int64, 3), writable(int64, 2),
    )
)  # fmt: skip
def fill_bounds(
    lexical, rows, boxes, slots, left_start, left_sister, left_parent, right_start, right_sister, right_parent, up_start,
    up_parent, up_rule, left_scores, right_scores, left_boxes, right_boxes, unary, inside, live, sizes,
):  # out: inside (n, n + 1, symbols), live (n, n + 1, symbols): those above -inf, sizes (n, n + 1): how many  # fmt: skip
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
                scores, box = left_scores[rows[i, k]], left_boxes[boxes[i, j] + k - i - 1]
                raise_parents(sizes[i, k], live[i, k], first, second, left_start, left_sister, left_parent, scores, box, slots, cell)
                scores, box = right_scores[rows[k, j]], right_boxes[boxes[i, j] + k - i - 1]
                raise_parents(sizes[k, j], live[k, j], second, first, right_start, right_sister, right_parent, scores, box, slots, cell)
            close_row(cell, up_start, up_parent, up_rule, unary[rows[i, j]], waiting, is_waiting)
            count = 0
            for x in range(n_symbols):
                if cell[x] > LOWEST:
                    live[i, j, count] = x
                    count += 1
            sizes[i, j] = count
    return 0


@kernel(
    int64(
        CHART, readonly(int64, 3), SPANS, SPANS, SPANS, PLACES, PLACES, PLACES, PLACES, PLACES, PLACES, PLACES, PLACES, PLACES, PLACES,
        TABLE, TABLE, TABLE, TABLE, TABLE, int64, float64, writable(float64, 3),
    )
)  # fmt: skip
def fill_outside(
    inside, live, sizes, rows, boxes, slots, left_start, left_sister, left_parent, right_start, right_sister, right_parent, down_start,
    down_child, down_rule, left_scores, right_scores, left_boxes, right_boxes, unary, root, threshold, outside,
):  # out: outside, given as -inf; only what is in a parse of at least the threshold is sure to have its value  # fmt: skip
    n, n_symbols = inside.shape[0], inside.shape[2]
    waiting, is_waiting = np.empty(n_symbols, dtype=np.int64), np.zeros(n_symbols, dtype=np.bool_)
    outside[0, n, root] = 0.0
    kept = 0
    for length in range(n, 0, -1):
        for i in range(n - length + 1):
            j = i + length
            above, below = outside[i, j], inside[i, j]
            close_row(above, down_start, down_child, down_rule, unary[rows[i, j]], waiting, is_waiting)
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
                scores, box = left_scores[rows[i, k]], left_boxes[boxes[i, j] + k - i - 1]
                lower_children(
                    sizes[i, k], live[i, k], first, second, left_start, left_sister, left_parent, scores, box, slots, above, threshold,
                    outer_first, outer_second,
                )  # fmt: skip
                scores, box = right_scores[rows[k, j]], right_boxes[boxes[i, j] + k - i - 1]
                lower_children(
                    sizes[k, j], live[k, j], second, first, right_start, right_sister, right_parent, scores, box, slots, above, threshold,
                    outer_second, outer_first,
                )  # fmt: skip
    return kept


@dataclass(frozen=True, slots=True, eq=False)
class SpanScores:
    """What rules can score, by spans."""

    rows: NDArray[np.int64]  # (n, n + 1): the row of a span in the tables of rules
    left: Scores  # (spans, rules): the child with the head is on the left and has this span
    right: Scores
    unary: Scores
    boxes: NDArray[np.int64]  # (n, n + 1): where the splits of a span begin in the tables of sisters
    slots: NDArray[np.int64]  # (symbols,): the column of a sister there
    left_boxes: Scores
    right_boxes: Scores


@dataclass(frozen=True, slots=True, eq=False)
class SpanBounds:
    """The inside half, which serves several thresholds."""

    index: HeadIndex
    scores: SpanScores
    inside: Scores  # (n, n + 1, symbols)
    live: NDArray[np.int64]
    sizes: NDArray[np.int64]

    @classmethod
    def of(cls, index: HeadIndex, lexical: Scores, scores: SpanScores) -> SpanBounds:
        """`lexical` (n, symbols) are the best scores of tags over words."""
        n = len(lexical)
        inside = np.full((n, n + 1, index.n_symbols), LOWEST)  # spans that are none stay so
        live, sizes = np.empty((n, n + 1, index.n_symbols), dtype=np.int64), np.zeros((n, n + 1), dtype=np.int64)
        left, right, up = index.left, index.right, index.up
        fill_bounds(
            lexical, scores.rows, scores.boxes, scores.slots, left.start, left.sister, left.parent, right.start, right.sister, right.parent,
            up.start, up.parent, up.rule, scores.left, scores.right, scores.left_boxes, scores.right_boxes, scores.unary,
            inside, live, sizes,
        )  # fmt: skip
        return cls(index, scores, inside, live, sizes)

    @property
    def best(self) -> float:
        """No parse scores more."""
        return float(self.inside[0, -1, self.index.root])

    def outside(self, threshold: float) -> Scores:
        """What the rest of a parse can add to a symbol over a span, -inf where no parse reaches the threshold."""
        outside = np.full(self.inside.shape, LOWEST)
        left, right, down, scores = self.index.left, self.index.right, self.index.down, self.scores
        fill_outside(
            self.inside, self.live, self.sizes, scores.rows, scores.boxes, scores.slots, left.start, left.sister, left.parent,
            right.start, right.sister, right.parent, down.start, down.parent, down.rule, scores.left, scores.right, scores.left_boxes,
            scores.right_boxes, scores.unary, self.index.root, threshold, outside,
        )  # fmt: skip
        return outside
