"""Chart parsing of source sides against a parser that tries every rule everywhere; real grammars."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zerogap.baselines.forest_brute import all_derivations
from zerogap.errors import GrammarError, Infeasible, InputError
from zerogap.io.translation.scfg import read_grammar
from zerogap.translation.forests.from_grammar import sentence_problem, translation_forest
from zerogap.translation.forests.grammar import GrammarBuilder

SYMBOLS = ("S", "X", "Y")  # a symbol may rewrite alone to one that comes after it


@st.composite
def grammars(draw):
    """Rules as (head, source of words and (symbol, index), target of words and places, score)."""
    rules = []
    for _ in range(draw(st.integers(1, 7))):
        head = draw(st.sampled_from(SYMBOLS))
        source = draw(st.lists(st.sampled_from(["a", "b", *SYMBOLS]), min_size=1, max_size=3))
        if len(source) == 1 and source[0] in SYMBOLS and SYMBOLS.index(source[0]) <= SYMBOLS.index(head):
            source = ["a"]
        places = [k for k, symbol in enumerate(source) if symbol in SYMBOLS]
        symbols = [(symbol, k) if symbol in SYMBOLS else symbol for k, symbol in enumerate(source)]
        target = draw(st.permutations([*range(len(places)), *draw(st.lists(st.sampled_from(["u", "v"]), max_size=2))]))
        rules.append((head, symbols, target, float(draw(st.integers(-3, 3)))))
    return rules


def built(rules):
    builder = GrammarBuilder()
    for symbol in SYMBOLS:
        builder.nonterminal(symbol)
    for head, source, target, score in rules:
        builder.add(builder.source_node(source), head, target, ("p",), [score])
    return builder.build(["oov"])


def translations(rules, sentence, limit):
    """Every derivation of S over the sentence as (words, score), by trying all rules over all spans."""

    def over(source, i, j):
        if not source:
            return [()] if i == j else []
        if isinstance(source[0], str):
            return over(source[1:], i + 1, j) if i < j and sentence[i] == source[0] else []
        found = []
        for k in range(i + 1, j + 1):
            for rest in over(source[1:], k, j):
                found += [(below, *rest) for below in derive(source[0][0], i, k)]
        return found

    def derive(symbol, i, j):
        if j - i > limit and symbol != "S":
            return []
        found = []
        for head, source, target, score in rules:
            if head == symbol and len(source) <= j - i:
                for below in over(source, i, j):
                    words = []
                    for part in target:
                        words += [part] if isinstance(part, str) else below[part][0]
                    found.append((words, score + sum(s for _, s in below)))
        return found

    return sorted(derive("S", 0, len(sentence)))


@given(grammars(), st.lists(st.sampled_from("ab"), min_size=1, max_size=4), st.integers(1, 4))
@settings(max_examples=120)
def test_all_derivations(rules, sentence, span):
    wanted = translations(rules, sentence, span)
    weights = {"p": 1.0, "max_span": span}
    if not wanted:
        with pytest.raises(Infeasible, match="no derivation covers"):
            translation_forest(built(rules), sentence, weights, strict=True)
        return
    forest = translation_forest(built(rules), sentence, weights, strict=True)
    found = []
    for derivation in itertools.islice(all_derivations(forest), 5000):
        forest.check(derivation)
        found.append(([forest.words[w] for w in forest.yield_of(derivation)], float(forest.scores[list(derivation)].sum())))
    assert sorted(found) == wanted


RULES = [
    ("S", [("X", 1)], [0], 0.0),
    ("S", [("S", 1), ("X", 2)], [0, 1], -1.0),
    ("X", ["a"], ["u", "v"], 2.0),
]


def test_unknown_words_pass_through():
    forest = translation_forest(built(RULES), ["a", "q"], {"p": 1.0, "oov": -5.0, "words": 0.25})
    (derivation,) = all_derivations(forest)
    assert forest.translation(derivation) == "u v q"
    assert forest.scores[list(derivation)].sum() == -1.0 + 2.0 - 5.0 + 3 * 0.25
    assert forest.vertex_names[-1] == ("S", 0, 2)
    assert -1 in forest.rules.tolist()
    with pytest.raises(Infeasible, match="no rule translates 'q' alone"):
        translation_forest(built(RULES), ["a", "q"], {"p": 1.0}, strict=True)


def test_wrong_input():
    grammar = built(RULES)
    with pytest.raises(Infeasible, match="no words"):
        translation_forest(grammar, [], {})
    with pytest.raises(InputError, match="sequence of words"):
        translation_forest(grammar, "a b", {})
    with pytest.raises(InputError, match="max_span"):
        translation_forest(grammar, ["a"], {"max_span": 0.5})
    with pytest.raises(InputError, match="weights have no 'lm'"):
        sentence_problem(grammar, None, {"p": 1.0}, ["a"])
    with pytest.raises(GrammarError, match="'T' is not in the grammar: it has"):
        translation_forest(grammar, ["a"], {}, goal="T")
    with pytest.raises(GrammarError, match="'T', for words to pass"):
        translation_forest(grammar, ["q"], {}, phrase="T")


@pytest.mark.data
def test_a_real_grammar(data):
    folder = data / "mt" / "wmt-zhen"
    sentence = min((line.split() for line in (folder / "test.src").read_text().splitlines()), key=len)
    grammar = read_grammar(folder / "hiero.gz", sentences=[sentence])
    forest = translation_forest(grammar, sentence, {"pef": 0.1, "words": 0.4, "oov": -2.0, "max_span": 15})
    assert forest.vertex_names[-1] == ("S", 0, len(sentence))
    assert forest.n_edges > 100
    assert np.isfinite(forest.scores).all()
    assert all(j - i <= 15 for symbol, i, j in forest.vertex_names if symbol == "X")
