"""Every method of phrase-based translation, its certificates, alternatives and reasons, against enumeration."""

import importlib.util
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zerogap.baselines.phrase_brute import all_derivations, best_score
from zerogap.baselines.phrase_ilp import solve_phrases
from zerogap.errors import Infeasible, InputError, UnknownMethod, VerificationError
from zerogap.problems.translation.phrase_constraints import Constraints, Wall, Zone
from zerogap.problems.translation.phrases import PhraseProblem, translation
from zerogap.proof.certificate import DynamicProgram, Multipliers, certificate_from_json, certificate_to_json
from zerogap.proof.integers import as_float, bound_units
from zerogap.proof.translation import phrase_graphs
from zerogap.proof.translation import phrases as checker
from zerogap.proof.verify import verify
from zerogap.translation.decoding import decode, decode_many
from zerogap.translation.phrases import optimal_beam
from zerogap.translation.phrases.decoding import METHODS, decode_phrases
from zerogap.translation.phrases.optimal_beam import optimal_beam_search

spec = importlib.util.spec_from_file_location("phrase_strategies", Path(__file__).with_name("phrase_strategies.py"))
strategies = importlib.util.module_from_spec(spec)
spec.loader.exec_module(strategies)
problems, FLAT, GRID = strategies.problems, strategies.FLAT, strategies.GRID


def phrase_bound(problem, certificate, claimed):
    """The checker's bound, as a score."""
    unit = problem.resolution
    return as_float(checker.phrase_bound(problem, certificate, bound_units(claimed, unit)), unit)


def test_what_cannot_be_translated_is_named():
    with pytest.raises(Infeasible, match="no phrase translates word 1, 'v'"):
        optimal_beam_search(PhraseProblem(["u", "v"], [(0, 1, ("a",), 0.0)], FLAT))
    with pytest.raises(Infeasible, match="no phrase translates word 0, 'u'"):
        optimal_beam_search(PhraseProblem(["u"], [(0, 1, ("a",), -np.inf)], FLAT))
    crossing = [(0, 2, ("a",), 0.0), (1, 3, ("b",), 0.0)]
    with pytest.raises(Infeasible, match="no sequence of phrases translates every word once without forbidden"):
        optimal_beam_search(PhraseProblem(["u", "v", "w"], crossing, FLAT))
    with pytest.raises(Infeasible, match="no sequence of phrases translates every word once, whatever the limit of jumps"):
        optimal_beam_search(PhraseProblem(["u", "v", "w"], crossing, FLAT, distortion_limit=1))


@pytest.mark.parametrize("method", sorted(METHODS))
def test_the_smallest_limit_that_works_is_named(method):
    """Under Moses' rule, or to obey a wall, jumps must be longer than the limit."""
    phrases = [(i, i + 1, (word,), 0.0) for i, word in enumerate("abca")]
    order = Constraints(required=(("c", "a", "b"),))  # words 2, 0 or 3, 1
    problem = PhraseProblem(list("wxyz"), phrases, FLAT, distortion_limit=1, constraints=order)
    with pytest.raises(
        Infeasible, match="no translation satisfies the required phrase 'c a b'.* With a distortion limit of 3 in place of 1"
    ):
        decode_phrases(problem, method=method)
    assert decode_phrases(problem.under(order, distortion_limit=3), method=method).structure is not None
    with pytest.raises(Infeasible):
        decode_phrases(problem.under(order, distortion_limit=2), method=method)


def test_the_constraints_that_cannot_hold_together_are_named():
    phrases = [(i, i + 1, (word,), 0.0) for i, word in enumerate("abc")]
    harmless = {"forbidden": (("c", "b"),), "zones": (Zone(0, 2),)}
    problem = PhraseProblem(list("xyz"), phrases, FLAT, constraints=Constraints(required=(("c", "a"),), walls=(Wall(2),), **harmless))
    with pytest.raises(Infeasible) as caught:
        decode_phrases(problem)
    assert str(caught.value) == "no translation satisfies the required phrase 'c a' and the wall before word 2 together."
    for left in (Constraints(required=(("c", "a"),), **harmless), Constraints(walls=(Wall(2),), **harmless)):
        assert decode_phrases(problem.under(left)).status == "optimal"
    with pytest.raises(Infeasible, match=r"no translation satisfies the required phrase 'd'\.$"):
        decode_phrases(problem.under(Constraints(required=(("d",),))))


@given(problems())
def test_certificates_prove_the_bound(problem):
    try:
        solution = decode_phrases(problem)
    except Infeasible:
        return
    assert phrase_bound(problem, solution.certificate, solution.bound) == solution.score
    again = certificate_from_json(certificate_to_json(solution.certificate))
    assert again == solution.certificate
    assert phrase_bound(problem, again, solution.bound - GRID) >= solution.score  # a claim that is too low is not proved


@given(problems(), st.integers(0, 2**32 - 1), st.sampled_from([1, 3, 10**6]))
def test_any_multipliers_prove_something(problem, seed, few):
    """Even when nodes are tightened at once: exactly the optimum, whatever is claimed below it."""
    optimum = best_score(problem)
    multipliers = Multipliers(tuple(np.random.default_rng(seed).integers(-3, 4, len(problem)).astype(float).tolist()))
    before, phrase_graphs.FEW = phrase_graphs.FEW, few
    try:
        if optimum > -np.inf:
            assert phrase_bound(problem, multipliers, optimum) == optimum
            assert phrase_bound(problem, multipliers, optimum - 1.0) == optimum
        assert optimum <= phrase_bound(problem, multipliers, max(optimum, -50.0) + 1.0) <= max(optimum, -50.0) + 1.0
    finally:
        phrase_graphs.FEW = before


def test_wrong_certificates_are_refused():
    problem = PhraseProblem(["u", "v"], [(0, 1, ("a",), 0.0), (1, 2, ("b",), 0.0)], FLAT)
    for values, message in [
        ((0.0,), "has 1 multipliers: expected 2"),
        ((0.0, GRID / 2), "expected a multiple of"),
        ((0.0, math.nan), "multiplier 1 is nan"),
        ((0.0, math.inf), "multiplier 1 is inf"),
        ((0.0, 2.0**60), "so large that sums"),
    ]:
        with pytest.raises(VerificationError, match=message):
            phrase_bound(problem, Multipliers(values), 0.0)
    with pytest.raises(VerificationError, match="'dynamic-program' proves nothing"):
        phrase_bound(problem, DynamicProgram(), 0.0)


@given(problems(), st.sampled_from(sorted(METHODS)))
def test_every_method_bounds_the_best(problem, method):
    optimum = best_score(problem)
    try:
        solution = decode_phrases(problem, method=method)
    except Infeasible:
        assert optimum == -np.inf
        return
    assert solution.score <= optimum <= solution.bound
    if solution.structure is not None:
        problem.check(solution.structure)
        assert problem.score(solution.structure) == solution.score
    assert phrase_bound(problem, solution.certificate, solution.bound) <= solution.bound
    if method not in ("lagrangian", "beam"):
        assert solution.status == "optimal"


@given(problems(), st.integers(2, 12), st.integers(0, 2**32 - 1))
def test_the_next_best_are_found_in_order(problem, k, seed):
    everything = sorted((problem.score(problem.derivation(phrases)) for phrases in all_derivations(problem)), reverse=True)
    scores = [score for score in everything if score > -np.inf][:k]
    before, optimal_beam.FIRST_PHRASES = optimal_beam.FIRST_PHRASES, [2, 10**6][seed % 2]
    try:
        solution = decode_phrases(problem, k=k)
    except Infeasible:
        assert not scores
        return
    finally:
        optimal_beam.FIRST_PHRASES = before
    assert [solution.score, *(score for _, score in solution.alternatives)] == scores
    verify(problem, solution)
    if len(scores) > 1:
        with pytest.raises(VerificationError):
            verify(problem, replace(solution, alternatives=(*solution.alternatives[:-1], (solution.structure, solution.score))))
        if scores[-1] < scores[-2]:  # the next best is left out, and another one in its place
            worse = [d for d in map(problem.derivation, all_derivations(problem)) if -np.inf < problem.score(d) < scores[-1]]
            if worse:
                with pytest.raises(VerificationError, match="another structure scores"):
                    verify(problem, replace(solution, alternatives=(*solution.alternatives[:-1], (worse[0], problem.score(worse[0])))))


@settings(max_examples=60)
@given(problems(max_words=3))
def test_an_integer_program_finds_the_same(problem):
    phrases = solve_phrases(problem)
    score = -np.inf if phrases is None else problem.score(problem.derivation(phrases))
    assert score == best_score(problem)
    if phrases is not None:
        problem.check(problem.derivation(phrases))


def test_long_sentences_are_too_much_for_an_integer_program():
    phrases = [(i, i + 1, (word,), 0.0) for i in range(9) for word in "abc"]
    with pytest.raises(InputError, match="more than 100 steps: expected a shorter one"):
        solve_phrases(PhraseProblem(list("stuvwxyz!"), phrases, FLAT), most_steps=100)


def test_many_at_once():
    phrases = [(0, 1, ("a",), 1.0), (1, 2, ("b",), 2.0), (0, 2, ("c",), 2.5)]
    problems = [PhraseProblem(["u", "v"], phrases, FLAT)] * 3
    assert [translation(solution.structure) for solution in decode_many(problems, threads=2)] == ["c"] * 3
    assert decode(problems[0], method="beam").score == decode_phrases(problems[0], method="beam").score
    verify(problems[0], decode(problems[0]))
    assert [len(solution.alternatives) for solution in decode_many(problems[:1], k=2)] == [1]
    with pytest.raises(InputError, match="problem is a str: expected a PhraseProblem or a SyntaxProblem"):
        decode("u v")
    with pytest.raises(UnknownMethod, match="Did you mean 'beam'"):
        decode_phrases(problems[0], method="beem")
    with pytest.raises(InputError, match="problem is a str"):
        decode_phrases("u v")
    with pytest.raises(InputError, match="time_limit is -1"):
        decode_phrases(problems[0], time_limit=-1)
