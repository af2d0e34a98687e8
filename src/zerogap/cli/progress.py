"""Progress on the terminal for what takes longer than a second, and nothing where nobody is looking."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

DELAY = 1.0  # seconds


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
