"""Problems of translation as JSON, exactly: sentences with their phrases, or forests, each with as much of a language model as they reach.

    {"kind": "phrases", "source": ["das", "haus"], "phrases": [[0, 2, ["the", "house"], -1.5], ...], "distortion": 0.1,
     "distortion_limit": 6, "reordering": "limit", "language_model": {...}, "constraints": {...}}
    {"kind": "forest", "words": ["the", "house"], "vertices": [["X", 0, 2], ...] or null, "edges": [[0, [0, 1], -1.5], ...],
     "language_model": {...}}

A hyperedge has the vertex that it enters, its target side and its score. Vertices are numbered bottom-up, the root is the last; hyperedges
are sorted by them. A target side has a word from 0 on, and the vertex v as -1 - v: the numbers by which a derivation names them.

A language model lists its n-grams by order as ARPA files do, with scores in the problem's own unit:

    {"order": 2, "words": ["<s>", "the", ...], "ngrams": [[[0, -99.0, -0.5], [1, -1.5], ...], [[0, 1, -0.25], ...]]}

Each row has n words, their score, and a back-off weight if the model remembers them as a context. Constraints of phrases are

    {"required": [["the", "house"]], "forbidden": [["cottage"]], "zones": [[0, 2, false]], "walls": [[3, 0, null]],
     "fixed": [[0, 2, [["the", "house"]], [-1.5], true]]}

A zone has its start, its end and whether it is monotone; a wall its place and the words among which it stands; a fixed translation its
start and end, its targets, their scores, and whether no other phrase may touch its words.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from zerogap.errors import FormatError
from zerogap.grid import as_scores
from zerogap.problems.forms import Below, Many, Maybe, Optional, Record
from zerogap.problems.json_values import expect, field, number_from_json, number_to_json, only_keys, shorten
from zerogap.problems.translation.forest import Forest, named
from zerogap.problems.translation.forest_problem import LOG_OF_10, SyntaxProblem, restricted
from zerogap.problems.translation.language_model import BEGIN, END, UNKNOWN, LanguageModel, frozen
from zerogap.problems.translation.phrase_constraints import Constraints, Fixed, Wall, Zone
from zerogap.problems.translation.phrases import PhraseProblem

WORDS = Many(str)
CONSTRAINTS = Record({
    "required": Optional(Many(WORDS), ()),
    "forbidden": Optional(Many(WORDS), ()),
    "fixed": Optional(Many((int, int, Many(WORDS), Many(float), bool)), ()),
    "zones": Optional(Many((int, int, bool)), ()),
    "walls": Optional(Many((int, int, Maybe(int))), ()),
})  # fmt: skip


class ConstraintsForm:
    """Constraints of phrases; only what there is is written."""

    def read(self, value: Any, where: str) -> Constraints:
        return constraints_from_json(value, where)

    def written(self, value: Constraints, packed: bool) -> dict[str, Any]:
        return constraints_to_json(value)


class LanguageModelForm:
    """A language model by its n-grams."""

    def read(self, value: Any, where: str) -> LanguageModel:
        return language_model_from_json(value, where)

    def written(self, value: LanguageModel, packed: bool) -> dict[str, Any]:
        return language_model_to_json(value)


PHRASE_FIELDS = {
    "source": WORDS,
    "phrases": Many((int, int, WORDS, float)),
    "distortion": Optional(float, 0.0),
    "distortion_limit": Optional(Maybe(int)),
    "reordering": Optional(str, "limit"),
    "constraints": Optional(ConstraintsForm(), Constraints()),
    "language_model": LanguageModelForm(),
}
FOREST_FIELDS = {
    "words": WORDS,
    "vertices": Optional(Maybe(list)),
    "edges": Many((int, Many(Below()), float)),
    "language_model": LanguageModelForm(),
}


def constraints_to_json(constraints: Constraints) -> dict[str, Any]:
    rows: dict[str, Any] = {
        "required": constraints.required,
        "forbidden": constraints.forbidden,
        "fixed": [(part.start, part.end, part.targets, part.scores, part.exclusive) for part in constraints.fixed],
        "zones": [(zone.start, zone.end, zone.monotone) for zone in constraints.zones],
        "walls": [(wall.at, wall.start, wall.end) for wall in constraints.walls],
    }
    return CONSTRAINTS.written({name: given for name, given in rows.items() if given})


def constraints_from_json(value: Any, where: str) -> Constraints:
    given = CONSTRAINTS.read(value, where)
    for name, kind in (("fixed", Fixed), ("zones", Zone), ("walls", Wall)):
        given[name] = tuple(kind(*row) for row in given[name])
    return Constraints(**given)


def phrase_fields(problem: PhraseProblem) -> dict[str, Any]:
    words = sorted({word for target in problem.targets for word in target})
    return {
        "source": problem.source,
        "phrases": list(zip(problem.starts.tolist(), problem.ends.tolist(), problem.targets, problem.scores.tolist(), strict=True)),
        "distortion": problem.distortion,
        "distortion_limit": problem.distortion_limit,
        "reordering": problem.reordering,
        **({"constraints": problem.constraints} if problem.constraints else {}),
        "language_model": restricted(problem.language_model, words)[0],
    }


def phrase_problem(given: dict[str, Any], where: str, resolution: float | None) -> PhraseProblem:
    if resolution is None:
        raise FormatError(f"{where} has no resolution: expected the grid that its scores lie on.")
    model = given.pop("language_model").scaled(1.0, resolution=resolution)
    return PhraseProblem(given.pop("source"), given.pop("phrases"), model, **given)


def forest_fields(problem: SyntaxProblem) -> dict[str, Any]:
    forest = problem.forest
    heads, scores = forest.heads.tolist(), problem.scores.tolist()
    names = forest.vertex_names
    return {
        "words": forest.words,
        "vertices": None if names is None else [list(name) if isinstance(name, tuple) else name for name in names],
        "edges": [(heads[e], forest.target(e).tolist(), scores[e]) for e in range(forest.n_edges)],
        "language_model": problem.language_model,
    }


def forest_problem(given: dict[str, Any], where: str, resolution: float | None) -> SyntaxProblem:
    edges, names = given["edges"], given["vertices"]
    last = 0
    for e, (head, _, _) in enumerate(edges):
        if not last <= head <= (last + 1 if e else 0):
            raise FormatError(f"{where}.edges[{e}] enters vertex {head}: expected vertices from 0 on, in order.")
        last = head
    if names is not None and len(names) != last + bool(edges):
        raise FormatError(f"{where}.vertices has {len(names)} names: expected {last + bool(edges)}, one for every vertex.")
    heads = np.array([head for head, _, _ in edges], dtype=np.int64)
    forest = Forest(
        edge_start=np.concatenate([[0], np.cumsum(np.bincount(heads))]).astype(np.int64),
        symbol_start=np.concatenate([[0], np.cumsum([len(target) for _, target, _ in edges])]).astype(np.int32),
        symbols=np.array([symbol for _, target, _ in edges for symbol in target], dtype=np.int32),
        scores=np.array([score for _, _, score in edges], dtype=np.float64),
        words=given["words"],
        vertex_names=None if names is None else tuple(named(name) for name in names),
    )
    # a weight that leaves the scores as they are: rounding to their own grid takes away the last bit by which it is not one
    return SyntaxProblem(forest, given["language_model"], weight=1.0 / LOG_OF_10, resolution=resolution)


def language_model_to_json(model: LanguageModel) -> dict[str, Any]:
    contexts = words_of_states(model)
    rows: list[list[list[Any]]] = [[] for _ in range(model.order)]
    number = {context: state for state, context in enumerate(contexts)}
    for key, score in zip(model.keys.tolist(), model.scores.tolist(), strict=True):
        state, word = divmod(key, model.n_words)
        ngram = (*contexts[state], word)
        row = [*ngram, number_to_json(score)]
        if ngram in number:
            row.append(number_to_json(float(model.back_offs[number[ngram]])))
        rows[len(ngram) - 1].append(row)
    return {"order": model.order, "words": list(model.words), "ngrams": rows}


def words_of_states(model: LanguageModel) -> list[tuple[int, ...]]:
    """The context that every state remembers. Of all transitions into a state, the first is from its own words but the last: all others
    are from longer contexts, which come later."""
    entered, first = np.unique(model.next_states, return_index=True)
    contexts: list[tuple[int, ...]] = [()] * model.n_states
    for state, at in zip(entered.tolist(), first.tolist(), strict=True):
        if state > 0:
            before, word = divmod(int(model.keys[at]), model.n_words)
            contexts[state] = (*contexts[before], word)
    return contexts


def language_model_from_json(value: Any, where: str) -> LanguageModel:
    """The automaton of what is listed; its states are the n-grams with a back-off weight."""
    only_keys(expect(value, dict, where), ("order", "words", "ngrams"), where)
    order = expect(field(value, "order", where), int, f"{where}.order")
    words = WORDS.read(field(value, "words", where), f"{where}.words")
    levels = expect(field(value, "ngrams", where), list, f"{where}.ngrams")
    if len(levels) != order or order < 1:
        raise FormatError(f"{where}.ngrams has {len(levels)} orders of n-grams: expected {order}, and at least one.")
    ids = {word: i for i, word in enumerate(words)}
    if len(ids) < len(words) or not {BEGIN, END, UNKNOWN} <= set(ids):
        raise FormatError(f"{where}.words has {len(words)} words: expected all different, with {BEGIN}, {END} and {UNKNOWN} among them.")
    states: dict[tuple[int, ...], int] = {(): 0}
    back_offs = [0.0]
    scores: dict[tuple[int, ...], float] = {}
    for n, rows in enumerate(levels, start=1):
        for i, row in enumerate(expect(rows, list, f"{where}.ngrams[{n - 1}]")):
            spot = f"{where}.ngrams[{n - 1}][{i}]"
            if len(expect(row, list, spot)) not in ((n + 1,) if n == order else (n + 1, n + 2)):
                weight = "" if n == order else " and perhaps a back-off weight"
                raise FormatError(f"{spot} has {len(row)} entries: expected {n} words, a score{weight}.")
            ngram = tuple(number_below(word, spot, len(words)) for word in row[:n])
            if ngram in scores or ngram[:-1] not in states:
                raise FormatError(f"{spot} is {shorten(row)}: expected every n-gram once, after the one with a back-off weight before it.")
            scores[ngram] = number_from_json(row[n], spot)
            if len(row) == n + 2:
                states[ngram] = len(states)
                back_offs.append(number_from_json(row[n + 1], spot))
    if len(levels[0]) != len(words):
        raise FormatError(f"{where}.ngrams[0] has {len(levels[0])} rows: expected {len(words)}, one for every word.")

    def remembered(ngram: tuple[int, ...]) -> int:
        while ngram not in states:
            ngram = ngram[1:]
        return states[ngram]

    listed = sorted(scores, key=lambda ngram: (states[ngram[:-1]], ngram[-1]))
    v = len(words)
    return LanguageModel(
        order=order, words=tuple(words), ids=ids,
        keys=frozen(np.array([states[ngram[:-1]] * v + ngram[-1] for ngram in listed], dtype=np.int64)),
        scores=frozen(as_scores([scores[ngram] for ngram in listed], f"{where}.scores")),
        next_states=frozen(np.array([remembered(ngram) for ngram in listed], dtype=np.int32)),
        back_offs=frozen(as_scores(back_offs, f"{where}.back_offs")),
        shorter=frozen(np.array([remembered(context[1:]) for context in states], dtype=np.int32)),
    )  # fmt: skip


def number_below(value: Any, where: str, end: int) -> int:
    """An integer from 0 to end - 1."""
    number: int = expect(value, int, where)
    if not 0 <= number < end:
        raise FormatError(f"{where} has {shorten(number)}: expected a number from 0 to {end - 1}.")
    return number
