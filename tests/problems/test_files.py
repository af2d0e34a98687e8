import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import zerogap
from zerogap import constituency, dependency, hypergraph
from zerogap.baselines.brute import all_trees
from zerogap.cli.selftest import instances
from zerogap.errors import FormatError, HypergraphError, InputError, ScoreShapeError
from zerogap.problems.dependency.parts import ORDERS
from zerogap.problems.files import load_problem, problem_from_json, problem_to_json, save_problem
from zerogap.structures.grammar import from_tables
from zerogap.testing.strategies import dependency_problems


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
def test_scores_come_back_exactly(values, projective, single_root):
    problem = dependency.Problem(np.array(values).reshape(3, 3), projective=projective, single_root=single_root)
    again = problem_from_json(json.loads(json.dumps(problem_to_json(problem), allow_nan=False)))
    assert (again.arcs == problem.arcs).all()
    assert (again.projective, again.single_root, again.resolution) == (projective, single_root, problem.resolution)


@given(dependency_problems(max_words=4, kinds=tuple(ORDERS), max_labels=2, max_factors=2), st.data())
@settings(max_examples=100)
def test_parts_come_back_exactly(problem, data):
    again = problem_from_json(json.loads(json.dumps(problem_to_json(problem), allow_nan=False)))
    assert (again.arcs == problem.arcs).all()
    assert (again.resolution, again.terms, again.factors) == (problem.resolution, problem.terms, problem.factors)
    assert list(again.parts) == list(problem.parts)
    assert problem_to_json(again) == problem_to_json(problem)
    heads = data.draw(st.sampled_from(all_trees(problem.n_words, single_root=False)))
    structure = heads
    if problem.labels is not None:
        names = problem.label_names or range(problem.labels.shape[2])
        structure = (heads, tuple(data.draw(st.sampled_from(list(names))) for _ in heads))
    assert again.score(structure) == problem.score(structure)


def test_real_scores_of_a_function_come_back_exactly():
    rng = np.random.default_rng(0)
    tables = {name: rng.standard_normal((5,) * order) for name, order in ORDERS.items()}
    arcs = np.where(rng.random((5, 5)) < 0.3, -np.inf, rng.standard_normal((5, 5)))
    lazy = {name: dependency.Lazy(lambda *index, table=table: table[index], 5.0) for name, table in tables.items()}
    problem = dependency.Problem(arcs, **lazy)
    again = problem_from_json(json.loads(json.dumps(problem_to_json(problem))))
    assert again.resolution == problem.resolution
    for heads in all_trees(4):
        assert again.score(heads) == problem.score(heads)


def test_hyperedges_that_are_not_bottom_up_are_refused():
    """A structure names hyperedges by their place in the file, so the file must have them in the problem's order."""
    text = {
        "format": "zerogap-problem", "version": 1, "kind": "hypergraph", "vertices": 3, "root": 0,
        "edges": [
            {"head": 0, "tail": [1], "score": 1.0}, {"head": 0, "tail": [1], "score": 2.0}, {"head": 1, "tail": [2], "score": "-inf"},
            {"head": 1, "tail": [2]},
        ],
        "constraints": [{"parts": {"1": 1}, "sense": "<=", "limit": 0, "name": "not the second"}],
    }  # fmt: skip
    with pytest.raises(FormatError, match=r"edges\[0\] is out of order: .* so edges\[2\] here"):
        problem_from_json(text)
    edges = [dict(edge, head=2 - edge["head"], tail=[2 - v for v in edge["tail"]]) for edge in text["edges"][2:] + text["edges"][:2]]
    rows = [{"parts": {"3": 1}, "sense": "<=", "limit": 0, "name": "not the fourth"}]
    assert hypergraph.decode(problem_from_json({**text, "root": 2, "edges": edges, "constraints": rows})).structure == (2, 1)


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
        ({"kind": "dependency", "arcs": [[0]], "stops": {"part": []}}, FormatError, "stops.part is not known"),
        ({"kind": "dependency", "arcs": [[0]], "stops": 5}, FormatError, "stops is 5"),
        ({"kind": "dependency", "arcs": [[0]], "stops": {"parts": [[0, 0]]}}, FormatError, r"parts\[0\] is \[0, 0\]: expected"),
        ({"kind": "dependency", "arcs": [[0]], "stops": {"parts": [[0, 0.0, 1]]}}, FormatError, r"stops.parts\[0\] is 0.0"),
        ({"kind": "dependency", "arcs": [[0]], "stops": {"parts": [[0, 10**20, 1]]}}, FormatError, r"stops.parts\[0\] is 1000"),
        ({"kind": "dependency", "arcs": [[0]], "stops": {"parts": [[0, 1, 1]]}}, InputError, r"stops.index\[0\] is \(0, 1\)"),
        ({"kind": "dependency", "arcs": [[0]], "factors": [[]]}, FormatError, r"factors\[0\] is \[\]"),
        ({"kind": "dependency", "arcs": [[0]], "factors": [{"arcs": [[0, 1, 2]], "score": 1}]}, InputError, r"arcs\[0\] is \[0, 1, 2\]"),
        ({"kind": "dependency", "arcs": [[0]], "label_names": ["a"]}, InputError, "without labels"),
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
    with pytest.raises(InputError, match="expected one of dependency, hypergraph, joint, lexical, agreement, sequence"):
        problem_to_json("x")
    assert isinstance(problem_from_json(JOINT), constituency.JointProblem)


def test_preterminals_and_cycles_come_back():
    grammar = from_tables(
        ("S", "NP", "X", "N^NP", "N"), {("S", "NP", "N"): 1.0}, {("NP", "N^NP"): 0.5, ("NP", "X"): -1.0, ("X", "NP"): -1.0}, {}, "S",
        cycles=True,
    )  # fmt: skip
    lexical = np.full((2, 5), -np.inf)
    lexical[:, [grammar.symbols.index("N^NP"), grammar.symbols.index("N")]] = 2.0
    problem = constituency.JointProblem(
        grammar, tags=["n"], lexical=lexical, transitions=np.zeros((2, 2, 2)), preterminals={"N^NP": "n", "N": "n"}
    )
    again = problem_from_json(json.loads(json.dumps(problem_to_json(problem))))
    solution = constituency.decode(problem)
    assert again.score(solution.structure) == solution.score == 5.5
    assert again.leaf_tags == problem.leaf_tags
    for wrong, message in (({"N": "m"}, "the tag 'm' for 'N'"), ({"M": "n"}, "preterminals has 'M'"), ([], "preterminals is")):
        with pytest.raises(FormatError, match=message):
            problem_from_json({**problem_to_json(problem), "preterminals": wrong})
