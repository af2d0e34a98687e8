"""A treebank grammar and a trigram tagger on real sentences: three methods, one answer, every certificate verified."""

import importlib.util
from pathlib import Path

import pytest

from zerogap.constituency import JointProblem, decode
from zerogap.errors import Infeasible
from zerogap.proof.verify import verify


@pytest.fixture(scope="module")
def joint():
    path = Path(__file__).parents[2] / "benchmarks" / "joint.py"
    spec = importlib.util.spec_from_file_location("joint", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.data
def test_real_sentences(joint, data):
    trees = [tree for line in (data / "ptb" / "train.mrg").read_text().splitlines() if (tree := joint.read_tree(line)) is not None]
    g, tags, transitions, known = joint.train(trees)
    decoded = 0
    for line in (data / "ptb" / "dev.mrg").read_text().splitlines():
        tree = joint.read_tree(line)
        words = [joint.word_class(word, known) for _, word in joint.leaves(tree)] if tree is not None else []
        if not 2 <= len(words) <= 10:
            continue
        try:
            problem = JointProblem(g, words, tags=tags, transitions=transitions)
            solution = decode(problem)
        except Infeasible:
            continue
        assert solution.status == "optimal"
        verify(problem, solution)
        assert decode(problem, method="intersection").score == solution.score
        decoded += 1
    assert decoded >= 15
