"""Constraint files: what people write, what they get wrong, and where."""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zerogap.errors import AlphabetMismatch, FormatError, InputError
from zerogap.io.rules.files import KINDS, constraints_from, load_constraints, save_constraints, toml_text, yaml_text
from zerogap.problems.sequence.regex import compile_regex
from zerogap.sequence import (
    Constraint,
    Problem,
    accepted_by,
    at,
    at_least,
    at_least_one,
    at_most,
    disallow,
    exactly,
    follows_only,
    no_duplicate,
    precedes,
    regex,
    same_label,
    soft,
    span,
    spans,
)

LABELS = ("author", "title", "date", "pages", "editor", "O")


def load(tmp_path: Path, text: str, suffix: str = ".yaml", **options):
    path = tmp_path / f"rules{suffix}"
    path.write_text(text, encoding="utf-8")
    return load_constraints(path, **options)


EVERYTHING = {
    "no_duplicate: [author, title]": (no_duplicate("author"), no_duplicate("title")),
    "no_duplicate: date": (no_duplicate("date"),),
    "at_least_one: [author, editor]": (at_least_one("author", "editor"),),
    "at_most: {label: pages, k: 1}": (at_most("pages", 1),),
    "at_least: {k: 2, labels: [pages, date]}": (at_least("pages", 2), at_least("date", 2)),
    "exactly: [date, 1]": (exactly("date", 1),),
    "precedes: [author, title]": (precedes("author", "title"),),
    "precedes: {first: author, second: title}": (precedes("author", "title"),),
    "follows_only: {label: pages, after: date}": (follows_only("pages", "date"),),
    "disallow: [editor, O]": (disallow("editor", "O"),),
    "at: {position: 0, labels: [author, title]}": (at(0, "author", "title"),),
    "span: [2, 4]": (span(2, 4),),
    "spans: [[0, 2], {start: 5, end: 8}]": (spans([(0, 2), (5, 8)]),),
    "same_label: [4, 0]": (same_label([0, 4]),),
    'regex: "author* title .*"': (regex("author* title .*"),),
    "any_of: [{precedes: [author, title]}, {disallow: editor}]": (precedes("author", "title") | disallow("editor"),),
    "all_of: [{disallow: date}, {no_duplicate: [author, title]}]": (disallow("date") & (no_duplicate("author") & no_duplicate("title")),),
    "not: {at_least_one: date}": (~at_least_one("date"),),
}


@pytest.mark.parametrize("entry", EVERYTHING)
def test_every_kind_in_yaml(entry, tmp_path):
    assert load(tmp_path, f"constraints:\n  - {entry}\n", labels=LABELS) == EVERYTHING[entry]


@pytest.mark.parametrize("entry", EVERYTHING)
def test_every_kind_in_toml(entry, tmp_path):
    body = re.sub(r"\b(?!author|title|date|pages|editor|O\b)(\w+): ", r"\1 = ", entry)
    body = body if "regex" in entry else re.sub(r"\b(author|title|date|pages|editor|O)\b", r'"\1"', body)
    assert load(tmp_path, f"[[constraint]]\n{body}\n", ".toml", labels=LABELS) == EVERYTHING[entry]


def test_no_kind_is_forgotten():
    assert {entry.split(":")[0] for entry in EVERYTHING} | {"accepted_by"} == set(KINDS)


def test_penalties_and_names(tmp_path):
    authors = " - precedes: [author, title]\n   penalty: 2\n   name: authors first\n"
    found = load(tmp_path, f"constraints:\n{authors} - no_duplicate: [date, pages]\n   name: once\n")
    assert found == (
        soft(precedes("author", "title"), 2.0).called("authors first"),
        no_duplicate("date").called("once (date)"),
        no_duplicate("pages").called("once (pages)"),
    )


def test_words_that_yaml_would_read_as_something_else(tmp_path):
    assert load(tmp_path, "constraints:\n - disallow: [no, yes, 2024-01-01, 12:30, 'null', \"7\", 7]\n") == (
        disallow("no", "yes", "2024-01-01", "12:30", "null", "7", 7),
    )


def test_automata_are_openfst_text(tmp_path):
    text = 'constraints:\n - accepted_by:\n     symbols: ["A", B]\n     openfst: |\n       0 0 A\n       0 1 B\n       1\n'
    (found,) = load(tmp_path, text, labels=("B", "A"))
    problem = Problem([[1.0, 0.0]] * 3, labels=("B", "A"), constraints=[found])
    problem.check(("A", "A", "B"))
    with pytest.raises(InputError, match="breaks"):
        problem.check(("B", "A", "B"))
    machine = compile_regex("A* B", ["A", "B"])
    (again,) = load(tmp_path, yaml_text([accepted_by(machine)]))
    assert again.arguments[0].accepts("AAB")
    assert not again.arguments[0].accepts("ABA")
    assert load(tmp_path, toml_text([accepted_by(machine)]), ".toml")[0].arguments[0].alphabet == ("A", "B")


labels = st.one_of(
    st.sampled_from(["author", "no", "B-PER", "2", "a b", "é", "", " x", "#", "y: z", "null", "1e3"]),
    st.text(max_size=5),
    st.integers(0, 9),
)
labels = labels.filter(lambda label: label != "" and not (isinstance(label, str) and any("\ud800" <= c <= "\udfff" for c in label)))
numbers = st.integers(0, 9)
simple = st.one_of(
    st.builds(no_duplicate, labels),
    st.lists(labels, min_size=1, max_size=3).map(lambda names: at_least_one(*names)),
    st.builds(at_most, labels, numbers),
    st.builds(at_least, labels, numbers),
    st.builds(exactly, labels, numbers),
    st.builds(precedes, labels, labels),
    st.builds(follows_only, labels, labels),
    st.lists(labels, max_size=3).map(lambda names: disallow(*names)),
    st.tuples(numbers, st.lists(labels, max_size=2)).map(lambda pair: at(pair[0], *pair[1])),
    st.tuples(numbers, st.integers(1, 3)).map(lambda pair: span(pair[0], pair[0] + pair[1])),
    st.sampled_from([[], [(0, 2), (2, 5)]]).map(spans),
    st.lists(numbers, max_size=3).map(same_label),
    labels.map(lambda label: regex(str(label))),
)
titles = st.one_of(st.just(""), labels.filter(lambda label: isinstance(label, str) and label.strip() != ""))
named = st.builds(lambda constraint, title: constraint.called(title), simple, titles)
nested = st.recursive(
    named,
    lambda inner: st.builds(
        lambda made, title: made.called(title),
        st.one_of(st.builds(lambda a, b: a & b, inner, inner), st.builds(lambda a, b: a | b, inner, inner), inner.map(lambda a: ~a)),
        titles,
    ),
    max_leaves=4,
)
penalties = st.one_of(st.none(), st.floats(min_value=0, exclude_min=True, allow_infinity=False), st.integers(1, 10))
constraints = st.builds(lambda constraint, price: constraint if price is None else soft(constraint, price), nested, penalties)


@given(st.lists(constraints, max_size=4), st.sampled_from([".yaml", ".yml", ".toml"]))
@settings(max_examples=200)
def test_what_is_saved_loads_as_the_same(tmp_path_factory, given_constraints, suffix):
    path = tmp_path_factory.getbasetemp() / f"saved{suffix}"
    save_constraints(given_constraints, path)
    assert load_constraints(path) == tuple(given_constraints)


def test_what_a_saved_file_looks_like():
    learned = [soft(precedes("author", "title"), 1.25).called("authors first"), at_most("pages", 1), disallow("no") | ~at(0, "author")]
    assert yaml_text(learned) == (
        "constraints:\n"
        "  - precedes: [author, title]\n    penalty: 1.25\n    name: authors first\n"
        "  - at_most: {label: pages, k: 1}\n"
        '  - any_of: [{disallow: ["no"]}, {not: {at: {position: 0, label: [author]}}}]\n'
    )
    assert toml_text(learned[:2]) == (
        '[[constraint]]\nprecedes = ["author", "title"]\npenalty = 1.25\nname = "authors first"\n\n'
        '[[constraint]]\nat_most = {label = "pages", k = 1}\n'
    )


HEAD = "constraints:\n  - no_duplicate: author\n"  # the next line is line 3


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("constraint:\n- penality: 2\n", 2, "key 'penality' is not known. Did you mean 'penalty'?"),
        ("constraint:\n- no_duplicates: a\n", 2, "Did you mean 'no_duplicate'?"),
        ("# rules\nconstrants:\n- no_duplicate: a\n", 2, "key 'constrants' is not known here. Did you mean 'constraints'?"),
        ("no_duplicate: a\n", 1, "A constraint is an entry of the list below 'constraints'"),
        ("- no_duplicate: a\n", 1, "the file is a list: expected the key 'constraints'"),
        ("constraints: 5\n", 1, "the constraints are 5: expected a list"),
        ("constraints:\nconstraint:\n", 1, "both there"),
        ("just text\n", 1, "the file is 'just text'"),
        (HEAD + "  - 7\n", 3, "the entry is 7: expected a kind"),
        (HEAD + "  - penalty: 7\n", 3, "the entry has no kind: expected one of no_duplicate, "),
        (HEAD + "  - disallow: a\n    regex: b\n", 4, "the entry has 'disallow' and 'regex'"),
        (HEAD + "  - disallow: a\n    penalty: -1\n", 4, "penalty is -1: expected a positive number"),
        (HEAD + "  - disallow: a\n    penalty: 0\n", 4, "penalty is 0"),
        (HEAD + "  - disallow: a\n    penalty: .nan\n", 4, "penalty is nan"),
        (HEAD + "  - disallow: a\n    penalty: .inf\n", 4, "penalty is inf"),
        (HEAD + "  - disallow: a\n    penalty: two\n", 4, "penalty is 'two'"),
        (HEAD + "  - disallow: a\n    name: 3\n", 4, "name is 3: expected a text"),
        (HEAD + "  - precedes: [a]\n", 3, r"precedes has 1 entry: expected [first, second] or {first: ..., second: ...}"),
        (HEAD + "  - precedes: [a, b, c]\n", 3, "precedes has 3 entries"),
        (HEAD + "  - precedes:\n    - a\n    - 2.5\n", 5, "precedes[1] is 2.5: expected a label"),
        (HEAD + "  - at_most: {label: a}\n", 3, "at_most has no 'k'"),
        (HEAD + "  - at_most:\n      label: a\n      kk: 2\n", 5, "key 'kk' is not known for at_most. Did you mean 'k'?"),
        (HEAD + "  - at_most:\n      label: a\n      labels: b\n", 5, "'label' and 'labels' are both there"),
        (HEAD + "  - at_most:\n      label: a\n      k: -2\n", 5, "k is -2: expected an integer, 0 or more"),
        (HEAD + "  - at_most:\n      label: a\n      k: 100000000\n", 5, "k is 100000000: expected at most 1,000"),
        (HEAD + "  - at_most: 5\n", 3, "at_most is 5"),
        (HEAD + "  - no_duplicate:\n", 3, "no_duplicate is empty: expected a label"),
        (HEAD + "  - no_duplicate: []\n", 3, "no_duplicate is an empty list"),
        (HEAD + "  - at: {position: first, label: a}\n", 3, "position is 'first': expected an integer"),
        (HEAD + "  - span: [3, 3]\n", 3, "span [3, 3) is empty"),
        (HEAD + "  - spans: [[0, 3], [2, 4]]\n", 3, "begins inside another"),
        (HEAD + "  - spans: 3\n", 3, "spans is 3"),
        (HEAD + "  - same_label: 3\n", 3, "same_label is 3"),
        (HEAD + "  - same_label: [a]\n", 3, "position is 'a'"),
        (HEAD + "  - regex: [a]\n", 3, "regex is a list"),
        (HEAD + "  - accepted_by: {openfst: 5, symbols: [a]}\n", 3, "openfst is 5"),
        (HEAD + "  - accepted_by: {openfst: x, symbols: a}\n", 3, "symbols is 'a'"),
        (HEAD + "  - accepted_by: {openfst: x, symbols: [a]}\n", 3, "'x' is not a state"),
        (HEAD + "  - any_of: []\n", 3, "any_of is an empty list"),
        (HEAD + "  - any_of:\n    - disallow: a\n    - precedes: a\n", 5, "precedes is 'a'"),
        (HEAD + "  - any_of:\n    - disallow: a\n      penalty: 1\n", 5, "penalty stands inside another constraint"),
        (HEAD + "  - not:\n      disalow: a\n", 4, "Did you mean 'disallow'?"),
        (HEAD + "  - disallow: a\n    disallow: b\n", 4, "the key 'disallow' is there already, in line 3"),
        (HEAD + "  - disallow: &x [a]\n  - disallow: *x\n", 4, "the alias *x is not read here"),
        (HEAD + "  - disallow: !!python/object/apply:os.system ['true']\n", 3, "the tag '!!python/object/apply:os.system' is not read"),
        (HEAD + "  - disallow: !!binary aGk=\n", 3, "the tag '!!binary'"),
        (HEAD + "  - {disallow: a\n", 4, "not YAML"),
        (HEAD + "\t- disallow: a\n", 3, "YAML indents with blanks, not tabs"),
        (HEAD + "---\nconstraints: []\n", 3, "single document"),
        (HEAD + "  - disallow: a\x07\n", 3, "the character U+0007 is not allowed"),
        (HEAD + "  - ? [a]\n    : b\n", 3, "a key is not text"),
        (HEAD + f"  - span: [1, {'9' * 5000}]\n", 3, "too long to read"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_yaml_and_where(text, line, message, tmp_path):
    with pytest.raises(FormatError) as caught:
        load(tmp_path, text)
    assert str(caught.value).startswith(f"{tmp_path}/rules.yaml, line {line}")
    assert message in str(caught.value)


TOML = '[[constraint]]\nno_duplicate = "author"\n\n'  # the next line is line 4


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (TOML + '[[constraint]]\ndisallow = "a"\npenality = 2\n', 6, "Did you mean 'penalty'?"),
        (TOML + '[[constraint]]\nprecedes = [\n  "a", # first\n  2.5,\n]\n', 7, "precedes[1] is 2.5"),
        (TOML + '[[constraint]]\nat_most = {label = "a", kk = 2}\n', 5, "key 'kk' is not known for at_most"),
        (TOML + '[[constraint]]\n[constraint.at_most]\nlabel = "a"\nkk = 2\n', 7, "key 'kk' is not known for at_most"),
        (TOML + '[[constraint]]\nat_most.label = "a"\nat_most.kk = 2\n', 6, "key 'kk' is not known for at_most"),
        (TOML + '[[constraint]]\n"at_most".label = "a"\n\n\'at_most\'.k = "2"\n', 7, "k is '2'"),
        (
            TOML + '[[constraint]]\n[[constraint.any_of]]\ndisallow = "a"\n[[constraint.any_of]]\n# hm\nprecedes = "a"\n',
            9,
            "precedes is 'a'",
        ),
        (TOML + '[[constraint]]\nany_of = [ {disallow = "a"},\n\n  {not = {disalow = "b"}} ]\n', 7, "Did you mean 'disallow'?"),
        (TOML + '[[constraint]]\nregex = """\na # no comment\n[[constraint]]\n\\""" .*"""\npenalty = -1\n', 9, "penalty is -1"),
        (TOML + "[[constraint]]\nregex = '''\na\nit''s'''''\npenalty = 0\n", 8, "penalty is 0"),
        (TOML + '[[constraint]]\nregex = "a \\" # ["\npenalty = inf\n', 6, "penalty is inf"),
        (TOML + "[[constraint]]\nregex = 'a \\'\npenalty = nan\n", 6, "penalty is nan"),
        (TOML + '[[constraint]]\ndisallow = "a"\ndisallow = "b"\n', 6, "not TOML (cannot overwrite a value)"),
        (TOML + "[[constraint]]\ndisallow = \n", 5, "not TOML"),
        (TOML + '[[constraint]]\ndisallow = ["a"\n', 6, "not TOML"),
        (TOML + "[[constraints]]\ndisallow = 'a'\n", 1, "both there"),
        ("# x\r\n[[rule]]\r\ndisallow = 'a'\r\n", 2, "the key 'rule' is not known here"),
        ("constraint = [\r\n {disallow = 'a'},\r\n {disallow = 3.5}\r\n]\r\n", 3, "disallow is 3.5"),
        ("constraint = 5\n", 1, "the constraints are 5"),
        (TOML + "[[constraint]]\ndisallow = 2024-01-01\n", 5, "disallow is datetime.date(2024, 1, 1): expected a label"),
        (TOML + "[[constraint]]\ndisallow = true\n", 5, "disallow is True: expected a label"),
    ],
)
def test_what_is_wrong_with_toml_and_where(text, line, message, tmp_path):
    (tmp_path / "rules.toml").write_bytes(text.encode())
    with pytest.raises(FormatError) as caught:
        load_constraints(tmp_path / "rules.toml")
    assert str(caught.value).startswith(f"{tmp_path}/rules.toml, line {line}")
    assert message in str(caught.value)


def test_files_that_hold_nothing(tmp_path):
    for suffix in (".yaml", ".toml"):
        for text in ("", "\n# nothing\n"):
            with pytest.raises(FormatError, match="is empty: expected 'constraints'"):
                load(tmp_path, text, suffix)
    assert load(tmp_path, "constraints: []\n") == ()
    assert load(tmp_path, "constraints:\n#  - disallow: a\n") == ()
    assert load(tmp_path, "constraint = []\n", ".toml") == ()


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(FormatError, match="does not end in .yaml, .yml, .toml"):
        load_constraints("rules.txt")
    with pytest.raises(FormatError, match="does not end in .yaml"):
        save_constraints([], "rules.json")
    with pytest.raises(FormatError, match="none.yaml cannot be read: No such file"):
        load_constraints(tmp_path / "none.yaml")
    (tmp_path / "latin.yaml").write_bytes(b"constraints:\n - disallow: \xe9\n")
    with pytest.raises(FormatError, match="latin.yaml, line 2 is not UTF-8"):
        load_constraints(tmp_path / "latin.yaml")
    for suffix, deep in ((".yaml", "[" * 5000), (".toml", "a = " + "[" * 5000 + "]" * 5000)):
        with pytest.raises(FormatError, match="nested too deeply|not YAML"):
            load(tmp_path, deep, suffix)
    not_not = "constraints:\n  - " + "".join("{not: " for _ in range(60)) + "{disallow: a}" + "}" * 60
    with pytest.raises(FormatError, match="line 2: constraints are nested more than 50 deep"):
        load(tmp_path, not_not)
    with pytest.raises(InputError, match="kind 'odd' cannot be written"):
        save_constraints([Constraint("odd", ())], tmp_path / "x.yaml")
    assert not (tmp_path / "x.yaml").exists()


@pytest.mark.parametrize(
    ("text", "line", "error", "message"),
    [
        (" - no_duplicate: auther\n", 2, AlphabetMismatch, "'auther' is neither a label nor a field. Did you mean 'author'?"),
        (" - disallow: title\n - any_of:\n   - at: [0, titel]\n", 4, AlphabetMismatch, "Did you mean 'title'?"),
        (" - at: {position: 999999999999, label: title}\n - disallow: x\n", 3, AlphabetMismatch, "'x' is neither"),
        (" - regex: author* tilte\n", 2, FormatError, "Did you mean 'title'?"),
        (" - regex: author* (\n", 2, FormatError, "position 8"),
        (" - precedes: [author, author]\n", 2, FormatError, "the same labels twice"),
    ],
)
def test_labels_are_checked_where_they_are_known(text, line, error, message, tmp_path):
    with pytest.raises(error) as caught:
        load(tmp_path, "constraints:\n" + text, labels=LABELS)
    assert f"rules.yaml, line {line}: " in str(caught.value)
    assert message in str(caught.value)
    assert load(tmp_path, "constraints:\n" + text)


def test_plain_values():
    assert constraints_from([{"no_duplicate": ["a", "b"], "penalty": 2}]) == (soft(no_duplicate("a"), 2.0), soft(no_duplicate("b"), 2.0))
    for value, message in [
        ({}, "^data: the constraints are a table"),
        ([{"no_duplicate": "a"}, {"disallow": None}], r"^data\[1\]: disallow is empty"),
        ([{"any_of": [{"precedes": ["a", 2.5]}]}], r"^data\[0\].any_of\[0\]: precedes\[1\] is 2.5"),
        ([{1: 2}], "key 1 is not known"),
        ([True], "the entry is True"),
    ]:
        with pytest.raises(FormatError, match=message):
            constraints_from(value, "data")
    with pytest.raises(AlphabetMismatch, match=r"constraints\[0\]: 'b' is neither"):
        constraints_from([{"disallow": "b"}], labels=["a"])
