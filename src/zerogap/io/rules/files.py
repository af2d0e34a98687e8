"""Constraints as people write them: YAML or TOML files, and the same words as plain Python values.

    constraints:
      - no_duplicate: [author, title]     # a constraint for each
      - precedes: [author, title]
        penalty: 2.0                      # may be broken at this price
        name: authors first

An entry has one kind (a key of `KINDS`) and may have a `penalty` and a `name`. What a kind takes is given in order, as a list, or by name.
docs/constraint-files.md is the reference. `io/formats/marked.py` reads the files and knows the lines.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

from zerogap.errors import FormatError, InputError
from zerogap.io.formats.lines import writing
from zerogap.io.formats.marked import KeyPath, read_toml, read_yaml, toml_value, yaml_value
from zerogap.io.formats.openfst import write_openfst
from zerogap.io.rules.kinds import KINDS, Spot, described, nearest, read_entries
from zerogap.problems.sequence import constraints as sequence
from zerogap.problems.sequence.constraints import Constraint
from zerogap.problems.sequence.labels import Label

READERS = {".yaml": read_yaml, ".yml": read_yaml, ".toml": read_toml}
TOP = ("constraints", "constraint")


def load_constraints(path: str | os.PathLike[str], *, labels: Sequence[Label] | None = None) -> tuple[Constraint, ...]:
    """The constraints in a .yaml, .yml or .toml file. With `labels`, names that are neither a label nor a field are errors at once.

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "rules.yaml"
    >>> _ = path.write_text("constraints:\\n  - no_duplicate: [author, title]\\n  - precedes: [author, title]\\n    penalty: 2.0\\n")
    >>> [constraint.name for constraint in load_constraints(path)]
    ['no_duplicate(author)', 'no_duplicate(title)', 'soft(precedes(author, title), 2)']
    """
    name = os.fspath(path)
    value, lines = reader_of(name)(path)

    def locate(keys: KeyPath) -> str:
        known = next(keys[:end] for end in range(len(keys), -1, -1) if keys[:end] in lines or not end)
        return f"{name}, line {lines.get(known, 1)}"

    top = Spot(locate, (), None if labels is None else tuple(labels))
    if value is None:
        raise FormatError(f"{name} is empty: expected 'constraints' and a list of them.")
    if not isinstance(value, dict):
        raise top.refused(f"the file is {described(value)}: expected the key 'constraints' above a list of constraints.")
    for key in value:
        if key not in TOP:
            close = " A constraint is an entry of the list below 'constraints'." if key in KINDS else nearest(key, TOP)
            raise top.below(key).refused(f"the key {key!r} is not known here.{close} Known: constraints.")
    if len(value) != 1:
        raise top.refused("'constraint' and 'constraints' are both there: expected one of them.")
    key, entries = next(iter(value.items()))
    return () if entries is None else read_entries(entries, top.below(key))


def reader_of(name: str) -> Callable[[str | os.PathLike[str]], tuple[Any, dict[KeyPath, int]]]:
    suffix = os.path.splitext(name)[1].lower()
    if suffix not in READERS:
        raise FormatError(f"{name} does not end in {', '.join(READERS)}: the suffix says how constraints are written.")
    return READERS[suffix]


def constraints_from(value: Any, where: str = "constraints", *, labels: Sequence[Label] | None = None) -> tuple[Constraint, ...]:
    """The constraints in a list of plain Python values, such as JSON gives.

    >>> constraints_from([{"at_most": {"label": "pages", "k": 1}, "penalty": 2.0}])[0].name
    'soft(at_most(pages, 1), 2)'
    """

    def locate(keys: KeyPath) -> str:
        last = max((i for i, key in enumerate(keys) if isinstance(key, str)), default=len(keys))
        return where + "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in keys[:last])

    return read_entries(value, Spot(locate, (), None if labels is None else tuple(labels)))


def save_constraints(constraints: Sequence[Constraint], path: str | os.PathLike[str]) -> None:
    """Writes constraints to a .yaml, .yml or .toml file; `load_constraints` gives the same ones back."""
    name = os.fspath(path)
    reader_of(name)  # refuses other suffixes
    text = toml_text(constraints) if name.lower().endswith(".toml") else yaml_text(constraints)
    with writing(name) as file:
        file.write(text)


def yaml_text(constraints: Sequence[Constraint]) -> str:
    """The text of a YAML file."""
    if not constraints:
        return "constraints: []\n"
    entries = ["\n    ".join(f"{key}: {yaml_value(part)}" for key, part in entry_of(constraint).items()) for constraint in constraints]
    return "constraints:\n" + "".join(f"  - {entry}\n" for entry in entries)


def toml_text(constraints: Sequence[Constraint]) -> str:
    """The text of a TOML file."""
    if not constraints:
        return "constraint = []\n"
    tables = ["".join(f"{key} = {toml_value(part)}\n" for key, part in entry_of(constraint).items()) for constraint in constraints]
    return "\n".join(f"[[constraint]]\n{table}" for table in tables)


def entry_of(constraint: Constraint) -> dict[str, Any]:
    """A constraint as the plain value that reads back as it."""
    key, value = written(constraint)
    entry: dict[str, Any] = {key: value}
    if constraint.penalty is not None:
        entry["penalty"] = constraint.penalty
    if constraint.title:
        entry["name"] = constraint.title
    return entry


def written(constraint: Constraint) -> tuple[str, Any]:
    kind, arguments = constraint.kind, constraint.arguments
    if kind in ("and", "or"):
        return {"and": "all_of", "or": "any_of"}[kind], [entry_of(part) for part in flattened(constraint)]
    if kind == "not":
        return kind, entry_of(arguments[0])
    if kind == "accepted_by":
        return kind, {"symbols": [str(symbol) for symbol in arguments[0].alphabet], "openfst": write_openfst(arguments[0])}
    if kind == "at":
        return kind, {"position": arguments[0], "label": list(arguments[1])}
    if kind == "spans":
        return ("span", list(arguments[0])) if len(arguments) == 1 else (kind, [list(pair) for pair in arguments])
    if kind in ("at_most", "at_least", "exactly"):
        return kind, {"label": arguments[0], "k": arguments[1]}
    if kind == "follows_only":
        return kind, {"label": arguments[0], "after": arguments[1]}
    if kind in ("no_duplicate", "regex"):
        return kind, arguments[0]
    if kind in KINDS:
        return kind, list(arguments)
    raise InputError(f"constraint kind {kind!r} cannot be written: expected one of {', '.join(sequence.ARGUMENTS)}.")


def flattened(constraint: Constraint) -> list[Constraint]:
    """The parts of a & b & c, which is (a & b) & c; a part with a name of its own stays whole."""
    left, right = constraint.arguments
    return [*(flattened(left) if left.kind == constraint.kind and not left.title else [left]), right]
