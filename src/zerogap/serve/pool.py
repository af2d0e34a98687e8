"""The workers as the server sees them: a request goes to one that is free, and one that does not answer in time is replaced.

There are as many workers as processors. If requests wait and one of the workers has been at the same one for long, another worker is hired,
so that long requests do not hold up short ones: the system shares the processors among them. Workers that are too many leave when they
have had nothing to do for a while.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from zerogap.serve.limits import Limits, too_many_requests, took_too_long
from zerogap.serve.nursery import Nursery
from zerogap.serve.worker import ANSWER, MORE, NAMES, REQUEST, refusal

PATIENCE = 0.05  # seconds that a request waits before somebody looks whether another worker should be hired
LONG = 0.25  # seconds of work on one request
LINGER = 5.0  # seconds that a worker stays that is not needed
GRACE = 0.5  # seconds that a worker may be late
LOST = refusal("WorkerLost", "the process that worked on this has ended: perhaps there was too little memory.")


class Link(asyncio.Protocol):
    """The connection to a worker: messages are put into a queue."""

    def __init__(self) -> None:
        self.messages: asyncio.Queue[tuple[int, bytes] | None] = asyncio.Queue()
        self.buffer = bytearray()
        self.transport: asyncio.WriteTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport  # type: ignore[assignment]  # sockets can be written to

    def data_received(self, data: bytes) -> None:
        buffer = self.buffer
        buffer += data
        while len(buffer) >= ANSWER.size:
            size, status = ANSWER.unpack_from(buffer)
            if len(buffer) < ANSWER.size + size:
                return
            body = bytes(buffer[ANSWER.size : ANSWER.size + size])
            del buffer[: ANSWER.size + size]
            self.messages.put_nowait((status, body))

    def connection_lost(self, error: Exception | None) -> None:
        self.messages.put_nowait(None)


@dataclass(slots=True, eq=False)
class Worker:
    link: Link
    pid: int
    asked: int = 0
    since: float = 0.0  # when it was asked last

    def ask(self, task: str, body: bytes) -> None:
        assert self.link.transport is not None
        self.asked += 1
        self.since = time.monotonic()
        self.link.transport.write(REQUEST.pack(len(body), NAMES.index(task)) + body)

    def leave(self) -> None:
        if self.link.transport is not None:
            self.link.transport.close()


@dataclass(slots=True, eq=False)
class Pool:
    """`regular` workers are always there, more are hired for long requests, `most` in all."""

    nursery: Nursery
    limits: Limits
    regular: int
    most: int
    free: list[Worker] = field(default_factory=list)
    busy: set[Worker] = field(default_factory=set)
    waiting: deque[asyncio.Future[Worker]] = field(default_factory=deque)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)  # of the nursery
    hiring: int = 0
    tasks: set[asyncio.Task[None]] = field(default_factory=set)  # of hiring
    hired: int = 0
    ended: int = 0  # because they were late
    lost: int = 0  # by themselves

    async def open(self) -> None:
        for _ in range(self.regular):
            self.free.append(await self.hire())

    def close(self) -> None:
        for task in self.tasks:
            task.cancel()
        for worker in self.busy:
            self.nursery.kill(worker.pid)
        for worker in [*self.free, *self.busy]:
            worker.leave()
        self.nursery.close()

    def hire_another(self) -> None:
        """Whoever asked for it may leave: what was begun with the nursery is finished."""

        async def hired() -> None:
            try:
                self.give(await self.hire())
            finally:
                self.hiring -= 1

        self.hiring += 1
        task = asyncio.create_task(hired())
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def hire(self) -> Worker:
        async with self.lock:
            connection, pid = await self.nursery.hire()
        _, link = await asyncio.get_running_loop().create_connection(Link, sock=connection)
        self.hired += 1
        return Worker(link, pid)

    @property
    def size(self) -> int:
        return len(self.free) + len(self.busy)

    async def taken(self) -> Worker:
        """A worker that is free; one more if none becomes free soon. Turned away if none becomes free at all."""
        if self.free:
            worker = self.free.pop()
            self.busy.add(worker)
            return worker
        place: asyncio.Future[Worker] = asyncio.get_running_loop().create_future()
        self.waiting.append(place)
        begin = time.monotonic()
        try:
            while True:
                done, _ = await asyncio.wait([place], timeout=PATIENCE)
                if done:
                    return place.result()
                if time.monotonic() - begin > self.limits.seconds:
                    raise too_many_requests(self.limits)
                if self.hiring < len(self.waiting) and self.size + self.hiring < self.most and self.is_held_up():
                    self.hire_another()
        except BaseException:
            if not place.done():
                self.waiting.remove(place)
            elif not place.cancelled():  # given to who no longer waits
                self.give(place.result())
            raise

    def is_held_up(self) -> bool:
        """Whether some worker has been at the same request for long."""
        now = time.monotonic()
        return any(now - worker.since > LONG for worker in self.busy)

    def give(self, worker: Worker) -> None:
        """To who waits longest; else it is free."""
        self.busy.discard(worker)
        while self.waiting:
            place = self.waiting.popleft()
            if not place.done():
                self.busy.add(worker)
                place.set_result(worker)
                return
        self.free.append(worker)
        if self.size > self.regular:
            asyncio.get_running_loop().call_later(LINGER, self.dismiss, worker, worker.asked)

    def dismiss(self, worker: Worker, asked: int) -> None:
        """Unless it was needed meanwhile."""
        if self.size > self.regular and worker.asked == asked and worker in self.free:
            self.free.remove(worker)
            worker.leave()

    def end(self, worker: Worker) -> None:
        """Ends a worker in the middle of its work, and hires another if there are too few."""
        self.busy.discard(worker)
        self.nursery.kill(worker.pid)
        worker.leave()
        if self.size + self.hiring < (self.most if self.waiting else self.regular):
            self.hire_another()

    async def messages(self, task: str, body: bytes) -> AsyncIterator[tuple[int, bytes]]:
        """What a worker says of a request; the last has a status. LimitExceeded if it takes too long."""
        worker = await self.taken()
        done = False
        try:
            deadline = time.monotonic() + self.limits.seconds + GRACE
            worker.ask(task, body)
            while True:
                try:
                    async with asyncio.timeout(deadline - time.monotonic()):
                        message = await worker.link.messages.get()
                except TimeoutError:
                    self.ended += 1
                    raise took_too_long(self.limits) from None
                if message is None:
                    self.lost += 1
                    yield 500, LOST
                    return
                done = message[0] != MORE
                yield message
                if done:
                    return
        finally:
            if done:
                self.give(worker)
            else:  # late, lost, or nobody waits for the answer any more
                self.end(worker)

    async def answer(self, task: str, body: bytes) -> tuple[int, bytes]:
        """The last message."""
        last = 500, LOST
        async for message in self.messages(task, body):
            last = message
        return last
