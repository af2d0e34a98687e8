"""Tables of bounds on weights: the largest of each partial key, floors for what was never met, sums of looks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zerogap.errors import FormatError, InputError
from zerogap.features.parts.bounds import (
    WeightBounds,
    bounds_from_arrays,
    bounds_from_notes,
    bounds_to_arrays,
    cell_of_key,
    cells_of,
    part_sums,
    templates_of,
    weights_table,
    weights_to_meet,
    without,
)
from zerogap.features.parts.keys import PartFeatures
from zerogap.features.parts.model import PartModel, part_model
from zerogap.features.parts.packed_table import packed
from zerogap.features.parts.templates import parse_part_templates

TEMPLATES = "arc: head.upos\nsibling: head.upos+sib.upos+mod.upos+distance\nsibling: sib.form\ngrandparent: grand.upos+mod.form"
FEATURES = PartFeatures(parse_part_templates(TEMPLATES))
N_TEMPLATES = len(FEATURES.templates)
HEAD, MOD, SIB = 0, 1, 2  # places of roles in partial sums


def random_keys(random, size):
    """Of all templates, ascending."""
    keys = random.integers(-(2**63), 2**63, size=size, dtype=np.int64) & -256
    return np.unique(keys | random.integers(1, N_TEMPLATES + 1, size=size))


def random_model(seed, size=200):
    random = np.random.default_rng(seed)
    keys = random_keys(random, size)
    return part_model(FEATURES, keys, random.integers(-8, 9, size=len(keys)) / 8.0)


@given(st.integers(0, 2**32 - 1), st.integers(0, 300), st.floats(0.0, 1.0))
def test_bounds_are_the_largest_of_each_partial_key_or_a_floor(seed, size, share):
    model = random_model(seed, size)
    random = np.random.default_rng(seed + 1)
    places = weights_to_meet(model, ["sibling", "grandparent"])
    kinds = [FEATURES.templates[(key & 255) - 1].kind for key in model.keys.tolist()]
    assert places.tolist() == [i for i, kind in enumerate(kinds) if kind != "arc" and model.steps[i] > 0]
    pool = random.integers(-(2**63), 2**63, size=(N_TEMPLATES, 20), dtype=np.int64) & -256
    low = (model.keys[places] & 255)[:, None]
    notes = np.where(random.random((len(places), 3)) < share, pool[low - 1, random.integers(20, size=(len(places), 3))] | low, 0)
    bounds = bounds_from_notes(model, places, notes)
    largest, floors = {}, [0] * N_TEMPLATES
    for place, row in zip(places.tolist(), notes.tolist(), strict=True):
        step = int(model.steps[place])
        for key in row:
            if key:
                largest[key] = max(largest.get(key, 0), step)
        if not any(row):
            t = (int(model.keys[place]) & 255) - 1
            floors[t] = max(floors[t], step)
    assert dict(zip(bounds.table.keys.tolist(), bounds.table.steps.tolist(), strict=True)) == largest
    assert bounds.floors.tolist() == floors
    assert bounds.n_weights == len(places)
    assert bounds.n_met == sum(any(row) for row in notes.tolist())
    assert (bounds.coverage == 1.0) == (not any(floors))
    again = bounds_from_arrays(bounds_to_arrays(bounds, "b"), "b", model, "here")
    assert np.array_equal(again.table.keys, bounds.table.keys)
    assert np.array_equal(again.table.steps, bounds.table.steps)
    assert again.floors.tolist() == floors
    assert (again.n_weights, again.n_met, again.largest) == (bounds.n_weights, bounds.n_met, bounds.largest)


@given(st.integers(0, 2**32 - 1), st.integers(0, 8), st.integers(0, 40))
def test_sums_of_looks_are_sums_of_weights(seed, n, n_parts):
    random = np.random.default_rng(seed)
    columns = {"form": tuple(random.choice(list("ab"), n).tolist()), "upos": tuple(random.choice(list("NV"), n).tolist())}
    partial, _ = FEATURES.encode(columns, n)
    h, s, m = random.integers(0, n + 2, size=(3, n_parts))
    side, distance = random.integers(0, 2, size=n_parts), random.integers(0, 16, size=n_parts)
    chosen = [(t, low) for t, low in enumerate(FEATURES.plan.low_bytes.tolist()) if FEATURES.templates[low - 1].kind == "sibling"]
    places = templates_of(FEATURES, "sibling")
    assert places.tolist() == [t for t, _ in chosen]
    keys = {}
    for t, low in chosen:
        code = FEATURES.plan.codes[1, distance] if FEATURES.templates[low - 1].relation else FEATURES.plan.codes[0, side]
        keys[t] = ((partial[HEAD, h, t] + partial[SIB, s, t] + partial[MOD, m, t] + code) & -256) | low
    every = np.unique(np.concatenate([random_keys(random, 50), *keys.values()]))
    model = part_model(FEATURES, every, random.integers(-8, 9, size=len(every)) / 8.0)
    weight = dict(zip(model.keys.tolist(), model.steps.tolist(), strict=True))
    roles = {"head": h, "sib": s, "mod": m}
    found = part_sums(FEATURES, partial, weights_table(model), places, roles, [side, distance])
    assert found.tolist() == [sum(weight.get(int(keys[t][i]), 0) for t, _ in chosen) for i in range(n_parts)]
    one = part_sums(FEATURES, partial, weights_table(model), places[:1], roles, [side, distance])
    assert one.tolist() == [weight.get(int(key), 0) for key in keys[chosen[0][0]]]
    floored = weights_table(model)._replace(floors=np.full(N_TEMPLATES, 2))
    least = part_sums(FEATURES, partial, floored, places, roles, [side, distance])
    assert least.tolist() == [sum(max(2, weight.get(int(keys[t][i]), 0)) for t, _ in chosen) for i in range(n_parts)]
    other = part_sums(FEATURES, partial, weights_table(model), places, roles, [side, distance], missing=without(FEATURES, "grand"))
    assert not other.any()


def test_cells_of_keys():
    random = np.random.default_rng(0)
    keys = random_keys(random, 3000)
    cells, jumps = packed(keys, np.ones(len(keys), dtype=np.int16))
    shift = 64 - (len(cells) - 1).bit_length()
    places = cells_of(keys, cells, jumps)
    assert len(set(places.tolist())) == len(keys)
    assert [cell_of_key(key, cells, jumps, shift) for key in keys[:200]] == places[:200].tolist()
    unseen = np.setdiff1d(random_keys(random, 300), keys)
    assert {cell_of_key(key, cells, jumps, shift) for key in unseen} == {-1}


def test_what_is_missing_is_part_of_a_key():
    both, one = without(FEATURES, "sib", "mod"), without(FEATURES, "mod")
    assert np.array_equal(both, without(FEATURES, "mod", "sib"))
    assert len({*both.tolist(), *one.tolist()}) == 2 * N_TEMPLATES


def test_largest_scores():
    keys = np.array([256 * 5 + 2, 256 * 6 + 2, 256 * 7 + 3], dtype=np.int64)
    model = PartModel(FEATURES, keys, np.array([3, -5, 2], dtype=np.int16), 0.25)
    bounds = bounds_from_notes(model, weights_to_meet(model, ["sibling"]), np.full((2, 1), 0))
    assert bounds.largest["sibling"] == 0.25 * (5 + 2)
    assert bounds.largest["grandparent"] == 0.0
    assert bounds.coverage == 0.0


def test_wrong_bounds_are_refused():
    model = random_model(3)
    table = PartModel(FEATURES, model.keys[:2], np.array([1, 2], dtype=np.int16), model.unit)
    floors = np.zeros(N_TEMPLATES, dtype=np.int16)
    WeightBounds(model, table, floors, 2, 2)
    with pytest.raises(InputError, match="multiples of"):
        WeightBounds(model, PartModel(FEATURES, table.keys, table.steps, 4.0), floors, 2, 2)
    with pytest.raises(InputError, match="1 floors"):
        WeightBounds(model, table, floors[:1], 2, 2)
    with pytest.raises(InputError, match="below 0"):
        WeightBounds(model, table, floors - 1, 2, 2)
    with pytest.raises(InputError, match="below 0"):
        WeightBounds(model, PartModel(FEATURES, table.keys, np.array([1, -2], dtype=np.int16), model.unit), floors, 2, 2)
    arrays = bounds_to_arrays(WeightBounds(model, table, floors, 2, 2), "b")
    with pytest.raises(FormatError, match="here: the bounds are those of other weights"):
        bounds_from_arrays(arrays, "b", random_model(4), "here")
