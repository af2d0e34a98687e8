"""Against sums and maxima over all head vectors of small sentences, exact determinants, and arborescences with an arc forced."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zerogap.baselines.brute import is_tree
from zerogap.errors import Infeasible
from zerogap.oracles.trees.arborescence import maximum_arborescence
from zerogap.oracles.trees.nonprojective_marginals import (
    best_tree_scores,
    nonprojective_marginals,
    nonprojective_max_marginals,
    tree_posteriors,
)
from zerogap.testing.strategies import score_arrays


def by_definition(scores, single_root):
    """log partition, posteriors, best score, best score with every arc: over all trees."""
    n = len(scores) - 1
    trees = [t for t in itertools.product(range(n + 1), repeat=n) if is_tree(t, single_root=single_root)]
    totals = np.array([sum((scores[h, m] for m, h in enumerate(t, start=1)), 0.0) for t in trees])
    best = totals.max(initial=-np.inf)
    if best == -np.inf:
        return -np.inf, np.zeros(scores.shape), best, np.full(scores.shape, -np.inf)
    log_partition = best + np.log(np.exp(totals - best).sum())
    posteriors, best_with = np.zeros(scores.shape), np.full(scores.shape, -np.inf)
    for tree, total in zip(trees, totals, strict=True):
        for m, h in enumerate(tree, start=1):
            posteriors[h, m] += np.exp(total - log_partition)
            best_with[h, m] = max(best_with[h, m], total)
    return log_partition, posteriors, best, best_with


@st.composite
def scored(draw, max_words=4):
    n = draw(st.integers(0, max_words))
    scores = draw(score_arrays((n + 1, n + 1), holes=draw(st.booleans())))
    if draw(st.booleans()):  # few arcs: many words have one possible head
        scores[draw(score_arrays((n + 1, n + 1), holes=False)) > 0] = -np.inf
    return scores


@given(scored(), st.booleans(), st.sampled_from([1.0, 7.0, 1000.0]))
@settings(max_examples=300)
def test_they_are_what_all_trees_add_up_to(scores, single_root, scale):
    scores = scores * scale
    log_partition, posteriors, best, best_with = by_definition(scores, single_root)
    marginals = np.full(scores.shape, np.nan)
    found = nonprojective_marginals(scores, int(single_root), marginals)
    assert found == log_partition or found == pytest.approx(log_partition, rel=1e-13, abs=1e-12 * scale)  # the first of -inf
    assert marginals == pytest.approx(posteriors, abs=1e-11)
    marginals[:] = np.nan
    assert nonprojective_max_marginals(scores, int(single_root), marginals) == best
    assert marginals.tolist() == best_with.tolist()
    if best == -np.inf:
        for solve in (tree_posteriors, best_tree_scores):
            with pytest.raises(Infeasible):
                solve(scores, single_root=single_root)


def exact_total(weights, single_root):
    """The sum over all trees as a determinant in rational numbers (Koo et al. 2007)."""
    n = len(weights) - 1
    matrix = [[-weights[h][m] for m in range(1, n + 1)] for h in range(1, n + 1)]
    for m in range(1, n + 1):
        matrix[m - 1][m - 1] = sum((weights[h][m] for h in range(1, n + 1) if h != m), Fraction(0) if single_root else weights[0][m])
    if single_root:
        matrix[0] = [weights[0][m] for m in range(1, n + 1)]
    determinant = Fraction(1)
    for k in range(n):
        pivot = next((r for r in range(k, n) if matrix[r][k] != 0), None)
        if pivot is None:
            return Fraction(0)
        if pivot != k:
            matrix[k], matrix[pivot] = matrix[pivot], matrix[k]
            determinant = -determinant
        determinant *= matrix[k][k]
        for r in range(k + 1, n):
            factor = matrix[r][k] / matrix[k][k]
            matrix[r] = [a - factor * b for a, b in zip(matrix[r], matrix[k], strict=True)]
    return determinant


@pytest.mark.parametrize("n", [2, 3, 6])
@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("spread", [4, 60, 2000])
def test_even_improbable_arcs_are_exact(n, single_root, spread):
    # With powers of two from 2^-spread to 1, floating-point determinants lose everything. Posteriors keep their leading digits.
    rng = np.random.default_rng([n, spread])
    for _ in range(2):
        exponents = rng.integers(-spread, 1, (n + 1, n + 1))
        weights = [[Fraction(2) ** int(e) for e in row] for row in exponents]
        total = exact_total(weights, single_root)
        log_partition, posteriors = tree_posteriors(exponents * np.log(2), single_root=single_root)
        assert log_partition == pytest.approx(math.log(total.numerator) - math.log(total.denominator), rel=1e-12, abs=1e-12)
        for h, m in itertools.product(range(n + 1), range(1, n + 1)):
            if h != m:
                with_arc = [[w if (k, j) == (h, m) or j != m else Fraction(0) for j, w in enumerate(row)] for k, row in enumerate(weights)]
                expected = float(exact_total(with_arc, single_root) / total)
                assert posteriors[h, m] == pytest.approx(expected, rel=1e-9, abs=1e-150)


@pytest.mark.parametrize("n", [1, 2, 5, 8, 13, 30])
@pytest.mark.parametrize("single_root", [True, False])
def test_max_marginals_are_arborescences_with_the_arc(n, single_root):
    rng = np.random.default_rng(n)
    scores = rng.integers(-8, 9, (n + 1, n + 1)).astype(np.float64)
    scores[rng.random(scores.shape) < 0.3] = -np.inf
    scores[:-1, 1:][np.eye(n, dtype=bool)] = 0.0  # arcs from the word before: there is a tree
    best, best_with = best_tree_scores(scores, single_root=single_root)
    words = np.arange(1, n + 1)
    assert best == scores[maximum_arborescence(scores, single_root=single_root), words].sum() == best_with.max()
    for h, m in itertools.product(range(n + 1), range(n + 1)):
        forced = scores.copy()
        forced[:, m] = -np.inf
        forced[h, m] = scores[h, m]
        try:
            expected = forced[maximum_arborescence(forced, single_root=single_root), words].sum() if m not in (0, h) else -np.inf
        except Infeasible:
            expected = -np.inf
        assert best_with[h, m] == expected


@pytest.mark.parametrize("n", [5, 17, 50, 100])
@pytest.mark.parametrize("single_root", [True, False])
def test_determinants_say_the_same(n, single_root):
    rng = np.random.default_rng(n)
    scores = rng.standard_normal((n + 1, n + 1)) * 2
    weights = np.exp(scores)
    np.fill_diagonal(weights, 0.0)
    laplacian = np.diag(weights[1 if single_root else 0 :, 1:].sum(axis=0)) - weights[1:, 1:]
    if single_root:
        laplacian[0] = weights[0, 1:]
    log_partition, posteriors = tree_posteriors(scores, single_root=single_root)
    assert log_partition == pytest.approx(np.linalg.slogdet(laplacian)[1], rel=1e-12)
    assert posteriors[:, 1:].sum(axis=0) == pytest.approx(np.ones(n), abs=1e-12)
    assert posteriors[0].sum() == pytest.approx(1.0, abs=1e-12) or not single_root
    inverse = np.linalg.inv(laplacian)
    if not single_root:
        assert posteriors[0, 1:] == pytest.approx(weights[0, 1:] * np.diag(inverse), abs=1e-12)
        assert posteriors[1:, 1:] == pytest.approx(weights[1:, 1:] * (np.diag(inverse)[None, :] - inverse.T), abs=1e-12)


def test_a_word_that_must_be_the_root():
    # Words 1 to 3 have no heads but each other and 4, 4 only the root and 5, 5 only 4: whatever is eliminated first.
    scores = np.full((6, 6), -np.inf)
    scores[4, 1:4] = scores[1:4, 1:4] = scores[0, 4] = scores[5, 4] = scores[4, 5] = 0.0
    for order in list(itertools.permutations(range(1, 6)))[::7]:
        index = np.array([0, *order])
        shuffled = scores[np.ix_(index, index)]
        for single_root in (True, False):
            log_partition, posteriors, _, best_with = by_definition(shuffled, single_root)
            found, marginals = tree_posteriors(shuffled, single_root=single_root)
            assert found == pytest.approx(log_partition)
            assert marginals == pytest.approx(posteriors, abs=1e-12)
            assert best_tree_scores(shuffled, single_root=single_root)[1].tolist() == best_with.tolist()


def test_no_words():
    log_partition, marginals = tree_posteriors(np.zeros((1, 1)))
    assert log_partition == 0.0
    assert marginals.tolist() == [[0.0]]
    assert best_tree_scores(np.zeros((1, 1)))[0] == 0.0


def test_what_is_not_accepted():
    marginals = np.empty((3, 3))
    assert np.isnan(nonprojective_marginals(np.full((3, 3), np.nan), 1, marginals))
    assert np.isnan(nonprojective_max_marginals(np.full((3, 3), np.inf), 1, marginals))
