"""Beam search with a bound: the best translation of the stacks, and the dual of the multipliers that it suggests (Rush 2014, algorithm
12)."""

from __future__ import annotations

import math

from zerogap.problems.translation.phrases import Derivation, PhraseProblem
from zerogap.proof.solution import Solution
from zerogap.translation.phrases.beam import STACK
from zerogap.translation.phrases.multipliers import Descent
from zerogap.translation.phrases.search_state import LIKELIEST_STEPS, Progress, Sentence, improve, start

LATTICE_STEPS = 8  # between two looks at the bound


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
