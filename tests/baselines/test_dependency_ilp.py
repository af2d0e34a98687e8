import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zerogap.baselines.brute import all_trees, dependency_structures, optimum
from zerogap.baselines.dependency_flow import projected
from zerogap.baselines.dependency_ilp import solve_dependency
from zerogap.dependency import Problem
from zerogap.errors import Infeasible, InputError, UnknownMethod
from zerogap.testing.strategies import dependency_problems, score_arrays

CLOSE = 1e-6
KINDS = [
    (), ("siblings", "stops"), ("grandparents",), ("siblings", "stops", "grandparents"),
    ("outermost", "stops"), ("grandparents", "grandsiblings", "siblings"),
]  # fmt: skip


def best_score(problem):
    return optimum(problem, dependency_structures(problem))


def relaxed(problem, **options):
    """The value of the relaxation, -inf if it is infeasible."""
    try:
        answer = solve_dependency(problem, **options)
    except Infeasible:
        return -np.inf
    assert answer.finished
    assert answer.arcs[:, 1:].sum(axis=0) == pytest.approx(1.0)
    assert not answer.arcs[problem.arcs == -np.inf].any()
    assert answer.heads in all_trees(problem.n_words, single_root=problem.single_root)
    if answer.integral:  # then nothing was lost
        assert answer.value == pytest.approx(best_score(problem), abs=CLOSE)
    return answer.value


@pytest.mark.parametrize("kinds", KINDS)
@given(data=st.data())
@settings(max_examples=60)
def test_never_wrong_and_never_lazy(kinds, data):
    projective, labels = data.draw(st.booleans()), data.draw(st.sampled_from((0, 0, 2)))
    problem = data.draw(dependency_problems(max_words=4, kinds=kinds, projective=projective, max_labels=labels))
    best = best_score(problem)
    flow, grandparents = data.draw(st.sampled_from(("single", "multi"))), data.draw(st.sampled_from(("tight", "2009")))
    if best == -np.inf:
        with pytest.raises(Infeasible):
            solve_dependency(problem, integer=True, flow=flow, grandparents=grandparents)
        return
    answer = solve_dependency(problem, integer=True, flow=flow, grandparents=grandparents)
    assert answer.value == best
    assert answer.integral
    assert answer.finished
    if problem.labels is None:
        problem.check(answer.heads)
        assert problem.score(answer.heads) == best


@pytest.mark.parametrize("kinds", KINDS)
@given(data=st.data())
@settings(max_examples=60)
def test_relaxations_are_bounds_and_more_rows_are_tighter(kinds, data):
    problem = data.draw(dependency_problems(max_words=4, kinds=kinds, projective=False))
    best = best_score(problem)
    single, multi = relaxed(problem), relaxed(problem, flow="multi")
    assert best <= multi + CLOSE
    assert multi <= single + CLOSE
    assert single <= relaxed(problem, grandparents="2009") + CLOSE
    if not problem.parts:  # the second flow is the convex hull of trees
        assert multi == pytest.approx(best, abs=CLOSE)


def test_grandsiblings_are_as_tight_as_grandparents():
    """Scores that do not depend on the sibling are those of grandparents: the larger program must not be looser."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        arcs, table = rng.standard_normal((7, 7)), 3.0 * rng.standard_normal((7, 7, 7))
        smaller = solve_dependency(Problem(arcs, grandparents=table))
        larger = solve_dependency(Problem(arcs, grandsiblings=np.broadcast_to(table[:, :, None, :], (7, 7, 7, 7)).copy()))
        assert larger.value <= smaller.value + CLOSE


@given(scores=st.integers(0, 5).flatmap(lambda n: score_arrays((n + 1, n + 1))), single_root=st.booleans())
def test_projection_is_a_best_tree(scores, single_root):
    scores[:, 0] = scores[np.diag_indices(len(scores))] = -np.inf
    values = (scores + 4.0) / 8.0  # in [0, 1]
    trees = np.array(all_trees(len(scores) - 1, single_root=single_root), dtype=np.int64)
    best = values[trees, np.arange(1, len(scores))].sum(axis=1).max(initial=-np.inf)
    if best == -np.inf:
        with pytest.raises(Infeasible):
            projected(values, scores > -np.inf, single_root=single_root)
        return
    heads = projected(values, scores > -np.inf, single_root=single_root)
    assert heads in all_trees(len(heads), single_root=single_root)
    assert sum(values[h, m] for m, h in enumerate(heads, start=1)) == best


def test_no_words():
    for integer in (False, True):
        answer = solve_dependency(Problem([[0.0]], stops=[[2.0]]), integer=integer)
        assert (answer.value, answer.heads, answer.integral) == (2.0, (), True)
        with pytest.raises(Infeasible):
            solve_dependency(Problem([[0.0]], stops=[[-np.inf]]), integer=integer)


def test_a_fractional_relaxation():
    """Words 2 and 3 would rather head each other. One commodity asks for a third of an arc into each, as an arc may carry three units."""
    arcs = np.full((4, 4), -9.0)
    arcs[0, 1] = 0.0
    arcs[2, 3] = arcs[3, 2] = 2.0
    problem = Problem(arcs)
    single, multi, best = (solve_dependency(problem, **options) for options in ({}, {"flow": "multi"}, {"integer": True}))
    assert not single.integral
    assert single.value == pytest.approx(2 / 3 * -9.0 + 4 / 3 * 2.0)
    assert multi.value == pytest.approx(-7.0)
    assert best.value == problem.score(best.heads) == problem.score(single.heads) == -7.0


def test_a_limit_of_no_time():
    rng = np.random.default_rng(0)
    n = 25
    tables = {"siblings": rng.standard_normal((n + 1,) * 3), "grandparents": rng.standard_normal((n + 1,) * 3)}
    problem = Problem(rng.standard_normal((n + 1, n + 1)), **tables)
    for integer in (False, True):
        answer = solve_dependency(problem, integer=integer, time_limit=0.0)
        assert not answer.finished
        assert answer.heads is None or integer
        assert answer.value == (np.inf if not integer else -np.inf if answer.heads is None else problem.score(answer.heads))


def test_what_is_not_offered():
    arcs = np.zeros((3, 3))
    with pytest.raises(InputError, match="the problem scores trisiblings: expected none"):
        solve_dependency(Problem(arcs, trisiblings=np.zeros((3, 3, 3, 3))))
    with pytest.raises(UnknownMethod, match="Did you mean 'multi'"):
        solve_dependency(Problem(arcs), flow="mult")
    with pytest.raises(UnknownMethod, match="Known: tight, 2009"):
        solve_dependency(Problem(arcs), grandparents="loose")
