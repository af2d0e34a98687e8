"""Problems with their solutions as lines of JSON: what `--certificates` writes and `zerogap verify` reads.

{"line": 12, "problem": {"format": "zerogap-problem", ...}, "solution": {"format": "zerogap-solution", ...}}

Problems are written in their canonical form (`problems.files`), and a file whose name ends in .gz is compressed.
"""

from __future__ import annotations

import gzip
import json
import os
import sys
import zlib
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

from zerogap.errors import FormatError
from zerogap.problems.files import digest_of_form, problem_from_json, problem_to_json
from zerogap.problems.json_files import parse_json
from zerogap.problems.json_values import expect, field
from zerogap.proof.files import solution_from_json, solution_to_json
from zerogap.proof.solution import Solution

LONGEST = 2**28  # bytes of a line, unpacked
STANDARD = "-"


def proof_to_json(problem: Any, solution: Solution[Any]) -> dict[str, Any]:
    form = problem_to_json(problem, packed=True)
    return {"problem": form, "solution": solution_to_json(solution, digest_of_form(form))}


def proof_line(problem: Any, solution: Solution[Any], where: Mapping[str, Any] | None = None) -> str:
    """The line of a solution; `where` says where its sentence came from."""
    return json.dumps({**(where or {}), **proof_to_json(problem, solution)}, ensure_ascii=False) + "\n"


def object_in(text: str, where: str) -> dict[str, Any]:
    """The JSON object in a line; FormatError says where there is none."""
    value: dict[str, Any] = expect(parse_json(text, where, one_line=True), dict, where)
    return value


def proof_in(line: str | bytes, where: str) -> tuple[Any, Solution[Any]]:
    """The problem and the solution in a line."""
    try:
        text = line if isinstance(line, str) else line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise FormatError(f"{where} is not UTF-8 text: {error.reason} at byte {error.start}.") from None
    value = object_in(text, where)
    solution = solution_from_json(field(value, "solution", where), f"{where}: solution", bound_to_problem=True)
    return problem_from_json(field(value, "problem", where), f"{where}: problem"), solution


class Lines:
    """The lines of a file, standard input for `-`, with their numbers; empty ones are passed over. `part` is the part that was read."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.name = "standard input" if os.fspath(path) == STANDARD else os.fspath(path)
        self.path = path
        self.part: float | None = None

    def __iter__(self) -> Iterator[tuple[str, bytes]]:
        number = 0
        try:
            with sys.stdin.buffer if self.name != os.fspath(self.path) else open(self.path, "rb") as file:
                size = os.fstat(file.fileno()).st_size if file is not sys.stdin.buffer else 0
                stream: BinaryIO = gzip.GzipFile(fileobj=file) if self.name.endswith(".gz") else file  # type: ignore[assignment]
                while line := stream.readline(LONGEST + 1):
                    number += 1
                    where = f"{self.name}, line {number}"
                    if len(line) > LONGEST:
                        raise FormatError(f"{where} has more than {LONGEST:,} bytes: expected shorter lines.")
                    if size:
                        self.part = file.tell() / size
                    if line.strip():
                        yield where, line
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise FormatError(f"{self.name} cannot be unpacked after line {number}: {error}.") from None
        except OSError as error:
            raise FormatError(f"{self.name} cannot be read: {error.strerror or error}.") from None
