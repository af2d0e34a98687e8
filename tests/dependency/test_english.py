"""The bundled English model on real sentences: every tree is proven, proofs hold, tampered ones fail, and accuracy is what it was."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import zerogap
from zerogap.dependency.evaluation import evaluate
from zerogap.dependency.sentence import Sentence
from zerogap.errors import VerificationError
from zerogap.io.formats.conllu import read_conllu

pytestmark = pytest.mark.compiled


@pytest.fixture(scope="module")
def english():
    return zerogap.load("en")


@pytest.mark.data
def test_trees_of_real_sentences_are_proven(english, data):
    sentences = [record.sentence for record in read_conllu(data / "ud" / "en_ewt" / "dev.conllu")][:400]
    parses = english.parser.parse_many(sentences, threads=2)
    assert all(parse.solution.status == "optimal" for parse in parses)
    found = [Sentence(p.sentence.columns, p.heads, p.labels, p.sentence.name) for p in parses]
    report = evaluate(sentences, found)
    assert report.uas > 0.87
    assert report.las > 0.84
    short = [parse for parse in parses if 1 < len(parse.heads) <= 15][:25]
    for parse in short:
        zerogap.verify(parse.problem, parse.solution)
        assert parse.problem.score(parse.heads) == parse.solution.score
        other = zerogap.dependency.decode(parse.problem)
        assert other.score == parse.solution.score
        with pytest.raises(VerificationError):
            zerogap.verify(parse.problem, replace(parse.solution, bound=parse.solution.bound - 1.0, score=parse.solution.score - 1.0))


@pytest.mark.data
def test_the_best_tree_has_no_better_alternative(english, data):
    sentences = [record.sentence for record in read_conllu(data / "ud" / "en_ewt" / "dev.conllu")]
    for sentence in [s for s in sentences if 4 <= len(s) <= 10][:8]:
        parse = english.parser.parse(sentence)
        best = zerogap.dependency.decode(parse.problem, k=4)
        assert best.score == parse.solution.score
        scores = [best.score, *(score for _, score in best.alternatives)]
        assert scores == sorted(scores, reverse=True)
        zerogap.verify(parse.problem, best)
        posterior = zerogap.dependency.marginals(parse.problem)
        assert np.allclose(posterior.arcs[:, 1:].sum(axis=0), 1.0)
        largest = zerogap.dependency.max_marginals(parse.problem)
        assert largest[:, 1:].max() == best.score


def test_what_it_is_made_of(english):
    assert english.parser.order == "grandsibling"
    assert english.parser.about["licence"] == "CC BY-SA 4.0"
    assert set(english.parser.columns) == {"form", "upos", "xpos"}
