"""CoNLL-U and CoNLL-X: a word per line in ten columns parted by tabs, an empty line after a sentence, comments before it.

    # sent_id = 1
    1-2   don't   _    _      _     _   _   _      _   SpaceAfter=No
    1     do      do   AUX    VBP   _   0   root   _   _
    2     n't     not  PART   RB    _   1   advmod _   _

Nothing is lost: what is read can be written back with other cells and all else as it was, comments, multiword tokens (1-2), empty nodes
(8.1) and line ends among it. CoNLL-X has no such lines, and PHEAD and PDEPREL in the place of DEPS and MISC; its CPOSTAG and POSTAG
are upos and xpos here.
"""

from __future__ import annotations

import operator
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from zerogap.dependency.sentence import Sentence
from zerogap.errors import FormatError, UnknownMethod
from zerogap.io.formats.conllu_cells import (
    BYTE_ORDER_MARK,
    COLUMNS,
    COMMENT,
    NOTHING,
    SPACE_NONE,
    checked_cells,
    commented,
    line_end,
    lines_of,
)
from zerogap.io.formats.lines import Lenient, bad_byte, read_lines, shown

FORMATS = ("auto", "conllu", "conllx")
POLICIES = ("stop", "skip")
READ = COLUMNS["conllu"][1:6]  # form, lemma, upos, xpos, feats
HEAD, LABEL, DEPENDENCIES, LAST = 6, 7, 8, 9
WIDTH = 10
BLANKS = " \t\r\n"
NAME = re.compile(r"^#[ \t]*sent_id[ \t]*=[ \t]*([^\r\n]*)", re.MULTILINE)
RANGE = re.compile(r"([1-9][0-9]*)-([1-9][0-9]*)")
EMPTY_NODE = re.compile(r"(0|[1-9][0-9]*)\.([1-9][0-9]*)")


class Multiword(NamedTuple):
    """A token that stands for several words: its form, its first and its last word, counted from 1."""

    form: str
    first: int
    last: int


class SurfaceToken(NamedTuple):
    """A word or a multiword token as it stands in the text, and whether a blank follows."""

    form: str
    first: int
    last: int
    space_after: bool


@dataclass(frozen=True, slots=True)
class ConlluRecord:
    """A sentence, the line of its first row, and its text: what stands before its rows, the rows, what stands after."""

    sentence: Sentence
    line: int
    before: str
    rows: tuple[str, ...]  # with their line ends
    after: str
    format: str = "conllu"
    word_rows: tuple[int, ...] | None = None  # rows that are words; None if all are

    @property
    def comments(self) -> tuple[tuple[str, str], ...]:
        """Keys and values in their order; a comment without = has the value ''."""
        found = (COMMENT.fullmatch(line) for line in lines_of(self.before.removeprefix(BYTE_ORDER_MARK)))
        return tuple((match[1], match[2] or "") for match in found if match)

    @property
    def multiwords(self) -> tuple[Multiword, ...]:
        if self.word_rows is None:
            return ()
        starts = (row.split("\t", 2) for row in self.rows)
        found = ((RANGE.fullmatch(name), form) for name, form, _ in starts)
        return tuple(Multiword(form, int(match[1]), int(match[2])) for match, form in found if match)

    @property
    def tokens(self) -> tuple[SurfaceToken, ...]:
        """The words and multiword tokens of the text; words inside a multiword token are not among them."""
        found: list[SurfaceToken] = []
        last = 0
        for row in self.rows:
            cells = row.rstrip("\r\n").split("\t")
            match = RANGE.fullmatch(cells[0])
            if match or (cells[0].isdecimal() and int(cells[0]) > last):
                first, last = (int(match[1]), int(match[2])) if match else (int(cells[0]), int(cells[0]))
                joined = self.format == "conllu" and SPACE_NONE in cells[LAST].split("|")
                found.append(SurfaceToken(cells[1], first, last, not joined))
        return tuple(found)

    @property
    def text(self) -> str:
        """The comment `text`, or the tokens with blanks between them where there were some."""
        given = dict(self.comments).get("text")
        return "".join(token.form + " " * token.space_after for token in self.tokens).rstrip(" ") if given is None else given

    def written(
        self,
        *,
        columns: Mapping[str, Sequence[str]] | None = None,
        heads: Sequence[int] | None = None,
        labels: Sequence[str] | None = None,
        comments: Iterable[tuple[str, str | None]] = (),
    ) -> str:
        """Its text with these cells of its words in place of the old ones, and everything else unchanged.

        Comments are set as `# key = value`, in place of one with the same key, else after the others; None takes one away.
        """
        cells = checked_cells(len(self.sentence), columns or {}, heads, labels, format=self.format)
        before = commented(self.before, comments, end=line_end(self.rows[0]))
        if not cells:
            return before + "".join(self.rows) + self.after
        rows = list(self.rows)
        for k, i in enumerate(range(len(rows)) if self.word_rows is None else self.word_rows):
            row = rows[i].split("\t")
            for column, values in cells:
                row[column] = values[k]
            if row[LAST][-1] != "\n":  # it was replaced, or the file ends here
                row[LAST] += line_end(rows[i])
            rows[i] = "\t".join(row)
        return before + "".join(rows) + self.after


def read_conllu(
    path: str | os.PathLike[str],
    *,
    format: str = "auto",
    trees: bool = False,
    on_error: str = "stop",
    report: Callable[[str], object] | None = None,
) -> Iterator[ConlluRecord]:
    """The sentences of a CoNLL-U or CoNLL-X file, one by one. `-` is standard input, `.gz` is unpacked.

    A sentence whose heads are all '_' has no tree (heads None); with `trees` it is refused, and so are cycles. Nor has it labels if
    they are all '_'. `on_error="skip"` leaves out sentences that are malformed; `report` is called with what is wrong with each. The
    format 'auto' is CoNLL-X if the ninth column of the first sentence holds heads.

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "two.conllu"
    >>> _ = path.write_text("1\\tTime\\t_\\t_\\t_\\t_\\t2\\t_\\t_\\t_\\n2\\tflies\\t_\\t_\\t_\\t_\\t0\\t_\\t_\\t_\\n\\n")
    >>> [record] = read_conllu(path)
    >>> record.sentence.columns["form"], record.sentence.heads, record.sentence.labels
    (('Time', 'flies'), (2, 0), None)
    """
    if format not in FORMATS:
        raise UnknownMethod("format", format, FORMATS)
    if on_error not in POLICIES:
        raise UnknownMethod("on_error", on_error, POLICIES)
    return records_of(path, format, trees, on_error == "skip", report)


@dataclass(frozen=True, slots=True)
class Block:
    """The lines of a sentence, cut but not yet understood."""

    line: int
    before: list[str]
    rows: list[str]
    after: list[str]


def records_of(
    path: str | os.PathLike[str], format: str, trees: bool, skip: bool, report: Callable[[str], object] | None
) -> Iterator[ConlluRecord]:
    where = shown(path)
    for block in blocks_of(Lenient(path) if skip else path):
        try:
            if skip:
                check_bytes(block)
            cells = cells_of(block)
            if format == "auto":
                format = guessed_format(cells)
            record = record_of(block, cells, format, where)
            if trees:
                check_tree(record)
        except Malformed as error:
            message = f"{where}, line {block.line + error.row}: {error}"
            if not skip:
                raise FormatError(message) from None
            if report is not None:
                report(message)
        else:
            yield record


def blocks_of(path: str | os.PathLike[str]) -> Iterator[Block]:
    """What belongs to each sentence. Lines after the last row that are no sentence's are the last one's."""
    block = None
    rows: list[str] = []  # of the block
    inside = False  # a sentence has begun and not ended
    between: list[str] = []  # comments, and empty lines before them, for the next sentence
    for number, text in read_lines(path):
        if inside and (text[0] not in BLANKS or text.strip(BLANKS)):
            rows.append(text)
            continue
        if number == 1 and text[0] == BYTE_ORDER_MARK:
            between.append(BYTE_ORDER_MARK)
            text = text[1:]
        if not text.strip(BLANKS):
            inside = False
            (between if block is None or between else block.after).append(text)
        elif text[0] == "#":
            between.append(text)
        else:
            if block is not None:
                yield block
            inside, rows = True, [text]
            block, between = Block(number, between, rows, []), []
    if block is not None:
        yield Block(block.line, block.before, block.rows, block.after + between)


class Malformed(Exception):
    """What is wrong, and in which row of the block."""

    def __init__(self, row: int, message: str) -> None:
        self.row = row
        super().__init__(message)


def check_bytes(block: Block) -> None:
    """Raises Malformed if a line of a lenient path is not UTF-8."""
    if bad_byte("".join([*block.before, *block.rows, *block.after])) is None:
        return
    for i, text in enumerate(["".join(block.before), *block.rows, "".join(block.after)]):
        byte = bad_byte(text)
        if byte is not None:
            raise Malformed(max(min(i - 1, len(block.rows) - 1), 0), f"the text is not UTF-8 (byte {byte:#04x}).")


Cells = list[list[str]]


def cells_of(block: Block) -> Cells:
    cells = [row.split("\t") for row in block.rows]
    if set(map(len, cells)) == {WIDTH} and not has_empty_cell("".join(block.rows)):
        return cells
    for i, row in enumerate(cells):
        if len(row) != WIDTH:
            if row[0].startswith("#"):
                raise Malformed(i, "a comment inside a sentence: expected comments before it, and an empty line between sentences.")
            hint = " They must be parted by tabs, not blanks." if len(row) == 1 and len(row[0].split()) > 1 else ""
            raise Malformed(i, f"{len(row)} column{'s' * (len(row) != 1)} ({shortened(block.rows[i])}): expected {WIDTH}.{hint}")
        if has_empty_cell(block.rows[i]):
            empty = [cell.strip(BLANKS) for cell in row].index("")
            raise Malformed(i, f"column {empty + 1} is empty: expected '_' for nothing.")
    raise AssertionError  # some row was wrong


def has_empty_cell(rows: str) -> bool:
    return "\t\t" in rows or "\t\n" in rows or "\t\r\n" in rows or rows.endswith(("\t", "\t\r"))


def shortened(row: str) -> str:
    text = row.rstrip(BLANKS).replace("\t", " ")
    return repr(text if len(text) <= 50 else text[:47] + "...")


def guessed_format(cells: Cells) -> str:
    projective = {row[DEPENDENCIES] for row in cells} - {NOTHING}
    return "conllx" if projective and all(cell.isdecimal() for cell in projective) else "conllu"


def record_of(block: Block, cells: Cells, format: str, where: str) -> ConlluRecord:
    columns = list(zip(*cells, strict=True))
    words = None
    if columns[0] != numbers(len(cells)):
        words = rows_of_words(cells, format)
        if len(words) < len(cells):
            columns = list(zip(*(cells[i] for i in words), strict=True))
    before = "".join(block.before)
    match = NAME.search(before)
    heads = heads_of(columns[HEAD], words)
    labels = None if columns[LABEL].count(NOTHING) == len(columns[LABEL]) else columns[LABEL]
    name = match[1].strip() if match else f"{where}, line {block.line}"
    sentence = Sentence(dict(zip(READ, columns[1:], strict=False)), heads, labels, name)
    return ConlluRecord(sentence, block.line, before, tuple(block.rows), "".join(block.after), format, words)


COUNTED = tuple(map(str, range(1, 1001)))


def numbers(n: int) -> tuple[str, ...]:
    return COUNTED[:n] if n <= len(COUNTED) else tuple(map(str, range(1, n + 1)))


def rows_of_words(cells: Cells, format: str) -> tuple[int, ...]:
    """Rows that are words, where some are multiword tokens or empty nodes, or ids do not count up."""
    words: list[int] = []
    empty = inside = 0  # the last empty node since the last word; the last word of the last multiword token
    for i, (name, *_) in enumerate(cells):
        n = len(words)
        if name == str(n + 1):
            words.append(i)
            empty = 0
        elif format == "conllu" and (match := EMPTY_NODE.fullmatch(name)) and (int(match[1]), int(match[2])) == (n, empty + 1):
            empty += 1
        elif format == "conllu" and (match := RANGE.fullmatch(name)):
            first, last = int(match[1]), int(match[2])
            if first != n + 1 or last < first or first <= inside:
                reason = f"words {n + 1} to {inside} belong to another" if n < inside else f"expected it to begin with word {n + 1}"
                raise Malformed(i, f"the multiword token {name}: {reason if last >= first else 'expected its last word after its first'}.")
            if last > len(cells):  # more is checked at the end
                raise Malformed(i, f"the multiword token {name} ends after the sentence.")
            inside = last
        else:
            other = f", an empty node ({n}.{empty + 1}) or a multiword token ({n + 1}-{n + 2})" if format == "conllu" else ""
            raise Malformed(i, f"the id is {name!r}: expected {n + 1}{other}.")
    if inside > len(words):
        i = max(i for i, row in enumerate(cells) if row[0].endswith(f"-{inside}"))
        raise Malformed(i, f"the multiword token {cells[i][0]} ends after the sentence, which has {len(words)} words.")
    if not words:
        raise Malformed(0, "the sentence has no words, only empty nodes.")
    return tuple(words)


def heads_of(column: tuple[str, ...], words: tuple[int, ...] | None) -> tuple[int, ...] | None:
    if column.count(NOTHING) == len(column):
        return None
    together = "".join(column)
    if together.isdecimal() and together.isascii() and "" not in column:
        heads = tuple(map(int, column))
        if max(heads) <= len(heads) and all(map(operator.ne, heads, range(1, len(heads) + 1))):
            return heads
    for m, cell in enumerate(column):
        reason = f"expected 0 (the root) or another word, 1 to {len(column)}"
        if cell == NOTHING:
            reason = "other words of the sentence have heads; expected all or none"
        if not (cell.isdecimal() and cell.isascii()) or int(cell) > len(column) or int(cell) == m + 1:
            raise Malformed(m if words is None else words[m], f"the head of word {m + 1} is {cell!r}: {reason}.")
    raise AssertionError  # some cell was wrong


def check_tree(record: ConlluRecord) -> None:
    """Raises Malformed unless every word's chain of heads ends at the root."""
    heads = record.sentence.heads
    if heads is None:
        raise Malformed(0, "the sentence has no heads (column HEAD is '_'): expected a tree.")
    seen = [0] * (len(heads) + 1)  # the word from which the walk came by first
    for word in range(1, len(heads) + 1):
        at = word
        while at and not seen[at]:
            seen[at] = word
            at = heads[at - 1]
        if at and seen[at] == word:
            row = at - 1 if record.word_rows is None else record.word_rows[at - 1]
            raise Malformed(row, f"word {at} is on a cycle of heads: expected a tree.")
