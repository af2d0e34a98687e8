"""What all tree oracles accept as arc scores, and how they refuse the rest."""

import numpy as np
import pytest

from zerogap.errors import ScoreError, ScoreShapeError, ScoreTypeError
from zerogap.oracles.trees.arborescence import arborescence_duals, maximum_arborescence
from zerogap.oracles.trees.eisner import eisner


def heads_with_duals(scores, **options):
    return arborescence_duals(scores, **options)[0]


pytestmark = pytest.mark.parametrize("solve", [maximum_arborescence, heads_with_duals, eisner])


@pytest.mark.parametrize("single_root", [True, False])
def test_any_array_of_real_numbers(solve, single_root):
    scores = np.random.default_rng(1).integers(-5, 6, (7, 7)).astype(np.float64)
    expected = solve(scores, single_root=single_root)
    frozen = scores.copy()
    frozen.flags.writeable = False
    before = scores.copy()
    others = [
        frozen, np.asfortranarray(scores), np.tile(scores, 2)[:, :7], scores.astype(np.float32), scores.astype(np.int64), scores.tolist(),
    ]  # fmt: skip
    for given in others:
        assert (solve(given, single_root=single_root) == expected).all()
    assert (scores == before).all()


@pytest.mark.parametrize("single_root", [True, False])
def test_what_means_nothing_is_ignored(solve, single_root):
    scores = np.random.default_rng(2).integers(-5, 6, (5, 5)).astype(np.float64)
    expected = solve(scores, single_root=single_root)
    for value in (np.nan, np.inf, -np.inf, 100.0):
        other = scores.copy()
        other[:, 0] = value
        np.fill_diagonal(other, value)
        assert (solve(other, single_root=single_root) == expected).all()


def test_errors_name_what_is_wrong(solve):
    for value in (np.nan, np.inf):
        scores = np.zeros((4, 4))
        scores[2, 3] = value
        with pytest.raises(ScoreError, match=r"scores\[2, 3\]"):
            solve(scores)
    for shape in [(0, 0), (3,), (3, 4), (4, 3), (2, 2, 2), ()]:
        with pytest.raises(ScoreShapeError, match="expected"):
            solve(np.zeros(shape))
    with pytest.raises(ScoreShapeError):
        solve(3.0)
    with pytest.raises(ScoreTypeError):
        solve([["a", "b"], ["c", "d"]])
