"""CoNLL-U and CoNLL-X: nothing is lost, what is malformed is refused with its line, cells and comments are replaced."""

import gzip
import io
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zerogap.dependency.sentence import Sentence
from zerogap.errors import FormatError, InputError, UnknownMethod
from zerogap.io.formats.conllu import read_conllu
from zerogap.io.formats.conllu_cells import conllu_text
from zerogap.text.sentences import split_sentences
from zerogap.text.tokens import tokenise

SMALL = """\
# newdoc id = a
# sent_id = a-1
# text = She can't swim.
1\tShe\tshe\tPRON\tPRP\tCase=Nom\t4\tnsubj\t4:nsubj\t_
2-3\tcan't\t_\t_\t_\t_\t_\t_\t_\t_
2\tca\tcan\tAUX\tMD\t_\t4\taux\t4:aux\t_
3\tn't\tnot\tPART\tRB\t_\t4\tadvmod\t4:advmod\t_
4\tswim\tswim\tVERB\tVB\t_\t0\troot\t0:root\tSpaceAfter=No
4.1\tswim\tswim\tVERB\tVB\t_\t_\t_\t4:conj\tCopyOf=4
5\t.\t.\tPUNCT\t.\t_\t4\tpunct\t4:punct\tNote=x|SpaceAfter=No

# sent_id = a-2
1\tWhy\twhy\tADV\tWRB\t_\t0\troot\t_\tSpaceAfter=No
2\t?\t?\tPUNCT\t.\t_\t1\tpunct\t_\t_

"""


def records(tmp_path, text, **options):
    path = tmp_path / "x.conllu"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return list(read_conllu(path, **options))


def rows(*cells):
    """Lines of ten columns, '_' where nothing is given: id, form, head."""
    return "".join(f"{name}\t{form}\t_\t_\t_\t_\t{head}\t_\t_\t_\n" for name, form, head in cells) + "\n"


def test_what_is_read(tmp_path):
    first, second = records(tmp_path, SMALL)
    assert first.sentence == Sentence(
        {
            "form": ("She", "ca", "n't", "swim", "."),
            "lemma": ("she", "can", "not", "swim", "."),
            "upos": ("PRON", "AUX", "PART", "VERB", "PUNCT"),
            "xpos": ("PRP", "MD", "RB", "VB", "."),
            "feats": ("Case=Nom", "_", "_", "_", "_"),
        },
        heads=(4, 4, 4, 0, 4),
        labels=("nsubj", "aux", "advmod", "root", "punct"),
        name="a-1",
    )
    assert (first.line, second.line) == (4, 13)
    assert first.comments == (("newdoc id", "a"), ("sent_id", "a-1"), ("text", "She can't swim."))
    assert first.multiwords == (("can't", 2, 3),)
    assert [token[:3] for token in first.tokens] == [("She", 1, 1), ("can't", 2, 3), ("swim", 4, 4), (".", 5, 5)]
    assert [token.space_after for token in first.tokens] == [True, True, False, False]
    assert (first.text, second.text) == ("She can't swim.", "Why?")
    assert second.multiwords == ()


def test_names_without_sent_id(tmp_path):
    (found,) = records(tmp_path, "\n\n" + rows((1, "Go", 0)))
    assert found.sentence.name == f"{tmp_path / 'x.conllu'}, line 3"


def test_no_tree_and_no_labels(tmp_path):
    (found,) = records(tmp_path, rows((1, "_", "_"), (2, "b", "_")))
    assert (found.sentence.heads, found.sentence.labels) == (None, None)
    assert found.sentence.columns["form"] == ("_", "b")
    with pytest.raises(FormatError, match="x.conllu, line 1: the sentence has no heads .*: expected a tree"):
        records(tmp_path, rows((1, "a", "_")), trees=True)
    with pytest.raises(FormatError, match="line 2: the head of word 2 is '_': other words of the sentence have heads"):
        records(tmp_path, rows((1, "a", 0), (2, "b", "_")))


@pytest.mark.parametrize(
    "text",
    [
        SMALL,
        SMALL.replace("\n", "\r\n"),
        "\ufeff" + SMALL,
        "\ufeff" + SMALL[SMALL.index("1\t") :],
        SMALL.rstrip("\n"),
        SMALL.rstrip("\n") + "\n",
        "\n\n# a comment\n\n" + SMALL + "\n \n\n# the end\n\n# of all",
        SMALL.replace("# text", "#text").replace("sent_id = ", "sent_id="),
        rows((1, "New York", 0), (2, "a\u2028b\x0bc", 1)),
    ],
)
def test_nothing_is_lost(tmp_path, text):
    found = records(tmp_path, text)
    assert "".join(record.written() for record in found) == text
    same = [record.written(columns=record.sentence.columns, heads=record.sentence.heads, labels=record.sentence.labels) for record in found]
    assert "".join(same) == text


@given(st.data())
def test_random_blocks(tmp_path_factory, data):
    """Blocks with multiword tokens and empty nodes, against what they were made from."""
    ends, blocks = data.draw(st.sampled_from(["\n", "\r\n"])), []
    cell = st.text(st.characters(codec="utf-8", exclude_characters="\t\r\n"), min_size=1, max_size=3).filter(lambda text: text.strip(" "))
    for _ in range(data.draw(st.integers(0, 3))):
        n = data.draw(st.integers(1, 4))
        forms = [data.draw(cell) for _ in range(n)]
        heads = [data.draw(st.sampled_from([h for h in range(n + 1) if h != m])) for m in range(1, n + 1)]
        multiwords, lines, inside = [], [f"0.1{chr(9)}e" + "\t_" * 8] * data.draw(st.integers(0, 1)), 0
        for m in range(1, n + 1):
            if m > inside and data.draw(st.booleans()):
                inside = data.draw(st.integers(m, n))
                multiwords.append((data.draw(cell), m, inside))
                lines.append(f"{m}-{inside}\t{multiwords[-1][0]}" + "\t_" * 8)
            lines.append(f"{m}\t{forms[m - 1]}\t_\t_\t_\t_\t{heads[m - 1]}\tdep\t_\t_")
            lines += [f"{m}.{k}\te" + "\t_" * 8 for k in range(1, data.draw(st.integers(1, 3)))]
        blocks.append((tuple(forms), tuple(heads), tuple(multiwords), ends.join(lines) + ends * 2))
    path = tmp_path_factory.mktemp("conllu") / "x"
    path.write_bytes("".join(text for *_, text in blocks).encode())
    found = list(read_conllu(path))
    assert [(r.sentence.columns["form"], r.sentence.heads, r.multiwords, r.written()) for r in found] == blocks
    for record in found:
        n = len(record.sentence)
        other = record.written(columns={"upos": ["X"] * n, "misc": ["y"] * n}, heads=[0] * n, labels=["z"] * n, comments=[("k", "v")])
        path.write_bytes(other.encode())
        (again,) = read_conllu(path)
        assert (again.sentence.heads, again.sentence.labels) == ((0,) * n, ("z",) * n)
        assert (again.sentence.columns["upos"], again.multiwords) == (("X",) * n, record.multiwords)
        assert again.comments == (("k", "v"),)
        assert other.count(ends) == other.count("\n") == record.written().count("\n") + 1


def test_cells_and_comments_are_replaced(tmp_path):
    first, second = records(tmp_path, SMALL)
    written = second.written(columns={"xpos": ["A", "B"], "misc": ["_", "m"]}, heads=[2, 0], labels=["x", "y"])
    assert written == "# sent_id = a-2\n1\tWhy\twhy\tADV\tA\t_\t2\tx\t_\t_\n2\t?\t?\tPUNCT\tB\t_\t0\ty\t_\tm\n\n"
    once = first.written(comments=[("zerogap_score", "1.5"), ("text", "x"), ("newdoc id", None)])
    assert once.startswith("# sent_id = a-1\n# text = x\n# zerogap_score = 1.5\n1\tShe")
    (again,) = records(tmp_path, once)
    assert again.written(comments=[("zerogap_score", "2"), ("newpar", "")]).startswith(
        "# sent_id = a-1\n# text = x\n# zerogap_score = 2\n# newpar\n1\tShe"
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"heads": [1, 0]}, "the head of word 1 is 1: expected 0 .the root. or another word, 1 to 2"),
        ({"heads": [3, 0]}, "the head of word 1 is 3"),
        ({"heads": [0]}, "1 cells of column 'head' were given for 2 words"),
        ({"labels": ["a", "b", "c"]}, "3 cells of column 'deprel' were given for 2 words"),
        ({"columns": {"upos": ["A", ""]}}, "column 'upos' of word 2 is '': expected text without tabs"),
        ({"columns": {"upos": ["A\tB", "x"]}}, r"column 'upos' of word 1 is 'A\\tB'"),
        ({"columns": {"head": ["1", "2"]}}, "column 'head' is not known.* Known: form, lemma, upos"),
        ({"columns": {"phead": ["1", "2"]}}, "column 'phead' is not known"),
        ({"comments": [("a", "b\nc")]}, "cannot stand in a line"),
        ({"comments": [("a=b", "c")]}, "cannot stand in a line"),
    ],
)
def test_what_cannot_be_written(tmp_path, change, message):
    _, second = records(tmp_path, SMALL)
    with pytest.raises(InputError, match=message):
        second.written(**change)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1\ta\t_\t_\t_\t_\t0\t_\t_\n\n", r"line 1: 9 columns \('1 a _ _ _ _ 0 _ _'\): expected 10\.$"),
        ("1 a _ _ _ _ 0 _ _ _\n\n", "line 1: 1 column .*: expected 10. They must be parted by tabs, not blanks"),
        (rows((1, "a", 0))[:-1] + "# x\n" + rows((1, "b", 0)), "line 2: a comment inside a sentence"),
        (rows((1, "a", 0))[:-1] + rows((1, "b", 0)), "line 2: the id is '1': expected 2, an empty node .1.1. or a multiword token .2-3."),
        (rows((2, "a", 0)), "line 1: the id is '2': expected 1,"),
        (rows(("x", "a", 0)), "line 1: the id is 'x': expected 1,"),
        (rows(("1.2", "a", "_"), (1, "a", 0)), "line 1: the id is '1.2': expected 1,"),
        (rows(("2-3", "ab", "_"), (1, "a", 0)), "line 1: the multiword token 2-3: expected it to begin with word 1"),
        (rows(("1-3", "ab", "_"), (1, "a", 0)), "line 1: the multiword token 1-3 ends after the sentence"),
        (rows(("1-2", "ab", "_"), (1, "a", 0), ("1.1", "e", "_")), "line 1: the multiword token 1-2 ends after the sentence, which has 1"),
        (
            rows(("1-2", "ab", "_"), (1, "a", 0), ("2-3", "b", "_"), (2, "b", 1), (3, "c", 1)),
            "line 3: the multiword token 2-3: words 2 to 2",
        ),
        (rows(("3-1", "ab", "_"), (1, "a", 0)), "line 1: the multiword token 3-1: expected its last word after its first"),
        (rows(("0.1", "a", "_")), "line 1: the sentence has no words"),
        (rows((1, "a", "x")), r"line 1: the head of word 1 is 'x': expected 0 \(the root\) or another word, 1 to 1"),
        (rows((1, "a", 2)), "line 1: the head of word 1 is '2'"),
        (rows((1, "a", 1)), "line 1: the head of word 1 is '1'"),
        (rows((1, "a", "-1")), "line 1: the head of word 1 is '-1'"),
        (rows((1, "a", "1_0")), "line 1: the head of word 1 is '1_0'"),
        (rows((1, "a", "²")), "line 1: the head of word 1 is '²'"),
        (rows((1, "a", 0), (2, "", 1)), "line 2: column 2 is empty: expected '_' for nothing"),
        ("1\ta\t_\t_\t_\t_\t0\t_\t_\t\n\n", "line 1: column 10 is empty"),
        ("1\ta\t_\t_\t_\t_\t0\t_\t_\t", "line 1: column 10 is empty"),
        (b"1\t\xff\t_\t_\t_\t_\t0\t_\t_\t_\n\n", "line 1 is not UTF-8 text"),
    ],
)
def test_what_is_refused(tmp_path, text, message):
    with pytest.raises(FormatError, match=f"x.conllu, {message}"):
        records(tmp_path, text)


def test_cycles_are_refused_where_trees_are_needed(tmp_path):
    text = rows((1, "a", 2), (2, "b", 3), (3, "c", 2), (4, "d", 0))
    assert len(records(tmp_path, text)) == 1
    with pytest.raises(FormatError, match="line 2: word 2 is on a cycle of heads"):
        records(tmp_path, text, trees=True)
    assert len(records(tmp_path, rows((1, "a", 0), (2, "b", 0)), trees=True)) == 1  # some treebanks have several roots


def test_malformed_sentences_are_left_out(tmp_path):
    good, bad = rows((1, "a", 0)), rows((1, "b", 7))
    told = []
    text = "# 1\n" + good + "# 2\n" + bad + good + "x\ny\n\n" + good.rstrip()
    found = records(tmp_path, text, on_error="skip", report=told.append)
    assert [record.line for record in found] == [2, 7, 12]
    assert "".join(record.written() for record in found) == "# 1\n" + good + good + good.rstrip()
    assert [message.split(": ")[0].rsplit(", ")[-1] for message in told] == ["line 5", "line 9"]
    assert len(records(tmp_path, text, on_error="skip")) == 3
    with pytest.raises(FormatError, match="line 5"):
        records(tmp_path, text)


def test_options(tmp_path):
    for options in ({"format": "conll"}, {"on_error": "ignore"}):
        with pytest.raises(UnknownMethod):
            read_conllu(tmp_path / "x", **options)
    with pytest.raises(FormatError, match="none cannot be read: No such file"):
        list(read_conllu(tmp_path / "none"))
    for text in ("", "\n\n", "\ufeff", "# only a comment\n"):
        assert records(tmp_path, text) == []


def test_columns_of_conll_x(tmp_path):
    text = "1\tDet\tdet\tPP\tPP3\t_\t2\tsubj\t2\tsubj\n2\tgår\tgå\tVA\tVADR\t_\t0\tROOT\t0\tROOT\n\n"
    (found,) = records(tmp_path, text)
    assert found.format == "conllx"
    assert found.sentence.columns["upos"] == ("PP", "VA")
    assert found.written(columns={"phead": ["0", "1"]}, heads=[2, 0]).count("\tsubj\t0\tsubj\n") == 1
    assert found.text == "Det går"
    with pytest.raises(InputError, match="column 'misc' is not known.* phead, pdeprel"):
        found.written(columns={"misc": ["_", "_"]})
    with pytest.raises(FormatError, match=r"line 1: the id is '1-2': expected 1\.$"):
        records(tmp_path, rows(("1-2", "ab", "_"), (1, "a", 0), (2, "b", 1)), format="conllx")
    assert records(tmp_path, text, format="conllu")[0].format == "conllu"


def test_packed_files_and_standard_input(tmp_path, monkeypatch):
    path = tmp_path / "x.conllu.gz"
    path.write_bytes(gzip.compress(SMALL.encode()))
    assert "".join(record.written() for record in read_conllu(path)) == SMALL
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(SMALL.encode())))
    assert [record.sentence.name for record in read_conllu("-")] == ["a-1", "a-2"]


def test_written_from_nothing(tmp_path):
    text = "Well,\n she can't (swim).Why?"
    blocks = []
    for k, tokens in enumerate(split_sentences(text), start=1):
        forms = tuple(word for token in tokens for word in token.words)
        heads, labels = (0, *[1] * (len(forms) - 1)), ("root", *["dep"] * (len(forms) - 1))
        blocks.append(conllu_text(Sentence({"form": forms}, heads, labels, name=f"s{k}"), text=text, tokens=tokens, comments=[("z", "1")]))
    found = records(tmp_path, "".join(blocks), trees=True)
    assert [record.text for record in found] == ["Well, she can't (swim).", "Why?"]
    assert [dict(record.comments)["z"] for record in found] == ["1", "1"]
    assert found[0].multiwords == (("can't", 4, 5),)
    assert [token.space_after for token in found[0].tokens] == [False, True, True, True, False, False, False, False]
    assert [token.space_after for token in found[1].tokens] == [False, True]
    for record in found:  # the text again, without the comment
        (bare,) = records(tmp_path, record.written(comments=[("text", None)]))
        assert bare.text == record.text


def test_what_cannot_be_written_from_nothing():
    with pytest.raises(InputError, match="tokens are not those of the sentence"):
        conllu_text(Sentence({"form": ("a", "b")}), text="a b", tokens=tokenise("a c"))
    with pytest.raises(InputError, match="column 'tag' is not known"):
        conllu_text(Sentence({"form": ("a",), "tag": ("x",)}))
    assert conllu_text(Sentence({"form": ("a",), "misc": ("x=y",)}), text="ab", tokens=tokenise("a")) == (
        "# text = a\n1\ta\t_\t_\t_\t_\t_\t_\t_\tx=y|SpaceAfter=No\n\n"
    )


@pytest.mark.data
def test_treebanks_byte_for_byte(data):
    for path in sorted([*(data / "ud").glob("*/*.conllu"), *(data / "ptb_dep").glob("*.conllu")]):
        text = path.read_bytes().decode()
        found = list(read_conllu(path, trees=True))
        assert "".join(record.written() for record in found) == text, path
        same = (record.written(heads=record.sentence.heads, labels=record.sentence.labels) for record in found)
        assert "".join(same) == text, path
