"""Labels sequences for `zerogap label`: reads sequences, decodes them on several threads, writes them with their labels."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from zerogap.cli.options import names_of
from zerogap.cli.run import do, job_of_command
from zerogap.cli.terminal import Steps, Summary, check_choices, placed, progress
from zerogap.errors import Infeasible
from zerogap.io.formats.examples import read_records
from zerogap.io.formats.lines import shown, writing
from zerogap.io.rules.files import load_constraints
from zerogap.proof.lines import proof_line
from zerogap.relax.parallel import mapped
from zerogap.sequence.decoding.methods import METHODS, decode
from zerogap.sequence.model import SequenceModel

if TYPE_CHECKING:
    from zerogap.io.formats.examples import Record
    from zerogap.problems.sequence.constraints import Constraint
    from zerogap.problems.sequence.problem import Problem
    from zerogap.proof.solution import Solution
    from zerogap.sequence.model import SequenceModel

POLICIES = ("stop", "skip", "unconstrained")


@dataclass(frozen=True, slots=True)
class LabelOptions:
    """The options of the command, as they were given."""

    model: Path
    input: str
    output: Path | None
    constraints: Path | None
    no_constraints: bool
    on_infeasible: str
    keep_labels: bool
    certificates: Path | None
    method: str
    time_limit: float | None
    columns: str | None
    comments: bool
    format: str
    engine: str | None
    threads: int | None


def run(options: LabelOptions) -> None:
    if options.engine is not None:
        chosen = {
            "model": str(options.model),
            "constraints": None if options.constraints is None else str(options.constraints),
            "no_constraints": options.no_constraints,
            "keep_labels": options.keep_labels,
            "method": options.method,
            "time_limit": options.time_limit,
            "columns": names_of(options.columns),
            "comments": options.comments,
            "certificates": options.certificates is not None,
        }
        do(job_of_command("label", options.input, options.output, options.engine, chosen, workers=options.threads, format=options.format))
        return
    tagger = tagger_of(
        options.model,
        options.constraints,
        options.no_constraints,
        options.on_infeasible,
        options.method,
        options.time_limit,
        options.threads,
    )
    records = read_records(
        options.input,
        columns=names_of(options.columns),
        labelled=frozenset(tagger.model.labels),
        comments=options.comments,
        format=options.format,
    )
    summary = Summary("sequence")
    with (
        progress("labelling") as steps,
        writing(options.output) as out,
        writing(options.certificates) if options.certificates else nullcontext() as proofs,
    ):
        for answer in label_records(tagger, records, options.input, summary, steps):
            with placed(answer.where):
                out.write(answer.record.written(answer.labels, keep=options.keep_labels))
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
        summary.note(f"{reason} Labelled without constraints.")
        free = tagger.model.problem(record.example, constraints=())
        solution = decode(free)
        return Answer(record, where, solution.structure or (), free, solution)  # type: ignore[arg-type]  # the model's labels are names
    summary.note(f"{reason} Left out.")
    return None
