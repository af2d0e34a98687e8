"""Constrained labelling: every method against all labellings; certificates hold, tampered ones do not."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba.core import config

from zerogap import sequence as seq
from zerogap.baselines.brute import optimum
from zerogap.errors import AlphabetMismatch, AutomatonError, Infeasible, InputError, InvalidStructure, ScoreShapeError, VerificationError
from zerogap.papers.tromble2006.relaxation import ORDERS, learned_order
from zerogap.problems.sequence.regex import compile_regex
from zerogap.proof import Agreement, Intersection, Solution
from zerogap.proof.sequence.labellings import sequence_bound
from zerogap.proof.verify import verify
from zerogap.sequence.decoding import agreement, auto
from zerogap.testing.strategies import score_arrays

LABELS = {"plain": ("A", "B", "O"), "BIO": ("B-A", "I-A", "B-B", "I-B", "O")}


@st.composite
def simple_constraints(draw, n):
    field = st.sampled_from(["A", "B"])
    positions = st.integers(0, max(n - 1, 0))
    options = [
        st.builds(seq.no_duplicate, field),
        st.builds(seq.at_least_one, field),
        st.builds(seq.at_most, field, st.integers(0, 2)),
        st.builds(seq.at_least, field, st.integers(0, 2)),
        st.builds(seq.exactly, field, st.integers(0, 2)),
        st.sampled_from([seq.precedes("A", "B"), seq.precedes("B", "A"), seq.follows_only("A", "B"), seq.follows_only("B", "O")]),
        st.builds(seq.disallow, st.sampled_from(["A", "B", "O"])),
        st.sampled_from([seq.regex(".* O .*"), seq.regex("[A B]* O*"), seq.regex("~(.* A A .*)")]),
    ]
    if n > 0:
        options += [st.builds(seq.at, positions, field), st.builds(seq.same_label, st.lists(positions, min_size=1, max_size=3))]
        options.append(st.tuples(positions, st.integers(1, 3)).map(lambda p: seq.span(p[0], min(p[0] + p[1], n))))
    return draw(st.one_of(options))


@st.composite
def constraints(draw, n, soft=True):
    found = draw(simple_constraints(n))
    for _ in range(draw(st.integers(0, 1))):
        other = draw(simple_constraints(n))
        found = draw(st.sampled_from([found & other, found | other, ~found]))
    return seq.soft(found, draw(st.integers(1, 4))) if soft and draw(st.booleans()) else found


@st.composite
def problems(draw, max_tokens=4, soft=True):
    n = draw(st.integers(0, max_tokens))
    labels = LABELS[draw(st.sampled_from(sorted(LABELS)))]
    size = len(labels)
    order = draw(st.sampled_from([1, 1, 2]))
    by_position = draw(st.booleans()) and n > order
    shape = (size,) * (order + 1)
    transitions = None
    if draw(st.booleans()):
        transitions = np.random.default_rng(draw(st.integers(0, 999))).integers(-3, 4, ((n - order, *shape) if by_position else shape))
    return seq.Problem(
        draw(score_arrays((n, size))), transitions, draw(score_arrays((size,))), draw(score_arrays((size,), holes=False)), labels,
        draw(st.lists(constraints(n, soft=soft), max_size=4)), order=order,
    )  # fmt: skip


def best_of_all(problem):
    return optimum(problem, itertools.product(problem.labels, repeat=problem.n_tokens))


def hurried(problem, **settings):
    """`auto` without its first searches: everything is left to prices and sweeps. With no bits machines join them when they are broken."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"FIRST_LIMIT": 0, "WORD_BITS": 10**9, **settings}.items():
            patch.setattr(auto, name, value)
        return seq.decode(problem)


def by_order(order):
    return lambda problem: seq.decode(problem, method="relaxation", order=order)


if config.DISABLE_JIT:  # prices take hundreds of steps, each of which takes milliseconds then
    agreement.ROOT_STEPS, agreement.NODE_STEPS = 10, 4

EXACT = {
    "auto": seq.decode,
    "auto by sweeps": hurried,
    "auto by lazy sweeps": lambda problem: hurried(problem, WORD_BITS=-1),
    "auto by narrow sweeps": lambda problem: hurried(problem, FIRST_WIDTH=1),
    "intersection": lambda problem: seq.decode(problem, method="intersection"),
    "ilp": lambda problem: seq.decode(problem, method="ilp"),
    "dual decomposition": lambda problem: seq.decode(problem, method="dual-decomposition"),
    **{f"relaxation, {order}": by_order(order) for order in ORDERS},
}


@given(problems(), st.sampled_from(sorted(EXACT)))
@settings(max_examples=500)
def test_exact_and_proved(problem, method):
    best = best_of_all(problem)
    if best == -np.inf:
        with pytest.raises(Infeasible):
            EXACT[method](problem)
        return
    solution = EXACT[method](problem)
    assert solution.score == solution.bound == best
    verify(problem, solution)


@st.composite
def larger_problems(draw):
    """As large as intersection can solve, with real scores: prices, selected machines and relaxed ones all matter."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    fields = [f"F{i}" for i in range(4)]
    labels = [f"{tag}-{field}" for field in fields for tag in "BI"] + ["O"]
    rules = [seq.no_duplicate(field) for field in fields] + [seq.at_least_one(field) for field in fields[:2]]
    rules += [seq.precedes(a, b) for a, b in itertools.permutations(fields, 2) if rng.random() < 0.2]
    rules += [seq.at_most("O", 2), seq.spans([(1, 3), (5, 8)]), seq.same_label([0, 4, 9]), seq.at(3, "F1", "F2", "O")]
    chosen = [rule for rule in rules if rng.random() < 0.7]
    chosen = [seq.soft(rule, 2 * rng.random() + 0.1) if rng.random() < 0.3 else rule for rule in chosen]
    allowed, start, _ = seq.scheme_transitions(labels)
    transitions = rng.normal(size=(9, 9)) + (allowed if rng.random() < 0.5 else 0.0)
    return seq.Problem(rng.normal(size=(10, 9)), transitions, start=start, labels=labels, constraints=chosen)


@given(larger_problems())
@settings(max_examples=60)
def test_all_methods_agree_on_larger_problems(problem):
    try:
        best = seq.decode(problem, method="intersection").score
    except Infeasible:
        best = None
    for method in ("auto", "auto by sweeps", "auto by lazy sweeps", "auto by narrow sweeps", "relaxation, fewest-states"):
        if best is None:
            with pytest.raises(Infeasible):
                EXACT[method](problem)
            continue
        solution = EXACT[method](problem)
        assert solution.score == solution.bound == best
        verify(problem, solution)


@given(larger_problems())
@settings(max_examples=60)
def test_a_limit_of_memory_leaves_a_true_gap(problem):
    try:
        best = seq.decode(problem).score
        solution = hurried(problem, FIRST_WIDTH=1, MOST_PREFIXES=1, LAST_ROUNDS=0, ROUNDS=1)
    except Infeasible:
        return
    assert solution.score <= best <= solution.bound
    verify(problem, solution)


@given(st.integers(0, 10**6), st.sampled_from(["auto", "auto by sweeps", "auto by lazy sweeps"]))
@settings(max_examples=30)
def test_more_machines_than_fit_into_a_word(seed, method):
    rng = np.random.default_rng(seed)
    rules = [seq.no_duplicate("A"), seq.precedes("A", "B"), seq.at_least_one("B"), seq.regex(".* O .*"), seq.same_label([0, 3])]
    rules += [seq.span(i, i + 2) for i in range(4)] + [seq.same_label([i, j]) for i in range(6) for j in range(i)]
    chosen = [seq.soft(rules[i], rng.random() + 0.01) for i in rng.integers(0, len(rules), 40)]
    problem = seq.Problem(rng.normal(size=(6, 3)), rng.normal(size=(3, 3)), labels=LABELS["plain"], constraints=chosen)
    solution = EXACT[method](problem)
    assert solution.score == solution.bound == best_of_all(problem)


@given(problems())
@settings(max_examples=150)
def test_lagrangian_is_never_wrong(problem):
    best = best_of_all(problem)
    try:
        solution = seq.decode(problem, method="lagrangian")
    except Infeasible:
        assert best == -np.inf
        return
    assert solution.score <= best <= solution.bound
    verify(problem, solution)


def test_lagrangian_closes_the_gap_where_one_count_binds():
    problem = seq.Problem([[2, 0], [1, 0], [2, 0]], labels=("A", "O"), constraints=[seq.at_most("A", 0)])
    assert seq.decode(problem, method="lagrangian").status == "optimal"


@given(problems(), st.integers(2, 6))
@settings(max_examples=200)
def test_the_k_best(problem, k):
    scores = []
    for labelling in itertools.product(problem.labels, repeat=problem.n_tokens):
        try:
            problem.check(labelling)
        except InvalidStructure:
            continue
        scores.append(problem.score(labelling))
    if not scores:
        return
    solution = seq.decode(problem, k=k)
    found = [solution.score, *(score for _, score in solution.alternatives)]
    assert found == sorted(scores, reverse=True)[:k] or problem.n_tokens == 0
    verify(problem, solution)
    others = solution.alternatives
    if len(others) > 1:
        for bad in (
            others[:1] * 2,
            others[::-1] if others[0][1] > others[-1][1] else others[:1] * 2,
            ((others[0][0], others[0][1] + 1.0),),
        ):
            with pytest.raises(VerificationError):
                verify(problem, replace(solution, alternatives=bad))
        if others[0][1] > others[-1][1]:
            with pytest.raises(VerificationError, match="another structure"):
                verify(problem, replace(solution, alternatives=others[1:]))


@given(problems(max_tokens=5))
@settings(max_examples=100)
def test_a_learned_order_is_exact_too(problem):
    if best_of_all(problem) == -np.inf:
        return
    solved = seq.decode(problem)
    order = learned_order([solved], [problem])
    assert seq.decode(problem, method="relaxation", order=order).score == solved.score


@given(problems(max_tokens=3, soft=False))
@settings(max_examples=150)
def test_infeasible_sets_are_irreducible(problem):
    if problem.n_tokens == 0 or best_of_all(problem) > -np.inf:
        return
    transitions = problem.transitions if len(problem.transitions) > 1 else problem.transitions[0]
    scores = (problem.emissions, transitions, problem.start, problem.end, problem.labels)
    options = {"order": problem.order}
    if best_of_all(seq.Problem(*scores, **options)) == -np.inf:
        return
    with pytest.raises(Infeasible) as caught:
        seq.decode(problem)
    named = [c for c in problem.constraints if c.name in caught.value.conflict]
    assert best_of_all(seq.Problem(*scores, named, **options)) == -np.inf
    for dropped in set(named):
        rest = [c for c in named if c != dropped]
        assert best_of_all(seq.Problem(*scores, rest, **options)) > -np.inf


@given(problems(), st.integers(-3, 3))
@settings(max_examples=150)
def test_tampered_certificates_fail(problem, price):
    if best_of_all(problem) == -np.inf:
        return
    solution = seq.decode(problem)
    with pytest.raises(VerificationError):
        verify(problem, replace(solution, bound=solution.bound - problem.resolution))
    for bad in (Intersection((99,)), Intersection((0, 0)), Intersection((), ((99, 1.0),)), Intersection((), ((0, float("nan")),))):
        with pytest.raises(VerificationError):
            verify(problem, replace(solution, certificate=bad))
    intersected = solution.certificate.constraints
    counted = [c for c in intersected if problem.machines[c].count is not None and problem.constraints[c].penalty is None]
    if counted:  # prices on what is intersected only steer the search
        verify(problem, replace(solution, certificate=Intersection(intersected, ((counted[0], float(price)),))))


@given(problems(), st.data())
@settings(max_examples=300)
def test_no_certificate_proves_a_false_bound(problem, data):
    best = best_of_all(problem)
    if best == -np.inf:
        return
    chosen = data.draw(st.lists(st.integers(0, len(problem.machines) - 1), unique=True)) if problem.machines else []
    counted = [c for c, m in enumerate(problem.machines) if m.count is not None and problem.constraints[c].penalty is None]
    prices = tuple((c, float(data.draw(st.integers(-4, 4)))) for c in counted if data.draw(st.booleans()))
    certificate = Intersection(tuple(chosen), prices)
    labelling = seq.decode(problem).structure
    with pytest.raises(VerificationError):
        verify(problem, Solution(labelling, best, best - problem.resolution, certificate))
    in_units = int(best / problem.resolution)
    assert sequence_bound(problem, certificate, in_units - 1) >= in_units


def test_a_document_with_repeated_phrases():
    """Products of so many machines fit nowhere; prices on labels prove it in a moment."""
    rng = np.random.default_rng(3)
    labels = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]
    allowed, start, _ = seq.scheme_transitions(labels)
    emissions = rng.normal(size=(200, 5)) + np.array([1, 0, 0, 0, 0])
    places = rng.permutation(200)[:120].reshape(40, 3)
    emissions[places, rng.choice([1, 3], size=(40, 1))] += 2.0
    rules = [seq.same_label(row.tolist()) for row in places]
    problem = seq.Problem(emissions, allowed, start=start, labels=labels, constraints=rules)
    solution = seq.decode(problem)
    assert solution.status == "optimal"
    verify(problem, solution)
    with pytest.raises(VerificationError):
        verify(problem, replace(solution, bound=solution.bound - problem.resolution))
    for method in ("auto", "dual-decomposition"):
        hasty = seq.decode(problem, method=method, time_limit=0.0)
        assert hasty.score <= solution.score <= hasty.bound
        verify(problem, hasty)
    prices = solution.certificate.prices
    for bad in (prices[:-1], ((999, 0, 0, 1.0),), ((0, 999, 0, 1.0),), ((0, 0, 0, float("nan")),), ((0, 0, 0, 1e300),)):
        with pytest.raises(VerificationError):
            verify(problem, replace(solution, certificate=Agreement(bad)))


def test_names_and_indices():
    assert seq.decode(seq.Problem([[1.0, 2.0]])).structure == (1,)
    assert seq.decode(seq.Problem([[1.0, 2.0]], labels=["x", "y"])).structure == ("y",)


def test_figure_4a_counts_runs_and_entities():
    plain = seq.Problem(np.zeros((4, 2)), labels=("A", "O"), constraints=[seq.no_duplicate("A")])
    plain.check(("A", "A", "O", "O"))
    with pytest.raises(InvalidStructure, match="no_duplicate"):
        plain.check(("A", "O", "A", "O"))
    bio = seq.Problem(np.zeros((4, 3)), labels=("B-A", "I-A", "O"), constraints=[seq.no_duplicate("A")])
    bio.check(("B-A", "I-A", "I-A", "O"))
    for bad in (("B-A", "B-A", "O", "O"), ("B-A", "O", "I-A", "O")):
        with pytest.raises(InvalidStructure):
            bio.check(bad)
    bioes = seq.Problem(np.zeros((3, 5)), labels=("B-A", "I-A", "E-A", "S-A", "O"), constraints=[seq.at_most("A", 1)])
    bioes.check(("B-A", "E-A", "O"))
    for bad in (("S-A", "S-A", "O"), ("B-A", "E-A", "S-A")):
        with pytest.raises(InvalidStructure):
            bioes.check(bad)


def test_schemes():
    labels = ["B-A", "I-A", "B-B", "I-B", "O"]
    allowed, start, end = seq.scheme_transitions(labels)
    good = {(i, j) for i in range(5) for j in range(5) if allowed[i, j] == 0.0}
    assert (0, 1) in good
    assert (0, 3) not in good
    assert (4, 1) not in good
    assert start.tolist() == [0, -np.inf, 0, -np.inf, 0]
    assert end.tolist() == [0] * 5
    allowed, start, end = seq.scheme_transitions(["B-A", "I-A", "E-A", "S-A", "O"], "BIOES")
    assert allowed[0, 4] == allowed[2, 2] == allowed[0, 3] == -np.inf
    assert allowed[0, 2] == allowed[2, 3] == allowed[3, 0] == 0.0
    assert end.tolist() == [-np.inf, -np.inf, 0, 0, 0]
    with pytest.raises(InputError, match="BIOES"):
        seq.scheme_transitions(["E-A"])
    with pytest.raises(InputError, match="scheme"):
        seq.scheme_transitions(["O"], "IOB1")


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: [seq.no_duplicate("AUTOR")], AlphabetMismatch, "Did you mean 'AUTHOR'"),
        (lambda: [seq.soft(seq.no_duplicate("AUTHOR"), -1.0)], InputError, "penalty is -1.0"),
        (lambda: [seq.soft(seq.no_duplicate("AUTHOR"), 1.0) & seq.no_duplicate("AUTHOR")], InputError, "make the result soft"),
        (lambda: [seq.accepted_by(compile_regex("x*", ["x"]))], AlphabetMismatch, "same labels"),
        (lambda: [seq.at(7, "AUTHOR")], InputError, "position 7: expected 0 to 1"),
        (lambda: [seq.span(1, 1)], InputError, "empty"),
        (lambda: [seq.spans([(0, 2), (1, 2)])], InputError, "begins inside another"),
        (lambda: [seq.at_most("AUTHOR", -1)], InputError, "k is -1"),
        (lambda: [seq.precedes("AUTHOR", "B-AUTHOR")], InputError, "same labels twice"),
        (lambda: ["no_duplicate"], InputError, r"constraints\[0\]"),
        (lambda: [seq.regex("AUTHOR (")], AutomatonError, "not closed"),
    ],
)
def test_bad_constraints(make, error, message):
    with pytest.raises(error, match=message):
        seq.Problem(np.zeros((2, 3)), labels=("B-AUTHOR", "I-AUTHOR", "O"), constraints=make())


def test_bad_problems():
    with pytest.raises(ScoreShapeError, match=r"transitions has shape \(2, 3\)"):
        seq.Problem(np.zeros((2, 3)), np.zeros((2, 3)))
    with pytest.raises(ScoreShapeError, match="order=1 or order=2"):
        seq.Problem(np.zeros((4, 3)), np.zeros((3, 3, 3)))
    with pytest.raises(InputError, match="labels has 2 names"):
        seq.Problem(np.zeros((2, 3)), labels=("a", "b"))
    with pytest.raises(InputError, match="order is 3"):
        seq.Problem(np.zeros((2, 3)), order=3)
    with pytest.raises(InvalidStructure, match=r"labelling\[0\] is 'z'"):
        seq.Problem(np.zeros((1, 2)), labels=("a", "b")).check(("z",))


def test_the_empty_sequence():
    assert seq.decode(seq.Problem(np.zeros((0, 2)))).structure == ()
    with pytest.raises(Infeasible, match="no tokens"):
        seq.decode(seq.Problem(np.zeros((0, 2)), labels=("a", "b"), constraints=[seq.at_least_one("a")]))


def test_decode_many_keeps_order():
    rng = np.random.default_rng(0)
    many = [seq.Problem(rng.normal(size=(6, 3)), labels=LABELS["plain"], constraints=[seq.no_duplicate("A")]) for _ in range(8)]
    assert [s.score for s in seq.decode_many(many, threads=2)] == [seq.decode(p).score for p in many]
