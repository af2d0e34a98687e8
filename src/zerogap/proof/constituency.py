"""Checks bounds of joint parsing and tagging with a chart parser and a tagger of its own, in NumPy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from zerogap.constituency.problem import JointProblem
from zerogap.errors import VerificationError
from zerogap.grid import Scores, floor_to_unit
from zerogap.proof.certificate import Certificate, DynamicProgram, Leaves, Multipliers
from zerogap.proof.leaves import check_cover
from zerogap.proof.multipliers import checked_multipliers
from zerogap.structures.grammar import Grammar
from zerogap.structures.linear import agreement


def joint_bound(problem: JointProblem, certificate: Certificate) -> float:
    """The bound that a certificate proves."""
    allowed = np.ones((problem.n_words, len(problem.tags)), dtype=np.bool_)
    match certificate:
        case DynamicProgram():
            return joint_optimum(problem)
        case Leaves(leaves):
            check_cover(leaves, allowed.size)
            bounds = []
            for leaf in leaves:
                left = allowed.copy()
                for part, inside in leaf.fixed:
                    word, tag = divmod(part, len(problem.tags))
                    left[word] &= (np.arange(len(problem.tags)) == tag) == inside
                bounds.append(dual_bound(problem, left, leaf.certificate))
            return max(bounds)
        case _:
            return dual_bound(problem, allowed, certificate)


def dual_bound(problem: JointProblem, allowed: NDArray[np.bool_], certificate: Certificate) -> float:
    """L(u): the best parse with prices on its tags plus the best tags with the opposite prices."""
    if not isinstance(certificate, Multipliers):
        raise VerificationError(f"a certificate of kind {certificate.kind!r} proves nothing here: expected multipliers.")
    n_parts = allowed.size
    rows = agreement(2 * n_parts, np.stack([np.arange(n_parts), n_parts + np.arange(n_parts)], axis=1))
    arrays = (problem.grammar.binary_scores, problem.grammar.unary_scores, problem.lexical, problem.emissions, problem.transitions)
    every_score = np.concatenate([array.reshape(-1) for array in arrays])
    prices = checked_multipliers(certificate.values, rows, problem.resolution, problem.terms, every_score).reshape(allowed.shape)
    lexical = np.full(problem.lexical.shape, -np.inf)
    symbols = problem.tag_symbols
    lexical[:, symbols] = np.where(allowed, problem.lexical[:, symbols] - prices, -np.inf)
    dual = best_parse(problem.grammar, lexical) + best_tagging(np.where(allowed, problem.emissions + prices, -np.inf), problem.transitions)
    return floor_to_unit(dual, problem.unit)


def best_parse(grammar: Grammar, lexical: Scores) -> float:
    """The score of the best parse, by CKY over whole rule tables."""
    n, n_symbols = lexical.shape
    best = np.full((n, n + 1, n_symbols), -np.inf)
    parents, lefts, rights = grammar.binary.T if len(grammar.binary) else np.zeros((3, 0), dtype=np.int32)
    for length in range(1, n + 1):
        for i in range(n - length + 1):
            cell = lexical[i].copy() if length == 1 else np.full(n_symbols, -np.inf)
            for split in range(i + 1, i + length):
                np.maximum.at(cell, parents, grammar.binary_scores + best[i, split, lefts] + best[split, i + length, rights])
            for (parent, child), score in zip(grammar.unary.tolist(), grammar.unary_scores.tolist(), strict=True):
                cell[parent] = max(cell[parent], score + cell[child])  # sorted by parent, children first
            best[i, i + length] = cell
    return float(best[0, n, grammar.root])


def best_tagging(nodes: Scores, transitions: Scores) -> float:
    """The score of the best tag sequence, by maximising out the oldest tag of the context."""
    n, n_tags = nodes.shape
    best = np.full((n_tags + 1,) * (transitions.ndim - 1), -np.inf)
    best[(n_tags,) * best.ndim] = 0.0
    for i in range(n):
        best = (best[..., None] + transitions).max(axis=0)
        best = best + np.concatenate([nodes[i], [-np.inf]])  # no boundary inside the sentence
    return float((best + transitions[..., n_tags]).max())


def joint_optimum(problem: JointProblem) -> float:
    """The score of the best joint structure: every item also remembers the tags that it enters and leaves with."""
    n_tags, order, grammar = len(problem.tags), problem.order, problem.grammar
    contexts = (n_tags + 1) ** (order - 1)
    tag_of = {symbol: t for t, symbol in enumerate(problem.tag_symbols)}
    table = problem.transitions.reshape(contexts, n_tags + 1)
    n = problem.n_words
    best: dict[tuple[int, int, int], Scores] = {}  # (start, end, symbol) -> (context before, context after)
    for length in range(1, n + 1):
        for i in range(n - length + 1):
            j = i + length
            cell: dict[int, Scores] = {}
            if length == 1:
                for symbol, t in tag_of.items():
                    if problem.lexical[i, symbol] > -np.inf:
                        grid = np.full((contexts, contexts), -np.inf)
                        after = (np.arange(contexts) * (n_tags + 1) + t) % contexts if order > 1 else np.zeros(contexts, dtype=np.int64)
                        grid[np.arange(contexts), after] = table[:, t] + problem.lexical[i, symbol] + problem.emissions[i, t]
                        cell[symbol] = grid
            for (parent, left, right), score in zip(grammar.binary.tolist(), grammar.binary_scores.tolist(), strict=True):
                for split in range(i + 1, j):
                    if (i, split, left) in best and (split, j, right) in best:
                        joined = (best[i, split, left][:, :, None] + best[split, j, right][None]).max(axis=1) + score
                        cell[parent] = np.maximum(cell[parent], joined) if parent in cell else joined
            for (parent, child), score in zip(grammar.unary.tolist(), grammar.unary_scores.tolist(), strict=True):
                if child in cell:
                    lifted = cell[child] + score
                    cell[parent] = np.maximum(cell[parent], lifted) if parent in cell else lifted
            best.update({(i, j, symbol): grid for symbol, grid in cell.items()})
    top = best.get((0, n, grammar.root))
    return float((top[contexts - 1] + table[:, n_tags]).max()) if top is not None else -np.inf
