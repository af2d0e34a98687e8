"""Checks bounds of parsing with heads by two charts of its own, in plain Python and NumPy.

The first forgets heads: every rule scores as for its best head, every word as the best sister that it can be. The second, with heads, has
only the symbols over spans that may be in a parse above the claimed bound by the first. If it finds no such parse, the claim holds. It
pairs heads and sisters one by one: there are no hooks here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from zerogap.errors import VerificationError
from zerogap.grid import Scores
from zerogap.proof.certificate import Certificate, DynamicProgram

if TYPE_CHECKING:
    from zerogap.constituency.lexical_problem import LexicalProblem

Cell = dict[int, dict[int, float]]  # symbol -> candidate for the head -> score


def lexical_bound(problem: LexicalProblem, certificate: Certificate, claimed: float) -> float:
    """The claimed bound if no parse scores more, else the score of the best parse."""
    if not isinstance(certificate, DynamicProgram):
        raise VerificationError(f"a certificate of kind {certificate.kind!r} proves nothing here: expected a dynamic program.")
    return max(claimed, best_above(problem, claimed))


def best_above(problem: LexicalProblem, limit: float, *, prices: Scores | None = None) -> float:
    """The score of the best parse if it is above the limit, else -inf. `prices` (n + 1, n + 1) are added for head h of word m."""
    roots, pairs = problem.roots, problem.words
    if prices is not None:
        places = problem.positions + 1
        roots, pairs = roots + prices[0, places], pairs + prices[places[None, :], places[:, None]]
    own = np.maximum(roots, pairs.max(axis=(0, 2), initial=-np.inf))  # the most that a word brings as a sister or the root
    inside, outside = span_scores(problem, own)
    may_be = inside + outside > limit
    n, grammar = problem.n_words, problem.grammar
    before = np.concatenate([[0], np.cumsum(problem.verbs)]).tolist()
    at = problem.positions.tolist()
    cells: dict[tuple[int, int], Cell] = {}
    rules = rules_by_children(problem)
    above = chains_by_child(problem)
    for length in range(1, n + 1):
        for i in range(n - length + 1):
            j = i + length
            allowed, room = may_be[i, j], outside[i, j]
            cell: Cell = {}

            def put(symbol: int, c: int, score: float, cell: Cell = cell, room: Scores = room) -> bool:
                if score + own[c] + room[symbol] > limit and score > cell.get(symbol, {}).get(c, -np.inf):
                    cell.setdefault(symbol, {})[c] = score
                    return True
                return False

            for c in np.flatnonzero(problem.positions == i).tolist() if length == 1 else ():
                if allowed[problem.tags[c]]:
                    put(int(problem.tags[c]), c, 0.0)
            for k in range(i + 1, j):
                for left, some in cells[i, k].items():
                    for right, others in cells[k, j].items():
                        for parent, r, side in rules.get((left, right), ()):
                            if not allowed[parent]:
                                continue
                            heads, sisters, sister = (others, some, left) if side else (some, others, right)
                            words = pairs[grammar.classes[sister]]
                            for h, score in heads.items():
                                verb = any_verb(before, at[h], k)
                                best = max(other + float(words[m, h]) for m, other in sisters.items())
                                put(parent, h, score + best + float(problem.binary[r, h, verb]))
            waiting = list(cell)
            while waiting:
                child = waiting.pop()
                for parent, r, edge in above.get(child, ()):
                    if not allowed[parent]:
                        continue
                    better = False
                    for c, score in list(cell[child].items()):
                        place = at[c] if edge < 0 else j if edge else i
                        better |= put(parent, c, score + float(problem.unary[r, c, any_verb(before, at[c], place)]))
                    if better:
                        waiting.append(parent)
            cells[i, j] = cell
    return max((score + float(roots[c]) for c, score in cells[0, n].get(grammar.root, {}).items()), default=-np.inf)


def any_verb(before: list[int], head: int, place: int) -> int:
    """Whether a verb is among the words between the head and a place."""
    low, high = (head + 1, place) if place > head else (place, head)
    return int(before[high] > before[low])


def rules_by_children(problem: LexicalProblem) -> dict[tuple[int, int], list[tuple[int, int, int]]]:
    found: dict[tuple[int, int], list[tuple[int, int, int]]] = {}
    for r, ((parent, left, right), side) in enumerate(
        zip(problem.grammar.binary.tolist(), problem.grammar.head_side.tolist(), strict=True)
    ):
        found.setdefault((left, right), []).append((parent, r, side))
    return found


def chains_by_child(problem: LexicalProblem) -> dict[int, list[tuple[int, int, int]]]:
    found: dict[int, list[tuple[int, int, int]]] = {}
    for r, ((parent, child), edge) in enumerate(zip(problem.grammar.unary.tolist(), problem.grammar.unary_edge.tolist(), strict=True)):
        found.setdefault(child, []).append((parent, r, edge))
    return found


def span_scores(problem: LexicalProblem, own: Scores) -> tuple[Scores, Scores]:
    """The best that each symbol over each span can be, and the best around it, when heads are forgotten: (n, n + 1, symbols) each."""
    n, grammar = problem.n_words, problem.grammar
    best_rule = problem.binary.max(axis=(1, 2), initial=-np.inf)
    best_chain = problem.unary.max(axis=(1, 2), initial=-np.inf)
    parents, lefts, rights = grammar.binary.T
    inside = np.full((n, n + 1, len(grammar.symbols)), -np.inf)
    for length in range(1, n + 1):
        for i in range(n - length + 1):
            cell = inside[i, i + length]
            if length == 1:
                here = problem.positions == i
                np.maximum.at(cell, problem.tags[here], own[here])
            else:
                j = i + length
                joined = np.full(len(best_rule), -np.inf)
                for k in range(i + 1, j):
                    np.maximum(joined, inside[i, k][lefts] + inside[k, j][rights], out=joined)
                np.maximum.at(cell, parents, best_rule + joined)
            spread(cell, grammar.unary[:, 1], grammar.unary[:, 0], best_chain)
    outside = np.full(inside.shape, -np.inf)
    outside[0, n, grammar.root] = 0.0
    for length in range(n, 0, -1):
        for i in range(n - length + 1):
            j = i + length
            cell = outside[i, j]
            spread(cell, grammar.unary[:, 0], grammar.unary[:, 1], best_chain)
            live = np.flatnonzero(cell[parents] > -np.inf)
            added, left, right = cell[parents[live]] + best_rule[live], lefts[live], rights[live]
            for k in range(i + 1, j):
                np.maximum.at(outside[i, k], left, added + inside[k, j][right])
                np.maximum.at(outside[k, j], right, added + inside[i, k][left])
    return inside, outside


def spread(cell: Scores, sources: NDArray[np.int64], targets: NDArray[np.int64], scores: Scores) -> None:
    """Goes along unary rules until nothing gets better, in place; none scores more than 0, so that this ends."""
    while True:
        before = cell.copy()
        np.maximum.at(cell, targets, before[sources] + scores)
        if (cell == before).all():
            return
