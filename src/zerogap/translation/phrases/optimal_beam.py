"""Optimal beam search for phrase-based translation: bounds from multipliers, and a beam that is wide enough (Rush 2014, section 7.6).

1. Plain beam search finds a translation, which is nearly always a best one.
2. Multipliers are found for a small lattice of the likeliest phrases, and improved on the whole lattice, until what lies on paths that
   score more than the translation is a graph of reasonable size.
3. In turn: multipliers are improved on the graph, what they prove superfluous is dropped, and a beam search over the rest, pruned by
   the graph's outside scores, looks for better translations. If the beam does not overflow, or the bound is the score, that is the end.
4. Where it does, the words that paths translate twice or never most often become part of the nodes (Chang & Collins 2011, section 5).

Departures: the thesis prunes with the whole lattice in every round (algorithm 13); here the graph shrinks with every better bound, so
that a round costs what is left undecided. Its tightening and its beam search are rivals; here the beam profits from the tightening, as
words that nodes know cost little where the graph has been pruned: far from a word, nearly all paths have translated it, or not.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from zerogap.grid import Scores
from zerogap.oracles.phrases.graph import Graph, pruned, tightened
from zerogap.oracles.phrases.search import Limits, best_above
from zerogap.oracles.phrases.unfolding import unfolded, unrolled
from zerogap.problems.translation.phrases import Derivation, PhraseProblem
from zerogap.proof.solution import Solution
from zerogap.translation.phrases.beam import STACK
from zerogap.translation.phrases.multipliers import Descent, again, prices
from zerogap.translation.phrases.search_state import LIKELIEST_STEPS, Progress, Sentence, evaluate_graph, improve, outside_of, start

LATTICE_STEPS = 8  # between two tries to make a graph
FIRST_STATES, MOST_STATES = 500_000, 16_000_000  # arcs of the graph of states at first, and of one that is tightened
FIRST_PHRASES, MOST_PHRASES = 150_000, 32_000_000  # arcs of the graph of phrases that is searched
GRAPH_STEPS = 15  # between two beam searches
FIRST_WIDTH, WIDER = 500, 2  # of the beam, and by how much it grows
MOST_HYPOTHESES = 10_000_000  # in memory
FEWEST_HYPOTHESES, PER_SECOND = 100_000, 1_000_000  # that a search may take when the time is nearly over, and that a second has
WORDS_AT_ONCE = 2  # that tightening adds to the nodes


def optimal_beam_search(problem: PhraseProblem, *, time_limit: float | None = None, stack: int = STACK) -> Solution[Derivation]:
    """The best translation, and multipliers from which it can be proved; within the time, or with a gap.

    Infeasible if no translation exists. `stack` is the size of the plain beam search's stacks.
    """
    return search(problem, time_limit=time_limit, stack=stack)[0].solution()


def alternating_beam_search(problem: PhraseProblem, *, time_limit: float | None = None, stack: int = STACK) -> Solution[Derivation]:
    """Multipliers and beam search in turn, as in the second half of algorithm 13: nodes know no words."""
    return search(problem, time_limit=time_limit, stack=stack, words_at_once=0)[0].solution()


def staged_beam_search(problem: PhraseProblem, *, time_limit: float | None = None, stack: int = STACK) -> Solution[Derivation]:
    """Multipliers until they lead nowhere, then wider and wider beams, as in the first half of algorithm 13."""
    progress, sentence, descent = start(problem, time_limit, stack, LIKELIEST_STEPS)
    if sentence is not None:
        graph = worthwhile(progress, sentence, descent, most_arcs=1)  # tried when the steps are over
        if graph is not None:
            price, total = prices(descent.best, sentence.starts, sentence.ends), float(descent.best.sum())
            phrases = unfolded(
                graph, sentence.lattice, outside_of(graph, price), price, known=0, least=progress.score - total, most_arcs=MOST_PHRASES
            )
            width = FIRST_WIDTH
            while phrases is not None and width <= MOST_HYPOTHESES and not progress.out_of_time():
                if search_through(progress, sentence, phrases, price, total, width):
                    break
                width *= WIDER
    return progress.solution()


def search(
    problem: PhraseProblem, *, time_limit: float | None = None, stack: int = STACK, words_at_once: int = WORDS_AT_ONCE
) -> tuple[Progress, Sentence | None]:
    """All of it: what is known in the end, and where the time went."""
    progress, sentence, descent = start(problem, time_limit, stack, LIKELIEST_STEPS)
    if sentence is not None:
        graph = worthwhile(progress, sentence, descent)
        if graph is not None:
            close(progress, sentence, graph, descent, words_at_once)
    return progress, sentence


def worthwhile(progress: Progress, sentence: Sentence, descent: Descent, most_arcs: int | None = None) -> Graph | None:
    """All of the lattice that may be part of a better translation, at the best multipliers; None when there is nothing left to do."""
    most_arcs, steps = FIRST_STATES if most_arcs is None else most_arcs, 1
    while True:
        path = improve(progress, sentence.evaluate, sentence, descent, steps)
        if path is not None:
            progress.found(sentence.derivation(path))
        progress.multipliers = descent.best
        progress.proved(descent.bound)
        if progress.is_closed or descent.bound == -math.inf or progress.out_of_time():
            return None
        price = prices(descent.best, sentence.starts, sentence.ends)
        with progress.spending("lattice"):
            if steps > 1:
                sentence.evaluate(price)  # the table is that of the last multipliers, not of the best ones
            least = progress.score - float(descent.best.sum())
            graph = unrolled(sentence.lattice, sentence.outside, price, least=least, most_arcs=most_arcs)
        if graph is not None:
            return graph
        steps = max(2 * steps, LATTICE_STEPS)  # a try costs as much as several steps
        if descent.is_over or path is not None or progress.score == -math.inf:  # no better multipliers to come
            most_arcs = max(4 * most_arcs, FIRST_STATES)


Examine = Callable[[Graph, Scores, float, int], bool]


def close(
    progress: Progress,
    sentence: Sentence,
    graph: Graph,
    descent: Descent,
    words_at_once: int = WORDS_AT_ONCE,
    *,
    margin: float = 0.0,
    examine: Examine | None = None,
) -> None:
    """Better multipliers, a smaller graph, a wider beam, tighter nodes: until the gap is closed, or the time over, or the memory full.

    `examine` looks through the phrases that are left (graph, prices, sum of the multipliers, width), and says whether that is all; without
    it, a beam search does. Paths count that score more than the best translation, or as much as the margin below it.
    """
    n = len(sentence.problem)
    width, most_arcs, known = FIRST_WIDTH, FIRST_PHRASES, 0
    untracked = np.ones(n, dtype=bool)
    while width <= MOST_HYPOTHESES and most_arcs <= MOST_PHRASES and not progress.out_of_time():
        descent = again(descent)
        valid = improve(progress, evaluate_graph(graph, n), sentence, descent, GRAPH_STEPS, margin)
        if valid is not None:
            progress.found(sentence.derivation(valid))
        progress.proved(descent.bound)
        if progress.is_closed and examine is None:
            return
        price, total = prices(descent.best, sentence.starts, sentence.ends), float(descent.best.sum())
        least = progress.score - margin - total
        with progress.spending("lattice"):
            graph = pruned(graph, outside_of(graph, price), price, least)
            phrases = unfolded(graph, sentence.lattice, outside_of(graph, price), price, known=known, least=least, most_arcs=most_arcs)
        if phrases is not None:
            with progress.spending("search"):
                if (examine or partial(search_through, progress, sentence))(phrases, price, total, width):
                    return
            width *= WIDER
        if words_at_once == 0 or not untracked.any() or len(graph.arc_to) >= MOST_STATES:
            most_arcs *= 1 if phrases is not None else 2
            continue
        for word in np.argsort(-np.where(untracked, descent.violations, -1.0), kind="stable")[:words_at_once].tolist():
            if not untracked[word]:
                break
            with progress.spending("lattice"):
                untracked[word] = False
                known += 1
                graph = tightened(graph, word, *sentence.spans)
                graph = pruned(graph, outside_of(graph, price), price, progress.score - margin - total)


def search_through(progress: Progress, sentence: Sentence, graph: Graph, price: Scores, total: float, width: int) -> bool:
    """Beam search over a graph of phrases; whether that leaves no gap."""
    outside = outside_of(graph, price)
    if outside[0] == -np.inf:
        progress.proved(progress.score)
        return True
    graph = pruned(graph, outside, price, progress.score - total)
    most = min(MOST_HYPOTHESES, max(FEWEST_HYPOTHESES, int(min(progress.seconds_left(), 1e6) * PER_SECOND)))
    limits = Limits(progress.score - total, width, most)
    options, dropped, _ = best_above(graph, outside_of(graph, price), price, sentence.spans, sentence.tables.order, limits)
    if options is not None:
        progress.found(sentence.derivation(options))
    if dropped < math.inf:
        progress.proved(dropped + total)
    return progress.is_closed
