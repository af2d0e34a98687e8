"""Intersection and the linear program for joint parsing and tagging: the same optimum, by other ways."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zerogap.baselines.bar_hillel import best_joint_parse, live_contexts
from zerogap.baselines.constituency_lp import solve_ilp, solve_lp
from zerogap.constituency import JointProblem, decode, grammar
from zerogap.constituency.grammars.extraction import Markovisation
from zerogap.constituency.joint.model import train_joint
from zerogap.constituency.joint.parser_and_tagger import Halves, indexed
from zerogap.errors import Infeasible
from zerogap.io.formats.brackets import tree_from_text
from zerogap.proof.constituency.joint import Parses, joint_optimum
from zerogap.proof.integers import as_float
from zerogap.testing.strategies import score_arrays

RULES = [("S", ("N", "V")), ("S", ("S", "S")), ("N", ("N", "N")), ("V", ("V", "N")), ("V", ("N", "V")), ("S", ("N",)), ("V", ("S",))]


@st.composite
def problems(draw):
    scores = [float(draw(st.integers(-3, 3))) for _ in RULES]
    rules = [(parent, right, score) for (parent, right), score in zip(RULES, scores, strict=True)]
    g = grammar([*rules, ("N", ["n"], 0), ("V", ["v"], 0)], root="S")
    n, order = draw(st.integers(1, 4)), draw(st.integers(2, 3))
    lexical = np.full((n, 3), -np.inf)
    lexical[:, [g.symbols.index("N"), g.symbols.index("V")]] = draw(score_arrays((n, 2)))
    return JointProblem(g, tags=("N", "V"), lexical=lexical, transitions=draw(score_arrays((3,) * order)))


def chart_of(problem):
    halves = Halves.of(problem)
    return halves.indexed, halves.chart()


@given(problems())
@settings(max_examples=40)
def test_both_find_the_optimum(problem):
    optimum = as_float(joint_optimum(Parses.of(problem)), problem.resolution)  # of the code that proves
    if optimum == -np.inf:
        with pytest.raises(Infeasible):
            best_joint_parse(problem, indexed(problem.grammar))
        assert solve_ilp(problem, *chart_of(problem)) is None
        return
    tree = best_joint_parse(problem, indexed(problem.grammar))
    problem.check(tree)
    assert problem.score(tree) == optimum
    assert problem.score(best_joint_parse(problem, indexed(problem.grammar), every_context=True)) == optimum
    assert problem.score(solve_ilp(problem, *chart_of(problem))) == optimum
    relaxed = solve_lp(problem, *chart_of(problem))
    assert relaxed >= optimum - 1e-6
    # the least dual value is that of the linear program (section 4.4): no multipliers go below it
    assert decode(problem, method="dual-decomposition", max_iterations=60).bound >= relaxed - 1e-6


def test_a_trained_grammar():
    texts = (
        "(TOP (S (NP (DT the) (NN dog)) (VP (VBZ barks)) (. .)))",
        "(TOP (S (NP (NNS dogs)) (VP (VBP see) (NP (NP (NNS cats)) (PP (IN in) (NP (NNS parks))))) (. .)))",
        "(TOP (S (NP (DT the) (NNS dogs)) (VP (VBP bark)) (. .)))",
    )
    model = train_joint([tree_from_text(text) for text in texts], markovisation=Markovisation(tag_parents=True), weight=1.0)
    for words in (["the", "cats", "bark", "."], ["dogs"], ["cats", "see", "the", "zebra", "."]):
        problem = model.problem(words)
        best = decode(problem).score
        assert problem.score(best_joint_parse(problem, indexed(problem.grammar))) == best
        assert problem.score(solve_ilp(problem, *chart_of(problem))) == best
        assert solve_lp(problem, *chart_of(problem)) == pytest.approx(best, abs=1e-6)


def test_live_contexts():
    g = grammar([("S", ["N", "V"], 0), ("N", ["a"], 0), ("V", ["a"], 0)], root="S")
    transitions = np.zeros((3, 3, 3))
    transitions[2, 2, 1] = -np.inf  # no V at the beginning
    problem = JointProblem(g, ["a", "a"], tags=("N", "V"), transitions=transitions)
    found = [contexts.tolist() for contexts in live_contexts(problem, problem.transitions.reshape(9, 3))]
    assert found == [[8], [6], [0, 1]]  # boundaries; boundary N; N N and N V
