"""`zerogap train dependency` and `zerogap train tagger`: a parser and its tagger from a treebank."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from zerogap.cli import options
from zerogap.cli.terminal import counted, placed, progress
from zerogap.cli.train.sequence import check_target, read_templates
from zerogap.cli.training_checks import check_cascade, check_penalties, factors_named
from zerogap.errors import FormatError
from zerogap.pipeline.treebanks import Skipped, chosen_columns, read_tagged, read_trees, words_and_tags

if TYPE_CHECKING:
    from zerogap.dependency.evaluation import Report
    from zerogap.dependency.factors.parser import FactorParser
    from zerogap.dependency.parser.parser import Parser
    from zerogap.dependency.sentence import Sentence
    from zerogap.dependency.training.learners import Progress
    from zerogap.sequence.tagger.training import Progress as TaggerProgress

Train = Annotated[str, typer.Argument(help="A treebank: CoNLL-U or CoNLL-X, .gz or not.", metavar="TRAIN")]
Output = Annotated[Path, typer.Option("--output", "-o", help="Write the model here; one .npz file.", metavar="MODEL")]
Development = Annotated[
    str | None,
    typer.Option(
        "--dev", "--development", help="Another treebank, to report on after every epoch.", metavar="FILE", rich_help_panel="Input"
    ),
]
Seed = Annotated[
    int,
    typer.Option(help="For the order of sentences; the same seed gives the same model.", min=0, metavar="N", rich_help_panel="Learning"),
]


def train_dependency_command(
    treebank: Train,
    output: Output,
    development: Development = None,
    order: Annotated[
        str,
        typer.Option(
            "--model",
            help="What is scored: first (arcs); sibling (pairs of modifiers too); grandparent (arcs and the head's head); grandsibling"
            " (all of them).",
            metavar="ORDER",
            rich_help_panel="Model",
        ),
    ] = "grandsibling",
    algorithm: Annotated[
        str,
        typer.Option(
            "--algorithm",
            "--learner",
            help="mira and perceptron correct the trees that are wrong. crf and bp make right trees likely: crf exactly, for --model first,"
            " bp by loopy belief propagation, for the others.",
            metavar="NAME",
            rich_help_panel="Learning",
        ),
    ] = "mira",
    columns: Annotated[
        str,
        typer.Option(
            help="What to learn from. lemma and feats help, but then they must be there in what is to be parsed.",
            metavar="NAMES",
            rich_help_panel="Input",
        ),
    ] = "form,upos,xpos",
    jackknife: Annotated[
        int | None,
        typer.Option(
            help="Learn from tags as a tagger finds them that was trained on the other parts, of N: for a parser of text.",
            min=2,
            metavar="N",
            rich_help_panel="Input",
        ),
    ] = None,
    epochs: Annotated[int, typer.Option(help="Passes over the treebank.", min=0, metavar="N", rich_help_panel="Learning")] = 10,
    seed: Seed = 0,
    threshold: Annotated[
        float,
        typer.Option(
            help="Arcs that are less likely, compared with the word's likeliest one, are pruned; 0 prunes none.",
            min=0.0,
            max=1.0,
            metavar="SHARE",
            rich_help_panel="Model",
        ),
    ] = 1e-3,
    step: Annotated[float, typer.Option(help="The largest step of mira.", min=0.0, metavar="SIZE", rich_help_panel="Learning")] = 1.0,
    patience: Annotated[
        int | None,
        typer.Option(
            help="With --dev, stop after so many epochs that are not better than the best.", min=1, metavar="N", rich_help_panel="Learning"
        ),
    ] = None,
    max_features: Annotated[
        int | None, typer.Option(help="Keep no more weights than this, the largest.", min=1, metavar="N", rich_help_panel="Model")
    ] = None,
    min_count: Annotated[
        int,
        typer.Option(
            help="Features that the right trees have less often get no weight; 0 also learns from wrong trees.",
            min=0,
            metavar="N",
            rich_help_panel="Model",
        ),
    ] = 0,
    non_projective: Annotated[
        bool, typer.Option("--non-projective", "--nonprojective", help="Arcs may cross.", rich_help_panel="Model")
    ] = False,
    relaxed: Annotated[
        bool,
        typer.Option(
            "--relaxed", help="With --non-projective: heads learn to choose modifiers without any tree. Faster.", rich_help_panel="Learning"
        ),
    ] = False,
    multi_root: Annotated[bool, typer.Option("--multi-root", help="Trees may have several roots.", rich_help_panel="Model")] = False,
    no_labels: Annotated[bool, typer.Option("--no-labels", help="Learn heads only, no relations.", rich_help_panel="Model")] = False,
    factors: Annotated[
        str | None,
        typer.Option(
            help="Score sets of arcs too, and decode exactly by branch and bound: families (grandchildren, great-grandchildren, siblings,"
            " tri-siblings, comb) and files of patterns, with commas.",
            metavar="NAMES",
            rich_help_panel="Model",
        ),
    ] = None,
    factor_epochs: Annotated[
        int, typer.Option(help="With --factors: passes in which they are learned.", min=0, metavar="N", rich_help_panel="Learning")
    ] = 3,
    heads: Annotated[
        int,
        typer.Option(help="With --factors: how many candidate heads a word has; 0 for all.", min=0, metavar="N", rich_help_panel="Model"),
    ] = 10,
    bounds: Annotated[
        bool,
        typer.Option(
            "--bounds",
            help="Keep bounds of the weights of larger parts too: then few of many parts have to be scored.",
            rich_help_panel="Model",
        ),
    ] = False,
    penalties: Annotated[
        bool,
        typer.Option(
            "--penalties",
            help="Learn larger parts that only cost, and fewer features of arcs: nearly as accurate, and zerogap parse"
            " --method exact-cascade proves the best of all trees many times faster.",
            rich_help_panel="Model",
        ),
    ] = False,
    cascade: Annotated[
        bool,
        typer.Option(
            "--cascade",
            help="With --dev: learn models too that are faster, each on what the one before leaves, for zerogap parse --fast.",
            rich_help_panel="Model",
        ),
    ] = False,
    pruning_error: Annotated[
        float,
        typer.Option(
            help="With --cascade: of the right arcs of --dev, how many may be pruned.",
            min=0.0,
            max=1.0,
            metavar="SHARE",
            rich_help_panel="Model",
        ),
    ] = 0.0215,
    checkpoints: Annotated[
        Path | None,
        typer.Option(
            help="Keep the state here after every epoch; training that was interrupted goes on from it.",
            metavar="FOLDER",
            rich_help_panel="Running",
        ),
    ] = None,
    shards: Annotated[
        int,
        typer.Option(
            help="With mira or perceptron: learn trees on so many parts of the treebank at once, and mix the weights after every epoch.",
            min=1,
            metavar="N",
            rich_help_panel="Running",
        ),
    ] = 1,
    engine: Annotated[
        str, typer.Option(help="With --shards: local (processes) or ray.", metavar="ENGINE", rich_help_panel="Running")
    ] = "local",
    templates: Annotated[
        Path | None,
        typer.Option(
            help="A file with a feature template per line, such as arc: head.form+mod.upos.", metavar="FILE", rich_help_panel="Model"
        ),
    ] = None,
    on_error: options.OnError = "stop",
) -> None:
    """Train a dependency parser from a treebank.

    [bold]zerogap train dependency train.conllu --dev dev.conllu -o parser.npz[/bold]

    [bold]zerogap train dependency train.conllu -o fast.npz --model first --epochs 5[/bold]

    [bold]zerogap train dependency train.conllu -o crossing.npz --model sibling --non-projective[/bold] for arcs that cross.

    [bold]zerogap train dependency train.conllu -o likely.npz --model grandparent --learner bp --non-projective[/bold] for likelihood.

    [bold]zerogap train dependency train.conllu -o rich.npz --model sibling --factors siblings,grandchildren,comb[/bold] for sets of arcs.

    [bold]zerogap train dependency train.conllu --dev dev.conllu -o quick.npz --cascade[/bold] for zerogap parse --fast.

    [bold]zerogap train dependency train.conllu --dev dev.conllu -o sure.npz --penalties[/bold] for zerogap parse --method exact-cascade.

    [bold]zerogap train dependency train.conllu --dev dev.conllu -o big.npz --checkpoints state[/bold] can be interrupted and run again.

    For a parser of text, put it into a folder with a tagger:

    [bold]zerogap train dependency train.conllu -o mine/parser.npz --jackknife 10[/bold]

    [bold]zerogap train tagger train.conllu -o mine/tagger.npz[/bold]

    Then use them: [bold]zerogap parse article.txt --model mine[/bold]
    """
    from zerogap.dependency.cascade.exact import COST
    from zerogap.dependency.training.learners import train

    check_target(output)
    sets = None if factors is None else factors_named(factors, order, non_projective=non_projective, bounds=bounds)
    if cascade:
        check_cascade(order, development, non_projective=non_projective, factors=factors)
    if penalties:
        check_penalties(order, algorithm, non_projective=non_projective)
    begin = time.perf_counter()
    names = chosen_columns(columns)
    lines = None if templates is None else read_part_templates(templates, names)
    skipped = Skipped()
    reading: dict[str, Any] = {"on_error": on_error, "single_root": not multi_root, "columns": names, "skipped": skipped}
    with progress("reading"):
        given = read_trees(treebank, **reading)
        held_out = [] if development is None else read_trees(development, **reading)
    skipped.tell()
    if jackknife is not None:
        with progress("tagging"):
            given, held_out = with_found_tags(given, held_out, jackknife)
    log = Log(by_likelihood=algorithm in ("crf", "bp"))
    with progress("training") as steps:
        spread: dict[str, Any] = {}
        if shards > 1:
            from zerogap.batch.spreading import spread_over
            from zerogap.relax.parallel import processors

            spread = {"shards": shards, "spread": spread_over(engine, min(shards, processors()))}
        parser = train(
            given,
            order=order,
            algorithm=algorithm,
            development=held_out,
            epochs=epochs,
            step=step,
            seed=seed,
            projective=not non_projective,
            relaxed=relaxed,
            single_root=not multi_root,
            threshold=threshold,
            patience=patience,
            templates=lines,
            labels=not no_labels,
            min_count=min_count,
            most_features=max_features,
            checkpoints=checkpoints,
            penalties=COST if penalties else None,
            **spread,
            report=lambda done: steps.advance(log.added(done)),
        )
    if cascade:
        from zerogap.dependency.training.cascade import with_cascade

        passes = Log(by_likelihood=True)
        with progress("cascade") as steps:
            parser = with_cascade(
                parser, given, held_out, error=pruning_error, seed=seed, most_features=max_features,
                checkpoints=None if checkpoints is None else checkpoints / "cascade", report=lambda done: steps.advance(passes.added(done)),
            )  # fmt: skip
    if bounds:
        from zerogap.dependency.scoring.bounds_offline import compute_bounds

        with progress("bounds") as steps:
            parser = compute_bounds(parser, given, report=lambda done: steps.advance("bounds"))
    found: Parser | FactorParser = parser
    if sets is not None:
        from zerogap.dependency.training.factors import train as train_factors

        log = Log(by_likelihood=False)
        with progress("factors") as steps:
            found = train_factors(
                given, parser, factors=sets, development=held_out, epochs=factor_epochs, most_heads=heads or None, step=step, seed=seed,
                min_count=min_count, most_features=max_features, patience=patience,
                checkpoints=None if checkpoints is None else checkpoints / "factors", report=lambda done: steps.advance(log.added(done)),
            )  # fmt: skip
    report = report_on(found, held_out) if held_out else None
    words = sum(map(len, given))
    scores = {} if report is None else {"uas": report.uas, "las": report.las}
    found = found.described(treebank=Path(treebank).name, sentences=len(given), words=words, epochs=log.trees, **scores)
    found.save(output)
    print(
        f"{output}: {found.order} model of {counted(found.model.n_weights, 'weight')}, from {counted(len(given), 'sentence')} of"
        f" {words:,} words in {counted(log.trees, 'epoch')}{log.best}; {size_of(output)} ({time.perf_counter() - begin:.1f} s)",
        file=sys.stderr,
    )
    if report is not None:
        print(report, file=sys.stderr)


def train_tagger_command(
    treebank: Train,
    output: Output,
    development: Development = None,
    epochs: Annotated[int, typer.Option(help="Passes over the treebank.", min=0, metavar="N")] = 4,
    seed: Seed = 0,
    on_error: options.OnError = "stop",
) -> None:
    """Train a tagger of parts of speech, UPOS and XPOS, from a treebank.

    [bold]zerogap train tagger train.conllu --dev dev.conllu -o mine/tagger.npz[/bold]

    Beside a parser it makes a pipeline: [bold]zerogap parse article.txt --model mine[/bold]
    """
    from zerogap.sequence.tagger.training import train_tagger

    check_target(output)
    begin = time.perf_counter()
    skipped = Skipped()
    with progress("reading"):
        given = read_tagged(treebank, on_error=on_error, skipped=skipped)
        held_out = [] if development is None else read_tagged(development, on_error=on_error, skipped=skipped)
    skipped.tell()

    def said(done: TaggerProgress) -> str:
        accuracy = "" if done.upos is None or done.xpos is None else f", dev UPOS {100 * done.upos:.2f}%, XPOS {100 * done.xpos:.2f}%"
        print(f"epoch {done.epoch} of {epochs}: loss {done.loss:.3f} per word{accuracy}", file=sys.stderr)
        return f"training: {done.epoch} of {counted(epochs, 'epoch')} done"

    with progress("training") as steps, placed(treebank):
        tagger = train_tagger(given, development=held_out, epochs=epochs, seed=seed, report=lambda done: steps.advance(said(done)))
        tagger.save(output)
    words = sum(len(forms) for forms, _, _ in given)
    print(
        f"{output}: {counted(len(tagger.tags), 'tag')}, from {counted(len(given), 'sentence')} of {words:,} words in"
        f" {counted(epochs, 'epoch')}; {size_of(output)} ({time.perf_counter() - begin:.1f} s)",
        file=sys.stderr,
    )


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
    from zerogap.features.parts.keys import attributes_of
    from zerogap.features.parts.templates import parse_part_templates

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
    from zerogap.sequence.tagger.training import jackknife, train_tagger

    words = [words_and_tags(sentence) for sentence in given]
    tags = jackknife(words, folds)
    if held_out:
        tags += train_tagger(words).tag_many([sentence.columns["form"] for sentence in held_out])
    found = []
    for sentence, (upos, xpos) in zip([*given, *held_out], tags, strict=True):
        found.append(replace(sentence, columns={**sentence.columns, "upos": upos, "xpos": xpos}))
    return found[: len(given)], found[len(given) :]


def report_on(parser: Parser | FactorParser, sentences: list[Sentence]) -> Report:
    from zerogap.dependency.evaluation import evaluate
    from zerogap.pipeline.stages import Pipeline

    with progress("development"):
        return evaluate(sentences, [parsed.sentence for parsed in Pipeline(parser).parse_sentences(sentences)])


def size_of(path: Path) -> str:
    return f"{path.stat().st_size / 1e6:.1f} MB"
