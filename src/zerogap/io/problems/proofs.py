"""Problems with their solutions as lines of JSON: what `--certificates` writes and `zerogap verify` reads.

{"line": 12, "problem": {"format": "zerogap-problem", ...}, "solution": {"format": "zerogap-solution", ...}}
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from typing import Any

from zerogap.io.formats.lines import read_lines, shown
from zerogap.io.problems.files import problem_from_json, problem_to_json
from zerogap.problems.json_values import expect, field
from zerogap.proof.files import parse_json, solution_from_json, solution_to_json
from zerogap.proof.solution import Solution


def proof_line(problem: Any, solution: Solution[Any], where: Mapping[str, Any] | None = None) -> str:
    """The line of a solution; `where` says where its sentence came from."""
    value = {**(where or {}), "problem": problem_to_json(problem), "solution": solution_to_json(solution)}
    return json.dumps(value, ensure_ascii=False) + "\n"


def object_in(text: str, where: str) -> dict[str, Any]:
    """The JSON object in a line; FormatError says where there is none."""
    value: dict[str, Any] = expect(parse_json(text, where, one_line=True), dict, where)
    return value


def proof_in(text: str, where: str) -> tuple[Any, Solution[Any]]:
    """The problem and the solution in a line."""
    value = object_in(text, where)
    solution = solution_from_json(field(value, "solution", where), f"{where}: solution")
    return problem_from_json(field(value, "problem", where), f"{where}: problem"), solution


def proof_lines(path: str | os.PathLike[str]) -> Iterator[tuple[str, str]]:
    """Where each line stands, and its text: see `proof_in`. Empty lines are passed over."""
    for number, text in read_lines(path):
        if text.strip():
            yield f"{shown(path)}, line {number}", text
