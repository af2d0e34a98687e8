"""Claims that were once accepted, or that once ended in another exception than zerogap's own."""

import json
import math

import numpy as np
import pytest

import zerogap
from zerogap import constituency, dependency, hypergraph
from zerogap.errors import FormatError, GrammarError, InputError, OverlappingTails, ScoreError, VerificationError, ZerogapError
from zerogap.problems.files import problem_from_json
from zerogap.proof import DynamicProgram, Leaf, Leaves, Solution


def three_ways():
    builder = hypergraph.Builder()
    for score in (5.0, 1.0, 0.0):
        builder.edge(1, [0], score=score)
    return hypergraph.Problem(*builder.build(1))


def test_infinite_rule_scores_never_reach_a_checker():
    rules = [["S", "N", "V", 9], ["S", "V", "N", 0], ["X", "N", "N", "inf"], ["S", "X", "-inf"]]
    text = {
        "format": "zerogap-problem", "version": 1, "kind": "joint", "symbols": ["S", "N", "V", "X"], "root": "S", "rules": rules,
        "tags": ["N", "V"], "lexical": [[0, 0], [0, 0]], "transitions": [[0, 0, 0], [0, 0, 0], [0, 0, 0]],
    }  # fmt: skip
    with pytest.raises(ScoreError, match="inf"):
        problem_from_json(text)


def test_a_bool_is_not_a_part():
    leaves = Leaves((Leaf(((1, True),), DynamicProgram()), Leaf(((True, False),), DynamicProgram())))
    with pytest.raises(VerificationError, match="an integer"):
        zerogap.verify(three_ways(), Solution((1,), 1.0, 1.0, leaves))


@pytest.mark.parametrize(
    "solution",
    [
        Solution((0,), 5.0, 5.0, None),
        Solution((0,), "5", 5.0, DynamicProgram()),
        Solution((0,), 5.0, math.nan, DynamicProgram()),
        Solution((0,), 5.0, True, DynamicProgram()),
        Solution(b"\0", 5.0, 5.0, DynamicProgram()),
        Solution((0,), 5.0, 5.0, Leaves((Leaf(((1.0, True),), DynamicProgram()),))),
        Solution((0,), 5.0, 5.0, Leaves((None,))),
    ],
)
def test_what_is_not_a_solution_is_refused_in_our_own_words(solution):
    with pytest.raises(VerificationError):
        zerogap.verify(three_ways(), solution)


def test_huge_scores_are_exact_or_refused():
    for score in (8e299, 8e304):
        try:
            problem = dependency.Problem([[0, score], [0, 0]])
        except ScoreError:
            continue
        zerogap.verify(problem, dependency.decode(problem))


def test_rows_with_large_coefficients_do_not_stop_the_proof():
    builder = hypergraph.Builder()
    for word, scores in enumerate(([7.0, 0.0], [1.0, 2.0])):
        for score in scores:
            builder.edge(word + 1, [word], score=score)
    graph, scores = builder.build(2)
    rows = [({0: 600, 1: 600}, "<=", 600), ([0, 2], "<=", 1), ([0, 3], "<=", 1), ([1, 2], "<=", 1)]
    problem = hypergraph.Problem(graph, scores, hypergraph.constraint_rows(4, rows))
    solution = hypergraph.decode(problem)
    assert solution.score == solution.bound == 2.0
    zerogap.verify(problem, solution)


def test_overlapping_tails_do_not_crash():
    n = 64
    graph, *_ = hypergraph.from_edges(np.arange(1, n + 1), [[i, i] for i in range(n)], n_vertices=n + 1, root=n, validate=False)
    for attempt in (
        lambda: hypergraph.best_path(graph, np.ones(n)),
        lambda: hypergraph.Problem(graph, np.ones(n)),
        lambda: hypergraph.sample(graph, np.zeros(n), rng=np.random.default_rng(0)),
        lambda: hypergraph.k_best_paths(graph, np.zeros(n), 2),
    ):
        with pytest.raises(OverlappingTails):
            attempt()


def test_scores_just_below_a_power_of_two_survive_a_file(tmp_path):
    problem = dependency.Problem([[0, 1 - 2**-50], [0, 0]])
    zerogap.save_problem(problem, tmp_path / "p.json")
    assert (zerogap.load_problem(tmp_path / "p.json").arcs == problem.arcs).all()


@pytest.mark.parametrize(
    "change",
    [
        {"kind": []},
        {"kind": "dependency", "arcs": [[0, 10**400], [0, 0]]},
        {"kind": "dependency", "arcs": json.loads("[" * 700 + "]" * 700)},
        {"kind": "hypergraph", "vertices": 2147483647, "root": 1, "edges": [{"head": 1, "tail": [0]}]},
        {"kind": "hypergraph", "vertices": 2, "root": 1, "edges": [{"head": 10**30, "tail": [0]}]},
        {"kind": "hypergraph", "vertices": 2, "root": 1, "edges": [{"head": 1, "tail": [0], "sc0re": 1}]},
    ],
)
def test_hostile_files(change):
    with pytest.raises(ZerogapError):
        problem_from_json({"format": "zerogap-problem", "version": 1, **change})


def test_numbers_of_thousands_of_digits(tmp_path):
    (tmp_path / "p.json").write_text('{"a": ' + "1" * 5000 + "}")
    with pytest.raises(FormatError):
        zerogap.load_problem(tmp_path / "p.json")


def test_deep_trees_are_saved(tmp_path):
    tree = ("A", 0)
    for _ in range(600):
        tree = ("A", tree)
    solution = Solution(tree, 0.0, 0.0, DynamicProgram(), digest="0")
    zerogap.save_solution(solution, tmp_path / "s.json")
    assert zerogap.load_solution(tmp_path / "s.json") == solution
    for _ in range(5000):
        tree = ("A", tree)
    with pytest.raises(FormatError, match="nested too deeply"):
        zerogap.save_solution(Solution(tree, 0.0, 0.0, DynamicProgram(), digest="0"), tmp_path / "s.json")


def test_helper_symbols_do_not_meet_those_of_the_user():
    with pytest.raises(GrammarError, match="⟨"):
        constituency.grammar([("⟨C⟩⟨D⟩", ["b"], 0.0)], root="⟨C⟩⟨D⟩")
    rules = [("A", ["B", "C", "D"], 5.0), ("<C D>", ["B", "B"], 0.0), *((x, [x.lower()], 0.0) for x in "BCD")]
    g = constituency.grammar(rules, root="A")
    assert len(g.binary) == 3  # A -> B ⟨C⟩⟨D⟩, ⟨C⟩⟨D⟩ -> C D, <C D> -> B B


@pytest.mark.parametrize(
    "attempt",
    [
        lambda: hypergraph.constraint_rows(2, [([0.9], "=", 1)]),
        lambda: hypergraph.constraint_rows(2, [("ab", "=", 1)]),
        lambda: hypergraph.constraint_rows(2, [([0], "=", None)]),
        lambda: hypergraph.constraint_rows(2, [([0], "=")]),
        lambda: hypergraph.constraint_rows("2", []),
        lambda: hypergraph.agreement(3, [[0.9, 1.2]]),
        lambda: hypergraph.agreement(3, [0, 1, 2]),
        lambda: hypergraph.from_edges([1.7], [[0]], n_vertices=2, root=1),
        lambda: hypergraph.from_edges([1], [0], n_vertices=2, root=1),
        lambda: hypergraph.from_edges([1], [[0]], n_vertices="2", root=1),
        lambda: hypergraph.from_edges([1], [[0]], n_vertices=2, root=1, vertex_names=["a"]),
        lambda: hypergraph.Builder().edge("a", 5),
        lambda: hypergraph.Builder().edge("a", ["b"], score="x"),
        lambda: hypergraph.Problem(None, [1.0]),
        lambda: hypergraph.Problem(three_ways().hypergraph, [1.0] * 3, [([0], "=", 1)]),
        lambda: three_ways().score([0.5]),
        lambda: three_ways().score([-1]),
        lambda: three_ways().score([7]),
        lambda: hypergraph.decode(three_ways(), method=[]),
        lambda: dependency.Problem([[0, 1], [0, 0]], projective="no"),
        lambda: dependency.Problem([[0, 1], [0, 0]], resolution="x"),
        lambda: constituency.grammar(None, root="S"),
        lambda: constituency.grammar([("S", ["a"])], root="S"),
    ],
)
def test_bad_arguments_are_named(attempt):
    with pytest.raises(InputError):
        attempt()
