"""An arc labeller: which labels an arc may have, and the model that chooses among them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from zerogap.dependency.parser.labelling import best_labels
from zerogap.dependency.sentence import Sentence
from zerogap.features.parts.keys import Columns, hash_of
from zerogap.features.parts.model import PartModel
from zerogap.features.parts.weight_table import Keys

Integers = NDArray[np.int64]
ROOT_TAG = "<root>"
LEAST_SHARE = 0.0005
Seen = tuple[str, str, bool]  # tag of the head, tag of the modifier, whether the modifier stands to the right


@dataclass(frozen=True, slots=True, eq=False)
class LabelSets:
    """The labels that training saw, by the tags of an arc; `column` has the tags."""

    names: tuple[str, ...]
    column: str
    seen: dict[Seen, Integers]
    by_modifier: dict[str, Integers] = field(init=False)
    everything: Integers = field(init=False)
    codes: Keys = field(init=False)

    def __post_init__(self) -> None:
        union: dict[str, set[int]] = {}
        for (_, tag, _), labels in self.seen.items():
            union.setdefault(tag, set()).update(labels.tolist())
        object.__setattr__(self, "by_modifier", {tag: np.array(sorted(labels), dtype=np.int64) for tag, labels in union.items()})
        object.__setattr__(self, "everything", np.arange(len(self.names)))
        object.__setattr__(self, "codes", np.array([hash_of(f"label {name}") for name in self.names], dtype=np.int64))

    def candidates(self, columns: Columns, heads: Sequence[int]) -> tuple[Integers, Integers]:
        """Labels start[m - 1] to start[m] are those that the arc to word m may have."""
        tags = columns[self.column]
        found = []
        for m, h in enumerate(heads, start=1):
            tag = tags[m - 1]
            labels = self.seen.get((tags[h - 1] if h else ROOT_TAG, tag, h < m))
            found.append(self.by_modifier.get(tag, self.everything) if labels is None else labels)
        return np.cumsum([0, *map(len, found)]), np.concatenate(found)


def label_sets(sentences: Iterable[Sentence], column: str) -> LabelSets:
    """From sentences with trees and labels; a label that has less than LEAST_SHARE of the arcs between two tags is taken for a slip."""
    counts: dict[Seen, Counter[str]] = {}
    for sentence in sentences:
        tags = sentence.columns[column]
        for m, (h, label) in enumerate(zip(sentence.heads or (), sentence.labels or (), strict=True), start=1):
            counts.setdefault((tags[h - 1] if h else ROOT_TAG, tags[m - 1], h < m), Counter())[label] += 1
    found = {key: {label for label, n in seen.items() if n >= LEAST_SHARE * seen.total()} for key, seen in counts.items()}
    names = tuple(sorted(set().union(*counts.values())))
    number = {name: i for i, name in enumerate(names)}
    return LabelSets(names, column, {key: np.array(sorted(number[name] for name in labels)) for key, labels in found.items()})


@dataclass(frozen=True, slots=True, eq=False)
class Labeller:
    sets: LabelSets
    model: PartModel

    def label(self, columns: Columns, heads: Integers, hashes: Keys | None = None) -> tuple[str, ...]:
        """The best label of every arc of a tree; `hashes` are those of the tokens, if they are known already."""
        n = len(heads)
        if n == 0:
            return ()
        found = np.empty(n, dtype=np.int64)
        features = self.model.features
        partial, totals = features.encode_hashes(features.tokens.of(columns, n) if hashes is None else hashes)
        start, labels = self.sets.candidates(columns, heads.tolist())
        nothing = np.full(n, -1)
        best_labels(partial, *features.plan, totals, heads, start, labels, self.sets.codes, nothing, *self.model.table, found)
        return tuple(self.sets.names[i] for i in found.tolist())
