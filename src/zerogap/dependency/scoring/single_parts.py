"""Scores of any parts of a sentence under a model, one by one: for decoders that ask for few of them.

A model scores a side without modifiers by which side it is, a problem does not. So that score is given to every arc into the word, and
taken back where the side has a first modifier; the root always has one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from zerogap.dependency.parser.parser import Parser
from zerogap.dependency.scoring.sentence import Allowed, Integers, arcs_under
from zerogap.dependency.sentence import Sentence
from zerogap.errors import ScoreShapeError
from zerogap.features.parts.bounds import PartTable, part_sums, templates_of, weights_table
from zerogap.features.parts.keys import PartFeatures
from zerogap.features.parts.weight_table import Keys
from zerogap.grid import Scores

KIND_OF = {"siblings": "sibling", "stops": "stop", "grandparents": "grandparent", "grandsiblings": "grandsibling"}
BUCKET_STARTS = np.array([2, 3, 4, 5, 6, 11, 21])  # of distances, see `scoring.bucket_of`


def side_of(h: Any, m: Any) -> Any:
    """Number of the direction of an arc, or of an arc to a sibling."""
    return np.asarray(m > h, dtype=np.int64)


def turn_of(g: Any, h: Any, m: Any) -> Any:
    """Number of the directions of two arcs."""
    return 2 + 2 * side_of(g, h) + side_of(h, m)


@dataclass(frozen=True, slots=True, eq=False)
class SentenceParts:
    """A sentence whose features were read. Indices of parts are those of `problems.dependency.parts`."""

    features: PartFeatures
    table: PartTable  # of weights
    unit: float
    partial: Keys
    allowed: Allowed
    arcs: Scores  # (n + 1, n + 1), with what words score that have no modifiers; -inf where they are not allowed
    alone: Scores = field(repr=False)  # (n + 1, 2): what a side without modifiers scores, 0 for those of the root

    @property
    def n_words(self) -> int:
        return len(self.allowed) - 1

    def has(self, name: str) -> bool:
        """Whether the model scores such parts."""
        return len(templates_of(self.features, KIND_OF[name])) > 0

    def scores(self, name: str, *index: Integers) -> Scores:
        """Of parts, given by their indices."""
        chosen = templates_of(self.features, KIND_OF[name])
        scores = part_sums(self.features, self.partial, self.table, chosen, *self.places(name, *index)).astype(np.float64) * self.unit
        if name == "siblings":
            h, s, m = index
            scores -= np.where(s == h, self.alone[h, side_of(h, m)], 0.0)
        return scores

    def places(self, name: str, *index: Integers) -> tuple[dict[str, Integers], list[Integers]]:
        """Tokens by role, and values of relations, as features read them; a modifier that is not there is n + 1."""
        none = self.n_words + 1
        if name == "stops":
            h, s = index
            return {"head": h, "sib": np.where(s == h, none, s)}, [side_of(h, s)]
        if name == "siblings":
            h, s, m = index
            distance = 2 * np.digitize(np.abs(m - s), BUCKET_STARTS) + side_of(h, m)
            return {"head": h, "sib": np.where(s == h, none, s), "mod": m}, [side_of(h, m), distance]
        if name == "grandparents":
            g, h, m = index
            return {"grand": g, "head": h, "mod": m}, [turn_of(g, h, m)]
        g, h, s, m = index
        return {"grand": g, "head": h, "sib": np.where(s == h, none, s), "mod": m}, [turn_of(g, h, m)]

    def stops(self) -> Scores:
        """(n + 1, n + 1): of every last modifier that is allowed, 0 elsewhere."""
        found = np.zeros(self.allowed.shape)
        h, s = np.nonzero(self.allowed)
        found[h, s] = self.scores("stops", h, s)
        return found


def sentence_parts(parser: Parser, sentence: Sentence, allowed: Allowed | None = None) -> SentenceParts:
    """The parts of allowed arcs of a sentence; unless they are given, those that the pruner leaves."""
    parser.check(sentence)
    n = len(sentence)
    features = parser.model.features
    hashes = features.tokens.of(sentence.columns, n)
    encoded = features.encode_hashes(hashes)
    if allowed is None:
        arcs_allowed = parser.allowed(hashes) if n else np.zeros((1, 1), dtype=np.bool_)
    else:
        arcs_allowed = np.array(allowed, dtype=np.bool_)
        if arcs_allowed.shape != (n + 1, n + 1):
            raise ScoreShapeError(
                f"allowed has shape {arcs_allowed.shape}: expected ({n + 1}, {n + 1}), a row and a column for the root first."
            )
        np.fill_diagonal(arcs_allowed, False)
        arcs_allowed[:, 0] = False
    table = weights_table(parser.model)
    alone = np.zeros((n + 1, 2))
    words = np.arange(1, n + 1)
    stops = templates_of(features, "stop")
    for side in range(2):
        roles = {"head": words, "sib": np.full(n, n + 1)}
        alone[1:, side] = part_sums(features, encoded[0], table, stops, roles, [np.full(n, side)]) * parser.model.unit
    arcs = arcs_under(features, parser.model, encoded, arcs_allowed) + alone.sum(axis=1)
    return SentenceParts(features, table, parser.model.unit, encoded[0], arcs_allowed, arcs, alone)
