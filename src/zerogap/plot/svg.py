"""Writes SVG: elements with their text escaped, and the picture that notebooks show and `save` writes.

>>> element("text", "a < b", x=1, font_weight="bold")
'<text x="1" font-weight="bold">a &lt; b</text>'
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape
from pathlib import Path

from rich.cells import cell_len

from zerogap.errors import FormatError

FONT = "system-ui, sans-serif"
FONT_SIZE = 13
INK, FAINT, PAPER = "#374151", "#e5e7eb", "white"  # text, lines of a grid, background
BOUND_COLOUR, SCORE_COLOUR, DONE_COLOUR = "#c2410c", "#1d4ed8", "#15803d"
LETTER = 0.58  # the width of a letter of a usual font, as a share of its size
FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # in XML


class Markup(str):
    """Text that is SVG already."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Picture:
    """An SVG image: notebooks show it, `save` writes it."""

    svg: str

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: str | Path) -> None:
        try:
            Path(path).write_text(self.svg, encoding="utf-8")
        except OSError as error:
            raise FormatError(f"{path} cannot be written: {error.strerror}.") from None


def element(tag: str, *inside: str, **attributes: object) -> Markup:
    """An element. Text inside is escaped unless it is `Markup`; `_` in names of attributes stands for `-`; None leaves one out."""
    given = "".join(f' {name.rstrip("_").replace("_", "-")}="{shown(value)}"' for name, value in attributes.items() if value is not None)
    if not inside:
        return Markup(f"<{tag}{given}/>")
    return Markup(f"<{tag}{given}>{''.join(part if isinstance(part, Markup) else escaped(part) for part in inside)}</{tag}>")


def picture(width: float, height: float, title: str, *body: Markup) -> Picture:
    """A picture of this size on white paper. The title is what screen readers say of it."""
    paper = element("rect", width=width, height=height, fill=PAPER)
    attributes: dict[str, object] = {
        "xmlns": "http://www.w3.org/2000/svg", "viewBox": f"0 0 {shown(width)} {shown(height)}", "width": width, "height": height,
        "role": "img", "font_family": FONT, "font_size": FONT_SIZE, "fill": INK,
    }  # fmt: skip
    return Picture(element("svg", element("title", title), paper, *body, **attributes))


def text_width(text: str, size: float = FONT_SIZE) -> float:
    """About how wide a text is drawn; wide characters count twice."""
    return cell_len(text) * size * LETTER


def shown(value: object) -> str:
    """A number with no more digits than a screen can show; other values as they are, escaped."""
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else escaped(str(value))


def escaped(text: str) -> str:
    """As XML takes it: what it cannot hold becomes a question mark in a diamond."""
    return escape(FORBIDDEN.sub("\ufffd", text))
