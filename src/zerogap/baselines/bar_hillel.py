"""Joint parsing and tagging by intersection: items remember the tagger's contexts on both sides (Bar-Hillel; Rush 2014, theorem 2.2.1).

    before[i, j, X, q, r] = max over k, X -> Y Z and s of after[i, k, Y, q, s] + score + after[k, j, Z, s, r]
    after[i, j, X, q, r]  = max over Y of closure[X, Y] + before[i, j, Y, q, r]

A context is the last tags that the tagger looks at. Unless all are asked for, only contexts that some allowed sequence of tags goes through
at a place are there, and only symbols that the grammar alone allows over a span: exact, slow, and the yardstick of dual decomposition.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from zerogap.errors import Infeasible
from zerogap.grid import Scores
from zerogap.kernels import inner

if TYPE_CHECKING:
    from zerogap.oracles.parses.cky import IndexedGrammar
    from zerogap.problems.constituency.joint import JointProblem, Tree

LOWEST = -np.inf
Symbols = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Grids:
    """The items of every span: for a symbol, a table of contexts before and after it."""

    symbols: dict[tuple[int, int], dict[int, int]]  # span -> symbol -> row
    before: dict[tuple[int, int], Scores]  # span -> (rows, contexts before, contexts after)
    after: dict[tuple[int, int], Scores]


@inner
def join(
    pair_start: Any, pair_right: Any, parent_start: Any, parents: Any, scores: Any,
    left_symbols: Any, left: Any, right_row: Any, right: Any, row_of: Any, cell: Any,
) -> int:  # out: cell  # fmt: skip
    """Raises the items of a span by all pairs of children at one split; returns how many pairs there were."""
    n_before, n_between, n_after = left.shape[1], left.shape[2], right.shape[2]
    joined = np.empty((n_before, n_after))
    count = 0
    for item in range(left_symbols.shape[0]):
        for pair in range(pair_start[left_symbols[item]], pair_start[left_symbols[item] + 1]):
            row = right_row[pair_right[pair]]
            if row < 0:
                continue
            count += 1
            joined[:] = LOWEST
            for q in range(n_before):
                for s in range(n_between):
                    score = left[item, q, s]
                    if score > LOWEST:
                        for r in range(n_after):
                            joined[q, r] = max(joined[q, r], score + right[row, s, r])
            for rule in range(parent_start[pair], parent_start[pair + 1]):
                target = row_of[parents[rule]]
                for q in range(n_before):
                    for r in range(n_after):
                        cell[target, q, r] = max(cell[target, q, r], joined[q, r] + scores[rule])
    return count


def live_contexts(problem: JointProblem, table: Scores, *, every: bool = False) -> list[NDArray[np.int64]]:
    """The contexts after every number of words that allowed tags, or with `every` any tags, lead to; empty from where on there are none."""
    n_tags, contexts = len(problem.tags), len(table)
    found = [np.array([contexts - 1])]
    for i in range(problem.n_words):
        tags = np.arange(n_tags) if every else np.flatnonzero(problem.emissions[i] > LOWEST)
        following = (found[i][:, None] * (n_tags + 1) + tags) % contexts
        found.append(np.unique(following[table[found[i]][:, tags] > LOWEST]))
    return found


def fill_grids(
    problem: JointProblem, indexed: IndexedGrammar, live: list[NDArray[np.int64]], table: Scores, symbols: dict[tuple[int, int], Symbols]
) -> Grids:
    n, n_symbols, n_tags, contexts = problem.n_words, len(problem.grammar.symbols), len(problem.tags), len(table)
    grids, pairs, up = Grids({}, {}, {}), indexed.by_left, indexed.up
    for length in range(1, n + 1):
        for i in range(n - length + 1):
            j = i + length
            possible = symbols[i, j]
            row_of = np.full(n_symbols, -1, dtype=np.int64)
            row_of[possible] = np.arange(len(possible))
            cell = np.full((len(possible), len(live[i]), len(live[j])), LOWEST)
            if length == 1:
                for symbol, tag in zip(problem.tag_symbols, problem.tag_of.tolist(), strict=True):
                    score = problem.lexical[i, symbol] + problem.emissions[i, tag]
                    if score == LOWEST:
                        continue
                    for q, context in enumerate(live[i].tolist()):
                        if score + table[context, tag] > LOWEST:
                            following = np.searchsorted(live[j], (context * (n_tags + 1) + tag) % contexts)
                            cell[row_of[symbol], q, following] = score + table[context, tag]
            for k in range(i + 1, j):
                rows = np.full(n_symbols, -1, dtype=np.int64)
                rows[list(grids.symbols[k, j])] = np.arange(len(grids.symbols[k, j]))
                lefts = np.array(list(grids.symbols[i, k]), dtype=np.int64)
                join(
                    pairs.start, pairs.other, pairs.parent_start, pairs.parents, pairs.scores,
                    lefts, grids.after[i, k], rows, grids.after[k, j], row_of, cell,
                )  # fmt: skip
            closed = cell.copy()
            for row in np.flatnonzero((cell > LOWEST).any(axis=(1, 2))).tolist():
                for p in range(up.start[possible[row]], up.start[possible[row] + 1]):
                    target = row_of[up.other[p]]
                    np.maximum(closed[target], cell[row] + up.scores[p], out=closed[target])
            there = np.flatnonzero((closed > LOWEST).any(axis=(1, 2)))
            grids.symbols[i, j] = {symbol: row for row, symbol in enumerate(possible[there].tolist())}
            grids.before[i, j], grids.after[i, j] = cell[there], closed[there]
    return grids


def symbols_over_spans(problem: JointProblem, indexed: IndexedGrammar) -> dict[tuple[int, int], Symbols]:
    """What the grammar alone allows over each span: symbols, sorted."""
    n, n_symbols = problem.n_words, len(problem.grammar.symbols)
    binary, up = problem.grammar.binary[problem.grammar.binary_scores > LOWEST], indexed.up
    found: dict[tuple[int, int], NDArray[np.bool_]] = {}
    for length in range(1, n + 1):
        for i in range(n - length + 1):
            j = i + length
            there = problem.lexical[i] > LOWEST if length == 1 else np.zeros(n_symbols, dtype=np.bool_)
            for k in range(i + 1, j):
                there[binary[found[i, k][binary[:, 1]] & found[k, j][binary[:, 2]], 0]] = True
            for x in np.flatnonzero(there).tolist():
                there[up.other[up.start[x] : up.start[x + 1]]] = True
            found[i, j] = there
    return {span: np.flatnonzero(there) for span, there in found.items()}


def best_joint_parse(problem: JointProblem, indexed: IndexedGrammar, *, every_context: bool = False) -> Tree:
    """The best structure, given the tables of the problem's grammar; Infeasible if there is none.

    With `every_context` the tagger's whole automaton is intersected, also the states that no tags of these words lead to.
    """
    n, n_tags = problem.n_words, len(problem.tags)
    table = problem.transitions.reshape(-1, n_tags + 1)
    live = live_contexts(problem, table, every=every_context)
    grids = fill_grids(problem, indexed, live, table, symbols_over_spans(problem, indexed))
    row = grids.symbols[0, n].get(problem.grammar.root)
    ends = LOWEST if row is None else grids.after[0, n][row, 0] + table[live[n], n_tags]
    if np.max(ends, initial=LOWEST) == LOWEST:
        raise Infeasible("no parse of the sentence by the grammar has tags that the tagger allows.", ("grammar", "tagger"))
    return read_tree(problem, indexed, grids, (0, n, problem.grammar.root, 0, int(np.argmax(ends))))


def read_tree(problem: JointProblem, indexed: IndexedGrammar, grids: Grids, top: tuple[int, int, int, int, int]) -> Tree:
    """A best structure from the items: what an item is made of has exactly its score."""
    names, grammar = problem.grammar.symbols, problem.grammar
    by_parent, down = indexed.by_parent, indexed.down
    i, j, x, q, r = top
    rows = grids.symbols[i, j]
    score = grids.after[i, j][rows[x], q, r]
    above: list[str] = []
    if grids.before[i, j][rows[x], q, r] < score:
        for p in range(down.start[x], down.start[x + 1]):
            child = int(down.other[p])
            if child in rows and down.scores[p] + grids.before[i, j][rows[child], q, r] == score:
                above = [names[grammar.unary[rule, 0]] for rule in indexed.closure.chain(x, child)]
                x, score = child, grids.before[i, j][rows[child], q, r]
                break
    tree: Tree = (names[x], i)
    for k, rule in ((k, rule) for k in range(i + 1, j) for rule in range(by_parent.start[x], by_parent.start[x + 1])):
        left, right = int(by_parent.left[rule]), int(by_parent.right[rule])
        if left not in grids.symbols[i, k] or right not in grids.symbols[k, j]:
            continue
        ways = grids.after[i, k][grids.symbols[i, k][left], q] + grids.after[k, j][grids.symbols[k, j][right], :, r]
        if ways.max(initial=LOWEST) + by_parent.scores[rule] == score:
            s = int(ways.argmax())
            first = read_tree(problem, indexed, grids, (i, k, left, q, s))
            tree = (names[x], first, read_tree(problem, indexed, grids, (k, j, right, s, r)))
            break
    for name in reversed(above):
        tree = (name, tree)
    return tree
