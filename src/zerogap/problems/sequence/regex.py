"""Regular expressions over label names, parsed and compiled to minimal automata (Tromble & Eisner 2006, section 2).

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
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from zerogap.errors import AlphabetMismatch, AutomatonError, InputError, RegexSyntaxError
from zerogap.problems.sequence.derivatives import Expressions, minimal_table
from zerogap.structures.automaton import Automaton, automaton, shown_alphabet

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
    """What has been read of a parenthesis: alternatives of conjuncts of factors, and an operand not yet complete. All are expressions."""

    position: int
    alternatives: list[int] = field(default_factory=list)
    conjuncts: list[int] = field(default_factory=list)
    factors: list[int] = field(default_factory=list)
    operand: int | None = None
    negations: int = 0
    waiting: Token | None = None  # the operator whose right side has not come yet


def compile_regex(pattern: str, alphabet: Sequence[Hashable], *, classes: Mapping[str, Sequence[Hashable]] | None = None) -> Automaton:
    """The minimal automaton of a regular expression over the symbols of `alphabet`.

    `classes` gives names to sets of symbols: {"AUTHOR": ("B-AUTHOR", "I-AUTHOR")}.

    >>> compile_regex("~(.* A .* A .*)", ["A", "B", "O"])
    Automaton(2 states, 3 symbols, unweighted)
    """
    if not isinstance(pattern, str):
        raise InputError(f"pattern is {pattern!r}: expected a regular expression, as a string.")
    names = name_table(alphabet, classes or {})
    tokens = list(tokenise(pattern, names, len(alphabet)))
    letter, letters = letters_of([token.symbols for token in tokens if token.kind == "symbols"], len(alphabet))
    expressions = Expressions(len(letters))
    try:
        table, accepts = minimal_table(expressions, parse(pattern, tokens, letters, expressions))
    except RegexSyntaxError:
        raise
    except AutomatonError as error:
        raise AutomatonError(f"the pattern {shortened(pattern)!r} is too large: {error}") from None
    following = np.array(table, dtype=np.int64).reshape(len(table), len(letters))
    return automaton(alphabet, following[:, letter], final=np.array(accepts, dtype=np.bool_))


def letters_of(sets: Sequence[Symbols], n_symbols: int) -> tuple[list[int], list[int]]:
    """The letter of every symbol, the same for symbols that no set tells apart, and the first symbol of every letter."""
    distinct = list(dict.fromkeys(sets))
    numbers: dict[tuple[bool, ...], int] = {}
    letter = [numbers.setdefault(tuple([symbol in members for members in distinct]), len(numbers)) for symbol in range(n_symbols)]
    return letter, [letter.index(a) for a in range(len(numbers))]


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


def parse(pattern: str, tokens: Sequence[Token], letters: Sequence[int], expressions: Expressions) -> int:
    """The expression that the tokens make up. A stack of open groups is used, so that depth costs no recursion."""
    groups = [Group(position=-1)]
    for token in tokens:
        group = groups[-1]
        if token.kind == "symbols":
            complete_operand(group, expressions)
            bits = sum(1 << letter for letter, symbol in enumerate(letters) if symbol in token.symbols)
            group.operand, group.waiting = expressions.symbols(bits), None
        elif token.kind == "repeat":
            if group.operand is None:
                raise RegexSyntaxError(f"{pattern[token.position]!r} repeats nothing", pattern, token.position)
            group.operand = expressions.repetition(group.operand, token.least, token.most)
        elif token.kind == "~":
            complete_operand(group, expressions)
            group.negations, group.waiting = group.negations + 1, token
        elif token.kind == "(":
            complete_operand(group, expressions)
            group.waiting = None
            groups.append(Group(position=token.position))
            if len(groups) > MAX_NESTING:
                raise RegexSyntaxError(f"parentheses are nested more than {MAX_NESTING:,} deep", pattern, token.position)
        elif token.kind == ")":
            if len(groups) == 1:
                raise RegexSyntaxError("this ) closes nothing", pattern, token.position)
            groups.pop()
            groups[-1].operand = close_group(pattern, group, expressions)
        else:
            complete_operand(group, expressions)
            if group.waiting is not None or not group.factors:
                raise RegexSyntaxError(f"{token.kind!r} has nothing on its left: write () for the empty string", pattern, token.position)
            close_factors(group, expressions)
            if token.kind == "|":
                close_conjuncts(group, expressions)
            group.waiting = token
    if len(groups) > 1:
        raise RegexSyntaxError("the parenthesis is not closed", pattern, groups[-1].position)
    return close_group(pattern, groups[0], expressions)


def complete_operand(group: Group, expressions: Expressions) -> None:
    """No repetition follows the operand: the ~ before it apply, and it becomes a factor."""
    if group.operand is not None:
        negated = group.negations % 2 == 1
        group.factors.append(expressions.complement(group.operand) if negated else group.operand)
        group.operand, group.negations = None, 0


def close_group(pattern: str, group: Group, expressions: Expressions) -> int:
    complete_operand(group, expressions)
    if group.waiting is not None:
        operator = group.waiting
        raise RegexSyntaxError(f"{operator.kind!r} has nothing on its right: write () for the empty string", pattern, operator.position)
    if not (group.factors or group.alternatives):
        return expressions.empty
    close_factors(group, expressions)
    close_conjuncts(group, expressions)
    return expressions.union(group.alternatives)


def close_factors(group: Group, expressions: Expressions) -> None:
    whole = expressions.empty
    for factor in reversed(group.factors):
        whole = expressions.concatenation(factor, whole)
    group.conjuncts.append(whole)
    group.factors.clear()


def close_conjuncts(group: Group, expressions: Expressions) -> None:
    group.alternatives.append(expressions.intersection(group.conjuncts))
    group.conjuncts.clear()


def shortened(pattern: str) -> str:
    return pattern if len(pattern) <= 60 else pattern[:57] + "..."
