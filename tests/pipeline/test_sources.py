"""Text in memory and in files gives the same sentences, however it is cut; what is malformed stops, or is left out and reported."""

import gzip
import io
import re
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zerogap.errors import FormatError, UnknownMethod
from zerogap.pipeline import sources
from zerogap.pipeline.sources import from_text, kind_of, read_any, read_text, read_treebank
from zerogap.text.sentences import split_sentences

TEXT = "It rains. It\npours!\n\nDon't go,\r\n\r\n\n she said.\n"
ROWS = "1\tTime\t_\t_\t_\t_\t2\tnsubj\t_\t_\n2\tflies\t_\t_\t_\t_\t0\troot\t_\t_\n\n"
pieces = st.sampled_from(["A", "dog", "don't", ".", "!", " ", " ", "\n", "\n\n", " \t\n", "Mr.", "“", "”", "é", "\r\n", "\u2029"])
texts = st.lists(pieces, max_size=40).map("".join)


def forms(found):
    return [[token.form for token in one.tokens] for one in found]


def test_sentences_lines_and_offsets():
    found = list(from_text(TEXT))
    assert forms(found) == [["It", "rains", "."], ["It", "pours", "!"], ["Don't", "go", ","], ["she", "said", "."]]
    assert [one.line for one in found] == [1, 1, 4, 7]
    assert [one.sentence.name for one in found] == ["1", "2", "3", "4"]
    assert found[2].sentence.columns["form"] == ("Do", "n't", "go", ",")
    assert forms(from_text(TEXT, lines=True))[1:3] == [["It"], ["pours", "!"]]
    assert list(from_text("")) == list(from_text(" \n\n ")) == []


@given(texts, st.booleans())
def test_tokens_are_where_they_say(text, lines):
    for one in from_text(text, lines=lines):
        for token in one.tokens:
            assert text[one.offset + token.start : one.offset + token.end] == token.form == one.text[token.start : token.end]
        assert one.line == text.count("\n", 0, one.offset + one.tokens[0].start) + 1


@given(texts, st.booleans())
def test_paragraphs_are_split_as_the_whole_is(text, lines):
    whole = [[token.form for token in sentence] for sentence in split_sentences(text, lines=lines)]
    joined = [form for sentence in whole for form in sentence]
    found = forms(from_text(text, lines=lines))
    if "“" not in text:  # a quotation mark that is open has no effect on the next paragraph
        assert [form for sentence in found for form in sentence] == joined
        assert found == whole


@given(texts, st.integers(2, 12), st.booleans())
def test_long_paragraphs_are_cut_without_losing_anything(text, longest, lines):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sources, "LONGEST", longest)
        patch.setattr(sources, "PIECE", re.compile(rf".{{1,{longest}}}(?:\s|\Z)|.{{1,{longest}}}", re.DOTALL))
        found = list(from_text(text, lines=lines))
    for one in found:
        for token in one.tokens:
            assert text[one.offset + token.start : one.offset + token.end] == token.form
    assert "".join(token.form for one in found for token in one.tokens) == "".join(text.split())


def test_a_long_line_is_read_in_pieces():
    text = "The dog sleeps well today. " * 20_000
    found = list(from_text(text))
    assert len(found) == 20_000
    assert {len(one.tokens) for one in found} == {6}
    assert max(len(one.text) for one in found) < 3 * sources.LONGEST
    no_end = list(from_text("dog " * 50_000))  # no parser would take it
    assert sum(len(one.tokens) for one in no_end) == 50_000


def test_files_give_what_text_gives(tmp_path):
    (tmp_path / "a.txt").write_text("\ufeff" + TEXT, newline="")
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(TEXT.encode()))
    for name in ("a.txt", "a.txt.gz"):
        found = list(read_any(tmp_path / name))
        assert forms(found) == forms(from_text(TEXT))
        assert [one.offset for one in found] == [one.offset for one in from_text(TEXT)]
        assert found[2].where == f"{tmp_path / name}, line 4"


def test_lines_that_are_not_utf_8(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"One two.\nThree caf\xe9 four.\nFive six.\n")
    with pytest.raises(FormatError, match="line 2 is not UTF-8 text .byte 0xe9."):
        list(read_text(path))
    notes = []
    found = list(read_text(path, on_error="skip", report=notes.append))
    assert forms(found) == [["One", "two", "."], ["Five", "six", "."]]
    assert found[1].offset + found[1].tokens[0].start == len("One two.\nThree cafe four.\n")
    assert notes == [f"{path}, line 2 is not UTF-8 text (byte 0xe9)."]


def test_sentences_that_are_not_utf_8(tmp_path):
    path = tmp_path / "a.conllu"
    good = ROWS.encode()
    path.write_bytes(good + good.replace(b"flies", b"fl\xffes") + b"# text = caf\xe9\n" + good + good.replace(b"1\t", b"7\t", 1) + good)
    with pytest.raises(FormatError, match="line 5 is not UTF-8 text .byte 0xff."):
        list(read_treebank(path))
    notes = []
    assert len(list(read_treebank(path, on_error="skip", report=notes.append))) == 2
    assert [re.sub(r".*line ", "line ", note) for note in notes[:2]] == [
        "line 5: the text is not UTF-8 (byte 0xff).",
        "line 8: the text is not UTF-8 (byte 0xe9).",
    ]
    assert "line 11: the id is '7'" in notes[2]


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("a.txt", ROWS, "text"), ("a.conllu", "text", "conllu"), ("a.CONLLU.gz", ROWS, "conllu"), ("a.conllx", ROWS, "conllx"),
        ("a.conll", ROWS, "treebank"), ("a", ROWS, "treebank"), ("a", "# sent_id = 1\n" + ROWS, "treebank"),
        ("a", "\ufeff\n" + ROWS, "treebank"),
        ("a", "# text = half of a comm", "treebank"), ("a", "Words.", "text"), ("a", "# A heading\n\nWords.", "text"), ("a", "", "text"),
        ("a", "1\tcolumn", "text"), ("a.md", "1. One", "text"),
    ],
)  # fmt: skip
def test_what_a_file_is(tmp_path, monkeypatch, name, content, kind):
    (tmp_path / name).write_bytes(gzip.compress(content.encode()) if name.endswith("gz") else content.encode())
    assert kind_of(tmp_path / name) == kind
    if name == "a":
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content.encode())))
        assert kind_of("-") == kind
        assert sys.stdin.buffer.read() == content.encode()  # nothing was taken away


def test_kinds_are_known():
    with pytest.raises(UnknownMethod, match="Known: auto, text, conllu, conllx"):
        read_any("-", kind="pdf")
