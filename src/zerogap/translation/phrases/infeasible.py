"""Reasons for having no translation: a word without a phrase, constraints that cannot hold together, or too low a limit of jumps."""

from __future__ import annotations

import math

import numpy as np

from zerogap.problems.translation.phrase_constraints import NO_CONSTRAINTS, Constraints
from zerogap.problems.translation.phrases import PhraseProblem
from zerogap.translation.phrases.beam import beam_search
from zerogap.translation.phrases.optimal_beam import search

SECONDS = 5.0  # for each question whether there is a translation


def why_infeasible(problem: PhraseProblem) -> str:
    """The reason, in words. Of constraints, a set is named of which none could be left out; of limits, the smallest that works."""
    covered = np.zeros(len(problem), dtype=bool)
    for start, end, score in zip(problem.starts.tolist(), problem.ends.tolist(), problem.scores.tolist(), strict=True):
        covered[start:end] |= score > -math.inf
    if not covered.all():
        i = int(np.argmin(covered))
        return f"no phrase translates word {i}, {problem.source[i]!r}."
    limit = smallest_limit(problem)
    works = "" if limit is None else f" The smallest limit that works is {limit}."
    if problem.constraints and has_translation(problem.under(NO_CONSTRAINTS)):
        names = [name for _, _, name in conflict(problem).named()]
        together = " together" if len(names) > 1 else ""
        if limit is not None:
            works = f" With a distortion limit of {limit} in place of {problem.distortion_limit}, there is one."
        return f"no translation satisfies {' and '.join(names)}{together}.{works}"
    if limit is None:
        return "no sequence of phrases translates every word once" + (
            ", whatever the limit of jumps." if problem.distortion_limit is not None else " without forbidden jumps or words."
        )
    return f"no sequence of phrases translates every word once with jumps of at most {problem.distortion_limit} words.{works}"


def conflict(problem: PhraseProblem) -> Constraints:
    """Constraints that cannot hold together, though they can without any one of them."""
    left = problem.constraints
    for field, constraint, _ in tuple(left.named()):
        fewer = left.without(field, constraint)
        if not has_translation(problem.under(fewer)):
            left = fewer
    return left


def smallest_limit(problem: PhraseProblem) -> int | None:
    """The smallest limit of jumps under which there is a translation, None if there is none under any."""
    if problem.distortion_limit is None or not has_translation(problem.under(problem.constraints, distortion_limit=len(problem))):
        return None
    limit = problem.distortion_limit + 1
    while not has_translation(problem.under(problem.constraints, distortion_limit=limit)):
        limit += 1
    return limit


def has_translation(problem: PhraseProblem) -> bool:
    """Whether there is a translation; yes if that is not settled in time."""
    if beam_search(problem) is not None:
        return True
    return search(problem, time_limit=SECONDS)[0].bound > -math.inf
