"""Linguistic splits of symbols: what a treebank's labels leave out and a parser wants to know (Klein & Manning 2003, sections 3 to 5).

A split looks at a node in its tree and returns what is added to its symbol, or nothing. They are given by name to `splits_named`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from zerogap.constituency.treebank.binarising import Split
from zerogap.constituency.treebank.head_rules import head_child
from zerogap.constituency.treebank.trees import Tree, preorder
from zerogap.errors import UnknownMethod

BE = frozenset(("is", "are", "was", "were", "be", "been", "being", "am", "'s", "'re", "'m"))
HAVE = frozenset(("has", "have", "had", "having", "'ve", "'d"))
VERBS = ("VB", "MD")


def word_of(node: Tree) -> str:
    """The word below a tag, in small letters."""
    return str(node.children[0]).lower()


def unary(nodes: Sequence[Tree], parents: Sequence[int], i: int) -> str:
    """A constituent with one child."""
    return "1" if parents[i] >= 0 and not nodes[i].is_preterminal and len(nodes[i].children) == 1 else ""


def alone(nodes: Sequence[Tree], parents: Sequence[int], i: int) -> str:
    """A determiner or an adverb that is a constituent by itself."""
    return "alone" if nodes[i].is_preterminal and nodes[i].label in ("DT", "RB") and len(nodes[parents[i]].children) == 1 else ""


def auxiliary(nodes: Sequence[Tree], parents: Sequence[int], i: int) -> str:
    """Forms of `be` and `have`."""
    if not nodes[i].is_preterminal or not nodes[i].label.startswith("VB"):
        return ""
    word = word_of(nodes[i])
    return "be" if word in BE else "have" if word in HAVE else ""


def preposition(nodes: Sequence[Tree], parents: Sequence[int], i: int) -> str:
    """Prepositions by what their phrase stands in."""
    if not nodes[i].is_preterminal or nodes[i].label not in ("IN", "TO") or parents[i] < 0 or parents[parents[i]] < 0:
        return ""
    return nodes[parents[parents[i]]].label


def conjunction(nodes: Sequence[Tree], parents: Sequence[int], i: int) -> str:
    """`but` and `&` are not like `and`."""
    word = word_of(nodes[i]) if nodes[i].is_preterminal and nodes[i].label == "CC" else ""
    return word if word in ("but", "&") else ""


def percent(nodes: Sequence[Tree], parents: Sequence[int], i: int) -> str:
    """% is tagged as a noun."""
    return "%" if nodes[i].is_preterminal and word_of(nodes[i]) == "%" else ""


def possessive(nodes: Sequence[Tree], parents: Sequence[int], i: int) -> str:
    """A noun phrase that ends in 's."""
    below = nodes[i].subtrees
    return "'s" if nodes[i].label == "NP" and below and below[-1].label == "POS" else ""


def base(nodes: Sequence[Tree], parents: Sequence[int], i: int) -> str:
    """A noun phrase over tags only."""
    return "base" if nodes[i].label == "NP" and all(child.is_preterminal for child in nodes[i].subtrees) else ""


def verb_form(nodes: Sequence[Tree], parents: Sequence[int], i: int) -> str:
    """A verb phrase by the form of its first verb."""
    node = nodes[i]
    if node.label != "VP":
        return ""
    while not node.is_preterminal:
        below = node.subtrees
        node = below[head_child(node.label, [child.label for child in below])]
    return "fin" if node.label in ("MD", "VBZ", "VBD", "VBP") else node.label if node.label in ("VB", "VBG", "VBN", "TO") else ""


def has_verb(nodes: Sequence[Tree], parents: Sequence[int], i: int) -> str:
    """A constituent with a verb somewhere in it, other than those that always have one."""
    node = nodes[i]
    if node.is_preterminal or node.label in ("TOP", "S", "VP", "SINV", "SQ", "SBAR", "SBARQ"):
        return ""
    return "v" if any(below.is_preterminal and below.label.startswith(VERBS) for below in preorder(node)[0]) else ""


def ends_in_noun_phrase(nodes: Sequence[Tree], parents: Sequence[int], i: int) -> str:
    """A noun phrase with another at its right edge."""
    node = nodes[i]
    if node.label != "NP":
        return ""
    while node.subtrees:
        node = node.subtrees[-1]
        if node.label == "NP":
            return "np"
    return ""


SPLITS: dict[str, Split] = {
    "unary": unary,
    "alone": alone,
    "auxiliary": auxiliary,
    "preposition": preposition,
    "conjunction": conjunction,
    "percent": percent,
    "possessive": possessive,
    "base": base,
    "verb-form": verb_form,
    "has-verb": has_verb,
    "ends-in-noun-phrase": ends_in_noun_phrase,
}


def splits_named(names: Iterable[str]) -> tuple[Split, ...]:
    """The splits of these names, in the order in which they are added."""
    chosen = list(names)
    for name in chosen:
        if name not in SPLITS:
            raise UnknownMethod("split", name, SPLITS)
    return tuple(SPLITS[name] for name in chosen)
