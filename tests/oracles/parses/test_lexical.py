"""Parsing with heads against enumeration: best parses, bounds of symbols over spans, and any threshold."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zerogap.constituency.lexical.decoding import coarse_bounds, decode_lexical, head_index, head_scores, rule_bounds, search
from zerogap.errors import Infeasible
from zerogap.oracles.parses.lexical import HeadItems, best_head_parse, head_chart
from zerogap.oracles.parses.lexical_bounds import outside_bounds
from zerogap.oracles.parses.lexical_marginals import items_reaching
from zerogap.problems.constituency.lexical import LexicalGrammar, LexicalProblem

NAMES = "ABCD"


@st.composite
def lexical_problems(draw, max_words=4, max_symbols=3):
    """Small integers for scores, -inf now and then; several tags per word; circles of unary rules, some of them free.

    Numbers come from a seed: drawn one by one, most problems would have no parse or one word.
    """
    n, size, holes = draw(st.integers(1, max_words)), draw(st.integers(1, max_symbols)), draw(st.sampled_from([0.0, 0.1, 0.3]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    binary = np.unique(rng.integers(0, size, (rng.integers(2, 11), 3)), axis=0)
    unary = np.unique(rng.integers(0, size, (rng.integers(0, 5), 2)), axis=0)
    unary = unary[unary[:, 0] != unary[:, 1]]
    classes = rng.integers(0, 2, size)
    grammar = LexicalGrammar(
        tuple(NAMES[:size]), int(binary[0, 0]), binary, rng.integers(0, 2, len(binary)), unary, rng.integers(-1, 2, len(unary)), classes
    )
    candidates = sorted({(i, int(rng.integers(0, size))) for i in range(n) for _ in range(2)})
    c = len(candidates)

    def scores(*shape):
        return np.where(rng.random(shape) < holes, -np.inf, rng.integers(-3, 4, shape).astype(float))

    return LexicalProblem(
        grammar, positions=[i for i, _ in candidates], tags=[tag for _, tag in candidates], verbs=rng.random(n) < 0.4,
        binary=scores(len(binary), c, 2), unary=np.minimum(scores(len(unary), c, 2), 0.0), words=scores(int(classes.max()) + 1, c, c),
        roots=scores(c),
    )  # fmt: skip


def all_parses(problem):
    """Every parse by the definition, forbidden ones too."""
    names, grammar = problem.grammar.symbols, problem.grammar
    found = {}

    def chains(trees):
        """The trees, and all rows of unary rules over them that have no symbol twice."""
        made, fresh = list(trees), [(tree, frozenset((symbol,)), symbol) for symbol, tree in trees]
        while fresh:
            longer = []
            for tree, seen, symbol in fresh:
                for parent, child in grammar.unary.tolist():
                    if child == symbol and parent not in seen:
                        longer.append(((names[parent], tree), seen | {parent}, parent))
            made += [(symbol, tree) for tree, _, symbol in longer]
            fresh = longer
        return made

    for length in range(1, problem.n_words + 1):
        for i in range(problem.n_words - length + 1):
            j = i + length
            if length == 1:
                trees = [(int(t), (names[t], i)) for p, t in zip(problem.positions, problem.tags, strict=True) if p == i]
            else:
                trees = [
                    (parent, (names[parent], left, right))
                    for k in range(i + 1, j)
                    for parent, y, z in grammar.binary.tolist()
                    for a, left in found[i, k] if a == y
                    for b, right in found[k, j] if b == z
                ]  # fmt: skip
            found[i, j] = chains(trees)
            if len(found[i, j]) > 1000:
                return None
    return [tree for symbol, tree in found[0, problem.n_words] if symbol == grammar.root]


def optimum(problem):
    trees = all_parses(problem)
    return None if trees is None else max((problem.score(tree) for tree in trees), default=-np.inf)


@given(lexical_problems(), st.sampled_from([0.5, 3.0, 10.0]))
@settings(max_examples=300)
def test_the_best_parse(problem, width):
    best = optimum(problem)
    if best is None:
        return
    for pruning in (True, False):
        if best == -np.inf:
            with pytest.raises(Infeasible):
                decode_lexical(problem, pruning=pruning, width=width)
        else:
            solution = decode_lexical(problem, pruning=pruning, width=width)
            problem.check(solution.structure)
            assert solution.score == best == problem.score(solution.structure) == solution.bound


@given(lexical_problems(max_words=3), st.integers(-8, 8))
def test_every_threshold(problem, threshold):
    """A parse that reaches the threshold is found; what is found below it is a parse."""
    best = optimum(problem)
    if best is None:
        return
    index, scores, grammar = head_index(problem.grammar), head_scores(problem), problem.grammar
    bounds = coarse_bounds(problem.grammar, scores, rule_bounds(problem.grammar, scores))
    assert bounds.best >= best
    chart = head_chart(index, scores, HeadItems.above(outside_bounds(bounds, float(threshold))), float(threshold))
    parse = best_head_parse(index, scores, chart, grammar.binary, grammar.head_side, grammar.unary)
    found = -np.inf if parse is None else parse.score
    assert found == best if best >= threshold else found <= best


@given(lexical_problems(max_words=3))
def test_spans_are_bounded(problem):
    """No parse scores more than what any of its symbols over a span is said to be worth."""
    trees = all_parses(problem)
    given = head_scores(problem)
    bounds = coarse_bounds(problem.grammar, given, rule_bounds(problem.grammar, given))
    around = outside_bounds(bounds, -np.inf)
    number = {name: i for i, name in enumerate(problem.grammar.symbols)}

    def check(tree, score):
        if not isinstance(tree[1], tuple):
            start, end = tree[1], tree[1] + 1
        else:
            spans = [check(child, score) for child in tree[1:]]
            start, end = spans[0][0], spans[-1][1]
        x = number[tree[0]]
        assert bounds.inside[start, end, x] + around[start, end, x] >= score
        return start, end

    for tree in (trees or [])[:100]:
        score = problem.score(tree)
        if score > -np.inf:
            check(tree, score)


def test_pruning_leaves_things_out():
    """With one rule much better than the other, the other one is not tried."""
    rows = np.array([[0, 1, 1], [0, 2, 2]], dtype=np.int64)
    none = np.zeros((0,), dtype=np.int64)
    grammar = LexicalGrammar(tuple("ABC"), 0, rows, np.zeros(2, dtype=np.int64), none.reshape(0, 2), none, np.zeros(3, dtype=np.int64))
    problem = LexicalProblem(
        grammar, positions=[0, 0, 1, 1], tags=[1, 2, 1, 2], verbs=[False, False],
        binary=np.stack([np.zeros((4, 2)), np.full((4, 2), -9.0)]), unary=np.zeros((0, 4, 2)), words=np.zeros((1, 4, 4)), roots=np.zeros(4),
    )  # fmt: skip
    found = search(grammar, head_scores(problem), width=1.0)
    assert found.parse.symbols == [0, 1, 1]
    assert len(found.chart.items.symbols) < len(search(grammar, head_scores(problem), pruning=False).chart.items.symbols)


def spans_of(problem, tree):
    """The symbols of a parse with their spans."""
    number = {name: i for i, name in enumerate(problem.grammar.symbols)}
    found = set()

    def walk(node):
        if not isinstance(node[1], tuple):
            span = (node[1], node[1] + 1)
        else:
            spans = [walk(child) for child in node[1:]]
            span = (spans[0][0], spans[-1][1])
        found.add((*span, number[node[0]]))
        return span

    walk(tree)
    return found


@given(lexical_problems(max_words=3), st.integers(-8, 8))
def test_max_marginals(problem, threshold):
    """The items of the parses that reach the threshold, and no others."""
    trees = all_parses(problem)
    if trees is None:
        return
    index, scores = head_index(problem.grammar), head_scores(problem)
    bounds = coarse_bounds(problem.grammar, scores, rule_bounds(problem.grammar, scores))
    chart = head_chart(index, scores, HeadItems.above(outside_bounds(bounds, -np.inf)), -np.inf)
    items = items_reaching(index, scores, chart, float(threshold))
    expected = set().union(*(spans_of(problem, tree) for tree in trees if problem.score(tree) >= threshold))
    found = {*zip(items.starts.tolist(), items.ends.tolist(), items.symbols.tolist(), strict=True)}
    assert found >= expected
    if not len(problem.grammar.unary):  # a free circle is no parse, and no harm
        assert found == expected
    again = head_chart(index, scores._replace(rest=np.zeros(len(scores.rest))), items, float(threshold))
    parse = best_head_parse(index, scores, again, problem.grammar.binary, problem.grammar.head_side, problem.grammar.unary)
    best = max((problem.score(tree) for tree in trees), default=-np.inf)
    assert (parse is None) == (best < threshold)
    assert parse is None or parse.score == best
