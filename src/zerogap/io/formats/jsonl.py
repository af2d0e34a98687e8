"""Sequences as JSON lines: an object per line.

    {"tokens": ["M.", "Burke,", "1986."], "labels": ["author", "author", "date"], "id": 7}

`tokens` (or `form`) is a list of strings; `labels` may be missing or null. Further lists of strings are columns, such as `pos`, and
have an entry per token. `constraints` hold for this sequence alone and are written as in a constraint file. All else is kept as it is.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from zerogap.errors import FormatError, InputError
from zerogap.io.formats.lines import read_lines, shown
from zerogap.io.rules.files import constraints_from
from zerogap.problems.json_values import shorten
from zerogap.sequence.examples import Example

TOKENS, LABELS, CONSTRAINTS, PREDICTED = ("tokens", "form"), "labels", "constraints", "predicted"


@dataclass(frozen=True, slots=True)
class JsonRecord:
    """An example, its line, and the object that it was read from."""

    example: Example
    line: int
    value: dict[str, Any]
    compact: bool

    def written(self, labels: Sequence[str], *, keep: bool = False) -> str:
        """The line with these labels; as `predicted` beside those that it had with `keep`."""
        if len(labels) != len(self.example):
            raise InputError(f"{len(labels)} labels were given for {len(self.example)} tokens: expected as many.")
        value = {**self.value, PREDICTED if keep and self.example.labels is not None else LABELS: list(labels)}
        separators = (",", ":") if self.compact else None
        text = json.dumps(value, ensure_ascii=False, separators=separators)
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:  # half of a surrogate pair, which JSON can only escape
            text = json.dumps(value, separators=separators)
        return text + "\n"


def read_jsonl(
    path: str | os.PathLike[str], *, columns: Sequence[str] | None = None, lines: Iterator[tuple[int, str]] | None = None
) -> Iterator[JsonRecord]:
    """The sequences of a file of JSON lines, one by one. `columns` limits the columns to these; `lines` are read in place of the file."""
    for number, text in read_lines(path) if lines is None else lines:
        if text.strip("\ufeff \t\r\n"):
            yield record_of(text.lstrip("\ufeff"), number, f"{shown(path)}, line {number}", columns)


def record_of(text: str, number: int, where: str, columns: Sequence[str] | None) -> JsonRecord:
    try:
        value = json.loads(text.rstrip("\r\n"))
    except json.JSONDecodeError as error:
        raise FormatError(f"{where}, column {error.colno}: not JSON ({error.msg}): expected one object per line.") from None
    except RecursionError:
        raise FormatError(f"{where} is nested too deeply to read.") from None
    except ValueError as error:  # an integer of thousands of digits
        raise FormatError(f"{where} holds a number that cannot be read: {error}.") from None
    if not isinstance(value, dict):
        raise FormatError(f'{where} is {shorten(value)}: expected an object such as {{"tokens": ["a", "b"]}}.')
    return JsonRecord(example_from(value, where, columns), number, value, compact='": ' not in text)


def example_from(value: dict[str, Any], where: str, columns: Sequence[str] | None = None) -> Example:
    """The example in an object; what is neither tokens, labels, constraints nor a column is left alone."""
    given = [name for name in TOKENS if name in value]
    if len(given) != 1:
        found = "both 'tokens' and 'form'" if given else f"the fields {', '.join(map(repr, value)) or 'none'}"
        raise FormatError(f"{where} has {found}: expected the tokens as a list of strings in 'tokens'.")
    forms = strings(value[given[0]], f"{where}: {given[0]}")
    found_columns = {"form": forms}
    for name, entry in value.items():
        if name in (*TOKENS, LABELS, CONSTRAINTS, PREDICTED) or (columns is not None and name not in columns):
            continue
        if columns is not None or (isinstance(entry, list) and all(isinstance(part, str) for part in entry) and (entry or not forms)):
            found_columns[name] = as_long(strings(entry, f"{where}: {name}"), forms, f"{where}: {name}", given[0])
    for name in columns or ():
        if name not in found_columns and name not in ("label", "labels", "tokens"):
            raise FormatError(f"{where} has no field {name!r}; it has {', '.join(map(repr, value))}.")
    labels = None
    if value.get(LABELS) is not None:
        labels = as_long(strings(value[LABELS], f"{where}: {LABELS}"), forms, f"{where}: {LABELS}", given[0])
    constraints = constraints_from(value[CONSTRAINTS], f"{where}: {CONSTRAINTS}") if value.get(CONSTRAINTS) is not None else ()
    return Example(found_columns, labels, constraints)


def strings(value: Any, where: str) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise FormatError(f"{where} is {shorten(value)}: expected a list of strings.")
    for i, entry in enumerate(value):
        if not isinstance(entry, str):
            raise FormatError(f"{where}[{i}] is {shorten(entry)}: expected a string.")
    return tuple(value)


def as_long(column: tuple[str, ...], forms: tuple[str, ...], where: str, tokens: str) -> tuple[str, ...]:
    if len(column) != len(forms):
        raise FormatError(
            f"{where} has {len(column)} entries, {tokens} has {len(forms)}: expected as many, as a list of strings is a column."
        )
    return column
