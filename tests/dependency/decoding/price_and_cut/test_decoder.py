"""Parse, price and cut: never wrong, always proven, never lazier than its relaxation, and few parts are scored."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zerogap.baselines.brute import dependency_structures, optimum
from zerogap.baselines.dependency_ilp import solve_dependency
from zerogap.dependency import Problem, Sparse, decode, train
from zerogap.dependency.decoding.price_and_cut.cuts import crossings, unentered_sets
from zerogap.dependency.decoding.price_and_cut.decoder import Search, priced
from zerogap.dependency.decoding.price_and_cut.known_scores import GrandparentMaxima, SiblingMaxima
from zerogap.dependency.decoding.price_and_cut.polytope import RefinedPolytope, all_known
from zerogap.dependency.scoring.bounds import lazy_problem
from zerogap.dependency.scoring.bounds_offline import compute_bounds
from zerogap.dependency.scoring.sentence import every_arc
from zerogap.errors import Infeasible, InputError, ScoreError, ScoreShapeError, UnknownMethod, VerificationError
from zerogap.io.formats.conllu import read_conllu
from zerogap.papers.riedel2012.full_program import CONSTRAINTS, solve_grandparents
from zerogap.problems.dependency.parts import Lazy
from zerogap.proof.certificate import Leaves
from zerogap.proof.solution import Solution
from zerogap.proof.verify import verify
from zerogap.testing.strategies import dependency_problems

pytestmark = pytest.mark.compiled

KINDS = ["grandparents", "siblings", "stops"]


def drawn(n, seed, kinds, *, gold=True, **options):
    """Scores of a sentence as a trained model gives them, more or less: a tree with a margin, and noise; or noise alone."""
    rng = np.random.default_rng(seed)
    arcs = rng.standard_normal((n + 1, n + 1))
    if gold:
        heads = [int(rng.integers(0, m)) if m > 1 else 0 for m in range(1, n + 1)]
        heads = [h if h or m == 1 else 1 for m, h in enumerate(heads, start=1)]
        arcs[heads, np.arange(1, n + 1)] += 3.0
    parts = {name: 0.3 * rng.standard_normal((n + 1,) * 3) for name in kinds}
    if "siblings" in kinds and options.get("single_root", True):
        parts["siblings"][0, 1:] = -np.inf  # as it is: the root has one modifier
    return Problem(arcs, **parts, **options)


@pytest.mark.parametrize("kinds", [("grandparents",), ("siblings",), ("grandparents", "siblings")])
@pytest.mark.parametrize("gold", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_never_lazy(kinds, gold, seed):
    """The value is that of the full program over mixtures of trees, and below that of the flow of one commodity."""
    problem = drawn(7, seed, kinds, gold=gold, single_root=seed % 2 == 0)
    found = priced(problem, problem.arcs)
    full = solve_dependency(problem, flow="multi")
    assert found.value == pytest.approx(full.value, rel=1e-6)
    assert found.value <= solve_dependency(problem, flow="single").value + 1e-6
    assert found.integral == full.integral
    alone = priced(problem, problem.arcs, branch=False).closed
    assert alone.bound == pytest.approx(max(full.value, alone.best.score), rel=1e-6)
    assert alone.best.score <= found.closed.best.score == found.closed.bound <= alone.bound
    verify(problem, found.closed.solution())


@pytest.mark.parametrize("constraints", CONSTRAINTS)
@pytest.mark.parametrize("seed", range(3))
def test_programs_of_the_paper(constraints, seed):
    """Algorithm 1 finds the value of the full program, with any families of rows; those that are compared elsewhere agree."""
    problem = drawn(7, seed, ("grandparents",), gold=seed > 0, single_root=seed != 2)
    full = solve_grandparents(problem, constraints=constraints, price=False)
    for tighten in (False, True):
        grown = solve_grandparents(problem, constraints=constraints, tighten=tighten)
        assert grown.value == pytest.approx(full.value, rel=1e-6)
        assert grown.complete
        assert grown.added <= grown.scored <= grown.possible == full.added == full.scored
    tight = solve_dependency(problem).value
    assert full.value >= tight - 1e-6
    if constraints in ("OneGP+GPArc", "all"):
        assert full.value == pytest.approx(tight, rel=1e-6)
    if constraints == "ArcGP+GPArc":
        assert full.value == pytest.approx(solve_dependency(problem, grandparents="2009").value, rel=1e-6)
    if full.integral and constraints == "all":
        assert problem.score(full.heads) == decode(problem, method="price-and-cut").score


@given(problem=dependency_problems(max_words=4, kinds=["grandparents"], projective=False))
@settings(max_examples=60)
def test_programs_of_the_paper_are_outer_bounds(problem):
    if problem.larger != ["grandparents"] or problem.n_words == 0:
        return
    best = optimum(problem, dependency_structures(problem))
    for constraints in CONSTRAINTS:
        for price in (False, True):
            try:
                found = solve_grandparents(problem, constraints=constraints, price=price)
            except Infeasible:
                assert best == -np.inf
                continue
            assert found.value >= best - 1e-6


def test_few_parts_are_scored_and_bounds_are_checked():
    n = 12
    dense = drawn(n, 3, ("grandparents", "siblings"))
    tables = {name: getattr(dense, name).dense(n) for name in ("grandparents", "siblings")}
    lazy = Problem(
        dense.arcs, **{name: Lazy(lambda *i, table=table: table[i], 3.0) for name, table in tables.items()}, resolution=dense.resolution * 4
    )
    without = priced(lazy, lazy.arcs)
    assert lazy.grandparents.scored >= n * (n - 1) ** 2  # nothing is known of a function
    bounds = {
        "grandparents": GrandparentMaxima(tables["grandparents"].max(axis=0), tables["grandparents"].max(axis=2)),
        "siblings": SiblingMaxima(tables["siblings"].max(axis=1), tables["siblings"].max(axis=2)),
    }
    before = lazy.parts_scored
    found = priced(lazy, lazy.arcs, bounds=bounds)
    assert found.closed.best.score == without.closed.best.score == found.closed.bound
    # in the end the problem scores the tree itself once more
    assert lazy.parts_scored - before <= sum(found.scored.values()) + 2 * n
    assert found.scored["grandparents"] < 0.1 * found.possible["grandparents"]
    assert found.added["grandparents"] <= found.scored["grandparents"]
    verify(lazy, found.closed.solution())

    wrong = {"grandparents": replace(bounds["grandparents"], over_grandparents=bounds["grandparents"].over_grandparents - 5.0)}
    with pytest.raises(ScoreError, match=r"grandparents\[\d+, \d+, \d+\] is .*, more than its bound"):
        priced(lazy, lazy.arcs, bounds=bounds | wrong)
    priced(lazy, lazy.arcs, bounds=bounds, check_bounds=True)
    unlikely = bounds["grandparents"].over_grandparents.copy()
    unlikely[12, 4] -= 5.0
    wrong = {"grandparents": replace(bounds["grandparents"], over_grandparents=unlikely)}
    with pytest.raises(ScoreError, match=r"grandparents\[\d+, 12, 4\] is .*, more than its bound"):
        priced(lazy, lazy.arcs, bounds=bounds | wrong, check_bounds=True)
    for value in (np.nan, np.inf):
        table = bounds["siblings"].over_siblings.copy()
        table[2, 3] = value
        with pytest.raises(ScoreError, match=r"over_siblings\[2, 3\] of siblings is (nan|inf): expected a finite bound"):
            priced(lazy, lazy.arcs, bounds=bounds | {"siblings": replace(bounds["siblings"], over_siblings=table)})
    with pytest.raises(ScoreShapeError, match=r"over_modifiers of siblings has shape \(2, 2\): expected \(13, 13\)"):
        priced(lazy, lazy.arcs, bounds=bounds | {"siblings": replace(bounds["siblings"], over_modifiers=np.zeros((2, 2)))})


@dataclass(frozen=True)
class Loose:
    over_grandparents: np.ndarray
    over_modifiers: np.ndarray


@pytest.mark.parametrize("looseness", [0.0, 0.3, 5.0])
@pytest.mark.parametrize("seed", range(3))
def test_loose_bounds_change_nothing_but_work(looseness, seed):
    n = 8
    problem = drawn(n, seed, ("grandparents",), gold=seed > 0)
    table = problem.grandparents.dense(n)
    bounds = {"grandparents": Loose(table.max(axis=0) + looseness, table.max(axis=2) + looseness)}
    found, tight = priced(problem, problem.arcs, bounds=bounds, check_bounds=True), priced(problem, problem.arcs)
    assert found.value == pytest.approx(tight.value, rel=1e-6)
    assert found.closed.best.score == tight.closed.best.score == found.closed.bound
    verify(problem, found.closed.solution())


def test_a_list_of_parts():
    problem = drawn(9, 1, ("grandparents",))
    index = np.argwhere(problem.grandparents.dense(9) > 0.4)
    sparse = Problem(problem.arcs, grandparents=Sparse(index, problem.grandparents.dense(9)[tuple(index.T)]))
    solution = decode(sparse, method="price-and-cut")
    assert solution.score == decode(sparse).score == solution.bound
    verify(sparse, solution)


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("projective", [False, True])
def test_ties_are_broken_alike(n, projective):
    problem = Problem(np.zeros((n + 1, n + 1)), siblings=np.zeros((n + 1,) * 3), grandparents=np.zeros((n + 1,) * 3), projective=projective)
    solutions = [decode(problem, method="price-and-cut") for _ in range(2)]
    assert len({solution.structure for solution in solutions}) == 1
    assert solutions[0].status == "optimal"
    verify(problem, solutions[0])


def branched():
    """A problem whose relaxation is fractional."""
    for seed in range(100):
        problem = drawn(8, seed, ("grandparents",), gold=False)
        if isinstance(decode(problem, method="price-and-cut").certificate, Leaves):
            return problem
    raise AssertionError("no such problem")


def test_fractional_optima_are_branched_on_and_leaves_are_checked():
    problem = branched()
    solution = decode(problem, method="price-and-cut")
    assert solution.status == "optimal"
    assert solution.score == decode(problem).score
    verify(problem, solution)
    leaves = solution.certificate.leaves
    with pytest.raises(VerificationError):
        verify(problem, replace(solution, certificate=Leaves(leaves[1:])))
    with pytest.raises(VerificationError):
        verify(problem, replace(solution, certificate=leaves[0].certificate))


def test_tampered_certificates_fail():
    problem = drawn(8, 5, ("grandparents", "siblings"))
    solution = decode(problem, method="price-and-cut")
    prices = solution.certificate
    unit = problem.resolution
    assert solution.certificate.kind == "head-prices"
    heads = np.array(solution.structure)
    k = prices.arcs.index(int(heads[2]) * 9 + 3)
    cheaper = replace(prices, down=(*prices.down[:k], prices.down[k] - 4.0, *prices.down[k + 1 :]))
    for other in (
        replace(solution, bound=solution.bound - unit, score=solution.score - unit),
        replace(solution, bound=solution.bound - unit),
        replace(solution, certificate=cheaper),
        replace(solution, certificate=replace(prices, up=prices.up[:-1])),
        replace(solution, certificate=replace(prices, up=(prices.up[0] + unit / 2, *prices.up[1:]))),
        replace(solution, structure=tuple(reversed(solution.structure))),
    ):
        with pytest.raises(VerificationError):
            verify(problem, other)


def test_limits_leave_a_gap_and_not_an_error():
    problem = drawn(12, 0, ("grandparents", "siblings"), gold=False)
    for options in ({"time_limit": 0.0}, {"max_rounds": 1, "branch": False}):
        solution = priced(problem, problem.arcs, **options).closed.solution()
        assert solution.structure is not None
        assert solution.bound >= solution.score
        verify(problem, solution)
    assert decode(problem, method="price-and-cut", time_limit=0.0).bound >= decode(problem, method="price-and-cut").score


def test_what_it_does_not_take():
    problem = drawn(3, 0, ("outermost",))
    with pytest.raises(InputError, match="cannot score outermost"):
        decode(problem, method="price-and-cut")
    with pytest.raises(InputError, match="k is 2"):
        decode(drawn(3, 0, ("siblings",)), method="price-and-cut", k=2)
    with pytest.raises(UnknownMethod, match="OneGP"):
        solve_grandparents(drawn(3, 0, ("grandparents",)), constraints="OneGP+GPArk")
    for wrong in (drawn(3, 0, ("siblings",)), drawn(3, 0, ("grandparents",), projective=True)):
        with pytest.raises(InputError, match="expected words, arcs that may cross, and grandparents"):
            solve_grandparents(wrong)


def test_no_tree():
    arcs = np.zeros((4, 4))
    arcs[0] = -np.inf
    with pytest.raises(Infeasible):
        decode(Problem(arcs, grandparents=np.zeros((4, 4, 4))), method="price-and-cut")
    with pytest.raises(Infeasible, match="forbidden by scores of -inf: grandparents"):
        decode(Problem(np.zeros((4, 4)), grandparents=np.full((4,) * 3, -np.inf)), method="price-and-cut")


@given(st.integers(0, 2**32 - 1), st.integers(2, 6), st.integers(1, 4))
def test_sets_that_too_little_enters(seed, n, mixed):
    """Mixtures of trees violate no cut; what violates none of all cuts has none found, and what is found is violated."""
    rng = np.random.default_rng(seed)
    values = np.zeros((n + 1, n + 1))
    for weight in rng.dirichlet(np.ones(mixed)):
        values[[int(rng.choice([h for h in range(n + 1) if h != m])) for m in range(1, n + 1)], np.arange(1, n + 1)] += weight
    sets = [[m for m in range(1, n + 1) if k >> (m - 1) & 1] for k in range(1, 2**n)]
    entering = {tuple(words): values[np.setdiff1d(np.arange(n + 1), words)][:, words].sum() for words in sets}
    found = unentered_sets(values)
    assert all(entering[tuple(words)] < 1.0 - 1e-7 for words in found)
    assert bool(found) or min(entering.values()) > 1.0 - 1e-5


@given(st.integers(0, 2**32 - 1), st.integers(2, 6))
def test_arcs_that_cross(seed, n):
    """Projective trees violate nothing, others something."""
    from zerogap.baselines.brute import has_crossing, is_tree

    rng = np.random.default_rng(seed)
    heads = [int(rng.choice([h for h in range(n + 1) if h != m])) for m in range(1, n + 1)]
    if is_tree(heads, single_root=False):
        values = np.zeros((n + 1, n + 1))
        values[heads, np.arange(1, n + 1)] = 1.0
        assert bool(crossings(values)) == has_crossing(heads)


@pytest.mark.parametrize("seed", range(4))
def test_prices_are_lowered_without_a_program(seed):
    """Bounds fall, stay bounds, and what is not looked at is not scored."""
    n = 10
    problem = drawn(n, seed, ("grandparents",), gold=seed > 0, single_root=seed != 3)
    polytope = RefinedPolytope(problem, problem.arcs, all_known(problem, problem.arcs, {}, False))
    search = Search(problem, problem.arcs, None, polytope, 0.0, np.inf, None)
    first = search.evaluate(polytope.first_duals(), None, search.allowed)
    lower = search.lowered(first)
    assert decode(problem).score <= lower.bound <= first.bound
    assert lower.bound < first.bound or first.bound == decode(problem).score
    assert 0 < polytope.grand.n_scored < polytope.grand.n_possible
    assert (polytope.grand.table[polytope.grand.possible] >= problem.grandparents.dense(n)[polytope.grand.possible]).all()
    verify(problem, Solution(None, -np.inf, lower.bound, lower.evidence))


@pytest.mark.data
def test_a_trained_model_on_whole_sentences(data):
    """No arc is pruned, few grandparents are scored, and the tree is the best of all."""
    sentences = [record.sentence for record in read_conllu(data / "ud" / "hu_szeged" / "dev.conllu")]
    some = [sentence for sentence in sentences if len(sentence) <= 20][:60]
    parser = compute_bounds(train(some, order="grandparent", projective=False, epochs=2, labels=False), some)
    scored = possible = 0
    for sentence in [sentence for sentence in sentences if 12 <= len(sentence) <= 25][60:66]:
        n = len(sentence)
        lazy, bounds = lazy_problem(parser, sentence, allowed=every_arc(n))
        found = priced(lazy, lazy.arcs, bounds=bounds.by_name)
        solution = found.closed.solution()
        dense = Problem(lazy.arcs, grandparents=lazy.grandparents.dense(n), single_root=lazy.single_root, resolution=lazy.resolution)
        assert solution.status == "optimal"
        assert solution.score == decode(dense).score
        verify(dense, solution)
        full = solve_dependency(dense)
        assert found.value <= full.value + 1e-6 * abs(full.value)
        if full.integral:
            assert found.value == pytest.approx(full.value, rel=1e-6)
        scored, possible = scored + found.scored["grandparents"], possible + found.possible["grandparents"]
    assert scored < 0.13 * possible
