"""Against the best tree among those that have an arc."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles.trees.test_siblings import scored
from zerogap.oracles.trees.sibling_marginals import sibling_max_marginals
from zerogap.oracles.trees.siblings import sibling_kernel


def best_with(h, m, arcs, siblings, stops, single_root):
    only = arcs.copy()
    only[:, m] = -np.inf
    only[h, m] = arcs[h, m]
    return sibling_kernel(only, siblings, stops, single_root, np.empty(len(arcs) - 1, np.int64))


def check(arcs, siblings, stops, single_root):
    n = len(arcs) - 1
    found = np.empty((n + 1, n + 1))
    best = sibling_max_marginals(arcs, siblings, stops, single_root, found)
    assert best == sibling_kernel(arcs, siblings, stops, single_root, np.empty(n, np.int64))
    for h in range(n + 1):
        for m in range(1, n + 1):
            assert found[h, m] == (best_with(h, m, arcs, siblings, stops, single_root) if h != m else -np.inf)


@given(scored(max_words=5), st.booleans())
@settings(max_examples=200)
def test_arcs_of_small_sentences(scores, single_root):
    check(*scores, int(single_root))


def test_arcs_of_longer_sentences():
    rng = np.random.default_rng(1)
    for n, single_root in ((9, 0), (12, 1)):
        arcs, siblings, stops = (rng.integers(-9, 10, (n + 1,) * d).astype(np.float64) for d in (2, 3, 2))
        check(arcs, siblings, stops, single_root)


def test_arcs_that_are_no_scores():
    arcs = np.full((3, 3), np.nan)
    assert np.isnan(sibling_max_marginals(arcs, np.zeros((3, 3, 3)), np.zeros((3, 3)), 1, np.empty((3, 3))))
