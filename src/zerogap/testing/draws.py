"""Small random problems of every task, drawn from a seed in well under a millisecond, and their best scores by enumeration.

Most scores are small integers, so that ties abound, with holes of -inf; some problems have the numbers that break solvers: huge and
tiny ones, denormals, near-ties, all scores the same, hardly anything allowed.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from zerogap import constituency, dependency, hypergraph, sequence
from zerogap.baselines import brute
from zerogap.baselines.phrase_brute import best_score as best_phrases
from zerogap.constituency.lexical.agreement import decode_agreement
from zerogap.constituency.lexical.decoding import decode_lexical
from zerogap.dependency.decoding.methods import METHODS as TREE_METHODS
from zerogap.hypergraph.decoding import METHODS as HYPERGRAPH_METHODS
from zerogap.oracles.hypergraphs.semiring import enumerate_paths
from zerogap.problems.constituency.lexical import LexicalGrammar, LexicalProblem
from zerogap.problems.constituency.lexical_agreement import LexicalAgreement, TagScores
from zerogap.problems.dependency.parts import ORDERS
from zerogap.sequence.decoding.methods import METHODS as SEQUENCE_METHODS
from zerogap.testing.drawing import MOST_PARSES, OF_HIGHS, Method, Random, palette
from zerogap.testing.translation_draws import best_derivation, draw_forest, draw_phrases, forest_methods, phrase_methods


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of problem: how it is drawn, its best score by enumeration (None if there is too much of it), and all methods."""

    draw: Callable[[Random], Any]
    optimum: Callable[[Any], float | None]
    methods: Callable[[Any], dict[str, Method]]


def draw(kind: str, *, seed: int) -> Any:
    return KINDS[kind].draw(np.random.default_rng(seed))


TREE_PARTS = (
    (), (), (), ("siblings",), ("siblings", "stops"), ("grandparents",), ("siblings", "grandparents"), ("siblings", "outermost"),
    ("siblings", "stops", "grandparents", "grandsiblings"), ("trisiblings", "siblings"),
)  # fmt: skip


def draw_tree(rng: Random) -> Any:
    n = int(rng.integers(0, 5)) if rng.random() < 0.2 else int(rng.integers(1, 4))
    scores = palette(rng)
    parts: dict[str, Any] = {name: scores(*(n + 1,) * ORDERS[name]) for name in TREE_PARTS[rng.integers(len(TREE_PARTS))]}
    if rng.random() < 0.15 and n < 4:
        size = int(rng.integers(1, 3))
        parts |= {"labels": scores(n + 1, n + 1, size), "label_names": tuple("ab"[:size]) if rng.random() < 0.5 else None}
    if n and rng.random() < 0.15:
        factors = []
        for _ in range(rng.integers(1, 5)):
            words = rng.permutation(n)[: rng.integers(1, 4)] + 1
            heads = rng.integers(0, n + 1, len(words))
            arcs = [(int(h) if h != m else 0, int(m)) for h, m in zip(heads, words, strict=True)]
            factors.append((arcs, float(scores(1)[0])))
        parts["factors"] = factors
    return dependency.Problem(scores(n + 1, n + 1), **parts, projective=bool(rng.random() < 0.5), single_root=bool(rng.random() < 0.7))


def best_tree(problem: Any) -> float:
    return brute.optimum(problem, brute.dependency_structures(problem))


SLOW_TREES = ("price-and-cut",)


def tree_methods(problem: Any) -> dict[str, Method]:
    found = {"auto": Method(dependency.decode)}
    for name, method in TREE_METHODS.items():
        if problem.projective in method.projective and method.parts.issuperset(problem.larger):
            found[name] = Method(lambda p, name=name: dependency.decode(p, method=name), method.exact, name in SLOW_TREES)  # type: ignore[misc]
    return found


def draw_hypergraph(rng: Random) -> Any:
    """Items over spans of up to four words, with chains, edges given twice, and some linear constraints."""
    words, symbols = int(rng.integers(1, 5)), int(rng.integers(1, 3))
    builder = hypergraph.Builder()
    seen: set[tuple[int, int, int]] = set()
    waiting = [(0, words, symbols - 1)]
    while waiting:
        item = waiting.pop()
        if item in seen:
            continue
        seen.add(item)
        i, j, symbol = item
        for _ in range(rng.integers(1, 4)):
            if j - i == 1 and (symbol == 0 or rng.random() < 0.6):
                builder.edge(item, [("w", i, int(rng.integers(symbols)))])
            elif symbol > 0 and (j - i == 1 or rng.random() < 0.3):
                builder.edge(item, [(i, j, symbol - 1)])
                waiting.append((i, j, symbol - 1))
            else:
                cuts = sorted({int(rng.integers(i + 1, j)) for _ in range(rng.integers(1, 3))})
                tails = [(a, b, int(rng.integers(symbols))) for a, b in itertools.pairwise([i, *cuts, j])]
                builder.edge(item, tails)
                waiting += tails
    graph, _ = builder.build((0, words, symbols - 1))
    rows = []
    for _ in range(rng.integers(0, 4)):
        parts = {int(e): int(rng.choice([-2, -1, 1, 1, 2])) for e in rng.integers(0, graph.n_edges, rng.integers(1, 5))}
        rows.append((parts, ("=", "<=", ">=")[rng.integers(3)], int(rng.integers(-1, 3))))
    return hypergraph.Problem(graph, palette(rng)(graph.n_edges), hypergraph.constraint_rows(graph.n_edges, rows))


def best_hyperpath(problem: Any) -> float | None:
    paths = enumerate_paths(problem.hypergraph)
    return brute.optimum(problem, paths) if len(paths) <= MOST_PARSES else None


def hypergraph_methods(problem: Any) -> dict[str, Method]:
    found = {
        name: Method(lambda p, name=name: hypergraph.decode(p, method=name), name != "lagrangian")  # type: ignore[misc]
        for name in HYPERGRAPH_METHODS
        if name != "best-path" or len(problem.constraints) == 0
    }
    found["ilp"] = Method(lambda p: hypergraph.decode(p, method="ilp"), rare=True, within=OF_HIGHS)
    found["lagrangian"] = Method(lambda p: hypergraph.decode(p, method="lagrangian", max_iterations=20), exact=False)
    return found


LABELS = (("A", "B", "O"), ("B-A", "I-A", "B-B", "I-B", "O"))


def draw_constraint(rng: Random, n: int) -> Any:
    field = "AB"[rng.integers(2)]
    count = int(rng.integers(0, 3))
    which = int(rng.integers(12 if n else 9))
    if which < 5:
        return (sequence.no_duplicate, sequence.at_least_one)[which](field) if which < 2 else (
            sequence.at_most, sequence.at_least, sequence.exactly)[which - 2](field, count)  # fmt: skip
    if which == 5:
        return sequence.precedes(field, "BA"["AB".index(field)])
    if which == 6:
        return sequence.follows_only(field, "O")
    if which == 7:
        return sequence.disallow(("A", "B", "O")[rng.integers(3)])
    if which == 8:
        return sequence.regex((".* O .*", "[A B]* O*", "~(.* A A .*)")[rng.integers(3)])
    at = int(rng.integers(n))
    if which == 9:
        return sequence.at(at, field)
    if which == 10:
        return sequence.same_label(rng.integers(0, n, rng.integers(1, 4)).tolist())
    return sequence.span(at, min(at + int(rng.integers(1, 4)), n))


def draw_sequence(rng: Random) -> Any:
    n, labels = int(rng.integers(0, 4)), LABELS[rng.integers(2)]
    size, order = len(labels), 1 if rng.random() < 0.7 else 2
    scores = palette(rng)
    shape = (size,) * (order + 1)
    constraints = []
    for _ in range(rng.integers(0, 4)):
        constraint = draw_constraint(rng, n)
        if rng.random() < 0.25:
            other = draw_constraint(rng, n)
            constraint = (constraint & other, constraint | other, ~constraint)[rng.integers(3)]
        constraints.append(sequence.soft(constraint, float(rng.integers(1, 5))) if rng.random() < 0.4 else constraint)
    transitions = None if rng.random() < 0.3 else scores(*((n - order,) if n > order and rng.random() < 0.3 else ()), *shape)
    return sequence.Problem(scores(n, size), transitions, scores(size), scores(size), labels, constraints, order=order)


def best_labelling(problem: Any) -> float:
    return brute.optimum(problem, itertools.product(problem.labels, repeat=problem.n_tokens))


def sequence_methods(problem: Any) -> dict[str, Method]:
    plain = not problem.constraints and problem.order == 1
    found = {
        name: Method(lambda p, name=name: sequence.decode(p, method=name), name != "lagrangian")  # type: ignore[misc]
        for name in SEQUENCE_METHODS
        if name != "column-generation" or plain
    }
    found["ilp"] = Method(lambda p: sequence.decode(p, method="ilp"), rare=True, within=OF_HIGHS)
    return found


def draw_joint(rng: Random) -> Any:
    """Rules over three symbols and a tagger of order two or three; chains of unary rules without circles."""
    scores = palette(rng)
    names = "ABC"
    rules: dict[tuple[str, tuple[str, ...]], float] = {(x, (f"{x.lower()}!",)): 0.0 for x in names}
    some = scores(8)
    for i in range(rng.integers(2, 9)):
        a, b, c = rng.integers(0, 3, 3)
        rules[names[a], (names[b], names[c])] = float(some[i]) if some[i] > -np.inf else 0.0
    if rng.random() < 0.5:
        rules["A", ("B",)] = float(rng.integers(-3, 4))
    grammar = constituency.grammar([(p, right, s) for (p, right), s in rules.items()], root="A")
    n, tags = int(rng.integers(1, 4)), ("ABC", "CB", "BCA")[rng.integers(3)]
    lexical = np.full((n, 3), -np.inf)
    lexical[:, [grammar.symbols.index(tag) for tag in tags]] = scores(n, len(tags))
    order = int(rng.integers(2, 4))
    return constituency.JointProblem(
        grammar, tags=tuple(tags), lexical=lexical, emissions=scores(n, len(tags)), transitions=scores(*(len(tags) + 1,) * order)
    )


def joint_trees(problem: Any, i: int, j: int, symbol: int) -> Iterator[Any]:
    names, grammar = problem.grammar.symbols, problem.grammar
    if j == i + 1 and problem.lexical[i, symbol] > -np.inf:
        yield names[symbol], i
    for parent, child in grammar.unary.tolist():
        if parent == symbol:
            yield from ((names[symbol], below) for below in joint_trees(problem, i, j, child))
    for parent, left, right in grammar.binary.tolist():
        if parent == symbol:
            for split in range(i + 1, j):
                for a in joint_trees(problem, i, split, left):
                    yield from ((names[symbol], a, b) for b in joint_trees(problem, split, j, right))


def best_joint(problem: Any) -> float:
    return max(map(problem.score, joint_trees(problem, 0, problem.n_words, problem.grammar.root)), default=-np.inf)


def joint_methods(problem: Any) -> dict[str, Method]:
    return {
        "auto": Method(constituency.decode),
        "intersection": Method(lambda p: constituency.decode(p, method="intersection")),
        "ilp": Method(lambda p: constituency.decode(p, method="ilp"), rare=True, within=OF_HIGHS),
        "dual-decomposition": Method(lambda p: constituency.decode(p, method="dual-decomposition", max_iterations=20), exact=False),
    }


def draw_lexical(rng: Random, most: int = 3) -> Any:
    n, size = int(rng.integers(1, most + 1)), int(rng.integers(1, 4))
    scores = palette(rng)
    binary = np.unique(rng.integers(0, size, (rng.integers(2, 11), 3)), axis=0)
    unary = np.unique(rng.integers(0, size, (rng.integers(0, 5), 2)), axis=0)
    unary = unary[unary[:, 0] != unary[:, 1]]
    classes = rng.integers(0, 2, size)
    grammar = LexicalGrammar(
        tuple("ABC"[:size]), int(binary[0, 0]), binary, rng.integers(0, 2, len(binary)), unary, rng.integers(-1, 2, len(unary)), classes
    )
    candidates = sorted({(i, int(rng.integers(0, size))) for i in range(n) for _ in range(2)})
    c = len(candidates)
    return LexicalProblem(
        grammar, positions=[i for i, _ in candidates], tags=[tag for _, tag in candidates], verbs=rng.random(n) < 0.4,
        binary=scores(len(binary), c, 2), unary=np.minimum(scores(len(unary), c, 2), 0.0), words=scores(int(classes.max()) + 1, c, c),
        roots=scores(c),
    )  # fmt: skip


def lexical_parses(problem: Any) -> list[Any] | None:
    """Every parse by the definition, forbidden ones too; None if there are too many."""
    grammar = problem.grammar
    names, found = grammar.symbols, dict[tuple[int, int], list[tuple[int, Any]]]()
    unary, binary = grammar.unary.tolist(), grammar.binary.tolist()
    for length in range(1, problem.n_words + 1):
        for i in range(problem.n_words - length + 1):
            j = i + length
            if length == 1:
                trees: list[tuple[int, Any]] = [
                    (int(t), (names[t], i)) for p, t in zip(problem.positions, problem.tags, strict=True) if p == i
                ]
            else:
                trees = [
                    (parent, (names[parent], left, right))
                    for k in range(i + 1, j) for parent, y, z in binary
                    for a, left in found[i, k] if a == y for b, right in found[k, j] if b == z
                ]  # fmt: skip
            fresh: list[tuple[int, Any, frozenset[int]]] = [(symbol, tree, frozenset((symbol,))) for symbol, tree in trees]
            while fresh:  # rows of unary rules that have no symbol twice
                fresh = [(p, (names[p], tree), seen | {p}) for s, tree, seen in fresh for p, c in unary if c == s and p not in seen]
                trees += [(symbol, tree) for symbol, tree, _ in fresh]
            if len(trees) > MOST_PARSES:
                return None
            found[i, j] = trees
    return [tree for symbol, tree in found[0, problem.n_words] if symbol == grammar.root]


def best_lexical(problem: Any) -> float | None:
    trees = lexical_parses(problem)
    return None if trees is None else max(map(problem.score, trees), default=-np.inf)


def draw_agreement(rng: Random) -> Any:
    lexical = draw_lexical(rng, most=3)
    size, scores = lexical.n_words + 1, palette(rng)
    tagging = None
    if rng.random() < 0.5:
        n_tags, order, candidates = int(rng.integers(1, 3)), int(rng.integers(2, 4)), len(lexical.positions)
        tagging = TagScores(rng.integers(0, n_tags, candidates), scores(candidates), scores(*(n_tags + 1,) * order))
    finite = rng.integers(-3, 4, (size, size, size)).astype(np.float64)
    return LexicalAgreement(lexical, scores(size, size), tagging=tagging, siblings=finite, stops=finite[0].copy())


def best_agreement(problem: Any) -> float | None:
    trees = lexical_parses(problem.lexical)
    return None if trees is None else max(map(problem.score, trees), default=-np.inf)


KINDS: dict[str, Kind] = {
    "tree": Kind(draw_tree, best_tree, tree_methods),
    "hypergraph": Kind(draw_hypergraph, best_hyperpath, hypergraph_methods),
    "sequence": Kind(draw_sequence, best_labelling, sequence_methods),
    "joint": Kind(draw_joint, best_joint, joint_methods),
    "lexical": Kind(draw_lexical, best_lexical, lambda problem: {"auto": Method(decode_lexical), "unpruned": Method(
        lambda p: decode_lexical(p, pruning=False))}),
    "agreement": Kind(draw_agreement, best_agreement, lambda problem: {"auto": Method(decode_agreement), "dual-decomposition": Method(
        lambda p: decode_agreement(p, method="dual-decomposition", max_iterations=20), exact=False)}),
    "phrases": Kind(draw_phrases, best_phrases, phrase_methods),
    "forest": Kind(draw_forest, best_derivation, forest_methods),
}  # fmt: skip
