"""A worker handles a chunk: every record is answered or recorded with its error, and none takes longer than its limit.

The limit is kept twice. A timer interrupts Python code; if that does not help, since compiled code does not listen, the scheduler ends the
process. Then the chunk is given out again a record at a time, so that only the one that is to blame is lost.
"""

from __future__ import annotations

import json
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from zerogap.batch.chunks import Chunk
from zerogap.errors import ZerogapError
from zerogap.io.formats.lines import Piece


class Refused(NamedTuple):
    """A record that could not be read, and why."""

    line: int
    message: str


class Answer(NamedTuple):
    """What is written for a record."""

    text: str
    proven: bool = True
    proof: str = ""


class Solver(Protocol):
    """A loaded task. Records are what `entries` gives that is not Refused; each has a `line`."""

    def entries(self, piece: Piece) -> Iterator[Any]: ...

    def answer(self, record: Any) -> Answer: ...


class Order(NamedTuple):
    """A chunk, and the number of the only entry that is wanted, if only one is."""

    chunk: Chunk
    alone: int | None = None


@dataclass(slots=True)
class Outcome:
    """What came of a chunk, in the order of its records."""

    text: str = ""
    errors: str = ""
    proofs: str = ""
    answers: int = 0
    failures: int = 0
    gaps: int = 0

    def then(self, later: Outcome) -> Outcome:
        return Outcome(*(getattr(self, name) + getattr(later, name) for name in Outcome.__slots__))


class TooSlow(ZerogapError):
    """A record took longer than its limit."""


@dataclass(frozen=True, slots=True)
class Worker:
    """A function from orders to outcomes. It answers None if the entry that is wanted does not exist."""

    solver: Solver
    limit: float | None

    def __call__(self, order: Order) -> Outcome | None:
        found = Outcome()
        texts, errors, proofs = list[str](), list[str](), list[str]()
        exists = order.alone is None
        for i, entry in enumerate(self.solver.entries(order.chunk.piece)):
            if order.alone not in (None, i):
                continue
            exists = True
            if isinstance(entry, Refused):
                errors.append(error_line(order.chunk.piece.path, entry.line, "FormatError", entry.message))
                continue
            try:
                with time_limited(self.limit):
                    answer = self.solver.answer(entry)
            except Exception as error:
                errors.append(error_line(order.chunk.piece.path, entry.line, type(error).__name__, str(error)))
                continue
            texts.append(answer.text)
            proofs.append(answer.proof)
            found.gaps += not answer.proven
        found.answers, found.failures = len(texts), len(errors)
        found.text, found.errors, found.proofs = "".join(texts), "".join(errors), "".join(proofs)
        return found if exists else None


def error_line(path: str, line: int, kind: str, message: str) -> str:
    """A line of the side file. What is not UTF-8 in it is escaped."""
    return json.dumps({"input": path, "line": line, "error": kind, "message": message}) + "\n"


@contextmanager
def time_limited(seconds: float | None) -> Iterator[None]:
    """Raises TooSlow in the body after as many seconds, as soon as it is in Python code. Only main threads can be interrupted."""
    if seconds is None or threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return
    armed = True

    def interrupt(*_: object) -> None:
        if armed:
            raise TooSlow(f"took longer than its limit of {seconds:g} seconds.")

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        armed = False
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
