"""Tree-to-string translation: rules whose source sides are fragments of parse trees, matched against one tree (Rush 2014, section 5.6).

    (NP (DT the) [NN,1])  |||  [1] le  |||  p=-0.5

A fragment is a tree whose leaves are words or nonterminals [label,index], each of which stands for a whole subtree with that label. The
forest has a vertex for every node of the tree and a hyperedge for every match. A node that no rule matches translates its children from
left to right (feature `glue`), and words among them are passed through (feature `oov`), unless it is `strict`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from zerogap.errors import GrammarError, Infeasible, InputError
from zerogap.problems.translation.forest import Forest, from_rules
from zerogap.translation.forests.grammar import LANGUAGE_MODEL, MAX_SPAN, PASS_THROUGH, WORDS

GLUE = "glue"
Node = tuple[str, tuple["Node | str", ...]]  # a label and children: nodes, or words
Fragment = tuple[str, tuple["Fragment | str | int", ...]]  # the same with nonterminals: their places from 0, and labels in `frontier`


@dataclass(frozen=True, slots=True)
class TreeRule:
    """A fragment, the labels of its nonterminals by their places, and its target side: words, or places of nonterminals."""

    source: Fragment
    frontier: tuple[str, ...]
    target: tuple[str | int, ...]
    features: Mapping[str, float]

    def __post_init__(self) -> None:
        used = sorted(s for s in self.target if not isinstance(s, str))
        if used != list(range(len(self.frontier))):
            raise GrammarError(
                f"the target side of a rule has the nonterminals {used}: expected each of the {len(self.frontier)} of its source side once."
            )


def tree_forest(rules: Sequence[TreeRule], tree: Node, weights: Mapping[str, float], *, strict: bool = False) -> Forest:
    """All derivations of a tree, scored by the weights of features and words; Infeasible, in strict mode, if no rules cover it."""
    check_features(rules, weights)
    by_label: dict[str, list[TreeRule]] = {}
    for rule in rules:
        by_label.setdefault(rule.source[0], []).append(rule)
    nodes: list[Node] = []
    number: dict[int, int] = {}  # of nodes, by identity: a tree may have equal subtrees

    def visit(node: Node) -> None:
        for child in node[1]:
            if not isinstance(child, str):
                visit(child)
        number[id(node)] = len(nodes)
        nodes.append(node)

    visit(tree)
    edges: list[tuple[int, list[str | int], float]] = []
    used: list[int] = []  # the rule of every hyperedge, -1 for a node that no rule matches
    number_of_rule = {id(rule): i for i, rule in enumerate(rules)}
    derived: set[int] = set()
    for v, node in enumerate(nodes):
        found = [(rule, match) for rule in by_label.get(node[0], ()) if (match := matched(rule, node)) is not None]
        for rule, match in found:
            target = [s if isinstance(s, str) else number[id(match[s])] for s in rule.target]
            if not derived.issuperset(s for s in target if not isinstance(s, str)):
                continue
            derived.add(v)
            score = sum(weights.get(name, 0.0) * value for name, value in rule.features.items())
            edges.append((v, list(target), score + n_words(target) * weights.get(WORDS, 0.0)))
            used.append(number_of_rule[id(rule)])
        if v not in derived and not strict:
            derived.add(v)
            side: list[str | int] = [child if isinstance(child, str) else number[id(child)] for child in node[1]]
            passed = n_words(side)
            glued = weights.get(GLUE, 0.0) + passed * (weights.get(PASS_THROUGH, 0.0) + weights.get(WORDS, 0.0))
            edges.append((v, side, glued))
            used.append(-1)
    if len(nodes) - 1 not in derived:
        first = next(node for v, node in enumerate(reversed(nodes)) if len(nodes) - 1 - v not in derived)
        raise Infeasible(f"no rules cover the node {first[0]!r} over {' '.join(words_of(first))!r}.")
    if not np.isfinite([score for _, _, score in edges]).all():
        raise InputError("a rule has a score that is not finite: expected finite features and weights.")
    forest, order = from_rules(edges, root=len(nodes) - 1, vertex_names=[node[0] for node in nodes])
    return replace(forest, rules=np.array(used, dtype=np.int32)[order])


def matched(rule: TreeRule, node: Node) -> dict[int, Node] | None:
    """The nodes that the nonterminals of a rule stand for if it matches at a node."""
    found: dict[int, Node] = {}
    waiting: list[tuple[Fragment, Node]] = [(rule.source, node)]
    while waiting:
        fragment, at = waiting.pop()
        if fragment[0] != at[0] or len(fragment[1]) != len(at[1]):
            return None
        for part, child in zip(fragment[1], at[1], strict=True):
            if isinstance(part, str) or isinstance(child, str):
                if part != child:
                    return None
            elif isinstance(part, int):
                if rule.frontier[part] != child[0]:
                    return None
                found[part] = child
            else:
                waiting.append((part, child))
    return found


def n_words(side: Sequence[str | int]) -> int:
    return sum(isinstance(symbol, str) for symbol in side)


def words_of(node: Node) -> list[str]:
    return [word for child in node[1] for word in ([child] if isinstance(child, str) else words_of(child))]


def check_features(rules: Sequence[TreeRule], weights: Mapping[str, float]) -> None:
    known = {name for rule in rules for name in rule.features} | {LANGUAGE_MODEL, WORDS, PASS_THROUGH, GLUE, MAX_SPAN}
    for name in weights:
        if name not in known:
            raise InputError(f"weights name the feature {name!r}, which no rule has. Known: {', '.join(sorted(known))}.")
