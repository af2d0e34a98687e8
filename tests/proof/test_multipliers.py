"""Multipliers at the edge of what is exact, of the wrong sign, and too many of them."""

import numpy as np
import pytest

from zerogap.errors import VerificationError
from zerogap.proof.integers import ABSENT, RANGE
from zerogap.proof.multipliers import checked_multipliers, largest_of, prices_of, refund
from zerogap.structures.linear import constraint_rows

ROWS = constraint_rows(5, [({0: 64, 1: -64}, "<=", 3), ({}, "<=", 1), ({2: 2}, "=", -5)], names=("first", "empty", "last"))


def test_what_they_make_of_rows():
    found = checked_multipliers((1.0, 0.5, -1.5), ROWS, 0.5, 0)
    assert found.tolist() == [2, 1, -3]
    assert prices_of(found, ROWS).tolist() == [128, -128, -6, 0, 0]
    assert refund(found, ROWS) == 2 * 3 + 1 * 1 + 3 * 5
    assert checked_multipliers((), constraint_rows(5, []), 0.5, 0).tolist() == []


@pytest.mark.parametrize("values", [(), (1.0, 1.0), (1.0,) * 4, (-1.0, 0.0, 0.0), (0.0, -1.0, 0.0), (0.25, 0.0, 0.0)])
def test_what_is_none(values):
    with pytest.raises(VerificationError):
        checked_multipliers(values, ROWS, 0.5, 0)


@pytest.mark.parametrize("times", [1, 3])
@pytest.mark.parametrize("values", [(3, 0, 0), (0, 4, 0), (0, 0, -5), (0, 0, 5), (2, 1, -1)])
def test_the_edge_of_the_range(values, times):
    """Entries as often as they may be used, limits and scores of structures count together: one unit below the range is in."""
    total = sum(abs(value) * size for value, size in zip(values, (times * 128 + 3, 1, times * 2 + 5), strict=True))
    given = tuple(map(float, values))
    checked_multipliers(given, ROWS, 1.0, RANGE - total - 1, times=times)
    with pytest.raises(VerificationError, match="so large"):
        checked_multipliers(given, ROWS, 1.0, RANGE - total, times=times)


def test_the_largest_score():
    tables = np.array([-7, 3, ABSENT]), np.array([5]), np.array([ABSENT]), np.zeros(0, dtype=np.int64)
    assert largest_of(10, *tables) == 70
    assert largest_of(10, tables[1]) == 50
    assert largest_of(10) == largest_of(10, *tables[2:]) == 0
