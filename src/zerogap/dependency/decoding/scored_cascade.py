"""Coarse to fine on scores: arcs with prices stand for all larger parts, and prune them (Rush 2014, sections 8.3.2 and 8.4.1).

The coarse model is first order: its arcs have prices for the larger parts that they are in, from a few steps of dual decomposition, so that
no tree scores more than the bound of these prices. Arcs whose max-marginals are below a threshold are left out, and the best tree of the
rest is found by dynamic programming. That is approximate: the answer is a candidate, and the bound says how much better a tree could be.

The exact cascade goes on from that candidate. An arc is dropped only when no tree with it can score as much, by the bound of the prices
less what the coarse tree, the arc's head and its modifier lose if they take it; the best tree of the rest is the best of all.
"""

from __future__ import annotations

import math
import time

import numpy as np
from numpy.typing import NDArray

from zerogap.dependency.decoding.agreement.decoder import no_tree
from zerogap.dependency.decoding.agreement.head_scores import head_scores
from zerogap.dependency.decoding.agreement.relaxation import Agreement
from zerogap.dependency.decoding.methods import best_by_candidates
from zerogap.errors import Infeasible
from zerogap.grid import Scores
from zerogap.oracles.heads.automata import CLOSED
from zerogap.oracles.trees.projective_marginals import projective_max_marginals
from zerogap.problems.dependency.problem import Problem, Tree
from zerogap.proof.certificate import Certificate
from zerogap.proof.solution import Solution, Trace
from zerogap.relax.pruning import MEAN, Rule

STEPS, RATE, LEAST_RATE, POLYAK = 40, 1.5, 0.1, 0
RULE = Rule(MEAN, 0.5)


def decode_by_cascade(
    problem: Problem, arcs: Scores, labels: NDArray[np.int64] | None, *, exact: bool, time_limit: float | None = None
) -> Solution[Tree]:
    """The best tree of the arcs that are left, with a true bound; with `exact`, the best tree.

    `arcs` and `labels` (n + 1, n + 1) are the scores of arcs with their best labels, and those. Raises Infeasible if there is no tree.
    """
    begin = time.perf_counter()
    deadline = math.inf if time_limit is None else begin + time_limit
    if arcs[:, 1:].max(axis=0).min() == -np.inf:
        raise no_tree(problem, arcs)
    agreement = Agreement(head_scores(problem, arcs), problem.resolution)
    everything = agreement.state(())
    run = agreement.run(
        everything, agreement.most_prices(arcs), -math.inf, rate=RATE, least_rate=LEAST_RATE, rule=POLYAK, max_iterations=STEPS,
        deadline=deadline,
    )  # fmt: skip
    heads, score = best_of(problem, arcs, likely(agreement, run.prices, single_root=problem.single_root), run.heads)
    bound, certificate = run.bound, agreement.evidence(run.prices)
    times, bounds, scores = [time.perf_counter() - begin], [bound], [score]
    proof: Certificate = certificate
    if exact and score < bound:
        left = agreement.possible(everything, run.prices, score - problem.resolution)
        state = everything if left is None else left
        keep = np.zeros(arcs.shape, dtype=np.bool_)
        keep[agreement.heads[state != CLOSED], agreement.modifiers[state != CLOSED]] = True
        heads, bound, proof = best_by_candidates(problem, np.where(keep, arcs, -np.inf), grand=True)
        times, bounds, scores = [*times, time.perf_counter() - begin], [*bounds, bound], [*scores, bound]
    structure = problem.tree(heads, None if labels is None else labels[heads, np.arange(1, len(heads) + 1)])
    return Solution(structure, problem.score(structure), bound, proof, Trace(tuple(bounds), tuple(scores), tuple(times)))


def likely(agreement: Agreement, prices: Scores, *, single_root: bool) -> NDArray[np.bool_]:
    """(n + 1, n + 1): arcs that the coarse model keeps."""
    n = agreement.scores.n_words
    weights, marginals = np.full((n + 1, n + 1), -np.inf), np.empty((n + 1, n + 1))
    weights[agreement.heads, agreement.modifiers] = prices.sum(axis=0) if agreement.scores.candidates.grand else prices[0]
    best = projective_max_marginals(weights, 1 if single_root else 0, marginals)
    marginals[weights == -np.inf] = -np.inf
    return RULE.kept(float(best), marginals)


def best_of(problem: Problem, arcs: Scores, keep: NDArray[np.bool_], other: NDArray[np.int64] | None) -> tuple[NDArray[np.int64], float]:
    """The best tree of arcs that are kept and of those of another tree; of all, if parts of -inf leave none."""
    if other is not None:
        keep[other, np.arange(1, len(other) + 1)] = True
    try:
        heads, score, _ = best_by_candidates(problem, np.where(keep, arcs, -np.inf), grand=True)
    except Infeasible:
        heads, score, _ = best_by_candidates(problem, arcs, grand=True)
    return heads, score
