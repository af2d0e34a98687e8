"""The features of a model: templates, vocabularies, the keys that training saw, and for each the labels that it has weights for.

A feature that occurs rarely has a weight for every label that it was seen with; one that occurs often, for all labels, so that it can
also speak against what it was never seen with.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from zerogap.features.labels.attributes import Attributes, Columns, Integers, collect_attributes
from zerogap.features.labels.table import NONE, add_scores, add_to_weights, fill_keys, fill_slots, find_rows
from zerogap.features.labels.templates import Template, check_columns
from zerogap.grid import Scores

Rows = NDArray[np.int32]
EVERY_LABEL_FROM = 8  # occurrences from which a feature has a weight for every label


@dataclass(frozen=True, slots=True, eq=False)
class Features:
    """Feature f has the weights row_start[f] to row_start[f + 1], for the labels at these places."""

    templates: tuple[Template, ...]
    attributes: Attributes
    keys: Integers  # (features,), ascending
    row_start: Integers  # (features + 1,)
    labels: NDArray[np.int32]  # (weights,)
    n_labels: int
    plan: tuple[Integers, Integers, Integers] = field(init=False, repr=False)  # templates as arrays
    slots: tuple[Integers, Rows] = field(init=False, repr=False)  # the hash table

    def __post_init__(self) -> None:
        object.__setattr__(self, "plan", plan_of(self.templates, self.attributes))
        size = 1 << (2 * len(self.keys) + 1).bit_length()
        slots = np.full(size, NONE, dtype=np.int64), np.full(size, NONE, dtype=np.int32)
        fill_slots(self.keys, *slots)
        object.__setattr__(self, "slots", slots)

    @property
    def n_weights(self) -> int:
        return len(self.labels)

    def rows(self, columns: Columns, n: int, where: str = "the example") -> Rows:
        """(n, templates) numbers of the features of every token of a sequence; NONE where training did not see it."""
        if any(name not in columns for name, _ in self.attributes.groups):
            check_columns(self.templates, columns, where)
        return self.find(keys_of(self.attributes.encode(columns, n), np.array([0, n]), self.plan))

    def find(self, keys: Integers) -> Rows:
        rows = np.empty(keys.shape, dtype=np.int32)
        find_rows(*self.slots, keys, rows)
        return rows

    def scores(self, rows: Rows, weights: Scores) -> Scores:
        """(tokens, labels) sums of weights."""
        scores = np.zeros((len(rows), self.n_labels))
        add_scores(rows, self.row_start, self.labels, weights, scores)
        return scores

    def add(self, rows: Rows, amounts: Scores, factor: float, weights: Scores) -> None:
        """Adds factor * amounts (tokens, labels) to the weights of all features of the tokens: the transpose of `scores`."""
        add_to_weights(rows, self.row_start, self.labels, amounts, factor, weights)  # out: weights


def plan_of(templates: Sequence[Template], attributes: Attributes) -> tuple[Integers, Integers, Integers]:
    number = {attribute: a for a, attribute in enumerate(attributes.attributes)}
    return (
        np.cumsum([0, *(len(template.terms) for template in templates)]),
        np.array([number[attribute] for template in templates for attribute, _ in template.terms], dtype=np.int64),
        np.array([offset for template in templates for _, offset in template.terms], dtype=np.int64),
    )


def keys_of(encoded: NDArray[np.int32], first: Integers, plan: tuple[Integers, Integers, Integers]) -> Integers:
    keys = np.empty((len(encoded), len(plan[0]) - 1), dtype=np.int64)
    fill_keys(encoded, first, *plan, keys)
    return keys


@dataclass(frozen=True, slots=True, eq=False)
class Corpus:
    """The tokens of many sequences, one after the other: sequence s is first[s] to first[s + 1]."""

    rows: Rows  # (tokens, templates)
    first: Integers  # (sequences + 1,)


def corpus_of(features: Features, sequences: Sequence[Columns]) -> Corpus:
    rows = [features.rows(columns, length_of(columns), f"example {i}") for i, columns in enumerate(sequences)]
    return Corpus(np.concatenate([np.empty((0, len(features.templates)), dtype=np.int32), *rows]), firsts(sequences))


def collect_features(
    templates: Sequence[Template], sequences: Sequence[Columns], gold: Integers, n_labels: int, *, min_count: int = 1
) -> tuple[Features, Corpus]:
    """The features that occur at least `min_count` times, and the sequences in terms of them. `gold` has a label per token."""
    attributes = collect_attributes(templates, sequences)
    first = firsts(sequences)
    encoded = [attributes.encode(columns, length_of(columns)) for columns in sequences]
    stacked = np.concatenate([np.empty((0, len(attributes.attributes)), dtype=np.int32), *encoded])
    keys = keys_of(stacked, first, plan_of(templates, attributes))
    unique, counts = np.unique(keys, return_counts=True)
    kept = counts >= min_count
    found, counts = unique[kept], counts[kept]
    nothing = Features(tuple(templates), attributes, found, np.zeros(len(found) + 1, dtype=np.int64), np.zeros(0, dtype=np.int32), n_labels)
    rows = nothing.find(keys)
    row_start, labels = pairs_of(rows, gold, counts, n_labels)
    return Features(tuple(templates), attributes, found, row_start, labels, n_labels), Corpus(rows, first)


def pairs_of(rows: Rows, gold: Integers, counts: Integers, n_labels: int) -> tuple[Integers, NDArray[np.int32]]:
    """Which labels every feature has weights for."""
    seen = (rows.astype(np.int64) * n_labels + gold[:, None])[rows != NONE]
    often = np.flatnonzero(counts >= EVERY_LABEL_FROM)
    everything = (often[:, None] * n_labels + np.arange(n_labels)).reshape(-1)
    pairs = np.unique(np.concatenate([seen, everything]))
    row_start = np.searchsorted(pairs // n_labels, np.arange(len(counts) + 1)).astype(np.int64)
    return row_start, (pairs % n_labels).astype(np.int32)


def length_of(columns: Columns) -> int:
    return len(next(iter(columns.values())))


def firsts(sequences: Sequence[Columns]) -> Integers:
    return np.cumsum([0, *(length_of(columns) for columns in sequences)], dtype=np.int64)
