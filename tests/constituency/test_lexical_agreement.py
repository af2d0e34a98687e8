"""A lexicalised parser and a dependency parser that must agree: bounds, certificates, the dual where nothing ties them."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles.test_lexical_cky import all_parses, lexical_problems
from zerogap.constituency.lexical_agreement import LexicalAgreement
from zerogap.constituency.lexical_decoders import decode_lexical
from zerogap.constituency.lexical_joint import decode_agreement
from zerogap.dependency.problem import Problem
from zerogap.errors import Infeasible, ScoreShapeError, VerificationError
from zerogap.proof.certificate import DynamicProgram, Multipliers
from zerogap.proof.verify import verify
from zerogap.testing.strategies import score_arrays


@st.composite
def agreements(draw):
    lexical = draw(lexical_problems(max_words=3))
    size = lexical.n_words + 1
    tables = {"siblings": draw(score_arrays((size,) * 3, holes=False)), "stops": draw(score_arrays((size,) * 2, holes=False))}
    return LexicalAgreement(lexical, draw(score_arrays((size,) * 2)), **tables)


@given(agreements())
@settings(max_examples=60)
def test_never_wrong(problem):
    trees = all_parses(problem.lexical)
    if trees is None:
        return
    best = max((problem.score(tree) for tree in trees), default=-np.inf)
    try:
        solution = decode_agreement(problem, max_iterations=30)
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
    from tests.constituency.test_lexical_problem import example

    with pytest.raises(ScoreShapeError, match=r"arcs has shape \(3, 3\)"):
        LexicalAgreement(example(), np.zeros((3, 3)))
