"""`zerogap label`: sequences in, the same sequences with the best labels out, and a proof of each if asked."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from zerogap.cli import options
from zerogap.cli.options import names_of
from zerogap.cli.run import do, job_of_command
from zerogap.cli.terminal import Steps, Summary, check_choices, placed, progress
from zerogap.errors import Infeasible

if TYPE_CHECKING:
    from zerogap.io.formats.examples import Record
    from zerogap.problems.sequence.constraints import Constraint
    from zerogap.problems.sequence.problem import Problem
    from zerogap.proof.solution import Solution
    from zerogap.sequence.model import SequenceModel

POLICIES = ("stop", "skip", "unconstrained")


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
    from zerogap.io.formats.examples import read_records
    from zerogap.io.formats.lines import writing
    from zerogap.io.problems.proofs import proof_line

    if engine is not None:
        chosen = {
            "model": str(model), "constraints": None if constraints is None else str(constraints), "no_constraints": no_constraints,
            "keep_labels": keep_labels, "method": method, "time_limit": time_limit, "columns": names_of(columns), "comments": comments,
            "certificates": certificates is not None,
        }  # fmt: skip
        do(job_of_command("label", input, output, engine, chosen, workers=threads, format=format))
        return
    tagger = tagger_of(model, constraints, no_constraints, on_infeasible, method, time_limit, threads)
    records = read_records(input, columns=names_of(columns), labelled=frozenset(tagger.model.labels), comments=comments, format=format)
    summary = Summary("sequence")
    with progress("labelling") as steps, writing(output) as out, writing(certificates) if certificates else nullcontext() as proofs:
        for answer in label_records(tagger, records, input, summary, steps):
            with placed(answer.where):
                out.write(answer.record.written(answer.labels, keep=keep_labels))
            if proofs is not None:
                proofs.write(proof_line(answer.problem, answer.solution, {"line": answer.record.line}))
    summary.tell()


@dataclass(frozen=True, slots=True)
class Tagger:
    """A model and how to decode with it. No constraints given means those of the model."""

    model: SequenceModel
    constraints: tuple[Constraint, ...] | None
    with_own: bool  # constraints of single sequences count
    on_infeasible: str
    method: str
    time_limit: float | None
    threads: int | None

    def problem(self, record: Record) -> Problem:
        if self.constraints is None:
            return self.model.problem(record.example)
        own = self.model.constraints_of(record.example) if self.with_own else ()
        return self.model.problem(record.example, constraints=self.constraints + own)


@dataclass(frozen=True, slots=True)
class Answer:
    record: Record
    where: str
    labels: tuple[str, ...]
    problem: Problem
    solution: Solution[Any]


def tagger_of(
    model: Path,
    constraints: Path | None,
    no_constraints: bool,
    on_infeasible: str,
    method: str,
    time_limit: float | None,
    threads: int | None,
) -> Tagger:
    """Loads what is needed, and finds what is wrong with it before any input is read."""
    from zerogap.io.rules.files import load_constraints
    from zerogap.sequence.decoding.methods import METHODS
    from zerogap.sequence.model import SequenceModel

    if constraints is not None and no_constraints:
        raise typer.BadParameter("--constraints and --no-constraints exclude each other.")
    check_choices(("--on-infeasible", on_infeasible, POLICIES), ("method", method, METHODS))
    loaded = SequenceModel.load(model)
    chosen = () if no_constraints else None if constraints is None else load_constraints(constraints, labels=loaded.labels)
    return Tagger(loaded, chosen, not no_constraints, on_infeasible, method, time_limit, threads)


def label_records(
    tagger: Tagger, records: Iterable[Record], path: str | os.PathLike[str], summary: Summary, steps: Steps
) -> Iterator[Answer]:
    """Answers in the order of the records. A sequence without one is left out, or stops everything, as the tagger says."""
    from zerogap.io.formats.lines import shown
    from zerogap.relax.parallel import mapped
    from zerogap.sequence.decoding.methods import decode

    def solve(record: Record) -> tuple[Record, Problem, Solution[Any] | Infeasible]:
        with placed(f"{shown(path)}, line {record.line}"):
            problem = tagger.problem(record)
        try:
            return record, problem, decode(problem, method=tagger.method, time_limit=tagger.time_limit)
        except Infeasible as error:
            return record, problem, error

    for record, problem, found in mapped(solve, records, tagger.threads):
        where = f"{shown(path)}, line {record.line}"
        answer = answer_of(tagger, record, where, problem, found, summary)
        steps.advance(f"labelling: {summary.inputs:,}")
        if answer is not None:
            yield answer


def answer_of(
    tagger: Tagger, record: Record, where: str, problem: Problem, found: Solution[Any] | Infeasible, summary: Summary
) -> Answer | None:
    if not isinstance(found, Infeasible) and found.structure is not None:
        summary.count(proven=found.status == "optimal")
        if found.status != "optimal":
            summary.note(f"{where}: a gap of {found.gap:g} is left open (score {found.score:g}).")
        return Answer(record, where, found.structure, problem, found)
    reason = f"{where}: {found if isinstance(found, Infeasible) else 'no labels that keep the constraints were found in time.'}"
    summary.count(other="infeasible" if isinstance(found, Infeasible) else "")
    if tagger.on_infeasible == "stop" and isinstance(found, Infeasible):
        raise Infeasible(f"{reason} (--on-infeasible skip or unconstrained goes on.)", found.conflict)
    if tagger.on_infeasible == "unconstrained":
        from zerogap.sequence.decoding.methods import decode

        summary.note(f"{reason} Labelled without constraints.")
        free = tagger.model.problem(record.example, constraints=())
        solution = decode(free)
        return Answer(record, where, solution.structure or (), free, solution)  # type: ignore[arg-type]  # the model's labels are names
    summary.note(f"{reason} Left out.")
    return None
