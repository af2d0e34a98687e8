"""The peer: UDPipe 1 (Straka & Straková 2017), a tagger and a transition-based parser trained on the same treebank, on gold tokens.

    python benchmarks/udpipe.py train TRAIN DEV FOLDER      needs ufal.udpipe; an hour or more, in one thread
    python benchmarks/udpipe.py run MODEL FILE              tags and parses, as JSON

UDPipe lives in a Python of its own (ZEROGAP_UDPIPE, by default ../peers3/bin/python), and this module, which other benchmarks import, talks
to it through processes. Options are those of UDPipe's own models for English of UD 2.0, without pretrained embeddings, and by default with
fewer passes and without structured search: a small model in an hour. UDPipe's own are trained with `--tagger-passes 20 --parser-passes 30
--structured-interval 8`. Of the passes the best on DEV counts. FOLDER gets, one after the other:

    gold.udpipe       a parser trained with gold tags
    tagger.udpipe     the tagger and UDPipe's lemmatiser
    en_ewt.udpipe     both in one model
    options.json      what they were trained with, and seconds of wall time and of the processor

What is timed: `model.tag` and `model.parse` on sentences that stand ready, and tagging from forms in Python lists to tags in Python lists.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

PYTHON = Path(os.environ.get("ZEROGAP_UDPIPE", Path(__file__).parents[2] / "peers3" / "bin" / "python"))
MODELS = PYTHON.parents[1]
TAGGER = ";".join([
    "models=2",
    "templates_1=tagger", "guesser_suffix_rules_1=12", "guesser_enrich_dictionary_1=6", "guesser_prefixes_max_1=0", "use_lemma_1=1",
    "use_xpostag_1=1", "use_feats_1=1", "provide_lemma_1=0", "provide_xpostag_1=1", "provide_feats_1=1", "prune_features_1=0",
    "templates_2=lemmatizer", "guesser_suffix_rules_2=6", "guesser_enrich_dictionary_2=6", "guesser_prefixes_max_2=4", "use_lemma_2=1",
    "use_xpostag_2=0", "use_feats_2=0", "provide_lemma_2=1", "provide_xpostag_2=0", "provide_feats_2=0", "prune_features_2=0",
])  # fmt: skip
PARSER = ";".join([
    "embedding_upostag=20", "embedding_feats=20", "embedding_xpostag=0", "embedding_form=50", "embedding_lemma=0", "embedding_deprel=20",
    "learning_rate=0.01", "learning_rate_final=0.001", "l2=0.5", "hidden_layer=200", "batch_size=10", "transition_system=projective",
    "transition_oracle=dynamic",
])  # fmt: skip


@dataclass(frozen=True, slots=True)
class Result:
    """What UDPipe says of a file, a list per sentence, and the seconds that it took, loading and reading not counted."""

    upos: list[list[str]]
    xpos: list[list[str]]
    heads: list[list[int]]
    labels: list[list[str]]
    seconds: dict[str, float]  # "tag", "parse": the calls alone; "forms to tags": with the lists of Python around them


def available(model: str | Path) -> bool:
    """Whether UDPipe and the model are there."""
    return PYTHON.exists() and Path(model).exists()


def run(model: str | Path, path: str | Path, *, tags: str = "own", parse: bool = True, passes: int = 1) -> Result:
    """UDPipe's answers for the sentences of a CoNLL-U file, with its own tags or those of the file (tags="given").

    With several passes the fastest counts.
    """
    command = [str(PYTHON), __file__, "run", str(model), str(path), "--tags", tags, "--passes", str(passes)]
    done = subprocess.run(command + ([] if parse else ["--no-parse"]), capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"UDPipe failed: {done.stderr.strip()}")
    return Result(**json.loads(done.stdout))


# What follows runs in UDPipe's own Python.


def read(path: str | Path) -> Any:
    import ufal.udpipe as udpipe

    reader, error = udpipe.InputFormat.newConlluInputFormat(), udpipe.ProcessingError()
    reader.setText(Path(path).read_text(encoding="utf-8"))
    sentences, sentence = udpipe.Sentences(), udpipe.Sentence()
    while reader.nextSentence(sentence, error):
        sentences.append(sentence)
        sentence = udpipe.Sentence()
    if error.occurred():
        raise RuntimeError(error.message)
    return sentences


def load(path: str | Path) -> Any:
    import ufal.udpipe as udpipe

    model = udpipe.Model.load(str(path))
    if not model:
        raise RuntimeError(f"{path} is no model of UDPipe.")
    return model


def train_models(train: Path, development: Path, folder: Path, *, tagger_passes: int, parser_passes: int, interval: int) -> None:
    """UDPipe says on standard error what it does; a model that is there already is kept."""
    import ufal.udpipe as udpipe

    sentences, held_out = read(train), read(development)
    done = json.loads((folder / "options.json").read_text()) if (folder / "options.json").exists() else {}
    tagger = f"{TAGGER};iterations_1={tagger_passes};iterations_2={min(tagger_passes, 3)}"
    parser = f"{PARSER};iterations={parser_passes};structured_interval={interval}"
    reused = [f"from_model=file:{folder / name}" for name in ("tagger.udpipe", "gold.udpipe")]
    for name, *options in (("gold.udpipe", "none", parser), ("tagger.udpipe", tagger, "none"), ("en_ewt.udpipe", *reused)):
        if not (folder / name).exists():
            error, clocks = udpipe.ProcessingError(), (time.perf_counter(), time.process_time())
            model = udpipe.Trainer.train("morphodita_parsito", sentences, held_out, "none", *options, error)
            if error.occurred():
                raise RuntimeError(f"{name}: {error.message}")
            (folder / name).write_bytes(model)
            done[name] = {"options": options, "seconds": [time.perf_counter() - clocks[0], time.process_time() - clocks[1]]}
            (folder / "options.json").write_text(json.dumps(done, indent=1))


def bare(columns: Sequence[tuple[str, ...]]) -> Any:
    """A sentence of UDPipe: forms, or forms and tags."""
    import ufal.udpipe as udpipe

    sentence = udpipe.Sentence()
    for form, *tags in columns:
        word = sentence.addWord(form)
        if tags:
            word.lemma, word.upostag, word.xpostag, word.feats = tags
    return sentence


def answers(model: Any, path: str | Path, *, tags: str, parse: bool) -> Result:
    clock = time.perf_counter
    gold = [[(w.form, w.lemma, w.upostag, w.xpostag, w.feats) for w in list(s.words)[1:]] for s in read(path)]
    seconds = {"tag": 0.0, "parse": 0.0, "forms to tags": 0.0}
    sentences, upos, xpos = [], [], []
    for words in gold:
        began = clock()
        if tags == "own":
            sentence = bare([word[:1] for word in words])
            before = clock()
            model.tag(sentence, model.DEFAULT)
            seconds["tag"] += clock() - before
        else:
            sentence = bare(words)
        found = list(sentence.words)[1:]
        upos.append([word.upostag for word in found])
        xpos.append([word.xpostag for word in found])
        seconds["forms to tags"] += clock() - began
        sentences.append(sentence)
    if parse:
        began = clock()
        for sentence in sentences:
            model.parse(sentence, model.DEFAULT)
        seconds["parse"] = clock() - began
    heads = [[word.head for word in list(s.words)[1:]] for s in sentences] if parse else []
    labels = [[word.deprel for word in list(s.words)[1:]] for s in sentences] if parse else []
    return Result(upos, xpos, heads, labels, seconds)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = arguments.add_subparsers(dest="command", required=True)
    training = commands.add_parser("train")
    training.add_argument("train", type=Path)
    training.add_argument("development", type=Path)
    training.add_argument("folder", type=Path)
    training.add_argument("--tagger-passes", type=int, default=3)
    training.add_argument("--parser-passes", type=int, default=3)
    training.add_argument("--structured-interval", type=int, default=0)
    running = commands.add_parser("run")
    running.add_argument("model", type=Path)
    running.add_argument("file", type=Path)
    running.add_argument("--tags", choices=["own", "given"], default="own")
    running.add_argument("--no-parse", action="store_true")
    running.add_argument("--passes", type=int, default=1)
    given = arguments.parse_args()
    if given.command == "train":
        passes = {"tagger_passes": given.tagger_passes, "parser_passes": given.parser_passes}
        train_models(given.train, given.development, given.folder, **passes, interval=given.structured_interval)
        return
    model = load(given.model)
    results = [answers(model, given.file, tags=given.tags, parse=not given.no_parse) for _ in range(given.passes)]
    for result in results:
        for name, seconds in result.seconds.items():
            results[0].seconds[name] = min(results[0].seconds[name], seconds)
    print(json.dumps(asdict(results[0])))


if __name__ == "__main__":
    main()
