"""The stages of training share options, progress, gold trees, and which weights may be learned."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from zerogap.dependency.nearest_trees import projective_heads
from zerogap.dependency.parser.parser import ORDERS
from zerogap.dependency.sentence import Sentence
from zerogap.errors import InputError, UnknownMethod
from zerogap.features.parts.learning import WeightTable
from zerogap.features.parts.templates import PartTemplate
from zerogap.features.parts.weight_table import Keys
from zerogap.grid import Integers
from zerogap.learning.mixing import Spread, one_by_one
from zerogap.learning.online import Epoch

ONLINE = ("mira", "perceptron")
ALGORITHMS = (*ONLINE, "crf", "bp")


@dataclass(frozen=True, slots=True)
class Progress:
    """`stage` is pruner, tree or labels; `epoch` has the loss and, for trees, UAS, for labels, LAS given the gold trees."""

    stage: str
    epochs: int
    epoch: Epoch


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TrainingOptions:
    """How a parser is learned; InputError says which options do not go together."""

    order: str = "grandsibling"  # what is scored: see `Parser`
    algorithm: str = "mira"  # or perceptron; or by likelihood: crf for order first, bp, approximately, for the others (Smith & Eisner 2008)
    epochs: int = 10
    step: float = 1.0  # the largest of MIRA
    seed: int = 0  # of the order of sentences
    projective: bool = True  # False: arcs may cross
    single_root: bool = True
    relaxed: bool = False  # of arcs that may cross: heads choose modifiers without any tree, which is faster (Rush 2014, section 6.6)
    threshold: float = 1e-3  # of the pruner: see `Parser`; 0 keeps all arcs
    patience: int | None = None  # epochs without a better one on development data, after which training stops
    templates: str | Sequence[str] | None = None  # in place of the default features of the tree
    labels: bool = True  # whether those of the sentences are learned too
    min_count: int = 0  # gold occurrences from which a feature has a weight; 0: those of wrong trees have weights too, but from crf
    most_features: int | None = None  # the largest weights are kept
    checkpoints: str | Path | None = None  # a folder: a run that was interrupted goes on from there
    shards: int = 1  # more: trees are learned on all of them at once, weights are mixed after every epoch (McDonald et al. 2010)
    spread: Spread = one_by_one  # who does the shards: see `zerogap.batch.spreading.spread_over`
    penalties: float | None = None  # larger parts only cost, and by so much less, after every sentence, what its right tree has
    report: Callable[[Progress], None] | None = None  # is told of every epoch

    def __post_init__(self) -> None:
        for name, given, known in (("order", self.order, ORDERS), ("algorithm", self.algorithm, ALGORITHMS)):
            if given not in known:
                raise UnknownMethod(name, given, known)
        order, algorithm, is_online = self.order, self.algorithm, self.algorithm in ONLINE
        if algorithm == "crf" and order != "first":
            raise InputError(f"algorithm 'crf' was given with order {order!r}: expected order 'first'; bp does the same for larger orders.")
        if algorithm == "bp" and order == "first":
            raise InputError(
                "algorithm 'bp' was given with order 'first': expected a larger order; crf does the same for 'first', exactly."
            )
        if self.relaxed and (self.projective or order == "first" or not is_online):
            raise InputError(
                f"relaxed=True was given with order {order!r}, algorithm {algorithm!r} and projective={self.projective}: expected an order"
                " above 'first', 'mira' or 'perceptron', and projective=False."
            )
        shards, penalties = self.shards, self.penalties
        if isinstance(shards, bool) or not isinstance(shards, int) or shards < 1 or (shards > 1 and not is_online):
            raise InputError(f"shards is {shards!r} with algorithm {algorithm!r}: expected 1, or more with 'mira' or 'perceptron'.")
        if penalties is not None:
            if isinstance(penalties, bool) or not isinstance(penalties, int | float) or not 0.0 <= penalties < np.inf:
                raise InputError(f"penalties is {penalties!r}: expected a number, 0 or more.")
            if order == "first" or not is_online or not self.projective:
                raise InputError(
                    f"penalties={penalties} was given with order {order!r}, algorithm {algorithm!r} and projective={self.projective}:"
                    " expected an order above 'first', 'mira' or 'perceptron', and projective=True."
                )
        for name, number in (("epochs", self.epochs), ("seed", self.seed), ("min_count", self.min_count)):
            check_count(name, number)
        if not isinstance(self.step, int | float) or not self.step > 0.0:
            raise InputError(f"step is {self.step!r}: expected a number above 0.")
        if not isinstance(self.threshold, int | float) or not 0.0 <= self.threshold <= 1.0:
            raise InputError(f"threshold is {self.threshold!r}: expected a number from 0, which prunes nothing, to 1.")

    def stage(self, name: str, epochs: int, fingerprint: str, evaluate: Any = None) -> dict[str, Any]:
        """What `run_epochs` is told."""
        report = self.report
        return {
            "epochs": epochs,
            "seed": self.seed,
            "evaluate": evaluate,
            "patience": self.patience,
            "checkpoint": None if self.checkpoints is None else Path(self.checkpoints) / f"{name}.npz",
            "fingerprint": fingerprint,
            "report": None if report is None else lambda epoch: report(Progress(name, epochs, epoch)),
        }

    def make_folder(self) -> None:
        """The one of checkpoints."""
        if self.checkpoints is not None:
            Path(self.checkpoints).mkdir(parents=True, exist_ok=True)


def check_count(name: str, number: int) -> None:
    if isinstance(number, bool) or not isinstance(number, int) or number < 0:
        raise InputError(f"{name} is {number!r}: expected an integer, 0 or more.")


def gold_heads(sentence: Sentence, options: TrainingOptions) -> Integers:
    """The tree to learn: of a sentence whose tree is not projective, for a projective parser, the projective one that shares most arcs."""
    if options.projective:
        return projective_heads(sentence, single_root=options.single_root)
    return np.array(sentence.heads, dtype=np.int64)


def fingerprint_of(sentences: Sequence[Sentence], templates: Sequence[PartTemplate], *more: object) -> str:
    """Changes with the data, the templates and the options."""
    digest = hashlib.blake2b(digest_size=16)
    for sentence in sentences:
        digest.update(repr((sorted(sentence.columns.items()), sentence.heads, sentence.labels)).encode("utf-8", "surrogatepass"))
    digest.update(json.dumps([[t.kind, t.text] for t in templates]).encode())
    digest.update(repr(more).encode())
    return digest.hexdigest()


def start_with(keys: Iterable[Keys], min_count: int) -> Callable[[WeightTable], None] | None:
    """Fills a table with the features that occur at least `min_count` times in gold structures, given one after the other; None for 0."""
    if min_count == 0:
        return None

    def start(table: WeightTable) -> None:
        found, counts = np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *keys]), return_counts=True)
        frequent = found[counts >= min_count]
        table.step(frequent, np.zeros(len(frequent)))

    return start
