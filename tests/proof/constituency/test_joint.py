"""Bounds of joint parsing and tagging against all parses and all tag sequences."""

import itertools
import math

import numpy as np
import pytest

from zerogap.errors import VerificationError
from zerogap.proof.certificate import CutDuals, DynamicProgram, Leaf, Leaves, Multipliers
from zerogap.proof.constituency.joint import Parses, best_parse, best_tagging, joint_bound, joint_optimum
from zerogap.proof.integers import ABSENT, number
from zerogap.testing.draws import KINDS, best_joint, joint_trees


def drawn(most=40):
    for seed in range(most):
        problem = KINDS["joint"].draw(np.random.default_rng([6, seed]))
        yield problem, Parses.of(problem)


def leaves_of(tree):
    return [tree] if isinstance(tree[1], int) else [leaf for part in tree[1:] for leaf in leaves_of(part)]


def in_units(problem, score):
    return score / problem.resolution if math.isfinite(score) else score


def test_the_best_joint_structure():
    for problem, parses in drawn(40):
        wanted = in_units(problem, best_joint(problem))
        assert joint_optimum(parses) == wanted
        assert joint_bound(problem, DynamicProgram(), 0) == wanted


def tagging_score(problem, tags, nodes):
    n_tags, order = len(problem.tags), problem.order
    row = [n_tags] * (order - 1) + list(tags) + [n_tags]
    total = sum(nodes[i, t] for i, t in enumerate(tags))
    return total + sum(problem.transitions[tuple(row[i : i + order])] for i in range(len(tags) + 1))


def test_the_two_parts_of_the_dual():
    rng = np.random.default_rng(3)
    for problem, parses in drawn():
        n, tags = problem.n_words, len(problem.tags)
        sequences = list(itertools.product(range(tags), repeat=n))
        wanted = max(in_units(problem, tagging_score(problem, s, problem.emissions)) for s in sequences)
        assert number(best_tagging(parses.emissions, parses.transitions)) == wanted
        prices = rng.integers(-4, 5, (n, tags))
        paid = rng.integers(0, 2, (n, tags)) > 0
        parse = number(best_parse(problem.grammar, parses.binary, parses.unary, parses.lexical))
        assert parse == max((in_units(problem, score) for score, _ in parse_scores(problem)), default=-math.inf)
        values = tuple((prices * paid * problem.resolution).reshape(-1).tolist())
        dual = joint_bound(problem, Multipliers(values), 0)
        assert dual >= joint_optimum(parses)
        assert dual == -math.inf or dual % parses.grain == 0


def parse_scores(problem):
    """Every parse with its score without the tagger, and its tags."""
    names, grammar = problem.grammar.symbols, problem.grammar
    binary = {tuple(rule): s for rule, s in zip(grammar.binary.tolist(), grammar.binary_scores, strict=True)}
    unary = {tuple(rule): s for rule, s in zip(grammar.unary.tolist(), grammar.unary_scores, strict=True)}

    def score(tree):
        at = names.index(tree[0])
        if isinstance(tree[1], int):
            return problem.lexical[tree[1], at]
        children = tuple(names.index(part[0]) for part in tree[1:])
        return (unary if len(children) == 1 else binary)[(at, *children)] + sum(map(score, tree[1:]))

    for tree in joint_trees(problem, 0, problem.n_words, problem.grammar.root):
        yield score(tree), [problem.tag_of[list(problem.tag_symbols).index(names.index(name))] for name, _ in leaves_of(tree)]


def dual(problem, prices, allowed, grain):
    """What a parse and a tag sequence are worth that may differ, rounded down to what can be."""
    n, n_tags = problem.n_words, len(problem.tags)
    trees = [
        in_units(problem, s) - sum(prices[i, t] for i, t in enumerate(tags))
        for s, tags in parse_scores(problem)
        if all(allowed[i, t] for i, t in enumerate(tags))
    ]
    rows = [
        in_units(problem, tagging_score(problem, s, problem.emissions)) + sum(prices[i, t] for i, t in enumerate(s))
        for s in itertools.product(range(n_tags), repeat=n)
        if all(allowed[i, t] for i, t in enumerate(s))
    ]
    total = max(trees, default=-math.inf) + max(rows, default=-math.inf)
    return total if total == -math.inf else int(total) // grain * grain


def test_the_dual_is_the_best_of_both():
    """Never wrong, and never lazy: of everything, and of what leaves leave."""
    rng = np.random.default_rng(4)
    for problem, parses in drawn(12):
        n, n_tags = problem.n_words, len(problem.tags)
        prices = rng.integers(-4, 5, (n, n_tags)).astype(float)
        certificate = Multipliers(tuple((prices * problem.resolution).reshape(-1).tolist()))
        everything = np.ones((n, n_tags), dtype=bool)
        assert joint_bound(problem, certificate, 0) == dual(problem, prices, everything, parses.grain)
        for word, tag in itertools.product(range(n), range(n_tags)):
            inside, outside = everything.copy(), everything.copy()
            inside[word] = np.arange(n_tags) == tag
            outside[word, tag] = False
            part = word * n_tags + tag
            leaves = Leaves((Leaf(((part, True),), certificate), Leaf(((part, False),), certificate)))
            wanted = [dual(problem, prices, left, parses.grain) for left in (inside, outside)]
            assert joint_bound(problem, leaves, 0) == max(wanted)
            other = (word + 1) % n * n_tags + (tag + 1) % n_tags
            rest = (Leaf(((part, False), (other, True)), certificate), Leaf(((part, False), (other, False)), certificate))
            assert joint_bound(problem, Leaves((Leaf(((part, True),), certificate), *rest)), 0) <= max(wanted) or n * n_tags == 1


def test_what_divides_all_scores():
    for problem, parses in drawn():
        grammar = problem.grammar
        tables = (grammar.binary_scores, grammar.unary_scores, problem.lexical, problem.emissions, problem.transitions)
        common = math.gcd(*(int(score / problem.resolution) for table in tables for score in table.reshape(-1) if score > -np.inf))
        assert parses.grain == (common & -common or 1)
        assert parses.largest >= max((abs(in_units(problem, s)) for s, _ in parse_scores(problem) if s > -math.inf), default=0)


def test_leaves_and_other_kinds():
    for problem, _ in drawn(10):
        size = problem.n_words * len(problem.tags)
        zeros = Multipliers((0.0,) * size)
        whole = joint_bound(problem, zeros, 0)
        for part in range(size):
            halves = [joint_bound(problem, Leaves((Leaf(((part, True),), zeros), Leaf(((part, False),), zeros))), 0)]
            assert halves[0] <= whole
        for bad in (CutDuals((), ()), Leaves((Leaf(((0, True),), zeros),)), Leaves((Leaf((), DynamicProgram()),)), Multipliers(())):
            with pytest.raises(VerificationError):
                joint_bound(problem, bad, 0)


def test_boundaries_are_no_tags():
    nodes = np.zeros((2, 1), dtype=np.int64)
    transitions = np.array([[1, 2], [4, 8]])
    assert best_tagging(nodes, transitions) == 4 + 1 + 2
    transitions = np.array([[1, ABSENT], [4, 8]])
    assert number(best_tagging(nodes, transitions)) == -math.inf
