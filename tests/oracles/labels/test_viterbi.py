import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zerogap.errors import Infeasible, ScoreError, ScoreShapeError
from zerogap.oracles.labels.viterbi import best_labels, pad_transitions
from zerogap.testing.strategies import score_arrays


def score_of(emissions, transitions, labels, per_position):
    n, n_labels = emissions.shape
    order = transitions.ndim - per_position
    padded = [n_labels] * (order - 1) + list(labels) + [n_labels]
    total = sum(emissions[t, y] for t, y in enumerate(labels))
    for t in range(n + 1):
        table = transitions[t] if per_position else transitions
        total += table[tuple(padded[t : t + order])]
    return total


@given(st.data(), st.integers(0, 4), st.integers(1, 3), st.integers(2, 4), st.booleans())
def test_against_all_sequences(data, n, n_labels, order, per_position):
    emissions = data.draw(score_arrays((n, n_labels)))
    shape = (n_labels + 1,) * order
    transitions = data.draw(score_arrays((n + 1, *shape) if per_position else shape)) if np.prod(shape) <= 64 else np.ones(shape)
    if np.prod(shape) > 64:
        per_position = False
    best = max(score_of(emissions, transitions, labels, per_position) for labels in itertools.product(range(n_labels), repeat=n))
    if best == -np.inf:
        with pytest.raises(Infeasible):
            best_labels(emissions, transitions, per_position=per_position)
        return
    labels, score = best_labels(emissions, transitions, per_position=per_position)
    assert score == best == score_of(emissions, transitions, labels, per_position)


def test_example_2_1_1_tagging_as_a_second_order_hmm():
    """The dog walks in the park, tags D N V P: a trigram table that rewards exactly D N V P D N."""
    tags = "DNVP"
    gold = [tags.index(t) for t in "DNVPDN"]
    transitions = np.zeros((5, 5, 5))
    for a, b, c in zip([4, 4, *gold], [4, *gold], [*gold, 4], strict=False):
        transitions[a, b, c] = 1.0
    labels, score = best_labels(np.zeros((6, 4)), transitions)
    assert labels.tolist() == gold
    assert score == 7.0


def test_ties_go_to_the_lowest_label():
    assert best_labels(np.zeros((3, 2)), np.zeros((3, 3)))[0].tolist() == [0, 0, 0]


def test_padding_and_bad_input():
    table = pad_transitions([[0.0, 1.0], [2.0, 0.0]], start=[5.0, 0.0], end=[0.0, 7.0])
    labels, score = best_labels(np.zeros((2, 2)), table)
    assert (labels.tolist(), score) == ([0, 1], 13.0)
    with pytest.raises(ScoreShapeError, match="transitions has shape"):
        best_labels(np.zeros((2, 2)), np.zeros((2, 2)))
    with pytest.raises(ScoreShapeError, match="leading axis of 3"):
        best_labels(np.zeros((2, 2)), np.zeros((2, 3, 3)), per_position=True)
    with pytest.raises(ScoreShapeError, match="as many columns"):
        pad_transitions(np.zeros((2, 3)))
    with pytest.raises(ScoreError, match=r"emissions\[0, 1\] is nan"):
        best_labels([[0.0, np.nan]], np.zeros((3, 3)))
