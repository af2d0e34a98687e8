"""Checks bounds of joint parsing and tagging with a chart parser and a tagger, in integers."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from zerogap.errors import VerificationError
from zerogap.grid import Flags, Integers
from zerogap.problems.constituency.joint import JointProblem
from zerogap.proof.certificate import Certificate, DynamicProgram, Leaves, Multipliers
from zerogap.proof.integers import ABSENT, Units, number, plus, settled, units
from zerogap.proof.leaves import check_cover
from zerogap.proof.multipliers import checked_multipliers, largest_of
from zerogap.structures.grammar import Grammar
from zerogap.structures.linear import agreement


@dataclass(frozen=True, slots=True, eq=False)
class Parses:
    """A joint problem in units."""

    problem: JointProblem
    binary: Integers  # scores of the grammar's rules
    unary: Integers
    lexical: Integers
    emissions: Integers
    transitions: Integers
    grain: int  # divides the score of every structure
    largest: int  # no structure's score is larger in magnitude

    @classmethod
    def of(cls, problem: JointProblem) -> Parses:
        grammar, resolution = problem.grammar, problem.resolution
        binary, unary = units(grammar.binary_scores, resolution), units(grammar.unary_scores, resolution)
        lexical, emissions = units(problem.lexical, resolution), units(problem.emissions, resolution)
        transitions = units(problem.transitions, resolution)
        tables = (binary, unary, lexical, emissions, transitions)
        bits = 0
        for table in tables:
            bits |= int(np.bitwise_or.reduce(table[table > ABSENT], initial=0, axis=None))
        return cls(problem, *tables, bits & -bits or 1, largest_of(problem.terms, *tables))


def joint_bound(problem: JointProblem, certificate: Certificate, claimed: Units) -> Units:
    """The bound that a certificate proves."""
    parses = Parses.of(problem)
    allowed = np.ones((problem.n_words, len(problem.tags)), dtype=np.bool_)
    match certificate:
        case DynamicProgram():
            return joint_optimum(parses)
        case Leaves(leaves):
            check_cover(leaves, allowed.size)
            bounds = []
            for leaf in leaves:
                left = allowed.copy()
                for part, inside in leaf.fixed:
                    word, tag = divmod(part, len(problem.tags))
                    left[word] &= (np.arange(len(problem.tags)) == tag) == inside
                bounds.append(dual_bound(parses, left, leaf.certificate))
            return max(bounds)
        case _:
            return dual_bound(parses, allowed, certificate)


def dual_bound(parses: Parses, allowed: Flags, certificate: Certificate) -> Units:
    """L(u): the best parse with prices on its tags plus the best tags with the opposite prices."""
    if not isinstance(certificate, Multipliers):
        raise VerificationError(f"a certificate of kind {certificate.kind!r} proves nothing here: expected multipliers.")
    problem, n_parts = parses.problem, allowed.size
    rows = agreement(2 * n_parts, np.stack([np.arange(n_parts), n_parts + np.arange(n_parts)], axis=1))
    prices = checked_multipliers(certificate.values, rows, problem.resolution, parses.largest).reshape(allowed.shape)
    lexical = np.full(problem.lexical.shape, ABSENT)
    symbols, tags = problem.tag_symbols, problem.tag_of
    lexical[:, symbols] = np.where(allowed[:, tags], plus(parses.lexical[:, symbols], -prices[:, tags]), ABSENT)
    dual = number(best_parse(problem.grammar, parses.binary, parses.unary, lexical))
    dual += number(best_tagging(np.where(allowed, plus(parses.emissions, prices), ABSENT), parses.transitions))
    return dual if dual == -math.inf else int(dual) // parses.grain * parses.grain


def best_parse(grammar: Grammar, binary: Integers, unary: Integers, lexical: Integers) -> np.int64:
    """The score of the best parse, by CKY over whole tables of pairs of children and of rules, which are sorted by parent."""
    n, n_symbols = lexical.shape
    best = np.full((n, n + 1, n_symbols), ABSENT)
    pairs, pair_of_rule = np.unique(grammar.binary[:, 1:], axis=0, return_inverse=True)
    lefts, rights = pairs.T
    parents, first_rule = np.unique(grammar.binary[:, 0], return_index=True)
    for length in range(1, n + 1):
        for i in range(n - length + 1):
            cell = lexical[i].copy() if length == 1 else np.full(n_symbols, ABSENT)
            if length > 1 and len(parents):
                j = i + length
                joined = np.full(len(pairs), ABSENT)
                for split in range(i + 1, j):
                    np.maximum(joined, best[i, split, lefts] + best[split, j, rights], out=joined)
                cell[parents] = np.maximum.reduceat(plus(binary, settled(joined)[pair_of_rule.reshape(-1)]), first_rule)
            best[i, i + length] = with_chains(grammar, unary, cell)
    return best[0, n, grammar.root]


def with_chains(grammar: Grammar, unary: Integers, cell: Integers) -> Integers:
    """What chains of unary rules make of the scores over one span: a rule more in every round, until nothing gets better."""
    if len(grammar.unary) == 0:
        return cell
    parents, first_rule = np.unique(grammar.unary[:, 0], return_index=True)
    for _ in range(len(grammar.symbols) + 1):  # a best chain has no symbol twice
        above = np.maximum(cell[parents], np.maximum.reduceat(plus(unary, cell[grammar.unary[:, 1]]), first_rule))
        if (above == cell[parents]).all():
            return cell
        cell[parents] = above
    raise VerificationError("chains of unary rules get better without end: a cycle of them scores more than zero.")


def best_tagging(nodes: Integers, transitions: Integers) -> np.int64:
    """The score of the best tag sequence, by maximising out the oldest tag of the context."""
    n, n_tags = nodes.shape
    best = np.full((n_tags + 1,) * (transitions.ndim - 1), ABSENT)
    best[(n_tags,) * best.ndim] = 0
    for i in range(n):
        best = plus(best[..., None], transitions).max(axis=0)
        best = plus(best, np.append(nodes[i], ABSENT))  # no boundary inside the sentence
    return plus(best, transitions[..., n_tags]).max()


def joint_optimum(parses: Parses) -> Units:
    """The score of the best joint structure: every item also remembers the tagger's contexts before and after it.

    Only contexts that some allowed tag sequence reaches at a position are kept.
    """
    problem = parses.problem
    n_tags, grammar, n = len(problem.tags), problem.grammar, problem.n_words
    contexts = (n_tags + 1) ** (problem.order - 1)
    table = parses.transitions.reshape(contexts, n_tags + 1)
    allowed = [np.flatnonzero(parses.emissions[i] > ABSENT).tolist() for i in range(n)]
    live = [[contexts - 1]]  # contexts after i words
    for i in range(n):
        live.append(sorted({(c * (n_tags + 1) + t) % contexts for c in live[i] for t in allowed[i] if table[c, t] > ABSENT}))
    place = [{c: k for k, c in enumerate(some)} for some in live]
    rules = list(zip(grammar.binary.tolist(), parses.binary.tolist(), strict=True))
    chains = list(zip(grammar.unary.tolist(), parses.unary.tolist(), strict=True))
    best: dict[tuple[int, int, int], Integers] = {}  # (start, end, symbol) -> (context before, context after)
    for length in range(1, n + 1):
        for i in range(n - length + 1):
            j = i + length
            cell: dict[int, Integers] = {}
            for symbol, t in zip(problem.tag_symbols, problem.tag_of.tolist(), strict=True) if length == 1 else ():
                if t not in allowed[i] or parses.lexical[i, symbol] == ABSENT:
                    continue
                grid = np.full((len(live[i]), len(live[j])), ABSENT)
                for c in live[i]:
                    if table[c, t] > ABSENT:
                        after = place[j][(c * (n_tags + 1) + t) % contexts]
                        grid[place[i][c], after] = plus(plus(table[c, t], parses.lexical[i, symbol]), parses.emissions[i, t])
                cell[symbol] = grid
            for split in range(i + 1, j):
                for (parent, left, right), score in rules:
                    if (i, split, left) in best and (split, j, right) in best:
                        keep(cell, parent, plus(max_plus(best[i, split, left], best[split, j, right]), score))
            better = True
            while better:  # a round for every rule of the longest chain
                better = False
                for (parent, child), score in chains:
                    if child in cell and (parent not in cell or (plus(cell[child], score) > cell[parent]).any()):
                        keep(cell, parent, plus(cell[child], score))
                        better = True
            best.update({(i, j, symbol): grid for symbol, grid in cell.items()})
    top = best.get((0, n, grammar.root))
    return number(plus(top[0], table[live[n], n_tags]).max(initial=ABSENT)) if top is not None else -math.inf


def max_plus(left: Integers, right: Integers) -> Integers:
    """out[a, c] = max_b (left[a, b] + right[b, c]), one b at a time: memory stays small."""
    out = np.full((left.shape[0], right.shape[1]), ABSENT)
    for b in range(left.shape[1]):
        np.maximum(out, left[:, b, None] + right[b], out=out)
    return settled(out)


def keep(cell: dict[int, Integers], symbol: int, grid: Integers) -> None:
    cell[symbol] = np.maximum(cell[symbol], grid) if symbol in cell else grid
