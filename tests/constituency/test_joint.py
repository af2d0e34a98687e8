"""Joint parsing and tagging: every method against all parses; the run of example 4.2.1; certificates."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zerogap.constituency import JointProblem, decode, decode_many, grammar
from zerogap.errors import Infeasible, InputError, InvalidStructure, ScoreShapeError, UnknownMethod, VerificationError
from zerogap.proof import Leaves, Multipliers
from zerogap.proof.verify import verify
from zerogap.testing.strategies import score_arrays


@st.composite
def joint_problems(draw):
    symbols = "ABC"
    rules = {(x, (f"{x.lower()}!",)): 0.0 for x in symbols}
    for _ in range(draw(st.integers(2, 8))):
        key = draw(st.sampled_from(symbols)), (draw(st.sampled_from(symbols)), draw(st.sampled_from(symbols)))
        rules[key] = float(draw(st.integers(-3, 3)))
    if draw(st.booleans()):
        rules["A", ("B",)] = float(draw(st.integers(-3, 3)))
    g = grammar([(p, right, s) for (p, right), s in rules.items()], root="A")
    n, tags = draw(st.integers(1, 4)), draw(st.sampled_from(["ABC", "CB", "BCA"]))
    lexical = np.full((n, 3), -np.inf)
    lexical[:, [g.symbols.index(t) for t in tags]] = draw(score_arrays((n, len(tags))))
    order = draw(st.integers(2, 3))
    return JointProblem(
        g, tags=tuple(tags), lexical=lexical, emissions=draw(score_arrays((n, len(tags)))),
        transitions=draw(score_arrays((len(tags) + 1,) * order)),
    )  # fmt: skip


def all_trees(problem, i, j, symbol):
    names = problem.grammar.symbols
    found = [(names[symbol], i)] if j == i + 1 and problem.lexical[i, symbol] > -np.inf else []
    for parent, child in problem.grammar.unary.tolist():
        if parent == symbol:
            found += [(names[symbol], below) for below in all_trees(problem, i, j, child)]
    for parent, left, right in problem.grammar.binary.tolist():
        if parent == symbol:
            for split in range(i + 1, j):
                found += [(names[symbol], a, b) for a in all_trees(problem, i, split, left) for b in all_trees(problem, split, j, right)]
    return found


def optimum(problem):
    trees = all_trees(problem, 0, problem.n_words, problem.grammar.root)
    return max((problem.score(tree) for tree in trees), default=-np.inf)


@given(joint_problems(), st.sampled_from(["auto", "intersection", "ilp"]))
def test_exact_methods(problem, method):
    best = optimum(problem)
    if best == -np.inf:
        with pytest.raises(Infeasible):
            decode(problem, method=method)
        return
    solution = decode(problem, method=method)
    assert solution.score == solution.bound == best
    assert verify(problem, solution).bound == best


@given(joint_problems())
def test_multipliers_alone_are_never_wrong(problem):
    best = optimum(problem)
    if best == -np.inf:
        return
    solution = decode(problem, method="dual-decomposition", max_iterations=20)
    assert solution.score <= best <= solution.bound
    verify(problem, solution)


def united() -> JointProblem:
    """Scores under which algorithm 6 runs as in example 4.2.1: the parser wants A N D A V, the tagger N V D A N."""
    rules = [
        ("S", ["NP", "VP"], 0), ("NP", ["A", "N"], 3), ("VP", ["DA", "V"], 1), ("DA", ["D", "A"], 0),
        ("S", ["N", "VP"], 1), ("VP", ["V", "OBJ"], 1), ("OBJ", ["DA", "N"], 1),
        ("N", ["United"], 0), ("A", ["United"], 0), ("N", ["flies"], 0), ("V", ["flies"], 0), ("D", ["some"], 0),
        ("A", ["large"], 0), ("N", ["jet"], 0), ("V", ["jet"], 0),
    ]  # fmt: skip
    tags = ("N", "V", "D", "A")
    transitions = np.full((5, 5, 5), -3.0)
    for gram, score in {"^^N": 1, "^NV": 1, "NVD": 0, "VDA": 0, "DAN": 0, "AN$": 1, "^^A": 0, "^AN": 0, "AND": 0, "NDA": 0}.items():
        transitions[tuple(4 if symbol in "^$" else tags.index(symbol) for symbol in gram)] = score
    return JointProblem(grammar(rules, root="S"), ["United", "flies", "some", "large", "jet"], tags=tags, transitions=transitions)


def test_example_4_2_1_agrees_in_three_iterations():
    problem = united()
    solution = decode(problem, method="dual-decomposition", step="constant", scale=1.0)
    assert len(solution.trace) == 3
    assert solution.status == "optimal"
    assert solution.structure == ("S", ("N", 0), ("VP", ("V", 1), ("OBJ", ("DA", ("D", 2), ("A", 3)), ("N", 4))))
    assert isinstance(solution.certificate, Multipliers)
    prices = np.array(solution.certificate.values).reshape(5, 4)
    # the thesis adds multipliers where we subtract them; its text swaps the two values at word 5
    assert {(i + 1, problem.tags[t]): -prices[i, t] for i, t in np.argwhere(prices)} == {(5, "N"): 1.0, (5, "V"): -1.0}
    verify(problem, solution)
    assert solution.score == decode(problem, method="intersection").score == decode(problem).score


@given(joint_problems(), st.integers(0, 1000))
def test_tampered_certificates_fail(problem, seed):
    if optimum(problem) == -np.inf:
        return
    solution = decode(problem)
    with pytest.raises(VerificationError):
        verify(problem, replace(solution, bound=solution.bound - problem.unit))
    with pytest.raises(VerificationError):
        verify(problem, replace(solution, structure=("C", solution.structure)))
    if isinstance(solution.certificate, Leaves):
        with pytest.raises(VerificationError):
            verify(problem, replace(solution, certificate=Leaves(solution.certificate.leaves[1:])))


def test_invalid_structures_say_why():
    problem = united()
    good = decode(problem).structure
    for bad, message in [
        (good[:2], "leaves are the words"),
        (("S", good[1], ("VP", ("V", 1), ("OBJ", ("N", 2), ("NP", ("A", 3), ("N", 4))))), "no rule OBJ -> N NP"),
        (("VP", *good[1:]), "root is 'VP'"),
        (("S", ("X", 0), good[2]), "'X' is not a tag"),
        (("S", "NP"), "not a tree"),
        ("S", "not a tree"),
        (("S", ("NP", 0), good[2]), "'NP' is not a tag"),
        (("S", ("D", 0), good[2]), "no rule S -> D VP"),
    ]:
        with pytest.raises(InvalidStructure, match=message):
            problem.check(bad)


def test_bad_input():
    g = grammar([("S", ["N", "V"], 0), ("N", ["dogs"], 0), ("V", ["bark"], 0)], root="S")
    with pytest.raises(ScoreShapeError, match="2 tags: expected"):
        JointProblem(g, ["dogs", "bark"], tags=("N", "V"), transitions=np.zeros((2, 2)))
    with pytest.raises(InputError, match=r"tags\[1\] is 'X'"):
        JointProblem(g, ["dogs", "bark"], tags=("N", "X"), transitions=np.zeros((3, 3)))
    with pytest.raises(InputError, match="'V', which is not among the tags"):
        JointProblem(g, ["dogs", "bark"], tags=("N",), transitions=np.zeros((2, 2)))
    with pytest.raises(InputError, match="either words"):
        JointProblem(g, tags=("N", "V"), transitions=np.zeros((3, 3)))
    with pytest.raises(Infeasible, match="'cats'"):
        JointProblem(g, ["cats"], tags=("N", "V"), transitions=np.zeros((3, 3)))
    problem = JointProblem(g, ["bark", "dogs"], tags=("N", "V"), transitions=np.zeros((3, 3)))
    with pytest.raises(Infeasible, match="no parse"):
        decode(problem)
    with pytest.raises(UnknownMethod, match="dual-decomposition"):
        decode(problem, method="dual-decompositon")
    forbidding = JointProblem(g, ["dogs", "bark"], tags=("N", "V"), transitions=np.full((3, 3), -np.inf))
    for method in ("auto", "dual-decomposition", "intersection", "ilp"):
        with pytest.raises(Infeasible):
            decode(forbidding, method=method)


def test_decode_many_keeps_order():
    solutions = decode_many([united()] * 4, threads=2)
    assert {s.structure for s in solutions} == {decode(united()).structure}
