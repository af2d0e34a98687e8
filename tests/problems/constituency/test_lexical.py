"""Parsing with heads as a problem: definition, errors, certificates."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles.parses.test_lexical import lexical_problems, optimum
from zerogap.constituency.lexical.decoding import decode_lexical, decode_lexical_many
from zerogap.errors import Infeasible, InputError, InvalidStructure, ScoreError, ScoreShapeError, VerificationError
from zerogap.problems.constituency.lexical import LexicalGrammar, LexicalProblem
from zerogap.proof.certificate import DynamicProgram, Multipliers
from zerogap.proof.constituency.lexical import lexical_bound
from zerogap.proof.verify import verify


def integers(rows, *shape):
    return np.array(rows, dtype=np.int64).reshape(shape)


# S(h) -> S(h) N | N S(h), S -> V; the dependent's own word counts, and a verb between costs 1
GRAMMAR = LexicalGrammar(
    ("N", "V", "S"), 2, integers([[2, 0, 2], [2, 2, 0]], -1, 3), integers([1, 0], -1), integers([[2, 1]], -1, 2), integers([1], -1),
    integers([0, -1, -1], -1),
)  # fmt: skip


def example(**changed):
    """N V N V: the first V is a verb; the second may head the sentence only over the first, so that it cannot."""
    given = {
        "positions": [0, 1, 2], "tags": [0, 1, 0], "verbs": [False, True, False], "binary": np.array([[[1.0, 0.0]] * 3, [[2.0, 0.0]] * 3]),
        "unary": np.full((1, 3, 2), -0.5), "words": np.arange(9.0).reshape(1, 3, 3), "roots": np.array([-np.inf, 0.25, 0.0]),
    }  # fmt: skip
    return LexicalProblem(GRAMMAR, **{**given, **changed})


def test_a_score_by_hand():
    problem = example()
    tree = ("S", ("N", 0), ("S", ("S", ("V", 1)), ("N", 2)))
    assert problem.score(tree) == -0.5 + 2.0 + 7.0 + 1.0 + 1.0 + 0.25  # chain, right sister, words[2, 1], left one, words[0, 1], root
    assert problem.heads(tree) == (2, 0, 2)
    solution = decode_lexical(problem)
    assert solution.score == problem.score(tree)
    assert "so it is optimal" in verify(problem, solution).checked


@given(lexical_problems())
@settings(max_examples=60)
def test_the_proof_agrees_with_enumeration(problem):
    best = optimum(problem)
    if best is None:
        return
    assert lexical_bound(problem, DynamicProgram(), 0) * problem.resolution == best


def test_what_nothing_covers_is_named():
    with pytest.raises(Infeasible, match=r"of these 2 words: no symbol covers words 0 to 1\.") as found:
        decode_lexical(
            example(positions=[0, 1], tags=[0, 0], verbs=[False, False], binary=np.zeros((2, 2, 2)), unary=np.zeros((1, 2, 2)),
                    words=np.zeros((1, 2, 2)), roots=np.zeros(2))
        )  # fmt: skip
    assert found.value.conflict == ((0, 2),)
    with pytest.raises(Infeasible, match="other symbols cover all of them, 'S' does not"):
        decode_lexical(
            example(positions=[0], tags=[0], verbs=[False], binary=np.zeros((2, 1, 2)), unary=np.zeros((1, 1, 2)),
                    words=np.zeros((1, 1, 1)), roots=np.zeros(1))
        )  # fmt: skip


@given(lexical_problems(), st.sampled_from([0.5, 1.0]))
def test_certificates(problem, less):
    try:
        solution = decode_lexical(problem)
    except Infeasible:
        return
    assert solution.status == "optimal"
    verify(problem, solution)
    with pytest.raises(VerificationError):
        verify(problem, dataclasses.replace(solution, bound=solution.bound - less))
    with pytest.raises(VerificationError):
        verify(problem, dataclasses.replace(solution, score=solution.score + less))
    with pytest.raises(VerificationError, match="proves nothing here"):
        verify(problem, dataclasses.replace(solution, certificate=Multipliers(())))


def test_many():
    problems = [example(), example(roots=np.array([0.0, 3.0, 0.0]))]
    assert [s.score for s in decode_lexical_many(problems, threads=2)] == [decode_lexical(p).score for p in problems]


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        (("S", ("N", 0), ("S", ("V", 1))), "covers words 0 to 1"),
        (("N", 0), "covers words 0 to 0"),
        (("S", ("S", ("V", 1)), ("N", 0)), "expected them in order"),
        (("X", ("N", 0), ("N", 1)), "word 1 cannot have the tag 'N'"),
        (("X", ("N", 0)), "'X' is not a symbol"),
        (("N", ("N", 0)), "has no rule|over itself"),
        (("S", ("V", 1), ("N", 2)), "no rule S -> V N"),
        (("S", ("V", ("S", ("V", 1)))), "stands over itself"),
        ("S", "is not a tree"),
        (("S", True), "is not a tree"),
    ],
)
def test_what_is_no_parse(tree, message):
    with pytest.raises(InvalidStructure, match=message):
        example().score(tree)


def test_forbidden_parses():
    problem = example(roots=np.full(3, -np.inf))
    with pytest.raises(InvalidStructure, match="forbidden"):
        problem.check(("S", ("N", 0), ("S", ("S", ("V", 1)), ("N", 2))))
    with pytest.raises(Infeasible, match="with heads that it allows"):
        decode_lexical(problem)
    with pytest.raises(Infeasible, match="no parse of these 3 words"):
        decode_lexical(example(tags=[0, 0, 0]))


@pytest.mark.parametrize(
    ("changed", "error", "message"),
    [
        ({"binary": np.zeros((1, 3, 2))}, ScoreShapeError, "binary has shape"),
        ({"words": np.full((1, 3, 3), np.nan)}, ScoreError, r"words\[0, 0, 0\] is nan"),
        ({"roots": [0.0, np.inf, 0.0]}, ScoreError, r"roots\[1\] is inf"),
        ({"unary": np.full((1, 3, 2), 0.5)}, ScoreError, r"unary\[0, 0, 0\] is 0.5: expected at most 0"),
        ({"positions": [0, 2, 1]}, InputError, "positions are"),
        ({"positions": [0, 0, 2]}, InputError, "positions are"),
        ({"tags": [0, 3, 0]}, InputError, "tags are"),
        ({"verbs": []}, InputError, "no words"),
    ],
)
def test_what_is_no_problem(changed, error, message):
    with pytest.raises(error, match=message):
        example(**changed)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("binary", integers([[2, 0, 3]], -1, 3), "binary has entries"),
        ("binary", integers([[2, 0, 2], [2, 0, 2]], -1, 3), "a rule twice"),
        ("head_side", integers([1, 2], -1), "head_side has entries"),
        ("unary", np.zeros((1, 3), dtype=np.int64), "unary is int64 of shape"),
        ("classes", integers([-1, -1, -1], -1), "'N', which is a sister"),
        ("root", 3, "root is 3"),
    ],
)
def test_what_is_no_grammar(name, value, message):
    given = {field.name: getattr(GRAMMAR, field.name) for field in dataclasses.fields(GRAMMAR)}
    given[name] = value
    if name == "binary" and len(value) == 1:
        given["head_side"] = integers([1], -1)
    with pytest.raises(InputError, match=message):
        LexicalGrammar(**given)


def test_other_problems_are_refused():
    with pytest.raises(InputError, match="problem is a str"):
        decode_lexical("S")
