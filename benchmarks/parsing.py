"""Dependency parsing of UD English-EWT: accuracy and speed beside UDPipe 1 and the published figures of TurboParser.

    python benchmarks/parsing.py [--models FOLDER] [--epochs 10] [--parts accuracy small speed start threads]

Reads ../shared/data/ud/en_ewt (or ZEROGAP_DATA). Models that are not in FOLDER yet are trained there first, on the training part with
gold tags, lemmas and features; the epoch is chosen on the development part; the test part is only measured. What is trained:

    first, sibling, grandsibling     on train (12,544 sentences), each cut to the MOST features of largest weight; first to FEW as well
    small                            grandsibling on the development part alone (2,001 sentences); its epoch is chosen on 2,000 of train

`bundled` is the model that comes with zerogap: forms and the tags of its own tagger, or gold tags. Words count all, punctuation too; labels
count with subtypes. UDPipe 1 is trained on the same data (see benchmarks/udpipe.py) and is left out where it is not there. Speeds are
tokens per second of one thread after a warm-up, the best of PASSES passes: from columns of strings to heads, labels and proof.
"""

from __future__ import annotations

import argparse
import gc
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import udpipe

import zerogap
from zerogap.dependency import train
from zerogap.dependency.parser.parser import Parser
from zerogap.dependency.sentence import Sentence
from zerogap.dependency.training.options import Progress
from zerogap.io.formats.conllu import read_conllu

DATA = Path(os.environ.get("ZEROGAP_DATA", Path(__file__).parents[2] / "shared" / "data")) / "ud" / "en_ewt"
MOST, PASSES = 1_500_000, 3
FEW = (300_000, 200_000)  # weights of trees and of labels that a fast first-order parser keeps
TURBO = (83.5, 80.8, 560)  # TurboParser standard, trained on the development part: UAS, LAS, tokens/s on this kind of machine
PARTS = ("accuracy", "small", "speed", "start", "threads")


def headline(text: str) -> None:
    print(f"\n{text}\n{'-' * len(text)}", flush=True)


def sentences_of(part: str) -> list[Sentence]:
    return [record.sentence for record in read_conllu(DATA / f"{part}.conllu")]


def trained(folder: Path, name: str, epochs: int) -> Parser:
    path = folder / f"{name}.npz"
    if path.exists():
        return Parser.load(path)
    if name == "small":
        data, held_out, order = sentences_of("dev"), sentences_of("train")[:2000], "grandsibling"
    else:
        data, held_out, order = sentences_of("train"), sentences_of("dev"), name
    seconds: list[float] = []

    def report(progress: Progress) -> None:
        if progress.stage == "tree":
            seconds.append(progress.epoch.seconds)
            print(
                f"  {name}, epoch {progress.epoch.number}: UAS {100 * (progress.epoch.development or 0):.2f} on held-out data", flush=True
            )

    begin = time.perf_counter()
    parser = train(data, order=order, development=held_out, epochs=epochs, most_features=MOST, report=report)
    parser.save(path)
    took = f"{max(seconds):.0f} s for the slowest epoch of trees, {time.perf_counter() - begin:.0f} s in all"
    print(f"  {name}: {took}; {path.stat().st_size / 1e6:.1f} MB", flush=True)
    return parser


def accuracy(gold: Sequence[Sentence], found: Sequence[tuple[Sequence[int], Sequence[str]]]) -> tuple[float, float]:
    right = labelled = total = 0
    for sentence, (heads, labels) in zip(gold, found, strict=True):
        for h, label, gold_head, gold_label in zip(heads, labels, sentence.heads or (), sentence.labels or (), strict=True):
            right += h == gold_head
            labelled += h == gold_head and label == gold_label
            total += 1
    return 100 * right / total, 100 * labelled / total


def speed(work: Callable[[], object], tokens: int) -> float:
    """Tokens per second: the best of PASSES passes, without the garbage collector."""
    best = 0.0
    gc.collect()
    gc.disable()
    for _ in range(PASSES):
        begin = time.perf_counter()
        work()
        best = max(best, tokens / (time.perf_counter() - begin))
    gc.enable()
    return best


def measure(parser: Parser, gold: Sequence[Sentence]) -> tuple[float, float, float]:
    """UAS, LAS and tokens per second; every parse must be proved."""
    parses = [parser.parse(sentence) for sentence in gold]
    assert all(parse.solution.status == "optimal" for parse in parses)
    rate = speed(lambda: [parser.parse(sentence) for sentence in gold], sum(map(len, gold)))
    return *accuracy(gold, [(parse.heads, parse.labels or ()) for parse in parses]), rate


def show(name: str, uas: float, las: float, rate: float, note: str = "") -> None:
    print(f"{name:34} {uas:8.2f} {las:8.2f} {rate:14,.0f}  {note}", flush=True)


def accuracy_table(folder: Path, epochs: int) -> None:
    test = sentences_of("test")
    tokens = sum(map(len, test))
    models = {name: trained(folder, name, epochs) for name in ("first", "sibling", "grandsibling")}
    english = zerogap.load("en")
    headline(f"UD English-EWT test, {len(test):,} sentences, {tokens:,} words, gold tokens")
    print(f"{'':34} {'UAS':>8} {'LAS':>8} {'tokens/s':>14}")
    print("gold tags")
    for name, model in models.items():
        show(f"  zerogap, {name}", *measure(model, test))
        if name == "first":
            trees, labels = FEW
            show(f"  zerogap, first, {trees:,} weights", *measure(model.compact(trees=trees, labels=labels, pruner=1), test))
    show("  zerogap, bundled", *measure(english.parser, test))
    if udpipe.available(udpipe.MODELS / "gold.udpipe"):
        result = udpipe.run(udpipe.MODELS / "gold.udpipe", DATA / "test.conllu", tags="given")
        peer = accuracy(test, list(zip(result.heads, result.labels, strict=True)))
        show("  UDPipe 1", *peer, tokens / result.seconds["parse"])
    print("tags of one's own")
    forms = [list(sentence.columns["form"]) for sentence in test]

    def tagged() -> list[Sentence]:
        found = [english.tagger.tag(words) for words in forms]
        return [Sentence({"form": s.columns["form"], "upos": t.upos, "xpos": t.xpos}, s.heads, s.labels) for s, t in zip(test, found)]

    predicted = tagged()
    right = sum(a == b for s, p in zip(test, predicted) for a, b in zip(s.columns["upos"], p.columns["upos"], strict=True))
    uas, las, _ = measure(english.parser, predicted)
    rate = speed(lambda: [english.parser.parse(sentence) for sentence in tagged()], tokens)
    show("  zerogap, bundled", uas, las, rate, f"UPOS {100 * right / tokens:.2f}")
    if udpipe.available(udpipe.MODELS / "en_ewt.udpipe"):
        result = udpipe.run(udpipe.MODELS / "en_ewt.udpipe", DATA / "test.conllu")
        peer = accuracy(test, list(zip(result.heads, result.labels, strict=True)))
        upos = sum(a == b for s, tags in zip(test, result.upos) for a, b in zip(s.columns["upos"], tags, strict=True))
        seconds = result.seconds["tag"] + result.seconds["parse"]
        show("  UDPipe 1", *peer, tokens / seconds, f"UPOS {100 * upos / tokens:.2f}")


def small_table(folder: Path, epochs: int) -> None:
    small = trained(folder, "small", epochs)
    test = sentences_of("test")
    headline("Trained on the 2,001 sentences of EWT dev, gold tags, EWT test")
    print(f"{'':34} {'UAS':>8} {'LAS':>8} {'tokens/s':>14}")
    show("  zerogap, grandsibling", *measure(small, test))
    show("  TurboParser standard (published)", *TURBO)


def speed_table(folder: Path, epochs: int) -> None:
    test = sentences_of("test")
    tokens = sum(map(len, test))
    headline("Tokens per second of one thread, EWT test")
    for name in ("first", "sibling", "grandsibling"):
        parser = trained(folder, name, epochs)
        print(f"  {name:24} {measure(parser, test)[2]:10,.0f}", flush=True)
    tagger = zerogap.load("en").tagger
    forms = [list(sentence.columns["form"]) for sentence in test]
    for words in forms:
        tagger.tag(words)
    print(f"  {'tagger, by sentence':24} {speed(lambda: [tagger.tag(words) for words in forms], tokens):10,.0f}")
    print(f"  {'tagger, tag_many':24} {speed(lambda: tagger.tag_many(forms, threads=1), tokens):10,.0f}")


def start_table() -> None:
    headline("The command, EWT test where a file is parsed")
    command = [sys.executable, "-m", "zerogap.cli.main", "parse"]
    cache = dict(os.environ, NUMBA_CACHE_DIR="/tmp/zerogap-benchmark-cache")
    cache |= {"PYTHONPYCACHEPREFIX": cache["NUMBA_CACHE_DIR"], "PYTHONDONTWRITEBYTECODE": ""}  # as if it were installed
    subprocess.run(["rm", "-rf", cache["NUMBA_CACHE_DIR"]], check=True)
    for what in ("first run, with compilation", "second run", "third run"):
        begin = time.perf_counter()
        subprocess.run([*command, "The parser proves what it says."], env=cache, check=True, capture_output=True)
        print(f"  {what:32} {time.perf_counter() - begin:6.2f} s", flush=True)
    program = (
        "import resource, sys, zerogap; from zerogap.io.formats.conllu import read_conllu; p = zerogap.load('en');"
        f"s = [r.sentence for r in read_conllu({str(DATA / 'test.conllu')!r})];"
        "any(p.parser.parse(x) is None for x in s); print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)"
    )
    found = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout
    print(f"  {'memory while parsing EWT test':32} {int(found):6d} MB", flush=True)


def threads_table() -> None:
    headline("A file of 10,000 sentences of EWT train, zerogap parse --threads")
    source, times, outputs = Path("/tmp/zerogap-benchmark.conllu"), {}, {}
    with open(source, "w", encoding="utf-8") as file:
        for i, record in enumerate(read_conllu(DATA / "train.conllu")):
            if i == 10_000:
                break
            file.write(record.written())
    for _ in range(2):
        for threads in (1, 2):
            target = Path(f"/tmp/zerogap-benchmark.{threads}.conllu")
            command = [sys.executable, "-m", "zerogap.cli.main", "parse", str(source), "-o", str(target), "--threads", str(threads)]
            begin = time.perf_counter()
            subprocess.run(command, check=True, capture_output=True)
            times[threads] = min(times.get(threads, 1e9), time.perf_counter() - begin)
            outputs[threads] = target.read_bytes()
    same = "the same bytes" if outputs[1] == outputs[2] else "DIFFERENT BYTES"
    print(f"  1 thread {times[1]:.1f} s, 2 threads {times[2]:.1f} s: {times[1] / times[2]:.2f} times as fast, {same}")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--models", type=Path, default=Path(__file__).parents[2] / "models", metavar="FOLDER")
    arguments.add_argument("--epochs", type=int, default=10)
    arguments.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    given = arguments.parse_args()
    given.models.mkdir(exist_ok=True)
    for part in given.parts:
        match part:
            case "accuracy":
                accuracy_table(given.models, given.epochs)
            case "small":
                small_table(given.models, given.epochs)
            case "speed":
                speed_table(given.models, given.epochs)
            case "start":
                start_table()
            case "threads":
                threads_table()
    print(f"\npeak memory of this benchmark: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MB")


if __name__ == "__main__":
    main()
