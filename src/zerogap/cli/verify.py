"""`zerogap verify`: checks solutions against their problems, without any solver."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer


def verify_command(
    problem: Annotated[
        Path | None,
        typer.Argument(help="The problem as JSON, or lines of JSON with problem and solution (.jsonl, .gz or not).", metavar="PROBLEM"),
    ] = None,
    solution: Annotated[Path | None, typer.Argument(help="The solution as JSON, as zerogap decode writes it.", metavar="SOLUTION")] = None,
    keep_going: Annotated[bool, typer.Option("--keep-going", hidden=True)] = True,  # always so; older scripts give it
    export: Annotated[
        Path | None,
        typer.Option(help="Write the verifier here, as one program that needs Python and NumPy, and not zerogap.", metavar="FILE.pyz"),
    ] = None,
) -> None:
    """Check solutions and their certificates with code that shares nothing with the decoders.

    [bold]zerogap verify problem.json solution.json[/bold]

    [bold]zerogap verify proofs.jsonl.gz[/bold] checks every line of what [bold]--certificates[/bold] of parse, label and translate wrote,
    or a job of the task decode. It says of each line that does not hold why, and counts them.

    [bold]zerogap verify --export check.pyz[/bold] for somebody who does not want to trust, or install, zerogap:
    [bold]python check.pyz proofs.jsonl[/bold]
    """
    from zerogap.io.formats.lines import whole
    from zerogap.proof.command import archive, check_files

    if export is not None:
        with whole(export) as part:
            part.write_bytes(archive())
        print(f"{export}: python {export} proofs.jsonl", file=sys.stderr)
        return
    if problem is None:
        raise typer.BadParameter("expected a problem and a solution, or a file of lines with both (.jsonl).")
    code = check_files(problem, solution)
    if code:
        raise typer.Exit(code)
