"""Counts for a head-driven grammar: a constituent is its head child, then sisters outward on each side, then an end (Collins 1997).

    (NP (DT the) (NN dog) (PP in ...))      head NN(dog); right: PP(in) after nothing, end after PP; left: DT(the), end after DT

Of a sister on the same side, the step after it remembers little (`MEMORIES`). Departure: whether a verb stands between the head word and
the sister is asked of words, by their most probable tag, so that it is a matter of two positions and not of a parse.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from zerogap.constituency.treebank.binarising import PARENT, Split, label_of, symbol_of
from zerogap.constituency.treebank.head_rules import head_child
from zerogap.constituency.treebank.lexicon import Lexicon, train_lexicon
from zerogap.constituency.treebank.trees import Tree, check_proper, preorder, rebuilt
from zerogap.errors import InputError, UnknownMethod

STOP = ""  # in the place of a sister: no more on this side
NOTHING = "-"  # no sister yet
LEFT, RIGHT = 0, 1
PAUSES = frozenset((",", ":", "``", "''", "-LRB-", "-RRB-"))
COORDINATED = frozenset(("CC", "CONJP"))
VERBS = ("VB", "MD")


def by_class(symbol: str, is_tag: bool) -> str:
    """A pause, a conjunction, a tag or a phrase."""
    label = label_of(symbol)
    return "," if label in PAUSES else "CC" if label in COORDINATED else "t" if is_tag else "p"


MEMORIES: dict[str, Callable[[str, bool], str]] = {
    "adjacency": lambda symbol, is_tag: "+",
    "class": by_class,
    "label": lambda symbol, is_tag: label_of(symbol),
}

Step = tuple[str, str, int, str]  # parent, head child, side, memory of the last sister


@dataclass(frozen=True, slots=True, eq=False)
class LexicalCounts:
    """How often each thing was seen, each with the tag and the word of its head last."""

    root: str
    memory: str
    lexicon: Lexicon
    tags: frozenset[str]
    heads: Counter[tuple[str, str, str, str]]  # parent, head child
    steps: Counter[tuple[Step, int, str, str, str]]  # whether a verb is between, sister or STOP
    sisters: Counter[tuple[str, int, str, str, str, str]]  # label, side, tag and word of the sister
    roots: Counter[tuple[str, str]]


def annotated(tree: Tree, *, vertical: int, splits: Sequence[Split]) -> Tree:
    """The tree with symbols for labels: constituents, not tags, have those of their ancestors and what `splits` add."""
    nodes, parents = preorder(tree)
    names = []
    for i, node in enumerate(nodes):
        name, above = symbol_of(node.label), parents[i]
        if not node.is_preterminal:
            for _ in range(vertical - 1):
                if above >= 0:
                    name += PARENT + symbol_of(nodes[above].label)
                    above = parents[above]
            name += "".join(PARENT + symbol_of(more) for split in splits if (more := split(nodes, parents, i)))
        names.append(name)
    left = reversed(names)  # bottom up is the reverse of top down
    (made,) = rebuilt(tree, lambda node, children: (Tree(next(left), children),))
    assert isinstance(made, Tree)
    return made


def verbs_before(words: Sequence[str], lexicon: Lexicon) -> list[int]:
    """How many words before each place, and before the end, are most probably verbs."""
    found = [0]
    for i, word in enumerate(words):
        found.append(found[-1] + is_verb(lexicon, word, i == 0))
    return found


@functools.lru_cache(maxsize=200_000)
def is_verb(lexicon: Lexicon, word: str, first: bool) -> bool:
    return lexicon.tags[int(lexicon.probabilities(word, first).argmax())].startswith(VERBS)


def count_events(
    trees: Iterable[Tree], *, memory: str = "class", head_rules: str = "yamada", vertical: int = 1, splits: Sequence[Split] = ()
) -> LexicalCounts:
    """The events of cleaned trees, which must all have the same label on top."""
    if memory not in MEMORIES:
        raise UnknownMethod("memory", memory, MEMORIES)
    remember = MEMORIES[memory]
    made = []
    for tree in trees:
        check_proper(tree)
        made.append(annotated(tree, vertical=vertical, splits=splits))
    if not made:
        raise InputError("there are no trees: expected some to count events.")
    root = made[0].label
    tagged = [list(zip(tree.words(), tree.tags(), strict=True)) for tree in made]
    lexicon = train_lexicon(tagged)
    counts = LexicalCounts(root, memory, lexicon, frozenset(lexicon.tags), Counter(), Counter(), Counter(), Counter())
    for k, (tree, sentence) in enumerate(zip(made, tagged, strict=True)):
        if tree.label != root or tree.is_preterminal:
            raise InputError(f"tree {k} has {tree.label!r} on top, others {root!r}: expected the same everywhere, and no tag.")
        verbs = verbs_before([word for word, _ in sentence], lexicon)
        found: dict[int, tuple[int, int, int]] = {}  # node -> head position, start, end
        nodes, parents = preorder(tree)
        below: list[list[int]] = [[] for _ in nodes]
        position = len(sentence)
        for i in range(len(nodes) - 1, -1, -1):
            if parents[i] >= 0:
                below[parents[i]].append(i)
            if nodes[i].is_preterminal:
                position -= 1
                found[i] = (position, position, position + 1)
                continue
            children = below[i][::-1]
            at = head_child(label_of(nodes[i].label), [label_of(nodes[c].label) for c in children], rules=head_rules)
            head = found[children[at]][0]
            found[i] = (head, found[children[0]][1], found[children[-1]][2])
            parent, inner = nodes[i].label, nodes[children[at]].label
            word, tag = sentence[head]
            counts.heads[parent, inner, tag, word] += 1
            for side, outward in ((LEFT, children[:at][::-1]), (RIGHT, children[at + 1 :])):
                last, edge = NOTHING, found[children[at]][1 + side]
                for c in outward:
                    there, start, end = found[c]
                    verb = int(has_verb(verbs, head, edge))
                    counts.steps[(parent, inner, side, last), verb, nodes[c].label, tag, word] += 1
                    counts.sisters[sister_class(nodes[c].label, sentence[there][1]), side, *sentence[there][::-1], tag, word] += 1
                    last, edge = remember(nodes[c].label, nodes[c].is_preterminal), (start, end)[side]
                counts.steps[(parent, inner, side, last), int(has_verb(verbs, head, edge)), STOP, tag, word] += 1
        counts.roots[sentence[found[0][0]][::-1]] += 1
    return counts


def has_verb(verbs: Sequence[int], head: int, edge: int) -> bool:
    """Whether a verb stands between the head's position and a place to its left (or right), the head itself left out."""
    return verbs[head] > verbs[edge] if edge <= head else verbs[edge] > verbs[head + 1]


def sister_class(symbol: str, tag: str) -> str:
    """What the tag and word of a sister depend on: its label, nothing if it is the tag itself."""
    label = label_of(symbol)
    return "" if label == tag else label
