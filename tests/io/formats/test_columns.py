"""Column files: read sentence by sentence, refused with a line number, written back with nothing lost."""

import gzip
import io
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zerogap.errors import FormatError, InputError, UnknownMethod
from zerogap.io.formats.columns import read_columns
from zerogap.io.formats.examples import read_examples, read_records


def records(tmp_path, text, **options):
    path = tmp_path / "x.txt"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return list(read_columns(path, **options))


def test_sentences_and_default_names(tmp_path):
    first, second = records(tmp_path, "Melbourne NP B-LOC\n( Fpa O\n\n\nSydney\tNP\tB-LOC\n")
    assert first.example.columns == {"form": ("Melbourne", "("), "pos": ("NP", "Fpa")}
    assert first.example.labels == ("B-LOC", "O")
    assert (first.line, second.line) == (1, 5)
    assert second.example.columns["form"] == ("Sydney",)


@pytest.mark.parametrize(
    ("row", "labelled", "names", "labels"),
    [
        ("a", True, ["form"], None),
        ("a", False, ["form"], None),
        ("a x", True, ["form"], ("x",)),
        ("a b", False, ["form", "pos"], None),
        ("a b x", True, ["form", "pos"], ("x",)),
        ("a b c", False, ["form", "column2", "column3"], None),
        ("a b c x", True, ["form", "column2", "column3"], ("x",)),
        ("a b x", {"x", "y"}, ["form", "pos"], ("x",)),
        ("a b", {"x", "y"}, ["form", "pos"], None),
        ("x", {"x", "y"}, ["form"], None),
    ],
)
def test_names_by_number(tmp_path, row, labelled, names, labels):
    (found,) = records(tmp_path, row, labelled=labelled)
    assert list(found.example.columns) == names
    assert found.example.labels == labels


def test_given_names(tmp_path):
    (found,) = records(tmp_path, "1 x the DT _\n", columns=("_", "label", "form", "pos", "_"))
    assert found.example.columns == {"form": ("the",), "pos": ("DT",)}
    assert found.example.labels == ("x",)
    assert found.written(["y"]) == "1 y the DT _\n"
    for names in (["pos", "label"], ["form", "form"], ["form", ""], "form"):
        with pytest.raises(InputError, match="expected a name for every column"):
            records(tmp_path, "a b\n", columns=names)


def test_documents_and_comments(tmp_path):
    text = "-DOCSTART- -X- O\n\n# # B\nb y O\n-DOCSTART- -X- O\n\n-DOCSTART-\nc z O\n"
    assert [r.example.columns["form"] for r in records(tmp_path, text)] == [("#", "b"), ("c",)]
    with pytest.raises(FormatError, match=r"x.txt, line 2: 3 columns .*: expected 4, as in line 1.$"):
        records(tmp_path, "# id = 1\na x O\n")


def test_a_hash_within_a_sentence_is_a_token(tmp_path):
    found = records(tmp_path, "# id\na O\n# O\n\n# id 2 of 2\nb O\n", comments=True)
    assert [r.example.columns["form"] for r in found] == [("a", "#"), ("b",)]
    with pytest.raises(FormatError, match="line 5: 5 columns .* expected 2, as in line 1. If lines that begin with # are comments, say so"):
        records(tmp_path, "# id\na O\n# O\n\n# id 2 of 2\nb O\n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a b O\n\nb O\n", r"x.txt, line 3: 2 columns \('b O'\): expected 3, as in line 1"),
        ("a b O\nb x y O\n", "line 2: 4 columns"),
        ("a\t\tO\n", "line 1: column 2 is empty: expected one tab between columns"),
        ("a\tO\t\n", "line 1: column 3 is empty"),
        (b"a O\n\xe9t\xe9 O\n", r"x.txt, line 2 is not UTF-8 text \(byte 0xe9\): expected UTF-8"),
    ],
)
def test_what_is_refused(tmp_path, text, message):
    with pytest.raises(FormatError, match=message):
        records(tmp_path, text)
    with pytest.raises(FormatError, match="line 1: 2 columns .* expected 3, as many as columns were named"):
        records(tmp_path, "a O\n", columns=("form", "pos", "label"))


def test_files_without_sentences(tmp_path):
    for text in ("", "\n", "\r\n \t\n\n", "-DOCSTART- O\n"):
        assert records(tmp_path, text) == []
    with pytest.raises(FormatError, match="none.txt cannot be read: No such file"):
        list(read_columns(tmp_path / "none.txt"))
    with pytest.raises(FormatError, match="cannot be read: Is a directory"):
        list(read_columns(tmp_path))


def test_only_ascii_blanks_part_columns(tmp_path):
    (found,) = records(tmp_path, "20\u00a0000\tZ\tO\n")
    assert found.example.columns["form"] == ("20\u00a0000",)
    (found,) = records(tmp_path, "\ufeffa\u2028b O\r\nNew York\tO\r\n")
    assert found.example.columns["form"] == ("a\u2028b", "New York")
    assert found.example.labels == ("O", "O")


def test_written_with_other_labels(tmp_path):
    (found,) = records(tmp_path, "a  N   O \r\nb\tV\tO")
    assert found.written(["B-X", "I-X"]) == "a  N   B-X \r\nb\tV\tI-X"
    assert found.written(["B-X", "I-X"], keep=True) == "a  N   O B-X\r\nb\tV\tO\tI-X"
    (bare,) = records(tmp_path, "a\nb\n", labelled=False)
    assert bare.written(["x", "y"]) == "a x\nb y\n"
    with pytest.raises(InputError, match="1 labels were given for 2 tokens"):
        bare.written(["x"])
    for label in ("two words", "", "a\nb", "a\tb"):
        with pytest.raises(InputError, match="cannot stand in a column file"):
            bare.written([label, "y"])


cells = st.text(st.characters(codec="utf-8", exclude_characters=" \t\n\r\x00"), min_size=1, max_size=4)
cells = cells.filter(lambda cell: cell != "-DOCSTART-" and not cell.startswith("\ufeff"))
gaps = st.sampled_from([" ", "  ", "\t"])
ends = st.sampled_from(["\n", "\r\n"])


@st.composite
def files(draw):
    width = draw(st.integers(2, 4))
    text = draw(st.sampled_from(["", "\n", " \r\n", "-DOCSTART- -X- O\n\n", "\ufeff"]))
    for _ in range(draw(st.integers(1, 3))):
        for _ in range(draw(st.integers(1, 3))):
            gap = draw(gaps)
            text += gap.join(draw(st.lists(cells, min_size=width, max_size=width))) + draw(ends)
        text += draw(st.sampled_from(["\n", "\r\n", "\n\n", "\n-DOCSTART- x y z\n\n"]))
    return draw(st.sampled_from([text, text.rstrip("\r\n")]))


@given(files())
def test_nothing_is_lost(text):
    lines = list(enumerate(io.StringIO(text, newline="\n"), start=1))
    found = list(read_columns("x", lines=iter(lines)))
    assert "".join(record.written(record.example.labels) for record in found) == text
    kept = "".join(record.written(["P"] * len(record.example), keep=True) for record in found)
    again = list(read_columns("x", lines=iter(list(enumerate(io.StringIO(kept, newline="\n"), start=1)))))
    assert [set(record.example.labels) for record in again] == [{"P"}] * len(found)
    assert [record.example.columns["form"] for record in again] == [record.example.columns["form"] for record in found]


def test_packed_files_and_standard_input(tmp_path, monkeypatch):
    with gzip.open(tmp_path / "x.conll.gz", "wt") as file:
        file.write("a O\n")
    assert [example.labels for example in read_examples(tmp_path / "x.conll.gz")] == [("O",)]
    (tmp_path / "cut.gz").write_bytes((tmp_path / "x.conll.gz").read_bytes()[:-4])
    (tmp_path / "not.gz").write_text("a O\n")
    for name in ("cut.gz", "not.gz"):
        with pytest.raises(FormatError, match=f"{name} cannot be unpacked"):
            read_examples(tmp_path / name)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\nb B\n")))
    assert [example.labels for example in read_examples("-")] == [("B",)]


def test_a_format_is_found_or_given(tmp_path):
    (tmp_path / "x").write_text('\n{"tokens": ["a"], "labels": ["A"]}\n')
    (tmp_path / "y").write_text("{ ( O\n} ) O\n")
    assert read_examples(tmp_path / "x")[0].labels == ("A",)
    assert read_examples(tmp_path / "y")[0].columns["form"] == ("{", "}")
    with pytest.raises(FormatError, match="not JSON"):
        read_examples(tmp_path / "y", format="jsonl")
    assert read_examples(tmp_path / "x", format="columns")[0].labels == ('["A"]}',)
    with pytest.raises(UnknownMethod, match="Known: auto, columns, jsonl"):
        read_records(tmp_path / "x", format="csv")


def test_examples_must_have_labels(tmp_path):
    (tmp_path / "x.txt").write_text("a\n\nb\n")
    with pytest.raises(FormatError, match="x.txt, line 1: there are no labels"):
        read_examples(tmp_path / "x.txt")


@pytest.mark.data
@pytest.mark.parametrize("name", ["conll2002/ned.testa", "conll2002/esp.testa", "conll2000/test.txt"])
def test_shared_task_files(data, name):
    path = data / "ner" / name
    found = list(read_columns(path))
    assert len(found) > 1000
    assert "".join(record.written(record.example.labels) for record in found) == path.read_bytes().decode()
