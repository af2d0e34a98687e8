"""Shares of factors: what they bound is above every tree, the projection is the nearest point, and descents are never lazy."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zerogap.baselines.brute import all_trees
from zerogap.dependency import Problem
from zerogap.dependency.decoding.factors.search import FactorSearch
from zerogap.dependency.decoding.factors.tables import factor_tables, possible_factors
from zerogap.oracles.descent import Steps
from zerogap.oracles.factors.steps import simplex_level
from zerogap.testing.strategies import dependency_problems

INFINITE = float("inf")


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=6), st.floats(0.01, 5))
def test_projection_onto_a_simplex(values, total):
    point = np.array(values)
    projected = np.maximum(point - simplex_level(point.copy(), total), 0.0)
    assert projected.sum() == pytest.approx(total)
    distance = ((projected - point) ** 2).sum()
    for i, j in itertools.permutations(range(len(values)), 2):  # moving a little anywhere leads away from the point
        other = projected.copy()
        moved = min(other[i], 1e-3)
        other[i] -= moved
        other[j] += moved
        assert ((other - point) ** 2).sum() >= distance - 1e-9


def search_of(problem):
    search = FactorSearch(problem, possible_factors(problem, problem.arcs), 0.0, INFINITE)
    node = search.open(search.factors.arcs > -np.inf)
    return (None, None) if node is None else (search, node)


@given(problem=dependency_problems(max_words=4, max_factors=10), seed=st.integers(0, 2**32 - 1))
@settings(max_examples=150)
def test_any_shares_bound_every_tree(problem, seed):
    if problem.n_words == 0:
        return
    search, node = search_of(problem)
    if search is None:
        return
    tables, rng = search.tables, np.random.default_rng(seed)
    shares = tables.first_shares()
    of_tables = int(tables.layout.share_start[-1])
    shares[:of_tables] += rng.integers(-1000, 1000, of_tables) * tables.grid.unit * 2.0**20
    weights, constant = tables.weights(node, shares)
    words = np.arange(1, problem.n_words + 1)
    for heads in all_trees(problem.n_words, projective=problem.projective, single_root=problem.single_root):
        assert problem.score(heads) <= weights[list(heads), words].sum() + constant


@given(problem=dependency_problems(max_words=4, max_factors=10), floor=st.sampled_from((-INFINITE, -3.0)))
@settings(max_examples=150)
def test_a_descent_ends_with_a_true_bound_and_a_true_score(problem, floor):
    if problem.n_words == 0:
        return
    search, node = search_of(problem)
    if search is None:
        return
    trees = all_trees(problem.n_words, projective=problem.projective, single_root=problem.single_root)
    best = max(map(problem.score, trees), default=-INFINITE)
    before = INFINITE
    for calls in (1, 5, 60):
        run = search.run(node, search.tables.first_shares(), floor, Steps(0.5, 0.01, calls), rounds=3)
        assert best <= run.bound or best <= floor
        assert run.score <= max(best, floor)
        assert run.bound <= before  # more calls from the same shares cannot be worse
        before = run.bound
        if run.heads is not None:
            assert problem.score(tuple(run.heads.tolist())) == run.score
        weights, constant = search.tables.weights(node, run.shares)
        if run.bound > -INFINITE:
            words = np.arange(1, problem.n_words + 1)
            most = max((weights[list(heads), words].sum() for heads in trees), default=-INFINITE) + constant
            assert np.floor(most / search.tables.grid.grain) * search.tables.grid.grain == run.bound


def test_pairs_of_words_are_bounded_together():
    """Every head of word 2 scores with every head of word 1 that it can have: shares of single factors could not show that one holds."""
    n = 3
    factors = [([(h, 1), (k, 2)], 1.0) for h in (0, 2, 3) for k in (0, 1, 3) if (h, k) not in ((2, 1), (0, 0))]
    problem = Problem(np.zeros((n + 1, n + 1)), factors=factors)
    search, node = search_of(problem)
    run = search.run(node, search.tables.first_shares(), -INFINITE, Steps(0.5, 0.01, 50))
    assert run.bound == run.score == 1.0


def test_units_leave_room_for_exact_sums():
    """Fine where scores are few, coarser where shares of many forbidden combinations must be large."""
    problem = Problem(np.ones((4, 4)), factors=[([(0, 1), (1, 2)], 1.0)])
    few = factor_tables(problem, possible_factors(problem, problem.arcs), problem.arcs > -np.inf)
    assert problem.resolution * 2.0**-8 <= few.grid.unit <= problem.resolution * 2.0**-5
    assert few.grid.grain == 1.0
    n = 6
    every = [(h, m) for m in range(1, n + 1) for h in range(n + 1) if h != m]
    triples = [some for some in itertools.combinations(every, 3) if len({m for _, m in some}) == 3]
    many = Problem(np.ones((n + 1, n + 1)), factors=[(some, -np.inf) for some in triples[:3000]])
    tables = factor_tables(many, possible_factors(many, many.arcs), many.arcs > -np.inf)
    assert many.resolution * 2.0**-8 <= tables.grid.unit <= many.resolution
    assert tables.grid.limit >= 1.0
