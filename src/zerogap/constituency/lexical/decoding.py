"""Exact parsing with heads, from coarse to fine: what cannot be in a parse as good as the best one is never tried.

The coarse pass scores every rule as for the best head in the span, and every word as the best sister that it can be, so that no parse
scores more than its coarse image. The exact pass (`oracles.parses.lexical`) has only the items whose coarse bound reaches the score of some
parse: nothing that was left out can beat it. That parse is the best one of the few items that are nearly as good as the coarse bound of the
sentence.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zerogap.errors import Infeasible, UnknownMethod, check_problem
from zerogap.grid import Scores
from zerogap.oracles.parses.lexical import HeadChart, HeadItems, HeadParse, HeadScores, best_head_parse, head_chart
from zerogap.oracles.parses.lexical_bounds import LOWEST, HeadIndex, SpanBounds, SpanScores, outside_bounds, span_bounds
from zerogap.oracles.parses.lexical_rule_bounds import RuleBounds, sister_boxes, span_rows
from zerogap.problems.constituency.lexical import LexicalGrammar, LexicalProblem, Structure
from zerogap.proof.certificate import DynamicProgram
from zerogap.proof.solution import Solution, Trace
from zerogap.relax.descent import check_limits
from zerogap.relax.parallel import decode_each

METHODS = ("auto",)
FIRST_WIDTH = 6.0  # of the items among which a first parse is looked for: log-probabilities below the coarse bound
GROWTH = 1.5  # of the width, when there is none
WIDEST = 2.0**12  # times the first width: then everything is tried


def decode_lexical(
    problem: LexicalProblem, *, method: str = "auto", time_limit: float | None = None, pruning: bool = True, width: float = FIRST_WIDTH
) -> Solution[Structure]:
    """A best parse with its certificate; Infeasible if there is none. Without `pruning` every item is tried.

    Where the time limit ends the search, there is a parse with the coarse bound of the sentence; without any parse it goes on.
    """
    check_problem(problem, LexicalProblem)
    check_limits(time_limit, None)
    if method not in METHODS:
        raise UnknownMethod("method", method, METHODS)
    begin = time.perf_counter()
    found = search(problem.grammar, head_scores(problem), pruning=pruning, width=width, time_limit=time_limit)
    structure = structure_of(problem, found.parse)
    score = problem.score(structure)
    return Solution(structure, score, found.bound, DynamicProgram(), Trace((found.bound,), (score,), (time.perf_counter() - begin,)))


def decode_lexical_many(problems: Sequence[LexicalProblem], *, threads: int | None = None) -> list[Solution[Structure]]:
    """Decodes problems on several threads, in order."""
    return decode_each(decode_lexical, problems, threads)


@dataclass(frozen=True, slots=True, eq=False)
class Search:
    """A parse, what none can beat, the chart with all that parses of the threshold need, and how many sums were formed."""

    parse: HeadParse
    bound: float
    chart: HeadChart
    threshold: float
    tried: int


def search(
    grammar: LexicalGrammar, given: HeadScores, *, rules: RuleBounds | None = None, pruning: bool = True, width: float = FIRST_WIDTH,
    margin: float = 0.0, known: float = LOWEST, time_limit: float | None = None,
) -> Search:  # fmt: skip
    """The search alone, for scores that may have prices in them; Infeasible if there is no parse.

    Some parse is `known` to score this. The chart has all parses that are at most `margin` worse than the best one.
    """
    begin = time.perf_counter()
    bounds = coarse_bounds(grammar, given, rule_bounds(grammar, given) if rules is None else rules)
    n = len(given.first) - 1
    if bounds.best == LOWEST:
        what, span = uncovered(grammar, bounds)
        raise Infeasible(f"the grammar has no parse of these {n} words: {what}.", (span,))
    tried, wide = 0, width if pruning else np.inf
    while known == LOWEST:
        chart, parse = fill(grammar, given, outside_bounds(bounds, bounds.best - wide), LOWEST)
        tried += chart.tried
        if parse is not None and wide < np.inf:
            known = parse.score
            if time_limit is not None and time.perf_counter() - begin >= time_limit:
                return Search(parse, bounds.best, chart, np.inf, tried)
        elif parse is not None:
            return Search(parse, parse.score, chart, LOWEST, tried)
        elif wide == np.inf:
            raise Infeasible(f"the grammar has no parse of these {n} words with heads that it allows.", ((0, n),))
        wide = wide * GROWTH if wide <= WIDEST * width else np.inf
    chart, parse = fill(grammar, given, outside_bounds(bounds, known - margin), known - margin)
    assert parse is not None  # the known one is in the chart
    return Search(parse, parse.score, chart, known - margin, tried + chart.tried)


def fill(grammar: LexicalGrammar, given: HeadScores, outside: Scores, threshold: float) -> tuple[HeadChart, HeadParse | None]:
    """The chart of all items whose `outside` is above -inf, and the best parse in it."""
    index = head_index(grammar)
    chart = head_chart(index, given, HeadItems.above(outside), threshold)
    return chart, best_head_parse(index, given, chart, grammar.binary, grammar.head_side, grammar.unary)


def uncovered(grammar: LexicalGrammar, bounds: SpanBounds) -> tuple[str, tuple[int, int]]:
    """The first word, or else a first shortest span, that no symbol covers, in words and as a span."""
    n = len(bounds.sizes)
    for length in range(1, n + 1):
        for i in range(n - length + 1):
            if bounds.sizes[i, i + length] == 0:
                return (f"word {i} has no symbol" if length == 1 else f"no symbol covers words {i} to {i + length - 1}"), (i, i + length)
    return f"other symbols cover all of them, {grammar.symbols[grammar.root]!r} does not", (0, n)


@functools.lru_cache(maxsize=8)
def head_index(grammar: LexicalGrammar) -> HeadIndex:
    return HeadIndex.of(len(grammar.symbols), grammar.root, grammar.binary, grammar.head_side, grammar.unary)


@functools.lru_cache(maxsize=1000)
def symbols_headed_by(grammar: LexicalGrammar, tag: int) -> NDArray[np.bool_]:
    """(symbols,): which symbols can have a head of this tag."""
    index = head_index(grammar)
    found = np.zeros(len(grammar.symbols), dtype=np.bool_)
    found[tag] = True
    waiting = [tag]
    while waiting:
        x = waiting.pop()
        for rules in (index.left, index.right, index.up):
            for parent in rules.parent[rules.start[x] : rules.start[x + 1]].tolist():
                if not found[parent]:
                    found[parent] = True
                    waiting.append(parent)
    return found


def head_scores(problem: LexicalProblem, prices: Scores | None = None, tag_prices: Scores | None = None) -> HeadScores:
    """The arrays of the kernels. `prices` (n + 1, n + 1) are added for head h of word m, 0 for the root, both counted from 1; `tag_prices`
    for candidates: each is the sister of one head, or the root."""
    n = problem.n_words
    before = np.concatenate([[0], np.cumsum(problem.verbs)])
    at = problem.positions
    between = np.where(np.arange(n + 1) <= at[:, None], before[at][:, None] > before, before > before[at + 1][:, None])
    words, roots = problem.words, problem.roots
    if prices is not None:
        words, roots = words + prices[at + 1][:, at + 1].T, roots + prices[0, at + 1]
    if tag_prices is not None:
        words, roots = words + tag_prices[:, None], roots + tag_prices
    rest = np.maximum(roots, words.max(axis=(0, 2), initial=LOWEST))
    first = np.searchsorted(at, np.arange(n + 1)).astype(np.int64)
    grammar = problem.grammar
    return HeadScores(
        first, problem.tags, np.ascontiguousarray(between), grammar.classes, problem.binary, problem.unary, grammar.unary_edge, words,
        roots, rest,
    )  # fmt: skip


def rule_bounds(grammar: LexicalGrammar, given: HeadScores) -> RuleBounds:
    """Every rule at its best for any head that its child can have in a span. Prices do not matter: one serves all prices."""
    heads = grammar.binary[np.arange(len(grammar.binary)), 1 + grammar.head_side]
    return RuleBounds.of(head_index(grammar), given, heads, grammar.unary[:, 1], who_heads(grammar, given))


def coarse_bounds(grammar: LexicalGrammar, given: HeadScores, rules: RuleBounds) -> SpanBounds:
    """Rules at their best, every word at the best that it can be as a sister where it is, or the root."""
    lexical = np.full((len(given.first) - 1, len(grammar.symbols)), LOWEST)
    np.maximum.at(lexical, (np.repeat(np.arange(len(lexical)), np.diff(given.first)), given.tags), given.rest)
    index = head_index(grammar)
    sisters = np.unique(np.concatenate([index.left.sister, index.right.sister]))
    slots = np.zeros(len(grammar.symbols), dtype=np.int64)
    slots[sisters] = np.arange(len(sisters))
    boxes, left, right = sister_boxes(given, sisters, who_heads(grammar, given))
    scores = SpanScores(span_rows(len(lexical)), rules.left, rules.right, rules.unary, boxes, slots, left, right)
    return span_bounds(index, lexical, scores)


def who_heads(grammar: LexicalGrammar, given: HeadScores) -> NDArray[np.bool_]:
    """(symbols, candidates): which symbols can have which head."""
    return np.stack([symbols_headed_by(grammar, int(tag)) for tag in given.tags], axis=1)


def structure_of(problem: LexicalProblem, parse: HeadParse) -> Structure:
    """The nested tuples of a parse."""
    names = problem.grammar.symbols
    waiting: list[Structure] = []
    position = problem.n_words
    for symbol, size in zip(reversed(parse.symbols), reversed(parse.sizes), strict=True):
        if size == 0:
            position -= 1
            waiting.append((names[symbol], position))
        else:
            waiting.append((names[symbol], *(waiting.pop() for _ in range(size))))
    return waiting.pop()
