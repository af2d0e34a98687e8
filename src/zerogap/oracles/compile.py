"""How kernels are compiled: once, with one explicit signature, cached on disk, without the GIL.

A signature says what a kernel reads (read-only arrays, which writable ones may stand for) and what it fills (writable
ones). Compilation happens when the module of the kernel is imported for the first time on a machine; later
imports read the cache. With NUMBA_DISABLE_JIT=1 kernels are plain Python.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

from numba import boolean, float64, int16, int32, int64, njit, types, uint16
from numba.core import config

__all__ = ["boolean", "float64", "inlined", "inner", "int16", "int32", "int64", "kernel", "readonly", "types", "uint16", "writable"]

_announced = False


def readonly(dtype: Any, ndim: int) -> Any:
    """A C-contiguous array that the kernel only reads."""
    return types.Array(dtype, ndim, "C", readonly=True)


def writable(dtype: Any, ndim: int) -> Any:
    """A C-contiguous array that the kernel fills: mark it `# out`."""
    return types.Array(dtype, ndim, "C")


def kernel(signature: Any) -> Callable[[Callable[..., Any]], Any]:
    """Decorates a function on arrays: `@kernel(int64(readonly(float64, 2), writable(int64, 1)))`."""

    def compiled(function: Callable[..., Any]) -> Any:
        if config.DISABLE_JIT:  # type: ignore[attr-defined]  # set by numba at import
            return function
        dispatcher = njit(cache=True, nogil=True)(function)
        if not is_cached(dispatcher):
            announce()
        dispatcher.compile(signature)
        dispatcher.disable_compile()
        return dispatcher

    return compiled


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
    function = dispatcher.py_func
    prefix = f"{function.__module__.rsplit('.', 1)[-1]}.{function.__qualname__}-{function.__code__.co_firstlineno}."
    try:
        return any(name.startswith(prefix) and name.endswith(".nbi") for name in os.listdir(cache_path(dispatcher)))
    except OSError:
        return False


def announce() -> None:
    """Says once per process, to people only, why the first call takes seconds."""
    global _announced
    if not _announced and sys.stderr.isatty():
        print("zerogap: compiling kernels for this machine (once; they are kept on disk) ...", file=sys.stderr)
    _announced = True
