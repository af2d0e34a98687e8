"""Rules for heads of constituents, and the dependencies that follow (Collins 1999, appendix A; Yamada & Matsumoto 2003).

A rule looks for labels in an order of preference, from the left or from the right: `l IN TO` finds the leftmost IN, or else the
leftmost TO; `r NN|NNS` the rightmost of either. When nothing is found, the first or the last child is taken that is no punctuation.
Labels may have functions or annotations: only the category counts.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

from zerogap.constituency.treebank.cleaning import without_function
from zerogap.constituency.treebank.trees import Tree, check_proper, preorder
from zerogap.errors import UnknownMethod

COLLINS = """
ADJP   l NNS QP NN $ ADVP JJ VBN VBG ADJP JJR NP JJS DT FW RBR RBS SBAR RB
ADVP   r RB RBR RBS FW ADVP TO CD JJR JJ IN NP JJS NN
CONJP  r CC RB IN
FRAG   r
INTJ   l
LST    r LS :
NAC    l NN NNS NNP NNPS NP NAC EX $ CD QP PRP VBG JJ JJS JJR ADJP FW
NP     r NN|NNP|NNPS|NNS|NX|POS|JJR l NP r $|ADJP|PRN CD JJ|JJS|RB|QP
NX     r NN|NNP|NNPS|NNS|NX|POS|JJR l NP r $|ADJP|PRN CD JJ|JJS|RB|QP
PP     r IN TO VBG VBN RP FW
PRN    l
PRT    r RP
QP     l $ IN NNS NN JJ RB DT CD NCD QP JJR JJS
RRC    r VP NP ADVP ADJP PP
S      l TO IN VP S SBAR ADJP UCP NP
SBAR   l WHNP WHPP WHADVP WHADJP IN DT S SQ SINV SBAR FRAG
SBARQ  l SQ S SINV SBARQ FRAG
SINV   l VBZ VBD VBP VB MD VP S SINV ADJP NP
SQ     l VBZ VBD VBP VB MD VP SQ
UCP    r
VP     l TO VBD VBN MD VBZ VB VBG VBP VP ADJP NN NNS NP
WHADJP l CC WRB JJ ADJP
WHADVP r CC WRB
WHNP   l WDT WP WP$ WHADJP WHPP WHNP
WHPP   r IN TO FW
"""

YAMADA = """
ADJP   r NNS QP NN $ ADVP JJ VBN VBG ADJP JJR NP JJS DT FW RBR RBS SBAR RB
ADVP   l RB RBR RBS FW ADVP TO CD JJR JJ IN NP JJS NN
CONJP  l CC RB IN
FRAG   l
INTJ   r
LST    l LS :
NAC    r NN|NNS|NNP|NNPS NP NAC EX $ CD QP PRP VBG JJ JJS JJR ADJP FW
NP     r POS|NN|NNP|NNPS|NNS NX JJR CD JJ JJS RB QP NP
NX     r POS|NN|NNP|NNPS|NNS NX JJR CD JJ JJS RB QP NP
PP     l IN TO VBG VBN RP FW
PRN    r
PRT    l RP
QP     r $ IN NNS NN JJ RB DT CD NCD QP JJR JJS
RRC    l VP NP ADVP ADJP PP
S      r TO IN VP S SBAR ADJP UCP NP
SBAR   r WHNP WHPP WHADVP WHADJP IN DT S SQ SINV SBAR FRAG
SBARQ  r SQ S SINV SBARQ FRAG
SINV   r VBZ VBD VBP VB MD VP S SINV ADJP NP
SQ     r VBZ VBD VBP VB MD VP SQ
UCP    l
VP     l VBD VBN MD VBZ VB VBG VBP VP ADJP NN NNS NP
WHADJP r CC WRB JJ ADJP
WHADVP l CC WRB
WHNP   r WDT WP WP$ WHADJP WHPP WHNP
WHPP   l IN TO FW
"""

PUNCTUATION = frozenset((",", ":", "``", "''", ".", "-LRB-", "-RRB-", "HYPH", "NFP"))
COORDINATED = frozenset(("CC", "CONJP"))
TABLES = {"collins": COLLINS, "yamada": YAMADA}
Rule = tuple[tuple[bool, frozenset[str]], ...]  # whether from the left, and what is looked for


@functools.cache
def table(name: str) -> dict[str, Rule]:
    if name not in TABLES:
        raise UnknownMethod("head rules", name, TABLES)
    rules = {}
    for line in TABLES[name].strip().splitlines():
        label, *entries = line.split()
        steps: list[tuple[bool, frozenset[str]]] = []
        from_left = True
        for entry in entries:
            if entry in ("l", "r"):
                from_left = entry == "l"
            else:
                steps.append((from_left, frozenset(entry.split("|"))))
        rules[label] = (*steps, (entries[0] == "l", frozenset[str]()))
    return rules


def head_child(label: str, children: Sequence[str], *, rules: str = "collins") -> int:
    """The place of the head among the labels of the children.

    >>> head_child("NP", ["DT", "JJ", "NN", "PP"]), head_child("VP", ["MD", "VP"])
    (2, 0)
    """
    return find_head(without_function(label), tuple(map(without_function, children)), rules)


@functools.lru_cache(maxsize=100_000)
def find_head(label: str, names: tuple[str, ...], rules: str) -> int:
    if len(names) == 1:
        return 0
    rule = table(rules).get(label, ((rules == "collins", frozenset()),))
    if rules == "collins" and label in ("NP", "NX") and names[-1] == "POS":
        return len(names) - 1
    for from_left, wanted in rule:
        order = range(len(names)) if from_left else range(len(names) - 1, -1, -1)
        found = next((i for i in order if (names[i] in wanted if wanted else names[i] not in PUNCTUATION)), None)
        if found is not None:
            # the head of `A and B` is that of A (Collins 1999), except in noun phrases
            if rules == "collins" and label not in ("NP", "NX") and found >= 2 and names[found - 1] in COORDINATED:
                return found - 2 if names[found - 2] not in PUNCTUATION or found == 2 else found - 3
            return found
    return 0 if rule[-1][0] else len(names) - 1  # nothing but punctuation


def head_words(tree: Tree, *, rules: str = "collins") -> tuple[list[Tree], list[int]]:
    """All nodes, each before those below it, and the position of the head word of each, counted from 0."""
    check_proper(tree)
    nodes, parents = preorder(tree)
    heads, below = [0] * len(nodes), [list[int]() for _ in nodes]
    position = sum(node.is_preterminal for node in nodes)
    for i in range(len(nodes) - 1, -1, -1):
        if nodes[i].is_preterminal:
            position -= 1
            heads[i] = position
        else:
            children = below[i][::-1]
            heads[i] = heads[children[head_child(nodes[i].label, [nodes[c].label for c in children], rules=rules)]]
        if parents[i] >= 0:
            below[parents[i]].append(i)
    return nodes, heads


def dependency_heads(tree: Tree, *, rules: str = "yamada") -> list[int]:
    """The heads of words 1 to n, 0 for the root: the head word of a constituent is the head of the head words of its other children."""
    nodes, heads = head_words(tree, rules=rules)
    _, parents = preorder(tree)
    found = [0] * sum(node.is_preterminal for node in nodes)
    for i in range(1, len(nodes)):
        above = heads[parents[i]]
        if heads[i] != above:
            found[heads[i]] = above + 1
    return found
