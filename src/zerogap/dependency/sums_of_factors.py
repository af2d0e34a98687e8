"""Factors of other forms than "all of these arcs", as sums of such (Qian & Liu 2013, section 5.1): lists of (arcs, score) for `Problem`.

    any of e, f         z_e + z_f - z_e z_f                                               inclusion and exclusion
    exactly k of E      sum_{j >= k} (-1)^(j - k) binomial(j, k) sum_{S in E, |S| = j} prod_{e in S} z_e

A sum has a factor for every set of arcs, so it is refused where that is too many.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from zerogap.errors import InputError
from zerogap.grid import check_scores
from zerogap.problems.dependency.factor import read_factors

Arc = tuple[int, int]
Term = tuple[tuple[Arc, ...], float]

MOST_FACTORS = 4096  # of one sum
ON_INVALID = ("raise", "drop")


def any_of(arcs: Sequence[Arc], score: float) -> list[Term]:
    """Scores trees that have at least one of the arcs, once.

    >>> any_of([(0, 1), (2, 1), (1, 2)], 5.0)
    [(((0, 1),), 5.0), (((2, 1),), 5.0), (((1, 2),), 5.0), (((0, 1), (1, 2)), -5.0), (((2, 1), (1, 2)), -5.0)]
    """
    given = read_arcs(arcs)
    check_score(score)
    heads_of: dict[int, int] = {}
    for _, m in given:
        heads_of[m] = heads_of.get(m, 0) + 1
    count = math.prod(heads + 1 for heads in heads_of.values()) - 1
    if count > MOST_FACTORS:
        raise InputError(f"any_of {len(given)} arcs is {count} factors: expected at most {MOST_FACTORS}; an automaton may say the same.")
    return [(some, score if len(some) % 2 == 1 else -score) for some in subsets(given, 1)]


def valency(head: int, count: int, score: float, candidates: Iterable[int], *, n: int | None = None) -> list[Term]:
    """Scores trees in which exactly `count` of the candidates are modifiers of the head.

    Where `count` is 0, n must be given, the number of words: every tree has the score, by any head of one candidate, and the others
    take it away.
    """
    words = sorted(set(candidates))
    given = read_arcs([(head, m) for m in words])
    check_score(score)
    if isinstance(count, bool) or not isinstance(count, int) or count < 0:
        raise InputError(f"count is {count!r}: expected how many modifiers, 0 or more.")
    if count > len(words):
        return []
    total = sum(math.comb(len(words), j) for j in range(max(count, 1), len(words) + 1))
    if total > MOST_FACTORS:
        raise InputError(
            f"the valency of {len(words)} candidates is {total} factors: expected at most {MOST_FACTORS}; an automaton may say the same."
        )
    terms: list[Term] = []
    if count == 0:
        if not words:
            raise InputError("count is 0 and there are no candidates: that is true of every tree, and no factor.")
        if n is None:
            raise InputError("count is 0 and n is None: expected the number of words.")
        terms = [(((h, words[0]),), score) for h in range(n + 1) if h != words[0]]
    for some in subsets(given, max(count, 1)):
        terms.append((some, (-1) ** (len(some) - count) * math.comb(len(some), count) * score))
    return terms


def subsets(arcs: tuple[Arc, ...], least: int) -> Iterator[tuple[Arc, ...]]:
    """Sets of at least so many arcs, the smallest first, no two into the same word."""
    for size in range(least, len(arcs) + 1):
        for some in itertools.combinations(arcs, size):
            if len({m for _, m in some}) == size:
                yield some


def read_arcs(arcs: Iterable[Any]) -> tuple[Arc, ...]:
    try:
        given = tuple((int(h), int(m)) for h, m in arcs)
    except (TypeError, ValueError):
        raise InputError(f"arcs is {arcs!r}: expected pairs (head, modifier).") from None
    for h, m in given:
        if h < 0 or m < 1 or h == m:
            raise InputError(f"arcs has {(h, m)!r}: expected a head, 0 or more, and another word, 1 or more.")
    if len(set(given)) < len(given) or not given:
        raise InputError(f"arcs is {list(given)!r}: expected different ones, at least one.")
    return given


def check_score(score: float) -> None:
    if isinstance(score, bool) or not isinstance(score, int | float) or not math.isfinite(score):
        raise InputError(f"score is {score!r}: expected a finite number, as sums of -inf mean nothing.")


def valid_factors(factors: Sequence[Any], n: int, *, on_invalid: str = "raise") -> tuple[list[Any], int]:
    """The factors that a problem of n words accepts, and how many others were dropped; or InputError with the index of the first.

    >>> valid_factors([([(0, 1)], 2.0), ([(0, 7)], 2.0)], 3, on_invalid="drop")
    ([([(0, 1)], 2.0)], 1)
    """
    if on_invalid not in ON_INVALID:
        raise InputError(f"on_invalid is {on_invalid!r}: expected 'raise' or 'drop'.")
    kept = []
    for i, factor in enumerate(factors):
        try:
            _, scores = read_factors([factor], n)
            check_scores(scores, "factors")
        except InputError as error:
            if on_invalid == "raise":
                raise type(error)(str(error).replace("factors[0]", f"factors[{i}]")) from None
            continue
        kept.append(factor)
    return kept, len(factors) - len(kept)
