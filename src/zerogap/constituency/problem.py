"""Parsing and tagging as one problem: a weighted grammar and an n-gram tagger that must agree (Rush 2014, section 4.1).

    argmax_y  rules(y) + lexical(y) + emissions(tags of y) + transitions(tags of y)   over the parses y of a sentence

A structure is a nested tuple: (symbol, position) over a word counted from 0, else (symbol, child) or (symbol, left, right).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from zerogap.errors import InputError, InvalidStructure, ScoreShapeError
from zerogap.grid import Scores, as_scores, choose_resolution, describe_shape, largest_magnitude, round_to_grid, unit_of
from zerogap.structures.grammar import Grammar

Tree = tuple[Any, ...]


@dataclass(frozen=True, slots=True, eq=False)
class JointProblem:
    """A sentence under a grammar and a tagger.

    `lexical` is (n, symbols), finite only for symbols in `tags`; `transitions` has `order` axes of len(tags) + 1, oldest
    tag first, the last index the boundary before and after the sentence; `emissions` is (n, tags), 0 unless given.
    """

    grammar: Grammar
    tags: tuple[str, ...]
    lexical: Scores
    emissions: Scores
    transitions: Scores
    resolution: float
    unit: float
    terms: int
    rules: dict[tuple[str, ...], float]  # (parent, child ...) -> score
    tag_symbols: list[int]  # the symbol of every tag

    def __init__(
        self,
        grammar: Grammar,
        words: Sequence[str] | None = None,
        *,
        tags: Sequence[str],
        transitions: object,
        lexical: object = None,
        emissions: object = None,
        resolution: float | None = None,
    ) -> None:
        if (words is None) == (lexical is None):
            raise InputError("give either words, which the grammar's lexicon scores, or lexical scores.")
        known = {symbol: i for i, symbol in enumerate(grammar.symbols)}
        for i, tag in enumerate(tags):
            if tag not in known or tag in tags[:i]:
                raise InputError(f"tags[{i}] is {tag!r}: expected distinct symbols of the grammar.")
        table = as_scores(grammar.lexical_scores(words) if words is not None else lexical, "lexical", shape=(None, len(known)))
        n, n_tags = len(table), len(tags)
        if n == 0:
            raise InputError("the sentence has no words: expected at least one.")
        others = np.setdiff1d(np.arange(len(known)), [known[tag] for tag in tags])
        stray = np.argwhere(table[:, others] > -np.inf)
        if stray.size:
            symbol = grammar.symbols[others[stray[0][1]]]
            raise InputError(f"lexical scores word {stray[0][0]} as {symbol!r}, which is not among the tags.")
        nodes = np.zeros((n, n_tags)) if emissions is None else as_scores(emissions, "emissions", shape=(n, n_tags))
        columns = [known[tag] for tag in tags]
        impossible = (table[:, columns] == -np.inf) | (nodes == -np.inf)  # for either model: the other need not try it
        nodes[impossible] = -np.inf
        table[:, columns] = np.where(impossible, -np.inf, table[:, columns])
        grams = as_scores(transitions, "transitions")
        if grams.ndim < 2 or grams.shape != (n_tags + 1,) * grams.ndim:
            wanted = describe_shape((n_tags + 1,) * max(grams.ndim, 2))
            raise ScoreShapeError(f"transitions has shape {grams.shape}, there are {n_tags} tags: expected {wanted} with the boundary.")
        terms = (2 * n + 1) * (1 + longest_chain(grammar)) + 3 * n + 1
        arrays = (grammar.binary_scores, grammar.unary_scores, table, nodes, grams)
        grid = choose_resolution(largest_magnitude(*arrays), terms, resolution)
        rounded = [round_to_grid(array, grid) for array in arrays]
        exact = Grammar(
            grammar.symbols, grammar.root, grammar.binary, rounded[0], grammar.unary, rounded[1],
            {word: tuple((s, float(np.rint(v / grid) * grid)) for s, v in entries) for word, entries in grammar.lexicon.items()},
        )  # fmt: skip
        for name, value in (
            ("grammar", exact), ("tags", tuple(tags)), ("lexical", rounded[2]), ("emissions", rounded[3]),
            ("transitions", rounded[4]), ("resolution", grid), ("unit", unit_of(grid, *rounded)), ("terms", terms),
            ("rules", named_rules(exact)), ("tag_symbols", columns),
        ):  # fmt: skip
            object.__setattr__(self, name, value)

    @property
    def n_words(self) -> int:
        return len(self.lexical)

    @property
    def order(self) -> int:
        return self.transitions.ndim

    def score(self, tree: Tree) -> float:
        self.check_shape(tree)
        tags = tags_of(tree)
        total = self.tagging_score([self.tags.index(tag) for tag in tags])
        return total + sum(self.local_score(node) for node in subtrees(tree))

    def tagging_score(self, tags: Sequence[int]) -> float:
        padded = [len(self.tags)] * (self.order - 1) + list(tags) + [len(self.tags)]
        grams = sum(float(self.transitions[tuple(padded[i : i + self.order])]) for i in range(len(tags) + 1))
        return grams + sum(float(self.emissions[i, tag]) for i, tag in enumerate(tags))

    def local_score(self, node: Tree) -> float:
        """The score of the rule at the top of a subtree; -inf if there is none."""
        if is_leaf(node):
            return float(self.lexical[node[1], self.tag_symbols[self.tags.index(node[0])]])
        return self.rules.get((node[0], *(child[0] for child in node[1:])), -np.inf)

    def check(self, tree: Tree) -> None:
        """Raises InvalidStructure unless the tree is a parse of the sentence by allowed rules, and its tags are allowed."""
        self.check_shape(tree)
        for node in subtrees(tree):
            if self.local_score(node) == -np.inf:
                right = f"word {node[1]}" if is_leaf(node) else " ".join(child[0] for child in node[1:])
                raise InvalidStructure(f"the grammar has no rule {node[0]} -> {right}.")
        if self.tagging_score([self.tags.index(tag) for tag in tags_of(tree)]) == -np.inf:
            raise InvalidStructure(f"the tagger forbids the tags {' '.join(tags_of(tree))}.")

    def check_shape(self, tree: Tree) -> None:
        """A tree over the words in order, with known symbols, the root's on top and tags below."""
        positions = []
        waiting: list[Any] = [tree]
        while waiting:
            node = waiting.pop()
            leaf = is_leaf(node)
            inner = isinstance(node, tuple) and len(node) in (2, 3) and all(isinstance(child, tuple) for child in node[1:])
            if not (leaf or inner) or not isinstance(node[0], str):
                raise InvalidStructure(f"{node!r} is not a tree: expected (symbol, position), (symbol, child) or (symbol, left, right).")
            if node[0] not in (self.tags if leaf else self.grammar.symbols):
                raise InvalidStructure(f"{node[0]!r} is not a {'tag' if leaf else 'symbol'} of the problem.")
            if leaf:
                positions.append(node[1])
            else:
                waiting.extend(reversed(node[1:]))
        if positions != list(range(self.n_words)):
            raise InvalidStructure(f"the leaves are the words {positions}: expected 0 to {self.n_words - 1} from left to right.")
        if tree[0] != self.grammar.symbols[self.grammar.root]:
            raise InvalidStructure(f"the root is {tree[0]!r}: expected {self.grammar.symbols[self.grammar.root]!r}.")


def is_leaf(node: Any) -> bool:
    return isinstance(node, tuple) and len(node) == 2 and isinstance(node[1], int | np.integer) and not isinstance(node[1], bool)


def subtrees(tree: Tree) -> list[Tree]:
    """All nodes, each before those below it, left to right."""
    found, waiting = [], [tree]
    while waiting:
        node = waiting.pop()
        found.append(node)
        if not is_leaf(node):
            waiting.extend(reversed(node[1:]))
    return found


def tags_of(tree: Tree) -> list[str]:
    return [node[0] for node in subtrees(tree) if is_leaf(node)]


def named_rules(grammar: Grammar) -> dict[tuple[str, ...], float]:
    names = grammar.symbols
    pairs = zip(grammar.binary.tolist(), grammar.binary_scores.tolist(), strict=True)
    chains = zip(grammar.unary.tolist(), grammar.unary_scores.tolist(), strict=True)
    return {(names[p], names[a], names[b]): s for (p, a, b), s in pairs} | {(names[p], names[c]): s for (p, c), s in chains}


def longest_chain(grammar: Grammar) -> int:
    """The largest number of unary rules in a row; children are numbered before parents."""
    length = [0] * len(grammar.symbols)
    for parent, child in sorted(grammar.unary.tolist()):
        length[parent] = max(length[parent], 1 + length[child])
    return max(length, default=0)
