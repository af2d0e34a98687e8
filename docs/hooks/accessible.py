"""What the theme leaves unsaid to screen readers."""

from __future__ import annotations

from typing import Any

SEARCH = 'data-md-component="search" role="dialog"'


def on_post_page(output: str, **_: Any) -> str:
    return output.replace(SEARCH, f'{SEARCH} aria-label="Search"')
