"""Sums and maxima over all trees, for each arc: its probability, and the score of the best tree that uses it.

Trees have probability proportional to exp(score). Non-projective trees under arcs are summed by the matrix-tree theorem, projective ones by
inside and outside of the dynamic program that scores their parts. With labels, an arc stands for all of its labels
(their sum, or the best of them), and the probability of a label is that of the arc times its share.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from zerogap.dependency.decoding.kbest import hypergraph_of
from zerogap.dependency.decoding.methods import chosen, decode, with_best_labels
from zerogap.errors import check_problem
from zerogap.grid import Scores
from zerogap.oracles.trees.hypergraphs import ProjectiveHypergraph, arc_max_marginals, arc_posteriors
from zerogap.oracles.trees.nonprojective_marginals import best_tree_scores, tree_posteriors
from zerogap.oracles.trees.projective_marginals import best_projective_scores, projective_posteriors
from zerogap.problems.dependency.problem import Problem

Found = tuple[float, Scores]  # of all trees together, and of every arc


@dataclass(frozen=True, slots=True, eq=False)
class Marginals:
    """`arcs[h, m]` is the probability of the arc, `labels[h, m, l]` that of the arc with this label (None without labels)."""

    arcs: Scores
    labels: Scores | None
    log_partition: float  # the log of the sum of exp(score) over all structures


class Ways(NamedTuple):
    """How to sum, or to maximise, over trees of each kind; and what an arc is worth that is in no tree."""

    nonprojective: Callable[..., Found]
    projective: Callable[..., Found]
    with_parts: Callable[[ProjectiveHypergraph], Found]
    none: float


def marginals(problem: Problem) -> Marginals:
    """The posterior probability of every arc, for problems that a polynomial method of `decode` takes. Infeasible if there is no tree.

    >>> marginals(Problem([[0, 1, 1], [0, 0, 0], [0, 0, 0]])).arcs[0].tolist()
    [0.0, 0.5, 0.5]
    """
    check_problem(problem, Problem)
    if problem.labels is None:
        log_partition, arcs = over_all_trees(problem, problem.arcs, SUMS)
        return Marginals(arcs, None, log_partition)
    scores = problem.arcs[..., None] + problem.labels
    largest = scores.max(axis=2)
    shift = np.where(largest > -np.inf, largest, 0.0)
    shares = np.exp(scores - shift[..., None])
    total = shares.sum(axis=2)
    with np.errstate(divide="ignore"):
        log_partition, arcs = over_all_trees(problem, shift + np.log(total), SUMS)
    return Marginals(arcs, arcs[..., None] * shares / np.where(total > 0.0, total, 1.0)[..., None], log_partition)


def max_marginals(problem: Problem) -> Scores:
    """(n + 1, n + 1): the score of a best structure that has the arc, exactly; -inf if none does. Infeasible if there is no tree.

    >>> max_marginals(Problem([[0, 1, 9], [0, 0, 2], [0, 5, 0]])).tolist()
    [[-inf, 3.0, 14.0], [-inf, -inf, 3.0], [-inf, 14.0, -inf]]
    """
    check_problem(problem, Problem)
    arcs, _ = with_best_labels(problem)
    return over_all_trees(problem, arcs, MAXIMA)[1]


def over_all_trees(problem: Problem, arcs: Scores, ways: Ways) -> Found:
    """Of all trees of the problem, under arcs that stand for their labels."""
    method = chosen(problem, "auto", polynomial=True)
    if problem.n_words == 0:
        return decode(problem).score, np.full((1, 1), ways.none)
    if method == "arborescence":
        return ways.nonprojective(arcs, single_root=problem.single_root)
    if method == "eisner":
        return ways.projective(arcs, single_root=problem.single_root)
    return ways.with_parts(hypergraph_of(problem, arcs))


SUMS = Ways(tree_posteriors, projective_posteriors, arc_posteriors, 0.0)
MAXIMA = Ways(best_tree_scores, best_projective_scores, arc_max_marginals, -np.inf)
