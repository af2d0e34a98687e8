"""The best heads of every word, against sorting."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from zerogap.oracles.trees.best_heads import keep_best


@given(n=st.integers(0, 5), most=st.integers(1, 4), seed=st.integers(0, 2**32 - 1))
def test_against_sorting(n, most, seed):
    rng = np.random.default_rng(seed)
    worth = rng.integers(-2, 3, (n + 1, n + 1)).astype(np.float64)
    worth[rng.random(worth.shape) < 0.2] = -np.inf
    allowed = rng.random(worth.shape) < 0.7
    kept = np.ones_like(allowed)
    total = keep_best(worth, allowed, most, kept)
    assert total == np.count_nonzero(kept)
    for m in range(n + 1):
        heads = sorted(np.flatnonzero(allowed[:, m]), key=lambda h: (-worth[h, m], h))[:most]
        assert np.flatnonzero(kept[:, m]).tolist() == sorted(heads)
