"""The exact cascade: the trees of the unpruned parser, bounds that no tree exceeds, and what it refuses."""

from dataclasses import replace

import numpy as np
import pytest

import zerogap
from zerogap.baselines.brute import is_tree
from zerogap.dependency.candidate_arcs import candidates_of
from zerogap.dependency.cascade import bounded_cascade as exact_cascade
from zerogap.dependency.cascade.bounded_cascade import ExactCascade
from zerogap.dependency.cascade.core_rounds import is_projective_tree
from zerogap.dependency.cascade.passes import DICTIONARY, FIRST
from zerogap.dependency.scoring.bounds_offline import compute_bounds
from zerogap.dependency.scoring.sentence import arcs_under, block_under, every_arc
from zerogap.dependency.sentence import Sentence
from zerogap.dependency.training.cascade import with_cascade
from zerogap.dependency.training.learners import train
from zerogap.errors import InputError
from zerogap.features.parts.model import PartModel
from zerogap.oracles.trees.grandsibling_marginals import max_marginals_of_candidates

from .test_approximate import treebank


@pytest.fixture(scope="module")
def parser():
    data, held_out = treebank(60), treebank(20, seed=1)
    found = train(data, order="grandsibling", epochs=2, labels=False, threshold=0.0)
    found = with_cascade(found, data, held_out, kinds=(DICTIONARY, FIRST), epochs=1, error=0.1)
    return compute_bounds(found, data[:20])  # not all: then some bounds are floors


@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("many_words", [0, 100])  # passes propose, or scores of arcs
@pytest.mark.parametrize("step", [0.0, 2.0])
def test_the_trees_of_the_unpruned_parser(parser, single_root, many_words, step, monkeypatch):
    """Also if rounds go on until the bound is reached, or until nothing is left to add to the core."""
    monkeypatch.setattr(exact_cascade, "FEW_WORDS", 0)
    monkeypatch.setattr(exact_cascade, "FEW_ARCS", 0)
    monkeypatch.setattr(exact_cascade, "MANY_WORDS", many_words)
    monkeypatch.setattr(exact_cascade, "LIKELY_HEADS", 1)
    monkeypatch.setattr(exact_cascade, "STEP", step)
    one = replace(parser, single_root=single_root)
    check_trees(ExactCascade(one), replace(one, stored_bounds=None))


def check_trees(cascade, plain):
    """Those of a cascade are the best, and proven so."""
    empty, short = Sentence({"form": (), "upos": ()}), Sentence({"form": ("n0",), "upos": ("N",)})
    for sentence in [*treebank(40, seed=2), empty, short]:
        found, wanted = cascade.parse(sentence), plain.parse(sentence)
        assert found.heads == wanted.heads
        assert found.solution.status == "optimal"
        assert found.solution.score == wanted.solution.score
        if len(sentence) < 8:
            zerogap.verify(found.problem, found.solution)


@pytest.mark.parametrize("seed", range(6))
def test_the_same_tree_among_many_that_score_the_same(parser, seed, monkeypatch):
    """Random weights of a few values: ties abound."""
    monkeypatch.setattr(exact_cascade, "FEW_WORDS", 0)
    monkeypatch.setattr(exact_cascade, "FEW_ARCS", seed % 3)
    monkeypatch.setattr(exact_cascade, "MANY_WORDS", 100 * (seed % 2))
    random, model = np.random.default_rng(seed), parser.model
    steps = random.choice([-2, -1, 1, 2] if seed < 4 else [-1, 1], len(model.keys)).astype(np.int16)
    drawn = replace(parser, model=PartModel(model.features, model.keys, steps, 1.0), stored_bounds=None)
    cascade = ExactCascade(compute_bounds(drawn, treebank(60)[: 30 + 6 * seed]))
    for sentence in treebank(30, seed=10 + seed):
        found, wanted = cascade.parse(sentence), drawn.parse(sentence)
        assert (found.heads, found.solution.score) == (wanted.heads, wanted.solution.score)
        assert found.solution.status == "optimal"


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("negative", [True, False])
def test_no_tree_with_an_arc_scores_more_than_its_bound(parser, share, negative):
    """With any core; never lazy: if the core is everything and no weight is below 0, bounds are max-marginals."""
    if not negative:
        model = parser.model
        above = model.steps > 0
        clipped = PartModel(model.features, model.keys[above], model.steps[above], model.unit)
        parser = compute_bounds(replace(parser, model=clipped, stored_bounds=None), treebank(60))
    cascade, random = ExactCascade(parser), np.random.default_rng(0)
    features = parser.model.features
    for sentence in treebank(25, seed=3):
        n = len(sentence)
        hashes = features.tokens.of(sentence.columns, n)
        encoded = features.encode_hashes(hashes)
        arcs = arcs_under(features, parser.model, encoded, every_arc(n))
        core, left = every_arc(n) & (random.random((n + 1, n + 1)) < share), every_arc(n)
        best, bounds = cascade.bounded(hashes, encoded, arcs, core, left, -np.inf, 0, 1)
        c = candidates_of(every_arc(n), grand=True)
        block = block_under(features, parser.model, encoded, arcs, c)
        score, wanted = max_marginals_of_candidates(c, block.scores, block.stops, single_root=True)
        assert best >= score
        assert (bounds[c.heads, c.modifiers] >= wanted).all()
        assert left[c.heads, c.modifiers][wanted == score].all()
        if share == 1.0 and not negative:
            assert best == score
            assert np.array_equal(bounds[c.heads, c.modifiers], wanted)


@pytest.mark.parametrize(
    ("heads", "single_root", "is_one"),
    [
        ((), False, True), ((0,), True, True), ((2, 0, 2), True, True), ((0, 0), True, False), ((0, 0), False, True),
        ((2, 1), False, False), ((1,), False, False), ((3, 0, 2, 2), True, False), ((2, 0, 1), True, False), ((0, 4, 1, 1), True, False),
    ],
)  # fmt: skip
def test_trees(heads, single_root, is_one):
    assert bool(is_projective_tree(np.array(heads, dtype=np.int64), single_root)) == is_one
    assert is_tree(heads, projective=True, single_root=single_root) == is_one or not heads


def test_what_is_refused(parser):
    with pytest.raises(InputError, match="has no bounds"):
        ExactCascade(replace(parser, stored_bounds=None))
    with pytest.raises(InputError, match="no cascade"):
        ExactCascade(replace(parser, passes=()))
    with pytest.raises(InputError, match="order 'first'"):
        ExactCascade(replace(parser, order="first"))
