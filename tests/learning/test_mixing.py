"""Iterative parameter mixing: the perceptron still converges, and it does not matter who does the shards."""

import numpy as np
import pytest

from zerogap.batch.spreading import spread_over
from zerogap.errors import FormatError, UnknownMethod
from zerogap.learning.mixing import Learned, State, mix, run_mixed
from zerogap.learning.online import Best, run_epochs

RNG = np.random.default_rng(1)
TRUE = RNG.normal(size=6)
POINTS = RNG.normal(size=(80, 6))
POINTS = POINTS[np.abs(POINTS @ TRUE) > 0.5]  # separable, with a margin
SIGNS = np.sign(POINTS @ TRUE)
KEYS = np.arange(1, 7) * 7_919  # any numbers


def step(table, i, progress):
    """The perceptron of two classes."""
    keys, weights = table.average() if not table.moment else current(table)
    held = dict(zip(keys.tolist(), weights.tolist(), strict=True))
    value = sum(held.get(key, 0.0) * x for key, x in zip(KEYS.tolist(), POINTS[i].tolist(), strict=True))
    if value * SIGNS[i] > 0.0:
        return 0.0
    table.step(KEYS, SIGNS[i] * POINTS[i])
    return 1.0


def current(table):
    moment, table.moment = table.moment, 0.0
    found = table.average()
    table.moment = moment
    return found


def mistakes(keys, weights):
    held = dict(zip(keys.tolist(), weights.tolist(), strict=True))
    return int(np.count_nonzero(np.sign(POINTS @ np.array([held.get(key, 0.0) for key in KEYS.tolist()])) != SIGNS))


@pytest.mark.parametrize("shards", [1, 2, 5])
@pytest.mark.parametrize("mixture", ["updates", "uniform"])
def test_it_converges(shards, mixture):
    losses = []
    found = run_mixed(step, len(POINTS), shards=shards, epochs=30, mixture=mixture, report=lambda epoch: losses.append(epoch.loss))
    assert losses[-1] == 0.0
    assert mistakes(*found) <= 1


def test_one_shard_is_the_perceptron():
    """The weights after one epoch, in any order that is the same."""
    order = np.random.default_rng([0, 0, 0]).permutation(np.random.default_rng([0, 0]).permutation(len(POINTS)))
    keys, weights = run_mixed(step, len(POINTS), shards=1, epochs=1)
    again_keys, again = run_epochs(lambda table, i, at: step(table, int(order[counter(table)]), at), len(POINTS), epochs=1)
    assert dict(zip(keys.tolist(), weights.tolist(), strict=True)) == pytest.approx(
        dict(zip(again_keys.tolist(), again.tolist(), strict=True))
    )


def counter(table):
    return int(table.moment)


def test_processes_give_the_same_weights():
    alone = run_mixed(step, len(POINTS), shards=3, epochs=3)
    together = run_mixed(step, len(POINTS), shards=3, epochs=3, spread=spread_over("local", 2))
    assert np.array_equal(alone[0], together[0])
    assert np.array_equal(alone[1], together[1])


def test_it_goes_on_from_a_checkpoint(tmp_path):
    options = {"shards": 2, "seed": 4, "checkpoint": tmp_path / "state.npz", "fingerprint": "x"}
    whole = run_mixed(step, len(POINTS), shards=2, seed=4, epochs=4)
    run_mixed(step, len(POINTS), epochs=2, **options)
    again = run_mixed(step, len(POINTS), epochs=4, **options)
    assert np.array_equal(whole[1], again[1])
    with pytest.raises(FormatError, match="another training"):
        run_mixed(step, len(POINTS), epochs=4, **{**options, "shards": 3})


def test_mixtures():
    def learned(keys, weight, updates):
        return Learned(np.array(keys), np.full(len(keys), weight), np.full(len(keys), weight), 0.0, updates)

    for mixture, expected in (("updates", [0.75, 1.75, 1.0]), ("uniform", [0.5, 2.5, 2.0])):
        state = State(0, np.array([2]), np.array([9.0]), np.array([0.0]), Best())
        mix(state, [learned([1, 2], 1.0, 3), learned([2, 3], 4.0, 1)], mixture)
        assert state.keys.tolist() == [1, 2, 3]
        assert state.weights.tolist() == state.totals.tolist() == expected
    with pytest.raises(UnknownMethod, match="uniform"):
        run_mixed(step, 3, shards=1, epochs=1, mixture="mean")
