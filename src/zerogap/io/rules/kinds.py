"""An entry of a constraint file is one kind of constraint (a key of `KINDS`), and perhaps a penalty and a name.

What a kind takes is given in order, as a list, or by name. A `Spot` knows where a value stands, so that errors name it.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from typing import Any

from zerogap.errors import AlphabetMismatch, FormatError, InputError
from zerogap.io.formats.marked import KeyPath
from zerogap.io.formats.openfst import read_openfst
from zerogap.problems.json_values import shorten
from zerogap.problems.sequence import constraints as sequence
from zerogap.problems.sequence.compiling import compiled
from zerogap.problems.sequence.constraints import Constraint
from zerogap.problems.sequence.labels import Label, members

OPTIONS = ("penalty", "name")
SYNONYMS = {"labels": "label"}
MOST_SEGMENTS = 1_000  # a machine has a state or two for each
DEEPEST = 50  # constraints within constraints


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a value stands, for errors: in a file by its line, in a Python value by its keys."""

    locate: Callable[[KeyPath], str]
    path: KeyPath = ()
    labels: tuple[Label, ...] | None = None  # what constraints may speak of, if it is known
    depth: int = 0

    def below(self, *keys: str | int) -> Spot:
        return Spot(self.locate, self.path + keys, self.labels, self.depth)

    def inside(self, *keys: str | int) -> Spot:
        return Spot(self.locate, self.path + keys, self.labels, self.depth + 1)

    @property
    def name(self) -> str:
        """The last key, and the places in the list below it."""
        last = max((i for i, key in enumerate(self.path) if isinstance(key, str)), default=0)
        return "".join(f"[{key}]" if isinstance(key, int) else key for key in self.path[last:])

    def refused(self, message: str) -> FormatError:
        return FormatError(f"{self.locate(self.path)}: {message}")


def read_entries(value: Any, spot: Spot) -> tuple[Constraint, ...]:
    if not isinstance(value, list):
        raise spot.refused(f"the constraints are {described(value)}: expected a list, with an entry for each.")
    return tuple(constraint for i, entry in enumerate(value) for constraint in read_entry(entry, spot.below(i)))


def read_entry(value: Any, spot: Spot) -> tuple[Constraint, ...]:
    """The constraint of an entry; several if it names several labels of which each has its own."""
    if not isinstance(value, dict):
        raise spot.refused(f"the entry is {described(value)}: expected a kind and what it takes, such as no_duplicate: author.")
    if spot.depth > DEEPEST:
        raise spot.refused(f"constraints are nested more than {DEEPEST} deep.")
    for key in value:
        if key not in KINDS and key not in OPTIONS:
            known = (*KINDS, *OPTIONS)
            raise spot.below(key).refused(f"the key {key!r} is not known.{nearest(key, known)} Known: {', '.join(known)}.")
    kinds = [key for key in value if key in KINDS]
    if len(kinds) != 1:
        given = " and ".join(map(repr, kinds)) or "no kind"
        at = spot.below(kinds[1]) if kinds else spot
        raise at.refused(f"the entry has {given}: expected one of {', '.join(KINDS)}, and a new entry for the next.")
    below = spot.below(kinds[0])
    with placed(below):
        found = KINDS[kinds[0]](value[kinds[0]], below)
        if spot.labels is not None:
            for constraint in found:
                check_labels(constraint, spot.labels)
    return with_options(found, value, spot)


def with_options(found: tuple[Constraint, ...], value: dict[str, Any], spot: Spot) -> tuple[Constraint, ...]:
    if "penalty" in value:
        if spot.depth:
            raise spot.below("penalty").refused("penalty stands inside another constraint: expected it beside the outermost kind.")
        with placed(spot.below("penalty")):
            found = tuple(sequence.soft(constraint, value["penalty"]) for constraint in found)
    if "name" in value:
        title = value["name"]
        if not isinstance(title, str) or not title.strip():
            raise spot.below("name").refused(f"name is {described(title)}: expected a text; put quotes around it.")
        one = len(found) == 1
        found = tuple(constraint.called(title if one else f"{title} ({constraint.arguments[0]})") for constraint in found)
    return found


@contextmanager
def placed(spot: Spot) -> Iterator[None]:
    """Errors of the body say where."""
    try:
        yield
    except FormatError:
        raise
    except AlphabetMismatch as error:
        raise AlphabetMismatch(f"{spot.locate(spot.path)}: {error}") from None
    except InputError as error:
        raise spot.refused(str(error)) from None


def check_labels(constraint: Constraint, labels: Sequence[Label]) -> None:
    """AlphabetMismatch or another InputError if a constraint names what is not among the labels, whatever sequence it is for."""
    names = tuple(labels)
    if constraint.kind in sequence.COMBINED:
        for part in constraint.arguments:
            check_labels(part, names)
    elif constraint.kind == "at":
        members(names, constraint.arguments[1])
    elif constraint.kind not in sequence.POSITIONAL:
        compiled(constraint, names, 0)


def nearest(key: Any, known: Sequence[str]) -> str:
    close = difflib.get_close_matches(str(key), known, n=1, cutoff=0.5)
    return f" Did you mean {close[0]!r}?" if close else ""


def described(value: Any) -> str:
    if value is None:
        return "empty"
    return "a table" if isinstance(value, dict) else "a list" if isinstance(value, list) else shorten(value)


def parameters(value: Any, spot: Spot, *names: str) -> list[tuple[Any, Spot]]:
    """What a kind takes, in the order of the names: from a list in that order, or from a table with these keys."""
    wanted = f"[{', '.join(names)}] or {{{', '.join(f'{name}: ...' for name in names)}}}"
    if isinstance(value, list):
        if len(value) != len(names):
            raise spot.refused(f"{spot.name} has {len(value)} {'entry' if len(value) == 1 else 'entries'}: expected {wanted}.")
        return [(part, spot.below(i)) for i, part in enumerate(value)]
    if not isinstance(value, dict):
        raise spot.refused(f"{spot.name} is {described(value)}: expected {wanted}.")
    found = {}
    for key, part in value.items():
        name = SYNONYMS.get(key, key)
        if name not in names:
            raise spot.below(key).refused(f"the key {key!r} is not known for {spot.name}.{nearest(key, names)} Known: {', '.join(names)}.")
        if name in found:
            raise spot.below(key).refused(f"'label' and 'labels' are both there for {spot.name}: expected one of them.")
        found[name] = (part, spot.below(key))
    for name in names:
        if name not in found:
            raise spot.refused(f"{spot.name} has no {name!r}: expected {wanted}.")
    return [found[name] for name in names]


def read_label(value: Any, spot: Spot) -> Label:
    if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
        raise spot.refused(
            f"{spot.name} is {described(value)}: expected a label or field; put quotes around a name that looks like something else."
        )
    return value


def read_labels(value: Any, spot: Spot, *, least: int = 1) -> tuple[Label, ...]:
    """One label, or a list of them."""
    if not isinstance(value, list):
        return (read_label(value, spot),)
    if len(value) < least:
        raise spot.refused(f"{spot.name} is an empty list: expected labels or fields.")
    return tuple(read_label(part, spot.below(i)) for i, part in enumerate(value))


def read_each(make: Callable[[Label], Constraint]) -> Callable[[Any, Spot], tuple[Constraint, ...]]:
    return lambda value, spot: tuple(make(label) for label in read_labels(value, spot))


def read_together(make: Callable[..., Constraint], least: int) -> Callable[[Any, Spot], tuple[Constraint, ...]]:
    return lambda value, spot: (make(*read_labels(value, spot, least=least)),)


def read_count(make: Callable[[Label, int], Constraint]) -> Callable[[Any, Spot], tuple[Constraint, ...]]:
    def read(value: Any, spot: Spot) -> tuple[Constraint, ...]:
        (label, label_spot), (k, k_spot) = parameters(value, spot, "label", "k")
        with placed(k_spot):
            if sequence.natural("k", k) > MOST_SEGMENTS:
                raise k_spot.refused(f"k is {k}: expected at most {MOST_SEGMENTS:,}.")
        return tuple(make(one, k) for one in read_labels(label, label_spot))

    return read


def read_pair(make: Callable[[Label, Label], Constraint], *names: str) -> Callable[[Any, Spot], tuple[Constraint, ...]]:
    def read(value: Any, spot: Spot) -> tuple[Constraint, ...]:
        first, second = (read_label(part, below) for part, below in parameters(value, spot, *names))
        return (make(first, second),)

    return read


def read_at(value: Any, spot: Spot) -> tuple[Constraint, ...]:
    (position, _), (labels, labels_spot) = parameters(value, spot, "position", "label")
    return (sequence.at(position, *read_labels(labels, labels_spot, least=0)),)


def read_span(value: Any, spot: Spot) -> tuple[Constraint, ...]:
    (start, _), (end, _) = parameters(value, spot, "start", "end")
    return (sequence.span(start, end),)


def read_spans(value: Any, spot: Spot) -> tuple[Constraint, ...]:
    if not isinstance(value, list):
        raise spot.refused(f"spans is {described(value)}: expected a list such as [[0, 2], [5, 8]].")
    pairs = [[part for part, _ in parameters(pair, spot.below(i), "start", "end")] for i, pair in enumerate(value)]
    return (sequence.spans([(start, end) for start, end in pairs]),)


def read_same_label(value: Any, spot: Spot) -> tuple[Constraint, ...]:
    if not isinstance(value, list):
        raise spot.refused(f"same_label is {described(value)}: expected a list of positions such as [0, 4].")
    return (sequence.same_label(value),)


def read_regex(value: Any, spot: Spot) -> tuple[Constraint, ...]:
    if not isinstance(value, str):
        raise spot.refused(f'regex is {described(value)}: expected a regular expression over labels, such as "author* title .*".')
    return (sequence.regex(value),)


def read_automaton(value: Any, spot: Spot) -> tuple[Constraint, ...]:
    (text, text_spot), (symbols, symbols_spot) = parameters(value, spot, "openfst", "symbols")
    if not isinstance(text, str):
        raise text_spot.refused(f"openfst is {described(text)}: expected the automaton as text, a transition or final state per line.")
    if not isinstance(symbols, list):
        raise symbols_spot.refused(f"symbols is {described(symbols)}: expected the list of all labels.")
    names = [str(label) for label in read_labels(symbols, symbols_spot)]
    try:
        return (sequence.accepted_by(read_openfst(text.splitlines(), symbols=names)),)
    except InputError as error:  # it counts the lines of the automaton
        raise text_spot.refused(f"openfst, {error}") from None


def read_parts(value: Any, spot: Spot) -> list[Constraint]:
    if not isinstance(value, list) or not value:
        given = "an empty list" if value == [] else described(value)
        raise spot.refused(f"{spot.name} is {given}: expected a list of constraints.")
    return [all_of(read_entry(part, spot.inside(i))) for i, part in enumerate(value)]


def all_of(parts: Sequence[Constraint]) -> Constraint:
    return reduce(lambda left, right: left & right, parts)


def read_all_of(value: Any, spot: Spot) -> tuple[Constraint, ...]:
    return (all_of(read_parts(value, spot)),)


def read_any_of(value: Any, spot: Spot) -> tuple[Constraint, ...]:
    return (reduce(lambda left, right: left | right, read_parts(value, spot)),)


def read_not(value: Any, spot: Spot) -> tuple[Constraint, ...]:
    return (~all_of(read_entry(value, spot.inside())),)


KINDS: dict[str, Callable[[Any, Spot], tuple[Constraint, ...]]] = {
    "no_duplicate": read_each(sequence.no_duplicate),
    "at_least_one": read_together(sequence.at_least_one, least=1),
    "at_most": read_count(sequence.at_most),
    "at_least": read_count(sequence.at_least),
    "exactly": read_count(sequence.exactly),
    "precedes": read_pair(sequence.precedes, "first", "second"),
    "follows_only": read_pair(sequence.follows_only, "label", "after"),
    "disallow": read_together(sequence.disallow, least=0),
    "at": read_at,
    "span": read_span,
    "spans": read_spans,
    "same_label": read_same_label,
    "regex": read_regex,
    "accepted_by": read_automaton,
    "all_of": read_all_of,
    "any_of": read_any_of,
    "not": read_not,
}
