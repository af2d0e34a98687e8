"""A treebank grammar and a trigram tagger on real sentences: three methods, one answer, every certificate verified."""

import pytest

from zerogap.constituency import cleaned, decode
from zerogap.constituency.grammars.extraction import Markovisation
from zerogap.constituency.joint.model import train_joint
from zerogap.io.formats.brackets import read_trees
from zerogap.proof.verify import verify


@pytest.mark.data
def test_real_sentences(data):
    trees = [tree for given in read_trees(data / "ptb" / "dev.mrg") if (tree := cleaned(given)) is not None]
    model = train_joint(trees[60:], markovisation=Markovisation(horizontal=1, vertical=1))
    some = [tree.words() for tree in trees[:60] if 2 <= len(tree.words()) <= 9]
    for words in some:
        problem = model.problem(words)
        solution = decode(problem)
        assert solution.status == "optimal"
        verify(problem, solution)
        assert decode(problem, method="intersection").score == solution.score
    assert len(some) >= 3
