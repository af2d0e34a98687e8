"""Cascades: the kernel against its definition, learning of passes, files, and what they refuse."""

from dataclasses import replace

import numpy as np
import pytest

import zerogap
from zerogap.archive import read_archive, write_archive
from zerogap.baselines.brute import all_heads, is_tree
from zerogap.dependency import train
from zerogap.dependency.cascade.approximate import Cascade
from zerogap.dependency.cascade.passes import (
    DICTIONARY,
    FIRST,
    KINDS,
    LAST,
    LOCAL,
    ROWS,
    SECOND,
    SHORT,
    VINE,
    Pass,
    marginals_of,
    places_of,
)
from zerogap.dependency.parser.parser import Parser
from zerogap.dependency.scoring.bounds_offline import compute_bounds
from zerogap.dependency.scoring.sentence import every_arc, keys_of_tree, score_of_tree
from zerogap.dependency.sentence import Sentence
from zerogap.dependency.training.cascade import narrowed, with_cascade
from zerogap.dependency.training.passes import adjacent, features_of
from zerogap.errors import FormatError, InputError, UnknownMethod
from zerogap.features.parts.keys import PartFeatures
from zerogap.features.parts.model import part_model
from zerogap.features.parts.templates import parse_part_templates
from zerogap.io.formats.conllu import read_conllu
from zerogap.relax.pruning import ALL, MARGIN, MEAN, Rule
from zerogap.testing.treebanks import treebank

pytestmark = pytest.mark.compiled

COLUMNS = frozenset({"form", "upos"})
THESIS = (DICTIONARY, VINE, FIRST, SECOND)


@pytest.fixture(scope="module")
def parsers():
    data, held_out = treebank(80), treebank(30, seed=1)
    return {order: train(data, order=order, epochs=2, labels=False, threshold=0.0) for order in ("first", "sibling", "grandsibling")}, (
        data,
        held_out,
    )


@pytest.mark.parametrize("order", ["first", "sibling", "grandsibling"])
@pytest.mark.parametrize("learner", ["crf", "filter"])
@pytest.mark.parametrize("rule", [MARGIN, MEAN])
def test_the_kernel_does_what_passes_say(parsers, order, learner, rule):
    trained, (data, held_out) = parsers
    kinds = THESIS[:3] if order == "first" else THESIS
    parser = with_cascade(trained[order], data, held_out, kinds=kinds, band=2, learner=learner, rule=rule, epochs=1, error=0.1)
    cascade, sentences = Cascade(parser), [*held_out, Sentence({"form": (), "upos": ()}), Sentence({"form": ("n0",), "upos": ("N",)})]
    heads, left = cascade.parsed(sentences)
    assert [len(found) for found in cascade.heads(sentences)] == [len(sentence) for sentence in sentences]
    at = 0
    for i, sentence in enumerate(sentences):
        n = len(sentence)
        hashes, allowed, counts = parser.model.features.tokens.of(sentence.columns, n), every_arc(n), []
        for one in parser.passes:
            allowed = one.narrowed(hashes, allowed, single_root=True)
            counts.append(int(allowed.sum()))
        assert left[i, : len(counts)].tolist() == counts
        found = heads[at : at + n]
        assert allowed[found, np.arange(1, n + 1)].all()
        problem = cascade.problem(sentence)
        if n:
            if order == "first":
                best = zerogap.dependency.decode(
                    zerogap.dependency.Problem(np.where(allowed, problem.arcs, -np.inf), projective=True)
                ).score
            else:
                best = parser.block(parser.model.features.encode_hashes(hashes), allowed).best(single_root=True)[1]
            assert problem.score(tuple(found.tolist())) == best
        at += n


@pytest.mark.parametrize("rule", [MARGIN, MEAN])
def test_a_rule_that_prunes_nothing(parsers, rule):
    trained, (data, held_out) = parsers
    parser = with_cascade(trained["sibling"], data, held_out, kinds=THESIS, band=2, epochs=1)
    open_ = replace(parser, passes=tuple(replace(one, rule=Rule(rule, -np.inf)) for one in parser.passes if one.kind != DICTIONARY))
    cascade = Cascade(open_)
    _, left = cascade.parsed(held_out)
    assert left[:, -1].tolist() == [len(sentence) ** 2 for sentence in held_out]
    for sentence in held_out:
        assert cascade.parse(sentence).solution.score == replace(parser, pruner=None).parse(sentence).solution.score


@pytest.mark.parametrize("kinds", [THESIS, (ROWS, FIRST, LAST)])
def test_a_parse_has_a_true_bound(parsers, kinds):
    trained, (data, held_out) = parsers
    parser = with_cascade(trained["grandsibling"], data, held_out, kinds=kinds, band=2, epochs=1, error=0.3)
    cascade = Cascade(parser)
    assert cascade.parse_together([]) == cascade.heads([]) == []
    for sentence, parse in zip(held_out[:8], cascade.parse_together(held_out[:8]), strict=True):
        best = replace(parser, pruner=None).parse(sentence).solution.score
        assert parse.solution.score <= best <= parse.solution.bound
        assert parse.heads == cascade.heads([sentence])[0]
        assert parse.solution.status == "feasible" or parse.solution.gap == 0.0
        zerogap.verify(parse.problem, parse.solution)


def test_files(parsers, tmp_path):
    trained, (data, held_out) = parsers
    parser = with_cascade(trained["sibling"], data, held_out, kinds=THESIS, band=2, epochs=1)
    path = tmp_path / "m.npz"
    parser.save(path)
    again = Parser.load(path)
    assert [(one.kind, one.rule, one.band) for one in again.passes] == [(one.kind, one.rule, one.band) for one in parser.passes]
    assert Cascade(again).heads(held_out) == Cascade(parser).heads(held_out)
    header, arrays = read_archive(path, "zerogap-dependency-model", 1)
    for damage in ([["vine", "margin", 1.0, 2]], [["wine", "margin", -1.0, 2]], [["vine", "margin", -1.0, -2]], "vine", [1]):
        write_archive(path, {**header, "passes": damage}, arrays)
        with pytest.raises(FormatError):
            Parser.load(path)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in (ROWS, LAST)])
@pytest.mark.parametrize("band", [0, 1, 50])
def test_the_best_tree_is_always_kept(kind, band):
    """Whatever the band, and under a threshold that prunes everything else."""
    data = treebank(20)
    features = features_of(kind, COLUMNS)
    keys = np.unique(np.concatenate([keys_of_tree(features, features.encode(s.columns, len(s)), np.array(s.heads)) for s in data]))
    model = part_model(features, keys, np.random.default_rng(0).normal(size=len(keys)))
    for rule in (Rule(MARGIN, 0.0), Rule(MEAN, 1.0), ALL):
        one = Pass(kind, model, rule, band)
        for sentence, left in zip(data, narrowed(one, data, [every_arc(len(s)) for s in data], single_root=True), strict=True):
            scores = np.where(left, 0.0, -np.inf)
            heads = zerogap.dependency.decode(zerogap.dependency.Problem(scores, projective=True)).structure
            assert len(heads) == len(sentence)
            if rule is ALL and kind != DICTIONARY:
                assert (left == every_arc(len(sentence))).all()


@pytest.mark.parametrize("band", [0, 1, 50])
@pytest.mark.parametrize("rule", [Rule(MARGIN, 0.0), Rule(MEAN, 1.0)])
def test_a_cascade_of_any_band_that_prunes_everything(parsers, band, rule):
    """One tree is left, and it is the answer."""
    trained, (data, held_out) = parsers
    parser = with_cascade(trained["grandsibling"], data, held_out, kinds=THESIS, band=band, epochs=1)
    cascade = Cascade(replace(parser, passes=tuple(one if one.kind == DICTIONARY else replace(one, rule=rule) for one in parser.passes)))
    found, (_, left) = cascade.parse_together(held_out), cascade.parsed(held_out)
    for sentence, parse, after in zip(held_out, found, left[:, -1].tolist(), strict=True):
        assert is_tree(parse.heads, projective=True, single_root=True)
        assert after >= len(sentence)
        assert parse.solution.score <= parse.solution.bound
        allowed = every_arc(len(sentence))
        for one in cascade.passes:
            allowed = one.narrowed(cascade.hashes([sentence])[0], allowed)
        assert after == allowed.sum()


@pytest.mark.parametrize("band", [-1, True, 1.5])
def test_bands_that_are_none(parsers, band):
    trained, (data, held_out) = parsers
    with pytest.raises(InputError, match=f"band is {band}: expected a width of 0 or more"):
        with_cascade(trained["first"], data, held_out, band=band)


def test_indices_of_a_band():
    """Section 8.3.3: short arcs stand for themselves, long ones for all from their side."""
    places = places_of(6, 2)
    n_near = 2 * 7 * 3
    assert places[0, 4] == n_near + 4
    assert places[1, 3] == (0 * 7 + 1) * 3 + 2
    assert places[5, 4] == (1 * 7 + 5) * 3 + 1
    assert places[1, 5] == places[2, 5] == n_near + 7 + 5
    assert places[6, 2] == places[5, 2] == n_near + 2 * 7 + 2


def test_modifiers_before():
    assert adjacent(np.array([2, 0, 2, 2, 4])) == [2, 0, 2, 3, 4]
    assert adjacent(np.array([3, 3, 0])) == [2, 3, 0]


def test_marginals_without_trees(parsers):
    """short and local compare the indices of a word, whatever the other words choose."""
    data = treebank(5)
    for kind in (SHORT, LOCAL):
        features = features_of(kind, COLUMNS)
        keys = np.unique(np.concatenate([keys_of_tree(features, features.encode(s.columns, len(s)), np.array(s.heads)) for s in data]))
        model = part_model(features, keys, np.random.default_rng(0).normal(size=len(keys)))
        for sentence in data:
            n = len(sentence)
            best, values = marginals_of(
                kind, features, model, features.encode(sentence.columns, n), every_arc(n), 2, single_root=True
            )  # fmt: skip
            assert best == 0.0
            assert values.max() == 0.0
            words = values[places_of(n, 2)] if kind == SHORT else values
            assert (np.where(every_arc(n), words, -np.inf).max(axis=0)[1:] == 0.0).all()


@pytest.mark.parametrize("order", ["sibling", "grandsibling"])
@pytest.mark.parametrize("single_root", [True, False])
def test_words_with_one_head_left(parsers, order, single_root):
    """What passes over them is not scored, and no tree has it."""
    parser, random = parsers[0][order], np.random.default_rng(0)
    features = parser.model.features
    for sentence in [one for one in treebank(40, seed=4) if 2 <= len(one) <= 4]:
        n = len(sentence)
        encoded = features.encode(sentence.columns, n)
        trees = [heads for heads in all_heads(n) if is_tree(heads, projective=True, single_root=single_root)]
        kept = trees[int(random.integers(len(trees)))]
        allowed = every_arc(n) & (random.random((n + 1, n + 1)) < 0.3)
        allowed[kept, np.arange(1, n + 1)] = True
        left = [np.array(heads) for heads in trees if allowed[heads, np.arange(1, n + 1)].all()]
        best = parser.block(encoded, allowed).best(single_root=single_root)[1]
        assert best == max(score_of_tree(features, parser.model, encoded, heads) for heads in left)


def test_passes_that_read_other_columns(parsers):
    """Models of one cascade may have other features: they read other columns of tokens, and do what they do alone."""
    trained, (data, held_out) = parsers
    tagged, given = ([replace(one, columns={**one.columns, "xpos": one.columns["upos"]}) for one in some] for some in (data, held_out))
    other = train(tagged, order="first", epochs=1, labels=False)
    coarse = with_cascade(other, tagged, given, kinds=(DICTIONARY, FIRST), epochs=1, error=0.3)
    mixed = replace(trained["grandsibling"], passes=coarse.passes)
    cascade = Cascade(compute_bounds(mixed, tagged))
    assert set(cascade.columns) == {"form", "upos", "xpos"}
    _, left = cascade.parsed(given)
    for i, sentence in enumerate(given):
        allowed = every_arc(len(sentence))
        for one in coarse.passes:
            allowed = one.narrowed(one.model.features.tokens.of(sentence.columns, len(sentence)), allowed)
        assert left[i, -1] == allowed.sum()
    with pytest.raises(InputError, match="the model reads"):
        cascade.parsed(held_out)


def test_what_is_refused(parsers):
    trained, (data, held_out) = parsers
    parser = trained["sibling"]
    with pytest.raises(InputError, match="has no cascade: expected"):
        Cascade(parser)
    with pytest.raises(InputError, match=r"order 'grandparent': expected a projective one"):
        Cascade(train(data[:5], order="grandparent", epochs=1, labels=False))
    with pytest.raises(InputError, match="kind is 'wine'"):
        Pass("wine", parser.model)
    with pytest.raises(InputError, match=r"a pass of kind 'first' has the template 'sibling: .*': expected arc, between"):
        Pass(FIRST, parser.model)
    with pytest.raises(InputError, match=r"the template 'outer: "):
        Pass(FIRST, part_model(PartFeatures(parse_part_templates("outer: mod.upos")), np.zeros(0, dtype=np.int64), np.zeros(0)))
    with pytest.raises(InputError, match="band is -1: expected a width"):
        Pass(VINE, part_model(features_of(VINE, COLUMNS), np.zeros(0, dtype=np.int64), np.zeros(0)), ALL, -1)
    with pytest.raises(UnknownMethod, match="Did you mean 'filter'"):
        with_cascade(parser, data, held_out, learner="filters")
    with pytest.raises(UnknownMethod, match="rule 'margins'"):
        with_cascade(parser, data, held_out, rule="margins")
    with pytest.raises(InputError, match="error is 2"):
        with_cascade(parser, data, held_out, kinds=THESIS, error=2 * 23 / 4, epochs=0)
    wrong = [with_cascade(parser, data, held_out, kinds=(FIRST, VINE), epochs=0, error=0.1)]
    with pytest.raises(InputError, match=r"has the passes first, vine: expected some of dictionary, rows or vine, first"):
        Cascade(wrong[0])


@pytest.mark.data
def test_a_treebank(data):
    """A cascade learned on few sentences prunes most arcs and loses little."""
    read = [record.sentence for record in read_conllu(data / "ud" / "en_ewt" / "dev.conllu")]
    read = [Sentence({name: s.columns[name] for name in ("form", "upos", "xpos")}, s.heads, s.labels, s.name) for s in read if len(s)]
    learned, held_out, test = read[:500], read[500:900], read[900:1200]
    parser = train(learned, order="grandsibling", epochs=3, labels=False)
    fast = Cascade(with_cascade(parser, learned, held_out, epochs=2))
    words = sum(map(len, test))
    found = sum(a == b for heads, s in zip(fast.heads(test), test, strict=True) for a, b in zip(heads, s.heads, strict=True))
    slow = sum(a == b for s in test for a, b in zip(parser.parse(s).heads, s.heads, strict=True))
    _, left = fast.parsed(test)
    assert found >= slow - 0.01 * words
    assert left[:, -1].sum() < 0.2 * sum(len(s) ** 2 for s in test)
