"""`zerogap train dependency` refuses options that do not go together before it reads anything."""

from __future__ import annotations

from zerogap.dependency.factors.families import FAMILIES
from zerogap.dependency.factors.parser import ORDERS
from zerogap.dependency.factors.patterns import load_patterns
from zerogap.errors import InputError, UnknownMethod


def check_cascade(order: str, development: str | None, *, non_projective: bool, factors: str | None) -> None:
    """Says what --cascade needs before anything is read."""
    if development is None:
        raise InputError("--cascade was given without --dev: expected development data, which its thresholds are chosen on.")
    if non_projective or factors is not None or order not in ("first", "sibling", "grandsibling"):
        what = "--non-projective" if non_projective else "--factors" if factors is not None else f"--model {order}"
        raise InputError(f"--cascade was given with {what}: expected a projective parser of order first, sibling or grandsibling.")


def check_penalties(order: str, algorithm: str, *, non_projective: bool) -> None:
    if non_projective or order == "first" or algorithm not in ("mira", "perceptron"):
        what = "--non-projective" if non_projective else f"--model {order}" if order == "first" else f"--algorithm {algorithm}"
        raise InputError(f"--penalties was given with {what}: expected a projective parser with larger parts, by mira or perceptron.")


def factors_named(names: str, order: str, *, non_projective: bool, bounds: bool) -> list[str]:
    """The families and files that --factors names; what would only be refused after training is refused now."""
    given = [name.strip() for name in names.split(",") if name.strip()]
    if not given:
        raise InputError(f"--factors is {names!r}: expected names such as siblings,grandchildren,comb or a file of patterns.")
    if order not in ORDERS:
        raise InputError(f"--model is {order} with --factors: expected {', '.join(ORDERS)}, which score all that factors do not.")
    if non_projective or bounds:
        raise InputError(
            f"{'--non-projective' if non_projective else '--bounds'} with --factors: expected a projective parser without bounds."
        )
    for name in given:
        if name not in FAMILIES:
            if "." not in name and "/" not in name:
                raise UnknownMethod("--factors", name, [*FAMILIES, "a file of patterns such as patterns.txt"])
            load_patterns(name)
    return given
