"""Attachment scores, against counting word by word; sentences that do not match are named."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zerogap.dependency.evaluation import CONTENT_RELATIONS, evaluate
from zerogap.dependency.sentence import Sentence
from zerogap.errors import InputError, UnknownMethod

LABELS = ["nsubj", "nsubj:pass", "obj", "punct", "case", "root"]


@st.composite
def pairs(draw):
    """A sentence with two trees; heads are any numbers, for nothing here needs them to be trees."""
    n = draw(st.integers(0, 12))
    columns = {"form": tuple(draw(st.sampled_from(["a", ".", "?!"])) for _ in range(n))}
    columns["upos"] = tuple(draw(st.sampled_from(["NOUN", "PUNCT"])) for _ in range(n))

    def tree():
        return Sentence(columns, tuple(draw(st.integers(0, 2)) for _ in range(n)), tuple(draw(st.sampled_from(LABELS)) for _ in range(n)))

    return tree(), tree()


@given(st.lists(pairs(), max_size=4))
def test_counts_word_by_word(given_pairs):
    gold, predicted = [a for a, _ in given_pairs], [b for _, b in given_pairs]
    report = evaluate(gold, predicted, punctuation="upos")
    words = [
        (a.columns["upos"][m] == "PUNCT", a.heads[m] == b.heads[m], a.labels[m], b.labels[m]) for a, b in given_pairs for m in range(len(a))
    ]
    kept = [word for word in words if not word[0]]
    for tally, counted in ((report.all, words), (report.no_punctuation, kept)):
        assert tally.words == len(counted)
        assert tally.heads == sum(head for _, head, _, _ in counted)
        assert tally.labels == sum(a == b for _, _, a, b in counted)
        assert tally.both == sum(head and a == b for _, head, a, b in counted)
        assert tally.universal == sum(head and a.split(":")[0] == b.split(":")[0] for _, head, a, b in counted)
    assert report.sentences == len(gold)
    assert report.whole_trees == sum(a.heads == b.heads for a, b in given_pairs)
    assert report.whole_labelled == sum((a.heads, a.labels) == (b.heads, b.labels) for a, b in given_pairs)
    assert sum(tally.words for tally in report.lengths.values()) == len(words)
    content = [(head and a.split(":")[0] == b.split(":")[0]) for _, head, a, b in words if a.split(":")[0] in CONTENT_RELATIONS]
    assert (report.content.gold, report.content.correct) == (len(content), sum(content))
    assert report.content.found == sum(b.split(":")[0] in CONTENT_RELATIONS for *_, b in words)
    assert sum(counts.correct for counts in report.relations.values()) == report.all.both
    assert sum(report.confusions.values()) == report.all.heads - report.all.both
    assert str(report)


def test_the_table():
    columns = {"form": ("The", "cat", "sleeps", "."), "upos": ("DET", "NOUN", "VERB", "PUNCT")}
    gold = Sentence(columns, (2, 3, 0, 3), ("det", "nsubj", "root", "punct"))
    report = evaluate([gold], [Sentence(columns, (2, 3, 0, 2), ("det", "obj", "root", "punct"))])
    assert str(report) == (
        "                     words      UAS      LAS  relation\n"
        "all words                4   75.00%   50.00%    75.00%\n"
        "no punctuation           3  100.00%   66.67%    66.67%\n"
        "1 to 10 words            4   75.00%   50.00%    75.00%\n"
        "0.00% of 1 trees have every head right, 0.00% every relation too\n"
        "CLAS 50.00%, LAS without subtypes 50.00%\n"
        "most often wrong: nsubj as obj 1"
    )
    bare = evaluate([gold], [Sentence(columns, (2, 3, 0, 3))])
    assert (bare.labelled, bare.uas, bare.las) == (False, 1.0, 0.0)
    assert "LAS" not in str(bare)
    nothing = evaluate([], [])
    assert (nothing.uas, nothing.las, nothing.clas, nothing.sentences) == (0.0, 0.0, 0.0, 0)


def test_punctuation_of_treebanks_without_upos():
    columns = {"form": ("Go", "«", "!?", "$"), "upos": ("V", "X", "X", "X")}
    tree = Sentence(columns, (0, 1, 1, 1))
    assert evaluate([tree], [tree]).no_punctuation.words == 2
    assert evaluate([tree], [tree], punctuation="upos").no_punctuation.words == 4
    marked = Sentence({**columns, "upos": ("V", "PUNCT", "X", "X")}, (0, 1, 1, 1))
    assert evaluate([marked], [marked]).no_punctuation.words == 3
    assert evaluate([marked], [marked], punctuation="form").no_punctuation.words == 2
    with pytest.raises(UnknownMethod, match="punctuation 'upo' is not known. Did you mean 'upos'"):
        evaluate([], [], punctuation="upo")


def test_sentences_that_do_not_match():
    def sentence(*forms, heads=None, name=""):
        return Sentence({"form": forms}, heads, name=name)

    one = sentence("a", "b", heads=(2, 0), name="s1")
    for other, message in [
        (sentence("a", "c", heads=(2, 0), name="s1"), "sentence 's1': word 2 is 'b' in gold and 'c' in predicted: expected the same words"),
        (sentence("a", heads=(0,), name="x"), r"sentence 's1' \('x' in predicted\): word 2 is 'b' in gold and missing in predicted"),
        (sentence("a", "b", name="s1"), "sentence 's1' has no heads in predicted"),
    ]:
        with pytest.raises(InputError, match=message):
            evaluate([one], [other])
    with pytest.raises(InputError, match="predicted has 1 sentences, gold has more: 's1' is without a counterpart"):
        evaluate([one, one], [one])
    with pytest.raises(InputError, match="gold has 0 sentences, predicted has more: 1 is without"):
        evaluate([], [sentence("a", heads=(0,))])
