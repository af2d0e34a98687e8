"""The best tags, and prices by slack, against all sequences."""

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from zerogap.oracles.labels.trigram_prices import Candidates, best_tags, push_slack, trigram_table
from zerogap.testing.strategies import score_arrays


@st.composite
def taggings(draw):
    n, n_tags = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    allowed = np.array(draw(st.lists(st.booleans(), min_size=n * n_tags, max_size=n * n_tags))).reshape(n, n_tags)
    allowed[np.arange(n), [draw(st.integers(0, n_tags - 1)) for _ in range(n)]] = True  # every word has a tag
    return allowed, draw(score_arrays((n, n_tags))), draw(score_arrays((n_tags + 1,) * 3))


def sequence_scores(allowed, nodes, trigram):
    n, n_tags = nodes.shape
    found = {}
    for tags in itertools.product(*(np.flatnonzero(row).tolist() for row in allowed)):
        padded = (n_tags, n_tags, *tags, n_tags)
        grams = sum(trigram[padded[t : t + 3]] for t in range(n + 1))
        found[tags] = grams + sum(nodes[t, tag] for t, tag in enumerate(tags))
    return found


def run(kernel, candidates, nodes, *rest):
    return kernel(candidates.first, candidates.pair, candidates.tags, nodes.reshape(-1)[candidates.places], *rest)


@given(taggings())
def test_best_tags(tagging):
    allowed, nodes, trigram = tagging
    scores, some = sequence_scores(*tagging), Candidates.of(allowed)
    path = np.empty(len(nodes), dtype=np.int64)
    total = run(best_tags, some, nodes, trigram, np.empty(some.pair[-1]), path)
    assert total == max(scores.values())
    if total > -np.inf:
        assert scores[tuple(some.tags[path].tolist())] == total
        best = [tags for tags, score in scores.items() if score == total]
        last = min(tags[-2:] for tags in best)  # ties to the lowest, from the end on
        assert tuple(some.tags[path].tolist())[-2:] == last


@given(taggings(), st.sampled_from([0.0, 0.3, 0.5, 1.0]), st.sampled_from([0.5, 1000.0]))
def test_slack_is_pushed_without_a_loss(tagging, share, most):
    allowed, nodes, trigram = tagging
    scores, some = sequence_scores(*tagging), Candidates.of(allowed)
    prices = np.full(len(some.tags), np.nan)
    total = run(push_slack, some, nodes, trigram, share, 0.25, most, prices)
    before = max(scores.values())
    assert total == before
    assert ((prices >= 0) & (prices <= most) & (prices % 0.25 == 0)).all()
    raised = nodes.copy()
    raised.reshape(-1)[some.places] += prices
    after = sequence_scores(allowed, raised, trigram)
    assert max(after.values()) == before
    slack = np.full(nodes.shape, np.inf)
    for tags, score in scores.items():
        if score > -np.inf:
            for t, tag in enumerate(tags):
                slack[t, tag] = min(slack[t, tag], before - score)
    possible = slack.reshape(-1)[some.places] < np.inf
    assert (prices[possible] <= share * slack.reshape(-1)[some.places][possible]).all()
    assert (prices[~possible] == 0).all()
    if share == 1.0 and most == 1000.0 and before > -np.inf:  # never lazy: all tags that are possible become as good as the best
        best = {(t, tag) for tags, score in after.items() if score == before for t, tag in enumerate(tags)}
        assert best == {(t, tag) for tags, score in scores.items() if score > -np.inf for t, tag in enumerate(tags)}


def test_bigrams_are_trigrams_that_look_at_less():
    bigram = np.arange(9.0).reshape(3, 3)
    assert (trigram_table(bigram)[2] == bigram).all()
    assert trigram_table(np.zeros((2, 2, 2))).shape == (2, 2, 2)
    assert trigram_table(np.zeros((2,) * 4)) is None


def test_a_word_without_a_tag_has_no_candidates():
    some = Candidates.of(np.array([[True, False], [False, False]]))
    assert np.diff(some.first).tolist() == [1, 0]
