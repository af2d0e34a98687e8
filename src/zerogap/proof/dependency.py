"""Checks bounds of dependency problems: Edmonds' cuts arc by arc, or a projective dynamic program of its own.

Trees over words 1 to n obey two facts. Exactly one arc enters every word, and at least one enters every set of words;
with a single root, exactly one enters the set of all words. So if every arc scores at most the sum of the values of
the sets that it enters, and values are at most 0 where more than one arc may enter, no tree scores more than the sum of
all values (Edmonds 1967). Projective trees are trees, so this bounds them too.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from zerogap.errors import VerificationError
from zerogap.grid import Scores
from zerogap.problems.dependency.problem import Problem
from zerogap.proof.certificate import Certificate, CutDuals, DynamicProgram, HeadPrices, Leaves, Screened
from zerogap.proof.dependency_charts import arc_chart, sibling_chart
from zerogap.proof.dependency_grandparents import grandparent_chart
from zerogap.proof.dependency_lists import best_of
from zerogap.proof.exact_values import check_exact
from zerogap.proof.factor_shares import concerns_factors, factor_bound
from zerogap.proof.head_prices import head_prices_bound

OF_GRANDPARENTS = {"grandparents", "outermost", "grandsiblings"}
OF_CHARTS = {"siblings", "stops", *OF_GRANDPARENTS}


def dependency_bound(problem: Problem, certificate: Certificate) -> float:
    """The bound that a certificate proves; VerificationError if it proves none."""
    if problem.factors or concerns_factors(certificate):
        return factor_bound(problem, certificate, labelled_arcs(problem, 1)[..., 0], dependency_bound)
    match certificate:
        case CutDuals():
            slack_of_cuts(problem, certificate)
            return math.fsum(certificate.values)
        case DynamicProgram():
            return float(best_projective_scores(problem, 1)[0])
        case HeadPrices() | Screened() | Leaves():
            return head_prices_bound(problem, certificate, labelled_arcs(problem, 1)[..., 0])
        case _:
            raise VerificationError(f"a certificate of kind {certificate.kind!r} proves nothing about dependency trees.")


def labelled_arcs(problem: Problem, k: int) -> Scores:
    """(n + 1, n + 1, any): the scores of every arc with each of its labels, the k best first."""
    if problem.labels is None:
        return problem.arcs[..., None]
    return best_of(problem.arcs[..., None] + problem.labels, min(k, problem.labels.shape[2]))


def best_projective_scores(problem: Problem, k: int) -> Scores:
    """The scores of the k best structures, the highest first; -inf where there are no more."""
    if not problem.projective:
        raise VerificationError("a certificate of kind 'dynamic-program' proves nothing about non-projective trees.")
    larger = set(problem.larger)
    if larger - OF_CHARTS:
        raise VerificationError(f"a certificate of kind 'dynamic-program' proves nothing about {', '.join(sorted(larger - OF_CHARTS))}.")
    arcs = labelled_arcs(problem, k)
    if larger & OF_GRANDPARENTS:
        return grandparent_chart(problem, arcs, k)
    if larger:
        return sibling_chart(arcs, *sibling_tables(problem), problem.single_root, k)
    return arc_chart(arcs, problem.single_root, k)


def sibling_tables(problem: Problem) -> tuple[Scores, Scores]:
    """The scores of siblings and stops, 0 where arcs are forbidden anyway: those are not asked for."""
    n = problem.n_words
    siblings, stops = np.zeros((n + 1, n + 1, n + 1)), np.zeros((n + 1, n + 1))
    allowed = problem.arcs > -np.inf
    itself = np.eye(n + 1, dtype=np.bool_)
    if problem.siblings is not None:
        h, s, m = np.ogrid[: n + 1, : n + 1, : n + 1]
        nearer = ((h < s) & (s < m)) | ((m < s) & (s < h))
        index = np.nonzero(((allowed[:, :, None] & nearer) | itself[:, :, None]) & allowed[:, None, :])
        siblings[index] = problem.siblings.at(*index)
    if problem.stops is not None:
        pairs = np.nonzero(allowed | itself)
        stops[pairs] = problem.stops.at(*pairs)
    return siblings, stops


def slack_of_cuts(problem: Problem, certificate: CutDuals) -> NDArray[np.int64]:
    """How much less than the values of the sets that it enters every arc scores, with its best label; VerificationError if it is more.

    A tree scores at most the sum of all values less the slack of its arcs. In units of the resolution; 0 for arcs that are forbidden.
    """
    larger = problem.larger
    if larger:
        raise VerificationError(f"a certificate of kind 'cut-duals' proves nothing about {', '.join(larger)}.")
    sets, values = certificate.sets, certificate.values
    n = problem.n_words
    if len(sets) != len(values):
        raise VerificationError(f"there are {len(sets)} sets and {len(values)} values: expected as many.")
    check_exact(values, problem)
    inside = np.zeros((len(sets), n + 1), dtype=np.bool_)
    for k, (words, value) in enumerate(zip(sets, values, strict=True)):
        if len(words) == 0 or len(set(words)) < len(words) or not all(type(word) is int and 1 <= word <= n for word in words):
            raise VerificationError(f"sets[{k}] is {words}: expected different words from 1 to {n}, at least one.")
        entered_once = len(words) == 1 or (problem.single_root and len(words) == n)
        if value > 0 and not entered_once:
            raise VerificationError(f"values[{k}] is {value!r}: expected at most 0, since several arcs may enter its set of {len(words)}.")
        inside[k, list(words)] = True
    # allowance[h, m] = sum of the values of the sets that the arc h -> m enters
    allowance = (~inside).T.astype(np.float64) @ (np.array(values, dtype=np.float64)[:, None] * inside)
    arcs = labelled_arcs(problem, 1)[..., 0]
    over = np.argwhere(arcs > allowance)
    if over.size:
        h, m = (int(index) for index in over[0])
        score, room = float(arcs[h, m]), float(allowance[h, m])
        raise VerificationError(f"the arc {h} -> {m} scores {score!r}, more than the {room!r} of the sets that it enters.")
    # both are below 2^53 units, so their difference is exact in int64 and not always in float64
    slack = (allowance / problem.resolution).astype(np.int64) - (np.where(arcs > -np.inf, arcs, 0.0) / problem.resolution).astype(np.int64)
    return np.where(arcs > -np.inf, slack, 0)
