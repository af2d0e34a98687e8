"""Bracketed trees, as the Penn Treebank has them, in and out.

    ( (S (NP-SBJ (NNS dogs))
         (VP (VBP bark)) (. .) ))

White space parts nothing but labels and words: a tree may go over many lines and a line may have many trees. The label may be empty.
Reading keeps everything else as it is (`constituency.treebank.cleaning` removes traces and functions), and is one tree at a time.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator

from zerogap.constituency.treebank.trees import Tree, bracketed, indented
from zerogap.errors import FormatError
from zerogap.io.formats.lines import read_lines, shown, writing

TOKEN = re.compile(r"[()]|[^\s()]+")
BYTE_ORDER_MARK = "\ufeff"


def read_trees(path: str | os.PathLike[str]) -> Iterator[Tree]:
    """The trees of a file, one by one; `.gz` is unpacked, `-` is standard input. FormatError names line and column."""
    for _, tree in numbered_trees(read_lines(path), shown(path)):
        yield tree


def tree_from_text(text: str) -> Tree:
    """The one tree of a text.

    >>> tree_from_text("(S (NP (NNS dogs)) (VP (VBP bark)))").words()
    ['dogs', 'bark']
    """
    lines = enumerate(text.splitlines(keepends=True), start=1)
    trees = [tree for _, tree in numbered_trees(lines, "the text")]
    if len(trees) != 1:
        raise FormatError(f"the text has {len(trees)} trees: expected one.")
    return trees[0]


def numbered_trees(lines: Iterable[tuple[int, str]], name: str) -> Iterator[tuple[int, Tree]]:
    """The trees of numbered lines, each with the line on which it begins."""
    # what is open: label (None until it is known), children, line and column of the bracket
    labels: list[str | None] = []
    children: list[list[Tree | str]] = []
    places: list[tuple[int, int]] = []
    for number, line in lines:
        for match in TOKEN.finditer(line.removeprefix(BYTE_ORDER_MARK) if number == 1 else line):
            token = match[0]
            if token == "(":
                if labels and labels[-1] is None:
                    labels[-1] = ""
                labels.append(None)
                children.append([])
                places.append((number, match.start() + 1))
            elif not labels:
                where = f"{name}, line {number}, column {match.start() + 1}"
                what = "a bracket closes that none opened" if token == ")" else f"{shortened(token)} stands outside of all brackets"
                raise FormatError(f"{where}: {what}: expected trees such as (S (NP (NNS dogs)) (VP (VBP bark))).")
            elif token == ")":
                label, below, place = labels.pop(), children.pop(), places.pop()
                if not below:
                    inside, where = (
                        "" if label is None else f" but the label {shortened(label)}",
                        f"{name}, line {place[0]}, column {place[1]}",
                    )
                    raise FormatError(f"{where}: nothing is in the brackets{inside}: expected a label and what is below it.")
                tree = Tree(label or "", tuple(below))
                if children:
                    children[-1].append(tree)
                else:
                    yield place[0], tree
            elif labels[-1] is None:
                labels[-1] = token
            else:
                children[-1].append(token)
    if places:
        first, column = places[0]
        more = f" ({len(places)} are open)" if len(places) > 1 else ""
        raise FormatError(f"{name}, line {first}, column {column}: the bracket that opens here is never closed{more}: expected ).")


def shortened(token: str) -> str:
    return repr(token if len(token) <= 30 else token[:27] + "...")


def write_trees(path: str | os.PathLike[str] | None, trees: Iterable[Tree], *, lines: str = "one") -> int:
    """Writes trees, one per line, or over `many` lines as people read them; returns how many. None or `-` is standard output."""
    if lines not in ("one", "many"):
        raise FormatError(f"lines is {lines!r}: expected 'one' or 'many'.")
    text_of, count = (bracketed if lines == "one" else indented), 0
    with writing(path) as file:
        for tree in trees:
            file.write(text_of(tree) + "\n")
            count += 1
    return count
