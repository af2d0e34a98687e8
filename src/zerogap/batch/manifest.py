"""The record of what a job has done so far: a file of JSON lines beside the output, which says how far every input is.

The first line describes the job; then comes a line for every shard that has its final name, and one for every input that is done. Nothing
in it depends on time, so that the manifest of a job that was killed and went on is the same as that of one that was not.
"""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from zerogap.batch.chunks import Position
from zerogap.batch.places import Folder, is_url
from zerogap.batch.worker import Outcome
from zerogap.errors import FormatError, InputError

NAME = "manifest.jsonl"
LOCK = ".lock"


@dataclass(slots=True)
class Totals:
    """Counts over shards."""

    records: int = 0  # answered or not
    failures: int = 0
    gaps: int = 0
    shards: int = 0

    def add(self, row: dict[str, Any]) -> None:
        self.records += row["records"]
        self.failures += row["failures"]
        self.gaps += row["gaps"]
        self.shards += 1


@dataclass(slots=True)
class Manifest:
    folder: Folder
    lines: list[str] = field(default_factory=list)
    positions: dict[int, Position] = field(default_factory=dict)  # of inputs that were begun
    finished: dict[int, str | None] = field(default_factory=dict)  # inputs, and why they could not be read to the end
    totals: Totals = field(default_factory=Totals)

    def add(self, row: dict[str, Any]) -> None:
        """Takes note of a line, and writes it so that it stays."""
        text = json.dumps(row) + "\n"
        self.note(row, text)
        if is_url(self.folder.path):
            scratch = self.folder.scratch(NAME)
            scratch.write_text("".join(self.lines), encoding="utf-8")
            self.folder.publish(scratch, NAME)
            return
        with open(Path(self.folder.path) / NAME, "ab") as file:
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())

    def note(self, row: dict[str, Any], text: str) -> None:
        self.lines.append(text)
        if "shard" in row:
            self.positions[row["input"]] = Position(row["end"], row["line"], row["shard"] + 1)
            self.totals.add(row)
        elif "shards" in row:
            self.finished[row["input"]] = row["failed"]


def opened_manifest(folder: Folder, description: dict[str, Any]) -> Manifest:
    """The manifest of a job in its folder: a new one, or the one from which it goes on. A folder of another job is refused."""
    manifest = Manifest(folder)
    content = folder.read(NAME)
    rows = [] if content is None else whole_rows(content)
    if not rows:
        if not is_url(folder.path):
            (Path(folder.path) / NAME).unlink(missing_ok=True)
        manifest.add(description)
        return manifest
    if rows[0][0] != json.loads(json.dumps(description)):
        different = [key for key in description if rows[0][0].get(key) != json.loads(json.dumps(description[key]))]
        raise InputError(
            f"{folder.path} has the output of another job (another {', '.join(different) or 'version'}): expected the same job, which goes"
            " on, or an empty folder."
        )
    for row, text in rows:
        manifest.note(row, text)
    if content is not None and not is_url(folder.path):
        length = sum(len(text.encode()) for _, text in rows)
        if length < len(content):  # a line that was cut off when the job was killed
            os.truncate(Path(folder.path) / NAME, length)
    return manifest


def whole_rows(content: bytes) -> list[tuple[dict[str, Any], str]]:
    """The lines up to the first that was not written to its end."""
    rows = []
    for line in content.split(b"\n")[:-1]:
        try:
            row = json.loads(line)
        except ValueError:
            break
        if not isinstance(row, dict):
            raise FormatError(f"{NAME} has the line {line[:60]!r}: expected an object; is it the manifest of a job?")
        rows.append((row, line.decode() + "\n"))
    return rows


class Shard:
    """A part of the output while it is written: answers, and if there are any, errors and proofs beside them."""

    def __init__(self, folder: Folder, input: int, number: int, suffix: str) -> None:
        self.folder, self.input, self.number = folder, input, number
        stem = f"{input:05d}-{number:05d}"
        self.names = {"text": stem + suffix, "errors": f"{stem}.errors.jsonl", "proofs": f"{stem}.proofs.jsonl"}
        self.paths: dict[str, Path] = {}
        self.files: dict[str, Any] = {}
        self.digest = hashlib.blake2b(digest_size=16)
        self.found = Outcome()
        self.open("text")

    def open(self, kind: str) -> None:
        self.paths[kind] = self.folder.scratch(self.names[kind])
        self.files[kind] = open(self.paths[kind], "wb")  # noqa: SIM115  # closed by commit or discard

    def write(self, outcome: Outcome) -> None:
        for kind in self.names:
            text = getattr(outcome, kind)
            if text:
                if kind not in self.files:
                    self.open(kind)
                self.files[kind].write(text.encode("utf-8", "surrogatepass"))
        self.digest.update(outcome.text.encode("utf-8", "surrogatepass"))
        self.found.answers += outcome.answers
        self.found.failures += outcome.failures
        self.found.gaps += outcome.gaps

    def commit(self, end: Position) -> dict[str, Any]:
        """Gives the files their names, the answers last, and returns the line for the manifest."""
        for file in self.files.values():
            file.close()
        finish(self.paths["text"], self.names["text"])
        for kind in ("errors", "proofs", "text"):
            if kind in self.paths:
                self.folder.publish(self.paths.pop(kind), self.names[kind])
            else:
                self.folder.remove(self.names[kind])
        self.files.clear()
        found = self.found
        return {
            "input": self.input, "shard": self.number, "file": self.names["text"], "records": found.answers + found.failures,
            "failures": found.failures, "gaps": found.gaps, "end": end.offset, "line": end.line, "digest": self.digest.hexdigest(),
        }  # fmt: skip

    def discard(self) -> None:
        for file in self.files.values():
            with suppress(OSError):  # the disk is full: what is buffered cannot be written
                file.close()
        for path in self.paths.values():
            path.unlink(missing_ok=True)
        self.files.clear()
        self.paths.clear()


def finish(path: Path, name: str) -> None:
    """Packs what was written as plain text, if its name says so."""
    if name.endswith(".gz"):
        import gzip
        import shutil

        packed = path.with_name(path.name + ".gz")
        with open(path, "rb") as plain, open(packed, "wb") as file, gzip.GzipFile("", "wb", fileobj=file, mtime=0) as stream:
            shutil.copyfileobj(plain, stream)
        packed.replace(path)
    elif name.endswith(".parquet"):
        import pyarrow
        import pyarrow.parquet as parquet

        with open(path, encoding="utf-8") as lines:
            rows = [json.loads(line) for line in lines]
        parquet.write_table(pyarrow.Table.from_pylist(rows), path)
