"""Numbers that break solvers: answers stay exact, or scores are refused; see docs/numbers.md."""

import numpy as np
import pytest

from zerogap import dependency, hypergraph, sequence
from zerogap.baselines import brute
from zerogap.errors import Infeasible, ScoreError
from zerogap.oracles.hypergraphs.semiring import enumerate_paths
from zerogap.proof.verify import verify
from zerogap.testing.draws import draw_hypergraph

SCALES = [1e300, 2.0**990, 1e-300, 5e-324, 2.0**-1050, 1e15, 1e-12, 1.0]


def table(rng, shape, scale):
    return rng.integers(-3, 4, shape) * scale


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("projective", [True, False])
@pytest.mark.parametrize("parts", [(), ("siblings",), ("siblings", "grandparents")])
def test_trees_of_any_scale(scale, projective, parts):
    rng = np.random.default_rng(3)
    for _ in range(5):
        larger = {name: table(rng, (4, 4, 4), scale) for name in parts}
        problem = dependency.Problem(table(rng, (4, 4), scale), **larger, projective=projective)
        best = brute.optimum(problem, brute.dependency_structures(problem))
        solution = dependency.decode(problem)
        assert solution.score == solution.bound == best
        verify(problem, solution)


@pytest.mark.parametrize("scale", SCALES)
def test_labels_of_any_scale(scale):
    rng = np.random.default_rng(4)
    rules = [sequence.no_duplicate("A"), sequence.soft(sequence.at_least_one("B"), max(scale, 1e-300))]
    problem = sequence.Problem(table(rng, (4, 3), scale), table(rng, (3, 3), scale), labels=("A", "B", "O"), constraints=rules)
    solution = sequence.decode(problem)
    assert solution.status == "optimal"
    verify(problem, solution)


def test_near_ties():
    """Differences of 1e-12 beside scores of about 1 decide, and are kept."""
    rng = np.random.default_rng(5)
    for _ in range(20):
        arcs = 1.0 + rng.integers(-2, 3, (5, 5)) * 1e-12
        problem = dependency.Problem(arcs)
        assert problem.resolution <= 2.0**-40
        best = brute.optimum(problem, brute.dependency_structures(problem))
        assert dependency.decode(problem).score == best
        exact = max(sum(float(arcs[h, m]) for m, h in enumerate(heads, 1)) for heads in brute.all_trees(4))
        assert abs(best - exact) <= 4 * problem.resolution


def test_magnitudes_that_one_grid_cannot_hold():
    """Beside 1e15, what is below the resolution is rounded away, once and for all: the answer is exact for the rounded scores."""
    problem = dependency.Problem([[0, 1e15, 1e15], [0, 0, 1e-9], [0, 0.4, 0]])
    assert problem.resolution > 1e-9
    assert problem.arcs[1, 2] == 0.0
    solution = dependency.decode(problem)
    assert solution.status == "optimal"
    verify(problem, solution)


def test_ties_everywhere():
    for n in (1, 5, 12):
        problem = dependency.Problem(np.zeros((n + 1, n + 1)), siblings=np.zeros((n + 1,) * 3))
        first, again = dependency.decode(problem), dependency.decode(problem)
        assert first.structure == again.structure
        assert first.score == first.bound == 0.0


def test_thousands_of_holes():
    """One tree is left of all, and then none."""
    n = 60
    rng = np.random.default_rng(6)
    arcs = np.full((n + 1, n + 1), -np.inf)
    heads = np.array([rng.integers(0, m) if m > 1 else 0 for m in range(1, n + 1)])
    heads[1:][heads[1:] == 0] = 1
    arcs[heads, np.arange(1, n + 1)] = rng.integers(-3, 4, n)
    solution = dependency.decode(dependency.Problem(arcs))
    assert solution.structure == tuple(heads)
    arcs[heads[-1], n] = -np.inf
    with pytest.raises(Infeasible):
        dependency.decode(dependency.Problem(arcs))
    emissions = np.full((200, 50), -np.inf)
    emissions[:, 7] = 1.0
    found = sequence.decode(sequence.Problem(emissions))
    assert found.structure == (7,) * 200


@pytest.mark.parametrize("scale", [1e300, 5e-324, 1e-12])
def test_hypergraphs_of_any_scale(scale):
    for seed in range(10):
        given = draw_hypergraph(np.random.default_rng([seed, 1]))
        finite = np.where(np.isfinite(given.scores), np.sign(given.scores), 0.0) * scale
        problem = hypergraph.Problem(given.hypergraph, finite, given.constraints)
        best = brute.optimum(problem, enumerate_paths(problem.hypergraph)[:2000])
        try:
            solution = hypergraph.decode(problem)
        except Infeasible:
            continue
        assert solution.score == solution.bound >= best
        verify(problem, solution)


@pytest.mark.parametrize("bad", [1e308, 2.0**1010, np.inf, np.nan])
def test_what_is_refused(bad):
    for make in (
        lambda: dependency.Problem(np.full((9, 9), bad)),
        lambda: sequence.Problem(np.full((9, 3), bad)),
    ):
        with pytest.raises(ScoreError):
            make()
