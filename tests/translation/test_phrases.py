"""Phrase-based translation against enumeration: never wrong, never lazy, whatever the language model and the limits."""

import itertools
import math
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zerogap.baselines.phrase_brute import all_derivations, best_score
from zerogap.baselines.phrase_ilp import solve_phrases
from zerogap.errors import Infeasible, InputError, InvalidStructure, UnknownMethod, VerificationError
from zerogap.io.arpa import load_language_model
from zerogap.io.phrase_tables import load_phrase_table
from zerogap.io.translation_weights import load_phrase_weights
from zerogap.oracles.phrase_beam import best_in_beam
from zerogap.oracles.phrase_graph import tightened
from zerogap.oracles.phrase_outside import best_path, outside_table
from zerogap.oracles.phrase_tightening import knowing
from zerogap.oracles.phrase_unfolding import unfolded, unrolled
from zerogap.proof import translation_graphs
from zerogap.proof.certificate import DynamicProgram, Multipliers, certificate_from_json, certificate_to_json
from zerogap.proof.translation_phrases import phrase_bound
from zerogap.proof.verify import verify
from zerogap.translation import optimal_beam, phrase_progress
from zerogap.translation.decoders import decode, decode_many
from zerogap.translation.language_model import Ngrams, build_language_model
from zerogap.translation.optimal_beam import optimal_beam_search
from zerogap.translation.phrase_beam import beam_search, tables_of
from zerogap.translation.phrase_constraints import Constraints, Fixed, Wall, Zone
from zerogap.translation.phrase_decoders import METHODS, decode_phrases
from zerogap.translation.phrase_model import PhraseModel
from zerogap.translation.phrase_problem import PhraseProblem, translation
from zerogap.translation.phrase_progress import outside_of, sentence_of
from zerogap.translation.phrase_relaxation import excess, prices

WORDS = ["<s>", "</s>", "<unk>", "a", "b", "c"]
GRID = 2.0**-10


def language_model(scores, back_offs, order):
    levels = []
    for n in range(1, order + 1):
        grams = sorted(gram for gram in scores if len(gram) == n)
        levels.append(
            Ngrams(
                np.array(grams, dtype=np.int64).reshape(len(grams), n),
                np.array([scores[gram] for gram in grams]),
                np.array([back_offs.get(gram, np.nan) for gram in grams]),
            )
        )
    return build_language_model(WORDS, levels).scaled(1.0, resolution=GRID)


def random_model(rng, max_order=4):
    """Small integers: many ties, and longer n-grams that score less than backing off would."""
    order = int(rng.integers(1, max_order + 1))
    scores = {(w,): float(rng.integers(-4, 1)) for w in range(len(WORDS))}
    back_offs, contexts = {}, [(w,) for w in range(len(WORDS))]
    for n in range(2, order + 1):
        for context in contexts:
            back_offs[context] = float(rng.integers(-2, 2))
        possible = [(*c, w) for c in contexts for w in range(1, len(WORDS))]
        grams = [possible[k] for k in rng.permutation(len(possible))[: rng.integers(0, 11)]]
        for gram in grams:
            scores[gram] = float(rng.integers(-4, 1))
        contexts = [gram for gram in grams if n < order]
        if not contexts:
            order = n
            break
    return language_model(scores, back_offs, order)


@st.composite
def problems(draw, min_words=0, max_words=4, holes=True, limits=(None, 0, 1, 2, 3), constrained=True):
    """Drawn by a seed, as number by number would take longer than all that is tested."""
    n, rng = draw(st.integers(min_words, max_words)), np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    gaps = rng.random() < 0.2  # words without a phrase of their own
    options = {}
    for start in range(n):
        for end in range(start + 1, min(n, start + 3) + 1):
            for _ in range(rng.integers(0 if gaps or end > start + 1 else 1, 3)):
                target = tuple(rng.choice(["a", "b", "c", "new"], rng.integers(1, 4)).tolist())
                options[start, end, target] = -np.inf if holes and rng.random() < 0.15 else float(rng.integers(-3, 4))
    return PhraseProblem(
        [f"w{i}" for i in range(n)],
        [(*key, score) for key, score in options.items()],
        random_model(rng),
        distortion=draw(st.sampled_from([0.0, 0.5, 1.0])),
        distortion_limit=draw(st.sampled_from(limits)),
        reordering=draw(st.sampled_from(["limit", "moses"])),
        constraints=random_constraints(rng, n) if constrained and rng.random() < 0.7 else None,
    )


def random_constraints(rng, n):
    """A few of each kind, often none; sometimes more than can hold together."""

    def phrases():
        return tuple(
            tuple(rng.choice(["a", "b", "c", "new", "never"], rng.integers(1, 4), p=[0.3, 0.3, 0.2, 0.15, 0.05]).tolist())
            for _ in range(rng.integers(0, 3) if rng.random() < 0.5 else 0)
        )

    def span():
        start = int(rng.integers(0, n))
        return start, int(rng.integers(start + 1, n + 1))

    fixed, zones, walls = [], [], []
    if n and rng.random() < 0.3:
        fixed.append(Fixed(*span(), (("a", "c"), ("b",)), (1.0, 0.0), bool(rng.random() < 0.7)))
    if n and rng.random() < 0.4:
        zones.append(Zone(*span(), bool(rng.random() < 0.4)))
    if n and rng.random() < 0.3:
        walls.append(Wall(int(rng.integers(0, n + 1))))
    return Constraints(phrases(), phrases() if rng.random() < 0.7 else (), tuple(fixed), tuple(zones), tuple(walls))


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
        (optimal_beam, "FIRST_STATES"): int(rng.choice([8, 10**6])), (optimal_beam, "LIKELIEST_STEPS"): 0,
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
    phrases = best_in_beam(
        tables.options, tables.rows, start=tables.ngrams.start, end_word=tables.end_word, reach=problem.reach, size=5000,
        threshold=math.inf, moses=problem.reordering == "moses", distortion=problem.distortion,
        rules=problem.rules, jumps=tables.jumps, layer_of=tables.layer_of,
    )  # fmt: skip
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
            graph = tightened(graph, word, sentence.starts, sentence.lengths)
            lattice = knowing(lattice, word, sentence.starts, sentence.ends)
        outside = outside_of(graph, price)
        exact = unfolded(graph, sentence.lattice, outside, price, known=known, least=-np.inf, most_arcs=10**6)
        states.append(outside[0] + multipliers.sum())
        assert best_path(lattice, outside_table(lattice, sentence.lengths), price)[0] == outside[0]
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


FLAT = language_model({(w,): -1.0 for w in range(len(WORDS))}, {}, 1)


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
    before, translation_graphs.FEW = translation_graphs.FEW, few
    try:
        if optimum > -np.inf:
            assert phrase_bound(problem, multipliers, optimum) == optimum
            assert phrase_bound(problem, multipliers, optimum - 1.0) == optimum
        assert optimum <= phrase_bound(problem, multipliers, max(optimum, -50.0) + 1.0) <= max(optimum, -50.0) + 1.0
    finally:
        translation_graphs.FEW = before


def test_wrong_certificates_are_refused():
    problem = PhraseProblem(["u", "v"], [(0, 1, ("a",), 0.0), (1, 2, ("b",), 0.0)], FLAT)
    for values, message in [
        ((0.0,), "has 1 multipliers: expected 2"),
        ((0.0, GRID / 2), "not on the grid"),
        ((0.0, math.nan), "not on the grid"),
        ((0.0, math.inf), "not on the grid"),
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
    with pytest.raises(InputError, match="problem is a str: expected a PhraseProblem or a SyntaxProblem"):
        decode("u v")
    with pytest.raises(UnknownMethod, match="Did you mean 'beam'"):
        decode_phrases(problems[0], method="beem")
    with pytest.raises(InputError, match="problem is a str"):
        decode_phrases("u v")
    with pytest.raises(InputError, match="time_limit is -1"):
        decode_phrases(problems[0], time_limit=-1)


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
