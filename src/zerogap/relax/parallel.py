"""A function over a stream on several threads or processes: results in the order of the stream, and little of it in memory.

Kernels release the interpreter's lock, and a tree is mostly kernels, so threads do nearly as well as processes and share all objects. With
`processes`, what the function does besides is shared as well; then items and results are copied. A thread takes several items at
once, because handing over a single one may cost as much as parsing it.
"""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from itertools import chain
from typing import Any, TypeVar

from zerogap.errors import InputError
from zerogap.proof.solution import Solution

CHUNK = 4  # items that a thread takes at once
LARGE_CHUNK = 16  # items that a process takes at once
AHEAD = 32  # chunks for every thread that wait, or wait behind a long one to be taken away

Item = TypeVar("Item")
Result = TypeVar("Result")


def decode_each(decode: Callable[..., Solution[Any]], problems: Sequence[Any], threads: int | None, **options: Any) -> list[Solution[Any]]:
    """`[decode(problem, **options) for problem in problems]`; `threads` is as many as there are processors unless given."""
    decoded = stream(lambda some: [decode(problem, **options) for problem in some], iter(problems), 1, checked(threads))
    return list(decoded)


def processors() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def mapped(
    function: Callable[[Item], Result], items: Iterable[Item], threads: int | None = None, *, processes: bool = False
) -> Iterator[Result]:
    """`map(function, items)`, on as many threads as there are processors unless `threads` says otherwise.

    With `processes`, that many processes do the work where the system can fork them; items and results must be such as pickle takes.

    >>> list(mapped(lambda x: x * x, range(5), threads=2))
    [0, 1, 4, 9, 16]
    """
    threads = checked(threads)
    if threads == 1:
        return map(function, items)
    forks = processes and can_fork()
    return stream(lambda chunk: [*map(function, chunk)], iter(items), LARGE_CHUNK if forks else CHUNK, threads, forks)


def mapped_together(
    function: Callable[[list[Item]], list[Result]], items: Iterable[Item], size: int, threads: int | None = None, *, processes: bool = False
) -> Iterator[Result]:
    """The same for a function that does `size` items faster together than one by one.

    >>> list(mapped_together(sorted, [2, 1, 4, 3], size=2, threads=1))
    [1, 2, 3, 4]
    """
    threads = checked(threads)
    if threads == 1:
        return chain.from_iterable(map(function, chunks_of(items, size)))
    return stream(function, iter(items), size, threads, processes and can_fork())


def checked(threads: int | None) -> int:
    if threads is not None and (isinstance(threads, bool) or not isinstance(threads, int) or threads < 1):
        raise InputError(f"threads is {threads!r}: expected a positive integer.")
    return processors() if threads is None else threads


def stream(
    function: Callable[[list[Item]], list[Result]], items: Iterator[Item], size: int, threads: int, processes: bool = False
) -> Iterator[Result]:
    waiting: deque[Future[list[Result]]] = deque()
    failure: Exception | None = None
    chunks = chunks_of(items, size)
    work: Callable[[list[Item]], list[Result]] | None = None
    with ExitStack() as stack:
        while True:
            try:
                chunk = next(chunks, [])
            except Exception as error:  # of the stream: what came before it has results, as on one thread
                chunk, failure = [], error
            if 0 < len(chunk) < size and not waiting:  # nothing to share
                yield from function(chunk)
            elif chunk:
                if work is None:  # processes first: it is better to fork while there is one thread
                    work = stack.enter_context(by_processes(function, threads)) if processes else function
                    pool = stack.enter_context(ThreadPoolExecutor(threads))
                    stack.callback(pool.shutdown, cancel_futures=True)
                waiting.append(pool.submit(work, chunk))
            if not chunk:
                break
            if len(waiting) >= AHEAD * threads:
                yield from waiting.popleft().result()
        while waiting:
            yield from waiting.popleft().result()
    if failure is not None:
        raise failure


def can_fork() -> bool:
    """Whether it is safe: system libraries of macOS do not survive it."""
    return sys.platform.startswith("linux")


@contextmanager
def by_processes(function: Callable[[list[Item]], list[Result]], n: int) -> Iterator[Callable[[list[Item]], list[Result]]]:
    from zerogap.relax.processes import Workers  # multiprocessing takes a while to import

    with Workers(function, n) as workers:
        yield lambda chunk: workers.results([chunk])[0]


def chunks_of(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Lists of some successive items; if there is an error, those before it first."""
    chunk: list[Item] = []
    try:
        for item in items:
            chunk.append(item)
            if len(chunk) == size:
                yield chunk
                chunk = []
    except Exception:
        if chunk:
            yield chunk
        raise
    if chunk:
        yield chunk
