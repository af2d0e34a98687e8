"""The checker accepts only what proves something: bounds hold for every tree, and tampering is found."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zerogap.baselines.brute import all_heads, optimum
from zerogap.dependency import Problem, decode
from zerogap.errors import InvalidStructure, VerificationError
from zerogap.proof.certificate import CutDuals, DynamicProgram, Multipliers
from zerogap.proof.dependency.claims import dependency_bound as bound_in_units
from zerogap.proof.integers import as_float
from zerogap.testing.strategies import score_arrays


def dependency_bound(problem, certificate):
    """The bound as a score."""
    return as_float(bound_in_units(problem, certificate, np.inf), problem.resolution)


def best_of_all(problem):
    return optimum(problem, all_heads(problem.n_words))


@given(st.integers(0, 4).flatmap(lambda n: score_arrays((n + 1, n + 1))), st.booleans())
@settings(max_examples=200)
def test_the_dynamic_program_is_right(arcs, single_root):
    problem = Problem(arcs, projective=True, single_root=single_root)
    assert dependency_bound(problem, DynamicProgram()) == best_of_all(problem)


@st.composite
def cut_duals(draw, n):
    words = st.lists(st.integers(1, n), min_size=1, max_size=n, unique=True).map(lambda some: tuple(sorted(some)))
    sets = tuple(draw(st.lists(words, max_size=3))) + tuple((m,) for m in range(1, n + 1))
    values = tuple(float(draw(st.integers(-3, 1 if len(some) > 1 else 6))) for some in sets)
    return CutDuals(sets, values)


@given(st.data(), st.integers(1, 3), st.booleans(), st.booleans())
@settings(max_examples=400)
def test_what_is_accepted_bounds_every_tree(data, n, single_root, projective):
    problem = Problem(data.draw(score_arrays((n + 1, n + 1))), projective=projective, single_root=single_root)
    try:
        bound = dependency_bound(problem, data.draw(cut_duals(n)))
    except VerificationError:
        return
    assert best_of_all(problem) <= bound


def peaked(n=8, seed=0, **options):
    """Integer scores whose best tree needs contractions and, with a single root, a price."""
    rng = np.random.default_rng(seed)
    arcs = rng.integers(-5, 6, (n + 1, n + 1)).astype(float)
    arcs[0] += 4
    return Problem(arcs, **options)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("single_root", [True, False])
def test_tampered_certificates_fail(seed, single_root):
    problem = peaked(seed=seed, single_root=single_root)
    solution = decode(problem)
    certificate = solution.certificate
    assert dependency_bound(problem, certificate) == solution.bound == solution.score
    for k, value in enumerate(certificate.values):
        lower = (*certificate.values[:k], value - 1, *certificate.values[k + 1 :])
        with pytest.raises(VerificationError, match="more than the"):  # a tree would beat it
            dependency_bound(problem, CutDuals(certificate.sets, lower))
        without = CutDuals(certificate.sets[:k] + certificate.sets[k + 1 :], certificate.values[:k] + certificate.values[k + 1 :])
        try:
            weaker = dependency_bound(problem, without)
        except VerificationError:
            assert value > 0
        else:
            assert weaker == solution.bound - value >= solution.bound  # without a set of value below 0: weaker, still true
    for m, h in itertools.product(range(8), range(9)):
        heads = (*solution.structure[:m], h, *solution.structure[m + 1 :])
        try:
            problem.check(heads)
        except InvalidStructure:
            continue
        assert problem.score(heads) <= solution.bound


@pytest.mark.parametrize(
    ("sets", "values", "reason"),
    [
        (((1,), (2,)), (9.0,), "2 sets and 1 values"),
        (((1,), ()), (9.0, 0.0), r"sets\[1\]"),
        (((1,), (3,)), (9.0, 9.0), r"sets\[1\]"),
        (((0,), (2,)), (9.0, 9.0), r"sets\[0\]"),
        (((1, 1), (2,)), (9.0, 9.0), r"sets\[0\]"),
        (((True,), (2,)), (9.0, 9.0), r"sets\[0\]"),
        (((1,), (2,)), (9.0, np.inf), r"values\[1\] is inf"),
        (((1,), (2,)), (np.nan, 9.0), r"values\[0\] is nan"),
        (((1,), (2,)), (9.0, 9.0 + 2.0**-48), r"values\[1\].*resolution"),
        (((1,), (2,)), (9.0, 2.0**60), "not exact"),
        (((1,), (2,), (1, 2)), (0.0, 0.0, 9.0), r"values\[2\] is 9.0: expected at most 0"),
    ],
)
def test_what_is_not_a_dual(sets, values, reason):
    with pytest.raises(VerificationError, match=reason):
        dependency_bound(Problem([[0, 1, 9], [0, 0, 2], [0, 5, 0]], single_root=False), CutDuals(sets, values))


def test_the_set_of_all_words_is_entered_once_with_a_single_root():
    arcs = [[0, 9, 9], [0, 0, 1], [0, 1, 0]]
    certificate = CutDuals(((1,), (2,), (1, 2)), (1.0, 1.0, 8.0))
    assert dependency_bound(Problem(arcs), certificate) == 10.0 == decode(Problem(arcs)).score
    with pytest.raises(VerificationError, match="at most 0"):
        dependency_bound(Problem(arcs, single_root=False), certificate)


def test_cuts_bound_projective_trees_too():
    for seed in range(5):
        free, projective = peaked(seed=seed), peaked(seed=seed, projective=True)
        assert dependency_bound(projective, decode(free).certificate) >= decode(projective).score


def test_certificates_that_prove_nothing():
    problem = peaked()
    with pytest.raises(VerificationError, match="non-projective"):
        dependency_bound(problem, DynamicProgram())
    with pytest.raises(VerificationError, match="'multipliers'"):
        dependency_bound(problem, Multipliers((1.0,)))


@pytest.mark.parametrize("single_root", [True, False])
def test_300_words(single_root):
    arcs = np.random.default_rng(1).integers(-99, 100, (301, 301))
    free = Problem(arcs, single_root=single_root)
    solution = decode(free)
    assert dependency_bound(free, solution.certificate) == solution.score
    projective = Problem(arcs, projective=True, single_root=single_root)
    assert dependency_bound(projective, DynamicProgram()) == decode(projective).score
