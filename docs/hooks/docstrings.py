"""Examples in docstrings become code blocks: Markdown would read `>>>` as quotations. A package begins with its problem and `decode`."""

from __future__ import annotations

import re
from typing import Any

import griffe

EXAMPLE = re.compile(r"^( *)>>> .*(?:\n(?! *$).+)*", flags=re.MULTILINE)  # to the next empty line


class Examples(griffe.Extension):
    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        for module in [pkg, *(member for member in pkg.members.values() if isinstance(member, griffe.Module))]:
            if module.exports is not None:
                module.exports.sort(key=rank)  # stable: the others stay as they are


def rank(name: Any) -> int:
    """Problems first, then what decodes them."""
    return 0 if str(name).endswith("Problem") else 1 if str(name) == "decode" else 2 if str(name).startswith("decode") else 3


def fenced(text: str) -> str:
    return EXAMPLE.sub(lambda found: f"{found[1]}```pycon\n{found[0]}\n{found[1]}```", text)
