"""Checks that nothing is missing among the k best trees: how many structures score more than the last of them.

Projective trees are counted by the charts of the bounds, with lists of scores. Other trees are split by their arcs as Lawler (1972) does,
each part of the split with the best tree that this module's own Chu-Liu-Edmonds finds in it. The slack of Edmonds' cuts
says of most parts that they hold nothing of interest before they are looked into.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from zerogap.errors import VerificationError
from zerogap.grid import Scores
from zerogap.problems.dependency.problem import Problem
from zerogap.proof.certificate import Certificate, CutDuals
from zerogap.proof.dependency import best_projective_scores, dependency_bound, labelled_arcs, slack_of_cuts
from zerogap.proof.dependency_lists import added
from zerogap.proof.exact_values import Units, in_units
from zerogap.proof.factor_shares import concerns_factors
from zerogap.proof.factor_shares import trees_above as trees_with_factors_above

Heads = NDArray[np.int64]


def dependency_alternatives(problem: Problem, certificate: Certificate, claimed: float, k: int) -> Scores:
    """The scores above `claimed`, the highest first: of the k best projective structures, or of any k others, if there are so many."""
    if problem.factors or concerns_factors(certificate):
        return trees_with_factors_above(problem, certificate, labelled_arcs(problem, k), claimed, k, dependency_bound)
    if problem.projective:
        scores = best_projective_scores(problem, k)
        return scores[scores > claimed]
    if not isinstance(certificate, CutDuals):
        raise VerificationError(f"a certificate of kind {certificate.kind!r} says nothing about the k best non-projective trees.")
    slack = slack_of_cuts(problem, certificate)
    # whether a part of the split may hold a tree above the claim is computed in units: sums of slack are beyond 2^53
    room = sum(int(value / problem.resolution) for value in certificate.values) - in_units(claimed, problem.resolution)
    arcs = labelled_arcs(problem, k)
    found = [labelled_scores(arcs, heads, k) for heads in trees_above(arcs[..., 0], problem.single_root, slack, room, claimed, k)]
    scores = np.sort(np.concatenate([np.empty(0), *found]))[::-1][:k]
    return scores[scores > claimed]


def labelled_scores(arcs: Scores, heads: Heads, k: int) -> Scores:
    """The k best scores of a tree with labels: of every arc, the scores with its labels are the last axis of `arcs`."""
    scores = np.zeros(1)
    for m, h in enumerate(heads.tolist(), start=1):
        scores = added(scores, arcs[h, m], k)
    return scores


def trees_above(arcs: Scores, single_root: bool, slack: Heads, room: Units, claimed: float, k: int) -> list[Heads]:
    """Trees that score more than `claimed`: all of them, or k. The slack of the arcs of such a tree is less than `room` together."""
    n = len(arcs) - 1
    if n == 0:
        return [np.zeros(0, dtype=np.int64)] if claimed < 0.0 else []
    waiting = [arcs]
    if single_root:
        waiting = [only_head(arcs, 0, root, roots=True) for root in range(1, n + 1) if arcs[0, root] > -np.inf]
    found: list[Heads] = []
    while waiting and len(found) < k:
        scores = waiting.pop()
        allowed = scores > -np.inf
        if not allowed[:, 1:].any(axis=0).all():
            continue
        least = np.where(allowed, slack, np.iinfo(np.int64).max)[:, 1:].min(axis=0)
        if not sum(least.tolist()) < room:
            continue
        heads = best_tree(scores)
        if heads is None or not scores[heads, np.arange(1, n + 1)].sum() > claimed:
            continue
        found.append(heads)
        rest = scores
        for m, h in enumerate(heads.tolist(), start=1):  # all other trees: the first word with another head is m
            other = rest.copy()
            other[h, m] = -np.inf
            waiting.append(other)
            rest = only_head(rest, h, m)
    return found


def only_head(arcs: Scores, h: int, m: int, *, roots: bool = False) -> Scores:
    """What is left if h is the head of m, and with `roots` if no other word is under the root either."""
    left = arcs.copy()
    left[:, m] = -np.inf
    if roots:
        left[0] = -np.inf
    left[h, m] = arcs[h, m]
    return left


def best_tree(arcs: Scores) -> Heads | None:
    """The heads of words 1 to n in a best tree with any number of roots, None if there is none (Chu & Liu 1965, Edmonds 1967)."""
    n = len(arcs) - 1
    words = np.arange(1, n + 1)
    arcs = arcs.copy()
    arcs[words, words] = -np.inf
    heads = np.concatenate([[0], arcs[:, 1:].argmax(axis=0)])
    if not (arcs[heads[1:], words] > -np.inf).all():
        return None
    cycle = find_cycle(heads)
    if cycle is None:
        return heads[1:]
    # the words of the cycle become one, the last: an arc into it replaces the cycle's arc into the word that it enters
    outside = np.setdiff1d(np.arange(n + 1), cycle)
    into = arcs[np.ix_(outside, cycle)] - arcs[heads[cycle], cycle]
    out_of = arcs[np.ix_(cycle, outside)]
    entered, leaving = into.argmax(axis=1), out_of.argmax(axis=0)
    smaller = np.full((len(outside) + 1, len(outside) + 1), -np.inf)
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


def find_cycle(heads: Heads) -> Heads | None:
    """Words that head each other in a circle; heads[0] is 0."""
    for start in range(1, len(heads)):
        walk = [start]
        while heads[walk[-1]] not in walk and heads[walk[-1]] > 0:
            walk.append(int(heads[walk[-1]]))
        if heads[walk[-1]] > 0:
            return np.array(walk[walk.index(int(heads[walk[-1]])) :])
    return None
