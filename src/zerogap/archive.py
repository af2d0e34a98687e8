"""Model files: NumPy arrays and a JSON header in one .npz archive, read without pickle, so that nothing in it can run code."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from zerogap.errors import FormatError

HEADER = "header"


def write_archive(path: str | Path, header: dict[str, Any], arrays: dict[str, Any], *, compressed: bool = True) -> None:
    """Writes a file that is there completely or not at all."""
    target = Path(path)
    temporary = target.with_name(f".{target.name}.{os.getpid()}.part")
    text = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    try:
        with open(temporary, "wb") as file:
            (np.savez_compressed if compressed else np.savez)(file, allow_pickle=False, **{HEADER: text}, **arrays)
        os.replace(temporary, target)
    except OSError as error:
        raise FormatError(f"{path} cannot be written: {error.strerror or error}.") from None
    finally:
        temporary.unlink(missing_ok=True)


def format_of(path: str | Path) -> str | None:
    """What kind of model is in a file, without the rest of it; None if that is not to be seen."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            found = json.loads(archive[HEADER].tobytes().decode()).get("format")
    except Exception:  # whoever reads it says what is wrong
        return None
    return found if isinstance(found, str) else None


def read_archive(path: str | Path, format: str, version: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """The header and the other arrays; FormatError if the file is damaged, of another kind, or of a later version."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            if not isinstance(archive, np.lib.npyio.NpzFile):
                raise FormatError(f"{path} is one array: expected a model, an archive (.npz).")
            arrays = {name: archive[name] for name in archive.files}
    except FormatError:
        raise
    except FileNotFoundError:
        raise FormatError(f"{path} cannot be read: no such file.") from None
    except IsADirectoryError:
        raise FormatError(f"{path} cannot be read: it is a folder.") from None
    except Exception as error:  # damaged archives fail in many ways: zipfile, zlib and NumPy each have their own
        raise FormatError(f"{path} is not a model file, or was cut short: {error}.") from None
    try:
        header = json.loads(arrays.pop(HEADER).tobytes().decode())
    except KeyError:
        raise FormatError(f"{path} has no header: expected a model of kind {format}.") from None
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{path}: the header is not JSON: {error}.") from None
    if not isinstance(header, dict) or header.get("format") != format:
        given = header.get("format") if isinstance(header, dict) else header
        raise FormatError(f"{path}: the format is {given!r}: expected {format!r}.")
    if type(header.get("version")) is not int or not 1 <= header["version"] <= version:
        raise FormatError(
            f"{path} has version {header.get('version')!r} of {format}: this zerogap reads versions up to {version}. A newer zerogap may"
            " read it."
        )
    return header, arrays
