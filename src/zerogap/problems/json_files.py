"""JSON files and texts: what is not JSON is refused with its place, and so is a key that an object has twice."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from zerogap.errors import FormatError
from zerogap.problems.json_values import expect, shorten


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


def check_format(value: Any, name: str, version: int, where: str) -> None:
    """An object that says what it is, in a version that we know."""
    if expect(value, dict, where).get("format") != name:
        raise FormatError(f"{where}.format is {shorten(value.get('format'))}: expected {name!r}.")
    if type(value.get("version")) is not int or value["version"] != version:  # true equals 1
        raise FormatError(f"{where}.version is {shorten(value.get('version'))}: this zerogap reads version {version}.")
