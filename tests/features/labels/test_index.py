"""Keys, the hash table and sparse sums against dictionaries of strings."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zerogap.features.labels.index import NONE, collect_features, corpus_of, keys_of
from zerogap.features.labels.table import fill_slots, find_rows
from zerogap.features.labels.templates import POSITIONS, TemplateError, parse_templates

TEMPLATES = parse_templates(
    ["bias", "form[0]", "lower[0]", "form[-1]+form[0]", "form[0]+form[-1]", "pos[2]", "suffix2(pos)[-2]+shape[0]+place[1]", "index[0]"]
)


def named_features(columns, t):
    """What the features of a token stand for: a template and the values of its terms."""
    n = len(columns["form"])
    found = []
    for k, template in enumerate(TEMPLATES):
        values = []
        for attribute, offset in template.terms:
            at = t + offset
            if at < 0 or at >= n:
                values.append("before" if at < 0 else "after")
            elif attribute.column:
                values.append(("value", attribute.of(columns[attribute.column][at])))
            else:
                values.append(("position", POSITIONS[attribute.functions[0]](at, n)))
        found.append((k, *values))
    return found


@st.composite
def corpora(draw, min_size=1):
    words = st.sampled_from(["a", "b", "A", "Bc", "x1", "before"])
    tags = st.sampled_from(["N", "V", "NN", "VN"])
    sizes = draw(st.lists(st.integers(0, 4), min_size=min_size, max_size=4))
    return [
        {"form": tuple(draw(st.lists(words, min_size=n, max_size=n))), "pos": tuple(draw(st.lists(tags, min_size=n, max_size=n)))}
        for n in sizes
    ]


@given(corpora(), corpora(), st.integers(1, 3), st.integers(0, 1000))
@settings(max_examples=60)
def test_scores_as_a_dictionary_of_named_features(train, test, min_count, seed):
    random = np.random.default_rng(seed)
    n_labels = 3
    n_tokens = sum(len(columns["form"]) for columns in train)
    gold = random.integers(0, n_labels, n_tokens)
    features, corpus = collect_features(TEMPLATES, train, gold, n_labels, min_count=min_count)
    named = [named_features(columns, t) for columns in train for t in range(len(columns["form"]))]
    counts = Counter(feature for token in named for feature in token)
    kept = {feature for feature, count in counts.items() if count >= min_count}
    assert len(features.keys) == len(kept)
    number = {}
    for token, rows in zip(named, corpus.rows.tolist(), strict=True):
        for feature, row in zip(token, rows, strict=True):
            assert (row != NONE) == (feature in kept)
            if row != NONE:
                assert number.setdefault(feature, row) == row
    assert len(set(number.values())) == len(number)
    seen = {(feature, label) for token, label in zip(named, gold.tolist(), strict=True) for feature in token if feature in kept}
    row_of_weight = np.repeat(np.arange(len(features.keys)), np.diff(features.row_start))
    pairs = list(zip(row_of_weight.tolist(), features.labels.tolist(), strict=True))
    assert {(number[feature], label) for feature, label in seen} <= set(pairs)
    assert len(set(pairs)) == len(pairs)
    weights = random.integers(-3, 4, features.n_weights).astype(float)
    weight_of = dict(zip(pairs, weights.tolist(), strict=True))
    amounts_to, expected_amounts = np.zeros(features.n_weights), dict.fromkeys(pairs, 0.0)
    for columns in test:
        n = len(columns["form"])
        rows = features.rows(columns, n)
        scores = features.scores(rows, weights)
        amounts = random.integers(-3, 4, (n, n_labels)).astype(float)
        features.add(rows, amounts, 2.0, amounts_to)
        expected = np.zeros((n, n_labels))
        for t in range(n):
            for feature in named_features(columns, t):
                for label in range(n_labels):
                    pair = (number.get(feature, NONE), label)
                    expected[t, label] += weight_of.get(pair, 0.0)
                    if pair in expected_amounts:
                        expected_amounts[pair] += 2.0 * amounts[t, label]
        assert scores.tolist() == expected.tolist()
    assert amounts_to.tolist() == list(expected_amounts.values())


some_keys = st.sets(st.integers(0, 2**62 - 1) | st.integers(0, 20), max_size=40)


@given(some_keys, some_keys)
def test_hash_table(stored, others):
    keys = np.array(sorted(stored), dtype=np.int64)
    size = 1 << (len(keys) + 1).bit_length()
    slots = np.full(size, NONE, dtype=np.int64), np.full(size, NONE, dtype=np.int32)
    fill_slots(keys, *slots)
    asked = np.array([[*sorted(stored | others), NONE]], dtype=np.int64)
    rows = np.empty(asked.shape, dtype=np.int32)
    find_rows(*slots, asked, rows)
    number = {key: i for i, key in enumerate(keys.tolist())}
    assert rows[0].tolist() == [number.get(key, NONE) for key in asked[0].tolist()]


def test_a_token_has_the_same_features_alone_and_in_a_corpus():
    sequences = [{"form": ("a", "b"), "pos": ("N", "V")}, {"form": (), "pos": ()}, {"form": ("b",), "pos": ("N",)}]
    features, corpus = collect_features(TEMPLATES, sequences, np.array([0, 1, 1]), 2)
    again = corpus_of(features, sequences)
    assert again.rows.tolist() == corpus.rows.tolist()
    assert again.first.tolist() == corpus.first.tolist() == [0, 2, 2, 3]
    assert (features.rows({"form": ("new",), "pos": ("new",)}, 1) != NONE).sum() < len(TEMPLATES)


def test_keys_do_not_collide():
    """Conjunctions of two attributes, both ways round."""
    side = 300
    encoded = np.stack(np.meshgrid(np.arange(3, 3 + side), np.arange(3, 3 + side)), axis=-1).reshape(-1, 2).astype(np.int32)
    first = np.arange(len(encoded) + 1)
    keys = keys_of(encoded, first, (np.array([0, 2, 4]), np.array([0, 1, 1, 0]), np.zeros(4, dtype=np.int64)))
    assert len(np.unique(keys)) == keys.size


def test_columns_must_be_there():
    with pytest.raises(TemplateError, match="example 1 .* column 'pos' is not known"):
        collect_features(TEMPLATES, [{"form": ("a",), "pos": ("N",)}, {"form": ("a",)}], np.array([0, 0]), 1)
    features, _ = collect_features(TEMPLATES, [{"form": ("a",), "pos": ("N",)}], np.array([0]), 1)
    with pytest.raises(TemplateError, match="the example .* column 'pos' is not known"):
        features.rows({"form": ("a",)}, 1)
