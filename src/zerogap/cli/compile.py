"""`zerogap compile`: all kernels at once, on all cores, for a container image or before a run of tests.

The kernels that a kernel calls must be in the cache when it is compiled, or two processes would compile them both. So modules are taken
in the order of their imports, read from their sources, each as soon as all that it needs are done.
"""

from __future__ import annotations

import ast
import os
import time
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from multiprocessing import get_context
from pathlib import Path
from typing import Annotated

import typer

import zerogap
from zerogap.cli.progress import progress
from zerogap.errors import InputError
from zerogap.kernels import compile_module

KERNELS = {"zerogap.kernels"}  # who imports this has kernels


def compile_command(
    threads: Annotated[int | None, typer.Option(help="Processes; all cores unless given.", min=1, metavar="N")] = None,
) -> None:
    """Compile all kernels now, and keep them on disk: no later command has to wait for them.

    Useful when a container image is built. Kernels are otherwise compiled when they are first needed, which takes seconds each.

    [bold]zerogap compile[/bold]
    """
    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
        raise InputError("NUMBA_DISABLE_JIT is set, so there is nothing to compile: expected it to be unset.")
    begin = time.perf_counter()
    n_modules = compile_all(threads)
    print(f"The kernels of {n_modules} modules are compiled ({time.perf_counter() - begin:.0f} s).")


def compile_all(threads: int | None = None) -> int:
    """Returns the number of modules that have kernels."""
    needs = kernel_modules()
    waiting, running, done = dict(needs), dict[Future[None], str](), set[str]()
    with (
        progress("compiling", total=len(needs)) as steps,
        ProcessPoolExecutor(threads or os.cpu_count(), mp_context=get_context("spawn")) as pool,
    ):
        while waiting or running:
            for module in [name for name, needed in waiting.items() if needed <= done]:
                del waiting[module]
                running[pool.submit(compile_module, module)] = module
            finished, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in finished:
                future.result()
                done.add(running.pop(future))
                steps.advance()
    return len(needs)


def kernel_modules() -> dict[str, set[str]]:
    """Every module with kernels, and the others of them that importing it imports."""
    root = Path(zerogap.__file__).parent
    found = {}
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    direct = {name: set(imported(path)) & found.keys() for name, path in found.items()}
    with_kernels = {name for name, others in direct.items() if others & KERNELS}
    return {name: (reached(name, direct) & with_kernels) - {name} for name in with_kernels}


def imported(path: Path) -> Iterator[str]:
    """The modules that are imported when this one is: not those of functions, nor those for types only."""
    pending: list[ast.stmt] = list(ast.parse(path.read_text(encoding="utf-8")).body)
    while pending:
        statement = pending.pop()
        if isinstance(statement, ast.Import):
            yield from (alias.name for alias in statement.names)
        elif isinstance(statement, ast.ImportFrom) and statement.module:
            yield statement.module
            yield from (f"{statement.module}.{alias.name}" for alias in statement.names)


def reached(name: str, direct: dict[str, set[str]]) -> set[str]:
    seen, pending = set[str](), [name]
    while pending:
        others = direct[pending.pop()] - seen
        seen |= others
        pending += others
    return seen
