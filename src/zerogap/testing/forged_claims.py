"""False claims that need no forged certificate: attacks on what stands around one, in Python and in a file.

Every claim is false whatever its certificate proves: its bound is below the best score, its score is not its structure's, or it says two
things at once. `CLAIMS` apply to every task and to every kind of certificate.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from zerogap.errors import InvalidStructure
from zerogap.problems.json_files import parse_json
from zerogap.proof.files import solution_from_json, solution_to_json
from zerogap.proof.solution import Solution, Trace
from zerogap.testing.drawing import Random


@dataclass(frozen=True, slots=True)
class Filed:
    """A claim as the text of a file."""

    text: str

    def read(self) -> Solution[Any]:
        return solution_from_json(parse_json(self.text, "claim"))


Claims = Callable[[Any, float, Solution[Any], Random], Iterator[Any]]


class LyingFloat(float):
    """Is below and equal to everything."""

    def __le__(self, other: object) -> bool:
        return True

    def __lt__(self, other: object) -> bool:
        return True

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = float.__hash__


class LyingTuple(tuple):  # type: ignore[type-arg]
    """Holds nothing when it is gone through."""

    def __iter__(self) -> Iterator[Any]:
        return iter(())


class LyingSolution(Solution):  # type: ignore[type-arg]
    """Has another bound whenever it is asked."""

    @property
    def gap(self) -> float:
        return 0.0


def neighbours(structure: Any, rng: Random, most: int = 6) -> Iterator[Any]:
    """Structures that differ in a place: a head, a label, an edge, a subtree; most of them are none."""
    if not isinstance(structure, tuple) or not structure:
        return
    for _ in range(most):
        i = int(rng.integers(len(structure)))
        part = structure[i]
        if isinstance(part, tuple):
            for other in neighbours(part, rng, 1):
                yield (*structure[:i], other, *structure[i + 1 :])
        elif isinstance(part, str):
            yield (*structure[:i], structure[int(rng.integers(len(structure)))], *structure[i + 1 :])
        elif part is not None:
            yield (*structure[:i], int(rng.choice((part + 1, part - 1, 0, -1, 10**9))), *structure[i + 1 :])
        yield structure[:i] + structure[i + 1 :]
        yield (*structure[:i], part, *structure[i:])


def between_multiples(problem: Any, best: float, solution: Solution[Any], rng: Random) -> Iterator[Any]:
    """Bounds that lie between two scores, below the best one."""
    for bound in (best - 0.5 * problem.resolution, math.nextafter(best, -math.inf)):
        if bound < best:
            yield replace(solution, score=bound, bound=bound)
            yield Solution(None, -math.inf, bound, solution.certificate)


def numbers_that_lie(problem: Any, best: float, solution: Solution[Any], rng: Random) -> Iterator[Any]:
    """Scores and bounds that pass for numbers, or answer comparisons as they like."""
    low = best - problem.resolution
    oddities: list[Any] = [LyingFloat(low), str(low), complex(low), np.array(low), np.array([low]), None, (low,), np.float64(low)]
    for odd in (*oddities, np.longdouble(low), -(10**400)):
        yield replace(solution, bound=odd)
        yield Solution(None, -math.inf, odd, solution.certificate)
        yield replace(solution, score=odd, bound=odd)


def no_numbers(problem: Any, best: float, solution: Solution[Any], rng: Random) -> Iterator[Any]:
    for odd in (math.nan, -math.inf, -1.8e308):
        yield replace(solution, bound=odd)
        yield replace(solution, score=odd, bound=odd)
    yield replace(solution, score=math.inf, bound=math.inf)
    yield replace(solution, score=math.nan)


def higher_scores(problem: Any, best: float, solution: Solution[Any], rng: Random) -> Iterator[Any]:
    """A structure that is said to score more than it does."""
    if solution.structure is not None:
        for more in (problem.resolution, 1024 * problem.resolution, -problem.resolution):
            yield replace(solution, score=solution.score + more, bound=max(solution.bound, solution.score + more))


def scores_of_nothing(problem: Any, best: float, solution: Solution[Any], rng: Random) -> Iterator[Any]:
    """No structure, and a score."""
    for score in (best, 0.0, best + problem.resolution):
        yield Solution(None, score, max(solution.bound, score), solution.certificate)


def structures_that_are_none(problem: Any, best: float, solution: Solution[Any], rng: Random) -> Iterator[Any]:
    """Better than the best: whatever they are, they are not."""
    above = best + problem.resolution
    for structure in neighbours(solution.structure, rng):
        yield replace(solution, structure=structure, score=above, bound=max(above, solution.bound))


def second_best(problem: Any, best: float, solution: Solution[Any], rng: Random) -> Iterator[Any]:
    """A lesser structure is the best one: the bound is its score, so that searches stop just there."""
    for structure in neighbours(solution.structure, rng, 12):
        try:
            problem.check(structure)
            score = problem.score(structure)
        except (InvalidStructure, ValueError):
            continue
        if score < best:
            yield replace(solution, structure=structure, score=score, bound=score)


def structures_of_other_types(problem: Any, best: float, solution: Solution[Any], rng: Random) -> Iterator[Any]:
    """What a structure is when it is gone through is not what it is when it is counted; the bound is too low in any case."""
    structure = solution.structure
    if isinstance(structure, tuple):
        oddities: list[Any] = [LyingTuple(structure), iter(structure), dict(enumerate(structure)), set(), frozenset(), str(structure), b""]
        for odd in (*oddities, np.array(structure, dtype=object), 0, True, 1.5, object()):
            yield replace(solution, structure=odd, bound=best - problem.resolution)


def traces(problem: Any, best: float, solution: Solution[Any], rng: Random) -> Iterator[Any]:
    """Traces that say what cannot have been."""
    low, high = solution.score - problem.resolution, solution.bound + problem.resolution
    if solution.structure is not None:
        yield replace(solution, trace=Trace((low,), (-math.inf,), (0.0,)))
    if high > solution.bound:
        yield replace(solution, trace=Trace((solution.bound,), (high,), (0.0,)))
    yield replace(solution, trace=Trace((solution.bound,), (math.nan,), (0.0,)))
    yield replace(solution, trace=Trace((math.nan,), (-math.inf,), (0.0,)))
    yield replace(solution, trace=Trace((solution.bound, solution.bound), (-math.inf,), (0.0,)))
    yield replace(solution, trace=Trace((solution.bound,), (-math.inf,), (0.0, 0.0)))
    yield replace(solution, trace=())  # type: ignore[arg-type]


def lying_records(problem: Any, best: float, solution: Solution[Any], rng: Random) -> Iterator[Any]:
    """Records that are no records of ours."""
    low = best - problem.resolution
    yield LyingSolution(solution.structure, solution.score, low, solution.certificate)
    yield {"structure": solution.structure, "score": solution.score, "bound": low, "certificate": solution.certificate}
    yield (solution.structure, solution.score, low, solution.certificate)
    yield None


def alternatives_twice(problem: Any, best: float, solution: Solution[Any], rng: Random) -> Iterator[Any]:
    """The best structure is the second best as well, in another spelling."""
    structure = solution.structure
    if isinstance(structure, tuple):
        spellings: list[Any] = [structure, list(structure), LyingTuple(structure)]
        if structure and all(type(part) is int for part in structure):
            spellings += [np.array(structure), tuple(map(np.int64, structure)), tuple(map(float, structure))]
        for spelling in spellings:
            yield replace(solution, alternatives=((spelling, solution.score),))


def alternatives_above(problem: Any, best: float, solution: Solution[Any], rng: Random) -> Iterator[Any]:
    """Alternatives that are better than the best, out of order, or whose score is not theirs."""
    above = best + problem.resolution
    for structure in neighbours(solution.structure, rng, 3):
        yield replace(solution, alternatives=((structure, above),))
        yield replace(solution, alternatives=((structure, math.nan),))
        yield replace(solution, alternatives=((structure, LyingFloat(above)),))
    yield replace(solution, alternatives=((None, -math.inf),), bound=best - problem.resolution)


def stale_status(problem: Any, best: float, solution: Solution[Any], rng: Random) -> Iterator[Any]:
    """A file that says `optimal` of a gap, or that a gap is left where there is none."""
    value = solution_to_json(solution)
    for status in ("optimal", "feasible", "Optimal", "", None, True, ["optimal"]):
        if status != solution.status:
            yield Filed(json.dumps({**value, "status": status}))
    yield Filed(json.dumps({key: entry for key, entry in value.items() if key != "status"}))


def keys_twice(problem: Any, best: float, solution: Solution[Any], rng: Random) -> Iterator[Any]:
    """A key of the file is there twice: readers that take the first and the last would disagree."""
    text = json.dumps(solution_to_json(solution))
    for key in ("bound", "score", "certificate", "structure", "status"):
        value = json.dumps(solution_to_json(solution)[key])
        yield Filed(f'{{"{key}": {value}, {text[1:]}')
        yield Filed(f'{text[:-1]}, "{key}": {value}}}')
    yield Filed(text.replace('"kind"', '"kind": "dynamic-program", "kind"', 1))


def other_spellings(problem: Any, best: float, solution: Solution[Any], rng: Random) -> Iterator[Any]:
    """The file has a low bound, in a spelling that might be read as another number, or not at all."""
    value, low = solution_to_json(solution), best - problem.resolution
    for bound in (low, str(low), [low], {"value": low}, None, True, "-inf", "nan", "-Infinity", int(low) if abs(low) < 1e300 else 0):
        if isinstance(bound, float | int) and bound >= best:
            continue
        yield Filed(json.dumps({**value, "bound": bound, "status": "feasible"}))
        yield Filed(json.dumps({**value, "bound": bound, "score": bound, "status": "optimal"}))
    text = json.dumps({**value, "bound": "BOUND"})
    for token in ("NaN", "-Infinity", "-1e999", "01", "+1", "0x1", "1_0", "9" * 5000, "'1'"):
        yield Filed(text.replace('"BOUND"', token))


def other_keys(problem: Any, best: float, solution: Solution[Any], rng: Random) -> Iterator[Any]:
    """Formats, versions and keys that are not ours; keys that are missing."""
    value = solution_to_json(solution)
    for change in ({"format": "zerogap-problem"}, {"format": None}, {"version": 3}, {"version": "1"}, {"version": None}, {"optimal": True},
                   {"Bound": value["bound"]}, {"": 0}):  # fmt: skip
        yield Filed(json.dumps({**value, **change}))
    for key in value:
        if key != "alternatives":
            yield Filed(json.dumps({other: entry for other, entry in value.items() if other != key}))
    kind = value["certificate"]["kind"]
    for other in (None, [kind], kind.upper(), f" {kind}", "", {"kind": kind}, True):
        yield Filed(json.dumps({**value, "certificate": {**value["certificate"], "kind": other}}))
    yield Filed(json.dumps({**value, "certificate": {**value["certificate"], "bound": value["bound"]}}))
    yield Filed(json.dumps({**value, "certificate": None}))


CLAIMS: dict[str, Claims] = {
    claims.__name__: claims
    for claims in (
        between_multiples, numbers_that_lie, no_numbers, higher_scores, scores_of_nothing, structures_that_are_none, second_best,
        structures_of_other_types, traces, lying_records, alternatives_twice, alternatives_above, stale_status, keys_twice, other_spellings,
        other_keys,
    )
}  # fmt: skip
