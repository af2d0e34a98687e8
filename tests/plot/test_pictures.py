"""Pictures are well-formed XML, show what they should, and text in them is text."""

import math
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.plot.test_terminal_tree import trees
from zerogap import dependency, hypergraph, plot, sequence
from zerogap.dependency.sentence import Sentence
from zerogap.errors import InputError
from zerogap.plot.arcs import levels_of
from zerogap.plot.svg import element
from zerogap.proof.certificate import DynamicProgram, Leaf, Leaves, Screened
from zerogap.relax.watching import watching

SVG = "{http://www.w3.org/2000/svg}"


def texts(picture):
    root = ET.fromstring(picture.svg)
    assert root.tag == f"{SVG}svg"
    assert root.get("role") == "img"
    assert "nan" not in picture.svg
    return [found.text for found in root.iter(f"{SVG}text")]


@given(trees(), st.data())
def test_every_tree_can_be_drawn(heads, data):
    words = data.draw(st.lists(st.text(min_size=1, max_size=9), min_size=len(heads), max_size=len(heads)))
    labels = tuple(data.draw(st.sampled_from(["root", "nsubj", "a<b>", ""])) for _ in heads)
    picture = plot.plot_arcs(Sentence({"form": tuple(words), "upos": ("X",) * len(heads)}, heads, labels))
    assert texts(picture).count("X") >= len(heads)


def test_scripts_are_text():
    evil = "</text><script>alert(1)</script>"
    picture = plot.plot_arcs(Sentence({"form": (evil, "\x00\ud800")}, (0, 1), ("root", evil)), columns=())
    assert evil in texts(picture)
    assert not list(ET.fromstring(picture.svg).iter(f"{SVG}script"))
    assert "\ufffd\ufffd" in texts(picture)
    assert element("a", 'x"', title='"><') == '<a title="&quot;&gt;&lt;">x&quot;</a>'


def test_arcs_pass_above_each_other():
    levels = levels_of([(1, 2), (4, 2), (4, 3), (5, 1), (3, 6)])
    assert levels[1, 2] == levels[4, 3] == 0
    assert levels[4, 2] == 1 < levels[3, 6] < levels[5, 1]


def test_disputed_arcs_are_dashed():
    sentence = Sentence({"form": ("a", "b", "c")}, (0, 1, 2))
    picture = plot.plot_arcs(sentence, columns=(), disputed=[(1, 2), (1, 3)])
    assert picture.svg.count("stroke-dasharray") == 2


@pytest.mark.parametrize(("sentence", "columns", "message"), [
    (Sentence({"form": ("a",)}), (), "has no heads"),
    (Sentence({"form": ("a",)}, (0,)), ("lemma",), "no column 'lemma'"),
])  # fmt: skip
def test_what_cannot_be_drawn(sentence, columns, message):
    with pytest.raises(InputError, match=message):
        plot.plot_arcs(sentence, columns=columns)


def test_lattices():
    problem = sequence.Problem([[1.0, -math.inf], [0.0, 2.0]], labels=("A", "B<"), constraints=[sequence.at_least("B<", 1)])
    found = texts(plot.plot_lattice(problem, sequence.decode(problem), tokens=("x", "y")))
    assert {"x", "y", "A", "B<", "1", "2", "×", "at_least(B<, 1)"} <= set(found)
    assert texts(plot.plot_lattice(problem))[:1] == ["0"]
    with pytest.raises(InputError, match="tokens has 1 entries for 2"):
        plot.plot_lattice(problem, tokens=("x",))
    with pytest.raises(InputError, match="at most 100"):
        plot.plot_lattice(sequence.Problem([[0.0, 1.0]] * 101))


def test_search_trees():
    leaf = lambda *fixed: Leaf(fixed, DynamicProgram())  # noqa: E731
    leaves = Leaves((leaf((5, True)), leaf((5, False), (7, True)), leaf((5, False), (7, False))))
    found = texts(plot.plot_search(leaves, name=plot.arc_name(["a", "b", "c"])))
    assert found == ["a → a", "a → c"]
    assert texts(plot.plot_search(Screened(None, 0.0, leaves))) == ["5", "7"]
    with pytest.raises(InputError, match="nothing was branched on"):
        plot.plot_search(DynamicProgram())
    with pytest.raises(InputError, match="nothing was branched on"):
        plot.plot_search([])


def test_search_trees_with_bounds():
    steps = []
    with watching(steps.append):
        solution = dependency.decode(unbalanced(), method="head-automata")
    nodes = [step for step in steps if step.kind == "node"]
    assert nodes
    assert f"{nodes[0].detail['bound']:.4g}" in texts(plot.plot_search(steps))
    assert "Branch and bound" in plot.plot_search(solution.certificate).svg


def unbalanced():
    """A problem that is branched on."""
    import numpy as np

    for seed in range(100):
        random = np.random.default_rng(seed)
        arcs, siblings, grandparents = (random.integers(-4, 5, (9,) * d).astype(float) for d in (2, 3, 3))
        problem = dependency.Problem(arcs, siblings=siblings, grandparents=grandparents)
        steps = []
        with watching(steps.append):
            dependency.decode(problem, method="head-automata")
        if any(step.kind == "node" and step.detail["parent"] is not None for step in steps):
            return problem
    raise AssertionError("nothing was branched on")


def test_hypergraphs():
    from zerogap.structures.hypergraph import from_edges

    graph, _, _ = from_edges([3, 2, 2], [[2, 1], [0], [1]], n_vertices=4, root=3, vertex_names=["the", "dog", "N", "NP"], validate=False)
    problem = hypergraph.Problem(graph, [1.0, 2.0, 3.0])
    solution = hypergraph.decode(problem)
    found = texts(plot.plot_hypergraph(graph, path=solution.structure, scores=problem.scores))
    assert {"the", "dog", "N", "NP", "1", "2", "3"} <= set(found)
    with pytest.raises(InputError, match="scores has 1 entries: expected 3"):
        plot.plot_hypergraph(graph, scores=[1.0])


def test_notebooks_show_solutions():
    problem = dependency.Problem([[0, 5, 1], [0, 0, 8], [0, 9, 0]])
    assert dependency.decode(problem)._repr_svg_().startswith("<svg")
