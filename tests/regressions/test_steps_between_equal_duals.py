"""L(u) = |1 - u|: with steps of 2 the dual is 1 at 0, at 2, at 0, ... It never increases, and must converge all the same."""

import numpy as np

from zerogap.relax.lagrangian import Answer, Oracle, minimise_dual
from zerogap.structures.linear import agreement


def take_or_leave(score):
    def best(weights):
        used = np.flatnonzero(weights > 0)
        return Answer(tuple(used.tolist()), used)

    return Oracle(np.array([score]), best)


def test_equal_values_shrink_the_step():
    relaxed = minimise_dual(
        [take_or_leave(1.0), take_or_leave(-1.0)],
        agreement(2, [(0, 1)]),
        resolution=2.0**-20,
        terms=2,
        step="increases",
        scale=2.0,
        repair=lambda state: None,
        max_iterations=500,
    )
    assert relaxed.bound < 0.01
