"""Brute force: every structure of a small problem, by definition. What tests hold the decoders against."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol

import numpy as np

from zerogap.errors import InvalidStructure
from zerogap.grid import Scores


class Problem(Protocol):
    """What all problems offer."""

    def score(self, structure: Any) -> float: ...

    def check(self, structure: Any) -> None: ...


def optimum(problem: Problem, structures: Iterable[Any]) -> float:
    """The highest score among the structures that the problem accepts; -inf if it accepts none."""
    best = -np.inf
    for structure in structures:
        try:
            problem.check(structure)
        except InvalidStructure:
            continue
        best = max(best, problem.score(structure))
    return best


def all_heads(n: int) -> Iterator[tuple[int, ...]]:
    """Every assignment of heads to n words, tree or not: (n + 1)^n of them."""
    return itertools.product(range(n + 1), repeat=n)


def best_tree_score(scores: Scores, *, projective: bool = False, single_root: bool = True) -> float:
    """The score of a best dependency tree under arc scores (n + 1, n + 1); -inf if there is none."""
    n = len(scores) - 1
    trees = (heads for heads in all_heads(n) if is_tree(heads, projective=projective, single_root=single_root))
    return max((float(sum(scores[h, m] for m, h in enumerate(heads, start=1))) for heads in trees), default=-np.inf)


def is_tree(heads: Sequence[int], *, projective: bool = False, single_root: bool = True) -> bool:
    """Whether every word leads to the root, by arcs that do not cross and through one root arc, where that is asked."""
    for word in range(1, len(heads) + 1):
        steps, node = 0, word
        while node > 0 and steps <= len(heads):
            node, steps = int(heads[node - 1]), steps + 1
        if node != 0:
            return False
    if projective and has_crossing(heads):
        return False
    return not single_root or len(heads) == 0 or list(heads).count(0) == 1


def has_crossing(heads: Sequence[int]) -> bool:
    arcs = [sorted((int(h), m)) for m, h in enumerate(heads, start=1)]
    return any(a < c < b < d for (a, b), (c, d) in itertools.permutations(arcs, 2))
