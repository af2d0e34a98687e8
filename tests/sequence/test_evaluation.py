"""Segments and counts, against conlleval written out line by line."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zerogap.errors import InputError
from zerogap.sequence.evaluation import evaluate, segments

TAGS = ["O", *(f"{prefix}-{field}" for prefix in "BIES" for field in ("X", "Y"))]


def end_of_chunk(previous, tag, previous_type, kind):
    """conlleval.py, which added S to Tjong Kim Sang's conlleval.pl."""
    return (
        previous in ("E", "S")
        or (previous == "B" and tag in ("B", "S", "O"))
        or (previous == "I" and tag in ("B", "S", "O"))
        or (previous != "O" and previous_type != kind)
    )


def start_of_chunk(previous, tag, previous_type, kind):
    return (
        tag in ("B", "S")
        or (previous == "E" and tag in ("E", "I"))
        or (previous == "S" and tag in ("E", "I"))
        or (previous == "O" and tag in ("E", "I"))
        or (tag != "O" and previous_type != kind)
    )


def parse(label):
    return ("O", "") if label == "O" else tuple(label.split("-", 1))


def conlleval(pairs):
    """Counts of gold, found and correct chunks by type, in one pass over (gold, guess) labels with a boundary at the end."""
    gold, found, correct = Counter(), Counter(), Counter()
    in_correct = False
    last_gold = last_guess = ("O", "")
    for right, guess in [*pairs, ("O", "O")]:
        (tag, kind), (guess_tag, guess_kind) = parse(right), parse(guess)
        end_gold = end_of_chunk(last_gold[0], tag, last_gold[1], kind)
        end_guess = end_of_chunk(last_guess[0], guess_tag, last_guess[1], guess_kind)
        if in_correct:
            if end_gold and end_guess and last_guess[1] == last_gold[1]:
                in_correct = False
                correct[last_gold[1]] += 1
            elif end_gold != end_guess or guess_kind != kind:
                in_correct = False
        start_gold = start_of_chunk(last_gold[0], tag, last_gold[1], kind)
        start_guess = start_of_chunk(last_guess[0], guess_tag, last_guess[1], guess_kind)
        in_correct |= start_gold and start_guess and kind == guess_kind
        gold[kind] += start_gold
        found[guess_kind] += start_guess
        last_gold, last_guess = (tag, kind), (guess_tag, guess_kind)
    return gold, found, correct


@given(st.lists(st.tuples(st.sampled_from(TAGS), st.sampled_from(TAGS)), max_size=8))
def test_counts_are_those_of_conlleval(pairs):
    report = evaluate([[right for right, _ in pairs]], [[guess for _, guess in pairs]])
    gold, found, correct = conlleval(pairs)
    for name in ("X", "Y"):
        counts = report.fields.get(name)
        mine = (counts.gold, counts.found, counts.correct) if counts else (0, 0, 0)
        assert mine == (gold[name], found[name], correct[name])
    assert report.overall.correct == sum(correct.values())


@given(st.lists(st.sampled_from(["O", "author", "title", "B-X", "I-X", "E-X", "S-X", "X"]), max_size=8))
def test_segments_part_what_is_inside(labels):
    found = segments(labels)
    assert all(start < end for start, end, _ in found)
    assert [t for start, end, _ in found for t in range(start, end)] == [t for t, label in enumerate(labels) if label != "O"]


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ([], []),
        (["O"], []),
        (["B-X", "B-X"], [(0, 1, "X"), (1, 2, "X")]),
        (["I-X", "I-X", "B-X", "I-X"], [(0, 2, "X"), (2, 4, "X")]),  # IOB1
        (["O", "I-X", "I-Y"], [(1, 2, "X"), (2, 3, "Y")]),
        (["B-X", "I-Y"], [(0, 1, "X"), (1, 2, "Y")]),
        (["B-X", "E-X", "E-X", "S-X"], [(0, 2, "X"), (2, 3, "X"), (3, 4, "X")]),
        (["author", "author", "title", "O", "author"], [(0, 2, "author"), (2, 3, "title"), (4, 5, "author")]),
        (["X", "B-X", "I-X", "X"], [(0, 1, "X"), (1, 3, "X"), (3, 4, "X")]),
        (["B-A-B", "I-A-B", "B-", "I-"], [(0, 2, "A-B"), (2, 4, "")]),
    ],
)
def test_segments(labels, expected):
    assert segments(labels) == expected


def test_the_table_is_that_of_conlleval():
    report = evaluate([["B-PER", "I-PER", "O", "B-LOC"], ["O"]], [["B-PER", "I-PER", "O", "O"], ["O"]])
    assert str(report) == (
        "processed 5 tokens with 2 phrases; found: 1 phrases; correct: 1.\n"
        "accuracy:  80.00%; precision: 100.00%; recall:  50.00%; FB1:  66.67\n"
        "exact:     50.00% of 2 sequences\n"
        "              LOC: precision:   0.00%; recall:   0.00%; FB1:   0.00  0\n"
        "              PER: precision: 100.00%; recall: 100.00%; FB1: 100.00  1"
    )
    nothing = evaluate([], [])
    assert (nothing.accuracy, nothing.exact, nothing.overall.f1) == (0.0, 0.0, 0.0)


def test_what_is_refused():
    with pytest.raises(InputError, match="gold has 1 sequences, predicted has 0"):
        evaluate([["O"]], [])
    with pytest.raises(InputError, match=r"gold\[0\] has 1 labels, predicted\[0\] has 2"):
        evaluate([["O"]], [["O", "O"]])
    with pytest.raises(InputError, match=r"labels\[0\] is 3: expected a string"):
        segments([3])
