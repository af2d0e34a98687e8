"""A first-order random field over trees, by stochastic gradient descent, and the pruner that it is.

Posterior probabilities of arcs come from inside and outside over projective trees, or from the matrix-tree theorem (Koo et al. 2007;
Smith & Smith 2007). Only features of gold arcs have weights. Candidates for training sentences come from pruners that were trained on the
other half, so that they are as rich as those of new sentences.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from zerogap.dependency.parser.pruner import likely_arcs
from zerogap.dependency.parser.templates import PRUNER, fill_in
from zerogap.dependency.scoring.sentence import Allowed, arcs_under, every_arc, keys_of_tree
from zerogap.dependency.sentence import Sentence
from zerogap.dependency.training.gradients import arc_keys
from zerogap.dependency.training.options import TrainingOptions, fingerprint_of, gold_heads, start_with
from zerogap.features.parts.keys import Encoded, PartFeatures
from zerogap.features.parts.learning import WeightTable
from zerogap.features.parts.model import PartModel, part_model
from zerogap.features.parts.templates import parse_part_templates
from zerogap.features.parts.weight_table import Keys
from zerogap.grid import Integers, Scores
from zerogap.learning.online import run_epochs
from zerogap.oracles.trees.nonprojective_marginals import nonprojective_marginals
from zerogap.oracles.trees.projective_marginals import projective_marginals

LEAST_AMOUNT = 0.01  # arcs whose gradient is smaller are left out
FIRST_RATE, SLOWING = 0.1, 0.5  # rate = FIRST_RATE / (1 + SLOWING * epochs done)
PRUNER_EPOCHS = 2


@dataclass(frozen=True, slots=True, eq=False)
class Field:
    """A first-order random field that is being learned: the features of gold arcs, and a step of gradient descent."""

    features: PartFeatures
    sentences: Sequence[Sentence]
    gold: Sequence[Integers]
    options: TrainingOptions
    scratch: list[Any]  # keys and amounts, which grow

    def step(self, table: WeightTable, i: int, progress: float) -> float:
        sentence, heads = self.sentences[i], self.gold[i]
        n = len(sentence)
        words = np.arange(1, n + 1)
        encoded = self.features.encode(sentence.columns, n)
        scores = arcs_under(self.features, table, encoded, every_arc(n))
        gradient = np.empty_like(scores)
        posteriors = projective_marginals if self.options.projective else nonprojective_marginals
        log_partition = posteriors(scores, 1 if self.options.single_root else 0, gradient)
        loss = float(log_partition - scores[heads, words].sum())
        np.negative(gradient, out=gradient)
        gradient[heads, words] += 1.0
        gradient[:, 0] = 0.0
        keys, amounts = self.amounts(encoded, gradient)
        table.step(keys, amounts, most=FIRST_RATE / (1.0 + SLOWING * progress), grow=False)
        return loss

    def amounts(self, encoded: Encoded, gradient: Scores) -> tuple[Keys, Scores]:
        while True:
            keys, amounts = self.scratch
            size = arc_keys(encoded, self.features.plan, gradient, LEAST_AMOUNT, keys, amounts)
            if size <= len(keys):
                return keys[:size], amounts[:size]
            self.scratch[:] = np.empty(2 * size, dtype=np.int64), np.empty(2 * size)


def train_field(
    features: PartFeatures, sentences: Sequence[Sentence], options: TrainingOptions, stage: dict[str, Any]
) -> tuple[Keys, Scores]:
    gold = [gold_heads(sentence, options) for sentence in sentences]
    field = Field(features, sentences, gold, options, [np.empty(1 << 16, dtype=np.int64), np.empty(1 << 16)])
    keys = (keys_of_tree(features, features.encode(s.columns, len(s)), heads) for s, heads in zip(sentences, gold, strict=True))
    return run_epochs(field.step, len(sentences), start=start_with(keys, max(options.min_count, 1)), **stage)


Found = tuple[PartModel, list[Allowed], list[Allowed]]


def train_pruner(sentences: Sequence[Sentence], held_out: Sequence[Sentence], columns: frozenset[str], options: TrainingOptions) -> Found:
    """A pruner, and candidates for all sentences: for those of training from a pruner that did not see them."""
    features = PartFeatures(parse_part_templates(fill_in(PRUNER, columns)))

    def trained(name: str, part: Sequence[Sentence]) -> PartModel:
        fingerprint = fingerprint_of(
            part, features.templates, options.seed, options.single_root, options.projective, options.min_count, PRUNER_EPOCHS
        )
        return part_model(features, *train_field(features, part, options, options.stage(name, PRUNER_EPOCHS, fingerprint)))

    def candidates(model: PartModel, sentence: Sentence) -> Allowed:
        scores = arcs_under(features, model, features.encode(sentence.columns, len(sentence)), every_arc(len(sentence)))
        return likely_arcs(scores, options.threshold, single_root=options.single_root, projective=options.projective)

    pruner = trained("pruner", sentences)
    halves = (
        [pruner, pruner] if len(sentences) < 2 else [trained("pruner of even", sentences[1::2]), trained("pruner of odd", sentences[::2])]
    )
    found = [candidates(halves[i % 2], sentence) for i, sentence in enumerate(sentences)]
    return pruner, found, [candidates(pruner, sentence) for sentence in held_out]
