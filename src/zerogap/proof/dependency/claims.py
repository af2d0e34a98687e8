"""Checks the claims about a dependency problem: a bound, and that nothing is missing among the k best trees.

Projective trees are counted by the charts of the bounds, with lists of scores. Other trees are split by their arcs as Lawler (1972) does,
each part of the split with the best tree that this module's own Chu-Liu-Edmonds finds in it. The slack of Edmonds' cuts
says of most parts that they hold nothing of interest before they are looked into.
"""

from __future__ import annotations

import numpy as np

from zerogap.errors import VerificationError
from zerogap.grid import Integers
from zerogap.problems.dependency.problem import Problem
from zerogap.proof.certificate import Certificate, CutDuals
from zerogap.proof.dependency.factor_shares import concerns_factors, factor_bound, scores_above
from zerogap.proof.dependency.trees import best_projective_scores, bound_of_trees, checked_cuts, trees_of
from zerogap.proof.integers import ABSENT, Units, added, settled


def dependency_bound(problem: Problem, certificate: Certificate, claimed: Units) -> Units:
    """The bound that a certificate proves, in units; VerificationError if it proves none."""
    trees = trees_of(problem, 1)
    if problem.factors or concerns_factors(certificate):
        return factor_bound(trees, certificate)
    return bound_of_trees(trees, certificate)


def dependency_alternatives(problem: Problem, certificate: Certificate, claimed: int, k: int) -> list[int]:
    """The scores above `claimed`, the highest first: of the k best projective structures, or of any k others, if there are so many."""
    trees = trees_of(problem, k)
    if problem.factors or concerns_factors(certificate):
        return scores_above(trees, certificate, claimed, k)
    if problem.projective:
        scores = best_projective_scores(trees, k)
        return [int(score) for score in scores if score > max(claimed, ABSENT)]
    if not isinstance(certificate, CutDuals):
        raise VerificationError(f"a certificate of kind {certificate.kind!r} says nothing about the k best non-projective trees.")
    values, slack = checked_cuts(trees, certificate)
    found = []
    for heads in trees_above(trees.arcs[..., 0], problem.single_root, slack, sum(values), claimed, k):
        scores = np.zeros(1, dtype=np.int64)
        for m, h in enumerate(heads.tolist(), start=1):
            scores = added(scores, trees.arcs[h, m], k)
        found += [int(score) for score in scores if score > max(claimed, ABSENT)]
    return sorted(found, reverse=True)[:k]


def trees_above(arcs: Integers, single_root: bool, slack: Integers, bound: int, claimed: int, k: int) -> list[Integers]:
    """Trees that score more than `claimed`: all of them, or k."""
    n = len(arcs) - 1
    if n == 0:
        return [np.zeros(0, dtype=np.int64)] if claimed < 0 else []
    waiting = [arcs]
    if single_root:
        waiting = [only_head(arcs, 0, root, roots=True) for root in range(1, n + 1) if arcs[0, root] > ABSENT]
    found: list[Integers] = []
    while waiting and len(found) < k:
        scores = waiting.pop()
        allowed = scores > ABSENT
        if not allowed[:, 1:].any(axis=0).all():
            continue
        # a tree scores at most the bound less the slack of its arcs
        least = np.where(allowed, slack, np.iinfo(np.int64).max)[:, 1:].min(axis=0)
        if not bound - sum(least.tolist()) > claimed:
            continue
        heads = best_tree(scores)
        if heads is None or not sum(scores[heads, np.arange(1, n + 1)].tolist()) > claimed:
            continue
        found.append(heads)
        rest = scores
        for m, h in enumerate(heads.tolist(), start=1):  # all other trees: the first word with another head is m
            other = rest.copy()
            other[h, m] = ABSENT
            waiting.append(other)
            rest = only_head(rest, h, m)
    return found


def only_head(arcs: Integers, h: int, m: int, *, roots: bool = False) -> Integers:
    """What is left if h is the head of m, and with `roots` if no other word is under the root either."""
    left = arcs.copy()
    left[:, m] = ABSENT
    if roots:
        left[0] = ABSENT
    left[h, m] = arcs[h, m]
    return left


def best_tree(arcs: Integers) -> Integers | None:
    """The heads of words 1 to n in a best tree with any number of roots, None if there is none (Chu & Liu 1965, Edmonds 1967)."""
    n = len(arcs) - 1
    words = np.arange(1, n + 1)
    arcs = arcs.copy()
    arcs[words, words] = ABSENT
    heads = np.concatenate([[0], arcs[:, 1:].argmax(axis=0)])
    if not (arcs[heads[1:], words] > ABSENT).all():
        return None
    cycle = find_cycle(heads)
    if cycle is None:
        return heads[1:]
    # the words of the cycle become one, the last: an arc into it replaces the cycle's arc into the word that it enters
    outside = np.setdiff1d(np.arange(n + 1), cycle)
    into = settled(arcs[np.ix_(outside, cycle)] - arcs[heads[cycle], cycle])
    out_of = arcs[np.ix_(cycle, outside)]
    entered, leaving = into.argmax(axis=1), out_of.argmax(axis=0)
    smaller = np.full((len(outside) + 1, len(outside) + 1), ABSENT)
    smaller[:-1, :-1] = arcs[np.ix_(outside, outside)]
    smaller[:-1, -1] = into.max(axis=1)
    smaller[-1, :-1] = out_of.max(axis=0)
    below = best_tree(smaller)
    if below is None:
        return None
    heads[cycle[entered[below[-1]]]] = outside[below[-1]]
    for place, head in enumerate(below[:-1].tolist(), start=1):
        heads[outside[place]] = cycle[leaving[place]] if head == len(outside) else outside[head]
    return heads[1:]


def find_cycle(heads: Integers) -> Integers | None:
    """Words that head each other in a circle; heads[0] is 0."""
    for start in range(1, len(heads)):
        walk = [start]
        while heads[walk[-1]] not in walk and heads[walk[-1]] > 0:
            walk.append(int(heads[walk[-1]]))
        if heads[walk[-1]] > 0:
            return np.array(walk[walk.index(int(heads[walk[-1]])) :])
    return None
