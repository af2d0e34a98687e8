"""A* search with the outside scores of the relaxed lattice, without multipliers: a rival of optimal beam search (Rush 2014, section 7.7.2).

Departures: what is no better than the translation of a beam search is left out, so that fewer hypotheses wait. The thesis stops after
20,000,000 steps; here the time or the memory comes first. The multipliers of the certificate are found beforehand, in a moment: without
them the checker would have to search as long.
"""

from __future__ import annotations

import numpy as np

from zerogap.papers.rush2014.phrase_rivals.astar_kernel import BestFirst
from zerogap.problems.translation.phrases import Derivation, PhraseProblem
from zerogap.proof.solution import Solution
from zerogap.translation.phrases.beam import STACK
from zerogap.translation.phrases.bounded_beam import settle
from zerogap.translation.phrases.search_state import LIKELIEST_STEPS, start

STEPS_AT_ONCE = 500  # between two looks at the clock
MOST_HYPOTHESES = 20_000_000  # in memory


def best_first_search(problem: PhraseProblem, *, time_limit: float | None = None, stack: int = STACK) -> Solution[Derivation]:
    """The best translation; with a gap if time or memory do not suffice."""
    progress, sentence, descent = start(problem, time_limit, stack, (sum(LIKELIEST_STEPS),))
    if sentence is None:
        return progress.solution()
    settle(progress, sentence, descent)
    price = np.zeros(len(sentence.starts))
    first, _ = sentence.evaluate(price)
    progress.proved(first)
    search = BestFirst(sentence.lattice, sentence.outside, price, sentence.spans, sentence.tables.order, progress.score, MOST_HYPOTHESES)
    while not progress.is_closed and not progress.out_of_time():
        is_over, options = search.run(STEPS_AT_ONCE)
        if options is not None:
            progress.found(sentence.derivation(options))
        progress.proved(progress.score if options is not None else search.bound)
        if is_over:
            break
    return progress.solution()
