"""Patterns: the language, its errors, and matching against trying all assignments of words to nodes."""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import zerogap
from zerogap.dependency.factors.matching import PatternSet, best_labels_of, matches_of
from zerogap.dependency.factors.patterns import Condition, Pattern, PatternError, load_patterns, parse_patterns
from zerogap.errors import FormatError, InputError
from zerogap.features.labels.templates import Attribute
from zerogap.problems.dependency.problem import Problem

ENGLISH = Path(zerogap.__file__).parent / "models" / "en" / "patterns.txt"
FIGURE_3 = "rather-than 0.5: a[upos=ADP, lower=$w] ... r[lower=rather] t[lower=than] b[lower=$w]; a -> t, t -> r, t -> b"


def columns_of(text: str) -> dict[str, tuple[str, ...]]:
    """Words and tags from 'word/TAG word/TAG'."""
    pairs = [item.rsplit("/", 1) for item in text.split()]
    return {"form": tuple(word for word, _ in pairs), "upos": tuple(tag for _, tag in pairs)}


def every(n: int) -> np.ndarray:
    return np.ones((n + 1, n + 1), dtype=bool)


def found(text: str, sentence: str) -> list[tuple[tuple[int, int], ...]]:
    columns = columns_of(sentence)
    return [arcs for _, arcs in PatternSet(parse_patterns(text)).matches(columns, every(len(columns["form"])))]


def by_trying(pattern: Pattern, columns: dict[str, tuple[str, ...]], allowed: np.ndarray) -> set[tuple[tuple[int, int], ...]]:
    n = len(allowed) - 1
    result = set()
    for words in itertools.permutations(range(1, n + 1), len(pattern.nodes)):
        value = lambda node, attribute: attribute.of(columns[attribute.column][words[node] - 1])  # noqa: B023, E731
        if any(not test.holds(value(node, test.attribute)) for node, tests in enumerate(pattern.tests) for test in tests):
            continue
        if any(not 0 <= words[o.other] - words[o.one] - 1 <= o.most for o in pattern.orders):
            continue
        if any((value(s.one, s.attribute) == value(s.other, s.of_other)) != s.wanted for s in pattern.same):
            continue
        arcs = tuple((0 if arc.head < 0 else words[arc.head], words[arc.modifier]) for arc in pattern.arcs)
        if all(allowed[h, m] for h, m in arcs):
            result.add(arcs)
    return result


def test_figure_3():
    sentence = "We/PRON speak/VERB of/ADP peace/NOUN rather/ADV than/ADP of/ADP war/NOUN"
    assert found(FIGURE_3, sentence) == [((3, 6), (6, 5), (6, 7))]
    assert found(FIGURE_3, sentence.replace("of/ADP war", "on/ADP war")) == []
    pattern = parse_patterns(FIGURE_3)[0]
    assert (pattern.name, pattern.weight, pattern.nodes) == ("rather-than", 0.5, ("a", "r", "t", "b"))


TEXTS = (
    "x: a[upos=A] b; a -> b",
    "x: a[upos=A] ... b[upos!=A]; b -> a, root -> b",
    "x: a ...1 b, c[form=u*]; a -> c, c -> b",
    "x: a[form=$v] ... b[form=$v]; a -> b",
    "x: a[form=$v], b[form!=$v] c; a -> b, a -> c",
    "x: a ... b, a ... c[upos=B|C]; b -> a, c -> b",
    "x: a[upos=$v, form=u|v] b[upos=$v]; a -> b",
    "x: a[lower=*u*] b[suffix1(form)=v], c; c -> a, c -> b",
)


@pytest.mark.parametrize("text", TEXTS)
@given(data=st.data())
def test_matches_are_those_of_all_assignments(text, data):
    n = data.draw(st.integers(0, 5))
    columns = {name: tuple(data.draw(st.lists(st.sampled_from(some), min_size=n, max_size=n))) for name, some in
               (("form", ["u", "v", "uv"]), ("upos", ["A", "B", "C"]))}  # fmt: skip
    allowed = np.array(data.draw(st.lists(st.integers(0, 3).map(bool), min_size=(n + 1) ** 2, max_size=(n + 1) ** 2))).reshape(n + 1, n + 1)
    pattern = parse_patterns(text)[0]
    matched = PatternSet((pattern,)).matches(columns, allowed)
    assert len(matched) == len(set(matched))
    assert {arcs for _, arcs in matched} == by_trying(pattern, columns, allowed)


def test_a_pattern_whose_word_is_not_there_is_not_sought(monkeypatch):
    patterns = PatternSet(parse_patterns(f"{FIGURE_3}\nand: c[lower=and] b; b -> c"))
    sought = []

    def noting(pattern, *rest):
        sought.append(pattern.name)
        return matches_of(pattern, *rest)

    monkeypatch.setattr("zerogap.dependency.factors.matching.matches_of", noting)
    patterns.matches(columns_of("You/PRON and/CCONJ I/PRON"), every(3))
    assert sought == ["and"]


def test_relations_need_labels():
    patterns = PatternSet(parse_patterns("subject: v[upos=VERB] ... n[upos=NOUN]; v -nsubj|obj-> n"))
    columns = columns_of("sing/VERB birds/NOUN and/CCONJ trees/NOUN")
    assert patterns.patterns[0].arcs[0].relations == ("nsubj", "obj")
    with pytest.raises(InputError, match="'subject' asks for a relation: expected a problem with labels"):
        patterns.matches(columns, every(4))
    labels = np.zeros((5, 5, 2))
    labels[1, 2, 1], labels[1, 4, 0] = 1.0, 1.0
    problem = Problem(np.zeros((5, 5)), labels=labels, label_names=("dep", "nsubj"))
    assert [arcs for _, arcs in patterns.matches(columns, every(4), labels=best_labels_of(problem))] == [((1, 2),)]
    assert best_labels_of(Problem(np.zeros((5, 5)))) is None


def test_factors_and_weights():
    patterns = PatternSet(parse_patterns(f"{FIGURE_3}\nb -2: x[lower=of]; root -> x"))
    columns = columns_of("We/PRON speak/VERB of/ADP peace/NOUN rather/ADV than/ADP of/ADP war/NOUN")
    factors, which = patterns.factors(columns, every(8))
    assert which.tolist() == [0, 1, 1]
    assert patterns.weights(which).tolist() == [0.5, -2.0, -2.0]
    assert factors.sets() == [((3, 6), (6, 5), (6, 7)), ((0, 3),), ((0, 7),)]
    assert factors.tokens[:, :2].tolist() == [[3, 6], [0, 3], [0, 7]]
    assert len(patterns.factors(columns_of(""), every(0))[0]) == 0


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("a[x=y]; a -> a", 1, 2, "expected ':'"),
        ("x: ; a -> b", 1, 4, "expected a node"),
        ("x: a b; a -> c", 1, 14, "'c' is not a node"),
        ("x: a b", 1, 7, "expected another node, ','"),
        ("x: a b;", 1, 8, "expected an arc"),
        ("x: a b; a b", 1, 11, "expected '->'"),
        ("x: a b; a -> b c", 1, 16, "or the end"),
        ("\n# no\nx: a[upos] b; a -> b", 3, 10, "expected '='"),
        ("x: a[upos=] b; a -> b", 1, 11, "expected a value"),
        ("x: a[loer(form)=u]; root -> a", 1, 6, "Did you mean 'lower'"),
        ("x: a[place=1]; root -> a", 1, 6, "a position was given"),
        ("x: a[form=b*d]; root -> a", 1, 11, "has \\* within"),
        ("x: a[form=$v] b; a -> b", 1, 11, "is there once"),
        ("x: a[form!=$v] b[form!=$v]; a -> b", 1, 12, "never equal"),
        ("x: a[form=u|$v] b[form=$v]; a -> b", 1, 13, "alone"),
        ("x: a b[form=u], b[form=v]; a -> b", 1, 17, "was there before"),
        ("x: a ... b ... a; a -> b", 1, 25, "stands before itself"),
        ("x: a a; root -> a", 1, 6, "follows itself"),
        ("x: a b c;\n  a -> b,\n  c -> b", 3, 9, "two heads"),
        ("x: a b; a -> b, b -> a", 1, 23, "above itself"),
        ("x: root b; root -> b", 1, 4, "not a word"),
        ("x: a b; a -> b\nx: a b; b -> a", 2, 1, "also in line 1"),
        ("x 1e999: a; root -> a", 1, 3, "finite"),
        ("x: " + " ".join("abcdefghijklm") + "; a -> b", 1, 28, "more than 12 nodes"),
    ],
)
def test_errors_say_where(text, line, column, message):
    with pytest.raises(PatternError, match=message) as raised:
        parse_patterns(text, "file")
    assert (raised.value.line, raised.value.column) == (line, column)
    assert str(raised.value).startswith(f"file, line {line}, column {column}: ")


def test_files_and_values(tmp_path):
    (tmp_path / "p.txt").write_text('x: a[form="#"|"\\""|"*"] ... b[]; # a comment\n\ta -> b\n', "utf-8")
    pattern = load_patterns(tmp_path / "p.txt")[0]
    assert pattern.tests == ((Condition(Attribute("form", ()), ('"#', '""', '"*')),), ())
    assert [test.holds(value) for test in pattern.tests[0] for value in ("#", '"', "*", "a")] == [True, True, True, False]
    assert pattern.orders[0].most == math.inf
    with pytest.raises(FormatError, match="cannot be read"):
        load_patterns(tmp_path / "none.txt")
    (tmp_path / "p.txt").write_bytes(b"\xff")
    with pytest.raises(FormatError, match="not UTF-8"):
        load_patterns(tmp_path / "p.txt")
    with pytest.raises(FormatError, match="no patterns"):
        parse_patterns("# nothing")


def test_columns_and_limits(monkeypatch):
    patterns = PatternSet(parse_patterns("x: a[lemma=be] ... b; a -> b"))
    with pytest.raises(InputError, match="the patterns read lemma"):
        patterns.matches(columns_of("a/A"), every(1))
    monkeypatch.setattr("zerogap.dependency.factors.matching.MOST_MATCHES", 3)
    with pytest.raises(InputError, match="more than 3 places"):
        found("x: a, b; a -> b", "a/A b/B c/C")


def test_those_of_english():
    patterns = PatternSet(load_patterns(ENGLISH))
    assert len(patterns.patterns) == 13
    assert all(not any(arc.relations for arc in pattern.arcs) for pattern in patterns.patterns)
    columns = columns_of("He/PRON (/PUNCT now/ADV )/PUNCT eats/VERB either/CCONJ figs/NOUN or/CCONJ dates/NOUN")
    names = {patterns.patterns[number].name for number, _ in patterns.matches(columns, every(9))}
    assert {"brackets", "either-or", "same-tag"} <= names
