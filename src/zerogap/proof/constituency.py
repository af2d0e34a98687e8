"""Checks bounds of joint parsing and tagging with a chart parser and a tagger of its own, in NumPy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from zerogap.errors import VerificationError
from zerogap.grid import Scores, floor_to_unit
from zerogap.problems.constituency.joint import JointProblem
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
    symbols, tags = problem.tag_symbols, problem.tag_of
    lexical[:, symbols] = np.where(allowed[:, tags], problem.lexical[:, symbols] - prices[:, tags], -np.inf)
    dual = best_parse(problem.grammar, lexical) + best_tagging(np.where(allowed, problem.emissions + prices, -np.inf), problem.transitions)
    return floor_to_unit(dual, problem.unit)


def best_parse(grammar: Grammar, lexical: Scores) -> float:
    """The score of the best parse, by CKY over whole tables of pairs of children and of rules, which are sorted by parent."""
    n, n_symbols = lexical.shape
    best = np.full((n, n + 1, n_symbols), -np.inf)
    pairs, pair_of_rule = np.unique(grammar.binary[:, 1:], axis=0, return_inverse=True)
    lefts, rights = pairs.T
    parents, first_rule = np.unique(grammar.binary[:, 0], return_index=True)
    for length in range(1, n + 1):
        for i in range(n - length + 1):
            cell = lexical[i].copy() if length == 1 else np.full(n_symbols, -np.inf)
            if length > 1 and len(parents):
                j = i + length
                joined = np.full(len(pairs), -np.inf)
                for split in range(i + 1, j):
                    np.maximum(joined, best[i, split, lefts] + best[split, j, rights], out=joined)
                cell[parents] = np.maximum.reduceat(grammar.binary_scores + joined[pair_of_rule.reshape(-1)], first_rule)
            best[i, i + length] = with_chains(grammar, cell)
    return float(best[0, n, grammar.root])


def with_chains(grammar: Grammar, cell: Scores) -> Scores:
    """What chains of unary rules make of the scores over one span: a rule more in every round, until nothing gets better."""
    if len(grammar.unary) == 0:
        return cell
    parents, first_rule = np.unique(grammar.unary[:, 0], return_index=True)
    for _ in range(len(grammar.symbols) + 1):  # a best chain has no symbol twice
        above = np.maximum(cell[parents], np.maximum.reduceat(grammar.unary_scores + cell[grammar.unary[:, 1]], first_rule))
        if (above == cell[parents]).all():
            return cell
        cell[parents] = above
    raise VerificationError("chains of unary rules get better without end: a cycle of them scores more than zero.")


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
    """The score of the best joint structure: every item also remembers the tagger's contexts before and after it.

    Only contexts that some allowed tag sequence reaches at a position are kept.
    """
    n_tags, grammar, n = len(problem.tags), problem.grammar, problem.n_words
    contexts = (n_tags + 1) ** (problem.order - 1)
    table = problem.transitions.reshape(contexts, n_tags + 1)
    allowed = [np.flatnonzero(problem.emissions[i] > -np.inf).tolist() for i in range(n)]
    live = [[contexts - 1]]  # contexts after i words
    for i in range(n):
        live.append(sorted({(c * (n_tags + 1) + t) % contexts for c in live[i] for t in allowed[i] if table[c, t] > -np.inf}))
    place = [{c: k for k, c in enumerate(some)} for some in live]
    rules = list(zip(grammar.binary.tolist(), grammar.binary_scores.tolist(), strict=True))
    chains = list(zip(grammar.unary.tolist(), grammar.unary_scores.tolist(), strict=True))
    best: dict[tuple[int, int, int], Scores] = {}  # (start, end, symbol) -> (context before, context after)
    for length in range(1, n + 1):
        for i in range(n - length + 1):
            j = i + length
            cell: dict[int, Scores] = {}
            for symbol, t in zip(problem.tag_symbols, problem.tag_of.tolist(), strict=True) if length == 1 else ():
                if t not in allowed[i] or problem.lexical[i, symbol] == -np.inf:
                    continue
                grid = np.full((len(live[i]), len(live[j])), -np.inf)
                for c in live[i]:
                    if table[c, t] > -np.inf:
                        after = place[j][(c * (n_tags + 1) + t) % contexts]
                        grid[place[i][c], after] = table[c, t] + problem.lexical[i, symbol] + problem.emissions[i, t]
                cell[symbol] = grid
            for split in range(i + 1, j):
                for (parent, left, right), score in rules:
                    if (i, split, left) in best and (split, j, right) in best:
                        keep(cell, parent, max_plus(best[i, split, left], best[split, j, right]) + score)
            better = True
            while better:  # a round for every rule of the longest chain
                better = False
                for (parent, child), score in chains:
                    if child in cell and (parent not in cell or (cell[child] + score > cell[parent]).any()):
                        keep(cell, parent, cell[child] + score)
                        better = True
            best.update({(i, j, symbol): grid for symbol, grid in cell.items()})
    top = best.get((0, n, grammar.root))
    return float((top[0] + table[live[n], n_tags]).max(initial=-np.inf)) if top is not None else -np.inf


def max_plus(left: Scores, right: Scores) -> Scores:
    """out[a, c] = max_b (left[a, b] + right[b, c]), one b at a time: memory stays small."""
    out = np.full((left.shape[0], right.shape[1]), -np.inf)
    for b in range(left.shape[1]):
        np.maximum(out, left[:, b, None] + right[b], out=out)
    return out


def keep(cell: dict[int, Scores], symbol: int, grid: Scores) -> None:
    cell[symbol] = np.maximum(cell[symbol], grid) if symbol in cell else grid
