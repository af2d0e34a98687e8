import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zerogap.dependency import Problem
from zerogap.errors import InvalidStructure, ScoreError, ScoreShapeError, ScoreTypeError
from zerogap.testing.strategies import score_arrays


def test_scores_are_rounded_to_a_grid_once_and_frozen():
    given_arcs = np.random.default_rng(0).standard_normal((6, 6))
    before = given_arcs.copy()
    problem = Problem(given_arcs)
    assert (given_arcs == before).all()
    assert not problem.arcs.flags.writeable
    assert problem.n_words == 5
    finite = problem.arcs[np.isfinite(problem.arcs)]
    assert (np.fmod(finite, problem.resolution) == 0).all()
    inside = np.isfinite(problem.arcs)
    assert np.abs(problem.arcs[inside] - given_arcs[inside]).max() <= problem.resolution
    with pytest.raises(AttributeError):
        problem.arcs = given_arcs


def test_column_0_and_the_diagonal_mean_nothing():
    arcs = Problem(np.full((4, 4), 1.0)).arcs
    assert (arcs[:, 0] == -np.inf).all()
    assert (np.diag(arcs) == -np.inf).all()
    assert np.isfinite(arcs).sum() == 9
    huge = np.ones((3, 3))
    huge[:, 0] = 1e200
    assert Problem(huge).resolution == Problem(np.ones((3, 3))).resolution


def test_a_coarser_resolution_may_be_asked_for():
    assert Problem([[0, 0.3], [0, 0]], resolution=0.25).arcs[0, 1] == 0.25
    with pytest.raises(ScoreError, match="resolution"):
        Problem([[0, 0.3], [0, 0]], resolution=0.3)
    with pytest.raises(ScoreError, match="resolution"):
        Problem([[0, 0.3], [0, 0]], resolution=2.0**-80)


def test_what_is_not_arc_scores():
    for shape in [(0, 0), (3,), (3, 4), (2, 2, 2)]:
        with pytest.raises(ScoreShapeError, match="arcs has shape"):
            Problem(np.zeros(shape))
    for value in (np.nan, np.inf):
        arcs = np.zeros((3, 3))
        arcs[1, 2] = value
        with pytest.raises(ScoreError, match=r"arcs\[1, 2\]"):
            Problem(arcs)
    with pytest.raises(ScoreTypeError):
        Problem([["a"]])


@given(score_arrays((4, 4)), st.tuples(*[st.integers(0, 3)] * 3))
def test_the_score_is_the_sum_of_the_arcs(arcs, heads):
    problem = Problem(arcs)
    expected = sum(-np.inf if h == m else arcs[h, m] for m, h in enumerate(heads, start=1))
    assert problem.score(heads) == problem.score(np.array(heads)) == expected


@pytest.mark.parametrize(
    ("heads", "reason"),
    [
        ((2, 0), "2 heads were given: expected 4"),
        ((2, 0, 2, 5), "head of word 4 is 5"),
        ((2, 0, 2, -1), "head of word 4 is -1"),
        ((2, 0, 2, 1.0), r"head of word 4 is 1\.0"),
        ((2, 0, 2, True), "head of word 4 is True"),
        ((2, 3, 1, 0), "cycle, each headed by the next: 1 <- 2 <- 3 <- 1"),
        ((1, 0, 2, 2), "cycle, each headed by the next: 1 <- 1"),
        ((0, 1, 0, 3), "words 1, 3 are all under the root"),
        ((3, 0, 2, 1), "0 -> 2 and 3 -> 1 cross|3 -> 1 and 0 -> 2 cross"),
        ((2, 0, 2, 3), "3 -> 4 is forbidden"),
    ],
)
def test_check_says_what_is_wrong(heads, reason):
    arcs = np.zeros((5, 5))
    arcs[3, 4] = -np.inf
    with pytest.raises(InvalidStructure, match=reason):
        Problem(arcs, projective=True).check(heads)


def test_check_allows_what_was_not_asked_for():
    Problem(np.zeros((5, 5))).check((3, 0, 2, 1))
    Problem(np.zeros((5, 5)), projective=True).check([2, 0, 4, 2])
    Problem(np.zeros((5, 5)), single_root=False).check(np.array([0, 1, 0, 3]))
    Problem(np.zeros((1, 1))).check(())
    assert Problem(np.zeros((1, 1))).score(()) == 0.0


def test_no_compiler_is_loaded():
    code = "import sys, zerogap.dependency.problem, zerogap.proof.dependency; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
