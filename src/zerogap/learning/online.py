"""Epochs of an online learner: a new order each time, averages judged on development data, early stop, and checkpoints to go on from.

After every epoch the averaged weights are evaluated, and the best ones are kept. A checkpoint holds all that the next epoch depends on, so
that a run that was interrupted ends with the same weights, bit for bit, as one that was not.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from zerogap.archive import read_archive, write_archive
from zerogap.errors import FormatError
from zerogap.features.parts.learning import WeightTable
from zerogap.features.parts.weight_table import Keys
from zerogap.grid import Scores

FORMAT, VERSION = "zerogap-checkpoint", 1

Evaluate = Callable[[Keys, Scores], float]


@dataclass(frozen=True, slots=True)
class Epoch:
    """What an epoch came to: the loss as it was met, and how good the averaged weights are on development data, if there is some."""

    number: int
    loss: float
    development: float | None
    is_best: bool
    seconds: float


@dataclass(slots=True, eq=False)
class Best:
    """The averaged weights of the best epoch so far, of the last one where nobody judges them."""

    weights: tuple[Keys, Scores] | None = None
    score: float = -np.inf
    epoch: int = 0

    def judge(self, averaged: tuple[Keys, Scores], epoch: int, evaluate: Evaluate | None) -> tuple[float | None, bool]:
        """The score of an epoch, and whether it is the best."""
        score = evaluate(*averaged) if evaluate is not None else None
        is_best = score is None or score > self.score
        if is_best:
            self.weights, self.epoch = averaged, epoch
            self.score = -np.inf if score is None else score
        return score, is_best

    def is_enough(self, epoch: int, patience: int | None) -> bool:
        """Whether it was so long ago that training stops."""
        return patience is not None and epoch - self.epoch >= patience

    def header(self) -> dict[str, Any]:
        return {"best_epoch": self.epoch, "best_score": None if self.score == -np.inf else self.score}

    def arrays(self) -> dict[str, Any]:
        return {} if self.weights is None else {"best_keys": self.weights[0], "best_weights": self.weights[1]}


def best_in(header: dict[str, Any], arrays: dict[str, Any]) -> Best:
    """Of a checkpoint; KeyError, TypeError or ValueError if it is damaged."""
    weights = (arrays["best_keys"], arrays["best_weights"]) if "best_keys" in arrays else None
    return Best(weights, -np.inf if header["best_score"] is None else float(header["best_score"]), int(header["best_epoch"]))


@dataclass(slots=True, eq=False)
class State:
    """Where training stands."""

    table: WeightTable
    epoch: int
    best: Best


def run_epochs(
    step: Callable[[WeightTable, int, float], float],
    n_examples: int,
    *,
    epochs: int,
    seed: int = 0,
    start: Callable[[WeightTable], None] | None = None,
    evaluate: Evaluate | None = None,
    patience: int | None = None,
    checkpoint: Path | None = None,
    fingerprint: str = "",
    report: Callable[[Epoch], None] | None = None,
) -> tuple[Keys, Scores]:
    """Keys and averaged weights of the best epoch, or of the last without `evaluate`.

    `step(table, example, progress)` changes the weights and returns the loss; progress runs from 0 to `epochs`. `start` fills a new table.
    Stops after `patience` epochs without a better score. `fingerprint` says what is trained on what: a checkpoint of something else
    is refused.
    """
    state = resumed(checkpoint, fingerprint) if checkpoint is not None and checkpoint.exists() else None
    if state is None:
        state = State(WeightTable(), 0, Best())
        if start is not None:
            start(state.table)
    table = state.table
    while state.epoch < epochs and not state.best.is_enough(state.epoch, patience):
        begin = time.perf_counter()
        order = np.random.default_rng([seed, state.epoch]).permutation(n_examples)
        loss = 0.0
        for at, i in enumerate(order.tolist()):
            loss += step(table, i, state.epoch + at / n_examples)
            table.moment += 1.0
        state.epoch += 1
        score, is_best = state.best.judge(table.average(), state.epoch, evaluate)
        if checkpoint is not None:
            save(state, checkpoint, fingerprint)
        if report is not None:
            report(Epoch(state.epoch, loss, score, is_best, time.perf_counter() - begin))
    return state.best.weights if state.best.weights is not None else table.average()


def save(state: State, path: Path, fingerprint: str) -> None:
    table = state.table
    arrays: dict[str, Any] = {"cells": table.cells, "values": table.values, **state.best.arrays()}
    header = {
        "format": FORMAT, "version": VERSION, "fingerprint": fingerprint, "epoch": state.epoch, **state.best.header(),
        "n_keys": table.n_keys, "moment": table.moment,
    }  # fmt: skip
    write_archive(path, header, arrays, compressed=False)


def checkpoint_of(path: Path, format: str, version: int, fingerprint: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Header and arrays of a checkpoint of this training; one of another is refused."""
    header, arrays = read_archive(path, format, version)
    if header.get("fingerprint") != fingerprint:
        raise FormatError(
            f"{path} is a checkpoint of another training: expected one of the same data and options; delete it to begin anew."
        )
    return header, arrays


def resumed(path: Path, fingerprint: str) -> State:
    header, arrays = checkpoint_of(path, FORMAT, VERSION, fingerprint)
    try:
        table = WeightTable(len(arrays["cells"]) // 2)
        table.cells[:], table.values[:] = arrays["cells"], arrays["values"]
        table.n_keys, table.moment = int(header["n_keys"]), float(header["moment"])
        return State(table, int(header["epoch"]), best_in(header, arrays))
    except (KeyError, TypeError, ValueError) as error:
        raise FormatError(f"{path} is a damaged checkpoint: {error!r}. Delete it to begin anew.") from None
