"""The engine with oracles of its own: agreement, laziness, step rules, hooks, limits."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zerogap.errors import ConstraintError, InputError, ScoreError, UnknownMethod
from zerogap.relax.candidate import Candidate
from zerogap.relax.lagrangian import Answer, Oracle, minimise_dual
from zerogap.relax.steps import STEP_RULES, Progress
from zerogap.structures.linear import LinearConstraints, agreement, constraint_rows, nothing

RESOLUTION = 2.0**-30


def listed(structures, scores):
    """An oracle over an explicit list of structures, each the set of its parts."""
    sets = [np.array(sorted(parts), dtype=np.int64) for parts in structures]

    def best(weights):
        values = [float(weights[parts].sum()) for parts in sets]
        k = int(np.argmax(values))
        return Answer(tuple(sets[k].tolist()), sets[k]) if values[k] > -np.inf else None

    return Oracle(np.array(scores, dtype=np.float64), best)


@st.composite
def pairs(draw):
    """Two oracles over the same few parts that must agree on them, and the brute-force optimum."""
    n = draw(st.integers(1, 4))
    subsets = st.lists(st.frozensets(st.integers(0, n - 1)), min_size=1, max_size=5)
    left, right = draw(subsets), draw(subsets)
    scores = [np.array(draw(st.lists(st.integers(-4, 4), min_size=n, max_size=n)), dtype=np.float64) for _ in range(2)]
    both = [sum(scores[0][list(s)]) + sum(scores[1][list(s)]) for s in set(left) & set(right)]
    return n, [listed(left, scores[0]), listed(right, scores[1])], scores, max(both, default=-np.inf)


def agreed(scores):
    def repair(state):
        left, right = state.structures
        return Candidate(left, float(scores[0][list(left)].sum() + scores[1][list(left)].sum())) if left == right else None

    return repair


@given(pairs(), st.sampled_from(sorted(STEP_RULES)))
def test_never_wrong(instance, step):
    n, oracles, scores, optimum = instance
    rows = agreement(2 * n, [(i, n + i) for i in range(n)])
    relaxed = minimise_dual(oracles, rows, resolution=RESOLUTION, terms=2 * n, repair=agreed(scores), step=step, max_iterations=60)
    assert relaxed.bound >= optimum
    if relaxed.best is not None:
        assert relaxed.best.score <= optimum
    if relaxed.reason == "optimal":
        assert relaxed.bound == relaxed.best.score == optimum
    assert relaxed.iterations <= 60
    assert np.allclose(relaxed.multipliers / RESOLUTION, np.rint(relaxed.multipliers / RESOLUTION))


@given(pairs())
def test_never_lazy(instance):
    """With many small steps the bound reaches the best that this relaxation can give, found here on a grid of prices."""
    n, oracles, scores, _ = instance
    if n > 2:
        return
    rows = agreement(2 * n, [(i, n + i) for i in range(n)])
    best_dual = math.inf
    for prices in itertools.product(np.arange(-9, 9.5, 0.5), repeat=n):
        u = np.array(prices)
        values = [oracles[0].best(scores[0] - u), oracles[1].best(scores[1] + u)]
        dual = sum(float(w[a.parts].sum()) for w, a in zip((scores[0] - u, scores[1] + u), values, strict=True))
        best_dual = min(best_dual, dual)
    relaxed = minimise_dual(
        oracles,
        rows,
        resolution=RESOLUTION,
        unit=RESOLUTION,
        terms=2 * n,
        repair=agreed(scores),
        step="increases",
        scale=2.0,
        max_iterations=3000,
    )
    if best_dual > -20:  # otherwise nothing agrees and the dual has no minimum
        assert relaxed.bound <= best_dual + 0.05


def chain(n):
    """Oracle k and oracle k + 1 share part k: a change of one price concerns two of them."""
    oracles = [listed([{0}, {1}, {0, 1}, set()], [float((7 * k) % 5 - 2), float((3 * k) % 4 - 2)]) for k in range(n)]
    return oracles, agreement(2 * n, [(2 * k + 1, 2 * k + 2) for k in range(n - 1)])


def test_only_oracles_with_changed_scores_are_asked_again():
    oracles, rows = chain(12)
    relaxed = minimise_dual(
        oracles, rows, resolution=RESOLUTION, terms=24, repair=lambda state: None, step="constant", scale=0.5, max_iterations=20
    )
    assert relaxed.iterations == 20 or relaxed.reason == "stationary"
    assert relaxed.oracle_calls < 12 * relaxed.iterations


def feasible(scores, rows):
    def repair(state):
        if rows().violated(rows().excess(state.parts)).any():
            return None
        return Candidate(state.structures[0], float(scores[list(state.parts)].sum()))

    return repair


def test_tightening_adds_rows():
    scores = np.array([3.0, 2.0, 2.0])
    structures = [set(s) for k in range(4) for s in itertools.combinations(range(3), k)]
    full = constraint_rows(3, [([0, 1], "<=", 1), ([1, 2], "<=", 1), ([0, 2], "<=", 1)])
    added = []

    def tighten(state):
        broken = np.flatnonzero(full.violated(full.excess(state.parts)))
        new = [int(r) for r in broken if r not in added][:1]
        added.extend(new)
        return full.select(new) if new else None

    relaxed = minimise_dual(
        [listed(structures, scores)], nothing(3), resolution=RESOLUTION, unit=1.0, terms=3, repair=feasible(scores, lambda: full),
        tighten=tighten, max_iterations=200,
    )  # fmt: skip
    assert relaxed.best.score == 3.0
    assert 3.0 <= relaxed.bound < 7.0
    assert len(relaxed.constraints) == len(relaxed.multipliers) == len(added) > 0
    with pytest.raises(ConstraintError, match="tightening"):
        minimise_dual(
            [listed(structures, scores)], nothing(3), resolution=RESOLUTION, terms=3, repair=lambda s: None, tighten=lambda s: nothing(5)
        )


def instance() -> tuple[list[Oracle], LinearConstraints, np.ndarray]:
    scores = np.array([3.0, 2.0, 2.0])
    structures = [set(s) for k in range(4) for s in itertools.combinations(range(3), k)]
    return [listed(structures, scores)], constraint_rows(3, [({0: 2, 1: 2, 2: 2}, "<=", 3)]), scores


def test_hooks_limits_and_warm_starts():
    oracles, rows, scores = instance()
    options = {"resolution": RESOLUTION, "terms": 3, "repair": feasible(scores, lambda: rows)}
    cold = minimise_dual(oracles, rows, **options, max_iterations=100)
    assert cold.reason == "iterations"
    assert cold.bound > cold.best.score
    warm = minimise_dual(oracles, rows, **options, multipliers=cold.multipliers, max_iterations=1)
    assert warm.bound == cold.bound
    assert minimise_dual(oracles, rows, **options, stop=lambda state: state.iteration == 3).reason == "hook"
    assert minimise_dual(oracles, rows, **options, time_limit=0.0).iterations == 1
    assert minimise_dual(oracles, rows, **options, patience=5, max_iterations=1000).reason == "stalled"
    assert minimise_dual(oracles, rows, **options, unit=1.0, max_iterations=1000).bound in (3.0, 4.0)
    known = Candidate("known", cold.bound + 1)
    assert minimise_dual(oracles, rows, **options, incumbent=known).reason == "optimal"


def test_impossible_rows_are_proved_impossible():
    oracles, _, scores = instance()
    rows = constraint_rows(3, [([0, 1, 2], ">=", 5)])
    relaxed = minimise_dual(oracles, rows, resolution=RESOLUTION, terms=3, repair=feasible(scores, lambda: rows), floor=0.0)
    assert relaxed.reason == "infeasible"
    assert relaxed.best is None
    nothing_allowed = [listed([{0}], [-math.inf])]
    assert minimise_dual(nothing_allowed, nothing(1), resolution=RESOLUTION, terms=1, repair=lambda s: None).reason == "infeasible"


def test_step_rules():
    progress = Progress(iteration=4, increases=3, failures=7, stalled=9, bound=10.0, target=4.0, squared_norm=2.0)
    sizes = {name: rule(2.0, progress) for name, rule in STEP_RULES.items()}
    assert sizes == {"constant": 2.0, "harmonic": 0.5, "increases": 0.25, "halving": 0.25, "polyak": 3.0}


def test_bad_input():
    oracles, rows, _ = instance()
    options = {"resolution": RESOLUTION, "terms": 3, "repair": lambda state: None}
    with pytest.raises(UnknownMethod, match="step rule"):
        minimise_dual(oracles, rows, **options, step="newton")
    with pytest.raises(InputError, match="scale"):
        minimise_dual(oracles, rows, **options, scale=0.0)
    with pytest.raises(ConstraintError, match="5 parts, the oracles have 3"):
        minimise_dual(oracles, nothing(5), **options)
    with pytest.raises(ConstraintError, match="multipliers has shape"):
        minimise_dual(oracles, rows, **options, multipliers=np.zeros(4))


def test_numbers_off_the_grid_are_refused():
    """Rounded down to a unit that the scores do not have, a bound would be below the optimum."""
    oracles, rows, _ = instance()
    options = {"resolution": RESOLUTION, "terms": 3, "repair": lambda state: None}
    with pytest.raises(ScoreError, match=r"scores\[0\] of oracle 0 is 0.1: expected a multiple"):
        minimise_dual([replace(oracles[0], scores=np.full(len(oracles[0].scores), 0.1)), *oracles[1:]], rows, **options)
    with pytest.raises(ScoreError, match="expected a multiple of 2.0"):
        minimise_dual([replace(oracles[0], scores=np.ones(len(oracles[0].scores))), *oracles[1:]], rows, **options, unit=2.0)
    off = replace(oracles[0], best=lambda weights: replace(oracles[0].best(weights), rest=0.1))
    with pytest.raises(ScoreError, match="rest of an answer"):
        minimise_dual([off, *oracles[1:]], rows, **options)
    with pytest.raises(ScoreError, match="multipliers"):
        minimise_dual(oracles, rows, **options, multipliers=np.full(len(rows), 0.1))
    with pytest.raises(ScoreError, match="not exact"):
        minimise_dual([replace(oracles[0], scores=oracles[0].scores + 2.0**40), *oracles[1:]], rows, **options)
    for name in ("resolution", "unit"):
        with pytest.raises(ScoreError, match=f"{name} is 3.0: expected a power of two"):
            minimise_dual(oracles, rows, **{**options, name: 3.0})
    with pytest.raises(ScoreError, match="expected a multiple of the resolution"):
        minimise_dual(oracles, rows, **options, unit=RESOLUTION / 2)
