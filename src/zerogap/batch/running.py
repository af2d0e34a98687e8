"""Runs a job: inputs to chunks, chunks to workers, outcomes to shards; and goes on where an earlier run was stopped.

A shard is written to a temporary name and renamed when it is complete; then a line of the manifest says so. A job that is killed between
the two writes that shard again, with the same bytes.
"""

from __future__ import annotations

import os
import time
import zlib
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from zerogap.batch.chunks import Chunk, Position, chunks_of
from zerogap.batch.engines import engine_of
from zerogap.batch.job import Job, Plan, planned
from zerogap.batch.manifest import LOCK, Manifest, Shard, opened_manifest
from zerogap.batch.places import Folder, is_url
from zerogap.batch.scheduler import in_order
from zerogap.batch.tasks import Task
from zerogap.batch.worker import Worker
from zerogap.errors import InputError


@dataclass(frozen=True, slots=True)
class Summary:
    """What a job has done, all runs together; `answered` and `seconds` are of this run. `failed` are inputs that could not be read."""

    records: int
    failures: int
    gaps: int
    shards: int
    answered: int
    seconds: float
    failed: tuple[tuple[str, str], ...]


@dataclass(slots=True)
class Progress:
    """How far a run is. `share` is that of the bytes of all inputs, None if they are not known."""

    begin: float = field(default_factory=time.perf_counter)
    answered: int = 0
    failures: int = 0
    share: float | None = None
    began_at: float | None = None

    @property
    def rate(self) -> float:
        """Records per second."""
        return self.answered / max(time.perf_counter() - self.begin, 1e-9)

    @property
    def seconds_left(self) -> float | None:
        if self.share is None or self.began_at is None or not self.share > self.began_at:
            return None
        return (time.perf_counter() - self.begin) * (1.0 - self.share) / (self.share - self.began_at)


Report = Callable[[Progress], object]


def run(job: Job, *, report: Report | None = None) -> Summary:
    """Does the job, or what is left of it; `report` is called after every chunk.

    A sentence that raises or takes too long is in the side file of its shard. An input that cannot be read to its end is named in the
    summary, with what was read of it in the output.
    """
    plan = planned(job)
    folder = Folder(job.output)
    folder.make()
    with locked(folder):
        manifest = opened_manifest(folder, plan.description)
        progress = Progress()
        if any(number not in manifest.finished for number, _, _ in plan.inputs):
            go_on(plan, folder, manifest, progress, report)
    failed = tuple((path, message) for number, path, _ in plan.inputs if (message := manifest.finished.get(number)) is not None)
    totals = manifest.totals
    seconds = time.perf_counter() - progress.begin
    return Summary(totals.records, totals.failures, totals.gaps, totals.shards, progress.answered, seconds, failed)


def worker_of(task: Task, format: str, limit: float | None) -> Worker:
    return Worker(task.load(format), limit)


def go_on(plan: Plan, folder: Folder, manifest: Manifest, progress: Progress, report: Report | None) -> None:
    job = plan.job
    load = partial(worker_of, plan.task, plan.format, job.limit)
    left = [(number, path) for number, path, _ in plan.inputs if number not in manifest.finished]
    measure = measured(plan, manifest)
    failures: dict[int, str] = {}
    shard: Shard | None = None
    end = Position()

    def commit() -> None:
        nonlocal shard
        if shard is not None:
            manifest.add(shard.commit(end))
            shard = None

    def finish_before(number: int | None) -> None:
        """Inputs before this one are done; all for None."""
        while left and left[0][0] != number:
            done, _ = left.pop(0)
            begun = manifest.positions.get(done, Position())
            manifest.add({"input": done, "shards": begun.shard, "failed": failures.get(done)})

    engine = engine_of(job.engine, load, job.n_workers, job.address)
    try:
        with closing(engine), closing(all_chunks(plan, manifest, list(left), failures)) as chunks:
            for chunk, outcome in in_order(engine, chunks, limit=job.limit):
                if shard is not None and (shard.input, shard.number) != (chunk.input, chunk.shard):
                    commit()
                if shard is None:
                    finish_before(chunk.input)
                    shard = Shard(folder, chunk.input, chunk.shard, plan.suffix)
                shard.write(outcome)
                end = chunk.end
                progress.answered += outcome.answers + outcome.failures
                progress.failures += outcome.failures
                progress.share = measure(chunk)
                progress.began_at = progress.share if progress.began_at is None else progress.began_at
                if report is not None:
                    report(progress)
        commit()
        finish_before(None)
    finally:
        if shard is not None:
            shard.discard()


def all_chunks(plan: Plan, manifest: Manifest, left: list[tuple[int, str]], failures: dict[int, str]) -> Generator[Chunk, None, None]:
    """Of all inputs that are left, from where they were left. One that cannot be read goes into `failures`, and the next one is read."""
    comments = bool(getattr(plan.task, "comments", False))
    for number, path in left:
        begin = manifest.positions.get(number, Position())
        try:
            yield from chunks_of(path, number, format=plan.format, begin=begin, shard_size=plan.job.shard_size, comments=comments)
        except (OSError, EOFError, zlib.error) as error:
            failures[number] = f"cannot be read further: {getattr(error, 'strerror', None) or error}"


def measured(plan: Plan, manifest: Manifest) -> Callable[[Chunk], float | None]:
    """The share of all bytes that was read when a chunk was, or before."""
    total = sum(size for _, _, size in plan.inputs)
    before: dict[int, int] = {}
    seen = 0
    for number, _, size in plan.inputs:
        before[number] = seen
        seen += size
    return lambda chunk: None if plan.format == "parquet" or total == 0 else min((before[chunk.input] + chunk.read) / total, 1.0)


@contextmanager
def locked(folder: Folder) -> Iterator[None]:
    """Nobody else runs the job in this folder, if it is on this machine."""
    if is_url(folder.path) or os.name != "posix":
        yield
        return
    import fcntl

    with open(Path(folder.path) / LOCK, "wb") as lock:
        try:
            fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # of this process alone: workers that outlive it do not hold it
        except OSError:
            raise InputError(f"{folder.path} is in use: the job runs already.") from None
        yield
