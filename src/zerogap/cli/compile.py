"""`zerogap compile`: all kernels at once, on all cores, for a container image or before a run of tests."""

from __future__ import annotations

import os
import sys
import time
from typing import Annotated

import typer

from zerogap.errors import InputError

SECONDS_BETWEEN_NOTES = 5.0


def compile_command(
    threads: Annotated[int | None, typer.Option(help="Processes; all cores unless given.", min=1, metavar="N")] = None,
) -> None:
    """Compile all kernels now, and keep them on disk: no later command has to wait for them.

    Useful when a container image is built. Kernels are otherwise compiled when they are first needed, which takes seconds each.

    [bold]zerogap compile[/bold]
    """
    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
        raise InputError("NUMBA_DISABLE_JIT is set, so there is nothing to compile: expected it to be unset.")
    from zerogap.pipeline.kernels import compile_all, kernel_modules

    begin = last = time.perf_counter()
    needs = kernel_modules()

    def report(done: int, total: int) -> None:
        nonlocal last
        now = time.perf_counter()
        if now - last >= SECONDS_BETWEEN_NOTES:
            last = now
            print(f"zerogap: compiling kernels, {done} of {total} modules ({now - begin:.0f} s)", file=sys.stderr, flush=True)

    compile_all(needs, report, processes=threads)
    print(f"The kernels of {len(needs)} modules are compiled ({time.perf_counter() - begin:.0f} s).")
