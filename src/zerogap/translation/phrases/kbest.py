"""The k best translations, and nothing better left out.

After the best one is proved, all that scores at most some margin less is searched through, exhaustively. If that gives fewer than k
translations, the margin is doubled, until it reaches what no translation can be below.
"""

from __future__ import annotations

import math
from dataclasses import replace

from zerogap.grid import Scores, largest_magnitude
from zerogap.oracles.phrases.graph import Graph
from zerogap.oracles.phrases.search import Limits, translations_above
from zerogap.oracles.phrases.unfolding import unrolled
from zerogap.problems.translation.phrases import Derivation, PhraseProblem
from zerogap.proof.solution import Solution
from zerogap.translation.phrases.beam import STACK
from zerogap.translation.phrases.multipliers import begin, prices
from zerogap.translation.phrases.optimal_beam import MOST_STATES, close, search
from zerogap.translation.phrases.search_state import Progress, Sentence, outside_of

FIRST_MARGIN = 0.005  # of the score
MOST_HYPOTHESES = 2_000_000  # that are kept with all steps between them


def best_translations(problem: PhraseProblem, k: int, *, time_limit: float | None = None, stack: int = STACK) -> Solution[Derivation]:
    """A best translation and, as alternatives, the k - 1 next best; None of these if time or memory did not suffice."""
    progress, sentence = search(problem, time_limit=time_limit, stack=stack)
    solution = progress.solution()
    if not progress.is_closed or solution.structure is None:
        return replace(solution, alternatives=None)
    if sentence is None:
        return solution
    margin = max(FIRST_MARGIN * abs(progress.score), 1024 * problem.resolution)
    while True:
        found = within(progress, sentence, margin, k)
        if found is None:
            return replace(solution, alternatives=None)
        if len(found) >= k or progress.score - margin < lowest(problem):
            break
        margin *= 2
    others = [(derivation, problem.score(derivation)) for derivation in found if derivation != solution.structure]
    return replace(solution, alternatives=tuple(others[: k - 1]))


def lowest(problem: PhraseProblem) -> float:
    """Less than any translation scores that is not forbidden."""
    words = max((len(target) for target in problem.targets), default=0)
    phrase = largest_magnitude(problem.scores) + words * problem.language_model.largest + len(problem) * abs(problem.distortion)
    return -len(problem) * phrase - problem.language_model.largest - 1.0


def within(progress: Progress, sentence: Sentence, margin: float, k: int) -> list[Derivation] | None:
    """The best translations, at most k, that score at most the margin less than the best one; None if there are too many to look at."""
    price, total = prices(progress.multipliers, sentence.starts, sentence.ends), float(progress.multipliers.sum())
    sentence.evaluate(price)
    graph = unrolled(sentence.lattice, sentence.outside, price, least=progress.score - margin - total, most_arcs=MOST_STATES)
    found: list[Derivation] | None = None

    def examine(phrases: Graph, price: Scores, total: float, width: int) -> bool:
        nonlocal found
        limits = Limits(progress.score - margin - total, MOST_HYPOTHESES, MOST_HYPOTHESES)
        translations = translations_above(phrases, outside_of(phrases, price), price, sentence.spans, sentence.tables.order, limits, k)
        if translations is not None:
            found = [sentence.derivation(options) for options, _ in translations]
        return translations is not None

    if graph is not None and not math.isinf(margin):
        close(progress, sentence, graph, begin(progress.multipliers), margin=margin, examine=examine)
    return found
