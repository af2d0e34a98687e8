"""A weighted context-free grammar as tables (Rush 2014, section 2.2.3).

Rules have two symbols, one symbol, or one word on the right; longer ones are split with symbols of their own when the
grammar is made. Unary rules form no cycle, unless a grammar is said to have cycles; of these none has a score above zero.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zerogap.errors import GrammarError, Infeasible
from zerogap.grid import Scores, as_scores, held, restored
from zerogap.structures.unary_closure import check_cycles

GLUE = "⟨glue⟩"


@dataclass(frozen=True, slots=True, eq=False)
class Grammar:
    """Symbols are numbered so that the child of a unary rule comes before its parent; rules are sorted by parent.

    With `cycles` unary rules form cycles whose scores sum to zero or less, and the order of their symbols means nothing.
    """

    symbols: tuple[str, ...]
    root: int
    binary: NDArray[np.int32]  # (rules, 3): parent, left, right
    binary_scores: Scores
    unary: NDArray[np.int32]  # (rules, 2): parent, child
    unary_scores: Scores
    lexicon: dict[str, tuple[tuple[int, float], ...]]  # word -> (symbol, score) pairs
    cycles: bool = False

    __setstate__ = restored

    def __post_init__(self) -> None:
        for name, width in (("binary", 3), ("unary", 2)):
            table, scores = getattr(self, name), getattr(self, f"{name}_scores")
            if table.ndim != 2 or table.shape != (len(scores), width):
                raise GrammarError(f"{name} has shape {table.shape}, its scores {scores.shape}: expected a row of {width} per score.")
            if table.size and not 0 <= table.min() <= table.max() < len(self.symbols):  # kernels index with these
                raise GrammarError(f"{name} names symbols {table.min()} to {table.max()}: expected 0 to {len(self.symbols) - 1}.")
            if (np.diff(table[:, 0]) < 0).any():
                raise GrammarError(f"{name} is not sorted by parent.")
            if len(np.unique(table, axis=0)) < len(table):
                raise GrammarError(f"{name} has a rule twice: expected one score per rule.")
            as_scores(scores, f"{name}_scores")
            object.__setattr__(self, name, held(table))
            object.__setattr__(self, f"{name}_scores", held(scores))
        if len(set(self.symbols)) < len(self.symbols):
            raise GrammarError("symbols has a name twice: expected every name once, as trees are made of names.")
        if not 0 <= self.root < len(self.symbols):
            raise GrammarError(f"root is {self.root}: expected 0 to {len(self.symbols) - 1}.")
        if self.cycles:
            check_cycles(self.unary, self.unary_scores, self.symbols)
        elif (self.unary[:, 1] >= self.unary[:, 0]).any():
            raise GrammarError("the child of a unary rule does not come before its parent.")

    def lexical_scores(self, words: Sequence[str]) -> Scores:
        """The score of every symbol over every word, (n, symbols); Infeasible names the first word without a rule."""
        table = np.full((len(words), len(self.symbols)), -np.inf)
        for i, word in enumerate(words):
            if word not in self.lexicon:
                raise Infeasible(f"words[{i}] is {word!r}: no rule of the grammar produces it.", (word,))
            for symbol, score in self.lexicon[word]:
                table[i, symbol] = score
        return table

    def __repr__(self) -> str:
        counts = f"{len(self.binary):,} binary, {len(self.unary):,} unary rules, {len(self.lexicon):,} words"
        return f"Grammar({len(self.symbols)} symbols, {counts}, root {self.symbols[self.root]!r})"


def grammar(rules: Iterable[tuple[str, Sequence[str], float]], *, root: str, cycles: bool = False) -> Grammar:
    """A grammar from rules (parent, right-hand side, score), with `cycles` perhaps with cycles of unary ones.

    A right-hand side of one string that is never a parent is a word. A rule with more than two symbols on the right
    becomes a chain of binary ones, its score on the top one.

    >>> grammar([("S", ["N", "V"], 1.0), ("N", ["dogs"], 2.0), ("V", ["bark"], 0.0)], root="S")
    Grammar(3 symbols, 1 binary, 0 unary rules, 2 words, root 'S')
    """
    try:
        given = [(parent, tuple(right), score) for parent, right, score in rules]
    except (TypeError, ValueError):
        raise GrammarError("rules are not triples (parent, right-hand side, score).") from None
    parents = {parent for parent, _, _ in given}
    if root not in parents:
        raise GrammarError(f"root is {root!r}: no rule has it as its parent.")
    scores = as_scores([score for _, _, score in given], "rule scores", shape=(len(given),))
    binary: dict[tuple[str, str, str], float] = {}
    unary: dict[tuple[str, str], float] = {}
    lexicon: dict[str, dict[str, float]] = {}
    names = dict.fromkeys(parent for parent, _, _ in given)
    for i, (parent, right, _) in enumerate(given):
        for symbol in (parent, *right):
            if not isinstance(symbol, str) or "⟨" in symbol or "⟩" in symbol:
                raise GrammarError(f"rule {i} has the symbol {symbol!r}: expected a string without ⟨ and ⟩.")
        score = float(scores[i])
        if len(right) == 0:
            raise GrammarError(f"rule {i} ({parent} ->) is empty: expected symbols or one word on the right.")
        if len(right) == 1 and right[0] not in parents:
            table: dict[Any, float] = lexicon.setdefault(right[0], {})
            key: Any = parent
        elif len(right) == 1:
            table, key = unary, (parent, right[0])
        else:
            for symbol in right:
                if symbol not in parents:
                    raise GrammarError(f"rule {i} ({parent} -> {' '.join(right)}) has {symbol!r} on the right, which no rule rewrites.")
            while len(right) > 2:  # A -> B C D becomes A -> B ⟨C⟩⟨D⟩ and ⟨C⟩⟨D⟩ -> C D
                rest = "".join(f"⟨{symbol}⟩" for symbol in right[1:])
                names[rest] = None
                add(binary, (parent, right[0], rest), score, i)
                parent, right, score = rest, right[1:], 0.0
            table, key = binary, (parent, right[0], right[1])
        add(table, key, score, i)
    return from_tables(tuple(names), binary, unary, lexicon, root, cycles=cycles)


def from_tables(
    names: Sequence[str],
    binary: Mapping[tuple[str, str, str], float],
    unary: Mapping[tuple[str, str], float],
    lexicon: Mapping[str, Mapping[str, float]],
    root: str,
    *,
    cycles: bool = False,
) -> Grammar:
    """A grammar from scored rules whose symbols are all in `names`. With `cycles`, unary rules may form cycles."""
    order = children_first(tuple(names), unary, cycles=cycles)
    number = {symbol: i for i, symbol in enumerate(order)}
    pairs = sorted(((number[p], number[a], number[b]), s) for (p, a, b), s in binary.items())
    chains = sorted(((number[p], number[c]), s) for (p, c), s in unary.items())
    return Grammar(
        symbols=order,
        root=number[root],
        binary=np.array([key for key, _ in pairs], dtype=np.int32).reshape(-1, 3),
        binary_scores=np.array([score for _, score in pairs], dtype=np.float64),
        unary=np.array([key for key, _ in chains], dtype=np.int32).reshape(-1, 2),
        unary_scores=np.array([score for _, score in chains], dtype=np.float64),
        lexicon={word: tuple(sorted((number[s], v) for s, v in tags.items())) for word, tags in lexicon.items()},
        cycles=any(child >= parent for (parent, child), _ in chains),
    )


def with_glue(grammar: Grammar, score: float, *, symbols: Sequence[str] | None = None) -> Grammar:
    """The grammar with rules that put pieces beside each other below the root, each piece at this score.

        root -> ⟨glue⟩      ⟨glue⟩ -> X      ⟨glue⟩ -> ⟨glue⟩ X      for every symbol, or for those that are given

    With a score so low that they are used only where nothing else is, every sentence whose words have symbols has a parse.
    """
    names, root = grammar.symbols, grammar.symbols[grammar.root]
    pieces = [name for name in names if name != root] if symbols is None else list(symbols)
    unknown = [name for name in pieces if name not in names]
    if unknown or root in pieces or GLUE in names:
        problem = f"symbols has {unknown[0]!r}" if unknown else "symbols has the root" if root in pieces else "the grammar has glue already"
        raise GrammarError(f"{problem}: expected symbols of the grammar other than the root, and no glue yet.")
    as_scores(score, "score", lowest=-1e300)
    pairs = zip(grammar.binary.tolist(), grammar.binary_scores.tolist(), strict=True)
    chains = zip(grammar.unary.tolist(), grammar.unary_scores.tolist(), strict=True)
    binary = {(names[p], names[a], names[b]): s for (p, a, b), s in pairs}
    unary = {(names[p], names[c]): s for (p, c), s in chains}
    binary |= {(GLUE, GLUE, name): score for name in pieces}
    unary |= {(GLUE, name): score for name in pieces} | {(root, GLUE): 0.0}
    lexicon = {word: {names[s]: v for s, v in entries} for word, entries in grammar.lexicon.items()}
    return from_tables((*names, GLUE), binary, unary, lexicon, root, cycles=True)  # a piece may have the root below it


def add(table: dict[Any, float], key: Any, score: float, rule: int) -> None:
    if key in table and not (isinstance(key, tuple) and key[0].startswith("⟨")):  # chains share their ends
        raise GrammarError(f"rule {rule} ({key}) is given twice: expected one score per rule.")
    table[key] = score


def children_first(symbols: tuple[str, ...], unary: Iterable[tuple[str, str]], *, cycles: bool = False) -> tuple[str, ...]:
    """The symbols with the child of every unary rule before its parent, otherwise in the given order; cycles are cut somewhere."""
    children: dict[str, list[str]] = {}
    for parent, child in unary:
        children.setdefault(parent, []).append(child)
    order: dict[str, None] = {}
    for symbol in symbols:
        waiting = [symbol]
        path: dict[str, None] = {}
        while waiting:
            top = waiting[-1]
            path[top] = None
            ahead = next((c for c in children.get(top, ()) if c not in order and not (cycles and c in path)), None)
            if ahead in path:
                cycle = [*list(path)[list(path).index(str(ahead)) :], str(ahead)]
                raise GrammarError(f"unary rules form a cycle: {' -> '.join(cycle)}.")
            if ahead is not None:
                waiting.append(ahead)
            else:
                waiting.pop()
                path.pop(top)
                order[top] = None
    return tuple(order)
