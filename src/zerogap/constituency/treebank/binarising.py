"""Trees with at most two children per node, and back: horizontal and vertical markovisation (Klein & Manning 2003, section 2).

    right   (NP DT JJ NN)  ->  (NP DT (NP⟨DT⟩ JJ NN))             a new node remembers the sisters before it
    left                       (NP (NP⟨NN⟩ DT JJ) NN)             those after it
    head    (head NN)          (NP DT (NP⟨NN+JJ⟩ JJ NN))          the head, and the sisters that it took last

`horizontal` says how many sisters are remembered (None: all). `vertical` is the number of labels in a symbol: 2 adds the parent,
`NP^S`. What is added begins with ^ or ⟨; these are escaped with a backslash where labels have them, so that nothing is lost.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

from zerogap.constituency.treebank.head_rules import head_child
from zerogap.constituency.treebank.trees import Tree, check_proper, preorder, rebuilt
from zerogap.errors import InputError, UnknownMethod

PARENT, OPEN, CLOSE, ESCAPE, PLUS = "^", "⟨", "⟩", "\\", "+"
RESERVED = frozenset((PARENT, OPEN, CLOSE, ESCAPE))
DIRECTIONS = ("right", "left", "head")

Split = Callable[[Sequence[Tree], Sequence[int], int], str]  # nodes and parents as in `preorder`, and a place -> what is added


@functools.lru_cache(maxsize=100_000)
def symbol_of(label: str) -> str:
    """The label as a symbol: what means something there is escaped."""
    return "".join(ESCAPE + c if c in RESERVED else c for c in label)


@functools.lru_cache(maxsize=100_000)
def label_of(symbol: str) -> str:
    """The label of a symbol without all that was added.

    >>> label_of("NP^S⟨DT⟩"), label_of(symbol_of("a^b"))
    ('NP', 'a^b')
    """
    label, at = [], 0
    while at < len(symbol) and symbol[at] not in (PARENT, OPEN):
        at += symbol[at] == ESCAPE
        label.append(symbol[at : at + 1])
        at += 1
    return "".join(label)


@functools.lru_cache(maxsize=100_000)
def is_added(symbol: str) -> bool:
    """Whether a symbol is of a node that `binarise` put between others."""
    at = 0
    while at < len(symbol):
        if symbol[at] == OPEN:
            return True
        at += 1 + (symbol[at] == ESCAPE)
    return False


def binarise(
    tree: Tree,
    *,
    horizontal: int | None = None,
    vertical: int = 1,
    direction: str = "right",
    tag_parents: bool = False,
    splits: Sequence[Split] = (),
    head_rules: str = "collins",
) -> Tree:
    """The tree with at most two children per node and with symbols for labels.

    `vertical` annotates constituents with their ancestors, and with `tag_parents` tags too. `splits` add to symbols what they return,
    if it is not empty (`constituency.treebank.splits`).
    """
    check_options(horizontal, vertical, direction)
    check_proper(tree)
    nodes, parents = preorder(tree)
    names = []
    for i, node in enumerate(nodes):
        name, above = symbol_of(node.label), parents[i]
        for _ in range(vertical - 1 if tag_parents or not node.is_preterminal else 0):
            if above < 0:
                break
            name += PARENT + symbol_of(nodes[above].label)
            above = parents[above]
        names.append(name + "".join(PARENT + symbol_of(more) for split in splits if (more := split(nodes, parents, i))))
    below: list[list[int]] = [[] for _ in nodes]
    made: list[Tree] = list(nodes)
    for i in range(len(nodes) - 1, -1, -1):
        children = below[i][::-1]
        if nodes[i].is_preterminal:
            made[i] = Tree(names[i], nodes[i].children)
        else:
            labels = [nodes[c].label for c in children]
            head = head_child(nodes[i].label, labels, rules=head_rules) if direction == "head" else 0
            made[i] = factored(names[i], [made[c] for c in children], [symbol_of(label) for label in labels], horizontal, direction, head)
        if parents[i] >= 0:
            below[parents[i]].append(i)
    return made[0]


def check_options(horizontal: int | None, vertical: int, direction: str) -> None:
    if direction not in DIRECTIONS:
        raise UnknownMethod("direction", direction, DIRECTIONS)
    if horizontal is not None and (not isinstance(horizontal, int) or isinstance(horizontal, bool) or horizontal < 0):
        raise InputError(f"horizontal is {horizontal!r}: expected a number of sisters from 0, or None for all.")
    if not isinstance(vertical, int) or isinstance(vertical, bool) or vertical < 1:
        raise InputError(f"vertical is {vertical!r}: expected a number of labels from 1.")


def factored(name: str, children: list[Tree], labels: list[str], horizontal: int | None, direction: str, head: int) -> Tree:
    """One node over its children, with nodes between if they are more than two."""
    n = len(children)
    if n <= 2:
        return Tree(name, tuple(children))
    size = n if horizontal is None else horizontal
    if direction == "right":
        last = children[-1]
        for i in range(n - 2, 0, -1):
            last = Tree(name + OPEN + PLUS.join(labels[max(0, i - size) : i]) + CLOSE, (children[i], last))
        return Tree(name, (children[0], last))
    if direction == "left":
        first = children[0]
        for i in range(1, n - 1):
            first = Tree(name + OPEN + PLUS.join(labels[i + 1 : i + 1 + size]) + CLOSE, (first, children[i]))
        return Tree(name, (first, children[-1]))
    inner = children[head]
    outward = [*range(head + 1, n), *range(head - 1, -1, -1)]  # the sisters to the right first
    for step, i in enumerate(outward):
        pair = (inner, children[i]) if i > head else (children[i], inner)
        if step == n - 2:
            return Tree(name, pair)
        taken = [s for s in outward[: step + 1] if (s > head) == (i > head)][::-1][:size]  # on this side, the last one first
        side = ">" if i > head else "<"
        inner = Tree(name + OPEN + labels[head] + "".join(side + labels[s] for s in taken) + CLOSE, pair)
    raise AssertionError("the last sister ends the loop")


def unbinarise(tree: Tree) -> Tree:
    """The tree that was binarised: nodes between others give way to their children, symbols to labels."""

    def change(node: Tree, children: tuple[Tree | str, ...]) -> tuple[Tree | str, ...]:
        return children if is_added(node.label) else (Tree(label_of(node.label), children),)

    left = rebuilt(tree, change)
    if len(left) != 1 or not isinstance(left[0], Tree):
        raise InputError(
            f"the top of the tree is {tree.label!r}, which stands between a node and its children: expected a node of its own."
        )
    return left[0]
