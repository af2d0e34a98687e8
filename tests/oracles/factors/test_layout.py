"""Factors sorted out and laid out: the same sets of arcs and scores as the checker finds, and shares that keep their places."""

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from zerogap.dependency.decoding.factors.tables import factor_tables, moved_to, possible_factors
from zerogap.proof.dependency.factor_shares import normal_form
from zerogap.proof.dependency.trees import trees_of
from zerogap.proof.integers import ABSENT
from zerogap.testing.strategies import dependency_problems


def listed(factors, size):
    """Factors of two and more arcs as {arcs by words: score}; equal ones of two arcs may stand there several times."""
    found = {}
    for pair in range(size * size):
        for i in range(factors.begin[pair], factors.begin[pair + 1]):
            h, k = factors.heads[i].tolist()
            key = ((h, pair // size), (k, pair % size))
            found[key] = found.get(key, 0.0) + factors.scores[i]
    for c, (a, b) in enumerate(itertools.pairwise(factors.start.tolist())):
        key = tuple(divmod(arc, size) for arc in factors.arc[a:b].tolist())
        assert key not in found
        found[key] = factors.phi[c]
    return {key: score for key, score in found.items() if score != 0.0}


@given(problem=dependency_problems(max_words=5, max_factors=12, holes=True))
@settings(max_examples=150)
def test_sorted_out_as_the_checker_does(problem):
    factors = possible_factors(problem, problem.arcs)
    normal = normal_form(trees_of(problem, 1))
    of_checker = np.where(normal.arcs > ABSENT, normal.arcs * problem.resolution, -np.inf)
    if problem.labels is None:
        assert factors.arcs.tolist() == of_checker.tolist()
    scores = {key: score * problem.resolution if score > ABSENT else -np.inf for key, score in normal.factors.items()}
    expected = {key: score for key, score in scores.items() if all(normal.arcs[arc] > ABSENT for arc in key)}
    assert listed(factors, problem.n_words + 1) == expected
    larger = [key for key in expected if len(key) > 2]  # in the order of the problem
    size = problem.n_words + 1
    bounds = itertools.pairwise(factors.start.tolist())
    assert [tuple(divmod(arc, size) for arc in factors.arc[a:b].tolist()) for a, b in bounds] == larger


def by_name(layout, shares, size):
    found = {}
    for q, (m, s) in enumerate(zip(layout.first.tolist(), layout.second.tolist(), strict=True)):
        for j, i in enumerate(range(layout.head_start[s], layout.head_start[s + 1])):
            found[m, s, int(layout.head[i])] = shares[layout.share_start[q] + j]
    for number, (a, b) in zip(layout.number.tolist(), itertools.pairwise(layout.start.tolist()), strict=True):
        for p in range(a, b):
            found[number, p - a] = shares[layout.share_start[-1] + p]
    assert len(found) == len(shares)
    return found


@given(problem=dependency_problems(max_words=4, max_factors=12), seed=st.integers(0, 2**32 - 1))
@settings(max_examples=100)
def test_shares_go_over_by_name(problem, seed):
    rng, size = np.random.default_rng(seed), problem.n_words + 1
    factors = possible_factors(problem, problem.arcs)
    allowed = rng.random((size, size)) < 0.8
    some = factor_tables(problem, factors, allowed)
    fewer = factor_tables(problem, factors, allowed & (rng.random((size, size)) < 0.8))
    shares = rng.integers(1, 100, len(some.first_shares())).astype(np.float64)
    known, first = by_name(some.layout, shares, size), by_name(fewer.layout, fewer.first_shares(), size)
    moved = by_name(fewer.layout, moved_to(some.layout, shares, fewer)[0], size)
    assert moved == {name: known.get(name, share) for name, share in first.items()}
    assert all(name in known for name in first)
