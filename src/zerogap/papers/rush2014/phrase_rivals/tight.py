"""Multipliers of the source words, with hard constraints for some of them: rivals of optimal beam search (Rush 2014, section 7.7.2).

LR-tight is the method of Chang & Collins (2011): subgradient steps on the whole lattice until they lead nowhere, then hard constraints for
the words that paths translate twice or never most often, and so on, until a path translates every word once. Nothing is pruned.

Departures of `lr-tight`: it begins with the translation and the multipliers of a beam search, as optimal beam search does, and its steps
are Polyak's. `chang-collins` does without: multipliers begin at 0, and steps are shorter whenever the dual has grown. In both, the
lattice lets paths back off where they should not, and knows nothing of zones or of Moses' rule: if nothing else is wrong with a path,
the rest is searched through.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from zerogap.grid import Scores
from zerogap.oracles.phrases.outside import outside_table
from zerogap.oracles.phrases.unfolding import unrolled
from zerogap.papers.rush2014.phrase_rivals.tightening import knowing
from zerogap.problems.translation.phrases import Derivation, PhraseProblem
from zerogap.proof.solution import Solution
from zerogap.translation.phrases.beam import STACK
from zerogap.translation.phrases.bounded_beam import settle
from zerogap.translation.phrases.multipliers import Descent, again, excess, on_grid, prices
from zerogap.translation.phrases.optimal_beam import MOST_STATES, close
from zerogap.translation.phrases.search_state import LIKELIEST_STEPS, Integers, Progress, Sentence, improve, start

TIGHT_STEPS = 30  # with the same words
WORDS_AT_ONCE = 2
PRINTED_STEPS, PRINTED_WORDS = 10, 3  # of Chang & Collins: steps in which violations are counted, and words that become known at once
MOST_ROUNDS = 1_000  # where there is no translation, the dual falls for ever
LEAST_GAIN = 0.002  # of the dual in so many steps
MOST_CELLS = 2**28  # of the table of outside scores: 2 GB
ARCS_PER_SECOND = 5e8  # a lattice whose first evaluation would not end in time is not made


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
        words = np.argsort(-np.where(untracked, descent.violations, -1.0), kind="stable")[:WORDS_AT_ONCE]
        tighter = tightened(sentence, words[untracked[words]].tolist(), progress.seconds_left())
        if tighter is None:
            break
        untracked[words], sentence, descent = False, tighter, again(descent)
        path = improve(progress, sentence.evaluate, sentence, descent, TIGHT_STEPS)
        is_valid = path is not None
        if path is not None:
            progress.found(sentence.derivation(path))
        progress.proved(descent.bound)
    return progress.solution()


def printed_relaxation(problem: PhraseProblem, *, time_limit: float | None = None, stack: int = STACK) -> Solution[Derivation]:
    """The same as Chang & Collins print it: from multipliers 0, with steps of 1 / (1 + how often the dual has grown)."""
    progress, sentence, descent = start(problem, time_limit, 0, ())
    if sentence is None:
        return progress.solution()
    untracked = np.ones(len(problem), dtype=bool)
    is_valid = False
    for _ in range(MOST_ROUNDS):
        if is_valid or progress.out_of_time() or descent.bound == -math.inf:
            break
        before = descent.bound
        descent.violations[:] = 0.0
        path = printed_steps(progress, sentence, descent)
        if untracked.all():
            progress.multipliers = descent.best
        is_valid = path is not None
        if path is not None:
            progress.found(sentence.derivation(path))
        progress.proved(descent.bound)
        if not is_valid and before - descent.bound < LEAST_GAIN:
            words = apart(np.where(untracked, descent.violations, 0.0))
            tighter = tightened(sentence, words, progress.seconds_left())
            if tighter is None or not words:
                break
            untracked[words], sentence = False, tighter
    if is_valid and not progress.is_closed:
        search_the_rest(progress, sentence, descent)
    return progress.solution()


def printed_steps(progress: Progress, sentence: Sentence, descent: Descent) -> Integers | None:
    """Some steps, or fewer if a path translates every word once: that path. `descent.scale` is the length of steps."""
    with progress.spending("multipliers"):
        last = math.inf
        for _ in range(PRINTED_STEPS):
            value, path = sentence.evaluate(prices(descent.current, sentence.starts, sentence.ends))
            here = value + float(descent.current.sum())
            if here < descent.bound:
                descent.bound, descent.best = here, descent.current
            direction = excess(path, sentence.starts, sentence.ends, len(progress.problem))
            if here == -math.inf or not direction.any():
                return None if here == -math.inf else path
            descent.violations += direction != 0.0
            if here > last:
                descent.scale /= 1.0 + descent.scale
            last = here
            if progress.out_of_time():
                break
            descent.current = on_grid(progress.problem, descent.current + descent.scale * direction)
    return None


def apart(violations: Scores) -> list[int]:
    """The words that are violated most often, no two of them neighbours."""
    words: list[int] = []
    for word in np.argsort(-violations, kind="stable").tolist():
        if len(words) < PRINTED_WORDS and violations[word] > 0.0 and not {word - 1, word + 1} & set(words):
            words.append(word)
    return words


def tightened(sentence: Sentence, words: Sequence[int], seconds: float) -> Sentence | None:
    """The sentence with a lattice that knows some words more; None if it would be too large for the memory or for the time left."""
    for word in words:
        arcs = len(sentence.problem) * (len(sentence.lattice.enter_first) + len(sentence.lattice.leave_end))
        if 2 * arcs > ARCS_PER_SECOND * seconds:
            return None
        lattice = knowing(sentence.lattice, word, sentence.starts, sentence.ends)
        if len(sentence.problem) * (len(lattice.end_state) + len(lattice.first_group)) > MOST_CELLS:
            return None
        sentence = replace(sentence, lattice=lattice, outside=outside_table(lattice, sentence.spans.lengths))
    return sentence


def search_the_rest(progress: Progress, sentence: Sentence, descent: Descent) -> None:
    """What lies above the best translation, phrase by phrase."""
    price = prices(descent.best, sentence.starts, sentence.ends)
    sentence.evaluate(price)
    least = progress.score - float(descent.best.sum())
    graph = unrolled(sentence.lattice, sentence.outside, price, least=least, most_arcs=MOST_STATES)
    if graph is not None:
        close(progress, sentence, graph, descent)
