"""Siblings and grandparents by classes of tokens: never below their scores, and the scores if no weight is below 0."""

from dataclasses import replace

import numpy as np
import pytest

from zerogap.dependency.cascade.bounded_cascade import ExactCascade
from zerogap.dependency.cascade.triple_scores import fill_triples
from zerogap.dependency.cascade.value_classes import find_classes, readings_of
from zerogap.dependency.scoring.bounds_offline import compute_bounds
from zerogap.dependency.scoring.parts import GRANDPARENT, SIBLING, crosses
from zerogap.dependency.scoring.sentence import every_arc
from zerogap.dependency.scoring.single_parts import sentence_parts
from zerogap.dependency.sentence import Sentence
from zerogap.features.parts.model import PartModel, cells_of_kinds
from zerogap.problems.dependency.parts import meaning

from .test_approximate import treebank
from .test_bounded_cascade import parser  # noqa: F401  # a fixture

EMPTY, SHORT = Sentence({"form": (), "upos": ()}), Sentence({"form": ("n0",), "upos": ("N",)})
SENTENCES = [*treebank(15, seed=3), EMPTY, SHORT]


def without_negative(given):
    """The parser without weights below 0."""
    model = given.model
    above = model.steps > 0
    return replace(given, model=PartModel(model.features, model.keys[above], model.steps[above], model.unit), stored_bounds=None)


def classes_of(features, sentence):
    n, readings = len(sentence), readings_of(features)
    classes, members = np.empty((2, len(readings.start) - 1, n + 2), dtype=np.int64)
    counts = np.empty((len(readings.start) - 1, 2), dtype=np.int64)
    find_classes(features.tokens.of(sentence.columns, n), readings.start, readings.terms, classes, members, counts)
    return readings.of_role, classes, members, counts


def filled(bounded, sentence, name):
    """(h, m, third) as `fill_triples` finds them."""
    n, model, bounds = len(sentence), bounded.model, bounded.bounds
    kind = {"siblings": SIBLING, "grandparents": GRANDPARENT}[name]
    kind_start, relation, _, templates, codes = model.features.plan
    found = np.zeros((n + 1, n + 1, n + 1))
    fill_triples(
        kind, model.unit, model.features.encode(sentence.columns, n)[0], kind_start, relation, templates, codes,
        *cells_of_kinds(model, [name[:-1]]), *cells_of_kinds(bounds.table, [name[:-1]]),
        bounds.floors.astype(np.int64), ExactCascade(bounded).missing,
        *classes_of(model.features, sentence), found,
    )  # fmt: skip
    return found


def scored(given, sentence, name):
    """Parts that projective trees can have: heads, modifiers, third tokens, and their scores."""
    n = len(sentence)
    parts = sentence_parts(given, sentence, every_arc(n))
    a, b, m = np.nonzero(meaning(name, n))
    if name == "siblings":
        h, third = a, b
        scores = parts.scores(name, h, third, m) + np.where(h == third, parts.alone[h, (m > h).astype(int)], 0.0)
        return h, m, third, scores
    possible = np.array([not crosses(g, h, m) for g, h, m in zip(a, b, m, strict=True)], dtype=np.bool_)
    g, h, m = a[possible], b[possible], m[possible]
    return h, m, g, parts.scores(name, g, h, m)


@pytest.mark.parametrize("name", ["siblings", "grandparents"])
@pytest.mark.parametrize("share", [20, 60])  # of the training sentences: if there are few, some bounds are floors
def test_never_below_the_scores(parser, name, share):  # noqa: F811
    """And never above what they are without the weights below 0."""
    bounded = compute_bounds(replace(parser, stored_bounds=None), treebank(60)[:share])
    for sentence in SENTENCES:
        found = filled(bounded, sentence, name)
        h, m, third, scores = scored(bounded, sentence, name)
        most = scored(without_negative(bounded), sentence, name)[3]
        assert (found[h, m, third] >= scores).all()
        assert (found[h, m, third] <= most).all()


@pytest.mark.parametrize("name", ["siblings", "grandparents"])
def test_scores_if_no_weight_is_below_0(parser, name):  # noqa: F811
    bounded = compute_bounds(without_negative(parser), treebank(60))
    for sentence in SENTENCES:
        h, m, third, scores = scored(bounded, sentence, name)
        assert np.array_equal(filled(bounded, sentence, name)[h, m, third], scores)


def test_classes(parser):  # noqa: F811
    """Two tokens are of one class if a reading has the same values of both."""
    features = parser.model.features
    readings = readings_of(features)
    for sentence in SENTENCES:
        n = len(sentence)
        _, classes, members, counts = classes_of(features, sentence)
        hashes = features.tokens.of(sentence.columns, n)
        pad = (len(hashes) - n - 2) // 4
        rows = [*range(pad, pad + n + 1), len(hashes) - 1 - pad]
        for r, (begin, end) in enumerate(zip(readings.start, readings.start[1:], strict=False)):
            values = [tuple(hashes[row + offset, attribute] for attribute, offset in readings.terms[begin:end]) for row in rows]
            for token, value in enumerate(values):
                assert [other == value for other in values] == (classes[r] == classes[r, token]).tolist()
            assert counts[r].tolist() == [len(set(values[:-1])), len(set(values))]
            assert classes[r, members[r, : counts[r, 1]]].tolist() == list(range(counts[r, 1]))
