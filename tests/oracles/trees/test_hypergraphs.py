"""Every tree is one hyperpath with its score: against all projective trees of small sentences, and against kernels for longer ones."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zerogap.baselines.brute import is_tree
from zerogap.errors import Infeasible, ScoreError, ScoreShapeError
from zerogap.oracles.hypergraphs.best_path import best_path
from zerogap.oracles.hypergraphs.kbest import k_best_paths
from zerogap.oracles.hypergraphs.semiring import count_paths, enumerate_paths
from zerogap.oracles.trees.eisner import eisner_hypergraph
from zerogap.oracles.trees.hypergraphs import arc_max_marginals, arc_posteriors, projective_hypergraph
from zerogap.oracles.trees.outermost import outermost_kernel
from zerogap.oracles.trees.projective_marginals import best_projective_scores, projective_posteriors
from zerogap.oracles.trees.siblings import sibling_kernel
from zerogap.structures.hypergraph import check_connected, check_disjoint
from zerogap.testing.strategies import score_arrays

ORDERS = {"siblings": 3, "stops": 2, "grandparents": 3, "outermost": 3, "grandsiblings": 4}
MODELS = [
    (), ("siblings",), ("stops",), ("siblings", "stops"), ("grandparents",), ("outermost",), ("siblings", "stops", "outermost"),
    ("grandsiblings",), ("grandparents", "stops"), tuple(ORDERS),
]  # fmt: skip


def parts_of(heads):
    """The names and indices of all parts of a tree beside its arcs."""
    n = len(heads)
    for h in range(n + 1):
        g = heads[h - 1] if h > 0 else None
        for side in (range(h + 1, n + 1), range(h - 1, 0, -1)) if h > 0 else (range(1, n + 1),):
            modifiers = [m for m in side if heads[m - 1] == h]
            for s, m in itertools.pairwise([h, *modifiers]):
                yield "siblings", (h, s, m)
                if g is not None:
                    yield "grandparents", (g, h, m)
                    yield "grandsiblings", (g, h, s, m)
            yield "stops", (h, modifiers[-1] if modifiers else h)
            if g is not None and modifiers:
                yield "outermost", (g, h, modifiers[-1])


def score_of(heads, arcs, tables):
    total = float(sum(arcs[h, m] for m, h in enumerate(heads, start=1)))
    return total + sum(float(tables[name][index]) for name, index in parts_of(heads) if name in tables)


def drawn(n, model, rng, holes):
    tables = {name: rng.integers(-3, 4, (n + 1,) * ORDERS[name]).astype(np.float64) for name in model}
    for table in tables.values():
        table[rng.random(table.shape) < 0.05 * holes] = -np.inf
    return tables


@st.composite
def scored(draw, max_words=4):
    n = draw(st.integers(0, max_words))
    holes = draw(st.booleans())
    arcs = draw(score_arrays((n + 1, n + 1), holes=holes))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return arcs, drawn(n, draw(st.sampled_from(MODELS)), rng, holes)


@given(scored(), st.booleans())
@settings(max_examples=300)
def test_hyperpaths_are_trees(scores, single_root):
    arcs, tables = scores
    n = len(arcs) - 1
    trees = [t for t in itertools.product(range(n + 1), repeat=n) if is_tree(t, projective=True, single_root=single_root)]
    expected = {t: score for t in trees if (score := score_of(t, arcs, tables)) > -np.inf}
    if not expected:
        with pytest.raises(Infeasible):
            projective_hypergraph(arcs, single_root=single_root, **tables)
        return
    found = projective_hypergraph(arcs, single_root=single_root, **tables)
    check_connected(found.hypergraph)
    check_disjoint(found.hypergraph)
    paths = enumerate_paths(found.hypergraph)
    assert len(paths) == len(expected) == count_paths(found.hypergraph)
    for path in paths:
        edges = np.array(path)
        assert found.scores[edges].sum() == expected.pop(tuple(found.heads(edges).tolist()))
    assert not expected


@given(scored(), st.booleans())
@settings(max_examples=150)
def test_k_best_sums_and_maxima(scores, single_root):
    arcs, tables = scores
    n = len(arcs) - 1
    trees = [t for t in itertools.product(range(n + 1), repeat=n) if is_tree(t, projective=True, single_root=single_root)]
    totals = np.array([score_of(t, arcs, tables) for t in trees])
    if totals.max(initial=-np.inf) == -np.inf:
        return
    found = projective_hypergraph(arcs, single_root=single_root, **tables)
    k_best = k_best_paths(found.hypergraph, found.scores, 7)
    assert [path.score for path in k_best] == sorted(totals[totals > -np.inf], reverse=True)[:7]
    assert [score_of(found.heads(path.edges), arcs, tables) for path in k_best] == [path.score for path in k_best]
    log_partition = totals.max() + np.log(np.exp(totals - totals.max()).sum())
    posteriors, best_with = np.zeros(arcs.shape), np.full(arcs.shape, -np.inf)
    for tree, total in zip(trees, totals, strict=True):
        for m, h in enumerate(tree, start=1):
            posteriors[h, m] += np.exp(total - log_partition)
            best_with[h, m] = max(best_with[h, m], total)
    assert arc_posteriors(found)[0] == pytest.approx(log_partition, abs=1e-12)
    assert arc_posteriors(found)[1] == pytest.approx(posteriors, abs=1e-12)
    assert arc_max_marginals(found)[0] == totals.max()
    assert arc_max_marginals(found)[1].tolist() == best_with.tolist()


@pytest.mark.parametrize("n", [5, 9, 14])
@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("holes", [True, False])
def test_kernels_say_the_same(n, single_root, holes):
    rng = np.random.default_rng(n)
    arcs = rng.integers(-9, 10, (n + 1, n + 1)).astype(np.float64)
    arcs[rng.random(arcs.shape) < 0.6 * holes] = -np.inf
    arcs[np.arange(n), np.arange(1, n + 1)] = 0.0  # arcs from the word before: there is a tree
    tables = drawn(n, ("siblings", "stops", "outermost"), rng, False)
    heads = np.empty(n, np.int64)

    first = projective_hypergraph(arcs, single_root=single_root)
    log_partition, posteriors = projective_posteriors(arcs, single_root=single_root)
    assert arc_posteriors(first)[0] == pytest.approx(log_partition)
    assert arc_posteriors(first)[1] == pytest.approx(posteriors, abs=1e-12)
    assert arc_max_marginals(first)[1].tolist() == best_projective_scores(arcs, single_root=single_root)[1].tolist()
    if not holes:
        assert count_paths(first.hypergraph) == count_paths(eisner_hypergraph(n, single_root=single_root)[0])

    second = projective_hypergraph(arcs, siblings=tables["siblings"], stops=tables["stops"], single_root=single_root)
    best = sibling_kernel(arcs, tables["siblings"], tables["stops"], int(single_root), heads)
    assert best_path(second.hypergraph, second.scores).score == best
    assert count_paths(second.hypergraph) == count_paths(first.hypergraph)

    third = projective_hypergraph(arcs, single_root=single_root, **tables)
    best = outermost_kernel(arcs, tables["siblings"], tables["stops"], tables["outermost"], int(single_root), heads)
    assert best_path(third.hypergraph, third.scores).score == best
    assert count_paths(third.hypergraph) == count_paths(first.hypergraph)

    # a model that knows more says the same if the rest is 0
    for names in (("grandparents",), ("grandsiblings", "siblings", "stops", "outermost")):
        more = {name: tables.get(name, np.zeros((n + 1,) * ORDERS[name])) for name in names}
        larger = projective_hypergraph(arcs, single_root=single_root, **more)
        assert count_paths(larger.hypergraph) == count_paths(first.hypergraph)
        same = first if names == ("grandparents",) else third
        assert best_path(larger.hypergraph, larger.scores).score == best_path(same.hypergraph, same.scores).score


def test_functions_are_asked_for_what_is_left_only():
    arcs = np.full((5, 5), -np.inf)
    arcs[0, 2] = arcs[2, 1] = arcs[2, 3] = arcs[3, 4] = arcs[2, 4] = 0.0
    asked = []

    def siblings(h, s, m):
        asked.extend(zip(h.tolist(), s.tolist(), m.tolist(), strict=True))
        return np.zeros(len(h))

    trees = projective_hypergraph(arcs, siblings=siblings)
    assert sorted(asked) == [(0, 0, 2), (2, 2, 1), (2, 2, 3), (2, 3, 4), (3, 3, 4)]
    assert count_paths(trees.hypergraph) == 2
    assert {tuple(arc) for arc in trees.arcs.tolist()} == {(-1, -1), (0, 2), (2, 1), (2, 3), (3, 4), (2, 4)}


def test_infeasible_says_why():
    scores = np.zeros((4, 4))
    scores[:, 2] = -np.inf
    with pytest.raises(Infeasible, match="word 2 cannot be reached"):
        projective_hypergraph(scores)
    with pytest.raises(Infeasible, match="part of score -inf"):
        projective_hypergraph(np.zeros((3, 3)), stops=np.full((3, 3), -np.inf))


def test_what_is_not_accepted():
    with pytest.raises(ScoreShapeError, match=r"stops has shape \(3, 3, 3\): expected \(3, 3\)"):
        projective_hypergraph(np.zeros((3, 3)), stops=np.zeros((3, 3, 3)))
    with pytest.raises(ScoreError, match="is nan"):
        projective_hypergraph(np.zeros((3, 3)), stops=np.full((3, 3), np.nan))
