"""A trained model of label sequences: features and transitions that score an example, and the constraints that belong to it.

A model is one file: NumPy arrays and JSON in a .npz archive, read without pickle, so that nothing in it can run code.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from zerogap.archive import read_archive, write_archive
from zerogap.errors import FormatError, InputError
from zerogap.features.labels.attributes import FIRST_VALUE, Attributes, attributes_of
from zerogap.features.labels.index import Features
from zerogap.features.labels.templates import parse_templates
from zerogap.grid import Scores
from zerogap.problems.json_values import expect, number_from_json
from zerogap.problems.json_values import field as entry
from zerogap.problems.sequence.compiling import compiled
from zerogap.problems.sequence.constraints import Constraint, knows_positions, soft
from zerogap.problems.sequence.files import constraint_from_json, constraint_to_json
from zerogap.problems.sequence.problem import Problem
from zerogap.sequence.examples import Example

FORMAT, VERSION = "zerogap-sequence-model", 1
ARRAYS = {
    "keys": (np.int64, 1), "row_start": (np.int64, 1), "label_of_weight": (np.int32, 1),
    "weights": (np.float64, 1), "transitions": (np.float64, 2), "start": (np.float64, 1), "end": (np.float64, 1),
}  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class SequenceModel:
    """Scores labels by features of tokens (templates) and by their neighbours (transitions), under constraints.

    `penalties` maps the groups of soft constraints (see `group_of`) to what training learned; an example's constraints of the same group
    get the same penalty, and those that were found to be worth nothing are left out.
    """

    labels: tuple[str, ...]
    templates: tuple[str, ...]
    constraints: tuple[Constraint, ...]
    features: Features = field(repr=False)
    weights: Scores = field(repr=False)
    transitions: Scores = field(repr=False)  # (L, L), previous label first
    start: Scores = field(repr=False)  # (L,)
    end: Scores = field(repr=False)  # (L,)
    penalties: Mapping[str, float] = field(default_factory=dict)

    def emissions(self, example: Example) -> Scores:
        """(n, L) scores of labels by the features of the tokens."""
        return self.features.scores(self.features.rows(example.columns, len(example)), self.weights)

    def problem(self, example: Example, *, constraints: Sequence[Constraint] | None = None) -> Problem:
        """The example as a decoding problem, under the model's constraints and its own.

        `constraints` replaces them all, as they are; `()` leaves none.
        """
        if constraints is None:
            constraints = self.constraints + self.constraints_of(example)
        return Problem(self.emissions(example), self.transitions, self.start, self.end, self.labels, constraints, order=1)

    def constraints_of(self, example: Example) -> tuple[Constraint, ...]:
        """The example's own constraints, with learned penalties where there are some."""
        return priced(example.constraints, self.penalties, of_example=True)

    def save(self, path: str | Path) -> None:
        """Writes the model into one file, which is there completely or not at all."""
        header = {
            "format": FORMAT, "version": VERSION, "labels": self.labels, "templates": self.templates,
            "constraints": [constraint_to_json(constraint) for constraint in self.constraints], "penalties": dict(self.penalties),
            "vocabularies": [list(vocabulary) for vocabulary in self.features.attributes.vocabularies],
        }  # fmt: skip
        arrays: dict[str, Any] = {
            "keys": self.features.keys, "row_start": self.features.row_start, "label_of_weight": self.features.labels,
            "weights": self.weights, "transitions": self.transitions, "start": self.start, "end": self.end,
        }  # fmt: skip
        write_archive(path, header, arrays, compressed=False)

    @classmethod
    def load(cls, path: str | Path) -> SequenceModel:
        """The model in a file; FormatError says what is wrong with it."""
        header, arrays = read_archive(path, FORMAT, VERSION)
        return model_from_arrays(header, arrays, str(path))


def group_of(constraint: Constraint, *, of_example: bool = False) -> str:
    """Soft constraints of a group share a penalty: those of one title; without a title, in examples of one kind, in a model of one name."""
    if constraint.title:
        return constraint.title
    return constraint.kind if of_example else replace(constraint, penalty=None).name


def priced(constraints: Sequence[Constraint], penalties: Mapping[str, float], *, of_example: bool) -> tuple[Constraint, ...]:
    """The constraints with the penalties of their groups, where these have one; without those whose penalty is 0."""
    found = []
    for constraint in constraints:
        group = group_of(constraint, of_example=of_example)
        if constraint.penalty is None or group not in penalties:
            found.append(constraint)
        elif penalties[group] > 0.0:
            found.append(soft(constraint, penalties[group]))
    return tuple(found)


def model_from_arrays(header: dict[str, Any], arrays: dict[str, Any], where: str) -> SequenceModel:
    """Believes nothing: kernels read these arrays without looking at their bounds."""
    for name, (dtype, ndim) in ARRAYS.items():
        if name not in arrays:
            raise FormatError(f"{where} has no {name!r}: expected a model, with {', '.join(ARRAYS)}.")
        if arrays[name].dtype != dtype or arrays[name].ndim != ndim:
            raise FormatError(
                f"{where}: {name} is {arrays[name].dtype} with {arrays[name].ndim} axes: expected {np.dtype(dtype)} with {ndim}."
            )
    labels = names_from_json(entry(header, "labels", where), f"{where}: labels")
    size = len(labels)
    try:
        templates = parse_templates(names_from_json(entry(header, "templates", where), f"{where}: templates"))
        rows = expect(entry(header, "constraints", where), list, f"{where}: constraints")
        constraints = tuple(constraint_from_json(row, f"{where}: constraints[{i}]") for i, row in enumerate(rows))
        prices = expect(entry(header, "penalties", where), dict, f"{where}: penalties")
        penalties = {name: number_from_json(price, f"{where}: penalties.{name}") for name, price in prices.items()}
    except FormatError:
        raise
    except (InputError, RecursionError) as error:
        raise FormatError(f"{where}: {error}") from None
    if any(not 0.0 <= price < np.inf for price in penalties.values()):
        raise FormatError(f"{where}: penalties are {penalties}: expected numbers of at least 0.")
    check_constraints(constraints, labels, where)
    attributes = attributes_of(templates)
    lists = expect(entry(header, "vocabularies", where), list, f"{where}: vocabularies")
    check(len(lists) == len(attributes), where, f"vocabularies has {len(lists)} lists: expected {len(attributes)}, one per attribute")
    words = [names_from_json(values, f"{where}: vocabularies[{i}]") for i, values in enumerate(lists)]
    vocabularies = tuple({value: FIRST_VALUE + i for i, value in enumerate(values)} for values in words)
    keys, row_start, label_of = arrays["keys"], arrays["row_start"], arrays["label_of_weight"]
    check(bool((np.diff(keys) > 0).all() and (keys >= 0).all()), where, "keys are not ascending: expected each once, from 0")
    check(len(keys) < 2**31, where, f"keys has {len(keys)} entries: expected fewer than 2^31")
    check(len(row_start) == len(keys) + 1, where, f"row_start has {len(row_start)} entries: expected {len(keys) + 1}")
    ordered = row_start[0] == 0 and row_start[-1] == len(label_of) and bool((np.diff(row_start) >= 0).all())
    check(ordered, where, f"row_start does not ascend from 0 to {len(label_of)}")
    check(bool(((label_of >= 0) & (label_of < size)).all()), where, f"label_of_weight has labels outside 0 to {size - 1}")
    for name, shape in (("weights", (len(label_of),)), ("transitions", (size, size)), ("start", (size,)), ("end", (size,))):
        check(arrays[name].shape == shape, where, f"{name} has shape {arrays[name].shape}: expected {shape}")
        bad = np.isnan(arrays[name]) | (arrays[name] == np.inf) | ((arrays[name] == -np.inf) & (name == "weights"))
        check(not bad.any(), where, f"{name} has entries that are not finite")
    c = {name: np.ascontiguousarray(arrays[name]) for name in ARRAYS}
    features = Features(templates, Attributes(attributes, vocabularies), c["keys"], c["row_start"], c["label_of_weight"], size)
    return SequenceModel(
        labels, tuple(t.text for t in templates), constraints, features, c["weights"], c["transitions"], c["start"], c["end"], penalties
    )


def check_constraints(constraints: Sequence[Constraint], labels: tuple[str, ...], where: str) -> None:
    """Compiles what can be compiled without a sequence, so that labels that do not exist are found here."""
    for i, constraint in enumerate(constraints):
        if not knows_positions(constraint):
            try:
                compiled(constraint, labels, 0)
            except InputError as error:
                raise FormatError(f"{where}: constraints[{i}] is not one for these labels: {error}") from None


def names_from_json(value: Any, where: str) -> tuple[str, ...]:
    names = tuple(expect(name, str, f"{where}[{i}]") for i, name in enumerate(expect(value, list, where)))
    if len(set(names)) != len(names):
        raise FormatError(f"{where} has the same entry twice: expected different ones.")
    return names


def check(holds: bool, where: str, otherwise: str) -> None:
    if not holds:
        raise FormatError(f"{where}: {otherwise}.")
