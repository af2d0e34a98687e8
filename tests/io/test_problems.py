import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import zerogap
from zerogap import constituency, dependency, hypergraph
from zerogap.cli.selftest import instances
from zerogap.errors import FormatError, HypergraphError, InputError, ScoreShapeError
from zerogap.io.problems import load_problem, problem_from_json, problem_to_json, save_problem


@pytest.mark.parametrize("name", list(instances()))
def test_problems_of_every_kind_survive(name, tmp_path):
    problem, decode, _ = instances()[name]()
    save_problem(problem, tmp_path / "p.json")
    again = load_problem(tmp_path / "p.json")
    solution = decode(problem)
    zerogap.verify(again, solution)
    assert decode(again).structure == solution.structure
    assert problem_to_json(again) == problem_to_json(problem)


@given(st.lists(st.floats(-1e3, 1e3), min_size=9, max_size=9), st.booleans(), st.booleans())
@settings(deadline=None)
def test_scores_come_back_exactly(values, projective, single_root):
    problem = dependency.Problem(np.array(values).reshape(3, 3), projective=projective, single_root=single_root)
    again = problem_from_json(json.loads(json.dumps(problem_to_json(problem), allow_nan=False)))
    assert (again.arcs == problem.arcs).all()
    assert (again.projective, again.single_root, again.resolution) == (projective, single_root, problem.resolution)


def test_hyperedges_in_any_order_keep_their_constraints():
    text = {
        "format": "zerogap-problem", "version": 1, "kind": "hypergraph", "vertices": 3, "root": 0,
        "edges": [
            {"head": 0, "tail": [1], "score": 1.0}, {"head": 0, "tail": [1], "score": 2.0}, {"head": 1, "tail": [2], "score": "-inf"},
            {"head": 1, "tail": [2]},
        ],
        "constraints": [{"parts": {"1": 1}, "sense": "<=", "limit": 0, "name": "not the second"}],
    }  # fmt: skip
    problem = problem_from_json(text)
    assert hypergraph.decode(problem).score == 1.0


JOINT = problem_to_json(instances()["parser + tagger, multipliers"]()[0])


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        ({}, FormatError, "format is None"),
        ({"kind": "tree"}, FormatError, "kind is 'tree': expected one of dependency, hypergraph, (sequence, )?joint"),
        ({"kind": "dependency"}, FormatError, "no field 'arcs'"),
        ({"kind": "dependency", "arcs": [[0, 1], [0]]}, FormatError, "arcs is ragged"),
        ({"kind": "dependency", "arcs": [[0, 1]]}, ScoreShapeError, "arcs has shape"),
        ({"kind": "dependency", "arcs": [[0, None], [0, 0]]}, FormatError, r"arcs\[0\]\[1\] is None"),
        ({"kind": "dependency", "arcs": [[0]], "projectiv": True}, FormatError, "projectiv is not known"),
        ({"kind": "dependency", "arcs": [[0]], "projective": 1}, FormatError, "projective is 1"),
        ({"kind": "hypergraph", "vertices": 2, "root": 1, "edges": [{"head": 1}]}, FormatError, r"edges\[0\] has no field 'tail'"),
        ({"kind": "hypergraph", "vertices": 2, "root": 1, "edges": [5]}, FormatError, r"edges\[0\] is 5"),
        ({"kind": "hypergraph", "vertices": 2, "root": 1, "edges": [{"head": 7, "tail": [0]}]}, HypergraphError, "vertex 7"),
        (
            {"kind": "hypergraph", "vertices": 2, "root": 1, "edges": [{"head": 1, "tail": [0]}],
             "constraints": [{"parts": {"x": 1}, "sense": "=", "limit": 1}]},
            FormatError, "the key 'x'",
        ),
        ({**JOINT, "tags": ["A", "Q", "C"]}, FormatError, "tags has 'Q'"),
        ({**JOINT, "rules": [["A", 1.0]]}, FormatError, r"rules\[0\] has 2 entries"),
        ({**JOINT, "rules": [["A", "Z", 1.0]]}, FormatError, r"rules\[0\] has the symbol 'Z'"),
        ({**JOINT, "lexical": [[1.0]]}, FormatError, "lexical has shape"),
        ({**JOINT, "transitions": [[1.0]]}, ScoreShapeError, "transitions"),
    ],
)  # fmt: skip
def test_bad_problems(value, error, message):
    full = {"format": "zerogap-problem", "version": 1, **value} if value else value
    with pytest.raises(error, match=message):
        problem_from_json(full)


def test_only_problems_are_written():
    with pytest.raises(InputError, match="expected one of dependency, hypergraph, joint, sequence"):
        problem_to_json("x")
    assert isinstance(problem_from_json(JOINT), constituency.JointProblem)
