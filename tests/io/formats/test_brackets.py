"""Bracketed trees in and out: nothing is lost, and what is wrong is named with its line and column."""

import io
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zerogap.constituency.treebank.trees import Tree, bracketed, indented
from zerogap.errors import FormatError, InvalidStructure
from zerogap.io.formats.brackets import numbered_trees, read_trees, tree_from_text, write_trees

PENN = """
( (S
    (NP-SBJ-1 (NNP Rolls) )
    (VP (VBD was)
      (VP (VBN named)
        (NP (-NONE- *-1) )))
    (. .) ))
( (FRAG (-LRB- -LRB-) (NN x) (-RRB- -RRB-))) (X (Y a))
"""


def test_penn_treebank(tmp_path):
    path = tmp_path / "x.mrg"
    path.write_text(PENN)
    first, second, third = read_trees(path)
    assert str(first) == "((S (NP-SBJ-1 (NNP Rolls)) (VP (VBD was) (VP (VBN named) (NP (-NONE- *-1)))) (. .)))"
    assert first.label == ""
    assert second.words() == ["-LRB-", "x", "-RRB-"]
    assert third == Tree("X", (Tree("Y", ("a",)),))
    assert [line for line, _ in numbered_trees(enumerate(PENN.splitlines(), start=1), "x")] == [2, 8, 8]


WORDS = st.text(st.characters(blacklist_categories=("Z", "C"), blacklist_characters="()"), min_size=1, max_size=4).filter(
    lambda s: not any(c.isspace() for c in s)
)


def trees():
    """Any trees: empty labels, words beside constituents, unary chains."""
    leaves = st.builds(lambda label, words: Tree(label, tuple(words)), WORDS, st.lists(WORDS, min_size=1, max_size=2))
    return st.recursive(
        leaves, lambda below: st.builds(lambda label, first, rest: Tree(label, (first, *rest)), st.one_of(st.just(""), WORDS), below,
                                        st.lists(st.one_of(below, WORDS), max_size=3)), max_leaves=12,
    )  # fmt: skip


@given(st.lists(trees(), max_size=4), st.sampled_from(["one", "many"]), st.sampled_from(["x.mrg", "x.mrg.gz"]))
def test_what_is_written_reads_back(tmp_path_factory, given_trees, lines, name):
    path = tmp_path_factory.mktemp("trees") / name
    assert write_trees(path, given_trees, lines=lines) == len(given_trees)
    found = list(read_trees(path))
    assert found == given_trees
    assert [hash(tree) for tree in found] == [hash(tree) for tree in given_trees]
    for tree in given_trees:
        assert tree_from_text(indented(tree, width=10)) == tree


def test_streaming_and_standard_input(monkeypatch):
    lines = iter([(1, "(A (B c)) (D"), (2, " (E f))"), (3, "(G")])
    found = numbered_trees(lines, "x")
    assert next(found)[1].label == "A"
    assert next(lines)[0] == 2  # nothing further was read

    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\xef\xbb\xbf(A (B c))\r\n")))
    assert [str(tree) for tree in read_trees("-")] == ["(A (B c))"]


def test_deep_trees():
    depth = 30_000
    text = "(X " * depth + "(Y a)" + ")" * depth
    tree = tree_from_text(text)
    assert bracketed(tree) == text
    assert tree == tree_from_text(text)
    assert hash(tree) == hash(tree_from_text(text))
    assert tree.words() == ["a"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(A (B c)", r"the text, line 1, column 1: the bracket that opens here is never closed: expected \)"),
        ("(A (B c))\n  ((D e)", r"line 2, column 3: the bracket that opens here is never closed:"),
        ("(A\n (B", r"line 1, column 1: .* never closed \(2 are open\)"),
        ("(A (B c)))", r"line 1, column 10: a bracket closes that none opened"),
        ("(A b)\nc (D e)", r"line 2, column 1: 'c' stands outside of all brackets"),
        ("(A ())", r"line 1, column 4: nothing is in the brackets: expected"),
        ("(A (NP))", r"line 1, column 4: nothing is in the brackets but the label 'NP'"),
        ("", "has 0 trees"),
        ("(A b) (C d)", "has 2 trees"),
    ],
)
def test_errors_name_line_and_column(text, message):
    with pytest.raises(FormatError, match=message):
        tree_from_text(text)


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        (Tree("A B", ("c",)), "label 'A B' cannot be written"),
        (Tree("A", ("(",)), r"word '\(' cannot be written: expected no brackets \(-LRB-"),
        (Tree("A", ()), "has nothing below it"),
        (Tree("A", ("",)), "word '' cannot be written"),
        (Tree("", ("a",)), "would be read as the label"),
    ],
)
def test_what_no_file_can_hold_is_refused(tmp_path, tree, message):
    with pytest.raises(InvalidStructure, match=message):
        write_trees(tmp_path / "x.mrg", [tree])
    assert not (tmp_path / "x.mrg").exists()
    with pytest.raises(FormatError, match="lines is 'two'"):
        write_trees(tmp_path / "x.mrg", [], lines="two")


@pytest.mark.data
@pytest.mark.parametrize("name", ["ptb/dev.mrg", "ewt_trees/test.mrg"])
def test_treebanks_read_and_write_byte_for_byte(data, tmp_path, name):
    write_trees(tmp_path / "x.mrg", read_trees(data / name))
    assert (tmp_path / "x.mrg").read_bytes() == (data / name).read_bytes()
