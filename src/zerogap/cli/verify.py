"""`zerogap verify`: checks solutions against their problems, without any solver."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from zerogap.cli.terminal import MAX_NOTES, counted, progress
from zerogap.errors import InputError, VerificationError, ZerogapError


def verify_command(
    problem: Annotated[
        Path | None,
        typer.Argument(help="The problem as JSON, or lines of JSON with problem and solution (.jsonl, .gz or not).", metavar="PROBLEM"),
    ] = None,
    solution: Annotated[Path | None, typer.Argument(help="The solution as JSON, as zerogap decode writes it.", metavar="SOLUTION")] = None,
    keep_going: Annotated[
        bool, typer.Option("--keep-going", help="In lines, say of each one that does not hold, not only of the first.")
    ] = False,
    export: Annotated[
        Path | None,
        typer.Option(help="Write the stand-alone verifier here: one file that needs Python and NumPy, and not zerogap.", metavar="FILE.py"),
    ] = None,
) -> None:
    """Check solutions and their certificates with code that shares nothing with the decoders.

    [bold]zerogap verify problem.json solution.json[/bold]

    [bold]zerogap verify proofs.jsonl[/bold] checks every line of what [bold]--certificates[/bold] of parse, label and translate wrote, or
    a job of the task decode.

    [bold]zerogap verify --export check.py[/bold] for somebody who does not want to trust, or install, zerogap:
    [bold]python check.py proofs.jsonl[/bold]
    """
    if export is not None:
        write_verifier(export)
        return
    if problem is None:
        raise typer.BadParameter("expected a problem and a solution, or a file of lines with both (.jsonl).")
    if solution is None:
        verify_lines(problem, keep_going)
        return
    from zerogap.io.problems.files import load_problem
    from zerogap.proof.files import load_solution
    from zerogap.proof.verify import verify

    for claim in verify(load_problem(problem), load_solution(solution)).checked:
        print(claim)


def verify_lines(path: Path, keep_going: bool) -> None:
    """Every line must hold; the first that does not ends the command, unless it is to go on."""
    from zerogap.io.problems.proofs import proof_in, proof_lines
    from zerogap.proof.verify import verify

    if not {".jsonl"} & set(path.suffixes):
        raise InputError(f"{path} has no solution beside it: expected a problem and a solution, or one file of lines (.jsonl).")
    checked = optimal = wrong = 0
    with progress("verifying") as steps:
        for where, text in proof_lines(path):
            try:
                problem, solution = proof_in(text, where)
                verify(problem, solution)
            except ZerogapError as error:
                said = str(error) if where in str(error) else f"{where}: {error}"
                if not keep_going:
                    raise type(error)(said) from None
                wrong += 1
                if wrong <= MAX_NOTES:
                    print(said, file=sys.stderr)
                continue
            checked += 1
            optimal += solution.status == "optimal"
            steps.advance()
    print(f"{counted(checked, 'solution')} {'holds' if checked == 1 else 'hold'}, {optimal:,} of them optimal")
    if wrong:
        raise VerificationError(f"{counted(wrong, 'solution')} of {checked + wrong:,} do not hold.")


def write_verifier(path: Path) -> None:
    from zerogap.io.formats.lines import writing
    from zerogap.proof.standalone import one_file

    with writing(path) as file:
        file.write(one_file())
    print(f"{path}: python {path} proofs.jsonl", file=sys.stderr)
