"""Sequences as JSON lines."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zerogap.errors import AlphabetMismatch, FormatError, InputError
from zerogap.io.formats.jsonl import example_from, read_jsonl
from zerogap.sequence import Problem, no_duplicate, soft


def records(tmp_path, text, **options):
    path = tmp_path / "x.jsonl"
    path.write_text(text, encoding="utf-8")
    return list(read_jsonl(path, **options))


def test_objects(tmp_path):
    text = '{"tokens":["a","b"],"labels":["x","y"],"pos":["N","V"],"id":7,"segments":[[0,1]],"notes":{"k":["v"]}}\n\n{"form": []}\r\n'
    first, second = records(tmp_path, text)
    assert first.example.columns == {"form": ("a", "b"), "pos": ("N", "V")}
    assert first.example.labels == ("x", "y")
    assert (first.line, second.line) == (1, 3)
    assert (len(second.example), second.example.labels) == (0, None)
    assert first.written(["x", "y"]) == text.split("\n")[0] + "\n"
    assert json.loads(first.written(["u", "v"], keep=True)) == {**first.value, "predicted": ["u", "v"]}
    assert second.written([], keep=True) == '{"form": [], "labels": []}\n'
    with pytest.raises(InputError, match="1 labels were given for 2 tokens"):
        first.written(["x"])


def test_constraints_of_one_sequence(tmp_path):
    (found,) = records(tmp_path, '{"tokens": ["a"], "constraints": [{"no_duplicate": "x", "penalty": 2}]}')
    assert found.example.constraints == (soft(no_duplicate("x"), 2.0),)
    with pytest.raises(
        FormatError, match=r"x.jsonl, line 2: constraints\[0\]: the key 'no_duplicates' is not known. Did you mean 'no_duplicate'"
    ):
        records(tmp_path, '{"tokens": ["a"]}\n{"tokens": ["a"], "constraints": [{"no_duplicates": "x"}]}')


def test_chosen_columns(tmp_path):
    text = '{"tokens": ["a", "b"], "keywords": ["one"], "pos": ["N", "V"]}'
    with pytest.raises(FormatError, match="line 1: keywords has 1 entries, tokens has 2: expected as many"):
        records(tmp_path, text)
    (found,) = records(tmp_path, text, columns=("form", "pos", "label"))
    assert list(found.example.columns) == ["form", "pos"]
    with pytest.raises(FormatError, match="line 1 has no field 'lemma'; it has 'tokens', 'keywords', 'pos'"):
        records(tmp_path, text, columns=("form", "lemma"))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "x.jsonl, line 2, column 2: not JSON"),
        ("[]", r"line 2 is \[\]: expected an object"),
        ("{}", "line 2 has the fields none: expected the tokens"),
        ('{"words": []}', "line 2 has the fields 'words': expected the tokens"),
        ('{"tokens": [], "form": []}', "both 'tokens' and 'form'"),
        ('{"tokens": "a b"}', "line 2: tokens is 'a b': expected a list of strings"),
        ('{"tokens": ["a", 2]}', r"line 2: tokens\[1\] is 2: expected a string"),
        ('{"tokens": ["a"], "labels": ["x", "y"]}', "line 2: labels has 2 entries, tokens has 1"),
        ('{"tokens": ["a"], "labels": [null]}', r"labels\[0\] is None"),
        ('{"tokens": ["a"], "constraints": {}}', "constraints: the constraints are a table"),
        ("[" * 100_000, "nested too deeply"),
        ('{"tokens": [], "id": ' + "9" * 5000 + "}", "number that cannot be read"),
    ],
)
def test_what_is_refused(tmp_path, line, message):
    with pytest.raises(FormatError, match=message):
        records(tmp_path, '{"tokens": ["a"]}\n' + line + "\n")


def test_labels_of_constraints_are_checked_when_they_are_known():
    example = example_from({"tokens": ["a"], "constraints": [{"disallow": "X"}]}, "here")
    with pytest.raises(AlphabetMismatch):
        Problem([[1.0]], labels=["Y"], constraints=example.constraints)


values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text()),
    lambda inner: st.dictionaries(st.text(), inner),
)
reserved = {"tokens", "form", "labels", "constraints", "predicted"}


@given(st.lists(st.tuples(st.text(), st.text())), st.dictionaries(st.text().filter(lambda key: key not in reserved), values))
def test_what_is_written_reads_back(pairs, extras):
    value = {**extras, "tokens": [token for token, _ in pairs]}
    text = json.dumps(value)
    (record,) = read_jsonl("x", lines=iter([(1, text)]))
    labels = [label for _, label in pairs]
    (again,) = read_jsonl("x", lines=iter([(1, record.written(labels))]))
    assert again.value == {**value, "labels": labels}
    assert again.example.labels == tuple(labels)
    again.written(labels).encode("utf-8")
