"""Labelled brackets as evalb counts them with COLLINS.prm, by hand."""

import pytest

from zerogap.constituency.evaluation import BracketScores, compare, evaluate, sentence_length
from zerogap.errors import InvalidStructure
from zerogap.io.formats.brackets import tree_from_text

GOLD = tree_from_text("(TOP (S (NP (DT a) (NN b)) (, ,) (VP (V c) (PRT (RP d)) (NP (N e))) (. .)))")


def test_the_same_tree():
    scores = compare(GOLD, GOLD)
    assert (scores.matched, scores.parsed, scores.gold, scores.exact, scores.words, scores.tags) == (5, 5, 5, 1, 5, 5)
    assert scores.f1 == scores.precision == scores.recall == scores.exact_match == scores.tag_accuracy == 1.0
    assert sentence_length(GOLD) == 5


def test_top_punctuation_and_tags_do_not_count_and_advp_is_prt():
    parsed = tree_from_text("(ROOT (S (S (NP (DT a) (N b)) (, ,)) (VP (V c) (ADVP (RP d)) (NP (N e)) (. .))))")
    scores = compare(GOLD, parsed)
    # S over everything, NP, VP without the full stop, ADVP, NP are right; S over the first two words is not
    assert (scores.matched, scores.parsed, scores.gold, scores.exact, scores.crossing) == (5, 6, 5, 0, 0)
    assert (scores.tags, scores.words) == (4, 5)
    assert scores.precision == pytest.approx(5 / 6)
    assert scores.recall == 1.0
    assert scores.f1 == pytest.approx(10 / 11)


def test_repeated_brackets_count_as_often_as_they_are_there():
    gold = tree_from_text("(S (NP (NP (N a))) (VP (V b)))")
    parsed = tree_from_text("(S (NP (N a)) (VP (VP (V b))))")
    scores = compare(gold, parsed)
    assert (scores.matched, scores.parsed, scores.gold) == (3, 4, 4)


def test_crossing_brackets():
    gold = tree_from_text("(S (X (A a) (B b)) (C c))")
    parsed = tree_from_text("(S (A a) (Y (B b) (C c)))")
    scores = compare(gold, parsed)
    assert (scores.matched, scores.crossing, scores.without_crossing) == (1, 1, 0)


def test_traces_and_functions_of_the_treebank():
    gold = tree_from_text("((S (NP-SBJ-1 (N a)) (VP (V b) (NP (-NONE- *-1))) (PRN (, ,) (: --))))")
    parsed = tree_from_text("(TOP (S (NP (N a)) (VP (V b)) (PRN (, ,) (: --))))")
    scores = compare(gold, parsed)
    assert (scores.matched, scores.parsed, scores.gold, scores.exact) == (3, 3, 3, 1)  # nothing is left of PRN


def test_sentences_without_a_parse_and_other_words():
    scores = evaluate([GOLD, GOLD], [None, GOLD])
    assert (scores.sentences, scores.parsed_sentences, scores.matched, scores.gold) == (2, 1, 5, 10)
    assert scores.recall == 0.5
    assert evaluate([GOLD, GOLD], [None, GOLD], longest=4) == BracketScores()
    assert BracketScores().f1 == BracketScores().precision == BracketScores().exact_match == BracketScores().tag_accuracy == 0.0
    assert "F1 66.67" in str(scores)
    with pytest.raises(InvalidStructure, match="the words of the parse are 'x': expected those of the treebank, 'a b , c d e .'"):
        compare(GOLD, tree_from_text("(S (X x))"))
    with pytest.raises(ValueError, match="zip"):
        evaluate([GOLD], [])
