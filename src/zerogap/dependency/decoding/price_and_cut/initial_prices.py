"""Good duals of grandparents before any linear program: steps down along one tree after the other.

An arc p -> c pays u[p, c] for its grandparent, and at first that is the highest bound of all. A best tree under such prices has slacks:
how much more an arc could score and still change nothing (Edmonds 1967). For an arc of the tree whose grandparent scores less than it
pays, the price can be lowered: other grandparents of it then gain, and their arcs have slack for some of that. Parts whose bounds would
need more are scored. The bound falls with the price of every arc of the tree, and often it meets the score of a tree, so that no program
is needed at all.
"""

from __future__ import annotations

import numpy as np

from zerogap.dependency.decoding.price_and_cut.known_scores import KnownScores
from zerogap.grid import Scores
from zerogap.oracles.trees.arborescence import arborescence_duals

ROUNDS = 16  # after some, programs are better at it


def lowered_prices(
    arcs: Scores, grand: KnownScores, prices: Scores, *, single_root: bool, resolution: float, least: float, rounds: int = ROUNDS
) -> Scores:
    """Prices u (n + 1, n + 1) at most those given. Scores the parts that it looks at.

    `arcs` have their other prices; what is forbidden counts as `least`.
    """
    prices = prices.copy()
    gains = np.zeros(arcs.shape)  # of arcs g -> p, by all their modifiers
    words = np.arange(1, len(arcs))
    for _ in range(rounds):
        weights = arcs + prices + gains
        heads, sets, values = arborescence_duals(weights, single_root=single_root)
        c = words[heads > 0]
        p = heads[c - 1]
        g = heads[p - 1]
        grand.make_known(g, p, c)
        scores = np.maximum(grand.table[g, p, c], least)
        slack = slacks(weights, sets, values) / np.bincount(heads, minlength=len(arcs))[None].clip(1)  # shared by modifiers
        rivals, k = np.nonzero((grand.table[:, p, c] - scores > slack[:, p]) & ~grand.scored[:, p, c])
        grand.make_known(rivals, p[k], c[k])
        column = grand.table[:, p, c]
        needed = column - slack[:, p]
        needed[g, np.arange(len(g))] = scores
        new = np.minimum(np.ceil(needed.max(axis=0) / resolution) * resolution, prices[p, c])
        lower = np.flatnonzero((new < prices[p, c]) & (new > -np.inf))
        if not len(lower):
            break
        p, c, new, column = p[lower], c[lower], new[lower], column[:, lower]
        more = np.maximum(column - new, 0.0) - np.maximum(column - prices[p, c], 0.0)
        np.add.at(gains.T, p, more.T)
        prices[p, c] = new
    return prices


def slacks(weights: Scores, sets: tuple[tuple[int, ...], ...], values: tuple[float, ...]) -> Scores:
    """How much every arc lacks of the values of the sets that it enters; inf if it is forbidden."""
    inside = np.zeros((len(sets), len(weights)))
    for k, members in enumerate(sets):
        inside[k, list(members)] = 1.0
    allowance = (1.0 - inside).T @ (np.array(values)[:, None] * inside)
    return np.where(weights > -np.inf, np.maximum(allowance - weights, 0.0), np.inf)
