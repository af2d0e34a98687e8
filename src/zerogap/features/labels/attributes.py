"""Columns of strings as integers: every function of a column has a vocabulary, filled once from the training data.

A string is looked up once per distinct value and vocabulary, not once per template: templates then combine integers only.
Strings that were not seen in training are 0, and a feature that has one of them is no feature.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from zerogap.features.labels.templates import POSITIONS, Attribute, Template, check_columns

UNSEEN, BEFORE, AFTER, FIRST_VALUE = 0, 1, 2, 3  # BEFORE and AFTER stand beyond the ends of the sequence
MOST_REMEMBERED = 1_000_000

Columns = Mapping[str, Sequence[str]]
Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Attributes:
    """The attributes that templates read, grouped by column, with their vocabularies."""

    attributes: tuple[Attribute, ...]
    vocabularies: tuple[dict[str, int], ...]  # one per attribute; those of positions are empty
    groups: tuple[tuple[str, tuple[int, ...]], ...] = field(init=False)  # column, and which attributes read it
    remembered: dict[str, dict[str, bytes]] = field(init=False, repr=False)  # by column: a value's integers, as int32

    def __post_init__(self) -> None:
        columns = dict.fromkeys(attribute.column for attribute in self.attributes if attribute.column)
        groups = tuple((name, tuple(a for a, attribute in enumerate(self.attributes) if attribute.column == name)) for name in columns)
        object.__setattr__(self, "groups", groups)
        object.__setattr__(self, "remembered", {name: {} for name in columns})

    def encode(self, columns: Columns, n: int) -> NDArray[np.int32]:
        """(n, attributes) integers of the tokens of one sequence."""
        encoded = np.empty((n, len(self.attributes)), dtype=np.int32)
        if n == 0:
            return encoded
        for name, members in self.groups:
            known = self.remembered[name]
            rows = []
            for value in columns[name]:
                row = known.get(value)
                rows.append(self.remember(name, members, value) if row is None else row)
            encoded[:, members] = np.frombuffer(b"".join(rows), dtype=np.int32).reshape(n, len(members))
        for a, attribute in enumerate(self.attributes):
            if not attribute.column:
                position = POSITIONS[attribute.functions[0]]
                encoded[:, a] = [FIRST_VALUE + position(t, n) for t in range(n)]
        return encoded

    def remember(self, column: str, members: tuple[int, ...], value: str) -> bytes:
        row = np.array([self.vocabularies[a].get(self.attributes[a].of(value), UNSEEN) for a in members], dtype=np.int32).tobytes()
        known = self.remembered[column]
        if len(known) < MOST_REMEMBERED:
            known[value] = row
        return row


def attributes_of(templates: Sequence[Template]) -> tuple[Attribute, ...]:
    return tuple(dict.fromkeys(attribute for template in templates for attribute, _ in template.terms))


def collect_attributes(templates: Sequence[Template], sequences: Sequence[Columns]) -> Attributes:
    """Vocabularies of all values in the sequences, numbered as they come."""
    attributes = attributes_of(templates)
    vocabularies: tuple[dict[str, int], ...] = tuple({} for _ in attributes)
    for i, columns in enumerate(sequences):
        check_columns(templates, columns, f"example {i}")
    for name in dict.fromkeys(attribute.column for attribute in attributes if attribute.column):
        values = dict.fromkeys(value for columns in sequences for value in columns[name])
        for attribute, vocabulary in zip(attributes, vocabularies, strict=True):
            if attribute.column == name:
                for value in values:
                    vocabulary.setdefault(attribute.of(value), FIRST_VALUE + len(vocabulary))
    return Attributes(attributes, vocabularies)
