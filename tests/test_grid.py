import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zerogap.errors import ScoreError
from zerogap.grid import choose_resolution, floor_to_unit, largest_magnitude, round_to_grid, unit_of

numbers = st.floats(-1e6, 1e6, allow_nan=False)


@given(st.lists(numbers, min_size=1, max_size=40), st.randoms(use_true_random=False))
def test_sums_on_the_grid_do_not_depend_on_order(values, random):
    array = np.array(values)
    resolution = choose_resolution(largest_magnitude(array), len(values))
    rounded = round_to_grid(array, resolution)
    exact = sum(int(v / resolution) for v in rounded) * resolution
    shuffled = rounded.tolist()
    random.shuffle(shuffled)
    assert sum(shuffled) == sum(rounded.tolist()) == float(rounded.sum()) == exact
    assert (np.abs(rounded - array) <= resolution / 2).all()


@given(st.lists(st.integers(-100, 100), min_size=1, max_size=10), st.integers(0, 5))
def test_the_unit_divides_every_score(values, shift):
    array = np.array(values, dtype=float) * 2.0**shift
    resolution = choose_resolution(largest_magnitude(array), 10)
    unit = unit_of(resolution, round_to_grid(array, resolution))
    assert all(v % unit == 0 for v in array)
    if any(values):
        assert any(v % (2 * unit) for v in array)
        assert unit >= 2.0**shift


def test_typical_resolution_is_fine():
    assert choose_resolution(20.0, 100) <= 2.0**-32
    assert choose_resolution(0.0, 100) <= 2.0**-32
    assert choose_resolution(20.0, 100, asked=2.0**-10) == 2.0**-10


@pytest.mark.parametrize("asked", [0.3, -1.0, 0.0, math.nan, math.inf, 2.0**-60])
def test_bad_resolution(asked):
    with pytest.raises(ScoreError, match="resolution is"):
        choose_resolution(1.0, 10, asked=asked)


def test_extremes():
    with pytest.raises(ScoreError, match="overflow"):
        choose_resolution(1e308, 1000)
    huge = np.array([1e300, -1e300, 5e-324, -np.inf])
    resolution = choose_resolution(1e300, 10)
    rounded = round_to_grid(huge, resolution)
    assert rounded[2] == 0.0
    assert rounded[3] == -np.inf
    assert rounded[0] + rounded[1] == 0.0
    assert floor_to_unit(7.5, 2.0) == 6.0
    assert floor_to_unit(-7.5, 2.0) == -8.0
    assert floor_to_unit(-math.inf, 2.0) == -math.inf


def test_the_resolution_of_the_largest_scores_may_be_asked_for():
    """A part of a problem has the grid of the whole, though its own sums are smaller."""
    coarse = choose_resolution(3e300, 100)
    assert choose_resolution(3e300, 2, asked=coarse) == coarse
