"""OpenFst text in and out."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zerogap.errors import AlphabetMismatch, AutomatonError, FormatError
from zerogap.io.formats.openfst import read_openfst, write_openfst, write_symbols
from zerogap.structures.automaton import DEAD, Automaton, automaton

scores = st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def automata(draw):
    symbols = draw(st.sampled_from([("A", "B-X"), ("1", "0"), ("nan", "2.5"), ("x",)]))
    n = draw(st.integers(1, 4))
    fill = lambda entries, *shape: np.array(draw(st.lists(entries, min_size=math.prod(shape), max_size=math.prod(shape)))).reshape(shape)  # noqa: E731
    return automaton(
        symbols,
        fill(st.integers(DEAD, n - 1), n, len(symbols)),
        weights=fill(st.one_of(st.just(0.0), scores), n, len(symbols)),
        final=fill(st.one_of(st.just(-math.inf), st.just(0.0), scores), n),
        start=draw(st.integers(0, n - 1)),
    )


def reachable_tables(machine: Automaton) -> list[tuple]:
    """Rows of the states that can be reached, numbered in the order in which they are met."""
    order, rows = [machine.start], []
    for state in order:  # grows while it is read
        order += [r for r in dict.fromkeys(machine.following[state].tolist()) if r != DEAD and r not in order]
        following = [None if r == DEAD else order.index(r) for r in machine.following[state].tolist()]
        rows.append((following, machine.weights[state].tolist(), machine.final[state]))
    return rows


@given(automata())
def test_what_is_written_reads_back_exactly(machine):
    again = read_openfst(write_openfst(machine).splitlines(), symbols=write_symbols(machine).splitlines())
    assert again.alphabet == machine.alphabet
    assert reachable_tables(again) == reachable_tables(machine)


@given(automata())
def test_the_alphabet_may_be_given_as_names(machine):
    again = read_openfst(write_openfst(machine).splitlines(), symbols=machine.alphabet)
    assert reachable_tables(again) == reachable_tables(machine)


def test_labels_that_look_like_costs():
    machine = automaton(["2.5"], [[0]], weights=[[-2.5]], final=[True])
    assert write_openfst(machine) == "0 0 2.5 2.5 2.5\n0\n"
    assert read_openfst(write_openfst(machine).splitlines()).score(["2.5"]) == -2.5


def test_files(tmp_path):
    machine = automaton(["A", "B"], [[1, 0], [1, -1]], weights=[[0.1, 0], [-2, 0]], final=[-np.inf, 0.5])
    text = write_openfst(machine, tmp_path / "a.txt")
    write_symbols(machine, tmp_path / "a.syms")
    assert text == "0 1 A -0.1\n0 0 B\n1 1 A 2.0\n1 -0.5\n"
    again = read_openfst(tmp_path / "a.txt", symbols=tmp_path / "a.syms")
    assert (again.following == machine.following).all()
    assert (again.weights == machine.weights).all()
    assert (again.final == machine.final).all()


def test_costs_become_scores_and_the_first_state_is_the_start():
    machine = read_openfst(["7 3 A 1.5", "3 7 B", "", "3 -2", "7 Infinity"])
    assert machine.alphabet == ("A", "B")
    assert machine.start == 0
    assert machine.score(["A"]) == 0.5
    assert machine.score(["A", "B", "A"]) == -1.0
    assert not machine.accepts([])


def test_two_equal_labels_are_one():
    weighted = read_openfst(["0 1 A A 2", "1 0 B B", "1"])
    assert (weighted.score(["A"]), weighted.score(["A", "B", "A"])) == (-2.0, -4.0)
    numbers = read_openfst(["0 1 3 3", "1 0 4 4", "1"])
    assert numbers.alphabet == ("3", "4")
    assert not numbers.is_weighted


def test_a_number_may_be_an_id():
    table = ["<eps> 0", "B 7", "A 2"]
    machine = read_openfst(["0 0 2 1.0", "0 0 B 3.0", "0"], symbols=table)
    assert machine.alphabet == ("A", "B")
    assert machine.score(["A", "B"]) == -4.0


def test_infinite_costs_are_absent_transitions():
    machine = read_openfst(["0 0 A Infinity", "0 0 B", "0"])
    assert machine.following.tolist() == [[DEAD, 0]]


def test_the_empty_language():
    nothing = automaton(["A"], [[-1], [0]], final=[False, True])
    assert write_openfst(nothing) == ""
    assert read_openfst([], symbols=["A"]).following.tolist() == [[DEAD]]
    assert read_openfst([]).n_states == 1


@pytest.mark.parametrize(
    ("lines", "symbols", "error", "message"),
    [
        (["0 1 A", "0 0 A"], None, AutomatonError, "line 2: state 0 has a transition on 'A' already in line 1"),
        (["0 1 <eps>"], None, FormatError, "line 1: label '<eps>' is epsilon"),
        (["0 1 A", "1 1 0"], ["A 1"], FormatError, "line 2: label '0' is epsilon"),
        (["0 1 -"], ["- 0", "A 1"], FormatError, "line 1: label '-' is epsilon"),
        (["0 1 B"], ["A 1"], AlphabetMismatch, "line 1: label 'B' is not in symbols: expected one of A"),
        (["0 1 A B 1.0"], None, FormatError, "line 1: input 'A' and output 'B' differ"),
        (["0 1 A B"], None, FormatError, "line 1: 'B' is not a cost"),
        (["0 1 A -Infinity"], None, FormatError, "line 1: '-Infinity' is not a cost"),
        (["0 1 A 1_0"], None, FormatError, "line 1: '1_0' is not a cost"),
        (["0 1 A A 1.0", "1 1 B"], None, FormatError, "line 2: 3 fields"),
        (["0 1 A B C D"], None, FormatError, "line 1: 6 fields"),
        (["0 x A"], None, FormatError, "line 1: 'x' is not a state"),
        (["-1"], None, FormatError, "line 1: '-1' is not a state"),
        (["0", "0 2"], None, FormatError, "line 2: state 0 is final already in line 1"),
        (["0"], ["A 1", "B 1"], FormatError, "symbols, line 2"),
        (["0"], ["A 1", "B x"], FormatError, "symbols, line 2: 'B x' is not a name and an id"),
    ],
)
def test_what_is_refused(lines, symbols, error, message):
    with pytest.raises(error, match=message):
        read_openfst(lines, symbols=symbols)


@pytest.mark.parametrize("symbol", ["a b", "", "<eps>"])
def test_names_that_openfst_cannot_hold(symbol):
    machine = automaton([symbol], [[0]], final=[True])
    with pytest.raises(AutomatonError, match="OpenFst names"):
        write_openfst(machine)


def test_symbols_that_print_alike():
    with pytest.raises(AutomatonError, match="expected distinct names"):
        write_openfst(automaton([1, "1"], [[0, 0]], final=[True]))
