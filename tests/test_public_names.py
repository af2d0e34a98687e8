"""Pins the public names: what the packages export, with signatures, and the commands with their options.

`tests/public_names.txt` has a line for every name. Where a name lives inside its package is not part of it, nor are annotations: a module
may move, a parameter may not. A change that is meant is recorded by

    python tests/test_public_names.py > tests/public_names.txt
"""

from __future__ import annotations

import dataclasses
import difflib
import importlib
import inspect
import re
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

PINNED = Path(__file__).with_name("public_names.txt")
REWRITE = "python tests/test_public_names.py > tests/public_names.txt"
PACKAGES = (
    "zerogap", "zerogap.automata", "zerogap.batch", "zerogap.constituency", "zerogap.dependency", "zerogap.errors", "zerogap.hypergraph",
    "zerogap.io", "zerogap.learning", "zerogap.pipeline", "zerogap.plot", "zerogap.proof", "zerogap.relax", "zerogap.sequence",
    "zerogap.serve", "zerogap.spacy_component", "zerogap.testing", "zerogap.text", "zerogap.translation",
)  # fmt: skip
OPERATORS = (
    "__add__", "__and__", "__bool__", "__call__", "__contains__", "__enter__", "__eq__", "__exit__", "__getitem__", "__hash__",
    "__invert__", "__iter__", "__len__", "__mul__", "__neg__", "__or__", "__repr__", "__rmul__", "__str__", "__sub__", "_repr_html_",
    "_repr_svg_",
)  # fmt: skip
WITHOUT_LIST = {"zerogap.spacy_component": ("ZerogapParser", "make_component")}  # what its users name; the rest are its helpers
PLACE = re.compile(r"\bzerogap(?:\.\w+)*\.(?=\w)")
ADDRESS = re.compile(r" at 0x[0-9a-f]+")


def exported(package: types.ModuleType) -> list[str]:
    """The names in `__all__`; of a module without it, the classes and functions that it defines. A package without it exports nothing."""
    if hasattr(package, "__all__"):
        return sorted(package.__all__)
    if hasattr(package, "__path__"):
        return []
    if package.__name__ in WITHOUT_LIST:
        return sorted(WITHOUT_LIST[package.__name__])
    return sorted(
        name
        for name, value in vars(package).items()
        if not name.startswith("_") and inspect.isroutine(value) | inspect.isclass(value) and value.__module__ == package.__name__
    )


def shown(value: Any) -> str:
    """A default as text, without module paths and addresses."""
    if inspect.isroutine(value) or inspect.isclass(value):
        return str(value.__name__)
    return ADDRESS.sub("", PLACE.sub("", repr(value)))


def signature(function: Any) -> str:
    """Names, kinds and defaults of the parameters; `py_func` is the source of a compiled kernel."""
    given = inspect.signature(getattr(function, "py_func", function))
    nothing = inspect.Parameter.empty
    parts: list[str] = []
    kinds = [parameter.kind for parameter in given.parameters.values()]
    for i, parameter in enumerate(given.parameters.values()):
        kind = parameter.kind
        if kind is parameter.KEYWORD_ONLY and not {parameter.KEYWORD_ONLY, parameter.VAR_POSITIONAL} & set(kinds[:i]):
            parts.append("*")
        stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(kind, "")
        parts.append(f"{stars}{parameter.name}" + ("" if parameter.default is nothing else f"={shown(parameter.default)}"))
        if kind is parameter.POSITIONAL_ONLY and parameter.POSITIONAL_ONLY not in kinds[i + 1 :]:
            parts.append("/")
    return f"({', '.join(parts)})"


def defined(kind: type, name: str) -> bool:
    """Whether zerogap wrote the method itself: those that a dataclass is given are not code of ours."""
    found = next((vars(base)[name] for base in kind.__mro__ if name in vars(base)), None)
    code = getattr(inspect.unwrap(found) if callable(found) else None, "__code__", None)
    return code is not None and code.co_filename != "<string>" and is_ours(found.__module__)


def is_constructed_by_us(kind: type) -> bool:
    """Whether the parameters of a class are its own: those of exceptions and protocols are Python's, and change with its version."""
    if getattr(kind, "_is_protocol", False):
        return False
    return hasattr(kind, "_fields") or any("__init__" in vars(base) for base in ours(kind))


def ours(kind: type) -> list[type]:
    return [base for base in kind.__mro__ if is_ours(base.__module__)]


def is_ours(module: str) -> bool:
    return module.partition(".")[0] == "zerogap"


def members(kind: type) -> Iterator[str]:
    """The fields, properties and methods of a class that are public, also those of its bases within zerogap."""
    of_fields = {field.name for field in dataclasses.fields(kind)} if dataclasses.is_dataclass(kind) else set(getattr(kind, "_fields", ()))
    yield from (f".{name}  field" for name in of_fields if not name.startswith("_"))
    names = {name for base in ours(kind) for name in vars(base) if not name.startswith("_")} - of_fields
    names |= {name for name in OPERATORS if defined(kind, name)}
    for name in names:
        value = inspect.getattr_static(kind, name)
        if isinstance(value, property):
            yield f".{name}  property"
        elif isinstance(value, classmethod | staticmethod):
            yield f".{name}{signature(getattr(kind, name))}  {type(value).__name__}"
        elif inspect.isroutine(value):
            yield f".{name}{signature(value)}"
        elif isinstance(value, types.MemberDescriptorType):
            yield f".{name}  attribute"
        else:
            yield f".{name} = {shown(value)}"


def lines_of(name: str, value: Any) -> Iterator[str]:
    if inspect.ismodule(value):
        yield f"{name}  module"
    elif inspect.isclass(value):
        bases = ", ".join(base.__name__ for base in value.__bases__ if base is not object)
        parameters = signature(value) if is_constructed_by_us(value) else ""
        yield f"{name}{parameters}  class{f' of {bases}' if bases else ''}"
        yield from (f"{name}{member}" for member in members(value))
    elif callable(value) and not hasattr(value, "__origin__"):
        yield f"{name}{signature(value)}"
    else:
        yield f"{name} = {shown(value)}"


def python_names() -> Iterator[str]:
    for package in PACKAGES:
        module = importlib.import_module(package)
        for name in exported(module):
            yield from lines_of(f"{package}.{name}", getattr(module, name))


def command_lines(command: Any, path: str) -> Iterator[str]:
    """A command, what it takes, and its subcommands."""
    yield f"$ {path}"
    for parameter in command.params:
        names = ", ".join([*parameter.opts, *parameter.secondary_opts])
        kind = getattr(parameter, "type", parameter)  # typer keeps limits beside the type, older releases in it
        notes = [f"{limit} {getattr(kind, limit)!r}" for limit in ("min", "max") if getattr(kind, limit, None) is not None]
        notes += [word for word in ("required", "multiple", "is_flag", "hidden") if getattr(parameter, word, False)]
        default = parameter.default
        notes += [f"default {shown(default)}"] if isinstance(default, bool | int | float | str | tuple) else []
        yield f"$ {path} {names if parameter.param_type_name == 'option' else parameter.name.upper()}" + "".join(
            f"  {note}" for note in notes
        )
    for name, inner in getattr(command, "commands", {}).items():
        yield from command_lines(inner, f"{path} {name}")


def public_names() -> list[str]:
    import typer

    from zerogap.cli.main import app

    return sorted({*python_names(), *command_lines(typer.main.get_command(app), "zerogap")})


def test_public_names_are_as_pinned():
    pinned, found = PINNED.read_text(encoding="utf-8").splitlines(), public_names()
    changes = list(difflib.unified_diff(pinned, found, "pinned", "found", lineterm="", n=0))
    assert not changes, "\n".join(["public names changed:", *changes, f"If that is meant: {REWRITE}"])


def test_no_line_has_a_module_path():
    for line in PINNED.read_text(encoding="utf-8").splitlines():
        name, _, rest = line.partition("(")
        assert "zerogap." not in rest, line
        assert name.count(".") <= 3, line


def test_help_lists_the_commands_in_their_order(capsys, monkeypatch):
    from zerogap.cli.main import main

    monkeypatch.setattr(sys, "argv", ["zerogap", "--help"])
    with pytest.raises(SystemExit):
        main()
    shown_help = capsys.readouterr().out
    order = [
        "parse",
        "translate",
        "audit",
        "decode",
        "verify",
        "run",
        "train",
        "label",
        "evaluate",
        "constraints",
        "serve",
        "doctor",
        "compile",
    ]
    places = [re.search(rf"^\W*{name}\b", shown_help, re.MULTILINE) for name in order]
    starts = [place.start() for place in places if place is not None]
    assert len(starts) == len(order)
    assert starts == sorted(starts)


if __name__ == "__main__":
    print("\n".join(public_names()))
