"""The bound of prices on the ends of vertices, and what they leave of a translation forest above a claimed bound: for the checker.

Hyperedges and tokens that no derivation above the claimed bound can have are left out, and then fewer words can be neighbours and
what is left is bounded again.
"""

from __future__ import annotations

import numpy as np

from zerogap.errors import VerificationError
from zerogap.grid import MANTISSA_BITS, Scores
from zerogap.problems.translation.forest_problem import SyntaxProblem
from zerogap.proof.translation.forest_bounds import (
    Around,
    cut_target,
    highest_scores,
    inside_outside,
    local_target,
    possible_neighbours,
    token_lists,
)
from zerogap.proof.translation.forest_reading import Reading
from zerogap.proof.translation.forest_tokens import look_around

ROUNDS = 3
ENOUGH = 0.8  # of what a round leaves, hyperedges times tokens: if the next one leaves more of it, there are no more


def checked_prices(problem: SyntaxProblem, values: tuple[float, ...], size: int) -> Scores:
    if not values:
        return np.zeros(size)
    prices = np.array(values, dtype=np.float64)
    if prices.shape != (size,):
        raise VerificationError(f"there are {len(values)} prices for {size} ends of vertices.")
    if not np.isfinite(prices).all() or (np.rint(prices / problem.resolution) * problem.resolution != prices).any():
        raise VerificationError(f"a price is not a multiple of the problem's resolution {problem.resolution!r}.")
    model = problem.language_model
    finite = np.concatenate([part[np.isfinite(part)] for part in (problem.scores, model.scores, model.back_offs)])
    if 4 * problem.terms * (np.abs(prices).max(initial=0.0) + np.abs(finite).max(initial=0.0)) > problem.resolution * 2.0**MANTISSA_BITS:
        raise VerificationError("the prices are so large that sums with them are not exact.")
    return prices


def relaxed(problem: SyntaxProblem, values: tuple[float, ...], claimed: float) -> tuple[Around, float]:
    """The bound of the prices, and what they say of everything; what cannot be above the claimed bound is left out, and then again."""
    firsts, lasts, as_first, as_last = token_lists(problem)
    prices = checked_prices(problem, values, int(firsts.sum() + lasts.sum()))
    first, last = np.full(firsts.shape, -np.inf), np.full(lasts.shape, -np.inf)
    first[firsts], last[lasts] = prices[: firsts.sum()], prices[firsts.sum() :]
    n_edges, shape = problem.forest.n_edges, firsts.shape
    targets = [local_target(problem, e) for e in range(n_edges)]
    cut = [cut_target(v, target) for v, target in zip(problem.forest.heads.tolist(), targets, strict=True)]
    around = Around(
        problem, Reading(problem.language_model), cut, as_first, as_last, first, last, problem.scores > -np.inf, np.empty(n_edges),
        np.empty(shape[0]), np.empty(shape[0]), np.empty((shape[1], shape[1])), np.empty(shape),
        np.empty(shape), np.empty(shape), np.empty(shape),
    )  # fmt: skip
    bound, size = np.inf, float(n_edges) * (firsts.sum() + lasts.sum())
    for k in range(ROUNDS):
        around.highest = highest_scores(around, possible_neighbours(around, targets))
        bound = inside_outside(around, targets)
        if k > 0:  # what was left out scores up to the claimed bound
            bound = max(bound, claimed)
        around.alive &= around.values + around.outside[problem.forest.heads] > claimed
        if bound <= claimed:
            break
        around.around_first, around.around_last = look_around(around)
        for own, most in ((first, around.around_first), (last, around.around_last)):
            own[~(most + around.inside[:, None] > claimed)] = -np.inf
        left = around.alive.sum() * ((first > -np.inf).sum() + (last > -np.inf).sum())
        if left > ENOUGH * size:
            break
        size = left
    return around, float(bound)
