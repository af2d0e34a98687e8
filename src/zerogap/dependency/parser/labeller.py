"""An arc labeller: a linear model over the arc and what surrounds it in the tree chooses among the labels that the arc may have.

Each arc is labelled on its own, so the best labels are exact. What a label may be depends on the tags of head and modifier and on
the direction, as they were seen in training; for tags that were not seen together, on the tag of the modifier, or else it is free.
"""

# mypy: disable-error-code="no-untyped-def"
# a kernel's types are its signature

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from zerogap.dependency.scoring.parts import LABEL, arc_relations
from zerogap.dependency.sentence import Sentence
from zerogap.features.parts.keys import ENCODED, PLAN, Columns, hash_of
from zerogap.features.parts.model import PartModel
from zerogap.features.parts.weight_table import CLEAR, Keys
from zerogap.features.parts.weights import TABLE, table_shift, weights_of
from zerogap.grid import Integers
from zerogap.kernels import float64, inner, int64, kernel, readonly, record, writable

ROOT_TAG = "<root>"
LEAST_SHARE = 0.0005
HEAD, MOD, GRAND, LEFTMOST, RIGHTMOST, BEFORE, AFTER = 0, 1, 3, 5, 6, 7, 8  # places in features.part_templates.ROLES
N_ROLES = 9
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

    def candidates(self, columns: Columns, heads: Sequence[int]) -> LabelChoices:
        tags = columns[self.column]
        found = []
        for m, h in enumerate(heads, start=1):
            tag = tags[m - 1]
            labels = self.seen.get((tags[h - 1] if h else ROOT_TAG, tag, h < m))
            found.append(self.by_modifier.get(tag, self.everything) if labels is None else labels)
        return LabelChoices(np.cumsum([0, *map(len, found)]), np.concatenate(found), self.codes)


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


@inner
def find_roles(heads, roles):  # out: roles (N_ROLES, n + 1), tokens in each role for the arc to each word; n + 1 for none
    n = heads.shape[0]
    none = n + 1
    latest = np.full(n + 1, none)  # the last modifier of every token so far
    for role in range(N_ROLES):
        for m in range(n + 1):
            roles[role, m] = none
    for m in range(1, n + 1):
        h = heads[m - 1]
        roles[HEAD, m], roles[MOD, m] = h, m
        if h > 0:
            roles[GRAND, m] = heads[h - 1]
        if roles[LEFTMOST, h] == none:
            roles[LEFTMOST, h] = m
        roles[RIGHTMOST, h] = m
        roles[BEFORE, m] = latest[h]
        if latest[h] != none:
            roles[AFTER, latest[h]] = m
        latest[h] = m


@inner
def label_base(partial, t, m, roles):
    return (
        partial[HEAD, roles[HEAD, m], t] + partial[MOD, m, t] + partial[GRAND, roles[GRAND, m], t]
        + partial[LEFTMOST, roles[LEFTMOST, m], t] + partial[RIGHTMOST, roles[RIGHTMOST, m], t]
        + partial[BEFORE, roles[BEFORE, m], t] + partial[AFTER, roles[AFTER, m], t]
    )  # fmt: skip


class LabelChoices(NamedTuple):
    """The labels that arcs may have: labels[start[m - 1] : start[m]] for the arc to word m."""

    start: Integers
    labels: Integers
    codes: Keys  # of all labels, by number


CHOICES = record(LabelChoices, *[readonly(int64, 1)] * 3)


@kernel(float64(ENCODED, PLAN, TABLE, readonly(int64, 1), CHOICES, readonly(int64, 1), writable(int64, 1)))
def best_labels(encoded, plan, table, heads, choices, gold, best):
    """The best label of every arc, and the sum of their scores. out: best (n,).

    Where gold[m - 1] is a label, all others get 1 more: what training wants (a margin of the Hamming loss).
    """
    partial, totals = encoded
    kind_start, relation, _, templates, codes = plan
    start, labels, label_codes = choices
    n = heads.shape[0]
    shift = table_shift(table)
    relations = np.zeros(codes.shape[0], dtype=np.int64)
    roles = np.empty((N_ROLES, n + 1), dtype=np.int64)
    find_roles(heads, roles)
    scores = np.empty(label_codes.shape[0])
    bases, keys = np.empty(partial.shape[2], dtype=np.int64), np.empty(partial.shape[2], dtype=np.int64)
    total = 0.0
    for m in range(1, n + 1):
        arc_relations(heads[m - 1], m, totals, codes, relations)
        first, size = start[m - 1], start[m] - start[m - 1]
        for p in range(size):
            scores[p] = 1.0 if gold[m - 1] >= 0 and labels[first + p] != gold[m - 1] else 0.0
        found = 0
        for t in range(kind_start[LABEL], kind_start[LABEL + 1]):
            bases[found] = label_base(partial, t, m, roles) + relations[relation[t]]
            found += 1
        for p in range(size):
            code = label_codes[labels[first + p]]
            for i in range(found):
                keys[i] = ((bases[i] + code) & CLEAR) | templates[kind_start[LABEL] + i]
            scores[p] += weights_of(keys, found, table, shift)
        chosen = 0
        for p in range(1, size):
            if scores[p] > scores[chosen]:
                chosen = p
        best[m - 1] = labels[first + chosen]
        total += scores[chosen]
    return total


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
        encoded = features.encode_hashes(features.tokens.of(columns, n) if hashes is None else hashes)
        choices = self.sets.candidates(columns, heads.tolist())
        best_labels(encoded, features.plan, self.model.table, heads, choices, np.full(n, -1), found)
        return tuple(self.sets.names[i] for i in found.tolist())
