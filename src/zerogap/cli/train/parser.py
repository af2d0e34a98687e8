"""Trains for `zerogap train dependency`: reads treebanks, trains each part of the parser, saves it."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zerogap.batch.spreading import spread_over
from zerogap.cli.terminal import counted, progress, size_of
from zerogap.cli.train.checks import check_cascade, check_penalties, factors_named
from zerogap.cli.train.files import check_target, read_templates
from zerogap.dependency.cascade.exact import COST
from zerogap.dependency.evaluation import evaluate
from zerogap.dependency.scoring.bounds_offline import compute_bounds
from zerogap.dependency.training.cascade import with_cascade
from zerogap.dependency.training.factors import train as train_factors
from zerogap.dependency.training.parser import train
from zerogap.errors import FormatError
from zerogap.features.parts.keys import attributes_of
from zerogap.features.parts.templates import parse_part_templates
from zerogap.pipeline.stages import Pipeline
from zerogap.pipeline.treebanks import Skipped, chosen_columns, read_trees, words_and_tags
from zerogap.relax.parallel import processors
from zerogap.sequence.tagger.training import jackknife, train_tagger

if TYPE_CHECKING:
    from zerogap.dependency.evaluation import Report
    from zerogap.dependency.factors.parser import FactorParser
    from zerogap.dependency.parser.parser import Parser
    from zerogap.dependency.sentence import Sentence
    from zerogap.dependency.training.options import Progress


@dataclass(frozen=True, slots=True)
class TrainOptions:
    """The options of the command, as they were given."""

    treebank: str
    output: Path
    development: str | None
    order: str
    algorithm: str
    columns: str
    jackknife: int | None
    epochs: int
    seed: int
    threshold: float
    step: float
    patience: int | None
    max_features: int | None
    min_count: int
    non_projective: bool
    relaxed: bool
    multi_root: bool
    no_labels: bool
    factors: str | None
    factor_epochs: int
    heads: int
    bounds: bool
    penalties: bool
    cascade: bool
    pruning_error: float
    checkpoints: Path | None
    shards: int
    engine: str
    templates: Path | None
    on_error: str


def run(options: TrainOptions) -> None:
    check_target(options.output)
    sets = (
        None
        if options.factors is None
        else factors_named(options.factors, options.order, non_projective=options.non_projective, bounds=options.bounds)
    )
    if options.cascade:
        check_cascade(options.order, options.development, non_projective=options.non_projective, factors=options.factors)
    if options.penalties:
        check_penalties(options.order, options.algorithm, non_projective=options.non_projective)
    begin = time.perf_counter()
    names = chosen_columns(options.columns)
    lines = None if options.templates is None else read_part_templates(options.templates, names)
    skipped = Skipped()
    reading: dict[str, Any] = {"on_error": options.on_error, "single_root": not options.multi_root, "columns": names, "skipped": skipped}
    with progress("reading"):
        given = read_trees(options.treebank, **reading)
        held_out = [] if options.development is None else read_trees(options.development, **reading)
    skipped.tell()
    if options.jackknife is not None:
        with progress("tagging"):
            given, held_out = with_found_tags(given, held_out, options.jackknife)
    log = Log(by_likelihood=options.algorithm in ("crf", "bp"))
    with progress("training") as steps:
        spread: dict[str, Any] = {}
        if options.shards > 1:
            spread = {"shards": options.shards, "spread": spread_over(options.engine, min(options.shards, processors()))}
        parser = train(
            given,
            order=options.order,
            algorithm=options.algorithm,
            development=held_out,
            epochs=options.epochs,
            step=options.step,
            seed=options.seed,
            projective=not options.non_projective,
            relaxed=options.relaxed,
            single_root=not options.multi_root,
            threshold=options.threshold,
            patience=options.patience,
            templates=lines,
            labels=not options.no_labels,
            min_count=options.min_count,
            most_features=options.max_features,
            checkpoints=options.checkpoints,
            penalties=COST if options.penalties else None,
            **spread,
            report=lambda done: steps.advance(log.added(done)),
        )
    if options.cascade:
        passes = Log(by_likelihood=True)
        with progress("cascade") as steps:
            parser = with_cascade(
                parser,
                given,
                held_out,
                error=options.pruning_error,
                seed=options.seed,
                most_features=options.max_features,
                checkpoints=None if options.checkpoints is None else options.checkpoints / "cascade",
                report=lambda done: steps.advance(passes.added(done)),
            )
    if options.bounds:
        with progress("bounds") as steps:
            parser = compute_bounds(parser, given, report=lambda done: steps.advance("bounds"))
    found: Parser | FactorParser = parser
    if sets is not None:
        log = Log(by_likelihood=False)
        with progress("factors") as steps:
            found = train_factors(
                given,
                parser,
                factors=sets,
                development=held_out,
                epochs=options.factor_epochs,
                most_heads=options.heads or None,
                step=options.step,
                seed=options.seed,
                min_count=options.min_count,
                most_features=options.max_features,
                patience=options.patience,
                checkpoints=None if options.checkpoints is None else options.checkpoints / "factors",
                report=lambda done: steps.advance(log.added(done)),
            )
    report = report_on(found, held_out) if held_out else None
    words = sum(map(len, given))
    scores = {} if report is None else {"uas": report.uas, "las": report.las}
    found = found.described(treebank=Path(options.treebank).name, sentences=len(given), words=words, epochs=log.trees, **scores)
    found.save(options.output)
    print(
        f"{options.output}: {found.order} model of {counted(found.model.n_weights, 'weight')}, from {counted(len(given), 'sentence')} of"
        f" {words:,} words in {counted(log.trees, 'epoch')}{log.best}; {size_of(options.output)} ({time.perf_counter() - begin:.1f} s)",
        file=sys.stderr,
    )
    if report is not None:
        print(report, file=sys.stderr)


@dataclass(slots=True)
class Log:
    """Says what every epoch came to; remembers which was the best for trees."""

    by_likelihood: bool  # then the loss of trees is not how many heads were wrong
    trees: int = 0
    best_epoch: int = 0
    has_development: bool = False

    def added(self, done: Progress) -> str:
        """A line on standard error; returns what is going on, for the bar."""
        epoch = done.epoch
        stage = f"{done.stage}, epoch {epoch.number} of {done.epochs}"
        of_trees = done.stage in ("tree", "factors", "last model")
        loss = f"{epoch.loss:,.0f} {'wrong heads' if of_trees else 'wrong relations'}"
        if done.stage.startswith("pruner") or done.stage.endswith(" pass") or (done.stage == "tree" and self.by_likelihood):
            loss = f"loss {epoch.loss:,.0f}"
        name = "UAS" if of_trees else "relations"
        score = "" if epoch.development is None else f", dev {name} {100 * epoch.development:.2f}%"
        if of_trees:
            self.trees = epoch.number
            self.has_development = epoch.development is not None
            self.best_epoch = epoch.number if epoch.is_best else self.best_epoch
        print(f"{stage}: {loss}{score} ({epoch.seconds:.1f} s)", file=sys.stderr)
        return f"training: {done.stage}, {epoch.number} of {counted(done.epochs, 'epoch')} done"

    @property
    def best(self) -> str:
        return f" (the best was {self.best_epoch})" if self.has_development else ""


def read_part_templates(path: Path, columns: Sequence[str]) -> list[str]:
    """The templates in a file, if they read none but these columns."""
    lines = read_templates(path, parse_part_templates, "arc: head.form+mod.upos")
    for line in lines:
        for attribute in attributes_of(parse_part_templates([line])):
            if attribute.column and attribute.column not in columns:
                given = ",".join((*columns, attribute.column))
                raise FormatError(
                    f"{path}: {line!r} reads the column {attribute.column!r}: expected {', '.join(columns)}, or --columns {given}."
                )
    return lines


def with_found_tags(given: list[Sentence], held_out: list[Sentence], folds: int) -> tuple[list[Sentence], list[Sentence]]:
    """The sentences with tags that a tagger found: for those of training, one that was trained on the other parts of them."""
    words = [words_and_tags(sentence) for sentence in given]
    tags = jackknife(words, folds)
    if held_out:
        tags += train_tagger(words).tag_many([sentence.columns["form"] for sentence in held_out])
    found = []
    for sentence, (upos, xpos) in zip([*given, *held_out], tags, strict=True):
        found.append(replace(sentence, columns={**sentence.columns, "upos": upos, "xpos": xpos}))
    return found[: len(given)], found[len(given) :]


def report_on(parser: Parser | FactorParser, sentences: list[Sentence]) -> Report:
    with progress("development"):
        return evaluate(sentences, [parsed.sentence for parsed in Pipeline(parser).parse_sentences(sentences)])
