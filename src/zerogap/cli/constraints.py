"""`zerogap constraints`: the constraints of a model, with the penalties that it learned, as a file to look at and edit."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def constraints_command(
    model: Annotated[Path, typer.Argument(help="A model, as zerogap train sequence writes it.", metavar="MODEL")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write here (.yaml or .toml) instead of to standard output.", metavar="FILE")
    ] = None,
) -> None:
    """Print the constraints of a model, with the penalties that it learned.

    Edit them and label with them: [bold]zerogap label cite.npz refs.jsonl --constraints edited.yaml[/bold]
    """
    from zerogap.io.rules.files import save_constraints, yaml_text
    from zerogap.sequence.model import SequenceModel

    constraints = SequenceModel.load(model).constraints
    if output is not None:
        save_constraints(constraints, output)
    else:
        print(yaml_text(constraints), end="")
