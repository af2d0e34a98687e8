"""MIRA for the labels of arcs, on gold trees, with a margin of 1 for every wrong label."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from zerogap.dependency.parser.labeller import Labeller, best_labels, label_sets
from zerogap.dependency.parser.templates import LABELS, fill_in
from zerogap.dependency.sentence import Sentence
from zerogap.dependency.training.gradients import label_keys
from zerogap.dependency.training.options import TrainingOptions, fingerprint_of, start_with
from zerogap.features.parts.keys import PartFeatures
from zerogap.features.parts.learning import WeightTable
from zerogap.features.parts.model import part_model
from zerogap.features.parts.templates import parse_part_templates
from zerogap.features.parts.weight_table import Keys
from zerogap.grid import Scores
from zerogap.learning.online import run_epochs

LABEL_STEP = 0.1  # the largest


def train_labels(
    sentences: Sequence[Sentence], held_out: Sequence[Sentence], columns: frozenset[str], options: TrainingOptions
) -> Labeller:
    column = "upos" if "upos" in columns else "xpos" if "xpos" in columns else "form"
    sets = label_sets(sentences, column)
    number = {name: i for i, name in enumerate(sets.names)}
    features = PartFeatures(parse_part_templates(fill_in(LABELS, columns)))
    trees = [np.array(sentence.heads, dtype=np.int64) for sentence in sentences]
    gold = [np.array([number[name] for name in sentence.labels or ()], dtype=np.int64) for sentence in sentences]
    choices = [sets.candidates(sentence.columns, heads.tolist()) for sentence, heads in zip(sentences, trees, strict=True)]
    n_templates = len(features.templates)

    def step(table: WeightTable, i: int, progress: float) -> float:
        sentence, heads, right = sentences[i], trees[i], gold[i]
        encoded = features.encode(sentence.columns, len(sentence))
        found = np.empty(len(heads), dtype=np.int64)
        best_labels(encoded, features.plan, table.table, heads, choices[i], right, found)
        wrong = np.flatnonzero(found != right)
        if len(wrong):
            keys = np.empty((2, len(wrong) * n_templates), dtype=np.int64)
            for row, labels in zip(keys, (right, found), strict=True):
                label_keys(encoded, features.plan, heads, wrong + 1, labels[wrong], sets.codes, row)
            signs = np.ones(keys.shape)
            signs[1] = -1.0
            grow = options.min_count == 0
            table.step(keys.reshape(-1), signs.reshape(-1), loss=float(len(wrong)), most=LABEL_STEP, grow=grow)
        return float(len(wrong))

    def labelled_accuracy(keys: Keys, weights: Scores) -> float:
        labeller = Labeller(sets, part_model(features, keys, weights))
        right = total = 0
        for sentence in held_out:
            found = labeller.label(sentence.columns, np.array(sentence.heads, dtype=np.int64))
            right += sum(a == b for a, b in zip(found, sentence.labels or (), strict=True))
            total += len(sentence)
        return right / total

    def gold_keys() -> Iterator[Keys]:
        for sentence, heads, right in zip(sentences, trees, gold, strict=True):
            encoded = features.encode(sentence.columns, len(sentence))
            keys = np.empty(len(heads) * n_templates, dtype=np.int64)
            label_keys(encoded, features.plan, heads, np.arange(1, len(heads) + 1), right, sets.codes, keys)
            yield keys

    fingerprint = fingerprint_of(sentences, features.templates, options.seed, options.min_count, LABEL_STEP)
    stage = options.stage("labels", options.epochs, fingerprint, labelled_accuracy if held_out else None)
    return Labeller(
        sets,
        part_model(
            features,
            *run_epochs(step, len(sentences), start=start_with(gold_keys(), options.min_count), **stage),
            most=options.most_features,
        ),
    )
