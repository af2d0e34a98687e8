"""Tree-to-string rules as text, one per line: (NP (DT the) [NN,1]) ||| [1] le ||| p=-0.5 q=1.

Fields are the fragment of a parse tree, the target side and features. A nonterminal of the target is [1] or [NN,1].
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator

from zerogap.constituency.treebank.trees import Tree
from zerogap.errors import FormatError, GrammarError
from zerogap.io.formats.lines import read_lines, shown
from zerogap.translation.forests.from_tree import Fragment, Node, TreeRule

BAR = "|||"
TOKEN = re.compile(r"[()]|[^\s()]+")
NONTERMINAL = re.compile(r"\[(?:([^\[\],]+),)?(\d+)\]")


def read_tree_rules(path: str | os.PathLike[str]) -> list[TreeRule]:
    """The rules of a file; FormatError names the line of what is not one."""
    return [parse_rule(line, f"{shown(path)}, line {number}") for number, line in read_lines(path) if line.strip()]


def parse_rule(line: str, where: str) -> TreeRule:
    fields = [field.strip() for field in line.strip().split(BAR)]
    if len(fields) not in (2, 3):
        raise FormatError(f"{where} has {len(fields)} fields: expected fragment ||| target ||| features.")
    frontier: list[tuple[str, int]] = []
    tokens = iter(TOKEN.findall(fields[0]))
    if next(tokens, None) != "(":
        raise FormatError(f"{where}: the fragment is {fields[0]!r}, expected a tree such as (NP (DT the) [NN,1]).")
    source = parse_fragment(tokens, frontier, where)
    if next(tokens, None) is not None:
        raise FormatError(f"{where}: the fragment goes on after its tree has ended.")
    places = {index: place for place, (_, index) in enumerate(frontier)}
    if len(places) < len(frontier):
        raise FormatError(f"{where} has two source nonterminals with one index: expected a different one for each.")
    target: list[str | int] = []
    for token in fields[1].split():
        match = NONTERMINAL.fullmatch(token)
        if match is None:
            target.append(token)
            continue
        if int(match[2]) not in places or (match[1] and match[1] != frontier[places[int(match[2])]][0]):
            raise FormatError(f"{where} has the target nonterminal {token} which its source side does not have.")
        target.append(places[int(match[2])])
    try:
        return TreeRule(source, tuple(label for label, _ in frontier), tuple(target), parse_features(fields[2:], where))
    except GrammarError as error:
        raise FormatError(f"{where}: {error}") from None


def parse_fragment(tokens: Iterator[str], frontier: list[tuple[str, int]], where: str) -> Fragment:
    """The rest of a fragment after its opening bracket."""
    label = next(tokens, ")")
    if label in "()":
        raise FormatError(f"{where}: a node of the fragment has no label.")
    children: list[Fragment | str | int] = []
    for token in tokens:
        if token == ")":
            if not children:
                raise FormatError(f"{where}: the node {label!r} of the fragment has no children.")
            return label, tuple(children)
        if token == "(":
            children.append(parse_fragment(tokens, frontier, where))
            continue
        match = NONTERMINAL.fullmatch(token)
        if match is None:
            children.append(token)
        elif match[1] is None:
            raise FormatError(f"{where}: the source nonterminal {token} has no label, expected one such as [NP,{match[2]}].")
        else:
            children.append(len(frontier))
            frontier.append((match[1], int(match[2])))
    raise FormatError(f"{where}: a bracket of the fragment is not closed.")


def parse_features(fields: list[str], where: str) -> dict[str, float]:
    features: dict[str, float] = {}
    for cell in " ".join(fields).split():
        name, _, value = cell.partition("=")
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if not name or not math.isfinite(number) or name in features:
            raise FormatError(f"{where}: the feature {cell!r}, expected name=number, each name once.")
        features[name] = number
    return features


def node_of(tree: Tree) -> Node:
    """A parse tree as rules match it."""
    return tree.label, tuple(child if isinstance(child, str) else node_of(child) for child in tree.children)
