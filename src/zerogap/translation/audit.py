"""Counts how often, and by how much, another decoder missed the optimum of the same model.

Its scores are compared with proven ones, sentence by sentence. Other programs round their scores, so a difference counts from a tolerance
on. A score above a proven optimum means that the two do not score alike: other weights, features, limits or a constant.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

BINS = (10, 20, 30, 40)


@dataclass(frozen=True, slots=True)
class Compared:
    """A sentence: the best score known here, the bound proven for it, and the other decoder's score."""

    line: int
    words: int
    score: float
    bound: float
    other: float

    @property
    def is_proven(self) -> bool:
        return self.score == self.bound

    def status(self, tolerance: float) -> str:
        """missed (for certain), optimal, above, or open: not decided, as the optimum is not known."""
        if self.other > self.bound + tolerance:
            return "above"
        if self.score > self.other + tolerance:
            return "missed"
        return "optimal" if self.is_proven else "open"


@dataclass(frozen=True, slots=True)
class Audit:
    sentences: tuple[Compared, ...]
    tolerance: float

    def of(self, status: str) -> list[Compared]:
        return [one for one in self.sentences if one.status(self.tolerance) == status]

    def __str__(self) -> str:
        """The table: by length, and in all."""
        rows: list[tuple[str, ...]] = [("words", "sentences", "missed", "%", "mean loss", "largest", "open", "above")]
        for name, part in by_length(self.sentences):
            rows.append(self.row(name, part))
        if len(rows) > 2:
            rows.append(self.row("all", self.sentences))
        widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
        return "\n".join("  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)

    def row(self, name: str, part: Sequence[Compared]) -> tuple[str, ...]:
        lost = [one.score - one.other for one in part if one.status(self.tolerance) == "missed"]
        counts = [sum(one.status(self.tolerance) == status for one in part) for status in ("open", "above")]
        losses = (f"{statistics.mean(lost):.4f}", f"{max(lost):.4f}") if lost else ("-", "-")
        return (name, f"{len(part):,}", f"{len(lost):,}", f"{100 * len(lost) / len(part):.1f}", *losses, *(f"{n:,}" for n in counts))


def by_length(sentences: Iterable[Compared]) -> list[tuple[str, list[Compared]]]:
    """Sentences in bins of their lengths, those that are not empty."""
    bins: dict[str, list[Compared]] = {}
    for one in sorted(sentences, key=lambda one: one.words):
        low = max([limit for limit in BINS if one.words > limit], default=0)
        high = next((limit for limit in BINS if one.words <= limit), None)
        bins.setdefault(f"{low + 1}-{high}" if high else f"over {low}", []).append(one)
    return list(bins.items())
