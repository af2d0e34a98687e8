"""Best parses with heads at many prices of arcs and tags: one search from coarse to fine serves those that are near each other.

A search keeps the items of all parses that are at most a margin worse than the best one: few of very many. At other prices a parse that
was left out scores at most

    threshold of the search + sum over words of the largest change of a price, over its heads and over its tags

so that a best parse of the kept items that reaches this is a best parse of all. Else there is another search, at the new prices.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from zerogap.constituency.lexical.decoding import head_index, head_scores, rule_bounds, search
from zerogap.errors import Infeasible
from zerogap.grid import Scores
from zerogap.oracles.parses.lexical import HeadItems, HeadParse, HeadScores, best_head_parse, head_chart
from zerogap.oracles.parses.lexical_bounds import LOWEST
from zerogap.oracles.parses.lexical_marginals import items_reaching
from zerogap.problems.constituency.lexical import LexicalProblem

MARGIN = 8.0  # log-probabilities: twice as many do not cost much more in the search, and several times as much at other prices
MOST_KEPT = 4  # searches


@dataclass(frozen=True, slots=True, eq=False)
class Kept:
    """What a search left: every parse that reached the threshold at these prices is made of these items."""

    prices: Scores
    tag_prices: Scores
    threshold: float
    items: HeadItems


class PricedSearch:
    """The best parses of one problem at prices: `prices` (n + 1, n + 1) for arcs [head, word], `tag_prices` for candidates."""

    def __init__(self, problem: LexicalProblem, *, margin: float = MARGIN) -> None:
        self.problem = problem
        self.margin = margin
        self.rules = rule_bounds(problem.grammar, head_scores(problem))
        self.kept: list[Kept] = []  # the newest one first
        self.searches = 0

    def best(self, prices: Scores, tag_prices: Scores | None = None, known: float = LOWEST) -> HeadParse | None:
        """A best parse, None if there is none. Some parse is `known` to score this."""
        tags = np.zeros(len(self.problem.positions)) if tag_prices is None else tag_prices
        given = head_scores(self.problem, prices, tags)
        for kept in self.kept:
            found = self.among(kept, given, prices, tags, known)
            if found is not None:
                return found
        self.searches += 1
        grammar = self.problem.grammar
        try:
            done = search(grammar, given, rules=self.rules, known=known, margin=self.margin)
        except Infeasible:
            return None
        threshold = max(done.threshold, done.parse.score - self.margin)
        items = items_reaching(head_index(grammar), given, done.chart, threshold)
        self.kept = [Kept(prices, tags, threshold, items), *self.kept][:MOST_KEPT]
        return done.parse

    def among(self, kept: Kept, given: HeadScores, prices: Scores, tags: Scores, known: float) -> HeadParse | None:
        """The best parse of the kept items, if it is known to be the best of all."""
        by_word = changes(prices, kept.prices)[:, 1:].max(axis=0)
        by_tag = np.maximum.reduceat(changes(tags, kept.tag_prices), given.first[:-1])
        if by_word.min() == LOWEST or by_tag.min() == LOWEST:
            return None  # a word without a head or a tag: the search says so
        rise = float(np.maximum(by_word, 0.0).sum() + np.maximum(by_tag, 0.0).sum())
        if not rise < np.inf:
            return None
        index, grammar = head_index(self.problem.grammar), self.problem.grammar
        chart = head_chart(index, given._replace(rest=np.zeros(len(given.rest))), kept.items, known - rise)
        found = best_head_parse(index, given, chart, grammar.binary, grammar.head_side, grammar.unary)
        enough = kept.threshold + float(by_word.sum() + by_tag.sum())
        return found if found is not None and found.score >= enough else None


def changes(new: Scores, old: Scores) -> Scores:
    """By how much scores rose; +inf for what was forbidden, -inf for what is."""
    found = np.full(new.shape, LOWEST)
    return np.subtract(new, old, out=found, where=new > LOWEST)
