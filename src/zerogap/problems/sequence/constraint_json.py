"""Constraints as JSON: a kind, its arguments, and where there are some a penalty and a title."""

from __future__ import annotations

from typing import Any

from zerogap.errors import FormatError, InputError
from zerogap.problems.json_values import expect, field, number_from_json
from zerogap.problems.sequence.constraints import BUILDERS, Constraint, soft

LARGEST_ARGUMENT = 1_000_000  # a constraint that counts has as many states


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
    def read(argument: Any, spot: str) -> Any:
        if isinstance(argument, dict):
            return constraint_from_json(argument, spot)
        if isinstance(argument, list):
            return tuple(read(part, f"{spot}[{i}]") for i, part in enumerate(argument))
        if isinstance(argument, str) or (isinstance(argument, int) and 0 <= argument <= LARGEST_ARGUMENT):
            return argument
        raise FormatError(f"{spot} is {argument!r}: expected names, integers up to {LARGEST_ARGUMENT}, lists or constraints.")

    kind = expect(field(expect(value, dict, where), "kind", where), str, f"{where}.kind")
    if kind not in BUILDERS:
        raise FormatError(f"{where}.kind is {kind!r}: expected one of {', '.join(BUILDERS)}.")
    arguments = read(expect(field(value, "arguments", where), list, f"{where}.arguments"), f"{where}.arguments")
    found = Constraint(kind, arguments, title=expect(value.get("title", ""), str, f"{where}.title"))
    return found if "penalty" not in value else soft(found, number_from_json(value["penalty"], f"{where}.penalty"))
