"""`zerogap train`: a model from labelled examples."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from zerogap.cli import options


def train_sequence_command(
    examples: Annotated[str, typer.Argument(help="Sequences with labels: columns or JSON lines, .gz or not.", metavar="TRAIN")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Write the model here; one .npz file.", metavar="MODEL")],
    development: Annotated[str | None, typer.Option(help="More sequences with labels, to report on.", metavar="FILE")] = None,
    constraints: Annotated[
        Path | None,
        typer.Option(
            help="A .yaml or .toml file of constraints that belong to the model; soft ones learn their penalties.", metavar="FILE"
        ),
    ] = None,
    keep_penalties: Annotated[bool, typer.Option("--keep-penalties", help="Leave the penalties of the file as they are.")] = False,
    algorithm: Annotated[str, typer.Option(help="crf, crf-sgd or perceptron.", metavar="NAME")] = "crf",
    templates: Annotated[Path | None, typer.Option(help="A file with a feature template per line.", metavar="FILE")] = None,
    scheme: Annotated[
        str | None, typer.Option(help="BIO or BIOES: forbid labels that are ill-formed. By default it is found out.", metavar="NAME")
    ] = None,
    epochs: Annotated[int | None, typer.Option(help="Passes over the examples, at most.", min=0, metavar="N")] = None,
    l2: Annotated[float, typer.Option(help="Strength of regularisation.", min=0.0)] = 1.0,
    min_count: Annotated[int, typer.Option(help="Leave out features that are seen less often.", min=0, metavar="N")] = 1,
    seed: Annotated[int, typer.Option(help="For the order of examples; the same seed gives the same model.", min=0)] = 0,
    columns: options.Columns = None,
    comments: options.Comments = False,
    format: options.Format = "auto",
) -> None:
    """Train a model that labels sequences.

    [bold]zerogap train sequence train.txt -o names.npz --development dev.txt[/bold]

    [bold]zerogap train sequence refs.jsonl -o cite.npz --constraints rules.yaml --algorithm perceptron[/bold]

    Then use it: [bold]zerogap label cite.npz new.jsonl[/bold]
    """
    given = locals()
    from zerogap.cli.train.labels import LabelTrainingOptions, run

    run(LabelTrainingOptions(**given))
