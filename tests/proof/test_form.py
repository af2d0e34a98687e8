"""Claims whose numbers, or whose tuples, lie about themselves."""

from dataclasses import replace

import numpy as np
import pytest

from zerogap.dependency import Problem, decode
from zerogap.errors import VerificationError
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
