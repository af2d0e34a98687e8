"""Sums over all parses: inside and outside of a weighted grammar, in logarithms.

    before[i, j, X] = log sum over k and X -> Y Z of exp(after[i, k, Y] + score + after[k, j, Z])
    after[i, j, X]  = log sum over Y of chains[X, Y] exp(before[i, j, Y])          chains = I + U + U^2 + ...

U has exp(score) of the unary rules: chains of any length count, those round a cycle too, as they do in the probability of a sentence
under a PCFG. Every sum is taken after its largest term is known, so that nothing overflows, and only what is less than e^-40 of it is
lost. Expected counts flow from the top down as probabilities.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from zerogap.errors import GrammarError, InputError
from zerogap.grid import Scores, as_scores
from zerogap.kernels import float64, int32, int64, kernel, readonly, types, writable
from zerogap.oracles.parses.cky import (
    CELLS,
    LOWEST,
    NUMBERS,
    PLACES,
    STARTS,
    Cells,
    Chains,
    IndexedGrammar,
    best_score,
    forget,
    require_parse,
    with_room,
)
from zerogap.structures.unary_closure import UnaryClosure

SMALLEST = -40.0  # exp of less does not count


@dataclass(frozen=True, slots=True, eq=False)
class Sums:
    """The logarithm of the sum over all parses of exp(score), and how often things are expected when parses have such probabilities."""

    total: float
    cells: Cells
    items: Scores  # (items,): the symbol over the span; more than 1 only round a cycle of unary rules
    words: Scores  # (n, symbols): the symbol directly over the word
    binary: Scores  # (rules,)
    unary: Scores  # (rules,)


@kernel(
    types.Tuple((writable(int32, 1), writable(float64, 1), writable(float64, 1), int64))(
        readonly(float64, 2), STARTS, PLACES, STARTS, PLACES, NUMBERS, STARTS, PLACES, NUMBERS, writable(int64, 3)
    )
)
def fill_sums(lexical, pair_start, pair_right, parent_start, parents, scores, up_start, up_parent, up_scores, bounds):  # out: bounds
    """As `cky_chart.fill_cells`, with sums for maxima; `up` has every symbol above itself too. Everything is gone through twice."""
    n, n_symbols = lexical.shape
    symbols, before, after = np.empty(4096, dtype=np.int32), np.empty(4096), np.empty(4096)
    count = 0
    column = np.full((n, n_symbols), LOWEST)
    high, total = np.empty(n_symbols), np.empty(n_symbols)
    pair_high, pair_total = np.full(pair_right.shape[0], LOWEST), np.zeros(pair_right.shape[0])
    first = np.empty(n_symbols)
    for j in range(1, n + 1):
        for i in range(j - 1, -1, -1):
            cell = column[i]
            for x in range(n_symbols):
                high[x], total[x] = LOWEST, 0.0
            for turn in range(2 if i < j - 1 else 0):
                for k in range(i + 1, j):
                    right = column[k]
                    for item in range(bounds[i, k, 0], bounds[i, k, 1]):
                        for pair in range(pair_start[symbols[item]], pair_start[symbols[item] + 1]):
                            score = after[item] + right[pair_right[pair]]
                            if turn == 0:
                                pair_high[pair] = max(pair_high[pair], score)
                            elif score > pair_high[pair] + SMALLEST:
                                pair_total[pair] += math.exp(score - pair_high[pair])
            for turn in range(2 if i < j - 1 else 0):
                for pair in range(pair_high.shape[0]):
                    if pair_high[pair] == LOWEST:
                        continue
                    if turn == 0:
                        pair_high[pair] += math.log(pair_total[pair])
                    for r in range(parent_start[pair], parent_start[pair + 1]):
                        score, parent = pair_high[pair] + scores[r], parents[r]
                        if turn == 0:
                            high[parent] = max(high[parent], score)
                        elif score > high[parent] + SMALLEST:
                            total[parent] += math.exp(score - high[parent])
                    if turn == 1:
                        pair_high[pair], pair_total[pair] = LOWEST, 0.0
            for x in range(n_symbols):
                if j == i + 1:
                    first[x] = lexical[i, x]
                else:
                    first[x] = high[x] + math.log(total[x]) if high[x] > LOWEST else LOWEST
                high[x], total[x] = LOWEST, 0.0
            for turn in range(2):
                for y in range(n_symbols):
                    if first[y] == LOWEST:
                        continue
                    for p in range(up_start[y], up_start[y + 1]):
                        x, score = up_parent[p], up_scores[p] + first[y]
                        if turn == 0:
                            high[x] = max(high[x], score)
                        elif score > high[x] + SMALLEST:
                            total[x] += math.exp(score - high[x])
            symbols, before, after = with_room(symbols, before, after, count, n_symbols)
            bounds[i, j, 0] = count
            for x in range(n_symbols):
                if high[x] > LOWEST:
                    cell[x] = high[x] + math.log(total[x])
                    symbols[count], before[count], after[count] = x, first[x], cell[x]
                    count += 1
            bounds[i, j, 1] = count
        forget(column, bounds, symbols, j)
    return symbols, before, after, count


@kernel(
    int64(
        CELLS, PLACES, NUMBERS, NUMBERS, STARTS, PLACES, STARTS, PLACES, NUMBERS, STARTS, STARTS, PLACES, NUMBERS, readonly(int32, 2),
        NUMBERS, int64, writable(float64, 1), writable(float64, 2), writable(float64, 1), writable(float64, 1),
    )
)  # fmt: skip
def expected_counts(
    bounds, symbols, before, after, pair_start, pair_left, parent_start, parents, scores, rules, down_start, down_child, down_scores,
    unary, unary_scores, root, items, words, of_binary, of_unary,
):  # out: items, words, of_binary, of_unary, all given as 0; `down` has every symbol below itself too  # fmt: skip
    n, n_symbols = words.shape
    top = np.zeros(symbols.shape[0])
    inside, flows = np.full((n + 1, n_symbols), LOWEST), np.zeros((n + 1, n_symbols))  # row k: of the span (i, k)
    first, visits = np.full(n_symbols, LOWEST), np.zeros(n_symbols)
    weight = np.full(n_symbols, LOWEST)  # log(flow into before[x]) - before[x]
    added, flow_of = np.full(pair_left.shape[0], LOWEST), np.zeros(pair_left.shape[0])  # of a pair: by its parents, over the splits
    for i in range(n):
        for j in range(i + 1, n + 1):
            for item in range(bounds[i, j, 0], bounds[i, j, 1]):
                inside[j, symbols[item]] = after[item]
        for j in range(n, i, -1):
            begin, end, reached = bounds[i, j, 0], bounds[i, j, 1], False
            for item in range(begin, end):
                first[symbols[item]], visits[symbols[item]], weight[symbols[item]] = before[item], 0.0, 0.0
            for item in range(begin, end):  # down the chains
                a = symbols[item]
                flow = top[item] + flows[j, a] + (1.0 if i == 0 and j == n and a == root else 0.0)
                if flow == 0.0:
                    continue
                reached = True
                for p in range(down_start[a], down_start[a + 1]):
                    x = down_child[p]
                    if inside[j, x] > LOWEST:
                        visits[x] += flow * math.exp(down_scores[p] + inside[j, x] - after[item])
                    if first[x] > LOWEST:
                        weight[x] += flow * math.exp(down_scores[p] + first[x] - after[item])
            for r in range(unary.shape[0]):
                x, y = unary[r, 0], unary[r, 1]
                if inside[j, x] > LOWEST and visits[x] > 0.0:
                    of_unary[r] += visits[x] * math.exp(unary_scores[r] + inside[j, y] - inside[j, x])
            for item in range(begin, end):
                x = symbols[item]
                items[item] = visits[x]
                if j == i + 1:
                    words[i, x] = weight[x]
                weight[x] = math.log(weight[x]) - before[item] if weight[x] > 0.0 else LOWEST
            if j > i + 1 and reached:
                for pair in range(added.shape[0]):
                    high, total = LOWEST, 0.0
                    for r in range(parent_start[pair], parent_start[pair + 1]):
                        high = max(high, weight[parents[r]] + scores[r])
                    if high > LOWEST:
                        for r in range(parent_start[pair], parent_start[pair + 1]):
                            total += math.exp(weight[parents[r]] + scores[r] - high)
                        high += math.log(total)
                    added[pair], flow_of[pair] = high, 0.0
                for k in range(i + 1, j):
                    left, left_flows = inside[k], flows[k]
                    for item in range(bounds[k, j, 0], bounds[k, j, 1]):
                        z = symbols[item]
                        for pair in range(pair_start[z], pair_start[z + 1]):
                            share = added[pair] + left[pair_left[pair]] + after[item]
                            if share > SMALLEST:
                                share = math.exp(share)
                                top[item] += share
                                left_flows[pair_left[pair]] += share
                                flow_of[pair] += share
                for pair in range(added.shape[0]):
                    if flow_of[pair] > 0.0:
                        for r in range(parent_start[pair], parent_start[pair + 1]):
                            of_binary[rules[r]] += flow_of[pair] * math.exp(weight[parents[r]] + scores[r] - added[pair])
            for item in range(begin, end):
                first[symbols[item]], visits[symbols[item]], weight[symbols[item]] = LOWEST, 0.0, LOWEST
        for j in range(i + 1, n + 1):
            for item in range(bounds[i, j, 0], bounds[i, j, 1]):
                inside[j, symbols[item]] = LOWEST
            for x in range(n_symbols):
                flows[j, x] = 0.0
    return 0


def summed_chains(indexed: IndexedGrammar) -> UnaryClosure:
    """The logarithm of the sum over all chains between two symbols, also of a symbol to itself. GrammarError if it has no limit."""
    grammar, closure = indexed.grammar, indexed.closure
    used = np.unique(grammar.unary[grammar.unary_scores > LOWEST]) if len(grammar.unary) else np.zeros(0, dtype=np.int32)
    place = np.full(len(grammar.symbols), -1)
    place[used] = np.arange(len(used))
    keep = grammar.unary_scores > LOWEST
    rules, scores = place[grammar.unary[keep]].reshape(-1, 2), grammar.unary_scores[keep]
    pairs = np.concatenate([closure.pairs, np.stack([np.arange(len(grammar.symbols))] * 2, axis=1).astype(np.int32)])
    log_sums = np.zeros(len(pairs))
    if len(used):
        # U is scaled by a potential of every symbol, so that weights of any size can be added: exp(score + height[child] - height[parent])
        height = np.zeros(len(used))
        for _ in range(len(used)):
            better = height.copy()
            np.maximum.at(better, rules[:, 0], scores + height[rules[:, 1]])
            if (better == height).all():
                break
            height = better
        table = np.zeros((len(used), len(used)))
        table[rules[:, 0], rules[:, 1]] = np.exp(scores + height[rules[:, 1]] - height[rules[:, 0]])
        if grammar.cycles and np.abs(np.linalg.eigvals(table)).max() >= 1.0 - 1e-12:
            raise GrammarError("the sum over chains of unary rules has no limit: some cycle has too much weight.")
        sums = np.linalg.solve(np.eye(len(used)) - table, np.eye(len(used)))
        among = (place[pairs] >= 0).all(axis=1)
        a, b = place[pairs[among]].T
        log_sums[among] = np.log(np.maximum(sums[a, b], np.finfo(np.float64).tiny)) + height[a] - height[b]
    return UnaryClosure(pairs, log_sums, np.zeros(len(pairs), dtype=np.int64), grammar.unary)


def sum_parses(indexed: IndexedGrammar, lexical: ArrayLike, *, counts: bool = True, chains: UnaryClosure | None = None) -> Sums:
    """The sum over all parses, and unless `counts` is False, what is expected of them; Infeasible if there is no parse.

    `chains` are the `summed_chains` of the grammar, if they are at hand from another sentence.
    """
    n_symbols = len(indexed.grammar.symbols)
    table = as_scores(lexical, "lexical", shape=(None, n_symbols))
    n = len(table)
    if n == 0:
        raise InputError("lexical has no words: expected at least one.")
    grammar, by_left, by_right = indexed.grammar, indexed.by_left, indexed.by_right
    chains = chains or summed_chains(indexed)
    up, down = Chains.of(chains, n_symbols, 1), Chains.of(chains, n_symbols, 0)
    bounds = np.zeros((n, n + 1, 2), dtype=np.int64)
    symbols, before, after, count = fill_sums(
        table, by_left.start, by_left.other, by_left.parent_start, by_left.parents, by_left.scores, up.start, up.other, up.scores, bounds
    )
    cells = Cells(bounds, symbols[:count].copy(), before[:count].copy(), after[:count].copy(), 0)
    require_parse(indexed, cells)
    items, words = np.zeros(count), np.zeros(table.shape)
    binary, unary = np.zeros(len(grammar.binary)), np.zeros(len(grammar.unary))
    if counts:
        expected_counts(
            cells.bounds, cells.symbols, cells.before, cells.after, by_right.start, by_right.other, by_right.parent_start,
            by_right.parents, by_right.scores, by_right.rules, down.start, down.other, down.scores, grammar.unary, grammar.unary_scores,
            grammar.root, items, words, binary, unary,
        )  # fmt: skip
    return Sums(best_score(indexed, cells), cells, items, words, binary, unary)
