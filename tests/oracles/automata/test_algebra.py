"""The algebra of automata against enumeration of all short strings."""

from itertools import product as sequences

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zerogap.errors import AlphabetMismatch, AutomatonError, Infeasible, InputError
from zerogap.oracles.automata.algebra import (
    best_string,
    complement,
    concatenation,
    equivalent,
    intersection,
    is_empty,
    minimise,
    star,
    trim,
    union,
)
from zerogap.structures.automaton import DEAD, Automaton, automaton

SYMBOLS = "ab"
STRINGS = [s for length in range(7) for s in sequences(SYMBOLS, repeat=length)]
SHORT = [s for s in STRINGS if len(s) <= 5]


@st.composite
def automata(draw, *, weighted=False, max_states=4, symbols=SYMBOLS):
    n = draw(st.integers(1, max_states))
    small = st.integers(-2, 2) if weighted else st.just(0)
    row = lambda entries: st.lists(entries, min_size=len(symbols), max_size=len(symbols))  # noqa: E731
    following = draw(st.lists(row(st.integers(DEAD, n - 1)), min_size=n, max_size=n))
    weights = draw(st.lists(row(small), min_size=n, max_size=n))
    final = draw(st.lists(st.one_of(st.just(-np.inf), small.map(float)), min_size=n, max_size=n))
    return automaton(symbols, following, weights=weights, final=np.array(final, dtype=float), start=draw(st.integers(0, n - 1)))


def language(machine: Automaton, strings=STRINGS) -> dict[tuple[str, ...], float]:
    return {s: machine.score(s) for s in strings if machine.accepts(s)}


def accepted(machine: Automaton, strings=STRINGS) -> set[tuple[str, ...]]:
    return set(language(machine, strings))


def tables(machine: Automaton) -> tuple:
    return machine.following.tolist(), machine.weights.tolist(), machine.final.tolist(), machine.start


def reachable(machine: Automaton) -> set[int]:
    """By walking all strings that visit every state at most once."""
    found, waiting = set(), [machine.start]
    while waiting:
        q = waiting.pop()
        if q not in found:
            found.add(q)
            waiting += [r for r in machine.following[q].tolist() if r != DEAD]
    return found


def started_at(machine: Automaton, q: int) -> Automaton:
    return automaton(machine.alphabet, machine.following, weights=machine.weights, final=machine.final, start=q)


@given(automata(weighted=True), automata(weighted=True))
def test_intersection_adds_weights(left, right):
    both = intersection(left, right)
    expected = {s: w + right.score(s) for s, w in language(left, SHORT).items() if right.accepts(s)}
    assert language(both, SHORT) == expected
    assert reachable(both) == set(range(both.n_states))


@given(automata(), automata())
def test_union_is_either(left, right):
    either = union(left, right)
    assert accepted(either, SHORT) == accepted(left, SHORT) | accepted(right, SHORT)
    assert reachable(either) == set(range(either.n_states))


@given(automata())
def test_complement_is_the_rest(machine):
    assert accepted(complement(machine)) == set(STRINGS) - accepted(machine)
    assert equivalent(complement(complement(machine)), machine)


@given(automata(max_states=3), automata(max_states=3))
def test_concatenation_is_one_after_the_other(left, right):
    first, second = accepted(left, SHORT), accepted(right, SHORT)
    expected = {a + b for a in first for b in second if len(a) + len(b) <= 5}
    assert accepted(concatenation(left, right), SHORT) == expected


@given(automata(max_states=3))
def test_star_is_any_number_of_them(machine):
    parts, expected = accepted(machine, SHORT), {()}
    for _ in range(5):
        expected |= {a + b for a in expected for b in parts if len(a) + len(b) <= 5}
    assert accepted(star(machine), SHORT) == expected


@given(automata(weighted=True))
def test_trim_keeps_the_language_and_only_states_on_accepting_paths(machine):
    trimmed = trim(machine)
    assert language(trimmed) == language(machine)
    assert is_empty(machine) == (not accepted(machine))  # some string of fewer symbols than states is accepted, if any is
    if is_empty(machine):
        assert trimmed.n_states == 1
        assert (trimmed.following == DEAD).all()
    else:
        assert reachable(trimmed) == set(range(trimmed.n_states))
        assert not any(is_empty(started_at(trimmed, q)) for q in range(trimmed.n_states))


@given(automata(weighted=True))
def test_minimise_keeps_the_weight_of_every_string(machine):
    assert language(minimise(machine)) == language(machine)


def n_residuals(machine: Automaton) -> int:
    """Distinct completions of states on accepting paths, up to a constant: two of n states differ within 2n - 1 symbols."""
    residuals = set()
    for q in reachable(machine):
        weights = [started_at(machine, q).score(s) for s in STRINGS]
        finite = [w for w in weights if w > -np.inf]
        if finite:
            residuals.add(tuple(w - finite[0] for w in weights))
    return max(len(residuals), 1)


@given(automata(weighted=True, max_states=3))
def test_minimise_leaves_one_state_per_residual(machine):
    assert minimise(machine).n_states == n_residuals(machine)


@given(automata(weighted=False))
def test_minimise_leaves_one_state_per_residual_without_weights(machine):
    smallest = minimise(machine)
    assert smallest.n_states == n_residuals(machine)
    assert not smallest.is_weighted


@given(automata(weighted=True), st.data())
def test_equal_languages_have_identical_minimal_tables(machine, data):
    """Renumbered, duplicated, and with weights moved along the paths: still the same tables."""
    n = machine.n_states
    order = np.array(data.draw(st.permutations(range(n))))
    number = np.append(np.argsort(order), DEAD)
    moved = np.array(data.draw(st.lists(st.integers(-3, 3), min_size=n, max_size=n)), dtype=float)
    moved[machine.start] = 0
    weights = machine.weights + np.where(machine.following == DEAD, 0, moved[machine.following]) - moved[:, None]
    shuffled = automaton(
        SYMBOLS, number[machine.following[order]], weights=weights[order], final=(machine.final - moved)[order], start=number[machine.start]
    )
    assert language(shuffled) == language(machine)
    assert tables(minimise(shuffled)) == tables(minimise(machine)) == tables(minimise(minimise(machine)))
    twice = intersection(machine, automaton(SYMBOLS, [[1, 1], [0, 0]], final=[True, True]))
    assert tables(minimise(twice)) == tables(minimise(machine))


@given(automata(weighted=True, max_states=3), automata(weighted=True, max_states=3))
def test_equivalent_means_equal_weights(left, right):
    assert equivalent(left, right) == (language(left) == language(right))


@given(automata(symbols="a", max_states=8))
def test_minimise_on_one_symbol(machine):
    strings = ["a" * length for length in range(20)]
    assert [minimise(machine).accepts(s) for s in strings] == [machine.accepts(s) for s in strings]


def test_minimal_states_are_numbered_breadth_first_in_alphabet_order():
    smallest = minimise(automaton("ab", [[2, 1], [-1, 0], [0, -1]], final=[True, False, False]))
    assert smallest.following.tolist() == [[1, 2], [0, DEAD], [DEAD, 0]]


def test_a_positive_cycle_does_not_stop_minimisation():
    """The best completion does not exist here, the first one does: the two states differ by 5 everywhere."""
    machine = automaton("ab", [[1, 2], [1, 1], [2, 2]], weights=[[5, 0], [1, 1], [1, 1]], final=[-np.inf, 0.0, 5.0])
    assert minimise(machine).n_states == 2
    assert language(minimise(machine)) == language(machine)


def has_rising_cycle(machine: Automaton) -> bool:
    """Whether some state on an accepting path returns to itself with a positive weight, by max-plus powers."""
    n = machine.n_states
    useful = [q for q in reachable(machine) if not is_empty(started_at(machine, q))]
    step = np.full((n, n), -np.inf)
    for q in range(n):
        for r, w in zip(machine.following[q].tolist(), machine.weights[q].tolist(), strict=True):
            if r != DEAD:
                step[q, r] = max(step[q, r], w)
    power = step
    for _ in range(n):
        if any(power[q, q] > 0 for q in useful):
            return True
        power = (power[:, :, None] + step[None]).max(axis=1)
    return False


@given(automata(weighted=True))
def test_best_string(machine):
    weights = language(machine)
    if not weights:
        with pytest.raises(Infeasible, match="accepts no string"):
            best_string(machine)
    elif has_rising_cycle(machine):
        with pytest.raises(AutomatonError, match="unbounded"):
            best_string(machine)
    else:
        assert best_string(machine) == min(weights, key=lambda s: (-weights[s], len(s), s))


@given(automata(weighted=True), st.integers(0, 5))
def test_best_string_of_a_length(machine, length):
    weights = {s: w for s, w in language(machine).items() if len(s) == length}
    if weights:
        assert best_string(machine, length) == min(weights, key=lambda s: (-weights[s], s))
    else:
        with pytest.raises(Infeasible, match=f"no string of {length} symbols"):
            best_string(machine, length)


def test_best_string_takes_the_shortest_of_a_zero_cycle():
    assert best_string(automaton("ab", [[0, 0]], final=[True])) == ()
    around = automaton("ab", [[1, 0], [0, -1]], weights=[[3, 0], [-3, 0]], final=[-np.inf, 0.0])
    assert best_string(around) == ("a",)


def test_a_rising_cycle_that_no_accepted_string_visits_is_no_matter():
    machine = automaton("ab", [[1, 2], [-1, -1], [2, 2]], weights=[[0, 0], [0, 0], [1, 1]], final=[False, True, False])
    assert best_string(machine) == ("a",)


def test_negative_lengths_are_refused():
    with pytest.raises(InputError, match="length is -1"):
        best_string(automaton("a", [[0]], final=[True]), -1)


@pytest.mark.parametrize("operation", [union, concatenation])
def test_weights_are_refused_where_they_cannot_be_kept(operation):
    plain, weighted = automaton("a", [[0]], final=[True]), automaton("a", [[0]], final=[1.0])
    with pytest.raises(AutomatonError, match=r"right is weighted.*cannot in general hold the better of two"):
        operation(plain, weighted)


@pytest.mark.parametrize("operation", [complement, star])
def test_weights_are_refused_by_unary_operations(operation):
    with pytest.raises(AutomatonError, match="automaton is weighted"):
        operation(automaton("a", [[0]], weights=[[1.0]], final=[True]))


@pytest.mark.parametrize("operation", [union, concatenation, intersection, equivalent])
def test_alphabets_must_be_equal(operation):
    machine = automaton("abc", [[0, 0, 0]], final=[True])
    with pytest.raises(AlphabetMismatch, match="symbol 1 is 'b' on the left and 'c' on the right"):
        operation(machine, automaton("acb", [[0, 0, 0]], final=[True]))
    with pytest.raises(AlphabetMismatch, match="symbol 2 is 'c' on the left and nothing on the right"):
        operation(machine, automaton("ab", [[0, 0]], final=[True]))


def test_the_number_of_states_is_bounded():
    wheel = lambda n: automaton("a", [[(q + 1) % n] for q in range(n)], final=[q == 0 for q in range(n)])  # noqa: E731
    assert intersection(wheel(4), wheel(5)).n_states == 20
    with pytest.raises(AutomatonError, match="more than 19 states"):
        intersection(wheel(4), wheel(5), max_states=19)


def test_an_empty_alphabet():
    empty_string, nothing = automaton([], [[]], final=[True]), automaton([], [[]], final=[False])
    assert equivalent(star(nothing), empty_string)
    assert equivalent(concatenation(empty_string, empty_string), empty_string)
    assert equivalent(complement(empty_string), nothing)
    assert equivalent(union(empty_string, nothing), empty_string)
    assert is_empty(intersection(empty_string, nothing))
    assert best_string(empty_string) == best_string(empty_string, 0) == ()


def test_example_2_2_4_trigram_automaton():
    """Rush 2014: a state is the last two tags, the boundary <t> before the first; two tags make a state final."""
    tags, boundary = ("D", "N", "V"), "<t>"
    states = [(boundary, boundary), *((boundary, b) for b in tags), *sequences(tags, repeat=2)]
    number = {state: q for q, state in enumerate(states)}
    weight = {(a, b, c): float(hash_of(a, b, c)) for a, b in states for c in tags}
    trigrams = automaton(
        tags,
        [[number[b, c] for c in tags] for _, b in states],
        weights=[[weight[a, b, c] for c in tags] for a, b in states],
        final=[boundary not in state for state in states],
    )
    assert trigrams.n_states == 1 + 3 + 9
    for tagging in sequences(tags, repeat=4):
        padded = (boundary, boundary, *tagging)
        assert trigrams.score(tagging) == sum(weight[padded[t : t + 3]] for t in range(4))
    assert not trigrams.accepts(["D"])
    assert best_string(trigrams, 4) == max(sequences(tags, repeat=4), key=trigrams.score)


def hash_of(*words: str) -> int:
    return sum((i + 1) * ord(c) for i, word in enumerate(words) for c in word) * 37 % 101
