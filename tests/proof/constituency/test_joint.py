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
    for problem, parses in drawn(80):
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


def test_the_dual_is_the_best_of_both():
    """Never lazy: no more than what a parse and a tag sequence are worth that may differ."""
    rng = np.random.default_rng(4)
    for problem, parses in drawn():
        n, n_tags = problem.n_words, len(problem.tags)
        prices = rng.integers(-4, 5, (n, n_tags)).astype(float)
        for allowed in (np.ones((n, n_tags), dtype=bool), rng.random((n, n_tags)) < 0.6):
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
            wanted = max(trees, default=-math.inf) + max(rows, default=-math.inf)
            wanted = wanted if wanted == -math.inf else int(wanted) // parses.grain * parses.grain
            certificate = Multipliers(tuple((prices * problem.resolution).reshape(-1).tolist()))
            if allowed.all():
                assert joint_bound(problem, certificate, 0) == wanted
                continue
            fixed = [(int(part), bool(inside)) for part, inside in enumerate(allowed.reshape(-1))]
            leaves, path = [], []
            for part, inside in fixed:  # everything else in leaves that branch off
                if not inside:
                    leaves.append(Leaf((*path, (part, True)), certificate))
                    path.append((part, False))
            bounds = joint_bound(problem, Leaves((*leaves, Leaf(tuple(path), certificate))), 0)
            assert bounds >= wanted


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
