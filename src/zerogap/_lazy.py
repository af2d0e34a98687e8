"""Attributes that are imported when first used, so that `import zerogap` stays fast and proofs never load a compiler."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any


def lazy(package: str, where: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` for a package whose attribute `name` lives in the module `where[name]`.

    `where[name] == name` with a leading dot means the submodule itself. A function must not have the name of a submodule
    of its package: importing that submodule would hide it.
    """

    def getattribute(name: str) -> Any:
        if name not in where:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = importlib.import_module(where[name], package)
        value = module if where[name] == f".{name}" else getattr(module, name)
        setattr(sys.modules[package], name, value)  # found directly from now on
        return value

    return getattribute, lambda: sorted(where)


def on_call(where: str) -> Callable[..., Any]:
    """A function "module:name" whose module is imported when it is first called: for methods that few ask for."""
    module, name = where.split(":")

    def called(*arguments: Any, **named: Any) -> Any:
        return getattr(importlib.import_module(module), name)(*arguments, **named)

    return called
