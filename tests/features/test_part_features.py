"""Templates of parts, their keys, and tables of weights."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zerogap.archive import read_archive, write_archive
from zerogap.dependency.scoring.parts import sum_weights
from zerogap.errors import FormatError, InputError
from zerogap.features.labels.templates import TemplateError
from zerogap.features.parts.keys import PartFeatures, TokenHashes, attributes_of, hash_of
from zerogap.features.parts.learning import WeightTable
from zerogap.features.parts.model import from_arrays, part_model, to_arrays
from zerogap.features.parts.packed_table import jumps_alone, packed
from zerogap.features.parts.templates import Count, parse_part_template, parse_part_templates
from zerogap.features.parts.weights import Table


def test_a_template_has_a_kind_roles_offsets_and_a_relation():
    template = parse_part_template("arc: head.upos[-1]+mod.suffix3(form)+count(upos=VERB)")
    assert template.kind == "arc"
    assert [(role, attribute.column, attribute.functions, offset) for role, attribute, offset in template.terms] == [
        ("head", "upos", (), -1),
        ("mod", "form", ("suffix3",), 0),
    ]
    assert template.relation == Count("upos", "VERB")
    assert parse_part_template("arc: bias").terms == ()
    assert parse_part_template("arc: distance").relation == "distance"
    assert parse_part_template("arc: head.upos+between.upos").kind == "between"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("head.upos", "kind of part"),
        ("arcs: head.upos", "Did you mean 'arc'"),
        ("arc: grand.upos", "role 'grand' is not known"),
        ("arc: head.upos+", "expected a term"),
        ("arc: head.upos+distance+count(upos=VERB)", "second relation"),
        ("grandparent: grand.upos+distance", "has no distance"),
        ("sibling: sib.upos+count(upos=VERB)", "count"),
        ("arc: head.upos[9]", "offset"),
        ("arc: head.upos+between.upos[1]", "no neighbours"),
        ("arc: head.place", "a position"),
        ("arc: head.upos mod.upos", "expected '+'"),
        ("between: head.upos", "kind of part"),
    ],
)
def test_wrong_templates_say_where(text, message):
    with pytest.raises(TemplateError, match=message.replace("+", r"\+")):
        parse_part_template(text)


def test_lists_of_templates():
    assert len(parse_part_templates("arc: bias  # always\n\nsibling: sib.upos")) == 2
    with pytest.raises(InputError, match="twice"):
        parse_part_templates(["arc: bias", "arc: bias"])
    with pytest.raises(InputError, match="'arc: bias' and 'stop: bias' have no terms"):
        parse_part_templates(["arc: bias", "stop: bias"])
    with pytest.raises(InputError, match="empty"):
        parse_part_templates("# nothing")
    with pytest.raises(InputError, match="expected text"):
        parse_part_template(3)  # type: ignore[arg-type]


def test_roles_that_no_template_names_add_nothing():
    features = PartFeatures(parse_part_templates(["arc: head.upos"]))
    assert features.reading.n_roles == 2


def test_hashes_are_the_same_everywhere():
    assert hash_of("arc") == 1435329983086446076  # keys of models that are out there
    assert hash_of("arc") != hash_of("Arc")


def test_tokens_beyond_the_sentence_and_no_token_differ():
    features = PartFeatures(parse_part_templates(["arc: head.form[-1]", "sibling: sib.form", "sibling: sib.form[1]"]))
    partial, _ = features.encode({"form": ("a", "b")}, 2)
    before_root, root, a, none = partial[0, 0, 0], partial[0, 1, 0], partial[0, 2, 0], partial[2, 3, 1]
    assert len({before_root, root, a}) == 3
    words = [partial[2, t, 1] for t in range(3)]
    assert none not in words
    assert partial[2, 2, 2] not in (partial[2, 1, 2], partial[2, 3, 2])  # after the last word is not no token


def test_models_may_share_what_they_read_of_tokens():
    first, second = parse_part_templates(["arc: head.form"]), parse_part_templates(["arc: head.upos+mod.form+count(upos=X)"])
    shared = TokenHashes(attributes_of((*first, *second)))
    columns = {"form": ("a", "b", "a"), "upos": ("X", "Y", "X")}
    for templates in (first, second):
        alone, together = PartFeatures(templates).encode(columns, 3), PartFeatures(templates, shared).encode(columns, 3)
        assert all(np.array_equal(a, b) for a, b in zip(alone, together, strict=True))
    assert PartFeatures(second).encode(columns, 3)[1].tolist() == [[0, 0, 1, 1, 2]]


@given(st.lists(st.tuples(st.integers(-30, 30), st.sampled_from([1.0, -1.0, 0.5])), max_size=60), st.sampled_from([-1.0, 2.0]))
def test_updates_are_those_of_a_dictionary(changes, loss):
    table = WeightTable(16)
    weights: dict[int, float] = {}
    for moment in range(3):
        table.moment = float(moment)
        keys = np.array([key * 2**40 + 1 for key, _ in changes], dtype=np.int64)
        signs = np.array([sign for _, sign in changes])
        difference: dict[int, float] = {}
        for key, sign in zip(keys.tolist(), signs.tolist(), strict=True):
            difference[key] = difference.get(key, 0.0) + sign
        margin = sum(weights.get(key, 0.0) * d for key, d in difference.items())
        norm = sum(d * d for d in difference.values())
        expected = 1.0 if loss < 0 else 0.0 if norm == 0.0 or loss <= margin else min(1.0, (loss - margin) / norm)
        assert table.step(keys, signs, loss=loss, most=1.0) == pytest.approx(expected)
        for key, d in difference.items():
            weights[key] = weights.get(key, 0.0) + expected * d
    found = dict(zip(*(array.tolist() for array in (table.cells[::2], table.numbers[1::2])), strict=True))
    for key, weight in weights.items():
        assert found[key] == pytest.approx(weight)
    assert table.n_keys == len(weights) == np.count_nonzero(table.cells[::2])


def test_without_growth_new_keys_stay_out():
    table = WeightTable(16)
    table.step(np.array([257, 513]), np.zeros(2))
    table.step(np.array([257, 1025]), np.array([1.0, 1.0]), most=0.5, grow=False)
    assert dict(zip(table.cells[::2].tolist(), table.numbers[1::2].tolist(), strict=True)) == {0: 0.0, 257: 0.5, 513: 0.0}


def test_averages():
    table = WeightTable(16)
    for moment, sign in enumerate([1.0, 1.0, -1.0]):
        table.moment = float(moment)
        table.step(np.array([257]), np.array([sign]))
    table.moment = 3.0
    assert table.average()[1].tolist() == [pytest.approx((1 + 2 + 1) / 3)]


@given(st.dictionaries(st.integers(-(2**63), 2**63 - 1).map(lambda k: (k & ~255) | 1), st.floats(-9, 9), max_size=50))
def test_models_survive_their_arrays(weights):
    features = PartFeatures(parse_part_templates(["arc: bias"]))
    keys, values = np.array(list(weights), dtype=np.int64), np.array(list(weights.values()))
    model = part_model(features, keys, values)
    again = from_arrays(to_arrays(model, "model"), "model", features, "here")
    assert np.array_equal(again.keys, model.keys)
    assert np.array_equal(again.steps, model.steps)
    assert again.unit == model.unit
    largest = max(map(abs, weights.values()), default=0.0)
    kept = dict(zip(model.keys.tolist(), (model.steps * model.unit).tolist(), strict=True))
    for key, weight in weights.items():
        assert abs(kept.get(key, 0.0) - weight) <= max(largest / 2**10, 2.0**-60)
    assert model.template_bounds()[0] == max([0.0, *kept.values()])


def test_the_features_of_largest_weight_are_kept():
    features = PartFeatures(parse_part_templates(["arc: bias"]))
    keys = np.array([257, 513, 769], dtype=np.int64)
    assert part_model(features, keys, np.array([0.5, -2.0, 1.0]), most=2).keys.tolist() == [513, 769]


@pytest.mark.parametrize("damage", ["missing", "shape", "unit", "order", "template"])
def test_damaged_arrays_are_refused(damage):
    features = PartFeatures(parse_part_templates(["arc: bias"]))
    arrays = to_arrays(part_model(features, np.array([257, 513]), np.array([1.0, 2.0])), "model")
    match damage:
        case "missing":
            del arrays["model_steps"]
        case "shape":
            arrays["model_keys"] = arrays["model_keys"][:7]
        case "unit":
            arrays["model_unit"] = np.array(0.3)
        case "order":
            arrays["model_keys"][:, 1] = 0
        case "template":
            arrays["model_keys"][0, 0] = 2
    with pytest.raises(FormatError):
        from_arrays(arrays, "model", features, "here")


@given(
    st.dictionaries(st.integers(0, 10**6), st.integers(-(2**15) + 1, 2**15 - 1), max_size=50),
    st.lists(st.integers(0, 10**6), max_size=20),
    st.sampled_from([-1, 2**44 - 1, ~(2**20 - 1)]),
)
def test_a_table_that_is_only_read_has_all_weights_and_nothing_else(weights, others, bits):
    def key(number):  # the high or the low bits may be those of all
        return hash_of(str(number)) & bits | 1

    weights = {key(number): weight for number, weight in weights.items()}
    others = [key(number) for number in others]
    keys, steps = np.array(list(weights), dtype=np.int64), np.array(list(weights.values()), dtype=np.int16)
    cells, jumps = packed(keys, steps)
    unit = np.array([0.25])
    for key in [*weights, *others]:
        assert sum_weights(np.array([key]), Table(cells, unit, jumps)) == 0.25 * weights.get(key, 0)
    assert sum_weights(keys.copy(), Table(cells, unit, jumps)) == 0.25 * sum(weights.values())


def test_jumps_of_a_file_are_not_believed():
    keys = np.array([hash_of(str(i)) for i in range(60_000)], dtype=np.int64)
    steps = np.arange(60_000).astype(np.int16)
    cells, jumps = packed(keys, steps)
    found = jumps_alone(jumps)
    again, marked = packed(keys, steps, found)
    assert np.array_equal(cells, again)
    assert np.array_equal(jumps, marked)
    for wrong in (found[:-1], np.zeros_like(found), found[:0], np.tile(found, 64)):
        with pytest.raises(InputError, match="jumps do not part"):
            packed(keys, steps, wrong)


def test_keys_that_are_not_random_do_not_fill_the_memory():
    with pytest.raises(InputError, match="cannot be told apart"):
        packed(np.array([1, 2], dtype=np.int64), np.ones(2, dtype=np.int16))
    with pytest.raises(InputError, match="cannot be told apart"):
        packed(np.arange(1, 200_000, dtype=np.int64) << 40, np.ones(199_999, dtype=np.int16))


def test_a_large_table_that_is_only_read():
    rng = np.random.default_rng(0)
    keys = np.unique(rng.integers(-(2**63), 2**63 - 1, 200_000))
    steps = rng.integers(-(2**15) + 1, 2**15 - 1, len(keys)).astype(np.int16)
    cells, jumps = packed(keys[::2].copy(), steps[::2].copy())
    found = [sum_weights(keys[i : i + 1], Table(cells, np.ones(1), jumps)) for i in range(0, len(keys), 97)]
    assert found == [0 if i % 2 else steps[i] for i in range(0, len(keys), 97)]


def test_archives(tmp_path):
    path = tmp_path / "model.npz"
    write_archive(path, {"format": "x", "version": 1, "n": 3}, {"a": np.arange(3)})
    header, arrays = read_archive(path, "x", 1)
    assert header["n"] == 3
    assert arrays["a"].tolist() == [0, 1, 2]
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(FormatError, match="format"):
        read_archive(path, "y", 1)
    write_archive(path, {"format": "x", "version": 2}, {})
    with pytest.raises(FormatError, match="newer"):
        read_archive(path, "x", 1)
    path.write_bytes(path.read_bytes()[:40])
    with pytest.raises(FormatError, match="cut short"):
        read_archive(path, "x", 1)
    with pytest.raises(FormatError, match="no such file"):
        read_archive(tmp_path / "none.npz", "x", 1)
    with pytest.raises(FormatError, match="folder"):
        read_archive(tmp_path, "x", 1)
    with pytest.raises(FormatError, match="cannot be written"):
        write_archive(tmp_path / "no" / "folder.npz", {}, {})
