"""Marginals of chains against sums over all labellings, in log space and in scaled products."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zerogap.errors import Infeasible, ScoreError, ScoreShapeError
from zerogap.oracles.labels.marginals import chain_expectations, marginals
from zerogap.testing.strategies import score_arrays


def by_enumeration(emissions, transitions, start, end):
    n, size = emissions.shape
    table = np.broadcast_to(transitions, (max(n - 1, 0), size, size))
    labellings = list(itertools.product(range(size), repeat=n))

    def score(y):
        inner = sum(emissions[t, y[t]] for t in range(n)) + sum(table[t, y[t], y[t + 1]] for t in range(n - 1))
        return inner + start[y[0]] + end[y[-1]] if n else 0.0

    scores = np.array([score(y) for y in labellings])
    if scores.max() == -np.inf:
        return None
    weights = np.exp(scores - scores.max())
    node, edge = np.zeros((n, size)), np.zeros((max(n - 1, 0), size, size))
    for y, weight in zip(labellings, weights / weights.sum(), strict=True):
        for t in range(n):
            node[t, y[t]] += weight
        for t in range(n - 1):
            edge[t, y[t], y[t + 1]] += weight
    return scores.max() + np.log(weights.sum()), node, edge


@st.composite
def chains(draw, by_position=False):
    n, size = draw(st.integers(0, 4)), draw(st.integers(1, 3))
    shape = (max(n - 1, 0), size, size) if by_position and draw(st.booleans()) else (size, size)
    return tuple(draw(score_arrays(s)) for s in ((n, size), shape, (size,), (size,)))


@given(chains(by_position=True))
def test_marginals_against_all_labellings(chain):
    expected = by_enumeration(*chain)
    if expected is None:
        with pytest.raises(Infeasible):
            marginals(*chain)
        return
    found = marginals(*chain)
    assert np.isclose(found.log_partition, expected[0], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found.node, expected[1], atol=1e-12)
    np.testing.assert_allclose(found.edge, expected[2], atol=1e-12)


@given(st.data(), st.integers(1, 3), st.lists(st.integers(0, 4), max_size=4))
def test_expectations_of_many_chains_against_each(data, size, lengths):
    first = np.cumsum([0, *lengths])
    emissions = data.draw(score_arrays((int(first[-1]), size)))
    tables = [data.draw(score_arrays(shape)) for shape in ((size, size), (size,), (size,))]
    node, edge, totals = np.empty_like(emissions), np.empty((size, size)), np.empty(len(lengths))
    vanished = chain_expectations(emissions, first, *tables, node, edge, totals)
    expected_edge, impossible = np.zeros((size, size)), 0
    for s in range(len(lengths)):
        at = slice(first[s], first[s + 1])
        expected = by_enumeration(emissions[at], *tables)
        if expected is None:
            impossible += 1
            assert np.isnan(totals[s])
            assert not node[at].any()
            continue
        assert np.isclose(totals[s], expected[0], rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(node[at], expected[1], atol=1e-12)
        expected_edge += expected[2].sum(axis=0)
    assert vanished == impossible
    np.testing.assert_allclose(edge, expected_edge, atol=1e-12)


def test_scores_far_apart():
    """Every labelling but one is forbidden, and that one scores so little that its probability vanishes on the way."""
    emissions, transitions = np.zeros((3, 2)), np.array([[0.0, -2000.0], [-np.inf, 0.0]])
    end = np.array([-np.inf, 0.0])
    found = marginals(emissions, transitions, None, end)
    assert found.log_partition == pytest.approx(0.0 + np.log1p(2 * np.exp(-2000.0)))
    start = np.array([0.0, -np.inf])
    found = marginals(emissions, transitions, start, end)
    assert found.log_partition == pytest.approx(-2000.0 + np.log(2.0))
    np.testing.assert_allclose(found.node, [[1, 0], [0.5, 0.5], [0, 1]])
    node, edge, totals = np.empty((3, 2)), np.empty((2, 2)), np.empty(1)
    assert chain_expectations(emissions, np.array([0, 3]), transitions, start, end, node, edge, totals) == 1  # says that it cannot
    assert np.isnan(totals[0])


def test_bad_input():
    with pytest.raises(ScoreShapeError, match=r"transitions has shape \(2, 3\)"):
        marginals(np.zeros((2, 2)), np.zeros((2, 3)))
    with pytest.raises(ScoreError, match=r"emissions\[0, 1\] is nan"):
        marginals([[0.0, np.nan]], np.zeros((2, 2)))
