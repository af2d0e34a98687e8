"""Learning of the model that chooses among the trees that the passes of a cascade leave.

MIRA as in `training.trees` (Rush 2014, section 8.4.3), stacked on the scores of the passes: it learns only what they do not know. So it
reads less than a parser that works alone, and has fewer weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from zerogap.dependency.candidate_arcs import candidates_of
from zerogap.dependency.cascade.passes import LAST, Pass, arcs_on
from zerogap.dependency.cascade.templates import LAST as TEMPLATES
from zerogap.dependency.parser.templates import fill_in, known_columns
from zerogap.dependency.scoring.sentence import Allowed, Weights, arcs_under, block_under, keys_of_tree
from zerogap.dependency.sentence import Sentence
from zerogap.dependency.training.options import TrainingOptions, fingerprint_of
from zerogap.errors import InputError
from zerogap.features.parts.keys import PartFeatures
from zerogap.features.parts.learning import WeightTable
from zerogap.features.parts.model import part_model
from zerogap.features.parts.templates import parse_part_templates
from zerogap.features.parts.weight_table import Keys
from zerogap.grid import Integers, Scores
from zerogap.learning.online import run_epochs
from zerogap.relax.pruning import ALL

STACKED = 0.25  # how much the scores of the passes count
EPOCHS = 8
MOST_FEATURES = 500_000


class State(NamedTuple):
    """Where passes have come to on some sentences: arcs that are left, and the scores that the next pass is stacked on."""

    left: list[Allowed]
    scores: list[Scores] | None

    def of(self, some: Sequence[int]) -> State:
        return State([self.left[i] for i in some], None if self.scores is None else [self.scores[i] for i in some])


def learn_last(
    order: str,
    sentences: Sequence[Sentence],
    gold: Sequence[Integers],
    state: State,
    held_out: Sequence[Sentence],
    held_out_state: State,
    options: TrainingOptions,
    *,
    stacked: float = STACKED,
    epochs: int = EPOCHS,
) -> Pass:
    """The pass of kind last for a parser of this order, sibling or grandsibling; `state` has the scores that it is stacked on."""
    if order not in TEMPLATES:
        raise InputError(f"a last model is asked for behind the passes of order {order!r}: expected {' or '.join(TEMPLATES)}.")
    candidates, before = state
    features = PartFeatures(parse_part_templates(fill_in(TEMPLATES[order], known_columns(sentences))))

    def best_tree(weights: Weights, sentence: Sentence, allowed: Allowed, below: Scores | None, right: Integers | None) -> Integers:
        """With the right heads, every wrong arc gets 1 more: a margin of the Hamming loss."""
        encoded = features.encode(sentence.columns, len(sentence))
        arcs = arcs_on(arcs_under(features, weights, encoded, allowed), below, stacked)
        if right is not None:
            arcs += 1.0
            arcs[right, np.arange(1, len(arcs))] -= 1.0
        candidates = candidates_of(allowed, grand=order == "grandsibling")
        return block_under(features, weights, encoded, arcs, candidates).best(single_root=options.single_root)[0]

    def step(table: WeightTable, i: int, progress: float) -> float:
        sentence, allowed, right = sentences[i], candidates[i], gold[i]
        if np.count_nonzero(allowed) == len(sentence):
            return 0.0
        below = None if before is None else before[i]
        found = best_tree(table, sentence, allowed, below, right)
        wrong = float(np.count_nonzero(found != right))
        if wrong:
            encoded, words = features.encode(sentence.columns, len(sentence)), np.arange(1, len(sentence) + 1)
            towards, away = keys_of_tree(features, encoded, right), keys_of_tree(features, encoded, found)
            known = 0.0 if below is None else stacked * float(below[right, words].sum() - below[found, words].sum())
            signs = np.concatenate([np.ones(len(towards)), -np.ones(len(away))])
            table.step(np.concatenate([towards, away]), signs, loss=max(0.0, wrong - known), most=options.step)
        return wrong

    def accuracy(keys: Keys, weights: Scores) -> float:
        model, right = part_model(features, keys, weights, most=MOST_FEATURES), 0
        for i, sentence in enumerate(held_out):
            below = None if held_out_state.scores is None else held_out_state.scores[i]
            found = best_tree(model, sentence, held_out_state.left[i], below, None)
            right += int(np.count_nonzero(found == np.array(sentence.heads)))
        return right / sum(map(len, held_out))

    for allowed, heads in zip(candidates, gold, strict=True):
        allowed[heads, np.arange(1, len(heads) + 1)] = True
    fingerprint = fingerprint_of(sentences, features.templates, order, options.step, options.seed, options.single_root, stacked)
    stage: dict[str, Any] = options.stage("last model", epochs, fingerprint, accuracy)
    model = part_model(features, *run_epochs(step, len(sentences), **stage), most=MOST_FEATURES)
    return Pass(LAST, model, ALL, 0, 0.0 if before is None else stacked)
