"""The k best trees against enumeration: scores must match, ties come in any order, and nothing comes twice."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zerogap.baselines.brute import best_scores, dependency_structures
from zerogap.dependency import LabelledTree, Problem, decode, decode_many
from zerogap.dependency.decoding.methods import METHODS
from zerogap.errors import Infeasible, InputError, VerificationError
from zerogap.proof.files import solution_from_json, solution_to_json
from zerogap.proof.verify import verify
from zerogap.testing.strategies import dependency_problems


@pytest.mark.parametrize("method", [name for name, m in METHODS.items() if m.polynomial])
@given(data=st.data())
@settings(max_examples=150)
def test_scores_match_enumeration(method, data):
    projective = True in METHODS[method].projective
    problem = data.draw(
        dependency_problems(
            max_words=4, kinds=sorted(METHODS[method].parts), projective=projective, max_labels=data.draw(st.sampled_from((0, 0, 2)))
        )
    )
    k = data.draw(st.sampled_from((1, 2, 3, 10, 1000)))
    expected = best_scores(problem, dependency_structures(problem), k)
    if not expected:
        with pytest.raises(Infeasible):
            decode(problem, method=method, k=k)
        return
    solution = decode(problem, method=method, k=k)
    found = [(solution.structure, solution.score), *solution.alternatives]
    assert [score for _, score in found] == expected
    assert len({structure for structure, _ in found}) == len(found)
    for structure, score in found:
        problem.check(structure)
        assert problem.score(structure) == score
    if k <= 10:
        verify(problem, solution)
        verify(problem, solution_from_json(solution_to_json(solution)))
        if len(found) == k < len(expected_all := best_scores(problem, dependency_structures(problem))) and expected_all[k] < found[-1][1]:
            missing = replace(solution, alternatives=(*solution.alternatives[:-1], other(problem, expected_all[k])))
            if k > 1:
                with pytest.raises(VerificationError, match="more than the last alternative"):
                    verify(problem, missing)


def other(problem, score):
    """Some structure with this score."""
    for structure in dependency_structures(problem):
        if problem.score(structure) == score:
            return structure, score
    raise AssertionError


def test_alternatives_that_do_not_hold():
    rng = np.random.default_rng(3)
    problem = Problem(rng.standard_normal((6, 6)), labels=rng.standard_normal((6, 6, 3)))
    solution = decode(problem, k=6)
    verify(problem, solution)
    others = solution.alternatives
    structure, score = others[2]
    for bad, message in (
        ((*others[:2], others[1], *others[3:]), "twice"),
        ((*others[:2], (structure, score + 1.0), *others[3:]), "scores"),
        ((*others[:2], (LabelledTree((1, 2, 3, 4, 5), structure.labels), score), *others[3:]), "not valid"),
        (others[::-1], "order"),
        (others[1:], "another structure scores"),
    ):
        with pytest.raises(VerificationError, match=message):
            verify(problem, replace(solution, alternatives=bad))


@pytest.mark.parametrize("projective", [True, False])
@pytest.mark.parametrize("single_root", [True, False])
def test_longer_sentences_with_real_scores(projective, single_root):
    rng = np.random.default_rng(7)
    for n in (1, 2, 12, 30):
        problem = Problem(rng.standard_normal((n + 1, n + 1)), projective=projective, single_root=single_root)
        solution = decode(problem, k=20)
        verify(problem, solution)
        assert len(solution.alternatives) == {1: 0, 2: 1 if single_root else 2}.get(n, 19)


def test_ties_everywhere():
    for projective in (True, False):
        problem = Problem(np.zeros((9, 9)), projective=projective)
        solution = decode(problem, k=50)
        assert len({structure for structure, _ in solution.alternatives} | {solution.structure}) == 50
        verify(problem, solution)


def test_what_is_asked_for():
    problem = Problem(np.zeros((3, 3)))
    for k in (0, -1, True, 2.0, "3"):
        with pytest.raises(InputError, match="k is"):
            decode(problem, k=k)
    assert decode(problem).alternatives == ()
    solution = decode(problem, k=10**12)
    assert {solution.structure, *(structure for structure, _ in solution.alternatives)} == {(0, 1), (2, 0)}
    assert len(decode(Problem(np.zeros((3, 3)), projective=True, single_root=False), k=10**12).alternatives) == 2
    assert decode(Problem([[0.0]]), k=3).alternatives == ()
    assert [len(s.alternatives) for s in decode_many([problem, problem], k=2)] == [1, 1]
    slow = Problem(np.random.default_rng(0).standard_normal((40, 40)))
    assert decode(slow, k=100_000, time_limit=0.0).alternatives is None
    verify(slow, decode(slow, k=100_000, time_limit=0.0))
