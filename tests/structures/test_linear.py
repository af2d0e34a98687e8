import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from zerogap.errors import ConstraintError
from zerogap.structures.linear import agreement, constraint_matrix, constraint_rows


@given(st.integers(0, 5), st.integers(1, 6), st.randoms(use_true_random=False))
def test_products_are_those_of_the_matrix(n_rows, n_parts, random):
    matrix = np.array([[random.choice([0, 0, 1, -2, 3]) for _ in range(n_parts)] for _ in range(n_rows)], dtype=float).reshape(
        n_rows, n_parts
    )
    limits = np.array([random.randint(-2, 2) for _ in range(n_rows)], dtype=float)
    rows = constraint_matrix(matrix, "<=", limits)
    also = constraint_matrix(sparse.coo_matrix(matrix), "<=", limits)
    parts = [random.randrange(n_parts) for _ in range(4)]
    counts = np.bincount(parts, minlength=n_parts)
    prices = np.array([random.randint(-3, 3) for _ in range(n_rows)], dtype=float)
    for each in (rows, also):
        assert each.excess(parts).tolist() == (matrix @ counts - limits).tolist()
        assert each.transposed_times(prices).tolist() == (matrix.T @ prices).tolist()
    chosen = [r for r in range(n_rows) if random.random() < 0.5][::-1]
    assert rows.select(chosen).excess(parts).tolist() == (matrix @ counts - limits)[chosen].tolist()


def test_senses_and_names():
    rows = constraint_rows(3, [([0, 1], ">=", 1), ({2: 3}, "<=", 2), ([0], "=", 1)], names=["some", "few", "first"])
    assert rows.violated(rows.excess([1, 2])).tolist() == [False, True, True]
    assert rows.violated(rows.excess([0])).tolist() == [False, False, False]
    pairs = agreement(4, [(0, 2), (1, 3)])
    assert pairs.excess([0, 3]).tolist() == [1.0, -1.0]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: constraint_rows(2, [([0], "<", 1)]), "sense '<'"),
        (lambda: constraint_rows(2, [([5], "=", 1)]), "row 0 names part 5"),
        (lambda: constraint_rows(2, [([0], "=", 1), ([0, 0], "=", 1)]), "row 1 names a part twice"),
        (lambda: constraint_rows(2, [({0: 0.5}, "=", 1)]), "coefficient 0.5"),
        (lambda: constraint_rows(2, [({0: 1}, "=", float("nan"))]), "limit nan"),
        (lambda: constraint_rows(2, [({0: 2.0**40}, "=", 1)]), "2\\^20"),
        (lambda: constraint_rows(2, [([0], "=", 1)], names=["a", "b"]), "1 rows and 2 names"),
        (lambda: constraint_matrix(np.zeros(3), "=", 0), "shape \\(3,\\)"),
        (lambda: constraint_matrix(np.zeros((2, 3)), "=", [1, 2, 3]), "3 limits"),
        (lambda: constraint_matrix(np.zeros((2, 3)), ["="], 0), "1 senses"),
    ],
)
def test_bad_rows(make, message):
    with pytest.raises(ConstraintError, match=message):
        make()
