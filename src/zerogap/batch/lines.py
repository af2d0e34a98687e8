"""Lines of a chunk as records."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import NamedTuple

from zerogap.batch.chunks import by_line
from zerogap.batch.worker import Refused
from zerogap.io.formats.lines import Piece, bad_byte


class Line(NamedTuple):
    """A line of an input, decoded."""

    path: str
    line: int
    text: str

    @property
    def where(self) -> str:
        return f"{self.path}, line {self.line}"


def lines_of(piece: Piece) -> Iterator[Line | Refused]:
    """Lines that are not empty, and those that are not UTF-8."""
    for i, (content, *_, proper) in enumerate(by_line(io.BytesIO(piece.content))):
        text = content.decode("utf-8", "surrogateescape")
        byte = bad_byte(text)
        if byte is not None:
            yield Refused(piece.line + i, f"the text is not UTF-8 (byte {byte:#04x}).")
        elif proper:
            yield Line(piece.path, piece.line + i, text)
