"""The relaxations of chapter 5: the run of section 5.8, bounds against all derivations, the linear program."""

import importlib.util
import itertools
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from zerogap.baselines.forest_brute import all_derivations
from zerogap.baselines.translation_ilp import all_paths, count_trigrams, solve_program_of_paths
from zerogap.errors import InputError, OverlappingTails
from zerogap.papers.rush2014.partitions.bigrams import bigram_relaxation, decode_bigrams, relax_bigrams
from zerogap.papers.rush2014.partitions.leaf_paths import longest_paths, trace_path
from zerogap.papers.rush2014.partitions.trigrams import decode_trigrams, trigram_relaxation
from zerogap.problems.translation.forest import from_rules
from zerogap.problems.translation.forest_problem import LOG_OF_10, SyntaxProblem
from zerogap.translation.forests.decoding import decode_forest
from zerogap.translation.forests.leaf_graph import leaf_graph
from zerogap.translation.forests.screening import screened
from zerogap.translation.language_models import Ngrams, build_language_model

spec = importlib.util.spec_from_file_location("syntax_strategies", Path(__file__).with_name("syntax_strategies.py"))
strategies = importlib.util.module_from_spec(spec)
spec.loader.exec_module(strategies)
few = strategies.few
syntax_problems = strategies.syntax_problems

FIGURE_5_2 = [
    (2, [1, "barks", "loudly"], 2.0),
    (2, ["barks", 1], 0.5),
    (2, ["barks", 1, "loudly"], 3.0),
    (1, ["the", "dog"], -4.0),
    (1, ["a", "cat"], 2.5),
]


def figure_5_2(*kept, penalty=-7.0):
    """The hypergraph of figure 5-2, whose glue scores -1, with p(barks | cat) as in section 5.8 and 0 for all other bigrams."""
    words = ["<s>", "</s>", "<unk>", "the", "dog", "a", "cat", "barks", "loudly"]
    unigrams = Ngrams(np.arange(9)[:, None], np.zeros(9), np.zeros(9))
    bigrams = Ngrams(np.array([[6, 7]]), np.array([penalty]), np.array([np.nan]))
    forest, _ = from_rules([(3, [2], -1.0), *(FIGURE_5_2[k] for k in kept), *FIGURE_5_2[3:]], root=3)
    return SyntaxProblem(forest, build_language_model(words, [unigrams, bigrams]), weight=1 / LOG_OF_10)


def test_figure_5_2_derives_six_sentences():
    problem = figure_5_2(0, 1, 2, penalty=0.0)
    found = {problem.translation(y) for y in all_derivations(problem.forest)}
    subjects = ("the dog", "a cat")
    assert found == {f"{s} barks loudly" for s in subjects} | {f"barks {s}" for s in subjects} | {f"barks {s} loudly" for s in subjects}
    score = {problem.translation(y): problem.score(y) for y in all_derivations(problem.forest)}
    assert score["the dog barks loudly"] == -3.0  # figure 5-3


def test_section_5_8():
    """With the one order that the section's set of bigrams has. By its scores, one step of 1 is not enough for the second derivation."""
    problem = figure_5_2(0)
    relaxation = bigram_relaxation(problem)
    graph, names = relaxation.graph, problem.language_model.words
    word = {v: names[graph.words[v]] for v in range(4, graph.n_leaves)}
    real = {(word.get(a, "<s>"), word.get(b, "</s>")) for a, b in relaxation.pairs.tolist() if a not in (0, 2)}
    assert real == {
        ("<s>", "the"), ("<s>", "a"), ("the", "dog"), ("a", "cat"), ("dog", "barks"), ("cat", "barks"), ("barks", "loudly"),
        ("loudly", "</s>"),
    }  # fmt: skip
    first = relax_bigrams(problem, step="constant", scale=1.0, max_iterations=1)
    assert problem.translation(first.last.structures[0]) == "a cat barks loudly"  # y(1), in which barks chooses dog
    assert first.bound == -1 + 2 + 2.5
    leaf = {w: v for v, w in word.items()}
    rows = [v for v in range(graph.n_leaves) if v != 3]
    assert {word[rows[r]]: first.last.excess[r] for r in np.flatnonzero(first.last.excess)} == {"cat": 1.0, "dog": -1.0}
    second = relax_bigrams(problem, step="constant", scale=1.0, max_iterations=2).last
    moved = {word[rows[r]]: second.multipliers[r] for r in np.flatnonzero(second.multipliers)}
    assert moved == {"cat": 1.0, "dog": -1.0}  # the section's u, negated
    reduced = relaxation.scores - relaxation.rows().transposed_times(second.multipliers)
    pairs = {(word.get(a, "<s>"), word.get(b, "</s>")): reduced[graph.n_leaves + k] for k, (a, b) in enumerate(relaxation.pairs.tolist())}
    assert (pairs["cat", "barks"], pairs["dog", "barks"]) == (-7 + 1, -1)
    assert (reduced[leaf["dog"]], reduced[leaf["cat"]]) == (1.0, -1.0)
    solution = decode_bigrams(problem)
    assert problem.translation(solution.structure) == "the dog barks loudly"
    assert solution.score == solution.bound == -3.0


def optimum(problem):
    return max(problem.score(y) for y in all_derivations(problem.forest))


@given(syntax_problems(max_order=2, spans=True))
@settings(max_examples=80)
def test_bigrams_are_never_wrong(problem):
    assume(few(problem))
    solution = decode_bigrams(problem, max_iterations=40)
    assert problem.score(solution.structure) == solution.score <= optimum(problem) <= solution.bound


@given(syntax_problems(spans=True), st.booleans())
@settings(max_examples=80)
def test_trigrams_are_never_wrong(problem, tighten):
    assume(few(problem))
    solution = decode_trigrams(problem, max_iterations=60, tighten=tighten)
    assert problem.score(solution.structure) == solution.score <= optimum(problem) <= solution.bound


def test_trigrams_are_not_lazy():
    problem = figure_5_2(0, 1, 2)
    solution = decode_forest(problem, method="lagrangian")
    assert solution.status == "optimal"
    assert solution.score == optimum(problem)


@given(syntax_problems(spans=True))
@settings(max_examples=40)
def test_the_linear_program_agrees(problem):
    assume(few(problem, 60))
    graph = leaf_graph(problem)
    derivation, value = solve_program_of_paths(problem, graph)
    best = optimum(problem)
    assert problem.score(derivation) == best == pytest.approx(value)
    _, relaxed = solve_program_of_paths(problem, graph, integer=False)
    assert relaxed >= best - 1e-6
    assert decode_trigrams(problem, max_iterations=30, tighten=False).bound >= relaxed - 1e-6  # the dual of this program
    assert decode_forest(problem, method="ilp").score == best


@given(syntax_problems(spans=True), st.randoms(use_true_random=False))
@settings(max_examples=60)
def test_longest_paths(problem, random):
    assume(few(problem))
    graph = leaf_graph(problem)
    scores = np.array([float(random.randint(-3, 3)) for _ in range(graph.n_steps)])
    steps = trigram_relaxation(problem).steps(scores)
    table = np.empty((graph.n_leaves, graph.n_leaves))
    longest_paths(*steps, graph.hypergraph.n_vertices, table)
    wanted = np.full(table.shape, -np.inf)
    for a, b, taken in all_paths(graph):
        wanted[a, b] = max(wanted[a, b], scores[list(taken)].sum())
    assert table.tolist() == wanted.tolist()
    for a, b in np.argwhere(table > -np.inf).tolist():
        found = np.empty(2 * graph.hypergraph.n_vertices + 2, dtype=np.int64)
        length = trace_path(*steps, graph.hypergraph.n_vertices, a, b, found)
        assert (a, b, tuple(found[:length].tolist()[::-1])) in all_paths(graph)
        assert scores[found[:length]].sum() == table[a, b]


def test_what_has_no_paths():
    model = figure_5_2(0).language_model
    twice, _ = from_rules([(1, [0, 0], 0.0), (0, ["dog"], 0.0)], root=1)
    with pytest.raises(OverlappingTails):
        decode_trigrams(SyntaxProblem(twice, model))
    empty, _ = from_rules([(0, [], 0.0)], root=0)
    with pytest.raises(InputError, match="empty"):
        decode_trigrams(SyntaxProblem(empty, model))
    with pytest.raises(InputError, match="max_iterations is 0"):
        decode_trigrams(figure_5_2(0), max_iterations=0)
    with pytest.raises(InputError, match="leaves: expected at most 3"):
        leaf_graph(figure_5_2(0), max_leaves=3)


@given(syntax_problems(spans=True))
@settings(max_examples=60)
def test_trigrams_are_counted_before_they_are_listed(problem):
    graph = leaf_graph(problem)
    paths = all_paths(graph)
    assert count_trigrams(graph) == sum(a[1] == b[0] for a in paths for b in paths)
    if count_trigrams(graph) > 3:
        with pytest.raises(InputError, match="at most 3 for a linear program"):
            solve_program_of_paths(problem, graph, max_paths=3)


@given(syntax_problems(holes=True, empty_sides=True), st.integers(1, 3))
@settings(max_examples=80)
def test_screening_keeps_what_is_as_good(problem, limit):
    assume(len(list(itertools.islice(all_derivations(problem.forest), 401))) <= 400)
    left = screened(problem, limit=limit)
    if left.known is None:
        return
    floor = problem.score(left.known)
    good = sorted(problem.score(y) for y in all_derivations(problem.forest) if problem.score(y) >= floor)
    kept = [left.restored(y) for y in all_derivations(left.problem.forest)]
    for small, y in zip(all_derivations(left.problem.forest), kept, strict=True):
        problem.forest.check(y)
        assert problem.score(y) == left.problem.score(small)
    assert sorted(problem.score(y) for y in kept if problem.score(y) >= floor) == good
