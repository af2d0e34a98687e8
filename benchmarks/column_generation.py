"""Viterbi by column generation against Viterbi over all transitions: milliseconds per sequence, and the share of transitions looked at.

    python benchmarks/column_generation.py [--treebank hu_szeged la_perseus] [--epochs 3] [--passes 7]

Both are `sequence.decode` with a certificate, problems built before; the labellings must be the same. Times are medians over passes and
sequences, with both methods in turn. The share counts every look at a transition, and not the one look at all of them that bounds
need once per table of transitions; its time is part of what is measured.

Scores of the first tables are Gaussian, and where they are *peaked*, one label per token is MARGIN above that. The second table shows how
far apart they must be. The third one is a tagger: universal tag and morphological features as one label, a perceptron on the training part
of treebanks in ../shared/data/ud (ZEROGAP_DATA overrides ../shared/data), timed on their test part.
"""

from __future__ import annotations

import argparse
import gc
import os
import statistics
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from zerogap import sequence as seq
from zerogap import verify
from zerogap.io.formats.conllu import read_conllu
from zerogap.oracles.labels.column_generation import best_chain
from zerogap.sequence.decoding import auto
from zerogap.sequence.examples import Example
from zerogap.sequence.training import train

DATA = Path(os.environ.get("ZEROGAP_DATA", Path(__file__).parents[2] / "shared" / "data")) / "ud"
LABELS, LENGTHS = (50, 100, 200, 500, 1000), (20, 50, 200)
MARGIN, MARGINS = 10.0, (0.0, 2.0, 4.0, 5.0, 6.0, 7.0, 8.0, 10.0, 14.0)
SEQUENCES = 3  # of each size
SENTENCES = 200  # of a treebank
METHODS = ("auto", "column-generation")
auto.MANY_LABELS = 2**62  # so that `auto` is Viterbi over all transitions


def gaussian(n: int, size: int, margin: float, seed: int) -> seq.Problem:
    random = np.random.default_rng(seed)
    emissions, transitions = random.normal(size=(n, size)), random.normal(size=(size, size))
    emissions[np.arange(n), random.integers(size, size=n)] += margin
    return seq.Problem(emissions, transitions)


def examples(path: Path) -> list[Example]:
    found = []
    for columns in (record.sentence.columns for record in read_conllu(path)):
        labels = tuple(f"{tag}|{features}" for tag, features in zip(columns["upos"], columns["feats"], strict=True))
        found.append(Example({"form": columns["form"]}, labels))
    return found


def touched(problem: seq.Problem) -> tuple[int, bool]:
    """How many transitions column generation looks at, and whether it gave up and looked at all."""
    nodes = problem.emissions.copy()
    nodes[0] += problem.start
    nodes[-1] += problem.end
    chain = best_chain(nodes, problem.transitions)
    return chain.n_touched, chain.exhausted


def row(name: str, problems: Sequence[seq.Problem], passes: int) -> None:
    """One line of a table: median times, their ratio, the share of transitions, how many sequences needed all of them."""
    times = np.empty((len(METHODS), len(problems)))
    looks, gave_up, all_transitions = 0, 0, 0
    for i, problem in enumerate(problems):
        full, few = (seq.decode(problem, method=method) for method in METHODS)
        if (few.structure, few.score, few.bound) != (full.structure, full.score, full.score):
            raise SystemExit(f"{name}: column generation finds {few.score} with the bound {few.bound}, Viterbi {full.score}.")
        if i == 0:
            verify(problem, few)
        found = touched(problem)
        looks, gave_up = looks + found[0], gave_up + found[1]
        all_transitions += (problem.n_tokens - 1) * len(problem.labels) ** 2
        measured: list[list[float]] = [[] for _ in METHODS]
        gc.disable()
        for _ in range(passes):
            for method, seconds in zip(METHODS, measured, strict=True):
                begin = time.perf_counter()
                seq.decode(problem, method=method)
                seconds.append(time.perf_counter() - begin)
        gc.enable()
        times[:, i] = [statistics.median(seconds) for seconds in measured]
    full_time, few_time = 1e3 * times.mean(axis=1)
    share = looks / max(all_transitions, 1)
    print(
        f"{name:34} {full_time:9.3f} {few_time:9.3f} {full_time / few_time:7.1f} {100 * share:9.2f}% {gave_up:5} of {len(problems)}",
        flush=True,
    )


def headline(text: str) -> None:
    print(f"\n{text:34} {'all':>9} {'columns':>9} {'ratio':>7} {'touched':>10} {'gave up':>10}")


def main() -> None:
    arguments = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    arguments.add_argument("--treebank", nargs="*", default=["hu_szeged"])
    arguments.add_argument("--epochs", type=int, default=3)
    arguments.add_argument("--passes", type=int, default=7)
    options = arguments.parse_args()
    for kind, margin in (("peaked", MARGIN), ("random", 0.0)):
        headline(f"{kind}, milliseconds")
        for size in LABELS:
            for n in LENGTHS:
                row(f"{size} labels, {n} tokens", [gaussian(n, size, margin, seed) for seed in range(SEQUENCES)], options.passes)
    headline("500 labels, 50 tokens")
    for margin in MARGINS:
        row(f"one label {margin:g} above", [gaussian(50, 500, margin, seed) for seed in range(SEQUENCES)], options.passes)
    headline("tagger")
    for name in options.treebank:
        if not (DATA / name).is_dir():
            print(f"{name}: not in {DATA}")
            continue
        model = train(examples(DATA / name / "train.conllu"), algorithm="perceptron", epochs=options.epochs)
        sentences = [example for example in examples(DATA / name / "test.conllu")[:SENTENCES] if len(example) > 1]
        row(f"{name}, {len(model.labels)} labels", [model.problem(example) for example in sentences], options.passes)


if __name__ == "__main__":
    main()
