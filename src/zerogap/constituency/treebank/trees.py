"""Constituency trees as treebanks have them: labels over labels, tags over words, any number of children.

    (S (NP (NNS dogs)) (VP (VBP bark)) (. .))

Nothing here recurses, so that a tree may be as deep as memory allows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from zerogap.errors import InvalidStructure

WRITABLE = re.compile(r"[^\s()]+")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Tree:
    """A label over children: trees, or words where the text has none between them and the label."""

    label: str
    children: tuple[Tree | str, ...]

    @property
    def is_preterminal(self) -> bool:
        """Whether it is a tag over one word."""
        return len(self.children) == 1 and isinstance(self.children[0], str)

    @property
    def subtrees(self) -> tuple[Tree, ...]:
        """The children that are trees."""
        return tuple(child for child in self.children if isinstance(child, Tree))

    def words(self) -> list[str]:
        found, waiting = [], [iter(self.children)]
        while waiting:
            child = next(waiting[-1], None)
            if child is None:
                waiting.pop()
            elif isinstance(child, Tree):
                waiting.append(iter(child.children))
            else:
                found.append(child)
        return found

    def tags(self) -> list[str]:
        return [node.label for node in preorder(self)[0] if node.is_preterminal]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tree):
            return NotImplemented
        waiting: list[tuple[Tree, Tree]] = [(self, other)]
        while waiting:
            a, b = waiting.pop()
            if a is b:
                continue
            if a.label != b.label or len(a.children) != len(b.children):
                return False
            for x, y in zip(a.children, b.children, strict=True):
                if isinstance(x, Tree) and isinstance(y, Tree):
                    waiting.append((x, y))
                elif x != y:
                    return False
        return True

    def __hash__(self) -> int:
        return hash(tuple((node.label, *(child for child in node.children if isinstance(child, str))) for node in preorder(self)[0]))

    def __repr__(self) -> str:
        return "".join(pieces(self))

    __str__ = __repr__


def check_proper(tree: Tree) -> None:
    """Raises InvalidStructure unless every word is alone below a tag and every label has something below it."""
    for node in preorder(tree)[0]:
        if not node.is_preterminal and (not node.children or len(node.subtrees) != len(node.children)):
            what = "has nothing below it" if not node.children else "has words beside other children"
            raise InvalidStructure(f"a constituent {node.label!r} {what}: expected constituents, or one word below a tag.")


def preorder(tree: Tree) -> tuple[list[Tree], list[int]]:
    """All nodes, each before those below it and left to right, and the place of the parent of each; -1 above the first."""
    nodes: list[Tree] = []
    parents: list[int] = []
    waiting: list[tuple[Tree, int]] = [(tree, -1)]
    while waiting:
        node, above = waiting.pop()
        waiting.extend((child, len(nodes)) for child in reversed(node.children) if isinstance(child, Tree))
        nodes.append(node)
        parents.append(above)
    return nodes, parents


def spans(tree: Tree) -> tuple[list[Tree], list[int], list[int]]:
    """All nodes as `preorder` has them, with the half-open spans of words that they cover. Words must be below tags."""
    check_proper(tree)
    nodes, parents = preorder(tree)
    starts, ends = [0] * len(nodes), [0] * len(nodes)
    position = 0
    for i, node in enumerate(nodes):
        starts[i] = position
        position += node.is_preterminal
    for i in range(len(nodes) - 1, -1, -1):  # the last child of a node gives its end
        ends[i] = max(ends[i], starts[i] + 1)
        if parents[i] >= 0:
            ends[parents[i]] = max(ends[parents[i]], ends[i])
    return nodes, starts, ends


def rebuilt(tree: Tree, change: Callable[[Tree, tuple[Tree | str, ...]], Iterable[Tree | str]]) -> tuple[Tree | str, ...]:
    """What is left of a tree when, bottom up, every node gives way to what `change` makes of it and its new children."""
    nodes, parents = preorder(tree)
    below: list[list[tuple[Tree | str, ...]]] = [[] for _ in nodes]
    for i in range(len(nodes) - 1, -1, -1):
        node, made = nodes[i], iter(reversed(below[i]))
        children: list[Tree | str] = []
        for child in node.children:
            children.extend(next(made) if isinstance(child, Tree) else (child,))
        result = tuple(change(node, tuple(children)))
        if i == 0:
            return result
        below[parents[i]].append(result)
        below[i] = []
    raise AssertionError("a tree has a first node")


def from_preorder(labels: Sequence[str], sizes: Sequence[int], words: Sequence[str]) -> Tree:
    """The tree whose nodes have these labels and numbers of children, each before those below it; 0 children mean the next word."""
    waiting: list[Tree] = []
    position = len(words)
    for label, size in zip(reversed(labels), reversed(sizes), strict=True):
        if size == 0:
            position -= 1
            waiting.append(Tree(label, (words[position],)))
        else:
            children = tuple(waiting.pop() for _ in range(size))
            waiting.append(Tree(label, children))
    return waiting.pop()


def pieces(tree: Tree) -> Iterator[str]:
    """The text of a tree on one line, piece by piece."""
    yield f"({tree.label}"
    waiting = [iter(tree.children)]
    gaps = [bool(tree.label)]
    while waiting:
        child = next(waiting[-1], None)
        if child is None:
            waiting.pop()
            gaps.pop()
            yield ")"
            continue
        gap, gaps[-1] = " " if gaps[-1] else "", True
        if isinstance(child, Tree):
            yield f"{gap}({child.label}"
            waiting.append(iter(child.children))
            gaps.append(bool(child.label))
        else:
            yield f"{gap}{child}"


def bracketed(tree: Tree) -> str:
    """The tree as text on one line, which reads back as the same tree; InvalidStructure for what no file could hold."""
    for node in preorder(tree)[0]:
        if node.label and not WRITABLE.fullmatch(node.label):
            raise InvalidStructure(f"the label {node.label!r} cannot be written: expected no brackets and no white space.")
        if not node.children:
            raise InvalidStructure(f"a constituent {node.label!r} has nothing below it: expected constituents or words.")
        for child in node.children:
            if isinstance(child, str) and not WRITABLE.fullmatch(child):
                raise InvalidStructure(f"the word {child!r} cannot be written: expected no brackets (-LRB-, -RRB-) and no white space.")
        if not node.label and isinstance(node.children[0], str):
            raise InvalidStructure(f"a word {node.children[0]!r} stands first below an empty label and would be read as the label.")
    return "".join(pieces(tree))


def indented(tree: Tree, *, width: int = 100) -> str:
    """The tree as text over several lines, as people read it: what fits into a line stays on one."""
    bracketed(tree)  # what cannot be written is refused
    out: list[str] = []
    waiting: list[tuple[Tree | str, int, int]] = [(tree, 0, 0)]  # a node, its depth, brackets to close after it
    while waiting:
        node, depth, closing = waiting.pop()
        pad, text = "  " * depth, str(node)
        children = node.children if isinstance(node, Tree) else ()
        if len(pad) + len(text) + closing <= width or isinstance(node, str) or len(children) == 0 or isinstance(children[0], str):
            out.append(pad + text + ")" * closing)
            continue
        out.append(f"{pad}({node.label}")
        ends = [0] * (len(children) - 1) + [closing + 1]
        waiting.extend((child, depth + 1, end) for child, end in reversed(list(zip(children, ends, strict=True))))
    return "\n".join(out)
