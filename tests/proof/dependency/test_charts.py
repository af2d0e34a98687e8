"""The checker's own dynamic programs against enumeration, with every subset of the parts that they score."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zerogap.baselines.brute import best_scores, dependency_structures
from zerogap.dependency import Lazy, Problem
from zerogap.errors import VerificationError
from zerogap.proof import DynamicProgram
from zerogap.proof.dependency.claims import dependency_bound as bound_in_units
from zerogap.proof.dependency.trees import best_projective_scores, trees_of
from zerogap.proof.integers import as_float, number
from zerogap.testing.strategies import dependency_problems


def dependency_bound(problem, certificate):
    return as_float(bound_in_units(problem, certificate, np.inf), problem.resolution)


def best_scores_of(problem, k):
    return [as_float(number(score), problem.resolution) for score in best_projective_scores(trees_of(problem, k), k)]


GRAND = ("siblings", "stops", "grandparents", "outermost", "grandsiblings")


@pytest.mark.parametrize("kinds", [(), ("siblings", "stops"), GRAND])
@given(data=st.data())
@settings(max_examples=150)
def test_the_k_best_scores(kinds, data):
    problem = data.draw(dependency_problems(max_words=4, kinds=kinds, projective=True, max_labels=data.draw(st.sampled_from((0, 2)))))
    k = data.draw(st.sampled_from((1, 2, 3, 7)))
    expected = best_scores(problem, dependency_structures(problem), k)
    expected += [-np.inf] * (k - len(expected))
    assert best_scores_of(problem, k) == expected
    assert dependency_bound(problem, DynamicProgram()) == expected[0]


@given(dependency_problems(max_words=5, kinds=GRAND, projective=True))
@settings(max_examples=40)
def test_five_words(problem):
    expected = best_scores(problem, dependency_structures(problem), 1) or [-np.inf]
    assert best_scores_of(problem, 1) == expected


def test_what_a_chart_does_not_hold():
    for name, order in (("trisiblings", 4), ("factors", 0)):
        given_parts = {name: np.zeros((3,) * order)} if order else {name: [([(0, 1)], 1.0)]}
        with pytest.raises(VerificationError, match=f"proves nothing about {name}"):
            dependency_bound(Problem(np.zeros((3, 3)), **given_parts, projective=True), DynamicProgram())


def test_only_parts_of_allowed_arcs_are_asked_for():
    """Not for the 10 million that 60 words have."""
    n, rng = 60, np.random.default_rng(0)
    arcs = np.full((n + 1, n + 1), -np.inf)
    for m in range(1, n + 1):
        near = np.arange(max(0, m - 4), min(n, m + 4) + 1)
        arcs[rng.choice(near[near != m], 4, replace=False), m] = rng.standard_normal(4)
    arcs[0, rng.integers(1, n + 1, 3)] = 0.0
    arcs[np.arange(n), np.arange(1, n + 1)] = -1.0
    weights = rng.standard_normal(4)
    lazy = Lazy(lambda g, h, s, m: np.sin(weights[0] * g + weights[1] * h + weights[2] * s + weights[3] * m), 1.0)
    problem = Problem(arcs, grandsiblings=lazy, stops=Lazy(lambda h, s: np.cos(h * s), 1.0), projective=True)
    assert dependency_bound(problem, DynamicProgram()) > -np.inf
    assert problem.parts_scored < 20_000
