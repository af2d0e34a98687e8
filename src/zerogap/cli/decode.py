"""`zerogap decode`: a problem file in, the best structure and its certificate out."""

from __future__ import annotations

import inspect
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from zerogap.cli.progress import progress
from zerogap.proof.solution import Solution

GAP_LEFT_OPEN = 3


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
    from zerogap.io.problems import load_problem
    from zerogap.proof.files import json_text, save_solution, solution_to_json
    from zerogap.proof.verify import verify

    given = load_problem(problem)
    decoder = decoder_of(given)
    begin = time.perf_counter()
    with progress("decoding"):
        options: dict[str, Any] = {} if time_limit is None else {"time_limit": time_limit}
        if k > 1:
            if "k" not in inspect.signature(decoder).parameters:
                task = decoder.__module__.split(".")[1]
                raise typer.BadParameter(f"--k {k} was given for a problem of {task}: expected trees or sequences.")
            options["k"] = k
        solution: Solution[Any] = decoder(given, method=method, **options)
    seconds = time.perf_counter() - begin
    verify(given, solution)
    if output is not None:
        save_solution(solution, output)
    else:
        print(json_text(solution_to_json(solution)))
    if plot is not None:
        solution.plot().save(plot)
    print(summary(solution, seconds), file=sys.stderr)
    if solution.status != "optimal":
        raise typer.Exit(GAP_LEFT_OPEN)


def decoder_of(problem: Any) -> Callable[..., Solution[Any]]:
    """The `decode` of the task that a problem belongs to."""
    from zerogap import constituency, dependency, hypergraph, sequence

    decoders: dict[type, Callable[..., Solution[Any]]] = {
        constituency.JointProblem: constituency.decode,
        dependency.Problem: dependency.decode,
        hypergraph.Problem: hypergraph.decode,
        sequence.Problem: sequence.decode,
    }
    return decoders[type(problem)]


def summary(solution: Solution[Any], seconds: float) -> str:
    iterations = f"{len(solution.trace)} iteration{'s' if len(solution.trace) != 1 else ''}"
    if solution.status == "optimal":
        outcome = f"optimal: score {solution.score:g}, and nothing scores more"
    elif solution.structure is None:
        outcome = f"nothing found; nothing scores more than {solution.bound:g}"
    else:
        outcome = f"feasible: score {solution.score:g}, bound {solution.bound:g}, gap {solution.gap:g}"
    return f"{outcome} ({iterations}, {1000 * seconds:.1f} ms, certificate verified)"
