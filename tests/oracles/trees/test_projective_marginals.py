"""Against sums and maxima over all head vectors of small sentences, and against the hypergraph of section 2.2.4 for longer ones."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zerogap.baselines.brute import is_tree
from zerogap.errors import Infeasible
from zerogap.oracles.hypergraphs.best_path import max_marginals
from zerogap.oracles.hypergraphs.marginals import log_inside, posterior_marginals
from zerogap.oracles.trees.eisner import eisner_hypergraph
from zerogap.oracles.trees.projective_marginals import (
    best_projective_scores,
    projective_marginals,
    projective_max_marginals,
    projective_posteriors,
)
from zerogap.testing.strategies import score_arrays


def by_definition(scores, single_root):
    """log partition, posteriors, best score, best score with every arc: over all projective trees."""
    n = len(scores) - 1
    trees = [t for t in itertools.product(range(n + 1), repeat=n) if is_tree(t, projective=True, single_root=single_root)]
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
    return draw(score_arrays((n + 1, n + 1), holes=draw(st.booleans())))


@given(scored(), st.booleans(), st.sampled_from([1.0, 7.0, 1000.0]))
@settings(max_examples=200)
def test_they_are_what_all_trees_add_up_to(scores, single_root, scale):
    scores = scores * scale
    log_partition, posteriors, best, best_with = by_definition(scores, single_root)
    marginals = np.full(scores.shape, np.nan)
    found = projective_marginals(scores, int(single_root), marginals)
    assert found == log_partition or found == pytest.approx(log_partition, rel=1e-13, abs=1e-12 * scale)  # the first of -inf
    assert marginals == pytest.approx(posteriors, abs=1e-12)
    marginals[:] = np.nan
    assert projective_max_marginals(scores, int(single_root), marginals) == best
    assert marginals.tolist() == best_with.tolist()
    if best == -np.inf:
        for solve in (projective_posteriors, best_projective_scores):
            with pytest.raises(Infeasible):
                solve(scores, single_root=single_root)


def from_hypergraph(scores, single_root):
    n = len(scores) - 1
    graph, arcs = eisner_hypergraph(n, single_root=single_root)
    edge_scores = np.where(arcs[:, 0] >= 0, scores[arcs[:, 0], arcs[:, 1]], 0.0)
    posteriors, best_with = np.zeros(scores.shape), np.full(scores.shape, -np.inf)
    makes = arcs[:, 0] >= 0
    np.add.at(posteriors, tuple(arcs[makes].T), posterior_marginals(graph, edge_scores)[0][makes])
    np.maximum.at(best_with, tuple(arcs[makes].T), max_marginals(graph, edge_scores)[0][makes])
    return log_inside(graph, edge_scores)[graph.root], posteriors, best_with


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 13, 21])
@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("scale", [1.0, 10.0, 100.0, 1000.0])
def test_the_hypergraph_says_the_same(n, single_root, scale):
    rng = np.random.default_rng(n)
    scores = scale * rng.integers(-8, 9, (n + 1, n + 1)) / 4
    scores[rng.random(scores.shape) < 0.1] = -np.inf
    scores[:-1, 1:][np.eye(n, dtype=bool)] = 0.0  # arcs from the word before: there is a tree
    log_partition, posteriors, best_with = from_hypergraph(scores, single_root)
    found, marginals = projective_posteriors(scores, single_root=single_root)
    assert found == pytest.approx(log_partition, rel=1e-12)
    assert marginals == pytest.approx(posteriors, abs=1e-10)
    assert marginals[:, 1:].sum(axis=0) == pytest.approx(np.ones(n), abs=1e-10)
    assert best_projective_scores(scores, single_root=single_root)[1].tolist() == best_with.tolist()


@pytest.mark.parametrize("single_root", [True, False])
def test_numbers_and_logarithms_agree(single_root):
    # Two words that prefer each other by far leave numbers no room; the same trees without these arcs fit.
    rng = np.random.default_rng(5)
    scores = rng.standard_normal((31, 31))
    scores[3, 4] = scores[4, 3] = -np.inf
    found, marginals = projective_posteriors(scores, single_root=single_root)
    scores[3, 4] = -1e9
    scores[:, 3] -= 5000.0
    scores[4, 3] = -1e9
    again, same = projective_posteriors(scores, single_root=single_root)
    assert again + 5000.0 == pytest.approx(found, rel=1e-12)
    assert same == pytest.approx(marginals, abs=1e-12)
    scores[4, 3], scores[3, 4] = -4000.0, 900.0
    scores[:3, 4] -= 900.0
    scores[5:, 4] -= 900.0
    assert projective_posteriors(scores, single_root=single_root)[1][:, 1:].sum(axis=0) == pytest.approx(np.ones(30), abs=1e-10)


@pytest.mark.parametrize("single_root", [True, False])
def test_320_words_do_not_overflow(single_root):
    n = 320
    found, marginals = projective_posteriors(np.zeros((n + 1, n + 1)), single_root=single_root)
    assert marginals[:, 1:].sum(axis=0) == pytest.approx(np.ones(n), abs=1e-9)
    # the number of trees, whose logarithm it is, grows as (27/4)^n up to a polynomial
    assert np.log(27 / 4) * n * 0.97 < found < np.log(27 / 4) * n


def test_posteriors_are_the_gradient():
    rng = np.random.default_rng(8)
    scores = rng.standard_normal((8, 8))
    _, marginals = projective_posteriors(scores)
    for h, m in ((0, 3), (2, 5), (7, 1)):
        step = np.zeros((8, 8))
        step[h, m] = 1e-5
        slope = (projective_posteriors(scores + step)[0] - projective_posteriors(scores - step)[0]) / 2e-5
        assert slope == pytest.approx(marginals[h, m], abs=1e-8)


def test_no_words():
    log_partition, marginals = projective_posteriors(np.zeros((1, 1)))
    assert log_partition == 0.0
    assert marginals.tolist() == [[0.0]]
    assert best_projective_scores(np.zeros((1, 1)))[0] == 0.0


def test_what_is_not_accepted():
    marginals = np.empty((3, 3))
    assert np.isnan(projective_marginals(np.full((3, 3), np.nan), 1, marginals))
    assert np.isnan(projective_max_marginals(np.full((3, 3), np.inf), 1, marginals))
