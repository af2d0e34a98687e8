"""`zerogap translate --engine`: the same as a job over many files, as `zerogap run` does it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from zerogap.cli.run import do, job_of_command
from zerogap.cli.translate.models import ModelFiles


def translate_as_job(
    input: str,
    output: Path | None,
    engine: str,
    files: ModelFiles,
    search: dict[str, Any],
    *,
    certificates: bool,
    others: dict[str, bool],
    workers: int | None,
) -> None:
    """`others` are options that only a single run has, and whether each was given."""
    for name, is_given in others.items():
        if is_given:
            raise typer.BadParameter(f"--engine was given with {name}: a job has no such option. Expected one of them.")
    named = {
        "language_model": files.language_model, "weights": files.weights, "phrase_table": files.phrase_table, "grammar": files.grammar
    }  # fmt: skip
    paths = {name: None if path is None else str(path) for name, path in named.items()}
    chosen = {
        "method": search["method"], "time_limit": search["time_limit"], "reordering": files.reordering, "certificates": certificates
    }  # fmt: skip
    given = {name: value for name, value in (paths | chosen).items() if value is not None}
    do(job_of_command("translate", input, output, engine, given, workers=workers, format="lines"))
