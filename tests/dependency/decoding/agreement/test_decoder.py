"""Dual decomposition with head automata: never wrong, never without a proof, whatever is scored."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zerogap.baselines.brute import dependency_structures, optimum
from zerogap.baselines.dependency_ilp import solve_dependency
from zerogap.dependency import HeadAutomaton, Lazy, Problem, Sparse, decode, trigram_automaton
from zerogap.dependency.decoding.agreement.decoder import dual_decomposition
from zerogap.dependency.decoding.agreement.head_scores import head_scores
from zerogap.dependency.decoding.agreement.one_call import agree_at_once
from zerogap.dependency.decoding.agreement.relaxation import Agreement
from zerogap.errors import Infeasible, InputError, VerificationError
from zerogap.oracles.descent import DECREASING, POLYAK, SCALED, Steps
from zerogap.problems.dependency.parts import ORDERS, parts_of_tree
from zerogap.problems.files import load_problem, save_problem
from zerogap.proof.certificate import Leaf, Leaves
from zerogap.proof.verify import verify
from zerogap.relax.steps import HEADS_AT_ROOT
from zerogap.testing.strategies import dependency_problems

pytestmark = pytest.mark.compiled

KINDS = ["automata", "grandparents", "grandsiblings", "outermost", "siblings", "stops", "trisiblings"]


@given(data=st.data(), projective=st.booleans())
@settings(max_examples=300)
def test_without_branching_the_bound_is_true(data, projective):
    problem = data.draw(dependency_problems(max_words=4, kinds=KINDS, projective=projective))
    best = optimum(problem, dependency_structures(problem))
    if best > -np.inf:
        alone = decode(problem, method="dual-decomposition")
        assert alone.score <= best <= alone.bound
        verify(problem, alone)


@pytest.mark.parametrize("projective", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_the_trigram_automaton_scores_what_trisiblings_score(projective, seed):
    n = 5
    rng = np.random.default_rng(seed)
    arcs, table = rng.integers(-3, 4, (n + 1, n + 1)) * 1.0, rng.integers(-3, 4, (n + 1,) * 4) * 1.0

    def score(r, s, m, h):
        return 0.0 if s == h else table[h, r, s, m]

    automata = [
        trigram_automaton(h, side, n, lambda r, s, m, h=h: score(r, s, m, h))
        for h in range(n + 1)
        for side in (("left", "right") if h else ("right",))
    ]
    by_automata = decode(Problem(arcs, automata=automata, projective=projective))
    by_parts = decode(Problem(arcs, trisiblings=table, projective=projective))
    assert by_automata.score == by_parts.score
    assert by_automata.status == by_parts.status == "optimal"
    verify(Problem(arcs, automata=automata, projective=projective), by_automata)


def test_automata_that_accept_nothing_leave_no_tree():
    dead = HeadAutomaton(1, "right", (), (-np.inf,))
    with pytest.raises(Infeasible, match="forbidden by scores of -inf: automata"):
        decode(Problem(np.zeros((3, 3)), automata=[dead]))
    no_leaf = HeadAutomaton(1, "left", (), (-np.inf,))  # the first word has nothing on its left
    with pytest.raises(Infeasible):
        decode(Problem(np.zeros((3, 3)), automata=[no_leaf]))


@pytest.mark.parametrize(
    ("automaton", "message"),
    [
        ("x", "automata\\[0\\] is a str"),
        (HeadAutomaton(4, "left", (), (0.0,)), "of head 4"),
        (HeadAutomaton(0, "left", (), (0.0,)), "the root has a right side"),
        (HeadAutomaton(1, "up", (), (0.0,)), "side 'up'"),
        (HeadAutomaton(1, "right", (), ()), "no states"),
        (HeadAutomaton(1, "right", ((0, 2, 1, 0.0),), (0.0,)), "states from 0 to 0"),
        (HeadAutomaton(2, "right", ((0, 1, 0, 0.0),), (0.0,)), "a word on the right of 2"),
        (HeadAutomaton(1, "right", ((0, 2, 0, 0.0), (0, 2, 0, 1.0)), (0.0,)), "two transitions"),
        (HeadAutomaton(1, "right", ((0, 2, 0, np.nan),), (0.0,)), "nan"),
    ],
)
def test_automata_that_are_none(automaton, message):
    with pytest.raises(InputError, match=message):
        Problem(np.zeros((4, 4)), automata=[automaton])


def test_two_automata_of_one_side():
    one = HeadAutomaton(1, "right", (), (0.0,))
    with pytest.raises(InputError, match="a second one of head 1"):
        Problem(np.zeros((4, 4)), automata=[one, one])


def test_automata_survive_files(tmp_path):
    automaton = HeadAutomaton(1, "right", ((0, 2, 1, 0.5), (1, 3, 0, -np.inf)), (0.0, 1.5))
    problem = Problem(np.zeros((4, 4)), automata=[automaton])
    save_problem(problem, tmp_path / "problem.json")
    again = load_problem(tmp_path / "problem.json")
    assert again.automata == problem.automata
    assert decode(again).score == decode(problem).score


@pytest.mark.parametrize("n", [1, 2, 3])
def test_ties_are_broken_alike(n):
    problem = Problem(np.zeros((n + 1, n + 1)), siblings=np.zeros((n + 1,) * 3), grandparents=np.zeros((n + 1,) * 3))
    solutions = [decode(problem) for _ in range(3)]
    assert len({solution.structure for solution in solutions}) == 1
    assert solutions[0].status == "optimal"
    verify(problem, solutions[0])


def crossing(n, seed=0, keep=6):
    """Arcs and grand-siblings of a long sentence, with a few candidate heads for every word."""
    rng = np.random.default_rng(seed)
    arcs = rng.standard_normal((n + 1, n + 1))
    arcs[np.arange(n), np.arange(1, n + 1)] += 2.0  # there is a tree
    least = np.sort(arcs, axis=0)[-keep]
    arcs = np.where((arcs >= least) | (np.arange(n + 1)[:, None] == np.arange(n + 1) - 1), arcs, -np.inf)
    index = np.argwhere(arcs[:, :, None] + arcs[None] > -np.inf)
    index = index[
        (index[:, 0] != index[:, 2]) & (index[:, 0] != index[:, 1]) & (index[:, 1] != index[:, 2]) & (index[:, 1:] > 0).all(axis=1)
    ]
    return Problem(arcs, grandparents=Sparse(index, 0.3 * rng.standard_normal(len(index))))


def test_a_long_sentence_takes_little_memory():
    tracemalloc.start()
    solution = decode(crossing(200), time_limit=5.0)  # what a search keeps grows with its leaves, and so with time: not measured here
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert solution.structure is not None
    assert solution.bound >= solution.score
    assert most < 100e6


def test_limits_leave_a_gap_and_not_an_error():
    problem = crossing(40, keep=20)
    solution = decode(problem, time_limit=0.0)
    assert solution.structure is not None
    assert solution.bound >= solution.score
    verify(problem, solution)


def branched():
    """A problem that is not closed by prices alone."""
    for seed in range(100):
        rng = np.random.default_rng(seed)
        n = 6
        problem = Problem(
            rng.integers(-3, 4, (n + 1, n + 1)) * 1.0,
            siblings=rng.integers(-3, 4, (n + 1,) * 3) * 1.0,
            grandparents=rng.integers(-3, 4, (n + 1,) * 3) * 1.0,
        )
        solution = dual_decomposition(problem, problem.arcs, None, tighten=False)
        if isinstance(solution.certificate, Leaves) and len(solution.certificate.leaves) > 2:
            return problem, solution
    raise AssertionError


def test_what_is_tampered_with_is_refused():
    problem, solution = branched()
    verify(problem, solution)
    leaves = solution.certificate.leaves
    first = leaves[0].certificate
    worse = replace(first, down=tuple(price + 8.0 for price in first.down))
    uneven = replace(first, down=(first.down[0] + problem.resolution / 3, *first.down[1:]))
    flipped = Leaf(((leaves[0].fixed[0][0], not leaves[0].fixed[0][1]), *leaves[0].fixed[1:]), first)
    for changed in (
        (Leaf(leaves[0].fixed, worse), *leaves[1:]),
        (Leaf(leaves[0].fixed, uneven), *leaves[1:]),
        (Leaf(leaves[0].fixed, replace(first, up=first.up[:-1])), *leaves[1:]),
        (Leaf(leaves[0].fixed, replace(first, arcs=(first.arcs[1], *first.arcs[1:]))), *leaves[1:]),
        (flipped, *leaves[1:]),
        leaves[1:],
    ):
        with pytest.raises(VerificationError):
            verify(problem, replace(solution, certificate=Leaves(changed)))
    heads = list(solution.structure)
    heads[0] = next(h for h in range(7) if h not in (heads[0], 1))
    for tampered in (replace(solution, structure=tuple(heads)), replace(solution, bound=solution.bound - 1.0)):
        with pytest.raises(VerificationError):
            verify(problem, tampered)


@pytest.mark.parametrize("rule", [POLYAK, DECREASING, SCALED])
def test_steps_of_all_kinds_bound_the_score(rule):
    problem, best = branched()
    alone = dual_decomposition(problem, problem.arcs, None, branch=False, tighten=False, steps=Steps(1.5, 0.0, 300, rule))
    assert alone.score <= best.score <= alone.bound
    assert len(alone.trace) <= 300
    verify(problem, alone)


def test_no_alternatives():
    with pytest.raises(InputError, match="k is 2: expected 1"):
        decode(Problem(np.zeros((3, 3)), siblings=np.zeros((3, 3, 3))), k=2)


@pytest.mark.parametrize("n", [6, 8])
def test_the_integer_program_finds_the_same_score(n):
    rng = np.random.default_rng(n)
    arcs, siblings, grandparents = rng.standard_normal((n + 1,) * 2), rng.standard_normal((n + 1,) * 3), rng.standard_normal((n + 1,) * 3)
    problem = Problem(arcs, siblings=siblings, grandparents=grandparents)
    assert solve_dependency(problem, integer=True).value == decode(problem).score


def listed(problem, some=None):
    """The same problem with parts in lists; of `some`, or of all."""
    parts = {}
    for name, scores in problem.parts.items():
        table = scores.dense(problem.n_words)
        index = np.argwhere(table != 0.0)
        parts[name] = Sparse(index, table[tuple(index.T)]) if some is None or name in some else table
    return Problem(problem.arcs, **parts, projective=problem.projective, single_root=problem.single_root, resolution=problem.resolution)


@given(data=st.data(), projective=st.booleans())
@settings(max_examples=200)
def test_parts_in_lists_and_arrays_agree_at_once(data, projective):
    kinds = ["grandparents", "grandsiblings", "siblings", "stops"]
    problem = data.draw(dependency_problems(max_words=4, kinds=kinds, projective=projective))
    if problem.n_words == 0:
        return
    best = optimum(problem, dependency_structures(problem))
    some = data.draw(st.sets(st.sampled_from(kinds))) | {"grandsiblings"}
    for same in (listed(problem), listed(problem, some)):
        found, _ = agree_at_once(same, same.arcs, HEADS_AT_ROOT)
        assert found.score <= best <= found.bound
        if found.score > -np.inf:
            assert problem.score(tuple(found.heads.tolist())) == found.score
        if best > -np.inf:
            solution = decode(same, method="head-automata")
            assert solution.score == solution.bound == best
            verify(problem, solution)
            verify(same, solution)
        else:
            with pytest.raises(Infeasible):
                decode(same, method="head-automata")


@given(data=st.data())
def test_the_most_that_an_arc_can_bring_leaves_heads_nothing_to_gain(data):
    problem = data.draw(dependency_problems(max_words=4, kinds=["grandparents", "siblings"], projective=False))
    if problem.n_words == 0 or (problem.arcs.max(axis=0)[1:] == -np.inf).any():
        return
    agreement = Agreement(head_scores(problem, problem.arcs), problem.resolution)
    prices = agreement.most_prices(problem.arcs)
    best = optimum(problem, dependency_structures(problem))
    bound = agreement.bound(agreement.state(()), prices)
    assert np.isfinite(prices).all()
    assert best <= bound
    weights = np.full(problem.arcs.shape, -np.inf)
    weights[agreement.heads, agreement.modifiers] = prices[0]
    if best > -np.inf and bound > -np.inf:
        free = decode(Problem(weights, single_root=problem.single_root, resolution=problem.resolution))
        assert bound <= free.score  # the value of the tree: no head adds to it


def test_parts_by_functions_and_outermost_ones_take_the_long_way():
    arcs = np.zeros((3, 3))
    for problem in (
        Problem(arcs, siblings=Lazy(lambda h, s, m: np.zeros(len(h)), 1.0)),
        Problem(arcs, outermost=np.zeros((3, 3, 3))),
        Problem(arcs, grandsiblings=np.zeros((3, 3, 3, 3))),
        Problem(arcs, trisiblings=np.zeros((3, 3, 3, 3))),
    ):
        assert agree_at_once(problem, problem.arcs, HEADS_AT_ROOT) is None
        assert decode(problem, method="head-automata").status == "optimal"


@given(data=st.data(), name=st.sampled_from(sorted(ORDERS)))
def test_the_sum_of_listed_parts(data, name):
    n = 5
    rng = np.random.default_rng(data.draw(st.integers(0, 10_000)))
    heads = rng.integers(0, n + 1, n).tolist()
    table = rng.integers(-3, 4, (n + 1,) * ORDERS[name]) * 1.0
    table[rng.random(table.shape) < 0.05] = -np.inf
    dense = Problem(np.zeros((n + 1, n + 1)), **{name: table}).parts[name]
    index = np.argwhere(dense.table != 0.0)
    index = index[: data.draw(st.sampled_from([0, 3, len(index)]))]
    parts = Problem(np.zeros((n + 1, n + 1)), **{name: Sparse(index, dense.table[tuple(index.T)])}).parts[name]
    ((_, found),) = parts_of_tree(heads, [name])
    kept = set(map(tuple, index.tolist()))
    assert parts.total(found) == sum(dense.table[part] for part in found if tuple(part) in kept)
    assert parts.total([]) == 0.0
