"""Forests split by classes of words: the same derivations and scores, tighter bounds, and gaps that close."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from zerogap import verify
from zerogap.baselines.forest_brute import all_derivations
from zerogap.papers.rush2014.partitions import decoder as partitions
from zerogap.papers.rush2014.partitions.class_models import class_model, words_of_states
from zerogap.papers.rush2014.partitions.decoder import close_by_partitions
from zerogap.papers.rush2014.partitions.entry_pairs import add_entry_pairs
from zerogap.papers.rush2014.partitions.split_prices import split_prices
from zerogap.papers.rush2014.partitions.word_classes import split
from zerogap.problems.translation.language_model import BEGIN
from zerogap.translation.forests.cube_pruning import compile_problem, cube_prune
from zerogap.translation.forests.decoding import decode_forest
from zerogap.translation.forests.end_prices import Pricing

spec = importlib.util.spec_from_file_location("syntax_strategies", Path(__file__).parents[3] / "translation" / "syntax_strategies.py")
strategies = importlib.util.module_from_spec(spec)
spec.loader.exec_module(strategies)
few = strategies.few
syntax_problems, language_models = strategies.syntax_problems, strategies.language_models


def scores_of(problem):
    return sorted(problem.score(y) for y in all_derivations(problem.forest))


def random_classes(problem, random, n=3):
    return np.array([random.randrange(n) for _ in range(problem.language_model.n_words)])


@given(language_models(max_order=4), st.randoms(use_true_random=False))
@settings(max_examples=80)
def test_words_that_know_the_class_before_them_score_the_same(model, random):
    classes = np.array([random.randrange(3) for _ in range(model.n_words)])
    classes[model.ids[BEGIN]] = 3
    pairs = np.array([(w, c) for w in range(3, model.n_words) for c in range(4)])
    found = class_model(model, classes, pairs)
    number = {(int(w), int(c)): int(i) for (w, c), i in zip(pairs, found.ids, strict=True)}
    for _ in range(5):
        words = [random.randrange(3, model.n_words) for _ in range(random.randrange(6))]
        before = [3, *(int(classes[w]) for w in words)]
        old, new, one, other = model.start, found.model.start, 0.0, 0.0
        for w, c in zip(words, before, strict=False):
            added, old = model.step(old, w)
            one += added
            added, new = found.model.step(new, number[w, c])
            other += added
        assert one + model.step(old, model.end_id)[0] == other + found.model.step(new, found.model.end_id)[0]


@given(language_models(max_order=4))
@settings(max_examples=40)
def test_states_are_reached_by_their_words(model):
    sequences, lengths = words_of_states(model)
    for state in range(model.n_states):
        assert model.state_after(sequences[state, : lengths[state]].tolist()) == state


@given(syntax_problems(max_order=4, empty_sides=True), st.randoms(use_true_random=False))
@settings(max_examples=80)
def test_a_split_forest_has_the_same_derivations(problem, random):
    assume(few(problem))
    assume((np.diff(problem.forest.symbol_start) > 0).all())
    alive = np.ones(problem.forest.n_edges, dtype=np.bool_)
    found = split(problem, alive, random_classes(problem, random))
    again = split(found.problem, np.ones(found.problem.forest.n_edges, dtype=np.bool_), random_classes(found.problem, random))
    for one, before in ((found, problem), (again, found.problem)):
        restored = [one.restored(y) for y in all_derivations(one.problem.forest)]
        assert sorted(restored) == sorted(all_derivations(before.forest))
        for y, old in zip(all_derivations(one.problem.forest), restored, strict=True):
            assert one.problem.score(y) == before.score(old)


@given(syntax_problems(), st.randoms(use_true_random=False))
@settings(max_examples=60)
def test_what_is_not_alive_is_left_out(problem, random):
    assume(few(problem))
    alive = np.array([random.random() < 0.7 for _ in range(problem.forest.n_edges)])
    left = sorted(y for y in all_derivations(problem.forest) if alive[list(y)].all())
    found = split(problem, alive, random_classes(problem, random))
    assert ([] if found is None else sorted(found.restored(y) for y in all_derivations(found.problem.forest))) == left


@given(syntax_problems(max_order=4), st.randoms(use_true_random=False), st.integers(0, 4))
@settings(max_examples=120)
def test_prices_of_split_forests_bound_what_is_above_the_threshold(problem, random, rank):
    assume(few(problem))
    scores = scores_of(problem)
    threshold = scores[max(len(scores) - 1 - rank, 0)] - problem.unit * (rank % 2)
    pricing = Pricing(problem, compile_problem(problem), all_possible=True)
    for _ in range(3):
        priced = pricing.improve(threshold=threshold, iterations=4)
        if priced.bound <= threshold:
            assert scores[-1] <= threshold
            return
        assert max(priced.bound, threshold) >= scores[-1]
        found = split(problem, priced.alive, random_classes(problem, random, 2))
        if found is None:
            assert scores[-1] <= threshold
            return
        pricing = split_prices(pricing, problem, found, compile_problem(found.problem))
        problem = found.problem


@given(syntax_problems(), st.booleans(), st.booleans())
@settings(max_examples=120)
def test_never_wrong_and_never_lazy(problem, with_leaves, worst):
    assume(few(problem))
    compiled = compile_problem(problem)
    best = min(all_derivations(problem.forest), key=problem.score) if worst else cube_prune(problem, limit=1, compiled=compiled)
    assume(problem.score(best) > -np.inf)
    with pytest.MonkeyPatch.context() as patch:
        if not with_leaves:
            patch.setattr(partitions, "LEAF_EDGES", -1)
        patch.setattr(partitions, "searched", lambda *_: False)
        found = close_by_partitions(problem, compiled, best, time_limit=None, max_pieces=10**6)
    assert problem.score(found.best) == found.score == found.bound == scores_of(problem)[-1]
    assert found.by in ("prices", "leaves")


@given(syntax_problems(max_order=4))
@settings(max_examples=40)
def test_longer_contexts_are_searched_if_partitions_do_not_tell_them_apart(problem):
    assume(few(problem))
    compiled = compile_problem(problem)
    best = cube_prune(problem, limit=1, compiled=compiled)
    found = close_by_partitions(problem, compiled, best, time_limit=None, max_pieces=10**6)
    assert problem.score(found.best) == found.score == found.bound == scores_of(problem)[-1]


@given(syntax_problems(spans=True))
@settings(max_examples=40)
def test_certificates_hold(problem):
    assume(few(problem))
    solution = decode_forest(problem, method="lagrangian")
    assert solution.status == "optimal"
    assert solution.score == scores_of(problem)[-1]
    verify(problem, solution)


@given(syntax_problems(spans=True), st.sampled_from(["MOST_EDGES", "MANY_EDGES"]), st.booleans())
@settings(max_examples=60)
def test_what_is_too_large_is_searched(problem, which, worst):
    """As it is, or after a split."""
    assume(few(problem))
    compiled = compile_problem(problem)
    best = min(all_derivations(problem.forest), key=problem.score) if worst else cube_prune(problem, limit=1, compiled=compiled)
    assume(problem.score(best) > -np.inf)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(partitions, which, 0)
        patch.setattr(partitions, "LEAF_EDGES", -1)
        found = close_by_partitions(problem, compiled, best, time_limit=None, max_pieces=10**6)
    assert found.by in ("prices", "search")
    assert found.score == found.bound == scores_of(problem)[-1]


@given(syntax_problems(spans=True))
@settings(max_examples=20)
def test_a_limit_leaves_a_true_gap(problem):
    assume(few(problem))
    compiled = compile_problem(problem)
    best = min(all_derivations(problem.forest), key=problem.score)
    found = close_by_partitions(problem, compiled, best, time_limit=0.0, max_pieces=10**6)
    assert problem.score(found.best) == found.score <= scores_of(problem)[-1] <= found.bound


@given(st.integers(1, 5), st.integers(1, 5), st.randoms(use_true_random=False))
def test_entry_pairs(n_rows, n_columns, random):
    table = np.array([[random.choice([0.0, 0.0, 1.0, 2.0]) for _ in range(n_columns)] for _ in range(n_rows)])
    factors = np.array([float(random.randrange(3)) for _ in range(n_rows)])
    rows, columns = map(np.ascontiguousarray, np.nonzero(table))
    sums = np.zeros((n_columns, n_columns))
    add_entry_pairs(np.searchsorted(rows, np.arange(n_rows + 1)).astype(np.int64), columns, table[rows, columns], factors, sums)
    assert sums.tolist() == (table.T @ (factors[:, None] * table)).tolist()
