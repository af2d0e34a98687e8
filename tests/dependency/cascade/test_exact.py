"""Models whose larger parts only cost: how they are learned, and the best of all their trees."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import zerogap
from zerogap.dependency import train
from zerogap.dependency.candidate_arcs import candidates_of
from zerogap.dependency.cascade.exact import ExactCascade, ceilings_of, has_penalties_only
from zerogap.dependency.cascade.exact_search import best_under_penalties
from zerogap.dependency.scoring.sentence import arcs_under, block_under, every_arc
from zerogap.dependency.sentence import Sentence
from zerogap.errors import InputError
from zerogap.features.parts.learning import NO_CEILINGS, WeightTable
from zerogap.features.parts.model import PartModel
from zerogap.oracles.trees.grandsibling_marginals import max_marginals_of_candidates
from zerogap.testing.treebanks import treebank

pytestmark = pytest.mark.compiled


@pytest.fixture(scope="module")
def parser():
    return train(treebank(60), order="grandsibling", epochs=2, labels=False, threshold=0.0, penalties=1e-3)


def with_weights(parser, steps):
    """The same features with other weights; larger parts only cost."""
    model = parser.model
    steps = np.where(ceilings_of(model.features)[model.keys & 255] == 0.0, -np.abs(steps), steps).astype(np.int16)
    return replace(parser, model=PartModel(model.features, model.keys, steps, 1.0))


def test_larger_parts_only_cost(parser):
    model = parser.model
    is_larger = ceilings_of(model.features)[model.keys & 255] == 0.0
    assert has_penalties_only(model)
    assert (model.steps[is_larger] < 0).any()
    assert (model.steps[~is_larger] > 0).any()
    assert not has_penalties_only(train(treebank(60), order="grandsibling", epochs=2, labels=False, threshold=0.0).model)
    kinds = {template.kind for template in model.features.templates}
    assert {"arc", "between", "sibling", "stop", "grandparent", "grandsibling"} == kinds


def test_what_right_trees_have_costs_less(parser):
    more = train(treebank(60), order="grandsibling", epochs=2, labels=False, threshold=0.0, penalties=0.0)
    cost = [
        -sum(model.model.steps[ceilings_of(model.model.features)[model.model.keys & 255] == 0.0] * model.model.unit)
        for model in (parser, more)
    ]
    assert cost[0] < cost[1]


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


@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize(("margin", "step"), [(0.0, 0.0), (0.0, 0.5), (1.5, 1.0), (np.inf, 0.0)])
def test_the_trees_of_the_unpruned_parser(parser, single_root, margin, step):
    plain = replace(parser, single_root=single_root)
    check_trees(ExactCascade(plain, margin, step), plain)


@pytest.mark.parametrize("seed", range(8))
def test_the_same_tree_among_many_that_score_the_same(parser, seed):
    """Random weights of a few values: ties abound."""
    random = np.random.default_rng(seed)
    values = [[-2, -1, 1, 2], [-1, 1], [0, 1], [-3, -1, 0, 0, 0]][seed % 4]
    drawn = with_weights(parser, random.choice(values, len(parser.model.keys)))
    cascade = ExactCascade(drawn, float(seed % 3), float(seed % 2))
    for sentence in treebank(30, seed=10 + seed):
        found, wanted = cascade.parse(sentence), drawn.parse(sentence)
        assert (found.heads, found.solution.score) == (wanted.heads, wanted.solution.score)
        assert found.solution.status == "optimal"


@pytest.mark.parametrize("margin", [0.0, 2.0, 6.0])
def test_no_tree_with_an_arc_scores_more_than_its_bound(parser, margin):
    """Of arcs that are left; others are in no tree that scores as much as the best."""
    for seed in range(4):
        drawn = with_weights(parser, np.random.default_rng(seed).integers(-3, 4, len(parser.model.keys)))
        cascade, features = ExactCascade(drawn), drawn.model.features
        for sentence in treebank(15, seed=3 + seed):
            n = len(sentence)
            encoded = features.encode(sentence.columns, n)
            heads, left, bounds = np.empty(n, dtype=np.int64), np.empty((n + 1, n + 1), dtype=np.bool_), np.empty((n + 1, n + 1))
            best = best_under_penalties(encoded, features.plan, cascade.search._replace(margin=margin), heads, left, bounds)
            c = candidates_of(every_arc(n), grand=True)
            arcs = arcs_under(features, drawn.model, encoded, every_arc(n))
            block = block_under(features, drawn.model, encoded, arcs, c)
            score, wanted = max_marginals_of_candidates(c, block.scores, block.stops, single_root=True)
            assert best == score
            is_left = left[c.heads, c.modifiers]
            assert (bounds[c.heads, c.modifiers][is_left] >= wanted[is_left]).all()
            assert (wanted[~is_left] < score).all()


def test_what_is_refused(parser):
    model = parser.model
    other = replace(parser, model=PartModel(model.features, model.keys, -model.steps, model.unit))
    with pytest.raises(InputError, match="order 'grandsibling' whose larger parts may score more than 0"):
        ExactCascade(other)
    with pytest.raises(InputError, match="non-projective"):
        ExactCascade(replace(parser, projective=False))
    with pytest.raises(InputError, match="order 'first'"):
        ExactCascade(replace(parser, order="first"))
    for bad in (-1.0, np.nan):
        with pytest.raises(InputError, match="margin is"):
            ExactCascade(parser, bad)
        with pytest.raises(InputError, match="step is"):
            ExactCascade(parser, 1.0, bad)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"penalties": -1.0}, "penalties is -1.0"),
        ({"penalties": True}, "penalties is True"),
        ({"penalties": np.inf}, "penalties is inf"),
        ({"penalties": 1e-3, "order": "first"}, "with order 'first'"),
        ({"penalties": 1e-3, "algorithm": "bp"}, "algorithm 'bp'"),
        ({"penalties": 1e-3, "projective": False}, "projective=False"),
    ],
)
def test_what_training_refuses(options, message):
    with pytest.raises(InputError, match=message):
        train(treebank(5), **{"order": "grandsibling", "epochs": 1, **options})


KEYS = st.lists(st.tuples(st.integers(1, 6), st.sampled_from([-1.0, 1.0, 2.0])), min_size=1, max_size=12)


@given(st.lists(st.tuples(KEYS, st.sampled_from([-1.0, 0.5, 3.0]), st.sampled_from([0.25, 1.0])), max_size=5))
def test_steps_under_a_ceiling(steps):
    """Against weights in a dictionary; low bytes of 2 and 4 have ceilings."""
    ceilings = NO_CEILINGS.copy()
    ceilings[2], ceilings[4] = 0.0, 0.5
    table, weights, sums = WeightTable(), dict.fromkeys(range(1, 7), 0.0), dict.fromkeys(range(1, 7), 0.0)
    for changed, loss, most in steps:
        keys, signs = np.array([key + 256 * 7 for key, _ in changed]), np.array([sign for _, sign in changed])
        difference = dict.fromkeys(weights, 0.0)
        for key, sign in changed:
            difference[key] += sign
        margin = sum(weights[key] * amount for key, amount in difference.items())
        norm = sum(amount**2 for key, amount in difference.items() if not (amount > 0.0 and weights[key] >= ceilings[key]))
        step = most if loss < 0.0 else 0.0 if norm <= 0.0 or loss <= margin else min(most, (loss - margin) / norm)
        assert table.step(keys, signs, loss=loss, most=most, ceilings=ceilings) == pytest.approx(step)
        for key, amount in difference.items():
            weights[key] = min(weights[key] + step * amount, ceilings[key])
            sums[key] += weights[key]
        table.moment += 1.0
    if steps:
        means = {int(key) & 255: weight for key, weight in zip(*table.average(), strict=True)}
        for key in weights:
            # what was learned at one moment counts from the next on
            assert means.get(key, 0.0) == pytest.approx(sums[key] / len(steps))


def test_lifted_weights():
    table = WeightTable()
    table.step(np.array([257, 258, 259]), np.array([-1.0, -0.25, 1.0]), most=1.0)
    table.lift(np.array([257, 257, 258, 259, 260]), 0.5)
    assert dict(zip(*[part.tolist() for part in table.average()], strict=True)) == {257: 0.0, 258: 0.0, 259: 1.0}
    assert table.n_keys == 3
