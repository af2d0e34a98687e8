"""`zerogap doctor`: is this installation sound? Versions, threads, the cache of kernels, and a self-test with proofs."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import sys
import time
from pathlib import Path

import typer

import zerogap
from zerogap import __version__
from zerogap.cli.terminal import progress
from zerogap.errors import ZerogapError

PACKAGES = ("numpy", "numba", "llvmlite", "highspy", "typer", "rich")


def doctor_command() -> None:
    """Check this installation: versions, threads, compiled kernels, and a proof of every kind."""
    from rich.console import Console
    from rich.table import Table

    console = Console()
    facts = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    for name, value in system_facts():
        facts.add_row(name, value)
    console.print(facts)

    from zerogap.cli.selftest import instances
    from zerogap.proof.verify import verify

    table = Table("self-test", "score", "bound", "certificate", "ms", "verified", box=None, padding=(0, 2, 0, 0), title_justify="left")
    failed = []
    tests = instances()
    begin = time.perf_counter()
    with progress("self-test (the first time kernels are compiled)", total=len(tests)) as steps:
        for name, make in tests.items():
            try:
                problem, decode, method = make()
                decode(problem, method=method)  # compiled now, timed next
                start = time.perf_counter()
                solution = decode(problem, method=method)
                elapsed = 1000 * (time.perf_counter() - start)
                verify(problem, solution)
                certificate = solution.certificate.kind
                table.add_row(name, f"{solution.score:g}", f"{solution.bound:g}", certificate, f"{elapsed:.2f}", "yes")
            except (ZerogapError, ImportError, OSError) as error:
                failed.append(name)
                table.add_row(name, "", "", "", "", f"[red]no: {error}[/red]")
            steps.advance()
    console.print()
    console.print(table)
    console.print()
    kernels, folder = kernel_cache()
    console.print(
        f"{kernels} compiled kernels in {folder}, self-test in {time.perf_counter() - begin:.1f} s", highlight=False, soft_wrap=True
    )
    if failed:
        console.print(f"{len(failed)} of {len(tests)} self-tests failed.", style="red")
        raise typer.Exit(1)
    console.print(f"All {len(tests)} self-tests passed.")


def system_facts() -> list[tuple[str, str]]:
    facts = [
        ("zerogap", __version__),
        ("python", f"{platform.python_version()} ({sys.executable})"),
        ("system", f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors, {usable_threads()} usable"),
    ]
    for package in PACKAGES:
        try:
            facts.append((package, importlib.metadata.version(package)))
        except importlib.metadata.PackageNotFoundError:
            facts.append((package, "not installed"))
    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
        facts.append(("NUMBA_DISABLE_JIT", "set: kernels run as plain Python, hundreds of times slower"))
    return facts


def usable_threads() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)


def kernel_cache() -> tuple[int, Path]:
    """How many compiled kernels are kept on this machine, and where."""
    from zerogap.kernels import cache_path
    from zerogap.oracles.hypergraphs.best_path import inside_max

    if not hasattr(inside_max, "py_func"):
        return 0, Path("nowhere (compilation is off)")
    folder = Path(cache_path(inside_max))
    package = Path(zerogap.__file__).parent
    folder = package if package in folder.parents else folder  # kernels lie beside their sources
    return sum(1 for _ in folder.rglob("zerogap.*.nbc")), folder
