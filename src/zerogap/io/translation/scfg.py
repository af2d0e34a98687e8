"""Synchronous grammars as text, one rule per line, as cdec and Joshua read them; gzip by suffix.

    [X] ||| le [X,1] dug ||| the [X,1] dog ||| pef=-0.5 pfe=-1.2

Fields are the head, the source side, the target side and features `name=value`; values without names are called "0", "1" and so on by
their place. A nonterminal of the target may also be written [1]. One file may serve a whole set: `sentences` keeps those rules whose
source words all occur in one of them.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence

from zerogap.errors import FormatError
from zerogap.io.formats.lines import read_lines, shown
from zerogap.io.translation.weights import weights_of_file
from zerogap.translation.forests.grammar import GrammarBuilder, SynchronousGrammar

SEPARATOR = "|||"
Symbol = str | tuple[str, int]


def read_grammar(path: str | os.PathLike[str], *, sentences: Iterable[Sequence[str]] | None = None) -> SynchronousGrammar:
    """The rules of a file, or those that may match one of the sentences, which are sequences of words."""
    masks = None if sentences is None else sentence_masks(sentences)
    builder = GrammarBuilder()
    nodes: dict[str, tuple[int, dict[tuple[str, int], int] | None]] = {}  # source side -> node and its nonterminals
    known: set[str] = set()  # names of features
    for number, line in read_lines(path):
        fields = line.split(" ||| ")
        if len(fields) != 4:
            if not line.strip():
                continue
            fields = split_fields(line, path, number)
        head, source, target, given = fields
        if source not in nodes:
            nodes[source] = read_source(source, masks, builder, path, number)
        node, indices = nodes[source]
        cells = given.replace("=", " ").split()
        named = 2 * given.count("=") == len(cells) if cells else True
        names = tuple(cells[::2]) if named else tuple(map(str, range(len(cells))))
        if not known.issuperset(names):
            known.update(names)
        if indices is not None:
            values = read_values(given, cells[1::2] if named else cells, names, path, number)
            builder.add(node, head_name(head, path, number), read_target(target, indices, path, number), names, values)
    return builder.build(known)


def load_syntax_weights(path: str | os.PathLike[str]) -> dict[str, float]:
    """The weights of the section [hiero] of a file, by the names of their features."""
    sections = weights_of_file(path)
    if "hiero" not in sections:
        raise FormatError(f"{shown(path)} has sections {', '.join(sections) or 'none'}: expected [hiero].")
    for name, numbers in sections["hiero"].items():
        if len(numbers) != 1 or not name:
            raise FormatError(f"{shown(path)}: {name!r} in [hiero] has {len(numbers)} numbers, expected a name and one number.")
    return {name: numbers[0] for name, numbers in sections["hiero"].items()}


def sentence_masks(sentences: Iterable[Sequence[str]]) -> dict[str, int]:
    """For every word one bit per sentence that it occurs in."""
    masks: dict[str, int] = {}
    for i, words in enumerate(sentences):
        for word in words:
            masks[word] = masks.get(word, 0) | (1 << i)
    return masks


def split_fields(line: str, path: str | os.PathLike[str], number: int) -> list[str]:
    fields = [field.strip() for field in line.strip().split(SEPARATOR)]
    if len(fields) == 3:
        fields.append("")
    if len(fields) < 4:
        wrong(path, number, f"has {len(fields)} fields", "[X] ||| source ||| target ||| features")
    return fields[:4]  # cdec and Joshua write alignments after them


def read_source(
    text: str, masks: dict[str, int] | None, builder: GrammarBuilder, path: str | os.PathLike[str], number: int
) -> tuple[int, dict[tuple[str, int], int] | None]:
    """The trie node of a source side and the place of each of its nonterminals; no places if no sentence has all of its words."""
    symbols = [(nonterminal(token) if token[0] == "[" else None) or token for token in text.split()]
    if not symbols:
        wrong(path, number, "has an empty source side", "at least one symbol")
    indices: dict[tuple[str, int], int] = {}
    for symbol in symbols:
        if not isinstance(symbol, str):
            if any(index == symbol[1] for _, index in indices):
                wrong(path, number, f"has two source nonterminals with the index {symbol[1]}", "one for each index")
            indices[symbol] = len(indices)
    if masks is not None:
        common = -1
        for symbol in symbols:
            if isinstance(symbol, str):
                common &= masks.get(symbol, 0)
        if common == 0:
            return -1, None
    return builder.source_node(symbols), indices


def read_target(text: str, indices: dict[tuple[str, int], int], path: str | os.PathLike[str], number: int) -> list[str | int]:
    tokens = text.split()
    if not indices and "[" not in text:
        return list(tokens)
    target: list[str | int] = []
    found = set()
    for token in tokens:
        symbol = nonterminal(token) if token[0] == "[" else None
        if symbol is None:
            target.append(token)
            continue
        place = indices.get(symbol)
        if place is None and symbol[0] == "":  # cdec's [1]
            place = next((place for (_, index), place in indices.items() if index == symbol[1]), None)
        if place is None or place in found:
            what = "twice" if place is not None else "which its source side does not have"
            wrong(path, number, f"has the target nonterminal {token} {what}", "the nonterminals of the source side, each once")
        assert place is not None
        found.add(place)
        target.append(place)
    if len(found) < len(indices):
        name, index = next(symbol for symbol, place in indices.items() if place not in found)
        wrong(path, number, f"has the source nonterminal [{name},{index}] and no such target one", "the same nonterminals on both sides")
    return target


def nonterminal(token: str) -> tuple[str, int] | None:
    """(X, 1) for [X,1], ("", 1) for [1], None for a word."""
    if token[0] != "[" or token[-1] != "]" or len(token) < 3:
        return None
    name, comma, index = token[1:-1].rpartition(",")
    if not index.isdecimal() or bool(comma) != bool(name):
        return None
    return name, int(index)


def head_name(text: str, path: str | os.PathLike[str], number: int) -> str:
    head = text.strip()
    if len(head) < 3 or head[0] != "[" or head[-1] != "]" or " " in head or "," in head:
        wrong(path, number, f"begins with {head!r}", "a nonterminal such as [X]")
    return head[1:-1]


def read_values(text: str, cells: list[str], names: tuple[str, ...], path: str | os.PathLike[str], number: int) -> list[float]:
    try:
        values = list(map(float, cells))
    except ValueError:
        values = []
    if len(values) != len(names) or not math.isfinite(sum(values)) or len(set(names)) < len(names):
        wrong(path, number, f"has the features {text.strip()!r}", "different names, each as name=value with a finite number")
    return values


def wrong(path: str | os.PathLike[str], number: int, found: str, expected: str) -> None:
    raise FormatError(f"{shown(path)}, line {number} {found}: expected {expected}.")
