"""From a socket that listens to a server that answers: kernels are compiled, models loaded, workers hired.

The page is there from the beginning, and says how far it is. Kernels that are not on disk are compiled by processes of their own, those
that the models need first, then all others, while requests are answered. Workers compile none meanwhile, so no request pays for a
compiler: one that needs a kernel which is not there yet is told to come back.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from zerogap import errors
from zerogap.serve.pool import Pool

SECONDS_BETWEEN_NOTES = 5.0
RETRY_AFTER = 2  # seconds
NICER = 10  # than workers are those that compile while there are some
OK, LOADING, COMPILING = "ok", "loading", "compiling"


@dataclass(slots=True, eq=False)
class Starting:
    """What is done until the server is ready, and how far it is."""

    pool: Pool
    needed: tuple[str, ...]  # tasks whose kernels the models need
    refusing: Any  # a byte that all processes share: 1 while others compile
    ready: Callable[[], object] = lambda: None
    failed: Callable[[], object] = lambda: None
    status: str = LOADING
    compiled: int = 0
    to_compile: int = 0  # modules, those that are compiled among them
    about: dict[str, Any] = field(default_factory=dict)
    failure: BaseException | None = None
    compiler: Process | None = None
    rest: asyncio.Task[None] | None = None  # compiles all others

    async def begin(self) -> None:
        """What goes wrong is kept, for who started the server."""
        try:
            await self.start()
        except Exception as error:
            self.failure = error
            self.failed()

    async def start(self) -> None:
        """Loads; compiles first what that needs, and afterwards, in the background, all else."""
        found = await self.load()
        if found.get("not_compiled"):
            self.status = COMPILING
            await self.compile(*self.needed)
            self.status = LOADING
            self.refusing[0] = 0  # if something is still missing, it is little
            found = await self.load()
            self.refusing[0] = 1
        if "error" in found:
            raise error_of(*found["error"])
        self.about = found["about"]
        await self.pool.open()
        self.status = OK
        self.ready()
        if found["lacking"]:
            self.compile_rest()

    async def load(self) -> dict[str, Any]:
        return json.loads(await self.pool.nursery.load() or b'{"error": ["Defect", "the process that loads the models has ended."]}')

    def compile_rest(self) -> asyncio.Task[None]:
        """Has every kernel compiled, if nobody does so already. Afterwards, workers may compile what is missing nevertheless."""

        async def everything() -> None:
            await self.compile(nicer=NICER)
            self.refusing[0] = 0

        self.rest = self.rest or asyncio.create_task(everything())
        return self.rest

    async def compile(self, *tasks: str, nicer: int = 0) -> None:
        """By other processes, what the tasks need, or all kernels; tells how far it is."""
        begin = last = time.monotonic()
        which = "kernels for this machine (once; they are kept on disk)" if tasks else "all other kernels, in the background"
        say(f"compiling {which}")
        command = (sys.executable, "-m", "zerogap.pipeline.kernels", *tasks)
        self.compiled = self.to_compile = 0
        process = self.compiler = await asyncio.create_subprocess_exec(*command, stdout=PIPE, start_new_session=True)
        with contextlib.suppress(ProcessLookupError):  # it may have ended
            os.setpriority(os.PRIO_PROCESS, process.pid, nicer)
        assert process.stdout is not None
        async for line in process.stdout:
            self.compiled, self.to_compile = map(int, line.split())
            now = time.monotonic()
            if tasks and now - last >= SECONDS_BETWEEN_NOTES:
                last = now
                say(f"compiling kernels, {self.compiled} of {self.to_compile} modules ({now - begin:.0f} s)")
        await process.wait()
        self.compiler = None
        if not tasks:
            say(f"all kernels are compiled ({time.monotonic() - begin:.0f} s)")

    def close(self) -> None:
        if self.rest is not None:
            self.rest.cancel()
        if self.compiler is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.compiler.pid, signal.SIGKILL)
        self.pool.close()

    def how_far(self) -> dict[str, Any]:
        """For /health."""
        found: dict[str, Any] = {"status": self.status}
        return found | ({"compiled": self.compiled, "to_compile": self.to_compile} if self.compiler is not None else {})

    def message(self) -> str:
        """Why a request cannot be answered yet."""
        if self.compiler is None and self.status != OK:
            return "the models are being loaded: try again in a moment."
        far = f", {self.compiled} of {self.to_compile} modules" if self.to_compile else ""
        return f"kernels are being compiled for this machine{far} (once; they are kept on disk): try again in a moment."


def say(text: str) -> None:
    print(f"zerogap: {text}", file=sys.stderr, flush=True)


def error_of(kind: str, message: str) -> BaseException:
    """An error of the process that loads, as it was there."""
    found = getattr(errors, kind, RuntimeError)
    return found.__new__(found, message)
