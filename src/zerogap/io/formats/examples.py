"""Labelled and unlabelled sequences in files: columns or JSON lines, told apart by suffix or by the first line."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Collection, Iterator, Sequence

from zerogap.errors import FormatError, UnknownMethod
from zerogap.io.formats.columns import ColumnRecord, read_columns
from zerogap.io.formats.jsonl import JsonRecord, read_jsonl
from zerogap.io.formats.lines import read_lines, shown, suffix_of
from zerogap.sequence.examples import Example

Record = ColumnRecord | JsonRecord
FORMATS = ("auto", "columns", "jsonl")
JSON_SUFFIXES = (".jsonl", ".ndjson", ".json")


def read_records(
    path: str | os.PathLike[str],
    *,
    columns: Sequence[str] | None = None,
    labelled: bool | Collection[str] = True,
    comments: bool = False,
    format: str = "auto",
) -> Iterator[Record]:
    """Examples that can be written back with other labels: `record.example`, `record.line`, `record.written(labels)`.

    `-` is standard input, `.gz` is unpacked. `read_columns` explains the options.
    """
    if format not in FORMATS:
        raise UnknownMethod("format", format, FORMATS)
    lines = read_lines(path)
    if format == "jsonl" or (format == "auto" and suffix_of(path) in JSON_SUFFIXES):
        return read_jsonl(path, columns=columns, lines=lines)
    head: list[tuple[int, str]] = []
    if format == "auto":
        for number, text in lines:
            head.append((number, text))
            if text.strip():
                break
        if head and is_object(head[-1][1]):
            return read_jsonl(path, columns=columns, lines=itertools.chain(head, lines))
    return read_columns(path, columns=columns, labelled=labelled, comments=comments, lines=itertools.chain(head, lines))


def is_object(text: str) -> bool:
    try:
        return text.lstrip("\ufeff \t").startswith("{") and isinstance(json.loads(text.lstrip("\ufeff")), dict)
    except (ValueError, RecursionError):
        return False


def read_examples(
    path: str | os.PathLike[str], *, columns: Sequence[str] | None = None, comments: bool = False, format: str = "auto"
) -> list[Example]:
    """All examples of a file, which must have labels.

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "train.txt"
    >>> _ = path.write_text("New B-LOC\\nYork I-LOC\\n\\nHello O\\n")
    >>> [example.labels for example in read_examples(path)]
    [('B-LOC', 'I-LOC'), ('O',)]
    """
    examples = []
    for record in read_records(path, columns=columns, comments=comments, format=format):
        if record.example.labels is None:
            kind = "'labels'" if isinstance(record, JsonRecord) else "a column of labels; the columns can be named (form, pos, label)"
            raise FormatError(f"{shown(path)}, line {record.line}: there are no labels: expected {kind}.")
        examples.append(record.example)
    return examples
