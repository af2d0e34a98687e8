"""Synchronous context-free grammars: rules that rewrite one symbol in two languages at once (Rush 2014, example 5.1.2; Chiang 2007).

Source sides are kept in a trie, so that the rules of all of them are matched together:

    children of node t:  child_symbols[child_start[t] : child_start[t + 1]], sorted, and child_nodes
    rules at node t:     rule_start[t] .. rule_start[t + 1], those whose source side is the path to t

A symbol is a word from 0 on, or the nonterminal A as -1 - A. On target sides, -1 - k is the k-th nonterminal of the source side.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from zerogap.errors import GrammarError, InputError
from zerogap.grid import Scores

GOAL, PHRASE = "S", "X"  # Chiang's symbols: sentences by glue rules, and phrases
LANGUAGE_MODEL, WORDS, MAX_SPAN, PASS_THROUGH = "lm", "words", "max_span", "oov"  # what weights name besides features of rules

Ids = NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class SynchronousGrammar:
    """Rules grouped by their source side. Nonterminals are numbered such that one which rewrites to another alone comes after it."""

    nonterminals: tuple[str, ...]
    source_words: dict[str, int]
    target_words: tuple[str, ...]
    child_start: Ids  # (nodes + 1,)
    child_symbols: Ids
    child_nodes: Ids
    rule_start: Ids  # (nodes + 1,)
    heads: Ids  # (rules,), a nonterminal each
    target_start: Ids  # (rules + 1,)
    target_symbols: Ids
    feature_names: tuple[str, ...]  # all of the file's, also of rules that were left out
    features: Scores  # (rules, features)

    @property
    def n_rules(self) -> int:
        return len(self.heads)

    def symbol(self, name: str) -> int:
        """The number of a nonterminal; GrammarError if the grammar has none of this name."""
        try:
            return self.nonterminals.index(name)
        except ValueError:
            raise GrammarError(f"nonterminal {name!r} is not in the grammar: it has {', '.join(self.nonterminals)}.") from None

    def __repr__(self) -> str:
        return f"SynchronousGrammar({self.n_rules:,} rules, {len(self.child_start) - 1:,} trie nodes)"

    def rule_scores(self, weights: Mapping[str, float]) -> Scores:
        """The log-linear score of every rule: its features and its target words, without the language model.

        `weights` may name features of rules, `words`, `lm`, `max_span` and `oov`; any other name is an error, and features without a weight
        count nothing.
        """
        check_weights(self, weights)
        vector = np.array([float(weights.get(name, 0.0)) for name in self.feature_names])
        is_word = np.concatenate([[0], np.cumsum(self.target_symbols >= 0)])
        n_words = is_word[self.target_start[1:]] - is_word[self.target_start[:-1]]
        # one feature after the other, not a matrix product: the same sums on every machine
        scores = n_words * float(weights.get(WORDS, 0.0))
        for column, weight in enumerate(vector.tolist()):
            scores = scores + self.features[:, column] * weight
        return np.asarray(scores)


def check_weights(grammar: SynchronousGrammar, weights: Mapping[str, float]) -> None:
    """Raises InputError for a weight that is not a finite number, or of a feature that the grammar does not have."""
    for name, weight in weights.items():
        if isinstance(weight, bool) or not isinstance(weight, int | float) or not np.isfinite(weight):
            raise InputError(f"weights[{name!r}] is {weight!r}: expected a finite number.")
        if name not in grammar.feature_names and name not in (LANGUAGE_MODEL, WORDS, MAX_SPAN, PASS_THROUGH):
            known = ", ".join(dict.fromkeys((*grammar.feature_names, LANGUAGE_MODEL, WORDS, MAX_SPAN, PASS_THROUGH)))
            raise InputError(f"weights name the feature {name!r}, which no rule of the grammar has. Known: {known}.")


@dataclass(slots=True)
class GrammarBuilder:
    """Collects rules in flat arrays; `build` sorts them into a trie."""

    nonterminals: dict[str, int] = field(default_factory=dict)
    source_words: dict[str, int] = field(default_factory=dict)
    target_words: dict[str, int] = field(default_factory=dict)
    children: dict[tuple[int, int], int] = field(default_factory=dict)  # (node, symbol) -> child
    patterns: dict[tuple[str, ...], int] = field(default_factory=dict)  # names of features that rules have together
    nodes: array[int] = field(default_factory=lambda: array("i"))  # of rules, as the next ones
    heads: array[int] = field(default_factory=lambda: array("i"))
    sizes: array[int] = field(default_factory=lambda: array("i"))
    rule_patterns: array[int] = field(default_factory=lambda: array("i"))
    targets: array[int] = field(default_factory=lambda: array("i"))  # of all rules, one after the other, as the next one
    values: array[float] = field(default_factory=lambda: array("d"))

    def nonterminal(self, name: str) -> int:
        return self.nonterminals.setdefault(name, len(self.nonterminals))

    def source_node(self, source: Sequence[str | tuple[str, int]]) -> int:
        """The trie node of a source side of words and (nonterminal, index) pairs."""
        node = 0
        for symbol in source:
            if isinstance(symbol, str):
                code = self.source_words.setdefault(symbol, len(self.source_words))
            else:
                code = -1 - self.nonterminal(symbol[0])
            node = self.children.setdefault((node, code), len(self.children) + 1)
        return node

    def add(self, node: int, head: str, target: Sequence[str | int], names: tuple[str, ...], values: Sequence[float]) -> None:
        """A rule at a trie node; integers of the target are nonterminals of the source side, counted from 0."""
        words = self.target_words
        self.nodes.append(node)
        self.heads.append(self.nonterminal(head))
        self.sizes.append(len(target))
        self.targets.extend([words.setdefault(symbol, len(words)) if isinstance(symbol, str) else -1 - symbol for symbol in target])
        self.rule_patterns.append(self.patterns.setdefault(names, len(self.patterns)))
        self.values.extend(values)

    def build(self, feature_names: Iterable[str] = ()) -> SynchronousGrammar:
        """The grammar; `feature_names` exist whether or not a rule here has them."""
        order, renumbered = self.bottom_up_symbols()
        n_nodes = len(self.children) + 1
        parents = np.array([node for node, _ in self.children], dtype=np.int64)
        symbols = np.array([code if code >= 0 else -1 - renumbered[-1 - code] for _, code in self.children], dtype=np.int64)
        by_parent = np.lexsort((symbols, parents))
        nodes, sizes = np.array(self.nodes, dtype=np.int64), np.array(self.sizes, dtype=np.int64)
        by_node = np.argsort(nodes, kind="stable")  # rules of one source side stay in the order of the file
        begins = np.cumsum(sizes) - sizes
        target_start = np.concatenate([[0], np.cumsum(sizes[by_node])])
        gather = np.repeat(begins[by_node] - target_start[:-1], sizes[by_node]) + np.arange(len(self.targets))
        names = tuple(sorted({name for pattern in self.patterns for name in pattern} | set(feature_names)))
        return SynchronousGrammar(
            nonterminals=tuple(order),
            source_words=self.source_words,
            target_words=tuple(self.target_words),
            child_start=starts(parents, n_nodes),
            child_symbols=symbols[by_parent].astype(np.int32),
            child_nodes=np.arange(1, n_nodes)[by_parent].astype(np.int32),
            rule_start=starts(nodes, n_nodes),
            heads=np.array(renumbered, dtype=np.int32)[np.array(self.heads, dtype=np.int64)[by_node]],
            target_start=target_start.astype(np.int32),
            target_symbols=np.array(self.targets, dtype=np.int32)[gather],
            feature_names=names,
            features=self.feature_table(names)[by_node],
        )

    def feature_table(self, names: tuple[str, ...]) -> Scores:
        patterns, values = np.array(self.rule_patterns, dtype=np.int64), np.array(self.values)
        lengths = np.array([len(pattern) for pattern in self.patterns], dtype=np.int64)[patterns]
        begins = np.cumsum(lengths) - lengths
        table = np.zeros((len(patterns), len(names)))
        for pattern, p in self.patterns.items():
            rows = np.flatnonzero(patterns == p)
            for place, name in enumerate(pattern):
                table[rows, names.index(name)] = values[begins[rows] + place]
        return table

    def bottom_up_symbols(self) -> tuple[list[str], list[int]]:
        """Nonterminals with those first that others rewrite to alone, and the new number of each; GrammarError if that is a cycle."""
        alone = {child: -1 - code for (node, code), child in self.children.items() if node == 0 and code < 0}
        above: dict[int, list[int]] = {}  # head -> nonterminals that it rewrites to alone
        for r in np.flatnonzero(np.isin(np.array(self.nodes, dtype=np.int64), list(alone))).tolist():
            if alone[self.nodes[r]] not in above.setdefault(self.heads[r], []):
                above[self.heads[r]].append(alone[self.nodes[r]])
        names = list(self.nonterminals)
        number: dict[int, int] = {}
        open_: list[int] = []

        def visit(symbol: int) -> None:
            if symbol in open_:
                cycle = [*open_[open_.index(symbol) :], symbol]
                raise GrammarError(f"rules rewrite symbols to one another alone: {' -> '.join(names[s] for s in cycle)}.")
            if symbol not in number:
                open_.append(symbol)
                for child in above.get(symbol, ()):
                    visit(child)
                open_.pop()
                number[symbol] = len(number)

        for symbol in range(len(names)):
            visit(symbol)
        order = [names[symbol] for symbol in number]
        return order, [number[symbol] for symbol in range(len(names))]


def starts(keys: NDArray[np.int64], size: int) -> Ids:
    return np.concatenate([[0], np.cumsum(np.bincount(keys, minlength=size))]).astype(np.int32)
