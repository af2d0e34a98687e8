"""Algorithm 6 on real sentences: a treebank grammar and a trigram tagger that must agree (Rush 2014, section 4.6.2).

    python benchmarks/joint.py [--sentences 60] [--words 20]

Reads the Penn Treebank sample in ../shared/data/ptb (or ZEROGAP_DATA). Grammar and tagger are relative frequencies with
rare words as word classes, enough to make the two disagree as real models do. Prints how many sentences the multipliers
certify by iteration, and what the proof costs beside parsing alone.
"""

from __future__ import annotations

import argparse
import math
import os
import statistics
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import zerogap
from zerogap.constituency import JointProblem, decode, grammar
from zerogap.errors import Infeasible
from zerogap.oracles.cky import cky_hypergraph
from zerogap.oracles.hypergraph import best_path

DATA = Path(os.environ.get("ZEROGAP_DATA", Path(__file__).parents[2] / "shared" / "data"))
Tree = tuple[Any, ...]


def read_tree(line: str) -> Tree | None:
    """(label, children ...), preterminals (tag, word), without traces and function tags; None if nothing is left."""
    stack: list[list[Any]] = [[]]
    for token in line.replace("(", " ( ").replace(")", " ) ").split():
        if token == "(":
            stack.append([])
        elif token == ")":
            label, *children = stack.pop() or [""]
            if isinstance(label, list | tuple):
                label, children = "", [label, *children]
            label = label if label.startswith("-") else label.split("-")[0].split("=")[0]
            children = [child for child in children if child is not None]
            stack[-1].append((label, *children) if children and label != "-NONE-" else None)
        else:
            stack[-1].append(token)
    tree = stack[0][0]
    while tree is not None and tree[0] == "" and len(tree) == 2:
        tree = tree[1]
    return ("TOP", tree) if tree is not None and tree[0] != "" else None


def leaves(tree: Tree) -> Iterator[tuple[str, str]]:
    if len(tree) == 2 and isinstance(tree[1], str):
        yield tree[0], tree[1]
    else:
        for child in tree[1:]:
            yield from leaves(child)


def word_class(word: str, known: set[str]) -> str:
    if word in known:
        return word
    shape = "0" if any(c.isdigit() for c in word) else "X" if word[0].isupper() else "x"
    return f"<{shape}{word[-2:].lower() if word[-1:].isalpha() else ''}>"


def rules_of(tree: Tree, known: set[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Rules with one or two children: longer ones are split from the left, remembering one sister; unary chains are cut to one rule."""
    label, *children = tree
    if isinstance(children[0], str):
        yield label + "^", (word_class(children[0], known),)
        return
    names = [name_of(child) for child in children]
    if len(names) == 1:
        if names[0] != label:
            yield label, (names[0],)
    else:
        for i in range(len(names) - 2):
            above = label if i == 0 else f"{label}|{names[i - 1]}"
            yield above, (names[i], f"{label}|{names[i]}")
        yield (label if len(names) == 2 else f"{label}|{names[-3]}"), (names[-2], names[-1])
    for child in children:
        yield from rules_of(child, known)


def name_of(tree: Tree) -> str:
    return tree[0] + "^" if isinstance(tree[1], str) else tree[0]


def without_cycles(counts: Counter[tuple[str, tuple[str, ...]]], parents: set[str]) -> dict[tuple[str, tuple[str, ...]], int]:
    """Unary rules in order of frequency, as long as they form no cycle."""
    kept = {rule: n for rule, n in counts.items() if len(rule[1]) == 2 or rule[1][0] not in parents}
    above: dict[str, set[str]] = {}
    for rule, n in counts.most_common():
        if rule in kept:
            continue
        parent, child = rule[0], rule[1][0]
        reach, waiting = {parent}, [parent]
        while waiting:
            for upper in above.get(waiting.pop(), ()):
                if upper not in reach:
                    reach.add(upper)
                    waiting.append(upper)
        if child not in reach:
            above.setdefault(child, set()).add(parent)
            kept[rule] = n
    return kept


def train(trees: list[Tree]) -> tuple[Any, tuple[str, ...], np.ndarray, set[str]]:
    words = Counter(word for tree in trees for _, word in leaves(tree))
    known = {word for word, n in words.items() if n > 2}
    counts: Counter[tuple[str, tuple[str, ...]]] = Counter()
    grams: list[Counter[tuple[int, ...]]] = [Counter() for _ in range(4)]
    tags = tuple(sorted({tag + "^" for tree in trees for tag, _ in leaves(tree)}))
    number = {tag: i for i, tag in enumerate(tags)}
    for tree in trees:
        counts.update(rules_of(tree, known))
        sequence = [len(tags)] * 2 + [number[tag + "^"] for tag, _ in leaves(tree)] + [len(tags)]
        for i in range(2, len(sequence)):
            for order in range(1, 4):
                grams[order][tuple(sequence[i - order + 1 : i + 1])] += 1
    rules = without_cycles(counts, {rule[0] for rule in counts})
    totals: Counter[str] = Counter()
    for (parent, _), n in rules.items():
        totals[parent] += n
    g = grammar([(parent, right, math.log(n / totals[parent])) for (parent, right), n in rules.items()], root="TOP")
    base = len(tags) + 1
    uni = np.full(base, 0.5)
    bi, tri = np.zeros((base, base)), np.zeros((base, base, base))
    for key, n in grams[1].items():
        uni[key] += n
    for key, n in grams[2].items():
        bi[key] += n
    for key, n in grams[3].items():
        tri[key] += n

    def conditional(table: np.ndarray) -> np.ndarray:
        return table / np.maximum(table.sum(axis=-1, keepdims=True), 1)

    transitions = np.log(0.6 * conditional(tri) + 0.3 * conditional(bi) + 0.1 * uni / uni.sum())
    return g, tags, transitions, known


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sentences", type=int, default=60)
    parser.add_argument("--words", type=int, default=20)
    arguments = parser.parse_args()
    read = {part: [read_tree(line) for line in (DATA / "ptb" / f"{part}.mrg").read_text().splitlines()] for part in ("train", "dev")}
    trees = [tree for tree in read["train"] if tree is not None]
    g, tags, transitions, known = train(trees)
    print(f"{g}; {len(tags)} tags, trigrams")
    rows = []
    for tree in read["dev"]:
        if tree is None or not 2 <= len(list(leaves(tree))) <= arguments.words or len(rows) == arguments.sentences:
            continue
        words = [word_class(word, known) for _, word in leaves(tree)]
        try:
            problem = JointProblem(g, words, tags=tags, transitions=transitions)
            begin = time.perf_counter()
            chart = cky_hypergraph(problem.grammar, problem.lexical)
            best_path(chart.hypergraph, chart.scores)
            alone = time.perf_counter() - begin
            begin = time.perf_counter()
            dual = decode(problem, method="dual-decomposition", max_iterations=200)
            with_multipliers = time.perf_counter() - begin
            begin = time.perf_counter()
            solution = decode(problem)
            joint = time.perf_counter() - begin
        except Infeasible:
            continue
        zerogap.verify(problem, solution)
        zerogap.verify(problem, dual)
        needed = len(dual.trace) if dual.status == "optimal" else math.inf
        rows.append((len(words), chart.hypergraph.n_edges, alone, with_multipliers, joint, needed, solution.status == "optimal"))
    sizes, edges, alone_times, _, joint_times, iterations, optimal = zip(*rows)
    print(f"{len(rows)} sentences of 2 to {max(sizes)} words (those the grammar covers), median {statistics.median(edges):,.0f} hyperedges")
    for limit in (1, 2, 5, 10, 20, 50, 100, 200):
        print(f"  certified by multipliers within {limit:4} iterations: {100 * sum(i <= limit for i in iterations) / len(rows):6.1f}%")
    print(f"  certified and verified under auto:                   {100 * sum(optimal) / len(rows):6.1f}%")
    ratio = statistics.median(j / a for a, j in zip(alone_times, joint_times, strict=True))
    alone_ms, joint_ms = 1000 * statistics.median(alone_times), 1000 * statistics.median(joint_times)
    print(f"  parsing alone {alone_ms:.1f} ms, joint with proof {joint_ms:.1f} ms (medians; {ratio:.1f} times)")


if __name__ == "__main__":
    main()
