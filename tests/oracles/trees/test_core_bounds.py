"""Max-marginals around a core, against all projective trees of small sentences."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zerogap.baselines.brute import all_trees
from zerogap.oracles.trees.core_bounds import Core, CoreScores, core_max_marginals

SCORES = (-np.inf, -3.0, -1.0, 0.0, 0.0, 1.0, 2.0)


def drawn(seed, n):
    """Some arcs, some of them in the core; contexts: the heads in the core, and one for all others."""
    random = np.random.default_rng(seed)
    arcs = random.random((n + 1, n + 1)) < random.choice([0.6, 1.0])
    arcs[:, 0] = False
    np.fill_diagonal(arcs, False)
    core = arcs & (random.random((n + 1, n + 1)) < random.choice([0.0, 0.4, 1.0]))
    context = np.full((n + 1, n + 1), -1, dtype=np.int64)
    contexts = np.ones(n + 1, dtype=np.int64)
    for m in range(1, n + 1):
        likely, others = np.flatnonzero(core[:, m]), np.flatnonzero(arcs[:, m] & ~core[:, m])
        context[likely, m], context[others, m] = np.arange(len(likely)), len(likely)
        contexts[m] = len(likely) + (len(others) > 0)
    start = np.concatenate([[0], np.cumsum(contexts)])
    in_core, modifiers, sizes = np.full((n + 1, n + 1), -1, dtype=np.int64), [], []
    for h in range(n + 1):
        for side in (range(h - 1, 0, -1), range(h + 1, n + 1)):
            some = [m for m in side if core[h, m]]
            in_core[h, some] = np.arange(len(some))
            modifiers += some
            sizes.append(len(some))
    squares = np.array(sizes) ** 2
    starts = [np.concatenate([[0], np.cumsum(of)]) for of in (sizes, squares, squares * np.repeat(contexts, 2))]
    first, later = random.choice(SCORES, (2, start[-1], n + 1))
    pairs = random.choice(SCORES, starts[2][-1])
    stop, none = random.choice(SCORES[1:], (n + 1, n + 1)), random.choice(SCORES[1:], (n + 1, 2))
    core = Core(contexts, start, context, in_core, starts[0], np.array(modifiers, dtype=np.int64), *starts[1:])
    return core, CoreScores(first, later, pairs, stop, none)


def score(heads, problem):
    """By definition: modifiers outward on each side, in the context that the head of their head is."""
    (_, start, context, in_core, modifier_start, _, _, pair_start), (first, later, pairs, stop, none) = problem
    n, total = len(heads), 0.0
    if any(context[h, m] < 0 for m, h in enumerate(heads, start=1)):
        return -np.inf
    for h in range(n + 1):
        k = context[heads[h - 1], h] if h else 0
        for side, tokens in enumerate((range(h - 1, 0, -1), range(h + 1, n + 1))):
            before, place = None, 2 * h + side
            size = modifier_start[place + 1] - modifier_start[place]
            for m in (m for m in tokens if heads[m - 1] == h):
                if before is None:
                    total += first[start[h] + k, m]
                elif in_core[h, before] >= 0 and in_core[h, m] >= 0:
                    total += pairs[pair_start[place] + (k * size + in_core[h, m]) * size + in_core[h, before]]
                else:
                    total += later[start[h] + k, m]
                before = m
            if h or side:  # nothing is to the left of the root
                total += none[h, side] if before is None else stop[h, before]
    return total


@given(st.integers(0, 10**6), st.integers(0, 5), st.booleans(), st.sampled_from([-np.inf, 0.0, 4.0]))
@settings(max_examples=150, deadline=None)
def test_against_all_trees(seed, n, single_root, least):
    problem = drawn(seed, n)
    best, wanted = -np.inf, np.full((n + 1, n + 1), -np.inf)
    for heads in all_trees(n, projective=True, single_root=single_root):
        value = score(heads, problem)
        best = max(best, value)
        for m, h in enumerate(heads, start=1):
            wanted[h, m] = max(wanted[h, m], value)
    found = np.empty((n + 1, n + 1))
    assert core_max_marginals(*problem, int(single_root), least, found) == best
    seen = wanted >= least
    assert np.array_equal(found[seen], wanted[seen])
    assert (found <= wanted).all()


@pytest.mark.parametrize("n", [0, 1, 2])
def test_few_words(n):
    problem = drawn(0, n)
    found = np.empty((n + 1, n + 1))
    best = core_max_marginals(*problem, 1, -np.inf, found)
    assert best == (problem[1].none[0, 1] if n == 0 else found[:, 1:].max(axis=0).min())
