"""Synchronous grammars as text, and forests as JSON."""

import gzip

import numpy as np
import pytest
from hypothesis import given

from zerogap.baselines.forest_brute import all_derivations
from zerogap.errors import CyclicHypergraph, DisconnectedHypergraph, FormatError, GrammarError, HypergraphError, InputError
from zerogap.io.translation.forests import forest_from_json, forest_to_json, read_forest, write_forest
from zerogap.io.translation.scfg import load_syntax_weights, read_grammar
from zerogap.problems.translation.forest import from_rules
from zerogap.testing.strategies import small_integers

RULES = """[S] ||| [X,1] ||| [X,1] ||| glue=0
[S] ||| [S,1] [X,2] ||| [S,1] [X,2] ||| glue=1
[X] ||| le dug ||| the dog ||| p=-4 q=1

[X] ||| le dug ||| a cat ||| p=2.5
[X] ||| abarks [X,1] ||| barks [X,1] loudly ||| p=3
[X] ||| [X,1] van [X,2] ||| [2] 's [1] ||| p=1 ||| 0-0
[X] ||| foreign ||| foreign ||| oov=1
"""


def written(tmp_path, text, name="grammar.txt"):
    path = tmp_path / name
    if name.endswith(".gz"):
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("name", ["grammar.txt", "grammar.gz"])
def test_rules_are_read(tmp_path, name):
    grammar = read_grammar(written(tmp_path, RULES, name))
    assert grammar.n_rules == 7
    assert grammar.nonterminals == ("X", "S")  # S rewrites to X alone, so X comes first
    assert grammar.feature_names == ("glue", "oov", "p", "q")
    scores = grammar.rule_scores({"p": 2.0, "q": 10.0, "words": 0.5, "lm": 1.0, "max_span": 15})
    assert sorted(scores.tolist()) == sorted([0.0, 0.0, -8 + 10 + 1.0, 5 + 1.0, 6 + 1.0, 2 + 0.5, 0.5])


def test_a_file_serves_many_sentences(tmp_path):
    path = written(tmp_path, RULES)
    one = read_grammar(path, sentences=[["le", "dug"]])
    assert one.n_rules == 4  # the glue rules have no words
    assert one.feature_names == ("glue", "oov", "p", "q")  # also those of rules that were left out
    apart = read_grammar(path, sentences=[["le", "van"], ["dug", "van"]])
    assert apart.n_rules == 3  # no sentence has both words
    assert read_grammar(path, sentences=[]).n_rules == 2


def test_values_without_names(tmp_path):
    grammar = read_grammar(written(tmp_path, "[X] ||| a ||| b ||| 1.5 -2\n"))
    assert grammar.feature_names == ("0", "1")
    assert grammar.features.tolist() == [[1.5, -2.0]]
    assert read_grammar(written(tmp_path, "[X] ||| a ||| b |||\n")).n_rules == 1


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("[X] ||| a [X,1] ||| b ||| p=1", r"line 2 has the source nonterminal \[X,1\] and no such target one"),
        ("[X] ||| a ||| b [X,1] ||| p=1", r"line 2 has the target nonterminal \[X,1\] which its source side does not have"),
        ("[X] ||| a [X,1] ||| [X,1] [X,1] ||| p=1", "twice"),
        ("[X] ||| a [X,1] ||| [Y,1] ||| p=1", "does not have"),
        ("[X] ||| [X,1] [Y,1] ||| [X,1] [Y,1] ||| p=1", "two source nonterminals with the index 1"),
        ("X ||| a ||| b ||| p=1", "begins with 'X': expected a nonterminal"),
        ("[X] ||| a", "has 2 fields"),
        ("[X] |||  ||| b ||| p=1", "empty source side"),
        ("[X] ||| a ||| b ||| p=one", "features 'p=one'"),
        ("[X] ||| a ||| b ||| p=nan", "finite number"),
        ("[X] ||| a ||| b ||| p=1 p=2", "different names"),
        ("[X] ||| a ||| b ||| p=1 2", "features"),
    ],
)
def test_errors_name_the_line(tmp_path, line, message):
    with pytest.raises(FormatError, match=message):
        read_grammar(written(tmp_path, f"[X] ||| z ||| z ||| p=1\n{line}\n"))


def test_symbols_that_rewrite_to_one_another(tmp_path):
    with pytest.raises(GrammarError, match="Y -> X -> Y"):
        read_grammar(written(tmp_path, "[X] ||| [Y,1] ||| [Y,1] |||\n[Y] ||| [X,1] ||| [X,1] |||\n"))


def test_weights_of_features_that_do_not_exist(tmp_path):
    grammar = read_grammar(written(tmp_path, RULES))
    with pytest.raises(InputError, match="weights name the feature 'r', which no rule of the grammar has. Known: glue, oov, p, q"):
        grammar.rule_scores({"r": 1.0})
    with pytest.raises(InputError, match="finite"):
        grammar.rule_scores({"p": float("inf")})


def test_forests_come_back(tmp_path):
    forest, order = from_rules([(3, ["the", 1], 0.5), (1, ["dog"], 1.0), (1, [], -np.inf)], root=3, vertex_names=["-", ("X", 0), "-", "S"])
    assert order.tolist() == [1, 2, 0]
    write_forest(forest, tmp_path / "forest.json")
    again = read_forest(tmp_path / "forest.json")
    assert forest_to_json(again) == forest_to_json(forest)
    assert again.vertex_names == (("X", 0), "S")
    assert list(all_derivations(again)) == [(2, 0), (2, 1)]


@given(small_integers(), small_integers())
def test_scores_come_back(a, b):
    forest, _ = from_rules([(1, [0, "x"], a), (0, ["y"], b)], root=1)
    assert forest_from_json(forest_to_json(forest)).scores.tolist() == forest.scores.tolist()


def edges(*rules, **more):
    return {
        "format": "zerogap-forest", "version": 1, "root": 0,
        "edges": [{"head": h, "target": t, "score": 0.0} for h, t in rules], **more,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        (edges((0, [1]), (1, [2]), (2, ["a", 1])), CyclicHypergraph, "cycle: 1 <- 2 <- 1"),
        (edges((0, [1]), (1, [2]), (2, ["a", 1]), vertices=["S", "X", "Y"]), CyclicHypergraph, "cycle: X <- Y <- X"),
        (edges((0, [1]), (1, [0])), CyclicHypergraph, "cycle"),
        (edges((0, [1])), DisconnectedHypergraph, "no hyperedge enters vertex 1"),
        (edges((0, [-1])), HypergraphError, "vertex -1"),
        (edges((0, [1.5])), FormatError, r"edges\[0\].target\[0\] is 1.5"),
        (edges((0, ["a"]), vertices=[]), HypergraphError, "vertex_names has 0"),
        (edges(), FormatError, "empty"),
        ({"format": "x"}, FormatError, "expected 'zerogap-forest'"),
    ],
)
def test_what_is_not_a_forest(value, error, message):
    with pytest.raises(error, match=message):
        forest_from_json(value)


def test_weights(tmp_path):
    path = tmp_path / "weights.txt"
    path.write_text("[phrase]\nlm 3\n[hiero]\np 0.5  # of a rule\nlm 1\nmax_span 15\n")
    assert load_syntax_weights(path) == {"p": 0.5, "lm": 1.0, "max_span": 15.0}
    path.write_text("[phrase]\nlm 3\n")
    with pytest.raises(FormatError, match=r"expected \[hiero\]"):
        load_syntax_weights(path)
    path.write_text("[hiero]\nlm 3 4\n")
    with pytest.raises(FormatError, match="'lm' in .hiero. has 2 numbers"):
        load_syntax_weights(path)
