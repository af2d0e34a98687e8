"""ARPA files: read as they are, refused with the line that is wrong."""

import gzip

import pytest

from zerogap.errors import FormatError
from zerogap.io.translation.arpa import load_language_model, read_language_model

TINY = r"""
written by hand

\data\
ngram 1=5
ngram 2=3
ngram 3=1

\1-grams:
-99	<s>	-0.5
-1.0	</s>
-2.0	<unk>
-0.5	a	-0.25
-0.75	b	-0.125

\2-grams:
-0.3	<s> a	-0.0625
-0.2	a b	-0.5
-0.4	b </s>

\3-grams:
-0.1	<s> a b

\end\
"""


def read(text):
    return read_language_model(enumerate(text.splitlines(keepends=True), start=1))


def test_scores_by_hand():
    model = read(TINY)
    assert model.order == 3
    assert model.words == ("<s>", "</s>", "<unk>", "a", "b")
    assert model.score(["a", "b"]) == pytest.approx(-0.3 - 0.1 + (-0.5 - 0.4), abs=1e-12)  # a b backs off before </s>
    assert model.score(["b"], end=False) == pytest.approx(-0.5 - 0.75)
    assert model.score(["b"], begin=False, end=False) == -0.75
    assert model.score(["new"], begin=False, end=False) == -2.0
    assert model.id_of("new") == 2


def test_files_plain_and_packed(tmp_path):
    (tmp_path / "lm.arpa").write_text(TINY)
    with gzip.open(tmp_path / "lm.arpa.gz", "wt") as file:
        file.write(TINY.replace("\t", " "))
    plain, packed = load_language_model(tmp_path / "lm.arpa"), load_language_model(tmp_path / "lm.arpa.gz")
    assert plain.words == packed.words
    assert plain.keys.tolist() == packed.keys.tolist()


def test_words_with_spaces_that_are_not_ascii():
    assert read(TINY.replace("b", "b\u00a0c\u3000d")).score(["a", "b\u00a0c\u3000d"]) == read(TINY).score(["a", "b"])


def test_unknown_words_of_a_model_without_them():
    text = TINY.replace("1=5", "1=4").replace("-2.0\t<unk>\n", "")
    assert read(text).score(["new"], begin=False, end=False) == -100.0


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("\\data\\", "", r"no line \\data\\"),
        ("ngram 2=3", "ngram 3=3", "line 6: 'ngram 3=3', expected the number of 2-grams"),
        ("ngram 2=3", "ngrams: 3", r"line 6: 'ngrams: 3', expected 'ngram 2=COUNT'"),
        ("1=5", "1=6", "line 15: an empty line after 5 1-grams, expected 6"),
        ("1=5", "1=4", r"line 14: '-0.75\\tb\\t-0.125', expected '\\2-grams:', as fewer 1-grams are announced"),
        ("3=1", "3=2", r"line 23: an empty line after 1 3-grams, expected 2"),
        ("2=3", "2=2", r"line 19: .* expected '\\3-grams:', as fewer 2-grams"),
        ("-0.2\ta b", "-0.2\ta c", "line 18: 'c' is not among the 1-grams"),
        ("-0.2\ta b", "x\ta b", r"line 18: 'x\\ta b\\t-0.5', expected a score, 2 words and perhaps a back-off weight"),
        ("-0.2\ta b", "-0.2\ta b b", "line 18: .* expected a score, 2 words"),
        ("-0.2\ta b", "0.2\ta b", "line 18: the score is 0.2: expected a logarithm"),
        ("-0.2\ta b", "nan\ta b", "line 18: the score is nan"),
        ("b\t-0.5", "b\tinf", "line 18: the back-off weight is inf"),
        ("-0.4\tb </s>", "-0.4\ta b", "line 19, 'a b' is listed twice"),
        ("-0.75\tb", "-0.75\ta", "line 14: 'a' is listed twice"),
        ("a\t-0.25", "a", "line 13, 'a' has no back-off weight, but longer"),
        ("-0.1\t<s> a b", "-0.1\tb a b", "the context of line 22, 'b a b' is not listed"),
        ("-0.1\t<s> a b", "-0.1\t<s> a b\t-0.5", "line 22: .* expected a score, 3 words\\."),
        ("\\end\\", "", r"ends: expected '\\end"),
        ("\\end\\", "-0.1\ta b b", r"line 24: .* expected \\end\\, as 1 3-grams"),
        ("-1.0\t</s>", "-1.0\t<e>", "'</s>' is not among the 1-grams"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(old, new, message):
    assert old in TINY
    with pytest.raises(FormatError, match=message):
        read(TINY.replace(old, new, 1))


def test_an_end_in_the_middle():
    with pytest.raises(FormatError, match="ends after 1 2-grams: expected 3"):
        read(TINY[: TINY.index("-0.2\ta b")])
    with pytest.raises(FormatError, match="does not list </s>"):
        read("\\data\\\nngram 1=1\n\\1-grams:\n-1 <s>\n\\end\\\n")


@pytest.mark.data
def test_a_real_model(data):
    model = load_language_model(data / "mt" / "multi30k-deen" / "lm.arpa.gz")
    assert (model.order, model.n_words, len(model.keys)) == (3, 10388, 10388 + 88006 + 38757)
    assert model.score(["a", "man", "is", "smiling", "."]) > model.score(["smiling", "man", "a", ".", "is"])
