"""Scores as integers: what is no multiple or out of range is refused, and what is absent stays absent."""

import math

import numpy as np
import pytest

from zerogap.errors import VerificationError
from zerogap.proof.integers import (
    ABSENT,
    LEAST,
    RANGE,
    added,
    as_float,
    best_of,
    best_of_groups,
    bound_units,
    joined,
    number,
    plus,
    settled,
    sums,
    units,
    units_of,
    units_of_all,
)

EDGE = 2**53


def test_the_range():
    """Sums of two numbers fit in int64; one of them absent, they are below LEAST, and with both present, above."""
    assert ABSENT + ABSENT >= -(2**63)
    assert -RANGE - RANGE >= LEAST
    assert ABSENT + RANGE < LEAST
    assert EDGE <= RANGE
    assert ABSENT - RANGE >= -(2**63)


def test_scores_in_units():
    assert units(np.array([1.5, -np.inf, 0.0, -2.0]), 0.5).tolist() == [3, ABSENT, 0, -4]
    assert units(np.array([EDGE - 1.0, 1.0 - EDGE]), 1.0).tolist() == [EDGE - 1, 1 - EDGE]
    for bad in (0.25, float(EDGE), -float(EDGE)):
        with pytest.raises(VerificationError):
            units(np.array([0.0, bad]), 0.5 if bad == 0.25 else 1.0)


def test_numbers_in_units():
    assert units_of(1.5, 0.5, "x") == 3
    assert units_of(-2, 0.5, "x") == -4
    assert units_of(EDGE - 1.0, 1.0, "x") == EDGE - 1
    for bad in (math.inf, -math.inf, math.nan, True, "1", None, np.float64(1.0), 0.25, 0.75, float(EDGE), -float(EDGE), EDGE):
        with pytest.raises(VerificationError):
            units_of(bad, 0.5 if abs(bad if type(bad) is float else 1) < 1 else 1.0, "x")


def test_bounds_in_units():
    assert bound_units(1.5, 0.5) == 3
    assert bound_units(1.75, 0.5) == 3
    assert bound_units(-1.75, 0.5) == -4
    assert bound_units(math.inf, 0.5) == math.inf
    assert bound_units(-math.inf, 0.5) == -math.inf
    with pytest.raises(VerificationError):
        bound_units(1e300, 1e-300)


def test_sums_of_numbers():
    assert units_of_all((1.0, -2.5), 0.5, "x", beside=0) == [2, -5]
    assert units_of_all((1.0, -2.5), 0.5, "x", beside=RANGE - 8) == [2, -5]
    with pytest.raises(VerificationError):
        units_of_all((1.0, -2.5), 0.5, "x", beside=RANGE - 7)


def test_absent():
    assert settled(np.array([LEAST, LEAST - 1, ABSENT + 5, 2 * ABSENT, 7])).tolist() == [LEAST, ABSENT, ABSENT, ABSENT, 7]
    assert plus(np.array([ABSENT, 1]), np.array([5, 2])).tolist() == [ABSENT, 3]
    assert number(np.int64(LEAST)) == LEAST
    assert type(number(np.int64(3))) is int
    assert number(np.int64(LEAST - 1)) == -math.inf


def test_as_floats():
    assert as_float(3, 0.5) == 1.5
    assert as_float(EDGE, 1.0) == EDGE
    assert as_float(-math.inf, 0.5) == -math.inf
    for large in (EDGE + 1, -EDGE - 1):
        with pytest.raises(VerificationError):
            as_float(large, 1.0)


@pytest.mark.parametrize("k", [1, 2, 3, 5])
@pytest.mark.parametrize("width", [(1, 1), (1, 2), (3, 2), (4, 4)])
def test_lists_of_the_best(k, width):
    rng = np.random.default_rng(k)
    for _ in range(20):
        left = np.sort(rng.integers(-3, 4, (2, 3, width[0])))[..., ::-1]
        right = np.sort(rng.integers(-3, 4, (2, 3, width[1])))[..., ::-1]
        left, right = np.where(left < -2, ABSENT, left), np.where(right < -2, ABSENT, right)
        every = settled(left[..., :, None] + right[..., None, :])
        for found, wanted in ((added(left, right, k), every.reshape(2, 3, -1)), (joined(left, right, k), every.reshape(2, -1))):
            for row, given in zip(found.reshape(-1, k), wanted.reshape(-1, wanted.shape[-1]), strict=True):
                expected = sorted((x for x in given.tolist() if x >= LEAST), reverse=True)[:k]
                assert row.tolist() == expected + [ABSENT] * (k - len(expected))
        assert sums(left, right, k).shape[-1] <= width[0] * width[1]
        assert best_of(left[..., :0], k).tolist() == np.full((2, 3, k), ABSENT).tolist()


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("width", [1, 2])
def test_the_best_of_groups(k, width):
    rng = np.random.default_rng(k)
    for size in range(1, 7):
        group = np.sort(rng.integers(0, 3, size))
        lists = np.sort(rng.integers(-3, 4, (size, width)))[:, ::-1]
        start = np.flatnonzero(np.diff(group, prepend=-1))
        best = best_of_groups(lists, start, k)
        assert len(best) == len(start)
        for name, row in zip(group[start], best, strict=True):
            given = sorted(lists[group == name].reshape(-1).tolist(), reverse=True)[:k]
            assert row.tolist() == given + [ABSENT] * (k - len(given))


@pytest.mark.parametrize("k", [2, 3, 7])
def test_the_best_of_many(k):
    for seed in range(3):
        lists = np.random.default_rng(seed).integers(-(10**9), 10**9, (2, 5000))
        assert best_of(lists, k).tolist() == np.sort(lists, axis=1)[:, ::-1][:, :k].tolist()
