import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zerogap.baselines.brute import all_heads, optimum
from zerogap.dependency import Problem, decode, decode_many
from zerogap.errors import Infeasible, InputError, UnknownMethod
from zerogap.proof.certificate import CutDuals, DynamicProgram, certificate_from_json, certificate_to_json
from zerogap.proof.dependency import dependency_bound
from zerogap.testing.strategies import score_arrays


@st.composite
def problems(draw, max_words=4):
    n = draw(st.integers(0, max_words))
    arcs = draw(score_arrays((n + 1, n + 1), holes=draw(st.booleans())))
    return Problem(arcs, projective=draw(st.booleans()), single_root=draw(st.booleans()))


def best_of_all(problem):
    return optimum(problem, all_heads(problem.n_words))


@given(problems())
@settings(max_examples=300, deadline=None)
def test_never_wrong_and_never_lazy(problem):
    best = best_of_all(problem)
    if best == -np.inf:
        with pytest.raises(Infeasible):
            decode(problem)
        return
    solution = decode(problem)
    problem.check(solution.structure)
    assert problem.score(solution.structure) == solution.score == best == solution.bound
    assert solution.status == "optimal"
    assert dependency_bound(problem, solution.certificate) == solution.bound
    certificate = certificate_from_json(certificate_to_json(solution.certificate))
    assert dependency_bound(problem, certificate) == solution.bound


@pytest.mark.parametrize("projective", [True, False])
@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("n", [1, 2, 10, 40, 120])
def test_float_scores_leave_no_gap(n, single_root, projective):
    rng = np.random.default_rng(n)
    for _ in range(5):
        problem = Problem(rng.standard_normal((n + 1, n + 1)) * 7, projective=projective, single_root=single_root)
        solution = decode(problem)
        problem.check(solution.structure)
        assert solution.gap == 0
        assert problem.score(solution.structure) == solution.score == dependency_bound(problem, solution.certificate)


def test_structures_are_plain():
    for projective, kind in ((True, DynamicProgram), (False, CutDuals)):
        solution = decode(Problem([[0, 1, 9], [0, 0, 2], [0, 5, 0]], projective=projective))
        assert solution.structure == (2, 0)
        assert all(type(h) is int for h in solution.structure)
        assert type(solution.score) is type(solution.bound) is float
        assert isinstance(solution.certificate, kind)
        assert len(solution.trace) == 1


def test_no_words():
    for projective in (True, False):
        solution = decode(Problem([[0.0]], projective=projective))
        assert (solution.structure, solution.score, solution.bound) == ((), 0.0, 0.0)


def test_methods():
    free, projective = Problem(np.zeros((3, 3))), Problem(np.zeros((3, 3)), projective=True)
    assert decode(free, method="arborescence").structure == decode(free).structure
    assert decode(projective, method="eisner", time_limit=1.0).structure == decode(projective).structure
    with pytest.raises(UnknownMethod, match=r"Did you mean 'eisner'\? Known: auto, arborescence, eisner"):
        decode(free, method="eisnr")
    with pytest.raises(InputError, match="projective=True"):
        decode(free, method="eisner")
    with pytest.raises(InputError, match="projective=False"):
        decode(projective, method="arborescence")


def test_infeasible_names_words():
    arcs = np.zeros((4, 4))
    arcs[:, 2] = -np.inf
    for projective in (True, False):
        with pytest.raises(Infeasible, match="word 2 cannot be reached"):
            decode(Problem(arcs, projective=projective))


def test_many_problems_keep_their_order():
    rng = np.random.default_rng(5)
    many = [Problem(rng.integers(-9, 9, (n + 1, n + 1)), projective=bool(n % 2)) for n in range(40)]
    expected = [decode(problem).structure for problem in many]
    for threads in (None, 1, 3):
        assert [solution.structure for solution in decode_many(many, threads=threads)] == expected
    assert decode_many([]) == []
