"""All phrase-based translations of a tiny problem, one by one: slow and obviously right."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zerogap.problems.translation.phrases import PhraseProblem


def all_derivations(problem: PhraseProblem) -> Iterator[tuple[int, ...]]:
    """The numbers of the phrases of every sequence that translates each word once, within the limits of jumps and the constraints."""
    n, n_phrases = len(problem), len(problem.starts)

    def extend(chosen: tuple[int, ...], covered: frozenset[int], at: int) -> Iterator[tuple[int, ...]]:
        if len(covered) == n:
            if has_all_phrases(problem, chosen):
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
            if obeys_rules(problem, covered | set(range(start, end)), set(range(start, end))):
                yield from extend((*chosen, p), covered | set(range(start, end)), end)

    yield from extend((), frozenset(), 0)


def obeys_rules(problem: PhraseProblem, covered: set[int] | frozenset[int], phrase: set[int]) -> bool:
    """Zones and walls as they are defined: what is asked of the words that are translated after a phrase."""
    for zone in problem.constraints.zones:
        words = set(range(zone.start, zone.end))
        if phrase - words and covered & words not in (set(), words):
            return False
        if zone.monotone and any(i in covered and i - 1 not in covered for i in words - {zone.start}):
            return False
    for wall in problem.constraints.walls:
        end = len(problem) if wall.end is None else wall.end
        if phrase & set(range(wall.at, end)) and not set(range(wall.start, wall.at)) <= covered:
            return False
    return True


def has_all_phrases(problem: PhraseProblem, chosen: tuple[int, ...]) -> bool:
    output = "\0" + "\0".join(word for p in chosen for word in problem.targets[p]) + "\0"

    def has(phrase: tuple[str, ...]) -> bool:
        return "\0" + "\0".join(phrase) + "\0" in output

    return all(map(has, problem.constraints.required)) and not any(map(has, problem.constraints.forbidden))


def best_score(problem: PhraseProblem) -> float:
    """The score of a best translation; -inf if there is none."""
    return max((problem.score(problem.derivation(phrases)) for phrases in all_derivations(problem)), default=float("-inf"))
