"""Filter loss: a gold structure should score at least 1 more than the threshold of its pass (Rush 2014, section 8.4.2).

    max(0, 1 - score(gold) + η * best + (1 - η) * mean max-marginal)

bounds whether the pass loses a part of the gold structure. Its subgradient counts the features of the best structure and of all
max-marginal structures. Steps are those of MIRA, as long as the loss asks for and no longer than allowed, and weights are averaged, in
place of the decreasing rates and the regulariser of the thesis.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from zerogap.grid import Scores
from zerogap.oracles.vine.max_marginal_counts import BestPaths

MARGIN = 1.0


def filter_counts(paths: BestPaths, makes: NDArray[np.int64], eta: float) -> Scores:
    """(E,): what the threshold counts of every hyperedge. makes[e] is the part that e makes, -1 for none; the best of them counts."""
    making = np.flatnonzero((makes >= 0) & (paths.marginals > -np.inf))
    order = making[np.lexsort((making, -paths.marginals[making], makes[making]))]  # by part, the best hyperedge first
    _, first = np.unique(makes[order], return_index=True)
    wanted = np.zeros(len(makes))
    wanted[order[first]] = (1.0 - eta) / len(first)
    wanted[paths.inside_edge[paths.hypergraph.root]] += eta
    return paths.counts(wanted)
