"""Text in, proven trees out; tags that are there stay; what is written can be read again."""

import json
import re
import shutil
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import zerogap
from zerogap.dependency.cascade.approximate import AT_ONCE, Cascade
from zerogap.dependency.sentence import Sentence
from zerogap.errors import FormatError, InputError, UnknownMethod
from zerogap.io.formats.conllu import read_conllu
from zerogap.pipeline import Document, Pipeline, load, loading
from zerogap.pipeline.sources import Unparsed, read_treebank

TEXT = "The old baker sings. She didn't repair\nthe boats!\n\nTom waits."
TAGGED = Sentence({"form": ("The", "child", "sings"), "upos": ("DET", "NOUN", "VERB"), "xpos": ("DT", "NN", "VBZ")}, name="s")


def test_a_text(pipeline):
    document = pipeline(TEXT)
    assert [" ".join(sentence.forms) for sentence in document] == ["The old baker sings .", "She did n't repair the boats !", "Tom waits ."]
    for sentence in document:
        assert sentence.heads.count(0) == 1
        assert len(sentence.heads) == len(sentence.labels) == len(sentence.upos) == len(sentence.xpos) == len(sentence)
        assert (sentence.status, sentence.gap) == ("optimal", 0.0)
        for word in sentence:
            assert TEXT[word.start : word.end] == word.form
            assert word.label == ("root" if word.head == 0 else word.label)
    first = document[0]
    assert (first.upos, first.heads) == (("DET", "ADJ", "NOUN", "VERB", "PUNCT"), (3, 3, 4, 0, 4))
    assert first.words[2] == (3, "baker", "NOUN", "NN", 4, "nsubj", 8, 13)
    assert (document.status, document.gap) == ("optimal", 0.0)
    assert [len(part) for part in (document, document[1:], pipeline(""), pipeline(" \n"))] == [3, 2, 0, 0]
    assert repr(document) == "<Document of 3 sentences, optimal>"
    assert repr(document[1]) == "<7 words, optimal: She did n't repair the boats !>"


def test_every_tree_is_proven(pipeline):
    for sentence in pipeline(TEXT):
        verified = zerogap.verify(sentence.problem, sentence.solution)
        assert verified.bound == sentence.solution.score == sentence.problem.score(sentence.heads)
        again = sentence.parse
        assert (again.heads, again.labels, again.solution.score) == (sentence.heads, sentence.labels, sentence.solution.score)


def test_written_and_read(pipeline, tmp_path):
    document = pipeline(TEXT)
    (tmp_path / "out.conllu").write_text(document.to_conllu())
    records = list(read_conllu(tmp_path / "out.conllu", trees=True))
    assert [record.sentence.heads for record in records] == [sentence.heads for sentence in document]
    assert [record.text for record in records] == ["The old baker sings.", "She didn't repair the boats!", "Tom waits."]
    assert records[1].multiwords == document[1].multiwords == (("didn't", 2, 3),)
    assert dict(records[0].comments)["zerogap_status"] == "optimal"
    assert dict(records[0].comments)["zerogap_gap"] == "0"
    value = json.loads(json.dumps(document.to_json()))["sentences"][1]
    assert value["text"] == "She didn't repair\nthe boats!"
    assert list(value["words"][2]) == ["id", "form", "upos", "xpos", "head", "label", "start", "end"]
    assert tuple(value["words"][2].values()) == document[1].words[2] == (3, "n't", *document[1].words[2][2:6], 28, 31)
    assert (value["status"], value["gap"], value["score"] == value["bound"]) == ("optimal", 0.0, True)
    assert document.draw() == "\n\n".join(map(str, document)) == str(document)
    assert "3 baker  NOUN   nsubj" in document.draw()
    assert max(map(len, document.draw(width=20).splitlines())) < max(map(len, document.draw().splitlines()))


@settings(max_examples=60)
@given(
    st.text(max_size=60) | st.lists(st.sampled_from(["Tom", "waits", ".", "don't", " ", "\n", "#", "1", "_", "é", "\u2028"])).map("".join)
)
def test_any_text_is_written_so_that_it_can_be_read(pipeline, tmp_path_factory, text):
    document = pipeline(text, threads=1)
    path = tmp_path_factory.getbasetemp() / "any.conllu"
    path.write_text(document.to_conllu(), encoding="utf-8", newline="")
    records = list(read_conllu(path, format="conllu", trees=True))
    assert [record.sentence.columns["form"] for record in records] == [sentence.forms for sentence in document]
    assert [record.sentence.heads for record in records] == [sentence.heads for sentence in document]
    assert "".join(token.form for record in records for token in record.tokens) == "".join(text.removeprefix("\ufeff").split())
    json.dumps(document.to_json())
    assert isinstance(document.draw(), str)


def test_files_are_written_as_they_were(pipeline, tmp_path):
    given = (
        "# global = kept\n# zerogap_gap = 9\n1-2\tdon't\t_\t_\t_\t_\t_\t_\t_\tX=1\n1\tdo\t_\t_\t_\tA=b\t_\t_\t0:root\t_\n"
        "2\tn't\tnot\tPART\t_\t_\t_\t_\t1:advmod\tSpaceAfter=No\n\n\n"
    )
    (tmp_path / "a.conllu").write_text(given)
    [one] = read_treebank(tmp_path / "a.conllu")
    written = pipeline.parse_one(one).to_conllu()
    assert written.startswith(
        "# global = kept\n# zerogap_gap = 0\n# zerogap_status = optimal\n1-2\tdon't\t_\t_\t_\t_\t_\t_\t_\tX=1\n1\tdo\t_\t"
    )
    rows = [line.split("\t") for line in written.splitlines() if re.match(r"\d\t", line)]
    assert [row[8] for row in rows] == ["_", "_"]  # DEPS was of the old tree
    assert rows[0][5] == "A=b"
    assert rows[1][2:4] == ["not", "PART"]
    assert "_" not in (rows[0][3], rows[0][4], rows[1][4])
    assert written.endswith("\tSpaceAfter=No\n\n\n")


def test_conll_x_gets_no_comments(pipeline, tmp_path):
    (tmp_path / "a.conllx").write_text("1\tTom\t_\tPROPN\tNNP\t_\t2\tx\t2\tx\n2\twaits\t_\tVERB\tVBZ\t_\t0\tx\t0\tx\n\n")
    [one] = read_treebank(tmp_path / "a.conllx")
    assert pipeline.parse_one(one).to_conllu() == ("1\tTom\t_\tPROPN\tNNP\t_\t2\tnsubj\t_\t_\n2\twaits\t_\tVERB\tVBZ\t_\t0\troot\t_\t_\n\n")


def test_tags_are_kept_or_filled_in_or_predicted(pipeline):
    odd = replace(TAGGED, columns={**TAGGED.columns, "upos": ("DET", "VERB", "_"), "xpos": ("_", "_", "_")})
    kept = pipeline.parse_sentences([odd])[0]
    assert kept.upos == ("DET", "VERB", "VERB")
    assert kept.xpos == pipeline.tagger.tag(("The", "child", "sings")).xpos
    assert pipeline.parse_sentences([TAGGED])[0].sentence.columns is TAGGED.columns
    predicted = pipeline.parse_sentences([odd], keep_tags=False)[0]
    assert (predicted.upos, predicted.xpos) == pipeline.tagger.tag(("The", "child", "sings"))
    assert pipeline.parse_sentences([["The", "child", "sings"]])[0].upos == predicted.upos


def test_without_a_tagger(pipeline):
    alone = Pipeline(pipeline.parser)
    assert alone.parse_sentences([TAGGED])[0].heads == pipeline.parse_sentences([TAGGED])[0].heads
    with pytest.raises(InputError, match="the parser reads (upos, xpos|xpos, upos), which the sentences do not have: a tagger"):
        alone("Tom waits.")
    with pytest.raises(InputError, match="tags are to be predicted, and there is no tagger"):
        alone.parse_sentences([TAGGED], keep_tags=False)


def test_threads_change_nothing(pipeline, test_file):
    sentences = [one.sentence for one in read_treebank(test_file)] * 5
    one, two = (pipeline.parse_sentences(sentences, threads=threads) for threads in (1, 2))
    assert one.to_conllu() == two.to_conllu()
    assert pipeline(TEXT * 20, threads=2).to_conllu() == pipeline(TEXT * 20, threads=1).to_conllu()


def test_sentences_without_words(pipeline):
    document = pipeline.parse_sentences([[], ["Tom", "waits"]])
    assert [len(sentence) for sentence in document] == [0, 2]
    assert document.to_conllu() == document[1:].to_conllu()
    assert document[0].words == ()
    assert document[0].to_json()["words"] == []
    zerogap.verify(document[0].problem, document[0].solution)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda p: p(["Tom"]), "text is a list: expected a string; parse_sentences"),
        (lambda p: p(None), "text is a NoneType"),
        (lambda p: p.parse_sentences("Tom waits."), "sentences is a single one"),
        (lambda p: p.parse_sentences(TAGGED), "sentences is a single one"),
        (lambda p: p.parse_sentences([["Tom"], "waits"]), r"sentences\[1\] is the string 'waits'"),
        (lambda p: p.parse_sentences([["Tom", 3]]), r"sentences\[0\] is something else than strings"),
        (lambda p: p("Tom waits.", threads=0), "threads is 0"),
        (lambda p: p.parse_sentences([["very"] * 3000]), "has 3,000 words: a model of order 'grandsibling' takes at most 2,500"),
    ],
)
def test_what_is_wrong_is_said(pipeline, call, message):
    with pytest.raises(InputError, match=message):
        call(pipeline)


def test_parsers_without_labels(pipeline):
    bare = Pipeline(replace(pipeline.parser, labeller=None), pipeline.tagger)
    [sentence] = bare("Tom waits.")
    assert sentence.labels == ("_", "_", "_")
    assert "\t2\t_\t" in sentence.to_conllu()


def test_documents_are_sequences(pipeline):
    document = pipeline(TEXT)
    assert document[-1] is document.sentences[2]
    assert isinstance(document[:2], Document)
    assert document[1] in document
    with pytest.raises(IndexError):
        document[3]


def test_saved_and_loaded(pipeline, tmp_path, monkeypatch):
    pipeline.parser.save(tmp_path / "parser.npz")
    pipeline.tagger.save(tmp_path / "tagger.npz")
    expected = pipeline(TEXT).to_conllu()
    assert load(tmp_path)(TEXT).to_conllu() == zerogap.load(str(tmp_path))(TEXT).to_conllu() == expected
    alone = load(tmp_path / "parser.npz")
    assert alone.tagger is None
    assert load(tmp_path / "parser.npz", tagger=tmp_path / "tagger.npz")(TEXT).to_conllu() == expected
    assert load(tmp_path / "parser.npz", tagger=tmp_path)(TEXT).to_conllu() == expected
    with pytest.raises(FormatError, match="none cannot be read: no such file or folder"):
        load(tmp_path / "none")
    with pytest.raises(FormatError, match="tagger.npz: the format is"):
        load(tmp_path / "tagger.npz")
    (tmp_path / "empty").mkdir()
    with pytest.raises(FormatError, match="parser.npz cannot be read"):
        load(tmp_path / "empty")
    # names
    (tmp_path / "models").mkdir()
    shutil.copytree(tmp_path, tmp_path / "models" / "toy", ignore=lambda *_: ["models", "empty"])
    monkeypatch.setattr(loading, "MODELS", tmp_path / "models")
    assert load("toy")(TEXT).to_conllu() == expected
    with pytest.raises(UnknownMethod, match="model 'toi' is not known. Did you mean 'toy'. Known: toy, a folder, a file"):
        load("toi")


def test_where_a_sentence_is(pipeline):
    assert Unparsed(Sentence({"form": ("a",)})).where == ""
    assert Unparsed(Sentence({"form": ("a",)}, name="7")).where == "sentence 7"


def test_a_cascade_takes_sentences_together(monkeypatch):
    """Text as well as sentences; each gets the tree that it gets alone."""
    fast, sizes = zerogap.load("en").fast(), []
    parse_together = Cascade.parse_together

    def counted(self, sentences):
        sizes.append(len(sentences))
        return parse_together(self, sentences)

    monkeypatch.setattr(Cascade, "parse_together", counted)
    lines = [f"The {word} of {i} dogs barks." for i in range(1, 24) for word in ("son", "friend", "noise")]
    found = fast("\n".join(lines), lines=True, threads=1)
    assert sizes == [AT_ONCE, len(lines) - AT_ONCE]
    assert found.status == "feasible"
    for i in (0, 10, len(lines) - 1):
        assert found[i].heads == fast(lines[i])[0].heads
    again = fast.parse_sentences([sentence.sentence for sentence in found], threads=2)
    assert [one.heads for one in again] == [one.heads for one in found]
    assert fast("").sentences == ()
