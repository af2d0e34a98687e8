"""Translation forests as JSON.

    {"format": "zerogap-forest", "version": 1, "root": 1, "vertices": [["X", 0, 1], ["S", 0, 1]],
     "edges": [{"head": 0, "target": ["dog"], "score": -1.5}, {"head": 1, "target": ["the", 0], "score": 0.5}]}

A target side has strings for words and integers for vertices. `vertices`, their names, may be missing. Vertices may come in any order; a
forest with a cycle is rejected, and the error shows it. "-inf" forbids a hyperedge.
"""

from __future__ import annotations

import os
from typing import Any

from zerogap.errors import FormatError, HypergraphError, ScoreError
from zerogap.problems.json_files import check_format, read_json, write_json
from zerogap.problems.json_values import expect, field, number_from_json, number_to_json, shorten
from zerogap.problems.translation.forest import Forest, from_rules, named

FORMAT, VERSION = "zerogap-forest", 1


def forest_to_json(forest: Forest) -> dict[str, Any]:
    """The forest as a JSON object; rules of the grammar are not kept, only their scores."""
    heads = forest.heads.tolist()
    edges = [
        {
            "head": heads[e],
            "target": [forest.words[s] if s >= 0 else -1 - s for s in forest.target(e).tolist()],
            "score": number_to_json(float(forest.scores[e])),
        }
        for e in range(forest.n_edges)
    ]
    value: dict[str, Any] = {"format": FORMAT, "version": VERSION, "root": forest.root}
    if forest.vertex_names is not None:
        value["vertices"] = [list(name) if isinstance(name, tuple) else name for name in forest.vertex_names]
    return {**value, "edges": edges}


def forest_from_json(value: Any, where: str = "forest") -> Forest:
    """The forest in a JSON object; FormatError says what is not one."""
    check_format(value, FORMAT, VERSION, where)
    root = expect(field(value, "root", where), int, f"{where}.root")
    rules: list[tuple[int, list[str | int], float]] = []
    for i, edge in enumerate(expect(field(value, "edges", where), list, f"{where}.edges")):
        here = f"{where}.edges[{i}]"
        head = expect(field(expect(edge, dict, here), "head", here), int, f"{here}.head")
        target = expect(field(edge, "target", here), list, f"{here}.target")
        for k, symbol in enumerate(target):
            if isinstance(symbol, bool) or not isinstance(symbol, str | int):
                raise FormatError(f"{here}.target[{k}] is {shorten(symbol)}: expected a word or the number of a vertex.")
        rules.append((head, target, number_from_json(edge.get("score", 0.0), f"{here}.score")))
    if not rules:
        raise FormatError(f"{where}.edges is empty: expected at least one hyperedge into the root.")
    vertices = [root, *(head for head, _, _ in rules), *(s for _, target, _ in rules for s in target if not isinstance(s, str))]
    if max(vertices) >= len(vertices):  # arrays are as long as the largest number says
        raise FormatError(f"{where} names vertex {max(vertices)}: expected numbers from 0 on, and less than {len(vertices)} here.")
    names = value.get("vertices")
    if names is not None:
        names = [named(name) for name in expect(names, list, f"{where}.vertices")]
    try:
        return from_rules(rules, root=root, vertex_names=names)[0]
    except (HypergraphError, ScoreError) as error:
        raise type(error)(f"{where}: {error}") from None


def read_forest(path: str | os.PathLike[str]) -> Forest:
    """The forest in a JSON file."""
    return forest_from_json(read_json(os.fspath(path)), os.fspath(path))


def write_forest(forest: Forest, path: str | os.PathLike[str]) -> None:
    write_json(forest_to_json(forest), os.fspath(path))
