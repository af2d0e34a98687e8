"""A small pipeline, trained on the examples that come with the library."""

from pathlib import Path

import pytest

from zerogap.dependency import train
from zerogap.dependency.sentence import Sentence
from zerogap.io.formats.conllu import read_conllu
from zerogap.pipeline import Pipeline
from zerogap.sequence.tagger.training import train_tagger

EXAMPLES = Path(__file__).parents[2] / "examples"
COLUMNS = ("form", "upos", "xpos")


@pytest.fixture(scope="session")
def pipeline():
    given = [record.sentence for record in read_conllu(EXAMPLES / "trees-train.conllu")]
    sentences = [Sentence({name: s.columns[name] for name in COLUMNS}, s.heads, s.labels, s.name) for s in given]
    tagger = train_tagger([tuple(s.columns[name] for name in COLUMNS) for s in given])
    return Pipeline(train(sentences, epochs=3), tagger)


@pytest.fixture(scope="session")
def test_file():
    return EXAMPLES / "trees-test.conllu"
