"""Global constraints on label sequences (Tromble & Eisner 2006, sections 2 and 5.1).

A constraint is a plain value: a kind and its arguments. `&`, `|` and `~` combine constraints; `soft` gives one a price instead of a veto.
`compiling.py` compiles it when a problem binds it to a label set.
"""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from zerogap.errors import InputError
from zerogap.problems.json_values import shorten
from zerogap.problems.sequence.labels import Label
from zerogap.structures.automaton import Automaton

LARGEST_PENALTY = sys.float_info.max
MAX_DEPTH = 200  # constraints within constraints: compiling one descends into the others


@dataclass(frozen=True, slots=True)
class Constraint:
    """A condition (`kind`, `arguments`), what breaking it costs (None if it must not be broken), and what people call it."""

    kind: str
    arguments: tuple[Any, ...]
    penalty: float | None = None
    title: str = ""
    _depth: int = field(init=False, repr=False, compare=False)  # 0 if there is no constraint within it

    def __post_init__(self) -> None:
        object.__setattr__(self, "arguments", plain(self.arguments))
        check_arguments(self.kind, self.arguments)
        depth = max((part._depth + 1 for part in self.arguments if isinstance(part, Constraint)), default=0)
        if depth > MAX_DEPTH:
            raise InputError(f"constraints are nested more than {MAX_DEPTH} deep.")
        object.__setattr__(self, "_depth", depth)
        # a penalty is taken from the score, so it must be above 0: checkers rely on it where they drop a soft constraint
        penalty = self.penalty
        if penalty is None:
            return
        try:  # first a float, then the comparison: an instance of a subclass may answer both as it likes
            price = math.nan if isinstance(penalty, bool) or not isinstance(penalty, int | float) else float(penalty)
        except OverflowError:
            price = math.inf
        if not 0.0 < price <= LARGEST_PENALTY:
            raise InputError(
                f"penalty is {penalty!r}: expected a positive number, which is taken from the score of labellings that break it."
            )
        object.__setattr__(self, "penalty", price)

    def called(self, title: str) -> Constraint:
        """The same constraint under a name of your own, which errors and reports use."""
        return replace(self, title=str(title))

    @property
    def name(self) -> str:
        if self.title:
            return self.title
        inner = ", ".join(shown(argument) for argument in self.arguments)
        body = f"{self.kind}({inner})"
        return body if self.penalty is None else f"soft({body}, {self.penalty:g})"

    def __and__(self, other: Constraint) -> Constraint:
        return Constraint("and", hard_only("&", self, other))

    def __or__(self, other: Constraint) -> Constraint:
        return Constraint("or", hard_only("|", self, other))

    def __invert__(self) -> Constraint:
        return Constraint("not", hard_only("~", self))


def plain(value: Any) -> Any:
    """Arguments in Python's own integers and strings: those of NumPy overflow, and machines are remembered by them."""
    if type(value) is tuple:
        return tuple(map(plain, value))
    if isinstance(value, np.integer):
        return int(value)
    return str.__str__(value) if isinstance(value, str) else value


def shown(argument: Any) -> str:
    if isinstance(argument, tuple):
        return "(" + ", ".join(map(shown, argument)) + ")"
    return argument.name if isinstance(argument, Constraint) else str(argument)


def hard_only(operator: str, *constraints: Constraint) -> tuple[Constraint, ...]:
    for constraint in constraints:
        if not isinstance(constraint, Constraint):
            raise InputError(f"{operator} was given {constraint!r}: expected constraints.")
        if constraint.penalty is not None:
            raise InputError(f"{operator} was given {constraint.name}: combine hard constraints, and make the result soft.")
    return constraints


def is_label(value: Any) -> bool:
    """Whether a value may be a label. Whether it is one is known when the constraint meets a label set."""
    try:
        hash(value)
    except TypeError:
        return False
    return not isinstance(value, Constraint | Automaton)


def is_natural(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and bool(value >= 0)


def is_hard(value: Any) -> bool:
    return isinstance(value, Constraint) and value.penalty is None


def is_text(value: Any) -> bool:
    return isinstance(value, str)


def is_automaton(value: Any) -> bool:
    return isinstance(value, Automaton)


# The kinds of constraints, and the arguments that each takes: in words, and as a pattern. A tuple is matched entry by entry, [x] stands for
# any number of x. Everything that a builder relies on is checked here, however the constraint was made.
ARGUMENTS: dict[str, tuple[str, Any]] = {
    "no_duplicate": ("label", (is_label,)),
    "at_least_one": ("label, ...", [is_label]),
    "at_most": ("label, k", (is_label, is_natural)),
    "at_least": ("label, k", (is_label, is_natural)),
    "exactly": ("label, k", (is_label, is_natural)),
    "precedes": ("first label, second label", (is_label, is_label)),
    "follows_only": ("label, label before it", (is_label, is_label)),
    "disallow": ("label, ...", [is_label]),
    "at": ("position, (label, ...)", (is_natural, [is_label])),
    "spans": ("(start, end), ...", [(is_natural, is_natural)]),
    "same_label": ("position, ...", [is_natural]),
    "regex": ("pattern", (is_text,)),
    "accepted_by": ("automaton", (is_automaton,)),
    "and": ("hard constraint, hard constraint", (is_hard, is_hard)),
    "or": ("hard constraint, hard constraint", (is_hard, is_hard)),
    "not": ("hard constraint", (is_hard,)),
}
POSITIONAL = ("at", "spans", "same_label")
COMBINED = ("and", "or", "not")


def check_arguments(kind: str, arguments: tuple[Any, ...]) -> None:
    """InputError unless the arguments are such as the kind takes. A kind that is not known is an error when it is bound or written."""
    if not isinstance(kind, str) or not isinstance(arguments, tuple):
        raise InputError(f"a constraint is {shorten(kind)} of {shorten(arguments)}: expected the name of a kind and a tuple of arguments.")
    if kind not in ARGUMENTS:
        return
    words, pattern = ARGUMENTS[kind]
    if not matches(arguments, pattern):
        given = ", ".join(shorten(argument) for argument in arguments)
        raise InputError(f"{kind} was given ({given}): expected {kind}({words}).")
    if kind == "spans":
        check_spans(sorted(arguments))


def matches(value: Any, pattern: Any) -> bool:
    if isinstance(pattern, list):
        return isinstance(value, tuple) and all(matches(part, pattern[0]) for part in value)
    if isinstance(pattern, tuple):
        return isinstance(value, tuple) and len(value) == len(pattern) and all(map(matches, value, pattern))
    return bool(pattern(value))


def check_spans(ordered: list[tuple[int, int]]) -> None:
    for start, end in ordered:
        if start >= end:
            raise InputError(f"span [{start}, {end}) is empty: expected start < end.")
    for (_, end), (start, _) in itertools.pairwise(ordered):
        if start < end:
            raise InputError(f"the span from {start} begins inside another: expected spans that do not overlap (join them with &).")


def no_duplicate(label: Label) -> Constraint:
    """At most one segment of a label or field (figure 4a)."""
    return Constraint("no_duplicate", (label,))


def at_least_one(*labels: Label) -> Constraint:
    """Some token has one of the labels or fields (figure 1)."""
    if not labels:
        raise InputError("at_least_one was given no label: expected one or more.")
    return Constraint("at_least_one", labels)


def at_most(label: Label, k: int) -> Constraint:
    """At most k segments of a label or field."""
    return Constraint("at_most", (label, natural("k", k)))


def at_least(label: Label, k: int) -> Constraint:
    """At least k segments of a label or field."""
    return Constraint("at_least", (label, natural("k", k)))


def exactly(label: Label, k: int) -> Constraint:
    """Exactly k segments of a label or field."""
    return Constraint("exactly", (label, natural("k", k)))


def precedes(first: Label, second: Label) -> Constraint:
    """Where both occur, every token of `first` comes before every token of `second`."""
    return Constraint("precedes", (first, second))


def follows_only(label: Label, after: Label) -> Constraint:
    """A segment of `label` begins only right after a token of `after`."""
    return Constraint("follows_only", (label, after))


def disallow(*labels: Label) -> Constraint:
    """No token has any of the labels or fields (figure 4c)."""
    return Constraint("disallow", labels)


def at(position: int, *labels: Label) -> Constraint:
    """The token at a position (from 0) has one of the labels or fields (figure 4b)."""
    return Constraint("at", (natural("position", position), labels))


def span(start: int, end: int) -> Constraint:
    """The tokens of [start, end) all have the same label, or labels of the same field."""
    return spans([(start, end)])


def spans(candidates: Iterable[tuple[int, int]]) -> Constraint:
    """Every one of these spans, which must not overlap, has a single label or field (ARGUMENT CANDIDATES, figure 5)."""
    return Constraint("spans", tuple(sorted((natural("start", start), natural("end", end)) for start, end in candidates)))


def same_label(positions: Iterable[int]) -> Constraint:
    """The tokens at these positions all have the same label, or labels of the same field."""
    return Constraint("same_label", tuple(sorted({natural("position", p) for p in positions})))


def regex(pattern: str) -> Constraint:
    """The whole labelling matches a regular expression over label names; fields stand for their labels."""
    return Constraint("regex", (pattern,))


def accepted_by(automaton: Automaton) -> Constraint:
    """Any unweighted automaton over the labels."""
    return Constraint("accepted_by", (automaton,))


def soft(constraint: Constraint, penalty: float) -> Constraint:
    """Breaking the constraint is allowed and costs `penalty`, once, however it is broken."""
    return replace(constraint, penalty=penalty)


def natural(name: str, value: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 0:
        raise InputError(f"{name} is {value!r}: expected an integer, 0 or more.")
    return int(value)


def knows_positions(constraint: Constraint) -> bool:
    """Whether the machine of a constraint depends on the number of tokens."""
    if constraint.kind in COMBINED:
        return any(isinstance(part, Constraint) and knows_positions(part) for part in constraint.arguments)
    return constraint.kind in POSITIONAL
