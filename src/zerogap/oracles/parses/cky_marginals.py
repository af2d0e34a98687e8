"""The best parse with a symbol over a span, or with a rule: max-marginals by an outside pass over the chart (Rush 2014, section 2.2.2).

    above[i, j, X] = max over A of top[i, j, A] + closure[A, X]          what the rest of a parse can add to X over the span
    top[i, k, Y]   = max over j and X -> Y Z of above[i, j, X] + score + after[k, j, Z]       and the same for right children

Spans go by their start, from long to short: those that start at i are dense rows while they are the left children, right children are
lists. What the parents of a pair of children can add is maximised before the splits are gone through. Nothing is subtracted, so that
what is on a grid stays there, and -inf means that there is no such parse. A parse may go round a cycle of unary rules: a rule that is on
no best chain still has its best parse.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from zerogap.grid import Scores
from zerogap.kernels import float64, int32, int64, kernel, readonly, writable
from zerogap.oracles.parses.cky import (
    CELLS,
    LOWEST,
    NUMBERS,
    PLACES,
    STARTS,
    Cells,
    IndexedGrammar,
    best_score,
    inside_cells,
    require_parse,
)


@dataclass(frozen=True, slots=True, eq=False)
class MaxMarginals:
    """Scores of best parses with something in them, -inf where there is none."""

    score: float  # of a best parse
    cells: Cells
    items: Scores  # (items,): with the symbol over the span, somewhere in a chain of unary rules
    words: Scores  # (n, symbols): with the symbol directly over the word
    binary: Scores  # (rules,): with the rule anywhere
    unary: Scores  # (rules,)


@kernel(
    int64(
        CELLS, PLACES, NUMBERS, NUMBERS, STARTS, PLACES, STARTS, PLACES, NUMBERS, STARTS, STARTS, PLACES, NUMBERS, readonly(int32, 2),
        NUMBERS, int64, writable(float64, 1), writable(float64, 2), writable(float64, 1), writable(float64, 1),
    )
)  # fmt: skip
def outside_maxima(
    bounds, symbols, before, after, pair_start, pair_left, parent_start, parents, scores, rules, down_start, down_child, down_scores,
    unary, unary_scores, root, items, words, of_binary, of_unary,
):  # out: items, words, of_binary, of_unary, all given as -inf  # fmt: skip
    n, n_symbols = words.shape
    top = np.full(symbols.shape[0], LOWEST)  # from the parents of right children
    inside, outside = np.full((n + 1, n_symbols), LOWEST), np.full((n + 1, n_symbols), LOWEST)  # row k: of the span (i, k)
    above = np.full(n_symbols, LOWEST)
    added, best = np.full(pair_left.shape[0], LOWEST), np.full(pair_left.shape[0], LOWEST)  # of a pair: by its parents, over the splits
    for i in range(n):
        for j in range(i + 1, n + 1):
            for item in range(bounds[i, j, 0], bounds[i, j, 1]):
                inside[j, symbols[item]] = after[item]
        for j in range(n, i, -1):
            reached = False
            for item in range(bounds[i, j, 0], bounds[i, j, 1]):
                x = symbols[item]
                score = max(top[item], outside[j, x])
                if i == 0 and j == n and x == root:
                    score = max(score, 0.0)
                if score == LOWEST:
                    continue
                reached = True
                above[x] = max(above[x], score)
                for p in range(down_start[x], down_start[x + 1]):
                    above[down_child[p]] = max(above[down_child[p]], score + down_scores[p])
            if not reached:
                continue
            for item in range(bounds[i, j, 0], bounds[i, j, 1]):
                items[item] = above[symbols[item]] + after[item]
                if j == i + 1:
                    words[i, symbols[item]] = above[symbols[item]] + before[item]
            for r in range(unary.shape[0]):
                of_unary[r] = max(of_unary[r], above[unary[r, 0]] + unary_scores[r] + inside[j, unary[r, 1]])
            if j > i + 1:
                for pair in range(added.shape[0]):
                    score = LOWEST
                    for r in range(parent_start[pair], parent_start[pair + 1]):
                        score = max(score, above[parents[r]] + scores[r])
                    added[pair], best[pair] = score, LOWEST
                for k in range(i + 1, j):
                    left, left_outside = inside[k], outside[k]
                    for item in range(bounds[k, j, 0], bounds[k, j, 1]):
                        highest, score, z = top[item], after[item], symbols[item]
                        for pair in range(pair_start[z], pair_start[z + 1]):
                            if added[pair] > LOWEST:
                                y = pair_left[pair]
                                highest = max(highest, added[pair] + left[y])
                                left_outside[y] = max(left_outside[y], added[pair] + score)
                                best[pair] = max(best[pair], left[y] + score)
                        top[item] = highest
                for pair in range(added.shape[0]):
                    if best[pair] > LOWEST:
                        for r in range(parent_start[pair], parent_start[pair + 1]):
                            of_binary[rules[r]] = max(of_binary[rules[r]], above[parents[r]] + scores[r] + best[pair])
            for x in range(n_symbols):
                above[x] = LOWEST
        for j in range(i + 1, n + 1):
            for x in range(n_symbols):
                inside[j, x] = LOWEST
                outside[j, x] = LOWEST
    return 0


def max_marginals(indexed: IndexedGrammar, lexical: ArrayLike) -> MaxMarginals:
    """For every symbol over every span, and for every rule, the score of a best parse with it; Infeasible if there is no parse."""
    cells, table = inside_cells(indexed, lexical)
    require_parse(indexed, cells)
    grammar, by_right, down = indexed.grammar, indexed.by_right, indexed.down
    items, words = np.full(len(cells.symbols), LOWEST), np.full(table.shape, LOWEST)
    binary, unary = np.full(len(grammar.binary), LOWEST), np.full(len(grammar.unary), LOWEST)
    outside_maxima(
        cells.bounds, cells.symbols, cells.before, cells.after, by_right.start, by_right.other, by_right.parent_start,
        by_right.parents, by_right.scores, by_right.rules, down.start, down.other, down.scores, grammar.unary, grammar.unary_scores,
        grammar.root, items, words, binary, unary,
    )  # fmt: skip
    return MaxMarginals(best_score(indexed, cells), cells, items, words, binary, unary)
