"""Weighted context-free grammars as text: a rule per line, its words in quotes.

    %start S
    S  -> NP VP [0.9] | VP [0.1]
    NP -> DT NN [1]
    NN -> "dog" [0.5] | 'cat' [0.5]

A number is a probability, or any weight of zero or more; after the line `%scores log` it is a logarithm. Without a number it is 1. The
start is the parent of the first rule unless `%start` names it. `%symbols` names symbols that may have no rule, such as tags whose words
something else scores. Lines that begin with # are comments. A symbol that begins with a quote or one of # % [ { | stands in braces: {''}.
Rules with more than two symbols on the right get symbols of their own between.
"""

from __future__ import annotations

import json
import math
import os
import re
import warnings
from collections.abc import Iterable, Iterator

from zerogap.errors import FormatError, GrammarError
from zerogap.io.formats.lines import read_lines, shown, writing
from zerogap.structures.grammar import Grammar, from_tables

TOKEN = re.compile(r"""\s*(?:(\{(?:[^}\\\s]|\\.)+\})|("(?:[^"\\]|\\.)*")|'([^']*)'|(\[[^\]]*\])|([^\s"'\[{]\S*))""")
PLAIN = re.compile(r"""[^\s"'\[{|#%]\S*""")
ARROW, OR = "->", "|"
CLOSE_TO_ONE = 1e-6
BYTE_ORDER_MARK = "\ufeff"

Rule = tuple[str, tuple[str, ...], bool, float, int]  # parent, right-hand side, whether that is a word, score, line


def read_grammar(path: str | os.PathLike[str], *, cycles: bool = True) -> Grammar:
    """A grammar from a file. GrammarError for unary rules in a positive cycle, or in any cycle with `cycles=False`.

    Probabilities that do not sum to one are taken as weights, with one warning.
    """
    return grammar_from_lines(read_lines(path), shown(path), cycles=cycles)


def grammar_from_text(text: str, *, cycles: bool = True) -> Grammar:
    """A grammar from text.

    >>> grammar_from_text("S -> A A [0.5] | 'b' [0.5] \\n A -> 'a'")
    Grammar(2 symbols, 1 binary, 0 unary rules, 2 words, root 'S')
    """
    return grammar_from_lines(enumerate(text.splitlines(), start=1), "the text", cycles=cycles)


def grammar_from_lines(lines: Iterable[tuple[int, str]], name: str, *, cycles: bool) -> Grammar:
    start, logarithms, symbols, rules = "", False, list[str](), list[Rule]()
    for number, line in lines:
        where, text = f"{name}, line {number}", line.removeprefix(BYTE_ORDER_MARK).strip()
        if not text or text.startswith("#"):
            continue
        if not text.startswith("%"):
            rules.extend(rules_of(text, where, number, logarithms))
            continue
        directive, *values = text.split()
        if directive == "%start" and len(values) == 1:
            start = symbol_in(values[0], where)
        elif directive == "%symbols":
            symbols.extend(symbol_in(value, where) for value in values)
        elif directive == "%scores" and values in (["log"], ["probability"]):
            if rules:
                raise FormatError(f"{where}: {text!r} comes after rules: expected it before the first.")
            logarithms = values == ["log"]
        else:
            expected = "%start SYMBOL, %symbols SYMBOL ..., %scores log or %scores probability"
            raise FormatError(f"{where}: {text[:60]!r} is not known: expected {expected}.")
    if not rules:
        raise FormatError(f"{name} has no rules: expected lines such as S -> NP VP [0.9].")
    if not logarithms:
        warn_unless_one(rules, name)
    return grammar_of(rules, symbols, start or rules[0][0], name, cycles)


def rules_of(text: str, where: str, number: int, logarithms: bool) -> Iterator[Rule]:
    """The rules of a line, one or several between bars."""
    found = list(tokens(text, where))
    if len(found) < 2 or found[0][0] != "symbol" or found[1] != ("symbol", ARROW):
        raise FormatError(f"{where}: {text[:60]!r} is not a rule: expected lines such as S -> NP VP [0.9].")
    parent, right, score = found[0][1], list[tuple[str, bool]](), None
    for kind, token in [*found[2:], ("or", OR)]:
        if kind == "or":
            if not right:
                raise FormatError(f"{where}: nothing is on the right of {parent} ->: expected symbols or one word.")
            word = next((word for word, is_word in right if is_word), None)
            if len(right) > 1 and word is not None:
                raise FormatError(f"{where}: the word {word!r} stands beside others: expected it alone below a symbol.")
            yield parent, tuple(symbol for symbol, _ in right), word is not None, 0.0 if score is None else score, number
            right, score = [], None
        elif score is not None:
            raise FormatError(f"{where}: {token!r} follows a number: expected | or the end of the line.")
        elif kind == "number":
            score = score_of(token, where, logarithms)
        else:
            right.append((token, kind == "word"))


def tokens(text: str, where: str) -> Iterator[tuple[str, str]]:
    at = 0
    while text[at:].strip():
        match = TOKEN.match(text, at)
        if match is None:
            raise FormatError(
                f"{where}: {text[at:].strip()[:40]!r} cannot be read: expected symbols, a word in quotes, or a number in [ ]."
            )
        braces, double, single, number, plain = match.groups()
        if braces is not None:
            yield "symbol", symbol_in(braces, where)
        elif double is not None:
            try:
                yield "word", json.loads(double)
            except json.JSONDecodeError:
                raise FormatError(f"{where}: the word {double} cannot be read: expected backslashes as in JSON.") from None
        elif single is not None:
            yield "word", single
        elif number is not None:
            yield "number", number[1:-1]
        else:
            yield ("or", OR) if plain == OR else ("symbol", plain)
        at = match.end()


def symbol_in(text: str, where: str) -> str:
    """The symbol that a text stands for: in braces, or plain."""
    if text.startswith("{") and text.endswith("}") and len(text) > 2:
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    if not PLAIN.fullmatch(text):
        raise FormatError(
            f"{where}: {text!r} is not a symbol: expected no blanks, and braces around what begins with a quote or # % [ {{ |."
        )
    return text


def symbol_out(symbol: str) -> str:
    if not symbol or any(c.isspace() for c in symbol):
        raise GrammarError(f"the symbol {symbol!r} cannot be written: expected no white space.")
    if PLAIN.fullmatch(symbol) and symbol != ARROW and not symbol.startswith(BYTE_ORDER_MARK):
        return symbol
    return "{" + re.sub(r"([}\\])", r"\\\1", symbol) + "}"


def score_of(text: str, where: str, logarithms: bool) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if math.isnan(value) or value == math.inf or (value < 0 and not logarithms):
        accepted = "a logarithm below infinity" if logarithms else "a weight of zero or more; %scores log for logarithms"
        raise FormatError(f"{where}: [{text}] is not a number that a rule can have: expected {accepted}.")
    return value if logarithms else math.log(value) if value > 0 else -math.inf


def warn_unless_one(rules: list[Rule], name: str) -> None:
    totals: dict[str, float] = {}
    for parent, _, _, score, _ in rules:
        totals[parent] = totals.get(parent, 0.0) + math.exp(score)
    odd = [parent for parent, total in totals.items() if abs(total - 1.0) > CLOSE_TO_ONE]
    if odd:
        first = f"{odd[0]}, {totals[odd[0]]:g}"
        warnings.warn(
            f"{name}: the probabilities of {len(odd)} of {len(totals)} symbols do not sum to one (first: {first}): used as weights.",
            stacklevel=4,
        )


def grammar_of(rules: list[Rule], symbols: list[str], start: str, name: str, cycles: bool) -> Grammar:
    binary: dict[tuple[str, str, str], float] = {}
    unary: dict[tuple[str, str], float] = {}
    lexicon: dict[str, dict[str, float]] = {}
    lines: dict[tuple[object, ...], int] = {}
    known = dict.fromkeys([*symbols, *(parent for parent, *_ in rules)])
    names = dict(known)
    for parent, right, is_word, score, line in rules:
        where = f"{name}, line {line}"
        rule = (is_word, parent, *right)
        if rule in lines:
            raise FormatError(f"{where}: the rule {parent} -> {' '.join(right)} is in line {lines[rule]} too: expected it once.")
        lines[rule] = line
        if is_word:
            lexicon.setdefault(right[0], {})[parent] = score
            continue
        missing = [symbol for symbol in right if symbol not in known]
        if missing:
            raise FormatError(
                f"{where}: {missing[0]!r} is on the right and no rule rewrites it: expected a rule, quotes around a word, or %symbols."
            )
        while len(right) > 2:
            rest = "".join(f"⟨{symbol}⟩" for symbol in right[1:])
            names[rest] = None
            binary[parent, right[0], rest] = score
            parent, right, score = rest, right[1:], 0.0
        if len(right) == 2:
            binary.setdefault((parent, right[0], right[1]), score)  # the ends of long rules are shared
        else:
            unary[parent, right[0]] = score
    if start not in known:
        raise FormatError(f"{name}: the start is {start!r}: no rule has it as its parent.")
    return from_tables(tuple(names), binary, unary, lexicon, start, cycles=cycles)


def write_grammar(path: str | os.PathLike[str] | None, grammar: Grammar) -> None:
    """Writes a grammar so that it reads back the same: logarithms with all their digits, words in double quotes.

    None or `-` is standard output.
    """
    names = grammar.symbols
    with writing(path) as file:
        file.write(f"%start {symbol_out(names[grammar.root])}\n%scores log\n")
        for begin in range(0, len(names), 20):
            file.write(f"%symbols {' '.join(map(symbol_out, names[begin : begin + 20]))}\n")
        for kind, scores in ((grammar.binary, grammar.binary_scores), (grammar.unary, grammar.unary_scores)):
            for (parent, *right), score in zip(kind.tolist(), scores.tolist(), strict=True):
                file.write(f"{symbol_out(names[parent])} -> {' '.join(symbol_out(names[s]) for s in right)} [{score!r}]\n")
        for word, entries in grammar.lexicon.items():
            for symbol, score in entries:
                file.write(f"{symbol_out(names[symbol])} -> {json.dumps(word, ensure_ascii=False)} [{score!r}]\n")
