"""Phrase-based translation against enumeration: never wrong, never lazy, whatever the language model and the limits."""

import importlib.util
import itertools
import math
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zerogap.baselines.phrase_brute import all_derivations, best_score
from zerogap.errors import Infeasible, InputError, InvalidStructure, UnknownMethod
from zerogap.io.translation.arpa import load_language_model
from zerogap.io.translation.phrase_tables import load_phrase_table
from zerogap.io.translation.weights import load_phrase_weights
from zerogap.oracles.phrases.beam import best_in_beam
from zerogap.oracles.phrases.graph import tightened
from zerogap.oracles.phrases.outside import best_path, outside_table
from zerogap.oracles.phrases.unfolding import unfolded, unrolled
from zerogap.papers.rush2014.phrase_rivals.tightening import knowing
from zerogap.problems.translation.phrases import PhraseProblem, translation
from zerogap.proof.integers import as_float, bound_units
from zerogap.proof.translation import phrases as checker
from zerogap.translation.language_models import Ngrams, build_language_model
from zerogap.translation.phrases import optimal_beam
from zerogap.translation.phrases import search_state as phrase_progress
from zerogap.translation.phrases.beam import beam_search, tables_of
from zerogap.translation.phrases.decoding import decode_phrases
from zerogap.translation.phrases.model import PhraseModel
from zerogap.translation.phrases.multipliers import excess, prices
from zerogap.translation.phrases.optimal_beam import optimal_beam_search
from zerogap.translation.phrases.search_state import outside_of, sentence_of

spec = importlib.util.spec_from_file_location("phrase_strategies", Path(__file__).with_name("phrase_strategies.py"))
strategies = importlib.util.module_from_spec(spec)
spec.loader.exec_module(strategies)
problems, FLAT, WORDS, language_model = strategies.problems, strategies.FLAT, strategies.WORDS, strategies.language_model


def phrase_bound(problem, certificate, claimed):
    """The checker's bound, as a score."""
    unit = problem.resolution
    return as_float(checker.phrase_bound(problem, certificate, bound_units(claimed, unit)), unit)


def solved(problem, **options):
    """The score and bound of optimal beam search; -inf for both where there is no translation."""
    try:
        solution = optimal_beam_search(problem, **options)
    except Infeasible:
        return -np.inf, -np.inf
    problem.check(solution.structure)
    assert problem.score(solution.structure) == solution.score
    return solution.score, solution.bound


@given(problems())
def test_optimal_beam_search_finds_the_best(problem):
    optimum = best_score(problem)
    assert solved(problem) == (optimum, optimum)


@contextmanager
def a_bad_start(problem, seed, width):
    """Every stage has work to do: a translation that is not quite the best, or none, any multipliers, few steps, narrow beams."""
    rng = np.random.default_rng(seed)
    scored = [(problem.score(derivation), derivation) for derivation in map(problem.derivation, all_derivations(problem))]
    optimum = max((score for score, _ in scored), default=-np.inf)
    worse = sorted((pair for pair in scored if -np.inf < pair[0] < optimum), key=lambda pair: pair[0])
    start = worse[-1 if rng.random() < 0.7 else 0][1] if worse and rng.random() < 0.9 else None
    changed = {
        (phrase_progress, "beam_search"): lambda *_, **__: start,
        (phrase_progress, "first_multipliers"): lambda *_: rng.integers(-2, 3, len(problem)).astype(float),
        (optimal_beam, "FIRST_STATES"): int(rng.choice([8, 10**6])), (optimal_beam, "LIKELIEST_STEPS"): (),
        (optimal_beam, "FIRST_PHRASES"): int(rng.choice([1, 8, 10**6])), (optimal_beam, "LATTICE_STEPS"): 1,
        (optimal_beam, "GRAPH_STEPS"): int(rng.integers(1, 3)), (optimal_beam, "FIRST_WIDTH"): width,
    }  # fmt: skip
    before = {place: getattr(*place) for place in changed}
    try:
        for place, value in changed.items():
            setattr(*place, value)
        yield
    finally:
        for place, value in before.items():
            setattr(*place, value)


@settings(max_examples=100)
@given(problems(min_words=3, max_words=4, holes=False, limits=(None, 2, 3)), st.integers(0, 2**32 - 1), st.sampled_from([1, 2, 5, 10**6]))
def test_a_bad_start_leads_to_the_best_too(problem, seed, width):
    optimum = best_score(problem)
    with a_bad_start(problem, seed, width):
        assert solved(problem) == (optimum, optimum)


@given(problems())
def test_a_wide_beam_is_exact(problem):
    tables = tables_of(problem)
    phrases = best_in_beam(tables.options, tables.rows, tables.order, tables.layer_of, size=5000, threshold=math.inf)
    score = -np.inf if phrases is None else problem.score(problem.derivation(phrases.tolist()))
    assert score == best_score(problem)


@given(problems(), st.integers(1, 4))
def test_a_beam_finds_translations(problem, stack):
    derivation = beam_search(problem, stack=stack)
    if derivation is not None:
        problem.check(derivation)
        assert problem.score(derivation) <= best_score(problem)


def relaxed(problem, multipliers, shortcuts):
    """The best score of a sequence of phrases that translates as many words as there are, by a dynamic program over everything.

    With `shortcuts`, a word's score may be that of backing off first, even if it is listed.
    """
    model, n = problem.language_model, len(problem)

    def ways(state, word):
        score, after = model.step(state, word)
        found = [(score, after)]
        while shortcuts and state != 0:
            score, after = model.step(int(model.shorter[state]), word)
            total = sum(float(model.back_offs[s]) for s in skipped(model, state, int(model.shorter[state])))
            found.append((total + score, after))
            state = int(model.shorter[state])
        return found

    best = {(0, 0, model.start): 0.0}
    for c in range(n):
        for (count, at, state), value in list(best.items()):
            if count != c:
                continue
            for p in range(len(problem.starts)):
                start, end = int(problem.starts[p]), int(problem.ends[p])
                if abs(start - at) > problem.reach or c + end - start > n:
                    continue
                base = value + problem.scores[p] - problem.distortion * abs(start - at) - multipliers[start:end].sum()
                words = problem.target_ids[problem.target_start[p] : problem.target_start[p + 1]].tolist()
                for first, after in ways(state, words[0]):
                    total, now = base + first, after
                    for word in words[1:]:
                        score, now = model.step(now, word)
                        total += score
                    key = (c + end - start, end, now)
                    best[key] = max(best.get(key, -np.inf), total)
    ends = [value + model.step(state, model.end_id)[0] for (count, _, state), value in best.items() if count == n]
    return max(ends, default=-np.inf)


def skipped(model, state, until):
    while state != until:
        yield state
        state = int(model.shorter[state])


@given(problems(constrained=False, max_words=3), st.integers(0, 2**32 - 1))
def test_the_lattice_is_the_relaxation(problem, seed):
    """Its best path is at least a best sequence of phrases of n words, and at most one that backs off at will before phrases: states that
    no word which may follow is listed after are left out, and with them some ways to back off."""
    if len(problem) == 0:
        return
    multipliers = np.random.default_rng(seed).integers(-3, 4, len(problem)).astype(float)
    tables = tables_of(problem)
    sentence = sentence_of(problem, tables, tables.options)
    value, path = sentence.evaluate(prices(multipliers, sentence.starts, sentence.ends))
    assert relaxed(problem, multipliers, shortcuts=True) >= value >= relaxed(problem, multipliers, shortcuts=False)
    assert value + multipliers.sum() >= best_score(problem)
    if value > -np.inf and not excess(path, sentence.starts, sentence.ends, len(problem)).any():
        assert value + multipliers.sum() >= problem.score(sentence.derivation(path))


@given(problems(constrained=False, min_words=1), st.integers(0, 2**32 - 1))
def test_a_graph_that_knows_all_words_has_only_translations(problem, seed):
    """Every word that nodes know brings the bound down, and the last one to the best translation, at any multipliers."""
    rng = np.random.default_rng(seed)
    multipliers = rng.integers(-3, 4, len(problem)).astype(float)
    tables = tables_of(problem)
    sentence = sentence_of(problem, tables, tables.options)
    price = prices(multipliers, sentence.starts, sentence.ends)
    sentence.evaluate(price)
    graph = unrolled(sentence.lattice, sentence.outside, price, least=-np.inf, most_arcs=10**6)
    states, phrases, lattice = [], [], sentence.lattice
    for known, word in enumerate([None, *rng.permutation(len(problem)).tolist()]):
        if word is not None:
            graph = tightened(graph, word, *sentence.spans)
            lattice = knowing(lattice, word, sentence.starts, sentence.ends)
        outside = outside_of(graph, price)
        exact = unfolded(graph, sentence.lattice, outside, price, known=known, least=-np.inf, most_arcs=10**6)
        states.append(outside[0] + multipliers.sum())
        assert best_path(lattice, outside_table(lattice, sentence.spans.lengths), price)[0] == outside[0]
        phrases.append(outside_of(exact, price)[0] + multipliers.sum())
    assert states[0] <= relaxed(problem, multipliers, shortcuts=True) + multipliers.sum()
    assert phrases[0] == relaxed(problem, multipliers, shortcuts=False) + multipliers.sum()
    assert states == sorted(states, reverse=True)
    assert phrases == sorted(phrases, reverse=True)
    assert all(state >= phrase for state, phrase in zip(states, phrases, strict=True))
    assert phrases[-1] == best_score(problem) or (problem.reordering == "moses" and phrases[-1] > best_score(problem))


@given(problems(constrained=False, max_words=3, holes=False))
def test_scores_and_checks_are_the_definition(problem):
    model = problem.language_model
    valid = {problem.derivation(phrases) for phrases in all_derivations(problem)}
    for derivation in valid:
        problem.check(derivation)
        words = [word for _, _, target in derivation for word in target]
        at, total = 0, model.score(words)
        for start, end, target in derivation:
            total += float(problem.scores[problem.phrase(start, end, target)]) - problem.distortion * abs(start - at)
            at = end
        assert problem.score(derivation) == total
        assert translation(derivation) == " ".join(words)
    for size in range(3):
        for phrases in itertools.product(range(min(len(problem.starts), 6)), repeat=size):
            derivation = problem.derivation(phrases)
            if derivation not in valid:
                with pytest.raises(InvalidStructure):
                    problem.check(derivation)


def test_example_7_3_1():
    """Of Rush 2014. Its scores, 21 for the best translation, are those of bigrams that score 1, not 2 as printed."""
    bigrams = {(u, w): 1.0 for u in range(6) for w in range(1, 6)}
    model = language_model({(w,): 0.0 for w in range(6)} | bigrams, {(w,): 0.0 for w in range(6)}, 2)
    phrases = [(0, 2, ("we", "must"), 1.0), (5, 6, ("take",), 2.0), (2, 4, ("this", "criticism"), 10.0), (4, 5, ("seriously",), 1.0)]
    problem = PhraseProblem(["wir", "müssen", "diese", "kritik", "ernst", "nehmen"], phrases, model)
    solution = optimal_beam_search(problem)
    assert solution.score == solution.bound == 21.0


def test_times_that_are_over_leave_a_gap():
    phrases = [(i, i + 1, (word,), float(i % 3)) for i in range(6) for word in "ab"]
    solution = optimal_beam_search(PhraseProblem(list("uvwxyz"), phrases, FLAT, distortion=0.25), time_limit=0.0)
    assert solution.score <= solution.bound
    assert solution.structure is not None


def test_wrong_problems_are_refused():
    with pytest.raises(InputError, match="not on a grid"):
        PhraseProblem(["u"], [], build_language_model(WORDS, [Ngrams(np.arange(6)[:, None], np.zeros(6), np.zeros(6))]))
    with pytest.raises(InputError, match=r"phrases\[0\] spans 0 to 2: expected words from 0 to 1"):
        PhraseProblem(["u"], [(0, 2, ("a",), 0.0)], FLAT)
    with pytest.raises(InputError, match="'a' is given twice for words 0 to 1"):
        PhraseProblem(["u"], [(0, 1, ("a",), 0.0), (0, 1, ("a",), 1.0)], FLAT)
    with pytest.raises(InputError, match="expected a sequence of words"):
        PhraseProblem(["u"], [(0, 1, "a", 0.0)], FLAT)
    with pytest.raises(InputError, match=r"scores\[0\] is nan"):
        PhraseProblem(["u"], [(0, 1, ("a",), math.nan)], FLAT)
    with pytest.raises(InputError, match="distortion_limit is -1"):
        PhraseProblem(["u"], [], FLAT, distortion_limit=-1)
    with pytest.raises(UnknownMethod, match="Did you mean 'moses'"):
        PhraseProblem(["u"], [], FLAT, reordering="mose")
    with pytest.raises(InvalidStructure, match="expected \\(start, end, target words\\)"):
        PhraseProblem(["u"], [(0, 1, ("a",), 0.0)], FLAT).check(((0, 1),))
    with pytest.raises(InputError, match="stack is 0"):
        beam_search(PhraseProblem(["u"], [(0, 1, ("a",), 0.0)], FLAT), stack=0)


def test_why_a_derivation_is_not_one():
    phrases = [(i, i + 1, (w,), 0.0) for i, w in enumerate("abca")] + [(2, 4, ("c",), -np.inf)]
    problem = PhraseProblem(list("wxyz"), phrases, FLAT, distortion_limit=2, reordering="moses")
    one, two, three, four, last = ((start, end, tuple(target)) for start, end, target, _ in phrases)
    for derivation, message in [
        ((one, two), "word 2 is not translated"),
        ((one, one), "some are translated before"),
        ((one, last), "phrase 1 is forbidden"),
        ((four,), "begins at 3 after 0: expected a jump of at most 2"),
        ((three,), "ends at 3, beyond the reach of the untranslated word 0"),
        (((0, 1, ("z",)),), "no phrase translates words 0 to 1 as 'z'"),
    ]:
        with pytest.raises(InvalidStructure, match=message):
            problem.check(derivation)


@pytest.mark.data
def test_real_sentences(data):
    """The same search as Moses' finds the same scores; optimal ones are at least as good, and proved."""
    folder = data / "mt" / "multi30k-deen"
    rows = [line.split("\t") for line in (folder / "moses-scores.tsv").read_text().splitlines()[1:]]
    sentences = [line.split() for line in (folder / "test.src").read_text().splitlines()]
    table = load_phrase_table(folder / "phrase-table.gz", sentences=sentences)
    model = PhraseModel(table, load_phrase_weights(folder / "weights.txt"), load_language_model(folder / "lm.arpa.gz"))
    for words, row in list(zip(sentences, rows, strict=True))[:12]:
        same = model.problem(words, reordering="moses")
        derivation = beam_search(same, stack=100)
        same.check(derivation)
        assert same.score(derivation) == pytest.approx(float(row[2]), abs=1e-4)
        problem = model.problem(words)
        solution = decode_phrases(problem)
        assert solution.status == "optimal"
        assert solution.score >= same.score(derivation)
        if len(words) <= 10:
            assert phrase_bound(problem, solution.certificate, solution.bound) == solution.score
