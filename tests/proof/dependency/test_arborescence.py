"""Best arborescences and what arcs lose, against all trees of small graphs."""

import itertools
import math

import numpy as np
import pytest

from zerogap.proof.dependency.arborescence import best_arborescence, cycle_of
from zerogap.proof.integers import ABSENT


def trees(n, single_root):
    for heads in itertools.product(range(n + 1), repeat=n):
        chosen = dict(enumerate(heads, start=1))
        if (not single_root or heads.count(0) == 1) and all(reaches_root(chosen, m) for m in chosen):
            yield heads


def reaches_root(chosen, m):
    for _ in range(len(chosen) + 1):
        if m == 0:
            return True
        m = chosen[m]
    return False


@pytest.mark.parametrize("single_root", [False, True])
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_against_all_trees(n, single_root):
    rng = np.random.default_rng(n)
    every = list(trees(n, single_root))
    for i in range(60 if n < 4 else 25):
        weights = rng.integers(-4, 5, (n + 1, n + 1)) * (1 if i % 3 else 1000)
        weights[rng.random(weights.shape) < (0.0, 0.3, 0.6)[i % 3]] = ABSENT
        scored = [([(h, m) for m, h in enumerate(heads, start=1)], heads) for heads in every]
        found = [(sum(int(weights[arc]) for arc in arcs), arcs) for arcs, _ in scored if all(weights[arc] > ABSENT for arc in arcs)]
        result = best_arborescence(weights, single_root)
        assert result.value == max((total for total, _ in found), default=-math.inf)
        if not found:
            assert result.slack is None
            continue
        slack = result.slack
        for total, arcs in found:  # what a tree loses is the sum of what its arcs lose, or more
            assert total <= result.value - sum(int(slack[arc]) for arc in arcs)
        assert (slack[:, 1:][weights[:, 1:] == ABSENT] == 0).all()
        assert all((slack[arc] >= 0) for h in range(n + 1) for m in range(1, n + 1) if h != m for arc in [(h, m)])


def test_what_arcs_lose():
    """Never lazy: where every word has its best head, another head loses the difference, and where a cycle is left, what that costs."""
    weights = np.array([[0, 9, 2, ABSENT], [0, 0, 8, 1], [0, 3, 0, 7], [0, ABSENT, -5, 0]])
    slack = best_arborescence(weights, False).slack
    assert slack[:, 1:].tolist() == [[0, 6, 0], [slack[1, 1], 0, 6], [6, slack[2, 2], 0], [0, 13, slack[3, 3]]]
    cycle = np.array([[0, 1, 0], [0, 0, 10], [0, 10, 0]])
    found = best_arborescence(cycle, False)
    assert found.value == 11
    assert found.slack[0, 1] == found.slack[1, 2] == found.slack[2, 1] == 0
    assert found.slack[0, 2] == 1


def test_one_arc_from_the_root():
    weights = np.array([[0, 5, 5, 5], [0, 0, 1, 0], [0, 0, 0, 2], [0, 0, 0, 0]])
    found = best_arborescence(weights, True)
    assert found.value == 8
    assert found.slack[0, 1] == 0
    assert found.slack[0, 2] >= 1
    assert best_arborescence(np.array([[0, 5, 5], [0, 0, ABSENT], [0, ABSENT, 0]]), True).value == -math.inf


@pytest.mark.parametrize("single_root", [False, True])
@pytest.mark.parametrize("bits", [40, 55, 56, 57])
def test_large_numbers(single_root, bits):
    """Exact, however large; what arcs lose is not known where sums might leave int64."""
    large = (1 << bits) - 1
    rng = np.random.default_rng(bits)
    for _ in range(30):
        weights = rng.integers(-3, 4, (4, 4)) + rng.choice((-large, 0, large), (4, 4))
        found = best_arborescence(weights, single_root)
        totals = [[int(weights[h, m]) for m, h in enumerate(heads, start=1)] for heads in trees(3, single_root)]
        assert found.value == max(map(sum, totals))
        if found.slack is not None:
            for heads in trees(3, single_root):
                arcs = [(h, m) for m, h in enumerate(heads, start=1)]
                assert sum(int(weights[arc]) for arc in arcs) <= found.value - sum(int(found.slack[arc]) for arc in arcs)
        assert (found.slack is not None) or bits > 50


def test_where_sums_might_leave_the_range():
    """One word: its arc is the dual; with a single root it is a dual of -(w + 1) at a cost of 2 w + 1."""
    for single_root, edge in ((False, 1 << 62), (True, ((1 << 62) - 3 + 4) // 5)):
        for weight, known in ((edge - 1, True), (edge, False)):
            found = best_arborescence(np.array([[0, weight], [0, 0]]), single_root)
            assert found.value == weight
            assert (found.slack is not None) == known
    weights = np.full((7, 7), (1 << 57) - 1)
    assert best_arborescence(weights, True).value == 6 * ((1 << 57) - 1)
    assert best_arborescence(weights, True).slack is None


def test_cycles():
    assert cycle_of({1: 0, 2: 1, 3: 2}) is None
    assert cycle_of({}) is None
    assert sorted(cycle_of({1: 2, 2: 1, 3: 0})) == [1, 2]
    assert sorted(cycle_of({1: 2, 2: 3, 3: 2})) == [2, 3]
    assert cycle_of({1: 1}) == [1]
