"""The tagger on the English Web Treebank beside UDPipe 1: accuracy on development and test data, and words per second in one thread.

    python benchmarks/tagger.py [--model FILE] [--udpipe FILE] [--passes 5]

Reads ../shared/data/ud/en_ewt (or ZEROGAP_DATA). Without --model, trains a tagger first. UDPipe is left out where it or its model is not
there: see udpipe.py, which also says how it was trained. Both get the words of the treebank; both are warm, sentences are tagged one by
one, and the fastest of several passes over the file counts. Times are from lists of forms to lists of tags, with all that Python does
for it; `call` is UDPipe's `Model.tag` alone, on sentences that stand ready, which also finds lemmas and morphological features.
"""

from __future__ import annotations

import argparse
import gc
import os
import time
from collections.abc import Sequence
from pathlib import Path

import udpipe

from zerogap.io.formats.conllu import read_conllu
from zerogap.sequence.tagger.tagger import Tagger, Tags
from zerogap.sequence.tagger.training import Words, train_tagger

DATA = Path(os.environ.get("ZEROGAP_DATA", Path(__file__).parents[2] / "shared" / "data")) / "ud" / "en_ewt"


def read(path: Path) -> list[Words]:
    columns = (record.sentence.columns for record in read_conllu(path))
    return [(sentence["form"], sentence["upos"], sentence["xpos"]) for sentence in columns]


def fastest(tagger: Tagger, sentences: Sequence[Words], passes: int) -> tuple[list[Tags], float]:
    """The tags, and the seconds of the fastest pass behind a first one that does not count."""
    found: list[Tags] = []
    times = []
    for _ in range(passes + 1):
        gc.collect()
        gc.disable()
        began = time.perf_counter()
        found = [tagger.tag(forms) for forms, _, _ in sentences]
        times.append(time.perf_counter() - began)
        gc.enable()
    return found, min(times[1:])


def share(found: Sequence[Sequence[str]], right: Sequence[Sequence[str]]) -> float:
    pairs = [a == b for ours, theirs in zip(found, right, strict=True) for a, b in zip(ours, theirs, strict=True)]
    return 100 * sum(pairs) / len(pairs)


def unknown_words(sentences: Sequence[Words], known: set[str]) -> list[list[bool]]:
    return [[form not in known for form in forms] for forms, _, _ in sentences]


def row(name: str, upos: Sequence[Sequence[str]], xpos: Sequence[Sequence[str]], sentences: Sequence[Words], rare: list[list[bool]]) -> str:
    both = [list(zip(u, x, strict=True)) for u, x in zip(upos, xpos, strict=True)]
    right = [list(zip(u, x, strict=True)) for _, u, x in sentences]
    new = [[a for a, odd in zip(tags, mask, strict=True) if odd] for tags, mask in zip(upos, rare, strict=True)]
    new_right = [[a for a, odd in zip(tags, mask, strict=True) if odd] for (_, tags, _), mask in zip(sentences, rare, strict=True)]
    parts = (share(upos, [s[1] for s in sentences]), share(xpos, [s[2] for s in sentences]), share(both, right), share(new, new_right))
    return f"{name:24}" + "".join(f"{part:9.2f}" for part in parts)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--model", type=Path)
    arguments.add_argument("--udpipe", type=Path, default=udpipe.MODELS / "tagger.udpipe")
    arguments.add_argument("--passes", type=int, default=5)
    given = arguments.parse_args()
    training = read(DATA / "train.conllu")
    known = {form for forms, _, _ in training for form in forms}
    if given.model is None:
        began = time.perf_counter()
        tagger = train_tagger(training)
        print(f"trained on {sum(len(forms) for forms, _, _ in training):,} words in {time.perf_counter() - began:.0f} s")
    else:
        tagger = Tagger.load(given.model)
    for part in ("dev", "test"):
        path = DATA / f"{part}.conllu"
        sentences = read(path)
        n, rare = sum(len(forms) for forms, _, _ in sentences), unknown_words(sentences, known)
        print(f"\n{part}: {len(sentences):,} sentences, {n:,} words, {100 * sum(map(sum, rare)) / n:.1f}% of them not in training")
        print(f"{'':24}     UPOS     XPOS     both  new UPOS   words/s")
        tags, seconds = fastest(tagger, sentences, given.passes)
        print(row("zerogap", [tag.upos for tag in tags], [tag.xpos for tag in tags], sentences, rare) + f"{n / seconds:11,.0f}")
        if udpipe.available(given.udpipe):
            peer = udpipe.run(given.udpipe, path, parse=False, passes=given.passes)
            speeds = n / peer.seconds["forms to tags"], n / peer.seconds["tag"]
            print(row("UDPipe 1", peer.upos, peer.xpos, sentences, rare) + f"{speeds[0]:11,.0f}   (call: {speeds[1]:,.0f})")
            print(f"{'':24}{'zerogap / UDPipe, words/s':>36}{n / seconds / speeds[0]:11.1f}")


if __name__ == "__main__":
    main()
