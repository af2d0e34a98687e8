"""Treebank trees as parsers want them: no traces, no function tags, one symbol on top.

What is usual for the Penn Treebank since Collins 1997: empty elements and what covers nothing else are removed, `NP-SBJ-1` and
`NP=2` become `NP`, of alternatives (`ADVP|PRT`) the first is taken, an `X` whose only child is an `X` gives way to it.
"""

from __future__ import annotations

import functools
import re

from zerogap.constituency.treebank.trees import Tree, rebuilt

EMPTY = "-NONE-"
TOP = "TOP"
BRACKETS = {"(": "-LRB-", ")": "-RRB-", "[": "-LSB-", "]": "-RSB-", "{": "-LCB-", "}": "-RCB-"}
WHOLE = re.compile("|".join(re.escape(name) for name in BRACKETS.values()))
ROUND = re.compile("[()]")


def cleaned(
    tree: Tree, *, functions: bool = False, traces: bool = False, repeated: bool = False, top: str | None = TOP
) -> Tree | None:  # None if nothing is left
    """The tree without function tags, without traces, without `X` over a single `X`, each kept if it is asked for.

    `top` names the node on top: an empty bracket, TOP, ROOT or S1 gets this name, and a tree without any of them gets such a node.
    None leaves the top as it is.
    """

    def change(node: Tree, children: tuple[Tree | str, ...]) -> tuple[Tree | str, ...]:
        if not traces and (node.label == EMPTY or not children):
            return ()
        label = node.label if functions else without_function(node.label)
        only = children[0] if len(children) == 1 else None
        if not repeated and isinstance(only, Tree) and only.label == label and not only.is_preterminal:
            return (only,)
        return (Tree(label, children),)

    left = rebuilt(tree, change)
    if not left:
        return None
    kept = left[0]
    assert isinstance(kept, Tree)
    return kept if top is None else with_top(kept, top)


def with_top(tree: Tree, top: str = TOP) -> Tree:
    """The tree under one node of that name; empty brackets and TOP, ROOT, S1 that are on top give way to it."""
    while not tree.is_preterminal and tree.label in ("", TOP, "ROOT", "S1", top) and len(tree.children) == 1:
        only = tree.children[0]
        assert isinstance(only, Tree)
        tree = only
    if tree.label in ("", TOP, "ROOT", "S1", top) and not tree.is_preterminal:
        return Tree(top, tree.children)
    return Tree(top, (tree,))


@functools.lru_cache(maxsize=10_000)
def without_function(label: str) -> str:
    """The category of a label: what stands before the first `-`, `=` or `|`, unless the label begins with it.

    >>> [without_function(label) for label in ("NP-SBJ-1", "PP=2", "-LRB-", "ADVP|PRT", "PRP$", "NP")]
    ['NP', 'PP', '-LRB-', 'ADVP', 'PRP$', 'NP']
    """
    ends = [at for mark in "-=|" if (at := label.find(mark, 1)) > 0]
    return label if label.startswith("-") or not ends else label[: min(ends)]


def escaped(word: str) -> str:
    """A word of plain text as treebanks write it: a bracket alone by its name, round ones inside a word too.

    >>> escaped("("), escaped("a(b)"), escaped("[")
    ('-LRB-', 'a-LRB-b-RRB-', '-LSB-')
    """
    return BRACKETS.get(word) or ROUND.sub(lambda match: BRACKETS[match[0]], word)


def unescaped(word: str) -> str:
    r"""A word of a treebank as plain text has it.

    >>> unescaped("-LRB-"), unescaped(r"1\/2"), unescaped("a-LRB-b-RRB-")
    ('(', '1/2', 'a(b)')
    """
    plain = {name: bracket for bracket, name in BRACKETS.items()}
    return WHOLE.sub(lambda match: plain[match[0]], word).replace("\\/", "/").replace("\\*", "*")
