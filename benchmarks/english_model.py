"""Trains the English model that comes with zerogap, on UD English-EWT: a tagger, and a parser on the tags that the tagger gives.

    python benchmarks/english_model.py FOLDER [--epochs 12]

Reads ../shared/data/ud/en_ewt (or ZEROGAP_DATA). The parser is trained on tags of taggers that did not see the sentence (jackknifing),
and its epoch is chosen on the development part with the tagger's tags. Small weights are dropped and the others rounded (SIZES). FOLDER
gets tagger.npz and parser.npz; src/zerogap/models/en is where they belong. What is there already is not trained again, but for the cascade
of the parser. The test part is not read.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from parsing import DATA, accuracy, sentences_of

from zerogap.dependency import train
from zerogap.dependency.cascade.approximate import Cascade
from zerogap.dependency.cascade.passes import DICTIONARY, FIRST, SECOND, VINE
from zerogap.dependency.parser.parser import Parser
from zerogap.dependency.sentence import Sentence
from zerogap.dependency.training.cascade import with_cascade
from zerogap.dependency.training.options import Progress
from zerogap.sequence.tagger.tagger import Tagger, Tags
from zerogap.sequence.tagger.training import jackknife, train_tagger

FOLDS = 8
COLUMNS = ("form", "upos", "xpos")  # what the tagger gives
SIZES = {"trees": 700_000, "labels": 250_000, "pruner": 150_000, "bits": 9}
PASSES = (DICTIONARY, VINE, FIRST, SECOND)  # those of the thesis: they take less room than rows
MOST_COARSE = 30_000  # weights of every pass of the cascade
ABOUT = {
    "language": "en",
    "data": "UD English-EWT (Universal Dependencies), training part",
    "licence": "CC BY-SA 4.0",
}


def words(sentences: list[Sentence]) -> list[tuple[tuple[str, ...], ...]]:
    return [tuple(sentence.columns[name] for name in COLUMNS) for sentence in sentences]


def with_tags(sentences: list[Sentence], tags: list[Tags]) -> list[Sentence]:
    return [
        Sentence({"form": s.columns["form"], "upos": t.upos, "xpos": t.xpos}, s.heads, s.labels, s.name)
        for s, t in zip(sentences, tags, strict=True)
    ]


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("--epochs", type=int, default=12)
    given = arguments.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    data, held_out = sentences_of("train"), sentences_of("dev")
    begin = time.perf_counter()
    path = given.folder / "tagger.npz"
    if not path.exists():
        train_tagger(words(data), development=words(held_out), report=print).save(path)
    tagger = Tagger.load(path)
    print(f"tagger: {time.perf_counter() - begin:.0f} s, {path.stat().st_size / 1e6:.1f} MB")
    begin = time.perf_counter()
    tagged = with_tags(data, jackknife(words(data), FOLDS))
    predicted = with_tags(held_out, tagger.tag_many([s.columns["form"] for s in held_out]))
    print(f"jackknifing: {time.perf_counter() - begin:.0f} s")
    begin = time.perf_counter()

    def report(progress: Progress) -> None:
        epoch = progress.epoch
        held = "" if epoch.development is None else f", {100 * epoch.development:.2f}% on development data"
        print(f"{progress.stage} {epoch.number}: loss {epoch.loss:.0f}{held}, {epoch.seconds:.0f} s", flush=True)

    path = given.folder / "parser.npz"
    if path.exists():
        parser = Parser.load(path)
    else:
        parser = train(tagged, development=predicted, epochs=given.epochs, report=report).compact(**SIZES).described(**ABOUT)
    parser = with_cascade(parser, tagged, predicted, kinds=PASSES, most_features=MOST_COARSE, report=report)
    parser.save(path)
    print(f"parser: {time.perf_counter() - begin:.0f} s, {path.stat().st_size / 1e6:.1f} MB")
    gold = with_tags(held_out, [Tags(s.columns["upos"], s.columns["xpos"]) for s in held_out])
    for name, sentences in (("gold tags", gold), ("own tags", predicted)):
        for way, one in (("", parser), (", fast", Cascade(parser))):
            parses = [one.parse(sentence) for sentence in sentences]
            uas, las = accuracy(sentences, [(parse.heads, parse.labels or ()) for parse in parses])
            print(f"{DATA.name} dev, {name}{way}: UAS {uas:.2f}, LAS {las:.2f}")


if __name__ == "__main__":
    main()
