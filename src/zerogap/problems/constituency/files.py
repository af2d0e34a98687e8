"""Problems of parsing as JSON: a grammar with a tagger, or rules with head words, alone or with a dependency parser, a tagger or both.

    {"kind": "joint", "symbols": ["S", ...], "root": "S", "rules": [["S", "NP", "VP", -0.5], ["NP", "N", 0.0], ...], "tags": ["N", ...],
     "lexical": [[...], ...], "emissions": [[...], ...], "transitions": [[...], ...]}
    {"kind": "lexical", "symbols": ["S", ...], "root": "S", "rules": [["S", "NP", "VP", 1], ...], "chains": [["NP", "NP<-", -1], ...],
     "classes": [0, -1, ...], "positions": [0, 1, 1, ...], "tags": ["DT", ...], "verbs": [false, ...],
     "binary": ARRAY, "unary": ARRAY, "words": ARRAY, "roots": ARRAY}
    {"kind": "agreement", ..., "arcs": ARRAY, "siblings": ARRAY, "stops": ARRAY,
     "tagging": {"tag_of": [0, ...], "emissions": ARRAY, "transitions": ARRAY}}

With head words, a binary rule ends with the side of the head (0 the left child, 1 the right one), a unary one with the edge of the span
that counts (-1 for none), and arrays are packed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from zerogap.errors import FormatError, InputError
from zerogap.problems.arrays import ARRAY, PACKED
from zerogap.problems.constituency.joint import JointProblem
from zerogap.problems.constituency.lexical import LexicalGrammar, LexicalProblem
from zerogap.problems.constituency.lexical_agreement import LexicalAgreement, TagScores
from zerogap.problems.forms import Below, Dictionary, Many, Maybe, Optional, Record
from zerogap.problems.json_values import expect, number_from_json, number_to_json
from zerogap.structures.grammar import from_tables

JOINT_FIELDS = {
    "symbols": Many(str),
    "root": str,
    "rules": Many(list),
    "tags": Many(str),
    "preterminals": Optional(Dictionary(str)),
    "lexical": ARRAY,
    "emissions": Optional(ARRAY),
    "transitions": ARRAY,
}
TABLES = ("binary", "unary", "words", "roots")
LEXICAL_FIELDS = {
    "symbols": Many(str),
    "root": str,
    "rules": Many((str, str, str, Below())),
    "chains": Many((str, str, Below())),
    "classes": Many(Below()),
    "positions": Many(Below()),
    "tags": Many(str),
    "verbs": Many(bool),
    **dict.fromkeys(TABLES, PACKED),
}
TAGGING = Record({"tag_of": Many(Below()), "emissions": PACKED, "transitions": PACKED})
EXTRA = ("arcs", "siblings", "stops")
AGREEMENT_FIELDS = {**LEXICAL_FIELDS, **dict.fromkeys(EXTRA, Optional(Maybe(PACKED))), "tagging": Optional(Maybe(TAGGING))}


def joint_fields(problem: JointProblem) -> dict[str, Any]:
    g = problem.grammar
    rules = [*zip(g.binary, g.binary_scores, strict=True), *zip(g.unary, g.unary_scores, strict=True)]
    preterminals = {symbol: problem.tags[tag] for symbol, (_, tag) in problem.leaf_tags.items()}
    return {
        "symbols": list(g.symbols),
        "root": g.symbols[g.root],
        "rules": [[*(g.symbols[s] for s in rule), number_to_json(float(score))] for rule, score in rules],
        "tags": list(problem.tags),
        **({"preterminals": preterminals} if any(symbol != tag for symbol, tag in preterminals.items()) else {}),
        "lexical": problem.lexical[:, problem.tag_symbols],
        "emissions": problem.emissions,
        "transitions": problem.transitions,
    }


def joint_problem(given: dict[str, Any], where: str, resolution: float | None) -> JointProblem:
    names, tags, preterminals = given["symbols"], given["tags"], given["preterminals"]
    for symbol, tag in (preterminals or {}).items():
        if tag not in tags:
            raise FormatError(f"{where}.preterminals has the tag {tag!r} for {symbol!r}: expected one of {where}.tags.")
    columns = list(preterminals or tags)
    for name, symbols in (("root", [given["root"]]), ("tags" if preterminals is None else "preterminals", columns)):
        for symbol in symbols:
            if symbol not in names:
                raise FormatError(f"{where}.{name} has {symbol!r}: expected one of {where}.symbols.")
    rules: dict[int, dict[Any, float]] = {3: {}, 4: {}}
    for i, rule in enumerate(given["rules"]):
        spot = f"{where}.rules[{i}]"
        if len(rule) not in rules:
            raise FormatError(f"{spot} has {len(rule)} entries: expected [parent, child, score] or [parent, left, right, score].")
        for symbol in rule[:-1]:
            if expect(symbol, str, spot) not in names:
                raise FormatError(f"{spot} has the symbol {symbol!r}: expected one of {where}.symbols.")
        if tuple(rule[:-1]) in rules[len(rule)]:
            raise FormatError(f"{spot} is given twice: expected one score per rule.")
        rules[len(rule)][tuple(rule[:-1])] = number_from_json(rule[-1], spot)
    grammar = from_tables(names, rules[4], rules[3], {}, given["root"], cycles=True)
    scores = given["lexical"]
    if scores.ndim != 2 or scores.shape[1] != len(columns):
        of = "tag" if preterminals is None else "preterminal"
        raise FormatError(f"{where}.lexical has shape {scores.shape}: expected a row per word and {len(columns)} columns, one per {of}.")
    lexical = np.full((len(scores), len(names)), -np.inf)
    lexical[:, [grammar.symbols.index(symbol) for symbol in columns]] = scores
    return JointProblem(
        grammar, tags=list(tags), lexical=lexical, emissions=given["emissions"], transitions=given["transitions"],
        preterminals=preterminals, resolution=resolution,
    )  # fmt: skip


def lexical_fields(problem: LexicalProblem) -> dict[str, Any]:
    grammar = problem.grammar
    names = grammar.symbols
    rules = zip(grammar.binary.tolist(), grammar.head_side.tolist(), strict=True)
    chains = zip(grammar.unary.tolist(), grammar.unary_edge.tolist(), strict=True)
    return {
        "symbols": list(names),
        "root": names[grammar.root],
        "rules": [[*(names[s] for s in rule), side] for rule, side in rules],
        "chains": [[*(names[s] for s in rule), edge] for rule, edge in chains],
        "classes": grammar.classes.tolist(),
        "positions": problem.positions.tolist(),
        "tags": [names[tag] for tag in problem.tags.tolist()],
        "verbs": problem.verbs.tolist(),
        **{name: getattr(problem, name) for name in TABLES},
    }


def lexical_problem(given: dict[str, Any], where: str, resolution: float | None) -> LexicalProblem:
    number = {name: i for i, name in enumerate(given["symbols"])}

    def symbol(name: str, spot: str) -> int:
        if name not in number:
            raise FormatError(f"{where}.{spot} has the symbol {name!r}: expected one of {where}.symbols.")
        return number[name]

    def rows(key: str, width: int) -> Any:
        """Symbols, then a number."""
        found = [[*(symbol(name, f"{key}[{i}]") for name in row[:-1]), row[-1]] for i, row in enumerate(given[key])]
        return np.array(found, dtype=np.int64).reshape(-1, width + 1)

    two, one = rows("rules", 3), rows("chains", 2)
    grammar = LexicalGrammar(
        given["symbols"], symbol(given["root"], "root"), two[:, :3].copy(), two[:, 3].copy(), one[:, :2].copy(), one[:, 2].copy(),
        np.array(given["classes"], dtype=np.int64),
    )  # fmt: skip
    return LexicalProblem(
        grammar, positions=list(given["positions"]), tags=[symbol(tag, f"tags[{i}]") for i, tag in enumerate(given["tags"])],
        verbs=list(given["verbs"]), **{name: given[name] for name in TABLES}, resolution=resolution,
    )  # fmt: skip


def agreement_fields(problem: LexicalAgreement) -> dict[str, Any]:
    found = lexical_fields(problem.lexical) | {name: getattr(problem, name) for name in EXTRA}
    if problem.tagging is not None:
        found["tagging"] = {name: getattr(problem.tagging, name) for name in TAGGING.fields}
        found["tagging"]["tag_of"] = problem.tagging.tag_of.tolist()
    return found


def agreement_problem(given: dict[str, Any], where: str, resolution: float | None) -> LexicalAgreement:
    if resolution is None:
        raise InputError(f"{where} has no resolution: expected the grid that its scores lie on.")
    extra = {name: given[name] for name in EXTRA if given[name] is not None}
    tagging = given["tagging"]
    if tagging is not None:
        extra["tagging"] = TagScores(np.array(tagging["tag_of"], dtype=np.int64), tagging["emissions"], tagging["transitions"])
    return LexicalAgreement(lexical_problem(given, where, resolution), **extra)
