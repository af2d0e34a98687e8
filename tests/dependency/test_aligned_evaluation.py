"""Counting where tokens differ: the rules of the shared task on small texts, and what must hold on random ones."""

from dataclasses import dataclass
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zerogap.dependency.aligned_evaluation import common, evaluate_text
from zerogap.dependency.evaluation import evaluate
from zerogap.dependency.sentence import Sentence
from zerogap.errors import InputError


@dataclass
class Cut:
    sentence: Sentence
    multiwords: tuple = ()


def cut(text, heads=None, labels=None, upos=None, name=""):
    """A sentence of tokens apart by blanks, words of a token apart by +; what the token itself looks like is before =."""
    forms, multiwords = [], []
    for token in text.split():
        form, _, words = token.rpartition("=")
        words = words.split("+")
        if len(words) > 1 or form:
            multiwords.append((form or "".join(words), len(forms) + 1, len(forms) + len(words)))
        forms += words
    columns = {"form": tuple(forms)} | ({"upos": tuple(upos.split())} if upos else {})
    return Cut(Sentence(columns, heads, tuple(labels.split()) if labels else None, name), tuple(multiwords))


def correct(gold, predicted):
    return {name: counts.correct for name, counts in evaluate_text(gold, predicted).metrics.items()}


def test_tokens_and_sentences_by_their_characters():
    report = evaluate_text([cut("a well-known b"), cut("c .")], [cut("a well - known b c"), cut(".")])
    assert (report["Tokens"].gold, report["Tokens"].found, report["Tokens"].correct) == (5, 7, 4)
    assert (report["Sentences"].gold, report["Sentences"].found, report["Sentences"].correct) == (2, 2, 0)
    assert (report["Words"].correct, report.aligned) == (4, 4)
    assert set(report.metrics) == {"Tokens", "Sentences", "Words"}
    assert report["Tokens"].f1 == pytest.approx(8 / 12)


def test_words_of_multiword_tokens_by_their_forms():
    assert correct([cut("I do+n't go")], [cut("I don't go")]) == {"Tokens": 3, "Sentences": 1, "Words": 2}
    assert correct([cut("du=de+le pain")], [cut("du=DE+le pain")])["Words"] == 3  # whatever the case
    assert correct([cut("abc=a+x+b d")], [cut("abc=a+b+x d")])["Words"] == 3
    assert correct([cut("ab=a+b c")], [cut("a bc=b+c")])["Words"] == 3  # tokens that overlap are one stretch
    assert correct([cut("ab=x+y")], [cut("a b")])["Words"] == 0
    assert correct([cut("x ab=a+b")], [cut("xa b")])["Words"] == 1


def test_heads_that_are_not_aligned_are_wrong():
    gold = [cut("she can't=ca+n't go", (4, 4, 4, 0), "nsubj aux advmod root", "PRON AUX PART VERB")]
    same = [cut("she can't=ca+n't go", (4, 4, 4, 0), "nsubj:x aux advmod root", "PRON AUX PART VERB")]
    assert correct(gold, same) == {
        "Tokens": 3, "Sentences": 1, "Words": 4, "UPOS": 4, "UAS": 4, "LAS": 4, "LAS, subtypes": 3, "CLAS": 3,
    }  # fmt: skip
    other = [cut("she can't go", (2, 3, 0), "nsubj aux root", "PRON VERB VERB")]
    assert correct(gold, other) == {
        "Tokens": 3, "Sentences": 1, "Words": 2, "UPOS": 2, "UAS": 1, "LAS": 1, "LAS, subtypes": 1, "CLAS": 1,
    }  # fmt: skip


def test_metrics_only_where_both_sides_have_something():
    tree = [cut("a b", (0, 1), "root dep", "X Y")]
    assert list(evaluate_text(tree, [cut("a b")]).metrics) == ["Tokens", "Sentences", "Words"]
    assert list(evaluate_text(tree, [cut("a b", (0, 1))]).metrics) == ["Tokens", "Sentences", "Words", "UAS"]
    assert str(evaluate_text(tree, tree)).splitlines()[1] == ("Tokens                 2         2         2    100.00%  100.00%  100.00%")
    assert evaluate_text([], []).metrics["Words"].f1 == 0.0


def test_texts_that_differ():
    with pytest.raises(
        InputError, match="differ after 3 characters without blanks, in gold sentence 's2': 'defg' in gold, 'xefg' in predicted"
    ):
        evaluate_text([cut("a bc", name="s1"), cut("de fg", name="s2")], [cut("abc xefg")])
    with pytest.raises(InputError, match="after 1 characters .* in gold sentence '': '' in gold, 'b' in predicted"):
        evaluate_text([cut("a")], [cut("a b")])


@st.composite
def cuts(draw, text, multiword=True):
    """The text in sentences of tokens of words, with any heads."""
    sentences, rest = [], text
    while rest:
        length = draw(st.integers(1, len(rest)))
        piece, rest = rest[:length], rest[length:]
        tokens = []
        while piece:
            size = draw(st.integers(1, len(piece)))
            token, piece = piece[:size], piece[size:]
            several = multiword and draw(st.booleans())
            words = [draw(st.sampled_from("abAB")) for _ in range(draw(st.integers(2, 3)))] if several else [token]
            tokens.append(f"{token}={'+'.join(words)}" if several else token)
        n = sum(len(token.split("+")) for token in tokens)
        heads = tuple(draw(st.integers(0, n)) for _ in range(n))
        sentences.append(cut(" ".join(tokens), heads, " ".join(draw(st.sampled_from(["nsubj", "nsubj:x", "det"])) for _ in range(n))))
    return sentences


@st.composite
def two_cuts(draw, multiword=True):
    text = "".join(draw(st.lists(st.sampled_from("ab"), min_size=1, max_size=7)))
    return draw(cuts(text, multiword)), draw(cuts(text, multiword))


@given(two_cuts())
def test_what_must_hold(given_cuts):
    gold, predicted = given_cuts
    report, reverse = evaluate_text(gold, predicted), evaluate_text(predicted, gold)
    for name, counts in report.metrics.items():
        assert counts.correct <= min(counts.gold, counts.found) or name == "CLAS"
    for name in ("Tokens", "Sentences"):
        assert report[name].correct == reverse[name].correct
    assert report["LAS, subtypes"].correct <= report["LAS"].correct <= report["UAS"].correct <= report["Words"].correct
    itself = evaluate_text(gold, gold)
    assert all(counts.correct == counts.gold == counts.found for counts in itself.metrics.values())


@given(two_cuts(multiword=False))
def test_without_multiword_tokens_words_are_tokens(given_cuts):
    gold, predicted = given_cuts
    report = evaluate_text(gold, predicted)
    assert report["Words"] == report["Tokens"]


@given(two_cuts(), st.data())
def test_the_same_words_count_as_in_trees(given_cuts, data):
    gold, _ = given_cuts
    other = []
    for record in gold:
        n = len(record.sentence)
        heads, labels = (tuple(data.draw(values) for _ in range(n)) for values in (st.integers(0, n), st.sampled_from(["nsubj", "det"])))
        other.append(Cut(Sentence(record.sentence.columns, heads, labels), record.multiwords))
    report = evaluate_text(gold, other)
    trees = evaluate([record.sentence for record in gold], [record.sentence for record in other])
    assert (report["UAS"].correct, report["LAS, subtypes"].correct) == (trees.all.heads, trees.all.both)
    assert (report["LAS"].correct, report["CLAS"]) == (trees.all.universal, trees.content)


@given(st.text("ab", max_size=6), st.text("ab", max_size=6))
def test_longest_common_subsequence(a, b):
    found = common(list(a), list(b))
    assert all(a[i] == b[j] for i, j in found)
    assert all(i < k and j < m for (i, j), (k, m) in pairwise(found))

    def longest(i, j):
        if i == len(a) or j == len(b):
            return 0
        return max(longest(i + 1, j), longest(i, j + 1), longest(i + 1, j + 1) + 1 if a[i] == b[j] else 0)

    assert len(found) == longest(0, 0)
