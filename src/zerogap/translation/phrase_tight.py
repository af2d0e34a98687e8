"""Multipliers of the source words alone, or with words that nodes know: rivals of optimal beam search (Rush 2014, section 7.7.2).

LR-tight is the method of Chang & Collins (2011): subgradient steps on the whole lattice until they lead nowhere, then hard constraints for
the words that paths translate twice or never most often, and so on, until a path translates every word once. Nothing is pruned.

Departures: it begins with the translation and the multipliers of a beam search, as optimal beam search does. The lattice lets paths back
off where they should not, and knows nothing of zones or of Moses' rule: if nothing else is wrong with a path, the rest is searched through.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from zerogap.oracles.phrase_outside import outside_table
from zerogap.oracles.phrase_tightening import knowing
from zerogap.oracles.phrase_unfolding import unrolled
from zerogap.proof.solution import Solution
from zerogap.translation.optimal_beam import MOST_STATES, close
from zerogap.translation.phrase_beam import STACK
from zerogap.translation.phrase_problem import Derivation, PhraseProblem
from zerogap.translation.phrase_progress import LIKELIEST_STEPS, Progress, Sentence, improve, start
from zerogap.translation.phrase_relaxation import Descent, again, prices

LATTICE_STEPS = 8  # between two looks at the bound
TIGHT_STEPS = 30  # with the same words
WORDS_AT_ONCE = 2
MOST_CELLS = 2**28  # of the table of outside scores: 2 GB


def multipliers_only(problem: PhraseProblem, *, time_limit: float | None = None, stack: int = STACK) -> Solution[Derivation]:
    """The best translation of a beam search, or a better one that multipliers lead to, with their bound (algorithm 12)."""
    progress, sentence, descent = start(problem, time_limit, stack, (sum(LIKELIEST_STEPS),))
    if sentence is not None:
        settle(progress, sentence, descent)
    return progress.solution()


def beam_with_bound(problem: PhraseProblem, *, time_limit: float | None = None, stack: int = STACK) -> Solution[Derivation]:
    """The best translation of a beam search, with the bound of the multipliers that it suggests."""
    progress, sentence, descent = start(problem, time_limit, stack, ())
    if sentence is not None:
        improve(progress, sentence.evaluate, sentence, descent, 1)
        progress.multipliers = descent.best
        progress.proved(descent.bound)
    return progress.solution()


def tight_relaxation(problem: PhraseProblem, *, time_limit: float | None = None, stack: int = STACK) -> Solution[Derivation]:
    """The best translation by multipliers and hard constraints, as many as are needed; with a gap if time or memory do not suffice."""
    progress, sentence, descent = start(problem, time_limit, stack, (sum(LIKELIEST_STEPS),))
    if sentence is None:
        return progress.solution()
    is_valid = settle(progress, sentence, descent)
    untracked = np.ones(len(problem), dtype=bool)
    while not progress.is_closed and not progress.out_of_time() and descent.bound > -math.inf:
        if is_valid or not untracked.any():
            search_the_rest(progress, sentence, descent)
            break
        for word in np.argsort(-np.where(untracked, descent.violations, -1.0), kind="stable")[:WORDS_AT_ONCE].tolist():
            if untracked[word]:
                untracked[word] = False
                lattice = knowing(sentence.lattice, word, sentence.starts, sentence.ends)
                if len(problem) * (len(lattice.end_state) + len(lattice.first_group)) > MOST_CELLS:
                    return progress.solution()
                sentence = replace(sentence, lattice=lattice, outside=outside_table(lattice, sentence.lengths))
        descent = again(descent)
        path = improve(progress, sentence.evaluate, sentence, descent, TIGHT_STEPS)
        is_valid = path is not None
        if path is not None:
            progress.found(sentence.derivation(path))
        progress.proved(descent.bound)
    return progress.solution()


def settle(progress: Progress, sentence: Sentence, descent: Descent) -> bool:
    """Steps on the whole lattice until they lead nowhere; whether the last path translated every word once."""
    while True:
        path = improve(progress, sentence.evaluate, sentence, descent, LATTICE_STEPS)
        if path is not None:
            progress.found(sentence.derivation(path))
        progress.multipliers = descent.best
        progress.proved(descent.bound)
        if progress.is_closed or path is not None or descent.is_over or progress.score == -math.inf or progress.out_of_time():
            return path is not None


def search_the_rest(progress: Progress, sentence: Sentence, descent: Descent) -> None:
    """What lies above the best translation, phrase by phrase."""
    price = prices(descent.best, sentence.starts, sentence.ends)
    sentence.evaluate(price)
    least = progress.score - float(descent.best.sum())
    graph = unrolled(sentence.lattice, sentence.outside, price, least=least, most_arcs=MOST_STATES)
    if graph is not None:
        close(progress, sentence, graph, descent)
