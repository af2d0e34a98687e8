"""How kernels are compiled: once, with one explicit signature, cached on disk, without the GIL.

A signature says what a kernel reads (read-only arrays, which writable ones may stand for) and what it fills (writable
ones). Compilation happens when the module of the kernel is imported for the first time on a machine, or, if it is rare, when
it is called for the first time; after that, the cache is read. With NUMBA_DISABLE_JIT=1 kernels are plain Python.
"""

from __future__ import annotations

import contextlib
import functools
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from subprocess import DEVNULL
from typing import Any

from numba import boolean, float64, int16, int32, int64, njit, types, uint32
from numba.core import config

from zerogap.errors import NotCompiled

__all__ = [
    "boolean",
    "float64",
    "inlined",
    "inner",
    "int16",
    "int32",
    "int64",
    "kernel",
    "rare_kernel",
    "readonly",
    "refuse_while",
    "types",
    "uint32",
    "writable",
]

BESIDE = "ZEROGAP_COMPILE_ALONE"  # set: no other process helps

_refuses: Callable[[], bool] = bool  # never
_announced = False
_beside: list[str] = []
_helpers: list[subprocess.Popen[bytes]] = []


def refuse_while(holds: Callable[[], bool]) -> None:
    """From now on, what would compile a kernel raises NotCompiled as long as the condition holds."""
    global _refuses
    _refuses = holds


def readonly(dtype: Any, ndim: int) -> Any:
    """A C-contiguous array that the kernel only reads."""
    return types.Array(dtype, ndim, "C", readonly=True)


def writable(dtype: Any, ndim: int) -> Any:
    """A C-contiguous array that the kernel fills: mark it `# out`."""
    return types.Array(dtype, ndim, "C")


def kernel(signature: Any) -> Callable[[Callable[..., Any]], Any]:
    """Decorates a function on arrays: `@kernel(int64(readonly(float64, 2), writable(int64, 1)))`."""
    return lambda function: function if config.DISABLE_JIT else compiled(function, signature)  # type: ignore[attr-defined]  # set by numba


def rare_kernel(signature: Any) -> Callable[[Callable[..., Any]], Any]:
    """Decorates a kernel that few need, and that no other kernel calls: it is compiled when it is called for the first time."""

    def decorated(function: Callable[..., Any]) -> Any:
        found: list[Any] = []

        def compile_now() -> None:
            if not found:
                found.append(compiled(function, signature))

        @functools.wraps(function)
        def called(*arguments: Any) -> Any:
            compile_now()
            return found[0](*arguments)

        called.compile_now = compile_now  # type: ignore[attr-defined]  # for `zerogap compile`
        return function if config.DISABLE_JIT else called  # type: ignore[attr-defined]

    return decorated


def compiled(function: Callable[..., Any], signature: Any) -> Any:
    dispatcher = njit(cache=True, nogil=True)(function)
    if not is_cached(dispatcher):
        if _refuses():
            raise NotCompiled(f"{function.__module__}.{function.__name__} is not compiled yet.")
        announce()
    dispatcher.compile(signature)
    dispatcher.disable_compile()
    return dispatcher


def inner(function: Callable[..., Any]) -> Any:
    """Decorates a small function that kernels of the same module call: it takes its types from them."""
    return njit(cache=True, nogil=True)(function)


def inlined(function: Callable[..., Any]) -> Any:
    """Decorates what innermost loops do in several kernels: it is copied into them, where a call with many arrays would cost 50 ns."""
    return njit(inline="always")(function)


def cache_path(dispatcher: Any) -> str:
    """The folder where numba keeps the compiled kernel."""
    return str(dispatcher._cache.cache_path)


def is_cached(dispatcher: Any) -> bool:
    """Whether numba has the kernel on disk, as its source is now."""
    try:
        return bool(dispatcher._cache._cache_file._load_index())
    except OSError:
        return False


def announce() -> None:
    """When the first kernel of this process is not in the cache: says why it takes seconds, to people only, and has others compiled too."""
    global _announced
    if _announced:
        return
    _announced = True
    if sys.stderr.isatty():
        print("zerogap: compiling kernels for this machine (once; they are kept on disk) ...", file=sys.stderr)
    for module in _beside:
        with contextlib.suppress(OSError):
            _helpers.append(subprocess.Popen([sys.executable, "-c", f"import {module}"], stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL))


@contextlib.contextmanager
def beside(module: str) -> Iterator[None]:
    """If kernels must be compiled within the context, another process compiles those of the module at the same time, for the cache."""
    if (os.cpu_count() or 1) > 1 and module not in sys.modules and BESIDE not in os.environ:
        _beside.append(module)
    try:
        yield
    finally:
        _beside.clear()
        while _helpers:
            _helpers.pop().wait()
