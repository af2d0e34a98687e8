"""Claims whose numbers, or whose tuples, lie about themselves."""

import math
from dataclasses import replace

import numpy as np
import pytest

from zerogap.dependency import Problem, decode
from zerogap.errors import VerificationError
from zerogap.proof.form import check_trace, plain_number, plain_structure
from zerogap.proof.solution import Trace
from zerogap.proof.verify import verify
from zerogap.testing.forge import LyingFloat, LyingTuple

PROBLEM = Problem(np.array([[0, 9, 10, 9], [0, 0, 20, 3], [0, 30, 0, 30], [0, 11, 0, 0]]))


@pytest.fixture
def solution():
    return decode(PROBLEM, k=2)


def test_numbers_of_numpy_are_numbers(solution):
    verify(PROBLEM, replace(solution, score=np.float64(solution.score), bound=np.float64(solution.bound)))


@pytest.mark.parametrize("lie", [LyingFloat(60.0), LyingFloat(99.0), np.float32(70.0), True, "70.0", None, float("nan"), complex(70.0)])
@pytest.mark.parametrize("name", ["score", "bound"])
def test_a_number_is_one_of_pythons_own(solution, name, lie):
    with pytest.raises(VerificationError):
        verify(PROBLEM, replace(solution, **{name: lie}))


def test_traces_and_alternatives_are_tuples(solution):
    for name in ("bounds", "scores", "seconds"):
        with pytest.raises(VerificationError):
            verify(PROBLEM, replace(solution, trace=replace(solution.trace, **{name: LyingTuple(getattr(solution.trace, name))})))
    (other, score), *_ = solution.alternatives
    for alternatives in (
        LyingTuple(solution.alternatives),
        list(solution.alternatives),
        ((other, score, 0),),
        ((other, LyingFloat(score)),),
    ):
        with pytest.raises(VerificationError):
            verify(PROBLEM, replace(solution, alternatives=alternatives))


def test_plain_numbers():
    for value in (1.5, 3, -math.inf, math.inf, np.float64(2.5), 2**53, -(2**53)):
        assert plain_number(value, "x") == value
        assert type(plain_number(value, "x")) is float
    for value in (
        math.nan,
        True,
        "1",
        None,
        1j,
        10**400,
        -(10**400),
        2**53 + 1,
        -(2**53) - 1,
        np.int64(1),
        np.float32(1.0),
        LyingFloat(1.0),
        (1.0,),
    ):
        with pytest.raises(VerificationError, match="expected a number"):
            plain_number(value, "x")


def test_plain_structures():
    given = [1, "a", None, np.int32(7), (2, [3]), np.array([4, 5])]
    found = plain_structure(given)
    assert found == (1, "a", None, 7, (2, (3,)), (4, 5))
    assert [type(part) for part in found] == [int, str, type(None), int, tuple, tuple]
    assert type(found[5][0]) is int
    for odd in (True, 1.0, {1}, {1: 2}, b"a", iter(()), np.float64(1.0), np.str_("a"), type("Lie", (int,), {})(1), [[1.0]]):
        with pytest.raises(VerificationError, match="the structure holds"):
            plain_structure(odd)


def test_traces():
    """No bound below the score, no score above the bound; the others may come in any order."""
    best = decode(PROBLEM, k=2)
    score = best.score
    for trace in (Trace((), (), ()), Trace((score,), (score,), (0.0,)), Trace((math.inf, score + 2), (-math.inf, score - 5), (1.0, 0.5))):
        check_trace(replace(best, trace=trace), score)
    for trace in (
        Trace((score + 2, score - 1), (0.0, score), (0.0, 0.0)), Trace((score, score), (score - 1, score + 1), (0.0, 0.0)),
        Trace((score, score), (score, score), (0.0,)), Trace((score,), (), ()), Trace((score, score), (score,), (0.0, 0.0)),
        Trace([score], [score], [0.0]), Trace((score,), (score,), [0.0]), Trace((score,), (score,), ("now",)),
        Trace((score,), (math.nan,), (0.0,)), Trace((math.nan,), (score,), (0.0,)), (), None, ((score,), (score,), (0.0,)),
    ):  # fmt: skip
        with pytest.raises(VerificationError, match="trace"):
            check_trace(replace(best, trace=trace), score)
