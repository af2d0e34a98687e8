"""Measures the shape of the source: sizes of folders, long parameter lists, hidden imports, shared names, mirrored tests.

    python benchmarks/house.py
    python benchmarks/house.py --list        also names the worst offenders

Everything is read from the syntax trees of src/zerogap, without importing it, so the figures can be compared between two commits.

Parameters are all that a signature names, with `self`, `*args` and `**kwargs`. A kernel is a function that Numba compiles. A name is a
function, class or constant at the top level of a module without a leading underscore; names that are only imported do not count. The
`__init__` of a package counts as a module, but no test has to mirror it: tests/a/test_b.py mirrors src/zerogap/a/b.py.
"""

from __future__ import annotations

import argparse
import ast
import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE, TESTS = ROOT / "src" / "zerogap", ROOT / "tests"
KERNELS = {"kernel", "rare_kernel", "inner", "inlined", "njit"}  # decorators
TRUSTED = {"problems", "proof"}  # definitions and checkers
LIMITS = (8, 12, 20)  # parameters
LINE_LENGTHS = (120, 140)  # the second is what the linter allows
HEADLESS = re.compile(r"(What|Which|How|Where|When|Who|Whether|Why)\b")  # a clause that stands for a sentence
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Module:
    """A source file and its syntax tree."""

    path: Path
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @property
    def name(self) -> str:
        return self.path.relative_to(SOURCE).as_posix()

    @property
    def is_package(self) -> bool:
        return self.path.name == "__init__.py"

    @property
    def is_mirrored(self) -> bool:
        folder = TESTS / self.path.relative_to(SOURCE).parent
        return (folder / f"test_{self.path.name}").exists()

    def functions(self) -> Iterator[Function]:
        return (node for node in ast.walk(self.tree) if isinstance(node, Function))

    def names(self) -> Iterator[str]:
        for node in self.tree.body:
            if isinstance(node, Function | ast.ClassDef):
                yield node.name
            elif isinstance(node, ast.Assign | ast.AnnAssign):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                yield from (part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name))

    def hidden_imports(self) -> Iterator[ast.stmt]:
        """The imports that run when a function is called."""
        found = {
            node.lineno: node
            for function in self.functions()
            for node in ast.walk(function)
            if isinstance(node, ast.Import | ast.ImportFrom)
        }
        return iter(found.values())


def parameters(function: Function) -> int:
    given = function.args
    return len(given.posonlyargs + given.args + given.kwonlyargs) + (given.vararg is not None) + (given.kwarg is not None)


def is_kernel(function: Function) -> bool:
    called = (decorator.func if isinstance(decorator, ast.Call) else decorator for decorator in function.decorator_list)
    return any(isinstance(node, ast.Name) and node.id in KERNELS for node in called)


def exemptions() -> int:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
    return sum(len(contract.get("ignore_imports", [])) for contract in contracts)


def trusted_room(name: str) -> str | None:
    """The task to which a module of the trusted base belongs; None for other modules."""
    top, *inner = name.split("/")
    if top not in TRUSTED:
        return None
    return inner[0] if len(inner) > 1 else "hypergraph" if inner[0] == "hypergraph.py" else "all tasks"


def print_rows(title: str, rows: list[tuple[str, object]]) -> None:
    print(f"\n{title}\n{'-' * len(title)}")
    for name, value in rows:
        print(f"{name:<72}{value:>9,}" if isinstance(value, int) else f"{name:<72}{value:>9}")


def main() -> None:
    parser = argparse.ArgumentParser(description="Measures the shape of the source.")
    parser.add_argument("--list", action="store_true", help="also name the worst offenders")
    listed = parser.parse_args().list
    modules = [Module(path, path.read_text(encoding="utf-8")) for path in sorted(SOURCE.rglob("*.py"))]
    functions = sorted(
        (
            (parameters(function), f"{module.name}:{function.name}", is_kernel(function))
            for module in modules
            for function in module.functions()
        ),
        key=lambda row: (-row[0], row[1]),
    )
    folders = Counter(module.path.parent.relative_to(SOURCE).as_posix() for module in modules)
    places = defaultdict(set)
    for module in modules:
        for name in module.names():
            if not name.startswith("_"):
                places[name].add(module.name)
    shared = Counter({name: len(where) for name, where in places.items() if len(where) > 1})
    hidden = {module.name: sum(1 for _ in module.hidden_imports()) for module in modules}
    headless = [module.name for module in modules if HEADLESS.match(ast.get_docstring(module.tree) or "")]
    plain = [module for module in modules if not module.is_package]
    lines = [(len(line), f"{module.name}:{i}") for module in modules for i, line in enumerate(module.text.splitlines(), start=1)]

    print_rows(
        "Shape of the source",
        [
            ("modules", len(modules)),
            ("lines of source", len(lines)),
            ("modules in the largest flat folder", max(folders.values())),
            *((f"functions with more than {most} parameters", sum(n > most for n, _, _ in functions)) for most in LIMITS),
            *((f"of them kernels with more than {most}", sum(n > most and kernel for n, _, kernel in functions)) for most in LIMITS),
            ("kernels", sum(kernel for _, _, kernel in functions)),
            ("imports inside functions", sum(hidden.values())),
            ("names defined in more than one module", len(shared)),
            ("module docstrings that begin with a headless clause", len(headless)),
            ("exemptions from import contracts", exemptions()),
            *((f"lines longer than {most} characters", sum(n > most for n, _ in lines)) for most in LINE_LENGTHS),
            ("test modules", sum(1 for _ in TESTS.rglob("test_*.py"))),
            ("source modules with a mirrored test", f"{sum(module.is_mirrored for module in plain)}/{len(plain)}"),
        ],
    )
    trusted = Counter(room for module in modules if (room := trusted_room(module.name)) for _ in module.text.splitlines())
    print_rows("Lines of the trusted base: problems/ and proof/", [*sorted(trusted.items()), ("together", trusted.total())])
    print_rows("Largest folders, without the folders in them", list(folders.most_common(10)))
    if listed:
        print_rows("Longest parameter lists", [(f"{name}{' (kernel)' * kernel}", n) for n, name, kernel in functions[:20]])
        print_rows("Names in the most modules", list(shared.most_common(20)))
        print_rows("Modules with the most imports inside functions", list(Counter(hidden).most_common(20)))
        print_rows("Longest lines", [(where, n) for n, where in sorted(lines, reverse=True)[:20]])
        print_rows("Headless docstrings", [(name, "") for name in headless])


if __name__ == "__main__":
    main()
