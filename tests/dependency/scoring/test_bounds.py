"""Bounds on the scores of larger parts: never below a score, as low as templates allow, and kept with the model."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zerogap.archive import read_archive, write_archive
from zerogap.baselines.brute import all_heads, is_tree
from zerogap.dependency import train
from zerogap.dependency.parser.parser import Parser
from zerogap.dependency.scoring.bounds import KNOWN, ROLES, check_bounds, lazy_problem, score_bounds
from zerogap.dependency.scoring.bounds_offline import compute_bounds, weight_bounds
from zerogap.dependency.scoring.sentence import every_arc, keys_of_tree, score_of_tree
from zerogap.dependency.scoring.single_parts import sentence_parts
from zerogap.dependency.sentence import Sentence
from zerogap.errors import FormatError, InputError, ScoreShapeError, VerificationError
from zerogap.features.parts.bounds import StoredBounds, part_sums
from zerogap.features.parts.keys import PartFeatures
from zerogap.features.parts.model import PartModel, part_model
from zerogap.features.parts.templates import KINDS as KIND_ROLES
from zerogap.features.parts.templates import parse_part_templates
from zerogap.io.formats.conllu import read_conllu
from zerogap.problems.dependency.parts import allowed_parts, meaning, parts_of_tree

pytestmark = pytest.mark.compiled

# some templates do not read all roles of their parts
TEMPLATES = """
arc: head.form+mod.form
arc: head.upos+mod.upos[1]+distance
sibling: head.upos+sib.form+mod.upos
sibling: sib.upos+mod.upos+distance
sibling: head.form+mod.upos[1]+distance
sibling: head.upos+sib.upos[-1]
sibling: sib.form
sibling: sib.upos
stop: head.upos+sib.upos
grandparent: grand.form+head.upos+mod.upos[-1]
grandparent: grand.upos+mod.upos
grandparent: head.form+mod.upos
grandparent: grand.upos[1]+head.upos
grandsibling: grand.upos+head.upos+sib.upos+mod.form
grandsibling: grand.form+mod.upos
grandsibling: head.upos+sib.form
grandsibling: bias
"""
FEATURES = PartFeatures(parse_part_templates(TEMPLATES))
OF_ORDER = {"sibling": ("arc", "sibling", "stop"), "grandparent": ("arc", "grandparent"), "grandsibling": None}


def features_of(order):
    return PartFeatures(tuple(t for t in FEATURES.templates if OF_ORDER[order] is None or t.kind in OF_ORDER[order]))


@st.composite
def sentences(draw, max_words=6, min_words=0):
    n = draw(st.integers(min_words, max_words))
    columns = {
        "form": tuple(draw(st.lists(st.sampled_from("abc"), min_size=n, max_size=n))),
        "upos": tuple(draw(st.lists(st.sampled_from("NVP"), min_size=n, max_size=n))),
    }
    return Sentence(columns, random_tree(n, draw(st.integers(0, 2**32 - 1))))


def random_tree(n, seed):
    """One root, crossing arcs and all."""
    random = np.random.default_rng(seed)
    order = random.permutation(n) + 1
    heads = [0] * n
    for i in range(1, n):
        heads[order[i] - 1] = int(order[random.integers(i)])
    return tuple(heads)


def trained(order, examples, seed, **options):
    """A parser whose weights are random, of features of the trees of examples."""
    features = features_of(order)
    found = [keys_of_tree(features, features.encode(s.columns, len(s)), np.array(s.heads, dtype=np.int64)) for s in examples]
    keys = np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *found]))
    weights = np.random.default_rng(seed).integers(-4, 5, size=len(keys)) / 4.0
    return Parser(order, part_model(features, keys, weights), projective=False, **options)


def allowed_arcs(n, seed):
    return every_arc(n) if seed % 3 == 0 else every_arc(n) & (np.random.default_rng(seed).random((n + 1, n + 1)) < 0.6)


def parts_and_scores(problem, name, allowed):
    n = problem.n_words
    index = np.nonzero(meaning(name, n) & allowed_parts(name, allowed))
    return index, problem.parts[name].at(*index)


ORDERS = st.sampled_from(list(OF_ORDER))
SEEDS = st.integers(0, 2**32 - 1)


@settings(max_examples=100)
@given(st.lists(sentences(), min_size=1, max_size=4), sentences(), ORDERS, SEEDS)
def test_no_score_is_above_a_bound(examples, sentence, order, seed):
    parser = compute_bounds(trained(order, examples, seed), examples)
    assert parser.bounds.coverage == 1.0
    assert not parser.bounds.floors.any()
    allowed = allowed_arcs(len(sentence), seed)
    problem, _ = lazy_problem(parser, sentence, allowed=allowed)
    bounds = score_bounds(parser, sentence, allowed=allowed, triples=True)
    for name, known in KNOWN.items():
        given = getattr(bounds, name)
        assert (given is None) == (name not in problem.parts)
        if given is None:
            continue
        index, scores = parts_and_scores(problem, name, allowed)
        for attribute, (roles, _) in known.items():
            at = tuple(index[ROLES[name].index(role)] for role in roles)
            assert (getattr(given, attribute)[at] >= scores).all()
            assert np.isfinite(getattr(given, attribute)[at]).all()
    check_bounds(parser, sentence, allowed=allowed)


@settings(max_examples=60)
@given(sentences(max_words=5), st.lists(sentences(max_words=5), max_size=2), ORDERS, SEEDS)
def test_a_lazy_problem_scores_trees_as_the_model_does(sentence, others, order, seed):
    parser = compute_bounds(trained(order, [sentence, *others], seed), [sentence])
    problem, _ = lazy_problem(parser, sentence)
    n = len(sentence)
    encoded = parser.model.features.encode(sentence.columns, n)
    for tree in [tree for tree in all_heads(n) if is_tree(tree)][::7] if n else []:
        expected = score_of_tree(parser.model.features, parser.model, encoded, np.array(tree, dtype=np.int64))
        assert problem.score(tree) == expected == parser.problem(sentence).score(tree)


def read_by(sentence, template, part, roles):
    """What a template reads of some tokens of a part, as texts; a sibling that is the head is none."""

    def text(role, attribute, offset):
        at = part[role] + offset
        if role == "sib" and part["sib"] == part["head"]:
            return "none"
        outside = "before" if at < 0 else "root" if at == 0 else "after" if at > len(sentence) else None
        return outside or attribute.of(sentence.columns[attribute.column][at - 1])

    return tuple(text(*term) for term in template.terms if term[0] in roles)


def directions(part, roles):
    arcs = [("grand", "head")] * ("grand" in roles) + [("head", "mod")] * bool({"mod", "sib"} & set(roles))
    return tuple(part[b] > part[a] for a, b in arcs)


def largest_weights(parser, examples, name, roles, *, later=False):
    """By template and what is known of some tokens: the largest weight of a feature of the trees of examples, and 0."""
    features = parser.model.features
    largest = {}
    for sentence in examples:
        parts = sentence_parts(parser, sentence)
        for index in dict(parts_of_tree(sentence.heads, [name]))[name]:
            part = dict(zip(ROLES[name], index, strict=True))
            for t, template in of_kind(features, name):
                if later and part["sib"] == part["head"] and any(role == "sib" for role, _, _ in template.terms):
                    continue
                places = parts.places(name, *(np.array([token]) for token in index))
                weight = part_sums(features, parts.partial, parts.table, np.array([t]), *places)[0] * parser.model.unit
                key = (t, directions(part, roles), read_by(sentence, template, part, roles))
                largest[key] = max(largest.get(key, 0.0), weight)
    return largest


def of_kind(features, name):
    found = [(t, features.templates[low - 1]) for t, low in enumerate(features.plan.low_bytes.tolist())]
    return [(t, template) for t, template in found if f"{template.kind}s" == name]


@settings(max_examples=80)
@given(
    st.lists(sentences(min_words=2), min_size=1, max_size=4), sentences(min_words=2, max_words=5), SEEDS,
    st.sampled_from([(name, attribute) for name, known in KNOWN.items() for attribute in known]),
)  # fmt: skip
def test_bounds_are_as_low_as_templates_allow(examples, sentence, seed, of):
    name, attribute = of
    parser = compute_bounds(trained("grandsibling", examples, seed), examples)
    bounds = getattr(getattr(score_bounds(parser, sentence, triples=True), name), attribute)
    roles = KNOWN[name][attribute][0]
    with_first = attribute == "over_siblings"  # of parts without a sibling the score is known
    largest = largest_weights(parser, examples, name, roles, later=with_first)
    parts = sentence_parts(parser, sentence)
    for index in np.argwhere(meaning(name, len(sentence))).tolist():
        part = dict(zip(ROLES[name], index, strict=True))
        at = tuple(part[role] for role in roles)
        expected = sum(
            largest.get((t, directions(part, roles), read_by(sentence, template, part, roles)), 0.0)
            for t, template in of_kind(parser.model.features, name)
        )
        if with_first:
            first = parts.scores(name, *(np.array([part["head" if role == "sib" else role]]) for role in ROLES[name]))[0]
            expected = max(first, expected) if abs(part["head"] - part["mod"]) > 1 else first
        if name == "siblings" and part["sib"] == part["head"] and not with_first:
            assert bounds[at] >= expected - parts.alone[part["head"], int(part["mod"] > part["head"])]  # the larger of two sides
        else:
            assert bounds[at] == expected


@settings(max_examples=60)
@given(st.lists(sentences(), min_size=1, max_size=3), st.lists(sentences(), min_size=1, max_size=2), sentences(), ORDERS, SEEDS)
def test_weights_that_were_never_met_are_covered(examples, unknown, sentence, order, seed):
    parser = compute_bounds(trained(order, [*examples, *unknown], seed), examples)
    full = compute_bounds(parser, [*examples, *unknown])
    assert full.bounds.coverage == 1.0
    assert parser.bounds.n_weights == full.bounds.n_weights
    assert (parser.bounds.coverage == 1.0) == (not parser.bounds.floors.any())
    for other in [sentence, *unknown]:
        check_bounds(parser, other)


@settings(max_examples=30)
@given(st.lists(sentences(max_words=5), min_size=1, max_size=3), ORDERS, SEEDS)
def test_sentences_without_trees_have_the_weights_as_well(examples, order, seed):
    parser = trained(order, examples, seed)
    bare = [Sentence(sentence.columns) for sentence in examples]
    with_trees, without_trees = weight_bounds(parser, examples), weight_bounds(parser, bare)
    assert without_trees.coverage == 1.0
    assert np.array_equal(with_trees.table.keys, without_trees.table.keys)
    assert np.array_equal(with_trees.table.steps, without_trees.table.steps)


def example(form, upos, heads):
    return Sentence({"form": tuple(form), "upos": tuple(upos)}, heads)


EXAMPLES = [example("abcab", "NVPNV", (2, 0, 2, 3, 2)), example("bca", "VNP", (2, 0, 2)), example("", "", ())]


def test_a_bound_that_is_too_low_is_found():
    parser = compute_bounds(trained("grandsibling", EXAMPLES, 1), EXAMPLES)
    assert check_bounds(parser, EXAMPLES[0]) > 0
    table = parser.bounds.table
    for place in range(table.n_weights):
        steps = table.steps.copy()
        steps[place] -= 1
        kept = steps > 0
        lower = PartModel(table.features, table.keys[kept], steps[kept], table.unit)
        wrong = replace(parser, stored_bounds=StoredBounds(parser.model, {}, found=[replace(parser.bounds, table=lower)]))
        template = table.features.templates[(table.keys[place] & 255) - 1]
        message = first_violation(wrong)
        if message is None:  # a bound over siblings that no sentence has, as the template reads none
            assert "sib" in KIND_ROLES[template.kind]
            assert all(role != "sib" for role, _, _ in template.terms)
        else:
            assert f"'{template.kind}: {template.text}'" in message
            assert re.match(r"(siblings|grandparents|grandsiblings)\[\d, \d, \d(, \d)?\]: ", message)


def first_violation(parser):
    for sentence in EXAMPLES:
        try:
            check_bounds(parser, sentence)
        except VerificationError as error:
            return str(error)
    return None


def test_progress_is_reported():
    parser = trained("grandsibling", EXAMPLES, 2)
    seen = []
    bounds = weight_bounds(parser, EXAMPLES, report=seen.append)
    assert [progress.done for progress in seen] == [1, 2]  # the last sentence has nothing that was not met
    assert seen[-1].stage == "trees"
    assert seen[-1].met == seen[-1].weights == bounds.n_weights
    seen.clear()
    weight_bounds(trained("grandsibling", EXAMPLES, 2), EXAMPLES[1:], report=seen.append)
    assert {progress.stage for progress in seen} == {"trees", "candidates"}
    assert seen[-1].met < seen[-1].weights


def test_bounds_are_kept_with_the_model(tmp_path):
    parser = compute_bounds(trained("grandsibling", EXAMPLES, 3), EXAMPLES[1:])
    parser.save(tmp_path / "with.npz")
    again = Parser.load(tmp_path / "with.npz")
    assert not again.stored_bounds.found  # not before they are asked for
    assert again.bounds.n_met == parser.bounds.n_met < parser.bounds.n_weights
    assert np.array_equal(again.bounds.floors, parser.bounds.floors)
    for name, known in KNOWN.items():
        for attribute in known:
            before, after = (getattr(getattr(score_bounds(p, EXAMPLES[0], triples=True), name), attribute) for p in (parser, again))
            assert np.array_equal(before, after)
    again.save(tmp_path / "again.npz")
    assert Parser.load(tmp_path / "again.npz").bounds.n_met == parser.bounds.n_met


def test_models_without_bounds_say_what_to_do(tmp_path):
    trained("sibling", EXAMPLES, 4).save(tmp_path / "without.npz")
    parser = Parser.load(tmp_path / "without.npz")
    assert parser.bounds is None
    for function in (score_bounds, check_bounds, lazy_problem):
        with pytest.raises(InputError, match=r"no bounds.*--bounds.*compute_bounds\(parser, sentences\)"):
            function(parser, EXAMPLES[0])
    assert score_bounds(compute_bounds(parser, EXAMPLES), EXAMPLES[0]).grandparents is None


def test_other_weights_have_no_bounds(tmp_path):
    parser = compute_bounds(trained("sibling", EXAMPLES, 5), EXAMPLES)
    assert parser.described(name="x").bounds is parser.bounds
    assert parser.compact(trees=5, labels=1, pruner=1).bounds is None
    with pytest.raises(InputError, match="of another model"):
        replace(parser, model=trained("sibling", EXAMPLES, 6).model)
    parser.save(tmp_path / "model.npz")
    trained("sibling", EXAMPLES, 6).save(tmp_path / "other.npz")
    header, arrays = read_archive(tmp_path / "model.npz", "zerogap-dependency-model", 1)
    other = read_archive(tmp_path / "other.npz", "zerogap-dependency-model", 1)[1]
    write_archive(tmp_path / "mixed.npz", header, arrays | other)
    with pytest.raises(FormatError, match="of other weights"):
        score_bounds(Parser.load(tmp_path / "mixed.npz"), EXAMPLES[0])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"bounds_steps": np.full((2, 3), np.nan)}, "expected bytes"),
        ({"bounds_floors": np.array([np.inf] * len(FEATURES.templates))}, "floors are float64"),
        ({"bounds_floors": np.zeros(3, dtype=np.int16)}, "3 floors"),
        ({"bounds_floors": np.full(len(FEATURES.templates), -1, dtype=np.int16)}, "below 0"),
        ({"bounds_floors": None}, "floors are missing"),
        ({"bounds_counts": None}, "counts are None"),
        ({"bounds_counts": np.array([1, 2, 3])}, "counts are"),
        ({"bounds_keys": None}, "no weights of the bounds"),
        ({"bounds_unit": np.array(np.inf)}, "expected a power of two"),
        ({"bounds_unit": np.array(2.0)}, "multiples of 2.0"),
        ("steps", "below 0"),
    ],
)
def test_damaged_bounds_are_refused(tmp_path, change, message):
    compute_bounds(trained("grandsibling", EXAMPLES, 7), EXAMPLES).save(tmp_path / "model.npz")
    header, arrays = read_archive(tmp_path / "model.npz", "zerogap-dependency-model", 1)
    if change == "steps":
        arrays["bounds_steps"][1] |= 128  # the sign
    else:
        arrays = {name: array for name, array in (arrays | change).items() if array is not None}
    write_archive(tmp_path / "damaged.npz", header, arrays)
    with pytest.raises(FormatError, match=message):
        score_bounds(Parser.load(tmp_path / "damaged.npz"), EXAMPLES[0])


def test_bad_input_is_named():
    parser = compute_bounds(trained("grandsibling", EXAMPLES, 8), EXAMPLES)
    with pytest.raises(ScoreShapeError, match=r"\(2, 2\): expected \(6, 6\)"):
        score_bounds(parser, EXAMPLES[0], allowed=np.ones((2, 2), dtype=np.bool_))
    with pytest.raises(InputError, match="columns"):
        score_bounds(parser, Sentence({"form": ("a",)}))
    with pytest.raises(InputError, match="sentences is empty"):
        compute_bounds(parser, [])
    with pytest.raises(InputError, match="heads are 0 to 7: expected 0 to 3"):
        compute_bounds(parser, [example("bca", "VNP", (2, 0, 7))])
    with pytest.raises(InputError, match="not a tree"):
        compute_bounds(parser, [example("bca", "VNP", (2, 1, 0))])
    long = Sentence({"form": ("a",) * 500, "upos": ("N",) * 500})
    with pytest.raises(InputError, match="500 words"):
        score_bounds(parser, long, triples=True)
    assert score_bounds(parser, EXAMPLES[2]).grandparents.over_modifiers.tolist() == [[-np.inf]]


@pytest.mark.data
@pytest.mark.parametrize(
    "options", [{"order": "grandsibling", "projective": False, "relaxed": True}, {"order": "sibling", "most_features": 9000}]
)
def test_learned_weights_above_zero_are_those_of_gold_trees(data, options):
    """With pruning, averaging, rounding and a limit on features; trees that cross are learned as projective ones."""
    given = [record.sentence for record in read_conllu(data / "ud" / "la_perseus" / "train.conllu")]
    sentences = [s for s in given if 4 <= len(s) <= 20]
    parser = compute_bounds(train(sentences[:80], epochs=2, labels=False, **options), sentences[:80])
    assert parser.bounds.n_weights > 1000
    assert parser.bounds.coverage == 1.0
    assert not parser.bounds.floors.any()
    for sentence in sentences[60:100]:
        assert check_bounds(parser, sentence) > 0
