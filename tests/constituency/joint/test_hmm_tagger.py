"""A trigram tagger: probabilities that sum to one, words that training never saw, accuracy on a treebank."""

import itertools

import numpy as np
import pytest

from zerogap.constituency.joint.hmm_tagger import interpolated, shape, train_tagger
from zerogap.constituency.treebank.cleaning import cleaned
from zerogap.errors import InputError
from zerogap.io.formats.brackets import read_trees

SENTENCES = [
    [("The", "DT"), ("dog", "NN"), ("barks", "VBZ"), (".", ".")],
    [("the", "DT"), ("walker", "NN"), ("talks", "VBZ"), (".", ".")],
    [("Anna", "NNP"), ("sees", "VBZ"), ("the", "DT"), ("cats", "NNS"), (".", ".")],
    [("cats", "NNS"), ("see", "VBP"), ("42", "CD"), ("dogs", "NNS"), ("Anna", "NNP"), ("owns", "VBZ"), (".", ".")],
]


def test_trigrams_sum_to_one():
    table = np.exp(train_tagger(SENTENCES).transitions)
    assert table.sum(axis=2) == pytest.approx(np.ones(table.shape[:2]))


def test_interpolation_by_hand():
    """All trigrams alike: with one left out, the longest context still explains them best, so that it has nearly all the weight."""
    grams = np.zeros((2, 2, 2))
    grams[1, 1, 0], grams[1, 0, 0], grams[0, 0, 1] = 10, 10, 10  # A A and the boundary, ten times
    found = np.exp(interpolated(grams))
    assert found[1, 1, 0] > 0.99
    assert found[1, 0, 0] > 0.99
    assert found[0, 0, 1] > 0.99
    assert found.sum(axis=2) == pytest.approx(np.ones((2, 2)))


def test_words():
    tagger = train_tagger(SENTENCES, rare=5)
    tag = {name: i for i, name in enumerate(tagger.tags)}
    for word, first in itertools.product(("the", "cats", "Zorro", "", "7,000", "well-made", "%"), (True, False)):
        found = tagger.probabilities(word, first)
        assert found.sum() == pytest.approx(1.0, abs=0.01)  # what is very improbable is left out
        assert (found >= 0).all()
    assert tagger.guess("1,000", False).argmax() == tag["CD"]
    assert tagger.guess("birds", False)[tag["NNS"]] > tagger.guess("birds", False)[tag["NN"]]
    assert tagger.guess("Paul", False).argmax() == tag["NNP"]
    assert tagger.probabilities("Dogs", True).argmax() == tag["NNS"]  # a capital at the beginning says little
    for sentence in SENTENCES:
        assert tagger.tag([word for word, _ in sentence]) == [name for _, name in sentence]
    assert tagger.tag([]) == []
    assert shape("A-4", False) != shape("a-4", False)


def test_the_best_tags_are_those_of_all_sequences():
    tagger = train_tagger(SENTENCES, frequent=100)
    words = ["the", "seeing", "cats"]
    nodes, edge = tagger.emissions(words), len(tagger.tags)

    def score(tags):
        padded = (edge, edge, *tags, edge)
        return sum(tagger.transitions[padded[i : i + 3]] for i in range(4)) + sum(nodes[i, t] for i, t in enumerate(tags))

    best = max(itertools.product(range(edge), repeat=3), key=score)
    assert tagger.tag(words) == [tagger.tags[t] for t in best]


def test_nothing_to_train_on():
    with pytest.raises(InputError, match="no tagged words"):
        train_tagger([])
    with pytest.raises(InputError, match="no tagged words"):
        train_tagger([[]])


@pytest.mark.data
def test_a_treebank(data):
    train, dev = ([cleaned(tree) for tree in read_trees(data / "ptb" / f"{part}.mrg")] for part in ("train", "dev"))
    tagger = train_tagger(zip(tree.words(), tree.tags(), strict=True) for tree in train)
    right = [a == b for tree in dev for a, b in zip(tree.tags(), tagger.tag(tree.words()), strict=True)]
    assert np.mean(right) > 0.955
