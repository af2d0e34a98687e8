"""Places that jobs read from and write to: local paths, and URLs of whatever fsspec opens (an extra).

A file that is written appears whole under its name: locally it is written beside it and renamed, elsewhere it is sent when it is complete.
"""

from __future__ import annotations

import glob
import gzip
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

from zerogap.errors import FormatError, InputError
from zerogap.io.formats.lines import is_packed

WILD = "*?["


def is_url(path: str) -> bool:
    return "://" in path


def filesystem(url: str) -> tuple[Any, str]:
    """The file system of a URL, and the path in it."""
    try:
        import fsspec
    except ImportError:
        raise InputError(f"{url} is a URL: expected a local path, or fsspec to be installed (pip install fsspec).") from None
    try:
        return fsspec.core.url_to_fs(url)
    except (ImportError, ValueError) as error:
        raise InputError(f"{url} cannot be opened: {error}.") from None


def expanded(patterns: Sequence[str]) -> list[str]:
    """The files that paths, URLs and patterns such as corpus/*.conllu name, each once: patterns in their order, files sorted by name."""
    found: dict[str, None] = {}
    for pattern in patterns:
        wild = any(mark in pattern for mark in WILD)
        if is_url(pattern):
            fs, path = filesystem(pattern)
            protocol = pattern.split("://", 1)[0]
            names = [f"{protocol}://{name}" for name in sorted(fs.glob(path))] if wild else [pattern]
        else:
            names = sorted(name for name in glob.glob(pattern, recursive=True) if os.path.isfile(name)) if wild else [pattern]
        if not names:
            raise InputError(f"input {pattern!r} names no file.")
        found.update(dict.fromkeys(names))
    return list(found)


def size_of(path: str) -> int:
    """Bytes, packed if it is packed."""
    if is_url(path):
        fs, inside = filesystem(path)
        try:
            return int(fs.size(inside) or 0)
        except OSError as error:
            raise FormatError(f"{path} cannot be read: {error}.") from None
    try:
        if not os.path.isfile(path):
            raise FormatError(f"{path} cannot be read: {'it is a folder' if os.path.isdir(path) else 'no such file'}.")
        return os.path.getsize(path)
    except OSError as error:
        raise FormatError(f"{path} cannot be read: {error.strerror}.") from None


def raw_file(path: str) -> IO[bytes]:
    if is_url(path):
        fs, inside = filesystem(path)
        return cast(IO[bytes], fs.open(inside, "rb"))
    return open(path, "rb")


@contextmanager
def opened(path: str) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    """The bytes of a file, unpacked, and the file itself, whose position says how much was read."""
    with raw_file(path) as raw:
        if is_packed(path):
            with gzip.open(raw, "rb") as stream:
                yield cast(IO[bytes], stream), raw
        else:
            yield raw, raw


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder to write to, local or not."""

    path: str

    def make(self) -> None:
        if is_url(self.path):
            fs, inside = filesystem(self.path)
            fs.makedirs(inside, exist_ok=True)
            return
        try:
            os.makedirs(self.path, exist_ok=True)
        except OSError as error:
            raise FormatError(f"{self.path} cannot be a folder: {error.strerror}.") from None

    def read(self, name: str) -> bytes | None:
        """The content of a file in it; None if there is none."""
        if is_url(self.path):
            fs, inside = filesystem(self.path)
            return cast(bytes, fs.cat_file(f"{inside}/{name}")) if fs.exists(f"{inside}/{name}") else None
        path = Path(self.path) / name
        return path.read_bytes() if path.exists() else None

    def scratch(self, name: str) -> Path:
        """Where to write a file that is to be published."""
        return Path(tempfile.mkdtemp(prefix="zerogap-")) / name if is_url(self.path) else Path(self.path) / f".{name}.part"

    def publish(self, scratch: Path, name: str) -> None:
        """Gives a file that is complete its name; what was there before is replaced."""
        if is_url(self.path):
            fs, inside = filesystem(self.path)
            fs.put_file(str(scratch), f"{inside}/{name}")
            scratch.unlink()
            scratch.parent.rmdir()
            return
        synchronise(scratch)
        scratch.replace(Path(self.path) / name)
        synchronise(Path(self.path))

    def remove(self, name: str) -> None:
        """Takes away a file that an earlier run left, if there is one."""
        if not is_url(self.path):
            (Path(self.path) / name).unlink(missing_ok=True)
            return
        fs, inside = filesystem(self.path)
        if fs.exists(f"{inside}/{name}"):
            fs.rm_file(f"{inside}/{name}")


def synchronise(path: Path) -> None:
    """What was written survives a loss of power."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
