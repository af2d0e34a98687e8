"""Checks bounds of a lexicalised and a dependency parser that must agree: both are solved again at the prices of the certificate."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from zerogap.errors import VerificationError
from zerogap.proof.certificate import Certificate, Multipliers
from zerogap.proof.dependency_charts import sibling_chart
from zerogap.proof.lexical_parsing import best_above
from zerogap.proof.multipliers import checked_multipliers
from zerogap.structures.linear import agreement

if TYPE_CHECKING:
    from zerogap.constituency.lexical_agreement import LexicalAgreement


def agreement_bound(problem: LexicalAgreement, certificate: Certificate, claimed: float) -> float:
    """The claimed bound if the dual at these prices is not above it, else the dual: best parse less prices plus best tree with them."""
    if not isinstance(certificate, Multipliers):
        raise VerificationError(f"a certificate of kind {certificate.kind!r} proves nothing here: expected multipliers.")
    lexical, size = problem.lexical, problem.n_words + 1
    rows = agreement(2 * size * size, np.stack([np.arange(size * size), size * size + np.arange(size * size)], axis=1))
    tables = (lexical.binary, lexical.unary, lexical.words, lexical.roots, problem.arcs, problem.siblings, problem.stops)
    every = np.concatenate([table.reshape(-1) for table in tables])
    prices = checked_multipliers(certificate.values, rows, problem.resolution, problem.terms, every).reshape(size, size)
    arcs = problem.arcs + prices
    tree = float(sibling_chart(arcs[..., None], problem.siblings, problem.stops, True, 1)[0])
    if tree == -np.inf:
        return claimed
    return max(claimed, tree + best_above(lexical, claimed - tree, prices=-prices))
