"""Probabilities and best scores of arcs against enumeration, for whatever parts a dynamic program holds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zerogap.baselines.brute import all_labelled_trees, all_trees
from zerogap.dependency import Problem, decode, marginals, max_marginals
from zerogap.dependency.decoding.methods import METHODS
from zerogap.errors import Infeasible, InputError
from zerogap.testing.strategies import dependency_problems


def scored(problem):
    """Every structure of a problem as heads, label indices and score."""
    options = {"projective": problem.projective, "single_root": problem.single_root}
    if problem.labels is None:
        return [(heads, (), problem.score(heads)) for heads in all_trees(problem.n_words, **options)]
    size = problem.labels.shape[2]
    names = problem.label_names or range(size)
    pairs = all_labelled_trees(problem.n_words, range(size), **options)
    return [(heads, labels, problem.score((heads, tuple(names[i] for i in labels)))) for heads, labels in pairs]


problems = st.one_of(
    dependency_problems(max_words=4, projective=False, max_labels=2),
    dependency_problems(max_words=4, projective=True, max_labels=2),
    dependency_problems(max_words=4, projective=True, kinds=("siblings", "stops"), max_labels=2),
    dependency_problems(max_words=4, projective=True, kinds=sorted(METHODS["grandsiblings"].parts)),
)


@given(problems)
@settings(max_examples=300)
def test_probabilities(problem):
    structures = scored(problem)
    weights = np.exp([score for _, _, score in structures])
    if weights.sum() == 0.0:
        with pytest.raises(Infeasible):
            marginals(problem)
        return
    expected = np.zeros((problem.n_words + 1,) * 2)
    of_labels = None if problem.labels is None else np.zeros(problem.labels.shape)
    for (heads, labels, _), weight in zip(structures, weights / weights.sum(), strict=True):
        for m, h in enumerate(heads, start=1):
            expected[h, m] += weight
            if of_labels is not None:
                of_labels[h, m, labels[m - 1]] += weight
    found = marginals(problem)
    assert np.isclose(found.log_partition, np.log(weights.sum()), rtol=1e-12, atol=1e-12)
    assert np.allclose(found.arcs, expected, rtol=1e-10, atol=1e-13)
    if of_labels is None:
        assert found.labels is None
    else:
        assert np.allclose(found.labels, of_labels, rtol=1e-10, atol=1e-13)


@given(problems)
@settings(max_examples=300)
def test_best_scores(problem):
    expected = np.full((problem.n_words + 1,) * 2, -np.inf)
    best = -np.inf
    for heads, _, score in scored(problem):
        best = max(best, score)
        for m, h in enumerate(heads, start=1):
            expected[h, m] = max(expected[h, m], score)
    if best == -np.inf:
        with pytest.raises(Infeasible):
            max_marginals(problem)
        return
    assert max_marginals(problem).tolist() == expected.tolist()


@pytest.mark.parametrize("kinds", [(), ("siblings",), ("grandsiblings", "stops"), ("outermost",)])
@pytest.mark.parametrize("projective", [True, False])
def test_longer_sentences(kinds, projective):
    if kinds and not projective:
        return
    rng = np.random.default_rng(2)
    n = 15
    parts = {name: rng.standard_normal((n + 1,) * {"stops": 2, "grandsiblings": 4}.get(name, 3)) for name in kinds}
    problem = Problem(rng.standard_normal((n + 1, n + 1)), **parts, projective=projective)
    found = marginals(problem)
    assert np.allclose(found.arcs[:, 1:].sum(axis=0), 1.0)
    assert np.isclose(found.arcs[0].sum(), 1.0)  # a single root
    best = max_marginals(problem)
    solution = decode(problem)
    assert best.max() == solution.score
    assert (best[solution.structure, np.arange(1, n + 1)] == solution.score).all()
    # the best tree alone is less likely than its arcs, and all trees together weigh more than it does
    share = np.exp(solution.score - found.log_partition)
    assert 0.0 < share <= found.arcs[solution.structure, np.arange(1, n + 1)].min()


def test_parts_that_no_dynamic_program_holds():
    problem = Problem(np.zeros((3, 3)), siblings=np.zeros((3, 3, 3)))
    for function in (marginals, max_marginals):
        with pytest.raises(InputError, match="non-projective problem with siblings"):
            function(problem)
        with pytest.raises(InputError, match="expected a zerogap.dependency.Problem"):
            function("problem")


def test_no_words():
    assert marginals(Problem([[0.0]])).log_partition == 0.0
    assert marginals(Problem([[0.0]], stops=[[2.0]], projective=True)).log_partition == 2.0
    assert max_marginals(Problem([[0.0]], stops=[[2.0]], projective=True)).tolist() == [[-np.inf]]
