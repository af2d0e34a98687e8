"""Dual decomposition with head automata: never wrong, never without a proof, whatever is scored."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zerogap.baselines.brute import all_labelled_trees, all_trees, optimum
from zerogap.dependency import decode
from zerogap.errors import Infeasible
from zerogap.proof.files import solution_from_json, solution_to_json
from zerogap.proof.verify import verify
from zerogap.testing.strategies import dependency_problems

KINDS = ["grandparents", "grandsiblings", "outermost", "siblings", "stops"]


def structures(problem):
    options = {"projective": problem.projective, "single_root": problem.single_root}
    if problem.labels is None:
        return all_trees(problem.n_words, **options)
    names = problem.label_names or range(problem.labels.shape[2])
    return all_labelled_trees(problem.n_words, names, **options)


@given(data=st.data(), projective=st.booleans())
@settings(max_examples=300)
def test_never_wrong_and_always_proven(data, projective):
    labels = data.draw(st.sampled_from((0, 0, 2)))
    problem = data.draw(dependency_problems(max_words=4, kinds=KINDS, projective=projective, max_labels=labels))
    best = optimum(problem, structures(problem))
    if best == -np.inf:
        with pytest.raises(Infeasible):
            decode(problem, method="head-automata")
        return
    solution = decode(problem, method="head-automata")
    problem.check(solution.structure)
    assert problem.score(solution.structure) == solution.score == best == solution.bound
    verify(problem, solution)
    verify(problem, solution_from_json(json.loads(json.dumps(solution_to_json(solution), allow_nan=False))))
    alone = decode(problem, method="dual-decomposition")
    assert alone.score <= best <= alone.bound
    verify(problem, alone)
