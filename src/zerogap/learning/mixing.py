"""Iterative parameter mixing: an online learner on several shards of the data at once (McDonald, Hall & Mann 2010, figure 3).

    w = 0;  in every epoch:  w_i = one epoch of the learner on shard i, from w, for all shards at once;  w = sum_i mu_i w_i

For the perceptron it converges where one on all data does, with a bound on the mistakes that does not grow with the shards (theorem 3);
with a single mix at the end it need not. Here mu_i is the shard's share of all updates, as the paper has it for the bound, or
the same for all. The answer is averaged: over the moments of every shard and epoch, mixed by the same mu.

Who does the shards is not said here: `spread` takes the function of a shard and gives one that does many, in processes or on machines.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from zerogap.archive import write_archive
from zerogap.errors import FormatError, UnknownMethod
from zerogap.features.parts.learning import WeightTable
from zerogap.features.parts.weight_table import Keys
from zerogap.grid import Scores
from zerogap.learning.online import Best, Epoch, Evaluate, best_in, checkpoint_of

FORMAT, VERSION = "zerogap-mixing", 1
MIXTURES = ("updates", "uniform")

Step = Callable[[WeightTable, int, float], float]


@dataclass(frozen=True, slots=True, eq=False)
class Turn:
    """An epoch on a shard: from which weights, and in which order."""

    examples: tuple[int, ...]
    epoch: int
    keys: Keys
    weights: Scores


@dataclass(frozen=True, slots=True, eq=False)
class Learned:
    """What came of it: weights and their averages over the moments of this turn, the loss, and how often it was not zero."""

    keys: Keys
    weights: Scores
    averages: Scores
    loss: float
    updates: int


Shards = Callable[[Sequence[Turn]], list[Learned]]
Spread = Callable[[Callable[[Turn], Learned]], AbstractContextManager[Shards]]


@contextmanager
def one_by_one(learn: Callable[[Turn], Learned]) -> Iterator[Shards]:
    """Shards after each other in this process: the same weights, later."""
    yield lambda turns: list(map(learn, turns))


@dataclass(frozen=True, slots=True)
class Learner:
    """A turn of an online learner; it starts with a table of the weights that were mixed."""

    step: Step
    grown: Callable[[WeightTable], None] | None = None  # fills a table with the keys that may have weights

    def __call__(self, turn: Turn) -> Learned:
        table = WeightTable()
        if self.grown is not None:
            self.grown(table)
        table.step(turn.keys, turn.weights)  # at moment 0: no drift
        loss, updates = 0.0, 0
        for at, i in enumerate(turn.examples):
            found = self.step(table, i, turn.epoch + at / len(turn.examples))
            loss += found
            updates += found > 0.0
            table.moment += 1.0
        keys, averages = table.average()
        moment, table.moment = table.moment, 0.0
        weights = table.average()[1]  # the weights themselves
        table.moment = moment
        return Learned(keys, weights, averages, loss, updates)


@dataclass(slots=True, eq=False)
class State:
    epoch: int
    keys: Keys
    weights: Scores  # mixed
    totals: Scores  # sums of mixed averages over epochs, for the same keys
    best: Best


def run_mixed(
    step: Step,
    n_examples: int,
    *,
    shards: int,
    epochs: int,
    seed: int = 0,
    mixture: str = "updates",
    spread: Spread = one_by_one,
    start: Callable[[WeightTable], None] | None = None,
    evaluate: Evaluate | None = None,
    patience: int | None = None,
    checkpoint: Path | None = None,
    fingerprint: str = "",
    report: Callable[[Epoch], None] | None = None,
) -> tuple[Keys, Scores]:
    """Like `run_epochs`, on as many shards. The same seed gives the same weights whoever does the shards."""
    if mixture not in MIXTURES:
        raise UnknownMethod("mixture", mixture, MIXTURES)
    fingerprint = f"{fingerprint} {shards} {mixture}"
    nothing = np.zeros(0)
    state = resumed(checkpoint, fingerprint) if checkpoint is not None and checkpoint.exists() else None
    if state is None:
        state = State(0, np.zeros(0, dtype=np.int64), nothing, nothing, Best())
    places = np.array_split(np.random.default_rng([seed, 0]).permutation(n_examples), shards)
    with spread(Learner(step, start)) as learn:
        while state.epoch < epochs and not state.best.is_enough(state.epoch, patience):
            begin = time.perf_counter()
            orders = [np.random.default_rng([seed, state.epoch, k]).permutation(place) for k, place in enumerate(places) if len(place)]
            found = learn([Turn(tuple(order.tolist()), state.epoch, state.keys, state.weights) for order in orders])
            mix(state, found, mixture)
            score, is_best = state.best.judge((state.keys, state.totals / state.epoch), state.epoch, evaluate)
            if checkpoint is not None:
                save(state, checkpoint, fingerprint)
            if report is not None:
                report(Epoch(state.epoch, sum(one.loss for one in found), score, is_best, time.perf_counter() - begin))
    return state.best.weights if state.best.weights is not None else (state.keys, state.weights)


def mix(state: State, found: Sequence[Learned], mixture: str) -> None:
    """The weights of all shards together; a weight that a shard does not have is 0 there."""
    updates = np.array([float(one.updates) for one in found])
    shares = updates / updates.sum() if mixture == "updates" and updates.sum() > 0.0 else np.full(len(found), 1.0 / len(found))
    keys, where = np.unique(np.concatenate([state.keys, *(one.keys for one in found)]), return_inverse=True)
    weights, totals = np.zeros(len(keys)), np.zeros(len(keys))
    at = len(state.keys)
    totals[where[:at]] = state.totals
    for share, one in zip(shares.tolist(), found, strict=True):
        here = where[at : at + len(one.keys)]  # no key is there twice
        weights[here] += share * one.weights
        totals[here] += share * one.averages
        at += len(one.keys)
    state.keys, state.weights, state.totals = keys, weights, totals
    state.epoch += 1


def save(state: State, path: Path, fingerprint: str) -> None:
    arrays: dict[str, Any] = {"keys": state.keys, "weights": state.weights, "totals": state.totals, **state.best.arrays()}
    header = {"format": FORMAT, "version": VERSION, "fingerprint": fingerprint, "epoch": state.epoch, **state.best.header()}
    write_archive(path, header, arrays, compressed=False)


def resumed(path: Path, fingerprint: str) -> State:
    header, arrays = checkpoint_of(path, FORMAT, VERSION, fingerprint)
    try:
        return State(int(header["epoch"]), arrays["keys"], arrays["weights"], arrays["totals"], best_in(header, arrays))
    except (KeyError, TypeError, ValueError) as error:
        raise FormatError(f"{path} is a damaged checkpoint: {error!r}. Delete it to begin anew.") from None
