"""Parsers: features by their definition, scores of all trees, proofs, files, and training."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import zerogap
from zerogap.archive import read_archive, write_archive
from zerogap.baselines.brute import all_heads, is_tree
from zerogap.dependency import train
from zerogap.dependency.nearest_trees import projective_heads
from zerogap.dependency.parser.labeller import label_sets
from zerogap.dependency.parser.parser import Parser, likely_arcs
from zerogap.dependency.parser.templates import ORDERS, fill_in, known_columns
from zerogap.dependency.scoring.sentence import keys_of_tree, score_of_tree
from zerogap.dependency.sentence import Sentence
from zerogap.errors import FormatError, InputError, UnknownMethod
from zerogap.features.parts.keys import PartFeatures
from zerogap.features.parts.learning import WeightTable
from zerogap.features.parts.model import PartModel, part_model
from zerogap.features.parts.templates import Count, parse_part_templates

TEMPLATES = """
arc: head.form+mod.form
arc: head.upos+mod.upos[1]+distance
arc: mod.upos+count(upos=V)
arc: head.upos+between.upos+mod.upos
sibling: head.upos+sib.form+mod.upos
sibling: sib.upos+mod.upos+distance
stop: head.upos+sib.upos
grandparent: grand.form+head.upos+mod.upos[-1]
grandsibling: grand.upos+head.upos+sib.upos+mod.form
"""
FEATURES = PartFeatures(parse_part_templates(TEMPLATES))


def bucket(distance):
    return distance if distance <= 5 else 6 if distance <= 10 else 11 if distance <= 20 else 21


def named_features(columns, heads):
    """The features of a tree as tuples of strings, straight from the templates."""
    n = len(heads)

    def value(token, attribute, offset):
        if token is None:
            return "<none>"
        at = token + offset
        return "<before>" if at < 0 else "<root>" if at == 0 else "<after>" if at > n else attribute.of(columns[attribute.column][at - 1])

    def emit(kind, roles, directions, relations=None):
        for template in FEATURES.templates:
            if template.kind != kind:
                continue
            relation = None if template.relation is None else relations(template.relation)
            values = [value(roles[role], attribute, offset) for role, attribute, offset in template.terms]
            yield (template.text, kind, directions, relation, *values)

    for h in range(n + 1):
        for right in (False, True):
            if h == 0 and not right:
                continue
            before = None
            for m in range(h + 1, n + 1) if right else range(h - 1, 0, -1):
                if heads[m - 1] != h:
                    continue

                def relations(relation, h=h, m=m, s=before):
                    if isinstance(relation, Count):
                        inside = columns[relation.column][min(h, m) : max(h, m) - 1]
                        return min(2, sum(v == relation.value for v in inside))
                    return bucket(abs(m - h))

                yield from emit("arc", {"head": h, "mod": m}, right, relations)
                inside = range(min(h, m) + 1, max(h, m))
                for b in {columns["upos"][b - 1]: b for b in inside}.values():
                    yield from emit("between", {"head": h, "mod": m, "between": b}, right, relations)
                gap = bucket(abs(m - (h if before is None else before)))
                yield from emit("sibling", {"head": h, "sib": before, "mod": m}, right, lambda _, gap=gap: gap)
                if h > 0:
                    g = heads[h - 1]
                    yield from emit("grandparent", {"grand": g, "head": h, "mod": m}, (h > g, right))
                    yield from emit("grandsibling", {"grand": g, "head": h, "sib": before, "mod": m}, (h > g, right))
                before = m
            yield from emit("stop", {"head": h, "sib": before}, right)


@st.composite
def sentences(draw, max_words=4):
    n = draw(st.integers(0, max_words))
    return {
        "form": tuple(draw(st.lists(st.sampled_from("ab"), min_size=n, max_size=n))),
        "upos": tuple(draw(st.lists(st.sampled_from("NVP"), min_size=n, max_size=n))),
    }


def trees(n):
    return [tree for tree in all_heads(n) if is_tree(tree, projective=True)]


@given(st.lists(st.tuples(sentences(max_words=25), st.integers(0, 2**32 - 1)), min_size=1, max_size=5))
def test_keys_are_one_for_each_feature(examples):
    names: dict[int, tuple] = {}
    keys: dict[tuple, int] = {}
    for columns, seed in examples:
        n = len(columns["form"])
        random = np.random.default_rng(seed)
        scores = random.normal(size=(n + 1, n + 1))
        heads = zerogap.dependency.decode(zerogap.dependency.Problem(scores, projective=True)).structure
        found = keys_of_tree(FEATURES, FEATURES.encode(columns, n), np.array(heads, dtype=np.int64)).tolist()
        expected = list(named_features(columns, heads))
        assert len(found) == len(expected)
        by_template: dict[str, list] = {}
        for feature in expected:
            by_template.setdefault((feature[1], feature[0]), []).append(feature)
        # within a template features come in the same order
        for number, template in enumerate(FEATURES.templates, start=1):
            of_template = [key for key in found if key & 255 == number]
            features = by_template.get((template.kind, template.text), [])
            if template.kind == "between":  # of one arc they come in any order
                assert len(of_template) == len(features)
                assert len(set(of_template)) == len(set(features))
                continue
            for key, feature in zip(of_template, features, strict=True):
                assert names.setdefault(key, feature) == feature
                assert keys.setdefault(feature, key) == key


def random_model(columns, seed, templates=FEATURES):
    """Weights for the features of all projective trees of a sentence."""
    n = len(columns["form"])
    found = {k for tree in trees(n) for k in keys_of_tree(templates, templates.encode(columns, n), np.array(tree, dtype=np.int64)).tolist()}
    keys = np.array(sorted(found), dtype=np.int64)
    weights = np.random.default_rng(seed).integers(-4, 5, size=len(keys)) / 4.0
    return part_model(templates, keys, weights)


@settings(max_examples=60)
@given(sentences(), st.integers(0, 2**32 - 1), st.sampled_from(["first", "sibling", "grandsibling"]), st.booleans())
def test_parses_are_best_and_proved(columns, seed, order, pruned):
    n = len(columns["form"])
    kinds = {"first": ("arc", "between"), "sibling": ("arc", "between", "sibling", "stop")}.get(order)
    templates = FEATURES if kinds is None else PartFeatures(tuple(t for t in FEATURES.templates if t.kind in kinds))
    model = random_model(columns, seed, templates)
    first = PartFeatures(tuple(t for t in FEATURES.templates if t.kind == "arc"))
    pruner = random_model(columns, seed + 1, first) if pruned else None
    parser = Parser(order, model, pruner, 0.3)
    parse = parser.parse(Sentence(columns))
    allowed = None
    if pruned and order != "first":
        allowed = parser.allowed(model.features.tokens.of(columns, n)) if model.features.tokens.attributes else None
    candidates = [tree for tree in trees(n) if allowed is None or all(allowed[h, m] for m, h in enumerate(tree, start=1))]
    encoded = templates.encode(columns, n)
    optimum = max(score_of_tree(templates, model, encoded, np.array(tree, dtype=np.int64)) for tree in candidates)
    assert parse.solution.status == "optimal"
    assert parse.solution.score == optimum == parse.problem.score(parse.heads)
    assert parse.problem.score(parse.heads) == parser.problem(Sentence(columns)).score(parse.heads)
    zerogap.verify(parse.problem, parse.solution)
    for tree in candidates[:20]:
        assert parse.problem.score(tree) == score_of_tree(templates, model, encoded, np.array(tree, dtype=np.int64))


@pytest.mark.compiled
@given(st.integers(1, 6), st.integers(0, 2**32 - 1), st.booleans())
def test_a_tree_is_left_after_pruning(n, seed, single_root):
    scores = np.random.default_rng(seed).normal(size=(n + 1, n + 1)) * 10
    allowed = likely_arcs(scores, 1.0, single_root=single_root)
    arcs = np.where(allowed, 0.0, -np.inf)
    zerogap.dependency.decode(zerogap.dependency.Problem(arcs, projective=True, single_root=single_root))
    assert not allowed[:, 0].any()
    assert not allowed.diagonal().any()


@pytest.mark.compiled
@given(st.integers(1, 5).flatmap(lambda n: st.sampled_from([t for t in all_heads(n) if is_tree(t)])))
def test_projective_trees_that_share_most_arcs(heads):
    sentence = Sentence({"form": ("w",) * len(heads)}, heads)
    found = projective_heads(sentence, single_root=True)
    assert is_tree(found.tolist(), projective=True)
    shared = int(np.count_nonzero(found == np.array(heads)))
    assert shared == max(sum(a == b for a, b in zip(tree, heads, strict=True)) for tree in trees(len(heads)))


DETERMINERS, NOUNS, VERBS = ("the", "a"), ("dog", "cat", "bird"), ("sees", "hears", "likes")


def toy_treebank(size, seed=0):
    """Determiner noun verb determiner noun, with an adverb now and then."""
    random = np.random.default_rng(seed)
    found = []
    for i in range(size):
        form = [random.choice(c) for c in (DETERMINERS, NOUNS, VERBS, DETERMINERS, NOUNS)]
        upos, heads = ["DET", "NOUN", "VERB", "DET", "NOUN"], [2, 3, 0, 5, 3]
        labels = ["det", "nsubj", "root", "det", "obj"]
        if random.random() < 0.5:
            form, upos, heads, labels = [*form, "now"], [*upos, "ADV"], [*heads, 3], [*labels, "advmod"]
        columns = {"form": tuple(map(str, form)), "upos": tuple(upos), "xpos": ("_",) * len(form)}
        found.append(Sentence(columns, tuple(heads), tuple(labels), f"toy-{i}"))
    return found


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("order", "algorithm"),
    [
        ("first", "mira"),
        ("first", "perceptron"),
        ("first", "crf"),
        ("sibling", "mira"),
        ("grandsibling", "mira"),
        ("grandsibling", "perceptron"),
    ],
)
def test_training_learns_a_toy_treebank(order, algorithm):
    parser = train(toy_treebank(30), order=order, algorithm=algorithm, epochs=3)
    for sentence in toy_treebank(10, seed=1):
        parse = parser.parse(sentence)
        assert (parse.heads, parse.labels) == (sentence.heads, sentence.labels)
        assert parse.solution.gap == 0.0
        zerogap.verify(parse.problem, parse.solution)


@pytest.mark.compiled
@pytest.mark.parametrize("algorithm", ["mira", "crf"])
def test_trees_that_cross(algorithm):
    """A marker between a verb and its modifier, which belongs to neither."""
    data = [
        Sentence({"form": ("x", "y", "z", "w"), "upos": ("A", "B", "C", "D")}, (3, 4, 0, 3), ("a", "b", "root", "d"), f"cross-{i}")
        for i in range(10)
    ]
    parser = train(data, order="first", algorithm=algorithm, projective=False, epochs=4)
    parse = parser.parse(data[0])
    assert parse.heads == data[0].heads
    assert parse.solution.certificate.kind == "cut-duals"
    zerogap.verify(parse.problem, parse.solution)
    assert train(data, order="first", algorithm=algorithm, epochs=4).parse(data[0]).heads != data[0].heads


@pytest.mark.compiled
@pytest.mark.parametrize("order", ["sibling", "grandsibling"])
@pytest.mark.parametrize("options", [{}, {"relaxed": True}, {"algorithm": "perceptron"}, {"algorithm": "perceptron", "relaxed": True}])
def test_larger_trees_that_cross(order, options, tmp_path):
    columns = {"form": ("x", "y", "z", "w", "v"), "upos": ("A", "B", "C", "D", "C")}
    data = [Sentence(columns, (3, 4, 0, 3, 2), ("a", "b", "root", "d", "e"), f"cross-{i}") for i in range(10)]
    train(data, order=order, projective=False, epochs=4, **options).save(tmp_path / "parser.npz")
    parser = Parser.load(tmp_path / "parser.npz")
    parse = parser.parse(data[0])
    assert parse.heads == data[0].heads
    assert parse.solution.status == "optimal"
    assert parse.problem.score(parse.heads) == parse.solution.score
    zerogap.verify(parse.problem, parse.solution)
    zerogap.verify(parser.problem(data[0]), parse.solution)
    for words in (0, 1, 2):
        short = Sentence({name: column[:words] for name, column in columns.items()})
        found = parser.parse(short)
        assert len(found.heads) == words
        zerogap.verify(found.problem, found.solution)


@pytest.mark.compiled
def test_relaxed_training_is_for_larger_trees_that_cross():
    data = [Sentence({"form": ("x",)}, (0,))]
    for options in ({"order": "first", "projective": False}, {"order": "sibling"}):
        with pytest.raises(InputError, match="relaxed=True was given"):
            train(data, relaxed=True, **options)


@pytest.mark.compiled
def test_compact_parsers():
    data = toy_treebank(30)
    parser = train(data, epochs=2)
    small = parser.compact(trees=200, labels=100, pruner=50, bits=8)
    assert (small.model.n_weights, small.pruner.n_weights) == (200, 50)
    assert small.labeller.model.n_weights <= 100
    parse = small.parse(data[0])
    zerogap.verify(parse.problem, parse.solution)


@pytest.mark.compiled
def test_rare_features_are_left_out():
    data = toy_treebank(30)
    everything, frequent = train(data, epochs=2), train(data, epochs=2, min_count=5)
    assert 0 < frequent.model.n_weights < everything.model.n_weights
    assert frequent.parse(data[0]).heads == data[0].heads


@pytest.mark.compiled
@pytest.mark.parametrize(("option", "value"), [("epochs", -1), ("seed", True), ("min_count", 0.5), ("step", 0.0), ("threshold", 2.0)])
def test_bad_options_are_named(option, value):
    with pytest.raises(InputError, match=option):
        train(toy_treebank(3), **{option: value})


@pytest.mark.compiled
def test_development_data_choose_the_epoch_and_stop():
    epochs = []
    train(toy_treebank(30), development=toy_treebank(5, seed=1), epochs=20, patience=2, report=lambda p: epochs.append(p))
    trees_ = [p.epoch for p in epochs if p.stage == "tree"]
    assert 3 <= len(trees_) < 20
    assert max(e.development for e in trees_) == 1.0
    assert [e.is_best for e in trees_[-2:]] == [False, False]


@pytest.mark.compiled
def test_the_same_seed_gives_the_same_parser_and_a_checkpoint_goes_on(tmp_path):
    data = toy_treebank(20)
    whole = train(data, epochs=4, seed=3)

    class Stop(Exception):
        pass

    def interrupt(progress):
        if progress.stage == "tree" and progress.epoch.number == 2:
            raise Stop

    with pytest.raises(Stop):
        train(data, epochs=4, seed=3, checkpoints=tmp_path, report=interrupt)
    resumed = train(data, epochs=4, seed=3, checkpoints=tmp_path)
    for a, b in ((whole.model, resumed.model), (whole.labeller.model, resumed.labeller.model), (whole.pruner, resumed.pruner)):
        assert np.array_equal(a.keys, b.keys)
        assert np.array_equal(a.steps, b.steps)
    with pytest.raises(FormatError, match="another training"):
        train(toy_treebank(21), epochs=4, seed=3, checkpoints=tmp_path)


@pytest.mark.compiled
def test_files(tmp_path):
    parser = train(toy_treebank(20), epochs=2).described(name="toy", licence="none")
    path = tmp_path / "toy.npz"
    parser.save(path)
    again = Parser.load(path)
    assert again.about == {"name": "toy", "licence": "none"}
    for sentence in toy_treebank(5, seed=2):
        first, second = parser.parse(sentence), again.parse(sentence)
        assert (first.heads, first.labels, first.solution.score) == (second.heads, second.labels, second.solution.score)
    assert [p.heads for p in again.parse_many(toy_treebank(9), threads=2)] == [s.heads for s in toy_treebank(9)]
    whole = path.read_bytes()
    for cut in (0, 10, len(whole) // 2, len(whole) - 5):
        path.write_bytes(whole[:cut])
        with pytest.raises(FormatError):
            Parser.load(path)


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("version", 9, "newer"),
        ("order", "fourth", "order"),
        ("threshold", 3.0, "threshold"),
        ("templates", {"model": ["arc: nonsense"]}, "damaged"),
        ("templates", 3, "damaged"),
        ("labels", {"names": ["a"], "column": "upos", "seen": [["X", "Y", True, [7]]]}, "expected numbers from 0 to 0"),
    ],
)
def test_damaged_headers_are_refused(tmp_path, field, value, message):
    path = tmp_path / "toy.npz"
    train(toy_treebank(5), epochs=1).save(path)
    header, arrays = read_archive(path, "zerogap-dependency-model", 1)
    write_archive(path, {**json.loads(json.dumps(header)), field: value}, arrays)
    with pytest.raises(FormatError, match=message):
        Parser.load(path)


@pytest.mark.compiled
def test_bad_training_data_are_named():
    tree = toy_treebank(1)[0]
    cyclic = Sentence(tree.columns, (2, 1, *tree.heads[2:]), tree.labels, "cyclic-1")
    two_roots = Sentence(tree.columns, (0, *tree.heads[1:]), tree.labels, "roots-1")
    with pytest.raises(InputError, match="cyclic-1.*cycle"):
        train([tree, cyclic])
    with pytest.raises(InputError, match="roots-1 has 2 roots"):
        train([tree, two_roots])
    assert train([tree, two_roots] * 5, single_root=False, epochs=1).single_root is False
    with pytest.raises(InputError, match="no heads"):
        train([Sentence(tree.columns, name="bare")])
    with pytest.raises(InputError, match="no words"):
        train([])
    with pytest.raises(InputError, match="bare-1 has no labels"):
        train([tree, Sentence(tree.columns, tree.heads, name="bare-1")])
    with pytest.raises(InputError, match="dev-1 has the columns form: the templates read"):
        train([tree], development=[Sentence({"form": tree.columns["form"]}, tree.heads, tree.labels, "dev-1")])
    assert train([tree], development=[Sentence(tree.columns, tree.heads)], epochs=1).labeller is not None
    with pytest.raises(InputError, match="templates read lemma"):
        train([tree], templates="arc: head.lemma")
    with pytest.raises(InputError, match="expected a Sentence"):
        train(["the dog"])  # type: ignore[list-item]
    with pytest.raises(UnknownMethod, match="grandsibling"):
        train([tree], order="grandsiblings")
    with pytest.raises(InputError, match="order 'first'"):
        train([tree], algorithm="crf")


@pytest.mark.compiled
def test_sentences_without_what_the_model_reads():
    parser = train(toy_treebank(10), epochs=1)
    with pytest.raises(InputError, match="reads"):
        parser.parse(Sentence({"form": ("dogs",)}))
    empty = parser.parse(Sentence({"form": (), "upos": ()}))
    assert empty.heads == () == empty.labels
    zerogap.verify(empty.problem, empty.solution)
    long = Sentence({"form": ("dog",) * 3000, "upos": ("NOUN",) * 3000})
    with pytest.raises(InputError, match="3,000 words"):
        parser.parse(long)


@pytest.mark.compiled
def test_tags_that_were_never_seen_together_may_have_any_label():
    sets = label_sets(toy_treebank(5), "upos")
    start, labels, _ = sets.candidates({"form": ("x", "y"), "upos": ("NOUN", "X")}, (2, 0))
    assert [sets.names[i] for i in labels[: start[1]]] == ["nsubj", "obj"]
    assert labels[start[1] :].tolist() == list(range(len(sets.names)))


@pytest.mark.compiled
def test_templates_are_made_for_the_columns_there_are():
    assert known_columns(toy_treebank(3)) == {"form", "upos"}
    for columns in (frozenset({"form"}), frozenset({"form", "xpos"}), frozenset({"form", "upos", "xpos", "lemma", "feats"})):
        for text in ORDERS.values():
            parsed = parse_part_templates(fill_in(text, columns))
            read = {attribute.column for template in parsed for _, attribute, _ in template.terms}
            assert read <= columns


@pytest.mark.compiled
def test_a_model_without_weights_parses():
    features = PartFeatures(parse_part_templates("arc: head.form"))
    model = PartModel(features, np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int16), 1.0)
    parse = Parser("first", model).parse(Sentence({"form": ("a", "b")}))
    assert parse.solution.score == 0.0
    assert WeightTable().average()[0].size == 0
