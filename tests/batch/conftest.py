"""A task that needs no model and does what its records say, to be run by real workers."""

import os
import signal
import time
from dataclasses import dataclass

import pytest

from zerogap.batch import tasks
from zerogap.batch.job import Job
from zerogap.batch.lines import lines_of
from zerogap.batch.worker import Answer


@dataclass(frozen=True, slots=True)
class EchoTask:
    seconds: float = 0.0
    inputs = ("lines", "jsonl", "parquet")
    suffix = ".txt"
    files = ()

    def load(self, format):
        return EchoSolver(self.seconds)


@dataclass(frozen=True, slots=True)
class EchoSolver:
    seconds: float

    def entries(self, piece):
        return lines_of(piece)

    def answer(self, record):
        time.sleep(self.seconds)
        text = record.text.strip()
        if text == "raise":
            raise KeyError("no such thing")
        if text == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        if text == "sleep":
            time.sleep(60.0)
        if text == "hang":  # as compiled code does, which no timer interrupts
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM})
            time.sleep(60.0)
        return Answer(f"{record.line} {text.upper()}\n", proven=text != "gap", proof=f"proof of {text}\n" if text == "prove" else "")


@pytest.fixture(autouse=True)
def _echo(monkeypatch):
    monkeypatch.setitem(tasks.TASKS, "echo", EchoTask)


@pytest.fixture
def echo(tmp_path):
    """A job over files with these lines."""

    def made(*files, options=None, **settings):
        for i, lines in enumerate(files):
            (tmp_path / f"{i}.txt").write_text("".join(f"{line}\n" for line in lines))
        given = {"workers": 2, "shard_size": 10, "limit": 20.0, "input_format": "lines"} | settings
        return Job("echo", (str(tmp_path / "?.txt"),), str(tmp_path / "out"), options or {}, **given)

    return made


def contents(folder):
    """The files of a folder, but for the lock."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.name != ".lock"}
