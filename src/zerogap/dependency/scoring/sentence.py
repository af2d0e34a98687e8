"""A sentence under a model: arc scores, candidate arcs, and the best tree, each one call of a kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from zerogap.dependency.candidate_arcs import Candidates
from zerogap.dependency.scoring.parts import score_arcs, score_candidates, sum_weights
from zerogap.dependency.scoring.tree_features import choice_keys
from zerogap.features.parts.keys import Encoded, PartFeatures
from zerogap.features.parts.weight_table import Keys
from zerogap.features.parts.weights import Table
from zerogap.grid import Scores
from zerogap.oracles.trees.grandsiblings import grandsibling_kernel

Integers = NDArray[np.int64]
Allowed = NDArray[np.bool_]


class Weights(Protocol):
    """Where weights are: a model, or weights that are being learned."""

    @property
    def table(self) -> Table: ...


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Candidate arcs and what their combinations score."""

    candidates: Candidates
    scores: Scores
    stops: Scores

    def best(self, *, single_root: bool) -> tuple[Integers, float]:
        """The heads of a best projective tree and its score; -inf if there is none."""
        c = self.candidates
        heads = np.empty(c.n_words, dtype=np.int64)
        value = grandsibling_kernel(
            c.contexts, c.modifier_start, c.modifiers, c.context, c.score_start, self.scores, c.stop_start, self.stops,
            1 if single_root else 0, heads,
        )  # fmt: skip
        return heads, float(value)


def every_arc(n: int) -> Allowed:
    allowed = np.ones((n + 1, n + 1), dtype=np.bool_)
    allowed[:, 0] = False
    np.fill_diagonal(allowed, False)
    return allowed


def arcs_under(features: PartFeatures, weights: Weights, encoded: Encoded, allowed: Allowed) -> Scores:
    scores = np.empty(allowed.shape)
    score_arcs(encoded, features.plan, weights.table, allowed, scores)
    return scores


def block_under(
    features: PartFeatures, weights: Weights, encoded: Encoded, arcs: Scores, candidates: Candidates, *, relative: bool = False
) -> Block:
    """`arcs` are the scores of the candidates, -inf elsewhere. With `relative`, larger parts that all trees have may score 0."""
    c = candidates
    scores, stops = np.empty(c.score_start[-1]), np.empty(c.stop_start[-1])
    score_candidates(encoded, features.plan, weights.table, arcs, c, 1 if relative else 0, scores, stops)
    return Block(c, scores, stops)


def keys_of_tree(features: PartFeatures, encoded: Encoded, heads: Integers) -> Keys:
    """The keys of all features of a tree, as often as they occur."""
    chosen = np.zeros((len(heads) + 1, len(heads) + 1), dtype=np.bool_)
    chosen[heads, np.arange(1, len(heads) + 1)] = True
    return keys_of_choice(features, encoded, chosen, heads)


def keys_of_choice(features: PartFeatures, encoded: Encoded, chosen: Allowed, heads: Integers) -> Keys:
    """The same for any choice of arcs, and what every word takes for its head."""
    n, n_arcs = len(heads), int(np.count_nonzero(chosen))
    keys = np.empty(len(features.templates) * (n_arcs + 2 * n + 2) + n * n_arcs * features.n_across, dtype=np.int64)
    size = choice_keys(encoded, features.plan, chosen, heads, keys)
    return keys[:size]


def score_of_tree(features: PartFeatures, weights: Weights, encoded: Encoded, heads: Integers) -> float:
    """The sum of the weights of the features of a tree: the definition of its score, without any dynamic program."""
    return float(sum_weights(keys_of_tree(features, encoded, heads), weights.table))
