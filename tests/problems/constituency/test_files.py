"""Problems of parsing with heads in files: what comes back is the same problem, and what is no problem is told."""

import json

import numpy as np
import pytest
from hypothesis import given, settings

from tests.oracles.parses.test_lexical import all_parses, lexical_problems
from tests.problems.constituency.test_lexical import example
from tests.problems.constituency.test_lexical_agreement import agreements
from zerogap.constituency.lexical.agreement import decode_agreement
from zerogap.constituency.lexical.compact import compact_agreement, compact_lexical
from zerogap.constituency.lexical.decoding import decode_lexical
from zerogap.errors import FormatError, Infeasible, InputError
from zerogap.problems.constituency.lexical_agreement import LexicalAgreement
from zerogap.problems.files import problem_from_json, problem_to_json
from zerogap.proof.verify import verify


def through_json(problem):
    return problem_from_json(json.loads(json.dumps(problem_to_json(problem), allow_nan=False)))


@given(lexical_problems(max_words=3))
@settings(max_examples=60)
def test_the_same_parses_with_the_same_scores(problem):
    """As it is, and without what no parse can have."""
    again = through_json(problem)
    assert problem_to_json(again) == problem_to_json(problem)
    trees = all_parses(problem)
    small = through_json(compact_lexical(problem))
    possible = {tree: problem.score(tree) for tree in trees or () if problem.score(tree) > -np.inf}
    assert {tree: again.score(tree) for tree in possible} == possible
    assert {tree: small.score(tree) for tree in possible} == possible
    if trees is not None:
        assert {tree for tree in all_parses(small) or () if small.score(tree) > -np.inf} <= set(possible)


@given(agreements())
@settings(max_examples=40)
def test_proofs_hold_for_what_comes_back(problem):
    try:
        solution = decode_agreement(problem)
    except Infeasible:
        return
    for again in (through_json(problem), through_json(compact_agreement(problem))):
        assert again.resolution == problem.resolution
        verify(again, solution)
        assert again.score(solution.structure) == solution.score


def test_a_limit_leaves_a_parse_and_a_bound():
    problem = example()
    solution = decode_lexical(problem, time_limit=0.0)
    assert solution.score <= decode_lexical(problem).score <= solution.bound
    verify(problem, solution)


GOOD = problem_to_json(example())
TABLE = {"shape": [1], "unit": 1.0, "base64": "AA=="}


@pytest.mark.parametrize(
    ("changed", "error", "message"),
    [
        ({"roots": TABLE}, InputError, "roots has shape"),
        ({"roots": {**TABLE, "shape": [2, 2]}}, FormatError, "expected 1, 2, 4 or 8 for each of 4 entries"),
        (
            {"roots": {"shape": [1], "values": [0.0], "places": [1]}},
            FormatError,
            r"problem\.roots\.places has 1 entries: expected the places",
        ),
        ({"roots": {"shape": [2, 2], "values": [0.0], "places": [0]}}, FormatError, r"problem\.roots\.places has 1 entries"),
        ({"roots": {"shape": [2**30, 2, 0], "values": [], "places": []}}, FormatError, r"problem\.roots\.shape"),
        ({"roots": {**TABLE, "unit": None}}, FormatError, r"problem\.roots\.unit"),
        ({"rules": [["S", "N", 0]]}, FormatError, r"problem\.rules\[0\] is .*: expected \[a string, a string, a string, an integer\]"),
        ({"positions": [2**40]}, FormatError, r"problem\.positions\[0\] is 1099511627776"),
        ({"chains": [["S", "X", 0]]}, FormatError, r"problem\.chains\[0\] has the symbol 'X'"),
        ({"root": "X"}, FormatError, r"problem\.root has the symbol 'X'"),
        ({"tags": ["N", 1, "N"]}, FormatError, r"problem\.tags\[1\] is 1"),
        ({"verbs": [1, 0, 0]}, FormatError, r"problem\.verbs\[0\]"),
        ({"positions": [0, 2, 1]}, InputError, "positions are"),
        ({"kind": "agreement", "resolution": None}, InputError, "has no resolution"),
        ({"more": 1}, FormatError, "more is not known"),
    ],
)
def test_what_is_no_problem(changed, error, message):
    with pytest.raises(error, match=message):
        problem_from_json({**GOOD, **changed})


def test_arrays_are_those_of_the_problem():
    problem = LexicalAgreement(example(), np.arange(16.0).reshape(4, 4))
    again = through_json(problem)
    for name in ("arcs", "siblings", "stops"):
        assert np.array_equal(getattr(again, name), getattr(problem, name))
    assert again.tagging is None
