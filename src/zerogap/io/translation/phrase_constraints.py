"""Constraints on a translation by phrases as JSON.

    {"required": [["the", "house"]], "forbidden": [["cottage"]], "zones": [[0, 2, false]], "walls": [[3, 0, null]],
     "fixed": [[0, 2, [["the", "house"]], [-1.5], true]]}

A zone has its start, its end and whether it is monotone; a wall its place and the words among which it stands; a fixed translation its
start and end, its targets, their scores, and whether no other phrase may touch its words.
"""

from __future__ import annotations

from typing import Any

from zerogap.errors import FormatError
from zerogap.problems.json_values import expect, number_to_json, numbers_from_json, shorten
from zerogap.problems.translation.phrase_constraints import Constraints, Fixed, Wall, Words, Zone

FIELDS = ("required", "forbidden", "fixed", "zones", "walls")


def constraints_to_json(constraints: Constraints) -> dict[str, Any]:
    """Only what there is."""
    values: dict[str, list[Any]] = {
        "required": [list(phrase) for phrase in constraints.required],
        "forbidden": [list(phrase) for phrase in constraints.forbidden],
        "fixed": [
            [part.start, part.end, [list(target) for target in part.targets], [number_to_json(s) for s in part.scores], part.exclusive]
            for part in constraints.fixed
        ],
        "zones": [[zone.start, zone.end, zone.monotone] for zone in constraints.zones],
        "walls": [[wall.at, wall.start, wall.end] for wall in constraints.walls],
    }
    return {name: rows for name, rows in values.items() if rows}


def constraints_from_json(value: Any, where: str) -> Constraints:
    given = expect(value, dict, where)
    for name in given:
        if name not in FIELDS:
            raise FormatError(f"{where} has the field {name!r}: expected {', '.join(FIELDS)}.")

    def rows(name: str, size: int | None = None) -> list[tuple[Any, str]]:
        listed = expect(given.get(name, []), list, f"{where}.{name}")
        spots = [(expect(row, list, f"{where}.{name}[{i}]"), f"{where}.{name}[{i}]") for i, row in enumerate(listed)]
        for row, spot in spots:
            if size is not None and len(row) != size:
                raise FormatError(f"{spot} is {shorten(row)}: expected {size} entries.")
        return spots

    def phrases(name: str) -> tuple[Words, ...]:
        return tuple(words_of(row, spot) for row, spot in rows(name))

    fixed = []
    for row, spot in rows("fixed", 5):
        targets = tuple(words_of(target, f"{spot}[2][{i}]") for i, target in enumerate(expect(row[2], list, f"{spot}[2]")))
        scores = numbers_from_json(row[3], f"{spot}[3]")
        fixed.append(Fixed(expect(row[0], int, spot), expect(row[1], int, spot), targets, scores, expect(row[4], bool, spot)))
    zones = [Zone(expect(row[0], int, spot), expect(row[1], int, spot), expect(row[2], bool, spot)) for row, spot in rows("zones", 3)]
    walls = []
    for row, spot in rows("walls", 3):
        end = None if row[2] is None else expect(row[2], int, spot)
        walls.append(Wall(expect(row[0], int, spot), expect(row[1], int, spot), end))
    return Constraints(phrases("required"), phrases("forbidden"), tuple(fixed), tuple(zones), tuple(walls))


def words_of(value: Any, where: str) -> Words:
    return tuple(expect(word, str, f"{where}[{i}]") for i, word in enumerate(expect(value, list, where)))
