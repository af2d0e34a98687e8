"""CKY as a hypergraph: one vertex per useful item (start, end, symbol), one hyperedge per useful rule application.

Rush 2014, section 2.2.3. Departures: words are terminals below their symbols, so that lexical scores sit on hyperedges
and a sentence of one word is a hypergraph too; unary rules are allowed; items that derive nothing or that no parse
uses are never built. Spans are half-open.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zerogap.errors import Infeasible, InputError
from zerogap.grid import Scores, as_scores
from zerogap.kernels import boolean, float64, int32, int64, kernel, readonly, writable
from zerogap.structures.grammar import Grammar
from zerogap.structures.hypergraph import Hypergraph

LEXICAL = -1


@dataclass(frozen=True, slots=True, eq=False)
class Chart:
    """A parse forest: what every vertex and hyperedge of the hypergraph stands for."""

    hypergraph: Hypergraph
    scores: Scores  # (E,)
    items: NDArray[np.int32]  # (V, 3): start, end, symbol; terminals too
    rules: NDArray[np.int32]  # (E,): a binary rule, len(binary) + a unary rule, or LEXICAL
    n_terminals: int  # vertices 0 .. n_terminals - 1 are the words as instances of symbols


@kernel(
    int64(
        readonly(int32, 2), readonly(int64, 1), readonly(int32, 2), readonly(int64, 1), int64,
        writable(boolean, 3), writable(boolean, 3), writable(int64, 1),
    )
)  # fmt: skip
def mark_items(binary, binary_start, unary, unary_start, root, derives, needed, sizes):  # out: derives (n, n+1, S), needed, sizes (4,)
    """Marks what derives its words (given for single words by lexical rules) and what the root needs; counts both."""
    n, n_symbols = derives.shape[0], derives.shape[2]
    for length in range(1, n + 1):
        for i in range(n - length + 1):
            j = i + length
            for x in range(n_symbols):
                for r in range(binary_start[x], binary_start[x + 1]):
                    if derives[i, j, x]:
                        break
                    left, right = binary[r, 1], binary[r, 2]
                    for split in range(i + 1, j):
                        if derives[i, split, left] and derives[split, j, right]:
                            derives[i, j, x] = True
                            break
                for r in range(unary_start[x], unary_start[x + 1]):
                    derives[i, j, x] = derives[i, j, x] or derives[i, j, unary[r, 1]]
    needed[0, n, root] = derives[0, n, root]
    vertices, edges, tails = 0, 0, 0
    for length in range(n, 0, -1):
        for i in range(n - length + 1):
            j = i + length
            for x in range(n_symbols - 1, -1, -1):
                if not needed[i, j, x]:
                    continue
                vertices += 1
                for r in range(unary_start[x], unary_start[x + 1]):
                    if derives[i, j, unary[r, 1]]:
                        needed[i, j, unary[r, 1]] = True
                        edges += 1
                        tails += 1
                for r in range(binary_start[x], binary_start[x + 1]):
                    left, right = binary[r, 1], binary[r, 2]
                    for split in range(i + 1, j):
                        if derives[i, split, left] and derives[split, j, right]:
                            needed[i, split, left] = True
                            needed[split, j, right] = True
                            edges += 1
                            tails += 2
    sizes[0], sizes[1], sizes[2] = vertices, edges, tails
    return 0


@kernel(
    int64(
        readonly(int32, 2), readonly(int64, 1), readonly(float64, 1), readonly(int32, 2), readonly(int64, 1), readonly(float64, 1),
        readonly(float64, 2), readonly(boolean, 3), readonly(boolean, 3), int64,
        writable(int64, 1), writable(int32, 1), writable(int32, 1), writable(float64, 1), writable(int32, 1), writable(int32, 2),
    )
)  # fmt: skip
def fill_chart(
    binary, binary_start, binary_scores, unary, unary_start, unary_scores, lexical, derives, needed, n_terminals,
    edge_start, tail_start, tails, scores, rules, items,
):  # out: edge_start, tail_start, tails, scores, rules, items  # fmt: skip
    n, n_symbols = lexical.shape
    number = np.full((n, n + 1, n_symbols), -1, dtype=np.int32)
    edge_start[0], tail_start[0] = 0, 0
    terminal, v, e, t = 0, n_terminals, 0, 0
    for length in range(1, n + 1):
        for i in range(n - length + 1):
            j = i + length
            for x in range(n_symbols):
                if not needed[i, j, x]:
                    continue
                number[i, j, x] = v
                items[v, 0], items[v, 1], items[v, 2] = i, j, x
                if length == 1 and lexical[i, x] > -np.inf:
                    items[terminal, 0], items[terminal, 1], items[terminal, 2] = i, j, x
                    tails[t] = terminal
                    terminal += 1
                    scores[e], rules[e] = lexical[i, x], LEXICAL
                    t += 1
                    e += 1
                    tail_start[e] = t
                for r in range(unary_start[x], unary_start[x + 1]):
                    if derives[i, j, unary[r, 1]]:
                        tails[t] = number[i, j, unary[r, 1]]
                        scores[e], rules[e] = unary_scores[r], binary.shape[0] + r
                        t += 1
                        e += 1
                        tail_start[e] = t
                for r in range(binary_start[x], binary_start[x + 1]):
                    left, right = binary[r, 1], binary[r, 2]
                    for split in range(i + 1, j):
                        if derives[i, split, left] and derives[split, j, right]:
                            tails[t] = number[i, split, left]
                            tails[t + 1] = number[split, j, right]
                            scores[e], rules[e] = binary_scores[r], r
                            t += 2
                            e += 1
                            tail_start[e] = t
                v += 1
                edge_start[v] = e
    edge_start[: n_terminals + 1] = 0
    return e


def cky_hypergraph(grammar: Grammar, lexical: ArrayLike) -> Chart:
    """All parses of a sentence, given the score of every symbol over every word (n, symbols), -inf where it has none.

    Infeasible if there is no parse: the message names a shortest span at which every attempt fails.
    """
    table = as_scores(lexical, "lexical", shape=(None, len(grammar.symbols)))
    n, n_symbols = table.shape
    if n == 0:
        raise InputError("lexical has no words: expected at least one.")
    binary_keep, unary_keep = grammar.binary_scores > -np.inf, grammar.unary_scores > -np.inf
    binary, unary = np.ascontiguousarray(grammar.binary[binary_keep]), np.ascontiguousarray(grammar.unary[unary_keep])
    binary_start = np.searchsorted(binary[:, 0], np.arange(n_symbols + 1)).astype(np.int64)
    unary_start = np.searchsorted(unary[:, 0], np.arange(n_symbols + 1)).astype(np.int64)
    derives = np.zeros((n, n + 1, n_symbols), dtype=np.bool_)
    derives[np.arange(n), np.arange(1, n + 1)] = table > -np.inf
    needed = np.zeros_like(derives)
    sizes = np.zeros(3, dtype=np.int64)
    mark_items(binary, binary_start, unary, unary_start, grammar.root, derives, needed, sizes)
    if not needed[0, n, grammar.root]:
        raise Infeasible(no_parse_message(grammar, derives))
    single = needed[np.arange(n), np.arange(1, n + 1)] & (table > -np.inf)
    n_terminals = int(single.sum())
    n_vertices, n_edges = int(sizes[0]) + n_terminals, int(sizes[1]) + n_terminals
    n_tails = int(sizes[2]) + n_terminals
    if n_tails >= 2**31:
        raise InputError(f"the forest has {n_edges:,} hyperedges: more than 2^31 tail entries do not fit.")
    edge_start, tail_start = np.empty(n_vertices + 1, dtype=np.int64), np.empty(n_edges + 1, dtype=np.int32)
    tails, scores = np.empty(n_tails, dtype=np.int32), np.empty(n_edges)
    rules, items = np.empty(n_edges, dtype=np.int32), np.empty((n_vertices, 3), dtype=np.int32)
    fill_chart(
        binary, binary_start, grammar.binary_scores[binary_keep], unary, unary_start, grammar.unary_scores[unary_keep],
        table, derives, needed, n_terminals, edge_start, tail_start, tails, scores, rules, items,
    )  # fmt: skip
    given = np.concatenate([np.flatnonzero(binary_keep), len(grammar.binary) + np.flatnonzero(unary_keep), [LEXICAL]])
    graph = Hypergraph(edge_start, tail_start, tails, root=n_vertices - 1)
    return Chart(graph, scores, items, given[rules].astype(np.int32), n_terminals)


def no_parse_message(grammar: Grammar, derives: NDArray[np.bool_]) -> str:
    """Names the first word with no symbol, or else a shortest span that nothing covers."""
    n = len(derives)
    for length in range(1, n + 1):
        for i in range(n - length + 1):
            if not derives[i, i + length].any():
                what = f"word {i} has no symbol" if length == 1 else f"no symbol covers words {i} to {i + length - 1}"
                return f"the grammar has no parse of these {n} words: {what}."
    root = grammar.symbols[grammar.root]
    return f"the grammar has no parse of these {n} words: other symbols cover all of them, {root!r} does not."
