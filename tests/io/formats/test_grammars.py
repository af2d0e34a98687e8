"""Weighted grammars as text: what is written reads back, what is wrong is named."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zerogap.errors import FormatError, GrammarError
from zerogap.io.formats.grammars import grammar_from_text, read_grammar, write_grammar
from zerogap.oracles.parses.cky import IndexedGrammar, best_parse
from zerogap.structures.grammar import from_tables, grammar

EXAMPLE = """
# a comment
%start S
S  -> NP VP [0.9] | VP [0.1]
NP -> DT NN [1.0]
VP -> V NP  [0.5] | V NP NP [0.25] | V [0.25]
DT -> 'the'
NN -> "dog" [0.5] | 'cat' [0.5]
V  -> "sees" [1]
"""


def named(g):
    """Rules by names: numbers of symbols on cycles may change."""
    names = g.symbols
    rules = {tuple(names[s] for s in row): v for row, v in zip(g.binary.tolist(), g.binary_scores.tolist(), strict=True)}
    rules |= {tuple(names[s] for s in row): v for row, v in zip(g.unary.tolist(), g.unary_scores.tolist(), strict=True)}
    words = {word: {names[s]: v for s, v in entries} for word, entries in g.lexicon.items()}
    return set(names), names[g.root], rules, words, g.cycles


def test_probabilities():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        g = grammar_from_text(EXAMPLE)
    assert g.symbols[g.root] == "S"
    assert not g.cycles
    parse = best_parse(IndexedGrammar.of(g), g.lexical_scores(["the", "dog", "sees", "the", "cat"]))
    assert parse.score == pytest.approx(math.log(0.9 * 0.5 * 0.5 * 0.5))
    assert ("V", "⟨NP⟩⟨NP⟩") in {(g.symbols[a], g.symbols[b]) for _, a, b in g.binary}


def test_weights_are_accepted_with_one_warning():
    with pytest.warns(UserWarning, match=r"2 of 2 symbols do not sum to one \(first: S, 7\)") as caught:
        g = grammar_from_text("S -> S A [4] | A [3] \n A -> 'a' [0.5] | 'b' [0]")
    assert len(caught) == 1
    assert g.lexicon["b"][0][1] == -np.inf
    assert sorted(g.binary_scores.tolist() + g.unary_scores.tolist()) == [math.log(3), math.log(4)]


SYMBOLS = st.text(st.sampled_from("AB'\"#%[]{}|\\-> ⟨⟩^$.`"), min_size=1, max_size=4).filter(lambda s: not any(c.isspace() for c in s))


@given(st.data(), st.lists(SYMBOLS, min_size=1, max_size=5, unique=True))
def test_what_is_written_reads_back(tmp_path_factory, data, names):
    symbols, scores = st.sampled_from(names), st.one_of(st.floats(-50, 0), st.just(-np.inf))
    binary = data.draw(st.dictionaries(st.tuples(symbols, symbols, symbols), scores, max_size=5))
    unary = data.draw(st.dictionaries(st.tuples(symbols, symbols), scores, max_size=4))
    lexicon = data.draw(st.dictionaries(st.text(max_size=4), st.dictionaries(symbols, scores, min_size=1, max_size=3), max_size=4))
    if not (binary or unary or lexicon):
        return
    g = from_tables(names, binary, unary, lexicon, names[0], cycles=True)
    path = tmp_path_factory.mktemp("grammars") / "g.txt.gz"
    write_grammar(path, g)
    assert named(read_grammar(path)) == named(g)


def test_tags_without_words_are_symbols(tmp_path):
    g = from_tables(("S", "''", "#"), {("S", "''", "#"): -0.5}, {}, {}, "S")
    write_grammar(tmp_path / "g.txt", g)
    assert "S -> {''} {#} [-0.5]" in (tmp_path / "g.txt").read_text()
    assert read_grammar(tmp_path / "g.txt").symbols == g.symbols


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no rules"),
        ("S NP VP", r"line 1: 'S NP VP' is not a rule"),
        ("'S' -> A", "is not a rule"),
        ("S -> [0.5]", r"line 1: nothing is on the right of S ->"),
        ("S -> A [0.5] B \n A -> 'a'", r"line 1: 'B' follows a number"),
        ("S -> A [x] \n A -> 'a'", r"line 1: \[x\] is not a number"),
        ("S -> 'a' [-1]", r"\[-1\] .* %scores log for logarithms"),
        ("S -> 'a' [inf]", "is not a number"),
        ("%scores log\nS -> 'a' [nan]", "expected a logarithm"),
        ("S -> A 'b' \n A -> 'a'", "line 1: the word 'b' stands beside others"),
        ("S -> A B \n A -> 'a'", "line 1: 'B' is on the right and no rule rewrites it"),
        ("S -> 'a' \n S -> 'a'", "line 2: the rule S -> a is in line 1 too"),
        ("S -> 'a' | 'a'", "is in line 1 too"),
        ("S -> A A | A A \n A -> 'a'", "is in line 1 too"),
        ("%start T \n S -> 'a'", "the start is 'T'"),
        ("%glue", "is not known: expected %start"),
        ("S -> 'a' \n%scores log", "comes after rules"),
        ("S -> 'a", "cannot be read"),
        ('S -> "\\q"', "backslashes as in JSON"),
    ],
)
@pytest.mark.filterwarnings("ignore:.*sum to one")
def test_errors_name_the_line(text, message):
    with pytest.raises(FormatError, match=message):
        grammar_from_text(text)


def test_cycles():
    text = "A -> B [{}] | 'a' [1] \n B -> A [0.5] | 'b' [0.5]"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert grammar_from_text(text.format(2)).cycles  # 2 * 0.5: a cycle of score zero
        with pytest.raises(GrammarError, match=r"cycle (A -> B -> A|B -> A -> B) with the score 0.4"):
            grammar_from_text(text.format(3))
        with pytest.raises(GrammarError, match="unary rules form a cycle"):
            grammar_from_text(text.format(2), cycles=False)
    assert not grammar([("S", ["A"], 0.0), ("A", ["a"], 0.0)], root="S", cycles=True).cycles
