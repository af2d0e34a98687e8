"""Patterns against sets of strings, against Python's own `re`, and against the figures of Tromble & Eisner 2006."""

import re
import subprocess
import sys
from itertools import product as sequences

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zerogap.errors import AlphabetMismatch, AutomatonError, RegexSyntaxError
from zerogap.oracles.automata.algebra import equivalent, minimise
from zerogap.problems.sequence.regex import compile_regex
from zerogap.structures.automaton import DEAD

LABELS = ("B-X", "I-X", "O")
LIMIT = 4
UNIVERSE = frozenset(s for length in range(LIMIT + 1) for s in sequences(LABELS, repeat=length))

# A pattern as a tree: ("symbols", text, set), ("repeat", tree, suffix, least, most), ("not", tree), ("then" | "and" | "or", trees)
BINDING = {"or": 0, "and": 1, "then": 2, "not": 3, "repeat": 4, "symbols": 5}

atoms = st.one_of(
    st.sampled_from(LABELS).map(lambda name: ("symbols", name, {name})),
    st.sampled_from(LABELS).map(lambda name: ("symbols", f"'{name}'", {name})),
    st.just(("symbols", ".", set(LABELS))),
    st.just(("symbols", "X", {"B-X", "I-X"})),
    st.sets(st.sampled_from(LABELS)).map(lambda names: ("symbols", f"[{' '.join(sorted(names))}]", names)),
    st.sets(st.sampled_from(LABELS)).map(lambda names: ("symbols", f"[^{' '.join(sorted(names))}]", set(LABELS) - names)),
)
repeats = st.sampled_from([("*", 0, None), ("+", 1, None), ("?", 0, 1), ("{2}", 2, 2), ("{1,}", 1, None), ("{0,2}", 0, 2), ("{0}", 0, 0)])
patterns = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.tuples(inner, repeats).map(lambda pair: ("repeat", pair[0], *pair[1])),
        inner.map(lambda tree: ("not", tree)),
        st.tuples(st.sampled_from(["then", "and", "or"]), st.lists(inner, min_size=2, max_size=3)),
    ),
    max_leaves=6,
)


def written(tree) -> str:
    """With parentheses only where binding needs them."""

    def inside(child, binding: int) -> str:
        return written(child) if BINDING[child[0]] >= binding else f"({written(child)})"

    match tree[0]:
        case "symbols":
            return tree[1]
        case "repeat":
            return inside(tree[1], BINDING["repeat"]) + tree[2]
        case "not":
            return "~" + inside(tree[1], BINDING["not"])
        case kind:
            return {"then": " ", "and": " & ", "or": "|"}[kind].join(inside(child, BINDING[kind] + 1) for child in tree[1])


def joined(left, right):
    return {a + b for a in left for b in right if len(a) + len(b) <= LIMIT}


def meaning(tree) -> set[tuple[str, ...]]:
    """The strings of at most LIMIT symbols."""
    match tree[0]:
        case "symbols":
            return {(name,) for name in tree[2]}
        case "not":
            return set(UNIVERSE) - meaning(tree[1])
        case "repeat":
            _, child, _, least, most = tree
            one, exactly, result = meaning(child), {()}, set()
            for count in range((LIMIT + least if most is None else most) + 1):
                if count >= least:
                    result |= exactly
                exactly = joined(exactly, one)
            return result
        case "then":
            result = {()}
            for child in tree[1]:
                result = joined(result, meaning(child))
            return result
        case "and":
            return set.intersection(*(meaning(child) for child in tree[1]))
        case _:
            return set.union(*(meaning(child) for child in tree[1]))


def accepted(machine) -> set[tuple[str, ...]]:
    return {s for s in UNIVERSE if machine.accepts(s)}


@given(patterns)
def test_a_pattern_means_its_set_of_strings(tree):
    machine = compile_regex(written(tree), LABELS, classes={"X": ("B-X", "I-X")})
    assert accepted(machine) == meaning(tree)
    assert machine.following.tolist() == minimise(machine).following.tolist()
    assert not machine.is_weighted


@given(st.text(alphabet="ab.|()*+?", max_size=10))
def test_agrees_with_pythons_re(text):
    pattern = " ".join(text)  # a run of letters would be one name
    try:
        theirs = re.compile(text)
    except re.error:
        return
    if re.search(r"[*+?][*+?]|\|\||^\||\|$|\(\||\|\)", text):
        return  # Python's lazy and possessive repeats, and its empty alternatives, are written differently here
    machine = compile_regex(pattern, "ab")
    for s in (s for length in range(5) for s in sequences("ab", repeat=length)):
        assert machine.accepts(s) == (theirs.fullmatch("".join(s)) is not None)


@given(patterns, patterns)
def test_de_morgan(left, right):
    a, b = written(left), written(right)
    classes = {"X": ("B-X", "I-X")}
    assert equivalent(
        compile_regex(f"~(({a}) | ({b}))", LABELS, classes=classes), compile_regex(f"~({a}) & ~({b})", LABELS, classes=classes)
    )


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("~A*", "~(A*)"),
        ("~A B", "(~A) B"),
        ("A|B&C", "A|(B&C)"),
        ("A B|C", "(A B)|C"),
        ("A&B C", "A&(B C)"),
        ("A B*", "A (B*)"),
        ("~~A", "A"),
        ("A**", "A*"),
        ("A{2}{3}", "A{6}"),
        ("A{2,3}", "A A | A A A"),
        ("A{ 2 , }", "A A A*"),
        ("A+", "A A*"),
        ("A?", "A | ()"),
        ("", "()"),
        (" \n", "( )"),
        ("[A B]", "A|B"),
        ("[^]", "."),
        ("[]*", "()"),
        ("[] A", "[]"),
        ("'A'\"B\"(C)", "A B C"),
        ("A.B", "A . B"),
        ("~[]", ".*"),
    ],
)
def test_pairs_that_mean_the_same(one, other):
    left, right = compile_regex(one, "ABC"), compile_regex(other, "ABC")
    assert left.following.tolist() == right.following.tolist()
    assert left.final.tolist() == right.final.tolist()


def test_names():
    names = ["B-PER", "PRP$", "''", ".", "it's", "a b", 'say "x"', "x\\y", "-LRB-", "<s>", "a=b", "^", ","]
    written_as = ["B-PER", "PRP$", "\"''\"", "'.'", "it's", "'a b'", r'"say \"x\""', r"'x\\y'", "-LRB-", "<s>", "a=b", "^", ","]
    for text, name in zip(written_as, names, strict=True):
        machine = compile_regex(text, names)
        assert [n for n in names if machine.accepts([n])] == [name]


def test_symbols_that_are_not_strings_go_by_what_they_print_as():
    assert compile_regex("0 1*", [0, 1]).accepts([0, 1, 1])
    both = compile_regex("1", [1, "1"])
    assert (both.accepts([1]), both.accepts(["1"])) == (False, True)


def test_classes_may_stand_in_brackets():
    machine = compile_regex("[X O]", (*LABELS, "B-Y"), classes={"X": ("B-X", "I-X")})
    assert [name for name in machine.alphabet if machine.accepts([name])] == list(LABELS)


@pytest.mark.parametrize(
    ("pattern", "position", "message"),
    [
        ("A (B", 2, "parenthesis is not closed"),
        ("A )", 2, "closes nothing"),
        ("A |", 2, "'|' has nothing on its right"),
        ("| A", 0, "'|' has nothing on its left"),
        ("A || B", 3, "'|' has nothing on its left"),
        ("(A &)", 3, "'&' has nothing on its right"),
        ("A ~", 2, "'~' has nothing on its right"),
        ("~ | A", 2, "'|' has nothing on its left"),
        ("* A", 0, "'*' repeats nothing"),
        ("A (+)", 3, "'+' repeats nothing"),
        ("A {3,1}", 2, "at least 3 and at most 1"),
        ("A{x}", 1, "expected {m}"),
        ("A{2 3}", 1, "expected {m}"),
        ("A{9999999999999}", 1, "more than 100,000 repetitions"),
        ("A }", 2, "opens nothing"),
        ("A ]", 2, "opens nothing"),
        ("A [A B", 2, "class is not closed"),
        ("[A (B)]", 3, "opens nothing"),
        ("A 'B", 2, "quote ' is not closed"),
        ("A B-PRE", 2, "Did you mean 'B-PER'?"),
        ("[A B-PRE]", 3, "Did you mean 'B-PER'?"),
        ("AB", 0, "neither a symbol nor a class"),
        ("(" * 10_000 + "A" + ")" * 10_000, 999, "nested more than 1,000 deep"),
    ],
)
def test_a_syntax_error_says_where(pattern, position, message):
    with pytest.raises(RegexSyntaxError, match=re.escape(message)) as caught:
        compile_regex(pattern, ("A", "B", "B-PER"))
    assert caught.value.position == position


def test_depth_costs_no_recursion():
    assert equivalent(compile_regex("(" * 900 + "A" + ")" * 900, "AB"), compile_regex("A", "AB"))
    assert equivalent(compile_regex("~" * 3_000 + "A" + "*" * 500, "AB"), compile_regex("A*", "AB"))


def test_nested_repeats_are_quick_and_huge_ones_refused():
    machine = compile_regex("(A{50}){50}", "AB")
    assert machine.n_states == 2_501
    assert machine.accepts("A" * 2_500)
    with pytest.raises(AutomatonError, match=r"pattern '\.\* A \.\{20\}' is too large: .*more than 100,000 states"):
        compile_regex(".* A .{20}", "AB")


def test_classes_are_checked():
    with pytest.raises(AlphabetMismatch, match=r"classes\['X'\] holds 'B-Z'"):
        compile_regex("X", LABELS, classes={"X": ("B-Z",)})
    with pytest.raises(AutomatonError, match="classes names 'O', which is a symbol"):
        compile_regex("X", LABELS, classes={"O": ("B-X",)})
    with pytest.raises(AutomatonError, match="alphabet holds 'A' twice"):
        compile_regex("A", ("A", "A"))


def test_an_empty_alphabet():
    assert compile_regex(".*", ()).accepts(())
    assert not compile_regex(".", ()).accepts(())


# The figures of Tromble & Eisner 2006, over a few of their labels.
ARGUMENTS = ("A0", "A1", "A4", "A5", "O")


def test_figure_1_at_least_one_argument():
    machine = compile_regex("~(O*)", ARGUMENTS)
    assert machine.following.tolist() == [[1, 1, 1, 1, 0], [1, 1, 1, 1, 1]]
    assert (machine.final == 0).tolist() == [False, True]


def test_section_2_x_before_y():
    machine = compile_regex(".* A0 .* A1 .*", ARGUMENTS)
    assert machine.n_states == 3
    for s in (s for length in range(5) for s in sequences(ARGUMENTS, repeat=length)):
        assert machine.accepts(s) == any(a == "A0" and "A1" in s[i + 1 :] for i, a in enumerate(s))


def test_figure_4a_no_duplicate_a0():
    machine = compile_regex("[^A0]* A0* [^A0]*", ARGUMENTS)
    assert machine.following.tolist() == [[1, 0, 0, 0, 0], [1, 2, 2, 2, 2], [DEAD, 2, 2, 2, 2]]
    assert (machine.final == 0).all()


def test_figure_4b_known_verb_position():
    machine = compile_regex(". . O .*", ARGUMENTS)
    assert machine.n_states == 4
    for s in sequences(ARGUMENTS, repeat=4):
        assert machine.accepts(s) == (s[2] == "O")


def test_figure_4c_disallow_arguments():
    machine = compile_regex("[^A4 A5]*", ARGUMENTS)
    assert machine.following.tolist() == [[0, 0, DEAD, DEAD, 0]]


def test_figure_5_argument_candidates():
    """Every given span has one label throughout; here [1, 3) and [3, 5) of six heads."""
    span = "|".join(f"{name}{{2}}" for name in ARGUMENTS)
    machine = compile_regex(f". ({span}){{2}} .", ARGUMENTS)
    for s in sequences(("A0", "A1", "O"), repeat=6):
        assert machine.accepts(s) == (s[1] == s[2] and s[3] == s[4])


def test_no_compiler_is_loaded():
    """Problems with patterns are part of what a checker believes."""
    code = (
        "import sys; from zerogap.problems.sequence.problem import Problem; from zerogap.problems.sequence.constraints import regex\n"
        "Problem([[0.0, 1.0]], labels=['A', 'B'], constraints=[regex('A* B')]).check(('B',)); print('numba' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "False"
