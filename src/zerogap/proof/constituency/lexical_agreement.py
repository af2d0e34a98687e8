"""Checks bounds of a lexicalised parser with a dependency parser or a tagger: all are solved again at the prices of the certificate."""

from __future__ import annotations

import math

import numpy as np

from zerogap.errors import VerificationError
from zerogap.grid import Flags
from zerogap.problems.constituency.lexical_agreement import LexicalAgreement
from zerogap.proof.certificate import Certificate, Leaves, Multipliers
from zerogap.proof.constituency.joint import best_tagging
from zerogap.proof.constituency.lexical import best_with_heads
from zerogap.proof.dependency.charts import sibling_chart
from zerogap.proof.integers import ABSENT, Units, number, plus, units
from zerogap.proof.leaves import check_cover
from zerogap.proof.multipliers import checked_multipliers, largest_of
from zerogap.structures.linear import agreement


def agreement_bound(problem: LexicalAgreement, certificate: Certificate, claimed: Units) -> Units:
    """The bound that a certificate proves: the largest dual of its leaves."""
    if not isinstance(certificate, Leaves):
        return dual_bound(problem, (), certificate)
    check_cover(certificate.leaves, problem.n_parts)
    return max(dual_bound(problem, leaf.fixed, leaf.certificate) for leaf in certificate.leaves)


def dual_bound(problem: LexicalAgreement, fixed: tuple[tuple[int, bool], ...], certificate: Certificate) -> Units:
    """Best parse less prices, plus best tree and best tags with them, of what the decisions leave."""
    if not isinstance(certificate, Multipliers):
        raise VerificationError(f"a certificate of kind {certificate.kind!r} proves nothing here: expected multipliers.")
    lexical, size, n_parts, tagging = problem.lexical, problem.n_words + 1, problem.n_parts, problem.tagging
    resolution = problem.resolution
    rows = agreement(2 * n_parts, np.stack([np.arange(n_parts), n_parts + np.arange(n_parts)], axis=1))
    tables = [lexical.binary, lexical.unary, lexical.words, lexical.roots, problem.arcs, problem.siblings, problem.stops]
    tables += [] if tagging is None else [tagging.emissions, tagging.transitions]
    largest = largest_of(problem.terms, *(units(table, resolution) for table in tables))
    values = checked_multipliers(certificate.values, rows, resolution, largest)
    arcs_left, tags_left = what_is_left(problem, fixed)
    prices, tag_prices = values[: size * size].reshape(size, size), values[size * size :]
    arcs = np.where(arcs_left, plus(units(problem.arcs, resolution), prices), ABSENT)
    of_siblings, of_stops = units(problem.siblings, resolution), units(problem.stops, resolution)
    total = number(sibling_chart(arcs[..., None], of_siblings, of_stops, True, 1)[0])
    if tagging is not None:
        nodes = np.full((problem.n_words, tagging.transitions.shape[-1] - 1), ABSENT)
        found = np.where(tags_left, plus(units(tagging.emissions, resolution), tag_prices), ABSENT)
        np.maximum.at(nodes, (lexical.positions, tagging.tag_of), found)
        total += number(best_tagging(nodes, units(tagging.transitions, resolution)))
    if total == -math.inf:
        return total
    no_arc, no_tag = np.where(arcs_left, -prices, ABSENT), np.where(tags_left, -tag_prices, ABSENT)
    return total + best_with_heads(lexical, prices=no_arc, tag_prices=None if tagging is None else no_tag)


def what_is_left(problem: LexicalAgreement, fixed: tuple[tuple[int, bool], ...]) -> tuple[Flags, Flags]:
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
