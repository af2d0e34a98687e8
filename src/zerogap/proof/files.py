"""Solutions and certificates as JSON, exactly: every number comes back as the same number.

Structures are tuples of integers, strings and tuples; JSON's lists become tuples again. A file names its problem by a digest of it
(`problems.files`), so that it is not checked against another one.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from zerogap.errors import FormatError, InputError, VerificationError
from zerogap.problems.files import digest_of
from zerogap.problems.json_files import check_format, read_json, write_json
from zerogap.problems.json_values import expect, field, number_from_json, number_to_json, numbers_from_json, only_keys, shorten
from zerogap.proof.certificate import certificate_from_json, certificate_to_json
from zerogap.proof.solution import Solution, Trace

FORMAT, VERSION = "zerogap-solution", 2
KEYS = ("format", "version", "problem", "status", "structure", "score", "bound", "certificate", "trace", "alternatives")


WRITE_ANEW = "expected a file that zerogap decode, --certificates or save_solution(solution, path, problem) writes"


def solution_to_json(solution: Solution[Any], digest: str | None = None) -> dict[str, Any]:
    """A JSON object with the structure, score, bound, certificate and trace, and the digest of the problem if it is known."""
    digest = solution.digest if digest is None else digest
    value = {
        "format": FORMAT,
        "version": VERSION,
        **({} if digest is None else {"problem": digest}),
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


def solution_from_json(value: Any, where: str = "solution", *, bound_to_problem: bool = False) -> Solution[Any]:
    """The solution in a JSON object; FormatError says what is not one. Nothing in it is believed: see `verify`.

    With `bound_to_problem` it must name its problem, as files do.
    """
    if isinstance(value, dict) and value.get("format") == FORMAT and value.get("version") == 1:
        raise FormatError(f"{where} is from an older zerogap, and does not name its problem: {WRITE_ANEW}.")
    check_format(value, FORMAT, VERSION, where)
    if bound_to_problem and "problem" not in value:
        raise FormatError(f"{where} does not name its problem by a digest: {WRITE_ANEW}.")
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
        digest=None if "problem" not in value else expect(value["problem"], str, f"{where}.problem"),
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


def save_solution(solution: Solution[Any], path: str | Path, problem: Any = None) -> None:
    """Writes a JSON file, with a digest of the problem; a solution that was loaded knows the digest of its own."""
    if problem is None and solution.digest is None:
        raise InputError("the problem is missing: expected save_solution(solution, path, problem), so that the file names its problem.")
    try:
        write_json(solution_to_json(solution, None if problem is None else digest_of(problem)), path)
    except RecursionError:
        raise FormatError("the structure is nested too deeply to write as JSON.") from None


def load_solution(path: str | Path) -> Solution[Any]:
    """The solution in a JSON file."""
    return solution_from_json(read_json(path), str(path), bound_to_problem=True)
