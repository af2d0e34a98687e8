"""Batches: lines of JSON in, lines of JSON out, in the same order, while the rest is still on its way.

A client may send everything before it reads anything. So lines are read on, up to the limit of a batch, while answers wait to be taken.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator

from fastapi import Request
from fastapi.responses import StreamingResponse
from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope, Send

from zerogap.serve.limits import LimitExceeded, Limits, batch_too_large, body_too_large
from zerogap.serve.metrics import Metrics
from zerogap.serve.starting import Starting
from zerogap.serve.worker import NOT_COMPILED, refusal

IDLE = 60.0  # seconds that a client may take for the next part of a batch


class WhileReading(StreamingResponse):
    """Leaves the body of the request to who writes the answer; a usual response takes it away, to see when the client leaves."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.stream_response(send)


Lines = asyncio.Queue[bytes | LimitExceeded | None]  # of a batch; in the end None, or the limit that was exceeded


async def answers(request: Request, task: str, starting: Starting, limits: Limits, metrics: Metrics) -> AsyncIterator[bytes]:
    """One for every line, in order."""
    pool = starting.pool
    lines: Lines = asyncio.Queue()
    gone = asyncio.Event()
    reading = asyncio.create_task(read_lines(request, limits, lines, gone))
    working: deque[asyncio.Task[bytes]] = deque()

    async def answer(line: bytes | LimitExceeded) -> bytes:
        try:
            if isinstance(line, LimitExceeded):
                raise line
            status, body = await pool.answer(task, line)
            while status == NOT_COMPILED:  # nobody waits for this line alone
                await asyncio.shield(starting.compile_rest())
                status, body = await pool.answer(task, line)
            return body
        except LimitExceeded as error:
            metrics.refused[error.limit] += 1
            return refusal("LimitExceeded", str(error), error.limit)

    try:
        ended = False
        while (working or not ended) and not gone.is_set():
            while not ended and len(working) < 2 * pool.regular and not (working and lines.empty()):
                line = await lines.get()
                ended = not isinstance(line, bytes)
                if line is not None:
                    working.append(asyncio.create_task(answer(line)))
            if working and await first_done(working[0], gone):
                yield working.popleft().result() + b"\n"
                metrics.lines += 1
    finally:
        for other in [reading, *working]:
            other.cancel()


async def first_done(task: asyncio.Task[bytes], gone: asyncio.Event) -> bool:
    """Whether the task was done before the client left."""
    leaving = asyncio.ensure_future(gone.wait())
    await asyncio.wait([task, leaving], return_when=asyncio.FIRST_COMPLETED)
    leaving.cancel()
    return task.done()


async def steadily(request: Request) -> AsyncIterator[bytes]:
    """The parts of the body; LimitExceeded if none comes for long."""
    parts = aiter(request.stream())
    while True:
        try:
            async with asyncio.timeout(IDLE):
                part = await anext(parts)
        except StopAsyncIteration:
            return
        except TimeoutError:
            raise LimitExceeded("seconds", f"no line came for {IDLE:g} seconds: expected the end of the batch.", 408) from None
        yield part


async def read_lines(request: Request, limits: Limits, lines: Lines, gone: asyncio.Event) -> None:
    """Puts every line into the queue, and then waits for the client to leave."""
    rest, size = b"", 0
    try:
        async for part in steadily(request):
            size += len(part)
            if size > limits.batch:
                raise batch_too_large(limits)
            *whole, rest = (rest + part).split(b"\n")
            for line in [*whole, rest]:
                if len(line) > limits.body:
                    raise body_too_large(limits, "a line")
            for line in whole:
                if line.strip():
                    lines.put_nowait(line)
        if rest.strip():
            lines.put_nowait(rest)
        lines.put_nowait(None)
        await request.receive()
    except LimitExceeded as error:
        lines.put_nowait(error)
        return
    except ClientDisconnect:
        pass
    gone.set()
    lines.put_nowait(None)
