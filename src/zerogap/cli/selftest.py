"""A small instance of every kind of problem that exists: what `zerogap doctor` decodes and verifies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from zerogap import constituency, dependency, hypergraph, sequence, translation
from zerogap.problems.dependency.parts import ORDERS

Instance = tuple[Any, Callable[..., Any], str]  # problem, decode, method


def instances() -> dict[str, Callable[[], Instance]]:
    """Names and makers, so that nothing is built or compiled before its turn."""
    return {
        "tree, non-projective": lambda: (tree(projective=False), dependency.decode, "auto"),
        "tree, projective": lambda: (tree(projective=True), dependency.decode, "auto"),
        "tree + labels": lambda: (labelled_tree(), dependency.decode, "auto"),
        "tree + siblings": lambda: (tree(projective=True, larger=("siblings", "stops")), dependency.decode, "siblings"),
        "tree + outermost": lambda: (tree(projective=True, larger=("siblings", "outermost")), dependency.decode, "outermost"),
        "tree + grandparents, siblings": lambda: (
            tree(projective=True, larger=("siblings", "grandparents", "grandsiblings")),
            dependency.decode,
            "grandsiblings",
        ),
        "crossing tree + siblings": lambda: (tree(projective=False, larger=("siblings", "stops")), dependency.decode, "auto"),
        "crossing tree + grandparents": lambda: (tree(projective=False, larger=("siblings", "grandparents")), dependency.decode, "auto"),
        "hypergraph": lambda: (choices(limited=False), hypergraph.decode, "best-path"),
        "hypergraph + rows, multipliers": lambda: (choices(limited=True), hypergraph.decode, "lagrangian"),
        "hypergraph + rows, branching": lambda: (choices(limited=True), hypergraph.decode, "auto"),
        "hypergraph + rows, HiGHS": lambda: (choices(limited=True), hypergraph.decode, "ilp"),
        "labels + rules, search": lambda: (labels(), sequence.decode, "auto"),
        "labels + rules, relaxation": lambda: (labels(), sequence.decode, "relaxation"),
        "parser + tagger, multipliers": lambda: (parse_and_tag(), constituency.decode, "auto"),
        "parser + tagger, product": lambda: (parse_and_tag(), constituency.decode, "intersection"),
        "forest + language model": lambda: (forest_with_bigrams(), translation.decode, "auto"),
    }


def tree(*, projective: bool, larger: tuple[str, ...] = ()) -> dependency.Problem:
    rng = np.random.default_rng(1)
    arcs = rng.integers(-9, 10, size=(9, 9))
    parts: dict[str, Any] = {name: rng.integers(-4, 5, size=(9,) * ORDERS[name]) for name in larger}
    return dependency.Problem(arcs, **parts, projective=projective)


def labelled_tree() -> dependency.Problem:
    rng = np.random.default_rng(4)
    names = ("subject", "object", "root")
    return dependency.Problem(rng.integers(-9, 10, size=(7, 7)), labels=rng.integers(-4, 5, size=(7, 7, 3)), label_names=names)


def choices(*, limited: bool) -> hypergraph.Problem:
    """Twelve yes-or-no choices with gains, and a limit on what they take: a knapsack as a lattice."""
    rng = np.random.default_rng(2)
    builder = hypergraph.Builder()
    for i in range(12):
        builder.edge(i + 1, [i], score=0.0)
        builder.edge(i + 1, [i], score=float(rng.integers(5, 25)))
    graph, scores = builder.build(12)
    rows = [({2 * i + 1: int(rng.integers(2, 12)) for i in range(12)}, "<=", 30)]
    return hypergraph.Problem(graph, scores, hypergraph.constraint_rows(graph.n_edges, rows) if limited else None)


def labels() -> sequence.Problem:
    """Ten tokens of a reference: one author field at the most, before the title, and a year that is cheap to leave out."""
    names = ("B-AUTHOR", "I-AUTHOR", "B-TITLE", "I-TITLE", "B-YEAR", "O")
    allowed, start, end = sequence.scheme_transitions(names)
    rules = [
        sequence.no_duplicate("AUTHOR"),
        sequence.at_least_one("TITLE"),
        sequence.precedes("AUTHOR", "TITLE"),
        sequence.soft(sequence.exactly("YEAR", 1), 2.0),
    ]
    return sequence.Problem(np.random.default_rng(5).integers(-4, 5, size=(10, 6)), allowed, start, end, names, rules)


def parse_and_tag() -> constituency.JointProblem:
    """Three symbols that can all be tags of six words, under random rules and a trigram tagger."""
    rng = np.random.default_rng(3)
    names = ("A", "B", "C")
    rules = [(p, [a, b], float(rng.integers(-3, 4))) for p in names for a in names for b in names]
    rules += [(name, [name.lower()], 0.0) for name in names]
    return constituency.JointProblem(
        constituency.grammar(rules, root="A"),
        tags=names,
        lexical=rng.integers(-3, 4, size=(6, 3)),
        transitions=rng.integers(-3, 4, size=(4, 4, 4)),
    )


def forest_with_bigrams() -> translation.SyntaxProblem:
    """A sentence of six parts, each with two translations, in either order of its halves."""
    from zerogap.problems.translation.forest import from_rules
    from zerogap.translation.language_models import Ngrams, build_language_model

    rng = np.random.default_rng(5)
    words = ["<s>", "</s>", "<unk>", *"abcd"]
    pairs = np.array([(u, w) for u in range(7) for w in range(1, 7) if u != 1 and rng.random() < 0.6])
    unigrams = Ngrams(np.arange(7)[:, None], -rng.integers(1, 9, size=7) / 4, -rng.integers(0, 5, size=7) / 4)
    bigrams = Ngrams(pairs, -rng.integers(0, 9, size=len(pairs)) / 4, np.full(len(pairs), np.nan))
    spans = sorted(((i, j) for i in range(6) for j in range(i + 1, 7)), key=lambda span: span[1] - span[0])
    number = {span: v for v, span in enumerate(spans)}
    rules: list[tuple[int, list[str | int], float]] = []
    for i, j in spans:
        if j - i == 1:
            rules += [(number[i, j], [str(rng.choice(list("abcd")))], float(rng.integers(-4, 5))) for _ in range(2)]
        for k in range(i + 1, j):
            left, right = number[i, k], number[k, j]
            rules += [(number[i, j], [left, right], 0.0), (number[i, j], [right, left], -1.0)]
    forest, _ = from_rules(rules, root=number[0, 6])
    return translation.SyntaxProblem(forest, build_language_model(words, [unigrams, bigrams]), weight=1.0)
