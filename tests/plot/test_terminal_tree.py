"""Trees in the terminal: the drawing can be read back, columns are straight, nothing but text comes out."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from zerogap.dependency.sentence import Sentence
from zerogap.errors import InputError
from zerogap.plot.terminal_tree import DOWN, LEFT, LINES, UP, draw_tree, lines_of, print_tree

DIRECTIONS = {line: directions for directions, line in LINES.items()}


@st.composite
def trees(draw, most=9):
    """Heads of any tree, with several roots perhaps: every word hangs on one that came before it in a random order."""
    n = draw(st.integers(1, most))
    order = draw(st.permutations(range(1, n + 1)))
    heads = [0] * n
    for i, word in enumerate(order):
        heads[word - 1] = draw(st.sampled_from([0, *order[:i]])) if i else 0
    return tuple(heads)


def read_back(lines):
    """Heads from a drawing: from where a word's line begins, along the bracket, to the line that crosses it."""
    heads = []
    for row, line in enumerate(lines):
        x = next(x for x, character in enumerate(line) if character not in " │")
        if x == 0:
            heads.append(0)
            continue
        found = set()
        for step, along in ((-1, UP), (1, DOWN)):
            at = row
            while DIRECTIONS[lines[at][x]] & along:
                at += step
                if DIRECTIONS[lines[at][x]] & LEFT:
                    found.add(at + 1)
        (head,) = found
        heads.append(head)
    return tuple(heads)


@given(trees(), st.sampled_from([1, 2]))
def test_a_drawing_can_be_read_back(heads, step):
    assert read_back(lines_of(heads, step)) == heads


@given(
    trees(),
    st.lists(st.sampled_from(["a", "漢字", "e\u0301", "😀", "\x1b[31m", "\t", "long-word"]), min_size=9, max_size=9),
    st.integers(1, 60),
)
def test_columns_are_straight_and_fit(heads, forms, width):
    n = len(heads)
    sentence = Sentence({"form": tuple(forms[:n]), "upos": ("X",) * n}, heads, ("root",) * n)
    drawn = draw_tree(sentence).split("\n")
    assert len(drawn) == n
    assert len({cell_len(line) for line in drawn}) == 1  # all labels are as long
    assert "\x1b" not in "".join(drawn)
    narrow = draw_tree(sentence, width=width).split("\n")
    widest = max(map(cell_len, narrow))
    assert widest <= max(width, *map(cell_len, draw_tree(sentence, width=1).split("\n")))  # no narrower than that
    assert widest <= cell_len(drawn[0])


def test_a_crossing():
    forms = ("A", "hearing", "is", "scheduled", "on", "the", "issue", "today")
    sentence = Sentence({"form": forms}, (2, 4, 4, 0, 7, 7, 2, 4))
    assert draw_tree(sentence, columns=()) == "\n".join(
        [
            "    ╭─── 1 A",
            "  ╭─┼─── 2 hearing",
            "  ├─│─── 3 is",
            "──┼─│─── 4 scheduled",
            "  │ │ ╭─ 5 on",
            "  │ │ ├─ 6 the",
            "  │ ╰─┴─ 7 issue",
            "  ╰───── 8 today",
        ]
    )


def test_colours_only_on_a_terminal(monkeypatch):
    sentence = Sentence({"form": ("Go",), "upos": ("VERB",)}, (0,), ("root",))
    assert "\x1b" in draw_tree(sentence, colour=True)
    out = io.StringIO()
    print_tree(sentence, file=out)
    assert out.getvalue() == "──── 1 Go  VERB  root\n"


def test_words_are_cut_in_a_narrow_terminal():
    sentence = Sentence({"form": ("extraordinarily", "good"), "upos": ("ADV", "ADJ")}, (2, 0), ("advmod", "root"))
    assert draw_tree(sentence, columns=(), width=24) == "  ╭─ 1 extraord…  advmod\n──┴─ 2 good       root"
    assert draw_tree(sentence, columns=("upos",), width=5).startswith("  ╭─ 1 extraor…  ADV  advmod")


def test_what_is_refused():
    columns = {"form": ("a", "b")}
    with pytest.raises(InputError, match="s has no heads: expected a tree"):
        draw_tree(Sentence(columns, name="s"))
    with pytest.raises(InputError, match="no column 'upos': expected some of form"):
        draw_tree(Sentence(columns, (0, 1)))
    with pytest.raises(InputError, match="on a cycle of heads"):
        draw_tree(Sentence(columns, (2, 1)), columns=())
    assert draw_tree(Sentence({"form": ()}, ()), columns=()) == ""
