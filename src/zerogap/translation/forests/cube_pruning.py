"""Cube pruning of a syntax problem: a good derivation, fast, without a proof (Chiang 2007; the incumbent of the exact searches).

Kernels see a forest whose words are those of the problem's language model.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from zerogap.errors import InputError
from zerogap.oracles.forests.cube_pruning import ForestArrays, cube_pruned, derivation_of
from zerogap.oracles.ngrams.boundaries import Boundaries, boundaries_of
from zerogap.problems.translation.forest import Derivation
from zerogap.problems.translation.forest_problem import SyntaxProblem


class Compiled(NamedTuple):
    """A problem as arrays for kernels."""

    forest: ForestArrays
    arity: int  # the most vertices in a target side
    ends: tuple[int, int]  # the state before a sentence, and the word after it
    boundaries: Boundaries


def compile_problem(problem: SyntaxProblem) -> Compiled:
    forest, model = problem.forest, problem.language_model
    symbols = forest.symbols.copy()
    is_word = symbols >= 0
    symbols[is_word] = problem.word_ids[symbols[is_word]]
    tails = np.concatenate([[0], np.cumsum(~is_word)])
    arity = int((tails[forest.symbol_start[1:]] - tails[forest.symbol_start[:-1]]).max(initial=0))
    lm = boundaries_of(
        model.keys, model.scores, model.next_states, model.back_offs, model.shorter, n_words=model.n_words, order=model.order
    )
    arrays = ForestArrays(forest.edge_start, forest.symbol_start, symbols, problem.scores)
    return Compiled(arrays, arity, (model.start, model.end_id), lm)


def cube_prune(problem: SyntaxProblem, *, limit: int = 200, lazy: bool = False, compiled: Compiled | None = None) -> Derivation | None:
    """A good derivation, or None if all that were found are forbidden. `limit` is the number of candidates per vertex."""
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
        raise InputError(f"limit is {limit!r}: expected at least 1 candidate per vertex.")
    given = compile_problem(problem) if compiled is None else compiled
    pieces, best = cube_pruned(given.forest, given.boundaries, given.ends, given.arity, limit=limit, lazy=lazy)
    return None if best < 0 else derivation_of(pieces, best)
