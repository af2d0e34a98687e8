"""Automata by derivatives against the algebra of automata: the same tables, for every expression."""

import time
from itertools import product as sequences

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zerogap.errors import AutomatonError
from zerogap.oracles.automata.algebra import complement, concatenation, intersection, minimise, star, union
from zerogap.problems.sequence import derivatives
from zerogap.problems.sequence.derivatives import Expressions, equivalent_states, minimal_table
from zerogap.problems.sequence.regex import compile_regex
from zerogap.structures.automaton import automaton

LETTERS = "abc"
EMPTY = automaton(LETTERS, [[-1, -1, -1]], final=[True])

# An expression as a tree: ("symbols", bits), ("not", tree), ("repeat", tree, least, most), ("or" | "and" | "then", trees)
ranges = st.sampled_from([(0, None), (1, None), (0, 1), (2, 2), (0, 0), (1, 3), (2, None), (0, 4), (3, 5)])
trees = st.recursive(
    st.integers(0, 7).map(lambda bits: ("symbols", bits)),
    lambda inner: st.one_of(
        st.tuples(inner, ranges).map(lambda pair: ("repeat", pair[0], *pair[1])),
        inner.map(lambda tree: ("not", tree)),
        st.tuples(st.sampled_from(["then", "and", "or"]), st.lists(inner, min_size=1, max_size=3)),
    ),
    max_leaves=8,
)


def built(expressions, tree):
    match tree:
        case ("symbols", bits):
            return expressions.symbols(bits)
        case ("not", child):
            return expressions.complement(built(expressions, child))
        case ("repeat", child, least, most):
            return expressions.repetition(built(expressions, child), least, most)
        case ("then", children):
            whole = expressions.empty
            for child in children:
                whole = expressions.concatenation(whole, built(expressions, child))
            return whole
        case (kind, children):
            return {"or": expressions.union, "and": expressions.intersection}[kind]([built(expressions, child) for child in children])


def by_algebra(tree):
    """The minimal automaton, by operations on minimal automata."""
    match tree:
        case ("symbols", bits):
            row = [1 if bits >> letter & 1 else -1 for letter in range(3)]
            return minimise(automaton(LETTERS, [row, [-1, -1, -1]], final=[False, True]))
        case ("not", child):
            return minimise(complement(by_algebra(child)))
        case ("repeat", child, least, most):
            one, whole = by_algebra(child), EMPTY
            for _ in range(least):
                whole = minimise(concatenation(whole, one))
            if most is None:
                return minimise(concatenation(whole, star(one)))
            for _ in range(most - least):
                whole = minimise(concatenation(whole, union(one, EMPTY)))
            return whole
        case (kind, children):
            operation = {"or": union, "and": intersection, "then": concatenation}[kind]
            machines = [by_algebra(child) for child in children]
            whole = machines[0]
            for machine in machines[1:]:
                whole = minimise(operation(whole, machine))
            return whole


@given(trees)
@settings(max_examples=300)
def test_the_same_table_as_by_the_algebra(tree):
    expressions = Expressions(3)
    rows, accepts = minimal_table(expressions, built(expressions, tree))
    wanted = by_algebra(tree)
    assert rows == wanted.following.tolist()
    assert accepts == (wanted.final == 0.0).tolist()


tables = st.integers(1, 7).flatmap(
    lambda n: st.tuples(
        st.lists(st.lists(st.integers(-1, n - 1), min_size=2, max_size=2), min_size=n, max_size=n),
        st.lists(st.booleans(), min_size=n, max_size=n),
    )
)


@given(tables)
@settings(max_examples=300)
def test_blocks_are_the_states_that_accept_the_same_strings(table):
    rows, accepts = table
    strings = [s for length in range(2 * len(rows)) for s in sequences(range(2), repeat=length)] if len(rows) < 5 else None
    block = equivalent_states(rows, accepts)

    def language(state):
        if strings is None:  # Moore's partition, after as many rounds as there are states
            return signature[state]
        found = []
        for string in strings:
            at = state
            for letter in string:
                at = rows[at][letter] if at >= 0 else -1
            found.append(at >= 0 and accepts[at])
        return tuple(found)

    signature = [*map(int, accepts), 0]
    for _ in range(len(rows) + 1):
        keys = [(signature[q], *[signature[after] for after in row]) for q, row in enumerate([*rows, [-1, -1]])]
        signature = [sorted(set(keys)).index(key) for key in keys]
    states = [*range(len(rows)), -1]
    for one in states:
        for other in states:
            assert (block[one] == block[other]) == (language(one) == language(other))


@pytest.mark.parametrize(
    ("pattern", "n_states"),
    [
        ("A{0,50}", 51),
        ("(A | A A){0,50}", 101),
        ("(A? B? C?){0,50}", 151),
        ("(.* A){0,50}", 2),
        ("(A{2,3} | B){0,50}", 249),
        ("A{0,5000} B*", 5_001),
        ("(A | A A){0,3000}", 6_001),
        ("(A{0,50}){0,50}", 2_501),
        ("(A | .{3}){0,8}", 66),
    ],
)
def test_large_counts_are_quick(pattern, n_states):
    begin = time.perf_counter()
    assert compile_regex(pattern, "ABC").n_states == n_states
    assert time.perf_counter() - begin < 5.0  # they take a few hundredths of a second


def test_limits_are_named(monkeypatch):
    monkeypatch.setattr(derivatives, "MAX_STATES", 50)
    with pytest.raises(AutomatonError, match=r"'A\{50\}' is too large: the automaton has more than 50 states"):
        compile_regex("A{50}", "AB")
    assert compile_regex("A{49}", "AB").n_states == 50
    monkeypatch.setattr(derivatives, "MAX_OPERANDS", 100)
    with pytest.raises(AutomatonError, match="more than 100 operands"):
        compile_regex("(A | B A){20}", "AB")
