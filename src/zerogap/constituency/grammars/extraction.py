"""A grammar from the trees of a treebank: rules of binarised trees with log-probabilities (Klein & Manning 2003).

    P(rule | symbol) = (count(rule) + weight P(rule | symbol with less context)) / (count(symbol) + weight)

Less context is the symbol without its last annotation (`NP^S` is smoothed by all `NP`), so that a rule seen below one parent is possible
below another. Without a weight it is the relative frequency.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from zerogap.constituency.treebank.binarising import ESCAPE, OPEN, PARENT, Split, binarise, is_added
from zerogap.constituency.treebank.trees import Tree, preorder
from zerogap.errors import InputError
from zerogap.structures.grammar import Grammar, from_tables, with_glue

Rule = tuple[str, ...]  # parent, child or two children


@dataclass(frozen=True, slots=True)
class Markovisation:
    """How trees are binarised and annotated before rules are counted; see `binarise`."""

    horizontal: int | None = 1
    vertical: int = 2
    direction: str = "head"
    tag_parents: bool = False
    splits: tuple[Split, ...] = ()
    head_rules: str = "collins"

    def binarised(self, tree: Tree) -> Tree:
        return binarise(
            tree, horizontal=self.horizontal, vertical=self.vertical, direction=self.direction, tag_parents=self.tag_parents,
            splits=self.splits, head_rules=self.head_rules,
        )  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class RuleCounts:
    """How often rules were seen, what stood below tags, and the symbol on top of all trees."""

    rules: Counter[Rule]
    tagged: list[list[tuple[str, str]]]  # sentences of (word, tag)
    root: str


def count_rules(trees: Iterable[Tree], markovisation: Markovisation) -> RuleCounts:
    """The rules of trees, which must all have the same label on top (`cleaning.with_top`)."""
    rules: Counter[Rule] = Counter()
    tagged, root = [], None
    for i, tree in enumerate(trees):
        nodes, _ = preorder(markovisation.binarised(tree))
        root = nodes[0].label if root is None else root
        if nodes[0].label != root or nodes[0].is_preterminal:
            raise InputError(f"tree {i} has {nodes[0].label!r} on top, others {root!r}: expected the same everywhere, and no tag.")
        for node in nodes:
            if not node.is_preterminal:
                rules[(node.label, *(child.label for child in node.subtrees))] += 1
        tagged.append([(str(node.children[0]), node.label) for node in nodes if node.is_preterminal])
    if root is None:
        raise InputError("there are no trees: expected some to count rules.")
    return RuleCounts(rules, tagged, root)


def estimate_grammar(counts: RuleCounts, *, weight: float = 0.0, kept: int = 0, glue: float | None = None) -> Grammar:
    """A grammar of log-probabilities, smoothed if `weight` is above 0; `glue` is the score of glue rules, if there shall be any.

    `kept` is the number of annotations that smoothing leaves on a symbol: vertical - 2, as those of its children repeat them.

    The grammar has no words: a `Lexicon` scores them. Cycles of unary rules are allowed; none is above zero, as probabilities.
    """
    if not 0.0 <= weight < math.inf:
        raise InputError(f"weight is {weight!r}: expected a number from 0.")
    rules = {rule: n for rule, n in counts.rules.items() if rule[1:] != rule[:1]}  # X -> X says nothing
    scores = {rule: math.log(p) for rule, p in (smoothed(rules, weight, kept) if weight > 0 else relative(rules)).items()}
    tags = {tag for sentence in counts.tagged for _, tag in sentence}
    names = dict.fromkeys([*(symbol for rule in scores for symbol in rule), *sorted(tags)])
    grammar = from_tables(
        tuple(names),
        {(rule[0], rule[1], rule[2]): s for rule, s in scores.items() if len(rule) == 3},
        {(rule[0], rule[1]): s for rule, s in scores.items() if len(rule) == 2},
        {}, counts.root, cycles=True,
    )  # fmt: skip
    if glue is None:
        return grammar
    return with_glue(grammar, glue, symbols=[name for name in grammar.symbols if name != counts.root and not is_added(name)])


def relative(counts: dict[Rule, int]) -> dict[Rule, float]:
    totals: Counter[str] = Counter()
    for rule, n in counts.items():
        totals[rule[0]] += n
    return {rule: n / totals[rule[0]] for rule, n in counts.items()}


def smoothed(counts: dict[Rule, int], weight: float, kept: int) -> dict[Rule, float]:
    """Relative frequencies, mixed with those of all symbols that differ in their last annotations only."""
    pools: list[dict[tuple[str, str], Counter[Rule]]] = []  # per level: (symbol without some annotations, context) -> what is below
    names: dict[tuple[str, str], tuple[str, ...]] = {}
    for rule, n in counts.items():
        name, context = split_context(rule[0])
        # a node between others has the name of its parent: it is named by its context alone
        below = tuple(split_context(child)[1] if is_added(child) else "=" + child for child in rule[1:])
        levels = names.setdefault((name, context), shortened_names(name, kept))
        while len(pools) < len(levels):
            pools.append({})
        for pool, level in zip(pools, levels, strict=False):
            pool.setdefault((level, context), Counter())[below] += n
    found: dict[Rule, float] = {}
    for (name, context), levels in names.items():
        shares: dict[Rule, float] = {}
        for pool, level in reversed(list(zip(pools, levels, strict=False))):
            here = pool[level, context]
            total = here.total() + (weight if shares else 0.0)
            shares = {below: (here[below] + weight * shares.get(below, 0.0)) / total for below in (shares or here)}
        for below, share in shares.items():
            if all(child.startswith("=") or (name, child) in names for child in below):  # others could go no further
                found[(name + context, *(child[1:] if child.startswith("=") else name + child for child in below))] = share
    return found


def split_context(symbol: str) -> tuple[str, str]:
    """A symbol in two: its name with annotations, and what it remembers of sisters, if it stands between others."""
    at = 0
    while at < len(symbol) and symbol[at] != OPEN:
        at += 1 + (symbol[at] == ESCAPE)
    return symbol[:at], symbol[at:]


def shortened_names(name: str, kept: int) -> tuple[str, ...]:
    """The name, and with one annotation less at a time, until `kept` are left.

    >>> shortened_names("NP^S^VP", 0)
    ('NP^S^VP', 'NP^S', 'NP')
    """
    ends, at = [], 0
    while at < len(name):
        if name[at] == PARENT:
            ends.append(at)
        at += 1 + (name[at] == ESCAPE)
    return (name, *(name[:end] for end in reversed(ends[kept:])))
