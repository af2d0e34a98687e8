"""All phrase-based translations of a tiny problem, one by one: slow and obviously right."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zerogap.translation.phrase_problem import PhraseProblem


def all_derivations(problem: PhraseProblem) -> Iterator[tuple[int, ...]]:
    """The numbers of the phrases of every sequence that translates each word once, within the limits of jumps."""
    n, n_phrases = len(problem), len(problem.starts)

    def extend(chosen: tuple[int, ...], covered: frozenset[int], at: int) -> Iterator[tuple[int, ...]]:
        if len(covered) == n:
            yield chosen
            return
        first = min(i for i in range(n) if i not in covered)
        for p in range(n_phrases):
            start, end = int(problem.starts[p]), int(problem.ends[p])
            if covered & set(range(start, end)):
                continue
            if problem.distortion_limit is not None:
                if abs(start - at) > problem.distortion_limit:
                    continue
                if problem.reordering == "moses" and start != first and end - first > problem.distortion_limit:
                    continue
            yield from extend((*chosen, p), covered | set(range(start, end)), end)

    yield from extend((), frozenset(), 0)


def best_score(problem: PhraseProblem) -> float:
    """The score of a best translation; -inf if there is none."""
    return max((problem.score(problem.derivation(phrases)) for phrases in all_derivations(problem)), default=float("-inf"))
