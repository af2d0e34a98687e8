"""Problems of label sequences as JSON, and their constraints: a kind, its arguments, and where there are some a penalty and a title."""

from __future__ import annotations

from typing import Any

from zerogap.errors import FormatError, InputError
from zerogap.problems.arrays import ARRAY
from zerogap.problems.forms import Many, Maybe, Optional
from zerogap.problems.json_values import expect, field, number_from_json, only_keys
from zerogap.problems.sequence.constraints import ARGUMENTS, Constraint, soft
from zerogap.problems.sequence.problem import Problem

LARGEST_ARGUMENT = 1_000_000  # positions and counts beyond it are of no use, and larger integers would not fit into arrays


def constraint_to_json(constraint: Constraint) -> dict[str, Any]:
    def written(argument: Any) -> Any:
        if isinstance(argument, Constraint):
            return constraint_to_json(argument)
        if isinstance(argument, tuple):
            return [written(part) for part in argument]
        if isinstance(argument, str | int):
            return argument
        raise InputError(f"constraint {constraint.name} holds a {type(argument).__name__}, which a file cannot: use regex() instead.")

    body: dict[str, Any] = {"kind": constraint.kind, "arguments": [written(argument) for argument in constraint.arguments]}
    body |= {"title": constraint.title} if constraint.title else {}
    return body if constraint.penalty is None else {**body, "penalty": constraint.penalty}


def constraint_from_json(value: Any, where: str) -> Constraint:
    """The constraint that a file holds. A checker believes what it says, so nothing is guessed or converted.

    A labelling is proved under the constraints as they are read here: one that were read as less than its author wrote would let a wrong
    proof pass. So a value of another type, a kind that is not known and arguments that the kind does not take are errors.
    """

    def read(argument: Any, spot: str) -> Any:
        if isinstance(argument, dict):
            return constraint_from_json(argument, spot)
        if isinstance(argument, list):
            return tuple(read(part, f"{spot}[{i}]") for i, part in enumerate(argument))
        # true is an integer for Python, and equals the label 1: it is refused, as in all other fields
        if isinstance(argument, str) or (type(argument) is int and 0 <= argument <= LARGEST_ARGUMENT):
            return argument
        raise FormatError(f"{spot} is {argument!r}: expected names, integers up to {LARGEST_ARGUMENT}, lists or constraints.")

    only_keys(expect(value, dict, where), ("kind", "arguments", "title", "penalty"), where)
    kind = expect(field(value, "kind", where), str, f"{where}.kind")
    if kind not in ARGUMENTS:
        raise FormatError(f"{where}.kind is {kind!r}: expected one of {', '.join(ARGUMENTS)}.")
    arguments = read(expect(field(value, "arguments", where), list, f"{where}.arguments"), f"{where}.arguments")
    title = expect(value.get("title", ""), str, f"{where}.title")
    try:
        # the constraint checks its arguments: that those of a & b are hard, for example, or a penalty inside would be forgotten
        found = Constraint(kind, arguments, title=title)
        # a penalty of 0 or less would make a broken constraint free or a gain, which `Constraint` refuses as well
        return found if "penalty" not in value else soft(found, number_from_json(value["penalty"], f"{where}.penalty"))
    except FormatError:
        raise
    except InputError as error:
        raise FormatError(f"{where}: {error}") from None


class ConstraintForm:
    """A constraint, as a form of JSON."""

    def read(self, value: Any, where: str) -> Constraint:
        return constraint_from_json(value, where)

    def written(self, value: Constraint, packed: bool) -> dict[str, Any]:
        return constraint_to_json(value)


FIELDS = {
    "order": Optional(Maybe(int)),
    "labels": Optional(Maybe(Many(str))),
    "emissions": ARRAY,
    "transitions": Optional(Maybe(ARRAY)),
    "start": Optional(Maybe(ARRAY)),
    "end": Optional(Maybe(ARRAY)),
    "constraints": Optional(Many(ConstraintForm()), ()),
}


def sequence_fields(problem: Problem) -> dict[str, Any]:
    return {
        "order": problem.order,
        "labels": problem.labels if problem.named else None,
        "emissions": problem.emissions,
        "transitions": problem.transitions if len(problem.transitions) > 1 else problem.transitions[0],
        "start": problem.start,
        "end": problem.end,
        "constraints": problem.constraints,
    }


def sequence_problem(given: dict[str, Any], where: str, resolution: float | None) -> Problem:
    emissions = given.pop("emissions")
    sides = given["labels"] if given["labels"] is not None else given["start"]
    if emissions.ndim == 1 and not emissions.size:
        emissions = emissions.reshape(0, 0 if sides is None else len(sides))
    return Problem(emissions, **given, resolution=resolution)
