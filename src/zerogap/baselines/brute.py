"""Brute force: every structure of a small problem, by definition. What tests hold the decoders against."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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


def best_scores(problem: Problem, structures: Iterable[Any], k: int | None = None) -> list[float]:
    """The k highest scores among the structures that the problem accepts, best first; all of them unless k is given."""
    scores = []
    for structure in structures:
        try:
            problem.check(structure)
        except InvalidStructure:
            continue
        scores.append(problem.score(structure))
    return sorted(scores, reverse=True)[:k]


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


@functools.cache
def all_trees(n: int, *, projective: bool = False, single_root: bool = True) -> tuple[tuple[int, ...], ...]:
    """The heads of every tree of n words: (n + 1)^(n - 1) of them with several roots."""
    return tuple(heads for heads in all_heads(n) if is_tree(heads, projective=projective, single_root=single_root))


def all_labelled_trees(
    n: int, labels: Sequence[Any], *, projective: bool = False, single_root: bool = True
) -> Iterator[tuple[tuple[int, ...], tuple[Any, ...]]]:
    """Every tree with every choice of labels for its arcs, as pairs."""
    return itertools.product(all_trees(n, projective=projective, single_root=single_root), itertools.product(labels, repeat=n))


def dependency_structures(problem: Any) -> Iterable[Any]:
    """Every tree that a dependency problem asks for, with every choice of labels if it has labels; forbidden ones too."""
    options = {"projective": problem.projective, "single_root": problem.single_root}
    if problem.labels is None:
        return all_trees(problem.n_words, **options)
    return all_labelled_trees(problem.n_words, problem.label_names or range(problem.labels.shape[2]), **options)


def tree_score(heads: Sequence[int], arcs: Scores, tables: Mapping[str, Scores]) -> float:
    """The score of a tree under arcs and larger parts (`problems.dependency.parts`, by name), each told apart by what it says of the
    tree."""
    n = len(heads)
    tokens, words = range(n + 1), range(1, n + 1)

    def is_head(h: int, m: int) -> bool:
        return m > 0 and heads[m - 1] == h

    def is_inside(a: int, s: int, b: int) -> bool:
        return min(a, b) < s < max(a, b)

    def are_next(h: int, s: int, m: int) -> bool:
        """m is the modifier of h after s, or the first if s is h."""
        if not is_head(h, m) or any(is_head(h, other) and is_inside(s, other, m) for other in words):
            return False
        return s == h or (is_head(h, s) and is_inside(h, s, m))

    def is_last(h: int, m: int) -> bool:
        return is_head(h, m) and not any(is_head(h, other) and is_inside(h, m, other) for other in words)

    def times_it_stops(h: int, s: int) -> int:
        if s != h:
            return int(is_last(h, s))
        return int(h > 0 and not any(is_head(h, m) for m in words if m < h)) + int(not any(is_head(h, m) for m in words if m > h))

    counted: dict[str, Callable[..., int]] = {
        "siblings": are_next,
        "stops": times_it_stops,
        "grandparents": lambda g, h, m: is_head(g, h) and is_head(h, m),
        "outermost": lambda g, h, m: is_head(g, h) and is_last(h, m),
        "grandsiblings": lambda g, h, s, m: is_head(g, h) and are_next(h, s, m),
        "trisiblings": lambda h, r, s, m: s != h and are_next(h, r, s) and are_next(h, s, m),
    }
    total = float(sum(arcs[h, m] for m, h in enumerate(heads, start=1)))
    for name, table in tables.items():
        for index in itertools.product(tokens, repeat=table.ndim):
            times = int(counted[name](*index))
            if times:
                total += times * float(table[index])
    return total
