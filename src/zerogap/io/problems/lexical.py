"""Problems of parsing with heads as JSON, exactly: alone, or with a dependency parser, a tagger or both.

    {"kind": "lexical", "symbols": ["S", ...], "root": "S", "rules": [["S", "NP", "VP", 1], ...], "chains": [["NP", "NP<-", -1], ...],
     "classes": [0, -1, ...], "positions": [0, 1, 1, ...], "tags": ["DT", ...], "verbs": [false, ...],
     "binary": TABLE, "unary": TABLE, "words": TABLE, "roots": TABLE}
    {"kind": "agreement", ..., "arcs": TABLE, "siblings": TABLE, "stops": TABLE,
     "tagging": {"tag_of": [0, ...], "emissions": TABLE, "transitions": TABLE}}

A binary rule ends with the side of the head (0 the left child, 1 the right one), a unary one with the edge of the span that counts (-1 for
none). Scores repeat a lot, so that a table is {"shape": [2, 3], "values": [different scores], "places": [one for every entry, in order]}.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zerogap.errors import FormatError, InputError
from zerogap.grid import Scores
from zerogap.problems.constituency.lexical import LexicalGrammar, LexicalProblem
from zerogap.problems.constituency.lexical_agreement import LexicalAgreement, TagScores
from zerogap.problems.json_values import expect, field, number_to_json, numbers_from_json, only_keys

TABLES = ("binary", "unary", "words", "roots")
LEXICAL_KEYS = {"symbols", "root", "rules", "chains", "classes", "positions", "tags", "verbs", *TABLES}
AGREEMENT_KEYS = {*LEXICAL_KEYS, "arcs", "siblings", "stops", "tagging"}
LARGEST = 2**28  # entries of a table
MOST_AXES = 16


def table_to_json(table: Scores) -> dict[str, Any]:
    values, places = np.unique(table, return_inverse=True)
    return {"shape": list(table.shape), "values": [number_to_json(v) for v in values.tolist()], "places": places.reshape(-1).tolist()}


def table_from_json(value: Any, where: str) -> Scores:
    """Shapes are checked by the problem."""
    only_keys(expect(value, dict, where), ("shape", "values", "places"), where)
    shape = integers(field(value, "shape", where), f"{where}.shape")
    values = np.array(numbers_from_json(field(value, "values", where), f"{where}.values"), dtype=np.float64)
    places = np.array(integers(field(value, "places", where), f"{where}.places"), dtype=np.int64)
    if len(shape) > MOST_AXES or math.prod(map(abs, filter(None, shape))) > LARGEST:
        raise FormatError(
            f"{where}.shape has {len(shape)} axes, {shape[:MOST_AXES]}: expected at most {MOST_AXES}, of {LARGEST:,} entries together."
        )
    if min(shape, default=0) < 0 or math.prod(shape) != len(places):
        raise FormatError(f"{where}.places has {len(places)} entries: expected {' x '.join(map(str, shape))}, as many as the shape has.")
    if places.size and not 0 <= places.min() <= places.max() < len(values):
        raise FormatError(f"{where}.places has entries from {places.min()} to {places.max()}: expected 0 to {len(values) - 1}.")
    return np.asarray(values[places].reshape(shape)) if places.size else np.zeros(shape)


def integers(value: Any, where: str) -> list[int]:
    found = [expect(entry, int, f"{where}[{i}]") for i, entry in enumerate(expect(value, list, where))]
    if any(abs(entry) >= 2**31 for entry in found):
        raise FormatError(f"{where} has a number beyond 2^31: expected smaller ones.")
    return found


def write_lexical(problem: LexicalProblem) -> dict[str, Any]:
    grammar = problem.grammar
    names = grammar.symbols
    return {
        "symbols": list(names),
        "root": names[grammar.root],
        "rules": [
            [*(names[s] for s in rule), side] for rule, side in zip(grammar.binary.tolist(), grammar.head_side.tolist(), strict=True)
        ],
        "chains": [
            [*(names[s] for s in rule), edge] for rule, edge in zip(grammar.unary.tolist(), grammar.unary_edge.tolist(), strict=True)
        ],
        "classes": grammar.classes.tolist(),
        "positions": problem.positions.tolist(),
        "tags": [names[tag] for tag in problem.tags.tolist()],
        "verbs": problem.verbs.tolist(),
        **{name: table_to_json(getattr(problem, name)) for name in TABLES},
    }


def read_lexical(value: dict[str, Any], where: str, resolution: float | None) -> LexicalProblem:
    names = [
        expect(s, str, f"{where}.symbols[{i}]") for i, s in enumerate(expect(field(value, "symbols", where), list, f"{where}.symbols"))
    ]
    number = {name: i for i, name in enumerate(names)}

    def symbol(name: Any, spot: str) -> int:
        if not isinstance(name, str) or name not in number:
            raise FormatError(f"{spot} has the symbol {name!r}: expected one of {where}.symbols.")
        return number[name]

    def rows(key: str, width: int) -> NDArray[np.int64]:
        """Symbols, then a number."""
        found = []
        for i, row in enumerate(expect(field(value, key, where), list, f"{where}.{key}")):
            spot = f"{where}.{key}[{i}]"
            if len(expect(row, list, spot)) != width + 1:
                raise FormatError(f"{spot} has {len(row)} entries: expected {width} symbols and a number.")
            found.append([*(symbol(name, spot) for name in row[:-1]), *integers(row[-1:], spot)])
        return np.array(found, dtype=np.int64).reshape(-1, width + 1)

    two, one = rows("rules", 3), rows("chains", 2)
    tags = expect(field(value, "tags", where), list, f"{where}.tags")
    verbs = expect(field(value, "verbs", where), list, f"{where}.verbs")
    grammar = LexicalGrammar(
        tuple(names), symbol(field(value, "root", where), f"{where}.root"), two[:, :3].copy(), two[:, 3].copy(), one[:, :2].copy(),
        one[:, 2].copy(), np.array(integers(field(value, "classes", where), f"{where}.classes"), dtype=np.int64),
    )  # fmt: skip
    return LexicalProblem(
        grammar, positions=integers(field(value, "positions", where), f"{where}.positions"),
        tags=[symbol(tag, f"{where}.tags[{i}]") for i, tag in enumerate(tags)],
        verbs=[expect(verb, bool, f"{where}.verbs[{i}]") for i, verb in enumerate(verbs)],
        **{name: table_from_json(field(value, name, where), f"{where}.{name}") for name in TABLES}, resolution=resolution,
    )  # fmt: skip


def write_agreement(problem: LexicalAgreement) -> dict[str, Any]:
    found = write_lexical(problem.lexical) | {name: table_to_json(getattr(problem, name)) for name in ("arcs", "siblings", "stops")}
    tagging = problem.tagging
    if tagging is not None:
        found["tagging"] = {
            "tag_of": tagging.tag_of.tolist(),
            "emissions": table_to_json(tagging.emissions),
            "transitions": table_to_json(tagging.transitions),
        }
    return found


def read_agreement(value: dict[str, Any], where: str, resolution: float | None) -> LexicalAgreement:
    if resolution is None:
        raise InputError(f"{where} has no resolution: expected the grid that its scores lie on.")
    given: dict[str, Any] = {
        name: table_from_json(value[name], f"{where}.{name}") for name in ("arcs", "siblings", "stops") if value.get(name) is not None
    }
    if value.get("tagging") is not None:
        spot = f"{where}.tagging"
        of_tags = expect(value["tagging"], dict, spot)
        only_keys(of_tags, ("tag_of", "emissions", "transitions"), spot)
        given["tagging"] = TagScores(
            np.array(integers(field(of_tags, "tag_of", spot), f"{spot}.tag_of"), dtype=np.int64),
            table_from_json(field(of_tags, "emissions", spot), f"{spot}.emissions"),
            table_from_json(field(of_tags, "transitions", spot), f"{spot}.transitions"),
        )
    return LexicalAgreement(read_lexical(value, where, resolution), **given)
