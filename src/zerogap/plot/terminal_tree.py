"""A dependency tree as text: the words from top to bottom, at their left the arcs as brackets.

        ╭─ 1 The     DET    det
      ╭─┴─ 2 cat     NOUN   nsubj
    ──┼─── 3 sleeps  VERB   root
      ╰─── 4 .       PUNCT  punct

The line of a word comes from the bracket of its head and crosses its own, from which the lines of its modifiers leave. A bracket stands
as far to the right as its word is deep in the tree, so that any tree fits, however long. Where arcs cross, the vertical line is on top.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TextIO

from rich.cells import cell_len, set_cell_size

from zerogap.dependency.sentence import Sentence
from zerogap.errors import InputError

UP, DOWN, LEFT, RIGHT = 1, 2, 4, 8
LINES = {
    0: " ", RIGHT: "─", LEFT | RIGHT: "─", UP | DOWN: "│", UP | RIGHT: "╰", DOWN | RIGHT: "╭", UP | DOWN | RIGHT: "├",
    UP | LEFT | RIGHT: "┴", DOWN | LEFT | RIGHT: "┬", UP | DOWN | LEFT | RIGHT: "┼",
}  # fmt: skip
DIM, BOLD, CYAN, GREEN, RESET = "\033[2m", "\033[1m", "\033[36m", "\033[32m", "\033[0m"
SMALLEST_FORM = 8  # that forms are cut to where the terminal is narrow
MARGIN = 2
JOINERS = "\u200c\u200d"  # of letters and emoji


def draw_tree(sentence: Sentence, *, columns: Sequence[str] = ("upos",), width: int | None = None, colour: bool = False) -> str:
    """The tree of a sentence as lines of text, with these of its columns and the relations beside the words.

    Lines are no wider than `width`, if that can be: brackets stand closer, then words are cut. `colour` adds the codes of a terminal.

    >>> columns = {"form": ("Time", "flies", "fast"), "upos": ("NOUN", "VERB", "ADV")}
    >>> print(draw_tree(Sentence(columns, heads=(2, 0, 2), labels=("nsubj", "root", "advmod"))))
      ╭─ 1 Time   NOUN  nsubj
    ──┼─ 2 flies  VERB  root
      ╰─ 3 fast   ADV   advmod
    """
    if sentence.heads is None:
        raise InputError(f"{sentence.name or 'the sentence'} has no heads: expected a tree.")
    missing = [name for name in columns if name not in sentence.columns]
    if missing:
        raise InputError(f"the sentence has no column {missing[0]!r}: expected some of {', '.join(sentence.columns)}.")
    if not len(sentence):
        return ""
    cells = [[str(m) for m in range(1, len(sentence) + 1)], [printable(form) for form in sentence.columns["form"]]]
    cells += [[printable(value) for value in sentence.columns[name]] for name in columns]
    if sentence.labels is not None:
        cells.append([printable(label) for label in sentence.labels])
    brackets = lines_of(sentence.heads, 2)
    widths = [max(map(cell_len, column)) for column in cells]
    if width is not None:
        rest = sum(widths) + MARGIN * (len(cells) - 2) + 2
        if len(brackets[0]) + rest > width:
            brackets = lines_of(sentence.heads, 1)
        widths[1] = min(widths[1], max(SMALLEST_FORM, widths[1] + width - rest - len(brackets[0])))
    rows = []
    for m, line in enumerate(brackets):
        number = cells[0][m].rjust(widths[0])
        texts = [fitted(column[m], size) for column, size in zip(cells[1:], widths[1:], strict=True)]
        texts[-1] = texts[-1].rstrip()
        if colour:
            texts[0] = f"{BOLD}{texts[0]}{RESET}" if sentence.heads[m] == 0 else texts[0]
            texts[1:] = [f"{GREEN if i == len(columns) else CYAN}{text}{RESET}" for i, text in enumerate(texts[1:])]
            line, number = f"{DIM}{line}", f"{number}{RESET}"
        rows.append(f"{line} {number} {(' ' * MARGIN).join(texts)}")
    return "\n".join(rows)


def print_tree(sentence: Sentence, *, columns: Sequence[str] = ("upos",), file: TextIO | None = None) -> None:
    """Prints the tree; with colours and no wider than the terminal, if it goes to one."""
    stream = sys.stdout if file is None else file
    is_terminal = stream.isatty()
    width = os.get_terminal_size(stream.fileno()).columns if is_terminal else None
    colour = is_terminal and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
    print(draw_tree(sentence, columns=columns, width=width, colour=colour), file=stream)


def printable(text: str) -> str:
    """Without what would move the cursor or change the terminal."""
    return "".join(character if character.isprintable() or character in JOINERS else "\ufffd" for character in text)


def fitted(text: str, size: int) -> str:
    """The text in exactly so many columns of the terminal; wide characters take two."""
    return set_cell_size(text, size) if cell_len(text) <= size else set_cell_size(text, size - 1) + "…"


def lines_of(heads: Sequence[int], step: int) -> list[str]:
    """What stands at the left of every word; `step` columns for every bracket beside another."""
    spans = spans_of(heads)
    places = places_of(spans, depths_of(heads))
    width = MARGIN + step * max(places.values(), default=0) + 2
    grid = [[0] * width for _ in heads]
    for word, (low, high) in spans.items():
        x = MARGIN + step * places[word]
        for m in range(low, high + 1):
            grid[m - 1][x] |= UP * (m > low) | DOWN * (m < high)
    for m, head in enumerate(heads, start=1):
        row = grid[m - 1]
        start = MARGIN + step * places[head] if head else 0
        own = MARGIN + step * places[m] if m in places else -1
        for x in range(start, len(row)):
            if x in (start, own) or not row[x]:  # other brackets are crossed, and stay as they are
                row[x] |= RIGHT | LEFT * (x > start)
    return ["".join(LINES[cell] for cell in row) for row in grid]


def depths_of(heads: Sequence[int]) -> list[int]:
    """How many words are between each word and the root; of word 1 first."""
    depths = [-1] * (len(heads) + 1)
    for m in range(1, len(heads) + 1):
        path: list[int] = []
        at = m
        while at and depths[at] < 0:
            if len(path) > len(heads):
                raise InputError(f"word {at} is on a cycle of heads: expected a tree.")
            path.append(at)
            at = heads[at - 1]
        depth = depths[at] if at else -1
        for word in reversed(path):
            depth += 1
            depths[word] = depth
    return depths[1:]


def spans_of(heads: Sequence[int]) -> dict[int, tuple[int, int]]:
    """The first and the last row of the bracket of every word that has modifiers."""
    spans: dict[int, tuple[int, int]] = {}
    for m, head in enumerate(heads, start=1):
        if head:
            low, high = spans.get(head, (head, head))
            spans[head] = min(low, m), max(high, m)
    return spans


def places_of(spans: dict[int, tuple[int, int]], depths: Sequence[int]) -> dict[int, int]:
    """The place of every bracket, counted from the left.

    Brackets of words of one depth share a place unless they overlap, which they do only where arcs cross.
    """
    levels: dict[int, list[int]] = {}
    for word in sorted(spans, key=lambda word: spans[word]):
        levels.setdefault(depths[word - 1], []).append(word)
    places: dict[int, int] = {}
    first = 0
    for _, words in sorted(levels.items()):
        ends: list[int] = []  # of the last bracket in each place
        for word in words:
            low, high = spans[word]
            place = next((i for i, end in enumerate(ends) if end < low), len(ends))
            ends[place : place + 1] = [high]
            places[word] = first + place
        first += len(ends)
    return places
