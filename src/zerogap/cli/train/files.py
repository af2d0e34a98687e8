"""Files that training commands write and read: the model, a list of feature templates."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from zerogap.cli.terminal import placed
from zerogap.errors import FormatError
from zerogap.io.formats.lines import read_lines


def check_target(output: Path) -> None:
    """Before the work, not after it."""
    folder = output.parent
    if output.is_dir() or not folder.is_dir() or not os.access(folder, os.W_OK):
        reason = "it is a folder" if output.is_dir() else f"{folder} is not a folder that can be written to"
        raise FormatError(f"{output} cannot be written: {reason}.")


def read_templates(path: Path, parse: Callable[[list[str]], object], example: str = "form[0] or pos[-1]+pos[0]") -> list[str]:
    """The templates in a file, one per line; `parse` refuses those that are none."""
    found = []
    for number, text in read_lines(path):
        line = text.strip()
        with placed(f"{path}, line {number}"):
            if line and not line.startswith("#"):
                parse([line])
                found.append(line)
    if not found:
        raise FormatError(f"{path} holds no templates: expected one per line, such as {example}.")
    return found
