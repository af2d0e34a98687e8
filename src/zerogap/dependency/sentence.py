"""A sentence as parsers read it and treebanks hold it: named columns, and its tree if it is known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from zerogap.errors import InputError


@dataclass(frozen=True, slots=True)
class Sentence:
    """Columns of equal length, `form` among them (others are lemma, upos, xpos, feats); `name` is for messages.

    >>> len(Sentence({"form": ("Time", "flies")}, heads=(2, 0)))
    2
    """

    columns: Mapping[str, tuple[str, ...]]
    heads: tuple[int, ...] | None = None  # of words 1 to n, 0 is the root
    labels: tuple[str, ...] | None = None  # relations
    name: str = ""

    def __post_init__(self) -> None:
        if "form" not in self.columns:
            raise InputError(f"a sentence has the columns {', '.join(self.columns) or 'none'}: expected 'form' among them.")
        lengths = {f"column {name!r}": len(column) for name, column in self.columns.items()}
        lengths |= {name: len(value) for name, value in (("heads", self.heads), ("labels", self.labels)) if value is not None}
        for name, length in lengths.items():
            if length != len(self):
                raise InputError(f"{self.name or 'a sentence'}: {name} has {length} entries, 'form' has {len(self)}: expected as many.")

    def __len__(self) -> int:
        return len(self.columns["form"])
