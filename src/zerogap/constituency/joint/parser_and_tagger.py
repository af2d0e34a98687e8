"""The two halves of joint parsing and tagging as oracles (Rush 2014, section 4.2.1).

A parser and a tagger, each solved exactly for any prices on (word, tag): the parser by CKY on a chart, with the price of a tag on every
symbol that stands for it, the tagger by Viterbi over the tags that a word may have.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from zerogap.errors import Infeasible
from zerogap.grid import Scores, largest_magnitude
from zerogap.oracles.labels.trigram_prices import Candidates, best_tags, push_slack, trigram_table
from zerogap.oracles.labels.viterbi import checked_transitions, ngram_viterbi
from zerogap.oracles.parses.cky import Cells, IndexedGrammar, Parse, best_parse, inside_cells, require_parse
from zerogap.problems.constituency.joint import GRAMMARS_KEPT, JointProblem, Tree
from zerogap.relax.lagrangian import Answer
from zerogap.structures.grammar import Grammar

LARGEST_PUSH = 500.0  # times the largest score: sums with prices stay exact


@lru_cache(maxsize=GRAMMARS_KEPT)
def indexed(grammar: Grammar) -> IndexedGrammar:
    """The tables of the chart parser, kept for the next sentences."""
    return IndexedGrammar.of(grammar)


@dataclass(frozen=True, slots=True, eq=False)
class Halves:
    """The two halves of a problem, made ready once and solved for many multipliers. Weights are of (word, tag), flat."""

    problem: JointProblem
    indexed: IndexedGrammar
    candidates: Candidates
    trigram: Scores | None  # None if the tagger's order is above 3

    @classmethod
    def of(cls, problem: JointProblem) -> Halves:
        candidates = Candidates.of(problem.emissions > -np.inf)
        return cls(problem, indexed(problem.grammar), candidates, trigram_table(problem.transitions))

    def lexical(self, weights: Scores) -> Scores:
        """The scores of symbols over words when every (word, tag) scores `weights` more."""
        table = self.problem.lexical.copy()
        columns = self.problem.tag_symbols
        table[:, columns] += weights.reshape(self.problem.n_words, -1)[:, self.problem.tag_of]
        return table

    def parse(self, weights: Scores) -> Answer | None:
        """The best parse when every (word, tag) scores `weights` more."""
        try:
            parse = best_parse(self.indexed, self.lexical(weights))
        except Infeasible:
            return None
        tree = tree_of(self.problem.grammar, parse)
        words = parse.sizes == 0
        parts = np.arange(self.problem.n_words) * len(self.problem.tags) + self.tags_of_symbols(parse.symbols[words])
        return Answer(tree, parts, parse.score - float(weights[parts].sum()))

    def tags_of_symbols(self, symbols: NDArray[np.int64]) -> NDArray[np.int64]:
        tag = np.full(len(self.problem.grammar.symbols), -1, dtype=np.int64)
        tag[self.problem.tag_symbols] = self.problem.tag_of
        return tag[symbols]

    def tag(self, weights: Scores) -> Answer | None:
        """The best tags when (word, tag) scores `weights`."""
        n, n_tags = self.problem.n_words, len(self.problem.tags)
        labels = np.empty(n, dtype=np.int64)
        if self.trigram is None:
            table = checked_transitions(self.problem.transitions, n, n_tags)
            nodes = np.ascontiguousarray(weights.reshape(n, n_tags))
            total = ngram_viterbi(nodes, table, np.empty((n + 1, table.shape[1])), labels)
        elif (np.diff(self.candidates.first) == 0).any():
            return None
        else:
            some = self.candidates
            total = best_tags(some.first, some.pair, some.tags, weights[some.places], self.trigram, np.empty(some.pair[-1]), labels)
            labels = some.tags[labels] if total > -np.inf else labels
        if total == -np.inf:
            return None
        parts = np.arange(n) * n_tags + labels
        return Answer(tuple(labels.tolist()), parts, float(total) - float(weights[parts].sum()))

    def slack_prices(self, weights: Scores, share: float = 1.0) -> Scores:
        """Prices that the tagger can pay without a loss: what `push_slack` raises its tags by; 0 if its order is above 3."""
        prices = np.zeros(self.problem.n_words * len(self.problem.tags))
        some = self.candidates
        if self.trigram is not None and (np.diff(some.first) > 0).all():
            raised = np.zeros(len(some.tags))
            nodes = weights[some.places]
            most = LARGEST_PUSH * max(largest_magnitude(nodes, self.problem.transitions), self.problem.resolution)
            if push_slack(some.first, some.pair, some.tags, nodes, self.trigram, share, self.problem.resolution, most, raised) > -math.inf:
                prices[some.places] = raised
        return prices

    def require_parse(self) -> None:
        """Infeasible, with the first word or span that nothing covers, if the grammar has no parse of allowed tags."""
        require_parse(self.indexed, self.chart())

    def chart(self) -> Cells:
        """The items of all spans, without prices."""
        return inside_cells(self.indexed, self.problem.lexical)[0]


def tree_of(grammar: Grammar, parse: Parse) -> Tree:
    """The nested tuples of a parse, whose nodes come top first and left to right."""
    waiting: list[Tree] = []
    position = int((parse.sizes == 0).sum())
    for symbol, size in zip(parse.symbols[::-1].tolist(), parse.sizes[::-1].tolist(), strict=True):
        if size == 0:
            position -= 1
            waiting.append((grammar.symbols[symbol], position))
        else:
            waiting.append((grammar.symbols[symbol], *(waiting.pop() for _ in range(size))))
    return waiting.pop()
