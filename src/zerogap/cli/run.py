"""`zerogap run`: a job over many files, on this machine or on a Ray cluster, which goes on where it was stopped."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from zerogap.cli.terminal import BAD_INPUT, GAP_LEFT_OPEN, Steps, counted, progress

if TYPE_CHECKING:
    from zerogap.batch.job import Job
    from zerogap.batch.running import Progress

SECONDS_BETWEEN_NOTES = 60.0


def run_command(
    job: Annotated[Path, typer.Argument(help="A job as TOML: task, input, output; see docs/batch.md.", metavar="JOB.toml")],
    engine: Annotated[str | None, typer.Option(help="local or ray, in place of what the job says.", metavar="ENGINE")] = None,
    workers: Annotated[int | None, typer.Option(help="As many as there are processors unless given.", min=1, metavar="N")] = None,
    address: Annotated[str | None, typer.Option(help="Of a Ray cluster; without it, Ray is started here.", metavar="ADDRESS")] = None,
    output: Annotated[str | None, typer.Option("--output", "-o", help="A folder, in place of the job's.", metavar="FOLDER")] = None,
    part: Annotated[
        str | None, typer.Option(help="2/4: the second quarter of the inputs, for machines that share files only.", metavar="K/N")
    ] = None,
) -> None:
    """Do a job over many files: parse, label, translate, decode or verify.

    The output is a folder of shards with a manifest. A job that was stopped, or killed, goes on when it is run again, and ends with the
    same bytes. Sentences that cannot be answered are in files *.errors.jsonl beside the others.

    [bold]zerogap run parse.toml[/bold]

    [bold]zerogap run parse.toml --engine ray --address auto --workers 64[/bold]
    """
    from zerogap.batch.job import load_job

    do(load_job(job, engine=engine, workers=workers, address=address, output=output, part=part))


def do(job: Job) -> None:
    """Runs a job with its progress on the terminal, then tells what came of it."""
    from zerogap.batch.running import run

    with progress(job.task) as steps:
        summary = run(job, report=Teller(steps))
    for path, message in summary.failed:
        print(f"{path} {message}. What was read of it is in the output.", file=sys.stderr)
    if summary.failures:
        print(f"{counted(summary.failures, 'record')} without an answer: see {job.output}/*.errors.jsonl.", file=sys.stderr)
    proven = f"{counted(summary.gaps, 'gap')} left open" if summary.gaps else "all answers proven optimal"
    without_proofs = job.options.get("method") == "cascade"  # as was asked for
    if without_proofs:
        proven = "not proven: method cascade"
    speed = f", {summary.answered / summary.seconds:,.0f} per second" if summary.answered and summary.seconds >= 1.0 else ""
    before = "" if summary.answered == summary.records else f", {counted(summary.answered, 'record')} of them now"
    shards = f"{counted(summary.records, 'record')}{before} in {counted(summary.shards, 'shard')}"
    print(f"{job.output}: {shards}: {proven} ({summary.seconds:.1f} s{speed})", file=sys.stderr)
    if summary.failed:
        raise typer.Exit(BAD_INPUT)
    if summary.gaps and not without_proofs:
        raise typer.Exit(GAP_LEFT_OPEN)


@dataclass(slots=True)
class Teller:
    """Progress as words: on a terminal beside the bar, else as a line a minute."""

    steps: Steps
    last: float = field(default_factory=time.perf_counter)

    def __call__(self, progress: Progress) -> None:
        now = time.perf_counter()
        on_terminal = sys.stderr.isatty()
        if now - self.last < (0.1 if on_terminal else SECONDS_BETWEEN_NOTES):
            return
        self.last = now
        if on_terminal:
            self.steps.advance(described(progress))
        else:
            print(described(progress), file=sys.stderr, flush=True)


def described(progress: Progress) -> str:
    parts = [f"{progress.answered:,} records", f"{progress.rate:,.0f} per second"]
    if progress.failures:
        parts.append(f"{progress.failures:,} without an answer")
    if progress.share is not None:
        parts.append(f"{progress.share:.0%}")
    left = progress.seconds_left
    if left is not None:
        parts.append(f"{int(left) // 3600}:{int(left) // 60 % 60:02d}:{int(left) % 60:02d} left")
    return ", ".join(parts)


def job_of_command(task: str, input: str, output: Any, engine: str, options: dict[str, Any], *, workers: int | None, format: str) -> Job:
    """The job that `zerogap parse --engine` and the like stand for."""
    from zerogap.batch.job import job_from

    if output is None:
        raise typer.BadParameter("--engine writes shards: expected --output with a folder.")
    value = {"task": task, "input": [input], "output": str(output), "engine": engine, "input_format": format, task: options}
    return job_from(value | ({} if workers is None else {"workers": workers}), f"zerogap {task}")
