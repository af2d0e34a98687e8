"""Checks bounds of dependency problems: Edmonds' cuts arc by arc, or a projective dynamic program by width of span.

Trees over words 1 to n obey two facts. Exactly one arc enters every word, and at least one enters every set of words;
with a single root, exactly one enters the set of all words. So if every arc scores at most the sum of the values of
the sets that it enters, and values are at most 0 where more than one arc may enter, no tree scores more than the sum of
all values (Edmonds 1967). Projective trees are trees, so this bounds them too.
"""

from __future__ import annotations

import math

import numpy as np

from zerogap.dependency.problem import Problem
from zerogap.errors import VerificationError
from zerogap.grid import MANTISSA_BITS, Scores
from zerogap.proof.certificate import Certificate, CutDuals, DynamicProgram


def dependency_bound(problem: Problem, certificate: Certificate) -> float:
    """The bound that a certificate proves; VerificationError if it proves none."""
    match certificate:
        case CutDuals(sets, values):
            return bound_of_cuts(problem, sets, values)
        case DynamicProgram():
            if not problem.projective:
                raise VerificationError("a certificate of kind 'dynamic-program' proves nothing about non-projective trees.")
            return best_projective_score(problem.arcs, single_root=problem.single_root)
        case _:
            raise VerificationError(f"a certificate of kind {certificate.kind!r} proves nothing about dependency trees.")


def bound_of_cuts(problem: Problem, sets: tuple[tuple[int, ...], ...], values: tuple[float, ...]) -> float:
    n = problem.n_words
    if len(sets) != len(values):
        raise VerificationError(f"there are {len(sets)} sets and {len(values)} values: expected as many.")
    check_exact(values, problem)
    inside = np.zeros((len(sets), n + 1), dtype=np.bool_)
    for k, (words, value) in enumerate(zip(sets, values, strict=True)):
        if len(words) == 0 or len(set(words)) < len(words) or not all(type(word) is int and 1 <= word <= n for word in words):
            raise VerificationError(f"sets[{k}] is {words}: expected different words from 1 to {n}, at least one.")
        entered_once = len(words) == 1 or (problem.single_root and len(words) == n)
        if value > 0 and not entered_once:
            raise VerificationError(f"values[{k}] is {value!r}: expected at most 0, since several arcs may enter its set of {len(words)}.")
        inside[k, list(words)] = True
    # allowance[h, m] = sum of the values of the sets that the arc h -> m enters
    allowance = (~inside).T.astype(np.float64) @ (np.array(values, dtype=np.float64)[:, None] * inside)
    over = np.argwhere(problem.arcs > allowance)
    if over.size:
        h, m = (int(index) for index in over[0])
        score, room = float(problem.arcs[h, m]), float(allowance[h, m])
        raise VerificationError(f"the arc {h} -> {m} scores {score!r}, more than the {room!r} of the sets that it enters.")
    return math.fsum(values)


def check_exact(values: tuple[float, ...], problem: Problem) -> None:
    """Sums of the values are exact: multiples of the problem's resolution, together below 2^53 of it."""
    for k, value in enumerate(values):
        if not math.isfinite(value):
            raise VerificationError(f"values[{k}] is {value!r}: expected a finite number.")
        if math.fmod(value, problem.resolution) != 0:
            raise VerificationError(f"values[{k}] is {value!r}: expected a multiple of the problem's resolution {problem.resolution!r}.")
    if math.fsum(map(abs, values)) >= math.ldexp(problem.resolution, MANTISSA_BITS):
        raise VerificationError("the values are so large that their sums are not exact.")


def best_projective_score(arcs: Scores, *, single_root: bool) -> float:
    """The score of a best projective tree, -inf if there is none: all spans of one width at a time.

    A span of width w from i is [i, i + w]; right[i, w] has its head at i, left[i, w] at i + w (Rush 2014, section 2.2.4).
    """
    n = len(arcs) - 1
    if n == 0:
        return 0.0
    right, left, arc_right, arc_left = (np.full((n + 1, n + 1), -np.inf) for _ in range(4))
    right[:, 0] = left[:, 0] = 0.0
    for width in range(1, n + 1):
        i = np.arange(n + 1 - width)[:, None]
        split = np.arange(width)[None, :]
        rest = width - 1 - split
        joined = (right[i, split] + left[i + split + 1, rest]).max(axis=1)
        start, end = i[:, 0], i[:, 0] + width
        arc_right[start, width] = joined + arcs[start, end]
        arc_left[start, width] = joined + arcs[end, start]
        right[start, width] = (arc_right[i, split + 1] + right[i + split + 1, rest]).max(axis=1)
        left[start, width] = (left[i, split] + arc_left[i + split, width - split]).max(axis=1)
    if not single_root:
        return float(right[0, n])
    root = np.arange(1, n + 1)
    return float((arcs[0, root] + left[1, root - 1] + right[root, n - root]).max())
