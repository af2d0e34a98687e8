"""Exact parsing with heads, from coarse to fine: what cannot be in a parse as good as the best one is never tried.

The coarse pass scores every rule as for its best head in the sentence, and every word as the best sister that it can be, so that no parse
scores more than its coarse image. A beam finds some parse. Then all items whose coarse bound is below its score are left out, and so are
heads of items in the exact pass (`oracles.lexical_cky`): nothing that was left out can beat what is found.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zerogap.constituency.lexical_problem import LexicalGrammar, LexicalProblem, Structure
from zerogap.errors import Infeasible, check_problem
from zerogap.grid import Scores
from zerogap.oracles.lexical_bounds import LOWEST, HeadIndex, SpanBounds
from zerogap.oracles.lexical_cky import HeadParse, HeadScores, best_head_parse, head_chart
from zerogap.proof.certificate import DynamicProgram
from zerogap.proof.solution import Solution, Trace
from zerogap.relax.many import decode_each

FIRST_BEAM, WIDEST_BEAM = 6.0, 50.0  # log-probabilities


def decode_lexical(problem: LexicalProblem, *, pruning: bool = True, beam: float = FIRST_BEAM) -> Solution[Structure]:
    """A best parse with its certificate; Infeasible if there is none. Without `pruning` every item is tried."""
    check_problem(problem, LexicalProblem)
    begin = time.perf_counter()
    found = search(problem.grammar, head_scores(problem), pruning=pruning, beam=beam).parse
    structure = structure_of(problem, found)
    score = problem.score(structure)
    return Solution(structure, score, found.score, DynamicProgram(), Trace((found.score,), (score,), (time.perf_counter() - begin,)))


def decode_lexical_many(problems: Sequence[LexicalProblem], *, threads: int | None = None) -> list[Solution[Structure]]:
    """Decodes problems on several threads, in order."""
    return decode_each(decode_lexical, problems, threads)


@dataclass(frozen=True, slots=True, eq=False)
class Search:
    """What was found, and how: the coarse bound, the items that were left in the end, the sums that were formed."""

    parse: HeadParse
    coarse: float
    items: int
    tried: int


def search(grammar: LexicalGrammar, given: HeadScores, *, pruning: bool = True, beam: float = FIRST_BEAM) -> Search:
    """The search alone, for scores that may have prices in them; Infeasible if there is no parse."""
    index = head_index(grammar)
    bounds = coarse_bounds(grammar, given, index)
    n = len(given.first) - 1
    if bounds.best == LOWEST:
        raise Infeasible(f"the grammar has no parse of these {n} words.")
    outside = bounds.outside(LOWEST)
    threshold, tried, width = LOWEST, 0, beam if pruning else np.inf
    while True:
        kept = np.where(bounds.inside + outside >= threshold, outside, LOWEST)
        chart = head_chart(index, given, kept, threshold, beam=width)
        parse = best_head_parse(index, given, chart, grammar.binary, grammar.head_side, grammar.unary)
        tried += chart.tried
        if parse is not None:
            threshold = parse.score
            if width == np.inf or threshold == bounds.best:
                return Search(parse, bounds.best, len(chart.symbols), tried)
            width = np.inf
        elif width == np.inf:
            raise Infeasible(f"the grammar has no parse of these {n} words with heads that it allows.")
        else:
            width = 2.0 * width if width < WIDEST_BEAM else np.inf


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


def head_scores(problem: LexicalProblem, prices: Scores | None = None) -> HeadScores:
    """The arrays of the kernels. `prices` (n + 1, n + 1) are added for head h of word m, 0 for the root, both counted from 1."""
    n = problem.n_words
    before = np.concatenate([[0], np.cumsum(problem.verbs)])
    at = problem.positions
    between = np.where(np.arange(n + 1) <= at[:, None], before[at][:, None] > before, before > before[at + 1][:, None])
    words, roots = problem.words, problem.roots
    if prices is not None:
        words, roots = words + prices[at + 1][:, at + 1].T, roots + prices[0, at + 1]
    rest = np.maximum(roots, words.max(axis=(0, 2), initial=LOWEST))
    first = np.searchsorted(at, np.arange(n + 1)).astype(np.int64)
    grammar = problem.grammar
    return HeadScores(
        first, problem.tags, np.ascontiguousarray(between), grammar.classes, problem.binary, problem.unary, grammar.unary_edge, words,
        roots, rest,
    )  # fmt: skip


def coarse_bounds(grammar: LexicalGrammar, given: HeadScores, index: HeadIndex) -> SpanBounds:
    """Every rule at its best for any head that its child can have, every word at the best that it can be as a sister or the root."""
    headed = np.stack([symbols_headed_by(grammar, int(tag)) for tag in given.tags], axis=1)  # (symbols, candidates)
    heads = grammar.binary[np.arange(len(grammar.binary)), 1 + grammar.head_side]
    binary = masked_maxima(given.binary, headed[heads])
    unary = masked_maxima(given.unary, headed[grammar.unary[:, 1]])
    lexical = np.full((len(given.first) - 1, len(grammar.symbols)), LOWEST)
    np.maximum.at(lexical, (np.repeat(np.arange(len(lexical)), np.diff(given.first)), given.tags), given.rest)
    return SpanBounds.of(index, lexical, binary, unary)


def masked_maxima(scores: Scores, allowed: NDArray[np.bool_]) -> Scores:
    """(rules,): the highest score of a rule over allowed heads, with and without a verb."""
    best = np.maximum(scores[:, :, 0], scores[:, :, 1])
    best[~allowed] = LOWEST
    return np.ascontiguousarray(best.max(axis=1, initial=LOWEST))


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
