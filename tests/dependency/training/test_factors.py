"""Parsers with factors: scores by their definition, exact parsing, files, training."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import zerogap
from zerogap.archive import read_archive, write_archive
from zerogap.baselines.brute import all_heads, is_tree
from zerogap.dependency import train as train_parser
from zerogap.dependency.factors.families import FAMILIES, arcs_of, family_in
from zerogap.dependency.factors.matching import PatternSet
from zerogap.dependency.factors.parser import Factored, FactorParser, likeliest_heads
from zerogap.dependency.factors.patterns import parse_patterns
from zerogap.dependency.factors.scoring import factor_keys, factor_scores, family_scores
from zerogap.dependency.parser.parser import Parser
from zerogap.dependency.scoring.sentence import keys_of_tree, score_of_tree
from zerogap.dependency.sentence import Sentence
from zerogap.dependency.training.factors import read_factors, train
from zerogap.errors import FormatError, InputError, UnknownMethod
from zerogap.features.parts.keys import PartFeatures
from zerogap.features.parts.model import part_model
from zerogap.features.parts.templates import FACTOR_KINDS, KINDS, parse_part_templates
from zerogap.io.formats.conllu import read_conllu

pytestmark = pytest.mark.compiled

TEMPLATES = """
arc: head.form+mod.form
arc: head.upos+mod.upos+distance
sibling: head.upos+sib.upos+mod.upos
stop: head.upos+sib.upos
anysibling: head.upos+sib.form+mod.upos
anysibling: sib.upos+mod.upos+distance
grandchild: grand.upos+head.form+mod.upos[1]
grandchild: grand.upos+mod.upos+distance
greatgrand: great.upos+grand.form+head.upos+mod.upos
trisibling: head.upos+third.upos+sib.upos+mod.form
comb: head.upos+each.upos
comb: each.form+distance
pattern: bias
pattern: head.upos+mod.upos
"""
FEATURES = PartFeatures(parse_part_templates(TEMPLATES))
PATTERNS = PatternSet(parse_patterns("same 0.5: a[upos=$t] b[upos=$t]; a -> b\nend: a[form=u]; root -> a"))
EVERYTHING = Factored(tuple(FAMILIES), PATTERNS)
ORDERS = {"first": ("arc",), "sibling": ("arc", "sibling", "stop")}


def features_of(order: str) -> PartFeatures:
    kinds = (*ORDERS[order], *FACTOR_KINDS)
    return PartFeatures(parse_part_templates([line for line in TEMPLATES.splitlines() if line.split(":")[0] in kinds]))


@st.composite
def sentences(draw: st.DrawFn, most: int = 5) -> Sentence:
    n = draw(st.integers(0, most))
    columns = {"form": ["u", "v", "w"], "upos": ["A", "B"]}
    return Sentence({name: tuple(draw(st.lists(st.sampled_from(values), min_size=n, max_size=n))) for name, values in columns.items()})


def random_parser(order: str, sentence: Sentence, seed: int, *, single_root: bool = True) -> FactorParser:
    """Small whole numbers for most features of all trees of the sentence."""
    features, n = features_of(order), len(sentence)
    encoded = features.encode(sentence.columns, n)
    found = [np.zeros(0, dtype=np.int64)]
    for heads in all_heads(n):
        if is_tree(heads, projective=True, single_root=single_root):
            given_heads = np.array(heads, dtype=np.int64)
            found.append(EVERYTHING.keys(features, encoded, sentence.columns, given_heads, single_root=single_root))
            found.append(keys_of_tree(features, encoded, given_heads))
    keys = np.unique(np.concatenate(found))
    weights = np.random.default_rng(seed).integers(-3, 4, len(keys)).astype(float)
    model = part_model(features, keys, weights)
    return FactorParser(Parser(order, model, single_root=single_root), EVERYTHING, None)


def by_definition(parser: FactorParser, sentence: Sentence, heads: tuple[int, ...]) -> float:
    """The weights of the features of the backbone and of every factor that holds."""
    model = parser.parser.model
    encoded = model.features.encode(sentence.columns, len(sentence))
    given_heads = np.array(heads, dtype=np.int64)
    total = score_of_tree(model.features, model, encoded, given_heads)
    for family in parser.factored.families:
        listed = family_in(family, arcs_of(given_heads), single_root=parser.parser.single_root)
        total += float(factor_scores(model.features, model, encoded, listed).sum())
    patterns, which = PATTERNS.factors(sentence.columns, arcs_of(given_heads))
    return total + float(factor_scores(model.features, model, encoded, patterns).sum() + PATTERNS.weights(which).sum())


@pytest.mark.parametrize("order", ORDERS)
@settings(max_examples=25)
@given(sentence=sentences(), seed=st.integers(0, 1000), single_root=st.booleans())
def test_the_best_tree_under_the_definition(order, sentence, seed, single_root):
    parser = random_parser(order, sentence, seed, single_root=single_root)
    parse = parser.parse(sentence)
    trees = [heads for heads in all_heads(len(sentence)) if is_tree(heads, projective=True, single_root=single_root)]
    scores = {heads: by_definition(parser, sentence, heads) for heads in trees}
    assert all(parse.problem.score(heads) == score for heads, score in scores.items())
    assert parse.solution.score == parse.solution.bound == max(scores.values())
    zerogap.verify(parse.problem, parse.solution)


def test_scores_are_weights_of_keys(monkeypatch):
    sentence = Sentence({"form": ("u", "v", "w", "u", "v", "w"), "upos": ("A", "B", "A", "A", "B", "B")})
    encoded = FEATURES.encode(sentence.columns, 6)
    allowed = np.ones((7, 7), dtype=bool)
    for family in FAMILIES:
        listed = family_in(family, allowed)
        keys = factor_keys(FEATURES, encoded, listed)
        unique = np.unique(keys)
        model = part_model(FEATURES, unique, np.arange(1.0, len(unique) + 1))
        weight = dict(zip(model.keys.tolist(), (model.steps * model.unit).tolist(), strict=True))
        by_key = np.array([weight.get(key, 0.0) for key in keys.tolist()]).reshape(len(listed), -1).sum(axis=1)
        assert factor_scores(FEATURES, model, encoded, listed).tolist() == by_key.tolist()
        assert len(unique) > 1
        allowed[:, 0] = False
        np.fill_diagonal(allowed, False)
        sizes, arcs, scores = family_scores(FEATURES, model, encoded, family, allowed, single_root=True)
        used = np.flatnonzero(by_key)
        assert (scores.tolist(), arcs.tolist()) == (by_key[used].tolist(), listed.arcs_where(used)[1].tolist())
        assert sizes.tolist() == np.diff(listed.start)[used].tolist()
        with monkeypatch.context() as patch:
            patch.setattr("zerogap.dependency.factors.scoring.MOST_FACTORS", 1)
            with pytest.raises(InputError, match="more than 1 factors of the family"):
                family_scores(FEATURES, model, encoded, family, allowed, single_root=True)


def test_a_comb_is_known_by_the_order_of_its_words():
    features = PartFeatures(parse_part_templates("comb: each.upos"))

    def keys(tags: str) -> np.ndarray:
        columns = {"form": tuple(tags), "upos": tuple(tags)}
        return factor_keys(features, features.encode(columns, 5), family_in("comb", arcs_of(np.array([5, 5, 5, 5, 0]))))

    assert keys("ABABX").tolist() == keys("ABABY").tolist() != keys("AABBX").tolist()


def test_templates_of_factors_change_no_other_key():
    """Models that know nothing of factors have the keys that they had."""
    plain = PartFeatures(parse_part_templates([line for line in TEMPLATES.splitlines() if line.split(":")[0] in KINDS]))
    columns = {"form": ("u", "v", "w"), "upos": ("A", "B", "A")}
    heads = np.array([2, 0, 2])
    both = [keys_of_tree(features, features.encode(columns, 3), heads).tolist() for features in (plain, FEATURES)]
    assert both[0] == both[1]
    assert plain.templates == FEATURES.templates[: len(plain.templates)]


def treebank(count: int = 60) -> list[Sentence]:
    """Sentences whose verb has a subject and, across it, an object of the same kind: siblings that no adjacent pair shows."""
    rng = np.random.default_rng(5)
    found = []
    for i in range(count):
        noun = ("red", "blue")[i % 2]
        words, tags, heads = [noun, "runs", "to", noun], ["N", "V", "P", "N"], [2, 0, 4, 2]
        if rng.random() < 0.5:
            words, tags, heads = [*words, "of", "red"], [*tags, "P", "N"], [*heads, 6, 4 if noun == "blue" else 2]
        found.append(Sentence({"form": tuple(words), "upos": tuple(tags)}, tuple(heads), name=f"s{i}"))
    return found


@pytest.fixture(scope="module")
def backbone() -> Parser:
    return train_parser(treebank(), order="sibling", epochs=2, labels=False)


@pytest.fixture(scope="module")
def trained(backbone) -> FactorParser:
    return train(treebank(), backbone, factors=("siblings", "grandchildren", "comb"), epochs=3, development=treebank()[:20])


def test_training_learns_and_proves(trained):
    right = total = 0
    for sentence in treebank():
        parse = trained.parse(sentence)
        assert parse.solution.gap == 0
        assert parse.calls >= 1
        zerogap.verify(parse.problem, parse.solution)
        right += sum(a == b for a, b in zip(parse.heads, sentence.heads, strict=True))
        total += len(sentence)
    assert right == total
    assert trained.parser.model.unit == trained.parse(treebank()[0]).problem.resolution


def test_training_again_gives_the_same(backbone, trained):
    again = train(treebank(), backbone, factors=("siblings", "grandchildren", "comb"), epochs=3, development=treebank()[:20])
    assert np.array_equal(again.parser.model.keys, trained.parser.model.keys)
    assert np.array_equal(again.parser.model.steps, trained.parser.model.steps)


@pytest.mark.parametrize(("algorithm", "begin_with"), [("perceptron", "nothing"), ("mira", "nothing"), ("perceptron", "parser")])
def test_other_ways_to_train(backbone, tmp_path, algorithm, begin_with):
    (tmp_path / "p.txt").write_text("to 0.25: p[form=to] n; n -> p\n")
    found = []
    parser = train(
        treebank(30), backbone, factors=("tri-siblings", "great-grandchildren", tmp_path / "p.txt"), algorithm=algorithm, epochs=3,
        backbone_epochs=1, begin_with=begin_with, min_count=1, most_heads=2, most_features=400, report=found.append,
    )  # fmt: skip
    assert [(progress.stage, progress.epoch.number) for progress in found] == [("factors", 1), ("factors", 2), ("factors", 3)]
    assert parser.parser.model.n_weights <= 400
    parse = parser.parse(treebank()[0])
    zerogap.verify(parse.problem, parse.solution)


def test_grandsibling_backbone():
    backbone = train_parser(treebank(20), order="grandsibling", epochs=1, labels=False)
    parser = train(treebank(20), backbone, factors=("siblings",), epochs=1)
    sentence = treebank()[0]
    parse = parser.parse(sentence)
    zerogap.verify(parse.problem, parse.solution)
    plain = FactorParser(parser.parser, Factored(), None)
    assert plain.parse(sentence).solution.score == parser.parser.parse(sentence).solution.score


def test_files(trained, backbone, tmp_path):
    path = tmp_path / "m.npz"
    (tmp_path / "p.txt").write_text('x 0.25: o[form="("] ... c; c -> o\n')
    parser = FactorParser(trained.parser, Factored(("siblings",), read_factors([tmp_path / "p.txt"], treebank(2))[0].patterns), 3)
    parser.save(path)
    loaded = FactorParser.load(path)
    assert loaded.most_heads == 3
    assert loaded.factored.families == ("siblings",)
    assert loaded.factored.patterns.patterns == parser.factored.patterns.patterns
    sentence = treebank()[0]
    assert loaded.parse(sentence).solution.score == parser.parse(sentence).solution.score
    header, arrays = read_archive(path, "zerogap-factor-model", 1)
    for broken in ({"families": ["none"]}, {"families": 3}, {"patterns": ["no"]}, {"most_heads": 0}, {"templates": {}}):
        write_archive(path, header | broken, arrays)
        with pytest.raises(FormatError):
            FactorParser.load(path)
    backbone.save(path)
    with pytest.raises(FormatError, match="zerogap-factor-model"):
        FactorParser.load(path)


def test_candidates(backbone):
    sentence = treebank()[0]
    hashes = backbone.model.features.tokens.of(sentence.columns, len(sentence))
    assert likeliest_heads(backbone, hashes, None).sum() == len(sentence) ** 2
    for k in (1, 2, 3):
        allowed = likeliest_heads(backbone, hashes, k)
        assert set(allowed[:, 1:].sum(axis=0)) <= {k, k + 1}
        assert not allowed[:, 0].any()
        assert not allowed.diagonal().any()
        FactorParser(backbone, Factored(), k).parse(sentence)  # there is a tree among them


def test_what_is_refused(backbone, tmp_path):
    with pytest.raises(UnknownMethod, match="siblings"):
        train(treebank(5), backbone, factors=("sibling",))
    with pytest.raises(InputError, match="every one once"):
        train(treebank(5), backbone, factors=("siblings", "siblings"))
    with pytest.raises(UnknownMethod, match="begin_with"):
        train(treebank(5), backbone, begin_with="weights")
    with pytest.raises(UnknownMethod, match="algorithm"):
        train(treebank(5), backbone, algorithm="crf")
    with pytest.raises(InputError, match="most_heads is 0"):
        train(treebank(5), backbone, most_heads=0)
    with pytest.raises(InputError, match="epochs is -1"):
        train(treebank(5), backbone, epochs=-1)
    with pytest.raises(InputError, match="expected a projective Parser"):
        train(treebank(5), Parser("first", backbone.model, projective=False))
    (tmp_path / "p.txt").write_text("x: a[lemma=be]; root -> a\n")
    parser = FactorParser(backbone, read_factors([str(tmp_path / "p.txt")], treebank(2))[0], None)
    with pytest.raises(InputError, match="the patterns read lemma"):
        parser.parse(treebank()[0])


@pytest.mark.data
def test_a_treebank(data):
    """Few sentences: more right heads in those than the backbone has, every answer proven."""
    sentences = [record.sentence for record in read_conllu(data / "ud" / "en_ewt" / "train.conllu")][:40]
    backbone = train_parser(sentences, order="sibling", epochs=1, labels=False)
    parser = train(sentences, backbone, factors=("siblings", "grandchildren"), epochs=2, most_heads=4)
    right = [0, 0]
    for sentence in sentences:
        parse = parser.parse(sentence)
        assert parse.solution.gap == 0.0
        if len(sentence) < 25:
            zerogap.verify(parse.problem, parse.solution)
        for i, heads in enumerate((backbone.parse(sentence).heads, parse.heads)):
            right[i] += sum(a == b for a, b in zip(heads, sentence.heads, strict=True))
    assert right[1] > right[0]
