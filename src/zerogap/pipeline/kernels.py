"""Compiles kernels ahead of their first call, on all cores.

The kernels that a kernel calls must be in the cache when it is compiled, or two processes would compile them both. So modules are taken
in the order of their imports, read from their sources, each as soon as all that it needs are done.

    python -m zerogap.pipeline.kernels [MODULE ...]

compiles the kernels of the modules and of what they import (without any: every kernel there is), and prints how many modules are done.
"""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from functools import cache
from multiprocessing import get_context
from pathlib import Path

import zerogap
from zerogap.kernels import compile_module

KERNELS = {"zerogap.kernels"}  # who imports this has kernels
Report = Callable[[int, int], object]  # modules that are done, and all


def compile_all(needs: dict[str, set[str]], report: Report, *, processes: int | None = None) -> None:
    """Compiles the modules that `kernel_modules` gave."""
    waiting, running, done = dict(needs), dict[Future[None], str](), set[str]()
    report(0, len(needs))
    with ProcessPoolExecutor(processes or os.cpu_count(), mp_context=get_context("spawn")) as pool:
        while waiting or running:
            for module in [name for name, needed in waiting.items() if needed <= done]:
                del waiting[module]
                running[pool.submit(compile_module, module)] = module
            finished, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in finished:
                future.result()
                done.add(running.pop(future))
                report(len(done), len(needs))


def kernel_modules(roots: Iterable[str] = ()) -> dict[str, set[str]]:
    """The modules with kernels that importing the roots imports (without any, all there are), and what each of them needs of the others."""
    direct = imports()
    with_kernels = {name for name, others in direct.items() if others & KERNELS}
    named = set(roots)
    wanted = with_kernels if not named else with_kernels & named.union(*(reached(name, direct) for name in named))
    return {name: (reached(name, direct) & with_kernels) - {name} for name in wanted}


@cache
def imports() -> dict[str, set[str]]:
    """Every module of zerogap, and those that it imports at once."""
    root = Path(zerogap.__file__).parent
    found = {}
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return {name: set(imported(path)) & found.keys() for name, path in found.items()}


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


if __name__ == "__main__":
    compile_all(kernel_modules(sys.argv[1:]), lambda done, total: print(done, total, flush=True))
