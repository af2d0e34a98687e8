"""`zerogap label`: sequences in, the same sequences with the best labels out, and a proof of each if asked."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from zerogap.cli import options


def label_command(
    model: Annotated[Path, typer.Argument(help="A model, as zerogap train sequence writes it.", metavar="MODEL")],
    input: Annotated[str, typer.Argument(help="Sequences: columns or JSON lines, .gz or not; - for standard input.", metavar="INPUT")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write here instead of to standard output.", metavar="FILE", rich_help_panel="Output"),
    ] = None,
    constraints: options.Constraints = None,
    no_constraints: options.NoConstraints = False,
    on_infeasible: options.OnInfeasible = "stop",
    keep_labels: Annotated[
        bool,
        typer.Option(
            "--keep-labels",
            help="Keep labels that are there: new ones in a further column, or as 'predicted' in JSON.",
            rich_help_panel="Output",
        ),
    ] = False,
    certificates: Annotated[
        Path | None,
        typer.Option(
            help="Write a line of JSON for every sequence: problem, solution and certificate.",
            metavar="FILE.jsonl",
            rich_help_panel="Output",
        ),
    ] = None,
    method: options.Method = "auto",
    time_limit: options.TimeLimit = None,
    columns: options.Columns = None,
    comments: options.Comments = False,
    format: options.Format = "auto",
    engine: options.Engine = None,
    threads: options.Threads = None,
) -> None:
    """Label sequences with a trained model, and prove that no labels score higher.

    The output has the format of the input, with the labels added or replaced and all else as it was.

    [bold]zerogap label names.npz news.txt -o labelled.txt[/bold]

    [bold]cat news.txt | zerogap label names.npz - --no-constraints[/bold]

    [bold]zerogap label cite.npz refs.jsonl --constraints rules.yaml --certificates proofs.jsonl -o labelled.jsonl[/bold]
    """
    given = locals()
    from zerogap.cli.label.sequences import LabelOptions, run

    run(LabelOptions(**given))
