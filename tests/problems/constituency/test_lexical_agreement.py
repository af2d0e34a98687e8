"""A lexicalised parser, a dependency parser and a tagger that must agree: bounds, certificates, the dual where nothing ties them."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles.parses.test_lexical import all_parses, lexical_problems
from tests.problems.constituency.test_lexical import example
from zerogap.constituency.lexical.agreement import decode_agreement
from zerogap.constituency.lexical.decoding import decode_lexical
from zerogap.errors import Infeasible, InputError, InvalidStructure, ScoreShapeError, UnknownMethod, VerificationError
from zerogap.problems.constituency.lexical_agreement import LexicalAgreement, TagScores
from zerogap.problems.dependency.problem import Problem
from zerogap.proof.certificate import DynamicProgram, Leaves, Multipliers
from zerogap.proof.verify import verify
from zerogap.testing.strategies import score_arrays


@st.composite
def agreements(draw):
    lexical = draw(lexical_problems(max_words=3))
    size = lexical.n_words + 1
    tables = {"siblings": draw(score_arrays((size,) * 3, holes=False)), "stops": draw(score_arrays((size,) * 2, holes=False))}
    tagging = None
    if draw(st.booleans()):
        n_tags, order, candidates = draw(st.integers(1, 2)), draw(st.integers(2, 3)), len(lexical.positions)
        tag_of = draw(st.lists(st.integers(0, n_tags - 1), min_size=candidates, max_size=candidates))
        tagging = TagScores(tag_of, draw(score_arrays((candidates,))), draw(score_arrays((n_tags + 1,) * order)))
    return LexicalAgreement(lexical, draw(score_arrays((size,) * 2)), tagging=tagging, **tables)


@given(agreements())
@settings(max_examples=60)
def test_never_wrong(problem):
    trees = all_parses(problem.lexical)
    if trees is None:
        return
    best = max((problem.score(tree) for tree in trees), default=-np.inf)
    try:
        solution = decode_agreement(problem, max_iterations=30, method="dual-decomposition")
    except Infeasible:
        assert best == -np.inf
        return
    assert solution.score <= best <= solution.bound
    if solution.structure is not None:
        assert problem.score(solution.structure) == solution.score
        problem.check(solution.structure)
    verify(problem, solution)
    if best > -np.inf:
        with pytest.raises(VerificationError):
            verify(problem, dataclasses.replace(solution, bound=best - 1.0))
    with pytest.raises(VerificationError, match="multipliers for"):
        verify(problem, dataclasses.replace(solution, certificate=Multipliers((0.0,))))
    with pytest.raises(VerificationError, match="proves nothing here"):
        verify(problem, dataclasses.replace(solution, certificate=DynamicProgram()))


@given(agreements())
@settings(max_examples=60)
def test_never_lazy(problem):
    """Where multipliers leave a gap, branching closes it, with leaves that verify and that cover everything."""
    trees = all_parses(problem.lexical)
    if trees is None:
        return
    best = max((problem.score(tree) for tree in trees), default=-np.inf)
    try:
        solution = decode_agreement(problem, max_iterations=2)
    except Infeasible:
        assert best == -np.inf
        return
    assert solution.score == best == solution.bound
    verify(problem, solution)
    if isinstance(solution.certificate, Leaves):
        with pytest.raises(VerificationError, match="do not cover the space|proves the bound|overlap"):
            verify(problem, dataclasses.replace(solution, certificate=Leaves(solution.certificate.leaves[1:])))


def test_a_gap_is_closed_by_branching():
    """Three words whose models want different heads in a circle: multipliers alone leave a gap."""
    rng, gaps = np.random.default_rng(3), 0
    for _ in range(30):
        lexical = example(words=rng.integers(-3, 4, (1, 3, 3)).astype(float), roots=np.zeros(3))
        scores = [rng.integers(-3, 4, (4,) * axes).astype(float) for axes in (2, 3, 2)]
        problem = LexicalAgreement(lexical, scores[0], siblings=scores[1], stops=scores[2])
        open_gap = decode_agreement(problem, method="dual-decomposition", max_iterations=1)
        closed = decode_agreement(problem, max_iterations=1)
        assert closed.status == "optimal"
        assert open_gap.score <= closed.score <= open_gap.bound
        verify(problem, closed)
        gaps += open_gap.status != "optimal"
    assert gaps > 0


@given(agreements())
def test_trees_score_as_dependency_problems(problem):
    same = Problem(problem.arcs, siblings=problem.siblings, stops=problem.stops, projective=True)
    for tree in (all_parses(problem.lexical) or [])[:20]:
        heads = problem.lexical.heads(tree)
        assert problem.tree_score(heads) == same.score(heads)


@given(lexical_problems(max_words=3))
def test_nothing_to_agree_on(lexical):
    """Where the dependency half is indifferent, the lexical half decides, and the first prices prove it."""
    try:
        best = decode_lexical(lexical).score
    except Infeasible:
        return
    solution = decode_agreement(LexicalAgreement(lexical, np.zeros((lexical.n_words + 1,) * 2)))
    assert solution.status == "optimal"
    assert solution.score == best
    assert len(solution.trace) == 1


def test_wrong_shapes():
    with pytest.raises(ScoreShapeError, match=r"arcs has shape \(3, 3\)"):
        LexicalAgreement(example(), np.zeros((3, 3)))
    with pytest.raises(ScoreShapeError, match="tagging has 2 candidates: expected 3"):
        LexicalAgreement(example(), tagging=TagScores([0, 0], np.zeros(2), np.zeros((2, 2))))
    with pytest.raises(ScoreShapeError, match=r"transitions has shape \(2, 3\)"):
        TagScores([0], np.zeros(1), np.zeros((2, 3)))
    with pytest.raises(InputError, match="tag_of has entries from 1 to 1"):
        TagScores([1], np.zeros(1), np.zeros((2, 2)))
    with pytest.raises(UnknownMethod, match="Did you mean 'auto'"):
        decode_agreement(LexicalAgreement(example()), method="aut")


def test_forbidden_parts_are_named():
    tree = ("S", ("N", 0), ("S", ("S", ("V", 1)), ("N", 2)))
    with pytest.raises(InvalidStructure, match="dependency parser forbids"):
        LexicalAgreement(example(), np.full((4, 4), -np.inf)).check(tree)
    with pytest.raises(InvalidStructure, match="tagger forbids"):
        LexicalAgreement(example(), tagging=TagScores([0, 0, 0], np.zeros(3), np.full((2, 2), -np.inf))).check(tree)
