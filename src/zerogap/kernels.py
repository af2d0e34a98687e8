"""Compiles kernels: each on its first call, with one explicit signature, cached on disk (zerogap.kernel_cache), without the GIL.

A signature says which arrays a kernel reads (read-only ones, for which writable ones may stand) and which it fills (writable ones).
Importing a module compiles nothing. The first call of a kernel, from Python or while a kernel that calls it is compiled, reads the
cache or compiles. With NUMBA_DISABLE_JIT=1 kernels are plain Python.
"""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable, Collection
from typing import Any

from numba import boolean, float64, int16, int32, int64, njit, types, uint32
from numba.core import cgutils, config
from numba.core.compiler_lock import global_compiler_lock
from numba.core.imputils import lower_cast
from numba.core.typeconv.castgraph import Conversion

from zerogap.errors import NotCompiled
from zerogap.kernel_cache import KernelCache

__all__ = [
    "boolean",
    "borrowing",
    "float64",
    "inlined",
    "inner",
    "int16",
    "int32",
    "int64",
    "kernel",
    "readonly",
    "refuse_while",
    "types",
    "uint32",
    "writable",
]

_announced = False
_refuses: Callable[[], bool] = bool  # never
used: set[str] = set()  # "module:kernel" of those that this process has asked for


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


def record(kind: type, *fields: Any) -> Any:
    """The type of a NamedTuple in a signature: `record(Graph, readonly(int64, 1), int64)`, a type for every field."""
    return types.NamedTuple(fields, kind)  # type: ignore[no-untyped-call]


def convert_by_field(given: Any, context: Any, wanted: Any) -> Any:
    """Lets a record with writable arrays stand for one with read-only arrays, as single arrays may: Numba has the rule for tuples only."""
    if not isinstance(wanted, types.NamedTuple) or given.instance_class is not wanted.instance_class:
        return None
    kinds = [context.can_convert(one, other) for one, other in zip(given, wanted, strict=True)]
    return None if any(kind is None for kind in kinds) else max(*kinds, Conversion.safe)  # not exact, as the types are not the same


def cast_by_field(context: Any, builder: Any, given: Any, wanted: Any, value: Any) -> Any:
    """The same for a record that one kernel makes and hands to another."""
    fields = zip(cgutils.unpack_tuple(builder, value), given, wanted, strict=True)  # type: ignore[no-untyped-call]
    return context.make_tuple(builder, wanted, [context.cast(builder, field, one, other) for field, one, other in fields])


for one in (types.NamedTuple, types.NamedUniTuple):  # the second has fields of one type
    setattr(one, "can_convert_to", convert_by_field)  # noqa: B010  # for the eyes of mypy
    lower_cast(one, types.NamedTuple)(cast_by_field)  # type: ignore[no-untyped-call]


def kernel(signature: Any) -> Callable[[Callable[..., Any]], Any]:
    """Decorates a function on arrays: `@kernel(int64(readonly(float64, 2), writable(int64, 1)))`."""
    return lambda function: function if config.DISABLE_JIT else lazily_compiled(function, signature)  # type: ignore[attr-defined]  # set by numba


def lazily_compiled(function: Callable[..., Any], signature: Any) -> Any:
    """A dispatcher of Numba that compiles its one signature when it is first asked for something, by Python or by another kernel."""
    dispatcher: Any = cached(function)
    template_of = dispatcher.get_call_template

    def compile_now() -> Any:
        with global_compiler_lock:  # Numba's own: another thread may compile a kernel that calls this one
            if dispatcher._can_compile:
                if not is_cached(dispatcher):
                    if _refuses():
                        raise NotCompiled(f"{function.__module__}.{function.__name__} is not compiled yet.")
                    announce()
                used.add(f"{function.__module__}:{function.__name__}")
                dispatcher.compile(signature)
                dispatcher.disable_compile()
        return dispatcher.overloads[dispatcher.signatures[0]].entry_point

    def compile_for_call(*arguments: Any, **named: Any) -> Any:
        compiled = compile_now()
        for given, wanted in zip(inspect.signature(function).bind(*arguments, **named).args, signature.args, strict=True):
            kind = dispatcher.typeof_pyval(given)
            if dispatcher.typingctx.can_convert(kind, wanted) is None:  # Numba calls what this returns without a look at the arguments
                raise TypeError(f"{function.__module__}.{function.__name__} takes {wanted}, not {kind}.")
        return compiled

    def call_template(arguments: Any, named: Any) -> Any:
        compile_now()
        return template_of(arguments, named)

    dispatcher.signature = signature
    dispatcher.compile_now = compile_now  # for `zerogap compile`
    dispatcher._compile_for_args = compile_for_call  # what a call from Python asks for when it finds nothing compiled
    dispatcher.get_call_template = call_template  # what the compiler of another kernel asks for
    return dispatcher


def cached(function: Callable[..., Any]) -> Any:
    dispatcher: Any = njit(nogil=True)(function)
    if not config.DISABLE_JIT:  # type: ignore[attr-defined]  # set by numba
        dispatcher._cache = KernelCache(dispatcher)
    return dispatcher


def inner(function: Callable[..., Any]) -> Any:
    """Decorates a small function that kernels call: it takes its types from them."""
    return cached(function)


def inlined(function: Callable[..., Any]) -> Any:
    """Decorates what innermost loops do in several kernels: it is copied into them, where a call with many arrays would cost 50 ns."""
    return njit(inline="always")(function)


def borrowing(function: Callable[..., Any]) -> Any:
    """Decorates what innermost loops do with records: it is copied into its callers, and counts no references to the arrays of a record,
    which would cost more than the call. It may neither make arrays nor return any."""
    return njit(forceinline=True, _nrt=False)(function)  # type: ignore[call-overload]  # an option that its stubs lack


def cache_path(dispatcher: Any) -> str:
    """The folder where the compiled kernel is kept."""
    return str(dispatcher._cache.cache_path)


def is_cached(dispatcher: Any) -> bool:
    """Whether the kernel is on disk, as its source and that of all that it calls are now."""
    return bool(dispatcher._cache.is_saved(dispatcher.signature, dispatcher.targetctx))


def kernels_of(module: str) -> dict[str, Any]:
    """The kernels that a module defines, by name."""
    inside = vars(importlib.import_module(module)).items()
    return {name: value for name, value in inside if hasattr(value, "compile_now") and value.__module__ == module}


def compile_module(name: str, only: Collection[str] | None = None) -> None:
    """Compiles the kernels of a module, all or some, for the cache."""
    for kernel_name, value in kernels_of(name).items():
        if (only is None or kernel_name in only) and not is_cached(value):
            value.compile_now()


def announce() -> None:
    """When the first kernel of this process is not in the cache: says why it takes seconds, to people only."""
    global _announced
    if not _announced and sys.stderr.isatty():
        print("zerogap: compiling kernels for this machine (once; they are kept on disk) ...", file=sys.stderr)
    _announced = True
