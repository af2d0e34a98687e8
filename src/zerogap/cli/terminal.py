"""Messages of all commands on standard error: progress, notes on single inputs, a summary with the exit code."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import typer

from zerogap.errors import FormatError, InputError, UnknownMethod

BAD_INPUT, WRONG_USAGE, GAP_LEFT_OPEN = 1, 2, 3  # exit codes

DELAY = 1.0  # seconds until progress is shown
MAX_NOTES = 10


def counted(n: int, what: str) -> str:
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def size_of(path: Path) -> str:
    return f"{path.stat().st_size / 1e6:.1f} MB"


@contextmanager
def placed(where: str) -> Iterator[None]:
    """Errors of the body say where."""
    try:
        yield
    except FormatError:
        raise
    except InputError as error:
        raise FormatError(f"{where}: {error}") from None


def check_choices(*choices: tuple[str, str, Collection[str]]) -> None:
    """UnknownMethod for the first option whose value is not one of the known ones."""
    for option, given, known in choices:
        if given not in known:
            raise UnknownMethod(option, given, known)


@dataclass(slots=True)
class Summary:
    """What came of the inputs of a command: counted while it runs, told at its end."""

    noun: str  # of an input
    nothing: str = ""  # told if there was no input
    unproven: str = ""  # the option that asked for answers without proofs
    begin: float = field(default_factory=time.perf_counter)
    inputs: int = 0
    words: int = 0
    proven: int = 0
    others: dict[str, int] = field(default_factory=dict)  # inputs without an answer, by the words for them
    notes: list[str] = field(default_factory=list)
    more_notes: int = 0

    @property
    def open_gaps(self) -> int:
        return self.inputs - self.proven - sum(self.others.values())

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self.begin

    def count(self, *, words: int = 0, proven: bool = False, other: str = "") -> None:
        """Counts an input with its words, and whether its answer is proven or it has none."""
        self.inputs += 1
        self.words += words
        self.proven += proven
        if other:
            self.others[other] = self.others.get(other, 0) + 1

    def note(self, text: str) -> None:
        """Keeps what is to be told of a single input; of many, the first ones."""
        if len(self.notes) < MAX_NOTES:
            self.notes.append(text)
        else:
            self.more_notes += 1

    def tell(self, *, more: str = "", speed: str = "") -> None:
        """Notes and summary; exit code 3 if a gap was left open, unless no proofs were asked for."""
        notes = [*self.notes, *([f"... and {self.more_notes:,} more"] if self.more_notes else [])]
        state = [f"{self.proven:,} proven optimal" if self.proven < self.inputs else "all proven optimal"]
        state += [f"{self.open_gaps:,} with a gap left open"] if self.open_gaps else []
        state += [f"{number:,} {other}" for other, number in self.others.items()]
        if self.unproven:
            state = [f"not proven: {self.unproven}"]
        what = ", ".join([counted(self.inputs, self.noun), *([counted(self.words, "word")] if self.words else [])])
        told = f"{what}: {', '.join(state)}" if self.inputs or not self.nothing else self.nothing
        print(*notes, f"{told}{more} ({self.seconds:.1f} s{speed if self.seconds >= 1.0 else ''})", sep="\n", file=sys.stderr)
        if self.open_gaps and not self.unproven:
            raise typer.Exit(GAP_LEFT_OPEN)


class Steps:
    """What the body of `progress` reports to."""

    def __init__(self, description: str) -> None:
        self.done = 0
        self.description = description

    def advance(self, description: str | None = None) -> None:
        self.done += 1
        self.description = description or self.description


@contextmanager
def progress(description: str, total: int | None = None) -> Iterator[Steps]:
    """A bar (a pulse if the total is not known) that appears after a second, on a terminal only."""
    steps = Steps(description)
    if not sys.stderr.isatty():
        yield steps
        return
    finished = threading.Event()
    shown = threading.Thread(target=show, args=(steps, total, finished), daemon=True)
    shown.start()
    try:
        yield steps
    finally:
        finished.set()
        shown.join()


def show(steps: Steps, total: int | None, finished: threading.Event) -> None:
    if finished.wait(DELAY):
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = [TextColumn("{task.description}"), BarColumn(), *([MofNCompleteColumn()] if total else []), TimeElapsedColumn()]
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(steps.description, total=total)
        while not finished.wait(0.1):
            bar.update(task, completed=steps.done, description=steps.description)
