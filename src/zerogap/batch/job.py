"""A job as a file: what to do, with which files, and where to put the answers.

task = "parse"
input = ["corpus/*.conllu.gz", "s3://bucket/more.txt"]
output = "parsed"
engine = "local"          # or "ray"
workers = 2               # as many as there are processors unless given
shard_size = 10000        # records in a file of the output
limit = 60                # seconds for one record; 0 for none

[parse]                   # options of the task
model = "en"
"""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from zerogap import __version__
from zerogap.batch.chunks import format_of
from zerogap.batch.engines import ENGINES
from zerogap.batch.places import expanded, is_url, size_of
from zerogap.batch.tasks import TASKS, Task, digest_of, task_of
from zerogap.errors import FormatError, InputError, UnknownMethod
from zerogap.io.formats.marked import read_toml
from zerogap.relax.parallel import processors


@dataclass(frozen=True, slots=True)
class Job:
    """`part` (k, n) takes the inputs k, k + n, k + 2n, ... of all, counted from 1: one of n machines that do not know each other."""

    task: str
    input: tuple[str, ...]
    output: str
    options: dict[str, Any]
    input_format: str = "auto"
    engine: str = "local"
    workers: int | None = None
    address: str | None = None
    shard_size: int = 10_000
    limit: float | None = 60.0
    compress: bool = False
    part: tuple[int, int] = (1, 1)

    def __post_init__(self) -> None:
        if self.engine not in ENGINES:
            raise UnknownMethod("engine", self.engine, ENGINES)
        for name, given in (("shard_size", self.shard_size), ("workers", self.workers)):
            if not (given is None and name == "workers") and (isinstance(given, bool) or not isinstance(given, int) or given < 1):
                raise InputError(f"{name} is {given!r}: expected a positive integer.")
        if self.limit is not None and (isinstance(self.limit, bool) or not isinstance(self.limit, int | float) or not self.limit > 0.0):
            raise InputError(f"limit is {self.limit!r}: expected seconds, above 0.")
        first, n = self.part
        if not 1 <= first <= n:
            raise InputError(f"part is {first}/{n}: expected such as 1/4, 2/4, 3/4 or 4/4.")
        if not self.input:
            raise InputError("input is empty: expected at least one file.")

    @property
    def made(self) -> Task:
        return task_of(self.task, self.options)

    @property
    def n_workers(self) -> int:
        return processors() if self.workers is None else self.workers


@dataclass(frozen=True, slots=True)
class Plan:
    """A job whose inputs were found: their numbers among all, paths, formats and sizes."""

    job: Job
    task: Task
    inputs: tuple[tuple[int, str, int], ...]  # number, path, bytes
    format: str

    @property
    def description(self) -> dict[str, Any]:
        """What the bytes of the output depend on. A job goes on only if it is the same."""
        job = self.job
        return {
            "format": "zerogap-job", "version": 1, "zerogap": __version__, "task": job.task,
            "options": {key: list(value) if isinstance(value, tuple) else value for key, value in asdict(self.task).items()},  # type: ignore[call-overload]
            "files": {path: digest_of(path) for path in self.task.files}, "shard_size": job.shard_size, "compress": job.compress,
            "input_format": self.format, "inputs": [[number, path, size] for number, path, size in self.inputs],
        }  # fmt: skip

    @property
    def suffix(self) -> str:
        """Of the shards of the output."""
        own = self.task.suffix or {"columns": ".txt"}.get(self.format, ".jsonl")
        return own + ".gz" if self.job.compress else own


def planned(job: Job) -> Plan:
    """Finds the inputs, and what is wrong with the job, before anything is loaded."""
    task = job.made
    paths = expanded(job.input)
    formats = {format_of(path, job.input_format) for path in paths}
    if len(formats) > 1:
        raise InputError(f"the inputs are of the formats {', '.join(sorted(formats))}: expected one; a job for each, or input_format.")
    [format] = formats
    if format not in task.inputs:
        raise InputError(f"the inputs are {format}: task {job.task!r} reads {', '.join(task.inputs)}.")
    if job.compress and task.suffix == ".parquet":
        raise InputError("compress was given with Parquet, which is compressed by itself: expected one of them.")
    first, n = job.part
    inputs = tuple((i, path, size_of(path)) for i, path in enumerate(paths) if i % n == first - 1)
    return Plan(job, task, inputs, format)


KEYS = {field.name for field in fields(Job)} - {"options", "part"}


def load_job(path: str | os.PathLike[str], **changes: Any) -> Job:
    """The job in a TOML file. `changes` take the place of what it says; None changes nothing. Paths are relative to where one is."""
    value = read_toml(path)[0] or {}
    value |= {name: change for name, change in changes.items() if change is not None}
    return job_from(value, os.fspath(path))


def job_from(value: dict[str, Any], where: str) -> Job:
    task = value.get("task")
    if not isinstance(task, str) or task not in TASKS:
        raise FormatError(f"{where}: task is {task!r}: expected one of {', '.join(TASKS)}.")
    for key in value:
        if key not in {*KEYS, task, "part"}:
            raise UnknownMethod(f"{where}: the key", key, [*sorted(KEYS), f"[{task}]"])
    for key in ("input", "output"):
        if key not in value:
            raise FormatError(f"{where} has no {key!r}: expected {'the files to read' if key == 'input' else 'the folder to write to'}.")
    given = value["input"]
    names = [given] if isinstance(given, str) else given
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise FormatError(f"{where}: input is {given!r}: expected a path or a list of paths.")
    options = value.get(task, {})
    if not isinstance(options, dict) or not isinstance(value["output"], str):
        raise FormatError(f"{where}: expected output as a string, and [{task}] as a table.")
    rest = {key: value[key] for key in KEYS - {"task", "input", "output"} if key in value}
    if rest.get("limit") == 0:
        rest["limit"] = None
    if "part" in value:
        rest["part"] = part_of(value["part"])
    try:
        return Job(task, tuple(names), value["output"] if is_url(value["output"]) else str(Path(value["output"])), options, **rest)
    except (FormatError, UnknownMethod):
        raise
    except InputError as error:
        raise FormatError(f"{where}: {error}") from None


def part_of(text: Any) -> tuple[int, int]:
    """`2/4` as numbers."""
    first, _, n = str(text).partition("/")
    if not (first.isdecimal() and n.isdecimal()):
        raise InputError(f"part is {text!r}: expected such as 2/4.")
    return int(first), int(n)
