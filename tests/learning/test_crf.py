"""The objective against enumeration of all labellings, its gradient against finite differences."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zerogap.features.labels.index import collect_features
from zerogap.features.labels.templates import parse_templates
from zerogap.learning.crf import Chains, Objective
from zerogap.problems.sequence.labels import scheme_transitions

TEMPLATES = parse_templates(["bias", "form[0]", "form[-1]", "form[-1]+form[0]", "shape[1]"])


def chains_of(sentences, labellings, n_labels, allowed=None, min_count=1):
    gold = np.array([y for labels in labellings for y in labels], dtype=np.int64)
    columns = [{"form": tuple(words)} for words in sentences]
    features, corpus = collect_features(TEMPLATES, columns, gold, n_labels, min_count=min_count)
    return Chains(features, corpus, gold, allowed or (np.zeros((n_labels, n_labels)), np.zeros(n_labels), np.zeros(n_labels)))


def negative_log_likelihood(chains, x, l2):
    """From the definition."""
    weights, transitions, start, end = chains.layout.split(x)
    masks = chains.allowed
    total = 0.5 * l2 * float(x @ x)
    for s in range(len(chains)):
        rows, gold = chains.one(s)
        n = len(gold)

        def score(y, rows=rows, n=n):
            value = 0.0
            for t in range(n):
                for row in rows[t]:
                    if row >= 0:
                        for p in range(chains.features.row_start[row], chains.features.row_start[row + 1]):
                            value += weights[p] * (chains.features.labels[p] == y[t])
                if t:
                    value += transitions[y[t - 1], y[t]] + masks[0][y[t - 1], y[t]]
            return value + start[y[0]] + masks[1][y[0]] + end[y[-1]] + masks[2][y[-1]] if n else 0.0

        scores = [score(y) for y in itertools.product(range(chains.layout.n_labels), repeat=n)]
        total += np.logaddexp.reduce(scores) - score(gold.tolist())
    return total


@st.composite
def labelled(draw):
    n_labels = draw(st.integers(1, 3))
    words = st.sampled_from(["a", "B", "c1"])
    sentences = draw(st.lists(st.lists(words, max_size=3), min_size=1, max_size=3))
    labellings = [draw(st.lists(st.integers(0, n_labels - 1), min_size=len(s), max_size=len(s))) for s in sentences]
    return sentences, labellings, n_labels


@given(labelled(), st.integers(0, 1000))
@settings(max_examples=40)
def test_value_by_enumeration_and_gradient_by_differences(data, seed):
    chains = chains_of(*data)
    x = np.random.default_rng(seed).normal(size=chains.layout.size)
    objective = Objective(chains, 0.3)
    value, gradient = objective(x)
    assert value == pytest.approx(negative_log_likelihood(chains, x, 0.3), rel=1e-10, abs=1e-10)
    for i in np.random.default_rng(seed).choice(len(x), min(len(x), 12), replace=False):
        step = np.zeros(len(x))
        step[i] = 1e-5
        assert gradient[i] == pytest.approx((objective(x + step)[0] - objective(x - step)[0]) / 2e-5, abs=1e-5)


def test_forbidden_transitions_have_no_part():
    labels = ["B-A", "I-A", "O"]
    chains = chains_of([["a", "B", "c1"], []], [[0, 1, 2], []], 3, scheme_transitions(labels))
    x = np.random.default_rng(0).normal(size=chains.layout.size)
    value, gradient = Objective(chains, 0.0)(x)
    assert value == pytest.approx(negative_log_likelihood(chains, x, 0.0))
    _, transitions, start, _ = chains.layout.split(gradient)
    assert transitions[2, 1] == start[1] == 0.0


def test_weights_so_large_that_probabilities_vanish():
    chains = chains_of([["a", "B"], ["a"]], [[0, 1], [0]], 2)
    x = np.zeros(chains.layout.size)
    _, transitions, start, end = chains.layout.split(x)
    transitions[0, 1], end[0], start[1] = -1500.0, -5000.0, -5000.0
    value, gradient = Objective(chains, 0.0)(x)
    assert value == pytest.approx(negative_log_likelihood(chains, x, 0.0))
    assert np.isfinite(gradient).all()
