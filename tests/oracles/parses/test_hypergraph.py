import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zerogap.errors import GrammarError, Infeasible, InputError
from zerogap.oracles.hypergraphs.best_path import best_path, fringe
from zerogap.oracles.hypergraphs.semiring import count_paths, enumerate_paths
from zerogap.oracles.parses.hypergraph import LEXICAL, cky_hypergraph
from zerogap.structures.grammar import grammar
from zerogap.structures.hypergraph import check_connected, check_disjoint
from zerogap.testing.strategies import score_arrays

THESIS = [
    ("S", ["NP", "VP"], 1), ("VP", ["V", "NP"], 3), ("VP", ["VP", "PP"], 2), ("NP", ["NP", "PP"], 5), ("PP", ["P", "NP"], 4),
    ("NP", ["D", "N"], 0), ("N", ["man"], 2), ("N", ["dog"], 3), ("N", ["park"], 4), ("P", ["in"], 2), ("D", ["the"], 1),
    ("V", ["walks"], 5),
]  # fmt: skip


def test_example_2_2_2_two_parses_of_an_ambiguous_sentence():
    """NP attachment of `in the park` scores 3 more than VP attachment."""
    g = grammar(THESIS, root="S")
    chart = cky_hypergraph(g, g.lexical_scores(["the", "man", "walks", "the", "dog", "in", "the", "park"]))
    check_connected(chart.hypergraph)
    check_disjoint(chart.hypergraph)
    scores = sorted(sum(chart.scores[e] for e in path) for path in enumerate_paths(chart.hypergraph))
    assert len(scores) == 2
    assert scores[1] - scores[0] == 3
    best = best_path(chart.hypergraph, chart.scores)
    assert best.score == scores[1]
    assert [chart.items[v].tolist()[:2] for v in fringe(chart.hypergraph, best.edges)] == [[i, i + 1] for i in range(8)]


def all_parses(g, lexical, i, j, x):
    """Scores of all derivations of words i to j from x, by definition."""
    found = [lexical[i, x]] if j == i + 1 and lexical[i, x] > -np.inf else []
    for (parent, child), score in zip(g.unary, g.unary_scores, strict=True):
        if parent == x:
            found += [score + s for s in all_parses(g, lexical, i, j, child)]
    for (parent, left, right), score in zip(g.binary, g.binary_scores, strict=True):
        if parent == x:
            for split in range(i + 1, j):
                found += [score + a + b for a in all_parses(g, lexical, i, split, left) for b in all_parses(g, lexical, split, j, right)]
    return [s for s in found if s > -np.inf]


@st.composite
def grammars(draw):
    symbols = "ABC"[: draw(st.integers(1, 3))]
    rules = {(x, (f"{x.lower()}!",)): 0.0 for x in symbols}  # every symbol is a parent
    for _ in range(draw(st.integers(1, 6))):
        rules[draw(st.sampled_from(symbols)), (draw(st.sampled_from(symbols)), draw(st.sampled_from(symbols)))] = draw(
            st.one_of(st.integers(-2, 2).map(float), st.just(-np.inf))
        )
    for parent, child in itertools.pairwise(symbols):
        if draw(st.booleans()):
            rules[parent, (child,)] = float(draw(st.integers(-2, 2)))
    return grammar([(p, right, s) for (p, right), s in rules.items()], root="A")


@given(grammars(), st.data(), st.integers(1, 4))
def test_against_all_parses(g, data, n):
    lexical = data.draw(score_arrays((n, len(g.symbols))))
    expected = sorted(all_parses(g, lexical, 0, n, g.root))
    if not expected:
        with pytest.raises(Infeasible, match="no parse"):
            cky_hypergraph(g, lexical)
        return
    chart = cky_hypergraph(g, lexical)
    check_connected(chart.hypergraph)
    assert sorted(float(sum(chart.scores[list(path)])) for path in enumerate_paths(chart.hypergraph)) == expected
    assert count_paths(chart.hypergraph) == len(expected)
    assert (np.flatnonzero(chart.hypergraph.is_terminal) == np.arange(chart.n_terminals)).all()
    for e in range(chart.hypergraph.n_edges):  # every hyperedge is the rule that it says
        head, tail = chart.items[chart.hypergraph.heads[e]], chart.items[chart.hypergraph.tail(e)]
        rule = chart.rules[e]
        if rule == LEXICAL:
            assert chart.scores[e] == lexical[head[0], head[2]]
        elif rule < len(g.binary):
            assert [head[2], tail[0][2], tail[1][2]] == g.binary[rule].tolist()
        else:
            assert [head[2], tail[0][2]] == g.unary[rule - len(g.binary)].tolist()


def test_long_rules_are_split_and_share_their_ends():
    g = grammar([("S", "ABC", 2.0), ("S", "BBC", 1.0), *((x, [x.lower()], 0.0) for x in "ABC")], root="S")
    assert len(g.binary) == 3
    assert best_path(*forest(g, "abc")).score == 2.0
    assert best_path(*forest(g, "bbc")).score == 1.0


def forest(g, words):
    chart = cky_hypergraph(g, g.lexical_scores(list(words)))
    return chart.hypergraph, chart.scores


def test_unary_cycles_are_named():
    with pytest.raises(GrammarError, match="A -> B -> A|B -> A -> B"):
        grammar([("A", ["B"], 0.0), ("B", ["A"], 0.0), ("A", ["a"], 0.0)], root="A")


def test_bad_grammars_and_sentences():
    with pytest.raises(GrammarError, match="root is 'X'"):
        grammar([("S", ["a"], 0.0)], root="X")
    with pytest.raises(GrammarError, match="rule 0"):
        grammar([("S", [], 0.0)], root="S")
    with pytest.raises(GrammarError, match="'B'"):
        grammar([("S", ["S", "B"], 0.0)], root="S")
    with pytest.raises(GrammarError, match="twice"):
        grammar([("S", ["a"], 0.0), ("S", ["a"], 1.0)], root="S")
    g = grammar([("S", ["S", "S"], 0.0), ("S", ["a"], 0.0)], root="S")
    with pytest.raises(Infeasible, match="words\\[1\\] is 'b'"):
        g.lexical_scores(["a", "b"])
    with pytest.raises(InputError, match="no words"):
        cky_hypergraph(g, np.zeros((0, 1)))
    with pytest.raises(Infeasible, match="word 1 has no symbol"):
        cky_hypergraph(g, [[0.0], [-np.inf]])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"binary": np.array([[0, 9, 0]], np.int32)}, "binary names symbols 0 to 9"),
        ({"binary": np.array([[0, 0]], np.int32)}, "binary has shape"),
        ({"unary": np.array([[0, 0]], np.int32), "unary_scores": np.zeros(1)}, "does not come before its parent"),
        ({"binary": np.array([[1, 0, 0], [0, 0, 0]], np.int32), "binary_scores": np.zeros(2)}, "not sorted"),
    ],
)
def test_tables_that_would_crash_a_kernel_are_refused(change, message):
    g = grammar([("S", ["S", "T"], 0.0), ("S", ["a"], 0.0), ("T", ["a"], 0.0)], root="S")
    with pytest.raises(GrammarError, match=message):
        replace(g, **change)
