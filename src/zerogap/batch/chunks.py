"""Inputs cut into chunks of whole records, by looking for line ends and empty lines only: workers do the rest.

A record is a sentence of CoNLL-U, CoNLL-X or column files, a line of JSON lines, a line or paragraph of text, a row of Parquet. A chunk
knows where it begins and ends, so that a job can go on from there. Chunks do not reach from one shard of the output into the next.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import IO, Any

from zerogap.batch.places import filesystem, is_url, opened
from zerogap.errors import InputError, UnknownMethod
from zerogap.io.formats.lines import Piece, suffix_of

SUFFIXES = {
    ".conllu": "conllu", ".conllx": "conllx", ".conll": "columns", ".txt": "text", ".jsonl": "jsonl", ".ndjson": "jsonl",
    ".parquet": "parquet",
}  # fmt: skip
FORMATS = ("auto", "conllu", "conllx", "columns", "text", "lines", "jsonl", "parquet")  # lines: of text, each a record
CHUNK_RECORDS = 128
CHUNK_BYTES = 1 << 18
LONGEST = 1 << 20  # bytes of a paragraph of text that are one record
DOCUMENT = b"-DOCSTART-"
BLANKS = b" \t\r\n"


@dataclass(frozen=True, slots=True)
class Position:
    """Where a shard begins: bytes of the unpacked input (rows of Parquet), lines, and shards before it."""

    offset: int = 0
    line: int = 1
    shard: int = 0


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some successive records of an input. `end` is where the next chunk begins; `read` are the bytes of the file that were read for it."""

    input: int
    shard: int
    piece: Piece
    records: int
    end: Position
    read: int = 0


def format_of(path: str, given: str = "auto") -> str:
    """What a file holds, by its suffix unless it is given."""
    if given not in FORMATS:
        raise UnknownMethod("input format", given, FORMATS)
    if given != "auto":
        return given
    suffix = suffix_of(path)
    if suffix not in SUFFIXES:
        raise InputError(f"{path} has the suffix {suffix!r}: expected one of {', '.join(SUFFIXES)}, or input_format.")
    return SUFFIXES[suffix]


def chunks_of(path: str, number: int, *, format: str, begin: Position, shard_size: int, comments: bool = False) -> Iterator[Chunk]:
    """The chunks of an input from a position on, which is the begin of a shard. OSError, EOFError and zlib.error are the file's."""
    if format == "parquet":
        yield from cut(parquet_records(path, begin.offset), path, number, begin, shard_size, tell=lambda: 0)
        return
    with opened(path) as (stream, raw):
        skip(stream, begin.offset)
        records = by_line(stream) if format in ("jsonl", "lines") else by_block(stream, row_test(format, comments), format == "text")
        yield from cut(records, path, number, begin, shard_size, tell=raw.tell)


def skip(stream: IO[bytes], offset: int) -> None:
    stream.seek(offset)  # what is packed is unpacked up to there


Record = tuple[bytes, int, int, bool]  # bytes, lines, how far it goes in the input, whether it is more than comments


def cut(records: Iterable[Record], path: str, number: int, begin: Position, shard_size: int, *, tell: Callable[[], int]) -> Iterator[Chunk]:
    """Chunks are held back until the next record is there: lines at the end of an input that are no record belong to the last one."""
    parts: list[bytes] = []
    size = count = lines = width = 0
    in_shard = 0
    offset, line, shard = begin.offset, begin.line, begin.shard
    for content, n_lines, advance, proper in records:
        if proper and count and (in_shard == shard_size or count >= CHUNK_RECORDS or size >= CHUNK_BYTES):
            shard_ends = in_shard == shard_size
            end = Position(offset + width, line + lines, shard + shard_ends)
            yield Chunk(number, shard, Piece(path, b"".join(parts), line), count, end, tell())
            offset, line, shard = end.offset, end.line, end.shard
            parts, size, count, lines, width = [], 0, 0, 0, 0
            in_shard = 0 if shard_ends else in_shard
        parts.append(content)
        size += len(content)
        lines += n_lines
        width += advance
        count += proper
        in_shard += proper
    if parts:
        yield Chunk(number, shard, Piece(path, b"".join(parts), line), count, Position(offset + width, line + lines, shard + 1), tell())


def by_line(stream: Iterable[bytes]) -> Iterator[Record]:
    for line in stream:
        yield line, 1, len(line), bool(line.strip(BLANKS))


def row_test(format: str, comments: bool) -> Callable[[bytes], bool]:
    """Which lines are parts of records, of those that are not empty."""
    if format == "text":
        return lambda line: True
    if format == "columns":
        return lambda line: not line.startswith(DOCUMENT) and not (comments and line.startswith(b"#"))
    return lambda line: not line.startswith(b"#")


def by_block(stream: Iterable[bytes], is_row: Callable[[bytes], bool], may_cut: bool = False) -> Iterator[Record]:
    """Lines up to the empty ones after them. Lines that are no rows go with the rows that follow."""
    lines: list[bytes] = []
    size = 0
    has_rows = ended = False
    for line in stream:
        is_empty = not line.strip(BLANKS)
        if (ended and not is_empty) or (may_cut and size > LONGEST):
            yield b"".join(lines), len(lines), size, has_rows
            lines, size, has_rows, ended = [], 0, False, False
        lines.append(line)
        size += len(line)
        if is_empty:
            ended = has_rows
        elif not has_rows:
            has_rows = is_row(line)
    if lines:
        yield b"".join(lines), len(lines), size, has_rows


def parquet_records(path: str, first: int) -> Iterator[Record]:
    """The rows as lines of JSON."""
    for row in itertools.islice(parquet_rows(path), first, None):
        line = json.dumps(row, ensure_ascii=False, default=str).encode("utf-8", "surrogatepass") + b"\n"
        yield line, 1, 1, True


def parquet_rows(path: str) -> Iterator[dict[str, Any]]:
    try:
        import pyarrow
        import pyarrow.parquet as parquet
    except ImportError:
        raise InputError(f"{path} is Parquet: expected pyarrow to be installed (pip install pyarrow).") from None
    fs, inside = filesystem(path) if is_url(path) else (None, path)
    try:
        file = parquet.ParquetFile(inside if fs is None else fs.open(inside, "rb"))
        for batch in file.iter_batches(batch_size=CHUNK_RECORDS):
            yield from batch.to_pylist()
    except pyarrow.ArrowException as error:
        raise EOFError(f"{error}".splitlines()[0].rstrip(".")) from None
