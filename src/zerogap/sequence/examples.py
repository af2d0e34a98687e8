"""A sequence of tokens as models read it and files hold it: named columns, and labels if they are known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from zerogap.errors import InputError
from zerogap.problems.sequence.constraints import Constraint


@dataclass(frozen=True, slots=True)
class Example:
    """Columns of equal length, `form` among them; constraints are those that hold for this sequence alone."""

    columns: Mapping[str, tuple[str, ...]]
    labels: tuple[str, ...] | None = None
    constraints: tuple[Constraint, ...] = ()

    def __post_init__(self) -> None:
        if "form" not in self.columns:
            raise InputError(f"an example has the columns {', '.join(self.columns) or 'none'}: expected 'form' among them.")
        lengths = {name: len(column) for name, column in self.columns.items()}
        if self.labels is not None:
            lengths["labels"] = len(self.labels)
        for name, length in lengths.items():
            if length != len(self):
                raise InputError(f"column {name!r} has {length} entries, 'form' has {len(self)}: expected as many.")

    def __len__(self) -> int:
        return len(self.columns["form"])
