"""Problems that were once other problems than those that somebody gave: what is given is copied, checked once, and read as it says."""

import copy
import math
import pickle
from dataclasses import replace

import numpy as np
import pytest

import zerogap
from zerogap import dependency, hypergraph, sequence, translation
from zerogap.errors import FormatError, GrammarError, HypergraphError, InputError, ScoreError, VerificationError
from zerogap.problems.constituency.lexical import LexicalGrammar, LexicalProblem
from zerogap.problems.constituency.lexical_agreement import LexicalAgreement
from zerogap.problems.dependency.factor import FactorArrays
from zerogap.problems.dependency.head_automaton import HeadAutomaton
from zerogap.problems.files import problem_from_json
from zerogap.problems.json_values import number_from_json
from zerogap.problems.sequence.constraints import Constraint, at_least, disallow
from zerogap.problems.translation.forest import from_rules
from zerogap.problems.translation.phrase_constraints import Constraints, Wall
from zerogap.proof import Solution
from zerogap.proof.certificate import DynamicProgram, Intersection, Multipliers
from zerogap.structures.grammar import Grammar
from zerogap.structures.hypergraph import from_edges
from zerogap.structures.linear import LinearConstraints, constraint_rows
from zerogap.translation.language_models import Ngrams, build_language_model

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


def model_of(scores):
    words = ["<s>", "</s>", "<unk>", "a", "b"]
    return build_language_model(words, [Ngrams(np.arange(5)[:, None], np.array(scores), np.full(5, np.nan))])


def test_a_language_model_that_only_says_it_is_on_a_grid():
    """What scores 0.9 was rounded down to 0, and 0 was optimal."""
    model = model_of([0.0, 0.0, 0.0, 0.9, 0.0])
    with pytest.raises(InputError, match="scores are no multiples"):
        replace(model, resolution=1.0, largest=1.0)
    assert replace(model_of([0.0, 0.0, 0.0, 9.0, 0.0]), resolution=1.0, largest=0.5).largest == 9.0


def test_a_language_model_whose_states_remember_what_they_like():
    """The state after b was another one where a state of a had been before, so that pieces that begin alike went on otherwise."""
    words = ["<s>", "</s>", "<unk>", "a", "b"]
    bigrams = Ngrams(np.array([[3, 4], [4, 4]]), np.array([-1.0, -2.0]), np.array([np.nan, np.nan]))
    model = build_language_model(words, [Ngrams(np.arange(5)[:, None], np.zeros(5), np.array([0, 0, 0, 0.5, 0.5])), bigrams])
    forest = from_rules([(0, ["a", "b", "b"], 0.0)], root=0)[0]
    good = translation.SyntaxProblem(forest, model)
    score = good.score((0,))
    zerogap.verify(good, Solution((0,), score, score, DynamicProgram()))
    after = model.next_states.copy()
    after[model.keys == int(after[3]) * 5 + 4] = after[3]  # after "a b" as after "a"
    bad = translation.SyntaxProblem(forest, replace(model, next_states=after))
    score = bad.score((0,))
    with pytest.raises(VerificationError, match="no automaton of n-grams"):
        zerogap.verify(bad, Solution((0,), score, score, DynamicProgram()))


def test_a_hypergraph_that_uses_a_hyperedge_many_times():
    """Payments were added up as if once: sums left int64, and a hyperpath of 5 was none."""
    n, many = 600, 240
    a, b, c, d, root = range(n, n + 5)
    tails = [[0], [1], [a] * many, [a], [b] * many, [b], [c, d, *range(2, n)]]
    graph, _, order = from_edges([a, b, c, c, d, d, root], tails, n_vertices=n + 5, root=root, validate=False)
    place = np.argsort(order).tolist()
    rows = constraint_rows(graph.n_edges, [({place[0]: 16, place[1]: 16}, "=", 32)])
    problem = hypergraph.Problem(graph, np.array([0, 0, 0, 5.0, 0, 0, 0])[order], rows)
    path = tuple(place[i] for i in (6, 3, 5, 0, 1))
    problem.check(path)
    assert problem.score(path) == 5.0
    for part in np.linspace(0.5, 0.999, 50):
        price = -float(np.floor(part * 2.0**51)) * problem.resolution
        with pytest.raises(VerificationError, match="so large"):
            zerogap.verify(problem, Solution(None, -np.inf, 4.0, Multipliers((price,))))
    assert zerogap.verify(problem, Solution(path, 5.0, 5.0, Multipliers((0.0,)))).bound == 5.0


def test_a_grammar_with_two_symbols_of_one_name():
    """Trees are scored by names, charts by numbers."""
    rules, scores = np.array([[3, 1, 0], [3, 2, 0]], dtype=np.int32), np.array([1.0, 5.0])
    with pytest.raises(GrammarError, match="a name twice"):
        Grammar(("B", "A", "A", "S"), 3, rules, scores, np.zeros((0, 2), dtype=np.int32), np.zeros(0), {})


@pytest.mark.parametrize("resolution", [True, 0.75, 10**400, math.inf])
def test_resolutions_that_are_no_powers_of_two(resolution):
    with pytest.raises(ScoreError, match="resolution"):
        sequence.Problem([[1.0]], resolution=resolution)
    assert type(sequence.Problem([[1.0]], resolution=1).resolution) is float


FILES = {
    "constraint": ("sequence", {"emissions": [[1.0, 0.0]], "constraints": [{"kind": "disallow", "arguments": [0]}]}, "constraints"),
    "automaton": (
        "dependency",
        {"arcs": [[0, 1], [0, 0]], "automata": [{"head": 0, "side": "right", "transitions": [[0, 1, 0, 1.0]], "finals": [0.0]}]},
        "automata",
    ),
    "factor": ("dependency", {"arcs": [[0, 1], [0, 0]], "factors": [{"arcs": [[0, 1]], "score": 1.0}]}, "factors"),
    "parts": ("dependency", {"arcs": [[0, 1], [0, 0]], "stops": {"parts": [[0, 1, 1.0]]}}, "stops"),
    "hyperedge": ("hypergraph", {"vertices": 2, "root": 1, "edges": [{"head": 1, "tail": [0], "score": 1.0}]}, "edges"),
    "row": (
        "hypergraph",
        {
            "vertices": 2,
            "root": 1,
            "edges": [{"head": 1, "tail": [0]}],
            "constraints": [{"parts": {"0": 1}, "sense": "<=", "limit": 1}],
        },
        "constraints",
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_mistyped_keys_within_a_problem(name):
    """A `penality` was as if it were not there: the constraint was hard."""
    kind, value, field = FILES[name]
    file = {"format": "zerogap-problem", "version": 1, "kind": kind} | value
    problem_from_json(file)
    inner = file[field] if isinstance(file[field], dict) else file[field][0]
    inner["penality"] = 5.0
    with pytest.raises(FormatError, match="penality is not known"):
        problem_from_json(file)


def test_a_version_that_is_true():
    with pytest.raises(FormatError, match="version"):
        problem_from_json({"format": "zerogap-problem", "version": True, "kind": "sequence", "emissions": [[1.0]]})


def test_tokens_without_labels_are_no_empty_sequence():
    file = {"format": "zerogap-problem", "version": 1, "kind": "sequence", "labels": ["A"], "emissions": [[], []]}
    with pytest.raises(InputError, match="labels"):
        problem_from_json(file)
    assert problem_from_json(file | {"emissions": []}).n_tokens == 0


def test_a_forest_that_doubles_and_doubles():
    words = {"order": 1, "words": ["<s>", "</s>", "<unk>"], "ngrams": [[[0, 0], [1, 0], [2, 0]]]}
    for size in (54, 1100):
        edges = [[0, [0], 0.0], *([i, [-i, -i], 0.0] for i in range(1, size))]
        file = {"format": "zerogap-problem", "version": 1, "kind": "forest", "words": ["a"], "edges": edges, "language_model": words}
        with pytest.raises(HypergraphError, match="a derivation may have"):
            problem_from_json(file)


@pytest.mark.parametrize("again", [copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))])
def test_copies_cannot_be_written_to(again):
    """Their largest score and resolution stayed what they were, and proofs rely on both."""
    scores = np.zeros((2, 2, 2))
    problem = again(
        dependency.Problem([[0.0, 1.0], [0.0, 0.0]], siblings=scores, factors=FactorArrays(1, np.array([0, 1]), np.array([1]), np.ones(1)))
    )
    labels = again(sequence.Problem([[0.0, 1.0]]))
    words = again(model_of([0.0] * 5))
    forest = again(from_rules([(0, ["a"], 0.0)], root=0)[0])
    rows = again(constraint_rows(2, [([0, 1], "<=", 1)]))
    for array in (
        problem.arcs, problem.siblings.table, problem.factors.arcs, labels.emissions, labels.transitions, words.scores, forest.scores,
        rows.coefficients,
    ):  # fmt: skip
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 7


def test_parts_of_arrays_that_somebody_else_can_write_to():
    base = np.array([0, 1, 2, 3])
    rows = LinearConstraints(3, np.array([0, 1]), base[1:2], np.ones(1), np.ones(1), np.zeros(1, dtype=np.bool_), ("row",))
    base[1] = 77
    assert rows.columns.tolist() == [1]
    edges = np.array([0, 0, 1, 9])
    graph = hypergraph.Hypergraph(edges[:3], np.array([0, 1], dtype=np.int32), np.array([0], dtype=np.int32), 1)
    edges[:] = 5
    assert graph.edge_start.tolist() == [0, 0, 1]


def phrase_problem(phrases, **options):
    return translation.PhraseProblem(["x", "y"], phrases, model_of([0.0] * 5).scaled(1.0, resolution=2.0**-20), **options)


def test_phrases_that_can_be_gone_through_once():
    listed = [(0, 1, ("a",), 1.0), (1, 2, ("b",), 2.0)]
    assert phrase_problem(iter(listed)).targets == phrase_problem(listed).targets == (("a",), ("b",))


def test_places_between_words():
    with pytest.raises(InputError, match="spans"):
        phrase_problem([(0.5, 1, ("a",), 1.0)])
    with pytest.raises(InputError, match="walls"):
        phrase_problem([(0, 1, ("a",), 1.0)], constraints=Constraints(walls=(Wall(0.5),)))


def test_a_weight_that_makes_what_is_forbidden_no_number():
    """It was nan: a score for the definition, forbidden for the checker."""
    grammar = LexicalGrammar(
        ("T",), 0, np.zeros((0, 3), dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros((0, 2), dtype=np.int64),
        np.zeros(0, dtype=np.int64), np.array([-1]),
    )  # fmt: skip
    lexical = LexicalProblem(
        grammar, positions=[0], tags=[0], verbs=[False], binary=np.zeros((0, 1, 2)), unary=np.zeros((0, 1, 2)), words=np.zeros((0, 1, 1)),
        roots=[1.0],
    )  # fmt: skip
    arcs = [[0.0, -np.inf], [0.0, 0.0]]
    for weight in (0.0, 1.0, -1.0):
        assert LexicalAgreement(lexical, arcs, weight=weight).arcs[0, 1] == -np.inf
    with pytest.raises(InputError, match="weight"):
        LexicalAgreement(lexical, arcs, weight=math.nan)


@pytest.mark.parametrize("value", [2**53 + 1, -(2**60) - 1, 10**23])
def test_whole_numbers_that_would_be_rounded(value):
    """A score that is off by one was the right one once it was a float."""
    assert number_from_json(2**53, "score") == 2.0**53
    with pytest.raises(FormatError, match="that float64 holds"):
        number_from_json(value, "score")
