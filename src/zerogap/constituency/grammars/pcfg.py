"""An unlexicalised parser: a treebank grammar with markovised symbols, and a lexicon with word classes (Klein & Manning 2003).

model = train(trees)
model.parse(["Dogs", "bark", "."])
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zerogap.constituency.grammars.extraction import Markovisation, count_rules, estimate_grammar
from zerogap.constituency.treebank.binarising import label_of, unbinarise
from zerogap.constituency.treebank.lexicon import Lexicon, train_lexicon
from zerogap.constituency.treebank.splits import SPLITS, splits_named
from zerogap.constituency.treebank.trees import Tree, from_preorder
from zerogap.errors import InputError
from zerogap.grid import Scores
from zerogap.oracles.parses.cky import IndexedGrammar, Parse, best_parse
from zerogap.oracles.parses.kbest import k_best_parses
from zerogap.structures.grammar import Grammar

GLUE_SCORE = -200.0  # below what any parse of a sentence without glue pays for a piece
ALL_SPLITS = tuple(SPLITS)
BEST_KNOWN = Markovisation(horizontal=1, vertical=2, direction="head", tag_parents=True, splits=splits_named(ALL_SPLITS))
BEST_WEIGHT = 5.0  # both chosen on the development part of the Penn Treebank sample


@dataclass(frozen=True, slots=True, eq=False)
class PcfgModel:
    """A grammar and a lexicon whose tags are symbols of it."""

    grammar: Grammar
    lexicon: Lexicon
    indexed: IndexedGrammar
    tag_symbols: NDArray[np.int64]  # the symbol of every tag of the lexicon

    @classmethod
    def of(cls, grammar: Grammar, lexicon: Lexicon) -> PcfgModel:
        number = {symbol: i for i, symbol in enumerate(grammar.symbols)}
        missing = [tag for tag in lexicon.tags if tag not in number]
        if missing:
            raise InputError(f"the lexicon has the tag {missing[0]!r}: expected symbols of the grammar.")
        return cls(grammar, lexicon, IndexedGrammar.of(grammar), np.array([number[tag] for tag in lexicon.tags], dtype=np.int64))

    def lexical_scores(self, words: Sequence[str], *, tags: Sequence[str] | None = None) -> Scores:
        """The score of every symbol over every word, (n, symbols); with `tags`, labels of tags, only of symbols that have them."""
        allowed = None
        if tags is not None:
            variants: dict[str, list[str]] = {}
            for tag in self.lexicon.tags:
                variants.setdefault(label_of(tag), []).append(tag)
            unknown = [tag for tag in tags if tag not in variants]
            if unknown:
                raise InputError(f"tags has {unknown[0]!r}, which training never saw: expected {', '.join(sorted(variants))}.")
            allowed = [variants[tag] for tag in tags]
        table = np.full((len(words), len(self.grammar.symbols)), -np.inf)
        table[:, self.tag_symbols] = self.lexicon.scores(words, tags=allowed)
        return table

    def parse(self, words: Sequence[str], *, tags: Sequence[str] | None = None) -> Tree:
        """The best parse, as a tree of the treebank's labels; Infeasible if there is none. Brackets must be written as in the treebank."""
        return self.tree(best_parse(self.indexed, self.lexical_scores(words, tags=tags)), words)

    def k_best(self, words: Sequence[str], k: int, *, tags: Sequence[str] | None = None) -> list[tuple[Tree, float]]:
        """The k best parses with their scores. Several may give the same tree: they differ in annotations."""
        parses = k_best_parses(self.indexed, self.lexical_scores(words, tags=tags), k)
        return [(self.tree(parse, words), parse.score) for parse in parses]

    def tree(self, parse: Parse, words: Sequence[str]) -> Tree:
        return unbinarise(from_preorder([self.grammar.symbols[s] for s in parse.symbols], parse.sizes.tolist(), words))


def train(
    trees: Iterable[Tree], *, markovisation: Markovisation = BEST_KNOWN, weight: float = BEST_WEIGHT, glue: float | None = GLUE_SCORE
) -> PcfgModel:
    """A model from cleaned trees (`cleaning.cleaned`). Smoothing by `weight` makes the grammar four times larger, and better."""
    counts = count_rules(trees, markovisation)
    grammar = estimate_grammar(counts, weight=weight, kept=max(markovisation.vertical - 2, 0), glue=glue)
    return PcfgModel.of(grammar, train_lexicon(counts.tagged))
