"""`zerogap evaluate dependency`: how many heads and relations are right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from zerogap.cli import options
from zerogap.cli.terminal import Summary, check_choices, placed, progress
from zerogap.errors import FormatError
from zerogap.pipeline.treebanks import COLUMNS, Skipped, read_records

if TYPE_CHECKING:
    from zerogap.cli.parse.dependency import Job
    from zerogap.io.formats.conllu import ConlluRecord
    from zerogap.pipeline.document import ParsedSentence

PUNCTUATION = ("auto", "upos", "form")


def evaluate_dependency_command(
    gold: Annotated[str, typer.Argument(help="The right trees: CoNLL-U or CoNLL-X, .gz or not.", metavar="GOLD")],
    predicted: Annotated[str | None, typer.Argument(help="The same sentences with predicted trees.", metavar="PREDICTED")] = None,
    model: Annotated[str | None, typer.Option(help="Parse GOLD with this pipeline or parser instead.", metavar="NAME|PATH")] = None,
    tagger: options.TaggerOption = None,
    tags: options.Tags = "keep",
    text: Annotated[
        bool,
        typer.Option(
            "--text", help="Words and sentences may differ: count as the CoNLL 2018 shared task does. With --model, parse the text of GOLD."
        ),
    ] = False,
    punctuation: Annotated[
        str,
        typer.Option(help="What punctuation is: upos (PUNCT), form (by its characters), or auto (upos if there is any).", metavar="HOW"),
    ] = "auto",
    threads: options.Threads = None,
) -> None:
    """Count the heads (UAS) and the heads with their relations (LAS) that are right, by length of sentence, with and without punctuation.

    [bold]zerogap evaluate dependency test.conllu parsed.conllu[/bold]

    [bold]zerogap evaluate dependency test.conllu --model en --tags predict[/bold]

    [bold]zerogap evaluate dependency test.conllu --model en --text[/bold] begins with the bare text.
    """
    from zerogap.cli.parse.dependency import TAGS, tell
    from zerogap.dependency.aligned_evaluation import evaluate_text
    from zerogap.dependency.evaluation import evaluate

    if (predicted is None) == (model is None):
        raise typer.BadParameter("expected either PREDICTED or --model.")
    if model is None and (tagger is not None or tags != "keep"):
        raise typer.BadParameter("--tagger and --tags need --model.")
    check_choices(("--tags", tags, TAGS), ("--punctuation", punctuation, PUNCTUATION))
    right = list(read_records(gold, "stop", Skipped()))
    if not right:
        raise FormatError(f"{gold} holds no sentences: expected a CoNLL-U file with trees.")
    found: Sequence[ConlluRecord | ParsedSentence]
    if model is not None:
        found, summary, job = parsed_by(model, tagger, right, path=gold, tags=tags, text=text, threads=threads)
    else:
        found = list(read_records(predicted or "", "stop", Skipped()))
    with placed(f"{gold} and {predicted}" if predicted else gold):
        if text:
            print(evaluate_text(right, found))
        else:
            print(evaluate([record.sentence for record in right], [record.sentence for record in found], punctuation=punctuation))
    if model is not None:
        tell(summary, job)


def parsed_by(
    model: str, tagger: str | None, gold: list[ConlluRecord], *, path: str, tags: str, text: bool, threads: int | None
) -> tuple[list[ParsedSentence], Summary, Job]:
    """The sentences of a treebank, or its text, parsed."""
    from zerogap.cli.parse.dependency import Job, answers, load_pipeline
    from zerogap.pipeline.sources import Unparsed, from_text

    pipeline = load_pipeline(model, tagger)
    pipeline.check_columns(["form"] if text else COLUMNS, keep_tags=tags == "keep")
    if text:
        sentences = from_text(text_of(gold))
    else:
        sentences = (Unparsed(record.sentence, path, record.line, record=record) for record in gold)
    summary = Summary("sentence", "nothing to parse")
    with progress("parsing") as steps:
        job = Job(pipeline, lambda parsed: "", tags == "keep", keep=True)
        found = [answer.parsed for answer in answers(job, sentences, threads, "stop", summary, steps) if answer.parsed]
    return found, summary, job


def text_of(records: list[ConlluRecord]) -> str:
    """The text of a treebank: paragraphs are parted by empty lines where it says so, sentences by a blank where there was one."""
    parts: list[str] = []
    for record in records:
        keys = {key.split()[0] for key, _ in record.comments if key.strip()}
        if parts and keys & {"newdoc", "newpar"}:
            parts.append("\n\n")
        for token in record.tokens:
            parts.append(token.form + " " * token.space_after)
    return "".join(parts)
