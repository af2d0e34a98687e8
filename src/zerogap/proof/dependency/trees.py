"""Checks bounds of dependency problems: Edmonds' cuts arc by arc, or a projective dynamic program.

Trees over words 1 to n obey two facts. Exactly one arc enters every word, and at least one enters every set of words;
with a single root, exactly one enters the set of all words. So if every arc scores at most the sum of the values of
the sets that it enters, and values are at most 0 where more than one arc may enter, no tree scores more than the sum of
all values (Edmonds 1967). Projective trees are trees, so this bounds them too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from zerogap.errors import VerificationError
from zerogap.grid import Integers
from zerogap.problems.dependency.problem import Problem
from zerogap.proof.certificate import Certificate, CutDuals, DynamicProgram, HeadPrices, Leaves, Screened
from zerogap.proof.dependency.charts import arc_chart, sibling_chart
from zerogap.proof.dependency.grandparents import grandparent_chart
from zerogap.proof.dependency.head_prices import head_prices_bound
from zerogap.proof.integers import ABSENT, Units, best_of, number, plus, units, units_of_all

OF_GRANDPARENTS = {"grandparents", "outermost", "grandsiblings"}
OF_CHARTS = {"siblings", "stops", *OF_GRANDPARENTS}


@dataclass(frozen=True, slots=True, eq=False)
class Trees:
    """The trees of a problem under scores of arcs, with their labels, and larger parts, all in units; factors are left out.

    `arcs` (n + 1, n + 1, any) has the scores of every arc with each of its labels, the highest first. The scores of a structure, and of
    the best choice of a head, are below `largest` in magnitude.
    """

    problem: Problem
    arcs: Integers
    unit: float
    largest: int
    larger: tuple[str, ...]


def trees_of(problem: Problem, k: int) -> Trees:
    """With the k best labels of every arc."""
    arcs = units(problem.arcs, problem.resolution)[..., None]
    if problem.labels is not None:
        arcs = best_of(plus(arcs, units(problem.labels, problem.resolution)), min(k, problem.labels.shape[2]))
    largest = math.ceil(problem.terms * (problem.largest / problem.resolution))
    return Trees(problem, arcs, problem.resolution, largest, tuple(problem.larger))


def bound_of_trees(trees: Trees, certificate: Certificate) -> Units:
    """The bound that a certificate proves, in units; VerificationError if it proves none."""
    match certificate:
        case CutDuals():
            values, _ = checked_cuts(trees, certificate)
            return sum(values)
        case DynamicProgram():
            return number(best_projective_scores(trees, 1)[0])
        case HeadPrices() | Screened() | Leaves():
            return head_prices_bound(trees.problem, certificate, trees.arcs[..., 0], trees.unit, trees.largest, trees.larger)
        case _:
            raise VerificationError(f"a certificate of kind {certificate.kind!r} proves nothing about dependency trees.")


def best_projective_scores(trees: Trees, k: int) -> Integers:
    """The scores of the k best structures, the highest first; absent where there are no more."""
    problem, larger = trees.problem, set(trees.larger)
    if not problem.projective:
        raise VerificationError("a certificate of kind 'dynamic-program' proves nothing about non-projective trees.")
    if larger - OF_CHARTS:
        raise VerificationError(f"a certificate of kind 'dynamic-program' proves nothing about {', '.join(sorted(larger - OF_CHARTS))}.")
    if larger & OF_GRANDPARENTS:
        return grandparent_chart(problem, trees.arcs, trees.unit, k)
    if larger:
        return sibling_chart(trees.arcs, *sibling_tables(trees), problem.single_root, k)
    return arc_chart(trees.arcs, problem.single_root, k)


def sibling_tables(trees: Trees) -> tuple[Integers, Integers]:
    """The scores of siblings and stops, 0 where arcs are forbidden anyway: those are not asked for."""
    problem = trees.problem
    n = problem.n_words
    siblings, stops = np.zeros((n + 1, n + 1, n + 1), dtype=np.int64), np.zeros((n + 1, n + 1), dtype=np.int64)
    allowed = trees.arcs[..., 0] > ABSENT
    itself = np.eye(n + 1, dtype=np.bool_)
    if problem.siblings is not None:
        h, s, m = np.ogrid[: n + 1, : n + 1, : n + 1]
        nearer = ((h < s) & (s < m)) | ((m < s) & (s < h))
        index = np.nonzero(((allowed[:, :, None] & nearer) | itself[:, :, None]) & allowed[:, None, :])
        siblings[index] = units(problem.siblings.at(*index), trees.unit)
    if problem.stops is not None:
        pairs = np.nonzero(allowed | itself)
        stops[pairs] = units(problem.stops.at(*pairs), trees.unit)
    return siblings, stops


def checked_cuts(trees: Trees, certificate: CutDuals) -> tuple[list[int], Integers]:
    """The values in units, and the slack (n + 1, n + 1) of every arc: how much less than the values of the sets that it enters it scores,
    with its best label; 0 for arcs that are forbidden. VerificationError if an arc scores more.

    A tree scores at most the sum of all values less the slack of its arcs.
    """
    if trees.larger:
        raise VerificationError(f"a certificate of kind 'cut-duals' proves nothing about {', '.join(trees.larger)}.")
    problem, sets = trees.problem, certificate.sets
    n = problem.n_words
    if len(sets) != len(certificate.values):
        raise VerificationError(f"there are {len(sets)} sets and {len(certificate.values)} values: expected as many.")
    values = units_of_all(certificate.values, trees.unit, "values", beside=trees.largest)
    inside = np.zeros((len(sets), n + 1), dtype=np.int64)
    for k, (words, value) in enumerate(zip(sets, values, strict=True)):
        if len(words) == 0 or len(set(words)) < len(words) or not all(type(word) is int and 1 <= word <= n for word in words):
            raise VerificationError(f"sets[{k}] is {words}: expected different words from 1 to {n}, at least one.")
        entered_once = len(words) == 1 or (problem.single_root and len(words) == n)
        if value > 0 and not entered_once:
            raise VerificationError(
                f"values[{k}] is {certificate.values[k]!r}: expected at most 0, since several arcs may enter the set {words}."
            )
        inside[k, list(words)] = 1
    # allowance[h, m] = sum of the values of the sets that the arc h -> m enters
    allowance = (1 - inside).T @ (np.array(values, dtype=np.int64)[:, None] * inside)
    arcs = trees.arcs[..., 0]
    over = np.argwhere(arcs > allowance)
    if over.size:
        h, m = (int(index) for index in over[0])
        score, room = float(arcs[h, m] * trees.unit), float(allowance[h, m] * trees.unit)
        raise VerificationError(f"the arc {h} -> {m} scores {score!r}, more than the {room!r} of the sets that it enters.")
    return values, np.where(arcs > ABSENT, allowance - arcs, 0)
