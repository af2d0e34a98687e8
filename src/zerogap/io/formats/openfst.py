"""Automata in the text format of OpenFst, as read by `fstcompile --acceptor` and printed by `fstprint`.

    source target label [cost]             a transition
    source target input output [cost]      the same for transducers, accepted when input and output are equal
    state [cost]                           a final state

The first state mentioned is the start. OpenFst minimises costs, zerogap maximises scores: a score is a cost negated, and
Infinity stands for what is not there.
"""

from __future__ import annotations

import math
import os
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from zerogap.errors import AlphabetMismatch, AutomatonError, FormatError
from zerogap.io.formats.lines import read_lines
from zerogap.structures.automaton import DEAD, Automaton, automaton, shown_alphabet

EPSILON = "<eps>"

Lines = str | os.PathLike[str] | Iterable[str]


@dataclass(slots=True)
class Reading:
    """What the lines said so far. States and, without a symbol table, labels are numbered as they are met."""

    ids: Mapping[str, int] | None  # of names, 0 for epsilon
    names_by_id: Mapping[int, str]
    states: dict[int, int] = field(default_factory=dict)
    met: dict[str, None] = field(default_factory=dict)  # labels in order of appearance
    arcs: dict[tuple[int, str], tuple[int, float, int]] = field(default_factory=dict)  # (source, label) -> target, score, line
    final: dict[int, tuple[float, int]] = field(default_factory=dict)  # state -> score, line


def read_openfst(path_or_lines: Lines, *, symbols: Lines | None = None) -> Automaton:
    """A deterministic acceptor from a file, or from its lines.

    `symbols` is an OpenFst symbol table (a file, or lines `name id`) or simply the names of the alphabet in order. With
    it the alphabet is in order of ids and a label may be a name or an id; without it labels are names, in order of
    appearance. Epsilon (`<eps>`, id 0) is rejected. Four fields are a transducer's where some line has five, or where all
    transitions have four and each repeats its label; else the fourth is a cost.
    """
    lines = [(number, line.split()) for number, line in enumerate(lines_of(path_or_lines), start=1) if line.strip()]
    arcs = [fields for _, fields in lines if len(fields) > 2]
    two_labels = any(len(fields) == 5 for fields in arcs) or all(len(fields) == 4 and fields[2] == fields[3] for fields in arcs)
    ids = None if symbols is None else read_symbols(symbols)
    reading = Reading(ids=ids, names_by_id={i: name for name, i in (ids or {}).items()})
    for number, fields in lines:
        if len(fields) > 2:
            read_arc(reading, number, fields, two_labels)
        else:
            read_final(reading, number, fields)
    names = list(reading.met) if ids is None else [name for i, name in sorted(reading.names_by_id.items()) if i != 0]
    position = {name: a for a, name in enumerate(names)}
    n_states = max(len(reading.states), 1)
    following = np.full((n_states, len(names)), DEAD)
    weights = np.zeros((n_states, len(names)))
    final = np.full(n_states, -np.inf)
    for (source, label), (target, score, _) in reading.arcs.items():
        if score > -np.inf:
            following[source, position[label]] = target
            weights[source, position[label]] = score
    for state, (score, _) in reading.final.items():
        final[state] = score
    return automaton(names, following, weights=weights, final=final)


def write_openfst(automaton: Automaton, path: str | os.PathLike[str] | None = None) -> str:
    """The text of an automaton, also written to `path` if given. Costs are written such that they read back exactly.

    Symbols that are not strings go by what they print as. States that neither accept nor have transitions from or to
    them have no line; if the start is one, the language is empty and so is the text. Labels that look like numbers are
    written twice, as for a transducer, so that none is taken for a cost.
    """
    names = [label_name(symbol) for symbol in automaton.alphabet]
    if len(set(names)) < len(names):
        raise AutomatonError(f"alphabet prints as {shown_alphabet(names)}: expected distinct names.")
    repeat = any(number_of(name) is not None for name in names)
    lines: list[str] = []
    for q in sorted(range(automaton.n_states), key=lambda q: (q != automaton.start, q)):
        first = len(lines)
        for a in np.flatnonzero(automaton.following[q] != DEAD).tolist():
            label = f"{names[a]} {names[a]}" if repeat else names[a]
            lines.append(f"{q} {automaton.following[q, a]} {label}{cost_suffix(automaton.weights[q, a])}")
        if automaton.final[q] > -np.inf:
            lines.append(f"{q}{cost_suffix(automaton.final[q])}")
        if q == automaton.start and len(lines) == first:
            break
    text = "".join(line + "\n" for line in lines)
    if path is not None:
        Path(path).write_text(text, encoding="utf-8")
    return text


def write_symbols(automaton: Automaton, path: str | os.PathLike[str] | None = None) -> str:
    """The symbol table that goes with `write_openfst`: `<eps> 0`, then the alphabet from 1 on."""
    names = [EPSILON, *(label_name(symbol) for symbol in automaton.alphabet)]
    text = "".join(f"{name} {i}\n" for i, name in enumerate(names))
    if path is not None:
        Path(path).write_text(text, encoding="utf-8")
    return text


def lines_of(source: Lines) -> list[str]:
    if isinstance(source, str | os.PathLike):
        return [text for _, text in read_lines(source)]
    return list(source)


def read_symbols(symbols: Lines) -> dict[str, int]:
    """Name -> id. Lines of one field are the alphabet itself, numbered from 1."""
    table, ids = dict[str, int](), set[int]()
    lines = [(number, line.split()) for number, line in enumerate(lines_of(symbols), start=1) if line.strip()]
    bare = all(len(fields) == 1 for _, fields in lines)
    for number, fields in lines:
        if bare:
            name, i = fields[0], len(table) + 1
        elif len(fields) != 2 or not is_natural(fields[1]):
            raise FormatError(f"symbols, line {number}: {' '.join(fields)!r} is not a name and an id.")
        else:
            name, i = fields[0], int(fields[1])
        if name in table or i in ids:
            raise FormatError(f"symbols, line {number}: {name!r} or id {i} stands there twice.")
        table[name] = i
        ids.add(i)
    return table


def read_arc(reading: Reading, number: int, fields: list[str], two_labels: bool) -> None:
    n_labels = 2 if two_labels else 1
    if not n_labels + 2 <= len(fields) <= n_labels + 3:
        expected = "source, target, input, output and perhaps a cost" if two_labels else "source, target, label and perhaps a cost"
        raise FormatError(f"line {number}: {len(fields)} fields, expected {expected}.")
    if two_labels and fields[2] != fields[3]:
        raise FormatError(f"line {number}: input {fields[2]!r} and output {fields[3]!r} differ. A transducer is not an acceptor.")
    source, target = read_state(reading, number, fields[0]), read_state(reading, number, fields[1])
    label = read_label(reading, number, fields[2])
    score = read_score(number, fields[n_labels + 2]) if len(fields) == n_labels + 3 else 0.0
    if (source, label) in reading.arcs:
        before = reading.arcs[source, label][2]
        raise AutomatonError(
            f"line {number}: state {fields[0]} has a transition on {label!r} already in line {before}. A deterministic automaton has one:"
            " use fstdeterminize."
        )
    reading.arcs[source, label] = target, score, number


def read_final(reading: Reading, number: int, fields: list[str]) -> None:
    state = read_state(reading, number, fields[0])
    if state in reading.final:
        raise FormatError(f"line {number}: state {fields[0]} is final already in line {reading.final[state][1]}.")
    reading.final[state] = (read_score(number, fields[1]) if len(fields) == 2 else 0.0), number


def read_state(reading: Reading, number: int, text: str) -> int:
    if not is_natural(text):
        raise FormatError(f"line {number}: {text!r} is not a state: expected a number from 0 on.")
    return reading.states.setdefault(int(text), len(reading.states))


def read_label(reading: Reading, number: int, text: str) -> str:
    """The name of a label. With a symbol table, a number that is no name is an id."""
    name: str | None = text
    if reading.ids is not None and text not in reading.ids:
        name = reading.names_by_id.get(int(text), EPSILON if int(text) == 0 else None) if is_natural(text) else None
    if name == EPSILON or (reading.ids is not None and name is not None and reading.ids[name] == 0):
        raise FormatError(f"line {number}: label {text!r} is epsilon, expected a symbol at every step: use fstrmepsilon.")
    if name is None:
        known = shown_alphabet(list(reading.ids or ()))
        raise AlphabetMismatch(f"line {number}: label {text!r} is not in symbols: expected one of {known}.")
    reading.met[name] = None
    return name


def read_score(number: int, text: str) -> float:
    cost = number_of(text)
    if cost is None or math.isnan(cost) or cost == -math.inf:
        raise FormatError(f"line {number}: {text!r} is not a cost: expected a number, or Infinity for none.")
    return -cost + 0.0


def is_natural(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 19


def number_of(text: str) -> float | None:
    try:
        return None if "_" in text else float(text)  # Python would take 1_000 for a number
    except ValueError:
        return None


def cost_suffix(score: float) -> str:
    return f" {-float(score)!r}" if score != 0 else ""


def label_name(symbol: Hashable) -> str:
    name = str(symbol)
    if name != "".join(name.split()) or not name or name == EPSILON:
        raise AutomatonError(f"symbol {symbol!r}: OpenFst names are not empty, hold no white space and are not {EPSILON}.")
    return name
