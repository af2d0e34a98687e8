"""CKY on a chart of the symbols that spans really have: the best parse under a weighted grammar (Rush 2014, section 2.2.3).

    before[i, j, X] = lexical[i, X] if j = i + 1, else max over k and X -> Y Z of after[i, k, Y] + score + after[k, j, Z]
    after[i, j, X]  = max over Y of closure[X, Y] + before[i, j, Y]

Departures: unary rules, also with cycles, by their closure; spans are half-open. A span is a sorted list of symbols with both scores. The
spans that end at j are also kept as dense rows while they are the right children: a left child that is there goes through the pairs of
children that some rule has, and looks up the other child. A pair is maximised over all splits before its sum is pushed to the parents:
annotated grammars have many parents for a pair. Back-pointers are recomputed. Of equal parses, the one without a chain, with the
smallest child of a chain, the leftmost split and the first rule is taken, from the top down.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zerogap.errors import Infeasible, InputError
from zerogap.grid import Scores, as_scores
from zerogap.kernels import float64, inner, int32, int64, kernel, readonly, types, writable
from zerogap.structures.grammar import Grammar
from zerogap.structures.unary_closure import UnaryClosure, close_unaries

LEXICAL = -1
CHAIN = -2
LOWEST = -np.inf
COLUMNS = 5  # of a step: start, end, symbol, rule, split

STARTS, PLACES, NUMBERS = readonly(int64, 1), readonly(int32, 1), readonly(float64, 1)
CELLS = readonly(int64, 3)


@dataclass(frozen=True, slots=True, eq=False)
class RuleIndex:
    """Binary rules by their parent; rules at -inf are left out."""

    start: NDArray[np.int64]  # (symbols + 1,)
    left: NDArray[np.int32]  # (rules,)
    right: NDArray[np.int32]
    scores: Scores
    rules: NDArray[np.int64]  # their places in the grammar

    @classmethod
    def of(cls, grammar: Grammar) -> RuleIndex:
        keep = np.flatnonzero(grammar.binary_scores > LOWEST)
        parents, left, right = np.ascontiguousarray(grammar.binary[keep].T)
        return cls(starts_of(parents, len(grammar.symbols)), left, right, grammar.binary_scores[keep], keep)


@dataclass(frozen=True, slots=True, eq=False)
class PairIndex:
    """The pairs of children that rules have, by one of the two; the parents of every pair. Rules at -inf are left out."""

    start: NDArray[np.int64]  # (symbols + 1,): the pairs of that child
    other: NDArray[np.int32]  # (pairs,): the other child
    parent_start: NDArray[np.int64]  # (pairs + 1,)
    parents: NDArray[np.int32]  # (rules,)
    scores: Scores  # (rules,)
    rules: NDArray[np.int64]  # (rules,): their places in the grammar

    @classmethod
    def of(cls, grammar: Grammar, by: int) -> PairIndex:
        """By the left child, 1, or by the right one, 2."""
        keep = np.flatnonzero(grammar.binary_scores > LOWEST)
        order = keep[np.lexsort((grammar.binary[keep, 0], grammar.binary[keep, 3 - by], grammar.binary[keep, by]))]
        parents, child, other = (np.ascontiguousarray(grammar.binary[order, column]) for column in (0, by, 3 - by))
        is_new = np.ones(len(order), dtype=np.bool_)
        is_new[1:] = (np.diff(child) != 0) | (np.diff(other) != 0)
        first = np.flatnonzero(is_new)
        start, parent_start = starts_of(child[first], len(grammar.symbols)), np.append(first, len(order)).astype(np.int64)
        return cls(start, other[first], parent_start, parents, grammar.binary_scores[order], order)


@dataclass(frozen=True, slots=True, eq=False)
class Chains:
    """Pairs of the closure sorted by one of their symbols, then by the other."""

    start: NDArray[np.int64]  # (symbols + 1,)
    other: NDArray[np.int32]
    scores: Scores

    @classmethod
    def of(cls, closure: UnaryClosure, n_symbols: int, by: int) -> Chains:
        order = np.lexsort((closure.pairs[:, 1 - by], closure.pairs[:, by]))
        start = starts_of(closure.pairs[order, by], n_symbols)
        return cls(start, np.ascontiguousarray(closure.pairs[order, 1 - by]), np.ascontiguousarray(closure.scores[order]))


@dataclass(frozen=True, slots=True, eq=False)
class IndexedGrammar:
    """A grammar with the tables of the kernels: made once, used for many sentences."""

    grammar: Grammar
    closure: UnaryClosure
    by_parent: RuleIndex
    by_left: PairIndex
    by_right: PairIndex
    down: Chains  # by parent
    up: Chains  # by child

    @classmethod
    def of(cls, grammar: Grammar) -> IndexedGrammar:
        closure = close_unaries(grammar.unary, grammar.unary_scores, grammar.symbols)
        n_symbols = len(grammar.symbols)
        return cls(
            grammar,
            closure,
            by_parent=RuleIndex.of(grammar),
            by_left=PairIndex.of(grammar, 1),
            by_right=PairIndex.of(grammar, 2),
            down=Chains.of(closure, n_symbols, 0),
            up=Chains.of(closure, n_symbols, 1),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """The symbols of every span, sorted, and their scores before and after chains of unary rules."""

    bounds: NDArray[np.int64]  # (n, n + 1, 2): where the items of the span are, from and to
    symbols: NDArray[np.int32]  # (items,)
    before: Scores  # (items,)
    after: Scores  # (items,)
    tried: int  # sums that were formed for binary rules: pairs of children at splits, and parents of pairs


@dataclass(frozen=True, slots=True, eq=False)
class Parse:
    """A parse, each node before those below it, left to right."""

    score: float  # the sum of its rules
    symbols: NDArray[np.int64]  # (nodes,)
    sizes: NDArray[np.int64]  # (nodes,): the number of children, 0 over a word
    rules: NDArray[np.int64]  # (nodes,): a binary rule, len(binary) + a unary rule, or LEXICAL


def starts_of(sorted_numbers: NDArray[np.int32], n_symbols: int) -> NDArray[np.int64]:
    return np.searchsorted(sorted_numbers, np.arange(n_symbols + 1)).astype(np.int64)


@inner
def with_room(symbols, before, after, count, wanted):
    """The lists of items, with room for so many more."""
    if count + wanted <= symbols.shape[0]:
        return symbols, before, after
    size = max(2 * symbols.shape[0], count + wanted)
    more_symbols, more_before, more_after = np.empty(size, dtype=np.int32), np.empty(size), np.empty(size)
    more_symbols[:count], more_before[:count], more_after[:count] = symbols[:count], before[:count], after[:count]
    return more_symbols, more_before, more_after


@inner
def forget(column, bounds, symbols, j):  # out: column, -inf again where spans that end at j had symbols
    for i in range(j):
        for item in range(bounds[i, j, 0], bounds[i, j, 1]):
            column[i, symbols[item]] = LOWEST


@kernel(
    types.Tuple((writable(int32, 1), writable(float64, 1), writable(float64, 1), int64, int64))(
        readonly(float64, 2), STARTS, PLACES, STARTS, PLACES, NUMBERS, STARTS, PLACES, NUMBERS, writable(int64, 3)
    )
)
def fill_cells(lexical, pair_start, pair_right, parent_start, parents, scores, up_start, up_parent, up_scores, bounds):  # out: bounds
    """The items of all spans, how many they are, and how many sums were formed. Spans go by their end, then from short to long."""
    n, n_symbols = lexical.shape
    symbols, before, after = np.empty(4096, dtype=np.int32), np.empty(4096), np.empty(4096)
    count, tried = 0, 0
    column = np.full((n, n_symbols), LOWEST)  # row k: after[k, j]
    first = np.empty(n_symbols)
    best = np.full(pair_right.shape[0], LOWEST)  # of every pair, over the splits
    for j in range(1, n + 1):
        for i in range(j - 1, -1, -1):
            cell = column[i]
            if i == j - 1:
                for x in range(n_symbols):
                    cell[x] = lexical[i, x]
            for k in range(i + 1, j):
                if bounds[k, j, 0] == bounds[k, j, 1]:
                    continue
                right = column[k]
                for item in range(bounds[i, k, 0], bounds[i, k, 1]):
                    score, begin, end = after[item], pair_start[symbols[item]], pair_start[symbols[item] + 1]
                    tried += end - begin
                    for pair in range(begin, end):
                        total = score + right[pair_right[pair]]
                        if total > best[pair]:
                            best[pair] = total
            if i < j - 1:
                for pair in range(best.shape[0]):
                    score = best[pair]
                    if score > LOWEST:
                        best[pair] = LOWEST
                        tried += parent_start[pair + 1] - parent_start[pair]
                        for r in range(parent_start[pair], parent_start[pair + 1]):
                            total = score + scores[r]
                            if total > cell[parents[r]]:
                                cell[parents[r]] = total
            for x in range(n_symbols):
                first[x] = cell[x]
            for x in range(n_symbols):
                if first[x] > LOWEST:
                    for p in range(up_start[x], up_start[x + 1]):
                        total = up_scores[p] + first[x]
                        if total > cell[up_parent[p]]:
                            cell[up_parent[p]] = total
            symbols, before, after = with_room(symbols, before, after, count, n_symbols)
            bounds[i, j, 0] = count
            for x in range(n_symbols):
                if cell[x] > LOWEST:
                    symbols[count], before[count], after[count] = x, first[x], cell[x]
                    count += 1
            bounds[i, j, 1] = count
        forget(column, bounds, symbols, j)
    return symbols, before, after, count, tried


@inner
def find_item(symbols, begin, end, symbol):
    """The place of a symbol in a sorted list, or -1."""
    stop = end
    while begin < end:
        middle = (begin + end) // 2
        if symbols[middle] < symbol:
            begin = middle + 1
        else:
            end = middle
    return begin if begin < stop and symbols[begin] == symbol else -1


@kernel(
    int64(
        CELLS, PLACES, NUMBERS, NUMBERS, STARTS, PLACES, PLACES, NUMBERS, STARTS, STARTS, PLACES, NUMBERS,
        int64, int64, writable(int64, 2),
    )
)  # fmt: skip
def read_steps(
    bounds, symbols, before, after, parent_start, parent_left, parent_right, parent_scores, parent_rules, down_start, down_child,
    down_scores, root, n_symbols, steps,
):  # out: steps, rows of start, end, symbol, rule, split; a chain has its child in the place of a split  # fmt: skip
    """The steps of a best parse, top first; returns how many, -1 if the tables do not belong together."""
    n = bounds.shape[0]
    waiting = np.empty((2 * n, 3), dtype=np.int64)
    waiting[0, 0], waiting[0, 1], waiting[0, 2] = 0, n, root
    height, count = 1, 0
    left, right = np.full(n_symbols, LOWEST), np.full(n_symbols, LOWEST)
    while height > 0:
        height -= 1
        i, j, x = waiting[height, 0], waiting[height, 1], waiting[height, 2]
        begin, end = bounds[i, j, 0], bounds[i, j, 1]
        item = find_item(symbols, begin, end, x)
        if item < 0:
            return -1
        if before[item] < after[item]:
            for p in range(down_start[x], down_start[x + 1]):
                below = find_item(symbols, begin, end, down_child[p])
                if below >= 0 and down_scores[p] + before[below] == after[item]:
                    steps[count, 0], steps[count, 1], steps[count, 2], steps[count, 3], steps[count, 4] = i, j, x, CHAIN, down_child[p]
                    count += 1
                    item, x = below, down_child[p]
                    break
        if j == i + 1:
            steps[count, 0], steps[count, 1], steps[count, 2], steps[count, 3], steps[count, 4] = i, j, x, LEXICAL, i
            count += 1
            continue
        rule, split = -1, -1
        for k in range(i + 1, j):
            for other in range(bounds[i, k, 0], bounds[i, k, 1]):
                left[symbols[other]] = after[other]
            for other in range(bounds[k, j, 0], bounds[k, j, 1]):
                right[symbols[other]] = after[other]
            for r in range(parent_start[x], parent_start[x + 1]):
                if left[parent_left[r]] + right[parent_right[r]] + parent_scores[r] == before[item]:
                    rule, split = r, k
                    break
            for other in range(bounds[i, k, 0], bounds[i, k, 1]):
                left[symbols[other]] = LOWEST
            for other in range(bounds[k, j, 0], bounds[k, j, 1]):
                right[symbols[other]] = LOWEST
            if rule >= 0:
                break
        if rule < 0:
            return -1
        steps[count, 0], steps[count, 1], steps[count, 2], steps[count, 3], steps[count, 4] = i, j, x, parent_rules[rule], split
        count += 1
        waiting[height, 0], waiting[height, 1], waiting[height, 2] = split, j, parent_right[rule]
        waiting[height + 1, 0], waiting[height + 1, 1], waiting[height + 1, 2] = i, split, parent_left[rule]
        height += 2
    return count


def inside_cells(indexed: IndexedGrammar, lexical: ArrayLike) -> tuple[Cells, Scores]:
    """The best score of every symbol over every span, given those over words (n, symbols), which are returned checked."""
    table = as_scores(lexical, "lexical", shape=(None, len(indexed.grammar.symbols)))
    n = len(table)
    if n == 0:
        raise InputError("lexical has no words: expected at least one.")
    bounds = np.zeros((n, n + 1, 2), dtype=np.int64)
    pairs, up = indexed.by_left, indexed.up
    symbols, before, after, count, tried = fill_cells(
        table, pairs.start, pairs.other, pairs.parent_start, pairs.parents, pairs.scores, up.start, up.other, up.scores, bounds
    )
    return Cells(bounds, symbols[:count].copy(), before[:count].copy(), after[:count].copy(), int(tried)), table


def best_score(indexed: IndexedGrammar, cells: Cells) -> float:
    """The score of the root over all words; -inf if there is no parse."""
    begin, end = cells.bounds[0, -1]
    at = np.searchsorted(cells.symbols[begin:end], indexed.grammar.root)
    return float(cells.after[begin + at]) if at < end - begin and cells.symbols[begin + at] == indexed.grammar.root else LOWEST


def require_parse(indexed: IndexedGrammar, cells: Cells) -> None:
    """Infeasible if there is no parse: it names the first word without a symbol, or else a first shortest span that nothing covers."""
    if best_score(indexed, cells) > LOWEST:
        return
    n = len(cells.bounds)
    what, conflict = f"other symbols cover all of them, {indexed.grammar.symbols[indexed.grammar.root]!r} does not", (0, n)
    empty = cells.bounds[:, :, 0] == cells.bounds[:, :, 1]
    for length in range(1, n + 1):
        starts = np.flatnonzero(empty[np.arange(n - length + 1), np.arange(length, n + 1)])
        if len(starts):
            i = int(starts[0])
            what = f"word {i} has no symbol" if length == 1 else f"no symbol covers words {i} to {i + length - 1}"
            conflict = (i, i + length)
            break
    raise Infeasible(f"the grammar has no parse of these {n} words: {what}.", (conflict,))


def best_parse(indexed: IndexedGrammar, lexical: ArrayLike) -> Parse:
    """A best parse of a sentence, given the score of every symbol over every word (n, symbols), -inf where it has none."""
    cells, table = inside_cells(indexed, lexical)
    require_parse(indexed, cells)
    by_parent, down = indexed.by_parent, indexed.down
    steps = np.empty((4 * len(table), COLUMNS), dtype=np.int64)
    count = read_steps(
        cells.bounds, cells.symbols, cells.before, cells.after, by_parent.start, by_parent.left, by_parent.right, by_parent.scores,
        by_parent.rules, down.start, down.other, down.scores, indexed.grammar.root, len(indexed.grammar.symbols), steps,
    )  # fmt: skip
    assert count > 0, "the chart belongs to other tables"
    rows = [(*row, tuple(indexed.closure.chain(row[2], row[4])) if row[3] == CHAIN else ()) for row in steps[:count].tolist()]
    return parse_of(indexed.grammar, table, rows)


def parse_of(grammar: Grammar, lexical: Scores, steps: Sequence[tuple[int, int, int, int, int, tuple[int, ...]]]) -> Parse:
    """The parse of steps (start, end, symbol, rule, split, rules of a chain), top first, and its score, summed from its rules."""
    symbols, sizes, rules, total = [], [], [], 0.0
    for start, _, symbol, rule, _, chain in steps:
        if rule == CHAIN:
            for unary in chain:
                symbols.append(int(grammar.unary[unary, 0]))
                sizes.append(1)
                rules.append(len(grammar.binary) + unary)
                total += float(grammar.unary_scores[unary])
            continue
        symbols.append(symbol)
        sizes.append(0 if rule == LEXICAL else 2)
        rules.append(rule)
        total += float(lexical[start, symbol] if rule == LEXICAL else grammar.binary_scores[rule])
    return Parse(total, np.array(symbols, dtype=np.int64), np.array(sizes, dtype=np.int64), np.array(rules, dtype=np.int64))
