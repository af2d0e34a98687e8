"""Lines of UTF-8 text in and out: gzip by suffix, `-` for standard input and output, files written whole or not at all."""

from __future__ import annotations

import gzip
import io
import os
import re
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TextIO, cast

from zerogap.errors import FormatError

STANDARD = "-"
BAD_BYTE = re.compile("[\udc80-\udcff]")


@dataclass(frozen=True, slots=True)
class Lenient(os.PathLike[str]):
    """A path whose bytes that are not UTF-8 are read as lone surrogates (PEP 383) and do not end the reading; `bad_byte` finds them."""

    path: str | os.PathLike[str]

    def __fspath__(self) -> str:
        return os.fspath(self.path)


@dataclass(frozen=True, slots=True)
class Piece(os.PathLike[str]):
    """Some lines of a file, in memory; `line` is the number of the first. Readers take it in place of the file."""

    path: str
    content: bytes
    line: int = 1

    def __fspath__(self) -> str:
        return self.path


def bad_byte(text: str) -> int | None:
    """The first byte of a line of a lenient path that is not UTF-8.

    >>> bad_byte(b"caf\\xe9".decode(errors="surrogateescape")), bad_byte("café")
    (233, None)
    """
    match = None if text.isascii() else BAD_BYTE.search(text)
    return ord(match[0]) - 0xDC00 if match else None


def read_lines(path: str | os.PathLike[str]) -> Iterator[tuple[int, str]]:
    """Line numbers from 1 and lines with their ends, as they are in the file; only a newline ends a line."""
    errors = "surrogateescape" if isinstance(path, Lenient) else "strict"
    given = path.path if isinstance(path, Lenient) else path
    first = given.line if isinstance(given, Piece) else 1
    name, number = shown(path), first - 1
    try:
        with reading(given) as stream:
            for number, line in enumerate(stream, start=first):
                yield number, line.decode("utf-8", errors)
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        raise FormatError(f"{name}, line {number} is not UTF-8 text (byte {byte:#04x}): expected UTF-8; iconv converts files.") from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise FormatError(f"{name} cannot be unpacked after line {number}: {error}.") from None
    except OSError as error:
        raise FormatError(f"{name} cannot be read: {error.strerror or error}.") from None


@contextmanager
def reading(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    if isinstance(path, Piece):
        yield io.BytesIO(path.content)
    elif os.fspath(path) == STANDARD:
        yield sys.stdin.buffer
    elif is_packed(path):
        with gzip.open(path, "rb") as packed:
            yield cast(BinaryIO, packed)
    else:
        with open(path, "rb") as plain:
            yield plain


@contextmanager
def writing(path: str | os.PathLike[str] | None) -> Iterator[TextIO]:
    """A text file that appears at `path` when the body ends well; standard output for None and `-`."""
    if path is None or os.fspath(path) == STANDARD:
        sys.stdout.flush()
        stream = io.TextIOWrapper(sys.stdout.buffer, encoding="utf-8", newline="", write_through=False)
        try:
            yield stream
            stream.flush()
        finally:
            with suppress(OSError):  # it failed before, and was reported
                stream.detach()
        return
    with whole(path) as part, open(part, "wb") as file:
        packed = gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) if is_packed(path) else None  # no time: the same bytes again
        with io.TextIOWrapper(cast(BinaryIO, packed or file), encoding="utf-8", newline="") as stream:
            yield stream


@contextmanager
def whole(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A path to write to beside `path`; what is there takes the place of `path` if the body ends well, and is deleted if not."""
    given = Path(path)
    if given.is_dir():
        raise FormatError(f"{shown(path)} cannot be written: it is a folder.")
    if given.exists() and not given.is_file():  # a pipe or a device
        with refusing(path):
            yield given
        return
    target = Path(os.path.realpath(path))  # a link stays one
    part = target.with_name(f".{target.stem}.{os.getpid()}{target.suffix}")
    try:
        with refusing(path):
            part.touch()
            yield part
            part.replace(target)
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def refusing(path: str | os.PathLike[str]) -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:  # the reader of a pipe left
        raise
    except OSError as error:
        raise FormatError(f"{shown(path)} cannot be written: {error.strerror or error}.") from None


def peek(path: str | os.PathLike[str], size: int) -> bytes:
    """What a file begins with, at most `size` bytes, which are still there to be read; nothing of pipes other than standard input."""
    if os.fspath(path) != STANDARD:
        try:
            if not Path(path).is_file():
                return b""
            with reading(path) as file:
                return file.read(size)
        except (OSError, EOFError, zlib.error):
            return b""  # reading will say why
    stream = sys.stdin.buffer
    if isinstance(stream, io.BufferedReader):
        return stream.peek(size)[:size]
    found = stream.read(size)
    stream.seek(-len(found), os.SEEK_CUR)
    return found


def shown(path: str | os.PathLike[str]) -> str:
    return "standard input" if os.fspath(path) == STANDARD else os.fspath(path)


def is_packed(path: str | os.PathLike[str]) -> bool:
    return os.fspath(path).endswith(".gz")


def suffix_of(path: str | os.PathLike[str]) -> str:
    """The suffix that says what is in a file, in small letters and without .gz."""
    return Path(os.fspath(path).removesuffix(".gz")).suffix.lower()
