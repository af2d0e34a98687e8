"""What a command says of single inputs: the first few on standard error, and how many more there are."""

from __future__ import annotations

import sys
from collections.abc import Sequence

MOST_NOTES = 10


def tell_notes(notes: Sequence[str]) -> None:
    for note in notes[:MOST_NOTES]:
        print(note, file=sys.stderr)
    if len(notes) > MOST_NOTES:
        print(f"... and {len(notes) - MOST_NOTES:,} more", file=sys.stderr)
