"""Parsing and tagging as one problem: a weighted grammar and an n-gram tagger that must agree (Rush 2014, section 4.1).

    argmax_y  rules(y) + lexical(y) + emissions(tags of y) + transitions(tags of y)   over the parses y of a sentence

A structure is a nested tuple: (symbol, position) over a word counted from 0, else (symbol, child) or (symbol, left, right).

The grammar may know more than the tagger: with `preterminals` several of its symbols stand for one tag (`NN^NP` and `NN^NX` for `NN`).
What is made of a grammar alone is kept for the next sentences.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zerogap.errors import InputError, InvalidStructure, ScoreShapeError
from zerogap.grid import Scores, as_scores, choose_resolution, describe_shape, largest_magnitude, restored, round_to_grid, unit_of
from zerogap.structures.grammar import Grammar
from zerogap.structures.unary_closure import close_unaries

Tree = tuple[Any, ...]
GRAMMARS_KEPT = 8


@dataclass(frozen=True, slots=True, eq=False)
class JointProblem:
    """A sentence under a grammar and a tagger.

    `lexical` is (n, symbols), finite only for preterminals: symbols that stand for a tag, each for itself unless `preterminals` says
    otherwise; `transitions` has `order` axes of len(tags) + 1, oldest tag first, the last index the boundary before and after the
    sentence; `emissions` is (n, tags), 0 unless given. No score needs to be a logarithm of a probability.
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
    tag_symbols: list[int]  # the preterminals: without a mapping, the symbol of every tag
    tag_of: NDArray[np.int64]  # (preterminals,): the tag of each
    leaf_tags: dict[str, tuple[int, int]]  # preterminal -> its symbol and its tag

    __setstate__ = restored

    def __init__(
        self,
        grammar: Grammar,
        words: Sequence[str] | None = None,
        *,
        tags: Sequence[str],
        transitions: object,
        lexical: object = None,
        emissions: object = None,
        preterminals: Mapping[str, str] | None = None,
        resolution: float | None = None,
    ) -> None:
        if (words is None) == (lexical is None):
            raise InputError("give either words, which the grammar's lexicon scores, or lexical scores.")
        known = symbol_numbers(grammar)
        leaf_tags = checked_preterminals(known, tuple(tags), preterminals)
        table = as_scores(grammar.lexical_scores(words) if words is not None else lexical, "lexical", shape=(None, len(known)))
        n, n_tags = len(table), len(tags)
        if n == 0:
            raise InputError("the sentence has no words: expected at least one.")
        columns = [symbol for symbol, _ in leaf_tags.values()]
        tag_of = np.array([tag for _, tag in leaf_tags.values()], dtype=np.int64)
        finite = table > -np.inf
        finite[:, columns] = False
        if finite.any():
            word, stray = np.argwhere(finite)[0].tolist()
            raise InputError(f"lexical scores word {word} as {grammar.symbols[stray]!r}, which is not among the tags.")
        nodes = np.zeros((n, n_tags)) if emissions is None else as_scores(emissions, "emissions", shape=(n, n_tags))
        nodes[~tags_with_symbols(table[:, columns], tag_of, n_tags)] = -np.inf  # what is impossible for one model, the other need not try
        table[:, columns] = np.where(nodes[:, tag_of] > -np.inf, table[:, columns], -np.inf)
        grams = as_scores(transitions, "transitions")
        if grams.ndim < 2 or grams.shape != (n_tags + 1,) * grams.ndim:
            wanted = describe_shape((n_tags + 1,) * max(grams.ndim, 2))
            raise ScoreShapeError(f"transitions has shape {grams.shape}, there are {n_tags} tags: expected {wanted} with the boundary.")
        terms = (2 * n + 1) * (1 + longest_chain(grammar)) + 3 * n + 1
        arrays = (grammar.binary_scores, grammar.unary_scores, table, nodes, grams)
        grid = choose_resolution(largest_magnitude(*arrays), terms, resolution)
        exact = on_grid(grammar, grid)
        rounded = [round_to_grid(array, grid) for array in arrays[2:]]
        few = (unit_of_rules(exact, grid), rounded[0][:, columns], rounded[1])
        unit = unit_of(grid, *few)
        if unit > grid or largest_magnitude(*few) == 0.0:  # else there is no need to look at all transitions
            unit = unit_of(grid, *few, rounded[2])
        for name, value in (
            ("grammar", exact), ("tags", tuple(tags)), ("lexical", rounded[0]), ("emissions", rounded[1]),
            ("transitions", rounded[2]), ("resolution", grid), ("unit", unit), ("terms", terms),
            ("rules", named_rules(exact)), ("tag_symbols", columns), ("tag_of", tag_of), ("leaf_tags", leaf_tags),
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
        total = self.tagging_score(self.tag_numbers(tree))
        return total + sum(self.local_score(node) for node in subtrees(tree))

    def tag_numbers(self, tree: Tree) -> list[int]:
        """The tags of a tree over the words, as the tagger numbers them."""
        return [self.leaf_tags[symbol][1] for symbol in tags_of(tree)]

    def tagging_score(self, tags: Sequence[int]) -> float:
        padded = [len(self.tags)] * (self.order - 1) + list(tags) + [len(self.tags)]
        grams = sum(float(self.transitions[tuple(padded[i : i + self.order])]) for i in range(len(tags) + 1))
        return grams + sum(float(self.emissions[i, tag]) for i, tag in enumerate(tags))

    def local_score(self, node: Tree) -> float:
        """The score of the rule at the top of a subtree; -inf if there is none."""
        if is_leaf(node):
            return float(self.lexical[node[1], self.leaf_tags[node[0]][0]])
        return self.rules.get((node[0], *(child[0] for child in node[1:])), -np.inf)

    def check(self, tree: Tree) -> None:
        """Raises InvalidStructure unless the tree is a parse of the sentence by allowed rules, and its tags are allowed."""
        self.check_shape(tree)
        for node in subtrees(tree):
            if self.local_score(node) == -np.inf:
                right = f"word {node[1]}" if is_leaf(node) else " ".join(child[0] for child in node[1:])
                raise InvalidStructure(f"the grammar has no rule {node[0]} -> {right}.")
        tags = self.tag_numbers(tree)
        if self.tagging_score(tags) == -np.inf:
            raise InvalidStructure(f"the tagger forbids the tags {' '.join(self.tags[tag] for tag in tags)}.")

    def check_shape(self, tree: Tree) -> None:
        """A tree over the words in order, with known symbols, the root's on top and tags below."""
        positions, known = [], symbol_numbers(self.grammar)
        waiting: list[Any] = [tree]
        while waiting:
            node = waiting.pop()
            leaf = is_leaf(node)
            inner = isinstance(node, tuple) and len(node) in (2, 3) and all(isinstance(child, tuple) for child in node[1:])
            if not (leaf or inner) or not isinstance(node[0], str):
                raise InvalidStructure(f"{node!r} is not a tree: expected (symbol, position), (symbol, child) or (symbol, left, right).")
            if node[0] not in (self.leaf_tags if leaf else known):
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
    """The symbols over the words."""
    return [node[0] for node in subtrees(tree) if is_leaf(node)]


def checked_preterminals(
    known: Mapping[str, int], tags: tuple[str, ...], preterminals: Mapping[str, str] | None
) -> dict[str, tuple[int, int]]:
    """Preterminal -> its symbol and its tag; InputError if a tag is there twice, or a name unknown."""
    place = {tag: i for i, tag in enumerate(tags)}
    for i, tag in enumerate(tags):
        if (preterminals is None and tag not in known) or place[tag] != i:
            raise InputError(
                f"tags[{i}] is {tag!r}: expected distinct symbols of the grammar{'' if preterminals is None else ' or labels'}."
            )
    if preterminals is None:
        return {tag: (known[tag], i) for i, tag in enumerate(tags)}
    for symbol, tag in preterminals.items():
        if symbol not in known or tag not in place:
            wrong = f"symbol {symbol!r}" if symbol not in known else f"tag {tag!r}"
            raise InputError(f"preterminals has the {wrong}: expected symbols of the grammar for some of the tags.")
    return {symbol: (known[symbol], place[tag]) for symbol, tag in preterminals.items()}


def tags_with_symbols(lexical: Scores, tag_of: NDArray[np.int64], n_tags: int) -> NDArray[np.bool_]:
    """Which tags (n, tags) some preterminal allows a word, given the scores of all preterminals (n, preterminals)."""
    found = np.zeros((len(lexical), n_tags), dtype=np.bool_)
    words, places = np.nonzero(lexical > -np.inf)
    found[words, tag_of[places]] = True
    return found


@lru_cache(maxsize=GRAMMARS_KEPT)
def symbol_numbers(grammar: Grammar) -> dict[str, int]:
    return {symbol: i for i, symbol in enumerate(grammar.symbols)}


@lru_cache(maxsize=GRAMMARS_KEPT)
def on_grid(grammar: Grammar, resolution: float) -> Grammar:
    """The grammar with scores that are multiples of the resolution."""
    if grammar.cycles:  # rounding up could put a cycle of probability 1 above zero, rounding down cannot
        unary = np.floor(grammar.unary_scores / resolution) * resolution + 0.0
    else:
        unary = round_to_grid(grammar.unary_scores, resolution)
    return Grammar(
        grammar.symbols, grammar.root, grammar.binary, round_to_grid(grammar.binary_scores, resolution), grammar.unary, unary,
        {word: tuple((s, float(np.rint(v / resolution) * resolution)) for s, v in entries) for word, entries in grammar.lexicon.items()},
        cycles=grammar.cycles,
    )  # fmt: skip


@lru_cache(maxsize=GRAMMARS_KEPT)
def unit_of_rules(grammar: Grammar, resolution: float) -> Scores:
    """One number that stands for all scores of rules where units are computed: their own unit, 0 if all of them are 0."""
    arrays = (grammar.binary_scores, grammar.unary_scores)
    return np.array([unit_of(resolution, *arrays) if largest_magnitude(*arrays) > 0.0 else 0.0])


@lru_cache(maxsize=GRAMMARS_KEPT)
def named_rules(grammar: Grammar) -> dict[tuple[str, ...], float]:
    names = grammar.symbols
    pairs = zip(grammar.binary.tolist(), grammar.binary_scores.tolist(), strict=True)
    chains = zip(grammar.unary.tolist(), grammar.unary_scores.tolist(), strict=True)
    return {(names[p], names[a], names[b]): s for (p, a, b), s in pairs} | {(names[p], names[c]): s for (p, c), s in chains}


@lru_cache(maxsize=GRAMMARS_KEPT)
def longest_chain(grammar: Grammar) -> int:
    """The largest number of unary rules in a best chain: with cycles no symbol comes twice."""
    if not grammar.cycles:
        length = [0] * len(grammar.symbols)
        for parent, child in sorted(grammar.unary.tolist()):  # children are numbered before parents
            length[parent] = max(length[parent], 1 + length[child])
        return max(length, default=0)
    closure = close_unaries(grammar.unary, grammar.unary_scores, grammar.symbols)
    return max((len(closure.chain(parent, child)) for parent, child in closure.pairs.tolist()), default=0)
