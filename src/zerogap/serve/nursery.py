"""A process that forks workers for the server, at any time.

The server has an event loop, and perhaps threads, so it should not fork. The nursery is forked before there are any; it loads the models,
then does nothing but fork, and so every worker begins with the models in memory that it shares with all others.

    server to nursery   l and a socket: load the models, and write there what came of it
                        h and a socket: fork a worker that answers there; the answer is its process (8 bytes)
                        k and a process (8 bytes): end it
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

PROCESS = struct.Struct(">q")
LOAD, HIRE, KILL = b"l", b"h", b"k"


@dataclass(slots=True, eq=False)
class Nursery:
    """The server's end. `pid` is the process."""

    control: socket.socket
    pid: int
    loading: bool = False

    async def load(self) -> bytes:
        """Has the models loaded; what `load` in the nursery gave, nothing if it did not end."""
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        self.loading = True
        with ours:
            with theirs:
                socket.send_fds(self.control, [LOAD + bytes(PROCESS.size)], [theirs.fileno()])
            found = bytearray()
            while part := await asyncio.get_running_loop().sock_recv(ours, 1 << 16):
                found += part
        self.loading = False
        return bytes(found)

    async def hire(self) -> tuple[socket.socket, int]:
        """A new worker: the socket to it, and its process. One caller at a time."""
        ours, theirs = socket.socketpair()
        try:
            socket.send_fds(self.control, [HIRE + bytes(PROCESS.size)], [theirs.fileno()])
        finally:
            theirs.close()
        ours.setblocking(False)
        found = await asyncio.get_running_loop().sock_recv(self.control, PROCESS.size)
        if len(found) < PROCESS.size:
            ours.close()
            raise RuntimeError("the process that forks workers has ended.")
        return ours, PROCESS.unpack(found)[0]

    def kill(self, worker: int) -> None:
        self.control.send(KILL + PROCESS.pack(worker))

    def close(self) -> None:
        """Workers end when their sockets are closed, the nursery when its own is; while it loads, it does not look."""
        self.control.close()
        if self.loading:
            os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)


def start(work: Callable[[socket.socket], Any], load: Callable[[], bytes] = bytes) -> Nursery:
    """Forks the nursery. To be called while there is one thread."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    pid = os.fork()
    if pid == 0:
        ours.close()
        try:
            tend(theirs, work, load)
        finally:
            os._exit(0)
    theirs.close()
    ours.setblocking(False)
    return Nursery(ours, pid)


def tend(control: socket.socket, work: Callable[[socket.socket], Any], load: Callable[[], bytes]) -> None:
    """Forks and ends workers until the server is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    workers: set[int] = set()
    while True:
        message, handles, _, _ = socket.recv_fds(control, 1 + PROCESS.size, 1)
        if not message:
            return
        if message[:1] == KILL:
            end(PROCESS.unpack(message[1:])[0], workers)
            continue
        if message[:1] == LOAD:
            with socket.socket(fileno=handles[0]) as answer:
                answer.sendall(load())
            continue
        pid = os.fork()
        if pid == 0:
            control.close()
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            status = 1
            try:
                work(socket.socket(fileno=handles[0]))
                status = 0
            finally:
                os._exit(status)
        os.close(handles[0])
        workers.add(pid)
        control.send(PROCESS.pack(pid))
        bury(workers)


def end(worker: int, workers: set[int]) -> None:
    """Only what was forked here, and has not been waited for, is a worker."""
    if worker in workers:
        os.kill(worker, signal.SIGKILL)
        os.waitpid(worker, 0)
        workers.discard(worker)


def bury(workers: set[int]) -> None:
    """Waits for those that have ended by themselves."""
    for worker in list(workers):
        if os.waitpid(worker, os.WNOHANG)[0]:
            workers.discard(worker)
