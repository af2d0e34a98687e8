"""Problems that were once other problems than those that somebody gave: what is given is copied, checked once, and read as it says."""

import numpy as np
import pytest

import zerogap
from zerogap import dependency, sequence
from zerogap.errors import InputError, VerificationError
from zerogap.problems.dependency.factor import FactorArrays
from zerogap.problems.dependency.head_automaton import HeadAutomaton
from zerogap.problems.sequence.constraints import Constraint, at_least, disallow
from zerogap.proof import Solution
from zerogap.proof.certificate import Intersection

ARCS = [[0, 10, 0, 0], [0, 0, 10, 10], [0, 0, 0, 0], [0, 0, 0, 0]]


def test_constraints_that_can_be_gone_through_once():
    """They were bound, and then gone: nothing was forbidden."""
    problem = sequence.Problem([[5.0, 0.0]], labels=["A", "B"], constraints=iter([disallow("A")]))
    assert [constraint.kind for constraint in problem.constraints] == ["disallow"]
    assert len(problem.penalties) == 1
    with pytest.raises(VerificationError, match="breaks disallow"):
        zerogap.verify(problem, Solution(("A",), 5.0, 5.0, Intersection(())))


class Liar(float):
    def __lt__(self, other):
        return True

    __gt__ = __le__ = __ge__ = __lt__

    def __float__(self):
        return -5.0


def test_a_penalty_that_says_it_is_positive():
    with pytest.raises(InputError, match="penalty"):
        Constraint("disallow", ("A",), penalty=Liar(3.0))
    with pytest.raises(InputError, match="penalty"):
        Constraint("disallow", ("A",), penalty=10**400)


def test_counts_of_few_bits():
    """The count went beyond 127, and the machine had no states."""
    constraint = Constraint("at_least", (np.str_("A"), np.int8(127)))
    assert constraint == at_least("A", 127)
    assert [type(part) for part in constraint.arguments] == [str, int]
    assert sequence.Problem([[0.0, 0.0]], labels=["A", "B"], constraints=[constraint]).machines[0].n_states == 255


def test_transitions_that_can_be_gone_through_once():
    """They were gone when weights came, and a state got the weight of a transition."""
    given = HeadAutomaton(0, "right", iter([(0, 1, 1, 5.0)]), [0.0, 0.0])
    problem = dependency.Problem([[0, 1, 0], [0, 0, 1], [0, 0, 0]], automata=[given])
    assert problem.automata == (HeadAutomaton(0, "right", ((0, 1, 1, 5.0),), (0.0, 0.0)),)
    assert problem.score((0, 1)) == 7.0


class Generous(HeadAutomaton):
    def weight(self, modifiers):
        return 100.0


class Unchecked(FactorArrays):
    def check(self, n):
        pass

    def score_of(self, heads):
        return 100.0


def test_parts_of_classes_of_their_own():
    """A subclass answered for a tree what no checker would."""
    given = Generous(0, "right", ((0, 1, 1, 5.0), (0, 2, 1, -10.0)), (0.0, 0.0))
    problem = dependency.Problem([[0, 1, 0], [0, 0, 1], [0, 0, 0]], automata=[given])
    assert type(problem.automata[0]) is HeadAutomaton
    assert problem.score((0, 1)) == 7.0
    factors = Unchecked(3, np.array([0, 2]), np.array([1, 6]), np.array([-5.0]))
    problem = dependency.Problem(ARCS, factors=factors)
    assert type(problem.factors) is FactorArrays
    assert problem.score((0, 1, 1)) == 25.0
    with pytest.raises(InputError, match="has the arc"):
        dependency.Problem(ARCS, factors=Unchecked(3, np.array([0, 2]), np.array([1, -10]), np.array([-5.0])))


def test_factors_that_somebody_else_can_write_to():
    start, arcs = np.array([0, 2]), np.array([1, 6])
    problem = dependency.Problem(ARCS, factors=FactorArrays(3, start, arcs, np.array([-5.0])))
    before = problem.score((0, 1, 1)), problem.factors[0]
    start[:], arcs[:] = 1, 99
    assert (problem.score((0, 1, 1)), problem.factors[0]) == before
    with pytest.raises(ValueError, match="read-only"):
        problem.factors.arcs[0] = 2


@pytest.mark.parametrize("start", [np.array([0, 3, 1, 4], dtype=np.uint8), np.array([0, 3, 1, 4], dtype=np.uint64)])
def test_starts_that_fall_without_a_sign(start):
    with pytest.raises(InputError, match="has no arcs"):
        dependency.Problem(ARCS, factors=FactorArrays(3, start, np.array([1, 6, 7, 2]), np.zeros(3)))


@pytest.mark.parametrize("n", [3.0, True, np.int64(3)])
def test_factors_of_a_number_of_words_that_is_no_integer(n):
    with pytest.raises(InputError, match="factors are arrays"):
        dependency.Problem(ARCS, factors=FactorArrays(n, np.array([0, 2]), np.array([1, 6]), np.array([-5.0])))
