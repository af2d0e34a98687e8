"""`zerogap decode`: a problem file in, the best structure and its certificate out."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from zerogap.cli.terminal import GAP_LEFT_OPEN, progress
from zerogap.proof.solution import Solution


def decode_command(
    problem: Annotated[Path, typer.Argument(help="A problem as JSON; see examples/ and docs/.")],
    method: Annotated[str, typer.Option(help="How to decode; 'auto' proves every problem within the limits.")] = "auto",
    time_limit: Annotated[float | None, typer.Option(help="Seconds; the best answer so far and its bound are returned.")] = None,
    k: Annotated[int, typer.Option("--k", "-k", help="How many of the best structures; for trees and sequences.", min=1)] = 1,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write the solution here instead of to standard output.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw how the gap closed into this SVG file.")] = None,
) -> None:
    """Find the best structure of a problem and prove it.

    The solution is JSON: structure, score, bound, certificate, trace. Check it with [bold]zerogap verify[/bold].
    """
    from zerogap.pipeline.any_problem import decode_any, knows_k_best
    from zerogap.problems.files import digest_of, load_problem
    from zerogap.problems.json_files import json_text
    from zerogap.proof.files import save_solution, solution_to_json
    from zerogap.proof.verify import verify

    given = load_problem(problem)
    if k > 1 and not knows_k_best(given):
        raise typer.BadParameter(f"--k {k} was given for a problem that is neither of trees nor of sequences: expected 1.")
    begin = time.perf_counter()
    with progress("decoding"):
        solution = decode_any(given, method=method, time_limit=time_limit, k=k)
    seconds = time.perf_counter() - begin
    verify(given, solution)
    if output is not None:
        save_solution(solution, output, given)
    else:
        print(json_text(solution_to_json(solution, digest_of(given))))
    if plot is not None:
        solution.plot().save(plot)
    print(summary(solution, seconds), file=sys.stderr)
    if solution.status != "optimal":
        raise typer.Exit(GAP_LEFT_OPEN)


def summary(solution: Solution[Any], seconds: float) -> str:
    iterations = f"{len(solution.trace)} iteration{'s' if len(solution.trace) != 1 else ''}"
    if solution.status == "optimal":
        outcome = f"optimal: score {solution.score:g}, and nothing scores more"
    elif solution.structure is None:
        outcome = f"nothing found; nothing scores more than {solution.bound:g}"
    else:
        outcome = f"feasible: score {solution.score:g}, bound {solution.bound:g}, gap {solution.gap:g}"
    return f"{outcome} ({iterations}, {1000 * seconds:.1f} ms, certificate verified)"
