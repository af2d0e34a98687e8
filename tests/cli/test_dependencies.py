"""What is installed without any extra is enough for the server, and messages about the rest name packages that pip finds."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from pathlib import Path

import pytest

import zerogap
from zerogap.batch.chunks import parquet_rows
from zerogap.batch.engines import RayEngine
from zerogap.batch.places import filesystem
from zerogap.errors import InputError

PROJECT = Path(__file__).parents[2] / "pyproject.toml"
SOURCES = Path(zerogap.__file__).parent


def name_of(requirement: str) -> str:
    return re.match(r"[\w.-]+", requirement)[0].lower().replace("_", "-")


def installed_with(names: set[str]) -> set[str]:
    """Those distributions and all that they need without an extra."""
    seen: set[str] = set()
    while names - seen:
        name = (names - seen).pop()
        seen.add(name)
        try:
            needed = requires(name) or []
        except PackageNotFoundError:  # for another system
            needed = []
        names = names | {name_of(entry) for entry in needed if "extra ==" not in entry}
    return seen


def imported(path: Path) -> set[str]:
    """The packages that a file imports anywhere, also in its functions."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.split(".")[0])
    return found - set(sys.stdlib_module_names) - {"zerogap"}


def test_the_server_needs_no_extra() -> None:
    ordinary = installed_with({name_of(entry) for entry in tomllib.loads(PROJECT.read_text())["project"]["dependencies"]})
    homes = packages_distributions()
    for path in [*SOURCES.glob("serve/*.py"), *SOURCES.glob("cli/*.py")]:
        for package in imported(path):
            assert {name.lower().replace("_", "-") for name in homes[package]} & ordinary, f"{path.name} imports {package}"


@pytest.mark.parametrize(("package", "use"), [
    ("ray", lambda: RayEngine(lambda: None, 1, None)), ("pyarrow", lambda: list(parquet_rows("a.parquet"))),
    ("fsspec", lambda: filesystem("s3://a/b")),
])  # fmt: skip
def test_messages_name_the_package(monkeypatch: pytest.MonkeyPatch, package: str, use) -> None:
    monkeypatch.setitem(sys.modules, package, None)  # as if it were not installed
    with pytest.raises(InputError, match=f"pip install {package}"):
        use()


def test_no_message_names_an_extra() -> None:
    """zerogap itself is not on PyPI, so pip finds its extras in a checkout only."""
    assert [path for path in SOURCES.rglob("*.py") if re.search(r"zerogap\\*\[", path.read_text(encoding="utf-8"))] == []
