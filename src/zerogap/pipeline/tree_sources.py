"""Words on their way to a constituency parser, as its treebank writes them: from text, from CoNLL-U, or the leaves of bracketed trees.

Quotation marks of plain text become those of the Penn Treebank, if the model knows these: opening ones `` and closing ones ''.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass

from zerogap.constituency.treebank.cleaning import cleaned, escaped
from zerogap.io.formats.brackets import numbered_trees
from zerogap.io.formats.lines import peek, read_lines, shown, suffix_of
from zerogap.pipeline.sources import Unparsed, read_any

SUFFIXES = (".mrg", ".ptb", ".trees", ".brackets")
OPENING, CLOSING = "``", "''"
QUOTES = {"\u201c": OPENING, "\u201d": CLOSING, "\u201e": OPENING}


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a sentence, and where they stand."""

    forms: tuple[str, ...]
    where: str = ""
    line: int = 0


def from_sentences(sentences: Iterable[Unparsed], known: Container[str]) -> Iterator[Words]:
    """Sentences of text or of a treebank of dependencies; `known` are the words that the parser knows."""
    for found in sentences:
        yield Words(as_treebank(found.sentence.columns["form"], known), found.where, found.line)


def read_words(
    path: str, known: Container[str], *, kind: str = "auto", lines: bool = False, on_error: str = "stop",
    report: Callable[[str], object] | None = None,
) -> Iterator[Words]:  # fmt: skip
    """The sentences of a file: bracketed trees by their suffix or if it begins with a bracket, else what `read_any` knows."""
    if kind == "brackets" or (kind == "auto" and is_bracketed(path)):
        return leaves_of(path)
    return from_sentences(read_any(path, kind=kind, lines=lines, on_error=on_error, report=report), known)


def is_bracketed(path: str | os.PathLike[str]) -> bool:
    """By the suffix; a file of unknown suffix if it begins with two brackets, or with a bracket and a label before another one."""
    suffix = suffix_of(path)
    if suffix in SUFFIXES:
        return True
    start = peek(path, 200).lstrip()
    return suffix not in (".txt", ".conllu", ".conllx", ".conll") and start.startswith(b"(") and start.count(b"(") > 1 and b" " in start


def leaves_of(path: str) -> Iterator[Words]:
    """The words of trees, without traces."""
    for line, tree in numbered_trees(read_lines(path), shown(path)):
        kept = cleaned(tree)
        if kept is not None:
            yield Words(tuple(kept.words()), f"{shown(path)}, line {line}", line)


def as_treebank(forms: Sequence[str], known: Container[str]) -> tuple[str, ...]:
    """Words of plain text as a treebank writes them.

    >>> as_treebank(["(", '"', "Go", '"', ")"], {"``", "''"})
    ('-LRB-', '``', 'Go', "''", '-RRB-')
    """
    found, is_open = [], False
    for form in forms:
        word = escaped(form)
        if word not in known:
            if word == '"' and OPENING in known:
                word, is_open = CLOSING if is_open else OPENING, not is_open
            elif word in QUOTES and QUOTES[word] in known:
                word = QUOTES[word]
        found.append(word)
    return tuple(found)
