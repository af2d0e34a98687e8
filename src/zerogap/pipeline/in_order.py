"""A function over a stream on several threads: results in the order of the stream, and little of it in memory.

Kernels release the interpreter's lock, and a tree is nearly all kernels, so threads do as well as processes would and share one model.
A thread takes several items at once, because handing over a single one may cost as much as parsing it.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from zerogap.errors import InputError

CHUNK = 4  # items that a thread takes at once
AHEAD = 32  # chunks for every thread that wait, or wait behind a long one to be taken away

Item = TypeVar("Item")
Result = TypeVar("Result")


def processors() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def mapped(function: Callable[[Item], Result], items: Iterable[Item], threads: int | None = None) -> Iterator[Result]:
    """`map(function, items)`, on as many threads as there are processors unless `threads` says otherwise.

    >>> list(mapped(lambda x: x * x, range(5), threads=2))
    [0, 1, 4, 9, 16]
    """
    if threads is not None and (isinstance(threads, bool) or not isinstance(threads, int) or threads < 1):
        raise InputError(f"threads is {threads!r}: expected a positive integer.")
    return stream(function, iter(items), processors() if threads is None else threads)


def stream(function: Callable[[Item], Result], items: Iterator[Item], threads: int) -> Iterator[Result]:
    if threads == 1:
        yield from map(function, items)
        return
    waiting: deque[Future[list[Result]]] = deque()
    failure: Exception | None = None
    chunks = chunks_of(items)
    with ThreadPoolExecutor(threads) as pool:
        try:
            while True:
                try:
                    chunk = next(chunks, [])
                except Exception as error:  # of the stream: what came before it has results, as on one thread
                    chunk, failure = [], error
                if len(chunk) < CHUNK and not waiting:  # nothing to share
                    yield from map(function, chunk)
                elif chunk:
                    waiting.append(pool.submit(lambda chunk: [function(item) for item in chunk], chunk))
                if not chunk:
                    break
                if len(waiting) >= AHEAD * threads:
                    yield from waiting.popleft().result()
            while waiting:
                yield from waiting.popleft().result()
        finally:
            pool.shutdown(cancel_futures=True)
    if failure is not None:
        raise failure


def chunks_of(items: Iterable[Item]) -> Iterator[list[Item]]:
    """Lists of some successive items; if there is an error, those before it first."""
    chunk: list[Item] = []
    try:
        for item in items:
            chunk.append(item)
            if len(chunk) == CHUNK:
                yield chunk
                chunk = []
    except Exception:
        if chunk:
            yield chunk
        raise
    if chunk:
        yield chunk
