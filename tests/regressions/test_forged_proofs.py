"""False proofs that were accepted once, and inputs that ended in an exception which was not zerogap's own: each is refused."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

import zerogap
from zerogap import dependency, hypergraph, sequence
from zerogap.errors import FormatError, InputError, VerificationError
from zerogap.problems.files import problem_from_json, problem_to_json
from zerogap.proof import Solution
from zerogap.proof.certificate import CutDuals, DynamicProgram, FactorShares, HeadPrices, Intersection, Leaf, Leaves
from zerogap.proof.files import solution_from_json, solution_to_json
from zerogap.proof.lines import proof_in, proof_line
from zerogap.proof.solution import Trace


def test_a_pair_of_words_that_is_named_both_ways():
    """A negative factor of the pair counted twice: a tree of 20 was optimal where 22 exists."""
    arcs = [[0, 10, 0, 0], [0, 0, 10, 10], [0, 0, 0, 0], [0, 0, 0, 0]]
    problem = dependency.Problem(arcs, factors=[([(1, 2), (1, 3)], -8.0)])
    best = dependency.decode(problem)
    assert best.score == best.bound == 22.0
    zerogap.verify(problem, best)
    n, unit = 3, problem.resolution
    some = int(4 / unit)
    for shares in ((0,) * 6, (0, 0, -some) * 2, (0, -some, 0) * 2, (0, some, 0, 0, some, 0)):
        forged = FactorShares(unit, (2 * (n + 1) + 3, 3 * (n + 1) + 2), shares, DynamicProgram())
        with pytest.raises(VerificationError, match="twice"):
            zerogap.verify(problem, Solution((0, 1, 2), 20.0, 20.0, forged))


def test_prices_at_the_edge_of_what_is_exact():
    """Prices summed to less than 2^53 resolutions, a score came on top and was rounded: -7 was optimal where -6 exists."""
    problem = dependency.Problem([[0, 3, 0], [0, 0, -9], [0, -7, 0]], siblings=np.zeros((3, 3, 3)), resolution=1.0)
    assert dependency.decode(problem).score == -6.0
    priced = HeadPrices((1,), (2.0 - 2.0**53,), (0.0,))
    leaves = Leaves((Leaf(((1, True),), priced), Leaf(((1, False),), HeadPrices((), (), ()))))
    with pytest.raises(VerificationError):
        zerogap.verify(problem, Solution((2, 0), -7.0, -7.0, leaves))


def test_slack_of_cuts_at_the_edge_of_what_is_exact():
    """The slack of the missing tree's arcs is 2^53 + 3 together, which float64 rounds up: the list of the best lacked the second."""
    problem = dependency.Problem([[0, 0, 0], [0, 0, -4], [0, -5, 0]], single_root=False, resolution=1.0)
    assert [score for _, score in dependency.decode(problem, k=3).alternatives] == [-4.0, -5.0]
    duals = CutDuals(((1,), (2,)), (2.0**52, 2.0**52 - 1))
    with pytest.raises(VerificationError):
        zerogap.verify(problem, Solution((0, 0), 0.0, 2.0**53 - 1, duals, alternatives=(((2, 0), -5.0),)))


@pytest.mark.parametrize("where", ["values", "threshold"])
def test_infinities_in_files(where):
    problem = dependency.Problem([[0, 1, 9], [0, 0, 2], [0, 5, 0]])
    line = json.loads(proof_line(problem, dependency.decode(problem)))
    worse = {**line["solution"], "structure": [0, 1], "score": 3.0, "bound": 3.0}
    certificate = {"kind": "cut-duals", "sets": [[1], [2]], "values": ["inf", 0.0]}
    if where == "threshold":
        prices = {"kind": "head-prices", "arcs": [], "down": [], "up": []}
        certificate = {"kind": "screened", "prices": prices, "threshold": "-inf", "rest": prices}
    with pytest.raises(VerificationError):
        zerogap.verify(problem, solution_from_json({**worse, "certificate": certificate}))


def test_label_0_is_a_label():
    problem = sequence.Problem([[0, 0], [3, 0], [0, 5]], constraints=[sequence.same_label([1, 2])])
    solution = sequence.decode(problem)
    assert solution.structure[1:] == (1, 1)
    zerogap.verify(problem, solution)
    with pytest.raises(VerificationError, match="not valid"):
        zerogap.verify(problem, replace(solution, structure=(0, 0, 1), score=8.0, bound=8.0))


def test_a_status_that_does_not_fit_its_numbers():
    value = solution_to_json(Solution((0,), 14.0, 99.0, DynamicProgram()))
    assert solution_from_json(value).status == "feasible"
    with pytest.raises(VerificationError, match="status"):
        solution_from_json({**value, "status": "optimal"})
    with pytest.raises(FormatError, match="proven"):
        solution_from_json({**value, "proven": True})
    with pytest.raises(FormatError, match="weight"):
        solution_from_json({**value, "certificate": {"kind": "dynamic-program", "weight": 1}})


@pytest.mark.parametrize("penalty", [-5, 0, math.nan, math.inf, True, "1"])
def test_penalties_that_reward(penalty):
    """A soft constraint that is dropped can only cost: with a penalty of -5 a labelling of 0 was optimal where 5 exists."""
    with pytest.raises(InputError, match="penalty"):
        sequence.Constraint("at_least_one", ("A",), penalty=penalty)


def test_traces_are_checked():
    problem = dependency.Problem([[0, 1, 9], [0, 0, 2], [0, 5, 0]])
    solution = dependency.decode(problem)
    for trace in (
        Trace((13.0,), (14.0,), (0.0,)), Trace((14.0,), (15.0,), (0.0,)), Trace((14.0,), (), (0.0,)), Trace((math.nan,), (14.0,), (0.0,)),
    ):  # fmt: skip
        with pytest.raises(VerificationError, match="trace"):
            zerogap.verify(problem, Solution(solution.structure, 14.0, 14.0, solution.certificate, trace))


@pytest.mark.parametrize("parts", [{"siblings": 3}, {"grandparents": 3}, {"siblings": 3, "grandparents": 3}, {}])
def test_traces_of_searches_hold_valid_bounds(parts):
    """Bounds of a node, of a core of arcs, or of what beats the best structure are no bounds of the problem."""
    from zerogap.pipeline.any_problem import methods_for

    rng = np.random.default_rng(len(parts))
    for _ in range(4):
        n = int(rng.integers(4, 9))
        given = {name: rng.integers(-5, 6, (n + 1,) * axes) for name, axes in parts.items()}
        if not parts:
            pairs = [rng.choice(np.arange(1, n + 1), 2, replace=False).tolist() for _ in range(3 * n)]
            given["factors"] = [([(0 if m == 1 else m - 1, m), (s + 1 if s < n else 0, s)], int(rng.integers(-6, 7))) for m, s in pairs]
        for projective in (False, True):
            problem = dependency.Problem(rng.integers(-5, 6, (n + 1, n + 1)), projective=projective, **given)
            for method in methods_for(problem):
                zerogap.verify(problem, dependency.decode(problem, method=method))


def test_values_whose_sum_overflows():
    problem = dependency.Problem([[0, 1, 9], [0, 0, 2], [0, 5, 0]])
    with pytest.raises(VerificationError, match="exact"):
        zerogap.verify(problem, Solution((2, 0), 14.0, 14.0, CutDuals(((1,), (2,)), (1e308, 1e308))))


def test_leaves_within_leaves():
    problem = dependency.Problem([[0, 1, 9], [0, 0, 2], [0, 5, 0]], siblings=np.zeros((3, 3, 3)))
    for levels in (300, 5000):
        nested = HeadPrices((), (), ())
        for _ in range(levels):
            nested = Leaves((Leaf((), nested),))
        with pytest.raises(VerificationError, match="levels"):
            zerogap.verify(problem, Solution((2, 0), 14.0, 14.0, nested))


def test_keys_that_an_object_has_twice():
    problem = dependency.Problem([[0, 1], [0, 0]])
    line = proof_line(problem, dependency.decode(problem))
    with pytest.raises(FormatError, match="'score' twice|score twice"):
        proof_in(line.replace('"score": 1.0', '"score": 1.0, "score": 0.0', 1), "x.jsonl, line 1")


def test_an_intersection_that_is_too_large_is_refused():
    names = [f"L{i}" for i in range(24)]
    constraints = [sequence.at_most(name, 3) for name in names]
    problem = sequence.Problem(np.zeros((40, 24)), labels=names, constraints=constraints)
    with pytest.raises(VerificationError, match="prefixes"):
        zerogap.verify(problem, Solution(None, -math.inf, -1.0, Intersection(tuple(range(24)), ())))


@pytest.mark.parametrize("score", [5e-324, 1e-310, 1e-300])
def test_denormal_scores_are_read_back(score):
    for problem in (dependency.Problem([[0, score], [0, 0]]), sequence.Problem([[score, 0.0]])):
        again = problem_from_json(problem_to_json(problem))
        assert again.resolution == problem.resolution


def test_factors_under_any_time_limit_verify():
    rng = np.random.default_rng(1)
    for i in range(40):
        n = 9 + i % 4
        factors = []
        for _ in range(4 * n):
            words = rng.choice(np.arange(1, n + 1), size=int(rng.integers(2, 4)), replace=False).tolist()
            arcs = [(int(rng.choice([h for h in range(n + 1) if h != m])), m) for m in words]
            factors.append((arcs, round(float(rng.normal(0, 3)), 2)))
        arcs, siblings = rng.normal(0, 2, (n + 1, n + 1)), rng.normal(0, 1, (n + 1,) * 3)
        problem = dependency.Problem(arcs, siblings=siblings, factors=factors, projective=True)
        for limit in (0.0, 1e-3):
            zerogap.verify(problem, dependency.decode(problem, time_limit=limit))


class Liar(float):
    """Says something else whenever it is asked."""

    def __le__(self, other):
        return True

    def __eq__(self, other):
        return True

    __hash__ = float.__hash__


def test_objects_that_lie():
    problem = dependency.Problem([[0, 1, 9], [0, 0, 2], [0, 5, 0]])
    duals = dependency.decode(problem).certificate
    lies = [
        Solution((0, 1), Liar(14.0), 3.0, duals), Solution((0, 1), 3.0, Liar(3.0), duals),
        Solution((0, 1), 3.0, 3.0, CutDuals(((1,), (2,)), (Liar(1.0), 2.0))),
        Solution((0, Liar(1)), 3.0, 3.0, duals),
    ]  # fmt: skip
    for solution in lies:
        with pytest.raises(VerificationError):
            zerogap.verify(problem, solution)


def test_edge_numbers_of_a_file_are_those_of_its_solution():
    value = {
        "format": "zerogap-problem", "version": 1, "kind": "hypergraph", "vertices": 3, "root": 0,
        "edges": [{"head": 0, "tail": [1], "score": 5}, {"head": 1, "tail": [2], "score": 1}],
    }  # fmt: skip
    with pytest.raises(FormatError, match="out of order"):
        problem_from_json(value)
    problem = hypergraph.Problem(*hypergraph.from_edges([1], [[0]], n_vertices=2, root=1)[:1], [1.0])
    assert problem_to_json(problem_from_json(problem_to_json(problem))) == problem_to_json(problem)
