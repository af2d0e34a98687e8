"""Grammars from trees, the lexicon, and the parser made of both."""

import math

import numpy as np
import pytest

from zerogap.constituency.evaluation import evaluate
from zerogap.constituency.grammars.extraction import Markovisation, count_rules, estimate_grammar, shortened_names, split_context
from zerogap.constituency.grammars.files import load_pcfg, save_pcfg
from zerogap.constituency.grammars.pcfg import ALL_SPLITS, PcfgModel, train
from zerogap.constituency.treebank.binarising import label_of
from zerogap.constituency.treebank.cleaning import cleaned
from zerogap.constituency.treebank.lexicon import train_lexicon
from zerogap.constituency.treebank.splits import SPLITS, splits_named
from zerogap.constituency.treebank.trees import Tree
from zerogap.constituency.treebank.unknown_words import word_classes
from zerogap.errors import FormatError, Infeasible, InputError
from zerogap.io.formats.brackets import read_trees, tree_from_text
from zerogap.oracles.parses.cky import IndexedGrammar
from zerogap.oracles.parses.cky_sums import sum_parses

TREES = [
    tree_from_text(text)
    for text in (
        "(TOP (S (NP (DT the) (NN dog)) (VP (VBZ barks)) (. .)))",
        "(TOP (S (NP (DT the) (JJ old) (NN dog)) (VP (VBZ sees) (NP (DT a) (NN cat))) (. .)))",
        "(TOP (S (NP (NNS dogs)) (VP (VBP see) (NP (NP (NNS cats)) (PP (IN in) (NP (NNS parks))))) (. .)))",
        "(TOP (NP (NP (NNS dogs)) (PP (IN in) (NP (DT the) (NN park))) (. .)))",
    )
]
PLAIN = Markovisation(horizontal=None, vertical=1, direction="right")


def totals_of(g):
    totals = np.zeros(len(g.symbols))
    np.add.at(totals, g.binary[:, 0], np.exp(g.binary_scores))
    np.add.at(totals, g.unary[:, 0], np.exp(g.unary_scores))
    return totals


def test_relative_frequencies():
    g = estimate_grammar(count_rules(TREES, PLAIN))
    rules = {(g.symbols[p], g.symbols[c]): math.exp(s) for (p, c), s in zip(g.unary.tolist(), g.unary_scores.tolist(), strict=True)}
    assert rules["TOP", "S"] == pytest.approx(3 / 4)
    assert rules["TOP", "NP"] == pytest.approx(1 / 4)
    assert rules["VP", "VBZ"] == pytest.approx(1 / 3)
    parents = totals_of(g)
    assert parents[parents > 0] == pytest.approx(np.ones((parents > 0).sum()))


@pytest.mark.parametrize("weight", [0.5, 5.0])
@pytest.mark.parametrize(
    "markovisation", [Markovisation(), Markovisation(splits=splits_named(SPLITS), tag_parents=True), Markovisation(vertical=3)]
)
def test_smoothing_gives_rules_of_one_parent_to_others_and_takes_none_away(weight, markovisation):
    counts = count_rules(TREES, markovisation)
    g, plain = (estimate_grammar(counts, weight=w, kept=max(markovisation.vertical - 2, 0)) for w in (weight, 0.0))
    assert set(g.symbols) == set(plain.symbols)
    named = [{tuple(h.symbols[s] for s in row) for row in h.binary.tolist()} for h in (g, plain)]
    assert named[0] >= named[1]
    assert (totals_of(g) <= 1 + 1e-12).all()  # what leads to a symbol that no tree has is left out


def test_smoothing_by_hand():
    """NP^S was seen with two rules, NP^VP with another: each gets the other's rules by their share in all NP."""
    trees = [tree_from_text("(T (S (NP (A a) (B b)) (VP (NP (C c) (D d)))))"), tree_from_text("(T (S (NP (A a) (A a)) (VP (V v))))")]
    markovisation = Markovisation(horizontal=0, vertical=2)
    g = estimate_grammar(count_rules(trees, markovisation), weight=1.0)
    names = {tuple(g.symbols[s] for s in row): math.exp(v) for row, v in zip(g.binary.tolist(), g.binary_scores.tolist(), strict=True)}
    assert names["NP^S", "A", "B"] == pytest.approx((1 + 1 / 3) / (2 + 1))
    assert names["NP^S", "C", "D"] == pytest.approx((0 + 1 / 3) / (2 + 1))
    assert names["NP^VP", "C", "D"] == pytest.approx((1 + 1 / 3) / (1 + 1))
    assert shortened_names("NP^S^VP", 1) == ("NP^S^VP", "NP^S")
    assert shortened_names("a\\^b^S", 0) == ("a\\^b^S", "a\\^b")
    assert split_context("NP^S⟨DT⟩") == ("NP^S", "⟨DT⟩")
    with pytest.raises(InputError, match="weight is -1"):
        estimate_grammar(count_rules(trees, markovisation), weight=-1)


def test_trees_must_have_one_top():
    with pytest.raises(InputError, match="tree 1 has 'S' on top, others 'TOP'"):
        count_rules([TREES[0], TREES[0].subtrees[0]], PLAIN)
    with pytest.raises(InputError, match="no trees"):
        count_rules([], PLAIN)
    with pytest.raises(InputError, match="'X' on top"):
        count_rules([Tree("X", ("a",))], PLAIN)


def test_lexicon():
    sentences = [[("The", "DT"), ("dog", "NN"), ("runs", "VBZ")], [("the", "DT"), ("walking", "VBG"), ("runs", "NNS")], [("the", "DT")] * 6]
    lexicon = train_lexicon(sentences, rare=1, frequent=5)
    tag = {name: i for i, name in enumerate(lexicon.tags)}
    scores = lexicon.scores(["the", "runs", "talking"])
    assert np.isfinite(scores[0]).sum() == 1  # a frequent word has its own tags
    assert scores[0, tag["DT"]] == pytest.approx(math.log(7 / 8))
    assert np.isfinite(scores[1, [tag["VBZ"], tag["NNS"]]]).all()
    assert scores[2].argmax() == tag["VBG"]  # by its suffix
    assert lexicon.scores(["The"])[0].argmax() == tag["DT"]
    for word, first in (("runs", False), ("talking", False), ("Zorro", True), ("the", True)):
        assert lexicon.probabilities(word, first).sum() == pytest.approx(1)
    allowed = lexicon.scores(["the", "dog"], tags=[["NNS"], None])
    assert np.flatnonzero(allowed[0] > -np.inf).tolist() == [tag["NNS"]]
    assert np.isfinite(allowed[1, tag["NN"]])
    with pytest.raises(InputError, match=r"tags\[0\] has 'X'"):
        lexicon.scores(["the"], tags=[["X"]])
    with pytest.raises(InputError, match="2 entries for 1 words"):
        lexicon.scores(["the"], tags=[None, None])
    with pytest.raises(InputError, match="no sentences"):
        train_lexicon([])


def test_probabilities_of_words_given_a_tag_sum_to_one_over_the_words_of_training():
    lexicon = train_lexicon([[("a", "X"), ("b", "Y"), ("a", "Y"), ("c", "X")]] * 9, frequent=0)
    table = np.exp(lexicon.scores(["z", "a", "b", "c"]))[1:]  # the first word is looked up without its capital
    assert table.sum(axis=0) == pytest.approx(np.ones(2))


def test_word_classes_of_odd_words():
    for word in ("", "-", "A", "%", "1,000.5", "É", "ß", "U.S."):
        assert len(word_classes(word, False)) == 4
    assert word_classes("Dogs", True)[0] != word_classes("Dogs", False)[0]


def test_the_parser_finds_the_trees_that_it_saw():
    for weight in (0.0, 1.0):
        model = train(TREES, markovisation=Markovisation(horizontal=1, vertical=2), weight=weight)
        assert evaluate(TREES, [model.parse(tree.words()) for tree in TREES]).f1 == 1.0
        for tree in TREES:
            found = model.parse(tree.words(), tags=tree.tags())
            assert found.tags() == tree.tags()
            assert found.words() == tree.words()
    best, second = model.k_best(TREES[2].words(), 2)
    assert best[0] == TREES[2]
    assert best[1] >= second[1]


def test_glue_and_unknown_tags():
    model = train(TREES)
    found = model.parse(["in", "in", "dogs", "dogs"])
    assert found.words() == ["in", "in", "dogs", "dogs"]
    assert found.label == "TOP"
    with pytest.raises(InputError, match="tags has 'XX', which training never saw"):
        model.parse(["in"], tags=["XX"])
    without = train(TREES, glue=None)
    with pytest.raises(Infeasible, match="no parse"):
        without.parse(["in", "in", "in"], tags=["IN", "IN", "IN"])
    with pytest.raises(InputError, match="the lexicon has the tag"):
        PcfgModel.of(estimate_grammar(count_rules(TREES[:1], PLAIN)), train_lexicon([[("a", "ZZ")]]))


def test_models_are_files(tmp_path):
    path = tmp_path / "model.npz"
    model = train(TREES)
    save_pcfg(model, path)
    loaded = load_pcfg(path)
    for tree in TREES:
        assert loaded.parse(tree.words()) == model.parse(tree.words())
        assert (loaded.lexical_scores(["Cats", "zap", "7"]) == model.lexical_scores(["Cats", "zap", "7"])).all()
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(FormatError, match="not a model file, or was cut short"):
        load_pcfg(path)


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("binary", lambda rows: rows + 1000, "binary names symbols"),
        ("binary_scores", lambda scores: scores * np.nan, r"binary_scores\[0\] is nan"),
        ("words", lambda rows: rows + 1000, "a word has the tag"),
        ("words", lambda rows: rows[:, :2], "are not rows"),
        ("totals", lambda totals: totals[1:], "totals are not a positive number"),
        ("totals", None, "'totals'"),
    ],
)
def test_hostile_files_are_refused(tmp_path, name, change, message):
    path = tmp_path / "model.npz"
    save_pcfg(train(TREES), path)
    with np.load(path) as archive:
        arrays = dict(archive)
    if change is None:
        del arrays[name]
    else:
        arrays[name] = change(arrays[name])
    np.savez(path, **arrays)
    with pytest.raises(FormatError, match=message):
        load_pcfg(path)


@pytest.mark.data
def test_a_treebank(data):
    """A hundred trees to train on, ten to parse: every parse is of the words, and its probability is part of the sentence's."""
    trees = [cleaned(tree) for tree in read_trees(data / "ptb" / "dev.mrg")]
    model = train(trees[:100], markovisation=Markovisation(tag_parents=True, splits=splits_named(ALL_SPLITS)), weight=1.0)
    some = [tree for tree in trees[100:] if len(tree.words()) <= 20][:10]
    parses = []
    for tree in some:
        parses.append(model.parse(tree.words()))
        assert parses[-1].words() == tree.words()
        assert all(label_of(node.label) == node.label for node in parses[-1].subtrees)
    assert evaluate(some, parses).f1 > 0.5
    lexical = model.lexical_scores(some[0].words())
    (_, best), *_ = model.k_best(some[0].words(), 1)
    assert sum_parses(IndexedGrammar.of(model.grammar), lexical, counts=False).total >= best - 1e-9
