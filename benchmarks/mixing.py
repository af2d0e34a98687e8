"""Iterative parameter mixing (McDonald, Hall & Mann 2010) against one learner on all data: accuracy after every epoch.

    python benchmarks/mixing.py [--sentences 2000] [--epochs 6] [--shards 1,2,4]

First-order parsers on English EWT (../shared/data/ud/en_ewt, or where ZEROGAP_DATA points), by perceptron and MIRA; unlabelled attachment
on the first 500 sentences of the development part, and the CPU time of an epoch on one shard, which a machine of its own would take.
"""

from __future__ import annotations

import argparse
import os
import time
from itertools import islice
from pathlib import Path

from zerogap.dependency import train
from zerogap.dependency.training.options import Progress
from zerogap.io.formats.conllu import read_conllu

DATA = Path(os.environ.get("ZEROGAP_DATA", Path(__file__).parents[2] / "shared" / "data")) / "ud" / "en_ewt"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sentences", type=int, default=2000)
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--shards", default="1,2,4")
    given = parser.parse_args()
    sentences = [record.sentence for record in islice(read_conllu(DATA / "train.conllu", trees=True), given.sentences)]
    development = [record.sentence for record in islice(read_conllu(DATA / "dev.conllu", trees=True), 500)]
    print(f"{len(sentences):,} sentences, UAS on {len(development)} of dev after every epoch")
    for algorithm in ("perceptron", "mira"):
        for shards in map(int, given.shards.split(",")):
            scores: list[float] = []

            def note(done: Progress, scores: list[float] = scores) -> None:
                scores.append(100.0 * (done.epoch.development or 0.0))

            begin = time.process_time()
            train(
                sentences, order="first", algorithm=algorithm, development=development, epochs=given.epochs, labels=False, shards=shards,
                report=note,
            )  # fmt: skip
            seconds = (time.process_time() - begin) / given.epochs / shards
            shown = " ".join(f"{score:.2f}" for score in scores)
            print(f"{algorithm:>10}, {shards} shards: {shown}  ({seconds:.1f} s per epoch and shard)", flush=True)


if __name__ == "__main__":
    main()
