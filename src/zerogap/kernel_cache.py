"""The cache of compiled kernels: one file for each kernel, named by a digest of everything that its machine code depends on.

These are the kernel's bytecode and constants; those of all functions that it calls, in any module, and of the functions that these call;
the global constants that they read; the types of its arguments, with the fields of records; the versions of Python, Numba, llvmlite and
NumPy; the processor. So an edit compiles the edited kernel and its callers again, and nothing else does: comments, docstrings, the time of
a file and the folder that it lies in are not part of the digest.

The files lie in the `__pycache__` beside a kernel's source, or, where nobody may write there, in `zerogap` in the user's folder of caches
(`XDG_CACHE_HOME`). `ZEROGAP_CACHE` or `NUMBA_CACHE_DIR` names another folder, which several installations may share: who can write there
can run code as whoever reads it.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import sys
from collections.abc import Iterator
from functools import cache, cached_property
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any
from uuid import uuid4

import llvmlite
import numba
import numpy as np
from numba.core import config, types
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.dispatcher import Dispatcher
from numba.core.serialize import dumps
from numba.core.sigutils import normalize_signature

KEPT = 4  # versions of a kernel in one folder: of other processors or Pythons, or of other checkouts that share it
VERSIONED = {"numba", "llvmlite", "numpy", "math", "builtins", "operator"}  # packages whose functions are described by their versions
NOT_READABLE = (OSError, EOFError, pickle.UnpicklingError)


class KernelCache(NullCache):
    """The compiled versions of one function on disk, as a dispatcher of Numba asks for them."""

    def __init__(self, dispatcher: Any) -> None:
        self.dispatcher = dispatcher
        self.function: FunctionType = dispatcher.py_func

    @cached_property
    def name(self) -> str:
        return f"{self.function.__module__}.{self.function.__qualname__}".translate({ord("<"): None, ord(">"): None})

    @cached_property
    def folders(self) -> list[Path]:
        """Where files are looked for, in order; the first that can be written to takes new ones."""
        if shared := os.environ.get("ZEROGAP_CACHE") or config.CACHE_DIR:  # type: ignore[attr-defined]  # set by numba
            return [Path(shared)]
        users = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")) / "zerogap"
        source = Path(self.function.__code__.co_filename)
        return [source.parent / "__pycache__", users] if source.is_file() else [users]

    @property
    def cache_path(self) -> str:
        """The folder that takes new files."""
        return str(next((folder for folder in self.folders if is_writable(folder)), self.folders[-1]))

    def file_name(self, signature: Any, target: Any) -> str:
        kinds = str([spelled(kind) for kind in normalize_signature(signature)[0]])  # type: ignore[no-untyped-call]
        whole = short_digest(environment(target), options_of(self.dispatcher), kinds, digest_of(self.function))
        return f"{self.name}-{short_digest(kinds)}-{whole}.nbc"

    def is_saved(self, signature: Any, target: Any) -> bool:
        name = self.file_name(signature, target)
        return any((folder / name).is_file() for folder in self.folders)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        target_context.refresh()
        name = self.file_name(sig, target_context)
        for folder in self.folders:
            try:
                return CompileResult._rebuild(target_context, *pickle.loads((folder / name).read_bytes()))  # type: ignore[no-untyped-call]
            except NOT_READABLE:
                continue
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        if data.library.has_dynamic_globals or any(not lifted.can_cache for lifted in data.lifted):
            return
        name = self.file_name(sig, data.target_context)
        for folder in self.folders:
            try:
                write_whole(folder / name, dumps(data._reduce()))  # type: ignore[no-untyped-call]
            except OSError:  # nobody may write there, or the disk is full
                continue
            drop_old(folder, name)
            return


def is_writable(folder: Path) -> bool:
    """Whether files can be made in a folder, which itself may have to be made."""
    there = next(path for path in (folder, *folder.parents) if path.exists())
    return there.is_dir() and os.access(there, os.W_OK)


def write_whole(path: Path, content: bytes) -> None:
    """Other processes see the whole file or none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{uuid4().hex}")
    try:
        temporary.write_bytes(content)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def drop_old(folder: Path, name: str) -> None:
    """Deletes old versions of the kernel that was just saved."""
    versions = []
    for path in folder.glob(f"{name.rpartition('-')[0]}-*.nbc"):
        try:
            versions.append((path.stat().st_mtime_ns, path))
        except OSError:  # another process was faster
            continue
    for _, path in sorted(versions)[:-KEPT]:
        path.unlink(missing_ok=True)


def short_digest(*texts: str) -> str:
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:20]


def environment(target: Any) -> str:
    """What the machine code of every kernel depends on."""
    return f"{VERSIONS} {target.codegen().magic_tuple()} {[getattr(config, name) for name in SETTINGS]}"


VERSIONS = (sys.version_info[:2], numba.__version__, llvmlite.__version__, np.__version__)
SETTINGS = ("OPT", "BOUNDSCHECK", "LOOP_VECTORIZE", "SLP_VECTORIZE", "ENABLE_AVX", "DEBUGINFO_DEFAULT")


def spelled(kind: Any) -> str:
    """A type of Numba in full: its own text has no names of fields, and those of functions have addresses."""
    if isinstance(kind, types.NamedTuple):
        fields = (f"{name}: {spelled(field)}" for name, field in zip(kind.fields, kind.types, strict=True))
        return f"{kind.instance_class.__module__}.{kind.instance_class.__qualname__}({', '.join(fields)})"
    if isinstance(kind, types.BaseTuple):
        return f"{type(kind).__name__}({', '.join(spelled(item) for item in kind.types)})"  # type: ignore[attr-defined]
    if isinstance(kind, types.Dispatcher):
        return f"function({options_of(kind.dispatcher)} {digest_of(kind.dispatcher.py_func)})"
    return str(kind)


def options_of(dispatcher: Any) -> str:
    """How the function is compiled, and its explicit signature if it has one: callers take their types from it."""
    signature = getattr(dispatcher, "signature", None)
    kinds = [] if signature is None else [spelled(kind) for kind in (*signature.args, signature.return_type)]
    return f"{sorted(dispatcher.targetoptions.items())} {kinds}"


def digest_of(function: FunctionType) -> str:
    """A digest of the function and of all functions that it calls, directly or not."""
    found: dict[FunctionType, str] = {}
    pending = [function]
    while pending:
        if (last := pending.pop()) not in found:
            found[last], called = described(last)
            pending += called
    return short_digest(*found.values())


@cache
def described(function: FunctionType) -> tuple[str, tuple[FunctionType, ...]]:
    """A digest of the function's code and of the constants that it reads; the functions that it may call."""
    codes = list(codes_of(function.__code__))
    names = {name: None for code in codes for name in code.co_names}  # of global variables and of attributes
    reads = {name: function.__globals__[name] for name in names if name in function.__globals__}
    reads |= dict(zip(function.__code__.co_freevars, (cell.cell_contents for cell in function.__closure__ or ()), strict=True))
    for module in [value for value in reads.values() if isinstance(value, ModuleType) and not is_versioned(value.__name__)]:
        reads |= {f"{module.__name__}.{name}": vars(module)[name] for name in names if name in vars(module)}
    calls: list[FunctionType] = []
    texts = [f"{name} = {text_of(value, calls)}" for name, value in reads.items()]
    texts += [text_of((function.__defaults__, function.__kwdefaults__), calls)]
    texts += [f"{code.co_code.hex()} {code.co_argcount} {code.co_flags} {code.co_exceptiontable.hex()}" for code in codes]
    for code in codes:
        constants = [None if constant == function.__doc__ else constant for constant in code.co_consts]
        texts += [f"{code.co_names} {code.co_varnames} {text_of(constants, calls)}"]
    return short_digest(*texts), tuple(calls)


def codes_of(code: CodeType) -> Iterator[CodeType]:
    """The code of a function and of the functions and comprehensions inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes_of(constant)


def is_versioned(module: str | None) -> bool:
    return module is None or module.partition(".")[0] in VERSIONED


def text_of(value: Any, calls: list[FunctionType]) -> str:
    """A constant as text that is the same in every process; functions, which are described on their own, are added to the calls."""
    options = options_of(value) if isinstance(value, Dispatcher) else ""
    value = getattr(value, "__wrapped__", value)  # of a dispatcher or an intrinsic
    if isinstance(value, FunctionType) and not is_versioned(value.__module__):
        calls.append(value)
        return f"function {options}"
    if isinstance(value, tuple | list):
        return f"({', '.join(text_of(item, calls) for item in value)})"
    if isinstance(value, frozenset):
        return f"{{{', '.join(sorted(text_of(item, calls) for item in value))}}}"
    if isinstance(value, dict):
        return text_of(list(value.items()), calls)
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {value.shape} {value.tobytes().hex()}"
    if isinstance(value, types.Type):
        return spelled(value)
    if isinstance(value, type):
        return f"{value.__module__}.{value.__qualname__} {getattr(value, '_fields', '')}"
    if value is None or isinstance(value, bool | int | float | complex | str | bytes | np.generic | np.dtype):
        return f"{type(value).__name__} {value!r}"
    return f"{type(value).__qualname__} {getattr(value, '__name__', '')}"
