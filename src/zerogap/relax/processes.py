"""Processes that do what they were forked with: they share the model's memory, and no interpreter's lock.

A worker waits for a list of items and answers with the list of results. It ends when the pipe to its parent is closed, also
if the parent was killed.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import pickle
import queue
import signal
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from typing import Any

from zerogap.errors import ZerogapError


class WorkerLost(ZerogapError):
    """A process ended that should have answered: perhaps there was too little memory."""


class Workers:
    """`with Workers(function, 2) as workers: workers.results(items)`: threads may call it, as many at once as there are workers."""

    def __init__(self, function: Callable[[Any], Any], n: int) -> None:
        context = multiprocessing.get_context("fork")
        self.free: queue.SimpleQueue[Connection] = queue.SimpleQueue()
        self.ours: list[Connection] = []
        self.processes = []
        for _ in range(n):
            ours, theirs = context.Pipe()
            self.ours.append(ours)
            process = context.Process(target=work, args=(function, theirs, list(self.ours)), daemon=True)
            process.start()
            theirs.close()
            self.processes.append(process)
            self.free.put(ours)

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        for connection in self.ours:
            connection.close()
        for process in self.processes:
            process.join(timeout=1.0)
            if process.is_alive():  # in the middle of something that nobody waits for
                process.terminate()
                process.join()

    def results(self, items: Sequence[Any]) -> list[Any]:
        connection = self.free.get()
        try:
            connection.send_bytes(pickle.dumps(items, protocol=pickle.HIGHEST_PROTOCOL))
            found, error = pickle.loads(connection.recv_bytes())
        except (EOFError, OSError):
            raise WorkerLost("a process that was to parse sentences has ended: perhaps there was too little memory.") from None
        finally:
            self.free.put(connection)
        if error is not None:
            raise error
        return list(found)


def work(function: Callable[[Any], Any], connection: Connection, others: list[Connection]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides
    for other in others:  # else they would stay open when the parent ends
        other.close()
    with contextlib.suppress(EOFError, OSError):
        while True:
            connection.send_bytes(answer(function, pickle.loads(connection.recv_bytes())))


def answer(function: Callable[[Any], Any], items: list[Any]) -> bytes:
    try:
        return pickle.dumps(([function(item) for item in items], None), protocol=pickle.HIGHEST_PROTOCOL)
    except Exception as error:
        try:
            found = pickle.dumps(([], error))
            pickle.loads(found)
        except Exception:  # what cannot be sent is told
            return pickle.dumps(([], RuntimeError(f"{type(error).__name__}: {error}")))
        return found
