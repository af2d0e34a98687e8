"""Constraints compiled to machines: one automaton for every constraint and label set.

The result is kept for the next problem with the same labels, in `build`. Constraints that speak of positions are built for a number of
tokens; their tables are kept as well.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from zerogap.errors import AlphabetMismatch, AutomatonError, InputError, UnknownMethod
from zerogap.problems.sequence.constraints import Constraint, knows_positions
from zerogap.problems.sequence.labels import Label, Segmenter, members, segmenter
from zerogap.problems.sequence.machine import Count, Machine, check_states, combine
from zerogap.problems.sequence.regex import compile_regex
from zerogap.structures.automaton import DEAD, Automaton


def bind(constraints: Sequence[Constraint], labels: tuple[Label, ...], n: int) -> tuple[Machine, ...]:
    """The machines of all constraints of a problem."""
    for i, constraint in enumerate(constraints):
        if not isinstance(constraint, Constraint):
            raise InputError(f"constraints[{i}] is {constraint!r}: expected a constraint such as no_duplicate('AUTHOR').")
    return tuple(compiled(constraint, labels, n) for constraint in constraints)


def compiled(constraint: Constraint, labels: tuple[Label, ...], n: int) -> Machine:
    """The machine of a constraint over these labels for n tokens."""
    if constraint.kind not in BUILDERS:
        raise UnknownMethod("constraint kind", constraint.kind, BUILDERS)
    return build(constraint.kind, constraint.arguments, labels, n if knows_positions(constraint) else None)


@lru_cache(maxsize=16384)
def build(kind: str, arguments: tuple[Any, ...], labels: tuple[Label, ...], n: int | None) -> Machine:
    return BUILDERS[kind](labels, n, *arguments)


def count_segments(labels: tuple[Label, ...], label: Label, low: int, high: float) -> Machine:
    """States count segments up to what matters, and remember whether one is open."""
    field = segmenter(labels, label)
    most = low if high == math.inf else int(high)
    check_states(2 * most + 1)
    states = [(0, False)] + [(c, is_open) for c in range(1, most + 1) for is_open in (True, False)]
    number = {state: i for i, state in enumerate(states)}
    following = np.empty((1, len(states), len(labels)), dtype=np.int32)
    for (c, is_open), q in number.items():
        for a in range(len(labels)):
            begins = field.inside[a] and (field.begins[a] or not is_open)
            stays_open = field.inside[a] and not field.ends[a]
            total = c + begins
            if total > most:
                following[0, q, a] = DEAD if high < math.inf else number.get((most, stays_open), 0)
            else:
                following[0, q, a] = number[total, stays_open] if total else 0
    final = np.array([low <= c <= high for c, _ in states])
    return Machine(following, final, count=Count(segment_starts(field), float(low), float(high)))


def segment_starts(field: Segmenter) -> np.ndarray[Any, np.dtype[np.float64]]:
    """1 where a label after another begins a segment; the last row is for the first token."""
    inside, begins = np.array(field.inside), np.array(field.begins)
    is_open = np.append(inside & ~np.array(field.ends), False)
    return (inside & (begins | ~is_open[:, None])).astype(np.float64)


def build_at_least_one(labels: tuple[Label, ...], n: int | None, *names: Label) -> Machine:
    chosen = np.array(members(labels, names))
    following = np.stack([chosen.astype(np.int32), np.ones(len(labels), dtype=np.int32)])[None]
    step = np.tile(chosen.astype(np.float64), (len(labels) + 1, 1))
    return Machine(following, np.array([False, True]), count=Count(step, 1.0, math.inf))


def build_precedes(labels: tuple[Label, ...], n: int | None, first: Label, second: Label) -> Machine:
    early, late = np.array(members(labels, (first,))), np.array(members(labels, (second,)))
    if (early & late).any():
        raise InputError(f"precedes({first}, {second}) speaks of the same labels twice: expected different ones.")
    after = np.where(early, DEAD, 1)
    return Machine(np.stack([late.astype(np.int64), after]).astype(np.int32)[None], np.array([True, True]))


def build_follows_only(labels: tuple[Label, ...], n: int | None, label: Label, after: Label) -> Machine:
    field, before = segmenter(labels, label), members(labels, (after,))
    following = np.empty((1, 3, len(labels)), dtype=np.int32)  # states: nothing, after a token of `after`, an open segment
    for q in range(3):
        for a in range(len(labels)):
            begins = field.inside[a] and (field.begins[a] or q != 2)
            if begins and q != 1:
                following[0, q, a] = DEAD
            elif field.inside[a] and not field.ends[a]:
                following[0, q, a] = 2
            else:
                following[0, q, a] = 1 if before[a] else 0
    return Machine(following, np.ones(3, dtype=np.bool_))


def build_disallow(labels: tuple[Label, ...], n: int | None, *names: Label) -> Machine:
    return Machine(np.where(members(labels, names), DEAD, 0).astype(np.int32)[None, None], np.array([True]))


def build_at(labels: tuple[Label, ...], n: int, position: int, names: tuple[Label, ...]) -> Machine:
    check_position("at", position, n)
    table_of = np.zeros(n, dtype=np.int32)
    table_of[position] = 1
    return tables_of_at(labels, names).placed(table_of)


@lru_cache(maxsize=4096)
def tables_of_at(labels: tuple[Label, ...], names: tuple[Label, ...]) -> Machine:
    tables = np.zeros((2, 1, len(labels)), dtype=np.int32)
    tables[1, 0] = np.where(members(labels, names), 0, DEAD)
    return Machine(tables, np.array([True]))


@lru_cache(maxsize=1024)
def types_of(labels: tuple[Label, ...]) -> np.ndarray[Any, np.dtype[np.int64]]:
    """A number from 1 for the label, or for the field in a BIO or BIOES scheme."""
    names = [label[2:] if isinstance(label, str) and label[1:2] == "-" and label[0] in "BIES" else label for label in labels]
    order = {name: i + 1 for i, name in enumerate(dict.fromkeys(names))}
    return np.array([order[name] for name in names], dtype=np.int64)


def build_spans(labels: tuple[Label, ...], n: int, *candidates: tuple[int, int]) -> Machine:
    table_of = np.zeros(n, dtype=np.int32)
    for start, end in candidates:
        check_position("spans", end - 1, n)
        table_of[start:end] = 2
        table_of[start] = 1
    return tables_of_spans(labels).placed(table_of)


@lru_cache(maxsize=1024)
def tables_of_spans(labels: tuple[Label, ...]) -> Machine:
    """The state inside a span is the type of its first label."""
    kinds = types_of(labels)
    n_states = int(kinds.max()) + 1
    outside, first = np.zeros((n_states, len(labels))), np.tile(kinds, (n_states, 1))
    inside = np.where(kinds == np.arange(n_states)[:, None], kinds, DEAD)
    return Machine(np.stack([outside, first, inside]).astype(np.int32), np.ones(n_states, dtype=np.bool_))


def build_same_label(labels: tuple[Label, ...], n: int, *positions: int) -> Machine:
    table_of = np.zeros(n, dtype=np.int32)
    for position in positions:
        check_position("same_label", position, n)
        table_of[position] = 1
    return tables_of_same_label(labels).placed(table_of)


@lru_cache(maxsize=1024)
def tables_of_same_label(labels: tuple[Label, ...]) -> Machine:
    """The state is the type that was read first, 0 before."""
    kinds = types_of(labels)
    states = np.arange(int(kinds.max()) + 1)[:, None]
    free = np.tile(states, (1, len(labels)))
    read = np.where(states == 0, kinds, np.where(states == kinds, kinds, DEAD))
    return Machine(np.stack([free, read]).astype(np.int32), np.ones(len(states), dtype=np.bool_))


def check_position(kind: str, position: int, n: int) -> None:
    if position >= n:
        raise InputError(f"{kind} speaks of position {position}: expected 0 to {n - 1}, there are {n} tokens.")


def build_regex(labels: tuple[Label, ...], n: int | None, pattern: str) -> Machine:
    fields: dict[str, list[Label]] = {}
    for label in labels:
        if isinstance(label, str) and label[1:2] == "-" and label[0] in "BIES":
            fields.setdefault(label[2:], []).append(label)
    return of_automaton(compile_regex(pattern, labels, classes={name: f for name, f in fields.items() if name not in labels}), labels)


def build_accepted_by(labels: tuple[Label, ...], n: int | None, automaton: Automaton) -> Machine:
    if automaton.is_weighted:
        raise AutomatonError("the automaton of a constraint is weighted: expected an unweighted one; soft() gives it a penalty.")
    return of_automaton(automaton, labels)


def of_automaton(automaton: Automaton, labels: tuple[Label, ...]) -> Machine:
    """The automaton with its start first and its symbols in the order of the labels."""
    if set(automaton.alphabet) != set(labels):
        odd = next(iter(set(automaton.alphabet) ^ set(labels)))
        raise AlphabetMismatch(f"the automaton and the problem do not have the same labels: {odd!r} is in one of them only.")
    columns = [automaton.alphabet.index(label) for label in labels]
    order = np.concatenate([[automaton.start], np.delete(np.arange(automaton.n_states), automaton.start)])
    number = np.append(np.argsort(order), DEAD)
    following = number[automaton.following[order][:, columns]].astype(np.int32)
    return Machine(np.ascontiguousarray(following[None]), automaton.final[order] > -np.inf)


def build_combined(accept: Callable[[bool, bool], bool]) -> Callable[..., Machine]:
    def builder(labels: tuple[Label, ...], n: int | None, left: Constraint, right: Constraint) -> Machine:
        size = 0 if n is None else n
        return combine(compiled(left, labels, size), compiled(right, labels, size), accept)

    return builder


def build_not(labels: tuple[Label, ...], n: int | None, constraint: Constraint) -> Machine:
    machine = compiled(constraint, labels, 0 if n is None else n)
    return combine(machine, machine, lambda accepted, _: not accepted)


BUILDERS: dict[str, Callable[..., Machine]] = {
    "no_duplicate": lambda labels, n, label: count_segments(labels, label, 0, 1),
    "at_least_one": build_at_least_one,
    "at_most": lambda labels, n, label, k: count_segments(labels, label, 0, k),
    "at_least": lambda labels, n, label, k: count_segments(labels, label, k, math.inf),
    "exactly": lambda labels, n, label, k: count_segments(labels, label, k, k),
    "precedes": build_precedes,
    "follows_only": build_follows_only,
    "disallow": build_disallow,
    "at": build_at,
    "spans": build_spans,
    "same_label": build_same_label,
    "regex": build_regex,
    "accepted_by": build_accepted_by,
    "and": build_combined(lambda a, b: a and b),
    "or": build_combined(lambda a, b: a or b),
    "not": build_not,
}
