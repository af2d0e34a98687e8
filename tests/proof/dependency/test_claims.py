"""The checker of the k best counts what scores more than the last of them, by code of its own."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zerogap.baselines.brute import all_labelled_trees, all_trees, best_scores, best_tree_score
from zerogap.dependency import Problem, decode
from zerogap.errors import Infeasible, VerificationError
from zerogap.proof import DynamicProgram
from zerogap.proof.dependency.claims import best_tree, dependency_alternatives
from zerogap.proof.integers import units, units_of
from zerogap.testing.strategies import dependency_problems, score_arrays


@given(st.integers(1, 4).flatmap(lambda n: score_arrays((n + 1, n + 1))))
@settings(max_examples=300)
def test_the_best_tree(arcs):
    expected = best_tree_score(arcs, single_root=False)
    arcs[:, 0] = -np.inf
    heads = best_tree(units(arcs, 2.0**-10))
    if heads is None:
        assert expected == -np.inf
    else:
        assert tuple(heads.tolist()) in all_trees(len(arcs) - 1, single_root=False)
        assert arcs[heads, np.arange(1, len(arcs))].sum() == expected


@given(dependency_problems(max_words=4, kinds=("siblings",), projective=True, max_labels=2), st.integers(-6, 6), st.integers(1, 12))
@settings(max_examples=150)
def test_projective_structures_are_counted(problem, claimed, k):
    compare(problem, DynamicProgram(), float(claimed), k)


@given(dependency_problems(max_words=4, projective=False, max_labels=2), st.integers(0, 6), st.integers(1, 12))
@settings(max_examples=150)
def test_nonprojective_structures_are_counted(problem, below, k):
    try:
        solution = decode(problem)
    except Infeasible:
        return
    compare(problem, solution.certificate, solution.score - below, k)


def compare(problem, certificate, claimed, k):
    options = {"projective": problem.projective, "single_root": problem.single_root}
    structures = all_trees(problem.n_words, **options)
    if problem.labels is not None:
        structures = all_labelled_trees(problem.n_words, problem.label_names or range(problem.labels.shape[2]), **options)
    expected = [score for score in best_scores(problem, structures) if score > claimed]
    in_units = units_of(claimed, problem.resolution, "score")
    found = [score * problem.resolution for score in dependency_alternatives(problem, certificate, in_units, k)]
    assert len(found) == min(k, len(expected))
    assert found == sorted(found, reverse=True)
    if len(expected) <= k or problem.projective:
        assert found == expected[:k]
    else:
        assert set(found) <= set(expected)


def test_a_certificate_of_another_kind():
    with pytest.raises(VerificationError, match="non-projective"):
        dependency_alternatives(Problem(np.zeros((3, 3))), DynamicProgram(), 0, 2)
