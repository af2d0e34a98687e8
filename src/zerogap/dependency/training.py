"""Training of dependency parsers: a random field that prunes, MIRA or the perceptron for the tree, MIRA for the labels.

The pruner is a first-order conditional random field, by stochastic gradient descent over inside-outside marginals, averaged. Candidates
for the training sentences come from pruners that were trained on the other half, so that they are as rich as those of new
sentences. The tree is learned with a margin of its Hamming loss (Rush 2014, section 8.4.3; Crammer et al. 2006), among the candidates and
the gold arcs; a gold tree that is not projective is replaced by the projective one that shares most arcs with it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zerogap.dependency.candidates import candidates_of
from zerogap.dependency.labeller import Labeller, label_sets
from zerogap.dependency.labelling import best_labels, label_keys
from zerogap.dependency.model import ORDERS, Parser, likely_arcs
from zerogap.dependency.problem import check_acyclic
from zerogap.dependency.scored import Allowed, Table, arcs_under, block_under, every_arc, keys_of_tree
from zerogap.dependency.scoring import arc_keys
from zerogap.dependency.sentences import Sentence
from zerogap.dependency.templates import LABELS, PRUNER, fill_in, known_columns
from zerogap.dependency.templates import ORDERS as TEMPLATES
from zerogap.errors import InputError, InvalidStructure, UnknownMethod
from zerogap.features.part_keys import Encoded, PartFeatures, TokenHashes, attributes_of
from zerogap.features.part_model import PartModel, part_model
from zerogap.features.part_templates import PartTemplate, parse_part_templates
from zerogap.features.weight_table import Keys, WeightTable
from zerogap.grid import Scores
from zerogap.learning.online import Epoch, run_epochs
from zerogap.oracles.eisner import eisner_kernel
from zerogap.oracles.tree_marginals import projective_marginals

ALGORITHMS = ("mira", "perceptron", "crf")
LEAST_AMOUNT = 0.01  # arcs whose gradient is smaller are left out
FIRST_RATE, SLOWING = 0.1, 0.5  # of the random field: rate = FIRST_RATE / (1 + SLOWING * epochs done)
LABEL_STEP = 0.1

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Progress:
    """`stage` is pruner, tree or labels; `epoch` has the loss and, for trees, UAS, for labels, LAS given the gold trees."""

    stage: str
    epochs: int
    epoch: Epoch


@dataclass(frozen=True, slots=True, eq=False)
class Options:
    epochs: int
    seed: int
    most: float  # the largest step of MIRA
    single_root: bool
    threshold: float
    patience: int | None
    folder: Path | None  # of checkpoints
    report: Callable[[Progress], None] | None

    def stage(self, name: str, epochs: int, fingerprint: str, evaluate: Any = None) -> dict[str, Any]:
        """What `run_epochs` is told."""
        report = self.report
        return {
            "epochs": epochs,
            "seed": self.seed,
            "evaluate": evaluate,
            "patience": self.patience,
            "checkpoint": None if self.folder is None else self.folder / f"{name}.npz",
            "fingerprint": fingerprint,
            "report": None if report is None else lambda epoch: report(Progress(name, epochs, epoch)),
        }


def train(
    sentences: Sequence[Sentence],
    *,
    order: str = "grandsibling",
    algorithm: str = "mira",
    development: Sequence[Sentence] = (),
    epochs: int = 10,
    step: float = 1.0,
    seed: int = 0,
    single_root: bool = True,
    threshold: float = 1e-3,
    patience: int | None = None,
    templates: str | Sequence[str] | None = None,
    labels: bool = True,
    most_features: int | None = None,
    checkpoints: str | Path | None = None,
    report: Callable[[Progress], None] | None = None,
) -> Parser:
    """A parser from sentences with trees; with `labels`, those of the sentences are learned too.

    `algorithm` is mira, perceptron, or crf (for order first). `step` is the largest step of MIRA, `threshold` what the pruner
    keeps (see `Parser`), `templates` replaces the default features of the tree, `most_features` is how many weights are kept. With
    `development`, the best epoch is taken, and training stops after `patience` epochs without a better one. `checkpoints` is a
    folder: a run that was interrupted goes on from there.
    """
    for name, given, known in (("order", order, ORDERS), ("algorithm", algorithm, ALGORITHMS)):
        if given not in known:
            raise UnknownMethod(name, given, known)
    if algorithm == "crf" and order != "first":
        raise InputError(f"algorithm 'crf' was given with order {order!r}: expected order 'first'; mira and perceptron train all orders.")
    train_set = checked(sentences, single_root, "sentences")
    held_out = checked(development, single_root, "development") if development else []
    columns = known_columns(train_set)
    lines = fill_in(TEMPLATES[order], columns) if templates is None else templates
    parsed = parse_part_templates(lines)
    folder = None if checkpoints is None else Path(checkpoints)
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    options = Options(epochs, seed, step, single_root, threshold, patience, folder, report)
    pruner, candidates, held_out_candidates = None, None, None
    if order != "first":
        pruner, candidates, held_out_candidates = train_pruner(train_set, held_out, columns, options)
    model = train_trees(train_set, held_out, parsed, order, algorithm, candidates, held_out_candidates, options, most_features)
    labeller = train_labels(train_set, held_out, columns, options, most_features) if labels and train_set[0].labels is not None else None
    return sharing_tokens(Parser(order, model, pruner, threshold, labeller, single_root))


def sharing_tokens(parser: Parser) -> Parser:
    """The parser whose models read the same hashes of tokens, as one that is loaded."""
    models = [parser.model, parser.pruner, parser.labeller.model if parser.labeller else None]
    tokens = TokenHashes(attributes_of(template for model in models if model for template in model.features.templates))
    shared = [replace(model, features=PartFeatures(model.features.templates, tokens)) if model else None for model in models]
    assert shared[0] is not None
    labeller = Labeller(parser.labeller.sets, shared[2]) if parser.labeller and shared[2] else None
    return replace(parser, model=shared[0], pruner=shared[1], labeller=labeller)


def checked(sentences: Sequence[Sentence], single_root: bool, name: str) -> list[Sentence]:
    """Sentences with words, whose heads are trees; InputError names the first that is not."""
    found = []
    for i, sentence in enumerate(sentences):
        if not isinstance(sentence, Sentence):
            raise InputError(f"{name}[{i}] is a {type(sentence).__name__}: expected a Sentence.")
        where = sentence.name or f"{name}[{i}]"
        if sentence.heads is None:
            raise InputError(f"{where} has no heads: training needs a tree for every sentence.")
        heads = np.array(sentence.heads, dtype=np.int64)
        if len(heads) == 0:
            continue
        if heads.min() < 0 or heads.max() > len(heads):
            raise InputError(f"{where}: a head is {int(heads.max())}: expected 0 to {len(heads)}.")
        try:
            check_acyclic(heads)
        except InvalidStructure as error:
            raise InputError(f"{where} is not a tree: {error}") from None
        roots = np.flatnonzero(heads == 0) + 1
        if single_root and len(roots) > 1:
            raise InputError(
                f"{where} has {len(roots)} roots (words {', '.join(map(str, roots[:5]))}): expected one; single_root=False (--multi-root)"
                " allows more."
            )
        found.append(sentence)
    if not found:
        raise InputError(f"{name} has no words: expected at least one sentence with a tree.")
    return found


def projective_heads(sentence: Sentence, *, single_root: bool) -> Integers:
    """The heads of the sentence, or of a projective tree that shares most arcs with it; ties go to heads that are ancestors."""
    n = len(sentence)
    gold = np.array(sentence.heads, dtype=np.int64)
    agreement = np.zeros((n + 1, n + 1))
    for m in range(1, n + 1):
        worth, above = 1.0, int(gold[m - 1])
        while True:  # the head counts 1, its head a little, ...
            agreement[above, m] = worth
            if above == 0:
                break
            worth = min(worth, 1.0 / n) * 0.5
            above = int(gold[above - 1])
    heads = np.empty(n, dtype=np.int64)
    eisner_kernel(agreement, 1 if single_root else 0, heads)
    return heads


def fingerprint_of(sentences: Sequence[Sentence], templates: Sequence[PartTemplate], *more: object) -> str:
    """Changes with the data, the templates and the options."""
    digest = hashlib.blake2b(digest_size=16)
    for sentence in sentences:
        digest.update(repr((sorted(sentence.columns.items()), sentence.heads, sentence.labels)).encode("utf-8", "surrogatepass"))
    digest.update(json.dumps([[t.kind, t.text] for t in templates]).encode())
    digest.update(repr(more).encode())
    return digest.hexdigest()


@dataclass(frozen=True, slots=True, eq=False)
class Field:
    """A first-order random field that is being learned: the features of gold arcs, and a step of gradient descent."""

    features: PartFeatures
    sentences: Sequence[Sentence]
    gold: Sequence[Integers]
    single_root: bool
    scratch: list[Any]  # keys and amounts, which grow

    def start(self, table: WeightTable) -> None:
        for sentence, heads in zip(self.sentences, self.gold, strict=True):
            keys = keys_of_tree(self.features, self.features.encode(sentence.columns, len(sentence)), heads)
            table.step(keys, np.zeros(len(keys)))

    def step(self, table: WeightTable, i: int, progress: float) -> float:
        sentence, heads = self.sentences[i], self.gold[i]
        n = len(sentence)
        words = np.arange(1, n + 1)
        encoded = self.features.encode(sentence.columns, n)
        scores = arcs_under(self.features, table, encoded, every_arc(n))
        gradient = np.empty_like(scores)
        log_partition = projective_marginals(scores, 1 if self.single_root else 0, gradient)
        loss = float(log_partition - scores[heads, words].sum())
        np.negative(gradient, out=gradient)
        gradient[heads, words] += 1.0
        gradient[:, 0] = 0.0
        keys, amounts = self.amounts(encoded, gradient)
        table.step(keys, amounts, most=FIRST_RATE / (1.0 + SLOWING * progress), grow=False)
        return loss

    def amounts(self, encoded: Encoded, gradient: Scores) -> tuple[Keys, Scores]:
        partial, totals = encoded
        while True:
            keys, amounts = self.scratch
            size = arc_keys(partial, *self.features.plan, totals, gradient, LEAST_AMOUNT, keys, amounts)
            if size <= len(keys):
                return keys[:size], amounts[:size]
            self.scratch[:] = np.empty(2 * size, dtype=np.int64), np.empty(2 * size)


def train_field(
    features: PartFeatures, sentences: Sequence[Sentence], options: dict[str, Any], *, single_root: bool
) -> tuple[Keys, Scores]:
    gold = [projective_heads(sentence, single_root=single_root) for sentence in sentences]
    field = Field(features, sentences, gold, single_root, [np.empty(1 << 16, dtype=np.int64), np.empty(1 << 16)])
    return run_epochs(field.step, len(sentences), start=field.start, **options)


PRUNER_EPOCHS = 2
Found = tuple[PartModel, list[Allowed], list[Allowed]]


def train_pruner(sentences: Sequence[Sentence], held_out: Sequence[Sentence], columns: frozenset[str], options: Options) -> Found:
    """A pruner, and candidates for all sentences: for those of training from a pruner that did not see them."""
    features = PartFeatures(parse_part_templates(fill_in(PRUNER, columns)))

    def trained(name: str, part: Sequence[Sentence]) -> PartModel:
        fingerprint = fingerprint_of(part, features.templates, options.seed, options.single_root, PRUNER_EPOCHS)
        stage = options.stage(name, PRUNER_EPOCHS, fingerprint)
        return part_model(features, *train_field(features, part, stage, single_root=options.single_root))

    def candidates(model: PartModel, sentence: Sentence) -> Allowed:
        scores = arcs_under(features, model, features.encode(sentence.columns, len(sentence)), every_arc(len(sentence)))
        return likely_arcs(scores, options.threshold, single_root=options.single_root)

    pruner = trained("pruner", sentences)
    halves = (
        [pruner, pruner] if len(sentences) < 2 else [trained("pruner of even", sentences[1::2]), trained("pruner of odd", sentences[::2])]
    )
    found = [candidates(halves[i % 2], sentence) for i, sentence in enumerate(sentences)]
    return pruner, found, [candidates(pruner, sentence) for sentence in held_out]


def train_trees(
    sentences: Sequence[Sentence],
    held_out: Sequence[Sentence],
    templates: tuple[PartTemplate, ...],
    order: str,
    algorithm: str,
    candidates: list[Allowed] | None,
    held_out_candidates: list[Allowed] | None,
    options: Options,
    most_features: int | None,
) -> PartModel:
    features = PartFeatures(templates)
    single_root, grand = options.single_root, order == "grandsibling"
    gold = [projective_heads(sentence, single_root=single_root) for sentence in sentences]

    def best_tree(table: Table, encoded: Encoded, allowed: Allowed, right: Integers | None) -> Integers:
        arcs = arcs_under(features, table, encoded, allowed)
        n = len(arcs) - 1
        if right is not None:  # every wrong arc gets 1 more: a margin of the Hamming loss
            arcs += 1.0
            arcs[right, np.arange(1, n + 1)] -= 1.0
        if order == "first":
            heads = np.empty(n, dtype=np.int64)
            eisner_kernel(arcs, 1 if single_root else 0, heads)
            return heads
        return block_under(features, table, encoded, arcs, candidates_of(allowed, grand=grand)).best(single_root=single_root)[0]

    def step(table: WeightTable, i: int, progress: float) -> float:
        sentence, right = sentences[i], gold[i]
        n = len(sentence)
        encoded = features.encode(sentence.columns, n)
        allowed = every_arc(n) if candidates is None else candidates[i]
        allowed[right, np.arange(1, n + 1)] = True
        found = best_tree(table, encoded, allowed, right if algorithm == "mira" else None)
        wrong = float(np.count_nonzero(found != right))
        if wrong:
            towards, away = keys_of_tree(features, encoded, right), keys_of_tree(features, encoded, found)
            signs = np.ones(len(towards) + len(away))
            signs[len(towards) :] = -1.0
            margin, most = (wrong, options.most) if algorithm == "mira" else (-1.0, 1.0)
            table.step(np.concatenate([towards, away]), signs, loss=margin, most=most)
        return wrong

    def unlabelled_accuracy(keys: Keys, weights: Scores) -> float:
        table = PartModel(features, *rounded(keys, weights))
        right = total = 0
        for i, sentence in enumerate(held_out):
            allowed = every_arc(len(sentence)) if held_out_candidates is None else held_out_candidates[i]
            found = best_tree(table, features.encode(sentence.columns, len(sentence)), allowed, None)
            right += int(np.count_nonzero(found == np.array(sentence.heads)))
            total += len(sentence)
        return right / total

    fingerprint = fingerprint_of(
        sentences, features.templates, order, algorithm, options.most, options.seed, single_root, options.threshold
    )
    stage = options.stage("tree", options.epochs, fingerprint, unlabelled_accuracy if held_out else None)
    if algorithm == "crf":
        found = train_field(features, sentences, stage, single_root=single_root)
    else:
        found = run_epochs(step, len(sentences), **stage)
    return part_model(features, *found, most=most_features)


def rounded(keys: Keys, weights: Scores) -> tuple[Keys, NDArray[np.int16], float]:
    """As a model will have them."""
    model = part_model(PartFeatures(()), keys, weights)
    return model.keys, model.steps, model.unit


def train_labels(
    sentences: Sequence[Sentence], held_out: Sequence[Sentence], columns: frozenset[str], options: Options, most_features: int | None
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
        partial, totals = features.encode(sentence.columns, len(sentence))
        found = np.empty(len(heads), dtype=np.int64)
        best_labels(partial, *features.plan, totals, heads, *choices[i], sets.codes, right, table.cells, table.numbers, found)
        wrong = np.flatnonzero(found != right)
        if len(wrong):
            keys = np.empty((2, len(wrong) * n_templates), dtype=np.int64)
            for row, labels in zip(keys, (right, found), strict=True):
                label_keys(partial, *features.plan, totals, heads, wrong + 1, labels[wrong], sets.codes, row)
            signs = np.ones(keys.shape)
            signs[1] = -1.0
            table.step(keys.reshape(-1), signs.reshape(-1), loss=float(len(wrong)), most=LABEL_STEP)
        return float(len(wrong))

    def labelled_accuracy(keys: Keys, weights: Scores) -> float:
        labeller = Labeller(sets, PartModel(features, *rounded(keys, weights)))
        right = total = 0
        for sentence in held_out:
            found = labeller.label(sentence.columns, np.array(sentence.heads, dtype=np.int64))
            right += sum(a == b for a, b in zip(found, sentence.labels or (), strict=True))
            total += len(sentence)
        return right / total

    fingerprint = fingerprint_of(sentences, features.templates, options.seed, LABEL_STEP)
    stage = options.stage("labels", options.epochs, fingerprint, labelled_accuracy if held_out else None)
    return Labeller(sets, part_model(features, *run_epochs(step, len(sentences), **stage), most=most_features))
