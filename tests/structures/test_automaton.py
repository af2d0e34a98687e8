"""The automaton record: what it accepts, what it refuses, what a string weighs."""

import numpy as np
import pytest

from zerogap.errors import AlphabetMismatch, AutomatonError, ScoreError, ScoreShapeError
from zerogap.structures.automaton import DEAD, automaton, shown_alphabet


def test_the_weight_of_a_string_is_the_sum_along_its_path_and_the_final_weight():
    machine = automaton("ab", [[0, 1], [-1, 0]], weights=[[1, 2], [9, 4]], final=[-np.inf, 10.0])
    assert machine.score("b") == 12.0
    assert machine.score("aabbb") == 1 + 1 + 2 + 4 + 2 + 10
    assert machine.score("") == machine.score("ba") == -np.inf
    assert machine.accepts("b")
    assert not machine.accepts("bb")
    assert machine.is_weighted


def test_booleans_say_who_accepts():
    machine = automaton(["A", "B"], [[1, -1], [-1, -1]], final=[False, True])
    assert not machine.is_weighted
    assert machine.accepts(["A"])
    assert repr(machine) == "Automaton(2 states, 2 symbols, unweighted)"


def test_a_transition_of_weight_minus_infinity_is_none():
    machine = automaton("a", [[0]], weights=[[-np.inf]], final=[True])
    assert machine.following.tolist() == [[DEAD]]
    assert machine.weights.tolist() == [[0.0]]


def test_weights_where_there_is_no_transition_are_zero():
    assert automaton("a", [[-1]], weights=[[7.0]], final=[True]).weights.tolist() == [[0.0]]


def test_an_empty_alphabet_leaves_the_empty_string():
    machine = automaton([], [[]], final=[True])
    assert machine.accepts([])
    assert machine.following.shape == (1, 0)


def test_tables_cannot_be_changed():
    machine = automaton("a", [[0]], final=[True])
    with pytest.raises(ValueError, match="read-only"):
        machine.following[0, 0] = 0


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"alphabet": "aba", "following": [[0, 0, 0]], "final": [True]}, AutomatonError, "holds 'a' twice"),
        ({"alphabet": "ab", "following": [[0]], "final": [True]}, AutomatonError, r"shape \(1, 1\)"),
        ({"alphabet": "a", "following": [[0.5]], "final": [True]}, AutomatonError, "float64"),
        ({"alphabet": "a", "following": [[0], [2]], "final": [True, True]}, AutomatonError, r"following\[1, 0\] is 2"),
        ({"alphabet": "a", "following": [[-2]], "final": [True]}, AutomatonError, r"following\[0, 0\] is -2"),
        ({"alphabet": "a", "following": [[0]], "final": [True], "start": 1}, AutomatonError, "start is 1"),
        ({"alphabet": "a", "following": [[0]], "final": [True, False]}, ScoreShapeError, "final has shape"),
        ({"alphabet": "a", "following": [[0]], "final": [np.nan]}, ScoreError, r"final\[0\] is nan"),
        ({"alphabet": "a", "following": [[0]], "final": [True], "weights": [[np.inf]]}, ScoreError, r"weights\[0, 0\] is inf"),
    ],
)
def test_what_is_refused(arguments, error, message):
    arguments = dict(arguments)
    with pytest.raises(error, match=message):
        automaton(arguments.pop("alphabet"), arguments.pop("following"), **arguments)


def test_an_unknown_symbol_is_named_with_its_position():
    with pytest.raises(AlphabetMismatch, match=r"symbols\[1\] is 'c': expected one of a, b"):
        automaton("ab", [[0, 0]], final=[True]).score("ac")


def test_long_alphabets_are_shown_shortened():
    assert shown_alphabet(range(20)).endswith("9, ... (20 symbols)")
