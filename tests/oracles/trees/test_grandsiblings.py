"""The grand-sibling kernel against all projective trees."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from zerogap.baselines.brute import all_heads, is_tree
from zerogap.dependency.candidate_arcs import candidates_of
from zerogap.oracles.trees.grandsiblings import grandsibling_kernel


def score(heads, parts, stops):
    """By definition: modifiers outward on each side, each with the head's head and the one before it; then the stop of the side."""
    n = len(heads)
    total = 0.0
    for h in range(n + 1):
        for side in (range(h - 1, 0, -1), range(h + 1, n + 1)):
            if h == 0 and side.step < 0:
                continue
            before = h
            for m in side:
                if heads[m - 1] == h:
                    total += parts[heads[h - 1] if h else 0, h, before, m]
                    before = m
            total += stops[h, before]
    return total


def laid_out(allowed, parts, stops, *, grand):
    c = candidates_of(allowed, grand=grand)
    n = c.n_words
    scores, ends = np.full(c.score_start[-1], -np.inf), np.full(c.stop_start[-1], -np.inf)
    for place in range(2 * n + 2):
        h = place // 2
        modifiers = c.modifiers[c.modifier_start[place] : c.modifier_start[place + 1]].tolist()
        q = len(modifiers)
        contexts = np.flatnonzero(allowed[:, h]).tolist() if grand and h else [0]
        for k, g in enumerate(contexts):
            for p, before in enumerate([h, *modifiers]):
                ends[c.stop_start[place] + k * (q + 1) + p] = stops[h, before]
                for j in range(p, q):
                    scores[c.score_start[place] + (k * (q + 1) + p) * q + j] = parts[g, h, before, modifiers[j]]
    return c, scores, ends


@given(st.integers(0, 4), st.integers(0, 2**32 - 1), st.booleans(), st.booleans(), st.sampled_from([0.5, 0.8, 1.0]))
def test_never_wrong_never_lazy(n, seed, single_root, grand, density):
    random = np.random.default_rng(seed)
    allowed = random.random((n + 1, n + 1)) < density
    np.fill_diagonal(allowed, False)
    allowed[:, 0] = False
    parts = random.integers(-3, 4, size=(n + 1,) * 4).astype(float)
    parts[random.random(parts.shape) < 0.05] = -np.inf
    parts[:] = parts if grand else parts[:1]
    parts[:, 0] = parts[0, 0]
    stops = random.integers(-2, 3, size=(n + 1, n + 1)).astype(float)
    c, scores, ends = laid_out(allowed, parts, stops, grand=grand)
    heads = np.empty(n, dtype=np.int64)
    found = grandsibling_kernel(
        c.contexts, c.modifier_start, c.modifiers, c.context, c.score_start, scores, c.stop_start, ends, int(single_root), heads
    )
    trees = [
        tree
        for tree in all_heads(n)
        if is_tree(tree, projective=True, single_root=single_root) and all(allowed[h, m] for m, h in enumerate(tree, start=1))
    ]
    optimum = max((score(tree, parts, stops) for tree in trees), default=-np.inf)
    assert found == optimum
    if optimum > -np.inf:
        assert tuple(heads.tolist()) in trees
        assert score(heads.tolist(), parts, stops) == optimum


def test_candidates_are_counted_outward():
    allowed = np.zeros((4, 4), dtype=np.bool_)
    allowed[0, 2] = allowed[2, 1] = allowed[2, 3] = allowed[3, 1] = allowed[3, 2] = True
    c = candidates_of(allowed, grand=True)
    assert c.contexts.tolist() == [1, 2, 2, 1]
    sides = [c.modifiers[c.modifier_start[p] : c.modifier_start[p + 1]].tolist() for p in range(8)]
    assert sides == [[], [2], [], [], [1], [3], [2, 1], []]
    assert c.context[c.modifier_start[6] :].tolist() == [1, 1]  # 3 is the second candidate head of both
