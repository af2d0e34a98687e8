"""Optimal beam search: never wrong, never lazy, against enumeration; the example of section 7.3 as a lattice."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zerogap.baselines import brute
from zerogap.errors import Infeasible, InputError, UnknownMethod, VerificationError
from zerogap.hypergraph import Builder, Problem, constraint_rows, decode
from zerogap.oracles.hypergraphs.semiring import enumerate_paths
from zerogap.proof.certificate import Signatures
from zerogap.proof.files import solution_from_json, solution_to_json
from zerogap.proof.verify import verify
from zerogap.relax.beam import SignatureSearch, beam_search, optimal_beam
from zerogap.testing.strategies import scored_hypergraphs


@st.composite
def problems(draw, max_rows=3):
    graph, scores, _ = draw(scored_hypergraphs())
    rows = []
    for _ in range(draw(st.integers(1, max_rows))):
        parts = draw(st.dictionaries(st.integers(0, graph.n_edges - 1), st.sampled_from([-2, -1, 1, 1, 2]), min_size=1, max_size=5))
        rows.append((parts, draw(st.sampled_from(["=", "<=", ">="])), draw(st.integers(-1, 2))))
    return Problem(graph, scores, constraint_rows(graph.n_edges, rows))


def searchable(problem, groups=None):
    return SignatureSearch(problem.hypergraph, problem.scores, problem.constraints, problem.resolution, problem.unit, problem.terms, groups)


def optimum(problem):
    return brute.optimum(problem, enumerate_paths(problem.hypergraph))


@given(problems(), st.sampled_from(["alternating", "staged"]))
def test_optimal(problem, schedule):
    best = optimum(problem)
    found = optimal_beam(searchable(problem), schedule=schedule)
    assert found.bound == best  # -inf if there is none
    if best > -np.inf:
        problem.check(found.best.structure)
        assert problem.score(found.best.structure) == found.best.score == best


@given(problems(), st.integers(1, 4), st.integers(0, 6))
def test_a_narrow_beam_is_never_wrong_and_says_so(problem, width, rounds):
    best = optimum(problem)
    search = searchable(problem)
    bounds = [search.tighten(None)[0] for _ in range(rounds)]
    assert all(bound >= best for bound in bounds)
    found = beam_search(search, search.best_multipliers, -np.inf, width)
    if found.candidate is not None:
        problem.check(found.candidate.structure)
        assert problem.score(found.candidate.structure) == found.candidate.score <= best
    if found.complete:
        assert (-np.inf if found.candidate is None else found.candidate.score) == best
    nothing = beam_search(search, search.best_multipliers, best, 1000)
    assert nothing.candidate is None
    assert nothing.complete


@given(problems())
def test_certificates(problem):
    best = optimum(problem)
    if best == -np.inf:
        with pytest.raises(Infeasible):
            decode(problem, method="optimal-beam")
        return
    solution = decode(problem, method="optimal-beam")
    assert solution.score == solution.bound == best
    assert verify(problem, solution).bound == best
    assert solution_from_json(solution_to_json(solution)) == solution
    searched = replace(solution, certificate=Signatures(solution.certificate.values))
    verify(problem, searched)
    lower = replace(searched, bound=best - problem.unit)
    with pytest.raises(VerificationError, match="not"):
        verify(problem, lower)
    with pytest.raises(VerificationError, match="multipliers"):
        verify(problem, replace(searched, certificate=Signatures((*solution.certificate.values, 0.0))))


PHRASES = {"we must": ((0, 1), 1.0), "take": ((5,), 2.0), "this criticism": ((2, 3), 10.0), "seriously": ((4,), 1.0)}


def example_7_3_1():
    """Vertices (words translated, last phrase); every bigram scores 1, as the totals of the example need (2 is printed)."""
    builder, waiting, seen = Builder(), [(0, None)], set()
    while waiting:
        state = waiting.pop(0)
        if state in seen:
            continue
        seen.add(state)
        for phrase, (words, score) in PHRASES.items():
            if state[0] + len(words) <= 6:
                following = state[0] + len(words), phrase
                builder.edge(following, [state], score=score + len(phrase.split()), name=phrase)
                waiting.append(following)
        if state[0] == 6:
            builder.edge("end", [state], score=1.0)
    graph, scores = builder.build("end")
    rows = [({e: 1.0 for e, name in enumerate(graph.edge_names) if name and i in PHRASES[name][0]}, "=", 1.0) for i in range(6)]
    return Problem(graph, scores, constraint_rows(graph.n_edges, rows))


def test_example_7_3_1():
    problem = example_7_3_1()
    assert decode(problem, method="optimal-beam").score == 21.0
    counts = np.array([7 if name == "end" else name[0] for name in problem.hypergraph.vertex_names])
    heads, names = problem.hypergraph.heads, problem.hypergraph.vertex_names
    steps = [(2, "this criticism"), (4, "we must"), (6, "this criticism"), "end"]
    previous = [(0, None), *steps]
    twice = [
        e
        for e in range(problem.hypergraph.n_edges)
        if (names[heads[e]], names[problem.hypergraph.tail(e)[0]]) in list(zip(steps, previous, strict=False))
    ]
    assert problem.score(twice) == 28.0  # figure 7-2 (b): it translates some words twice
    found = optimal_beam(searchable(problem, counts), schedule="staged")
    assert found.best.score == found.bound == 21.0


def test_wrong_input():
    problem = example_7_3_1()
    with pytest.raises(UnknownMethod, match="Known: alternating, staged"):
        optimal_beam(searchable(problem), schedule="at once")
    with pytest.raises(InputError, match="integers, one per vertex"):
        searchable(problem, np.zeros(3, dtype=np.int64))
    with pytest.raises(InputError, match="below it"):
        searchable(problem, np.zeros(problem.hypergraph.n_vertices, dtype=np.int64))


def test_limits_leave_a_gap():
    search = searchable(example_7_3_1())
    found = optimal_beam(search, max_rounds=1, width=lambda *_: 1)
    assert found.bound >= 21.0
    assert not found.searched
    assert optimal_beam(search, time_limit=0.0, width=lambda *_: 1).rounds == 1
