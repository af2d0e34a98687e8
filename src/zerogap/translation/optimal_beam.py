"""Optimal beam search for phrase-based translation: bounds from multipliers, and a beam that is wide enough (Rush 2014, section 7.6).

1. Plain beam search finds a translation, which is nearly always a best one.
2. Multipliers are found for a small lattice of the likeliest phrases, and improved on the whole lattice, until what lies on paths that
   score more than the translation is a graph of reasonable size.
3. In turn: multipliers are improved on the graph, what they prove superfluous is dropped, and a beam search over the rest, pruned by
   the graph's outside scores, looks for better translations. If the beam does not overflow, or the bound is the score, that is the end.
4. Where it does, the words that paths translate twice or never most often become part of the nodes (Chang & Collins 2011, section 5).

Departures: the thesis prunes with the whole lattice in every round (algorithm 13); here the graph shrinks with every better bound, so
that a round costs what is left undecided. Its tightening and its beam search are rivals; here the beam profits from the tightening.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray

from zerogap.errors import Infeasible, InvalidStructure
from zerogap.grid import Scores
from zerogap.oracles.phrase_graph import Graph, graph_above, graph_outside, graph_path, pruned, tightened
from zerogap.oracles.phrase_lattice import Lattice, lattice_of
from zerogap.oracles.phrase_options import Options, best_options
from zerogap.oracles.phrase_outside import Outside, best_path, outside_table
from zerogap.oracles.phrase_search import best_above
from zerogap.proof.certificate import Multipliers
from zerogap.proof.solution import Solution
from zerogap.relax.lagrangian import History
from zerogap.translation.phrase_beam import STACK, Tables, beam_search, tables_of
from zerogap.translation.phrase_problem import Derivation, PhraseProblem
from zerogap.translation.phrase_relaxation import Descent, Evaluate, again, begin, descend, first_multipliers, prices

LIKELIEST, LIKELIEST_STEPS = 6, 30  # phrases per span of the small lattice, and steps on it
LATTICE_STEPS = 8  # between two tries to make a graph
FIRST_ARCS, MOST_ARCS = 1_000_000, 8_000_000  # of a graph at first, and of one that is tightened
GRAPH_STEPS = 30  # between two beam searches
FIRST_WIDTH, WIDER = 500, 2  # of the beam, and by how much it grows
MOST_HYPOTHESES = 10_000_000  # in memory
WORDS_AT_ONCE = 2  # that tightening adds to the nodes

Integers = NDArray[np.int64]


@dataclass(slots=True)
class Progress:
    """The best translation and bound so far, and how they came about."""

    problem: PhraseProblem
    time_limit: float | None
    begin: float = field(default_factory=time.perf_counter)
    derivation: Derivation | None = None
    score: float = -math.inf
    bound: float = math.inf
    multipliers: Scores = field(default_factory=lambda: np.empty(0))  # from which the bound can be proved: the best for the whole lattice
    history: History = field(default_factory=History)

    def out_of_time(self) -> bool:
        return self.time_limit is not None and time.perf_counter() - self.begin >= self.time_limit

    def found(self, derivation: Derivation) -> None:
        """Takes a sequence of phrases that translates every word once, if it is a translation and better than what is known."""
        score = self.problem.score(derivation)
        if score > self.score and is_translation(self.problem, derivation):
            self.derivation, self.score = derivation, score

    def proved(self, bound: float) -> None:
        """No translation scores more than the larger of `bound` and the score of the best one known."""
        self.bound = min(self.bound, max(bound, self.score))
        self.history.bounds.append(self.bound)
        self.history.scores.append(self.score)
        self.history.seconds.append(time.perf_counter() - self.begin)

    @property
    def is_closed(self) -> bool:
        return self.bound <= self.score

    def solution(self) -> Solution[Derivation]:
        if self.bound == -math.inf:
            raise Infeasible(why_infeasible(self.problem))
        evidence = Multipliers(tuple(self.multipliers.tolist()))
        return Solution(self.derivation, self.score, self.bound, evidence, self.history.trace())


@dataclass(frozen=True, slots=True, eq=False)
class Sentence:
    """A problem with its whole lattice; options are numbered as in the tables."""

    problem: PhraseProblem
    tables: Tables
    lattice: Lattice
    outside: Outside
    starts: Integers
    ends: Integers

    @property
    def lengths(self) -> Integers:
        return self.ends - self.starts

    def derivation(self, options: Integers) -> Derivation:
        return self.problem.derivation(self.tables.options.number[options].tolist())

    def evaluate(self, price: Scores) -> tuple[float, Integers]:
        return best_path(self.lattice, self.outside, price)


def sentence_of(problem: PhraseProblem, tables: Tables, options: Options) -> Sentence:
    lattice = lattice_of(
        options, tables.rows,
        start=tables.ngrams.start, end_word=tables.end_word, jumps=tables.jumps, distortion=problem.distortion,
    )  # fmt: skip
    starts, ends = problem.starts[options.number], problem.ends[options.number]
    return Sentence(problem, tables, lattice, outside_table(lattice, ends - starts), starts, ends)


def optimal_beam_search(problem: PhraseProblem, *, time_limit: float | None = None, stack: int = STACK) -> Solution[Derivation]:
    """The best translation, and multipliers from which it can be proved; within the time, or with a gap.

    Infeasible if no translation exists. `stack` is the size of the plain beam search's stacks.
    """
    progress, sentence, descent = start(problem, time_limit, stack, LIKELIEST_STEPS)
    if sentence is not None:
        graph = worthwhile(progress, sentence, descent)
        if graph is not None:
            close(progress, sentence, graph, descent)
    return progress.solution()


def multipliers_only(problem: PhraseProblem, *, time_limit: float | None = None, stack: int = STACK) -> Solution[Derivation]:
    """The best translation of a beam search, or a better one that multipliers lead to, with their bound (algorithm 12)."""
    progress, sentence, descent = start(problem, time_limit, stack, LIKELIEST_STEPS)
    while sentence is not None:
        path = improve(progress, sentence.evaluate, sentence, descent, LATTICE_STEPS)
        if path is not None:
            progress.found(sentence.derivation(path))
        progress.multipliers = descent.best
        progress.proved(descent.bound)
        if progress.is_closed or path is not None or descent.is_over or progress.score == -math.inf or progress.out_of_time():
            break
    return progress.solution()


def beam_with_bound(problem: PhraseProblem, *, time_limit: float | None = None, stack: int = STACK) -> Solution[Derivation]:
    """The best translation of a beam search, with the bound of the multipliers that it suggests."""
    progress, sentence, descent = start(problem, time_limit, stack, 0)
    if sentence is not None:
        improve(progress, sentence.evaluate, sentence, descent, 1)
        progress.multipliers = descent.best
        progress.proved(descent.bound)
    return progress.solution()


def start(problem: PhraseProblem, time_limit: float | None, stack: int, steps: int) -> tuple[Progress, Sentence | None, Descent]:
    """A translation to begin with, the whole lattice, and multipliers after some steps on a small one. No lattice for no words."""
    progress, descent = Progress(problem, time_limit), begin(np.zeros(len(problem)))
    if len(problem) == 0:
        if not problem.constraints.required:
            progress.found(())
        progress.proved(progress.score)
        return progress, None, descent
    tables = tables_of(problem)
    derivation = beam_search(problem, stack=stack, tables=tables)
    if derivation is not None:  # without one, there is nothing to aim at
        progress.found(derivation)
        descent = begin(first_multipliers(problem, derivation))
        if steps:
            likely = sentence_of(problem, tables, best_options(tables.options, LIKELIEST))
            improve(progress, likely.evaluate, likely, descent, steps)
    return progress, sentence_of(problem, tables, tables.options), begin(descent.best)


def improve(progress: Progress, evaluate: Evaluate, sentence: Sentence, descent: Descent, iterations: int) -> Integers | None:
    return descend(
        descent, progress.problem, evaluate, sentence.starts, sentence.ends,
        score=progress.score, iterations=iterations, out_of_time=progress.out_of_time,
    )  # fmt: skip


def worthwhile(progress: Progress, sentence: Sentence, descent: Descent) -> Graph | None:
    """All of the lattice that may be part of a better translation, at the best multipliers; None when there is nothing left to do."""
    most_arcs, steps = FIRST_ARCS, 1
    while True:
        path = improve(progress, sentence.evaluate, sentence, descent, steps)
        if path is not None:
            progress.found(sentence.derivation(path))
        progress.multipliers = descent.best
        progress.proved(descent.bound)
        if progress.is_closed or descent.bound == -math.inf or progress.out_of_time():
            return None
        price = prices(descent.best, sentence.starts, sentence.ends)
        if steps > 1:
            sentence.evaluate(price)  # the table is that of the last multipliers, not of the best ones
        least = progress.score - float(descent.best.sum())
        graph = graph_above(sentence.lattice, sentence.outside, price, least=least, most_arcs=most_arcs)
        if graph is not None:
            return graph
        steps = max(2 * steps, LATTICE_STEPS)  # a try costs as much as several steps
        if descent.is_over or path is not None or progress.score == -math.inf:  # no better multipliers to come
            most_arcs *= 4


def close(progress: Progress, sentence: Sentence, graph: Graph, descent: Descent) -> None:
    """Better multipliers, a smaller graph, a wider beam, tighter nodes: until the gap is closed or the time over."""
    problem, n = sentence.problem, len(sentence.problem)
    starts, ends, lengths = sentence.starts, sentence.ends, sentence.lengths
    width = FIRST_WIDTH
    untracked = np.ones(n, dtype=bool)
    path = np.empty(n, dtype=np.int64)
    while not progress.out_of_time():
        outside = np.empty(len(graph.node_at))
        evaluate = partial(best_of_graph, graph, outside, path)
        descent = again(descent)
        valid = improve(progress, evaluate, sentence, descent, GRAPH_STEPS)
        if valid is not None:
            progress.found(sentence.derivation(valid))
        progress.proved(descent.bound)
        if progress.is_closed:
            return
        price, total = prices(descent.best, starts, ends), float(descent.best.sum())
        evaluate(price)
        graph = pruned(graph, outside, price, least=progress.score - total)
        outside = np.empty(len(graph.node_at))
        if graph_outside(price, outside, *graph) == -np.inf:
            progress.proved(progress.score)
            return
        options, dropped, _ = best_above(
            graph, outside, price, starts, lengths, n,
            least=progress.score - total, width=width, reach=problem.reach, moses=problem.reordering == "moses", rules=problem.rules,
            most=MOST_HYPOTHESES,
        )  # fmt: skip
        if options is not None:
            progress.found(sentence.derivation(options))
        if dropped < math.inf:
            progress.proved(dropped + total)
        if progress.is_closed:
            return
        width *= WIDER
        for word in np.argsort(-np.where(untracked, descent.violations, -1.0), kind="stable")[:WORDS_AT_ONCE].tolist():
            if untracked[word] and len(graph.arc_to) < MOST_ARCS:
                untracked[word] = False
                graph = tightened(graph, word, starts, lengths)
                outside = np.empty(len(graph.node_at))
                if graph_outside(price, outside, *graph) > -np.inf:
                    graph = pruned(graph, outside, price, least=progress.score - total)


def best_of_graph(graph: Graph, outside: Scores, path: Integers, price: Scores) -> tuple[float, Integers]:
    value = graph_outside(price, outside, *graph)
    return value, path[:0] if value == -np.inf else path[: graph_path(price, outside, path, *graph)]


def is_translation(problem: PhraseProblem, derivation: Derivation) -> bool:
    """Whether it obeys what the lattice does not know: zones, walls, and Moses' rule."""
    try:
        problem.check(derivation)
    except InvalidStructure:
        return False
    return True


def why_infeasible(problem: PhraseProblem) -> str:
    covered = np.zeros(len(problem), dtype=bool)
    for start, end, score in zip(problem.starts.tolist(), problem.ends.tolist(), problem.scores.tolist(), strict=True):
        covered[start:end] |= score > -math.inf
    if not covered.all():
        i = int(np.argmin(covered))
        return f"no phrase translates word {i}, {problem.source[i]!r}."
    return "no sequence of phrases translates every word once without forbidden jumps."
