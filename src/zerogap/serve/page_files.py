"""The files of the page, as they lie in the package."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from importlib.resources import files

TYPES = {"html": "text/html", "js": "text/javascript", "css": "text/css", "svg": "image/svg+xml"}


@dataclass(frozen=True, slots=True)
class PageFile:
    body: bytes
    media_type: str
    tag: str  # of the content, for caches


def page_files() -> dict[str, PageFile]:
    """By name."""
    found = {}
    for entry in sorted(files("zerogap.serve").joinpath("page").iterdir(), key=lambda entry: entry.name):
        kind = entry.name.rpartition(".")[2]
        if kind in TYPES:
            body = entry.read_bytes()
            found[entry.name] = PageFile(body, TYPES[kind], f'"{hashlib.sha256(body).hexdigest()[:16]}"')
    return found
