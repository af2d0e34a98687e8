"""The exact cascade: the trees of the unpruned parser, bounds that no tree exceeds, and what it refuses."""

from dataclasses import replace

import numpy as np
import pytest

import zerogap
from zerogap.dependency import exact_cascade
from zerogap.dependency.bound_notes import compute_bounds
from zerogap.dependency.candidates import candidates_of
from zerogap.dependency.cascade_passes import DICTIONARY, FIRST
from zerogap.dependency.cascade_training import with_cascade
from zerogap.dependency.exact_cascade import ExactCascade
from zerogap.dependency.scored import arcs_under, block_under, every_arc
from zerogap.dependency.sentences import Sentence
from zerogap.dependency.training import train
from zerogap.errors import InputError
from zerogap.oracles.grandsibling_marginals import max_marginals_of_candidates
from zerogap.relax.cascade import MARGIN, Rule

from .test_cascade import treebank


@pytest.fixture(scope="module")
def parser():
    data, held_out = treebank(60), treebank(20, seed=1)
    found = train(data, order="grandsibling", epochs=2, labels=False, threshold=0.0)
    found = with_cascade(found, data, held_out, kinds=(DICTIONARY, FIRST), epochs=1, error=0.1)
    return compute_bounds(found, data[:20])  # not all: then some bounds are floors


@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("margin", [0.0, -6.0])
def test_the_trees_of_the_unpruned_parser(parser, single_root, margin, monkeypatch):
    """Also with a core of one tree, and if rounds go on until the bound is reached."""
    monkeypatch.setattr(exact_cascade, "FEW_WORDS", 0)
    monkeypatch.setattr(exact_cascade, "FEW_ARCS", 0)
    monkeypatch.setattr(exact_cascade, "CORE", Rule(MARGIN, margin))
    one = replace(parser, single_root=single_root)
    cascade, plain = ExactCascade(one), replace(one, stored_bounds=None)
    empty, short = Sentence({"form": (), "upos": ()}), Sentence({"form": ("n0",), "upos": ("N",)})
    for sentence in [*treebank(40, seed=2), empty, short]:
        found, wanted = cascade.parse(sentence), plain.parse(sentence)
        assert found.heads == wanted.heads
        assert found.solution.status == "optimal"
        assert found.solution.score == wanted.solution.score
        if len(sentence) < 8:
            zerogap.verify(found.problem, found.solution)


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_no_tree_with_an_arc_scores_more_than_its_bound(parser, share):
    """With any core; never lazy: if the core is everything, bounds are max-marginals."""
    cascade, random = ExactCascade(parser), np.random.default_rng(0)
    features = parser.model.features
    for sentence in treebank(25, seed=3):
        n = len(sentence)
        encoded = features.encode(sentence.columns, n)
        arcs = arcs_under(features, parser.model, encoded, every_arc(n))
        core = every_arc(n) & (random.random((n + 1, n + 1)) < share)
        known = exact_cascade.nothing_known(n)
        if share > 0.0:  # what is known from a smaller core changes nothing
            cascade.marginals(encoded, arcs, core & (random.random((n + 1, n + 1)) < 0.5), known)
        _, best, bounds = cascade.marginals(encoded, arcs, core, known)
        c = candidates_of(every_arc(n), grand=True)
        block = block_under(features, parser.model, encoded, arcs, c)
        score, wanted = max_marginals_of_candidates(c, block.scores, block.stops, single_root=True)
        assert best >= score
        assert (bounds >= wanted).all()
        if share == 1.0:
            assert best == score
            assert np.array_equal(bounds, wanted)


def test_what_is_refused(parser):
    with pytest.raises(InputError, match="has no bounds"):
        ExactCascade(replace(parser, stored_bounds=None))
    with pytest.raises(InputError, match="without a first-order pass"):
        ExactCascade(replace(parser, passes=parser.passes[:1]))
    with pytest.raises(InputError, match="order 'first'"):
        ExactCascade(replace(parser, order="first"))
