"""Pictures and drawings of constituency trees."""

import re
import xml.etree.ElementTree as ElementTree

import pytest

from zerogap.constituency.treebank.trees import Tree
from zerogap.io.formats.brackets import tree_from_text
from zerogap.plot import draw_constituents, plot_constituents

TREE = tree_from_text("(TOP (S (NP (DT the) (NN dog)) (VP (VBZ sees) (NP (NNP Ann))) (. .)))")


def texts(svg):
    found = ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")
    return [(element.text, float(element.get("x")), float(element.get("y"))) for element in found]


def test_words_stand_in_a_row_below_their_labels():
    found = texts(plot_constituents(TREE).svg)
    place = {text: (x, y) for text, x, y in found if text not in (".", "NP")}
    words = [place[word] for word in ("the", "dog", "sees", "Ann")]
    assert [x for x, _ in words] == sorted(x for x, _ in words)
    assert len({y for _, y in words}) == 1
    assert place["TOP"][1] < place["S"][1] < place["VP"][1] < place["VBZ"][1] < place["sees"][1]
    assert place["S"][0] == pytest.approx(place["TOP"][0])


def test_texts_do_not_overlap_in_the_row_of_words():
    long = tree_from_text("(X (Y (A extraordinarily)) (VERYLONGLABEL (B a)) (C ,))")
    at = {text: x for text, x, _ in texts(plot_constituents(long).svg)}
    assert at["a"] - at["extraordinarily"] > 60
    assert at[","] - at["a"] > 50


def test_what_is_not_markup():
    svg = plot_constituents(Tree("S", (Tree("<b>", ("a&b",)),))).svg
    assert "&lt;b&gt;" in svg
    assert "a&amp;b" in svg


def test_a_drawing():
    assert draw_constituents(TREE).splitlines() == [
        "TOP ── S",
        "├─ NP",
        "│  ├─ DT the",
        "│  ╰─ NN dog",
        "├─ VP",
        "│  ├─ VBZ sees",
        "│  ╰─ NP ── NNP Ann",
        "╰─ . .",
    ]


def test_drawings_fit_the_terminal_and_cannot_change_it():
    assert max(map(len, draw_constituents(TREE, width=12).splitlines())) <= 12
    coloured = draw_constituents(TREE, colour=True)
    assert re.sub(r"\x1b\[\d+m", "", coloured) == draw_constituents(TREE)
    assert "\x1b" not in draw_constituents(Tree("S", (Tree("A", ("\x1b[2J",)),)))


def test_deep_trees():
    tree = Tree("A", ("word",))
    for _ in range(1500):
        tree = Tree("X", (tree, Tree("B", ("b",))))
    assert draw_constituents(tree, width=40).count("\n") > 1500
