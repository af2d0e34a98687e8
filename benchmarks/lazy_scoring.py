"""Dual decomposition that scores few grand-siblings against the one that scores all: the same trees, how many parts, how long.

    python benchmarks/lazy_scoring.py [--models FOLDER] [--treebanks hu_szeged la_perseus ...] [--epochs 5] [--sentences 200] [--longest 40]

Reads ../shared/data/ud (or ZEROGAP_DATA). Grand-sibling models are those of benchmarks/nonprojective.py, and are trained where they are not
in FOLDER yet; bounds are computed from the training part. Sentences are the first of the test part, once with all arcs, as in Riedel et
al. 2012, and once with those that the pruner leaves. Times are of a whole parse: features, scores, bounds, decoding, proof.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from nonprojective import sentences_of, trained

from zerogap.dependency.decoding.agreement.lazy import LazyHeads
from zerogap.dependency.parser import parser as model
from zerogap.dependency.parser.parser import Parse, Parser
from zerogap.dependency.scoring.bounds_offline import compute_bounds
from zerogap.dependency.sentence import Sentence
from zerogap.proof.verify import verify

VERIFIED = 10  # sentences whose certificates are checked


def parsed(parser: Parser, sentences: Sequence[Sentence], *, lazily: bool) -> tuple[list[Parse], list[float]]:
    model.MANY_PARTS = 1 if lazily else 2**62
    parses, seconds = [], []
    for sentence in sentences:
        best = np.inf
        for _ in range(3):
            begin = time.perf_counter()
            parse = parser.parse(sentence)
            best = min(best, time.perf_counter() - begin)
        parses.append(parse)
        seconds.append(best)
    return parses, seconds


def row(name: str, parser: Parser, sentences: Sequence[Sentence]) -> None:
    whole, slow = parsed(parser, sentences, lazily=False)
    few, fast = parsed(parser, sentences, lazily=True)
    same = [a.solution.score == b.solution.score and a.solution.status == b.solution.status for a, b in zip(whole, few, strict=True)]
    for parse in [parse for parse in few if len(parse.heads) <= 20][:VERIFIED]:
        verify(parse.problem, parse.solution)
    heads = [parse.scores for parse in few if isinstance(parse.scores, LazyHeads)]
    scored, parts = sum(lazy.n_scored for lazy in heads), sum(lazy.n_parts for lazy in heads)
    words = np.mean([len(sentence) for sentence in sentences])
    times = f"{1e3 * np.mean(slow):9.2f} {1e3 * np.mean(fast):9.2f} {np.sum(slow) / np.sum(fast):8.2f}"
    print(
        f"{name:24} {words:6.1f} {parts / len(sentences):10,.0f} {100 * scored / parts:9.2f} {100 * np.mean(same):8.1f} {times}", flush=True
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--models", type=Path, default=Path("/tmp/zerogap-nonprojective"))
    parser.add_argument("--treebanks", nargs="+", default=["hu_szeged", "la_perseus", "da_ddt", "en_ewt"])
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--sentences", type=int, default=200)
    parser.add_argument("--longest", type=int, default=40)
    options = parser.parse_args()
    options.models.mkdir(parents=True, exist_ok=True)
    print(f"{'':24} {'words':>6} {'parts':>10} {'scored %':>9} {'same %':>8} {'all, ms':>9} {'few, ms':>9} {'times':>8}")
    for treebank in options.treebanks:
        learned = compute_bounds(trained(options.models, treebank, "grandsibling", False, options.epochs), sentences_of(treebank, "train"))
        test = [sentence for sentence in sentences_of(treebank, "test") if 1 < len(sentence) <= options.longest][: options.sentences]
        row(f"{treebank}, all arcs", replace(learned, pruner=None), test)
        row(f"{treebank}, pruned", learned, test)


if __name__ == "__main__":
    main()
