"""`zerogap evaluate`: how many predictions are right, in the table of conlleval."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from zerogap.cli import options
from zerogap.cli.options import names_of
from zerogap.cli.terminal import Summary, progress
from zerogap.errors import FormatError

if TYPE_CHECKING:
    from zerogap.io.formats.examples import Record


def evaluate_sequence_command(
    gold: Annotated[str, typer.Argument(help="Sequences with the right labels: columns or JSON lines.", metavar="GOLD")],
    predicted: Annotated[str | None, typer.Argument(help="The same sequences with predicted labels.", metavar="PREDICTED")] = None,
    model: Annotated[Path | None, typer.Option(help="Label GOLD with this model instead.", metavar="MODEL")] = None,
    constraints: options.Constraints = None,
    no_constraints: options.NoConstraints = False,
    on_infeasible: options.OnInfeasible = "stop",
    method: options.Method = "auto",
    time_limit: options.TimeLimit = None,
    columns: options.Columns = None,
    comments: options.Comments = False,
    format: options.Format = "auto",
    threads: options.Threads = None,
) -> None:
    """Count the segments, tokens and sequences that are right.

    Segments are counted as conlleval does, in BIO, BIOES and plain labels.

    [bold]zerogap evaluate sequence test.txt labelled.txt[/bold]

    [bold]zerogap evaluate sequence test.txt --model names.npz[/bold]
    """
    from zerogap.cli.label.sequences import label_records, tagger_of
    from zerogap.io.formats.examples import read_records
    from zerogap.sequence.evaluation import evaluate

    if (predicted is None) == (model is None):
        raise typer.BadParameter("expected either PREDICTED or --model.")
    if model is None and (constraints is not None or no_constraints):
        raise typer.BadParameter("--constraints and --no-constraints need --model.")
    records = read_records(gold, columns=names_of(columns), comments=comments, format=format)
    if model is None:
        assert predicted is not None
        guesses = read_records(predicted, columns=names_of(columns), comments=comments, format=format)
        print(evaluate(*labels_of_pairs(list(records), list(guesses), gold, predicted)))
        return
    tagger = tagger_of(model, constraints, no_constraints, on_infeasible, method, time_limit, threads)
    summary = Summary("sequence")
    right, found = [], []
    with progress("labelling") as steps:
        for answer in label_records(tagger, records, gold, summary, steps):
            right.append(labels_of(answer.record, gold))
            found.append(answer.labels)
    print(evaluate(right, found))
    summary.tell()


def labels_of(record: Record, path: str) -> tuple[str, ...]:
    if record.example.labels is None:
        raise FormatError(f"{path}, line {record.line}: there are no labels to compare with.")
    return record.example.labels


def labels_of_pairs(
    gold: list[Record], predicted: list[Record], gold_path: str, predicted_path: str
) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
    """The labels of both, if they are about the same tokens."""
    for right, guess in zip(gold, predicted, strict=False):
        spots = f"{gold_path}, line {right.line}, and {predicted_path}, line {guess.line}"
        if len(right.example) != len(guess.example):
            raise FormatError(f"{spots}: {len(right.example)} and {len(guess.example)} tokens: expected the same sequence.")
        for a, b in zip(right.example.columns["form"], guess.example.columns["form"], strict=True):
            if a != b:
                raise FormatError(f"{spots}: the tokens {a!r} and {b!r} differ: expected the same sequence.")
    if len(gold) != len(predicted):
        raise FormatError(f"{gold_path} has {len(gold):,} sequences, {predicted_path} has {len(predicted):,}: expected as many.")
    return [labels_of(record, gold_path) for record in gold], [labels_of(record, predicted_path) for record in predicted]
