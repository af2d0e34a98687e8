"""Solutions and certificates as JSON, exactly: every number comes back as the same number.

Structures are tuples of integers, strings and tuples; JSON's lists become tuples again.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from zerogap.errors import FormatError, VerificationError
from zerogap.problems.json_values import expect, field, number_from_json, number_to_json, numbers_from_json, only_keys, shorten
from zerogap.proof.certificate import certificate_from_json, certificate_to_json
from zerogap.proof.solution import Solution, Trace

FORMAT, VERSION = "zerogap-solution", 1
KEYS = ("format", "version", "status", "structure", "score", "bound", "certificate", "trace", "alternatives")


def solution_to_json(solution: Solution[Any]) -> dict[str, Any]:
    """A JSON object with the structure, score, bound, certificate and trace."""
    value = {
        "format": FORMAT,
        "version": VERSION,
        "status": solution.status,
        "structure": structure_to_json(solution.structure),
        "score": number_to_json(solution.score),
        "bound": number_to_json(solution.bound),
        "certificate": certificate_to_json(solution.certificate),
        "trace": {name: [number_to_json(value) for value in getattr(solution.trace, name)] for name in ("bounds", "scores", "seconds")},
    }
    if solution.alternatives != ():
        others = solution.alternatives
        value["alternatives"] = None if others is None else [[structure_to_json(other), number_to_json(score)] for other, score in others]
    return value


def solution_from_json(value: Any, where: str = "solution") -> Solution[Any]:
    """The solution in a JSON object; FormatError says what is not one. Nothing in it is believed: see `verify`."""
    check_format(value, FORMAT, VERSION, where)
    only_keys(value, KEYS, where)
    try:
        solution = read_solution(value, where)
    except RecursionError:
        raise FormatError(f"{where} is nested too deeply to read.") from None
    if field(value, "status", where) != solution.status:
        claim = f"beside the score {solution.score!r} and the bound {solution.bound!r}"
        raise VerificationError(f"{where}.status is {shorten(value['status'])} {claim}: expected {solution.status!r}.")
    return solution


def read_solution(value: dict[str, Any], where: str) -> Solution[Any]:
    trace = expect(field(value, "trace", where), dict, f"{where}.trace")
    names = ("bounds", "scores", "seconds")
    only_keys(trace, names, f"{where}.trace")
    columns = [numbers_from_json(field(trace, name, f"{where}.trace"), f"{where}.trace.{name}") for name in names]
    if len({len(column) for column in columns}) != 1:
        raise FormatError(f"{where}.trace has columns of {', '.join(str(len(c)) for c in columns)} entries: expected as many in each.")
    return Solution(
        structure=structure_from_json(field(value, "structure", where), f"{where}.structure"),
        score=number_from_json(field(value, "score", where), f"{where}.score"),
        bound=number_from_json(field(value, "bound", where), f"{where}.bound"),
        certificate=certificate_from_json(field(value, "certificate", where), f"{where}.certificate"),
        trace=Trace(*columns),
        alternatives=read_alternatives(value.get("alternatives", []), f"{where}.alternatives"),
    )


def read_alternatives(value: Any, where: str) -> tuple[tuple[Any, float], ...] | None:
    if value is None:
        return None
    found = []
    for i, row in enumerate(expect(value, list, where)):
        if len(expect(row, list, f"{where}[{i}]")) != 2:
            raise FormatError(f"{where}[{i}] has {len(row)} entries: expected a structure and its score.")
        found.append((structure_from_json(row[0], f"{where}[{i}]"), number_from_json(row[1], f"{where}[{i}]")))
    return tuple(found)


def check_format(value: Any, name: str, version: int, where: str) -> None:
    """An object that says what it is, in a version that we know."""
    if expect(value, dict, where).get("format") != name:
        raise FormatError(f"{where}.format is {shorten(value.get('format'))}: expected {name!r}.")
    if type(value.get("version")) is not int or value["version"] != version:  # true equals 1
        raise FormatError(f"{where}.version is {shorten(value.get('version'))}: this zerogap reads version {version}.")


def structure_to_json(structure: Any) -> Any:
    if isinstance(structure, tuple | list):
        parts = []
        for part in structure:  # a loop, not a comprehension: deep trees cost one level of Python's stack per level
            parts.append(structure_to_json(part))
        return parts
    return structure if structure is None or isinstance(structure, str | bool) else int(structure)


def structure_from_json(value: Any, where: str) -> Any:
    if isinstance(value, list):
        parts = []
        for part in value:
            parts.append(structure_from_json(part, where))
        return tuple(parts)
    if value is None or isinstance(value, str | int):
        return value
    raise FormatError(f"{where} holds {shorten(value)}: expected lists, integers and strings.")


def read_json(path: str | Path) -> Any:
    """The JSON value in a file; FormatError with line and column if it is not JSON."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise FormatError(f"{path} is not UTF-8 text: {error.reason} at byte {error.start}.") from None
    except OSError as error:
        raise FormatError(f"{path} cannot be read: {error.strerror}.") from None
    return parse_json(text, str(path))


def parse_json(text: str, where: str, *, one_line: bool = False) -> Any:
    """The JSON value in a text. A key that an object has twice is an error: readers that take the first and the last would disagree."""
    try:
        return json.loads(text, object_pairs_hook=object_of_pairs)
    except json.JSONDecodeError as error:
        place = f"column {error.colno}" if one_line else f"line {error.lineno}, column {error.colno}"
        raise FormatError(f"{where}, {place}: not JSON ({error.msg}).") from None
    except DuplicateKey as error:
        raise FormatError(f"{where} has the key {shorten(str(error))} twice in one object: expected it once.") from None
    except RecursionError:
        raise FormatError(f"{where} is nested too deeply to read.") from None
    except ValueError as error:  # an integer of thousands of digits
        raise FormatError(f"{where} holds a number that cannot be read: {error}.") from None


class DuplicateKey(ValueError):
    """A key that an object has twice."""


def object_of_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        raise DuplicateKey(next(key for key, _ in pairs if key in seen or seen.add(key)))  # type: ignore[func-returns-value]
    return found


def json_text(value: dict[str, Any]) -> str:
    """One line per key, and one per row of what has rows: for people and for diff."""

    def shown(entry: Any) -> str:
        if isinstance(entry, dict):
            return "{" + ", ".join(f"{json.dumps(key)}: {shown(below)}" for key, below in entry.items()) + "}"
        if isinstance(entry, list) and any(isinstance(row, dict) or (isinstance(row, list) and len(entry) > 3) for row in entry):
            return "[\n  " + ",\n  ".join(json.dumps(row, ensure_ascii=False) for row in entry) + "\n ]"
        return json.dumps(entry, ensure_ascii=False)

    return "{\n " + ",\n ".join(f"{json.dumps(key)}: {shown(entry)}" for key, entry in value.items()) + "\n}"


def write_json(value: dict[str, Any], path: str | Path) -> None:
    try:
        Path(path).write_text(json_text(value) + "\n", encoding="utf-8")
    except OSError as error:
        raise FormatError(f"{path} cannot be written: {error.strerror}.") from None


def save_solution(solution: Solution[Any], path: str | Path) -> None:
    try:
        write_json(solution_to_json(solution), path)
    except RecursionError:
        raise FormatError("the structure is nested too deeply to write as JSON.") from None


def load_solution(path: str | Path) -> Solution[Any]:
    """The solution in a JSON file."""
    return solution_from_json(read_json(path), str(path))
