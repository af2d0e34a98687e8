"""Forms of JSON values: a table says what each field of a record holds, and one pair of functions reads and writes it.

A form is `int`, `float` (which "inf" and "-inf" are, too), `bool` or `str`; a tuple of forms for a row; `object` for what is read
elsewhere; or an object with two methods, `read(value, where)` and `written(value, packed)`. Errors name the place, what is there and
what is expected.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from zerogap.errors import FormatError
from zerogap.problems.json_values import NAMES, expect, number_from_json, number_to_json, only_keys, shorten


def read(value: Any, form: Any, where: str) -> Any:
    if form is float:
        return number_from_json(value, where)
    if isinstance(form, type):
        return expect(value, form, where)
    if isinstance(form, tuple):
        if len(expect(value, list, where)) != len(form):
            raise FormatError(f"{where} is {shorten(value)}: expected [{', '.join(map(name_of, form))}].")
        return tuple(read(part, inner, where) for part, inner in zip(value, form, strict=True))
    return form.read(value, where)


def written(value: Any, form: Any, packed: bool = False) -> Any:
    """The JSON value of what has this form: arrays packed, or as lists."""
    if form is float:
        return number_to_json(value)
    if isinstance(form, type):
        return value
    if isinstance(form, tuple):
        return [written(part, inner, packed) for part, inner in zip(value, form, strict=True)]
    return form.written(value, packed)


def name_of(form: Any) -> str:
    return NAMES.get(form, "a value") if isinstance(form, type) else getattr(form, "name", "a list")


@dataclass(frozen=True, slots=True)
class Many:
    """A tuple of entries of one form."""

    entry: Any

    def read(self, value: Any, where: str) -> tuple[Any, ...]:
        return tuple(read(part, self.entry, f"{where}[{i}]") for i, part in enumerate(expect(value, list, where)))

    def written(self, value: Any, packed: bool) -> list[Any]:
        return [written(part, self.entry, packed) for part in value]


@dataclass(frozen=True, slots=True)
class Maybe:
    """Something, or null for None."""

    form: Any

    @property
    def name(self) -> str:
        return f"null or {name_of(self.form)}"

    def read(self, value: Any, where: str) -> Any:
        return None if value is None else read(value, self.form, where)

    def written(self, value: Any, packed: bool) -> Any:
        return None if value is None else written(value, self.form, packed)


@dataclass(frozen=True, slots=True)
class Below:
    """An integer of magnitude below a limit, so that it fits into an array."""

    limit: int = 2**31
    name = "an integer"

    def read(self, value: Any, where: str) -> int:
        found: int = expect(value, int, where)
        if not abs(found) < self.limit:
            raise FormatError(f"{where} is {shorten(found)}: expected an integer below {self.limit:,}.")
        return found

    def written(self, value: Any, packed: bool) -> int:
        return int(value)


@dataclass(frozen=True, slots=True)
class Dictionary:
    """Values of one form under any names."""

    entry: Any

    def read(self, value: Any, where: str) -> dict[str, Any]:
        return {name: read(part, self.entry, f"{where}.{name}") for name, part in expect(value, dict, where).items()}

    def written(self, value: Any, packed: bool) -> dict[str, Any]:
        return {name: written(part, self.entry, packed) for name, part in value.items()}


@dataclass(frozen=True, slots=True)
class Optional:
    """A field of a record that may be missing, and what it is then."""

    form: Any
    default: Any = None

    def written(self, value: Any, packed: bool) -> Any:
        return written(value, self.form, packed)


@dataclass(frozen=True, slots=True)
class Record:
    """An object with these fields, and no others: a mistyped name is not passed over."""

    fields: Mapping[str, Any]

    def read(self, value: Any, where: str) -> dict[str, Any]:
        found = {}
        only_keys(expect(value, dict, where), self.fields, where)
        for name, form in self.fields.items():
            optional = isinstance(form, Optional)
            if name in value:
                found[name] = read(value[name], form.form if optional else form, f"{where}.{name}")
            elif optional:
                found[name] = form.default
            else:
                raise FormatError(f"{where} has no field {name!r}; it has {', '.join(map(repr, value)) or 'none'}.")
        return found

    def written(self, value: Mapping[str, Any], packed: bool = False) -> dict[str, Any]:
        """Of the fields that are given, in the order in which they are."""
        return {name: written(part, self.fields[name], packed) for name, part in value.items()}
