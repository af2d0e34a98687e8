"""Constraints given as Python objects or JSON: what is wrong with one is said when it is made or bound."""

import numpy as np
import pytest

from zerogap import sequence as seq
from zerogap.errors import AutomatonError, FormatError, InputError, UnknownMethod
from zerogap.problems.sequence import machine
from zerogap.problems.sequence.files import constraint_from_json, constraint_to_json

LABELS = ("B-F", "I-F", "O")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: seq.at_least_one(["F"]), r"at_least_one was given \(\['F'\]\): expected at_least_one\(label, ...\)"),
        (lambda: seq.at_least_one(seq.no_duplicate("F")), "at_least_one was given"),
        (lambda: seq.no_duplicate({"F"}), r"no_duplicate was given \(\{'F'\}\): expected no_duplicate\(label\)"),
        (lambda: seq.precedes("F", []), r"expected precedes\(first label, second label\)"),
        (lambda: seq.at(0, ["F"]), r"expected at\(position, \(label, ...\)\)"),
        (lambda: seq.regex(5), r"regex was given \(5\): expected regex\(pattern\)"),
        (lambda: seq.accepted_by("A*"), r"expected accepted_by\(automaton\)"),
        (lambda: seq.Constraint("at_most", ("F",)), r"expected at_most\(label, k\)"),
        (lambda: seq.Constraint("at_most", ("F", 2, 3)), r"expected at_most\(label, k\)"),
        (lambda: seq.Constraint("at_most", ("F", -1)), r"expected at_most\(label, k\)"),
        (lambda: seq.Constraint("at_most", ("F", True)), r"expected at_most\(label, k\)"),
        (lambda: seq.Constraint("at_most", ["F", 2]), "expected the name of a kind and a tuple of arguments"),
        (lambda: seq.Constraint(["at_most"], ("F", 2)), "expected the name of a kind and a tuple of arguments"),
        (lambda: seq.Constraint("spans", ((9, 1),)), r"span \[9, 1\) is empty"),
        (lambda: seq.Constraint("spans", ((2, 4), (0, 3))), "begins inside another"),
        (lambda: seq.Constraint("spans", ((0, 1, 2),)), r"expected spans\(\(start, end\), ...\)"),
        (lambda: seq.Constraint("same_label", ("F",)), r"expected same_label\(position, ...\)"),
        (lambda: seq.Constraint("and", (seq.no_duplicate("F"),)), r"expected and\(hard constraint, hard constraint\)"),
        (lambda: seq.Constraint("not", (seq.soft(seq.no_duplicate("F"), 1.0),)), r"expected not\(hard constraint\)"),
        (lambda: seq.Constraint("not", ("F",)), r"expected not\(hard constraint\)"),
    ],
)  # fmt: skip
def test_arguments_that_a_kind_does_not_take(make, message):
    with pytest.raises(InputError, match=message):
        make()


def bound(*constraints):
    return seq.Problem(np.zeros((3, 3)), labels=LABELS, constraints=constraints)


def test_kinds_that_are_not_known():
    with pytest.raises(UnknownMethod, match="constraint kind 'at_mots' is not known. Did you mean 'at_most'?"):
        bound(seq.Constraint("at_mots", ("F", 1)))


@pytest.mark.parametrize("kind", ["at_most", "at_least", "exactly"])
def test_a_machine_with_too_many_states_is_not_built(kind):
    with pytest.raises(AutomatonError, match="2,000,000,001 states or more: expected at most 100,000"):
        bound(seq.Constraint(kind, ("F", 10**9)))


def test_products_are_limited(monkeypatch):
    monkeypatch.setattr(machine, "MAX_STATES", 50)
    with pytest.raises(AutomatonError, match="51 states or more: expected at most 50"):
        bound(seq.at_most("F", 7) & seq.regex(".{13} .*"))


def test_depth_is_limited():
    constraint = seq.no_duplicate("F")
    for _ in range(200):
        constraint = ~constraint
    assert bound(constraint).broken([0, 0, 2]) == [0]
    with pytest.raises(InputError, match="nested more than 200 deep"):
        _ = ~constraint


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"kind": "at_most", "arguments": ["F"]}, r"here: at_most was given \('F'\): expected at_most\(label, k\)"),
        ({"kind": "at_most", "arguments": ["F", True]}, r"here.arguments\[1\] is True"),
        ({"kind": "no_duplicate", "arguments": [True]}, r"here.arguments\[0\] is True"),
        ({"kind": "spans", "arguments": [[9, 1]]}, r"here: span \[9, 1\) is empty"),
        ({"kind": "no_duplicate", "arguments": ["F"], "penalty": 0}, "here: penalty is 0"),
        ({"kind": "no_duplicate", "arguments": ["F"], "penalty": "x"}, "here.penalty is 'x'"),
        ({"kind": "not", "arguments": [{"kind": "no_duplicate", "arguments": ["F"], "penalty": 1}]}, r"expected not\(hard constraint\)"),
        ({"kind": "odd", "arguments": []}, "here.kind is 'odd'"),
    ],
)
def test_files_that_hold_something_else(value, message):
    with pytest.raises(FormatError, match=message):
        constraint_from_json(value, "here")


def test_json_gives_the_same_constraint_back():
    for constraint in (seq.soft(seq.at(1, "F", "O"), 2.0), ~(seq.regex("F*") | seq.spans([(0, 2)])), seq.at_least("F", 2).called("x")):
        assert constraint_from_json(constraint_to_json(constraint), "here") == constraint
