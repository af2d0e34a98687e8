"""Values in JSON: what is read is checked, and an error names where it stands, what it is and what is expected."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any

from zerogap.errors import FormatError


def expect(value: Any, kind: type, where: str) -> Any:
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise FormatError(f"{where} is {shorten(value)}: expected {NAMES[kind]}.")
    return value


NAMES: dict[type, str] = {float: "a number", dict: "an object", list: "a list", int: "an integer", bool: "true or false", str: "a string"}


def only_keys(value: dict[str, Any], keys: Collection[str], where: str) -> None:
    """FormatError for a key that is not known: a mistyped one would be as if it were not there."""
    for key in value:
        if key not in keys:
            raise FormatError(f"{where}.{shorten(key)[1:-1]} is not known: expected {', '.join(keys)}.")


def field(value: dict[str, Any], name: str, where: str) -> Any:
    if name not in value:
        raise FormatError(f"{where} has no field {name!r}; it has {', '.join(map(repr, value)) or 'none'}.")
    return value[name]


def shorten(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def number_to_json(value: float) -> float | str:
    """JSON has no infinities; they are written as the strings "inf" and "-inf"."""
    if math.isnan(value):
        raise FormatError("nan cannot be written: expected a number.")
    return value if math.isfinite(value) else ("inf" if value > 0 else "-inf")


def number_from_json(value: Any, where: str) -> float:
    if isinstance(value, str) and value in ("inf", "-inf"):
        return float(value)
    try:
        number = float(value) if isinstance(value, int | float) and not isinstance(value, bool) else math.nan
    except OverflowError:  # an integer beyond float64
        number = math.nan
    if not math.isfinite(number) or (isinstance(value, int) and number != value):  # rounded, it would be another claim
        raise FormatError(f'{where} is {shorten(value)}: expected a number that float64 holds, "inf" or "-inf".')
    return number


def numbers_from_json(value: Any, where: str) -> tuple[float, ...]:
    return tuple(number_from_json(v, f"{where}[{i}]") for i, v in enumerate(expect(value, list, where)))


def integers_from_json(value: Any, where: str) -> tuple[int, ...]:
    return tuple(expect(v, int, f"{where}[{i}]") for i, v in enumerate(expect(value, list, where)))
