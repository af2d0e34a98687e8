"""Solutions and certificates survive JSON; what is not one is refused with the spot."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zerogap import dependency, sequence
from zerogap.dependency import Problem
from zerogap.errors import FormatError, InputError, VerificationError
from zerogap.problems.files import digest_of
from zerogap.proof import CutDuals, DynamicProgram, Intersection, Leaf, Leaves, Multipliers, Solution, Trace, Unsatisfiable
from zerogap.proof.files import load_solution, save_solution, solution_from_json, solution_to_json
from zerogap.proof.verify import verify

numbers = st.floats(allow_nan=False)
simple = st.one_of(
    st.just(DynamicProgram()),
    st.builds(Multipliers, st.lists(numbers, max_size=4).map(tuple)),
    st.builds(
        CutDuals,
        st.lists(st.lists(st.integers(1, 9), max_size=3).map(tuple), max_size=3).map(tuple),
        st.lists(numbers, max_size=3).map(tuple),
    ),
)
leaves = st.builds(Leaf, st.lists(st.tuples(st.integers(0, 99), st.booleans()), max_size=3).map(tuple), simple)
certificates = st.one_of(simple, st.builds(Leaves, st.lists(leaves, max_size=3).map(tuple)))
structures = st.recursive(st.one_of(st.integers(), st.text()), lambda inner: st.lists(inner, max_size=3).map(tuple))


@given(structures, numbers, numbers, certificates, st.lists(st.tuples(numbers, numbers, numbers), max_size=3))
def test_round_trip(structure, score, bound, certificate, rows):
    trace = Trace(*map(tuple, zip(*rows, strict=True))) if rows else Trace()
    solution = Solution(structure, score, bound, certificate, trace)
    text = json.dumps(solution_to_json(solution), allow_nan=False)
    assert solution_from_json(json.loads(text)) == solution


def test_files(tmp_path):
    solution = Solution((np.int64(3), 0), 1.5, math.inf, Multipliers((0.1, -np.float64(0.2))), Trace((2.0,), (-math.inf,), (0.0,)))
    problem = Problem([[0, 1], [0, 0]])
    with pytest.raises(InputError, match="problem is missing"):
        save_solution(solution, tmp_path / "s.json")
    save_solution(solution, tmp_path / "s.json", problem)
    again = load_solution(tmp_path / "s.json")
    assert again.structure == (3, 0)
    assert again == solution
    assert again.status == "feasible"
    assert again.digest == digest_of(problem)
    save_solution(again, tmp_path / "t.json")
    assert (tmp_path / "t.json").read_text() == (tmp_path / "s.json").read_text()


def test_a_solution_of_another_problem_is_refused_at_once(tmp_path):
    problem, other = Problem([[0, 1], [0, 0]]), Problem([[0, 1], [0, 0]], resolution=0.25)
    save_solution(dependency.decode(problem), tmp_path / "s.json", problem)
    solution = load_solution(tmp_path / "s.json")
    verify(problem, solution)
    with pytest.raises(VerificationError, match="of another problem"):
        verify(other, solution)
    with pytest.raises(VerificationError, match="of another problem"):
        verify(problem, replace(solution, digest=7))


@pytest.mark.parametrize("change", [{"version": 1}, {"problem": None}])
def test_files_that_do_not_name_their_problem(tmp_path, change):
    value = {**GOOD, **change}
    value = {key: part for key, part in value.items() if part is not None}
    (tmp_path / "s.json").write_text(json.dumps(value))
    with pytest.raises(FormatError, match=r"not name its problem.*: expected a file that zerogap decode, --certificates or save_solution"):
        load_solution(tmp_path / "s.json")


GOOD = solution_to_json(Solution((1,), 0.0, 0.0, Leaves((Leaf(((0, True),), Multipliers((0.0,))),))))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda v: [], "solution is \\[\\]: expected an object"),
        (lambda v: {**v, "format": "other"}, "solution.format is 'other'"),
        (lambda v: {**v, "version": 99}, "version is 99: this zerogap reads version 2"),
        (lambda v: {k: x for k, x in v.items() if k != "bound"}, "no field 'bound'"),
        (lambda v: {**v, "score": "high"}, "solution.score is 'high'"),
        (lambda v: {**v, "score": True}, "solution.score is True"),
        (lambda v: {**v, "structure": {"a": 1}}, "solution.structure holds"),
        (lambda v: {**v, "structure": [1.5]}, "solution.structure holds 1.5"),
        (lambda v: {**v, "certificate": {"kind": "magic"}}, "certificate.kind is 'magic'"),
        (lambda v: {**v, "certificate": {"kind": "multipliers"}}, "no field 'values'"),
        (lambda v: {**v, "certificate": {"kind": "multipliers", "values": [None]}}, r"certificate.values\[0\] is None"),
        (lambda v: {**v, "certificate": {"kind": "cut-duals", "sets": [["a"]], "values": []}}, r"sets\[0\]\[0\] is 'a'"),
        (lambda v: {**v, "certificate": {"kind": "leaves", "leaves": [{"fixed": [[1]], "certificate": {}}]}}, r"fixed\[0\] is \[1\]"),
        (lambda v: {**v, "certificate": {"kind": "leaves", "leaves": [{"fixed": [[1, 1]], "certificate": {}}]}}, "expected true or false"),
        (lambda v: {**v, "trace": {**v["trace"], "bounds": [1.0]}}, "columns of 1, 0, 0"),
    ],
)
def test_what_is_not_a_solution(change, message):
    with pytest.raises(FormatError, match=message):
        solution_from_json(change(GOOD))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{not json", "line 1, column 2: not JSON"),
        (b"\xff\xfe", "not UTF-8"),
        (b"[" * 100_000, "nested too deeply|not JSON"),
        (b"", "line 1, column 1"),
        (b"42", "expected an object"),
    ],
)
def test_files_that_are_not_certificates(tmp_path, content, message):
    (tmp_path / "x.json").write_bytes(content)
    with pytest.raises(FormatError, match=message):
        load_solution(tmp_path / "x.json")
    with pytest.raises(FormatError, match="cannot be read"):
        load_solution(tmp_path / "missing.json")
    with pytest.raises(FormatError, match="cannot be read"):
        load_solution(tmp_path)
    with pytest.raises(FormatError, match="cannot be written"):
        save_solution(Solution((1,), 0.0, 0.0, DynamicProgram(), digest="0"), tmp_path / "no" / "folder.json")


def test_integers_beyond_float64():
    """The form was checked by math.isfinite, which raises OverflowError for them."""
    problem = sequence.Problem([[0.0, 1.0]])
    for certificate in (Intersection((), ((10**400, 0.0),)), Intersection((10**400,)), Unsatisfiable(10**400)):
        with pytest.raises(VerificationError):
            verify(problem, Solution((1,), 1.0, 1.0, certificate))
