"""Sentences on their way to the parser: cut out of text, or read from CoNLL-U and CoNLL-X files, one by one.

Text is cut at empty lines, where sentences end, and a paragraph after the other is split. One that is very long is split as far as
it is known, so that a file of any size takes little memory. A text in memory is cut in the same way, and so gives the same sentences.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from zerogap.dependency.sentence import Sentence
from zerogap.errors import UnknownMethod
from zerogap.io.formats.conllu import ConlluRecord, read_conllu
from zerogap.io.formats.lines import STANDARD, Lenient, bad_byte, peek, read_lines, shown, suffix_of
from zerogap.text.sentences import split_sentences
from zerogap.text.tokens import Token

KINDS = ("auto", "text", "conllu", "conllx", "treebank")  # treebank: one of the two before it
SUFFIXES = {".txt": "text", ".conllu": "conllu", ".conllx": "conllx", ".conll": "treebank"}
LONGEST = 1 << 16  # characters of a paragraph that are split at once
PIECE = re.compile(rf".{{1,{LONGEST}}}(?:\s|\Z)|.{{1,{LONGEST}}}", re.DOTALL)  # of a line, cut after a blank
PEEKED = 1 << 13  # bytes that say what is in a file
ROW = re.compile(rb"[0-9]+(?:[-.][0-9]+)?\t(?:[^\t\n]+\t){8}[^\t\n]+")  # of CoNLL-U and CoNLL-X
COMMENT = re.compile(rb"#[ \t]*(?:sent_id|text|newdoc|newpar|global\.columns)\b")
BYTE_ORDER_MARK = "\ufeff"

Report = Callable[[str], object]


@dataclass(frozen=True, slots=True, eq=False)
class Unparsed:
    """A sentence, where it comes from, and what it takes to write it: its tokens in a piece of text, or its record of a file."""

    sentence: Sentence
    path: str = ""
    line: int = 0
    text: str | None = None
    tokens: tuple[Token, ...] | None = None
    offset: int = 0  # characters before the piece of text
    record: ConlluRecord | None = None

    @property
    def where(self) -> str:
        """For messages."""
        return f"{self.path}, line {self.line}" if self.path else f"sentence {self.sentence.name}" if self.sentence.name else ""


def from_text(text: str, *, lines: bool = False) -> Iterator[Unparsed]:
    """The sentences of a text. With `lines`, every line end is the end of a sentence.

    >>> [[token.form for token in found.tokens] for found in from_text("Stop!\\n\\nWho goes there?")]
    [['Stop', '!'], ['Who', 'goes', 'there', '?']]
    """
    return sentences_of(enumerate(io.StringIO(text), start=1), "", lines)


def read_text(
    path: str | os.PathLike[str], *, lines: bool = False, on_error: str = "stop", report: Report | None = None
) -> Iterator[Unparsed]:
    """The sentences of a text file. With `on_error="skip"`, lines that are not UTF-8 are left out, as if they were empty."""

    def readable() -> Iterator[tuple[int, str]]:
        for number, text in read_lines(Lenient(path)) if on_error == "skip" else read_lines(path):
            byte = bad_byte(text)
            if byte is not None and report is not None:
                report(f"{shown(path)}, line {number} is not UTF-8 text (byte {byte:#04x}).")
            yield number, text if byte is None else "\n".rjust(len(text))

    return sentences_of(readable(), shown(path), lines)


def read_treebank(
    path: str | os.PathLike[str], *, format: str = "auto", on_error: str = "stop", report: Report | None = None
) -> Iterator[Unparsed]:
    """The sentences of a CoNLL-U or CoNLL-X file. With `on_error="skip"`, those that are malformed or not UTF-8 are left out."""
    for record in read_conllu(path, format=format, on_error=on_error, report=report):
        yield Unparsed(record.sentence, shown(path), record.line, record=record)


def read_any(
    path: str | os.PathLike[str], *, kind: str = "auto", lines: bool = False, on_error: str = "stop", report: Report | None = None
) -> Iterator[Unparsed]:
    """The sentences of a file of any kind that is known; `kind_of` finds out which."""
    if kind not in KINDS:
        raise UnknownMethod("input format", kind, KINDS)
    found = kind_of(path) if kind == "auto" else kind
    if found == "text":
        return read_text(path, lines=lines, on_error=on_error, report=report)
    return read_treebank(path, format="auto" if found == "treebank" else found, on_error=on_error, report=report)


def kind_of(path: str | os.PathLike[str]) -> str:
    """What a file holds: by its suffix, else by what it begins with.

    Pipes that are not standard input cannot be looked into: they are taken for treebanks.
    """
    known = None if os.fspath(path) == STANDARD else SUFFIXES.get(suffix_of(path))
    if known is not None:
        return known
    is_pipe = os.fspath(path) != STANDARD and os.path.exists(path) and not os.path.isfile(path)
    return "treebank" if is_pipe or looks_like_treebank(peek(path, PEEKED)) else "text"


def looks_like_treebank(start: bytes) -> bool:
    """Whether the first line that is neither empty nor a comment is a row of ten columns; or there are comments such as a treebank has."""
    commented = False
    for line in start.removeprefix(BYTE_ORDER_MARK.encode()).splitlines():
        if line.strip() and not line.startswith(b"#"):
            return ROW.match(line) is not None or (commented and line.count(b"\t") > 0)
        commented = commented or COMMENT.match(line) is not None
    return commented


def sentences_of(lines: Iterable[tuple[int, str]], path: str, by_line: bool) -> Iterator[Unparsed]:
    """Numbered lines as sentences, which are named 1, 2, 3, ..."""
    count = 0
    line, offset, rest = 1, 0, ""  # where the rest of a paragraph begins, and what it is
    for more, ended in stretches_of(lines, by_line):
        text = rest + more
        split = split_sentences(text, lines=by_line)
        cut = len(text)
        if not ended and len(split) > 1:
            cut = split.pop()[0].start
        for tokens in split:
            count += 1
            sentence = Sentence({"form": tuple(word for token in tokens for word in token.words)}, name=str(count))
            yield Unparsed(sentence, path, line + text.count("\n", 0, tokens[0].start), text, tuple(tokens), offset)
        line, offset, rest = line + text.count("\n", 0, cut), offset + cut, text[cut:]


def stretches_of(lines: Iterable[tuple[int, str]], by_line: bool) -> Iterator[tuple[str, bool]]:
    """Paragraphs, or lines, in parts of some length, and whether a sentence must end there."""
    parts, length = list[str](), 0
    for number, line in lines:
        if number == 1:
            line = line.removeprefix(BYTE_ORDER_MARK)
        for part in [line] if len(line) <= LONGEST else (match[0] for match in PIECE.finditer(line)):
            parts.append(part)
            length += len(part)
            if length >= LONGEST:
                yield "".join(parts), False
                parts, length = [], 0
        if by_line or line.isspace():
            yield "".join(parts), True
            parts, length = [], 0
    yield "".join(parts), True
