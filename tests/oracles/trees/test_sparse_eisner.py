"""Against Eisner's algorithm and max-marginals with all arcs, forbidden ones among them."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from zerogap.dependency.candidate_arcs import candidates_of
from zerogap.oracles.trees.eisner import eisner_kernel
from zerogap.oracles.trees.projective_marginals import projective_max_marginals
from zerogap.oracles.trees.sparse_eisner import sparse_eisner, sparse_max_marginals
from zerogap.testing.strategies import random_scores


@given(st.integers(0, 7), st.integers(0, 10_000), st.sampled_from([0.0, 0.3, 0.6]), st.booleans())
def test_the_same_as_with_all_arcs(n, seed, pruned, single_root):
    arcs = random_scores((n + 1, n + 1), seed)
    arcs[np.random.default_rng(seed).random(arcs.shape) < pruned] = -np.inf
    np.fill_diagonal(arcs, -np.inf)
    arcs[:, 0] = -np.inf
    layout = candidates_of(arcs > -np.inf, grand=False)
    of_arcs, heads, wanted = arcs[layout.heads, layout.modifiers], np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    marginals, every = np.empty(len(of_arcs)), np.empty_like(arcs)
    one = int(single_root)
    best = eisner_kernel(arcs, one, wanted) if n else 0.0
    assert sparse_eisner(layout.modifier_start, layout.modifiers, of_arcs, one, heads) == best
    assert sparse_max_marginals(layout.modifier_start, layout.modifiers, of_arcs, n, one, marginals) == best
    if n and best > -np.inf:
        projective_max_marginals(arcs, one, every)
        assert arcs[heads, np.arange(1, n + 1)].sum() == best
        assert marginals.tolist() == every[layout.heads, layout.modifiers].tolist()
    else:
        assert not np.isfinite(marginals).any()
