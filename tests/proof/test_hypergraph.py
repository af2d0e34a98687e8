"""Bounds of hypergraph problems against all hyperpaths."""

import math

import numpy as np
import pytest

from zerogap.errors import VerificationError
from zerogap.oracles.hypergraphs.semiring import enumerate_paths
from zerogap.problems.hypergraph import Problem
from zerogap.proof import hypergraph
from zerogap.proof.certificate import CutDuals, DynamicProgram, Leaf, Leaves, Multipliers, Signatures, Unsatisfiable
from zerogap.proof.hypergraph import Paths, best_above, bound_of, cannot_hold, hypergraph_bound, outside_scores, restricted
from zerogap.proof.integers import ABSENT, number, units
from zerogap.structures.hypergraph import Builder
from zerogap.structures.linear import constraint_rows
from zerogap.testing.draws import KINDS


def drawn(most=40):
    """Problems with small scores, in units, and all their hyperpaths with scores and how much of every row they use."""
    found = 0
    for seed in range(400):
        problem = KINDS["hypergraph"].draw(np.random.default_rng([5, seed]))
        paths = enumerate_paths(problem.hypergraph)
        if not 1 < len(paths) <= 60:
            continue
        scores = units(problem.scores, problem.resolution)
        if np.abs(scores[scores > ABSENT]).max(initial=0) > 1 << 44:
            continue
        rows = problem.constraints
        known = [
            (sum(int(scores[e]) for e in path), (rows.excess(list(path)) + rows.limits).astype(int), set(path))
            for path in paths
            if all(scores[e] > ABSENT for e in path)
        ]
        bits = int(np.bitwise_or.reduce(np.abs(scores[scores > ABSENT]), initial=0))
        yield problem, Paths(problem, scores, bits & -bits or 1, 1 << 50), known
        found += 1
        if found == most:
            return


def best(known, keep=lambda score, used, path: True):
    return max((score for score, used, path in known if keep(score, used, path)), default=-math.inf)


def test_multipliers_give_the_dual():
    rng = np.random.default_rng(1)
    for problem, paths, known in drawn():
        rows = problem.constraints
        values = np.where(rows.is_equation, rng.integers(-3, 4, len(rows)), rng.integers(0, 4, len(rows)))
        dual = max((score - int(values @ used) for score, used, _ in known), default=-math.inf) + int(values @ rows.limits)
        wanted = dual if dual == -math.inf else int(dual) // paths.grain * paths.grain
        given = tuple(float(value) * problem.resolution for value in values)
        assert bound_of(paths, Multipliers(given)) == wanted
        assert hypergraph_bound(problem, Multipliers(given), 0) == wanted
        assert bound_of(paths, DynamicProgram()) == best(known)


def test_searches_find_all_above_the_claim():
    rng = np.random.default_rng(2)
    for problem, paths, known in drawn():
        rows = problem.constraints
        values = np.where(rows.is_equation, rng.integers(-3, 4, len(rows)), rng.integers(0, 4, len(rows)))
        true = best(known, lambda score, used, path, rows=rows: not rows.violated(used - rows.limits).any())
        steps = sorted({score for score, _, _ in known})
        for claimed in (-math.inf, *(score + step for score in steps for step in (-1, 0, 1))):
            found = best_above(paths, values, claimed)
            assert found == (true if true > claimed else -math.inf)
            given = Signatures(tuple(float(value) * problem.resolution for value in values))
            assert hypergraph_bound(problem, given, claimed) == max(true, claimed)


def test_rows_that_cannot_hold():
    for problem, paths, known in drawn():
        for row in range(len(problem.constraints)):
            limit, equation = problem.constraints.limits[row], problem.constraints.is_equation[row]
            sums = [used[row] for _, used, _ in known]
            wanted = not any(s <= limit for s in sums) or (equation and not any(s >= limit for s in sums))
            assert cannot_hold(paths, row) is bool(wanted)
            assert bound_of(paths, Unsatisfiable(row)) == (-math.inf if wanted else best(known))
        for row in (-1, len(problem.constraints)):
            with pytest.raises(VerificationError):
                bound_of(paths, Unsatisfiable(row))


def test_rows_that_only_forbidden_edges_could_keep():
    builder = Builder()
    builder.edge("top", ["a"])
    builder.edge("top", ["b"])
    graph, _ = builder.build("top")
    for row in (({0: 1}, "=", 1), ({0: -1}, "<=", -1), ({0: 1}, ">=", 1)):
        problem = Problem(graph, [-np.inf, 0.0], constraint_rows(2, [row]))
        assert cannot_hold(Paths(problem, np.array([ABSENT, 0]), 1, 1), 0) is True
        assert hypergraph_bound(problem, Unsatisfiable(0), -math.inf) == -math.inf
        assert cannot_hold(Paths(problem, np.array([0, 0]), 1, 1), 0) is False


def test_leaves():
    for problem, paths, known in drawn():
        heads = problem.hypergraph.heads
        for edge in range(problem.hypergraph.n_edges):
            rivals = {int(e) for e in np.flatnonzero(heads == heads[edge]) if e != edge}
            inside = best(known, lambda s, u, path, rivals=rivals: not path & rivals)
            outside = best(known, lambda s, u, path, edge=edge: edge not in path)
            assert bound_of(restricted(paths, ((edge, True),)), DynamicProgram()) == inside
            assert bound_of(restricted(paths, ((edge, False),)), DynamicProgram()) == outside
            assert bound_of(restricted(paths, ((edge, False), (edge, True))), DynamicProgram()) == best(
                known, lambda s, u, path, both=rivals | {edge}: not path & both
            )
            leaves = Leaves((Leaf(((edge, True),), DynamicProgram()), Leaf(((edge, False),), DynamicProgram())))
            assert bound_of(paths, leaves) == max(inside, outside)
        with pytest.raises(VerificationError):
            bound_of(paths, Leaves((Leaf(((0, True),), DynamicProgram()),)))
        with pytest.raises(VerificationError):
            bound_of(paths, CutDuals((), ()))


def test_what_is_around_a_vertex():
    for problem, paths, known in drawn():
        around = outside_scores(problem.hypergraph, paths.scores)
        inside = hypergraph.inside_scores(problem.hypergraph, paths.scores)
        heads = problem.hypergraph.heads
        for v in range(problem.hypergraph.n_vertices):
            if not problem.hypergraph.is_terminal[v]:
                through = best(known, lambda s, u, path, v=v, heads=heads: any(heads[e] == v for e in path))
                both = number(around[v]) + number(inside[v])
                assert both == through


def test_searches_that_are_too_long(monkeypatch):
    """Hypotheses of all vertices count together: here one of each of four."""
    builder = Builder()
    for head, tail in (("a", "word"), ("b", "a"), ("top", "b")):
        builder.edge(head, [tail])
    graph, _ = builder.build("top")
    problem = Problem(graph, [1.0, 2.0, 3.0], constraint_rows(3, [({0: 1}, "<=", 1)]))
    paths = Paths(problem, np.array([1, 2, 3]), 1, 6)
    nothing = np.zeros(1, dtype=np.int64)
    monkeypatch.setattr(hypergraph, "MOST_HYPOTHESES", 4)
    assert best_above(paths, nothing, 5) == 6
    assert best_above(paths, nothing, 6) == -math.inf
    monkeypatch.setattr(hypergraph, "MOST_HYPOTHESES", 3)
    with pytest.raises(VerificationError, match="hypotheses"):
        best_above(paths, nothing, 5)
    assert best_above(paths, nothing, 6) == -math.inf  # all of them are below the claim


def test_what_is_absent_at_large_prices():
    """Two absent tails, and prices at the edge of the range, leave what is absent absent."""
    builder = Builder()
    for head, tail in (("a", ["u"]), ("b", ["v"]), ("top", ["a", "b"]), ("top", ["u", "v"])):
        builder.edge(head, tail)
    graph, _ = builder.build("top")
    scores = np.array([ABSENT, ABSENT, 5, ABSENT])
    assert hypergraph.best_score(graph, scores) == -math.inf
    scores = np.where(graph.heads == graph.root, 7, ABSENT)
    assert hypergraph.best_score(graph, scores) == 7
    assert (hypergraph.outside_scores(graph, scores) >= ABSENT).all()
