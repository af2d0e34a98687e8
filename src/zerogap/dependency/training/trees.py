"""MIRA and the perceptron for trees: steps towards the gold tree and away from the best one, among candidates and gold arcs.

MIRA asks for a margin of the Hamming loss: wrong arcs get 1 more before the best tree is looked for, and the step is the smallest that
gives the margin, but not more than `step` (Crammer et al. 2006; Rush 2014, section 8.4.3). Non-projective trees with larger parts are
found by dual decomposition, which need not end with a proof here; or no tree is looked for (`relaxed`; section 6.6).

With `penalties`, larger parts than arcs only cost: their weights stay at 0 or below, and what right trees have costs less after every
sentence. Then the arcs of a good tree score little more than the tree, and `exact_search` has little to do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from zerogap.dependency.candidate_arcs import candidates_of
from zerogap.dependency.cascade.exact import ceilings_of
from zerogap.dependency.parser.parser import GRAND
from zerogap.dependency.scoring.sentence import Allowed, Weights, arcs_under, block_under, every_arc, keys_of_choice, keys_of_tree
from zerogap.dependency.sentence import Sentence
from zerogap.dependency.training.options import TrainingOptions, fingerprint_of, gold_heads, start_with
from zerogap.dependency.training.random_field import train_field
from zerogap.features.parts.keys import Encoded, PartFeatures
from zerogap.features.parts.learning import NO_CEILINGS, WeightTable
from zerogap.features.parts.model import PartModel, part_model
from zerogap.features.parts.templates import PartTemplate
from zerogap.features.parts.weight_table import Keys
from zerogap.grid import Integers, Scores
from zerogap.learning.mixing import run_mixed
from zerogap.learning.online import run_epochs
from zerogap.oracles.trees.arborescence import maximum_arborescence
from zerogap.oracles.trees.eisner import eisner_kernel

if TYPE_CHECKING:
    from zerogap.dependency.decoding.agreement.relaxation import Agreement

SMALLEST_PRICE = 2.0**-30


def train_trees(
    sentences: Sequence[Sentence],
    held_out: Sequence[Sentence],
    templates: tuple[PartTemplate, ...],
    candidates: list[Allowed] | None,
    held_out_candidates: list[Allowed] | None,
    options: TrainingOptions,
) -> PartModel:
    order, algorithm = options.order, options.algorithm
    features = PartFeatures(templates)
    single_root, grand = options.single_root, order in GRAND
    gold = [gold_heads(sentence, options) for sentence in sentences]
    ceilings = NO_CEILINGS if options.penalties is None else ceilings_of(features)

    def best_tree(weights: Weights, encoded: Encoded, allowed: Allowed, right: Integers | None) -> Integers:
        arcs = arcs_with_margin(weights, encoded, allowed, right)
        if not options.projective:
            if order == "first":
                return maximum_arborescence(arcs, single_root=single_root)
            run = agreement_under(weights, encoded, arcs, allowed).tried(arcs)
            assert run.heads is not None
            return run.heads
        if order == "first":
            heads = np.empty(len(arcs) - 1, dtype=np.int64)
            eisner_kernel(arcs, 1 if single_root else 0, heads)
            return heads
        return block_under(features, weights, encoded, arcs, candidates_of(allowed, grand=grand)).best(single_root=single_root)[0]

    def arcs_with_margin(weights: Weights, encoded: Encoded, allowed: Allowed, right: Integers | None) -> Scores:
        """With the right heads, every wrong arc gets 1 more: a margin of the Hamming loss."""
        arcs = arcs_under(features, weights, encoded, allowed)
        if right is not None:
            arcs += 1.0
            arcs[right, np.arange(1, len(arcs))] -= 1.0
        return arcs

    def agreement_under(weights: Weights, encoded: Encoded, arcs: Scores, allowed: Allowed) -> Agreement:
        from zerogap.dependency.decoding.agreement.relaxation import Agreement
        from zerogap.dependency.scoring.heads import heads_under

        scores = heads_under(features, weights, encoded, arcs, allowed, grand=grand, single_root=single_root)
        return Agreement(scores, SMALLEST_PRICE)

    def step(table: WeightTable, i: int, progress: float) -> float:
        """Towards the gold tree and away from a best one; or from what the heads chose, with `relaxed` at once (section 6.6), else if
        tree and heads did not agree: then they will the next time."""
        sentence, right = sentences[i], gold[i]
        n = len(sentence)
        words = np.arange(1, n + 1)
        encoded = features.encode(sentence.columns, n)
        allowed = every_arc(n) if candidates is None else candidates[i]
        allowed[right, words] = True
        by_heads = not options.projective and order != "first"
        margin = right if algorithm == "mira" else None
        towards = keys_of_tree(features, encoded, right)
        if options.penalties is not None:
            table.lift(towards[ceilings[towards & 255] == 0.0], options.penalties)

        def away_from(away: Keys, loss: float) -> None:
            signs = np.ones(len(towards) + len(away))
            signs[len(towards) :] = -1.0
            least, most = (loss, options.step) if algorithm == "mira" else (-1.0, 1.0)
            table.step(np.concatenate([towards, away]), signs, loss=least, most=most, grow=options.min_count == 0, ceilings=ceilings)

        if not by_heads:
            found = best_tree(table, encoded, allowed, margin)
        else:
            arcs = arcs_with_margin(table, encoded, allowed, margin)
            agreement = agreement_under(table, encoded, arcs, allowed)
            run = None if options.relaxed else agreement.tried(arcs)
            if run is None or not run.is_agreed:
                chosen, heads = agreement.choice(run)
                is_right = chosen[right, words]
                extra = float(np.count_nonzero(chosen) - np.count_nonzero(is_right))
                wrong = extra + float(np.count_nonzero(~is_right)) + float(grand and np.count_nonzero(heads != right))
                if wrong:
                    away_from(keys_of_choice(features, encoded, chosen, heads if grand else right), extra)
                if run is None:
                    return wrong
            assert run.heads is not None
            found = run.heads
        wrong = float(np.count_nonzero(found != right))
        if wrong:
            away_from(keys_of_tree(features, encoded, found), wrong)
        return wrong

    def unlabelled_accuracy(keys: Keys, weights: Scores) -> float:
        table = part_model(features, keys, weights)
        right = total = 0
        for i, sentence in enumerate(held_out):
            allowed = every_arc(len(sentence)) if held_out_candidates is None else held_out_candidates[i]
            found = best_tree(table, features.encode(sentence.columns, len(sentence)), allowed, None)
            right += int(np.count_nonzero(found == np.array(sentence.heads)))
            total += len(sentence)
        return right / total

    fingerprint = fingerprint_of(
        sentences, features.templates, order, algorithm, options.step, options.seed, single_root, options.threshold,
        options.projective, options.relaxed, *([] if options.penalties is None else [options.penalties]),
    )  # fmt: skip
    stage = options.stage("tree", options.epochs, fingerprint, unlabelled_accuracy if held_out else None)
    if algorithm == "crf":
        found = train_field(features, sentences, options, stage)
    elif algorithm == "bp":
        from zerogap.dependency.training.belief_propagation import train_by_beliefs  # most trainings do without

        found = train_by_beliefs(features, sentences, candidates, options, stage, grand=grand)
    else:
        keys = (keys_of_tree(features, features.encode(s.columns, len(s)), heads) for s, heads in zip(sentences, gold, strict=True))
        start = start_with(keys, options.min_count)
        if options.shards > 1:
            found = run_mixed(step, len(sentences), shards=options.shards, spread=options.spread, start=start, **stage)
        else:
            found = run_epochs(step, len(sentences), start=start, **stage)
    return part_model(features, *found, most=options.most_features)
