"""State that all exact searches for a phrase-based translation share: the best translation and bound so far, and the sentence's lattice."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from zerogap.errors import Infeasible, InvalidStructure
from zerogap.grid import Scores
from zerogap.oracles.phrases.coverage import Spans
from zerogap.oracles.phrases.graph import Graph, graph_outside, graph_path
from zerogap.oracles.phrases.lattice import Lattice, lattice_of
from zerogap.oracles.phrases.options import Options, best_options
from zerogap.oracles.phrases.outside import Outside, best_path, outside_table
from zerogap.oracles.phrases.unfolding import unrolled
from zerogap.problems.translation.phrases import Derivation, PhraseProblem
from zerogap.proof.certificate import Multipliers
from zerogap.proof.solution import Solution
from zerogap.relax.history import History
from zerogap.translation.phrases.beam import Tables, beam_search, tables_of
from zerogap.translation.phrases.multipliers import Descent, Evaluate, begin, descend, first_multipliers, prices

LIKELIEST = 6  # phrases per span of the small lattice
LIKELIEST_STEPS = 1, 4, 10, 15  # on it: after each round, a look at whether that will do
LITTLE = 20_000  # arcs of the small lattice above the best score: no more steps are needed

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
    spent: dict[str, float] = field(default_factory=dict)  # seconds of this thread, by what they were spent on

    def seconds_left(self) -> float:
        return math.inf if self.time_limit is None else self.time_limit - (time.perf_counter() - self.begin)

    def out_of_time(self) -> bool:
        return self.seconds_left() <= 0.0

    @contextmanager
    def spending(self, what: str) -> Iterator[None]:
        before = time.thread_time()
        try:
            yield
        finally:
            self.spent[what] = self.spent.get(what, 0.0) + time.thread_time() - before

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
            from zerogap.translation.phrases.infeasible import why_infeasible

            raise Infeasible(why_infeasible(self.problem))
        evidence = Multipliers(tuple(self.multipliers.tolist()))
        return Solution(self.derivation, self.score, self.bound, evidence, self.history.trace())


@dataclass(frozen=True, slots=True, eq=False)
class Sentence:
    """A problem with its whole lattice; options are numbered as in the tables, and one that is none comes last."""

    problem: PhraseProblem
    tables: Tables
    lattice: Lattice
    outside: Outside
    starts: Integers
    ends: Integers

    @property
    def spans(self) -> Spans:
        return Spans(self.starts, self.ends - self.starts)

    def derivation(self, options: Integers | list[int]) -> Derivation:
        return self.problem.derivation(self.tables.options.number[options].tolist())

    def evaluate(self, price: Scores) -> tuple[float, Integers]:
        return best_path(self.lattice, self.outside, price)


def sentence_of(problem: PhraseProblem, tables: Tables, options: Options) -> Sentence:
    lattice = lattice_of(options, tables.rows, tables.order)
    starts, ends = (np.append(of[options.number], len(problem)) for of in (problem.starts, problem.ends))
    return Sentence(problem, tables, lattice, outside_table(lattice, ends - starts), starts, ends)


def start(problem: PhraseProblem, time_limit: float | None, stack: int, rounds: Sequence[int]) -> tuple[Progress, Sentence | None, Descent]:
    """A translation to begin with, the whole lattice, and multipliers after rounds of steps on a small one. No lattice for no words, and no
    translation without stacks."""
    progress, descent = Progress(problem, time_limit), begin(np.zeros(len(problem)))
    if len(problem) == 0:
        if not problem.constraints.required:
            progress.found(())
        progress.proved(progress.score)
        return progress, None, descent
    with progress.spending("lattice"):
        tables = tables_of(problem)
    with progress.spending("search"):
        derivation = beam_search(problem, stack=stack, tables=tables) if stack else None
    if derivation is not None:  # without one, there is nothing to aim at
        progress.found(derivation)
        descent = begin(first_multipliers(problem, derivation))
        if rounds:
            with progress.spending("lattice"):
                likely = sentence_of(problem, tables, best_options(tables.options, LIKELIEST))
        for steps in rounds:
            improve(progress, likely.evaluate, likely, descent, steps)
            if descent.bound <= progress.score or (len(rounds) > 1 and is_little(progress, likely, descent)):
                break
    with progress.spending("lattice"):
        sentence = sentence_of(problem, tables, tables.options)
    return progress, sentence, begin(descent.best)


def is_little(progress: Progress, sentence: Sentence, descent: Descent) -> bool:
    """Whether few paths of a lattice score more than the best translation, at the best multipliers."""
    with progress.spending("lattice"):
        price = prices(descent.best, sentence.starts, sentence.ends)
        sentence.evaluate(price)
        least = progress.score - float(descent.best.sum())
        return unrolled(sentence.lattice, sentence.outside, price, least=least, most_arcs=LITTLE) is not None


def improve(
    progress: Progress, evaluate: Evaluate, sentence: Sentence, descent: Descent, iterations: int, margin: float = 0.0
) -> Integers | None:
    """Steps of the multipliers towards the best score, or so much below it; a path that translates every word once, if one is met."""
    with progress.spending("multipliers"):
        return descend(
            descent, progress.problem, evaluate, sentence.starts, sentence.ends,
            score=progress.score - margin, iterations=iterations, out_of_time=progress.out_of_time,
        )  # fmt: skip


def evaluate_graph(graph: Graph, n: int) -> Evaluate:
    """The best path of a graph, at given prices."""
    outside, path = np.empty(len(graph.state)), np.empty(n, dtype=np.int64)

    def evaluate(price: Scores) -> tuple[float, Integers]:
        value = graph_outside(price, outside, graph)
        return value, path[:0] if value == -np.inf else path[: graph_path(price, outside, path, graph)]

    return evaluate


def outside_of(graph: Graph, price: Scores) -> Scores:
    """The best completion of every node."""
    outside = np.empty(len(graph.state))
    graph_outside(price, outside, graph)
    return outside


def is_translation(problem: PhraseProblem, derivation: Derivation) -> bool:
    """Whether it obeys what the lattice does not know: zones, walls, and Moses' rule."""
    try:
        problem.check(derivation)
    except InvalidStructure:
        return False
    return True
