"""`zerogap verify`: checks solutions against their problems, without any solver."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from zerogap.cli.progress import progress
from zerogap.errors import FormatError, InputError, VerificationError


def verify_command(
    problem: Annotated[Path, typer.Argument(help="The problem as JSON, or lines of JSON with problem and solution (.jsonl).")],
    solution: Annotated[Path | None, typer.Argument(help="The solution as JSON, as zerogap decode writes it.")] = None,
) -> None:
    """Check a solution and its certificate with code that shares nothing with the decoders.

    [bold]zerogap verify problem.json solution.json[/bold]

    [bold]zerogap verify proofs.jsonl[/bold] checks every line of what [bold]zerogap label --certificates[/bold] or
    [bold]zerogap parse --certificates[/bold] wrote.
    """
    from zerogap.io.problems import load_problem
    from zerogap.proof.files import load_solution
    from zerogap.proof.verify import verify

    if solution is None:
        verify_lines(problem)
        return
    for claim in verify(load_problem(problem), load_solution(solution)).checked:
        print(claim)


def verify_lines(path: Path) -> None:
    """Every line must hold; the first that does not ends the command."""
    import json

    from zerogap.io.lines import read_lines
    from zerogap.io.problems import problem_from_json
    from zerogap.proof.certificate import expect, field
    from zerogap.proof.files import solution_from_json
    from zerogap.proof.verify import verify

    if not {".jsonl"} & set(path.suffixes):
        raise InputError(f"{path} has no solution beside it: expected a problem and a solution, or one file of lines (.jsonl).")
    checked = optimal = 0
    with progress("verifying") as steps:
        for number, line in read_lines(path):
            where = f"{path}, line {number}"
            try:
                value = expect(json.loads(line), dict, where)
            except json.JSONDecodeError as error:
                raise FormatError(f"{where}: not JSON ({error.msg}, column {error.colno}).") from None
            solution = solution_from_json(field(value, "solution", where), f"{where}: solution")
            try:
                verify(problem_from_json(field(value, "problem", where), f"{where}: problem"), solution)
            except VerificationError as error:
                raise VerificationError(f"{where}: {error}") from None
            checked += 1
            optimal += solution.status == "optimal"
            steps.advance()
    print(f"{checked:,} solutions hold, {optimal:,} of them optimal")
