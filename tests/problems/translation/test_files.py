"""Problems of translation as JSON: what comes back decides alike."""

import importlib.util
import itertools
import json
from pathlib import Path

import pytest
from hypothesis import given, settings

from zerogap.baselines.forest_brute import all_derivations
from zerogap.errors import FormatError
from zerogap.problems.files import problem_from_json, problem_to_json

path = Path(__file__).parents[2] / "translation" / "syntax_strategies.py"
spec = importlib.util.spec_from_file_location("syntax_strategies", path)
strategies = importlib.util.module_from_spec(spec)
spec.loader.exec_module(strategies)


@given(strategies.syntax_problems(holes=True, empty_sides=True))
@settings(max_examples=80)
def test_forests_come_back_exactly(problem):
    value = json.loads(json.dumps(problem_to_json(problem), allow_nan=False))
    again = problem_from_json(value)
    assert again.resolution == problem.resolution
    for derivation in itertools.islice(all_derivations(problem.forest), 100):
        assert again.score(derivation) == problem.score(derivation)
        assert again.translation(derivation) == problem.translation(derivation)
    assert problem_to_json(again) == value


FOREST = {
    "format": "zerogap-problem", "version": 1, "kind": "forest", "resolution": 0.25, "words": ["the"], "vertices": None,
    "edges": [[0, [0], -1.5], [1, [-1], 0.0]],
    "language_model": {"order": 1, "words": ["<s>", "</s>", "<unk>", "the"], "ngrams": [[[0, -9.0], [1, -1.0], [2, -5.0], [3, -1.0]]]},
}  # fmt: skip


def test_a_forest_by_hand():
    problem = problem_from_json(FOREST)
    assert problem.score((1, 0)) == -3.5


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("edges", [[0, [0]]], r"edges\[0\] is \[0, \[0\]\]"),
        ("edges", [[1, [0], 0.0]], "expected vertices from 0 on"),
        ("edges", [[0, [-1], 0.0]], "bottom-up"),
        ("edges", [[0, [7], 0.0]], "names word 7"),
        ("vertices", ["a"], "expected 2"),
        ("words", [3], "words"),
        ("language_model", {"order": 1, "words": ["the"], "ngrams": [[[0, -1.0]]]}, "</s> and <unk>"),
        ("language_model", {"order": 2, "words": ["the"], "ngrams": [[[0, -1.0]]]}, "expected 2"),
    ],
)
def test_bad_forests(key, value, message):
    with pytest.raises(FormatError if "bottom" not in message and "word 7" not in message else Exception, match=message):
        problem_from_json({**FOREST, key: value})
