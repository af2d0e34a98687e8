import math
from dataclasses import replace

import pytest

from zerogap import dependency
from zerogap.errors import InputError, VerificationError
from zerogap.proof import DynamicProgram, Multipliers, Solution
from zerogap.proof.verify import verify


def test_what_verify_says_and_refuses():
    problem = dependency.Problem([[0, 5, 1], [0, 0, 8], [0, 9, 0]])
    solution = dependency.decode(problem)
    assert str(verify(problem, solution)).endswith("so it is optimal")
    loose = replace(solution, bound=20.0)
    assert "no structure scores more than 20.0" in str(verify(problem, loose))
    assert not str(verify(problem, loose)).endswith("so it is optimal")
    with pytest.raises(InputError, match="expected one of hypergraph.Problem, dependency.Problem"):
        verify("problem", solution)
    with pytest.raises(InputError, match="expected a Solution"):
        verify(problem, "solution")
    for bad in (
        replace(solution, score=math.nan),
        replace(solution, bound=math.nan),
        replace(solution, structure=None),
        replace(solution, structure=(0, 0)),
        replace(solution, structure=("a", "b")),
        replace(solution, structure=5),
        replace(solution, certificate=Multipliers(())),
        replace(solution, certificate=DynamicProgram()),
    ):
        with pytest.raises(VerificationError):
            verify(problem, bad)
    nothing_found = Solution(None, -math.inf, solution.bound, solution.certificate)
    with pytest.raises(VerificationError):  # the certificate proves the bound, which is fine; but see below
        verify(problem, replace(nothing_found, bound=solution.bound - 1))
    assert "no structure is claimed" in str(verify(problem, nothing_found))
