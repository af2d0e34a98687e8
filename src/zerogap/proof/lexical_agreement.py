"""Checks bounds of a lexicalised parser with a dependency parser or a tagger: all are solved again at the prices of the certificate."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from zerogap.errors import VerificationError
from zerogap.proof.certificate import Certificate, Leaves, Multipliers
from zerogap.proof.constituency import best_tagging
from zerogap.proof.dependency_charts import sibling_chart
from zerogap.proof.integers import as_float, number, units
from zerogap.proof.leaves import check_cover
from zerogap.proof.lexical_parsing import best_with_heads
from zerogap.proof.multipliers import checked_multipliers
from zerogap.structures.linear import agreement

if TYPE_CHECKING:
    from zerogap.problems.constituency.lexical_agreement import LexicalAgreement


def agreement_bound(problem: LexicalAgreement, certificate: Certificate) -> float:
    """The bound that a certificate proves: the largest dual of its leaves."""
    if not isinstance(certificate, Leaves):
        return dual_bound(problem, (), certificate)
    check_cover(certificate.leaves, problem.n_parts)
    return max(dual_bound(problem, leaf.fixed, leaf.certificate) for leaf in certificate.leaves)


def dual_bound(problem: LexicalAgreement, fixed: tuple[tuple[int, bool], ...], certificate: Certificate) -> float:
    """Best parse less prices, plus best tree and best tags with them, of what the decisions leave."""
    if not isinstance(certificate, Multipliers):
        raise VerificationError(f"a certificate of kind {certificate.kind!r} proves nothing here: expected multipliers.")
    lexical, size, n_parts, tagging = problem.lexical, problem.n_words + 1, problem.n_parts, problem.tagging
    rows = agreement(2 * n_parts, np.stack([np.arange(n_parts), n_parts + np.arange(n_parts)], axis=1))
    every_table = [lexical.binary, lexical.unary, lexical.words, lexical.roots, problem.arcs, problem.siblings, problem.stops]
    every_table += [] if tagging is None else [tagging.emissions, tagging.transitions]
    every = np.concatenate([table.reshape(-1) for table in every_table])
    values = checked_multipliers(certificate.values, rows, problem.resolution, problem.terms, every)
    arcs_left, tags_left = what_is_left(problem, fixed)
    prices, tag_prices = values[: size * size].reshape(size, size), values[size * size :]
    arcs = units(np.where(arcs_left, problem.arcs + prices, -np.inf), problem.resolution)
    tables = units(problem.siblings, problem.resolution), units(problem.stops, problem.resolution)
    total = as_float(number(sibling_chart(arcs[..., None], *tables, True, 1)[0]), problem.resolution)
    if tagging is not None:
        nodes = np.full((problem.n_words, tagging.transitions.shape[-1] - 1), -np.inf)
        np.maximum.at(nodes, (lexical.positions, tagging.tag_of), np.where(tags_left, tagging.emissions + tag_prices, -np.inf))
        total += best_tagging(nodes, tagging.transitions)
    if total == -np.inf:
        return total
    no_arc, no_tag = np.where(arcs_left, -prices, -np.inf), np.where(tags_left, -tag_prices, -np.inf)
    return total + best_with_heads(lexical, prices=no_arc, tag_prices=None if tagging is None else no_tag)


def what_is_left(problem: LexicalAgreement, fixed: tuple[tuple[int, bool], ...]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """The arcs (head, word) and the candidates that decisions leave: a word that has a head, or a tag, has no other."""
    size, positions = problem.n_words + 1, problem.lexical.positions
    arcs = np.ones((size, size), dtype=np.bool_)
    tags = np.ones(problem.n_parts - size * size, dtype=np.bool_)
    for part, inside in fixed:
        if part < size * size:
            row = np.zeros(size, dtype=np.bool_)
            row[part // size] = True
            arcs[:, part % size] &= row if inside else ~row
        else:
            here = positions == positions[part - size * size]
            chosen = np.zeros(len(tags), dtype=np.bool_)
            chosen[part - size * size] = True
            tags &= ~here | (chosen if inside else ~chosen)
    return arcs, tags
