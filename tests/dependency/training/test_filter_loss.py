"""The counts of a threshold add up to it, and are its subgradient."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zerogap.dependency.training.filter_loss import filter_counts
from zerogap.oracles.trees.hypergraphs import projective_hypergraph
from zerogap.oracles.vine.max_marginal_counts import BestPaths
from zerogap.relax.pruning import MEAN, Rule

pytestmark = pytest.mark.compiled


def threshold(trees, scores, makes, eta):
    paths = BestPaths(trees.hypergraph, scores)
    of_parts = np.full(makes.max() + 1, -np.inf)
    np.maximum.at(of_parts, makes[makes >= 0], paths.marginals[makes >= 0])
    return Rule(MEAN, eta).threshold(paths.best, of_parts), filter_counts(paths, makes, eta)


@given(st.integers(1, 5), st.integers(0, 10_000), st.sampled_from([0.0, 0.25, 1.0]))
def test_counts_add_up_to_the_threshold(n, seed, eta):
    rng = np.random.default_rng(seed)
    arcs = rng.integers(-4, 5, (n + 1, n + 1)).astype(np.float64)
    trees = projective_hypergraph(arcs)
    makes = np.where(trees.parts[:, 3] >= 0, trees.parts[:, 1] * (n + 1) + trees.parts[:, 3], -1)
    value, counts = threshold(trees, trees.scores, makes, eta)
    assert abs(counts @ trees.scores - value) < 1e-9
    assert abs(counts[makes >= 0].sum() - n) < 1e-9  # every structure has as many arcs as words
    change = np.where(makes >= 0, rng.normal(size=len(makes)), 0.0)
    other, _ = threshold(trees, trees.scores + change, makes, eta)
    assert other >= value + counts @ change - 1e-9  # convex: a subgradient is below
