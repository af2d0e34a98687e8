"""Column files in the style of CoNLL: a token per line, its columns apart by tabs or blanks, an empty line after a sentence.

    Melbourne NP B-LOC
    ( Fpa O

A line is cut at tabs if it has any, else at runs of blanks. Lines whose first column is -DOCSTART- end a sentence and belong to
none. What is read can be written back with other labels and nothing else changed: separators, empty lines, comments and line ends stay.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from zerogap.errors import FormatError, InputError
from zerogap.io.formats.lines import read_lines, shown
from zerogap.sequence.examples import Example

DOCUMENT = "-DOCSTART-"
LABEL, IGNORED = "label", "_"
CELL = re.compile(r"[^ \t]+")
BYTE_ORDER_MARK = "\ufeff"

Cells = list[str]


@dataclass(frozen=True, slots=True)
class ColumnRecord:
    """An example, the line on which it begins, and its text: what stands before the first sentence, its rows, what stands after."""

    example: Example
    line: int
    before: str
    rows: tuple[str, ...]  # with their line ends
    after: str
    label_column: int | None

    def written(self, labels: Sequence[str], *, keep: bool = False) -> str:
        """The text with these labels in place of those that it had; in a further column if it had none, or with `keep`."""
        if len(labels) != len(self.rows):
            raise InputError(f"{len(labels)} labels were given for {len(self.rows)} tokens: expected as many.")
        column = None if keep else self.label_column
        return self.before + "".join(relabelled(row, label, column) for row, label in zip(self.rows, labels, strict=True)) + self.after


def relabelled(row: str, label: str, column: int | None) -> str:
    body, end = split_end(row)
    tabs = "\t" in body
    if not label or "\t" in label or "\n" in label or "\r" in label or (" " in label and not tabs):
        raise InputError(f"the label {label!r} cannot stand in a column file: expected no white space; JSON lines can hold it.")
    if column is None:
        return body.rstrip(" \t") + ("\t" if tabs else " ") + label + end
    start, stop = list(cell_spans(body))[column]
    return body[:start] + label + body[stop:] + end


def split_end(row: str) -> tuple[str, str]:
    body = row.removesuffix("\n").removesuffix("\r")
    return body, row[len(body) :]


def cell_spans(body: str) -> Iterator[tuple[int, int]]:
    if "\t" not in body:
        yield from (match.span() for match in CELL.finditer(body))
        return
    start = 0
    for cell in body.split("\t"):
        yield start, start + len(cell)
        start += len(cell) + 1


def cells_of(body: str) -> Cells:
    return body.split("\t") if "\t" in body else CELL.findall(body)


def read_columns(
    path: str | os.PathLike[str],
    *,
    columns: Sequence[str] | None = None,
    labelled: bool | Collection[str] = True,
    comments: bool = False,
    lines: Iterator[tuple[int, str]] | None = None,
) -> Iterator[ColumnRecord]:
    """The sentences of a column file, one by one.

    `columns` names the columns; 'form' must be among them, 'label' is the label, '_' is not used (it is still written back). Without
    names the first is the form and, if the file is `labelled`, the last is the label; one between them is 'pos', several are 'column2',
    'column3', ... A collection of labels as `labelled` means: if the last column of the first sentence holds only these. With
    `comments`, lines before a sentence that begin with # are no tokens. `lines` are read in place of the file.
    """
    names = None if columns is None else checked_names(columns)
    width, width_line = (None, 0) if names is None else (len(names), 0)
    before: list[str] = []
    rows: list[tuple[int, str, Cells]] = []
    after: list[str] = []
    where = shown(path)

    def record() -> ColumnRecord:
        nonlocal names, before
        cells = [row for _, _, row in rows]
        if names is None:
            names = default_names(cells, labelled)
        found = ColumnRecord(
            example_of(cells, names),
            rows[0][0],
            "".join(before),
            tuple(text for _, text, _ in rows),
            "".join(after),
            names.index(LABEL) if LABEL in names else None,
        )
        before = []
        return found

    for number, text in read_lines(path) if lines is None else lines:
        body = split_end(text)[0]
        if number == 1:
            body = body.removeprefix(BYTE_ORDER_MARK)
        cells = cells_of(body)
        if not body.strip(" \t") or cells[0] == DOCUMENT or (comments and body.startswith("#") and (after or not rows)):
            (after if rows else before).append(text)
            continue
        if rows and after:
            yield record()
            rows, after = [], []
        if width is None:
            width, width_line = len(cells), number
        check_row(f"{where}, line {number}", cells, width, width_line, comments)
        rows.append((number, text, cells))
    if rows:
        yield record()


def check_row(where: str, cells: Cells, width: int, width_line: int, comments: bool) -> None:
    if len(cells) != width:
        reason = f"as in line {width_line}" if width_line else "as many as columns were named"
        hint = (
            ""
            if comments or not cells[0].startswith("#")
            else " If lines that begin with # are comments, say so (comments=True, --comments)."
        )
        raise FormatError(f"{where}: {counted(len(cells), 'column')} ({shortened(cells)}): expected {width}, {reason}.{hint}")
    for i, cell in enumerate(cells):
        if not cell.strip(" "):
            raise FormatError(f"{where}: column {i + 1} is empty: expected one tab between columns, and none at the end.")


def counted(n: int, what: str) -> str:
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"


def shortened(cells: Cells) -> str:
    text = " ".join(cells)
    return repr(text if len(text) <= 50 else text[:47] + "...")


def checked_names(columns: Sequence[str]) -> tuple[str, ...]:
    names = tuple(columns)
    used = [name for name in names if name != IGNORED]
    twice = [name for name in used if used.count(name) > 1]
    if isinstance(columns, str) or "form" not in names or twice or not all(names):
        given = repr(columns) if isinstance(columns, str) else ", ".join(names)
        raise InputError(
            f"columns is {given}: expected a name for every column, each once, such as form, pos, label: 'form' must be there,"
            " 'label' is the label, '_' is not used."
        )
    return names


def default_names(rows: Sequence[Cells], labelled: bool | Collection[str]) -> tuple[str, ...]:
    width = len(rows[0])
    if not isinstance(labelled, bool):
        labelled = width > 1 and all(row[-1] in labelled for row in rows)
    features = max(width - labelled, 1)
    names = ("form", "pos") if features == 2 else ("form", *(f"column{i}" for i in range(2, features + 1)))
    return (*names, LABEL) if features < width else names


def example_of(rows: Sequence[Cells], names: tuple[str, ...]) -> Example:
    columns = dict(zip(names, zip(*rows, strict=True), strict=True))
    columns.pop(IGNORED, None)
    labels = columns.pop(LABEL, None)
    return Example(columns, labels)
