"""The component in a pipeline of spaCy, where spaCy is installed; and that nobody needs it otherwise."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from zerogap.dependency import train
from zerogap.pipeline.treebanks import Skipped, read_tagged, read_trees
from zerogap.sequence.tagger.training import train_tagger

TREES = str(Path(__file__).parents[1] / "examples" / "trees-train.conllu")
needs_spacy = pytest.mark.skipif(importlib.util.find_spec("spacy") is None, reason="needs spaCy")


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    folder = tmp_path_factory.mktemp("toy")
    trees = read_trees(TREES, on_error="stop", single_root=True, columns=("form", "upos", "xpos"), skipped=Skipped())
    train(trees, epochs=3).save(folder / "parser.npz")
    train_tagger(read_tagged(TREES, on_error="stop", skipped=Skipped())).save(folder / "tagger.npz")
    return str(folder)


@pytest.fixture
def nlp(toy):
    import spacy

    nlp = spacy.blank("en")
    nlp.add_pipe("zerogap_parser", config={"model": toy})
    return nlp


def test_the_module_needs_neither_spacy_nor_anything_heavy():
    heavy = ("numpy", "numba", "zerogap.io", "zerogap.pipeline", "zerogap.dependency")
    code = (
        "import sys, importlib.util; importlib.util.find_spec = lambda name: None; import zerogap.spacy_component;"
        f" print([m for m in sys.modules if m.startswith({heavy!r})])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"


@needs_spacy
def test_heads_relations_sentences_and_tags(nlp, toy):
    import zerogap

    doc = nlp("The old baker sings. She didn't repair the boats!")
    document = zerogap.load(toy)("The old baker sings. She didn't repair the boats!")
    assert [sentence.text for sentence in doc.sents] == ["The old baker sings.", "She didn't repair the boats!"]
    for span, sentence in zip(doc.sents, document, strict=True):
        assert [0 if token.head == token else token.head.i - span.start + 1 for token in span] == list(sentence.heads)
        assert [token.dep_.replace("ROOT", "root") for token in span] == list(sentence.labels)
        assert ([token.pos_ for token in span], [token.tag_ for token in span]) == (list(sentence.upos), list(sentence.xpos))
        assert (span._.zerogap_status, span._.zerogap_gap) == ("optimal", 0.0)
        assert span.root.dep_ == "ROOT"
    assert (doc._.zerogap_status, doc._.zerogap_gap) == ("optimal", 0.0)
    assert doc.has_annotation("DEP")


@needs_spacy
def test_what_the_document_has_is_kept(nlp):
    from spacy.tokens import Doc

    words = ["The", "child", "sings", "Tom", "waits"]
    doc = Doc(nlp.vocab, words=words, tags=["X"] * 5, pos=["DET", "NOUN", "VERB", "PROPN", "VERB"], sent_starts=[1, 0, 0, 1, 0])
    nlp.get_pipe("zerogap_parser")(doc)
    assert [sentence.text for sentence in doc.sents] == ["The child sings", "Tom waits"]
    assert {token.tag_ for token in doc} == {"X"}
    assert [token.head.i for token in doc] == [1, 2, 2, 4, 4]


@needs_spacy
@pytest.mark.parametrize("text", ["", " ", "\n\n", "  Tom waits.  \n\n Clara  sings.\n", "Tom\n\nwaits"])
def test_white_space(nlp, text):
    doc = nlp(text)
    assert doc.text == text
    for token in doc:
        assert token.sent.start <= token.head.i < token.sent.end
        if token.is_space and not token.sent.text.isspace():
            assert (token.dep_, token.pos_) == ("dep", "SPACE")
            assert not token.head.is_space
    assert len(list(doc.sents)) == {0: 0, 1: 1}.get(len(doc), len(text.split()) // 2 if "." in text else 1 + ("Tom" in text))


@needs_spacy
def test_another_component_marks_the_sentences(nlp):
    nlp.add_pipe("sentencizer", first=True)
    assert [sentence.text for sentence in nlp("Tom waits. clara sings.").sents] == ["Tom waits.", "clara sings."]


@needs_spacy
def test_saved_and_loaded(nlp, tmp_path):
    import spacy
    from spacy.tokens import Doc

    nlp.to_disk(tmp_path / "nlp")
    doc = spacy.load(tmp_path / "nlp")("Tom waits.")
    assert [token.dep_ for token in doc] == [token.dep_ for token in nlp("Tom waits.")]
    again = Doc(nlp.vocab).from_bytes(doc.to_bytes())
    assert [sentence._.zerogap_status for sentence in again.sents] == ["optimal"]
    with pytest.raises(ValueError, match="model 'klingon' is not known"):
        spacy.blank("en").add_pipe("zerogap_parser", config={"model": "klingon"})
