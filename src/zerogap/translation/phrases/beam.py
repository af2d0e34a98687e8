"""Beam search for a phrase problem, and the tables that all searches of one problem share."""

from __future__ import annotations

import math
import weakref
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zerogap.errors import InputError
from zerogap.oracles.ngrams.sentence import sentence_ngrams
from zerogap.oracles.phrases.beam import best_in_beam
from zerogap.oracles.phrases.coverage import Reordering
from zerogap.oracles.phrases.options import Options, Rows, options_of, rows_of
from zerogap.problems.translation.language_model import LanguageModel
from zerogap.problems.translation.phrases import Derivation, PhraseProblem
from zerogap.translation.phrases.output_automaton import with_automaton

STACK = 100

_state_starts: weakref.WeakKeyDictionary[LanguageModel, NDArray[np.int64]] = weakref.WeakKeyDictionary()


@dataclass(frozen=True, slots=True, eq=False)
class Tables:
    """Records of one problem that kernels read."""

    rows: Rows
    options: Options
    order: Reordering
    layer_of: NDArray[np.int64]  # per state: how many required phrases have been met


def state_starts(model: LanguageModel) -> NDArray[np.int64]:
    """Where the transitions of every state begin; found once for a model."""
    found = _state_starts.get(model)
    if found is None:
        found = np.searchsorted(model.keys, np.arange(model.n_states + 1) * model.n_words)
        _state_starts[model] = found
    return found


def tables_of(problem: PhraseProblem) -> Tables:
    model, automaton = problem.language_model, problem.automaton
    words, local = np.unique(np.append(problem.target_ids, model.end_id), return_inverse=True)
    ngrams = sentence_ngrams(
        model.keys, model.scores, model.next_states, model.back_offs, model.shorter, state_starts(model), model.n_words, words, model.start
    )
    layer_of = np.zeros(len(ngrams.back_offs), dtype=np.int64)
    if automaton is not None:
        n_symbols = len(automaton.symbols) + 1
        pairs, local = np.unique(local * n_symbols + np.append(problem.symbol_ids(), 0), return_inverse=True)
        layer_of = np.repeat(automaton.met, len(ngrams.back_offs))
        ngrams = with_automaton(ngrams, automaton, pairs // n_symbols, pairs % n_symbols, int(local[-1]))
    rows = rows_of(ngrams, int(local[-1]))
    options = options_of(
        len(problem), model.order, problem.starts, problem.ends, problem.scores, problem.target_start, local[:-1].astype(np.int64), rows
    )
    order = Reordering(problem.reach, problem.reordering == "moses", problem.distortion, problem.jumps, problem.rules)
    return Tables(rows, options, order, layer_of)


def beam_search(
    problem: PhraseProblem, *, stack: int = STACK, threshold: float = math.inf, tables: Tables | None = None
) -> Derivation | None:
    """The best translation that stacks of some size find, hypotheses worse than the best of their stack by more than `threshold` left out.

    None if no hypothesis translates all words: there is no translation, or all were dropped. Moses' check is made first even if the problem
    does not ask for it: without it, stacks fill with hypotheses that leave words behind, for which they will have to pay.
    """
    if type(stack) is not int or stack < 1:
        raise InputError(f"stack is {stack!r}: expected a number of hypotheses, at least 1.")
    if not threshold >= 0.0:
        raise InputError(f"threshold is {threshold!r}: expected a difference of scores, at least 0.")
    known = tables_of(problem) if tables is None else tables
    for moses in (True,) if known.order.moses else (True, False):
        order = known.order._replace(moses=moses)
        phrases = best_in_beam(known.options, known.rows, order, known.layer_of, size=stack, threshold=threshold)
        if phrases is not None:
            return problem.derivation(phrases.tolist())
    return None
