"""What the stages of training share: options, progress, gold trees, and which weights may be learned."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zerogap.dependency.sentence import Sentence
from zerogap.features.parts.learning import WeightTable
from zerogap.features.parts.templates import PartTemplate
from zerogap.features.parts.weight_table import Keys
from zerogap.learning.mixing import Spread, one_by_one
from zerogap.learning.online import Epoch
from zerogap.oracles.trees.eisner import eisner_kernel

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
    projective: bool
    single_root: bool
    threshold: float
    min_count: int  # gold occurrences from which a feature may have a weight; 0: all features that were ever met
    patience: int | None
    folder: Path | None  # of checkpoints
    report: Callable[[Progress], None] | None
    relaxed: bool = False  # learn from what heads choose on their own
    shards: int = 1  # more: iterative parameter mixing
    spread: Spread = one_by_one  # who does the shards
    penalties: float | None = None  # larger parts only cost; by so much less, after every sentence, what its right tree has

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


def gold_heads(sentence: Sentence, options: Options) -> Integers:
    """The tree to learn: of a sentence whose tree is not projective, for a projective parser, the projective one that shares most arcs."""
    if options.projective:
        return projective_heads(sentence, single_root=options.single_root)
    return np.array(sentence.heads, dtype=np.int64)


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


def start_with(keys: Iterable[Keys], min_count: int) -> Callable[[WeightTable], None] | None:
    """Fills a table with the features that occur at least `min_count` times in gold structures, given one after the other; None for 0."""
    if min_count == 0:
        return None

    def start(table: WeightTable) -> None:
        found, counts = np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *keys]), return_counts=True)
        frequent = found[counts >= min_count]
        table.step(frequent, np.zeros(len(frequent)))

    return start
