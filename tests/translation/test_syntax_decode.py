"""Translation forests: every method against all derivations, the relaxation, certificates."""

import importlib.util
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from zerogap.baselines.forest_brute import all_derivations, brute_force
from zerogap.errors import Infeasible, InputError, InvalidStructure, UnknownMethod, VerificationError
from zerogap.io.translation.arpa import load_language_model
from zerogap.io.translation.scfg import load_syntax_weights, read_grammar
from zerogap.problems.translation.forest import from_rules
from zerogap.proof.certificate import DynamicProgram, Multipliers, Unsatisfiable
from zerogap.proof.files import solution_from_json, solution_to_json
from zerogap.proof.translation import forest_pieces
from zerogap.proof.translation.forest_bounds import token_lists
from zerogap.proof.translation.forest_reading import Reading
from zerogap.proof.translation.forests import syntax_alternatives, syntax_bound
from zerogap.proof.verify import verify
from zerogap.translation.decoding import decode_many
from zerogap.translation.forests import search as intersection
from zerogap.translation.forests.cube_pruning import compile_problem, cube_prune
from zerogap.translation.forests.decoding import decode_forest
from zerogap.translation.forests.end_prices import relax
from zerogap.translation.forests.from_grammar import sentence_problem
from zerogap.translation.forests.search import exhaustive, search

spec = importlib.util.spec_from_file_location("syntax_strategies", Path(__file__).with_name("syntax_strategies.py"))
strategies = importlib.util.module_from_spec(spec)
spec.loader.exec_module(strategies)
few = strategies.few
language_models, syntax_problems = strategies.language_models, strategies.syntax_problems


def optimum(problem):
    return max(problem.score(y) for y in all_derivations(problem.forest))


@given(syntax_problems(max_order=5, holes=True, empty_sides=True), st.sampled_from(["auto", "intersection"]))
@settings(max_examples=150)
def test_exact_methods(problem, method):
    assume(few(problem))
    best = optimum(problem)
    if best == -np.inf:
        with pytest.raises(Infeasible, match="forbidden"):
            decode_forest(problem, method=method)
        return
    solution = decode_forest(problem, method=method)
    assert problem.score(solution.structure) == solution.score == best == solution.bound
    problem.check(solution.structure)
    assert syntax_bound(problem, solution.certificate, solution.bound) <= solution.bound


@given(syntax_problems(max_order=5), st.integers(1, 4))
@settings(max_examples=120)
def test_prices_bound_everything(problem, rounds):
    assume(few(problem))
    given_, best = compile_problem(problem), optimum(problem)
    relaxed = relax(problem, given_, threshold=-1e6, rounds=rounds, iterations=5)
    assert relaxed.bound >= best
    found = search(problem, given_, relaxed, threshold=best - 1.0, limit=10_000)
    assert problem.score(found.best) == best
    nothing = search(problem, given_, relaxed, threshold=best, limit=10_000)
    assert nothing.best is None or problem.score(nothing.best) <= best


@given(syntax_problems(max_order=5), st.integers(0, 3))
@settings(max_examples=120)
def test_pauses_lose_nothing(problem, budget):
    assume(few(problem))
    given_, best = compile_problem(problem), optimum(problem)
    relaxed = relax(problem, given_, threshold=best - 1.0, iterations=3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(intersection, "FIRST_BUDGET", budget)
        patch.setattr(intersection, "GROWTH", 1.5)
        patch.setattr(intersection, "FIRST_PIECES", 2)
        found = search(problem, given_, relaxed, threshold=best - 1.0, limit=10_000)
        assert problem.score(found.best) == best


@given(syntax_problems(max_order=2))
@settings(max_examples=50)
def test_bigram_bounds_are_close(problem):
    assume(few(problem))
    relaxed = relax(problem, compile_problem(problem), threshold=optimum(problem), iterations=60)
    assert relaxed.bound <= relaxed.bounds[0]


@given(syntax_problems(max_order=5, empty_sides=True), st.integers(1, 5), st.booleans())
@settings(max_examples=80)
def test_cube_pruning_finds_derivations(problem, limit, lazy):
    assume(few(problem))
    found = cube_prune(problem, limit=limit, lazy=lazy)
    problem.check(found)
    assert problem.score(found) <= optimum(problem)
    wide = cube_prune(problem, limit=5000, lazy=lazy)
    assert problem.score(wide) == optimum(problem)  # nothing was pruned


@given(syntax_problems())
@settings(max_examples=50)
def test_never_above_a_better_claim(problem):
    assume(few(problem))
    solution = decode_forest(problem)
    unit = problem.unit
    assert syntax_bound(problem, solution.certificate, solution.score - unit) > solution.score - unit
    if isinstance(solution.certificate, Multipliers):
        changed = tuple(-3.0 * v + 1.0 for v in solution.certificate.values)
        assert syntax_bound(problem, Multipliers(changed), solution.bound) <= solution.bound  # any prices prove some bound, or search more
        with pytest.raises(VerificationError, match="prices"):
            syntax_bound(problem, Multipliers((*solution.certificate.values, 0.0)), solution.bound)
        with pytest.raises(VerificationError, match="resolution"):
            syntax_bound(problem, Multipliers((1e-30, *solution.certificate.values[1:])), solution.bound)
    with pytest.raises(VerificationError, match="proves nothing"):
        syntax_bound(problem, Unsatisfiable(0), solution.bound)


@given(syntax_problems())
@settings(max_examples=30)
def test_verify_takes_forests(problem):
    assume(few(problem))
    solution = decode_forest(problem)
    assert verify(problem, solution).bound == solution.bound
    with pytest.raises(VerificationError, match="not"):
        verify(problem, replace(solution, bound=solution.bound - problem.unit))
    with pytest.raises(VerificationError, match="score"):
        verify(problem, replace(solution, score=solution.score + problem.unit))
    with pytest.raises(VerificationError, match="not valid"):
        verify(problem, replace(solution, structure=(*solution.structure, 0)))
    assert solution_from_json(solution_to_json(solution)) == solution


def dog_and_cat():
    model = strategies.build_language_model(
        ["<s>", "</s>", "<unk>", "the", "dog"],
        [strategies.Ngrams(np.arange(5)[:, None], np.array([0.0, -1, -9, -1, -2]), np.full(5, np.nan))],
    )
    forest, _ = from_rules([(1, ["the", 0], 1.0), (0, ["dog"], 0.5), (0, ["cat"], 4.0)], root=1)
    return strategies.SyntaxProblem(forest, model, weight=1 / strategies.LOG_OF_10)


def test_a_problem_by_hand():
    problem = dog_and_cat()
    assert brute_force(problem) == ((2, 0), 1.0 + 0.5 - 1 - 2 - 1)
    assert problem.score((2, 1)) == 1.0 + 4.0 - 1 - 9 - 1  # cat is unknown
    assert problem.translation((2, 1)) == "the cat"
    for wrong, why in (
        ((2,), "ends before"),
        ((0, 2), "expected one into"),
        ((2, 0, 0), "complete"),
        ((2, 7), "from 0 to 2"),
        ("x", "tuple"),
    ):
        with pytest.raises(InvalidStructure, match=why):
            problem.check(wrong)


def test_wrong_options():
    problem = dog_and_cat()
    with pytest.raises(UnknownMethod, match="Did you mean 'cube-pruning'"):
        decode_forest(problem, method="cube-prunning")
    with pytest.raises(InputError, match="limit is 0"):
        decode_forest(problem, limit=0)
    with pytest.raises(InputError, match="max_pieces is 0"):
        decode_forest(problem, max_pieces=0)
    with pytest.raises(InputError, match="weight is nan"):
        strategies.SyntaxProblem(problem.forest, problem.language_model, weight=float("nan"))
    with pytest.raises(InputError, match="expected a Forest"):
        strategies.SyntaxProblem(None, problem.language_model)


def test_limits_leave_a_gap_and_say_so():
    problem = dog_and_cat()
    stopped = decode_forest(problem, method="intersection", max_pieces=1)
    assert stopped.status == "feasible"
    assert stopped.score == -2.5
    assert stopped.bound == np.inf
    assert not exhaustive(problem, compile_problem(problem), limit=1).complete
    assert decode_forest(problem, method="cube-pruning").bound == np.inf
    assert decode_forest(problem, method="relaxation").bound >= -2.5
    assert isinstance(decode_forest(problem, method="intersection").certificate, DynamicProgram)
    assert [s.score for s in decode_many([problem, problem])] == [-2.5, -2.5]
    assert replace(stopped, bound=-2.5).status == "optimal"


def test_no_time_is_a_limit_too(monkeypatch):
    problem = dog_and_cat()
    monkeypatch.setattr(intersection, "FIRST_BUDGET", -1)
    assert decode_forest(problem, time_limit=0.0).bound >= -2.5
    given_ = compile_problem(problem)
    relaxed = relax(problem, given_, threshold=-10.0, iterations=1)
    assert not search(problem, given_, relaxed, threshold=-10.0, limit=100, seconds=0.0).complete


@pytest.mark.data
def test_real_sentences(data):
    folder = data / "mt" / "multi30k-deen"
    sentences = [line.split() for line in (folder / "test.src").read_text().splitlines()]
    moses = [float(line.split("\t")[5]) for line in (folder / "moses-scores.tsv").read_text().splitlines()[1:]]
    chosen = [100, *(i for i, words in enumerate(sentences) if len(words) <= 8)][:4]
    grammar = read_grammar(folder / "hiero.gz", sentences=[sentences[i] for i in chosen])
    model, weights = load_language_model(folder / "lm.arpa.gz"), load_syntax_weights(folder / "weights.txt")
    for i in chosen:
        problem = sentence_problem(grammar, model, weights, sentences[i])
        solution = decode_forest(problem)
        assert solution.status == "optimal"
        assert solution.score >= moses[i] - 1e-3
        assert solution.score >= decode_forest(problem, method="cube-pruning").score
        if len(sentences[i]) <= 8:
            assert syntax_bound(problem, solution.certificate, solution.bound) == solution.bound


@given(syntax_problems(max_order=4, holes=True, empty_sides=True), st.integers(1, 12))
@settings(max_examples=100)
def test_k_best(problem, k):
    assume(few(problem))
    scores = sorted((problem.score(y) for y in all_derivations(problem.forest)), reverse=True)
    assume(scores[0] > -np.inf)
    wanted = [score for score in scores if score > -np.inf][:k]
    solution = decode_forest(problem, k=k)
    found = [(solution.structure, solution.score), *solution.alternatives]
    assert [score for _, score in found] == wanted
    assert len({structure for structure, _ in found}) == len(found)
    for structure, score in found:
        problem.check(structure)
        assert problem.score(structure) == score
    verify(problem, solution)
    if len(found) > 2 and found[-1][1] < found[1][1]:
        with pytest.raises(VerificationError, match="another structure"):
            verify(problem, replace(solution, alternatives=solution.alternatives[1:]))


@given(syntax_problems(), st.integers(0, 3))
@settings(max_examples=50)
def test_ways_with_pauses(problem, budget):
    assume(few(problem))
    given_ = compile_problem(problem)
    whole = intersection.all_ways(problem, given_, None, threshold=-np.inf, limit=10_000)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(intersection, "FIRST_BUDGET", budget)
        paused = intersection.all_ways(problem, given_, None, threshold=-np.inf, limit=10_000, seconds=60.0)
        assert paused[1].edges.tolist() == whole[1].edges.tolist()
        patch.setattr(intersection, "FIRST_BUDGET", -1)
        assert intersection.all_ways(problem, given_, None, threshold=-np.inf, limit=10_000, seconds=-1.0) is None


@given(syntax_problems(max_order=4, holes=True, empty_sides=True))
@settings(max_examples=100)
def test_optimal_beam(problem):
    assume(few(problem))
    best = optimum(problem)
    assume(best > -np.inf)
    solution = decode_forest(problem, method="optimal-beam", limit=1)
    assert problem.score(solution.structure) == solution.score == best == solution.bound
    assert syntax_bound(problem, solution.certificate, solution.bound) <= solution.bound


@given(syntax_problems(), st.integers(1, 3))
@settings(max_examples=50)
def test_a_beam_that_overflows_says_so(problem, width):
    assume(few(problem))
    given_, best = compile_problem(problem), optimum(problem)
    relaxed = relax(problem, given_, threshold=best - 2.0, iterations=2)
    found = intersection.beam_search(problem, given_, relaxed, threshold=best - 2.0, width=width, limit=10_000)
    if found.complete:
        assert problem.score(found.best) == best
    elif found.best is not None:
        problem.check(found.best)
        assert problem.score(found.best) <= best


@given(language_models(max_order=4, holes=True))
@settings(max_examples=50)
def test_the_checker_reads_as_the_model_does(model):
    """From tables and step by step: the same scores and states."""
    states, words = (part.ravel() for part in np.meshgrid(np.arange(model.n_states), np.arange(model.n_words)))
    for reading in (Reading(model), Reading(model, largest=0)):
        for found, wanted in zip(reading.read(states, words), model.steps(states, words), strict=True):
            assert (found == wanted).all()
    for state in range(model.n_states):
        assert (Reading(model).row(state) == Reading(model, largest=0).row(state)).all()


@given(syntax_problems(max_order=5, holes=True), st.integers(1, 5))
@settings(max_examples=100)
def test_the_checker_finds_all_that_is_above_a_claim(problem, k):
    """With any prices, and when it looks at one pair of pieces at a time: neither more nor less than there is."""
    assume(few(problem))
    scores = sorted((problem.score(y) for y in all_derivations(problem.forest)), reverse=True)
    assume(scores[0] > -np.inf)
    firsts, lasts, _, _ = token_lists(problem)
    prices = Multipliers(tuple(np.resize([-2.0, 0.0, 1.0, -1.0], firsts.sum() + lasts.sum()).tolist()))
    for claimed in {*scores, scores[0] - 0.5} - {-np.inf}:
        wanted = [score for score in scores if score > claimed][:k]
        for certificate in (DynamicProgram(), prices):
            for at_once in (1, forest_pieces.AT_ONCE):
                with pytest.MonkeyPatch.context() as patch:
                    patch.setattr(forest_pieces, "AT_ONCE", at_once)
                    assert syntax_alternatives(problem, certificate, claimed, k).tolist() == wanted


def test_the_checker_gives_up_before_memory_does(monkeypatch):
    problem = dog_and_cat()
    monkeypatch.setattr(forest_pieces, "MOST_PIECES", 0)
    with pytest.raises(VerificationError, match="more than 0 pieces"):
        syntax_bound(problem, DynamicProgram(), -10.0)
