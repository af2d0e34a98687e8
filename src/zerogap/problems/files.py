"""Problems as JSON files, exactly: what is read back has the same scores on the same grid.

    {"format": "zerogap-problem", "version": 1, "kind": "dependency", "arcs": [[...], ...], "projective": false, ...}

Each kind of problem has a table of its fields, one function that takes them from a problem, and one that makes a problem of them. `-inf` is
written as the string "-inf". Keys that are not known are errors, so that a mistyped one is not ignored.

Arrays are lists for people, or packed (`problems.arrays`). The packed form, as one line of JSON, is the *canonical form* of a problem: its
SHA-256 is the digest that a solution's file carries, so that a proof of another problem is refused at once.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from zerogap.errors import FormatError, InputError
from zerogap.problems.constituency.files import (
    AGREEMENT_FIELDS,
    JOINT_FIELDS,
    LEXICAL_FIELDS,
    agreement_fields,
    agreement_problem,
    joint_fields,
    joint_problem,
    lexical_fields,
    lexical_problem,
)
from zerogap.problems.constituency.joint import JointProblem
from zerogap.problems.constituency.lexical import LexicalProblem
from zerogap.problems.constituency.lexical_agreement import LexicalAgreement
from zerogap.problems.dependency.files import FIELDS as DEPENDENCY_FIELDS
from zerogap.problems.dependency.files import dependency_fields, dependency_problem
from zerogap.problems.dependency.problem import Problem as DependencyProblem
from zerogap.problems.forms import Maybe, Optional, Record
from zerogap.problems.hypergraph import Problem as HypergraphProblem
from zerogap.problems.hypergraph_files import FIELDS as HYPERGRAPH_FIELDS
from zerogap.problems.hypergraph_files import hypergraph_fields, hypergraph_problem
from zerogap.problems.json_files import check_format, read_json, write_json
from zerogap.problems.sequence.files import FIELDS as SEQUENCE_FIELDS
from zerogap.problems.sequence.files import sequence_fields, sequence_problem
from zerogap.problems.sequence.problem import Problem as SequenceProblem
from zerogap.problems.translation.files import FOREST_FIELDS, PHRASE_FIELDS, forest_fields, forest_problem, phrase_fields, phrase_problem
from zerogap.problems.translation.forest_problem import SyntaxProblem
from zerogap.problems.translation.phrases import PhraseProblem

FORMAT, VERSION = "zerogap-problem", 1
Problem = (
    DependencyProblem
    | HypergraphProblem
    | JointProblem
    | LexicalAgreement
    | LexicalProblem
    | SequenceProblem
    | PhraseProblem
    | SyntaxProblem
)


class Kind(NamedTuple):
    """How problems of a kind are written and read."""

    name: str
    fields: Mapping[str, Any]
    taken: Callable[[Any], dict[str, Any]]
    made: Callable[[dict[str, Any], str, float | None], Problem]


KINDS: dict[type, Kind] = {
    DependencyProblem: Kind("dependency", DEPENDENCY_FIELDS, dependency_fields, dependency_problem),
    HypergraphProblem: Kind("hypergraph", HYPERGRAPH_FIELDS, hypergraph_fields, hypergraph_problem),
    JointProblem: Kind("joint", JOINT_FIELDS, joint_fields, joint_problem),
    LexicalProblem: Kind("lexical", LEXICAL_FIELDS, lexical_fields, lexical_problem),
    LexicalAgreement: Kind("agreement", AGREEMENT_FIELDS, agreement_fields, agreement_problem),
    SequenceProblem: Kind("sequence", SEQUENCE_FIELDS, sequence_fields, sequence_problem),
    PhraseProblem: Kind("phrases", PHRASE_FIELDS, phrase_fields, phrase_problem),
    SyntaxProblem: Kind("forest", FOREST_FIELDS, forest_fields, forest_problem),
}
BY_NAME = {kind.name: kind for kind in KINDS.values()}
HEAD = {"format": object, "version": object, "kind": object, "resolution": Optional(Maybe(float))}


def save_problem(problem: Problem, path: str | Path) -> None:
    write_json(problem_to_json(problem), path)


def load_problem(path: str | Path) -> Problem:
    """The problem in a JSON file; FormatError says what is wrong with it."""
    return problem_from_json(read_json(path), str(path))


def problem_to_json(problem: Problem, *, packed: bool = False) -> dict[str, Any]:
    """The JSON object of a problem, with arrays as lists, or packed."""
    if type(problem) not in KINDS:
        raise InputError(f"problem is a {type(problem).__name__}: expected one of {', '.join(BY_NAME)}.")
    kind = KINDS[type(problem)]
    body = Record(kind.fields).written(kind.taken(problem), packed)
    return {"format": FORMAT, "version": VERSION, "kind": kind.name, **body, "resolution": problem.resolution}


def digest_of(problem: Problem) -> str:
    """The same for the same scores, constraints and resolution, however they were given."""
    return digest_of_form(problem_to_json(problem, packed=True))


def digest_of_form(form: dict[str, Any]) -> str:
    """Of the canonical form: SHA-256 of its JSON in one line, as Python writes it."""
    return hashlib.sha256(json.dumps(form).encode("ascii")).hexdigest()


def problem_from_json(value: Any, where: str = "problem") -> Problem:
    check_format(value, FORMAT, VERSION, where)
    name = value.get("kind")
    if not isinstance(name, str) or name not in BY_NAME:
        raise FormatError(f"{where}.kind is {name!r}: expected one of {', '.join(BY_NAME)}.")
    kind = BY_NAME[name]
    try:
        given = Record({**HEAD, **kind.fields}).read(value, where)
        return kind.made({key: part for key, part in given.items() if key not in HEAD}, where, given["resolution"])
    except RecursionError:
        raise FormatError(f"{where} is nested too deeply to read.") from None
