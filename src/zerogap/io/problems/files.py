"""Problems as JSON files, exactly: what is read back has the same scores on the same grid.

    {"format": "zerogap-problem", "version": 1, "kind": "dependency", "arcs": [[...], ...], "projective": false, ...}

`-inf` is written as the string "-inf". Keys that are not known are errors, so that a mistyped one is not ignored.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from zerogap import constituency, dependency, hypergraph, sequence, translation
from zerogap.errors import FormatError, InputError
from zerogap.grid import Scores
from zerogap.io.problems.lexical import AGREEMENT_KEYS, LEXICAL_KEYS, read_agreement, read_lexical, write_agreement, write_lexical
from zerogap.io.problems.translation import FOREST_KEYS, PHRASE_KEYS, read_forest, read_phrases, write_forest, write_phrases
from zerogap.problems.dependency.parts import ORDERS, parts_as_given
from zerogap.problems.json_values import expect, field, number_from_json, number_to_json, numbers_from_json, only_keys
from zerogap.problems.sequence.constraint_json import constraint_from_json, constraint_to_json
from zerogap.proof.files import check_format, read_json, write_json
from zerogap.structures.grammar import from_tables
from zerogap.structures.hypergraph import Hypergraph, from_edges
from zerogap.structures.linear import constraint_rows

FORMAT, VERSION = "zerogap-problem", 1
Problem = (
    dependency.Problem
    | hypergraph.Problem
    | constituency.JointProblem
    | constituency.LexicalAgreement
    | constituency.LexicalProblem
    | sequence.Problem
    | translation.PhraseProblem
    | translation.SyntaxProblem
)


def save_problem(problem: Problem, path: str | Path) -> None:
    write_json(problem_to_json(problem), path)


def load_problem(path: str | Path) -> Problem:
    """The problem in a JSON file; FormatError says what is wrong with it."""
    return problem_from_json(read_json(path), str(path))


def problem_to_json(problem: Problem) -> dict[str, Any]:
    if type(problem) not in KINDS:
        raise InputError(f"problem is a {type(problem).__name__}: expected one of {', '.join(k for k, _ in KINDS.values())}.")
    kind, write = KINDS[type(problem)]
    return {"format": FORMAT, "version": VERSION, "kind": kind, **write(problem), "resolution": problem.resolution}


def problem_from_json(value: Any, where: str = "problem") -> Problem:
    check_format(value, FORMAT, VERSION, where)
    kind = value.get("kind")
    if not isinstance(kind, str) or kind not in READERS:
        raise FormatError(f"{where}.kind is {kind!r}: expected one of {', '.join(READERS)}.")
    read, keys = READERS[kind]
    only_keys(value, ["format", "version", "kind", "resolution", *sorted(keys)], where)
    resolution = None if value.get("resolution") is None else number_from_json(value["resolution"], f"{where}.resolution")
    try:
        return read(value, where, resolution)
    except RecursionError:
        raise FormatError(f"{where} is nested too deeply to read.") from None


def array_to_json(array: Any) -> Any:
    return [array_to_json(row) for row in array] if np.ndim(array) else number_to_json(float(array))


def array_from_json(value: Any, where: str) -> Scores:
    """Nested lists of numbers. Shapes are checked by the problem."""

    def numbers(part: Any, spot: str) -> Any:
        if isinstance(part, list):
            return [numbers(entry, f"{spot}[{i}]") for i, entry in enumerate(part)]
        return number_from_json(part, spot)

    nested = numbers(expect(value, list, where), where)
    try:
        return np.array(nested, dtype=np.float64)
    except ValueError:
        raise FormatError(f"{where} is ragged: expected rows of the same length.") from None


def integers(value: Any, where: str) -> list[int]:
    return [expect(entry, int, f"{where}[{i}]") for i, entry in enumerate(expect(value, list, where))]


def strings(value: Any, where: str) -> list[str]:
    return [expect(entry, str, f"{where}[{i}]") for i, entry in enumerate(expect(value, list, where))]


def write_dependency(problem: dependency.Problem) -> dict[str, Any]:
    value: dict[str, Any] = {"arcs": array_to_json(problem.arcs), "projective": problem.projective, "single_root": problem.single_root}
    for name, parts in problem.parts.items():
        value[name] = parts_to_json(parts_as_given(name, parts, problem.arcs))
    if problem.factors:
        value["factors"] = [
            {"arcs": [list(arc) for arc in factor.arcs], "score": number_to_json(factor.score)} for factor in problem.factors
        ]
    if problem.automata:
        value["automata"] = [
            {
                "head": automaton.head,
                "side": automaton.side,
                "transitions": [[*move[:3], number_to_json(move[3])] for move in automaton.transitions],
                "finals": [number_to_json(weight) for weight in automaton.finals],
            }
            for automaton in problem.automata
        ]
    if problem.labels is not None:
        value["labels"] = array_to_json(problem.labels)
        value["label_names"] = None if problem.label_names is None else list(problem.label_names)
    return value


def parts_to_json(parts: dependency.Sparse | Scores) -> Any:
    """An array, or {"parts": [[index, ..., score], ...]}."""
    if not isinstance(parts, dependency.Sparse):
        return array_to_json(parts)
    rows = zip(np.asarray(parts.index).tolist(), np.asarray(parts.scores).tolist(), strict=True)
    return {"parts": [[*index, number_to_json(score)] for index, score in rows]}


def read_dependency(value: dict[str, Any], where: str, resolution: float | None) -> dependency.Problem:
    given: dict[str, Any] = {
        name: parts_from_json(value[name], order, f"{where}.{name}") for name, order in ORDERS.items() if name in value
    }
    if value.get("labels") is not None:
        given["labels"] = array_from_json(value["labels"], f"{where}.labels")
    if value.get("label_names") is not None:
        given["label_names"] = strings(value["label_names"], f"{where}.label_names")
    return dependency.Problem(
        array_from_json(field(value, "arcs", where), f"{where}.arcs"),
        **given,
        factors=factors_from_json(value.get("factors", []), f"{where}.factors"),
        automata=automata_from_json(value.get("automata", []), f"{where}.automata"),
        projective=expect(value.get("projective", False), bool, f"{where}.projective"),
        single_root=expect(value.get("single_root", True), bool, f"{where}.single_root"),
        resolution=resolution,
    )


def parts_from_json(value: Any, order: int, where: str) -> Any:
    if isinstance(value, list):
        return array_from_json(value, where)
    index, scores = [], []
    rows = expect(field(expect(value, dict, where), "parts", where), list, f"{where}.parts")
    only_keys(value, ("parts",), where)
    for i, row in enumerate(rows):
        spot = f"{where}.parts[{i}]"
        if len(expect(row, list, spot)) != order + 1:
            raise FormatError(f"{spot} has {len(row)} entries: expected {order} tokens and a score.")
        index.append([token_from_json(token, spot) for token in row[:-1]])
        scores.append(number_from_json(row[-1], spot))
    return dependency.Sparse(np.array(index, dtype=np.int64).reshape(-1, order), scores)


def automata_from_json(value: Any, where: str) -> list[dependency.HeadAutomaton]:
    automata = []
    for i, row in enumerate(expect(value, list, where)):
        spot = f"{where}[{i}]"
        transitions = []
        only_keys(expect(row, dict, spot), ("head", "side", "transitions", "finals"), spot)
        for j, move in enumerate(expect(field(row, "transitions", spot), list, f"{spot}.transitions")):
            here = f"{spot}.transitions[{j}]"
            if len(expect(move, list, here)) != 4:
                raise FormatError(f"{here} is {move!r}: expected [state, modifier, next state, weight].")
            state, modifier, after = (expect(number, int, here) for number in move[:3])
            transitions.append((state, modifier, after, number_from_json(move[3], here)))
        finals = numbers_from_json(field(row, "finals", spot), f"{spot}.finals")
        head, side = expect(field(row, "head", spot), int, f"{spot}.head"), expect(field(row, "side", spot), str, f"{spot}.side")
        automata.append(dependency.HeadAutomaton(head, side, tuple(transitions), finals))
    return automata


def factors_from_json(value: Any, where: str) -> list[dependency.Factor]:
    factors = []
    for i, row in enumerate(expect(value, list, where)):
        spot = f"{where}[{i}]"
        only_keys(expect(row, dict, spot), ("arcs", "score"), spot)
        arcs = expect(field(row, "arcs", spot), list, f"{spot}.arcs")
        pairs = [tuple(token_from_json(token, f"{spot}.arcs") for token in expect(arc, list, f"{spot}.arcs")) for arc in arcs]
        factors.append(dependency.Factor(tuple(pairs), number_from_json(field(row, "score", spot), f"{spot}.score")))  # type: ignore[arg-type]
    return factors


def token_from_json(value: Any, where: str) -> int:
    token: int = expect(value, int, where)
    if not abs(token) < 2**31:
        raise FormatError(f"{where} has the token {token}: expected one of the sentence.")
    return token


def write_hypergraph(problem: hypergraph.Problem) -> dict[str, Any]:
    graph, rows = problem.hypergraph, problem.constraints
    return {
        "vertices": graph.n_vertices,
        "root": graph.root,
        "edges": [
            {"head": int(head), "tail": graph.tail(e).tolist(), "score": number_to_json(float(problem.scores[e]))}
            for e, head in enumerate(graph.heads)
        ],
        "constraints": [
            {
                "name": rows.names[r],
                "parts": {str(rows.columns[i]): rows.coefficients[i] for i in range(rows.row_start[r], rows.row_start[r + 1])},
                "sense": "=" if rows.is_equation[r] else "<=",
                "limit": rows.limits[r],
            }
            for r in range(len(rows))
        ],
    }


def read_hypergraph(value: dict[str, Any], where: str, resolution: float | None) -> hypergraph.Problem:
    edges = expect(field(value, "edges", where), list, f"{where}.edges")
    spots = [f"{where}.edges[{i}]" for i in range(len(edges))]
    for edge, spot in zip(edges, spots, strict=True):
        only_keys(expect(edge, dict, spot), ("head", "tail", "score"), spot)
    graph = read_graph(value, edges, spots, where)
    scores = np.array([number_from_json(edge.get("score", 0.0), f"{spot}.score") for edge, spot in zip(edges, spots, strict=True)])
    rows, names = [], []
    for r, row in enumerate(expect(value.get("constraints", []), list, f"{where}.constraints")):
        spot = f"{where}.constraints[{r}]"
        only_keys(expect(row, dict, spot), ("name", "parts", "sense", "limit"), spot)
        parts = expect(field(row, "parts", spot), dict, f"{spot}.parts")
        for part in parts:
            if not (part.isdecimal() and len(part) < 12 and str(int(part)) == part and int(part) < len(edges)):
                raise FormatError(f"{spot}.parts has the key {part!r}: expected a hyperedge from 0 to {len(edges) - 1}.")
        coefficients = {int(p): number_from_json(c, f"{spot}.parts.{p}") for p, c in parts.items()}
        rows.append((coefficients, field(row, "sense", spot), number_from_json(field(row, "limit", spot), f"{spot}.limit")))
        names.append(expect(row.get("name", f"row {r}"), str, f"{spot}.name"))
    return hypergraph.Problem(graph, scores, constraint_rows(graph.n_edges, rows, names=names), resolution=resolution)


def read_graph(value: dict[str, Any], edges: list[Any], spots: list[str], where: str) -> Hypergraph:
    n_vertices = expect(field(value, "vertices", where), int, f"{where}.vertices")
    mentioned = len(edges) + sum(len(expect(edge.get("tail", []), list, f"{spot}.tail")) for edge, spot in zip(edges, spots, strict=True))
    if not 1 <= n_vertices <= mentioned + 1:
        raise FormatError(f"{where}.vertices is {n_vertices}: the hyperedges mention at most {mentioned}.")
    graph, _, order = from_edges(
        [expect(field(edge, "head", spot), int, f"{spot}.head") for edge, spot in zip(edges, spots, strict=True)],
        [integers(field(edge, "tail", spot), f"{spot}.tail") for edge, spot in zip(edges, spots, strict=True)],
        n_vertices=n_vertices,
        root=expect(field(value, "root", where), int, f"{where}.root"),
    )
    if not np.array_equal(order, np.arange(len(edges))):  # structures and certificates name hyperedges by their place in the file
        place = int(np.flatnonzero(order != np.arange(len(edges)))[0])
        raise FormatError(
            f"{where}.edges[{place}] is out of order: expected hyperedges bottom-up, those into one vertex together,"
            f" so edges[{order[place]}] here."
        )
    return graph


def write_joint(problem: constituency.JointProblem) -> dict[str, Any]:
    g = problem.grammar
    rules = [[*(g.symbols[s] for s in rule), number_to_json(score)] for rule, score in zip(g.binary, g.binary_scores, strict=True)]
    rules += [[*(g.symbols[s] for s in rule), number_to_json(score)] for rule, score in zip(g.unary, g.unary_scores, strict=True)]
    preterminals = {symbol: problem.tags[tag] for symbol, (_, tag) in problem.leaf_tags.items()}
    return {
        "symbols": list(g.symbols),
        "root": g.symbols[g.root],
        "rules": rules,
        "tags": list(problem.tags),
        **({"preterminals": preterminals} if any(symbol != tag for symbol, tag in preterminals.items()) else {}),
        "lexical": array_to_json(problem.lexical[:, problem.tag_symbols]),
        "emissions": array_to_json(problem.emissions),
        "transitions": array_to_json(problem.transitions),
    }


def read_joint(value: dict[str, Any], where: str, resolution: float | None) -> constituency.JointProblem:
    names = strings(field(value, "symbols", where), f"{where}.symbols")
    root = expect(field(value, "root", where), str, f"{where}.root")
    tags = strings(field(value, "tags", where), f"{where}.tags")
    preterminals = None
    if "preterminals" in value:
        preterminals = expect(value["preterminals"], dict, f"{where}.preterminals")
        for symbol, tag in preterminals.items():
            if tag not in tags:
                raise FormatError(f"{where}.preterminals has the tag {tag!r} for {symbol!r}: expected one of {where}.tags.")
    columns = list(preterminals or tags)
    for name, symbols in (("root", [root]), ("tags" if preterminals is None else "preterminals", columns)):
        for symbol in symbols:
            if symbol not in names:
                raise FormatError(f"{where}.{name} has {symbol!r}: expected one of {where}.symbols.")
    seen: set[tuple[str, ...]] = set()
    binary: dict[tuple[str, str, str], float] = {}
    unary: dict[tuple[str, str], float] = {}
    for i, rule in enumerate(expect(field(value, "rules", where), list, f"{where}.rules")):
        spot = f"{where}.rules[{i}]"
        if len(expect(rule, list, spot)) not in (3, 4):
            raise FormatError(f"{spot} has {len(rule)} entries: expected [parent, child, score] or [parent, left, right, score].")
        for symbol in rule[:-1]:
            if not isinstance(symbol, str) or symbol not in names:
                raise FormatError(f"{spot} has the symbol {symbol!r}: expected one of {where}.symbols.")
        if tuple(rule[:-1]) in seen:
            raise FormatError(f"{spot} is given twice: expected one score per rule.")
        seen.add(tuple(rule[:-1]))
        if len(rule) == 3:
            unary[rule[0], rule[1]] = number_from_json(rule[2], spot)
        else:
            binary[rule[0], rule[1], rule[2]] = number_from_json(rule[3], spot)
    grammar = from_tables(names, binary, unary, {}, root, cycles=True)
    given = array_from_json(field(value, "lexical", where), f"{where}.lexical")
    if given.ndim != 2 or given.shape[1] != len(columns):
        of = "tag" if preterminals is None else "preterminal"
        raise FormatError(f"{where}.lexical has shape {given.shape}: expected a row per word and {len(columns)} columns, one per {of}.")
    lexical = np.full((len(given), len(names)), -np.inf)
    lexical[:, [grammar.symbols.index(symbol) for symbol in columns]] = given
    return constituency.JointProblem(
        grammar,
        tags=tags,
        lexical=lexical,
        emissions=None if "emissions" not in value else array_from_json(value["emissions"], f"{where}.emissions"),
        transitions=array_from_json(field(value, "transitions", where), f"{where}.transitions"),
        preterminals=preterminals,
        resolution=resolution,
    )


def write_sequence(problem: sequence.Problem) -> dict[str, Any]:
    table = problem.transitions if len(problem.transitions) > 1 else problem.transitions[0]
    return {
        "order": problem.order,
        "labels": list(problem.labels) if problem.named else None,
        "emissions": array_to_json(problem.emissions),
        "transitions": array_to_json(table),
        "start": array_to_json(problem.start),
        "end": array_to_json(problem.end),
        "constraints": [constraint_to_json(constraint) for constraint in problem.constraints],
    }


def read_sequence(value: dict[str, Any], where: str, resolution: float | None) -> sequence.Problem:
    labels = None if value.get("labels") is None else strings(value["labels"], f"{where}.labels")
    arrays = {
        name: array_from_json(value[name], f"{where}.{name}") if value.get(name) is not None else None
        for name in ("transitions", "start", "end")
    }
    emissions = array_from_json(field(value, "emissions", where), f"{where}.emissions")
    rows = expect(value.get("constraints", []), list, f"{where}.constraints")
    sides = labels if labels is not None else arrays["start"]
    return sequence.Problem(
        emissions if emissions.ndim != 1 or emissions.size else emissions.reshape(0, 0 if sides is None else len(sides)),
        **arrays,
        labels=labels,
        constraints=[constraint_from_json(row, f"{where}.constraints[{i}]") for i, row in enumerate(rows)],
        order=None if value.get("order") is None else expect(value["order"], int, f"{where}.order"),
        resolution=resolution,
    )


KINDS: dict[type, tuple[str, Callable[[Any], dict[str, Any]]]] = {
    dependency.Problem: ("dependency", write_dependency),
    hypergraph.Problem: ("hypergraph", write_hypergraph),
    constituency.JointProblem: ("joint", write_joint),
    constituency.LexicalProblem: ("lexical", write_lexical),
    constituency.LexicalAgreement: ("agreement", write_agreement),
    sequence.Problem: ("sequence", write_sequence),
    translation.PhraseProblem: ("phrases", write_phrases),
    translation.SyntaxProblem: ("forest", write_forest),
}
READERS: dict[str, tuple[Callable[[dict[str, Any], str, float | None], Problem], set[str]]] = {
    "dependency": (read_dependency, {"arcs", "projective", "single_root", "factors", "automata", "labels", "label_names", *ORDERS}),
    "hypergraph": (read_hypergraph, {"vertices", "root", "edges", "constraints"}),
    "sequence": (read_sequence, {"order", "labels", "emissions", "transitions", "start", "end", "constraints"}),
    "joint": (read_joint, {"symbols", "root", "rules", "tags", "preterminals", "lexical", "emissions", "transitions"}),
    "lexical": (read_lexical, LEXICAL_KEYS),
    "agreement": (read_agreement, AGREEMENT_KEYS),
    "phrases": (read_phrases, PHRASE_KEYS),
    "forest": (read_forest, FOREST_KEYS),
}
