"""The best chain of unary rules between any two symbols, also where the rules have cycles.

    closure[X, Y] = max over chains X -> ... -> Y of the sum of their scores

A cycle whose scores sum to more than zero would make chains without end better and better: it is refused, and named. Other cycles never
help, so that a best chain has no symbol twice; of equal ones the shortest is taken.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zerogap.errors import GrammarError
from zerogap.grid import Scores

Arcs = dict[int, list[tuple[int, float, int]]]  # parent -> (child, score, rule)


@dataclass(frozen=True, slots=True, eq=False)
class UnaryClosure:
    """All pairs of different symbols with a chain between them, sorted by parent and child. That of a symbol to itself is empty, and 0."""

    pairs: NDArray[np.int32]  # (pairs, 2): parent, child
    scores: Scores  # (pairs,)
    first_rules: NDArray[np.int64]  # (pairs,): the topmost rule of the chain, by its place in the grammar
    unary: NDArray[np.int32]  # the rules: parent, child

    def chain(self, parent: int, child: int) -> list[int]:
        """The rules of the best chain, topmost first."""
        rules = []
        while parent != child:
            at = self.place(parent, child)
            if at is None:
                raise GrammarError(f"no chain of unary rules leads from symbol {parent} to symbol {child}.")
            rules.append(int(self.first_rules[at]))
            parent = int(self.unary[rules[-1], 1])
        return rules

    def place(self, parent: int, child: int) -> int | None:
        begin, end = np.searchsorted(self.pairs[:, 0], [parent, parent + 1])
        at = int(begin + np.searchsorted(self.pairs[begin:end, 1], child))
        return at if at < end and self.pairs[at, 1] == child else None


def close_unaries(unary: NDArray[np.int32], scores: Scores, symbols: Sequence[str]) -> UnaryClosure:
    """The closure of rules (parent, child); GrammarError names a cycle whose scores sum to more than zero."""
    check_cycles(unary, scores, symbols)
    above: Arcs = {}  # child -> (parent, score, rule)
    for rule, ((parent, child), score) in enumerate(zip(unary.tolist(), scores.tolist(), strict=True)):
        if score > -np.inf and parent != child:
            above.setdefault(child, []).append((parent, score, rule))
    found: list[tuple[int, int, float, int]] = []
    for target in sorted(above):
        # best chain from every symbol down to the target: all but the topmost rule are the chain of the symbol below, so that
        # following first rules ends at the target
        best: dict[int, tuple[float, int]] = {target: (0.0, 0)}  # score, minus the length
        first: dict[int, int] = {}
        waiting = deque([target])
        while waiting:
            child = waiting.popleft()
            score, length = best[child]
            for parent, added, rule in above.get(child, ()):
                candidate = (score + added, length - 1)
                if parent != target and (parent not in best or candidate > best[parent]):
                    best[parent], first[parent] = candidate, rule
                    waiting.append(parent)
        found.extend((parent, target, best[parent][0], rule) for parent, rule in first.items())
    found.sort()
    return UnaryClosure(
        np.array([(parent, child) for parent, child, _, _ in found], dtype=np.int32).reshape(-1, 2),
        np.array([score for _, _, score, _ in found], dtype=np.float64),
        np.array([rule for _, _, _, rule in found], dtype=np.int64),
        unary,
    )


def check_cycles(unary: NDArray[np.int32], scores: Scores, symbols: Sequence[str]) -> None:
    """Raises GrammarError if the scores of some cycle sum to more than zero (Bellman & Ford)."""
    arcs = [(parent, child, score) for (parent, child), score in zip(unary.tolist(), scores.tolist(), strict=True) if score > -np.inf]
    nodes = {symbol for parent, child, _ in arcs for symbol in (parent, child)}
    best, below = dict.fromkeys(nodes, 0.0), dict.fromkeys(nodes, -1)
    changed = -1
    for _ in range(len(nodes) + 1):
        changed = -1
        for parent, child, score in arcs:
            if best[child] + score > best[parent]:
                best[parent], below[parent], changed = best[child] + score, child, parent
        if changed < 0:
            return
    for _ in nodes:  # from a symbol that still gets better, the way down enters the cycle
        changed = below[changed]
    cycle, at = [changed], below[changed]
    while at != changed:
        cycle.append(at)
        at = below[at]
    names = " -> ".join(symbols[symbol] for symbol in (*cycle, changed))
    total = sum(max(s for p, c, s in arcs if (p, c) == pair) for pair in zip(cycle, [*cycle[1:], changed], strict=True))
    raise GrammarError(
        f"unary rules form the cycle {names} with the score {total:g}: expected no more than 0, or its best parse has no end."
    )
