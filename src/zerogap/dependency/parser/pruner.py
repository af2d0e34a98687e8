"""The pruner of a parser: which arcs are likely enough under a first-order random field to be scored by a larger model."""

from __future__ import annotations

import numpy as np

from zerogap.dependency.scoring.sentence import Allowed
from zerogap.grid import Scores
from zerogap.oracles.trees.arborescence import tree_kernel
from zerogap.oracles.trees.eisner import eisner_kernel
from zerogap.oracles.trees.nonprojective_marginals import nonprojective_marginals
from zerogap.oracles.trees.projective_marginals import projective_marginals, projective_max_marginals

MOST_HEADS = 16  # candidates of a word of a non-projective parser: the likeliest
MOST_SUMMED = 300  # words of a sentence whose posteriors are asked for


def likely_arcs(scores: Scores, threshold: float, *, single_root: bool, projective: bool = True) -> Allowed:
    """Arcs whose posterior is at least `threshold` times the largest of their word, and those of a best tree.

    Non-projective parsers keep MOST_HEADS of them, or more if there are ties. Sums over the projective trees of a very long sentence do not
    fit floating-point numbers, and logarithms are slow: there, the best tree with the arc counts in place of all of them (max-marginals;
    Rush 2014, section 8.4.1).
    """
    n = len(scores) - 1
    one = 1 if single_root else 0
    worth = np.empty_like(scores)
    heads = np.empty(n, dtype=np.int64)
    if not projective:
        nonprojective_marginals(scores, one, worth)
        least = threshold * worth.max(axis=0)
        if n >= MOST_HEADS:
            least = np.maximum(least, np.partition(worth, n - MOST_HEADS, axis=0)[n + 1 - MOST_HEADS])
        tree_kernel(scores, one, heads)
    else:
        if n <= MOST_SUMMED:
            projective_marginals(scores, one, worth)
            least = threshold * worth.max(axis=0)
        else:
            projective_max_marginals(scores, one, worth)
            least = worth.max(axis=0) + np.log(threshold)
        eisner_kernel(scores, one, heads)
    allowed: Allowed = worth >= least
    np.fill_diagonal(allowed, False)
    allowed[:, 0] = False
    allowed[heads, np.arange(1, n + 1)] = True
    return allowed
