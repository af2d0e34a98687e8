"""Sentences: every token is in one, and they end where a reader would end them."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zerogap.dependency.aligned_evaluation import evaluate_text
from zerogap.dependency.sentence import Sentence
from zerogap.io.formats.conllu import read_conllu
from zerogap.text.sentences import split_sentences
from zerogap.text.tokens import tokenise

PIECES = st.sampled_from(
    ["a", "B", "I", "3", "etc.", "Mr.", "p.m.", ".", "!", "?", "...", '"', ")", "(", "'", ":)", "----", " ", "\n", "\n\n", "x@y.org"]
)


@given(st.lists(PIECES, max_size=25).map("".join) | st.text(max_size=40), st.booleans())
def test_every_token_is_in_one_sentence(text, lines):
    sentences = split_sentences(text, lines=lines)
    assert all(sentences)
    found = [token for sentence in sentences for token in sentence]
    assert "".join(token.form for token in found) == "".join(text.split())
    assert all(text[token.start : token.end] == token.form == "".join(token.words) for token in found)
    assert all(a.end <= b.start for a, b in pairwise(found))
    apart = len(found) - len(tokenise(text))
    assert 0 <= apart <= len(sentences)  # periods of abbreviations
    for sentence in sentences:
        inside = text[sentence[0].start : sentence[-1].end]
        assert "\n\n" not in inside
        assert not (lines and "\n" in inside)


@pytest.mark.parametrize(
    "expected",
    [
        [],
        ["One."],
        ["Is it so?", "Yes!", "It is."],
        ["Dr. Roe met Mr. Doe at 5 p.m. in the U.S. Senate.", "They talked."],
        ["He lives in the U.S.", "The rest is known."],
        ["Bring pens, paper, etc.", "We start early."],
        ["We leave at 9 a.m.", "Be there."],
        ["It opens at 9 a.m. EST on Monday."],
        ['"Stop!" he said.', '"Why?"', "Nobody knew."],
        ["She left (in haste.)", "He stayed."],
        ["Wait... there is more."],
        ["Wait...", "There is more."],
        ["Thanks a lot! :)", "See you."],
        ["1. Buy milk.", "2. Drink it."],
        ["See https://example.org", "It is all there."],
        ["no capitals here.", "still two sentences."],
        ["See No. 5 first."],
        ["No.", "I will not."],
        ["Approx. 5 km, i.e. 3 miles."],
    ],
)
def test_where_sentences_end(expected):
    text = " ".join(expected)
    assert [text[sentence[0].start : sentence[-1].end] for sentence in split_sentences(text)] == expected


def test_periods_that_end_a_sentence_are_tokens():
    (first, second) = split_sentences('We met at 5 p.m. It was "fun, games, etc."')
    assert [token.form for token in first] == ["We", "met", "at", "5", "p.m", "."]
    assert [token.form for token in second] == ["It", "was", '"', "fun", ",", "games", ",", "etc", ".", '"']
    (only,) = split_sentences("etc. and so on")
    assert only[0].form == "etc."


def test_lines_and_paragraphs():
    text = "A title\n\nSome text\nthat goes on\r\n\r\nThe end"
    assert len(split_sentences(text)) == 3
    assert len(split_sentences(text, lines=True)) == 4


def test_long_texts_without_ends():
    for piece in ("word ", ") ", "( ", '"', ". ", "a.b.", "'s "):
        assert split_sentences(piece * 5_000)


@pytest.mark.data
def test_quality_on_a_treebank(data):
    """Raw text of documents and paragraphs, cut again: as good as when the rules were made (99.7 and 87.7)."""
    gold = list(read_conllu(data / "ud" / "en_ewt" / "dev.conllu"))
    report = evaluate_text(gold, [Cut(tokens) for text in documents(gold) for tokens in split_sentences(text)])
    assert report["Tokens"].f1 > 0.995
    assert report["Words"].f1 > 0.99
    assert report["Sentences"].f1 > 0.86


class Cut:
    """A sentence without an analysis."""

    def __init__(self, tokens):
        self.sentence = Sentence({"form": tuple(word for token in tokens for word in token.words)})
        self.multiwords, m = [], 1
        for token in tokens:
            if len(token.words) > 1:
                self.multiwords.append((token.form, m, m + len(token.words) - 1))
            m += len(token.words)


def documents(records):
    text = ""
    for record in records:
        keys = {key.split()[0] for key, _ in record.comments}
        if "newdoc" in keys and text:
            yield text
            text = ""
        if "newpar" in keys and text:
            text = text.rstrip() + "\n\n"
        text += "".join(token.form + " " * token.space_after for token in record.tokens)
    yield text
