"""`zerogap verify`: checks a solution file against its problem, without any solver."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def verify_command(
    problem: Annotated[Path, typer.Argument(help="The problem as JSON.")],
    solution: Annotated[Path, typer.Argument(help="The solution as JSON, as zerogap decode writes it.")],
) -> None:
    """Check a solution and its certificate with code that shares nothing with the decoders."""
    from zerogap.io.problems import load_problem
    from zerogap.proof.files import load_solution
    from zerogap.proof.verify import verify

    for claim in verify(load_problem(problem), load_solution(solution)).checked:
        print(claim)
