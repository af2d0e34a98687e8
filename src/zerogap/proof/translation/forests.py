"""Checks bounds on derivations of translation forests with a search of its own, in plain Python and NumPy.

Certificates are prices on the first and last words of vertices (`forest_bounds`). The checker builds all pieces of
translations that might be part of a derivation above the claimed bound (`forest_pieces`), by its own account of what can come
around them. If no derivation above the claimed bound is found among them, there is none. Without prices all pieces are built.
"""

from __future__ import annotations

import numpy as np

from zerogap.errors import VerificationError
from zerogap.grid import Scores
from zerogap.problems.translation.forest_problem import SyntaxProblem
from zerogap.problems.translation.language_model import remembers_words
from zerogap.proof.certificate import Certificate, DynamicProgram, Multipliers
from zerogap.proof.translation.forest_bounds import Around
from zerogap.proof.translation.forest_pieces import Pieces
from zerogap.proof.translation.forest_rounds import relaxed


def syntax_bound(problem: SyntaxProblem, certificate: Certificate, claimed: float) -> float:
    """The claimed bound if the certificate shows that nothing scores more, else the score of something that does, or a weaker bound."""
    around, bound = around_pieces(problem, certificate, claimed)
    if bound <= claimed:
        return bound
    return max(claimed, *Pieces(problem, around, claimed, 1).scores_above(), -np.inf)


def syntax_alternatives(problem: SyntaxProblem, certificate: Certificate, claimed: float, k: int) -> Scores:
    """The scores above `claimed` of the k best derivations, the highest first."""
    around, bound = around_pieces(problem, certificate, claimed)
    if bound <= claimed:
        return np.empty(0)
    return np.array([score for score in Pieces(problem, around, claimed, k).scores_above() if score > claimed])


def around_pieces(problem: SyntaxProblem, certificate: Certificate, claimed: float) -> tuple[Around | None, float]:
    """What the certificate says about everything around pieces, if anything, and its bound."""
    match certificate:
        case DynamicProgram():
            prices: tuple[float, ...] = ()
        case Multipliers(values):
            prices = values
        case _:
            raise VerificationError(f"a certificate of kind {certificate.kind!r} proves nothing about translation forests.")
    if not remembers_words(problem.language_model):
        raise VerificationError("the language model is no automaton of n-grams: expected one that was read from n-grams, or built of them.")
    if (np.diff(problem.forest.symbol_start) > 0).all():
        around, bound = relaxed(problem, prices, claimed)
        # with unigrams a vertex has one piece, and no first words to price
        return (None if problem.language_model.order == 1 else around), bound
    if prices:
        raise VerificationError("prices prove nothing where a target side is empty.")
    return None, np.inf
