"""MIRA and the perceptron over arcs, larger parts and factors, with the exact decoder (Qian & Liu 2013, sections 4.2 to 4.4).

Training begins with the weights of a projective parser, or with none; in the first `backbone_epochs` factors are left out, which is
fast. Then every step goes towards the gold tree and away from the best one under all weights, by the features of both. The averaged
weights are rounded to multiples of a power of two, so that the scores of trees are discrete.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from zerogap.dependency.candidate_arcs import candidates_of
from zerogap.dependency.decoding.methods import decode
from zerogap.dependency.factors.families import FAMILIES
from zerogap.dependency.factors.matching import PatternSet
from zerogap.dependency.factors.parser import (
    MOST_HEADS,
    Factored,
    FactorParser,
    backbone_problem,
    check_backbone,
    check_most_heads,
    likeliest_heads,
)
from zerogap.dependency.factors.patterns import load_patterns
from zerogap.dependency.parser.parser import GRAND, Parser, sharing_tokens
from zerogap.dependency.parser.templates import FACTORS, PATTERNS, fill_in, known_columns
from zerogap.dependency.scoring.sentence import Allowed, Integers, Weights, arcs_under, block_under, keys_of_tree
from zerogap.dependency.sentence import Sentence
from zerogap.dependency.training.options import ONLINE, TrainingOptions, check_count, fingerprint_of, gold_heads, start_with
from zerogap.dependency.training.parser import check_columns, checked
from zerogap.errors import InputError, UnknownMethod
from zerogap.features.parts.keys import Encoded, PartFeatures
from zerogap.features.parts.learning import WeightTable
from zerogap.features.parts.model import PartModel, part_model
from zerogap.features.parts.templates import PartTemplate, parse_part_templates
from zerogap.features.parts.weight_table import Keys
from zerogap.grid import Scores
from zerogap.learning.online import run_epochs

TIME_LIMIT = 2.0  # seconds for a sentence while training: then the best tree so far is learned from
TRAINING_UNIT = 2.0**-16  # of scores while weights change


def train(
    sentences: Sequence[Sentence],
    parser: Parser,
    *,
    factors: Iterable[str | Path] = ("siblings", "grandchildren", "comb"),
    development: Sequence[Sentence] = (),
    backbone_epochs: int = 0,
    begin_with: str = "parser",
    most_heads: int | None = MOST_HEADS,
    **changes: Any,
) -> FactorParser:
    """A parser with factors from one without, whose templates, pruner and labeller it has.

    `factors` are families (see `factors.families`) and files of patterns. `begin_with` says which weights are there at first: those of the
    `parser`, or `nothing`. `most_heads` is how many candidates every word has, here and later. The others are
    options of `TrainingOptions`: algorithm, epochs, 3 of them, step, seed, min_count, most_features, patience, checkpoints and report.
    """
    check_backbone(parser)
    check_most_heads(most_heads)
    for name, given, known in (
        ("algorithm", changes.get("algorithm", ONLINE[0]), ONLINE),
        ("begin_with", begin_with, ("parser", "nothing")),
    ):
        if given not in known:
            raise UnknownMethod(name, given, known)
    options = TrainingOptions(**{"epochs": 3, "single_root": parser.single_root, **changes})
    check_count("backbone_epochs", backbone_epochs)
    train_set = checked(sentences, parser.single_root, "sentences")
    held_out = checked(development, parser.single_root, "development") if development else []
    factored, templates = read_factors(factors, train_set)
    merged = (*parser.model.features.templates, *templates)
    if len(merged) > 255:
        raise InputError(f"the parser and its factors have {len(merged)} templates: expected at most 255.")
    check_columns(merged, [*train_set, *held_out])
    options.make_folder()
    learner = Learner(parser, PartFeatures(merged), factored, backbone_epochs, options)
    model = learner.run(train_set, held_out, most_heads, from_parser=begin_with == "parser")
    return FactorParser(sharing_tokens(replace(parser, model=model, stored_bounds=None)), factored, most_heads)


def read_factors(factors: Iterable[str | Path], sentences: Sequence[Sentence]) -> tuple[Factored, tuple[PartTemplate, ...]]:
    """Families and patterns by name, and the templates for them."""
    names = [str(name) for name in ([factors] if isinstance(factors, str | Path) else factors)]
    families = tuple(name for name in names if name in FAMILIES)
    files = [name for name in names if name not in FAMILIES]
    for name in files:
        if "." not in name and "/" not in name:
            raise UnknownMethod("factors", name, [*FAMILIES, "a file of patterns such as patterns.txt"])
    if len(set(names)) < len(names):
        raise InputError(f"factors are {', '.join(names)}: expected every one once.")
    patterns = PatternSet(tuple(pattern for name in files for pattern in load_patterns(name))) if files else None
    if patterns is not None and len({pattern.name for pattern in patterns.patterns}) < len(patterns.patterns):
        raise InputError(f"the files {', '.join(files)} have patterns of the same name: expected different names.")
    text = "".join(FACTORS[name] for name in families) + (PATTERNS if patterns is not None else "")
    templates = parse_part_templates(fill_in(text, known_columns(sentences))) if text else ()
    return Factored(families, patterns), templates


@dataclass(frozen=True, slots=True, eq=False)
class Learner:
    """What is learned, and how a sentence is decoded with weights that change."""

    parser: Parser
    features: PartFeatures
    factored: Factored
    backbone_epochs: int
    options: TrainingOptions

    def best_tree(self, weights: Weights, sentence: Sentence, encoded: Encoded, allowed: Allowed, right: Integers | None, unit: float,
                  *, factors: bool) -> Integers:  # fmt: skip
        """With the right heads, every wrong arc gets 1 more: a margin of the Hamming loss."""
        single_root = self.options.single_root
        arcs = arcs_under(self.features, weights, encoded, allowed)
        if right is not None:
            arcs += 1.0
            arcs[right, np.arange(1, len(arcs))] -= 1.0
        order = self.parser.order
        factored = self.factored if factors else Factored()
        listed = factored.under(self.features, weights, encoded, sentence.columns, allowed, unit, single_root=single_root)
        if not listed and order != "first":
            grand = order in GRAND
            return block_under(self.features, weights, encoded, arcs, candidates_of(allowed, grand=grand)).best(single_root=single_root)[0]
        problem = backbone_problem(order, self.features, weights, encoded, arcs, allowed, listed, single_root=single_root, resolution=unit)
        solution = decode(problem, time_limit=TIME_LIMIT)
        return np.array(solution.structure, dtype=np.int64)

    def keys(self, sentence: Sentence, encoded: Encoded, heads: Integers, *, factors: bool = True) -> Keys:
        of_backbone = keys_of_tree(self.features, encoded, heads)
        if not factors:
            return of_backbone
        of_factors = self.factored.keys(self.features, encoded, sentence.columns, heads, single_root=self.options.single_root)
        return np.concatenate([of_backbone, of_factors])

    def run(self, sentences: Sequence[Sentence], held_out: Sequence[Sentence], most_heads: int | None, *, from_parser: bool) -> PartModel:
        features, options = self.features, self.options
        gold = [gold_heads(sentence, options) for sentence in sentences]
        tokens = self.parser.model.features.tokens

        def candidates(sentence: Sentence) -> Allowed:
            return likeliest_heads(self.parser, tokens.of(sentence.columns, len(sentence)), most_heads)

        allowed = [candidates(sentence) for sentence in sentences]
        for heads, arcs in zip(gold, allowed, strict=True):
            arcs[heads, np.arange(1, len(arcs))] = True
        allowed_held_out = [candidates(sentence) for sentence in held_out]

        def step(table: WeightTable, i: int, progress: float) -> float:
            sentence, right = sentences[i], gold[i]
            factors = progress >= self.backbone_epochs
            encoded = features.encode(sentence.columns, len(sentence))
            margin = right if options.algorithm == "mira" else None
            found = self.best_tree(table, sentence, encoded, allowed[i], margin, TRAINING_UNIT, factors=factors)
            wrong = float(np.count_nonzero(found != right))
            if wrong:
                towards, away = (self.keys(sentence, encoded, heads, factors=factors) for heads in (right, found))
                signs = np.ones(len(towards) + len(away))
                signs[len(towards) :] = -1.0
                least, most = (wrong, options.step) if options.algorithm == "mira" else (-1.0, 1.0)
                table.step(np.concatenate([towards, away]), signs, loss=least, most=most, grow=options.min_count == 0)
            return wrong

        def unlabelled_accuracy(keys: Keys, weights: Scores) -> float:
            model = part_model(features, keys, weights)
            right = 0
            for sentence, arcs in zip(held_out, allowed_held_out, strict=True):
                encoded = features.encode(sentence.columns, len(sentence))
                found = self.best_tree(model, sentence, encoded, arcs, None, model.unit, factors=True)
                right += int(np.count_nonzero(found == np.array(sentence.heads)))
            return right / sum(map(len, held_out))

        def start(table: WeightTable) -> None:
            if rare is not None:
                rare(table)
            if from_parser:
                known = self.parser.model
                table.step(known.keys, known.steps.astype(np.float64) * known.unit)

        gold_keys = (
            self.keys(sentence, features.encode(sentence.columns, len(sentence)), heads)
            for sentence, heads in zip(sentences, gold, strict=True)
        )
        rare = start_with(gold_keys, options.min_count)
        patterns = [] if self.factored.patterns is None else [pattern.text for pattern in self.factored.patterns.patterns]
        fingerprint = fingerprint_of(
            sentences, features.templates, self.parser.order, options.algorithm, options.step, options.seed, options.single_root,
            most_heads, self.backbone_epochs, from_parser, patterns, options.min_count, int(self.parser.model.keys.sum()),
        )  # fmt: skip
        stage = options.stage("factors", options.epochs, fingerprint, unlabelled_accuracy if held_out else None)
        return part_model(features, *run_epochs(step, len(sentences), start=start, **stage), most=options.most_features)
