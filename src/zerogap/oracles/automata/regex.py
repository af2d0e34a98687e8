"""Regular expressions over label names, compiled to minimal automata (Tromble & Eisner 2006, section 2).

    A  B-PER  'any text'    a symbol by name, or a class of symbols by its name
    .  [A B]  [^A B]        any symbol; one of these; any but these. [] matches nothing
    A B                     one after the other; () is the empty string, and so is the empty pattern
    A*  A+  A?  A{2}  A{2,}  A{2,5}
    ~A                      every string but those of A; ~A* is ~(A*)
    A & B,  A | B           both; either

Binding from tight to loose: repetition, ~, concatenation, &, |. A name is a run of characters that are neither white
space nor one of . [ ] ( ) { } | & ~ * + ? ", and it does not begin with a quote; anything else is quoted.

Symbols that the pattern does not tell apart are one letter until the end, so the size of the alphabet hardly matters.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zerogap.errors import AlphabetMismatch, AutomatonError, RegexSyntaxError
from zerogap.oracles.automata.algebra import complement, concatenation, distinct_columns, intersection, minimise, spread, star, union
from zerogap.structures.automaton import Automaton, automaton, shown_alphabet

MAX_STATES = 100_000  # of any intermediate result
MAX_REPEATS = 100_000
MAX_NESTING = 1_000

SPACE = re.compile(r"\s+")
NAME = re.compile(r"""[^\s.\[\](){}|&~*+?"']([^\s.\[\](){}|&~*+?"])*""")
QUOTED = re.compile(r"""'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)\"""", re.DOTALL)
BRACES = re.compile(r"\{\s*([0-9]+)\s*(,?)\s*([0-9]*)\s*\}")

Symbols = frozenset[int]


@dataclass(frozen=True, slots=True)
class Token:
    """An operator, a set of symbols (kind "symbols") or a repetition (kind "repeat") and where it stands."""

    kind: str
    position: int
    symbols: Symbols = frozenset()
    least: int = 0
    most: int | None = None


@dataclass(slots=True)
class Group:
    """What has been read of a parenthesis: alternatives of conjuncts of factors, and an operand not yet complete."""

    position: int
    alternatives: list[Automaton] = field(default_factory=list)
    conjuncts: list[Automaton] = field(default_factory=list)
    factors: list[Automaton] = field(default_factory=list)
    operand: Automaton | None = None
    negations: int = 0
    waiting: Token | None = None  # the operator whose right side has not come yet


def compile_regex(pattern: str, alphabet: Sequence[Hashable], *, classes: Mapping[str, Sequence[Hashable]] | None = None) -> Automaton:
    """The minimal automaton of a regular expression over the symbols of `alphabet`.

    `classes` gives names to sets of symbols: {"AUTHOR": ("B-AUTHOR", "I-AUTHOR")}.

    >>> compile_regex("~(.* A .* A .*)", ["A", "B", "O"])
    Automaton(2 states, 3 symbols, unweighted)
    """
    names = name_table(alphabet, classes or {})
    tokens = list(tokenise(pattern, names, len(alphabet)))
    sets = list({token.symbols for token in tokens if token.kind == "symbols"})
    membership = np.array([[a in symbols for a in range(len(alphabet))] for symbols in sets], dtype=np.bool_)
    letter, first = distinct_columns(membership.reshape(len(sets), len(alphabet)))
    try:
        small = evaluate(pattern, tokens, tuple(range(len(first))), first)
    except RegexSyntaxError:
        raise
    except AutomatonError as error:
        raise AutomatonError(f"the pattern {shortened(pattern)!r} is too large: {error}") from None
    return automaton(alphabet, spread(small.following, letter), final=small.final > -np.inf, start=small.start)


def name_table(alphabet: Sequence[Hashable], classes: Mapping[str, Sequence[Hashable]]) -> dict[str, Symbols]:
    """What every name stands for. Symbols that are not strings go by what they print as."""
    numbers = {symbol: i for i, symbol in enumerate(alphabet)}
    names = {str(symbol): frozenset([i]) for symbol, i in numbers.items()}
    names |= {symbol: frozenset([i]) for symbol, i in numbers.items() if isinstance(symbol, str)}
    for name, members in classes.items():
        if name in names:
            raise AutomatonError(f"classes names {name!r}, which is a symbol: expected another name.")
        for member in members:
            if member not in numbers:
                raise AlphabetMismatch(f"classes[{name!r}] holds {member!r}: expected one of {shown_alphabet(alphabet)}.")
    return names | {name: frozenset(numbers[member] for member in members) for name, members in classes.items()}


def tokenise(pattern: str, names: Mapping[str, Symbols], n_symbols: int) -> Iterator[Token]:
    position = 0
    while position < len(pattern):
        if space := SPACE.match(pattern, position):
            position = space.end()
        elif pattern[position] == "[":
            symbols, end = read_class(pattern, position, names, n_symbols)
            yield Token("symbols", position, symbols)
            position = end
        elif pattern[position] == ".":
            yield Token("symbols", position, frozenset(range(n_symbols)))
            position += 1
        elif pattern[position] == "{":
            token, end = read_braces(pattern, position)
            yield token
            position = end
        elif pattern[position] in "*+?":
            least, most = {"*": (0, None), "+": (1, None), "?": (0, 1)}[pattern[position]]
            yield Token("repeat", position, least=least, most=most)
            position += 1
        elif pattern[position] in "()|&~":
            yield Token(pattern[position], position)
            position += 1
        else:
            symbols, end = read_name(pattern, position, names)
            yield Token("symbols", position, symbols)
            position = end


def read_name(pattern: str, position: int, names: Mapping[str, Symbols]) -> tuple[Symbols, int]:
    """The symbols of the name at `position`, and where it ends."""
    if pattern[position] in "'\"":
        match = QUOTED.match(pattern, position)
        if match is None:
            raise RegexSyntaxError(f"the quote {pattern[position]} is not closed", pattern, position)
        name = re.sub(r"\\(.)", r"\1", match[1] if match[1] is not None else match[2], flags=re.DOTALL)
    else:
        match = NAME.match(pattern, position)
        if match is None:
            raise RegexSyntaxError(f"{pattern[position]!r} opens nothing here: expected a name, or quotes around it", pattern, position)
        name = match[0]
    if name not in names:
        close = difflib.get_close_matches(name, names, n=1)
        hint = f" Did you mean {close[0]!r}?" if close else f" Known: {shown_alphabet(list(names))}."
        raise RegexSyntaxError(f"{name!r} is neither a symbol nor a class.{hint}", pattern, position)
    return names[name], match.end()


def read_class(pattern: str, start: int, names: Mapping[str, Symbols], n_symbols: int) -> tuple[Symbols, int]:
    """The symbols of [A B] or [^A B], and where it ends. A ^ negates only right after the bracket."""
    negated = pattern.startswith("^", start + 1)
    position, members = start + 1 + negated, set[int]()
    while True:
        if space := SPACE.match(pattern, position):
            position = space.end()
        if position == len(pattern):
            raise RegexSyntaxError("the class is not closed: expected ]", pattern, start)
        if pattern[position] == "]":
            return frozenset(range(n_symbols)) - members if negated else frozenset(members), position + 1
        symbols, position = read_name(pattern, position, names)
        members |= symbols


def read_braces(pattern: str, position: int) -> tuple[Token, int]:
    """{m}, {m,} or {m,n}, and where it ends."""
    match = BRACES.match(pattern, position)
    if match is None or (match[3] and not match[2]):
        raise RegexSyntaxError("expected {m}, {m,} or {m,n} with m and n in digits", pattern, position)
    if max(len(match[1]), len(match[3])) > 9 or max(int(match[1]), int(match[3] or 0)) > MAX_REPEATS:
        raise RegexSyntaxError(f"more than {MAX_REPEATS:,} repetitions", pattern, position)
    least = int(match[1])
    most = int(match[3]) if match[3] else (None if match[2] else least)
    if most is not None and most < least:
        raise RegexSyntaxError(f"at least {least} and at most {most} repetitions: expected the smaller number first", pattern, position)
    return Token("repeat", position, least=least, most=most), match.end()


def evaluate(pattern: str, tokens: Sequence[Token], letters: tuple[int, ...], first: NDArray[np.int64]) -> Automaton:
    """Parses with a stack of open groups, so that depth costs no recursion, and combines minimal automata as it goes."""
    groups = [Group(position=-1)]
    for token in tokens:
        group = groups[-1]
        if token.kind == "symbols":
            complete_operand(group)
            group.operand, group.waiting = one_symbol(letters, [int(a) in token.symbols for a in first]), None
        elif token.kind == "repeat":
            if group.operand is None:
                raise RegexSyntaxError(f"{pattern[token.position]!r} repeats nothing", pattern, token.position)
            group.operand = repeat(group.operand, token.least, token.most)
        elif token.kind == "~":
            complete_operand(group)
            group.negations, group.waiting = group.negations + 1, token
        elif token.kind == "(":
            complete_operand(group)
            group.waiting = None
            groups.append(Group(position=token.position))
            if len(groups) > MAX_NESTING:
                raise RegexSyntaxError(f"parentheses are nested more than {MAX_NESTING:,} deep", pattern, token.position)
        elif token.kind == ")":
            if len(groups) == 1:
                raise RegexSyntaxError("this ) closes nothing", pattern, token.position)
            groups.pop()
            groups[-1].operand = close_group(pattern, group, letters)
        else:
            complete_operand(group)
            if group.waiting is not None or not group.factors:
                raise RegexSyntaxError(f"{token.kind!r} has nothing on its left: write () for the empty string", pattern, token.position)
            close_factors(group)
            if token.kind == "|":
                close_conjuncts(group)
            group.waiting = token
    if len(groups) > 1:
        raise RegexSyntaxError("the parenthesis is not closed", pattern, groups[-1].position)
    return close_group(pattern, groups[0], letters)


def complete_operand(group: Group) -> None:
    """No repetition follows the operand: what stands before it applies, and it becomes a factor."""
    if group.operand is not None:
        negated = group.negations % 2 == 1
        group.factors.append(minimise(complement(group.operand)) if negated else group.operand)
        group.operand, group.negations = None, 0


def close_group(pattern: str, group: Group, letters: tuple[int, ...]) -> Automaton:
    complete_operand(group)
    if group.waiting is not None:
        operator = group.waiting
        raise RegexSyntaxError(f"{operator.kind!r} has nothing on its right: write () for the empty string", pattern, operator.position)
    if not (group.factors or group.alternatives):
        return empty_string(letters)
    close_factors(group)
    close_conjuncts(group)
    return fold(union, group.alternatives)


def close_factors(group: Group) -> None:
    group.conjuncts.append(fold(concatenation, group.factors))
    group.factors.clear()


def close_conjuncts(group: Group) -> None:
    group.alternatives.append(fold(intersection, group.conjuncts))
    group.conjuncts.clear()


def fold(operation: Callable[..., Automaton], operands: Sequence[Automaton]) -> Automaton:
    """Combines neighbours in rounds rather than from the left: every state is rebuilt log n times, not n."""
    results = list(operands)
    while len(results) > 1:
        pairs = [minimise(operation(a, b, max_states=MAX_STATES)) for a, b in zip(results[::2], results[1::2], strict=False)]
        results = pairs + results[2 * len(pairs) :]
    return results[0]


def repeat(operand: Automaton, least: int, most: int | None) -> Automaton:
    """A{m,} = A^m A*;  A{m,n} = A^m (A | ())^(n-m)."""
    factors = power(operand, least)
    if most is None:
        factors.append(minimise(star(operand, max_states=MAX_STATES)))
    elif most > least:
        factors += power(minimise(union(operand, empty_string(operand.alphabet), max_states=MAX_STATES)), most - least)
    return fold(concatenation, factors) if factors else empty_string(operand.alphabet)


def power(operand: Automaton, exponent: int) -> list[Automaton]:
    """Factors whose concatenation is the power: the squares of squares that the exponent's binary digits name."""
    factors = []
    while exponent:
        if exponent % 2 == 1:
            factors.append(operand)
        exponent //= 2
        if exponent:
            operand = minimise(concatenation(operand, operand, max_states=MAX_STATES))
    return factors


def empty_string(letters: tuple[Any, ...]) -> Automaton:
    return automaton(letters, np.full((1, len(letters)), -1), final=[True])


def one_symbol(letters: tuple[int, ...], matches: Sequence[bool]) -> Automaton:
    if not any(matches):
        return automaton(letters, np.full((1, len(letters)), -1), final=[False])
    return automaton(letters, [[1 if match else -1 for match in matches], [-1] * len(letters)], final=[False, True])


def shortened(pattern: str) -> str:
    return pattern if len(pattern) <= 60 else pattern[:57] + "..."
